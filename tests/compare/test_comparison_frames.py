"""Tables and the plot of a comparison: their rows, their numbers, and axes that show these and no others."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

from eval_runs import result, run, run_of

from harness_kit import frames, plots
from harness_kit.codes import Bucket
from harness_kit.compare import Comparison, compare
from harness_kit.matrix import matrix


@pytest.fixture
def comparison() -> Comparison:
    before = run_of([
        result("spaces", actual=["b", "a"], expected=["b", "a"]), result("empty", "failed"), result("kept"),
        result("asked", "failed"), result("gone"),
    ])  # fmt: skip
    after = run_of([
        result("kept"), result("spaces", "failed", actual=["a", "b"], expected=["b", "a"], reason="order"),
        result("empty"), result("asked", expectation_hash="new"), result("new"),
    ], "v2")  # fmt: skip
    return compare(before, after)


def test_a_row_a_case(comparison: Comparison) -> None:
    table = frames.comparison(comparison)
    assert table["case_id"].tolist() == ["spaces", "empty", "kept", "asked", "gone", "new"]
    assert table["bucket"].tolist() == [
        "regressed", "improved", "still_passing", "improved", "removed", "added"
    ]  # fmt: skip
    assert table["cause"].tolist() == ["harness", "harness", None, "expectation", None, None]
    assert table["apart"].tolist() == [False, False, False, True, False, False]
    assert table["after"].tolist() == ["failed", "passed", "passed", "passed", "absent", "passed"]
    assert table["score_before"].tolist() == [1.0, 0.0, 1.0, 0.0, 1.0, None]
    first = table.iloc[0]
    assert (first["actual_before"], first["actual_after"], first["expected_after"]) == (
        ["b", "a"], ["a", "b"], ["b", "a"]
    )  # fmt: skip
    assert first["reason"] == "order"
    assert frames.korean(table)["구분"].tolist()[:2] == ["회귀", "개선"]


def test_a_row_a_bucket_and_the_numbers_add_up(comparison: Comparison) -> None:
    table = frames.buckets(comparison)
    assert table["bucket"].tolist() == [str(bucket) for bucket in Bucket]
    assert table["cases"].sum() + table["apart"].sum() == len(comparison.rows)
    assert table.set_index("bucket").loc["improved"].tolist() == [1, 1]


def test_stages_as_a_table(comparison: Comparison) -> None:
    assert frames.divergences(comparison).to_dict("records") == [{"stage": "no_trace", "cases": 1}]


def test_a_column_a_version() -> None:
    laid = matrix([run("v1", a="passed", b="passed"), run("v2", a="failed", b="failed"),
                   run("v3", a="failed", b="passed")])  # fmt: skip
    table = frames.matrix(laid)
    assert list(table.columns) == ["case_id", "v1", "v2", "v3", "introduced"]
    assert table.iloc[0].tolist() == ["a", "passed", "failed", "failed", "v2"]
    assert table.iloc[1].tolist() == ["b", "passed", "failed", "passed", None]


def test_tables_of_nothing_have_their_columns() -> None:
    nothing = compare(run(), run())
    assert list(frames.comparison(nothing).columns)[:2] == ["case_id", "bucket"]
    assert frames.divergences(nothing).empty


def test_the_plot_shows_the_table(comparison: Comparison) -> None:
    axes = plots.outcomes(comparison)
    table = frames.buckets(comparison)
    shown = table[(table["cases"] + table["apart"] > 0)]
    cases, apart = (sum(bar.get_width() for bar in bars) for bars in axes.containers)
    assert (cases, apart) == (table["cases"].sum(), table["apart"].sum())
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["개선", "회귀", "계속 통과", "새 사례", "빠진 사례"] and len(names) == len(shown)
    assert axes.get_xlabel() == "사례 수" and axes.get_ylabel() == "구분"
    assert [text.get_text().strip() for text in axes.texts] == ["1 + 1", "1", "1", "1", "1"]


def test_no_regression_is_shown_as_an_answer() -> None:
    one = run(a="passed")
    axes = plots.outcomes(frames.buckets(compare(one, one)))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["개선", "회귀", "계속 통과"]
