"""What goes wrong when people compare runs, and what is right: a test a line of that list."""

from dataclasses import replace

import pytest
from eval_runs import nameless, result, run, run_of

from harness_kit.codes import Bucket, Cause, ComparisonVerdict, Ground, Outcome, ReviewStatus
from harness_kit.compare import compare
from harness_kit.errors import InputError
from harness_kit.gates import Gate

PASSED, REGRESSED, INCONCLUSIVE = ComparisonVerdict


def grounds(comparison: object) -> list[Ground]:
    return [reason.ground for reason in comparison.why]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("field", "cause"),
    [
        ("input_hash", Cause.INPUT),
        ("expectation_hash", Cause.EXPECTATION),
        ("grader_hash", Cause.GRADER),
    ],
)
def test_a_changed_case_is_no_improvement_or_regression_of_the_harness(field: str, cause: Cause) -> None:
    before = run_of([result("a", "failed"), result("b"), result("c")])
    after = run_of(
        [result("a", "passed", **{field: "new"}), result("b", "failed", **{field: "new"}), result("c")], "v2"
    )
    comparison = compare(before, after)
    assert (comparison.improved, comparison.regressed) == ((), ())
    assert comparison.changed == ("a", "b")
    assert comparison.counts[Bucket.STILL_PASSING] == sum(comparison.counts.values()) == 1
    assert comparison.apart[cause] == dict.fromkeys(Bucket, 0) | {Bucket.IMPROVED: 1, Bucket.REGRESSED: 1}
    assert comparison.causes[cause] == 2 and comparison.causes[Cause.HARNESS] == 0
    assert comparison.rows[0].cause is cause
    assert comparison.verdict is PASSED
    assert [note.ground for note in comparison.notes] == [Ground.CASE_CHANGED]


def test_two_public_runs_read_rightly() -> None:
    """Nine improved and two regressed, of which seven had new task text: two and two, p = 1."""
    before = [result(f"i{n}", "failed") for n in range(9)] + [result(f"r{n}") for n in range(2)]
    after = [result(f"i{n}", "passed", **({"input_hash": "new"} if n < 7 else {})) for n in range(9)]
    after += [result(f"r{n}", "failed") for n in range(2)]
    comparison = compare(run_of(before), run_of(after, "v2"))
    assert (comparison.improved, comparison.regressed) == (("i7", "i8"), ("r0", "r1"))
    assert comparison.evidence.p_value == 1.0


def test_what_changed_together_is_all_told_and_counted_once() -> None:
    before = run_of([result("a", "failed")])
    after = run_of([result("a", "passed", input_hash="new", expectation_hash="new", grader_hash="new")])
    comparison = compare(before, after)
    assert comparison.rows[0].causes == (Cause.INPUT, Cause.EXPECTATION, Cause.GRADER)
    assert sum(comparison.causes.values()) == 1
    assert comparison.verdict is INCONCLUSIVE and grounds(comparison) == [Ground.NOTHING]


def test_without_hashes_a_cause_is_unknown_and_never_the_harness() -> None:
    before, after = result("a"), result("a", "failed")
    bare = nameless(before), nameless(after)
    for one, other in [(bare[0], after), (before, bare[1]), bare]:
        comparison = compare(run_of([one]), run_of([other], "v2"))
        assert comparison.rows[0].causes == (Cause.UNKNOWN,)
        assert comparison.regressed == ("a",) and comparison.verdict is REGRESSED
        assert comparison.notes[-1].ground is Ground.CAUSE_UNKNOWN
    assert compare(run_of([before]), run_of([after])).rows[0].causes == (Cause.HARNESS,)


def test_without_hashes_a_different_expectation_still_tells() -> None:
    before = nameless(result("a", expected=["x", 1]))
    after = nameless(result("a", "failed", expected=["x", True]))
    comparison = compare(run_of([before]), run_of([after], "v2"))
    assert comparison.rows[0].causes == (Cause.EXPECTATION,)
    alike = compare(run_of([before]), run_of([replace(after, expected=["x", 1])], "v2"))
    assert alike.rows[0].causes == (Cause.UNKNOWN,)


def test_a_partial_run_is_not_run_and_inconclusive() -> None:
    ids = [f"t{number}" for number in range(424)]
    before = run_of([result(one) for one in ids])
    after = run_of([result(one) for one in ids[:10]], "v2", case_ids=tuple(ids))
    comparison = compare(before, after)
    assert comparison.counts[Bucket.NOT_RUN] == 414
    assert comparison.counts[Bucket.REMOVED] == comparison.counts[Bucket.REGRESSED] == 0
    assert comparison.verdict is INCONCLUSIVE and grounds(comparison) == [Ground.COVERAGE]
    assert len(comparison.why[0].cases) == 414
    assert comparison.coverage == pytest.approx(10 / 424)


