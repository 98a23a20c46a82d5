"""Gates: each limit met, missed and unknown; files that are gates, and files that are none."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eval_runs import result, run, run_of

from harness_kit.codes import ComparisonVerdict, Ground
from harness_kit.compare import compare
from harness_kit.errors import InputError
from harness_kit.gates import Gate

PASSED, REGRESSED, INCONCLUSIVE = ComparisonVerdict


def test_regressions_may_be_allowed() -> None:
    before, after = run(a="passed", b="failed"), run("v2", a="failed", b="passed")
    assert compare(before, after).verdict is REGRESSED
    assert compare(before, after, gate=Gate(no_regressions=False)).verdict is PASSED


@pytest.mark.parametrize(
    ("least", "verdict"), [(0.25, PASSED), (0.5, PASSED), (0.6, INCONCLUSIVE), (0.75, INCONCLUSIVE),
                           (0.76, REGRESSED)],
)  # fmt: skip
def test_a_score_that_is_not_complete_counts_only_where_it_decides(
    least: float, verdict: ComparisonVerdict
) -> None:
    """Two of four pass, one fails, one did not run: between 0.5 and 0.75."""
    before = run(a="passed", b="passed", c="failed", d="failed")
    after = run("v2", a="passed", b="passed", c="failed", d="not_run")
    comparison = compare(before, after, gate=Gate(min_score=least, min_coverage=0.0))
    assert comparison.verdict is verdict


def test_a_share_by_tag() -> None:
    results = [result("a", tags=("order",)), result("b", "failed", tags=("order", "long")), result("c")]
    one = run_of(results)
    assert compare(one, one, gate=Gate(per_tag={"order": 0.5})).verdict is PASSED
    comparison = compare(one, one, gate=Gate(per_tag={"order": 0.6, "long": 0.0}))
    assert comparison.verdict is REGRESSED
    assert [(reason.ground, reason.detail) for reason in comparison.why] == [
        (Ground.TAG_SCORE, "order: 0.5 < 0.6")
    ]


def test_a_tagged_case_that_did_not_run_is_known_from_the_first_run() -> None:
    before = run_of([result("a", tags=("order",)), result("b", tags=("order",))])
    after = run_of([result("a", tags=("order",))], "v2", case_ids=("a", "b"))
    gate = Gate(per_tag={"order": 0.9}, min_coverage=0.0)
    assert compare(before, after, gate=gate).verdict is INCONCLUSIVE


def test_flaky_cases_are_counted_in_the_second_run() -> None:
    before = run(a="passed failed", b="passed passed")
    after = run("v2", a="passed passed", b="passed failed")
    assert compare(before, after, gate=Gate(max_flaky=1)).verdict is PASSED
    comparison = compare(before, after, gate=Gate(max_flaky=0))
    assert comparison.verdict is REGRESSED and comparison.why[0].cases == ("b",)


@pytest.mark.parametrize("outcome", ["failed", "errored", "passed failed"])
def test_a_must_pass_case_passes_in_every_repeat(outcome: str) -> None:
    comparison = compare(run(a=outcome), run("v2", a=outcome), gate=Gate(must_pass=("a",), max_errored=1))
    assert comparison.verdict is REGRESSED and comparison.why[0].ground is Ground.MUST_PASS


@pytest.mark.parametrize("outcome", ["not_run", "not_selected", "passed not_run"])
def test_a_must_pass_case_that_did_not_run_leaves_the_gate_incomplete(outcome: str) -> None:
    before, after = run(a="passed", b="passed"), run("v2", a=outcome, b="passed")
    comparison = compare(before, after, gate=Gate(must_pass=("a",), min_coverage=0.0))
    assert comparison.verdict is INCONCLUSIVE
    assert [reason.ground for reason in comparison.why] == [Ground.GATED_ABSENT]


def test_coverage_just_short_of_all_does_not_read_as_all() -> None:
    ids = tuple(f"c{number}" for number in range(3000))
    before = run_of([result(one) for one in ids])
    after = replace(before, results=before.results[1:])
    assert compare(before, after).why[0].detail == "99.9 % < 100 %"


def test_a_gate_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(
        'no_regressions = false\nmust_pass = ["a"]\nmin_score = 0.5\nmax_flaky = 2\nmax_errored = 1\n'
        "min_coverage = 0.9\n\n[per_tag]\n\"순서\" = 1\n",
        encoding="utf-8",
    )
    assert Gate.read(path) == Gate(
        no_regressions=False, must_pass=("a",), min_score=0.5, max_flaky=2, max_errored=1, min_coverage=0.9,
        per_tag={"순서": 1},
    )  # fmt: skip
    path.write_text("", encoding="utf-8")
    assert Gate.read(path) == Gate()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min_scor = 0.9", "'min_scor' is no limit of a gate; there are no_regressions"),
        ("min_score = 90", "min_score is 90; expected a share from 0 to 1"),
        ("min_score = nan", "min_score is nan"),
        ("min_coverage = true", "min_coverage is True"),
        ("max_flaky = 0.1", "max_flaky is 0.1; expected a number of cases"),
        ("max_errored = -1", "max_errored is -1"),
        ('must_pass = "a"', "must_pass is 'a'; expected a list"),
        ("must_pass = [1]", "must_pass is"),
        ('no_regressions = "no"', "no_regressions is 'no'"),
        ("per_tag = 1", "per_tag is 1"),
        ("[per_tag]\na = 2", "per_tag.a is 2"),
        ("min_score", "is no TOML"),
    ],
)
def test_a_file_that_is_no_gate_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Gate.read(path)
    assert said in str(caught.value) and "gate.toml" in str(caught.value)


def test_a_gate_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read gate"):
        Gate.read(tmp_path / "none.toml")


@pytest.mark.parametrize("bad", [{"max_errored": None}, {"min_coverage": None}, {"max_flaky": True}])
def test_limits_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Gate(**bad)
