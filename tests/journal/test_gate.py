"""The gate against classifications that are wrong, each in its own way; and who is told to repair it."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness_kit.journal import gate
from harness_kit.journal.gate import Criterion
from harness_kit.journal.rows import (
    Allocation,
    Classification,
    Reason,
    RowClass,
    Stage,
    Trace,
    Unmatched,
    sorted_allocations,
)
from tests.journal.books import AR, CASH, CONFIG, PARKING, SALES, run, voucher

BOOK = run(
    voucher("V1", "2026-03-05", ("C", CASH, 97), ("F", "99900", 3), ("S", SALES, -100)),
    voucher("V2", "2026-03-31", ("O", PARKING, -50)),
    voucher("V3", "2026-04-30", ("R", PARKING, 50)),
    voucher("V4", "2026-04-30", ("N", PARKING, 25), business_unit="-"),
    voucher("V5", "2026-04-30", ("Z", SALES, 0)),
)


def made(
    traced: Callable[[list[Allocation]], list[Allocation]] = list,
    handed: Callable[[list[Unmatched]], list[Unmatched]] = list,
    judged: Callable[[list[Allocation]], list[Allocation]] = list,
    joined: Callable[[list[Allocation]], list[Allocation]] = list,
) -> Classification:
    """The right classification with one stage's output changed, and what follows of it."""
    first = traced(list(BOOK.result.traced.allocations))
    between = handed(list(BOOK.result.traced.unmatched))
    second = judged(list(BOOK.result.judged))
    return Classification(
        traced=Trace(allocations=tuple(first), unmatched=tuple(between)),
        judged=tuple(second),
        allocations=sorted_allocations(joined([*first, *second])),
    )


def changed(row_id: str, **values: object) -> Callable[[list[Allocation]], list[Allocation]]:
    def other(item: Allocation) -> Allocation:
        return replace(item, **values) if item.row_id == row_id else item  # type: ignore[arg-type]

    return lambda items: [other(item) for item in items]


def without(row_id: str) -> Callable[[list[Allocation]], list[Allocation]]:
    return lambda items: [item for item in items if item.row_id != row_id]


def not_handing(row_id: str) -> Callable[[list[Unmatched]], list[Unmatched]]:
    return lambda items: [item for item in items if item.row.row_id != row_id]


def failed(classification: Classification) -> dict[Criterion, tuple[tuple[str, ...], Stage | None]]:
    report = gate.check(BOOK.table, CONFIG, classification)
    assert report.passed == (not [result for result in report.results if not result.passed])
    return {
        result.criterion: (result.row_ids, result.owner) for result in report.results if not result.passed
    }


def test_the_right_classification_passes() -> None:
    assert failed(made()) == {}
    assert BOOK.classes == {
        "S": {"cash": 97, "pure_noncash": 3}, "O": {"extinguished": 50}, "R": {"extinguished": 50},
        "N": {"human_review": 25}, "Z": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("classification", "row_id", "owner"),
    [
        (made(traced=changed("S", amount=96)), "S", Stage.CASH_PATH_TRACER),
        (made(traced=changed("S", amount=-97)), "S", Stage.CASH_PATH_TRACER),
        (made(handed=not_handing("O"), judged=without("O")), "O", Stage.CASH_PATH_TRACER),
        (made(judged=changed("O", amount=49)), "O", Stage.EXCEPTION_RULES),
        (made(judged=without("N")), "N", Stage.EXCEPTION_RULES),
        (made(judged=without("Z")), "Z", Stage.EXCEPTION_RULES),
        (made(joined=without("R")), "R", Stage.UMBRELLA),
        (made(joined=changed("R", amount=51)), "R", Stage.UMBRELLA),
        (made(joined=lambda items: [*items, replace(items[0], row_id="C")]), "C", Stage.UMBRELLA),
        (made(traced=lambda items: [*items, replace(items[0], row_id="C")]), "C", Stage.CASH_PATH_TRACER),
        (made(judged=lambda items: [*items, replace(items[0], row_id="X")]), "X", Stage.EXCEPTION_RULES),
    ],
)  # fmt: skip
def test_amounts_that_are_not_conserved_name_the_stage(
    classification: Classification, row_id: str, owner: Stage
) -> None:
    assert failed(classification)[Criterion.AMOUNT_CONSERVATION] == ((row_id,), owner)


