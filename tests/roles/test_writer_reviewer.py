"""Chapter 02: its printed text, and the numbers of its exercises as values."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_kit.approvers import ScriptedApprover
from harness_kit.budget import Budget
from harness_kit.codes import Decision, StopReason
from harness_kit.errors import InputError
from harness_kit.fanout import confirm, write_and_review
from harness_kit.reproduce import chapter_named, check
from harness_kit.scenarios import writer_reviewer as chapter
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock

CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")


def test_the_chapter_prints_its_golden_output() -> None:
    assert check(chapter_named("02")).difference == ""


def test_as_told_two_calls_each() -> None:
    done = chapter.run()
    assert done.committed and done.calls == {"writer": 2, "reviewer": 2}
    assert done.history[0]["feedback"] == ["NO_CHECK", "WEAK_DONE"]
    assert all(done.checks.values()) and len(done.checks) == 4


def test_exercise_1_one_round_writes_nothing_and_still_counts() -> None:
    done = chapter.run(rounds=1)
    assert done.calls == {"writer": 1, "reviewer": 1}
    assert (done.reason, done.saved, done.committed) == (StopReason.ROUNDS, None, False)
    assert chapter.lines(rounds=1)[-1] == "호출 횟수: 작성자=1, 검토자=1, 합계=2"


def test_exercise_2_the_word_alone_is_no_check() -> None:
    content = {**chapter.documents()["final.txt"]}
    mention = chapter.first_draft(content, ["NO_CHECK"]).replace(
        "목표: 입력 문서를 정리한다.", "목표: 검증이라는 단어를 포함한 문서 작성"
    )
    assert "검증" in mention and chapter.document_issues(mention, content) == ["BAD_GOAL", "NO_CHECK"]
    done = chapter.run(draft=mention)
    assert done.history[0]["feedback"] == ["BAD_GOAL", "NO_CHECK"]
    assert done.reason is StopReason.ROUNDS and not done.committed
    assert done.calls == {"writer": 3, "reviewer": 3}, "the writer cannot mend the goal"
    check_line = "검증: 제목과 본문이 비어 있지 않은지 검사\n"
    doubled = chapter.first_draft(content, []) + check_line
    assert chapter.document_issues(doubled, content) == ["NO_CHECK"]


def test_exercise_4_form_and_content_make_six_calls() -> None:
    done = chapter.run(reviewing=("form", "content"))
    assert done.calls == {"writer": 2, "form": 2, "content": 2} and done.cost == 6
    assert [[r["approved"] for r in entry["reviews"]] for entry in done.history] == [
        [True, False], [True, True],
    ]  # fmt: skip
    assert done.saved == chapter.run().saved


@pytest.mark.parametrize("workers", [0, 2])
def test_exercise_3_two_documents_are_both_written_once_both_have_passed(
    tmp_path: Path, workers: int
) -> None:
    budget = Budget(8)
    runs = {
        name: chapter.coordination(tmp_path, file=name, budget=budget, clock=CLOCK, run_id=name)
        for name in chapter.documents()
    }
    if workers:
        with ThreadPoolExecutor(workers) as pool:
            passed = write_and_review(runs, pool)
    else:
        passed = write_and_review(runs)
    assert list(passed) == ["final.txt", "backup.txt"], "by name, as the spec orders them"
    assert not list(tmp_path.glob("*.txt")), "the writers write nothing"
    done = confirm(runs, chapter.approver())
    assert {name: dict(one.calls) for name, one in done.items()} == {
        name: {"writer": 2, "reviewer": 2} for name in runs
    }
    assert budget.spent == 8 and sorted(path.name for path in tmp_path.glob("*.txt")) == sorted(runs)
    assert done["backup.txt"].saved == chapter.run(file="backup.txt").saved


def test_one_document_that_does_not_pass_holds_the_others(tmp_path: Path) -> None:
    budget = Budget(20)
    runs = {
        name: chapter.coordination(
            tmp_path, file=name, rounds=rounds, budget=budget, clock=CLOCK, run_id=name
        )
        for name, rounds in (("final.txt", 3), ("backup.txt", 1))
    }
    write_and_review(runs)
    done = confirm(runs, chapter.approver())
    assert done["backup.txt"].reason is StopReason.ROUNDS
    assert not done["final.txt"].committed and done["final.txt"].history[-1]["passed"]
    assert not list(tmp_path.glob("*.txt"))


@pytest.mark.parametrize("fault", chapter.CONTENT)
def test_each_fault_alone_takes_one_rewrite(fault: str) -> None:
    done = chapter.run(faults=[fault])
    assert done.history[0]["feedback"] == [fault] and done.calls == {"writer": 2, "reviewer": 2}
    assert done.committed


def test_a_faultless_draft_passes_at_once_without_a_difference() -> None:
    done = chapter.run(faults=[])
    assert done.calls == {"writer": 1, "reviewer": 1} and done.committed and done.changes == ()


def test_a_fault_that_the_writer_cannot_mend_ends_at_the_limit() -> None:
    for fault in chapter.FORM:
        done = chapter.run(faults=[fault])
        assert done.reason is StopReason.ROUNDS and done.calls == {"writer": 3, "reviewer": 3}


def test_without_an_answer_or_with_a_no_nothing_is_written() -> None:
    held = chapter.run(approval=Decision.HOLD)
    assert held.reason is None and held.saved is None
    no = ScriptedApprover(decision=Decision.REJECTED, approver="김하늘", clock=CLOCK)
    assert chapter.run(approval=no).reason is chapter.run(approval=Decision.REJECTED).reason
    assert chapter.lines(approval=Decision.REJECTED)[-2] == "미확정: 승인 거절"


def test_a_store_keeps_the_run(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        chapter.run(store=store, run_id="a")
        row = store.run("a")
        assert (row.status, row.reason, row.committed, row.cost) == ("finished", "completed", True, 4)
        stages = [event.stage for event in store.events("a")]
    one = ["write", "review", "round"]
    assert stages == [*one, *one, "tests", "confirm", "finish"]


def test_unknown_names_are_refused_with_those_that_are_known() -> None:
    for wrong in ({"reviewing": ("style",)}, {"faults": ["TYPO"]}, {"file": "other.txt"}):
        with pytest.raises(InputError, match="are not known; choose from"):
            chapter.run(**wrong)  # type: ignore[arg-type]
