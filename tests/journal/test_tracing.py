"""Where cash was traced to: the golden edge cases of settlement, one test each."""

import pytest

from harness_kit.errors import InputError
from harness_kit.journal import ledger, parsing, tables
from harness_kit.journal.cash_path_tracer import MAX_PORTIONS
from harness_kit.journal.config import Config
from harness_kit.journal.settlement import exact_sums
from tests.journal.books import AP, AR, CASH, CONFIG, NOTE, OTHER, SALES, run, voucher

INVOICE = voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100))


def receipt(name: str, day: str, amount: int, **common: str) -> list[dict[str, str]]:
    return voucher(name, day, (f"{name}c", CASH, amount), (f"{name}a", AR, -amount), **common)


def test_general_trace_classifies_direct_indirect_and_unmatched() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("D1", CASH, 100), ("D2", SALES, -100)),
        voucher("V2", "2026-01-11", ("I1", AR, 70), ("I2", SALES, -70), counterparty="C2"),
        voucher("V3", "2026-02-11", ("I3", CASH, 70), ("I4", AR, -70), counterparty="C2"),
        voucher("V4", "2026-01-12", ("U1", AR, 50), ("U2", SALES, -50), counterparty="C3"),
    )
    assert book.classes == {"D2": {"cash": 100}, "I2": {"cash": 70}, "U2": {"pure_noncash": 50}}
    assert book.reasons == {"D2": {"direct"}, "I2": {"indirect"}, "U2": {"no_rule"}}
    assert {item.row.row_id: item.amount for item in book.result.traced.unmatched} == {"U2": 50}
    assert book.evidence("I2") == [("I2", "I1", "I4", "I3")]


# ------------------------------------------------------------------ cash in the same voucher


def test_receipt_and_fee_are_shared_in_proportion() -> None:
    book = run(
        voucher("V", "2026-01-10", ("C", CASH, 97), ("F", OTHER, 3), ("S1", SALES, -60), ("S2", SALES, -40))
    )
    assert book.classes == {"S1": {"cash": 58, "pure_noncash": 2}, "S2": {"cash": 39, "pure_noncash": 1}}


def test_one_won_over_three_equal_lines_goes_to_the_first() -> None:
    lines = [(name, SALES, -1) for name in ("S3", "S1", "S2")]
    book = run(voucher("V", "2026-01-10", ("C", CASH, 1), ("F", OTHER, 2), *lines))
    assert book.classes == {"S1": {"cash": 1}, "S2": {"pure_noncash": 1}, "S3": {"pure_noncash": 1}}


def test_transfer_between_cash_accounts_leaves_its_target_noncash() -> None:
    book = run(voucher(
        "V", "2026-01-10", ("C1", CASH, 100), ("C2", "10302", -100), ("S", SALES, -30), ("F", OTHER, 30)
    ))  # fmt: skip
    assert book.classes == {"S": {"pure_noncash": 30}}


def test_a_line_on_the_side_of_the_cash_never_became_cash() -> None:
    book = run(voucher("V", "2026-01-10", ("C", CASH, 90), ("S1", SALES, 10), ("S2", SALES, -100)))
    assert book.classes == {"S1": {"pure_noncash": 10}, "S2": {"cash": 90, "pure_noncash": 10}}


def test_money_paid_out_is_cash_too() -> None:
    book = run(voucher("V", "2026-01-10", ("S", "80100", 300), ("C", CASH, -300)))
    assert book.classes == {"S": {"cash": 300}}


def test_negative_credit_counts_as_a_debit() -> None:
    plain = run(voucher("V", "2026-01-10", ("C", CASH, 100), ("S", SALES, -100)))
    records = voucher("V", "2026-01-10", ("C", CASH, 100), ("S", SALES, -100))
    records[0] |= {"debit": "", "credit": "-100"}
    assert run(records).classes == plain.classes == {"S": {"cash": 100}}


def test_same_voucher_number_on_another_day_is_another_voucher() -> None:
    book = run(
        voucher("1", "2026-01-10", ("S1", SALES, -100), ("O1", OTHER, 100)),
        voucher("1", "2026-01-11", ("C", CASH, 100), ("O2", OTHER, -100)),
    )
    assert book.classes == {"S1": {"pure_noncash": 100}}


