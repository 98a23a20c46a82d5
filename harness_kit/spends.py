"""The rows of a ledger, as plain records; `budget` keeps them."""

from dataclasses import dataclass
from typing import TypeAlias

from harness_kit.codes import SpendState
from harness_kit.errors import BudgetError


@dataclass(frozen=True, kw_only=True)
class SpendRow:
    """One reservation as the ledger holds it."""

    id: int
    key: str | None
    """The caller's name for this spend; asked again, the same spend is returned."""
    role: str
    units: int
    """Units reserved before the call."""
    actual: int | None
    """Units settled after the call; None until then."""
    state: SpendState
    note: str
    """The reason given with a refund or a release."""
    run_id: str
    """The run that the call belongs to; '' outside a run."""


@dataclass(frozen=True, kw_only=True)
class RoleUse:
    """What one role has used."""

    calls: int
    """Settled calls, failed ones included."""
    units: int
    """Units of those calls."""


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The ledger at one moment; all in units."""

    limit: int
    spent: int
    reserved: int
    closed: str | None
    """Why the ledger takes no more; None while it is open."""

    @property
    def left(self) -> int:
        """Units that can still be reserved; 0 after an overrun."""
        return max(0, self.limit - self.spent - self.reserved)


COLUMNS = "id, key, role, units, actual, state, note, run"


Fields: TypeAlias = tuple[int, str | None, str, int, int | None, str, str, str]


def spend_row(row: Fields) -> SpendRow:
    """Return the record of one row selected by `COLUMNS`."""
    number, key, role, units, actual, state, note, run_id = row
    return SpendRow(
        id=number, key=key, role=role, units=units, actual=actual, state=SpendState(state), note=note,
        run_id=run_id,
    )  # fmt: skip


def checked_units(value: int, what: str) -> int:
    """Return `value` if it is a number of units; `BudgetError` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        raise BudgetError(
            f"{what} is {value!r}; expected a whole number of units, 0 or more (an unknown price is no price)"
        )
    return value


def checked_reason(text: str, act: str) -> str:
    """Return `text` if it says something; `BudgetError` otherwise."""
    if not isinstance(text, str) or not text.strip():
        raise BudgetError(f"{act} needs a reason, got {text!r}; say why in words")
    return text
