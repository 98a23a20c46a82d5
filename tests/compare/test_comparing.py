"""The command and its words: what it prints, and what it exits with."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from eval_runs import result, run, run_of

from harness_kit import cli
from harness_kit.cases import Case, EvalSet
from harness_kit.codes import Bucket, ComparisonVerdict
from harness_kit.compare import compare
from harness_kit.comparing import comparison_lines, comparison_record
from harness_kit.evals import evaluate
from harness_kit.importers.own import write_results
from harness_kit.results import EvalRun
from harness_kit.store import TraceStore


def call(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli.main, ["compare", *map(str, arguments)])
    return done.exit_code, done.stdout_bytes.decode(), done.stderr


def chapter(version: str, *passed: str) -> EvalRun:
    cases = ("spaces", "duplicate", "order", "empty")
    return run(version, **{one: "passed" if one in passed else "failed" for one in cases})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The chapter's two versions: two of four pass, then three, one of them lost."""
    write_results(chapter("v1", "spaces", "order"), tmp_path / "v1.jsonl")
    write_results(chapter("v2", "duplicate", "order", "empty"), tmp_path / "v2.jsonl")
    return tmp_path / "v1.jsonl", tmp_path / "v2.jsonl"


def test_the_chapters_two_versions_in_words(files: tuple[Path, Path]) -> None:
    code, printed, error = call(*files)
    assert (code, error) == (1, "")
    assert printed.splitlines() == [
        "이전: tidy v1, 2/4, 점수 50.0",
        "이후: tidy v2, 3/4, 점수 75.0",
        "개선 2: duplicate, empty",
        "회귀 1: spaces",
        "계속 통과 1",
        "원인: 하네스 3",
        "근거: n=4, +2, -1, p=1",
        "  사례 4건으로는 변화를 우연과 구분할 수 없음",
        "판정: 회귀",
        "  통과하던 사례가 실패함 (1): spaces",
        "참고: 근거가 얇음: p = 1",
    ]


def test_exit_codes(files: tuple[Path, Path], tmp_path: Path) -> None:
    before, after = files
    assert call(before, before)[0] == 0
    assert call(before, after)[0] == 1
    partial = tmp_path / "partial.jsonl"
    write_results(replace(chapter("v3", "spaces", "order"), results=[result("spaces")]), partial)
    code, printed, _ = call(before, partial)
    assert code == 3 and "판정: 판단 보류" in printed and "점수 25.0 … 100.0" in printed
    for bad in (tmp_path / "none.jsonl", f"{tmp_path / 'none.db'}#v1"):
        code, printed, error = call(before, bad)
        assert (code, printed) == (2, "") and error.startswith("harness-kit: ") and error.count("\n") == 1
    assert call(before)[0] == 2


def test_tables_are_compared_too(files: tuple[Path, Path], tmp_path: Path) -> None:
    table = tmp_path / "v2.csv"
    table.write_text("case_id,outcome\nspaces,passed\norder,failed\nduplicate,failed\n", encoding="utf-8")
    code, printed, _ = call(files[0], table)
    assert code == 1
    # The table holds no hashes and no set: `empty`, which it lacks, did not run.
    assert "미실행 1: empty" in printed and "원인: 알 수 없음 1" in printed


