"""The gate: four frozen criteria, recomputed from the raw text, by code that knows neither skill.

That no exception was thrown proves nothing, and that the sums agree proves little: an amount that was
extinguished without a business unit is conserved to the last won.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness_kit.journal.config import Config
from harness_kit.journal.parsing import parse_rows
from harness_kit.journal.quiet import quiet
from harness_kit.journal.rows import Allocation, Classification, Row, RowClass, Stage
from harness_kit.journal.tables import Table


class Criterion(StrEnum):
    """Frozen: adding or changing one is an act of its own."""

    AMOUNT_CONSERVATION = "amount_conservation"
    NO_DUPLICATE_OWNER = "no_duplicate_owner"
    MISSING_UNIT_NEVER_EXTINGUISHED = "missing_business_unit_never_extinguished"
    MISSING_UNIT_TO_REVIEW = "known_exception_missing_unit_goes_to_human_review"


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One criterion on one classification."""

    criterion: Criterion
    passed: bool
    row_ids: tuple[str, ...] = ()
    """The rows on which it failed, sorted."""
    owner: Stage | None = None
    """Who has to repair it; None where it passed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sums:
    """Totals in minor units of one currency."""

    input_target_amount: int = 0
    cash_classified: int = 0
    exception_extinguished: int = 0
    pure_noncash: int = 0
    human_review: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the gate found."""

    results: tuple[Result, ...]
    """One for each criterion, in their order."""
    sums: dict[str, Sums]
    """By currency, as allocated; the input's total is recomputed from the text."""
    cash_not_reused: bool
    """Diagnostic, no criterion: no more was allocated to cash than moved on cash accounts."""

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    @property
    def criteria(self) -> dict[str, bool]:
        """Name of each criterion → whether it holds."""
        return {str(result.criterion): result.passed for result in self.results}

    @property
    def owner(self) -> Stage | None:
        """Owner of the first criterion that failed."""
        return next((result.owner for result in self.results if not result.passed), None)


@quiet()
def check(table: Table, config: Config, classification: Classification) -> Report:
    """Hold `classification` against the raw `table`; `RefusedError` where the table cannot be read."""
    rows = parse_rows(table, units=frozenset(config.units))
    accounts = frozenset(config.targets)
    targets = {row.row_id: row for row in rows if row.account_code in accounts}
    by_row = _by_row(classification.allocations)
    nameless = [row for row in targets.values() if not row.business_unit]
    extinguished = [row for row in nameless if _any(by_row.get(row.row_id, ()), RowClass.EXTINGUISHED)]
    unseen = [
        row
        for row in nameless
        if row.account_code in config.rule_of and not _rest_in_review(row, by_row.get(row.row_id, ()))
    ]
    return Report(
        results=(
            _conserved(targets, by_row, classification),
            _owned_once(targets, by_row),
            _result(Criterion.MISSING_UNIT_NEVER_EXTINGUISHED, extinguished, Stage.EXCEPTION_RULES),
            _result(Criterion.MISSING_UNIT_TO_REVIEW, unseen, Stage.EXCEPTION_RULES),
        ),
        sums=_sums(targets, classification.allocations),
        cash_not_reused=_cash_not_reused(rows, targets, config, classification.allocations),
    )


def _conserved(
    targets: Mapping[str, Row], by_row: Mapping[str, Sequence[Allocation]], classification: Classification
) -> Result:
    """Every target row is allocated whole, and nothing else is; the owner's in and out differ."""

    def whole(row_id: str) -> bool:
        parts = by_row.get(row_id, ())
        return bool(parts) and _is_sound(parts) and _total(parts) == amount(row_id)

    def amount(row_id: str) -> int:
        return abs(targets[row_id].amount) if row_id in targets else 0

    bad = [row_id for row_id in targets if not whole(row_id)] + [
        row_id for row_id in by_row if row_id not in targets
    ]
    if not bad:
        return _result(Criterion.AMOUNT_CONSERVATION, (), None)
    traced, judged = _by_row(classification.traced.allocations), _by_row(classification.judged)
    handed: dict[str, list[int]] = defaultdict(list)
    for item in classification.traced.unmatched:
        handed[item.row.row_id].append(item.amount)
    owners = set()
    for row_id in bad:
        first, second, between = traced.get(row_id, ()), judged.get(row_id, ()), handed.get(row_id, [])
        known = row_id in targets
        if not _is_sound(first) or _total(first) + sum(between) != amount(row_id) or (
            bool(first or between) != known or any(part < 0 for part in between)
        ):  # fmt: skip
            owners.add(Stage.CASH_PATH_TRACER)
        elif not _is_sound(second) or _total(second) != sum(between) or bool(second) != bool(between):
            owners.add(Stage.EXCEPTION_RULES)
        else:
            owners.add(Stage.UMBRELLA)
    # The first stage that is wrong: what follows it was given wrong input.
    owner = next(stage for stage in Stage if stage in owners)
    return Result(
        criterion=Criterion.AMOUNT_CONSERVATION, passed=False, row_ids=tuple(sorted(bad)), owner=owner
    )


