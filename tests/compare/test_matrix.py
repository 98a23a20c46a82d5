"""Cases by version: what stands in each cell, and which version introduced what."""

from dataclasses import replace

import pytest
from eval_runs import nameless, result, run, run_of

from harness_kit.codes import Cause, Standing
from harness_kit.errors import InputError
from harness_kit.matrix import matrix


def introduced(*runs: object) -> list[tuple[str, str, str, str | None]]:
    found = matrix(list(runs)).introduced  # type: ignore[arg-type]
    return [(one.case_id, one.passed_in, one.failed_in, one.mended_in) for one in found]


def test_each_regression_has_the_version_that_introduced_it() -> None:
    v1 = run("v1", a="passed", b="failed", c="passed")
    v2 = run("v2", a="failed", b="passed", c="passed")
    v3 = run("v3", a="failed", b="failed", c="passed")
    v4 = run("v4", a="passed", b="failed", c="errored")
    assert introduced(v1, v2, v3, v4) == [
        ("a", "v1", "v2", "v4"), ("b", "v2", "v3", None), ("c", "v3", "v4", None)
    ]  # fmt: skip


def test_a_case_may_regress_twice() -> None:
    runs = [run(f"v{n}", a=outcome) for n, outcome in enumerate(["passed", "failed", "passed", "failed"], 1)]
    assert introduced(*runs) == [("a", "v1", "v2", "v3"), ("a", "v3", "v4", None)]


def test_a_version_that_did_not_run_the_case_is_stepped_over() -> None:
    v1, v2, v3 = run("v1", a="passed", b="passed"), run("v2", b="passed"), run("v3", a="failed", b="passed")
    assert introduced(v1, replace(v2, case_ids=("a", "b")), v3) == [("a", "v1", "v3", None)]


def test_flaky_is_no_regression() -> None:
    assert introduced(run("v1", a="passed passed"), run("v2", a="passed failed"), run("v3", a="failed")) == []


def test_the_cause_goes_with_it() -> None:
    v1 = run_of([result("a"), result("b"), nameless(result("c"))], "v1")
    v2 = run_of(
        [result("a", "failed"), result("b", "failed", expectation_hash="new"),
         nameless(result("c", "failed"))], "v2",
    )  # fmt: skip
    assert [one.cause for one in matrix([v1, v2]).introduced] == [
        Cause.HARNESS, Cause.EXPECTATION, Cause.UNKNOWN
    ]  # fmt: skip


def test_every_case_has_a_cell_in_every_version() -> None:
    laid = matrix([run("v1", a="passed", old="failed"), run("v2", a="passed failed", new="errored")])
    assert laid.cells == {
        "a": (Standing.PASSED, Standing.MIXED),
        "old": (Standing.FAILED, Standing.ABSENT),
        "new": (Standing.ABSENT, Standing.ERRORED),
    }
    assert [score.value for score in laid.scores] == [0.5, 0.25]


def test_versions_named_alike_go_by_their_run_ids() -> None:
    one, other = run("v1", a="passed"), replace(run("v1", a="passed"), run_id="again")
    assert matrix([one, other]).versions == ("eval:v1", "again")


def test_one_failing_output_in_every_version_is_listed() -> None:
    runs = [
        run_of([result("a", "failed", actual=[1]), result("b", "failed", actual=[number])], f"v{number}")
        for number in (1, 2, 3)
    ]
    assert matrix(runs).same_failure == ("a",)


def test_fewer_than_two_runs_or_the_same_twice_are_refused() -> None:
    with pytest.raises(InputError, match="two or more"):
        matrix([run("v1", a="passed")])
    with pytest.raises(InputError, match="one id"):
        matrix([run("v1", a="passed")] * 2)