def test_a_gate_file_changes_the_verdict(files: tuple[Path, Path], tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text("no_regressions = false\nmin_score = 0.75\n", encoding="utf-8")
    assert call(*files, "--gate", gate)[0] == 0
    gate.write_text('no_regressions = false\nmust_pass = ["spaces"]\n', encoding="utf-8")
    code, printed, _ = call(*files, "--gate", gate)
    assert code == 1 and "  반드시 통과할 사례가 통과하지 못함 (1): spaces" in printed
    gate.write_text("min_score = 75\n", encoding="utf-8")
    code, _, error = call(*files, "--gate", gate)
    assert code == 2 and "a share from 0 to 1" in error


def test_json_is_one_value_with_english_codes(files: tuple[Path, Path]) -> None:
    code, printed, _ = call(*files, "--json")
    told = json.loads(printed)
    assert code == 1 and printed.count("\n") == 1
    assert told["verdict"] == "REGRESSED"
    assert told["why"] == [
        {"ground": "regression", "verdict": "REGRESSED", "cases": ["spaces"], "detail": ""}
    ]
    assert told["counts"] == dict.fromkeys(map(str, Bucket), 0) | {
        "improved": 2, "regressed": 1, "still_passing": 1
    }  # fmt: skip
    assert told["evidence"]["p_value"] == 1.0 and told["evidence"]["smallest_change"] is None
    assert told["after"]["score"] == 0.75
    assert [row["case_id"] for row in told["rows"]] == ["spaces", "duplicate", "empty"]
    assert told["rows"][0] == {
        "case_id": "spaces", "bucket": "regressed", "causes": ["harness"], "before": "passed",
        "after": "failed",
    }  # fmt: skip


def test_runs_of_a_store_show_where_they_part(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    cases = EvalSet((Case(id="spaces", input="b, a", expected=["b", "a"]),))

    def tidy(text: str, note: Any) -> list[str]:
        items = note("model", items=text.split(", ")) or text.split(", ")
        return sorted(items) if version == "v2" else items

    with TraceStore(path) as store:
        for version in ("v1", "v2"):
            evaluate(tidy, cases, store=store, version=version, run_id=version)
    code, printed, _ = call(f"{path}#v1", f"{path}#v2")
    assert code == 1 and "회귀 1: spaces" in printed and "갈라진 단계: tool 1" in printed


def test_what_was_counted_apart_and_the_notes_are_said() -> None:
    before = run_of([result("a", "failed"), result("b", "failed", actual=1), result("c"), result("gone")])
    after = run_of(
        [result("a", expectation_hash="new"), result("b", "failed", actual=1), result("c"),
         result("c", "failed", repeat=2), result("new", "errored")], "v2",
    )  # fmt: skip
    lines = comparison_lines(compare(before, after), lang="en")
    assert lines[2:] == [
        "improved 0",
        "regressed 0",
        "still failing 1: b",
        "flaky 1: c",
        "added 1: new",
        "removed 1: gone",
        "counted apart, cause expectation: improved 1",
        "cause: expectation 1, harness 1",
        "evidence: n=2, +0, -0, p=1",
        "  2 cases tell no change from chance",
        "verdict: inconclusive",
        "  cases crashed (1): new",
        "note: cases themselves changed and are counted apart (1): a",
        "note: cases that are newly flaky (1): c",
        "note: cases that the set lost (1): gone",
        "note: fail alike: look at the expectation (1): b",
    ]


def test_many_cases_are_counted_and_ten_named() -> None:
    names = [f"c{number:02d}" for number in range(30)]
    before = run(**dict.fromkeys(names, "passed"))
    after = run("v2", **dict.fromkeys(names, "failed"))
    lines = comparison_lines(compare(before, after), lang="en")
    assert "regressed 30: " + ", ".join(names[:10]) + ", … (+20)" in lines
    assert "  smallest change that 30 cases show: 6 to 0" in lines


def test_an_interval_is_said_where_it_was_asked_for() -> None:
    comparison = compare(run(a="failed"), run("v2", a="passed"))
    lines = comparison_lines(comparison, interval=comparison.interval(), lang="en")
    assert "interval of the difference of scores: +1.000 … +1.000 (95%)" in lines


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_every_verdict_has_words_and_a_record(lang: Any) -> None:
    one = run(a="passed", b="failed")
    others = [one, run("v2", a="failed", b="failed"), replace(one, results=one.results[:1])]
    seen = set()
    for other in others:
        comparison = compare(one, other)
        seen.add(comparison.verdict)
        assert comparison_lines(comparison, lang=lang)
        assert json.loads(json.dumps(comparison_record(comparison)))["verdict"] == comparison.verdict
    assert seen == set(ComparisonVerdict)
