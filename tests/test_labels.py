"""Every code has a word in both languages, and the words of the chapters are the ones they print."""

import pytest

from harness_kit.codes import ReviewStatus, StopReason, TaskStatus
from harness_kit.errors import InputError
from harness_kit.labels import enumerations, glossary, label, words


def test_no_label_is_missing_in_either_language() -> None:
    codes = [code for kind in enumerations() for code in kind]
    assert {(type(code).__name__, code.name) for code in codes} == set(words())
    for code in codes:
        korean, english = label(code, "ko"), label(code, "en")
        assert any("가" <= letter <= "힣" for letter in korean), code
        assert english.strip() and english.isascii(), code


def test_the_words_of_chapter_four_are_the_texts_own() -> None:
    assert [label(status) for status in TaskStatus] == ["대기", "읽음", "완료"]
    assert [label(reason) for reason in StopReason][:6] == [
        "완료", "승인 거절", "비용 한도", "승인 불일치", "검증 실패", "입력 오류",
    ]  # fmt: skip
    assert [label(status) for status in ReviewStatus] == ["대상 아님", "대기", "승인", "반려"]


def test_codes_that_share_an_english_value_keep_their_own_word() -> None:
    assert ReviewStatus.REJECTED == StopReason.REJECTED.value, "equal as text"
    assert label(ReviewStatus.REJECTED) == "반려"
    assert label(StopReason.REJECTED) == "승인 거절"


def test_an_unknown_code_or_language_is_an_error() -> None:
    with pytest.raises(InputError, match="no label"):
        label("budget")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'fr'"):
        label(StopReason.BUDGET, "fr")  # type: ignore[arg-type]


def test_the_glossary_has_one_row_a_code() -> None:
    rows = glossary()
    assert len(rows) == len(words()) == len({row[0] for row in rows})
    assert ("StopReason.BUDGET", "비용 한도", "budget limit") in rows
