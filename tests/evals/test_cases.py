"""Evaluation sets: what is refused before anything runs, and that no expectation changes quietly."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_kit.cases import Case, EvalSet, change_log
from harness_kit.codes import Outcome
from harness_kit.errors import InputError
from harness_kit.results import CaseResult

PLAIN = {"id": "a", "input": "가, 나", "expected": ["가", "나"]}


def written(folder: Path, *rows: Any, name: str = "cases.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_set_reads_back_what_it_wrote(tmp_path: Path) -> None:
    cases = EvalSet(
        (Case(**PLAIN, tags=("x", "y"), weight=2.0, must_pass=True, human=True), Case(**{**PLAIN, "id": "b"}))
    )
    cases.write(tmp_path / "cases.jsonl")
    again = EvalSet.read(tmp_path / "cases.jsonl")
    assert again == cases and again.hash == cases.hash
    assert EvalSet(tuple(reversed(cases.cases))).hash == cases.hash, "order is not content"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**PLAIN, "id": ""}], "line 1.*blank"),
        ([{**PLAIN, "id": None}], "line 1.*blank, null"),
        ([{**PLAIN, "id": 3}], "line 1"),
        ([{**PLAIN, "id": "a\u0000"}], "line 1"),
        ([PLAIN, PLAIN], "'a' stands twice"),
        ([PLAIN, "{"], "line 2.*not JSON"),
        ([PLAIN, '{"id": "b", "input": NaN, "expected": 1}'], "line 2.*NaN"),
        ([PLAIN, '{"id": "b", "id": "c", "input": 1, "expected": 1}'], "line 2.*stands twice"),
        ([PLAIN, "[]"], "line 2.*no case"),
        ([{"id": "a", "input": 1}], r"lacks \['expected'\]"),
        ([{**PLAIN, "expect": 1}], r"unknown \['expect'\]"),
        ([{**PLAIN, "criterion": "exact"}], "line 1.*'exact' is not known"),
        ([{**PLAIN, "weight": 0}], "weight is 0"),
        ([{**PLAIN, "weight": True}], "weight is True"),
        ([{**PLAIN, "tags": "x"}], "tags are 'x'"),
        ([{**PLAIN, "human": "no"}], "human is 'no'"),
        ([""], "holds no case"),
    ],
)
def test_a_set_that_cannot_be_right_is_refused_with_its_line(
    tmp_path: Path, rows: list[Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        EvalSet.read(written(tmp_path, *rows))


def test_files_that_are_no_text_name_themselves(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"x\.jsonl.*not UTF-8 at byte 0"):
        EvalSet.read(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        EvalSet.read(tmp_path / "none.jsonl")


def test_csv_holds_text_or_json_and_says_which(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "id,input,expected_json,criterion,tags,weight,must_pass",
        '1,"가, 나","[""가""]",unordered,x y,2,true',
        "2,,[],ordered_exact,,,",
        name="cases.csv",
    )
    one, two = EvalSet.read(path)
    assert (one.id, one.input, one.expected, one.tags, one.weight, one.must_pass) == (
        "1",
        "가, 나",
        ["가"],
        ("x", "y"),
        2,
        True,
    )
    assert (two.input, two.expected, two.weight, two.must_pass) == ("", [], 1.0, False)
    for bad, said in (
        ("id,input,expected\n1,2\n", "as many cells"),
        ('id,input,expected_json\n1,2,"x\n', "not CSV"),
        ("id,input,expected_json\n1,2,{\n", "not JSON"),
    ):
        (tmp_path / "bad.csv").write_text(bad, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            EvalSet.read(tmp_path / "bad.csv")


def test_an_expectation_edited_without_a_reason_is_an_error_at_load(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    EvalSet((Case(**PLAIN),)).write(path)
    edited = path.read_text("utf-8").replace('["가","나"]', '["나","가"]')
    path.write_text(edited, encoding="utf-8")
    with pytest.raises(InputError, match="expected of case 'a' was changed without a reason"):
        EvalSet.read(path)


def test_a_reason_is_logged_with_both_hashes(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    old, new = Case(**PLAIN), Case(**{**PLAIN, "expected": ["가"]})
    EvalSet((old,)).write(path)
    with pytest.raises(InputError, match="give a reason"):
        EvalSet((new,)).write(path)
    assert EvalSet.read(path).cases == (old,), "nothing was written"
    EvalSet((new,)).write(path, reason="요구가 바뀌었다")
    assert EvalSet.read(path).cases == (new,)
    last = json.loads(change_log(path).read_text("utf-8").splitlines()[-1])
    assert last == {
        "case": "a",
        "field": "expected",
        "old": old.hashes["expected"],
        "new": new.hashes["expected"],
        "reason": "요구가 바뀌었다",
    }


def test_a_failure_becomes_a_case_with_its_input_masked() -> None:
    cases = EvalSet((Case(**{**PLAIN, "input": "김하늘, 발송"}),))
    failed = CaseResult(case_id="a", outcome=Outcome.FAILED)
    grown = cases.add_from(
        failed,
        id="a-2",
        expected=["이름", "발송"],
        reason="이름이 빠졌다",
        redact=lambda text: text.replace("김하늘", "이름"),
    )
    assert grown["a-2"].input == "이름, 발송" and grown["a-2"].tags == ("from:a",)
    assert len(cases) == 1
    with pytest.raises(InputError, match="reason"):
        cases.add_from(failed, id="a-3", expected=1, reason=" ")


@given(st.text(), st.sampled_from(["x.jsonl", "x.csv"]))
def test_any_text_is_a_set_or_an_error_of_ours(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        with contextlib.suppress(InputError):
            assert len(EvalSet.read(path)) > 0
