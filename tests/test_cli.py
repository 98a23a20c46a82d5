"""The commands: what they print to the byte, and what they exit with."""

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness_kit import cli, reproduce
from harness_kit.codes import Decision
from harness_kit.labels import words
from harness_kit.resources import data_path
from harness_kit.scenarios import CHAPTERS, approval_gate
from harness_kit.store import TraceStore


def call(*arguments: str) -> tuple[int, bytes, str]:
    result = CliRunner().invoke(cli.main, list(arguments))
    return result.exit_code, result.stdout_bytes, result.stderr


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_reproduce_prints_the_golden_bytes_and_nothing_else(chapter: reproduce.Chapter) -> None:
    golden = data_path("golden", chapter.golden).read_bytes()
    assert call("reproduce", chapter.name) == (0, golden, "")
    assert call("reproduce", chapter.number) == (0, golden, "")


def test_reproduce_without_a_chapter_says_a_line_each() -> None:
    code, printed, _ = call("reproduce")
    assert code == 0
    assert printed.decode().splitlines() == [f"{chapter.name}: identical" for chapter in CHAPTERS]


def test_drift_names_the_first_difference_and_exits_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    real = approval_gate.lines
    monkeypatch.setattr(approval_gate, "lines", lambda: ["정상: 이유=완료", *real()[1:]])
    for arguments in (["reproduce"], ["reproduce", "approval_gate", "--check"]):
        code, printed, _ = call(*arguments)
        assert code == 1
        assert "approval_gate: line 1: expected '정상: 이유=완료, 비용=6" in printed.decode()


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (b"a\nb\n", b"a\nb\n", ""),
        (b"a\nb\n", b"a\nc\n", "line 2: expected 'b', got 'c'"),
        (b"a\nb\n", b"a\n", "line 2: expected 'b', got ''"),
        (b"a\n", b"a", "line 2: '' is missing"),
        (b"a\n", b"a\r\n", "line 1: expected 'a', got 'a\\r'"),
        (b"a\n", b"a\n\n", "line 3: '' was not expected"),
    ],
)
def test_the_first_difference_in_words(expected: bytes, actual: bytes, said: str) -> None:
    assert reproduce.first_difference(expected, actual) == said


def test_bad_input_is_one_line_on_stderr_and_exit_two(tmp_path: Path) -> None:
    for arguments, said in [
        (["reproduce", "nothing"], "no chapter 'nothing'; there are: writer_reviewer, eval"),
        (["trace", "x", "--store", str(tmp_path / "none.db")], "there is no store"),
    ]:
        code, printed, error = call(*arguments)
        assert (code, printed) == (2, b"") and said in error and error.count("\n") == 1


def test_a_folder_that_is_gone_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, printed, error = call("doctor")
    assert (code, printed) == (2, b"") and error.startswith("harness-kit: ") and error.count("\n") == 1


def test_trace_shows_a_run_a_line_a_step(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with TraceStore(path) as store:
        approval_gate.run(store=store, run_id="demo")
    code, printed, _ = call("trace", "demo", "--store", str(path))
    lines = printed.decode().splitlines()
    assert code == 0 and len(lines) == 1 + 18
    assert (
        lines[0] == "demo: 상태=finished, 이유=completed, 통과=-, 사람의 판단=accepted, 저장됨=true, 비용=6"
    )
    assert lines[2].startswith("  2 model +0 s, 사용 1 단위 ")
    code, printed, _ = call("trace", "--store", str(path))
    assert printed.decode().splitlines() == lines[:1]
    code, _, error = call("trace", "demos", "--store", str(path))
    assert code == 2 and "demo" in error


def test_decisions_are_listed_and_a_broken_chain_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with TraceStore(path) as store:
        approval_gate.run(store=store, run_id="demo", approval=Decision.REJECTED)
    code, printed, _ = call("decisions", "list", "--store", str(path))
    lines = printed.decode().splitlines()
    assert code == 0 and [line.split()[2] for line in lines] == ["answer", "use", "answer", "answer", "use"]
    assert "rejected / 운영 담당자" in lines[2]
    assert call("decisions", "verify", "--store", str(path))[:2] == (0, b"whole: 5 decisions\n")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE decisions SET body = replace(body, 'rejected', 'approved') WHERE seq = 3")
    db.close()
    code, printed, _ = call("decisions", "verify", "--store", str(path))
    assert code == 1 and printed.decode().startswith("broken (edited): row 3")


def test_glossary_has_a_line_a_code() -> None:
    code, printed, _ = call("glossary")
    rows = [line.split("\t") for line in printed.decode().splitlines()]
    assert code == 0 and len(rows) == len(words())
    assert ["StopReason.BUDGET", "비용 한도", "budget limit"] in rows
