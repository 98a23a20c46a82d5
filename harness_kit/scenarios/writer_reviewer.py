"""Chapter 02: one writes, others review, and only the coordinator saves.

    done = run(rounds=3)
    done.committed, done.calls          # True, {'writer': 2, 'reviewer': 2}

The writer's faults are fixed on purpose: a failure that comes back every time can be studied.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from harness_kit.approval import Approver
from harness_kit.approvers import RecordedDecisions, ScriptedApprover
from harness_kit.budget import Budget
from harness_kit.codes import Decision
from harness_kit.errors import InputError
from harness_kit.labels import Word, label
from harness_kit.models import ScriptedModel
from harness_kit.resources import data_path
from harness_kit.roles import Coordinated, Coordination, Role, Spec, Test, drive, result_of
from harness_kit.rolewords import RoleWord
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, fixed_clock
from harness_kit.workspace import Workspace

FORM = ("BAD_TITLE", "BAD_GOAL", "BAD_STEPS")
"""What a reviewer of the form may find."""
CONTENT = ("NO_CHECK", "WEAK_DONE")
"""What a reviewer of the content may find."""
ISSUES = (*FORM, *CONTENT)
PREFIXES = dict(zip(ISSUES, ("제목:", "목표:", "작업:", "검증:", "완료:"), strict=True))
"""How the line begins that each code is about."""
FIELDS = dict(zip(FORM, ("title", "goal", "steps"), strict=True))
FILE = "final.txt"
Seen = Callable[[dict[str, Any]], object]


@cache
def _story() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(data_path("writer_reviewer", "story.json").read_text("utf-8"))
    return loaded


def documents() -> dict[str, dict[str, str]]:
    """Return what the writer is told about each of the chapter's documents, by file name."""
    return {name: dict(content) for name, content in _story()["documents"].items()}


def required_lines(content: Mapping[str, str]) -> dict[str, str]:
    """Return the one line that each issue code asks for."""
    lines = {code: f"{PREFIXES[code]} {content[field]}" for code, field in FIELDS.items()}
    return {**lines, "NO_CHECK": _story()["check_line"], "WEAK_DONE": _story()["done_line"]}


def document_issues(text: str, content: Mapping[str, str]) -> list[str]:
    """Return the codes of what is wrong: every item must stand there once, worded as required."""
    lines = text.splitlines()
    return [
        code
        for code, required in required_lines(content).items()
        if [line for line in lines if line.startswith(PREFIXES[code])] != [required]
    ]


def first_draft(content: Mapping[str, str], faults: Sequence[str] = CONTENT) -> str:
    """Return the draft that the scripted writer begins with: right but for `faults`."""
    _check_known("faults", faults, ISSUES)
    lines = required_lines(content)
    for code in FIELDS:
        if code in faults:
            lines[code] = f"{PREFIXES[code]} 미정"
    if "NO_CHECK" in faults:
        del lines["NO_CHECK"]
    if "WEAK_DONE" in faults:
        lines["WEAK_DONE"] = _story()["weak_done_line"]
    return "".join(f"{line}\n" for line in lines.values())


def writer(
    *, faults: Sequence[str] = CONTENT, draft: str | None = None, on_request: Seen = lambda request: None
) -> Role:
    """Return the scripted writer. It mends what `CONTENT` names and nothing else, line by line.

    `draft` is its first candidate instead of the usual one with `faults`.
    """

    _check_known("faults", faults, ISSUES)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        on_request(request)
        if not request["feedback"]:
            text = first_draft(request["spec"], faults) if draft is None else draft
        else:
            text = _mended(request["candidate"], request["feedback"], required_lines(request["spec"]))
        return {"candidate": text, "report": "잘 마쳤습니다"}

    return Role(name="writer", model=ScriptedModel(answer, name="writer"))


def _mended(text: str, feedback: Sequence[str], required: Mapping[str, str]) -> str:
    lines = text.splitlines()
    for code in (code for code in CONTENT if code in feedback):
        lines = [line for line in lines if not line.startswith(PREFIXES[code])]
        ends = [place for place, line in enumerate(lines) if line.startswith(PREFIXES["WEAK_DONE"])]
        lines.insert(ends[0] if ends else len(lines), required[code])
    return "".join(f"{line}\n" for line in lines)