def test_a_partial_run_of_a_format_without_a_set_is_not_run_too() -> None:
    ids = [f"t{number}" for number in range(424)]
    before = run_of([result(one) for one in ids], case_ids=(), knows_its_set=False)
    after = run_of([result(one) for one in ids[:10]], "v2", case_ids=(), knows_its_set=False)
    comparison = compare(before, after)
    assert comparison.counts[Bucket.NOT_RUN] == 414 and comparison.verdict is INCONCLUSIVE
    # What the set weighs is known from the first run: ten of 424, not ten of ten.
    assert comparison.score_after().value == pytest.approx(10 / 424)
    assert not comparison.score_after().complete


def test_a_run_that_names_no_set_cannot_remove_a_case() -> None:
    comparison = compare(run(a="passed", b="passed"), replace(run("v2", a="passed"), case_ids=()))
    assert comparison.counts[Bucket.NOT_RUN] == 1 and comparison.verdict is INCONCLUSIVE


def test_a_regression_outweighs_a_partial_run() -> None:
    before = run(a="passed", b="passed")
    after = replace(run("v2", a="failed"), case_ids=("a", "b"), complete=False, problem="cancelled")
    comparison = compare(before, after)
    assert comparison.verdict is REGRESSED
    assert grounds(comparison) == [Ground.REGRESSION, Ground.INCOMPLETE, Ground.COVERAGE]


def test_a_run_that_was_cut_off_is_inconclusive_even_if_all_cases_are_there() -> None:
    comparison = compare(run(a="passed"), replace(run("v2", a="passed"), complete=False, problem="cancelled"))
    assert comparison.verdict is INCONCLUSIVE
    assert comparison.why[0].detail == "eval:v2: cancelled"


def test_lower_coverage_passes_where_the_gate_allows_it() -> None:
    before, after = run(a="passed", b="passed"), replace(run("v2", a="passed"), case_ids=("a", "b"))
    assert compare(before, after, gate=Gate(min_coverage=0.5)).verdict is PASSED
    assert compare(before, after, gate=Gate(min_coverage=0.51)).verdict is INCONCLUSIVE


def test_a_crashed_case_stays_in_as_errored() -> None:
    before = run(a="passed", b="failed", c="passed")
    after = run("v2", a="errored", b="errored", c="passed")
    comparison = compare(before, after)
    # It passed and does not now: a regression, shown as a crash.
    assert comparison.regressed == ("a",) and comparison.rows[0].after.outcome == Outcome.ERRORED
    assert comparison.ids(Bucket.ERRORED) == ("b",)
    assert comparison.score_after().value == pytest.approx(1 / 3)
    assert comparison.verdict is REGRESSED and grounds(comparison) == [Ground.REGRESSION, Ground.CRASH]
    assert comparison.why[1].cases == ("a", "b")


def test_a_crash_without_a_regression_does_not_pass() -> None:
    before, after = run(a="failed", b="passed"), run("v2", a="errored", b="passed")
    assert compare(before, after).verdict is INCONCLUSIVE
    assert compare(before, after, gate=Gate(max_errored=1)).verdict is PASSED


def test_repeats_that_disagree_inside_a_run_are_flaky() -> None:
    before = run(a="passed failed passed", b="passed passed passed", c="passed passed passed")
    after = run("v2", a="failed failed failed", b="passed failed passed", c="failed failed failed")
    comparison = compare(before, after)
    assert comparison.flaky == ("a", "b")
    assert comparison.regressed == ("c",)
    assert comparison.newly_flaky == ("b",)


def test_a_flip_within_the_baselines_own_disagreement_is_no_regression() -> None:
    comparison = compare(run(a="passed failed", b="passed"), run("v2", a="failed failed", b="passed"))
    assert comparison.verdict is PASSED and comparison.evidence.lost == 0


def test_different_numbers_of_repeats_still_join() -> None:
    comparison = compare(run(a="passed", b="failed"), run("v2", a="failed failed failed", b="passed passed"))
    assert (comparison.regressed, comparison.improved) == (("a",), ("b",))


def test_three_lost_and_none_won_is_thin_evidence() -> None:
    names = ["a", "b", "c", "d", "e"]
    before = run(**dict.fromkeys(names, "passed"))
    after = run("v2", **dict.fromkeys(names[:3], "failed"), **dict.fromkeys(names[3:], "passed"))
    comparison = compare(before, after)
    assert comparison.verdict is REGRESSED  # a p-value changes no verdict
    assert comparison.evidence.p_value == 0.25 and comparison.evidence.thin
    assert [(note.ground, note.detail) for note in comparison.notes] == [(Ground.THIN_EVIDENCE, "p = 0.25")]
    # Six must change one way, and there are five.
    assert comparison.evidence.smallest_change is None


