"""The records of the journal: rows in, allocations out, and the codes that name what happened.

Money is an `int` of the currency's minor unit (won, cent), signed: debit less credit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class RowClass(StrEnum):
    """Where an amount went."""

    CASH = "cash"
    EXTINGUISHED = "extinguished"
    PURE_NONCASH = "pure_noncash"
    REVIEW = "human_review"


class Stage(StrEnum):
    """Who decided; also who owns the repair when a criterion fails."""

    CASH_PATH_TRACER = "journal-cash-path-tracer"
    EXCEPTION_RULES = "journal-extinction-exception-rules"
    UMBRELLA = "journal-noncash-analysis"


class Reason(StrEnum):
    """Why an amount is in its class."""

    DIRECT = "direct"
    """A cash line stands in its own voucher."""
    INDIRECT = "indirect"
    """Reached cash over one or more settlements of link lines."""
    AMBIGUOUS = "ambiguous"
    """Two or more documents fit equally well."""
    UNRESOLVED_PARTIAL = "unresolved_partial"
    """The party did pay, but no exact amount says what."""
    MANY_TO_MANY = "many_to_many"
    """Several originals and several settlements under one reference."""
    REVERSED = "reversed"
    """An original and its one reversal under a rule."""
    MISSING_UNIT = "missing_unit"
    """A rule applies, but the row's business unit is blank."""
    PARTNER_UNIT_MISSING = "partner_unit_missing"
    """The only partner's business unit is blank."""
    RULE_NOT_MET = "rule_not_met"
    """A rule applies to the account, and its conditions do not hold."""
    NO_RULE = "no_rule"
    """No rule names the account."""


LABELS: dict[StrEnum, tuple[str, str]] = {
    RowClass.CASH: ("현금화", "cash"),
    RowClass.EXTINGUISHED: ("예외 소멸", "extinguished"),
    RowClass.PURE_NONCASH: ("순수 비현금", "pure non-cash"),
    RowClass.REVIEW: ("사람 검토", "human review"),
    Stage.CASH_PATH_TRACER: ("현금 경로 추적", "cash path tracer"),
    Stage.EXCEPTION_RULES: ("소멸 예외 규칙", "extinction exception rules"),
    Stage.UMBRELLA: ("비현금 분석 총괄", "non-cash analysis umbrella"),
    Reason.DIRECT: ("직접 현금", "cash in its own voucher"),
    Reason.INDIRECT: ("간접 현금", "cash through settlement"),
    Reason.AMBIGUOUS: ("후보가 여럿", "several candidates"),
    Reason.UNRESOLVED_PARTIAL: ("일부 수납, 대응 불명", "paid in part, unclear for what"),
    Reason.MANY_TO_MANY: ("다대다 연결", "many to many"),
    Reason.REVERSED: ("반제 쌍", "original and reversal"),
    Reason.MISSING_UNIT: ("사업장 누락", "business unit missing"),
    Reason.PARTNER_UNIT_MISSING: ("상대 행의 사업장 누락", "partner's business unit missing"),
    Reason.RULE_NOT_MET: ("예외 조건 불충족", "rule not met"),
    Reason.NO_RULE: ("해당 규칙 없음", "no rule"),
}
"""Korean and English word of each code."""


VoucherKey = tuple[date, str]
"""Posting date and voucher id: numbers restart daily in Korean systems, so the date belongs to the name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of a journal, its identifiers cleaned; '' stands for a blank one."""

    row_id: str
    """Unique in the journal."""
    voucher_id: str
    posting_date: date
    account_code: str
    debit: int
    """Minor units; a negative one is a credit."""
    credit: int
    """Minor units; a negative one is a debit."""
    currency: str = "KRW"
    """ISO 4217 code of the document."""
    counterparty: str = ""
    business_unit: str = ""
    memo: str = ""
    doc_date: date | None = None
    clearing_ref: str = ""
    """Shared by an open item and what cleared it."""
    assignment: str = ""
    """A weaker reference than `clearing_ref`: the settlement may not come first."""
    reversal_of: str = ""
    """Row id or voucher id of the line that this one reverses."""

    @property
    def amount(self) -> int:
        """Debit less credit, in minor units."""
        return self.debit - self.credit

    @property
    def voucher(self) -> VoucherKey:
        return (self.posting_date, self.voucher_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """A part of one target row's |amount|, and why it is in its class."""

    row_id: str
    row_class: RowClass
    amount: int
    """Minor units, never negative; 0 only for a row of amount 0."""
    stage: Stage
    """Which skill decided."""
    reason: Reason
    evidence: tuple[str, ...] = ()
    """Row ids. Cash: from the row, link by link, to the first cash line. Extinguished: the row and its
    other half. Review: from the row to the undecided line, then its candidates, 16 at most."""
    rule: str = ""
    """Name of the exception rule that applied, if one did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmatched:
    """What the tracer hands on: a target row and the part of it for which no cash was found."""

    row: Row
    amount: int
    """Minor units; at most |row.amount|."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """What the tracer returns; together both parts make up the |amount| of every target row."""

    allocations: tuple[Allocation, ...]
    unmatched: tuple[Unmatched, ...]
    """In order of row id; a row of amount 0 is handed on too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Classification:
    """What became of every target row, and what each stage passed on."""

    traced: Trace
    """What the tracer returned."""
    judged: tuple[Allocation, ...]
    """What the exception rules made of the unmatched rest."""
    allocations: tuple[Allocation, ...]
    """Both stages' allocations in their one order; they make up each target row's |amount|."""


def order(allocation: Allocation) -> tuple[str, str, str, tuple[str, ...], int]:
    """Sort key of allocations that no order of rows can change."""
    return (
        allocation.row_id,
        allocation.row_class,
        allocation.reason,
        allocation.evidence,
        allocation.amount,
    )


def sorted_allocations(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Return `allocations` in their one order: by row id, class, reason, evidence, amount."""
    return tuple(sorted(allocations, key=order))
