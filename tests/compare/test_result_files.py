"""Runs written and read back, and files that hold no run."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from eval_runs import result, run, run_of
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.cases import Case
from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.errors import CanonicalError, InputError, StoreVersionError
from harness_kit.evals import evaluate
from harness_kit.importers.own import read_results, result_from, result_record, write_results
from harness_kit.results import CaseResult, EvalRun
from harness_kit.store import TraceStore

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5,
)  # fmt: skip
FULL = CaseResult(
    case_id="띄어쓰기, \"따옴표\"\n줄", repeat=2, outcome=Outcome.ERRORED, score=0.25, reason="Boom",
    actual=["검토", True],
    expected={"a": None}, review=ReviewStatus.PENDING, input_hash="1", expectation_hash="2", grader_hash="3",
    trace_id="eval:v2:a", cost=1.5, tokens=7, started="2026-10-08T09:00:00+09:00",
    ended="2026-10-08T09:00:01+09:00", duration_ms=12.5, tags=("order", "긴 것"), weight=2.0, must_pass=True,
)  # fmt: skip


@st.composite
def results(draw: st.DrawFn) -> CaseResult:
    return CaseResult(
        case_id="c" + draw(TEXT), outcome=draw(st.sampled_from(list(Outcome))), actual=draw(PLAIN),
        expected=draw(PLAIN), reason=draw(TEXT), tags=tuple(draw(st.lists(TEXT, max_size=2))),
        must_pass=draw(st.booleans()), score=draw(st.none() | st.floats(0, 1)),
    )  # fmt: skip


@given(results())
def test_a_result_and_its_record_are_one(one: CaseResult) -> None:
    assert result_from(json.loads(json.dumps(result_record(one)))) == one


def test_a_record_holds_what_is_not_as_by_default() -> None:
    assert result_record(CaseResult(case_id="a", outcome=Outcome.PASSED)) == {
        "case_id": "a", "outcome": "passed"
    }  # fmt: skip
    assert set(result_record(FULL)) == {one.name for one in fields(CaseResult)}


def test_json_lines_hold_all_of_a_run(tmp_path: Path) -> None:
    whole = EvalRun(
        run_id="eval:v2", system="tidy", version="v2", results=[FULL, result("b")], set_hash="9",
        case_ids=(FULL.case_id, "b", "c"), complete=False, problem="cancelled", knows_its_set=True,
        started="2026-10-08T09:00:00+09:00", ended=None, duration_ms=3.0, data={"note": "둘째"},
    )  # fmt: skip
    path = tmp_path / "v2.jsonl"
    write_results(whole, path)
    assert read_results(path) == whole
    first = path.read_bytes()
    write_results(read_results(path), path)
    assert path.read_bytes() == first


def test_a_table_holds_all_of_its_results(tmp_path: Path) -> None:
    path = tmp_path / "v2.csv"
    write_results(run_of([FULL, result("b", "failed", score=0.0)]), path)
    back = read_results(path)
    assert list(back.results) == [FULL, result("b", "failed", score=0.0)]
    assert (back.run_id, back.version, back.case_ids, back.knows_its_set) == ("v2", "v2", (), False)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfcase_id,repeat,outcome")


@given(st.lists(results(), max_size=3))
def test_a_table_gives_back_any_results(tmp_path_factory: Any, several: list[CaseResult]) -> None:
    path = tmp_path_factory.mktemp("table") / "t.csv"
    # A cell cannot tell an empty text from none, and only `reason` may be empty, where both are the same.
    write_results(run_of(several), path)
    assert list(read_results(path).results) == several


def test_a_table_made_by_hand_needs_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("outcome,case_id\r\npassed,a\r\nfailed,b\r\n", encoding="utf-8")
    assert [(one.case_id, one.outcome) for one in read_results(path).results] == [
        ("a", Outcome.PASSED), ("b", Outcome.FAILED)
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_lines_that_were_cut_off_are_not_complete(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "v1.jsonl"
    write_results(run(a="passed", b="passed", c="failed"), path)
    path.write_bytes(path.read_bytes()[:-cut])
    back = read_results(path)
    if cut == 1:
        # Only the line feed is gone: the last result is whole.
        assert back.complete and len(back.results) == 3
    else:
        assert not back.complete and f"{len(back.results)} of 3 results" in back.problem
        assert len(back.results) < 3


def test_lines_cut_off_at_their_end_are_not_complete(tmp_path: Path) -> None:
    path = tmp_path / "v1.jsonl"
    write_results(run(a="passed", b="passed"), path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    back = read_results(path)
    assert not back.complete and back.problem == "the file was cut off: 1 of 2 results"


HEADER = '{"format":"harness_kit.results","results":1,"run":{"case_ids":[],"complete":true,"data":{},\
"duration_ms":null,"ended":null,"knows_its_set":true,"problem":"","run_id":"r","set_hash":null,\
"started":null,"system":"","version":"v"},"version":1}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected our JSON lines"),
        ("nothing of ours", "begins with 'nothing of ours'"),
        ("{}\n", "expected the header of 'harness_kit.results'"),
        ('{"format":"harness_kit.trace","version":1}\n', "expected the header"),
        (HEADER.replace('"problem":"",', ""), "line 1: the run has"),
        (HEADER.replace('"results":1', '"results":"1"'), "line 1 is no header of version 1"),
        (HEADER.replace('"complete":true', '"complete":"yes"'), "line 1: the run's complete is 'yes'"),
        (HEADER.replace('"case_ids":[]', '"case_ids":"ab"'), "line 1: the run's case_ids is 'ab'"),
        (HEADER + '{"case_id":"a"}\n', "line 2: a result has no outcome"),
        (HEADER + '{"case_id":"a","outcome":"ok"}\n', "line 2: outcome is 'ok'"),
        (HEADER + '{"case_id":" ","outcome":"passed"}\n', "line 2: case_id is ' '"),
        (HEADER + '{"case_id":"a","outcome":"passed","scor":1}\n', "no field 'scor'"),
        (HEADER + '{"case_id":"a","outcome":"passed","weight":-1}\n', "weight is -1"),
        (HEADER + '{"case_id":"a","outcome":"passed","must_pass":1}\n', "must_pass is 1"),
        (HEADER + '{"case_id":"a","outcome":"passed","tags":"x"}\n', "tags is 'x'"),
        (HEADER + '{"case_id":"a","outcome":"passed","score":NaN}\n', "line 2: NaN"),
        (HEADER + "[1]\n", "line 2: '[1]' is no result"),
        (HEADER + '{"case_id":\n' + '{"case_id":"a","outcome":"passed"}\n', "line 2: not JSON"),
        (HEADER + '{"case_id":"a","outcome":"passed"}\n{"case_id":"b","outcome":"passed"}\n', "2 results"),
        ("case_id,outcome\na\n", "line 2: it has more or fewer cells"),
        ("case_id,outcome\na,passed,1\n", "line 2: it has more or fewer cells"),
        ("case_id,outcome\n,passed\n", "line 2: case_id is ''"),
        ("case_id,score\na,1\n", "line 2: a result has no outcome"),
        ("case_id,outcome,score\na,passed,high\n", "line 2: score is 'high'"),
        ("case_id,outcome,score\na,passed,nan\n", "line 2: score is nan"),
        ("case_id,outcome,must_pass\na,passed,maybe\n", "must_pass is 'maybe'"),
        ("case_id,outcome,tags\na,passed,x\n", "line 2: not JSON"),
        ("case_id,outcome,result\na,passed,x\n", "no field 'result'"),
        ("case_id,outcome,outcome\na,passed,failed\n", "a column stands twice"),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert said in str(caught.value) and str(path) in str(caught.value)


def test_a_newer_version_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(HEADER.replace('"version":1}', '"version":2}'), encoding="utf-8")
    with pytest.raises(StoreVersionError, match="version 2"):
        read_results(path)


def test_other_bytes_and_other_places_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"case_id,outcome\n\xff\xfe,passed\n")
    for source in (path, tmp_path / "none.jsonl", tmp_path, f"{tmp_path / 'none.db'}#run"):
        with pytest.raises(InputError):
            read_results(source)


def test_a_run_that_has_no_plain_form_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "v1.jsonl"
    write_results(run(a="passed"), path)
    before = path.read_bytes()
    with pytest.raises(CanonicalError):
        write_results(run_of([result("a"), result("b", actual={1, 2})]), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_run_of_a_store_brings_its_traces(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    cases = [Case(id="a", input="x", expected="x"), Case(id="b", input="x", expected="y")]
    with TraceStore(path) as store:
        made = evaluate(lambda text: text, cases, store=store, version="v1")
    back = read_results(f"{path}#{made.run_id}")
    assert (back.version, back.case_ids, back.complete) == ("v1", ("a", "b"), True)
    assert list(back.results) == list(made.results)
    # Read when they are asked for, long after the store was closed.
    assert back.traces is not None and back.results[0].trace_id is not None
    assert [event.stage for event in back.traces(back.results[0].trace_id)] == [
        "input", "model", "tool", "verify"
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"name a run of it, .*runs.db#RUN; there is eval:v1"):
        read_results(path)
    with pytest.raises(InputError, match="no run 'eval:v2'"):
        read_results(f"{path}#eval:v2")


def test_a_hash_sign_in_a_file_name_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "v#1.jsonl"
    write_results(run(a="passed"), path)
    assert read_results(path) == replace(run(a="passed"))
