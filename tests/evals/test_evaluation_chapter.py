"""Chapter 03: the printed text and the exercises' numbers, written down by hand."""

from harness_kit.budget import Budget
from harness_kit.codes import AlertKind, Outcome, TriggerSource, TriggerStatus
from harness_kit.resources import data_path
from harness_kit.scenarios import evaluation as chapter
from harness_kit.store import TraceStore
from harness_kit.trace import first_divergence
from harness_kit.triggers import Trigger, fire_in_order


def passed(run: chapter.EvalRun) -> str:
    return f"{sum(result.outcome is Outcome.PASSED for result in run.results)}/{len(run.results)}"


def test_the_chapter_prints_its_golden_text() -> None:
    golden = data_path("golden", "evaluation.txt").read_text("utf-8")
    assert "".join(f"{line}\n" for line in chapter.lines()) == golden


def test_exercise_one_a_mended_v2() -> None:
    told = chapter.run(after=chapter.V2_MENDED)
    assert passed(told.after) == "4/4" and chapter.score(told.after) == 1.0
    assert told.changed(passed=True) == ["duplicate", "empty"] and told.changed(passed=False) == []
    assert chapter.pending(told.after) == 1 and told.records == 40


def test_exercise_two_a_mixed_case() -> None:
    told = chapter.run(cases=chapter.shipped_cases().with_case(chapter.MIXED))
    assert (passed(told.before), passed(told.after)) == ("2/5", "4/5")
    assert told.changed(passed=False) == ["spaces"]


def test_exercise_three_a_limit_of_nine() -> None:
    told = chapter.run(limit=9)
    assert [one.status for one in told.fired] == [
        TriggerStatus.FAILED,
        TriggerStatus.PASSED,
        TriggerStatus.PASSED,
    ]
    assert [one.spent for one in told.fired] == [3, 6, 9]
    alerts = [one.alert for one in told.fired if one.alert]
    assert [(alert.kind, alert.run_id) for alert in alerts] == [
        (AlertKind.VERIFICATION_FAILED, "auto:v2:daily")
    ]
    assert told.records == 44


def test_exercise_four_the_traces_part_at_the_tool() -> None:
    told = chapter.run()
    assert told.before.traces is not None and told.after.traces is not None
    parted = first_divergence(told.before.traces("eval:v1:spaces"), told.after.traces("eval:v2:spaces"))
    assert parted is not None and (parted.stage, parted.occurrence) == ("tool", 1)


def test_everything_is_kept_in_the_store_that_is_passed_in() -> None:
    with TraceStore(":memory:") as store:
        chapter.run(store=store)
        assert store.count_events() == 40
        assert [event.stage for event in store.events("auto:v2:daily:spaces")] == [
            "input",
            "model",
            "tool",
            "verify",
        ]


def test_a_trigger_that_raises_is_a_failed_run_that_was_paid_for() -> None:
    def broken(trigger: Trigger, run_id: str) -> bool:
        raise OSError

    budget = Budget(5)
    triggers = [Trigger(id=name, source=TriggerSource.EVENT, case="x") for name in ("a", "b")]
    fired = fire_in_order(triggers, broken, budget, units=3, name_run=lambda trigger: trigger.id)
    assert [one.status for one in fired] == [TriggerStatus.FAILED, TriggerStatus.BLOCKED]
    assert budget.spent == 3
    assert [one.alert and one.alert.kind for one in fired] == [
        AlertKind.VERIFICATION_FAILED, AlertKind.BUDGET_EXHAUSTED,
    ]  # fmt: skip
