"""Events of a run: numbered, stamped by the clock that is passed in, redacted before anyone sees them.

record = Recorder("run-1", clock=fixed_clock("2026-10-08T09:00:00+09:00"), on_event=[print])
record("model", task="a.txt", cost=1)
"""

import itertools
import threading
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
    moment(time)
    return lambda: time


def ticking_clock(start: str, seconds: float = 1) -> Clock:
    """Return a clock that says `start` first and is `seconds` later at each further look."""
    first, looks = moment(start), itertools.count()
    return lambda: (first + timedelta(seconds=seconds * next(looks))).isoformat()


class ManualClock:
    """A clock that stands until it is told to move on: what takes time in a lesson says how much."""

    def __init__(self, start: str) -> None:
        self._now = moment(start)

    def __call__(self) -> str:
        """Say the time."""
        return self._now.isoformat()

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        if seconds < 0:
            raise InputError(f"{seconds} seconds is backwards; time passes forwards")
        self._now += timedelta(seconds=seconds)


def system_clock() -> str:
    """Say the machine's own time, in UTC. Nothing uses it unless it is passed in."""
    from datetime import UTC

    return datetime.now(UTC).isoformat()


def moment(time: str) -> datetime:
    """Parse a time; `InputError` unless it is ISO 8601 with an offset."""
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError) as error:
        raise InputError(f"time {time!r} is not ISO 8601; write it like 2026-10-08T09:00:00+09:00") from error
    if moment.tzinfo is None:
        raise InputError(f"time {time!r} has no offset; write it like 2026-10-08T09:00:00+09:00")
    return moment


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened in a run. `InputError` where a field is not what is said below."""

    run_id: str
    seq: int
    """Position in the run, from 1."""
    time: str
    """ISO 8601 with offset."""
    stage: str
    """What happened, as a code word."""
    data: Mapping[str, Any]
    """Plain JSON; a snapshot, so that later changes of the caller's dict do not reach it."""

    def __post_init__(self) -> None:
        for name in ("run_id", "stage"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"event field {name} is {value!r}; expected a word")
        if type(self.seq) is not int or self.seq < 1:
            raise InputError(f"event field seq is {self.seq!r}; expected a whole number from 1")
        moment(self.time)
        object.__setattr__(self, "data", MappingProxyType(_snapshot(self.data)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only view cannot be pickled, and events cross processes.
        return Event.from_record, (self.record(),)

    def record(self) -> dict[str, Any]:
        """Return plain JSON data, the caller's own, from which `from_record` rebuilds the event."""
        return {
            "run_id": self.run_id, "seq": self.seq, "time": self.time, "stage": self.stage,
            "data": _snapshot(self.data),
        }  # fmt: skip

    @classmethod
    def from_record(cls, record: Any) -> "Event":
        """Rebuild an event; `InputError` where a field is missing, unknown or of another type."""
        if not isinstance(record, dict) or set(record) != _FIELDS:
            raise InputError(f"not an event: {str(record)[:80]}; expected the fields {', '.join(_NAMES)}")
        return cls(**record)


_NAMES = ("run_id", "seq", "time", "stage", "data")
_FIELDS = frozenset(_NAMES)


def trusted_event(run_id: str, seq: int, time: str, stage: str, data: dict[str, Any]) -> Event:
    """Build an event of parts that were checked before, such as a store's rows; `data` is handed over."""
    event = object.__new__(Event)
    # A frozen dataclass sets its fields one by one, which is most of the cost of reading a million rows.
    event.__dict__.update(run_id=run_id, seq=seq, time=time, stage=stage, data=MappingProxyType(data))
    return event


def _snapshot(data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"event data is {type(data).__name__}; expected a mapping of plain JSON values")
    kept: dict[str, Any] = canonical.loads(canonical.dumps(dict(data)))
    return kept


class Recorder:
    """Numbers, stamps and redacts what happens, and hands each event to every observer, in order.

    Usable from any thread. An observer that raises stops the caller; the event itself stays recorded.
    """

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
        self._lock = threading.RLock()

    def __call__(self, stage: str, /, **data: Any) -> Event:
        """Record one event and return it; nothing is recorded where the data is not plain JSON."""
        kept = data
        if self._redact is not None:
            # It gets a copy, so that what it masks stays as it is for the caller.
            kept = self._redact(_snapshot(data))
            if not isinstance(kept, dict):
                raise InputError(f"redact returned {type(kept).__name__}; expected the dict to be stored")
        with self._lock:
            seq = self._start + len(self.events) + 1
            event = Event(run_id=self.run_id, seq=seq, time=self._clock(), stage=stage, data=kept)
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

    Steps are aligned by stage and occurrence (the second `tool` with the second `tool`); a step that only
    one trace has is a difference. Keys in `ignore` are left out at every level. Where all steps agree and
    only their order differs, the first place with two different stages is returned.
    """
    left, right = _aligned(before), _aligned(after)
    parted = []
    for stage, occurrence in left.keys() | right.keys():
        here, there = left.get((stage, occurrence)), right.get((stage, occurrence))
        if here and there and _told(here[1].data, ignore) == _told(there[1].data, ignore):
            continue
        # Where they stand in both traces together says which of two differences came first.
        places = (here or there or (0,))[0] + (there or here or (0,))[0]
        parted.append((places, here is None, stage, occurrence, here, there))
    if parted:
        _, _, stage, occurrence, here, there = min(parted, key=lambda found: found[:4])
        return Divergence(
            stage=stage, occurrence=occurrence, before=here and here[1], after=there and there[1]
        )
    for (stage, occurrence), here_event, there_event in zip(left, before, after, strict=True):
        if here_event.stage != there_event.stage:
            return Divergence(stage=stage, occurrence=occurrence, before=here_event, after=there_event)
    return None


def _aligned(events: Sequence[Event]) -> dict[tuple[str, int], tuple[int, Event]]:
    """Place and event by stage and occurrence, in order."""
    seen: Counter[str] = Counter()
    aligned = {}
    for place, event in enumerate(events):
        seen[event.stage] += 1
        aligned[event.stage, seen[event.stage]] = place, event
    return aligned


def _told(value: Any, ignore: frozenset[str]) -> bytes:
    return canonical.dumps(_without(value, ignore))


def _without(value: Any, ignore: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _without(item, ignore) for name, item in value.items() if name not in ignore}
    if isinstance(value, list | tuple):
        return [_without(item, ignore) for item in value]
    return value