def _owned_once(targets: Mapping[str, Row], by_row: Mapping[str, Sequence[Allocation]]) -> Result:
    """No allocation stands twice, and no row that one stage finished was taken up by the other."""
    bad = []
    for row_id, parts in by_row.items():
        if len(parts) == 1:
            continue
        tellings = Counter((part.row_class, part.reason, part.evidence, part.stage) for part in parts)
        traced = [part for part in parts if part.stage is Stage.CASH_PATH_TRACER]
        judged = [part for part in parts if part.stage is Stage.EXCEPTION_RULES]
        row = targets.get(row_id)
        finished = row is not None and _total(traced) >= abs(row.amount)
        # Extinguishing says that the whole row ended without cash.
        claimed = _any(judged, RowClass.EXTINGUISHED)
        if max(tellings.values()) > 1 or (traced and judged and (finished or claimed)):
            bad.append(row_id)
    return Result(
        criterion=Criterion.NO_DUPLICATE_OWNER,
        passed=not bad,
        row_ids=tuple(sorted(bad)),
        owner=Stage.UMBRELLA if bad else None,
    )


def _rest_in_review(row: Row, parts: Sequence[Allocation]) -> bool:
    cash = _total(part for part in parts if part.row_class is RowClass.CASH)
    review = _total(part for part in parts if part.row_class is RowClass.REVIEW)
    return review == abs(row.amount) - cash


def _sums(targets: Mapping[str, Row], allocations: Sequence[Allocation]) -> dict[str, Sums]:
    totals: Counter[tuple[str, str]] = Counter()
    for row in targets.values():
        totals[row.currency, "input"] += abs(row.amount)
    for allocation in allocations:
        if allocation.row_id in targets:
            totals[targets[allocation.row_id].currency, allocation.row_class] += allocation.amount
    return {
        currency: Sums(
            input_target_amount=totals[currency, "input"],
            cash_classified=totals[currency, RowClass.CASH],
            exception_extinguished=totals[currency, RowClass.EXTINGUISHED],
            pure_noncash=totals[currency, RowClass.PURE_NONCASH],
            human_review=totals[currency, RowClass.REVIEW],
        )
        for currency in sorted({row.currency for row in targets.values()})
    }


def _cash_not_reused(
    rows: Sequence[Row], targets: Mapping[str, Row], config: Config, allocations: Sequence[Allocation]
) -> bool:
    cash = frozenset(config.cash)
    nets: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        if row.account_code in cash:
            nets[(*row.voucher, row.currency)] += row.amount
    left: Counter[object] = Counter()
    for key, net in nets.items():
        left[key[-1]] += abs(net)
    for allocation in allocations:
        if allocation.row_class is RowClass.CASH and allocation.row_id in targets:
            left[targets[allocation.row_id].currency] -= allocation.amount
    return all(amount >= 0 for amount in left.values())


def _result(criterion: Criterion, rows: Iterable[Row], owner: Stage | None) -> Result:
    row_ids = tuple(sorted(row.row_id for row in rows))
    return Result(criterion=criterion, passed=not row_ids, row_ids=row_ids, owner=owner if row_ids else None)


def _by_row(allocations: Iterable[Allocation]) -> dict[str, list[Allocation]]:
    found: dict[str, list[Allocation]] = {}
    for allocation in allocations:
        found.setdefault(allocation.row_id, []).append(allocation)
    return found


def _is_sound(parts: Iterable[Allocation]) -> bool:
    return all(part.amount >= 0 for part in parts)


def _total(parts: Iterable[Allocation]) -> int:
    return sum(part.amount for part in parts)


def _any(parts: Iterable[Allocation], row_class: RowClass) -> bool:
    return any(part.row_class is row_class for part in parts)
