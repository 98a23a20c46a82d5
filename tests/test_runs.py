"""The stepwise run: each step whole or not at all, and a step repeated after a crash does no harm."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_kit.approval import Approval
from harness_kit.budget import Budget
from harness_kit.codes import CommitStatus, Decision, RunStatus, StopReason
from harness_kit.errors import ApprovalError, DuplicateRunError, InputError, RunError, StoreError
from harness_kit.models import ScriptedModel
from harness_kit.runs import Run
from harness_kit.store import TraceStore
from harness_kit.trace import fixed_clock, ticking_clock
from harness_kit.workspace import Workspace

TIME = "2026-10-08T09:00:00+09:00"


class Crash(BaseException):
    """Stands for a power cut: nothing after it runs."""


class Letter(Run):
    """Asks a model twice, then proposes one file, then writes it."""

    system = "letter"

    def __init__(self, run_id: str, folder: Path, *, model: Any = None, **parts: Any) -> None:
        self.equip(folder=folder, model=model)
        super().__init__(run_id, **parts)

    def equip(self, *, folder: Path, model: Any = None) -> None:
        self.model = model or ScriptedModel(lambda request: {"line": f"줄 {request['n']}"})
        self.workspace = Workspace(folder, writable={"letter.txt"})

    def initial(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"text": ""}

    def advance(self) -> None:
        if self.state["pending"] is not None:
            saved = self.commit_answer(self.workspace)
            self.note("commit", result=str(saved.status))
            self.state["committed"] = saved.status is CommitStatus.SAVED
            self.state["reason"] = str(
                StopReason.COMPLETED if self.state["committed"] else StopReason.REJECTED
            )
            self.finish()
        elif self.state["text"].count("\n") < 2:
            n = self.state["text"].count("\n") + 1
            self.state["text"] += self.ask_model(self.model, {"n": n}, role="writer").action["line"] + "\n"
            self.note("line", n=n)
        else:
            self.propose(self.workspace, purpose="편지 저장", files={"letter.txt": self.state["text"]})
            self.note("asked")


def new(folder: Path, **parts: Any) -> Letter:
    given = {"clock": fixed_clock(TIME), "budget": Budget(9), **parts}
    return Letter("letter-1", folder, **given)


def answer(run: Run, decision: Decision = Decision.APPROVED) -> Approval:
    assert run.pending is not None
    return Approval.of(run.pending, decision, approver="김검토", source="test", time=TIME)


def to_question(run: Run) -> None:
    while run.pending is None:
        run.step()


def test_a_run_steps_asks_and_ends(tmp_path: Path) -> None:
    run = new(tmp_path)
    assert run.status is RunStatus.READY
    to_question(run)
    assert (run.status, run.number, run.cost) == (RunStatus.WAITING, 3, 2)
    run.answer(answer(run))
    assert run.status is RunStatus.READY and not (tmp_path / "letter.txt").exists()
    run.step()
    assert run.finished and run.reason is StopReason.COMPLETED
    assert (tmp_path / "letter.txt").read_text(encoding="utf-8") == "줄 1\n줄 2\n"
    assert [event.stage for event in run.events] == ["line", "line", "asked", "commit"]
    assert [event.seq for event in run.events] == [1, 2, 3, 4]


def test_a_move_that_the_state_does_not_allow_is_refused_with_a_remedy(tmp_path: Path) -> None:
    run = new(tmp_path)
    with pytest.raises(RunError, match="asks nothing"):
        run.answer(None)
    to_question(run)
    with pytest.raises(RunError, match="answer its question first"):
        run.step()
    good = answer(run)
    with pytest.raises(ApprovalError, match="str is no Approval"):
        run.answer("yes")  # type: ignore[arg-type]
    run.answer(good)
    with pytest.raises(RunError, match="taken once"):
        run.answer(good)
    run.step()
    with pytest.raises(RunError, match="ended"):
        run.step()


def test_silence_keeps_the_question(tmp_path: Path) -> None:
    run = new(tmp_path)
    to_question(run)
    assert run.answer(None) is Decision.HOLD
    assert run.status is RunStatus.WAITING and run.pending is not None


def test_a_step_that_raises_leaves_the_run_as_it_was_and_the_call_paid_for(tmp_path: Path) -> None:
    answers = iter([ValueError("down"), {"line": "줄"}, {"line": "줄"}])

    def flaky(request: dict[str, Any]) -> dict[str, Any]:
        given = next(answers)
        if isinstance(given, Exception):
            raise given
        return given

    run = new(tmp_path, model=ScriptedModel(flaky))
    with pytest.raises(ValueError, match="down"):
        run.step()
    assert (run.number, run.events, run.status, run.cost) == (0, [], RunStatus.READY, 1)
    run.step()
    assert (run.number, run.cost) == (1, 2), "the second attempt is a call of its own"


def test_observers_see_events_that_are_kept_and_cannot_undo_a_step(tmp_path: Path) -> None:
    seen: list[str] = []

    def watch(event: Any) -> None:
        seen.append(event.stage)
        raise LookupError("observer broke")

    with TraceStore(":memory:") as store:
        run = new(tmp_path, store=store, on_event=[watch])
        with pytest.raises(LookupError):
            run.step()
        assert seen == ["line"] and run.number == 1 and store.count_events("letter-1") == 1
        with pytest.raises(LookupError):
            run.step()
        assert run.number == 2


def test_durations_come_from_the_clock_that_was_passed_in(tmp_path: Path) -> None:
    run = new(tmp_path, clock=ticking_clock(TIME, seconds=2))
    to_question(run)
    run.answer(answer(run, Decision.REJECTED))
    run.step()
    record = run.record()
    assert record["started"] == TIME
    assert record["duration_ms"] > 0 and record["duration_ms"] % 2000 == 0
    assert (record["reason"], record["committed"], record["passed"]) == ("rejected", False, None)


def resume(store: TraceStore, folder: Path, **parts: Any) -> Letter:
    budget = Budget(9, store=store, name="letter")
    return Letter.resume(store, "letter-1", clock=fixed_clock(TIME), budget=budget, folder=folder, **parts)


def stored(store: TraceStore, folder: Path, **parts: Any) -> Letter:
    return new(folder, store=store, budget=Budget(9, store=store, name="letter"), **parts)


def test_a_stored_run_goes_on_elsewhere_from_where_it_stands(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        to_question(stored(store, tmp_path))
        again = resume(store, tmp_path)
        assert again.status is RunStatus.WAITING
        again.answer(answer(again))
        last = resume(store, tmp_path)
        last.step()
        assert last.finished and (tmp_path / "letter.txt").exists()
        assert store.run("letter-1").status == "finished" and store.run("letter-1").committed is True
        assert [event.stage for event in store.events("letter-1")] == ["line", "line", "asked", "commit"]


def test_the_text_of_a_question_leaves_the_store_with_its_decision(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        run = stored(store, tmp_path)
        to_question(run)
        held = store.last_checkpoint("letter-1")
        assert held is not None and "줄 1" in str(held.state["pending"])
        run.answer(answer(run))
        run.step()
        after = store.last_checkpoint("letter-1")
        assert after is not None and after.state["pending"] is None and after.state["answer"] is None
        assert all("줄 1" not in str(link.body) for link in store.decisions())


def test_the_first_of_two_answers_wins(tmp_path: Path) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        one = stored(store, tmp_path)
        to_question(one)
        other = resume(store, tmp_path)
        yes, no = answer(one), answer(other, Decision.REJECTED)
        other.answer(no)
        with pytest.raises(ApprovalError):
            one.answer(yes)
        resume(store, tmp_path).step()
        assert not (tmp_path / "letter.txt").exists()


@pytest.mark.parametrize("failing", ["append", "checkpoint", "update_run"])
def test_a_store_that_fails_after_the_write_does_not_turn_it_into_a_refusal(
    tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TraceStore(tmp_path / "runs.db") as store:
        run = stored(store, tmp_path)
        to_question(run)
        run.answer(answer(run))
        real, calls = getattr(store, failing), [0]

        def fails_once(*args: Any, **kwargs: Any) -> Any:
            calls[0] += 1
            if (tmp_path / "letter.txt").exists() and calls[0] < 100:
                calls[0] = 100
                raise StoreError("the disk is full")
            return real(*args, **kwargs)

        monkeypatch.setattr(store, failing, fails_once)
        with pytest.raises(StoreError):
            run.step()
        assert (tmp_path / "letter.txt").exists() and run.status is RunStatus.READY
        run.step()
        assert (run.reason, run.record()["committed"]) == (StopReason.COMPLETED, True)
        assert len(store.decisions(kind="use")) == 1


POINTS = ["checkpoint", "append", "update_run", "record_decision"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_store_call_ends_in_the_same_letter(tmp_path: Path, point: str, after: bool) -> None:
    """Crash at the n-th call of `point`, resume, for every n: the end is that of an undisturbed run."""
    for nth in range(1, 30):
        folder = tmp_path / f"{point}-{after}-{nth}"
        folder.mkdir()
        with TraceStore(folder / "runs.db") as store:
            crashed = finish_with_crash(store, folder, point, nth, after)
            assert (folder / "letter.txt").read_text(encoding="utf-8") == "줄 1\n줄 2\n"
            budget = Budget(9, store=store, name="letter")
            assert (budget.spent, budget.reserved) == (2, 0)
            assert [event.seq for event in store.events("letter-1")] == [1, 2, 3, 4]
            assert len(store.decisions(kind="use")) == len(store.decisions(kind="answer")) == 1
            assert store.verify_decisions().ok
        if not crashed:
            return
    raise AssertionError("the crash point never stopped being reached")


def finish_with_crash(store: TraceStore, folder: Path, point: str, nth: int, after: bool) -> bool:
    """Drive the letter to its end; the n-th call of `store.<point>` raises Crash once. True if it did."""
    real, calls, crashed = getattr(store, point), [0], [False]

    def guarded(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth and not after:
            crashed[0] = True
            raise Crash
        given = real(*args, **kwargs)
        if calls[0] == nth:
            crashed[0] = True
            raise Crash
        return given

    setattr(store, point, guarded)
    run: Letter | None = None
    for _ in range(40):
        try:
            if run is None:
                try:
                    run = resume(store, folder)
                except InputError:
                    run = stored(store, folder)
            if run.finished:
                return crashed[0]
            if run.pending is not None:
                run.answer(answer(run))
            run.step()
        except Crash:
            run = None
    raise AssertionError("the run never ended")


def test_a_call_that_may_not_be_repeated_waits_for_a_person(tmp_path: Path) -> None:
    asked: list[int] = []

    def once(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request["n"])
        if len(asked) == 1:
            raise Crash
        return {"line": f"줄 {request['n']}"}

    model = ScriptedModel(once)
    model.repeatable = False
    with TraceStore(tmp_path / "runs.db") as store:
        run = stored(store, tmp_path, model=model)
        with pytest.raises(Crash):
            run.step()
        again = resume(store, tmp_path, model=model)
        again.step()
        assert again.status is RunStatus.UNKNOWN and asked == [1]
        assert store.run("letter-1").status == "unknown"
        with pytest.raises(RunError, match="resolve"):
            again.step()
        third = resume(store, tmp_path, model=model)
        assert third.status is RunStatus.UNKNOWN
        with pytest.raises(RunError, match="reason and a name"):
            third.resolve(reason=" ", by="김검토")
        third.resolve(reason="the provider shows no call", by="김검토")
        third.step()
        assert third.status is RunStatus.READY and asked == [1, 1]
        assert [link.kind for link in store.decisions()] == ["resolve"]


def test_a_call_that_fails_is_paid_for_again_after_each_resume(tmp_path: Path) -> None:
    def down(request: dict[str, Any]) -> dict[str, Any]:
        raise ConnectionError

    with TraceStore(tmp_path / "runs.db") as store:
        run: Letter = stored(store, tmp_path, model=ScriptedModel(down))
        for spent in range(1, 5):
            with pytest.raises(ConnectionError):
                run.step()
            assert run.cost == spent
            run = resume(store, tmp_path, model=ScriptedModel(down))


def test_an_interrupt_amid_a_call_that_may_not_be_repeated_waits_for_a_person(tmp_path: Path) -> None:
    def interrupted(request: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    model = ScriptedModel(interrupted)
    model.repeatable = False
    run = new(tmp_path, model=model)
    with pytest.raises(KeyboardInterrupt):
        run.step()
    run.step()
    assert run.status is RunStatus.UNKNOWN and run.cost == 1


def test_a_clock_that_was_set_back_tells_no_duration(tmp_path: Path) -> None:
    run = new(tmp_path, clock=ticking_clock(TIME, seconds=-1))
    to_question(run)
    run.answer(answer(run))
    run.step()
    assert run.finished and run.record()["duration_ms"] is None


def test_resume_refuses_a_run_of_another_system_or_version(tmp_path: Path) -> None:
    class Newer(Letter):
        version = "2"

    with TraceStore(":memory:") as store:
        stored(store, tmp_path)
        with pytest.raises(RunError, match="letter version 1, this is letter version 2"):
            Newer.resume(store, "letter-1", clock=fixed_clock(TIME), budget=Budget(9), folder=tmp_path)
        with pytest.raises(InputError):
            resume(store, tmp_path).resume(
                store, "nobody", clock=fixed_clock(TIME), budget=Budget(9), folder=tmp_path
            )
        with pytest.raises(DuplicateRunError):
            stored(store, tmp_path)