def test_zero_amount_gets_one_zero_allocation() -> None:
    book = run(voucher("V", "2026-01-10", ("C", CASH, 100), ("O", OTHER, -100), ("Z", SALES, 0)))
    assert [(item.row_id, item.amount) for item in book.result.allocations] == [("Z", 0)]


# ------------------------------------------------------------------ settlement by reference


def test_twenty_percent_paid_through_clearing() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 1000), ("T", SALES, -1000), clearing_ref="X"),
        receipt("V2", "2026-03-10", 200, clearing_ref="X"),
    )
    assert book.classes == {"T": {"cash": 200, "pure_noncash": 800}}


def test_clearing_counts_on_any_day_and_assignment_only_afterwards() -> None:
    for field, expected in (("clearing_ref", {"cash": 100}), ("assignment", {"pure_noncash": 100})):
        book = run(
            voucher("V1", "2026-03-10", ("A", AR, 100), ("T", SALES, -100), **{field: "X"}),
            receipt("V2", "2026-01-10", 100, **{field: "X"}),
        )
        assert book.classes == {"T": expected}, field


def test_assignment_allows_parts_within_the_window() -> None:
    for day, expected in (
        ("2026-02-09", {"cash": 40, "pure_noncash": 60}),
        ("2026-02-10", {"pure_noncash": 100}),
    ):
        book = run(
            voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100), assignment="X", counterparty=""),
            receipt("V2", day, 40, assignment="X", counterparty=""),
            window_days=30,
        )
        assert book.classes == {"T": expected}, day


def test_a_stronger_key_goes_first() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100), clearing_ref="X"),
        receipt("V2", "2026-02-10", 30, clearing_ref="X", counterparty="C9"),
        receipt("V3", "2026-02-11", 100),
    )
    assert book.classes == {"T": {"cash": 30, "pure_noncash": 70}}


def test_two_targets_share_one_receipt_exactly() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T1", SALES, -60), ("T2", SALES, -40), clearing_ref="X"),
        receipt("V2", "2026-02-10", 33, clearing_ref="X"),
    )
    assert book.classes == {"T1": {"cash": 20, "pure_noncash": 40}, "T2": {"cash": 13, "pure_noncash": 27}}


def test_two_invoices_covered_by_one_receipt_are_both_paid() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A1", AR, 100), ("T1", SALES, -100), clearing_ref="X"),
        voucher("V2", "2026-01-11", ("A2", AR, 50), ("T2", SALES, -50), clearing_ref="X"),
        receipt("V3", "2026-02-10", 150, clearing_ref="X"),
    )
    assert book.classes == {"T1": {"cash": 100}, "T2": {"cash": 50}}


def test_two_invoices_and_too_small_a_receipt_go_to_review() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A1", AR, 100), ("T1", SALES, -100), clearing_ref="X"),
        voucher("V2", "2026-01-11", ("A2", AR, 50), ("T2", SALES, -50), clearing_ref="X"),
        receipt("V3", "2026-02-10", 149, clearing_ref="X"),
    )
    assert book.classes == {"T1": {"human_review": 100}, "T2": {"human_review": 50}}
    assert book.reasons == {"T1": {"ambiguous"}, "T2": {"ambiguous"}}


def test_many_to_many_goes_to_review() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A1", AR, 100), ("T1", SALES, -100), clearing_ref="X"),
        voucher("V2", "2026-01-11", ("A2", AR, 50), ("T2", SALES, -50), clearing_ref="X"),
        receipt("V3", "2026-02-10", 90, clearing_ref="X"),
        receipt("V4", "2026-02-11", 60, clearing_ref="X"),
    )
    assert book.classes == {"T1": {"human_review": 100}, "T2": {"human_review": 50}}
    assert book.reasons == {"T1": {"many_to_many"}, "T2": {"many_to_many"}}


