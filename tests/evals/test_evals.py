"""Evaluating: every case ends in an outcome, every finished case is kept, and nothing is made up."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_kit.budget import Budget
from harness_kit.cases import Case, EvalSet
from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.errors import InputError, RunError
from harness_kit.evals import evaluate, read_run, score
from harness_kit.store import TraceStore
from harness_kit.trace import ticking_clock


def double(value: Any) -> Any:
    return value * 2


def fussy(value: Any) -> Any:
    if value == 2:
        raise LookupError("two")
    if value == 3:
        return {3}
    if value == 4:
        return float("nan")
    return value * 2


CASES = EvalSet(tuple(Case(id=f"c{n}", input=n, expected=n * 2) for n in range(6)))


def outcomes(run: Any) -> dict[str, str]:
    return {f"{result.case_id}:{result.repeat}": str(result.outcome) for result in run.results}


def test_a_case_that_crashes_is_errored_and_the_rest_go_on() -> None:
    run = evaluate(fussy, CASES)
    assert [str(result.outcome) for result in run.results] == [
        "passed",
        "passed",
        "errored",
        "errored",
        "errored",
        "passed",
    ]
    assert run.results[2].reason == "LookupError: two" and "plain JSON" in run.results[3].reason
    assert run.results[2].score is None and score(run) == 0.5, "the crashed stay in the count"


def test_the_four_steps_of_a_plain_function() -> None:
    run = evaluate(double, CASES)
    assert run.traces is not None and run.results[1].trace_id is not None
    told = [(event.seq, event.stage, dict(event.data)) for event in run.traces(run.results[1].trace_id)]
    assert told == [
        (1, "input", {"case_id": "c1"}), (2, "model", {"tool": "double"}), (3, "tool", {"output": 2}),
        (4, "verify", {"passed": True}),
    ]  # fmt: skip


def test_a_person_is_asked_where_a_case_failed_or_says_so() -> None:
    cases = [
        Case(id="ok", input=1, expected=2),
        Case(id="look", input=1, expected=2, human=True),
        Case(id="bad", input=1, expected=3),
    ]
    run = evaluate(double, cases)
    assert [result.review for result in run.results] == [
        ReviewStatus.NOT_NEEDED, ReviewStatus.PENDING, ReviewStatus.PENDING,
    ]  # fmt: skip


def test_an_exception_can_be_what_is_expected() -> None:
    cases = [
        Case(id=kind, input=2, expected=kind, criterion="raises") for kind in ("LookupError", "KeyError")
    ]
    run = evaluate(fussy, cases)
    assert [str(result.outcome) for result in run.results] == ["passed", "failed"]


def test_an_exception_only_named_like_the_expected_one_does_not_count() -> None:
    def forged(value: Any) -> Any:
        raise type("ValueError", (Exception,), {})

    run = evaluate(forged, [Case(id="a", input=1, expected="ValueError", criterion="raises")])
    assert run.results[0].outcome is Outcome.FAILED


def test_a_system_cannot_change_the_case_by_changing_its_input() -> None:
    def spoil(value: list[int]) -> list[int]:
        value.append(9)
        return value

    cases = EvalSet((Case(id="a", input=[1], expected=[1, 9]),))
    assert [evaluate(spoil, cases, repeats=3).results[n].outcome for n in range(3)] == [Outcome.PASSED] * 3
    assert cases["a"].input == [1]


def test_each_call_is_a_new_run_with_todays_system() -> None:
    with TraceStore(":memory:") as store:
        first = evaluate(double, CASES, store=store)
        again = evaluate(lambda value: value * 3, CASES, store=store, name="double")
        assert first.run_id != again.run_id and first.version != again.version
        assert score(first) == 1.0 and score(again) == pytest.approx(1 / 6), "never an old result"
        assert read_run(store, first.run_id).results == first.results, "and the old one stands as it was"


def test_what_does_not_fit_the_budget_is_not_run_and_says_why() -> None:
    budget = Budget(4)
    run = evaluate(fussy, CASES, budget=budget)
    assert [str(result.outcome) for result in run.results][-2:] == ["not_run", "not_run"]
    assert "left 0 of 4" in run.results[-1].reason and budget.spent == 4
    assert [result.cost for result in run.results] == [1.0, 1.0, 1.0, 1.0, None, None]


def test_cases_left_out_on_purpose_are_not_selected() -> None:
    run = evaluate(double, CASES, select=lambda case: case.id < "c2")
    assert outcomes(run) == {
        "c0:1": "passed", "c1:1": "passed", **{f"c{n}:1": "not_selected" for n in range(2, 6)}
    }  # fmt: skip
    assert score(run) == 1.0


def test_times_come_from_the_clock_that_is_passed_in() -> None:
    assert evaluate(double, CASES).results[0].started is None
    run = evaluate(double, CASES, clock=ticking_clock("2026-10-08T09:00:00+09:00"))
    assert run.results[0].duration_ms == 3000 and run.started == "2026-10-08T09:00:00+09:00"


def test_observers_see_every_step() -> None:
    seen: list[str] = []
    evaluate(double, CASES, on_event=[lambda event: seen.append(f"{event.run_id}/{event.stage}")])
    assert len(seen) == 24 and seen[0] == "eval:double:c0/input"


class Backwards:
    """An executor that does its jobs last first."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        real = future.result

        def result(timeout: float | None = None) -> Any:
            for one, job in reversed(self.jobs):
                if not one.done():
                    one.set_result(job())
            return real(timeout)

        future.result = result  # type: ignore[method-assign]
        self.jobs.append((future, lambda: function(*args)))
        return future