def test_the_same_failing_output_in_both_runs_is_listed_for_review() -> None:
    before = [result("same", "failed", actual=["x"]), result("other", "failed", actual=["x"]),
              result("none", "failed"), result("number", "failed", actual=1)]  # fmt: skip
    after = [result("same", "failed", actual=["x"]), result("other", "failed", actual=["y"]),
             result("none", "failed"), result("number", "failed", actual=True)]  # fmt: skip
    assert compare(run_of(before), run_of(after, "v2")).same_failure == ("same",)


def test_a_rate_does_not_hide_one_case_that_fails_every_time() -> None:
    results = [result(f"c{n}") for n in range(99)] + [result("vital", "failed", must_pass=True)]
    comparison = compare(run_of(results), run_of(results, "v2"), gate=Gate(min_score=0.9))
    assert comparison.verdict is REGRESSED
    assert [(reason.ground, reason.cases) for reason in comparison.why] == [(Ground.MUST_PASS, ("vital",))]
    by_id = compare(run_of(results[:99]), run_of(results[:99], "v2"), gate=Gate(must_pass=("c5",)))
    assert by_id.verdict is PASSED


@pytest.mark.parametrize(
    "gate", [Gate(must_pass=("gone",)), Gate(per_tag={"gone": 0.5})], ids=["case", "tag"]
)
def test_a_gated_case_or_tag_that_is_absent_leaves_the_gate_incomplete(gate: Gate) -> None:
    comparison = compare(run(a="passed"), run("v2", a="passed"), gate=gate)
    assert comparison.verdict is INCONCLUSIVE and grounds(comparison) == [Ground.GATED_ABSENT]


def test_a_must_pass_case_that_the_new_set_lost_leaves_the_gate_incomplete() -> None:
    before = run_of([result("a"), result("vital", must_pass=True)])
    comparison = compare(before, run("v2", a="passed"))
    assert comparison.counts[Bucket.REMOVED] == 1
    assert comparison.verdict is INCONCLUSIVE and comparison.why[0].cases == ("vital",)


@pytest.mark.parametrize("bad", ["", "  ", None, 3])
def test_blank_and_null_ids_are_refused(bad: object) -> None:
    broken = run_of([result("a"), replace(result("b"), case_id=bad)], case_ids=())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="case id"):
        compare(run(a="passed"), broken)
    with pytest.raises(InputError, match="case id"):
        compare(replace(run(a="passed"), case_ids=("a", bad)), run(a="passed"))  # type: ignore[arg-type]


def test_duplicate_ids_are_refused() -> None:
    with pytest.raises(InputError, match="two results of case 'a'"):
        compare(run_of([result("a"), result("a", "failed")]), run(a="passed"))
    with pytest.raises(InputError, match="twice"):
        compare(replace(run(a="passed"), case_ids=("a", "a")), run(a="passed"))


def test_rows_in_another_order_join_by_key() -> None:
    one = [result("a"), result("b", "failed"), result("c")]
    comparison = compare(run_of(one), run_of(one[::-1], "v2"))
    assert comparison.counts[Bucket.STILL_PASSING] == 2 and comparison.counts[Bucket.STILL_FAILING] == 1


def test_one_new_and_one_lost_case_have_labels_and_the_counts_add_up() -> None:
    comparison = compare(run(a="passed", old="failed"), run("v2", a="passed", new="failed"))
    assert [(row.case_id, row.bucket) for row in comparison.rows] == [
        ("a", Bucket.STILL_PASSING), ("old", Bucket.REMOVED), ("new", Bucket.ADDED)
    ]  # fmt: skip
    assert comparison.rows[1].after is None and comparison.rows[2].before is None
    assert set(comparison.counts) == set(Bucket) and sum(comparison.counts.values()) == 3
    assert comparison.verdict is PASSED
    assert [note.ground for note in comparison.notes] == [Ground.CASE_REMOVED]


def test_a_persons_verdict_stands_beside_the_outcome_and_changes_no_count() -> None:
    before, after = run(a="passed", b="failed"), run("v2", a="failed", b="failed")
    judged = run_of([replace(one, review=ReviewStatus.ACCEPTED) for one in after.results], "v2")
    plain, reviewed = compare(before, after), compare(before, judged)
    assert (plain.counts, plain.verdict) == (reviewed.counts, reviewed.verdict)
    assert reviewed.rows[0].after.results[0].review is ReviewStatus.ACCEPTED


def test_an_old_result_is_shown_with_the_expectation_that_it_was_judged_by() -> None:
    before = run_of([result("a", expected=["old"])])
    after = run_of([result("a", "failed", expected=["new"], expectation_hash="new")], "v2")
    row = compare(before, after).rows[0]
    assert row.before.results[0].expected == ["old"] and row.after.results[0].expected == ["new"]