def reviewer(
    name: str,
    codes: Sequence[str],
    content: Mapping[str, str],
    *,
    on_request: Seen = lambda request: None,
    timeout: float | None = None,
) -> Role:
    """Return a scripted reviewer that looks for `codes` in the candidate and changes nothing."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        on_request(request)
        found = [code for code in document_issues(request["candidate"], content) if code in codes]
        return {"candidate_id": request["candidate_id"], "approved": not found, "issues": found}

    return Role(name=name, model=ScriptedModel(answer, name=name), codes=tuple(codes), timeout=timeout)


def reviewers(
    names: Sequence[str], content: Mapping[str, str], *, on_request: Seen = lambda request: None
) -> list[Role]:
    """Return the reviewers of those names: `reviewer` (all codes), `form`, `content`."""
    codes = {"reviewer": ISSUES, "form": FORM, "content": CONTENT}
    _check_known("reviewers", names, codes)
    return [reviewer(name, codes[name], content, on_request=on_request) for name in names]


def tests(content: Mapping[str, str]) -> dict[str, Test]:
    """Return the independent tests: the candidate is right, and the criteria still see what is wrong."""

    def without(code: str) -> Test:
        line = required_lines(content)[code] + "\n"
        return lambda first, final: code in document_issues(final.replace(line, ""), content)

    return {
        "first_draft_judged": lambda first, final: first == final or bool(document_issues(first, content)),
        "final_is_right": lambda first, final: document_issues(final, content) == [],
        "missing_check_seen": without("NO_CHECK"),
        "missing_done_seen": without("WEAK_DONE"),
    }


def coordination(
    root: str | Path,
    *,
    file: str = FILE,
    rounds: int | None = None,
    reviewing: Sequence[str] = ("reviewer",),
    writing: Role | None = None,
    on_review: Seen = lambda request: None,
    budget: Budget,
    clock: Clock,
    store: TraceStore | None = None,
    run_id: str = "writer_reviewer",
) -> Coordination:
    """Return the chapter's run over one document, not yet begun."""
    _check_known("documents", [file], documents())
    spec = Spec(file=file, content=documents()[file], reviewers=tuple(reviewing), issues=ISSUES)
    return Coordination(
        run_id,
        spec=spec,
        rounds=_story()["rounds"] if rounds is None else rounds,
        clock=clock,
        budget=budget,
        store=store,
        **parts(root, file=file, reviewing=reviewing, writing=writing, on_review=on_review),
    )


def parts(
    root: str | Path,
    *,
    file: str = FILE,
    reviewing: Sequence[str] = ("reviewer",),
    writing: Role | None = None,
    on_review: Seen = lambda request: None,
) -> dict[str, Any]:
    """Return what a run of the chapter works with; `Coordination.resume` takes the same."""
    content = documents()[file]
    return {
        "writer": writer() if writing is None else writing,
        "reviewers": reviewers(reviewing, content, on_request=on_review),
        "tests": tests(content),
        "workspace": Workspace(root, writable={file}),
    }


def run(
    *,
    rounds: int | None = None,
    reviewing: Sequence[str] = ("reviewer",),
    faults: Sequence[str] = CONTENT,
    draft: str | None = None,
    on_review: Seen = lambda request: None,
    approval: Decision | Approver = Decision.APPROVED,
    limit: int = 20,
    file: str = FILE,
    root: str | Path | None = None,
    store: TraceStore | None = None,
    clock: Clock | None = None,
    run_id: str = "writer_reviewer",
) -> Coordinated:
    """Run the chapter over one document and return what came out.

    `reviewing` names the reviewers, `faults` and `draft` what the writer begins with; `on_review`
    sees each request to a reviewer. Without `root` it
    works in a folder of its own that is removed afterwards; without `clock` at the chapter's fixed time.
    """
    time = fixed_clock(_story()["time"]) if clock is None else clock
    with _folder(root) as folder:
        work = coordination(
            folder, file=file, rounds=rounds, reviewing=reviewing, clock=time, store=store, run_id=run_id,
            writing=writer(faults=faults, draft=draft), on_review=on_review,
            budget=Budget(limit) if store is None else Budget(limit, store=store, name=run_id),
        )  # fmt: skip
        drive(work, approver(approval))
        return result_of(work)


def approver(approval: Decision | Approver = Decision.APPROVED) -> Approver | None:
    """Return who answers: the recorded decision, a scripted refusal, nobody (HOLD), or the one given."""
    if not isinstance(approval, Decision):
        return approval
    if approval is Decision.HOLD:
        return None
    if approval is Decision.APPROVED:
        return RecordedDecisions(data_path("writer_reviewer", "decisions.json"))
    return ScriptedApprover(decision=approval, approver="김하늘", clock=fixed_clock(_story()["time"]))


def lines(**arguments: Any) -> list[str]:
    """Return what the chapter prints; where nothing is confirmed, the rounds and the calls all the same."""
    done = run(**arguments)
    out = [_round_line(entry) for entry in done.history]
    if done.checks:
        told = label(Word.PASSED if all(done.checks.values()) else Word.FAILED)
        out.append(f"{label(RoleWord.TESTS)}: {told}")
    if done.saved is not None:
        out += [f"{label(RoleWord.CHANGES)}:", *done.changes]
        out += [f"{label(RoleWord.CONFIRMED_FILE)}: {done.file}", f"{label(RoleWord.CONFIRMED_TEXT)}:"]
        out += done.saved.splitlines()
    else:
        why = label(done.reason) if done.reason is not None else label(done.status)
        out.append(f"{label(RoleWord.NOT_CONFIRMED)}: {why}")
    counts = [f"{label(RoleWord(role))}={count}" for role, count in done.calls.items()]
    counts.append(f"{label(RoleWord.TOTAL)}={sum(done.calls.values())}")
    return [*out, f"{label(RoleWord.CALL_COUNT)}: {', '.join(counts)}"]


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(f"{what} {unknown} are not known; choose from {list(known)}")


def _round_line(entry: Mapping[str, Any]) -> str:
    if entry["passed"]:
        said = label(RoleWord.REVIEW_PASSED)
    else:
        codes = ", ".join(entry["feedback"] or entry["unresolved"])
        said = f"{label(RoleWord.REVISION_ASKED)} {codes}" if codes else label(RoleWord.REVIEW_REFUSED)
    return f"{label(RoleWord.ROUND)} {entry['round']}: {said}"


@contextmanager
def _folder(root: str | Path | None) -> Iterator[Path]:
    if root is not None:
        yield Path(root)
        return
    with tempfile.TemporaryDirectory(prefix="harness-kit-") as folder:
        yield Path(folder).resolve()
