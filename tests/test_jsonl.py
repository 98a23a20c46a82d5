"""JSON lines: the same store gives the same bytes, and what comes in is whole or refused by line."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_kit.errors import (
    DuplicateRunError,
    HarnessError,
    InputError,
    SequenceError,
    StoreError,
    StoreVersionError,
)
from harness_kit.jsonl import export_jsonl, import_jsonl
from harness_kit.store import TraceStore
from harness_kit.trace import Event

NINE = "2026-10-08T09:00:00+09:00"


def event(run_id: str, seq: int, **data: Any) -> Event:
    return Event(run_id=run_id, seq=seq, time=NINE, stage="tool", data=data)


def fill(store: TraceStore) -> None:
    """Two runs, five events, one result."""
    for name in ("first", "둘째"):
        store.open_run(name, system="demo", version="1", started=NINE, data={"title": "보고서"})
    store.append([event("first", seq, text=f"줄\n{seq}\u2028") for seq in (1, 2, 3)])
    store.append([event("둘째", 1, x=1.5), event("둘째", 2, x=None)])
    store.put_result("first", "total", {"units": 6})
    store.update_run("first", status="finished", passed=True, committed=False, cost=6, limit=10, ended=NINE)


@pytest.fixture
def store() -> Iterator[TraceStore]:
    with TraceStore(":memory:") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def empty() -> Iterator[TraceStore]:
    with TraceStore(":memory:") as opened:
        yield opened


def exported(store: TraceStore, run_ids: list[str] | None = None) -> str:
    target = io.StringIO()
    export_jsonl(store, target, run_ids)
    return target.getvalue()


def contents(store: TraceStore) -> list[Any]:
    return [*store.runs(), *store.iter_events(), *(store.results(run.run_id) for run in store.runs())]


def test_the_lines_are_header_run_events_results(store: TraceStore) -> None:
    lines = [json.loads(line) for line in exported(store).split("\n")[:-1]]
    assert lines[0] == {"format": "harness_kit.trace", "version": 1}
    assert [next(iter(line)) for line in lines[1:]] == [
        "run",
        *["event"] * 3,
        "result",
        "run",
        *["event"] * 2,
    ]
    assert lines[1]["run"] == {
        "run_id": "first", "system": "demo", "version": "1", "status": "finished", "reason": None,
        "passed": True, "review": None, "committed": False, "cost": 6, "limit": 10, "started": NINE,
        "ended": NINE,
        "duration_ms": None, "data": {"title": "보고서"},
    }  # fmt: skip
    assert lines[2]["event"] == {
        "run_id": "first", "seq": 1, "time": NINE, "stage": "tool", "data": {"text": "줄\n1\u2028"}
    }  # fmt: skip
    assert lines[5]["result"] == {"run_id": "first", "name": "total", "data": {"units": 6}}


def test_out_in_and_out_again_gives_the_same_bytes(
    store: TraceStore, empty: TraceStore, tmp_path: Path
) -> None:
    path = tmp_path / "runs.jsonl"
    assert export_jsonl(store, path) == 2
    report = import_jsonl(empty, path)
    assert (report.runs, report.events, report.results, report.torn) == (2, 5, 1, None)
    assert contents(empty) == contents(store)
    again = tmp_path / "again.jsonl"
    export_jsonl(empty, again)
    assert again.read_bytes() == path.read_bytes() == exported(store).encode()
    assert sorted(tmp_path.iterdir()) == [again, path], "something was left beside the files"


def test_chosen_runs_come_in_the_stores_order_and_an_unknown_one_is_refused(
    store: TraceStore, tmp_path: Path
) -> None:
    assert exported(store, ["둘째", "first"]) == exported(store)
    assert '"first"' not in exported(store, ["둘째"])
    path = tmp_path / "runs.jsonl"
    path.write_text("mine")
    with pytest.raises(InputError, match="no run 'frist'.*first"):
        export_jsonl(store, path, ["frist"])
    with pytest.raises(InputError, match="put the ids into a list"):
        export_jsonl(store, path, "first")
    assert path.read_text() == "mine"


def test_an_export_that_fails_leaves_the_old_file_and_nothing_else(store: TraceStore, tmp_path: Path) -> None:
    folder = tmp_path / "runs.jsonl"
    folder.mkdir()
    with pytest.raises(StoreError, match="the file is as it was"):
        export_jsonl(store, folder)
    with pytest.raises(StoreError, match="cannot write"):
        export_jsonl(store, tmp_path / "missing" / "runs.jsonl")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_cut_anywhere_after_its_header_keeps_all_whole_lines(
    store: TraceStore, tmp_path: Path
) -> None:
    whole = exported(store).encode()
    header = whole.index(b"\n") + 1
    path = tmp_path / "cut.jsonl"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with TraceStore(":memory:") as fresh:
            if size < header - 1:
                with pytest.raises(InputError, match="cut.jsonl"):
                    import_jsonl(fresh, path)
                assert fresh.runs() == []
                continue
            report = import_jsonl(fresh, path)
            kept = exported(fresh).encode()
            # A line that lacks only its line feed is whole; one that lacks more is reported.
            lines = whole[: size + 1].rfind(b"\n") + 1
            assert (report.torn is None) == (size in (lines, lines - 1))
            if report.torn is not None:
                assert f"line {whole[:lines].count(10) + 1} was cut off" in report.torn
            assert kept.count(b"\n") == whole[:lines].count(b"\n")


def test_a_torn_line_in_the_middle_is_an_error_and_nothing_is_kept(
    store: TraceStore, empty: TraceStore
) -> None:
    lines = exported(store).split("\n")
    lines[3] = lines[3][:20]
    with pytest.raises(InputError, match="the stream, line 4: .* is no JSON .*restore the line"):
        import_jsonl(empty, io.StringIO("\n".join(lines)))
    assert contents(empty) == []


RUN = {"run": {
    "run_id": "a", "system": "", "version": "", "status": None, "reason": None, "passed": None,
    "review": None, "committed": None, "cost": None, "limit": None, "started": NINE, "ended": None,
    "duration_ms": None, "data": {},
}}  # fmt: skip
ONE = {"event": {"run_id": "a", "seq": 1, "time": NINE, "stage": "s", "data": {}}}
HEAD = {"format": "harness_kit.trace", "version": 1}


def with_field(line: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {kind: {**record, **fields} for kind, record in line.items()}


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        ([], InputError, "is empty"),
        ([{"format": "other"}], InputError, "line 1: .* no header"),
        ([RUN], InputError, "line 1: .* no header"),
        ([{**HEAD, "version": "1"}], InputError, "line 1: version '1'"),
        ([{**HEAD, "version": 2}], StoreVersionError, "line 1: version 2 is newer .* upgrade"),
        ([HEAD, [1]], InputError, r"line 2: .*is no trace line"),
        ([HEAD, {**RUN, **ONE}], InputError, "line 2: .* is no trace line"),
        ([HEAD, {"note": 1}], InputError, "line 2: 'note' is no kind of line"),
        ([HEAD, ONE], InputError, "line 2: run 'a' has no line before"),
        (
            [HEAD, {"result": {"run_id": "a", "name": "n", "data": 1}}],
            InputError,
            "line 2: run 'a' has no line",
        ),
        (
            [HEAD, RUN, {"result": {"run_id": "a", "name": "n"}}],
            InputError,
            "line 3: .* expected run_id, name",
        ),
        ([HEAD, RUN, RUN], DuplicateRunError, "line 3: run 'a' is in the store already"),
        ([HEAD, with_field(RUN, run_id=" ")], InputError, "line 2: run id ' '"),
        ([HEAD, with_field(RUN, passed=1)], InputError, "line 2: run field passed is 1; expected bool"),
        ([HEAD, with_field(RUN, cost=-1)], InputError, "line 2: run field cost"),
        ([HEAD, with_field(RUN, started="x")], InputError, "line 2: time 'x'"),
        ([HEAD, with_field(RUN, more=1)], InputError, "line 2: .*expected the fields"),
        ([HEAD, RUN, ONE, ONE], SequenceError, "line 4: .* event 1 is a repeat after 1; expected 2"),
        ([HEAD, RUN, ONE, with_field(ONE, seq=3), ONE], SequenceError, "line 4: .* event 3 is a gap"),
        ([HEAD, RUN, with_field(ONE, seq=True)], InputError, "line 3: event field seq is True"),
        ([HEAD, RUN, with_field(ONE, time="noon")], InputError, "line 3: time 'noon'"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_kept(
    empty: TraceStore, tmp_path: Path, lines: list[Any], error: type[HarnessError], said: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(error, match=f"(?s)bad.jsonl.*{said}"):
        import_jsonl(empty, path)
    assert contents(empty) == []


def test_a_run_that_the_store_holds_is_refused_and_stays_as_it_is(store: TraceStore) -> None:
    before = contents(store)
    with pytest.raises(DuplicateRunError, match="line 2: run 'first'"):
        import_jsonl(store, io.StringIO(exported(store)))
    assert contents(store) == before


def test_a_missing_file_is_named(empty: TraceStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read .*none.jsonl"):
        import_jsonl(empty, tmp_path / "none.jsonl")


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(store: TraceStore, empty: TraceStore) -> None:
    text = "\ufeff" + exported(store).replace("\n", "\r\n")
    import_jsonl(empty, io.StringIO(text, newline=""))
    assert contents(empty) == contents(store)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.lists(st.dictionaries(st.text(), plain, max_size=3), max_size=4), max_size=3))
@settings(max_examples=60)
def test_any_trace_comes_back_as_it_was(runs: list[list[dict[str, Any]]]) -> None:
    with TraceStore(":memory:") as store, TraceStore(":memory:") as other:
        for number, events in enumerate(runs):
            store.open_run(f"run-{number}", started=NINE)
            store.append(event(f"run-{number}", seq, data=data) for seq, data in enumerate(events, start=1))
        text = exported(store)
        import_jsonl(other, io.StringIO(text, newline=""))
        assert contents(other) == contents(store) and exported(other) == text
