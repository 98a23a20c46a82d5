"""How single cells are read: for each rule something accepted and something refused."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.errors import InputError
from harness_kit.journal.fields import identifier, parse_date
from harness_kit.journal.money import apportion, parse_amount


@pytest.mark.parametrize(
    ("text", "won"),
    [
        ("", 0), ("-", 0), (" - ", 0), ("0", 0), ("1234", 1234), ("0012", 12), ("1,234", 1234),
        ("1,234,567", 1_234_567), ("(1,234)", -1234), ("△500", -500), ("▲500", -500), ("500-", -500),
        ("-500", -500), ("−500", -500), ("+500", 500), ("₩1,000", 1000), ("￦1,000", 1000),
         ("₩ -1,000", -1000),
        ("-₩1,000", -1000), ("(₩1,000)", -1000), ("1000원", 1000), ("１２３", 123), ("KRW 1,000", 1000),
        ("99999999999999999999", 99999999999999999999),
    ],
)  # fmt: skip
def test_amounts_that_parse(text: str, won: int) -> None:
    assert parse_amount(text, "KRW") == won


@pytest.mark.parametrize(
    "text",
    [
        "12,34", "1.234.567", "inf", "-inf", "nan", "1.5", "1000.00", "1,23,456", ",123", "1,234,", "1e5",
        "0x10",
        "--5", "-(5)", "(-5)", "△5-", "()", "₩", "5 6", "1_000", "one", "$5", "₩₩5", "(5", "5)", "%", "五",
    ],
)  # fmt: skip
def test_amounts_that_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"no amount|decimals"):
        parse_amount(text, "KRW")


def test_decimals_are_those_of_the_currency() -> None:
    assert parse_amount("12", "USD") == 1200
    assert parse_amount("12.5", "USD") == parse_amount("12.50", "USD") == 1250
    assert parse_amount("$1,012.34", "USD") == 101_234
    assert parse_amount("1.234", "KWD") == 1234
    for text, currency in (("12.345", "USD"), ("1.5", "JPY"), ("1.2345", "KWD")):
        with pytest.raises(InputError, match="never rounded"):
            parse_amount(text, currency)
    with pytest.raises(InputError, match="'WON' is no currency"):
        parse_amount("1", "WON")


@given(st.integers(-(10**20), 10**20))
def test_every_way_to_write_an_amount_reads_back(won: int) -> None:
    size = abs(won)
    ways = [str(won), f"{won:,}"] + ([f"({size:,})", f"△{size}", f"{size}-"] if won < 0 else [f"₩{size:,}"])
    assert {parse_amount(way, "KRW") for way in ways} == {won}


@pytest.mark.parametrize(
    "text",
    ["2024-02-29", "20240229", "2024년 2월 29일", "2024년2월29일", "2024.02.29", "2024/2/29", "45351",
     " 2024-02-29 ",
     "2024-02-29 00:00:00", "２０２４-０２-２９"],
)  # fmt: skip
def test_dates_that_parse(text: str) -> None:
    assert parse_date(text) == date(2024, 2, 29)


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "31/12/2026", "", " ", "2024-13-01", "24-02-29", "02/29/2024", "2024-02-29 09:30:00",
     "45351.5",
     "1234", "202402", "0001-01-01", "9999-12-31", "2024-02", "2024/02-29", "yesterday"],
)  # fmt: skip
def test_dates_that_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"no date|no day|outside"):
        parse_date(text)


@pytest.mark.parametrize(
    "text", ["", " ", "NaN", "nan", "None", "-", "N/A", "#N/A", "NULL", "\u3000", "\u200b", "\ufeff", "NA"]
)
def test_blank_like_identifiers_are_blank(text: str) -> None:
    assert identifier(text) == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [("0010", "0010"), (" S01 ", "S01"), ("Ｓ０１", "S01"), ("S\u200b01", "S01"), ("\u1100\u1161", "가"),
     ("가", "가"),
     ("S\t01", "S01"), ("-1", "-1"), ("NAVER", "NAVER"), ("본 사", "본 사")],
)  # fmt: skip
def test_identifiers_are_cleaned_and_keep_their_zeros(text: str, name: str) -> None:
    assert identifier(text) == name


def test_what_the_table_lists_is_a_name() -> None:
    assert identifier(" NA ", {"NA"}) == "NA"
    assert identifier("na", {"NA"}) == ""


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12), st.integers(0, 10**6))
def test_shares_are_whole_in_proportion_and_lose_nothing(weights: list[int], total: int) -> None:
    whole = sum(weights)
    if not whole:
        assert apportion(0, weights) == [0] * len(weights)
        return
    parts = apportion(total, weights)
    assert sum(parts) == total
    assert all(
        abs(part * whole - total * weight) < whole for part, weight in zip(parts, weights, strict=True)
    )
    if total <= whole:
        assert all(part <= weight for part, weight in zip(parts, weights, strict=True))


def test_largest_remainders_get_what_is_left_and_ties_go_to_the_first() -> None:
    assert apportion(97, [60, 40]) == [58, 39]
    assert apportion(1, [1, 1, 1]) == [1, 0, 0]
    assert apportion(2, [1, 1, 1]) == [1, 1, 0]
    assert apportion(5, [0, 3]) == [0, 5]
    for total, weights in ((-1, [1]), (1, [0]), (1, []), (1, [2, -1])):
        with pytest.raises(InputError, match="cannot share"):
            apportion(total, weights)
