"""Runs and checkpoints as plain records, and the checks of what goes in and comes out; `store` keeps them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness_kit import canonical
from harness_kit.codes import StepPhase
from harness_kit.errors import InputError, StoreCorruptError

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One run as the store holds it. Ended, judged, decided and written are four answers."""

    run_id: str
    system: str
    """What ran, and in which version."""
    version: str
    status: str | None
    reason: str | None
    """Why it ended."""
    passed: bool | None
    """Whether its behaviour was as expected."""
    review: str | None
    """What a person decided."""
    committed: bool | None
    """Whether something was written."""
    cost: int | None
    limit: int | None
    """Units."""
    started: str
    ended: str | None
    duration_ms: int | None
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The newest state of a run."""

    number: int
    """Steps completed, or, where the phase is `STARTED`, the step that was begun."""
    phase: StepPhase
    state: Mapping[str, Any]


RUN_COLUMNS = (
    "run_id, system, version, status, reason, passed, review, committed, cost, units, started, ended, "
    "duration_ms, data"
)


def run_record(row: tuple[Any, ...]) -> RunRecord:
    """Return the record of one row selected by `RUN_COLUMNS`."""
    names = [*RUN_COLUMNS.replace("units", "limit").split(", ")]
    held = dict(zip(names, row, strict=True))
    held["data"] = MappingProxyType(stored_json(held["data"], f"run {held['run_id']!r}"))
    for name in ("passed", "committed"):
        held[name] = None if held[name] is None else bool(held[name])
    return RunRecord(**held)


_KINDS: dict[str, type] = {
    "system": str, "version": str, "status": str, "reason": str, "passed": bool, "review": str,
    "committed": bool, "cost": int, "limit": int, "ended": str, "duration_ms": int, "data": Mapping,
}  # fmt: skip


def run_values(fields: Mapping[str, Any]) -> list[Any]:
    """Return what to store for these fields of a run; `InputError` for an unknown one or a wrong type."""
    values = []
    for name, value in fields.items():
        kind = _KINDS.get(name)
        if kind is None:
            raise InputError(f"a run has no field {name!r}; there are {', '.join(_KINDS)}")
        if name == "data":
            value = canonical.text(checked_object(value, "run data"))
        elif value is None and name not in ("system", "version"):
            pass
        elif kind is int and (type(value) is not int or not 0 <= value < 2**63):
            raise InputError(f"run field {name} is {value!r}; expected a whole number, 0 or more, or None")
        elif not isinstance(value, kind):
            raise InputError(f"run field {name} is {value!r}; expected {kind.__name__}")
        values.append(value)
    return values


def checked_name(value: Any, what: str) -> str:
    """Return a name that can be shown in one line; `InputError` for anything else."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{what} {value!r} is blank or not printable; use a short name")
    return value


def checked_object(value: Any, what: str) -> dict[str, Any]:
    """Return a mapping as a dict; `InputError` for anything else."""
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is {type(value).__name__}; expected a mapping of plain JSON values")
    return dict(value)


def stored_json(text: Any, what: str) -> Any:
    """Parse JSON that the kit wrote; `StoreCorruptError` where somebody else has changed it since."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreCorruptError(f"the store holds {what} as {text!r:.80}: {error}; restore a copy") from error


def unknown_run(db: "sqlite3.Connection", run_id: str, path: str) -> InputError:
    """Return the error for a run that is not there, naming ids like it."""
    import difflib  # dear, and only for the message

    names = [name for (name,) in db.execute("SELECT run_id FROM runs ORDER BY key DESC LIMIT 1000")]
    like = difflib.get_close_matches(str(run_id), names, n=3, cutoff=0.5) or names[:3]
    return InputError(
        f"no run {run_id!r} in store {path!r}; " + (f"there is {', '.join(like)}" if like else "it is empty")
    )
