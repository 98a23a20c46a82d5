"""What the columns of an export mean: Korean ERP headers, SAP-like ones, and those that must not be there."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_kit.errors import InputError

FIELDS: dict[str, tuple[str, ...]] = {
    "row_id": ("row_id", "행id", "행번호", "행"),
    "line": ("line", "ln_sq", "라인번호", "순번", "buzei"),
    "voucher_id": ("voucher_id", "voucher", "전표번호", "isu_doc", "docu_no", "belnr"),
    "posting_date": (
        "posting_date",
        "date",
        "전표일자",
        "전기일",
        "전기일자",
        "회계일자",
        "acct_dt",
        "budat",
    ),
    "doc_date": ("doc_date", "증빙일", "증빙일자", "작성일자", "bldat"),
    "account_code": ("account_code", "account", "계정코드", "acct_cd", "hkont", "saknr", "racct", "계정"),
    "debit": ("debit", "차변", "차변금액", "dr_am"),
    "credit": ("credit", "대변", "대변금액", "cr_am"),
    "amount": ("amount", "금액", "acct_am", "wrbtr", "dmbtr"),
    "side": ("side", "drcr_fg", "차대구분", "차대", "shkzg"),
    "currency": ("currency", "통화", "통화코드", "waers"),
    "counterparty": ("counterparty", "거래처코드", "tr_cd", "kunnr", "lifnr", "거래처", "거래처명", "tr_nm"),
    "business_unit": (
        "business_unit",
        "unit",
        "사업장코드",
        "div_cd",
        "gsber",
        "사업장",
        "사업장명",
        "div_nm",
    ),
    "memo": ("memo", "적요", "rmk_dc", "sgtxt"),
    "clearing_ref": ("clearing_ref", "반제번호", "반제전표번호", "augbl"),
    "assignment": ("assignment", "지정", "zuonr"),
    "reversal_of": ("reversal_of", "역분개대상", "원전표번호", "stblg"),
}
"""Known headers of each field, folded; where several stand in one file the first in this order is used."""

ONE_NAME_ONLY = frozenset({"debit", "credit", "amount", "side", "voucher_id", "posting_date"})
"""Fields of which two columns in one file are a question, not a choice (document or local currency?)."""

SIDES = {
    **dict.fromkeys(("3", "차변", "차", "d", "dr", "s", "debit"), 1),
    **dict.fromkeys(("4", "대변", "대", "c", "cr", "h", "credit"), -1),
}
"""Values of a side column, folded: 1 for debit, -1 for credit."""

_PERSONAL = re.compile(
    "주민(등록)?번호|생년월일|전화|휴대폰|핸드폰|연락처|이메일|전자우편|여권|운전면허|계좌번호|카드번호|자택|집주소|성명|"
    r"^(사원|직원|고객|담당자)명$|ssn|resident_?(registration|no|number|id)|birth_?(date|day)|e_?mail|phone|"
    "mobile|passport|driver_?licen[cs]e|(bank|card)_?(account|number|no)|iban|home_?address|"
    "(first|last|full|person|employee)_?name"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnMap:
    """Which column of a file holds which field."""

    places: tuple[tuple[str, int], ...]
    """Pairs of field and position, in order of the fields."""
    missing: tuple[str, ...] = ()
    """What a journal needs and the header does not have."""

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(field for field, _ in self.places)


def fold(header: str) -> str:
    """Return `header` as it is compared: NFKC, lower case, letters, digits and '_' alone."""
    plain = unicodedata.normalize("NFKC", header).casefold()
    return re.sub(r"[^\w]+", "", plain)


def map_columns(header: Sequence[str], columns: Mapping[str, str] | None = None) -> ColumnMap:
    """Find the fields in `header`; `columns` (header → field) goes before the known names.

    `InputError` where `columns` names no column or no field, or where two columns claim one field alike.
    """
    own = _own_columns(header, columns or {})
    folded = [fold(name) for name in header]
    places: list[tuple[str, int]] = []
    for field, names in FIELDS.items():
        if field in own:
            places.append((field, own[field]))
            continue
        free = [place for place, name in enumerate(folded) if name in names and place not in own.values()]
        free.sort(key=lambda place: names.index(folded[place]))
        twice = len(free) > 1 and (field in ONE_NAME_ONLY or folded[free[0]] == folded[free[1]])
        if twice:
            raise InputError(
                f"columns {header[free[0]]!r} and {header[free[1]]!r} both look like {field}; "
                f"say which one by columns={{header: {field!r}}}"
            )
        if free:
            places.append((field, free[0]))
    return ColumnMap(places=tuple(places), missing=_missing({field for field, _ in places}))


def personal(header: Sequence[str]) -> tuple[str, ...]:
    """Return those columns whose names say that they hold personal data."""
    return tuple(name for name in header if _PERSONAL.search(fold(name)))


def _own_columns(header: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for name, field in columns.items():
        if field not in FIELDS:
            raise InputError(f"columns maps {name!r} to {field!r}; expected one of: {', '.join(FIELDS)}")
        found = [place for place, other in enumerate(header) if fold(other) == fold(name)]
        if len(found) != 1 or field in places:
            raise InputError(
                f"columns maps {name!r} to {field}, and the header has it {len(found)} times: "
                f"{', '.join(header)}; name one column for each field"
            )
        places[field] = found[0]
    return places


def _missing(found: set[str]) -> tuple[str, ...]:
    missing = [field for field in ("voucher_id", "posting_date", "account_code") if field not in found]
    if not {"debit", "credit"} <= found and not {"amount", "side"} <= found:
        missing.append("debit and credit (or amount and side)")
    return tuple(missing)
