"""Models: whatever proposes the next action. The harness decides whether it is carried out.

A model is any object with `name`, `free`, `repeatable`, `price(request)` and a call that turns one request
(a plain JSON object) into a `Reply`. Three are here: scripted, recorded, and one that records another.

    >>> model = ScriptedModel(lambda request: {"action": "read", "name": request["task"]})
    >>> model({"task": "a.txt"}).action["name"]
    'a.txt'
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness_kit import canonical
from harness_kit.budget import Budget
from harness_kit.errors import BudgetError, CanonicalError, InputError, ModelError
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, Recorder


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered."""

    action: Mapping[str, Any]
    """The proposed action: a plain JSON object. Nothing is carried out yet."""
    units: int | None = None
    """What the call cost, in units; None: as reserved."""


@runtime_checkable
class Model(Protocol):
    """The protocol that every model keeps."""

    @property
    def name(self) -> str:
        """A name for events and ledgers."""

    @property
    def free(self) -> bool:
        """True where a price of zero is meant (a replay, a local script)."""

    @property
    def repeatable(self) -> bool:
        """True where asking again changes nothing outside; a crashed call may then simply be asked again."""

    def price(self, request: Mapping[str, Any]) -> int | None:
        """Units to reserve before this call; None where the price is not known (the call is then refused)."""

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Answer one request, or raise `ModelError`."""


class ScriptedModel:
    """Answers from a function of the request, or from a list of actions in order."""

    def __init__(
        self,
        script: Callable[[dict[str, Any]], Mapping[str, Any]] | Iterable[Mapping[str, Any]],
        *,
        name: str = "scripted",
        units: int | None = 1,
    ) -> None:
        self.name = name
        self.free = units == 0
        self.repeatable = callable(script)
        self._units = units
        self._script = script if callable(script) else _in_order(name, list(script))

    def price(self, request: Mapping[str, Any]) -> int | None:
        """The same units for every request."""
        return self._units

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Return the script's action for `request`."""
        return Reply(action=self._script(dict(request)))


def _in_order(name: str, actions: list[Mapping[str, Any]]) -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    rest = iter(actions)

    def following(request: dict[str, Any]) -> Mapping[str, Any]:
        try:
            return next(rest)
        except StopIteration:
            raise ModelError(
                f"model {name!r} was asked more often than its script of {len(actions)} actions"
            ) from None

    return following


class RecordingModel:
    """Passes every call on to another model and keeps request and answer in a store.

    The recording holds the full text of requests and answers, unlike a run's own events: it is made only
    where asked for, as a run of its own named `recording_id`.
    """

    def __init__(self, model: Model, store: TraceStore, recording_id: str, *, clock: Clock) -> None:
        self.name, self.free, self.repeatable = model.name, model.free, model.repeatable
        self._model, self._store = model, store
        self._record = Recorder(recording_id, clock=clock)
        store.open_run(recording_id, system=f"recording of {model.name}", started=clock())

    def price(self, request: Mapping[str, Any]) -> int | None:
        """The price of the recorded model."""
        return self._model.price(request)

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Ask the recorded model, store the pair, return the answer."""
        asked = _snapshot(self.name, request)
        reply = self._model(request)
        event = self._record(
            "call", request=asked, action=_snapshot(self.name, reply.action), units=reply.units
        )
        self._store.append([event])
        return reply


class RecordedModel:
    """Replays a recording: the same request gets the same answer, the n-th time the n-th one. Free."""

    free = True
    repeatable = True

    def __init__(self, store: TraceStore, recording_id: str, *, name: str = "recorded") -> None:
        self.name = name
        self._recording = recording_id
        self._answers: dict[str, list[Mapping[str, Any]]] = {}
        for event in store.events(recording_id):
            if event.stage == "call":
                key = canonical.fingerprint(event.data["request"])
                self._answers.setdefault(key, []).append(event.data["action"])
        if not self._answers:
            raise InputError(f"run {recording_id!r} holds no recorded calls; record one with RecordingModel")
        self._asked: dict[str, int] = {}

    def price(self, request: Mapping[str, Any]) -> int:
        """Zero: a replay costs nothing."""
        return 0

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Return the recorded answer; `ModelError` for a request that was never recorded."""
        key = canonical.fingerprint(_snapshot(self.name, request))
        answers = self._answers.get(key)
        if answers is None:
            raise ModelError(
                f"recording {self._recording!r} has no answer to {dict(request)!r}; record that request first"
            )
        turn = self._asked.get(key, 0)
        self._asked[key] = turn + 1
        # Asked more often than recorded, the last answer stands: a resumed run repeats its last question.
        return Reply(action=answers[min(turn, len(answers) - 1)], units=0)


def price_of(model: Model, request: Mapping[str, Any]) -> int:
    """Return the units to reserve for a call; `BudgetError` where the price is unknown or zero undeclared."""
    units = model.price(request)
    if isinstance(units, bool) or not isinstance(units, int) or units < 0:
        raise BudgetError(f"model {model.name!r} gives the price {units!r}; expected whole units, 0 or more")
    if units == 0 and not model.free:
        raise BudgetError(
            f"model {model.name!r} has a price of 0 and is not declared free; set free=True if so"
        )
    return units


def call_model(
    model: Model,
    request: Mapping[str, Any],
    budget: Budget,
    *,
    role: str = "",
    key: str | None = None,
    run_id: str = "",
) -> Reply:
    """Reserve, call, settle, and return a reply whose action is a plain JSON snapshot.

    The model gets a copy of `request`, so nothing it does to it comes back. A call that raises, or whose
    answer is malformed (`ModelError`), has been paid for. `key` names the spend for a later resume.
    """
    asked = _snapshot(model.name, request)
    with budget.call(price_of(model, asked), role=role or model.name, key=key, run_id=run_id) as spend:
        reply = model(asked)
        if not isinstance(reply, Reply) or not isinstance(reply.action, Mapping):
            raise ModelError(
                f"model {model.name!r} answered {type(reply).__name__}; expected a Reply with an object"
            )
        action = _snapshot(model.name, reply.action)
        # A spend that an earlier, crashed attempt settled stays as it was settled.
        if reply.units is not None and spend.is_open:
            spend.settle(reply.units)
    return Reply(action=action, units=spend.row.actual)


def _snapshot(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = canonical.loads(canonical.dumps(dict(value)))
    except CanonicalError as error:
        raise ModelError(
            f"model {name!r}: what it was asked or answered is no plain JSON object: {error}"
        ) from error
    return copied
