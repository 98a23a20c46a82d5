"""Models: one contract for all of them; a call is reserved first and paid for whatever becomes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from harness_kit.budget import Budget
from harness_kit.errors import BudgetError, BudgetExceededError, InputError, ModelError
from harness_kit.models import Model, RecordedModel, RecordingModel, Reply, ScriptedModel, call_model
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock

CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")


def echo(request: dict[str, Any]) -> dict[str, Any]:
    return {"action": "echo", "said": request["text"]}


def scripted(store: TraceStore) -> Model:
    return ScriptedModel(echo)


def listed(store: TraceStore) -> Model:
    return ScriptedModel([{"action": "echo", "said": "안녕"}] * 3)


def recording(store: TraceStore) -> Model:
    return RecordingModel(ScriptedModel(echo), store, "rec", clock=CLOCK)


def recorded(store: TraceStore) -> Model:
    recording(store)({"text": "안녕"})
    return RecordedModel(store, "rec")


@pytest.mark.parametrize("make", [scripted, listed, recording, recorded])
def test_every_model_keeps_the_contract(make: Callable[[TraceStore], Model]) -> None:
    with TraceStore(":memory:") as store:
        model, budget = make(store), Budget(6)
        assert isinstance(model, Model)
        reply = call_model(model, {"text": "안녕"}, budget, role="talker")
        assert reply.action == {"action": "echo", "said": "안녕"}
        assert budget.by_role()["talker"].calls == 1
        assert budget.spent == (0 if model.free else 1) == reply.units
        assert budget.reserved == 0


def test_a_recording_replays_each_answer_in_its_turn_and_knows_no_other_request() -> None:
    with TraceStore(":memory:") as store:
        recorder = RecordingModel(ScriptedModel([{"n": 1}, {"n": 2}, {"n": 3}]), store, "rec", clock=CLOCK)
        for text in ("a", "b", "a"):
            recorder({"text": text})
        replay = RecordedModel(store, "rec")
        assert [replay({"text": text}).action["n"] for text in ("a", "a", "b", "a")] == [1, 3, 2, 3]
        with pytest.raises(ModelError, match="no answer to .*'c'"):
            replay({"text": "c"})
        store.open_run("empty", started=CLOCK())
        with pytest.raises(InputError, match="no recorded calls"):
            RecordedModel(store, "empty")


def test_a_call_that_does_not_fit_is_not_made() -> None:
    asked: list[Any] = []

    def note(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return {"action": "x"}

    model = ScriptedModel(note)
    with pytest.raises(BudgetExceededError):
        call_model(model, {}, Budget(0))
    assert asked == []


@pytest.mark.parametrize("units", [None, -1, 1.5, True])
def test_an_unknown_price_is_refused_before_the_call(units: Any) -> None:
    budget = Budget(6)
    with pytest.raises(BudgetError, match="price"):
        call_model(ScriptedModel(echo, units=units), {"text": "a"}, budget)
    assert budget.spent == 0


def test_zero_is_a_price_only_where_it_is_declared() -> None:
    model = ScriptedModel(echo, units=0)
    assert call_model(model, {"text": "a"}, Budget(0)).action["said"] == "a"
    model.free = False
    with pytest.raises(BudgetError, match="not declared free"):
        call_model(model, {"text": "a"}, Budget(0))


@pytest.mark.parametrize("answer", [{"x": float("nan")}, {"x": {1, 2}}, {1: 2}, "text", None, 3])
def test_a_malformed_answer_is_an_error_and_has_been_paid_for(answer: Any) -> None:
    budget = Budget(2)
    with pytest.raises(ModelError):
        call_model(ScriptedModel(lambda request: answer), {"text": "a"}, budget)
    assert (budget.spent, budget.reserved) == (1, 0)


def test_a_model_cannot_reach_back_into_the_request() -> None:
    def meddle(request: dict[str, Any]) -> dict[str, Any]:
        request["list"].append("mine")
        return {"action": "x"}

    request = {"list": ["yours"]}
    call_model(ScriptedModel(meddle), request, Budget(1))
    assert request == {"list": ["yours"]}


def test_what_the_model_keeps_cannot_change_the_answer_afterwards() -> None:
    kept: list[dict[str, Any]] = []

    def sly(request: dict[str, Any]) -> dict[str, Any]:
        kept.append({"action": "read", "names": ["a"]})
        return kept[-1]

    reply = call_model(ScriptedModel(sly), {}, Budget(1))
    kept[0]["names"].append("b")
    assert reply.action["names"] == ["a"]


def test_a_dearer_call_than_reserved_closes_the_ledger() -> None:
    class Dear(ScriptedModel):
        def __call__(self, request: Any) -> Reply:
            return Reply(action={"action": "x"}, units=5)

    budget = Budget(10)
    assert call_model(Dear(echo), {}, budget).units == 5
    assert budget.spent == 5 and budget.closed


def test_a_list_that_runs_out_says_so() -> None:
    with pytest.raises(ModelError, match="script of 0 actions"):
        ScriptedModel([])({})
