"""The gate: proposal → approval → commit.

    proposal = Proposal.for_files(workspace, purpose="보고서 저장", files={"report.md": text}, cost=6)
    answer = ask(approver, proposal)                       # whatever goes wrong on the way is HOLD
    result = commit(workspace, proposal, answer.approval)  # saved / rejected / mismatch

An approver is any callable from a `Proposal` to an `Approval` or None; None means that nobody answered.
An approval is bound to one proposal's fingerprint, can be used once, may expire, and may be signed.
"""

import hmac
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeAlias

from harness_kit import canonical
from harness_kit.codes import CommitStatus, Decision, Refusal
from harness_kit.errors import ApprovalError, BaseChangedError
from harness_kit.proposals import Proposal, text_diff
from harness_kit.store import TraceStore
from harness_kit.workspace import Replaced, Workspace


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A person's answer to one proposal."""

    fingerprint: str
    """Fingerprint of the proposal that was answered (64 hex digits)."""
    run_id: str
    number: int
    """Run and number of that proposal, so that a foreign approval can be named as such."""
    decision: Decision
    """`APPROVED` or `REJECTED`; there is no record of a `HOLD`."""
    approver: str
    """Who answered; never blank."""
    source: str
    """Where that identity comes from: 'recorded file', 'notebook', 'terminal', …"""
    reason: str
    time: str
    """ISO 8601 with offset."""
    nonce: str
    """Names this answer; a nonce is used once."""
    expires: str | None = None
    """ISO 8601 with offset; from then on the approval is refused."""
    signature: str | None = None
    """HMAC-SHA-256 over the other fields (64 hex digits), if a key was given."""
    proposal: Proposal | None = field(default=None, compare=False, repr=False)
    """What was shown, kept beside the answer so that a later difference can be explained; not recorded."""

    def __post_init__(self) -> None:
        for what in ("fingerprint", "approver", "source", "time", "nonce"):
            value = getattr(self, what)
            if not isinstance(value, str) or not value.isprintable() or not _person(value):
                raise ApprovalError(f"{what} of an approval is {value!r}; expected one line of visible text")
        signed = self.signature
        if signed is not None and not (isinstance(signed, str) and signed.isascii()):
            raise ApprovalError(f"signature of an approval is {signed!r}; expected hex digits or None")
        if (
            not isinstance(self.reason, str)
            or not isinstance(self.run_id, str)
            or type(self.number) is not int
        ):
            raise ApprovalError(
                f"an approval has a reason, a run id and a number, got {self.record()!r:.200}"
            )
        if self.decision not in (Decision.APPROVED, Decision.REJECTED):
            raise ApprovalError(f"decision {self.decision!r} is no answer; expected 'approved' or 'rejected'")
        object.__setattr__(self, "decision", Decision(self.decision))
        for what, value in (("time", self.time), ("expires", self.expires)):
            if value is not None:
                _moment(value, what)

    @classmethod
    def of(
        cls,
        proposal: Proposal,
        decision: Decision,
        *,
        approver: str,
        source: str,
        time: str,
        reason: str = "",
        nonce: str | None = None,
        expires: str | None = None,
        key: bytes | None = None,
    ) -> "Approval":
        """Answer `proposal`. Without `nonce` one is derived from the answer; with `key` it is signed."""
        answer = cls(
            fingerprint=proposal.fingerprint,
            run_id=proposal.run_id,
            number=proposal.number,
            decision=decision,
            approver=approver,
            source=source,
            reason=reason,
            time=time,
            nonce=nonce
            or canonical.fingerprint([proposal.fingerprint, str(decision), approver, reason, time])[:32],
            expires=expires,
            proposal=proposal,
        )
        return answer if key is None else replace(answer, signature=answer.sign(key))

    def record(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_record` rebuilds the answer."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "proposal"}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], proposal: Proposal | None = None) -> "Approval":
        """Rebuild an answer; `ApprovalError` where a field is missing, unknown or malformed."""
        try:
            return cls(**{**record, "proposal": proposal})
        except TypeError as error:
            raise ApprovalError(f"not an approval record: {error}") from error

    def sign(self, key: bytes) -> str:
        """Return the HMAC-SHA-256 of every field but the signature under `key`."""
        if not isinstance(key, bytes) or not key:
            raise ApprovalError("the key to sign with is empty or no bytes; pass the secret as bytes")
        signed = {name: value for name, value in Approval.record(self).items() if name != "signature"}
        return hmac.new(key, canonical.PREFIX + canonical.dumps(signed), "sha256").hexdigest()


Approver: TypeAlias = Callable[[Proposal], Approval | None]


@dataclass(frozen=True, kw_only=True)
class CommitResult:
    """What a commit did."""

    status: CommitStatus
    refusal: Refusal | None
    """Why nothing was written; None where it was saved."""
    why: str
    """The same in words, with the remedy."""
    files: Mapping[str, str]
    """SHA-256 of every written file, read back from disk; empty where nothing was written."""
    difference: str
    """On a mismatch: unified diff from the approved text to the text that was to be written."""
    question: Proposal | None
    """On a mismatch: the new question that has to be asked instead."""


def commit(
    workspace: Workspace,
    proposal: Proposal,
    approval: Approval | None,
    *,
    store: TraceStore | None = None,
    now: str | None = None,
    key: bytes | None = None,
    resume: bool = False,
) -> CommitResult:
    """Write exactly what was approved, all files or none, or write nothing and say why.

    `store` claims the approval's nonce in the decision chain, so that of several processes one wins.
    `now` (ISO 8601) is needed where an approval expires; `key` where approvals are signed, and then every
    approval must be. `resume` is for a run that crashed in this very commit: what is already on disk counts
    as saved, and the claim that it holds already is its own.
    """
    if approval is not None and not isinstance(approval, Approval):
        raise ApprovalError(
            f"{type(approval).__name__} is no Approval; pass what the approver returned, or None"
        )
    commit_key = "" if approval is None else canonical.fingerprint([proposal.fingerprint, approval.nonce])
    if approval is not None and proposal.workspace == workspace.identity:
        # First of all: a commit that was cut off past its commit point is saved, whatever has expired since.
        finished = commit_key in workspace.recover().finished
        done = workspace.replaced(commit_key)
        if done is not None and (finished or resume):
            return _saved(done)
    refused = _refusal(workspace, proposal, approval, now, key)
    if refused is not None or approval is None:
        return _refuse(workspace, proposal, approval, *(refused or _NO_ANSWER))
    workspace.check_writable(proposal.files)
    if workspace.replaced(commit_key) is not None:
        return _refuse(workspace, proposal, approval, *_USED)
    if store is not None and not _claimed(store, proposal, approval, commit_key):
        return _refuse(workspace, proposal, approval, *_USED)
    try:
        done = workspace.replace(proposal.files, base=proposal.base, key=commit_key)
    except BaseChangedError as error:
        return _refuse(workspace, proposal, approval, Refusal.BASE_CHANGED, f"{error}; ask again")
    if done.already and not resume:
        return _refuse(workspace, proposal, approval, *_USED)
    return _saved(done)


def _saved(done: Replaced) -> CommitResult:
    return CommitResult(
        status=CommitStatus.SAVED, refusal=None, why="", files=done.files, difference="", question=None
    )


_NO_ANSWER = (Refusal.NO_ANSWER, "nobody has answered; ask, and commit with the answer")
_USED = (Refusal.USED, "this approval has been used; an approval serves once, so ask again")


def _refusal(
    workspace: Workspace, proposal: Proposal, approval: Approval | None, now: str | None, key: bytes | None
) -> tuple[Refusal, str] | None:
    """Return why `approval` does not cover `proposal`, or None where it does. Touches nothing."""
    if approval is None:
        return _NO_ANSWER
    if approval.signature is not None or key is not None:
        if key is None:
            return Refusal.FORGED, "the approval is signed and no key was given to check it; pass key="
        if not hmac.compare_digest(approval.signature or "", Approval.sign(approval, key)):
            return Refusal.FORGED, "the signature does not fit the approval; ask the approver again"
    if _person(approval.approver) == _person(proposal.proposer):
        return (
            Refusal.SELF_APPROVED,
            f"{approval.approver!r} proposed this and may not answer; ask somebody else",
        )
    if approval.decision is not Decision.APPROVED:
        return Refusal.DECLINED, f"{approval.approver!r} declined: {approval.reason or 'no reason given'}"
    if proposal.workspace != workspace.identity:
        return Refusal.FOREIGN, "the proposal was made for another workspace; make one for this workspace"
    if approval.fingerprint != proposal.fingerprint:
        if (approval.run_id, approval.number) != (proposal.run_id, proposal.number):
            return Refusal.FOREIGN, (
                f"the approval answers question {approval.number} of run {approval.run_id!r}, not question "
                f"{proposal.number} of run {proposal.run_id!r}; ask this question"
            )
        return Refusal.CHANGED, "the proposal is not the one that was approved; ask again with what it is now"
    if approval.expires is not None:
        if now is None:
            return Refusal.EXPIRED, "the approval expires and no time was given to compare; pass now="
        if _moment(now, "now") >= _moment(approval.expires, "expires"):
            return Refusal.EXPIRED, f"the approval expired at {approval.expires}, now is {now}; ask again"
    return None


def _refuse(
    workspace: Workspace, proposal: Proposal, approval: Approval | None, refusal: Refusal, why: str
) -> CommitResult:
    rejected = refusal in (Refusal.NO_ANSWER, Refusal.DECLINED, Refusal.FORGED, Refusal.SELF_APPROVED)
    shown = approval.proposal if approval is not None else None
    asks_anew = not rejected and proposal.workspace == workspace.identity
    return CommitResult(
        status=CommitStatus.REJECTED if rejected else CommitStatus.MISMATCH,
        refusal=refusal,
        why=why,
        files={},
        difference=text_diff(shown.files, proposal.files) if shown is not None and not rejected else "",
        question=proposal.asked_again(workspace) if asks_anew else None,
    )


def _claimed(store: TraceStore, proposal: Proposal, approval: Approval, commit_key: str) -> bool:
    """Put the use of this nonce into the chain; False where it stands there for another commit.

    A claim of this very commit that left no mark wrote nothing (a full disk, say), so it still serves.
    """
    unique = f"use:{approval.nonce}"
    try:
        store.record_decision(
            "use",
            proposal.run_id or "-",
            {"nonce": approval.nonce, "commit": commit_key, "proposal": proposal.summary()},
            time=approval.time,
            unique=unique,
        )
    except ApprovalError:
        held = [link for link in store.decisions(kind="use") if link.unique == unique]
        return bool(held) and held[0].body["commit"] == commit_key
    return True


def _person(name: str) -> str:
    """Return a name without what only makes it look different: width, case, blanks, invisible letters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    hidden = ("Cf", "Cc", "Zs", "Zl", "Zp", "Mn", "Me")
    fillers = "\u115f\u1160\u3164\uffa0\u2800"
    return "".join(one for one in folded if unicodedata.category(one) not in hidden and one not in fillers)


def _moment(text: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise ApprovalError(
            f"{what} is {text!r}; expected ISO 8601 such as 2026-10-08T09:00:00+09:00"
        ) from error
    if moment.tzinfo is None:
        raise ApprovalError(f"{what} is {text!r} without an offset; write it like 2026-10-08T09:00:00+09:00")
    return moment