def test_the_first_wrong_stage_owns_the_failure() -> None:
    both = made(traced=changed("S", amount=96), judged=changed("O", amount=49))
    assert failed(both)[Criterion.AMOUNT_CONSERVATION] == (("O", "S"), Stage.CASH_PATH_TRACER)


def test_a_row_owned_twice_belongs_to_the_umbrella() -> None:
    twice = made(joined=lambda items: [*items, *(item for item in items if item.row_id == "O")])
    assert failed(twice)[Criterion.NO_DUPLICATE_OWNER] == (("O",), Stage.UMBRELLA)
    # The tracer finished the row, and the rules took it up again.
    both = made(
        judged=lambda items: [*items, _judged("S", RowClass.PURE_NONCASH, 97)],
        traced=changed("S", amount=100),
    )
    assert failed(both)[Criterion.NO_DUPLICATE_OWNER] == (("S",), Stage.UMBRELLA)
    # Extinguishing a row of which a part became cash.
    part = made(judged=changed("S", row_class=RowClass.EXTINGUISHED))
    assert failed(part) == {Criterion.NO_DUPLICATE_OWNER: (("S",), Stage.UMBRELLA)}


def _judged(row_id: str, row_class: RowClass, amount: int) -> Allocation:
    return Allocation(
        row_id=row_id, row_class=row_class, amount=amount, stage=Stage.EXCEPTION_RULES, reason=Reason.NO_RULE
    )


def test_a_row_without_unit_is_neither_extinguished_nor_passed_over() -> None:
    rules = Stage.EXCEPTION_RULES
    assert failed(made(judged=changed("N", row_class=RowClass.EXTINGUISHED))) == {
        Criterion.MISSING_UNIT_NEVER_EXTINGUISHED: (("N",), rules),
        Criterion.MISSING_UNIT_TO_REVIEW: (("N",), rules),
    }
    assert failed(made(judged=changed("N", row_class=RowClass.PURE_NONCASH))) == {
        Criterion.MISSING_UNIT_TO_REVIEW: (("N",), rules)
    }


def test_the_unit_is_judged_by_the_raw_text() -> None:
    """Rows that were given a unit on the way do not deceive the gate."""
    records = [
        *voucher("V2", "2026-03-31", ("O", PARKING, -50), business_unit="\u3000"),
        *voucher("V3", "2026-04-30", ("R", PARKING, 50), business_unit="\u200b"),
    ]
    named = run([{**record, "business_unit": "S01"} for record in records])
    table = run(records).table
    report = gate.check(table, CONFIG, named.result)
    assert report.criteria["amount_conservation"] and report.owner is Stage.EXCEPTION_RULES
    assert not report.criteria["missing_business_unit_never_extinguished"]


def test_a_row_that_was_lost_on_the_way_is_missed() -> None:
    records = [
        *voucher("V1", "2026-03-05", ("S1", SALES, -100)),
        *voucher("V2", "2026-03-05", ("S2", SALES, -70)),
    ]
    result = run(records[:1]).result
    report = gate.check(run(records).table, CONFIG, result)
    assert report.results[0].row_ids == ("S2",) and not report.passed
    assert report.sums["KRW"].input_target_amount == 170


def test_cash_that_is_used_twice_is_seen() -> None:
    """All four criteria hold where a receivable is a target too; the diagnostic does not."""
    cash = [("S", SALES, -100), ("A", AR, 100)]
    table = run(
        voucher("V1", "2026-01-10", *cash), voucher("V2", "2026-02-10", ("C", CASH, 100), ("B", AR, -100))
    ).table
    config = replace(CONFIG, targets=(AR, SALES), links=(), rules=())
    allocations = tuple(
        Allocation(row_id=row_id, row_class=RowClass.CASH, amount=100, stage=Stage.CASH_PATH_TRACER,
                   reason=Reason.DIRECT, evidence=(row_id,))
        for row_id in "ABS"
    )  # fmt: skip
    trace = Trace(allocations=allocations, unmatched=())
    report = gate.check(table, config, Classification(traced=trace, judged=(), allocations=allocations))
    assert report.passed and not report.cash_not_reused


def test_the_gate_loads_neither_skill() -> None:
    code = (
        "import sys, harness_kit.journal.gate; "
        "skills = ('cash_path_tracer', 'extinction_exception_rules', 'settlement', 'skills'); "
        "sys.exit(any(name.endswith(skills) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