def test_overpaid_by_two_receipts_goes_to_review() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100), clearing_ref="X"),
        receipt("V2", "2026-02-10", 80, clearing_ref="X"),
        receipt("V3", "2026-02-10", 80, clearing_ref="X"),
    )
    assert book.classes == {"T": {"human_review": 100}}


# ------------------------------------------------------------------ settlement by party and amount


def test_two_equal_receipts_for_one_invoice_go_to_review() -> None:
    book = run(INVOICE, receipt("V2", "2026-02-10", 100), receipt("V3", "2026-02-11", 100))
    assert book.classes == {"T": {"human_review": 100}}
    assert book.reasons == {"T": {"ambiguous"}}
    assert book.evidence("T") == [("T", "A", "V2a", "V3a")]


def test_two_equal_invoices_for_one_receipt_go_to_review() -> None:
    other = voucher("V2", "2026-01-11", ("A2", AR, 100), ("T2", SALES, -100))
    book = run(INVOICE, other, receipt("V3", "2026-02-10", 100))
    assert book.classes == {"T": {"human_review": 100}, "T2": {"human_review": 100}}


def test_one_exact_sum_of_several_receipts_pays_the_invoice() -> None:
    book = run(
        INVOICE,
        receipt("V2", "2026-02-10", 60),
        receipt("V3", "2026-02-11", 40),
        receipt("V4", "2026-02-12", 7),
    )
    assert book.classes == {"T": {"cash": 100}}
    assert book.evidence("T") == [("T", "A", "V2a", "V2c"), ("T", "A", "V3a", "V3c")]


def test_two_exact_sums_go_to_review() -> None:
    parts = [receipt(f"W{part}", "2026-02-10", part) for part in (60, 40, 70, 30)]
    book = run(INVOICE, *parts)
    assert book.reasons == {"T": {"ambiguous"}}


def test_two_invoices_that_claim_one_sum_go_to_review() -> None:
    other = voucher("V9", "2026-01-12", ("A9", AR, 90), ("T9", SALES, -90))
    book = run(INVOICE, other, *(receipt(f"W{part}", "2026-02-10", part) for part in (60, 40, 30)))
    assert book.classes == {"T": {"human_review": 100}, "T9": {"human_review": 90}}


def test_a_sum_of_receipts_that_another_invoice_may_claim_goes_to_review() -> None:
    double = voucher("V9", "2026-01-12", ("A9", AR, 200), ("T9", SALES, -200))
    book = run(INVOICE, double, receipt("V2", "2026-02-10", 100), receipt("V3", "2026-02-11", 100))
    assert book.reasons == {"T": {"ambiguous"}, "T9": {"ambiguous"}}


def test_a_party_that_paid_something_else_goes_to_review() -> None:
    book = run(INVOICE, receipt("V2", "2026-02-10", 55))
    assert book.classes == {"T": {"human_review": 100}}
    assert book.reasons == {"T": {"unresolved_partial"}}


def test_more_than_sixteen_candidates_are_not_searched() -> None:
    sixteen = [receipt(f"W{number:02d}", "2026-02-10", 2**number) for number in range(16)]
    assert run(INVOICE, *sixteen).classes == {"T": {"cash": 100}}
    book = run(INVOICE, *sixteen, receipt("W16", "2026-02-10", 2**16))
    assert book.reasons == {"T": {"unresolved_partial"}}
    assert len(book.evidence("T")[0]) == 2 + 16


@pytest.mark.parametrize(
    "change",
    [{"counterparty": "C2"}, {"business_unit": "S02"}, {"currency": "USD"}, {"account_code": NOTE}],
    ids=lambda change: next(iter(change)),
)
def test_another_party_unit_currency_or_account_settles_nothing(change: dict[str, str]) -> None:
    paying = receipt("V2", "2026-02-10", 100)
    assert run(INVOICE, paying).classes == {"T": {"cash": 100}}
    for record in paying:
        if "account_code" not in change or record["account_code"] == AR:
            record |= change
    assert run(INVOICE, paying).classes == {"T": {"pure_noncash": 100}}


