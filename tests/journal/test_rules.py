"""Known exceptions: the golden edge cases of original and reversal, one test each."""

import itertools
import random
from datetime import date

import pytest

from harness_kit.journal.config import Config
from harness_kit.resources import data_path
from tests.journal.books import AR, CASH, LC, OTHER, PARKING, SALES, Book, Records, run, voucher


def accrual(name: str, day: str, amount: int = 100, **common: str) -> Records:
    """A parking accrual: the normal side is credit."""
    return voucher(name, day, (name, PARKING, -amount), **common)


def undone(name: str, day: str, amount: int = 100, **common: str) -> Records:
    return voucher(name, day, (name, PARKING, amount), **common)


def invoice(name: str, day: str, amount: int = 100, **common: str) -> Records:
    """A sale under a local letter of credit: the normal side is debit."""
    return voucher(name, day, (name, LC, amount), **common)


def copied(name: str, day: str, amount: int = 100, **common: str) -> Records:
    return voucher(name, day, (name, LC, -amount), **common)


def classes(book: Book) -> dict[str, str]:
    """Row id → its one class."""
    assert all(len(parts) == 1 for parts in book.classes.values())
    return {row_id: next(iter(parts)) for row_id, parts in book.classes.items()}


@pytest.mark.parametrize(
    ("original", "reversal"),
    [("2024-01-31", "2024-02-29"), ("2025-12-31", "2026-01-02"), ("2026-03-01", "2026-04-30")],
)
def test_parking_rule_extinguishes_only_exact_next_month_reversal(original: str, reversal: str) -> None:
    book = run(accrual("O", original), undone("R", reversal))
    assert book.classes == {"O": {"extinguished": 100}, "R": {"extinguished": 100}}
    assert book.evidence("O") == [("O", "R")]
    assert {item.rule for item in book.result.allocations} == {"parking"}


@pytest.mark.parametrize(
    ("original", "reversal"),
    [("2026-03-01", "2026-03-31"), ("2026-03-31", "2026-05-01"), ("2026-04-30", "2026-03-31"),
     ("2025-03-31", "2026-04-30")],
    ids=["same month", "two months later", "reversal first", "next year's next month"],
)  # fmt: skip
def test_parking_reversed_at_another_time_is_pure_noncash(original: str, reversal: str) -> None:
    assert classes(run(accrual("O", original), undone("R", reversal))) == {
        "O": "pure_noncash",
        "R": "pure_noncash",
    }


@pytest.mark.parametrize(
    ("days", "expected"),
    [("2026-01-09", "pure_noncash"), ("2026-01-10", "extinguished"), ("2026-03-11", "extinguished"),
     ("2026-03-12", "pure_noncash")],
    ids=["a day before", "the same day", "60 days", "61 days"],
)  # fmt: skip
def test_lc_rule_requires_reverse_within_configured_days(days: str, expected: str) -> None:
    assert classes(run(invoice("O", "2026-01-10"), copied("R", days))) == {"O": expected, "R": expected}


def test_lc_days_are_those_of_the_config() -> None:
    rules = {
        "local_lc": {"accounts": [LC], "normal_side": "debit", "window": "days", "min_days": 5, "max_days": 7}
    }
    found = {}
    for day in range(4, 9):
        book = run(invoice("O", "2026-01-10"), copied("R", f"2026-01-{10 + day}"), rules=rules)
        found[day] = classes(book)["O"]
    assert found == {
        4: "pure_noncash",
        5: "extinguished",
        6: "extinguished",
        7: "extinguished",
        8: "pure_noncash",
    }


def test_an_original_on_the_wrong_side_is_no_original() -> None:
    book = run(undone("O", "2026-03-31"), accrual("R", "2026-04-30"))
    assert classes(book) == {"O": "pure_noncash", "R": "pure_noncash"}


def test_partial_reversal_is_pure_noncash() -> None:
    book = run(accrual("O", "2026-03-31", 100), undone("R", "2026-04-30", 60))
    assert book.classes == {"O": {"pure_noncash": 100}, "R": {"pure_noncash": 60}}


def test_two_reversals_for_one_original_all_go_to_review() -> None:
    book = run(accrual("O", "2026-03-31"), undone("R1", "2026-04-10"), undone("R2", "2026-04-30"))
    assert set(classes(book).values()) == {"human_review"}
    assert book.reasons == {name: {"ambiguous"} for name in ("O", "R1", "R2")}


def test_two_originals_for_one_reversal_all_go_to_review() -> None:
    book = run(accrual("O1", "2026-03-10"), accrual("O2", "2026-03-31"), undone("R", "2026-04-30"))
    assert set(classes(book).values()) == {"human_review"}


def test_original_reversal_and_new_original() -> None:
    book = run(accrual("O", "2026-03-31"), undone("R", "2026-04-01"), accrual("N", "2026-04-30"))
    assert classes(book) == {"O": "extinguished", "R": "extinguished", "N": "pure_noncash"}


def test_reversal_in_the_same_voucher_is_pure_noncash() -> None:
    book = run(voucher("V", "2026-01-10", ("O", LC, 100), ("R", LC, -100)))
    assert classes(book) == {"O": "pure_noncash", "R": "pure_noncash"}