@given(st.permutations(range(6)), st.integers(1, 3))
@settings(max_examples=25)
def test_order_of_cases_and_executors_change_no_result(order: list[int], repeats: int) -> None:
    shuffled = EvalSet(tuple(CASES.cases[place] for place in order))
    plain = outcomes(evaluate(fussy, CASES, repeats=repeats))
    assert outcomes(evaluate(fussy, shuffled, repeats=repeats)) == plain
    backwards: Any = Backwards()
    assert outcomes(evaluate(fussy, CASES, repeats=repeats, executor=backwards)) == plain
    with ThreadPoolExecutor(4) as pool:
        run = evaluate(fussy, shuffled, repeats=repeats, executor=pool)
    assert outcomes(run) == plain and run.set_hash == CASES.hash
    assert [result.case_id for result in run.results[::repeats]] == [case.id for case in shuffled]


def test_resume_runs_only_what_is_missing() -> None:
    asked: list[int] = []

    def slow(value: int) -> int:
        asked.append(value)
        if value == 3 and asked.count(3) == 1:
            raise KeyboardInterrupt
        return value * 2

    with TraceStore(":memory:") as store:
        with pytest.raises(KeyboardInterrupt):
            evaluate(slow, CASES, store=store, version="1", run_id="r")
        half = read_run(store, "r")
        assert not half.complete and half.problem and len(half.results) == 3
        run = evaluate(slow, CASES, store=store, version="1", resume="r")
        assert asked == [0, 1, 2, 3, 3, 4, 5] and run.complete and score(run) == 1.0
        for changed in ({"version": "2"}, {"repeats": 2}, {"name": "other"}):
            with pytest.raises(RunError, match="cannot be resumed"):
                evaluate(slow, CASES, store=store, **{"version": "1", "resume": "r", **changed})
        grown = CASES.with_case(Case(id="new", input=1, expected=2))
        with pytest.raises(RunError, match="set was"):
            evaluate(slow, grown, store=store, version="1", resume="r")
        with pytest.raises(InputError):
            evaluate(slow, CASES, store=store, resume="nobody")


CHILD = """
import sys
from harness_kit.cases import Case, EvalSet
from harness_kit.evals import evaluate
from harness_kit.store import TraceStore

cases = EvalSet(tuple(Case(id=f"c{n}", input=f"{n}, {n},", expected=[str(n)]) for n in range(1000)))
def clean(text):
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
store = TraceStore(sys.argv[1])
known = [row.run_id for row in store.runs() if row.run_id == "r"]
print("go", flush=True)
run = evaluate(clean, cases, store=store, version="1", **({"resume": "r"} if known else {"run_id": "r"}))
print(len(run.results), sum(result.outcome == "passed" for result in run.results))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_twenty_kills_lose_no_finished_case(tmp_path: Path) -> None:
    chance = random.Random(5)
    whole = tmp_path / "whole.db"
    subprocess.run([sys.executable, "-c", CHILD, str(whole)], check=True, capture_output=True)
    with TraceStore(whole) as store:
        expected = [(r.case_id, r.outcome, r.actual, r.score) for r in read_run(store, "r").results]
    partial = 0
    for turn in range(20):
        path = tmp_path / f"{turn}.db"
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "go\n"
        try:
            process.wait(timeout=0.01 + chance.random() * 0.15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        with TraceStore(path) as store:
            known = [row.run_id for row in store.runs()]
            kept = read_run(store, "r").results if "r" in known else []
            assert all(len(store.events(str(result.trace_id))) == 4 for result in kept)
            partial += 0 < len(kept) < 1000
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(path)], check=True, capture_output=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "1000 1000"
        with TraceStore(path) as store:
            run = read_run(store, "r")
            assert [
                (r.case_id, r.outcome, r.actual, r.score) for r in run.results
            ] == expected and run.complete
            assert store.count_events() == 4000
    assert partial > 5, "the kills came too early or too late to show anything"


def test_a_grader_that_breaks_is_no_verdict() -> None:
    from harness_kit.graders import Grade, grader

    @grader("broken_one")
    def broken(actual: Any, expected: Any) -> Grade:
        raise OSError("no disk")

    @grader("odd_one")
    def odd(actual: Any, expected: Any) -> Any:
        return True

    run = evaluate(
        double, [Case(id=name, input=1, expected=2, criterion=name) for name in ("broken_one", "odd_one")]
    )
    assert [result.outcome for result in run.results] == [Outcome.ERRORED] * 2
    assert "no disk" in run.results[0].reason and "expected a Grade" in run.results[1].reason


def test_numbers_that_are_none_are_refused() -> None:
    for bad in ({"repeats": 0}, {"repeats": True}, {"batch": 0}):
        with pytest.raises(InputError):
            evaluate(double, CASES, **bad)  # type: ignore[arg-type]
