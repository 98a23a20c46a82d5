"""The chapter's two journals: every amount and criterion, before the repair and after it."""

import json

import pytest

from harness_kit.journal import context, digests, gate, ledger, parsing, reading, skills
from harness_kit.journal.config import Config
from harness_kit.journal.context import FindingCode
from harness_kit.journal.gate import Report, Sums
from harness_kit.journal.rows import LABELS, Reason, RowClass, Stage
from harness_kit.resources import data_path
from tests.journal.books import CONFIG

BEFORE = skills.load(data_path("journal", "skills", "before"))
CHAPTER = Config.from_mapping(json.loads(data_path("journal", "config.json").read_text(encoding="utf-8")))


def judged(name: str, used: skills.Skills | None = None) -> tuple[Report, dict[str, tuple[str, int]], str]:
    table = reading.read(data_path("journal", name))
    rows = parsing.parse_rows(table)
    result = ledger.classify(rows, CHAPTER, used)
    classes = {item.row_id: (str(item.row_class), item.amount) for item in result.allocations}
    return (
        gate.check(table, CHAPTER, result),
        classes,
        digests.result_digest(rows, CHAPTER, result.allocations),
    )


def test_happy_path_receipt_passes_frozen_criteria() -> None:
    report, classes, _ = judged("normal.csv")
    assert classes == {
        "R2": ("cash", 100), "R3": ("extinguished", 100), "R4": ("extinguished", 100),
        "R5": ("pure_noncash", 300)
    }  # fmt: skip
    assert report.sums == {"KRW": Sums(
        input_target_amount=600, cash_classified=100, exception_extinguished=200, pure_noncash=300,
        human_review=0
    )}  # fmt: skip
    assert report.criteria == {
        "amount_conservation": True,
        "no_duplicate_owner": True,
        "missing_business_unit_never_extinguished": True,
        "known_exception_missing_unit_goes_to_human_review": True,
    }
    assert report.passed and report.owner is None and report.cash_not_reused


def test_missing_business_unit_is_held_for_human_review() -> None:
    report, classes, _ = judged("missing_unit.csv")
    assert classes == {"F1": ("human_review", 125), "F2": ("human_review", 125)}
    assert report.sums == {"KRW": Sums(input_target_amount=250, human_review=250)}
    assert report.passed


def test_before_the_repair_the_amounts_agree_and_the_gate_refuses() -> None:
    report, classes, _ = judged("missing_unit.csv", BEFORE)
    assert classes == {"F1": ("extinguished", 125), "F2": ("extinguished", 125)}
    assert report.sums == {"KRW": Sums(input_target_amount=250, exception_extinguished=250)}
    assert report.criteria == {
        "amount_conservation": True,
        "no_duplicate_owner": True,
        "missing_business_unit_never_extinguished": False,
        "known_exception_missing_unit_goes_to_human_review": False,
    }
    assert not report.passed and report.owner is Stage.EXCEPTION_RULES
    assert [result.row_ids for result in report.results if not result.passed] == [("F1", "F2"), ("F1", "F2")]


def test_the_repair_leaves_the_normal_result_as_it_was() -> None:
    after, before = judged("normal.csv"), judged("normal.csv", BEFORE)
    assert after == before
    packaged = skills.packaged().hashes
    assert digests.receipt_digest(after[2], packaged) != digests.receipt_digest(before[2], BEFORE.hashes)
    assert {name for name in packaged if packaged[name] != BEFORE.hashes[name]} == {skills.RULES_FILE}


@pytest.mark.parametrize("name", ["normal.csv", "missing_unit.csv"])
def test_the_chapters_journals_may_run_with_a_warning(name: str) -> None:
    table = reading.read(data_path("journal", name))
    findings = context.examine(table, parsing.parse_rows(table), CHAPTER)
    assert [(finding.code, finding.blocks) for finding in findings] == [
        (FindingCode.UNBALANCED_VOUCHER, False)
    ]


def test_every_code_has_two_words() -> None:
    assert set(LABELS) == {*RowClass, *Stage, *Reason}
    assert all(korean and english for korean, english in LABELS.values())


def test_the_chapter_names_the_accounts_that_it_speaks_of() -> None:
    assert CHAPTER.targets == tuple(sorted(CONFIG.targets)) and CHAPTER.links == ("10800",)
