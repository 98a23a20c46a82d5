"""Writer, reviewers, coordinator: who is told what, what is refused, and what is never written."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_kit.approvers import ScriptedApprover
from harness_kit.budget import Budget
from harness_kit.codes import Decision, ReviewStatus, RunStatus, StopReason, Verdict
from harness_kit.errors import InputError, ModelError
from harness_kit.models import ScriptedModel
from harness_kit.roles import Coordinated, Role, Spec, coordinate
from harness_kit.rolespec import candidate_id
from harness_kit.trace import fixed_clock
from harness_kit.workspace import Workspace

CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")
YES = ScriptedApprover(decision=Decision.APPROVED, approver="김하늘", clock=CLOCK)
SPEC = Spec(
    file="doc.txt", content={"topic": "안내"}, reviewers=("form", "content"), issues=("NO_END", "NO_CHECK")
)
Answer = Callable[[dict[str, Any]], Mapping[str, Any]]


def writer(request: dict[str, Any]) -> dict[str, Any]:
    """First a text without its end; then one that grows by what is asked."""
    return {"candidate": request["candidate"] + "".join(f"{code}\n" for code in ["글", *request["feedback"]])}


def looking_for(code: str) -> Answer:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found = [] if code in request["candidate"] else [code]
        return {"candidate_id": request["candidate_id"], "approved": not found, "issues": found}

    return answer


def role(name: str, answer: Answer, *codes: str, timeout: float | None = None, units: int | None = 1) -> Role:
    return Role(name=name, model=ScriptedModel(answer, name=name, units=units), codes=codes, timeout=timeout)


def run(
    root: Path,
    *,
    write: Answer = writer,
    form: Role | None = None,
    content: Role | None = None,
    spec: Spec = SPEC,
    **more: Any,
) -> Coordinated:
    settings = {
        "rounds": 3, "tests": {"not_blank": lambda first, final: bool(final.strip())},
        "budget": Budget(20), "clock": CLOCK, "approver": YES,
        "workspace": Workspace(root, writable={"doc.txt"}),
    }  # fmt: skip
    return coordinate(
        spec,
        role("writer", write),
        [
            content or role("content", looking_for("NO_CHECK"), "NO_CHECK"),
            form or role("form", looking_for("NO_END"), "NO_END"),
        ],
        **{**settings, **more},
    )


def written(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.name != ".harness_kit")


def test_both_reviewers_must_pass_the_same_candidate(tmp_path: Path) -> None:
    done = run(tmp_path)
    final = "글\n글\nNO_END\nNO_CHECK\n"
    assert (done.reason, done.verdict, done.committed) == (StopReason.COMPLETED, Verdict.PASS, True)
    assert done.calls == {"writer": 2, "form": 2, "content": 2} and done.cost == 6
    assert done.rework == {"writer": 1, "form": 1, "content": 1}
    assert (tmp_path / "doc.txt").read_text("utf-8") == final == done.saved == done.candidate
    assert done.changes[:2] == ("--- 초안", "+++ 확정안") and "+NO_CHECK" in done.changes
    assert [entry["passed"] for entry in done.history] == [False, True]
    last = done.history[-1]
    assert {review["candidate_id"] for review in last["reviews"]} == {candidate_id(final)}


def test_a_pass_of_the_candidate_before_does_not_count(tmp_path: Path) -> None:
    """Mending what content wants breaks what form passed: form is asked again and fails it."""

    def breaking(request: dict[str, Any]) -> dict[str, Any]:
        text = {"": "NO_END\n", "NO_END\n": "NO_CHECK\n"}.get(request["candidate"], "NO_END NO_CHECK\n")
        return {"candidate": text}

    done = run(tmp_path, write=breaking)
    assert [[r["approved"] for r in entry["reviews"]] for entry in done.history] == [
        [True, False], [False, True], [True, True],
    ]  # fmt: skip
    assert done.saved == "NO_END NO_CHECK\n" and done.calls == {"writer": 3, "form": 3, "content": 3}


def test_at_the_round_limit_nothing_is_confirmed_and_all_is_reported(tmp_path: Path) -> None:
    done = run(tmp_path, rounds=1)
    assert (done.reason, done.verdict, done.committed) == (StopReason.ROUNDS, Verdict.FAIL, False)
    assert done.calls == {"writer": 1, "form": 1, "content": 1}
    assert done.candidate == "글\n" and done.saved is None and len(done.history) == 1
    assert done.history[0]["feedback"] == ["NO_END", "NO_CHECK"], "in the order of the spec"
    assert written(tmp_path) == []


def test_what_each_role_was_given(tmp_path: Path) -> None:
    seen: dict[str, list[dict[str, Any]]] = {"writer": [], "form": [], "content": []}

    def watched(name: str, answer: Answer) -> Answer:
        def asked(request: dict[str, Any]) -> Mapping[str, Any]:
            seen[name].append(request)
            return answer(request)

        return asked

    def proud(request: dict[str, Any]) -> dict[str, Any]:
        return {**writer(request), "report": "완벽합니다"}

    done = run(
        tmp_path,
        write=watched("writer", proud),
        form=role("form", watched("form", looking_for("NO_END")), "NO_END"),
        content=role("content", watched("content", looking_for("NO_CHECK")), "NO_CHECK"),
    )
    assert done.committed
    assert [request["feedback"] for request in seen["writer"]] == [[], ["NO_END", "NO_CHECK"]]
    assert seen["writer"][0] == {"spec": {"topic": "안내"}, "candidate": "", "feedback": []}
    for name in ("form", "content"):
        assert len(seen[name]) == 2
        for request in seen[name]:
            assert set(request) == {"candidate", "candidate_id", "criteria"}
            assert "완벽" not in str(request)


def _raises(request: dict[str, Any]) -> Mapping[str, Any]:
    raise ZeroDivisionError("고장")


def _hangs(request: dict[str, Any]) -> Mapping[str, Any]:
    time.sleep(30)
    return {}


def _older() -> Answer:
    remembered: list[str] = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        remembered.append(request["candidate_id"])
        first = len(remembered) == 1
        return {
            "candidate_id": remembered[0], "approved": not first, "issues": ["NO_CHECK"] if first else [],
        }  # fmt: skip

    return answer


@pytest.mark.parametrize(
    ("answer", "number", "words"),
    [
        (_raises, 1, "raised ZeroDivisionError: 고장"),
        (_hangs, 1, "no answer within 0.05 s"),
        (_older(), 2, "not of"),
        (lambda request: {"verdict": "좋음"}, 1, "fields"),
        (lambda request: "좋음", 1, "answered Reply|expected a Reply"),
        (lambda request: {"candidate_id": request["candidate_id"], "approved": True, "issues": ["NO_CHECK"]},
         1, "leaves the issues"),
        (lambda request: {"candidate_id": request["candidate_id"], "approved": False, "issues": []},
         1, "names no issue"),
        (lambda request: {"candidate_id": request["candidate_id"], "approved": False, "issues": ["NO_END"]},
         1, "not this reviewer's"),
    ],
    ids=["raises", "hangs", "older", "malformed", "no object", "pass with issues", "empty failure",
         "foreign"],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False], ids=["asked first", "asked last"])
def test_a_reviewer_that_does_not_answer_rightly_is_refused_by_name_and_round(
    tmp_path: Path, answer: Answer, number: int, words: str, first: bool
) -> None:
    if words == "not of":
        answer = _older()  # it remembers, and this test runs twice
    bad = role("content", answer, "NO_CHECK", timeout=0.05 if answer is _hangs else None)
    order = ("content", "form") if first else ("form", "content")
    spec = Spec.from_record({**SPEC.record(), "reviewers": order})
    done = run(tmp_path, content=bad, spec=spec)
    (refused,) = done.refused
    assert (refused["role"], refused["round"]) == ("content", number)
    assert re.search(words, refused["why"])
    assert (done.reason, done.verdict, done.committed) == (StopReason.INVALID, Verdict.FAIL, False)
    assert done.calls == {"writer": number, "form": number, "content": number}, (
        "the other is asked all the same"
    )
    assert [review["role"] for review in done.history[-1]["reviews"]] == ["form"], "the other's work is kept"
    assert not done.history[-1]["passed"] and done.candidate is not None
    assert f"content, round {number}" in str(done.error)
    assert written(tmp_path) == []


@pytest.mark.parametrize(
    "answer",
    [_raises, lambda request: {"candidate": ""}, lambda request: {"text": "글"},
     lambda request: {"candidate": None}],
)  # fmt: skip
def test_a_writer_that_does_not_answer_rightly_ends_the_run(tmp_path: Path, answer: Answer) -> None:
    done = run(tmp_path, write=answer)
    assert [(row["role"], row["round"]) for row in done.refused] == [("writer", 1)]
    assert done.reason is StopReason.INVALID and done.calls == {"writer": 1, "form": 0, "content": 0}
    assert written(tmp_path) == []


def test_a_model_error_of_the_role_keeps_its_words(tmp_path: Path) -> None:
    def broken(request: dict[str, Any]) -> Mapping[str, Any]:
        raise ModelError("연결이 끊겼다")

    done = run(tmp_path, content=role("content", broken, "NO_CHECK"))
    assert done.refused[0]["why"] == "연결이 끊겼다"


def test_a_contradiction_is_held_with_both_kept(tmp_path: Path) -> None:
    spec = Spec.from_record({**SPEC.record(), "contradictions": [["NO_END", "NO_CHECK"]]})
    done = run(tmp_path, spec=spec)
    assert (done.reason, done.verdict, done.committed) == (StopReason.UNRESOLVED, Verdict.HOLD, False)
    assert done.history[0]["unresolved"] == ["NO_END", "NO_CHECK"]
    assert done.calls == {"writer": 1, "form": 1, "content": 1} and written(tmp_path) == []


def test_a_contradiction_with_priority_goes_on(tmp_path: Path) -> None:
    spec = Spec.from_record(
        {**SPEC.record(), "contradictions": [["NO_END", "NO_CHECK"]], "priority": ["NO_CHECK", "NO_END"]}
    )
    done = run(tmp_path, spec=spec)
    assert done.history[0]["feedback"] == ["NO_CHECK"] and done.history[0]["dropped"] == ["NO_END"]
    assert done.committed, "the weaker one is asked for in the next round"


@pytest.mark.parametrize(
    "test",
    [lambda first, final: False, lambda first, final: 1, lambda first, final: None,
     lambda first, final: 1 / 0],
)  # fmt: skip
def test_passed_reviews_are_no_proof_the_tests_decide(tmp_path: Path, test: Any) -> None:
    done = run(tmp_path, tests={"good": lambda first, final: True, "strict": test})
    assert done.checks == {"good": True, "strict": False}
    assert (done.reason, done.committed) == (StopReason.INVALID, False) and written(tmp_path) == []
    assert "strict" in str(done.error)


def test_nobody_approves_nothing_is_written(tmp_path: Path) -> None:
    for approver in (None, lambda proposal: None, _raises):
        done = run(tmp_path, approver=approver)
        assert (done.status, done.reason, done.verdict) == (RunStatus.WAITING, None, Verdict.HOLD)
        assert done.history[-1]["passed"] and written(tmp_path) == []


def test_a_refused_approval_writes_nothing(tmp_path: Path) -> None:
    done = run(
        tmp_path, approver=ScriptedApprover(decision=Decision.REJECTED, approver="김하늘", clock=CLOCK)
    )
    assert (done.reason, done.review) == (StopReason.REJECTED, ReviewStatus.REJECTED)
    assert written(tmp_path) == [] and not done.committed


def test_a_file_that_changed_while_the_question_waited_is_not_overwritten(tmp_path: Path) -> None:
    def meanwhile(proposal: Any) -> Any:
        (tmp_path / "doc.txt").write_text("다른 사람의 줄\n", "utf-8")
        return YES(proposal)

    done = run(tmp_path, approver=meanwhile)
    assert (done.reason, done.committed) == (StopReason.MISMATCH, False)
    assert (tmp_path / "doc.txt").read_text("utf-8") == "다른 사람의 줄\n"


@pytest.mark.parametrize("limit", range(6))
def test_the_budget_is_reserved_before_each_call(tmp_path: Path, limit: int) -> None:
    budget = Budget(limit)
    done = run(tmp_path, budget=budget)
    assert (done.reason, done.committed) == (StopReason.BUDGET, False)
    assert budget.spent == limit == sum(done.calls.values()) and written(tmp_path) == []
    if limit == 2:
        assert [review["role"] for review in done.history[0]["reviews"]] == ["form"], "what it said is kept"


def test_an_unknown_price_is_refused_and_no_call(tmp_path: Path) -> None:
    done = run(tmp_path, content=role("content", looking_for("NO_CHECK"), "NO_CHECK", units=None))
    assert [row["role"] for row in done.refused] == ["content"]
    assert done.calls == {"writer": 1, "form": 1, "content": 0} and done.cost == 2 and not done.committed


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 0}, {"rounds": True}, {"rounds": 1.5}, {"tests": {}},
        {"spec": Spec.from_record({**SPEC.record(), "reviewers": ["form", "content", "style"]})},
        {"spec": Spec.from_record({**SPEC.record(), "reviewers": ["form"]})},
        {"form": role("form", looking_for("NO_END"))},
        {"form": role("form", looking_for("NO_END"), "WHATEVER")},
        {"form": role("writer", looking_for("NO_END"), "NO_END")},
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused_before_any_call(tmp_path: Path, change: dict[str, Any]) -> None:
    budget = Budget(20)
    with pytest.raises(InputError):
        run(tmp_path, **{"budget": budget, **change})
    assert budget.rows() == [] and written(tmp_path) == []
