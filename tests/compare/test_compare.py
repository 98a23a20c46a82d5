"""Laws of a comparison, whatever the runs hold; and the step at which two traces part."""

import random
from dataclasses import replace
from typing import Any

import pytest
from eval_runs import result, run, run_of
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.codes import Bucket, Cause, ComparisonVerdict, Outcome, Parting
from harness_kit.compare import compare
from harness_kit.errors import InputError
from harness_kit.results import CaseResult, EvalRun
from harness_kit.store import TraceStore
from harness_kit.trace import Event, Recorder, fixed_clock

OUTCOMES = st.sampled_from(list(Outcome))
HASHES = st.sampled_from([None, "one", "two"])
IDS = [f"case-{letter}" for letter in "abcdef"]


@st.composite
def runs(draw: st.DrawFn) -> EvalRun:
    results = []
    for case_id in draw(st.lists(st.sampled_from(IDS), unique=True)):
        judged = {name: draw(HASHES) for name in ("input_hash", "expectation_hash", "grader_hash")}
        weight = draw(st.sampled_from([0.0, 1.0, 2.5]))
        results += [
            result(case_id, draw(OUTCOMES), repeat=repeat, weight=weight, **judged)
            for repeat in range(1, draw(st.integers(1, 3)) + 1)
        ]
    ids = {one.case_id for one in results}
    more = draw(st.sets(st.sampled_from(IDS))) if draw(st.booleans()) else None
    return run_of(
        results, case_ids=() if more is None else tuple(sorted(ids | more)), complete=draw(st.booleans()),
        knows_its_set=draw(st.booleans()),
    )  # fmt: skip


def told(comparison: Any) -> tuple[Any, ...]:
    return (
        comparison.verdict, comparison.counts, comparison.apart, comparison.causes, comparison.evidence,
        sorted(comparison.regressed), sorted(comparison.improved), sorted(comparison.not_covered),
        comparison.score_before(), comparison.score_after(), comparison.coverage,
    )  # fmt: skip


@given(runs(), runs(), st.randoms(use_true_random=False))
def test_shuffling_results_and_sets_changes_nothing(
    before: EvalRun, after: EvalRun, chance: random.Random
) -> None:
    def shuffled(one: EvalRun) -> EvalRun:
        results, ids = list(one.results), list(one.case_ids)
        chance.shuffle(results)
        chance.shuffle(ids)
        return replace(one, results=results, case_ids=tuple(ids))

    assert told(compare(before, after)) == told(compare(shuffled(before), shuffled(after)))


@given(runs())
def test_a_run_with_itself_shows_no_change(one: EvalRun) -> None:
    comparison = compare(one, one)
    moved = (Bucket.IMPROVED, Bucket.REGRESSED, Bucket.ADDED, Bucket.REMOVED)
    assert all(comparison.counts[bucket] == 0 for bucket in moved)
    assert sum(comparison.causes.values()) == 0
    assert comparison.verdict is not ComparisonVerdict.REGRESSED
    assert comparison.evidence.p_value == 1.0


@given(runs(), runs())
def test_swapping_the_sides_mirrors_improved_and_regressed(before: EvalRun, after: EvalRun) -> None:
    here, there = compare(before, after), compare(after, before)
    assert sorted(here.improved) == sorted(there.regressed)
    assert sorted(here.regressed) == sorted(there.improved)
    assert sorted(here.flaky) == sorted(there.flaky)
    assert sorted(here.changed) == sorted(there.changed)


@given(runs(), runs())
def test_every_case_is_in_one_bucket_and_the_counts_add_up(before: EvalRun, after: EvalRun) -> None:
    comparison = compare(before, after)
    everyone = {one.case_id for side in (before, after) for one in side.results}
    everyone |= {*before.case_ids, *after.case_ids}
    assert sorted(row.case_id for row in comparison.rows) == sorted(everyone)
    counted = sum(comparison.counts.values())
    apart = sum(sum(buckets.values()) for buckets in comparison.apart.values())
    assert counted + apart == len(everyone)
    for bucket in Bucket:
        here = [row for row in comparison.rows if row.bucket is bucket]
        assert comparison.counts[bucket] == len(comparison.ids(bucket))
        assert len(here) == len(comparison.ids(bucket)) + len(comparison.ids(bucket, changed=True))