def test_foreign_currency_matches_in_document_currency() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100), currency="USD"),
        receipt("V2", "2026-02-10", 100, currency="USD"),
        receipt("V3", "2026-02-10", 135_000),
    )
    assert book.classes == {"T": {"cash": 10_000}}
    assert book.report.sums["USD"].cash_classified == 10_000


def test_a_receipt_before_the_invoice_or_after_the_window_settles_nothing() -> None:
    for day in ("2026-01-09", "2027-02-15"):
        assert run(INVOICE, receipt("V2", day, 100)).classes == {"T": {"pure_noncash": 100}}
    assert run(INVOICE, receipt("V2", "2027-02-14", 100)).classes == {"T": {"cash": 100}}


# ------------------------------------------------------------------ hops, circles, offsets, refunds


def test_receivable_to_note_to_bank_is_indirect_in_two_hops() -> None:
    notes = voucher("V2", "2026-02-10", ("N1", NOTE, 100), ("A2", AR, -100))
    bank = voucher("V3", "2026-05-10", ("C", CASH, 100), ("N2", NOTE, -100))
    book = run(INVOICE, notes, bank)
    assert book.classes == {"T": {"cash": 100}}
    assert book.evidence("T") == [("T", "A", "A2", "N1", "N2", "C")]
    assert run(INVOICE, notes, bank, max_hops=2).classes == {"T": {"cash": 100}}
    assert run(INVOICE, notes, bank, max_hops=1).classes == {"T": {"pure_noncash": 100}}
    assert run(INVOICE, receipt("V2", "2026-02-10", 100), max_hops=0).classes == {"T": {"pure_noncash": 100}}


@pytest.mark.parametrize("days", [("2026-02-10", "2026-03-10"), ("2026-01-10", "2026-01-10")])
@pytest.mark.parametrize("ref", ["", "X"])
def test_circle_from_receivable_to_note_and_back_ends_without_cash(days: tuple[str, str], ref: str) -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -100), clearing_ref=ref),
        voucher("V2", days[0], ("N1", NOTE, 100), ("A2", AR, -100), clearing_ref=ref),
        voucher("V3", days[1], ("A3", AR, 100), ("N2", NOTE, -100), clearing_ref=ref),
    )
    assert book.classes == {"T": {"pure_noncash": 100}}


def test_a_circle_through_the_targets_own_voucher_ends() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A1", AR, 100, {"clearing_ref": "X"}), ("T", SALES, -60),
                ("N1", NOTE, -40, {"clearing_ref": "Y"})),
        voucher("V2", "2026-02-10", ("A2", AR, -100, {"clearing_ref": "X"}), ("C", CASH, 50),
                ("N2", NOTE, 50, {"clearing_ref": "Y"})),
        max_hops=10,
    )  # fmt: skip
    # Half of the receivable became cash, 60 of 100 of it stand against the target; the note leads back.
    assert book.classes == {"T": {"cash": 30, "pure_noncash": 30}}


def test_receivable_offset_against_payable_is_not_cash() -> None:
    book = run(INVOICE, voucher("V2", "2026-02-10", ("P", AP, 100), ("A2", AR, -100)))
    assert book.classes == {"T": {"pure_noncash": 100}}


def test_partial_offset_without_any_cash_needs_no_review() -> None:
    book = run(INVOICE, voucher("V2", "2026-02-10", ("P", AP, 60), ("A2", AR, -60)))
    assert book.classes == {"T": {"pure_noncash": 100}}


def test_refund_that_closes_an_invoice_is_not_cash() -> None:
    credit_note = voucher("V2", "2026-02-10", ("X", OTHER, 100), ("A2", AR, -100))
    assert run(INVOICE, credit_note).classes == {"T": {"pure_noncash": 100}}
    # Money goes out in the voucher that closes the receivable, on the receivable's own side.
    paid_back = voucher("V2", "2026-02-10", ("X", OTHER, 150), ("A2", AR, -100), ("C", CASH, -50))
    assert run(INVOICE, paid_back).classes == {"T": {"pure_noncash": 100}}


def test_part_cash_part_receivable() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("C", CASH, 30), ("A", AR, 70), ("T", SALES, -100)),
        receipt("V2", "2026-02-10", 70),
    )
    assert book.classes == {"T": {"cash": 100}}
    assert book.reasons == {"T": {"direct", "indirect"}}


