"""What an analysis is told: which accounts are cash, targets and links, and which exceptions are known.

    >>> config = Config.from_mapping({"cash": ["10301"], "targets": ["41210"], "rules": {
    ...     "parking": {"accounts": ["41210"], "normal_side": "credit", "window": "next_month"}}})
    >>> config.rules[0].after(date(2026, 1, 31))
    (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28))

The mapping is what a TOML or JSON file holds. Every value is checked, and `to_mapping` gives it back with
all defaults filled in and every list sorted: that is what the digests see.
"""

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from harness_kit.errors import InputError
from harness_kit.journal.fields import clean

E = TypeVar("E", bound=StrEnum)

MAX_HOPS = 10
MAX_DAYS = 3660


class Mode(StrEnum):
    """How whole the journal is said to be."""

    FULL = "full"
    """Every voucher is there with all its lines: one that does not balance blocks."""
    EXTRACT = "extract"
    """Some lines are left out: a voucher that does not balance is a warning."""


class Side(StrEnum):
    DEBIT = "debit"
    CREDIT = "credit"


class Window(StrEnum):
    NEXT_MONTH = "next_month"
    """Any day of the calendar month after the original's."""
    DAYS = "days"
    """From `min_days` to `max_days` after the original, both included."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A known exception: an original on its normal side and its exact reversal end without cash."""

    name: str
    accounts: tuple[str, ...]
    normal_side: Side
    """The side of the original."""
    window: Window
    min_days: int = 0
    max_days: int = 60
    """Days from original to reversal; both days count only for `Window.DAYS`."""

    def is_original(self, amount: int) -> bool:
        """Whether a line of this signed amount stands on the normal side."""
        return amount > 0 if self.normal_side is Side.DEBIT else amount < 0

    def after(self, original: date) -> tuple[date, date]:
        """First and last day on which a reversal of `original` may be posted."""
        if self.window is Window.NEXT_MONTH:
            return _month(original, 1)
        return original + timedelta(days=self.min_days), original + timedelta(days=self.max_days)

    def before(self, reversal: date) -> tuple[date, date]:
        """First and last day on which the original of `reversal` may have been posted."""
        if self.window is Window.NEXT_MONTH:
            return _month(reversal, -1)
        return reversal - timedelta(days=self.max_days), reversal - timedelta(days=self.min_days)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The accounts and rules of one analysis."""

    cash: tuple[str, ...]
    targets: tuple[str, ...]
    """Accounts whose every line is classified."""
    links: tuple[str, ...] = ()
    """Accounts of open items (receivables, notes) over which a target reaches cash later."""
    rules: tuple[Rule, ...] = ()
    mode: Mode = Mode.FULL
    max_hops: int = 3
    """Settlements at most between a target and its cash."""
    window_days: int = 400
    """Days at most from an open item to its settlement, where the reference alone does not prove it."""
    units: tuple[str, ...] = ()
    """The table of business units; empty where there is none."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "Config":
        """Check and take over a plain mapping; `InputError` names the key, what was expected, the remedy."""
        known = {"mode", "cash", "targets", "links", "max_hops", "window_days", "rules", "units"}
        _only(mapping, known, "config")
        rules = mapping.get("rules", {})
        if not isinstance(rules, Mapping):
            raise InputError(f"config rules is {rules!r}; expected a mapping from rule name to rule")
        return cls(
            cash=_codes(mapping, "cash", "config"),
            targets=_codes(mapping, "targets", "config"),
            links=_codes(mapping, "links", "config"),
            rules=tuple(_rule(name, rules[name]) for name in sorted(rules)),
            mode=_choice(mapping, "mode", Mode, "config", Mode.FULL),
            max_hops=_number(mapping, "max_hops", 3, 0, MAX_HOPS, "config"),
            window_days=_number(mapping, "window_days", 400, 0, MAX_DAYS, "config"),
            units=_codes(mapping, "units", "config"),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the plain mapping that `from_mapping` takes, complete and sorted."""
        rules = {
            rule.name: {"accounts": list(rule.accounts), "normal_side": str(rule.normal_side),
                        "window": str(rule.window)}
            | ({"min_days": rule.min_days, "max_days": rule.max_days} if rule.window is Window.DAYS else {})
            for rule in self.rules
        }  # fmt: skip
        return {
            "cash": list(self.cash), "links": list(self.links), "max_hops": self.max_hops,
            "mode": str(self.mode), "rules": rules, "targets": list(self.targets),
            "units": list(self.units), "window_days": self.window_days,
        }  # fmt: skip

    @cached_property
    def rule_of(self) -> dict[str, Rule]:
        """The rule of each account that has one."""
        return {account: rule for rule in self.rules for account in rule.accounts}

    def faults(self) -> tuple[str, ...]:
        """Why no analysis may run on this config; empty where it may.

        An account in two roles would count one receipt of money twice, and every total would still agree.
        """
        found = [f"{name} is empty; list at least one account" for name in ("cash", "targets")
                 if not getattr(self, name)]  # fmt: skip
        for one, other in (("targets", "cash"), ("targets", "links"), ("links", "cash")):
            both = sorted(set(getattr(self, one)) & set(getattr(self, other)))
            if both:
                found.append(f"{', '.join(both)} stands in {one} and in {other}; leave it in one of them")
        stray = sorted(set(self.rule_of) - set(self.targets))
        if stray:
            found.append(
                f"{', '.join(stray)} has a rule and is no target; add it to targets or drop the rule"
            )
        return tuple(found)

    def __post_init__(self) -> None:
        accounts = [account for rule in self.rules for account in rule.accounts]
        twice = sorted({account for account in accounts if accounts.count(account) > 1})
        if twice:
            raise InputError(f"{', '.join(twice)} stands in two rules; an account has one rule at most")


def _month(day: date, step: int) -> tuple[date, date]:
    year, month = divmod(day.year * 12 + day.month - 1 + step, 12)
    return date(year, month + 1, 1), date(year, month + 1, monthrange(year, month + 1)[1])


def _rule(name: object, value: object) -> Rule:
    where = f"config rules.{name}"
    if not isinstance(name, str) or not name.strip() or not isinstance(value, Mapping):
        raise InputError(f"{where} is {value!r}; expected a name and a mapping")
    _only(value, {"accounts", "normal_side", "window", "min_days", "max_days"}, where)
    window = _choice(value, "window", Window, where, None)
    if window is Window.NEXT_MONTH and {"min_days", "max_days"} & set(value):
        raise InputError(f"{where} has days and the window next_month; drop the days or say window = 'days'")
    low = _number(value, "min_days", 0, 0, MAX_DAYS, where)
    high = _number(value, "max_days", 60, 0, MAX_DAYS, where)
    if low > high:
        raise InputError(f"{where} has min_days {low} over max_days {high}; swap them")
    accounts = _codes(value, "accounts", where)
    if not accounts:
        raise InputError(f"{where}.accounts is empty; list at least one account")
    side = _choice(value, "normal_side", Side, where, None)
    return Rule(name=name, accounts=accounts, normal_side=side, window=window, min_days=low, max_days=high)


def _only(mapping: Mapping[str, Any], known: set[str], where: str) -> None:
    if not isinstance(mapping, Mapping):
        raise InputError(f"{where} is {mapping!r}; expected a mapping")
    odd = [repr(key) for key in mapping if key not in known]
    if odd:
        raise InputError(f"{where} has {', '.join(odd)}; known keys: {', '.join(sorted(known))}")


def _codes(mapping: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = mapping.get(key, [])
    if not isinstance(value, list | tuple) or not all(
        isinstance(code, str) and clean(code) for code in value
    ):
        raise InputError(
            f"{where}.{key} is {value!r}; expected a list of codes as strings, so that zeros stay"
        )
    return tuple(sorted({clean(code) for code in value}))


def _number(mapping: Mapping[str, Any], key: str, other: int, low: int, high: int, where: str) -> int:
    value = mapping.get(key, other)
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"{where}.{key} is {value!r}; expected an integer from {low} to {high}")
    return value


def _choice(mapping: Mapping[str, Any], key: str, codes: type[E], where: str, other: E | None) -> E:
    value = mapping.get(key, other)
    if not isinstance(value, str) or value not in set(codes):
        raise InputError(f"{where}.{key} is {value!r}; expected one of: {', '.join(codes)}")
    return codes(value)
