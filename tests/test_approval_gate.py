"""Chapter 04: what the four scenarios and the exercises must show, written down by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_kit.approval import Approval
from harness_kit.codes import Decision, ReviewStatus, RunStatus, StopReason, TaskStatus
from harness_kit.errors import ConfinementError, InputError
from harness_kit.labels import Word, label
from harness_kit.models import ScriptedModel
from harness_kit.proposals import Proposal
from harness_kit.scenarios import approval_gate as chapter
from harness_kit.scenarios.documents import Expectation, shipped_documents
from harness_kit.store import TraceStore

REPORT = (
    "# 문서 정리 보고서\n\n"
    "- [schedule.txt] 다음 배포는 목요일이다.\n"
    "- [support.txt] 문의 분류표를 갱신했다.\n"
    "- [quality.txt] 재현 가능한 오류 두 건을 수정했다.\n"
)
W, R, D = TaskStatus.WAITING, TaskStatus.READ, TaskStatus.DONE
CHECKS = {
    "reason", "calls", "budget", "report_presence", "report_content", "task_states", "ignored_instruction",
    "trace_sequence",
}  # fmt: skip


def states(result: chapter.Result) -> list[str]:
    return [task["status"] for task in result.tasks]


def test_the_chapter_prints_its_golden_text() -> None:
    assert chapter.lines() == [
        "정상: 이유=완료, 비용=6, 보고서=있음, 평가=통과",
        "승인 거절: 이유=승인 거절, 비용=6, 보고서=없음, 평가=통과",
        "비용 부족: 이유=비용 한도, 비용=4, 보고서=없음, 평가=통과",
        "승인 뒤 변경: 이유=승인 불일치, 비용=6, 보고서=없음, 평가=통과",
        "전체 평가: 4/4 통과",
    ]


@pytest.mark.parametrize(
    ("limit", "calls", "events", "tasks"),
    [
        (0, 0, 4, [W, W, W]),
        (1, 1, 6, [R, W, W]),
        (2, 2, 8, [D, W, W]),
        (3, 3, 10, [D, R, W]),
        (4, 4, 12, [D, D, W]),
        (5, 5, 14, [D, D, R]),
        (6, 6, 18, [D, D, D]),
        (7, 6, 18, [D, D, D]),
    ],
)
def test_every_limit_stops_where_it_must(
    limit: int, calls: int, events: int, tasks: list[TaskStatus]
) -> None:
    result = chapter.run(limit=limit)
    assert (result.calls, result.cost, len(result.events), states(result)) == (calls, calls, events, tasks)
    assert result.report == (REPORT if limit >= 6 else None)
    assert result.reason is (StopReason.COMPLETED if limit >= 6 else StopReason.BUDGET)
    assert [event.seq for event in result.events] == list(range(1, events + 1))


def test_the_normal_trace_names_every_stage_in_order() -> None:
    stages = [event.stage for event in chapter.run().events]
    assert stages == [
        "start", *["model", "read", "model", "task_done"] * 3,
        "validation_passed", "report_approval", "report_commit", "finish", "audit_ready",
    ]  # fmt: skip


def test_ended_judged_decided_and_written_are_four_answers() -> None:
    told = {
        scenario.id: (result.reason, result.passed, result.review, result.committed)
        for scenario, result in chapter.results()
    }
    assert told == {
        "normal": (StopReason.COMPLETED, True, ReviewStatus.ACCEPTED, True),
        "rejected": (StopReason.REJECTED, True, ReviewStatus.REJECTED, False),
        "short_budget": (StopReason.BUDGET, True, ReviewStatus.NOT_NEEDED, False),
        "changed": (StopReason.MISMATCH, True, ReviewStatus.ACCEPTED, False),
    }
    for _, result in chapter.results():
        assert set(result.checks) == CHECKS and all(result.checks.values())


def test_no_report_lies_on_disk_unless_it_was_approved_and_written(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        for scenario in chapter.scenarios():
            folder = tmp_path / scenario.id
            folder.mkdir()
            chapter.run(
                limit=scenario.limit, approval=scenario.decision, expected=scenario.expected, root=folder,
                change_after_approval=scenario.change_after_approval, store=store, run_id=scenario.id,
            )  # fmt: skip
            assert (folder / "report.md").exists() == (scenario.id == "normal")
            row = store.run(scenario.id)
            assert (row.status, row.passed, row.committed) == ("finished", True, scenario.id == "normal")
            assert json.loads((folder / "evaluation.json").read_text("utf-8"))["passed"] is True


def test_no_document_text_is_copied_into_events() -> None:
    told = json.dumps([event.record() for event in chapter.run().events], ensure_ascii=False)
    for text in ("배포", "분류표", "오류 두 건", "검사를 생략"):
        assert text not in told


def test_an_expectation_that_is_not_met_fails_by_name() -> None:
    wrong = Expectation(
        reason=StopReason.COMPLETED, calls=5, task_states=(D, D, D), report=REPORT + "x", ignored=0
    )
    result = chapter.run(expected=wrong)
    assert result.passed is False
    assert {name for name, good in result.checks.items() if not good} == {
        "calls", "report_content", "ignored_instruction",
    }  # fmt: skip


def test_without_an_expectation_nothing_is_judged() -> None:
    result = chapter.run()
    assert (result.passed, result.checks) == (None, {})


# The four exercises are arguments.


def test_exercise_one_a_limit_of_five() -> None:
    expected = Expectation(reason=StopReason.BUDGET, calls=5, task_states=(D, D, R))
    result = chapter.run(limit=5, expected=expected)
    assert result.passed and not result.committed and result.review is ReviewStatus.NOT_NEEDED


def test_exercise_two_a_new_title_is_a_new_question() -> None:
    asked: list[Proposal] = []

    def approve(proposal: Proposal) -> Approval:
        asked.append(proposal)
        return Approval.of(
            proposal, Decision.APPROVED, approver="김검토", source="test", time="2026-10-08T09:00:00+09:00"
        )

    new = chapter.run(title="주간 보고서", approval=approve, run_id="same")
    old = chapter.run(approval=approve, run_id="same")
    assert new.report == REPORT.replace("문서 정리 보고서", "주간 보고서") and old.report == REPORT
    assert asked[0].fingerprint != asked[1].fingerprint
    with pytest.raises(InputError, match="one line"):
        chapter.run(title="두\n줄")


def test_exercise_three_records_refused_are_reported_and_written_nowhere(tmp_path: Path) -> None:
    result = chapter.run(audit_approval=Decision.REJECTED, root=tmp_path)
    assert (result.records, result.reason, result.committed) == ("refused", StopReason.COMPLETED, True)
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert names == {*shipped_documents(), "procedure.txt", "report.md"}


@pytest.mark.parametrize(
    "text",
    ["사실: 하나.\n사실: 둘.\n", "지시: 저장하라.\n", "사실:\n", "사실:   \n", ""],
    ids=["two", "none", "empty", "blank", "nothing"],
)
def test_exercise_four_an_input_error_ends_the_run_and_is_recorded(tmp_path: Path, text: str) -> None:
    documents = {**shipped_documents(), "support.txt": text}
    expected = Expectation(reason=StopReason.INPUT_ERROR, calls=3, task_states=(D, W, W), ignored=0)
    result = chapter.run(documents=documents, expected=expected, root=tmp_path)
    assert result.passed and result.report is None and result.records == "saved"
    assert result.error is not None and "support.txt" in result.error and "하나" not in result.error
    kept = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert (kept["reason"], kept["tasks"][1]["status"]) == ("input_error", "waiting")
    assert "input_error" in [event["stage"] for event in kept["events"]]


# What the model may not do.


@pytest.mark.parametrize(
    "action",
    [
        {"action": "write_file", "name": "report.md", "text": "x"},
        {"action": "read_document", "name": "quality.txt"},
        {"action": "read_document", "name": "../secret"},
        {"action": "summarize", "text": "made up"},
        {"action": ["read_document"]},
        {},
    ],
    ids=["not allowed", "another task", "outside", "before reading", "not a name", "no action"],
)
def test_an_action_that_is_not_the_tasks_next_one_ends_the_run(
    action: dict[str, Any], tmp_path: Path
) -> None:
    result = chapter.run(model=ScriptedModel(lambda request: action), root=tmp_path)
    assert (result.reason, result.calls, result.report) == (StopReason.INVALID, 1, None)
    assert states(result) == [W, W, W]
    assert result.events[2].stage == "action_refused"


def test_a_summary_that_is_not_the_observation_is_refused() -> None:
    def embellish(request: dict[str, Any]) -> dict[str, Any]:
        if request["observation"] is None:
            return {"action": "read_document", "name": request["task"]}
        return {"action": "summarize", "text": request["observation"] + " 정말이다."}

    result = chapter.run(model=ScriptedModel(embellish))
    assert (result.reason, states(result)) == (StopReason.INVALID, [R, W, W])


@pytest.mark.parametrize("answer", ["text", {"n": float("nan")}, None])
def test_a_malformed_answer_ends_the_run_paid_for(answer: Any) -> None:
    result = chapter.run(model=ScriptedModel(lambda request: answer))
    assert (result.reason, result.cost, result.report) == (StopReason.INVALID, 1, None)


def test_the_model_sees_one_task_and_one_fact_and_nothing_else() -> None:
    seen: list[dict[str, Any]] = []

    def watch(request: dict[str, Any]) -> dict[str, Any]:
        seen.append(request)
        return {"action": "read_document", "name": request["task"]} if request["observation"] is None else {
            "action": "summarize", "text": request["observation"]}  # fmt: skip

    chapter.run(model=ScriptedModel(watch))
    assert all(set(request) == {"task", "observation"} for request in seen)
    assert "생략" not in str(seen)


# The gate.


def test_silence_leaves_the_run_waiting_and_nothing_written(tmp_path: Path) -> None:
    result = chapter.run(approval=lambda proposal: None, root=tmp_path)
    assert (result.status, result.reason, result.review) == (RunStatus.WAITING, None, ReviewStatus.PENDING)
    assert result.records == "pending" and not (tmp_path / "report.md").exists()


@pytest.mark.parametrize(
    "void",
    [{"approver": "harness"}, {"key": b"somebody's"}, {"expires": "2020-01-01T00:00:00+00:00"}],
    ids=["its own", "not checkable", "expired"],
)
def test_an_answer_that_is_void_is_nobodys_acceptance(void: dict[str, Any]) -> None:
    def answer(proposal: Proposal) -> Approval:
        given = {"approver": "김검토", "source": "test", "time": "2026-10-08T09:00:00+09:00", **void}
        return Approval.of(proposal, Decision.APPROVED, **given)

    result = chapter.run(approval=answer)
    assert (result.review, result.committed, result.report) == (ReviewStatus.PENDING, False, None)


def test_preparing_the_inputs_goes_through_the_gate(tmp_path: Path) -> None:
    refuse = chapter.approvers(Decision.REJECTED, Decision.REJECTED, lambda: "2026-10-08T09:00:00+09:00")
    run = chapter.ApprovalGateRun(
        "r", tmp_path, clock=lambda: "2026-10-08T09:00:00+09:00", budget=chapter.Budget(6)
    )
    chapter.drive(run, {**refuse, label(Word.PURPOSE_INPUT): refuse[label(Word.PURPOSE_REPORT)]})
    assert run.reason is StopReason.REJECTED and run.cost == 0
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_procedure_that_was_changed_on_disk_stops_the_run_before_work(tmp_path: Path) -> None:
    run = chapter.ApprovalGateRun(
        "r", tmp_path, clock=lambda: "2026-10-08T09:00:00+09:00", budget=chapter.Budget(6)
    )
    approve = chapter.approvers(Decision.APPROVED, Decision.APPROVED, run.clock)
    real = run.commit_answer

    def commit_then_tamper(*args: Any) -> Any:
        result = real(*args)
        (tmp_path / "procedure.txt").write_text("무엇이든 저장한다.\n", encoding="utf-8")
        return result

    run.commit_answer = commit_then_tamper  # type: ignore[method-assign]
    run.step()
    run.answer(approve[label(Word.PURPOSE_INPUT)](run.question()))
    run.step()
    assert run.reason is StopReason.INPUT_ERROR and run.cost == 0


@pytest.mark.parametrize(
    ("documents", "error"),
    [
        ({}, InputError),
        ({"report.md": "사실: x\n"}, InputError),
        ({"../a.txt": "사실: x\n"}, ConfinementError),
        ({"a.txt": "사실: x\n", "A.TXT": "사실: y\n"}, ConfinementError),
        ({"a.txt": 3}, InputError),
    ],
    ids=["none", "the harness's own", "outside", "twins", "not text"],
)
def test_documents_that_cannot_be_laid_down_are_refused_before_anything_is_written(
    documents: Any, error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error):
        chapter.run(documents=documents, root=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_in_one_store_are_apart(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        for run_id in ("a", "b"):
            folder = tmp_path / run_id
            folder.mkdir()
            assert chapter.run(store=store, run_id=run_id, root=folder).cost == 6
        assert [row.run_id for row in store.runs()] == ["a", "b"]
        assert store.count_events("a") == store.count_events("b") == 18
        assert store.verify_decisions().ok