@given(runs(), runs())
def test_a_pass_says_that_all_ran_and_nothing_was_lost(before: EvalRun, after: EvalRun) -> None:
    comparison = compare(before, after)
    if comparison.verdict is ComparisonVerdict.PASSED:
        assert comparison.coverage == 1.0 and not comparison.regressed and not comparison.errored_now
        assert before.complete and after.complete and comparison.pairs > 0 and comparison.why == ()


def test_nothing_against_nothing_is_inconclusive() -> None:
    assert compare(run(), run()).verdict is ComparisonVerdict.INCONCLUSIVE


def test_a_case_left_out_of_both_runs_on_purpose_is_no_lack_of_coverage() -> None:
    one = run(a="passed", b="not_selected")
    comparison = compare(one, one)
    assert comparison.counts[Bucket.NOT_SELECTED] == 1 and comparison.coverage == 1.0
    assert comparison.score_after().value == 1.0
    only_now = compare(run(a="passed", b="passed"), one)
    assert only_now.counts[Bucket.NOT_RUN] == 1
    assert only_now.verdict is ComparisonVerdict.INCONCLUSIVE


def test_a_case_whose_repeats_did_not_all_run_is_not_covered() -> None:
    comparison = compare(run(a="passed passed"), run("v2", a="passed not_run"))
    assert comparison.counts[Bucket.STILL_PASSING] == 1
    assert comparison.not_covered == ("a",) and comparison.coverage == 0.0
    assert comparison.score_after().value == 0.5 and comparison.score_after().at_best == 1.0


def test_what_a_case_is_judged_by_is_one_thing_in_one_run() -> None:
    several = [result("a"), result("a", repeat=2, expectation_hash="other")]
    with pytest.raises(InputError, match="repeats of case 'a' by different"):
        compare(run_of(several), run(a="passed"))


def test_a_result_outside_its_set_is_refused() -> None:
    with pytest.raises(InputError, match="'a', which case_ids does not name"):
        compare(run(b="passed"), replace(run("v2", a="passed"), case_ids=("b",)))


