"""The ledger: what is reserved and settled never passes the limit, and nothing is forgotten."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_kit.budget import Budget
from harness_kit.codes import SpendState
from harness_kit.errors import BudgetClosedError, BudgetError, BudgetExceededError, InputError
from harness_kit.spends import RoleUse
from harness_kit.store import TraceStore


def test_reserve_then_settle_moves_units_from_reserved_to_spent() -> None:
    budget = Budget(6)
    spend = budget.reserve(2, role="reader")
    assert (budget.spent, budget.reserved, budget.left) == (0, 2, 4)
    spend.start()
    spend.settle(1)
    assert (budget.spent, budget.reserved, budget.left) == (1, 0, 5)
    assert budget.by_role() == {"reader": RoleUse(calls=1, units=1)}


def test_a_refusal_says_what_was_asked_spent_reserved_and_left_and_takes_nothing() -> None:
    budget = Budget(6)
    budget.reserve(3).settle()
    budget.reserve(2)
    with pytest.raises(BudgetExceededError, match="asked 2 .* spent 3, reserved 2, left 1 of 6") as caught:
        budget.reserve(2)
    error = caught.value
    assert (error.asked, error.spent, error.reserved, error.left, error.limit) == (2, 3, 2, 1, 6)
    assert (budget.spent, budget.reserved) == (3, 2)
    assert [row.state for row in budget.rows()][-1] is SpendState.REFUSED


def test_the_last_unit_can_be_had_and_not_one_more() -> None:
    budget = Budget(1)
    budget.reserve(1)
    with pytest.raises(BudgetExceededError):
        budget.reserve(1)
    assert Budget(0).left == 0


def test_a_failed_call_stays_spent() -> None:
    budget = Budget(3)
    with pytest.raises(ZeroDivisionError), budget.call(2, role="tool"):
        raise ZeroDivisionError
    assert (budget.spent, budget.reserved) == (2, 0)
    assert budget.by_role()["tool"].calls == 1


def test_only_what_never_started_is_refunded() -> None:
    budget = Budget(3)
    waiting, begun = budget.reserve(1), budget.reserve(1)
    waiting.refund("cancelled")
    assert budget.left == 2
    begun.start()
    with pytest.raises(BudgetError, match="started .* cannot become refunded"):
        begun.refund("too late")
    with pytest.raises(BudgetError, match="reason"):
        budget.reserve(1).refund("  ")


def test_settling_twice_is_once_and_two_costs_are_an_error() -> None:
    budget = Budget(3)
    spend = budget.reserve(2)
    spend.settle(1)
    spend.settle(1)
    assert budget.spent == 1
    with pytest.raises(BudgetError, match="settled"):
        spend.settle(2)
    assert budget.spent == 1


def test_an_overrun_is_recorded_closes_the_ledger_and_is_reported() -> None:
    budget = Budget(10)
    budget.reserve(1).settle(3)
    assert budget.spent == 3
    assert budget.closed is not None and "reserved 1 units and cost 3" in budget.closed
    with pytest.raises(BudgetClosedError, match="cost 3"):
        budget.reserve(1)
    budget.reopen(reason="price list corrected")
    budget.reserve(7)
    with pytest.raises(BudgetError, match="nothing to reopen"):
        budget.reopen(reason="again")


def test_an_overrun_over_the_limit_leaves_nothing() -> None:
    budget = Budget(2)
    budget.reserve(2).settle(5)
    assert (budget.spent, budget.left) == (5, 0)


@pytest.mark.parametrize("units", [-1, 1.0, True, None, "3", 2**63])
def test_a_negative_or_unknown_price_is_an_error(units: object) -> None:
    budget = Budget(6)
    with pytest.raises(BudgetError, match="whole number"):
        budget.reserve(units)  # type: ignore[arg-type]
    with pytest.raises(BudgetError):
        Budget(units)  # type: ignore[arg-type]
    spend = budget.reserve(1)
    if units is not None:
        with pytest.raises(BudgetError):
            spend.settle(units)  # type: ignore[arg-type]


def test_the_same_key_is_the_same_spend() -> None:
    budget = Budget(6)
    first = budget.reserve(2, role="a", key="run:1")
    again = budget.reserve(2, role="a", key="run:1")
    assert (first.resumed, again.resumed, budget.reserved) == (False, True, 2)
    again.settle()
    first.settle()
    assert budget.spent == 2
    with pytest.raises(BudgetError, match="use another key"):
        budget.reserve(3, role="a", key="run:1")


def test_a_key_whose_units_went_back_is_reserved_anew() -> None:
    budget = Budget(1)
    budget.reserve(1, key="k").refund("not needed")
    with budget.call(1, key="k"):
        assert budget.reserved == 1
    with pytest.raises(BudgetExceededError):
        budget.reserve(1, key="other")
    assert budget.spent == 1


def test_a_call_that_takes_up_a_reservation_has_started() -> None:
    budget = Budget(2)
    budget.reserve(1, key="k")
    with budget.call(1, key="k") as spend, pytest.raises(BudgetError, match="cannot become refunded"):
        spend.refund("mid call")
    assert budget.spent == 1


def test_a_refused_key_may_be_asked_again_when_there_is_room() -> None:
    budget = Budget(2)
    holder = budget.reserve(2)
    with pytest.raises(BudgetExceededError):
        budget.reserve(1, key="k")
    holder.settle(1)
    budget.reserve(1, key="k")
    assert budget.reserved == 1


def test_two_ledgers_of_one_store_are_apart_and_a_name_keeps_its_limit() -> None:
    with TraceStore(":memory:") as store:
        Budget(5, store=store, name="a").reserve(5)
        assert Budget(3, store=store, name="b").left == 3
        assert Budget(5, store=store, name="a").left == 0
        with pytest.raises(InputError, match="limit of 5 units, not 6"):
            Budget(6, store=store, name="a")
        with pytest.raises(InputError, match="blank"):
            Budget(6, store=store, name=" ")


def test_threads_never_pass_the_limit() -> None:
    budget = Budget(100)
    granted: list[int] = []

    def take() -> None:
        while True:
            try:
                budget.reserve(1).settle()
            except BudgetExceededError:
                return
            granted.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == budget.spent == 100


acts = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "start", "settle", "refund"]), st.integers(0, 4), st.integers(0, 9)
    ),
    max_size=40,
)


@given(acts)
@settings(max_examples=60)
def test_sums_match_the_rows_whatever_happens(steps: list[tuple[str, int, int]]) -> None:
    budget = Budget(10)
    spends = []
    for act, units, which in steps:
        before = budget.totals()
        try:
            if act == "reserve":
                spends.append(budget.reserve(units))
                assert before.spent + before.reserved + units <= 10, "granted over the limit"
            elif spends:
                spend = spends[which % len(spends)]
                if act == "start":
                    spend.start()
                elif act == "settle":
                    spend.settle(min(units, spend.units))
                else:
                    spend.refund("test")
        except BudgetError:
            assert budget.totals() == before, "a refusal changed the sums"
    rows = budget.rows()
    assert budget.spent == sum(row.actual or 0 for row in rows if row.state is SpendState.SETTLED)
    assert budget.reserved == sum(
        row.units for row in rows if row.state in (SpendState.RESERVED, SpendState.STARTED)
    )
    assert budget.spent + budget.reserved <= 10
