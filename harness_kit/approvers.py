"""Approvers: who answers a proposal. Any callable from a `Proposal` to an `Approval` or None is one."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_kit import canonical
from harness_kit.approval import Approval, Approver
from harness_kit.codes import Decision
from harness_kit.errors import InputError
from harness_kit.proposals import Proposal
from harness_kit.trace import Clock

FORMAT = "harness_kit.decisions.v1"


@dataclass(frozen=True, kw_only=True)
class ScriptedApprover:
    """Gives the same answer to every proposal, under a name; for lessons and tests."""

    decision: Decision
    approver: str
    clock: Clock
    source: str = "scripted"
    reason: str = ""

    def __call__(self, proposal: Proposal) -> Approval:
        """Answer `proposal`."""
        return Approval.of(
            proposal,
            self.decision,
            approver=self.approver,
            source=self.source,
            reason=self.reason,
            time=self.clock(),
        )


class RecordedDecisions:
    """Answers from a named file, by purpose; a purpose that the file does not name is not answered (HOLD).

    The file is JSON: `{"format": "harness_kit.decisions.v1", "name": …, "decisions": [{"purpose", "decision",
    "approver", "reason", "time"}, …]}`. Whoever shows an answer can say whose it is: `source` names the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        held = _decision_file(self.path)
        self.name: str = held["name"]
        self._by_purpose: dict[str, dict[str, str]] = {}
        for row in held["decisions"]:
            if row["purpose"] in self._by_purpose:
                raise InputError(
                    f"{self.path.name}: purpose {row['purpose']!r} is decided twice; keep one entry"
                )
            self._by_purpose[row["purpose"]] = row

    def __call__(self, proposal: Proposal) -> Approval | None:
        """Return the recorded answer to the proposal's purpose, bound to this very proposal."""
        row = self._by_purpose.get(proposal.purpose)
        if row is None:
            return None
        return Approval.of(
            proposal,
            Decision(row["decision"]),
            approver=row["approver"],
            source=f"recorded file: {self.name}",
            reason=row["reason"],
            time=row["time"],
        )


_FIELDS = {"purpose", "decision", "approver", "reason", "time"}


def _decision_file(path: Path) -> dict[str, Any]:
    try:
        held = canonical.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"decision file {str(path)!r} cannot be read ({error.strerror}); name a file"
        ) from error
    except ValueError as error:
        raise InputError(f"decision file {str(path)!r} is not UTF-8 JSON: {error}") from error
    if not isinstance(held, dict) or held.get("format") != FORMAT or not isinstance(held.get("name"), str):
        raise InputError(
            f"decision file {path.name!r} lacks format {FORMAT!r} or a name; see RecordedDecisions"
        )
    rows = held.get("decisions")
    if not isinstance(rows, list):
        raise InputError(f"decision file {path.name!r} has no list of decisions; see RecordedDecisions")
    for number, row in enumerate(rows, 1):
        if (
            not isinstance(row, dict)
            or set(row) != _FIELDS
            or not all(isinstance(row[key], str) for key in _FIELDS)
        ):
            raise InputError(
                f"decision file {path.name!r}, entry {number}: expected text for {sorted(_FIELDS)}"
            )
        if row["decision"] not in (Decision.APPROVED, Decision.REJECTED):
            raise InputError(
                f"decision file {path.name!r}, entry {number}: decision {row['decision']!r} is neither "
                "'approved' nor 'rejected'"
            )
    return held


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back from an approver."""

    decision: Decision
    approval: Approval | None
    """None where the decision is HOLD."""
    why: str
    """In plain words, why it is HOLD; '' otherwise."""


def ask(approver: Approver, proposal: Proposal, *, timeout: float | None = None) -> Answer:
    """Ask; every failure to answer is HOLD: None, an exception, another type, or `timeout` seconds gone.

    An approver that hangs is left behind in a daemon thread; what it says later is not heard.
    """
    heard: list[Any] = []

    def listen() -> None:
        try:
            heard.append(approver(proposal))
        except Exception as error:
            heard.append(error)

    if timeout is None:
        listen()
    else:
        thread = threading.Thread(target=listen, daemon=True, name="approver")
        thread.start()
        thread.join(timeout)
    if not heard:
        return _hold(f"no answer within {timeout} s")
    said = heard[0]
    if isinstance(said, Approval):
        return Answer(decision=said.decision, approval=said, why="")
    if said is None:
        return _hold("nobody answered")
    if isinstance(said, Exception):
        return _hold(f"the approver raised {type(said).__name__}: {said}")
    return _hold(f"the approver returned {type(said).__name__}, not an Approval")


def _hold(why: str) -> Answer:
    return Answer(decision=Decision.HOLD, approval=None, why=why)