@pytest.mark.parametrize(
    ("field", "value"),
    [("outcome", "ok"), ("outcome", None), ("repeat", 0), ("repeat", True), ("weight", -1), ("weight", "1"),
     ("weight", float("nan")), ("outcome", ["passed"])],
)  # fmt: skip
def test_values_that_no_result_may_have_are_refused(field: str, value: object) -> None:
    broken: CaseResult = replace(result("a"), **{field: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=field):
        compare(run_of([broken]), run(a="passed"))


def test_something_else_than_a_run_is_refused() -> None:
    with pytest.raises(InputError, match="expected an EvalRun"):
        compare([result("a")], run(a="passed"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected a Gate"):
        compare(run(a="passed"), run(a="passed"), gate="strict")  # type: ignore[arg-type]


def test_weights_and_repeats_make_the_score() -> None:
    one = run_of([
        result("a", weight=3.0), result("b", "failed"), result("c"), result("c", "failed", repeat=2),
        result("d", "errored", weight=2.0),
    ])  # fmt: skip
    # (3 + 0 + 1/2 + 0) / (3 + 1 + 1 + 2)
    assert compare(one, one).score_after().value == pytest.approx(0.5)


def test_interval_of_the_scores_difference() -> None:
    names = [f"c{number}" for number in range(40)]
    before = run(**{one: "failed" if number < 20 else "passed" for number, one in enumerate(names)})
    after = run("v2", **dict.fromkeys(names, "passed"))
    interval = compare(before, after).interval()
    assert 0.3 < interval.low < 0.5 < interval.high < 0.7 and interval.cases == 40
    assert interval == compare(before, after).interval()


def test_interval_counts_shares_of_repeats_and_leaves_changed_cases_out() -> None:
    before = run_of([result("a", "failed"), result("b", "failed")])
    after = run_of([result("a"), result("a", "failed", repeat=2), result("b", input_hash="new")], "v2")
    interval = compare(before, after).interval()
    assert (interval.low, interval.high, interval.cases) == (0.5, 0.5, 1)


def test_a_row_by_its_case() -> None:
    comparison = compare(run(a="passed", b="passed"), run("v2", a="passed", b="failed"))
    assert comparison.row("b").cause is Cause.HARNESS
    assert [row.case_id for row in comparison.rows[-1:]] == ["b"]
    with pytest.raises(InputError, match="'c' is in neither run"):
        comparison.row("c")


# Traces: the chapter's `spaces` case, whose items leave the tool in another order.


def traced(version: str, tool: list[str], outcome: str, model: list[str] | None = None) -> list[Event]:
    record = Recorder(f"eval:{version}:spaces", clock=fixed_clock("2026-10-08T09:00:00+09:00"))
    return [
        record("input", case_id="spaces"),
        record("model", items=model or ["초안 작성", "검토 요청"], tool="clean_items"),
        record("tool", items=tool),
        record("verify", passed=outcome == "passed"),
    ]


def with_traces(version: str, outcome: str, tool: list[str]) -> EvalRun:
    events = {f"eval:{version}:spaces": traced(version, tool, outcome)}
    results = [result("spaces", outcome, trace_id=f"eval:{version}:spaces"), result("untraced", outcome)]
    return run_of(results, version, traces=events.__getitem__)


IN_ORDER, SORTED = ["초안 작성", "검토 요청"], ["검토 요청", "초안 작성"]


def test_first_divergence_is_where_the_model_agreed_and_the_tool_did_not() -> None:
    comparison = compare(with_traces("v1", "passed", IN_ORDER), with_traces("v2", "failed", SORTED))
    parted = comparison.first_divergence("spaces")
    assert parted is not None and (parted.stage, parted.occurrence) == ("tool", 1)
    assert parted.after is not None and parted.after.data["items"] == SORTED


def test_stages_over_all_regressed_cases_add_up() -> None:
    comparison = compare(with_traces("v1", "passed", IN_ORDER), with_traces("v2", "failed", SORTED))
    assert comparison.divergence_stages() == {Parting.NO_TRACE: 1, "tool": 1}
    assert sum(comparison.divergence_stages().values()) == len(comparison.regressed) == 2


def test_traces_that_tell_the_same_part_nowhere() -> None:
    one = with_traces("v1", "passed", IN_ORDER)
    assert compare(one, one).first_divergence("spaces") is None


def test_a_case_without_a_trace_says_what_to_do() -> None:
    comparison = compare(with_traces("v1", "passed", IN_ORDER), with_traces("v2", "failed", SORTED))
    with pytest.raises(InputError, match=r"'eval:v1' left no trace of case 'untraced'.*store="):
        comparison.first_divergence("untraced")


def test_a_repeat_that_passed_is_laid_beside_one_that_does_not() -> None:
    events = {
        "1": traced("v1", IN_ORDER, "passed"),
        "2": traced("v2", IN_ORDER, "passed"),
        "3": traced("v2", SORTED, "failed"),
    }
    before = run_of([result("spaces", trace_id="1")])
    after = run_of([result("spaces", trace_id="2"), result("spaces", "failed", repeat=2, trace_id="3")], "v2")
    parted = compare(before, after, traces=events.__getitem__).first_divergence("spaces")
    assert parted is not None and parted.stage == "tool"


def test_traces_are_read_from_a_store(tmp_path: Any) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        for version, tool, outcome in (("v1", IN_ORDER, "passed"), ("v2", SORTED, "failed")):
            store.open_run(f"eval:{version}:spaces", started="2026-10-08T09:00:00+09:00")
            store.append(traced(version, tool, outcome))
        before, after = (
            replace(with_traces(version, outcome, []), traces=None)
            for version, outcome in (("v1", "passed"), ("v2", "failed"))
        )
        parted = compare(before, after, traces=store.events).first_divergence("spaces")
    assert parted is not None and parted.stage == "tool"