def test_tax_takes_its_share_of_the_receipt() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 110), ("T", SALES, -100), ("V", OTHER, -10), clearing_ref="X"),
        receipt("V2", "2026-02-10", 55, clearing_ref="X"),
    )
    assert book.classes == {"T": {"cash": 50, "pure_noncash": 50}}


def test_a_batch_voucher_of_many_links_is_told_in_few_paths() -> None:
    size = 3 * MAX_PORTIONS
    links = [(f"A{number:03d}", AR, 10, {"clearing_ref": f"X{number}"}) for number in range(size)]
    receipts = [
        receipt(f"W{number:03d}", "2026-02-10", 10, clearing_ref=f"X{number}") for number in range(size)
    ]
    book = run(voucher("V1", "2026-01-10", *links, ("T", SALES, -10 * size)), *receipts)
    assert book.classes == {"T": {"cash": 10 * size}}
    assert len(book.evidence("T")) <= MAX_PORTIONS


def test_a_receipt_is_no_open_item_that_a_refund_could_settle() -> None:
    book = run(
        receipt("V2", "2026-02-10", 100),
        voucher("V3", "2026-03-10", ("U", SALES, 100), ("B", AR, -100)),
        voucher("V4", "2026-04-10", ("D", AR, 100), ("C", CASH, -100)),
    )
    assert book.classes == {"U": {"cash": 100}}
    assert book.evidence("U") == [("U", "B", "D", "C")]


def test_what_was_paid_out_at_once_takes_its_share_of_the_receivable() -> None:
    freight = [("A", AR, 100), ("T", SALES, -60), ("C", CASH, -40)]
    book = run(
        voucher("V1", "2026-01-10", *freight, clearing_ref="X"),
        receipt("V2", "2026-02-10", 50, clearing_ref="X"),
    )
    assert book.classes == {"T": {"cash": 30, "pure_noncash": 30}}


def test_an_extract_that_does_not_balance_shares_no_more_than_there_is() -> None:
    book = run(
        voucher("V1", "2026-01-10", ("A", AR, 100), ("T", SALES, -60), clearing_ref="X"),
        receipt("V2", "2026-02-10", 50, clearing_ref="X"),
    )
    assert book.classes == {"T": {"cash": 30, "pure_noncash": 30}}


def test_nothing_is_settled_within_its_own_voucher() -> None:
    lines = [("A", AR, 100), ("T", SALES, -100), ("C", CASH, 100), ("B", AR, -100)]
    assert run(voucher("V", "2026-01-10", *lines)).classes == {"T": {"cash": 50, "pure_noncash": 50}}


# ------------------------------------------------------------------ what may not run


def test_an_account_in_two_roles_may_not_run() -> None:
    """A receivable that is also a target would report one receipt of 100 as 300."""
    records = [*INVOICE, *receipt("V2", "2026-02-10", 100)]
    rows = parsing.parse_rows(tables.table_from_records(records))
    for changed in ({"targets": [SALES, AR]}, {"targets": [SALES, CASH]}, {"cash": []}, {"targets": []}):
        config = Config.from_mapping({**CONFIG.to_mapping(), "rules": {}, **changed})
        with pytest.raises(InputError, match=r"stands in targets and in|is empty"):
            ledger.classify(rows, config)


def test_a_row_id_that_stands_twice_may_not_run() -> None:
    rows = parsing.parse_rows(tables.table_from_records([*INVOICE, *INVOICE]))
    with pytest.raises(InputError, match="'A' stands twice"):
        ledger.classify(rows, CONFIG)


def test_exact_sums_counts_every_subset() -> None:
    assert exact_sums(100, [60, 40, 30]) == (1, (0, 1))
    assert exact_sums(3, [1, 1, 1, 1])[0] == 4
    assert exact_sums(5, []) == (0, ())
    assert exact_sums(2**16 - 1, [2**n for n in range(16)]) == (1, tuple(range(16)))
    assert exact_sums(8, [1] * 16)[0] == 12_870  # 16 over 8