def test_naming_each_other_does_not_help_lines_of_one_voucher() -> None:
    lines = [("O", LC, 100, {"reversal_of": "R"}), ("R", LC, -100, {"reversal_of": "O"})]
    assert classes(run(voucher("V", "2026-01-10", *lines))) == {"O": "pure_noncash", "R": "pure_noncash"}
    lines[0] = ("O", LC, 100, {})
    assert classes(run(voucher("V", "2026-01-10", *lines))) == {"O": "pure_noncash", "R": "pure_noncash"}


def test_a_zero_amount_without_unit_needs_no_person() -> None:
    book = run(accrual("Z", "2026-03-31", 0, business_unit=""))
    assert [(str(item.row_class), item.amount) for item in book.result.allocations] == [("pure_noncash", 0)]


@pytest.mark.parametrize("field", ["business_unit", "counterparty", "currency", "account_code"])
def test_a_pair_that_differs_is_pure_noncash(field: str) -> None:
    other = {"business_unit": "S02", "counterparty": "P2", "currency": "JPY", "account_code": LC}[field]
    reversal = undone("R", "2026-04-30")
    assert classes(run(accrual("O", "2026-03-31"), reversal))["R"] == "extinguished"
    reversal[0][field] = other
    assert classes(run(accrual("O", "2026-03-31"), reversal)) == {"O": "pure_noncash", "R": "pure_noncash"}


@pytest.mark.parametrize("blank", ["", " ", "-", "N/A", "NaN", "None", "\u3000", "\u200b", "NA"])
@pytest.mark.parametrize("where", [("O",), ("R",), ("O", "R")])
def test_one_side_without_unit_sends_both_to_review(blank: str, where: tuple[str, ...]) -> None:
    rows = {"O": accrual("O", "2026-03-31"), "R": undone("R", "2026-04-30")}
    for name in where:
        rows[name][0]["business_unit"] = blank
    book = run(*rows.values())
    assert classes(book) == {"O": "human_review", "R": "human_review"}
    for name in rows:
        assert book.reasons[name] == {"missing_unit" if name in where else "partner_unit_missing"}


def test_a_row_without_unit_goes_to_review_without_any_partner() -> None:
    assert run(accrual("O", "2026-03-31", business_unit="")).classes == {"O": {"human_review": 100}}


def test_a_unit_that_is_really_named_na_is_a_unit() -> None:
    pair = [accrual("O", "2026-03-31", business_unit="NA"), undone("R", "2026-04-30", business_unit="NA")]
    assert classes(run(*pair, units=["NA", "S01"])) == {"O": "extinguished", "R": "extinguished"}
    assert classes(run(*pair)) == {"O": "human_review", "R": "human_review"}


def test_blank_counterparty_on_an_exception_row_is_pure_noncash() -> None:
    book = run(accrual("O", "2026-03-31", counterparty=""), undone("R", "2026-04-30", counterparty=""))
    assert classes(book) == {"O": "pure_noncash", "R": "pure_noncash"}


def test_negative_credit_instead_of_a_debit_is_still_a_pair() -> None:
    reversal = undone("R", "2026-04-30")
    reversal[0] |= {"debit": "", "credit": "-100"}
    assert classes(run(accrual("O", "2026-03-31"), reversal)) == {"O": "extinguished", "R": "extinguished"}


def test_a_row_that_is_partly_cash_is_no_half_of_a_pair() -> None:
    part = voucher("V", "2026-03-31", ("O", PARKING, -100), ("C", CASH, 40), ("X", OTHER, 60))
    book = run(part, undone("R", "2026-04-30"))
    assert book.classes == {"O": {"cash": 40, "pure_noncash": 60}, "R": {"pure_noncash": 100}}
    part[0]["business_unit"] = ""
    assert run(part, undone("R", "2026-04-30")).classes["O"] == {"cash": 40, "human_review": 60}


def test_reversal_of_decides_between_two_originals() -> None:
    originals = [accrual("O1", "2026-03-10"), accrual("O2", "2026-03-31")]
    for named in ("O1", "O2"):
        book = run(*originals, undone("R", "2026-04-30", reversal_of=named))
        other = {"O1": "O2", "O2": "O1"}[named]
        assert classes(book) == {named: "extinguished", "R": "extinguished", other: "pure_noncash"}


def test_reversal_of_another_voucher_disagrees() -> None:
    book = run(accrual("O", "2026-03-31"), undone("R", "2026-04-30", reversal_of="V77"))
    assert classes(book) == {"O": "pure_noncash", "R": "pure_noncash"}
    book = run(accrual("O", "2026-03-31", reversal_of="V77"), undone("R", "2026-04-30"))
    assert classes(book) == {"O": "pure_noncash", "R": "pure_noncash"}


def test_rows_that_name_each_other_are_a_pair() -> None:
    book = run(accrual("O", "2026-03-31", reversal_of="R"), undone("R", "2026-04-30", reversal_of="O"))
    assert classes(book) == {"O": "extinguished", "R": "extinguished"}


