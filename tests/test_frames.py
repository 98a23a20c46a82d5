"""Tables and plots: the numbers of a run, and axes that show those numbers and no others."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

from harness_kit import frames, plots
from harness_kit.codes import Decision
from harness_kit.scenarios import approval_gate
from harness_kit.store import TraceStore
from harness_kit.trace import ticking_clock


@pytest.fixture(scope="module")
def short() -> approval_gate.Result:
    return approval_gate.run(limit=4, clock=ticking_clock("2026-10-08T09:00:00+09:00", seconds=2))


def test_the_trace_has_a_row_a_step_and_says_where_units_went(short: approval_gate.Result) -> None:
    table = frames.trace(short.events)
    assert list(table.columns) == ["seq", "stage", "time", "seconds", "units", "spent", "detail"]
    assert table["seq"].tolist() == list(range(1, 13))
    assert table["units"].sum() == 4 and table["spent"].iloc[-1] == 4
    assert set(table.loc[table["units"] > 0, "stage"]) == {"model"}
    assert table["seconds"].iloc[0] == 0 and (table["seconds"] >= 0).all()


def test_spending_has_a_row_a_reservation_refused_ones_too(short: approval_gate.Result) -> None:
    table = frames.spending(short.ledger, short.limit)
    assert table["state"].tolist() == ["settled"] * 4 + ["refused"]
    assert table["reserved"].tolist() == [1, 1, 1, 1, 0]
    assert table["asked"].tolist() == [1] * 5
    assert table["spent"].tolist() == [1, 2, 3, 4, 4]
    assert set(table["limit"]) == {4}


def test_outcomes_keep_ended_passed_and_written_apart() -> None:
    table = frames.outcomes([(scenario.name, result) for scenario, result in approval_gate.results()])
    assert table["finished"].tolist() == ["completed", "rejected", "budget", "mismatch"]
    assert table["passed"].tolist() == [True] * 4
    assert table["committed"].tolist() == [True, False, False, False]
    shown = frames.korean(table)
    assert shown["종료"].tolist() == ["완료", "승인 거절", "비용 한도", "승인 불일치"]
    assert shown["저장됨"].tolist() == ["예", "아니오", "아니오", "아니오"]
    assert shown["사람의 판단"].tolist() == ["승인", "반려", "대상 아님", "승인"]


def test_a_store_gives_its_runs_and_events() -> None:
    with TraceStore(":memory:") as store:
        approval_gate.run(store=store, run_id="a")
        approval_gate.run(store=store, run_id="b", approval=Decision.REJECTED)
        assert frames.runs(store)["committed"].tolist() == [True, False]
        assert len(frames.events(store)) == 36
        assert frames.events(store, "b")["seq"].tolist() == list(range(1, 19))


def test_tables_of_nothing_have_their_columns() -> None:
    assert list(frames.trace([]).columns)[:2] == ["seq", "stage"]
    assert frames.spending([], 3).empty
    plots.spending(frames.spending([], 3))
    plots.trace(frames.trace([]))


def test_the_spending_plot_shows_the_table(short: approval_gate.Result) -> None:
    axes = plots.spending(frames.spending(short.ledger, short.limit))
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [0, 1, 2, 3, 1, 1, 1, 1], "spent before each call, then what each reserved"
    refused = [line for line in axes.lines if line.get_marker() == "x"]
    assert [list(line.get_ydata()) for line in refused] == [[5]]
    assert any(list(line.get_ydata()) == [4, 4] for line in axes.lines), "the limit"
    assert "단위" in axes.get_ylabel() and axes.get_xlabel()


def test_the_trace_plot_shows_the_table(short: approval_gate.Result) -> None:
    table = frames.trace(short.events)
    axes = plots.trace(table)
    assert [bar.get_width() for bar in axes.patches] == table["seconds"].tolist()
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["1 시작", "2 모델 호출"]
    assert len([text for text in axes.texts if "+1 단위" in text.get_text()]) == 4
    assert "초" in axes.get_xlabel()


def test_hangul_is_drawn_with_the_shipped_font() -> None:
    assert plots.use_korean() == "NanumGothic"
    assert mpl.rcParams["font.family"][0] == "NanumGothic"
