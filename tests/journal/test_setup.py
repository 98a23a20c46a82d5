"""Config and context: what is refused, what blocks and what warns; and skills that come from a folder."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from harness_kit.errors import InputError
from harness_kit.journal import context, parsing, skills, tables
from harness_kit.journal.config import Config
from harness_kit.journal.context import FindingCode
from harness_kit.resources import data_path
from tests.journal.books import AR, CASH, CONFIG, SALES, SETTINGS, Records, voucher

RULE = {"accounts": ["41210"], "normal_side": "credit", "window": "next_month"}


def test_a_config_is_whole_and_sorted() -> None:
    config = Config.from_mapping({"cash": ["2", "1"], "targets": ["41210"], "rules": {"parking": RULE}})
    assert config.to_mapping() == {
        "mode": "full", "cash": ["1", "2"], "targets": ["41210"], "links": [], "max_hops": 3,
        "window_days": 400,
        "units": [], "rules": {"parking": RULE},
    }  # fmt: skip
    assert Config.from_mapping(config.to_mapping()) == config
    assert Config.from_mapping(CONFIG.to_mapping()) == CONFIG


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modus": "full"}, "has 'modus'; known keys: cash"),
        ({"mode": "half"}, "mode is 'half'; expected one of: full, extract"),
        ({"cash": "10301"}, "cash is '10301'; expected a list"),
        ({"cash": [10301]}, "as strings, so that zeros stay"),
        ({"targets": [" "]}, "expected a list of codes"),
        ({"max_hops": 11}, "from 0 to 10"),
        ({"max_hops": True}, "expected an integer"),
        ({"window_days": -1}, "from 0 to 3660"),
        ({"window_days": 1.0}, "expected an integer"),
        ({"rules": []}, "expected a mapping from rule name"),
        ({"rules": {"p": []}}, "expected a name and a mapping"),
        ({"rules": {"p": {**RULE, "days": 3}}}, "rules.p has 'days'"),
        ({"rules": {"p": {**RULE, "accounts": []}}}, "accounts is empty"),
        ({"rules": {"p": {**RULE, "normal_side": "left"}}}, "expected one of: debit, credit"),
        ({"rules": {"p": {"accounts": ["1"], "normal_side": "debit"}}}, "window is None"),
        ({"rules": {"p": {**RULE, "max_days": 3}}}, "drop the days"),
        (
            {"rules": {"p": {**RULE, "window": "days", "min_days": 9, "max_days": 3}}},
            "min_days 9 over max_days 3",
        ),
        ({"rules": {"p": RULE, "q": RULE}}, "41210 stands in two rules"),
    ],
)
def test_configs_that_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config.from_mapping({**SETTINGS, **change})


BALANCED = voucher("V1", "2026-03-05", ("C", CASH, 100), ("S", SALES, -100))


def examined(records: Records, **changes: Any) -> list[tuple[str, bool]]:
    config = Config.from_mapping({**SETTINGS, "mode": "full", **changes})
    table = tables.table_from_records(records)
    findings = context.examine(table, parsing.parse_rows(table, units=set(config.units)), config)
    return [(str(finding.code), finding.blocks) for finding in findings]


def test_a_whole_journal_has_no_findings() -> None:
    assert examined(BALANCED) == []
    assert examined(BALANCED, units=["S01", "S02"]) == []


@pytest.mark.parametrize(
    ("records", "changes", "finding"),
    [
        ([], {}, ("no_rows", True)),
        (BALANCED, {"cash": []}, ("config", True)),
        (BALANCED, {"targets": [], "rules": {}}, ("config", True)),
        (BALANCED, {"cash": [CASH, SALES]}, ("config", True)),
        (BALANCED, {"links": [AR, SALES]}, ("config", True)),
        (BALANCED, {"links": [AR, CASH]}, ("config", True)),
        (BALANCED, {"targets": [SALES]}, ("config", True)),
        ([*BALANCED, *BALANCED], {}, ("duplicate_row_id", True)),
        (BALANCED[:1], {}, ("unbalanced_voucher", True)),
        (BALANCED[:1], {"mode": "extract"}, ("unbalanced_voucher", False)),
        ([{**record, "전화번호": "x"} for record in BALANCED], {}, ("personal_data", True)),
        (BALANCED, {"units": ["S02"]}, ("unknown_unit", True)),
    ],
)
def test_what_blocks_and_what_warns(
    records: Records, changes: dict[str, Any], finding: tuple[str, bool]
) -> None:
    assert examined(records, **changes) == [finding]


def test_a_voucher_balances_in_each_currency() -> None:
    records = [{**BALANCED[0], "currency": "USD", "debit": "1"}, BALANCED[1]]
    config = Config.from_mapping({**SETTINGS, "mode": "full"})
    table = tables.table_from_records(records)
    [finding] = context.examine(table, parsing.parse_rows(table), config)
    assert finding.code is FindingCode.UNBALANCED_VOUCHER and finding.row_ids == ("C", "S")
    assert "V1 of 2026-03-05 is off by 100 USD" in finding.message


def test_a_folder_with_both_skills_is_what_runs(tmp_path: Path) -> None:
    folder = Path(skills.__file__).parent
    for name in (skills.TRACER_FILE, skills.RULES_FILE):
        shutil.copy(folder / name, tmp_path / name)
    loaded = skills.load(tmp_path)
    assert loaded.hashes == skills.packaged().hashes
    assert loaded.trace is not skills.packaged().trace


def test_folders_that_hold_no_skill_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds neither"):
        skills.load(tmp_path)
    for text, message in (
        ("def judge(:", "cannot be loaded"),
        ("1 / 0", "cannot be loaded"),
        ("x = 1", r"no function judge"),
    ):
        (tmp_path / skills.RULES_FILE).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            skills.load(tmp_path)


def test_loading_a_skill_leaves_nothing_behind() -> None:
    folder = data_path("journal", "skills", "before")
    skills.load(folder)
    assert [path.name for path in folder.iterdir()] == [skills.RULES_FILE]
