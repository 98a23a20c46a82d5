"""Files to rows: headers, encodings, shapes, spreadsheets; and refusals that say where and what to do."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from harness_kit.errors import InputError
from harness_kit.journal.columns import map_columns, personal
from harness_kit.journal.parsing import parse_rows
from harness_kit.journal.reading import decode, read
from harness_kit.journal.tables import RefusedError, Table, joined, table_from_records
from tests.journal.books import Records, voucher

ERP = "전표일자,전표번호,LN_SQ,계정코드,계정과목명,차변금액,대변금액,거래처[코드],거래처명,사업장,적요"
LINES = [
    '2026-03-05,7,1,0010,보통예금,"1,000",,C1,가나상사,S01,입금',
    "2026-03-05,7,2,40401,매출,,1000,C1,가나상사,S01,매출",
]


def file(folder: Path, text: str, encoding: str = "utf-8", name: str = "journal.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def refused(path: Path) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        parse_rows(read(path))
    return caught.value


def test_korean_headers(tmp_path: Path) -> None:
    rows = parse_rows(read(file(tmp_path, "\n".join([ERP, *LINES]))))
    assert [row.row_id for row in rows] == ["2026-03-05/7/1", "2026-03-05/7/2"]
    first, second = rows
    assert (first.account_code, first.amount, second.amount) == ("0010", 1000, -1000)
    assert (first.counterparty, first.business_unit, first.memo) == ("C1", "S01", "입금")
    assert (first.posting_date, first.voucher_id, first.currency) == (date(2026, 3, 5), "7", "KRW")


def test_sap_like_headers_with_a_side_column(tmp_path: Path) -> None:
    text = (
        "BELNR\tBUZEI\tBUDAT\tBLDAT\tHKONT\tSHKZG\tWRBTR\tWAERS\tKUNNR\tGSBER\tAUGBL\tZUONR\tSTBLG\n"
        "0100\t001\t20260305\t20260304\t0000010800\tS\t12.50\tUSD\tC1\tB1\t900\tZ\t77\n"
        "0100\t002\t20260305\t\t0000040401\tH\t12.50\tUSD\tC1\tB1\t\t\t\n"
    )
    first, second = parse_rows(read(file(tmp_path, text, name="sap.txt")))
    assert (first.amount, second.amount) == (1250, -1250)
    assert (first.voucher_id, first.account_code, first.doc_date) == ("0100", "0000010800", date(2026, 3, 4))
    assert (first.clearing_ref, first.assignment, first.reversal_of) == ("900", "Z", "77")
    assert second.doc_date is None


@pytest.mark.parametrize(
    ("side", "amount"), [("3", 5), ("4", -5), ("차변", 5), ("대변", -5), ("d", 5), ("C", -5)]
)
def test_side_codes(side: str, amount: int) -> None:
    record = {"전표일자": "20260305", "전표번호": "1", "계정코드": "1", "DRCR_FG": side, "금액": "5"}
    assert parse_rows(table_from_records([record]))[0].amount == amount
    with pytest.raises(RefusedError, match=r"'5' is no side; expected 3, 차변"):
        parse_rows(table_from_records([{**record, "DRCR_FG": "5"}]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = file(tmp_path, "\r\n".join([ERP, *LINES]), encoding)
    assert parse_rows(read(path))[0].memo == "입금"


def test_other_encodings_are_refused_with_the_byte(tmp_path: Path) -> None:
    good = (ERP + "\n").encode()
    path = tmp_path / "bad.csv"
    path.write_bytes(good + b"\xff\x00")
    error = refused(path)
    assert f"byte {len(good)} is not utf-8 or cp949" in str(error) and "bad.csv" in str(error)
    with pytest.raises(RefusedError, match="byte 5 is not utf-8;"):
        decode(b"\xef\xbb\xbfab\xff", "x")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_titles_and_blank_lines(tmp_path: Path, separator: str) -> None:
    cells = [
        ["분개장, 2026년; 3월"],
        [],
        ["전표일자", "전표번호", "계정코드", "차변", "대변"],
        ["20260305", "1", "9", "5", ""],
    ]
    text = "\n".join(
        separator.join(line) if len(line) > 1 else "".join(f'"{cell}"' for cell in line) for line in cells
    )
    table = read(file(tmp_path, text + "\n\n,,,,\n".replace(",", separator)))
    assert [line.number for line in table.lines] == [4]
    assert parse_rows(table)[0].amount == 5


def test_a_refused_cell_names_file_row_column_value_and_remedy(tmp_path: Path) -> None:
    path = file(tmp_path, "\n".join([ERP, *LINES]).replace('"1,000"', '"12,34"').replace("40401", "  "))
    first, second = refused(path).refusals
    assert (first.file, first.row, first.column, first.value) == ("journal.csv", 2, "차변금액", "12,34")
    assert "commas by threes" in first.remedy
    assert (second.row, second.column, second.value) == (3, "계정코드", "  ")
    assert str(first).startswith("journal.csv row 2, column '차변금액': '12,34' is no amount")


@pytest.mark.parametrize(
    ("change", "column"),
    [({"posting_date": "2023-02-29"}, "posting_date"), ({"posting_date": ""}, "posting_date"),
     ({"voucher_id": "-"}, "voucher_id"),
     ({"account_code": "N/A"}, "account_code"), ({"debit": "1.5"}, "debit"),
      ({"currency": "XXX"}, "currency"),
     ({"doc_date": "31/12/2026"}, "doc_date")],
)  # fmt: skip
def test_every_field_is_checked(change: dict[str, str], column: str) -> None:
    [record] = voucher("V1", "2026-03-05", ("R1", "40401", 100))
    parse_rows(table_from_records([record]))
    with pytest.raises(RefusedError) as caught:
        parse_rows(table_from_records([{**record, **change}]))
    assert [refusal.column for refusal in caught.value.refusals] == [column]


def test_many_refusals_are_counted() -> None:
    records = [record for number in range(9) for record in voucher("V", "2026-03-05", (f"R{number}", " ", 1))]
    with pytest.raises(RefusedError, match="and 4 more") as caught:
        parse_rows(table_from_records(records))
    assert len(caught.value.refusals) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header"),
        ("a,b\n1,2\n", "columns not found: voucher_id, posting_date, account_code, debit and credit"),
        (f"{ERP}\n2026-03-05,7,1\n", "row 2: 3 cells under 11 headers"),
        (f"{ERP}\n{LINES[0]},spilled\n", "row 2: 12 cells under 11 headers"),
        (f'{ERP}\n"2026\n', "close every quote"),
    ],
)
def test_shapes_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in str(refused(file(tmp_path, text)))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name, sheet in (("journal.pdf", None), ("journal.csv", "Sheet1")):
        with pytest.raises(InputError, match=r"expected a \.csv"):
            read(tmp_path / name, sheet=sheet)


def test_own_column_names_go_first() -> None:
    header = ["작성", "전표일자", "번호", "계정코드", "차변", "대변"]
    found = map_columns(header, {"번호": "voucher_id", "작성": "posting_date"})
    assert dict(found.places)["posting_date"] == 0 and found.missing == ()
    for columns, message in (
        ({"번호": "voucher"}, "expected one of"),
        ({"nowhere": "memo"}, "0 times"),
        ({"번호": "voucher_id", "작성": "voucher_id"}, "name one column for each field"),
    ):
        with pytest.raises(InputError, match=message):
            map_columns(header, columns)


def test_two_columns_for_one_amount_are_a_question() -> None:
    with pytest.raises(InputError, match="'차변' and '차변금액' both look like debit"):
        map_columns(["차변", "차변금액"])
    # A code beats a name, so these two are no question.
    assert dict(map_columns(["거래처명", "거래처코드"]).places)["counterparty"] == 1


def test_row_ids_do_not_depend_on_the_order_of_lines() -> None:
    records: Records = [
        {
            "voucher_id": "1",
            "posting_date": "20260305",
            "account_code": account,
            "debit": amount,
            "credit": "",
        }
        for account, amount in (("b", "1"), ("a", "2"), ("a", "1"), ("a", "1"))
    ]
    rows = parse_rows(table_from_records(records))
    assert rows == parse_rows(table_from_records(records[::-1]))
    assert [(row.row_id, row.account_code, row.amount) for row in rows] == [
        ("2026-03-05/1/1", "a", 1), ("2026-03-05/1/2", "a", 1), ("2026-03-05/1/3", "a", 2),
         ("2026-03-05/1/4", "b", 1)
    ]  # fmt: skip


def test_pieces_of_one_journal_are_joined_by_field() -> None:
    records = [
        record for number in range(4) for record in voucher("V", "2026-03-05", (f"R{number}", "1", number))
    ]
    turned = [dict(reversed(record.items())) for record in records[2:]]
    pieces = joined(table_from_records(records[:2]), table_from_records(turned), table_from_records([]))
    assert parse_rows(pieces) == parse_rows(table_from_records(records))
    with pytest.raises(InputError, match="differ in memo"):
        joined(pieces, table_from_records([{**records[0], "memo": "x"}]))
    with pytest.raises(InputError, match="no table"):
        joined()


def test_records_hold_text_alone() -> None:
    number: Any = 100
    with pytest.raises(RefusedError, match="row 2, column 'debit': is not text"):
        table_from_records([{"debit": number}])
    assert parse_rows(table_from_records([])) == ()


def test_personal_columns() -> None:
    assert personal(["주민등록번호", "적요", "Phone No.", "거래처명", "e-mail", "사업장", "직원명"]) == (
        "주민등록번호", "Phone No.", "e-mail", "직원명"
    )  # fmt: skip


# ------------------------------------------------------------------ spreadsheets


HEADER = ["전표일자", "전표번호", "계정코드", "차변", "대변", "사업장"]


def workbook(
    folder: Path, *rows: list[Any], header: list[str] = HEADER, formats: dict[str, str] | None = None
) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    page = book.active
    for row in (header, *rows):
        page.append(row)
    for place, form in (formats or {}).items():
        page[place].number_format = form
    path = folder / "journal.xlsx"
    book.save(path)
    return path


def test_spreadsheet_cells_keep_what_they_say(tmp_path: Path) -> None:
    path = workbook(
        tmp_path,
        [date(2026, 3, 5), 7, 10, 1000.0, None, "NaN"],
        [datetime(2026, 3, 5), "7", "0010", None, 1000, None],
        [46086, 7, 40401, -5, None, "S01"],
        formats={"C2": "0000"},
    )
    table = read(path)
    assert [line.cells[table.fields.index("account_code")] for line in table.lines] == [
        "0010",
        "0010",
        "40401",
    ]
    rows = parse_rows(table)
    assert {row.posting_date for row in rows} == {date(2026, 3, 5)}
    assert sorted(row.amount for row in rows) == [-1000, -5, 1000]


@pytest.mark.parametrize(
    ("value", "message"),
    [("=1+1", "'=1\\+1' is a formula"), (1.5, "decimals"), (2.0**53, "too large to be exact"),
     (1e-9, "too small"),
     (True, "no amount"), (datetime(2026, 3, 5), "no amount")],
)  # fmt: skip
def test_spreadsheet_cells_that_are_refused(tmp_path: Path, value: Any, message: str) -> None:
    path = workbook(tmp_path, ["2026-03-05", "7", "10", value, None, "S01"])
    with pytest.raises(RefusedError, match=message) as caught:
        parse_rows(read(path))
    assert caught.value.refusals[0].row == 2


def test_a_time_of_day_and_an_error_cell_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [datetime(2026, 3, 5, 9), "7", "10", 1, None, "#N/A"])
    error = refused(path)
    assert [refusal.column for refusal in error.refusals] == ["A", "F"]
    assert "time of day" in str(error) and "'#N/A' is an error" in str(error)


def test_which_sheet_is_read_is_never_guessed(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = workbook(tmp_path, ["2026-03-05", "7", "10", 1, None, "S01"])
    book = openpyxl.load_workbook(path)
    book.create_sheet("요약")
    book.save(path)
    with pytest.raises(InputError, match="2 sheets are visible; name one of: Sheet, 요약"):
        read(path)
    with pytest.raises(InputError, match="'없음' is not in it"):
        read(path, sheet="없음")
    assert len(parse_rows(read(path, sheet="Sheet"))) == 1
    book["요약"].sheet_state = "hidden"
    book.save(path)
    assert len(parse_rows(read(path))) == 1


def test_a_workbook_of_the_1904_system_and_a_broken_one_are_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.save(tmp_path / "mac.xlsx")
    with pytest.raises(RefusedError, match="counts days from 1904"):
        read(tmp_path / "mac.xlsx")
    (tmp_path / "broken.xlsx").write_bytes(b"no zip")
    with pytest.raises(RefusedError, match="no workbook that can be opened"):
        read(tmp_path / "broken.xlsx")


def test_the_header_of_a_table_is_kept_whole(tmp_path: Path) -> None:
    table: Table = read(file(tmp_path, "\n".join([ERP, *LINES])))
    assert table.headers == tuple(ERP.split(","))
    assert dict(zip(table.fields, table.columns, strict=True))["counterparty"] == "거래처[코드]"
