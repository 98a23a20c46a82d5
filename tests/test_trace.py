"""Events and recorders: numbered, stamped, redacted, and where two traces part."""

import copy
import pickle
import threading
from typing import Any

import pytest

from harness_kit.errors import CanonicalError, InputError
from harness_kit.trace import (
    Divergence,
    Event,
    ManualClock,
    Recorder,
    first_divergence,
    fixed_clock,
    system_clock,
    ticking_clock,
)

NINE = "2026-10-08T09:00:00+09:00"


def recorder(**more: Any) -> Recorder:
    return Recorder("run", clock=fixed_clock(NINE), **more)


def trace(*steps: tuple[str, dict[str, Any]], time: str = NINE, run_id: str = "run") -> list[Event]:
    return [
        Event(run_id=run_id, seq=seq, time=time, stage=stage, data=data)
        for seq, (stage, data) in enumerate(steps, start=1)
    ]


def test_events_are_numbered_from_one_stamped_and_handed_on_in_order() -> None:
    seen: list[Event] = []
    record = Recorder("run", clock=ticking_clock(NINE, 2.5), on_event=[seen.append])
    first, second = record("model", cost=1), record("tool", name="a.txt")
    assert (first.seq, first.stage, first.time, first.data) == (1, "model", NINE, {"cost": 1})
    assert (second.seq, second.time) == (2, "2026-10-08T09:00:02.500000+09:00")
    assert seen == record.events == [first, second]


def test_a_resumed_recorder_counts_on() -> None:
    assert recorder(start=7)("tool").seq == 8


def test_an_event_is_a_snapshot_of_the_callers_data() -> None:
    names = ["a.txt"]
    data = {"names": names}
    recorded, built = recorder()("tool", names=names), trace(("tool", data))[0]
    names.append("b.txt")
    data["more"] = []
    assert recorded.data == built.data == {"names": ["a.txt"]}
    with pytest.raises(TypeError):
        recorded.data["names"] = []  # type: ignore[index]
    recorded.record()["data"]["names"].append("c.txt")
    assert recorded.data == {"names": ["a.txt"]}


def test_an_event_survives_pickling_copying_and_its_record() -> None:
    event = recorder()("tool", names=["가", {"b": None}])
    assert (
        pickle.loads(pickle.dumps(event))
        == copy.deepcopy(event)
        == Event.from_record(event.record())
        == event
    )


def test_redact_comes_before_anyone_sees_the_data() -> None:
    seen: list[Event] = []
    secret = {"token": "s3cret"}

    def mask(data: dict[str, Any]) -> dict[str, Any]:
        data["login"]["token"] = "***"
        return data

    event = recorder(redact=mask, on_event=[seen.append])("tool", login=secret)
    assert seen == [event] and event.data == {"login": {"token": "***"}}
    assert secret == {"token": "s3cret"}, "the caller's own data was masked"


@pytest.mark.parametrize("answer", [None, [], "text"])
def test_a_redact_that_returns_no_dict_is_refused_and_nothing_is_recorded(answer: object) -> None:
    record = recorder(redact=lambda data: answer)  # type: ignore[arg-type,return-value]
    with pytest.raises(InputError, match="redact returned"):
        record("tool", name="a")
    assert record.events == []


def test_a_redact_that_raises_records_nothing_and_costs_no_number() -> None:
    def fails_on_b(data: dict[str, Any]) -> dict[str, Any]:
        if data["name"] == "b":
            raise KeyError("no rule")
        return data

    seen: list[Event] = []
    record = recorder(redact=fails_on_b, on_event=[seen.append])
    record("tool", name="a")
    with pytest.raises(KeyError):
        record("tool", name="b")
    record("tool", name="c")
    assert [(event.seq, event.data["name"]) for event in seen] == [
        (1, "a"),
        (2, "c"),
    ] and seen == record.events


