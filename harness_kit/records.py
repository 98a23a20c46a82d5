"""Runs and checkpoints as plain records; `store` keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from harness_kit import canonical
from harness_kit.codes import StepPhase


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
    held["data"] = MappingProxyType(canonical.loads(held["data"]))
    for name in ("passed", "committed"):
        held[name] = None if held[name] is None else bool(held[name])
    return RunRecord(**held)