def test_umbrella_circuit_preserves_amounts_and_routes_ambiguity() -> None:
    book = run(
        voucher("V1", "2026-03-05", ("C", CASH, 100), ("S1", SALES, -100)),
        voucher("V2", "2026-03-06", ("A", AR, 70), ("S2", SALES, -70), counterparty="C2"),
        accrual("O", "2026-03-31", 50), undone("R1", "2026-04-10", 50), undone("R2", "2026-04-30", 50),
        invoice("L", "2026-01-10", 30), copied("M", "2026-01-20", 30),
    )  # fmt: skip
    sums = book.report.sums["KRW"]
    assert sums.input_target_amount == 100 + 70 + 3 * 50 + 2 * 30
    assert (sums.cash_classified, sums.exception_extinguished) == (100, 60)
    assert (sums.pure_noncash, sums.human_review) == (70, 150)
    assert {row_id for row_id, parts in book.classes.items() if "human_review" in parts} == {"O", "R1", "R2"}


# ------------------------------------------------------------------ against a slow telling of the rules

CONFIG = Config.from_mapping({
    "mode": "extract", "cash": [CASH], "targets": [PARKING, LC], "links": [AR],
    "rules": {
        "local_lc": {"accounts": [LC], "normal_side": "debit", "window": "days", "min_days": 3,
        "max_days": 40},
        "parking": {"accounts": [PARKING], "normal_side": "credit", "window": "next_month"},
    },
})  # fmt: skip


def _told(records: Records) -> dict[str, str]:
    """The class of each row by the rules as they are written, comparing all pairs."""

    def amount(row: dict[str, str]) -> int:
        return int(row["debit"] or 0) - int(row["credit"] or 0)

    def follows(one: dict[str, str], two: dict[str, str]) -> bool:
        first, second = (date.fromisoformat(row["posting_date"]) for row in (one, two))
        if one["account_code"] == PARKING:
            return amount(one) < 0 and second.year * 12 + second.month == first.year * 12 + first.month + 1
        return amount(one) > 0 and 3 <= (second - first).days <= 40

    def pair(one: dict[str, str], two: dict[str, str], units: bool) -> bool:
        same = all(one[key] == two[key] for key in ("account_code", "counterparty"))
        named = all(
            row["reversal_of"] in ("", other["row_id"], other["voucher_id"])
            for row, other in ((one, two), (two, one))
        )
        apart = (one["voucher_id"], one["posting_date"]) != (two["voucher_id"], two["posting_date"])
        unit = one["business_unit"] == two["business_unit"] != "" if units else two["business_unit"] == ""
        return (
            bool(one["counterparty"]) and same and named and apart and unit
            and amount(one) == -amount(two) != 0 and (follows(one, two) or follows(two, one))
        )  # fmt: skip

    partners = {one["row_id"]: [two for two in records if pair(one, two, True)] for one in records}
    verdicts = {}
    for row in records:
        mine = partners[row["row_id"]]
        if len(mine) > 1 or any(len(partners[other["row_id"]]) > 1 for other in mine):
            verdicts[row["row_id"]] = "human_review"
        elif mine:
            verdicts[row["row_id"]] = "extinguished"
        elif not row["business_unit"] or any(pair(row, other, False) for other in records):
            verdicts[row["row_id"]] = "human_review"
        else:
            verdicts[row["row_id"]] = "pure_noncash"
    return verdicts


@pytest.mark.parametrize("seed", range(60))
def test_the_rules_decide_as_a_slow_telling_of_them_does(seed: int) -> None:
    rng = random.Random(seed)
    days = [f"2026-{month:02d}-{day:02d}" for month, day in itertools.product((1, 2, 3), (1, 5, 28))]
    records: Records = []
    for number in range(rng.randrange(2, 25)):
        records += voucher(
            f"V{rng.randrange(12)}", rng.choice(days),
            (f"R{number:02d}", rng.choice((PARKING, LC)), rng.choice((-100, 100, -200, 200))),
            counterparty=rng.choice(("P1", "P1", "P1", "")), business_unit=rng.choice(("S1", "S1", "S2", "")),
            reversal_of=rng.choice(("", "", "", f"V{rng.randrange(12)}", f"R{rng.randrange(25):02d}")),
        )  # fmt: skip
    assert classes(run(records, config=CONFIG)) == _told(records)


def test_the_rules_before_their_repair_differ_where_a_unit_is_blank_and_nowhere_else() -> None:
    from harness_kit.journal import extinction_exception_rules, skills

    before = skills.load(data_path("journal", "skills", "before"))
    pair = [accrual("O", "2026-03-31"), undone("R", "2026-04-30")]
    assert run(*pair, skills=before).classes == run(*pair).classes
    nameless = [accrual("O", "2026-03-31", business_unit=""), undone("R", "2026-04-30", business_unit="")]
    assert classes(run(*nameless, skills=before)) == {"O": "extinguished", "R": "extinguished"}
    assert before.judge is not extinction_exception_rules.judge
    changed = {name for name, digest in skills.packaged().hashes.items() if before.hashes[name] != digest}
    assert changed == {"extinction_exception_rules.py"}
