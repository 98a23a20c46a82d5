"""Tables and plots of evaluations: the numbers of the runs, and axes that show those and no others."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from harness_kit import frames, plots
from harness_kit.compare import compare
from harness_kit.errors import InputError
from harness_kit.matrix import matrix
from harness_kit.scenarios import evaluation as chapter


@pytest.fixture(scope="module")
def told() -> chapter.Chapter:
    return chapter.run()


def test_results_have_a_row_a_case_with_what_was_expected_and_came_out(told: chapter.Chapter) -> None:
    table = frames.results(told.after)
    assert table["case_id"].tolist() == ["spaces", "duplicate", "order", "empty"]
    assert table["outcome"].tolist() == ["failed", "passed", "passed", "passed"]
    assert table["review"].tolist() == ["pending", "not_needed", "pending", "not_needed"]
    assert table.loc[0, "expected"] == ["초안 작성", "검토 요청"] != table.loc[0, "actual"]
    shown = frames.korean(table)
    assert shown["결과"].tolist()[:2] == ["실패", "통과"]


def test_scores_carry_their_interval(told: chapter.Chapter) -> None:
    table = frames.scores([told.before, told.after])
    assert table["version"].tolist() == ["v1", "v2"]
    assert table["passed"].tolist() == [2, 3] and table["cases"].tolist() == [4, 4]
    # Wilson's interval for 2 of 4 at 95 %, computed by hand from its formula.
    assert table.loc[0, "low"] == pytest.approx(0.1500, abs=1e-4)
    assert table.loc[0, "high"] == pytest.approx(0.8500, abs=1e-4)
    axes = plots.scores(table)
    assert [text.get_text() for text in axes.texts] == ["2/4", "3/4"]
    assert "%" in axes.get_ylabel()


def test_the_matrix_plot_has_a_cell_a_case_and_version(told: chapter.Chapter) -> None:
    table = frames.matrix(matrix([told.before, told.after]))
    axes = plots.matrix(table)
    assert [text.get_text() for text in axes.texts] == [
        "통과",
        "실패",
        "실패",
        "통과",
        "통과",
        "통과",
        "실패",
        "통과",
    ]


def test_two_traces_side_by_side_and_where_they_part(told: chapter.Chapter) -> None:
    comparison = compare(told.before, told.after)
    table = frames.side_by_side(*comparison.traces("spaces"))
    assert table["stage"].tolist() == ["input", "model", "tool", "verify"]
    assert table["same"].tolist() == [True, True, False, False]
    shorter = frames.side_by_side(comparison.traces("spaces")[0], [])
    assert shorter["same"].tolist() == [False] * 4 and shorter["after"].tolist() == [None] * 4
    axes = plots.divergences(frames.divergences(comparison))
    assert [bar.get_width() for bar in axes.patches] == [1]


def test_triggers_show_what_was_spent_and_what_was_refused(told: chapter.Chapter) -> None:
    table = frames.triggers(told.fired, units=3)
    assert table["spent"].tolist() == [3, 6, 6] and table["refused"].tolist() == [0, 0, 3]
    assert table["alert"].tolist() == ["verification_failed", None, "budget_exhausted"]
    axes = plots.triggers(table)
    assert [bar.get_height() for bar in axes.patches] == [0, 3, 6, 3, 3, 0, 3], (
        "spent before, reserved, refused"
    )
    plots.triggers(frames.triggers([], units=3))


def test_tables_are_saved_as_text_that_no_spreadsheet_runs(tmp_path: Path) -> None:
    table = pd.DataFrame({"이름": ["=1+1", "가"], "값": [{"a": [1]}, None]})
    frames.save(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == '\ufeff이름,값\n\'=1+1,"{""a"":[1]}"\n가,\n'.encode()
    frames.save(table, tmp_path / "t.xlsx")
    back = pd.read_excel(tmp_path / "t.xlsx")
    assert back["이름"].tolist() == ["=1+1", "가"] and back["값"].tolist()[0] == '{"a":[1]}'
    with pytest.raises(InputError, match="neither"):
        frames.save(table, tmp_path / "t.json")
