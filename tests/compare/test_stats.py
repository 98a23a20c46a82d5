"""The test, the interval and the smallest change, against numbers worked out by hand or by scipy itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from harness_kit.errors import InputError, MissingExtraError
from harness_kit.stats import Evidence, mcnemar, paired_interval, smallest_change


@pytest.mark.parametrize(
    ("won", "lost", "p_value"),
    # (0, 3): 2 · 1/8. (2, 9): 2 · (1 + 11 + 55) / 2048. (5, 0): 2/32. (6, 0): 2/64. Evenly: no evidence.
    [(0, 3, 0.25), (2, 2, 1.0), (0, 0, 1.0), (2, 9, 134 / 2048), (5, 0, 0.0625), (6, 0, 0.03125),
     (1, 2, 1.0)],
)  # fmt: skip
def test_mcnemar_by_hand(won: int, lost: int, p_value: float) -> None:
    assert mcnemar(won=won, lost=lost) == pytest.approx(p_value, abs=1e-15)


@given(st.integers(0, 4_000), st.integers(0, 4_000))
@settings(max_examples=60, deadline=None)
def test_mcnemar_is_the_binomial_test_and_has_two_sides(won: int, lost: int) -> None:
    expected = scipy_stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert mcnemar(won=won, lost=lost) == pytest.approx(expected, rel=1e-7, abs=1e-250)
    assert mcnemar(won=won, lost=lost) == mcnemar(won=lost, lost=won)


def test_mcnemar_of_a_million_changes() -> None:
    expected = scipy_stats.binomtest(499_000, 1_000_000).pvalue
    assert mcnemar(won=499_000, lost=501_000) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("bad", [-1, 1.0, True, None])
def test_mcnemar_takes_counts_alone(bad: object) -> None:
    with pytest.raises(InputError, match="won is"):
        mcnemar(won=bad, lost=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(("against", "needed"), [(0, 6), (1, 8), (2, 10), (10, 23)])
def test_smallest_change_is_the_first_that_is_more_than_chance(against: int, needed: int) -> None:
    assert smallest_change(against=against) == needed
    assert scipy_stats.binomtest(against, against + needed).pvalue <= 0.05
    assert scipy_stats.binomtest(against, against + needed - 1).pvalue > 0.05


def test_evidence_of_few_cases_can_show_nothing() -> None:
    assert Evidence(cases=5, won=0, lost=0).smallest_change is None
    assert Evidence(cases=6, won=0, lost=0).smallest_change == 6
    assert Evidence(cases=100, won=1, lost=3).smallest_change == 8


def test_evidence_is_thin_only_where_something_changed() -> None:
    assert Evidence(cases=9, won=0, lost=3).thin
    assert not Evidence(cases=9, won=0, lost=0).thin
    assert not Evidence(cases=9, won=0, lost=6).thin


def test_interval_agrees_with_scipy_resampling_the_cases_themselves() -> None:
    differences = [1.0] * 6 + [-1.0] * 2 + [0.0] * 32
    ours = paired_interval({(1.0, 1.0): 6, (-1.0, 1.0): 2, (0.0, 1.0): 32})
    theirs = scipy_stats.bootstrap(
        (differences,), statistic=lambda x, axis: x.mean(axis=axis), method="percentile", rng=1
    ).confidence_interval
    # Means come in steps of 1/40.
    assert ours.low == pytest.approx(theirs.low, abs=0.026)
    assert ours.high == pytest.approx(theirs.high, abs=0.026)
    assert ours.cases == 40


def test_interval_is_the_same_each_time_and_in_any_order() -> None:
    one = paired_interval({(1.0, 1.0): 3, (0.0, 2.0): 9}, seed=7)
    assert one == paired_interval({(0.0, 2.0): 9, (1.0, 1.0): 3}, seed=7)


def test_interval_weighs_cases() -> None:
    """All that changed weighs nothing, so nothing changed."""
    interval = paired_interval({(1.0, 0.0): 5, (0.0, 1.0): 5})
    assert (interval.low, interval.high) == (0.0, 0.0)


def test_interval_of_one_kind_of_case_is_a_point() -> None:
    interval = paired_interval({(-1.0, 1.0): 3})
    assert (interval.low, interval.high) == (-1.0, -1.0)


def test_interval_of_a_million_cases() -> None:
    interval = paired_interval({(1.0, 1.0): 50_000, (-1.0, 1.0): 40_000, (0.0, 1.0): 910_000})
    # Mean 0.01, standard error sqrt((0.09 - 0.01²) / 10⁶) = 0.0003; 1.96 of them either way.
    assert interval.low == pytest.approx(0.01 - 0.00059, abs=3e-5)
    assert interval.high == pytest.approx(0.01 + 0.00059, abs=3e-5)


@pytest.mark.parametrize(
    "pairs", [{}, {(1.0, 0.0): 3}, {(float("nan"), 1.0): 1}, {(1.0, -1.0): 1}, {(1.0, 1.0): -1}]
)
def test_interval_of_nothing_or_nonsense_is_refused(pairs: dict[tuple[float, float], int]) -> None:
    with pytest.raises(InputError):
        paired_interval(pairs)


def test_interval_without_scipy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match="notebook"):
        paired_interval({(1.0, 1.0): 3})
