"""Triggers: what starts a run without a person, under a budget, with an alert for what went wrong.

Here is the source that fires its triggers in their order. A trigger's units are reserved before its run
starts; a run that fails has been paid for; one that does not fit is blocked and says so.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness_kit.budget import Budget
from harness_kit.codes import AlertKind, TriggerSource, TriggerStatus
from harness_kit.errors import BudgetError, InputError


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """One thing that starts a run."""

    id: str
    source: TriggerSource
    case: str
    """What it runs on."""


@dataclass(frozen=True, kw_only=True)
class Alert:
    """Something that somebody should look at."""

    kind: AlertKind
    run_id: str


@dataclass(frozen=True, kw_only=True)
class Fired:
    """What became of one trigger."""

    trigger: Trigger
    run_id: str
    status: TriggerStatus
    spent: int
    """Units of the ledger settled so far, this run included."""
    limit: int
    alert: Alert | None


def fire_in_order(
    triggers: Iterable[Trigger],
    run: Callable[[Trigger, str], bool],
    budget: Budget,
    *,
    units: int,
    name_run: Callable[[Trigger], str],
) -> list[Fired]:
    """Fire each trigger in turn: `run(trigger, run_id)` says whether its result was verified.

    A run that raises is a failed run; its units stay spent. `InputError` where two triggers share an id.
    """
    chosen = list(triggers)
    ids = [trigger.id for trigger in chosen]
    if len(set(ids)) != len(ids):
        raise InputError(f"trigger ids {ids} are not all different; a trigger fires once")
    fired = []
    for trigger in chosen:
        run_id = name_run(trigger)
        alert: AlertKind | None = None
        try:
            with budget.call(units, role=trigger.id, key=run_id, run_id=run_id):
                status = TriggerStatus.PASSED if _verified(run, trigger, run_id) else TriggerStatus.FAILED
            if status is TriggerStatus.FAILED:
                alert = AlertKind.VERIFICATION_FAILED
        except BudgetError:
            status, alert = TriggerStatus.BLOCKED, AlertKind.BUDGET_EXHAUSTED
        told = Alert(kind=alert, run_id=run_id) if alert is not None else None
        fired.append(
            Fired(
                trigger=trigger,
                run_id=run_id,
                status=status,
                spent=budget.spent,
                limit=budget.limit,
                alert=told,
            )
        )
    return fired


def _verified(run: Callable[[Trigger, str], bool], trigger: Trigger, run_id: str) -> bool:
    try:
        return run(trigger, run_id) is True
    except Exception:
        return False
