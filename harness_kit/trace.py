"""Events of a run: numbered, stamped by the clock that is passed in, redacted before anyone sees them.

record = Recorder("run-1", clock=fixed_clock("2026-10-08T09:00:00+09:00"), on_event=[print])
record("model", task="a.txt", cost=1)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from harness_kit import canonical
from harness_kit.errors import InputError

Clock: TypeAlias = Callable[[], str]
"""Returns the time as ISO 8601 with an offset."""
Redact: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

IGNORED = frozenset({"run_id", "time", "id", "started", "ended", "seconds", "duration_ms", "usage", "cost"})
"""Keys that never make two steps differ: times, ids, durations and usage."""


def fixed_clock(time: str) -> Clock:
    """Return a clock that always says `time`."""
    _moment(time)
    return lambda: time


def ticking_clock(start: str, seconds: float = 1) -> Clock:
    """Return a clock that says `start` first and is `seconds` later at each further look."""
    first = _moment(start)
    looks = 0

    def look() -> str:
        nonlocal looks
        moment = first + timedelta(seconds=seconds * looks)
        looks += 1
        return moment.isoformat()

    return look


def system_clock() -> str:
    """Say the machine's own time, in UTC. Nothing uses it unless it is passed in."""
    from datetime import UTC

    return datetime.now(UTC).isoformat()


def _moment(time: str) -> datetime:
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError) as error:
        raise InputError(f"time {time!r} is not ISO 8601; write it like 2026-10-08T09:00:00+09:00") from error
    if moment.tzinfo is None:
        raise InputError(f"time {time!r} has no offset; write it like 2026-10-08T09:00:00+09:00")
    return moment


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened in a run."""

    run_id: str
    seq: int
    """Position in the run, from 1."""
    time: str
    """ISO 8601 with offset."""
    stage: str
    """What happened, as a code word."""
    data: Mapping[str, Any]
    """Plain JSON; a snapshot that nobody can change."""

    def record(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_record` rebuilds the event."""
        return {
            "run_id": self.run_id, "seq": self.seq, "time": self.time, "stage": self.stage,
            "data": dict(self.data),
        }  # fmt: skip

    @classmethod
    def from_record(cls, record: Any) -> "Event":
        """Rebuild an event; `InputError` where a field is missing, unknown or of another type."""
        kinds = {"run_id": str, "seq": int, "time": str, "stage": str, "data": dict}
        if not isinstance(record, dict) or set(record) != set(kinds):
            raise InputError(f"not an event: {str(record)[:80]}; expected the fields {', '.join(kinds)}")
        for name, kind in kinds.items():
            if type(record[name]) is not kind:
                raise InputError(f"event field {name} is {record[name]!r}; expected {kind.__name__}")
        return cls(**{**record, "data": MappingProxyType(record["data"])})


class Recorder:
    """Numbers, stamps and redacts what happens, and hands each event to every observer."""

    def __init__(
        self,
        run_id: str,
        *,
        clock: Clock,
        redact: Redact | None = None,
        on_event: Iterable[Callable[[Event], object]] = (),
        start: int = 0,
    ) -> None:
        self.run_id = run_id
        self.events: list[Event] = []
        """What this recorder has recorded."""
        self._clock, self._redact = clock, redact
        self._on_event, self._start = tuple(on_event), start

    def __call__(self, stage: str, /, **data: Any) -> Event:
        """Record one event and return it; nothing is recorded where the data is not plain JSON."""
        kept = canonical.loads(canonical.dumps(data))
        if self._redact is not None:
            redacted = self._redact(kept)
            if not isinstance(redacted, dict):
                raise InputError(f"redact returned {type(redacted).__name__}; expected the dict to be stored")
            kept = canonical.loads(canonical.dumps(redacted))
        event = Event(
            run_id=self.run_id,
            seq=self._start + len(self.events) + 1,
            time=self._clock(),
            stage=stage,
            data=MappingProxyType(kept),
        )
        self.events.append(event)
        for observer in self._on_event:
            observer(event)
        return event


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The first step at which two traces part."""

    stage: str
    occurrence: int
    """Which step of that stage, from 1."""
    before: Event | None
    """None where only the second trace has this step."""
    after: Event | None
    """None where only the first trace has this step."""


def first_divergence(
    before: Sequence[Event], after: Sequence[Event], *, ignore: frozenset[str] = IGNORED
) -> Divergence | None:
    """Return the first step at which two traces part, or None where they tell the same.

    Steps are aligned by stage and occurrence (the second `tool` with the second `tool`), in the order of
    the first trace, then those that only the second one has. Keys in `ignore` are left out at every level.
    """
    left, right = _aligned(before), _aligned(after)
    for (stage, occurrence), event in left.items():
        other = right.get((stage, occurrence))
        if other is None or _told(event.data, ignore) != _told(other.data, ignore):
            return Divergence(stage=stage, occurrence=occurrence, before=event, after=other)
    for (stage, occurrence), event in right.items():
        if (stage, occurrence) not in left:
            return Divergence(stage=stage, occurrence=occurrence, before=None, after=event)
    return None


def _aligned(events: Sequence[Event]) -> dict[tuple[str, int], Event]:
    seen: Counter[str] = Counter()
    aligned = {}
    for event in events:
        seen[event.stage] += 1
        aligned[event.stage, seen[event.stage]] = event
    return aligned


def _told(value: Any, ignore: frozenset[str]) -> bytes:
    return canonical.dumps(_without(value, ignore))


def _without(value: Any, ignore: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _without(item, ignore) for name, item in value.items() if name not in ignore}
    if isinstance(value, list | tuple):
        return [_without(item, ignore) for item in value]
    return value
