"""Side by side: the same results and calls as one after another, one owner a file, nothing lost."""

import random
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness_kit import frames
from harness_kit.approvers import ScriptedApprover
from harness_kit.budget import Budget
from harness_kit.codes import Decision, SpendState, StopReason
from harness_kit.errors import InputError
from harness_kit.fanout import Done, Job, call_rows, confirm, fan_out, way_rows, write_and_review
from harness_kit.models import ScriptedModel
from harness_kit.roles import Coordination, Role, Spec
from harness_kit.scenarios import writer_reviewer as chapter
from harness_kit.trace import fixed_clock
from harness_kit.workspace import Workspace

CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")
YES = ScriptedApprover(decision=Decision.APPROVED, approver="김하늘", clock=CLOCK)


@pytest.fixture(params=["one after another", "pool"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param == "pool":
        with ThreadPoolExecutor(4) as pool:
            yield pool
    else:
        yield None


def test_results_stand_by_name_in_the_order_of_the_jobs(executor: Executor | None) -> None:
    jobs = [Job(name=f"job {n}", data=n) for n in range(8)]

    def slow_first(job: Job) -> int:
        time.sleep(0.002 * (8 - job.data))
        return int(job.data) ** 2

    done = fan_out(jobs, slow_first, executor)
    assert list(done.items()) == [
        (f"job {n}", Done(name=f"job {n}", value=n * n, error=None)) for n in range(8)
    ]


def test_a_job_that_fails_keeps_its_place_and_the_others_go_on(executor: Executor | None) -> None:
    def work(job: Job) -> str:
        if job.name == "b":
            raise ValueError("고장")
        return job.name.upper()

    done = fan_out([Job(name=name) for name in "abc"], work, executor)
    assert [(one.value, one.error) for one in done.values()] == [
        ("A", None), (None, "ValueError: 고장"), ("C", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "jobs",
    [
        [Job(name="a", files=("x.txt",)), Job(name="b", files=("y.txt", "x.txt"))],
        [Job(name="a", files=("x.txt",)), Job(name="b", files=("X.TXT",))],
        [Job(name="a"), Job(name="a")],
        [Job(name=" ")],
        [Job(name="a", files=("../x.txt",))],
    ],
    ids=["one file", "one file where case does not count", "one name", "blank", "outside"],
)
def test_unclear_owners_are_refused_before_any_call(jobs: list[Job], executor: Executor | None) -> None:
    called: list[str] = []
    with pytest.raises(InputError):
        fan_out(jobs, lambda job: called.append(job.name), executor)
    assert called == []


def test_a_pool_that_broke_loses_only_what_it_had_not_begun() -> None:
    class Breaking(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
            if args[1].name == "b":
                raise RuntimeError("pool is shut down")
            future: Future[Any] = Future()
            future.set_result(fn(*args))
            return future

    done = fan_out([Job(name=name) for name in "abc"], lambda job: job.name, Breaking())
    assert [one.value for one in done.values()] == ["a", None, "c"]
    assert done["b"].error == "RuntimeError: pool is shut down"


def made(root: Path, count: int, budget: Budget, lag: random.Random | None = None) -> dict[str, Coordination]:
    """`count` documents with three reviewers; document n needs n % 3 rewrites."""
    names = [f"doc{n:02}.txt" for n in range(count)]
    workspace = Workspace(root, writable=set(names))

    def wait() -> None:
        if lag is not None:
            time.sleep(lag.random() * 0.001)

    def write(request: dict[str, Any]) -> Mapping[str, Any]:
        wait()
        grown = request["candidate"] or f"{request['spec']['name']}\n"
        return {"candidate": grown + "".join(f"{code}\n" for code in request["feedback"][:1])}

    def review(code: str) -> Role:
        def answer(request: dict[str, Any]) -> Mapping[str, Any]:
            wait()
            needed = {"FIRST": 1, "SECOND": 2}.get(code, 0)
            asked = int(request["candidate"][3:5]) % 3 >= needed > 0 and code not in request["candidate"]
            return {
                "candidate_id": request["candidate_id"], "approved": not asked,
                "issues": [code] if asked else [],
            }  # fmt: skip

        return Role(name=code.lower(), model=ScriptedModel(answer, name=code), codes=(code,))

    codes = ("FIRST", "SECOND", "THIRD")
    return {
        name: Coordination(
            name,
            spec=Spec(
                file=name, content={"name": name}, reviewers=("first", "second", "third"), issues=codes
            ),
            writer=Role(name="writer", model=ScriptedModel(write, name="writer")),
            reviewers=[review(code) for code in codes],
            rounds=3,
            tests={"named": lambda first, final: final.startswith("doc")},
            workspace=workspace,
            clock=CLOCK,
            budget=budget,
        )
        for name in names
    }


def told(runs: dict[str, Coordination]) -> list[tuple[Any, ...]]:
    done = confirm(runs, YES)
    return [(name, one.saved, dict(one.calls), one.history, one.committed) for name, one in done.items()]


def test_fifty_documents_come_out_the_same_side_by_side(tmp_path: Path) -> None:
    # 17 documents pass at once, 17 after one rewrite, 16 after two; each round is 1 + 3 calls.
    calls = 4 * (17 * 1 + 17 * 2 + 16 * 3)
    outcomes = []
    for workers in (0, 8):
        root = tmp_path / str(workers)
        root.mkdir()
        budget = Budget(calls)
        runs = made(root, 50, budget, random.Random(7) if workers else None)
        if workers:
            with ThreadPoolExecutor(workers) as pool:
                write_and_review(runs, pool)
        else:
            write_and_review(runs)
        assert not list(root.glob("*.txt"))
        outcomes.append(told(runs))
        assert budget.spent == calls == 396 and budget.by_role()["writer"].calls == 99
    assert outcomes[0] == outcomes[1]
    assert all(one[-1] for one in outcomes[0])


def test_a_budget_that_does_not_reach_is_never_passed(tmp_path: Path) -> None:
    budget = Budget(30)
    runs = made(tmp_path, 12, budget, random.Random(3))
    with ThreadPoolExecutor(8) as pool:
        passed = write_and_review(runs, pool)
    assert budget.spent == 30 and budget.reserved == 0
    granted = [row for row in budget.rows() if row.state is not SpendState.REFUSED]
    assert len(granted) == 30
    values = [one.value for one in passed.values() if one.value is not None]
    assert len(values) == 12 and any(one.reason is StopReason.BUDGET for one in values)
    assert sum(sum(one.calls.values()) for one in values) == 30
    assert not any(one.committed for one in confirm(runs, YES).values()) and not list(tmp_path.glob("*.txt"))


def test_a_document_goes_in_order_while_documents_overlap(tmp_path: Path) -> None:
    lock, inside, most = threading.Lock(), 0, 0
    order: dict[str, list[str]] = {}
    barrier = threading.Barrier(2, timeout=10)

    def watched(document: str, name: str) -> None:
        nonlocal inside, most
        with lock:
            order.setdefault(document, []).append(name)
            inside, most = inside + 1, max(most, inside + 1)
        if name == "writer" and order[document].count("writer") == 1:
            barrier.wait()  # passes only where both documents are under way at once
        with lock:
            inside -= 1

    runs = {}
    for name, content in chapter.documents().items():
        runs[name] = Coordination(
            name,
            spec=Spec(file=name, content=content, reviewers=("form", "content"), issues=chapter.ISSUES),
            writer=chapter.writer(on_request=lambda request, name=name: watched(name, "writer")),
            reviewers=[
                chapter.reviewer(
                    part, codes, content, on_request=lambda r, name=name, part=part: watched(name, part)
                )
                for part, codes in (("form", chapter.FORM), ("content", chapter.CONTENT))
            ],
            rounds=3, tests=chapter.tests(content), workspace=Workspace(tmp_path, writable={name}),
            clock=CLOCK, budget=Budget(20),
        )  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        write_and_review(runs, pool)
    assert most == 2
    assert order == dict.fromkeys(runs, ["writer", "form", "content"] * 2)


SECONDS = {"writer": 4.0, "form": 1.0, "content": 2.0}


def _events(tmp_path: Path) -> dict[str, Any]:
    budget = Budget(20)
    runs = {
        name: chapter.coordination(
            tmp_path, file=name, reviewing=("form", "content"), budget=budget, clock=CLOCK, run_id=name
        )
        for name in chapter.documents()
    }
    done = write_and_review(runs)
    return {name: one.value.events for name, one in done.items() if one.value is not None}


def test_overlapping_saves_waiting_and_no_call(tmp_path: Path) -> None:
    # A document: (4 + 1 + 2) s twice = 14 s, six calls, three of them rework.
    events = _events(tmp_path)
    rows = {workers: call_rows(events, SECONDS, workers) for workers in (1, 2, 5)}
    table = frames.ways(way_rows({str(workers): found for workers, found in rows.items()}))
    assert table["wall"].tolist() == [28.0, 14.0, 14.0]
    assert table["calls"].tolist() == [12, 12, 12] and table["rework"].tolist() == [6, 6, 6]
    assert table["waited"].tolist() == [14.0, 0.0, 0.0], "the second document waits for the first"
    calls = frames.calls(rows[2])
    assert calls["start"].tolist() == [0, 4, 5, 7, 11, 12] * 2
    assert calls["end"].tolist() == [4, 5, 7, 11, 12, 14] * 2
    assert calls["round"].tolist() == [1, 1, 1, 2, 2, 2] * 2
    assert frames.calls([]).empty and frames.ways([]).empty


def test_one_worker_never_does_two_calls_at_once(tmp_path: Path) -> None:
    rows = call_rows(_events(tmp_path), SECONDS, 1)
    assert all(before["end"] <= after["start"] for before, after in pairwise(rows))


def test_unknown_roles_and_workers_are_refused(tmp_path: Path) -> None:
    events = _events(tmp_path)
    for seconds, workers in (({"writer": 1.0}, 1), ({**SECONDS, "form": -1.0}, 1), (SECONDS, 0)):
        with pytest.raises(InputError):
            call_rows(events, seconds, workers)


def test_the_timeline_shows_a_bar_a_call_and_a_line_a_document(tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from harness_kit import plots

    plots.use_korean()
    frame = frames.calls(call_rows(_events(tmp_path), SECONDS, 2))
    axes = plots.timeline(frame)
    bars = sorted((bar.get_y() + 0.3, bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    lines = [0] * 6 + [1] * 6
    wanted = sorted(zip(lines, frame["start"], frame["end"], strict=True))
    assert bars == [pytest.approx(row) for row in wanted]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["final.txt", "backup.txt"]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["작성자", "형식 검토자", "내용 검토자"]
    assert axes.get_xlabel() == "시간(초)"
    mpl.pyplot.close(axes.figure)
    empty = plots.timeline(frames.calls([]))
    mpl.pyplot.close(empty.figure)