def test_threads_share_a_recorder_without_gap_or_repeat() -> None:
    seen: list[int] = []
    record = recorder(on_event=[lambda event: seen.append(event.seq)])
    threads = [threading.Thread(target=lambda: [record("tool") for _ in range(200)]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == list(range(1, 1201))


@pytest.mark.parametrize(
    "data", [{"x": float("nan")}, {"x": {1}}, {"x": b""}, {"x": {1: 2}}, {"x": "\ud800"}]
)
def test_data_that_is_no_plain_json_is_refused(data: dict[str, Any]) -> None:
    record = recorder()
    with pytest.raises(CanonicalError, match=r"\$\.x"):
        record("tool", **data)
    assert record.events == []


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("run_id", " ", "run_id is ' '"),
        ("run_id", None, "run_id is None"),
        ("stage", "", "stage is ''"),
        ("seq", 0, "whole number from 1"),
        ("seq", True, "whole number from 1"),
        ("seq", "1", "whole number from 1"),
        ("time", "yesterday", "not ISO 8601"),
        ("time", "2026-10-08T09:00:00", "no offset"),
        ("time", None, "not ISO 8601"),
        ("data", [], "expected a mapping"),
        ("data", {"x": {1}}, "x is a set"),
    ],
)
def test_a_field_of_an_event_that_is_wrong_is_named(field: str, value: object, said: str) -> None:
    good: dict[str, Any] = {"run_id": "run", "seq": 1, "time": NINE, "stage": "tool", "data": {}}
    Event.from_record(good)
    with pytest.raises(InputError, match=said):
        Event.from_record({**good, field: value})
    with pytest.raises(InputError, match="expected the fields run_id, seq, time, stage, data"):
        Event.from_record({name: held for name, held in good.items() if name != field})
    with pytest.raises(InputError, match="expected the fields"):
        Event.from_record({**good, "more": 1})


@pytest.mark.parametrize("make", [fixed_clock, ticking_clock, ManualClock])
def test_a_clock_without_an_offset_is_refused(make: Any) -> None:
    with pytest.raises(InputError, match="no offset"):
        make("2026-10-08T09:00:00")
    assert make(NINE)() == NINE


def test_a_manual_clock_moves_when_told_and_never_back() -> None:
    clock = ManualClock(NINE)
    clock.advance(90)
    assert clock() == clock() == "2026-10-08T09:01:30+09:00"
    with pytest.raises(InputError, match="backwards"):
        clock.advance(-1)


def test_the_system_clock_says_its_offset() -> None:
    assert system_clock().endswith("+00:00")


BEFORE = trace(
    ("input", {"text": "a b"}), ("model", {"plan": 1}), ("tool", {"out": "a"}), ("tool", {"out": "b"})
)


def test_equal_traces_do_not_part_whatever_their_times_ids_and_usage() -> None:
    told = trace(
        ("model", {"id": "x", "cost": 3, "usage": {"tokens": 9}, "deep": [{"seconds": 1, "out": 1}]})
    )
    again = trace(
        ("model", {"id": "y", "cost": 4, "deep": [{"seconds": 2, "out": 1}]}),
        time="2027-01-01T00:00:00+00:00",
        run_id="other",
    )
    assert first_divergence(told, again) is None
    assert first_divergence(told, again, ignore=frozenset()) is not None


def test_the_first_step_that_differs_is_named_by_stage_and_occurrence() -> None:
    after = [*BEFORE[:3], *trace(("tool", {"out": "B"}))]
    assert first_divergence(BEFORE, after) == Divergence(
        stage="tool", occurrence=2, before=BEFORE[3], after=after[3]
    )


def test_true_is_not_one() -> None:
    assert first_divergence(trace(("tool", {"x": True})), trace(("tool", {"x": 1}))) is not None


@pytest.mark.parametrize(
    ("before", "after", "stage", "sides"),
    [
        ("abc", "ab", "c", (True, False)),
        ("ab", "abc", "c", (False, True)),
        ("ab", "xabC", "x", (False, True)),  # the extra step comes before the one that changed
        ("abc", "axbC", "x", (False, True)),
        ("axb", "aB", "x", (True, False)),
        ("ab", "AxB", "a", (True, True)),
        ("", "a", "a", (False, True)),
        ("ab", "ba", "a", (True, True)),  # the same steps in another order are not the same trace
    ],
)
def test_the_earliest_difference_of_several_is_returned(
    before: str, after: str, stage: str, sides: tuple[bool, bool]
) -> None:
    def letters(text: str) -> list[Event]:
        return trace(*((letter.lower(), {"loud": letter.isupper()}) for letter in text))

    parted = first_divergence(letters(before), letters(after))
    assert parted is not None
    assert (parted.stage, parted.before is not None, parted.after is not None) == (stage, *sides)


def test_two_empty_traces_tell_the_same() -> None:
    assert first_divergence([], []) is None
