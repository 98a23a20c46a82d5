"""Run a system over an evaluation set: one result and one four-step trace a case, kept as they come.

    before = evaluate(v1, EvalSet.read("cases.jsonl"), store=store)

A system is a function of the input; one that takes a second parameter named `note` may tell its own steps:
`note("model", tool="clean_items", items=[…])`. A case that crashes is *errored* and the others go on.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from harness_kit import canonical
from harness_kit.budget import Budget, Spend
from harness_kit.cases import Case, EvalSet
from harness_kit.codes import Outcome, ReviewStatus
from harness_kit.errors import BudgetError, InputError, RunError
from harness_kit.extras import need
from harness_kit.graders import code_of
from harness_kit.records import RunRecord
from harness_kit.results import CaseResult, EvalRun
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, Event, trusted_event
from harness_kit.trials import UNTIMED, Ran, not_run, run_case, takes_note

WINDOW = 256
"""Cases handed to an executor ahead of the one whose result is waited for."""

_SCHEMA = """CREATE TABLE IF NOT EXISTS case_results (
    run TEXT NOT NULL, case_id TEXT NOT NULL, repeat INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, case_id, repeat)) WITHOUT ROWID"""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What an evaluation is made of, and what a resumed one must agree with."""

    run_id: str
    system: Callable[..., Any]
    name: str
    version: str
    cases: EvalSet
    repeats: int

    def told(self) -> dict[str, Any]:
        ids = [case.id for case in self.cases]
        return {"kind": "evaluation", "set": self.cases.hash, "repeats": self.repeats, "case_ids": ids}


def evaluate(
    system: Callable[..., Any],
    cases: EvalSet | Iterable[Case],
    *,
    store: TraceStore | None = None,
    name: str | None = None,
    version: str | None = None,
    repeats: int = 1,
    select: Callable[[Case], bool] | None = None,
    budget: Budget | None = None,
    executor: Executor | None = None,
    on_event: Iterable[Callable[[Event], object]] = (),
    progress: bool = False,
    clock: Clock | None = None,
    resume: str | None = None,
    run_id: str | None = None,
    batch: int = 1,
) -> EvalRun:
    """Run `system` on every case, `repeats` times, and return the results in the order of the set.

    Each call is a new run with a new id; `resume=id` goes on with an interrupted one and runs only what is
    missing, and `RunError` where system, version, cases or graders are not those that began it. Results are
    committed every `batch` cases. `budget` reserves `system.units` (1) before each case; what does not fit
    is *not run*. `executor` is any of `concurrent.futures`; its order changes nothing. Without `store` the
    traces live in memory, as long as the run that is returned.
    """
    chosen = cases if isinstance(cases, EvalSet) else EvalSet(tuple(cases))
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1 or batch < 1:
        raise InputError(f"repeats is {repeats!r} and batch {batch!r}; expected whole numbers, 1 or more")
    kept = store if store is not None else TraceStore(":memory:")
    called = str(name or getattr(system, "name", None) or getattr(system, "__name__", type(system).__name__))
    what = version or getattr(system, "version", None) or canonical.fingerprint(code_of(system))[:12]
    with kept.transaction() as db:
        db.execute(_SCHEMA)
    begun = resume or run_id or _new_id(kept, f"eval:{version or getattr(system, 'version', None) or called}")
    plan = _Plan(run_id=begun, system=system, name=called, version=what, cases=chosen, repeats=repeats)
    done = _taken_up(kept, plan) if resume else _opened(kept, plan, clock)
    _work(kept, plan, done, select, budget, executor, tuple(on_event), progress, clock, batch)
    kept.update_run(plan.run_id, status="finished", ended=clock() if clock else None)
    return _run_of(kept, kept.run(plan.run_id), done)


def read_run(store: TraceStore, run_id: str) -> EvalRun:
    """Return a stored evaluation; not complete where it was interrupted."""
    row = store.run(run_id)
    if row.data.get("kind") != "evaluation":
        raise InputError(
            f"run {run_id!r} is no evaluation; see the runs of the store with `harness-kit trace`"
        )
    return _run_of(store, row, dict(_stored(store, run_id)))


def _run_of(store: TraceStore, row: RunRecord, done: Mapping[tuple[str, int], CaseResult]) -> EvalRun:
    finished = row.status == "finished"
    wanted = [
        (case_id, turn) for case_id in row.data["case_ids"] for turn in range(1, row.data["repeats"] + 1)
    ]
    return EvalRun(
        run_id=row.run_id,
        system=row.system,
        version=row.version,
        results=[done[key] for key in wanted if key in done],
        set_hash=row.data["set"],
        case_ids=tuple(row.data["case_ids"]),
        complete=finished,
        problem="" if finished else "interrupted before its end",
        started=row.started,
        ended=row.ended,
        traces=store.events,
    )


def score(run: EvalRun) -> float:
    """Return the share of the weight that passed, 0 to 1; errored is not passed, not selected not counted."""
    counted = [result for result in run.results if result.outcome is not Outcome.NOT_SELECTED]
    whole = sum(result.weight for result in counted)
    return (
        sum(result.weight for result in counted if result.outcome is Outcome.PASSED) / whole if whole else 0.0
    )


def _new_id(store: TraceStore, wanted: str) -> str:
    turn, run_id = 1, wanted
    with store.read() as db:
        while db.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone():
            turn += 1
            run_id = f"{wanted}#{turn}"
    return run_id


def _opened(store: TraceStore, plan: _Plan, clock: Clock | None) -> dict[tuple[str, int], CaseResult]:
    started = clock() if clock else UNTIMED
    store.open_run(plan.run_id, system=plan.name, version=plan.version, started=started, data=plan.told())
    return {}


def _taken_up(store: TraceStore, plan: _Plan) -> dict[tuple[str, int], CaseResult]:
    row = store.run(plan.run_id)
    begun = {
        "system": row.system,
        "version": row.version,
        **{name: row.data.get(name) for name in ("set", "repeats")},
    }
    now = {"system": plan.name, "version": plan.version, "set": plan.cases.hash, "repeats": plan.repeats}
    differs = [f"{what} was {begun[what]!r}, is {now[what]!r}" for what in now if begun[what] != now[what]]
    if differs:
        raise RunError(
            f"run {plan.run_id!r} cannot be resumed: {'; '.join(differs)}; start a new run instead"
        )
    return dict(_stored(store, plan.run_id))


def _work(
    store: TraceStore,
    plan: _Plan,
    done: dict[tuple[str, int], CaseResult],
    select: Callable[[Case], bool] | None,
    budget: Budget | None,
    executor: Executor | None,
    on_event: tuple[Callable[[Event], object], ...],
    progress: bool,
    clock: Clock | None,
    batch: int,
) -> None:
    """Run what is not in `done` yet, keep it, and put it there."""
    turns = range(1, plan.repeats + 1)
    jobs = [(case, turn) for case in plan.cases for turn in turns if (case.id, turn) not in done]
    run_one = partial(run_case, plan.system, takes_note(plan.system), plan.run_id, plan.repeats, clock)
    units = getattr(plan.system, "units", 1)
    finished = _in_order(jobs, select, _reserver(budget, units, plan.run_id), executor, run_one)
    if progress:
        finished = need("tqdm.auto", "notebook").tqdm(
            finished, total=len(jobs), unit="case", desc=plan.run_id
        )
    waiting: list[Ran] = []
    held = 0
    for result, steps in finished:
        waiting.append((result, steps))
        held += len(steps)
        if (
            len(waiting) >= batch or held >= 4 * batch
        ):  # long traces are not held for the sake of a full batch
            _keep(store, plan, waiting)
            done.update({(one.case_id, one.repeat): one for one, _ in waiting})
            waiting.clear()
            held = 0
        for number, (time, stage, data) in enumerate(steps if on_event else (), 1):
            event = trusted_event(result.trace_id or "", number, time, stage, canonical.loads(data))
            for observer in on_event:
                observer(event)
    _keep(store, plan, waiting)
    done.update({(one.case_id, one.repeat): one for one, _ in waiting})


def _reserver(budget: Budget | None, units: int, run_id: str) -> Callable[[Case, int], Spend | None]:
    """Return what reserves a case's units before it runs."""

    def reserve(case: Case, repeat: int) -> Spend | None:
        if budget is None:
            return None
        spend = budget.reserve(units, role="case", key=f"{run_id}:{case.id}:{repeat}", run_id=run_id)
        spend.start()
        return spend

    return reserve


def _in_order(
    jobs: list[tuple[Case, int]],
    select: Callable[[Case], bool] | None,
    reserve: Callable[[Case, int], Spend | None],
    executor: Executor | None,
    run_one: Callable[[Case, int], Ran],
) -> Iterator[Ran]:
    """Yield results in the order of the jobs, whatever order the executor ends them in."""
    ahead: deque[Callable[[], Ran]] = deque()
    for case, repeat in jobs:
        if select is not None and not select(case):
            ahead.append(partial(not_run, case, repeat, Outcome.NOT_SELECTED, "left out on purpose"))
        else:
            try:
                spend = reserve(case, repeat)
            except BudgetError as error:
                ahead.append(partial(not_run, case, repeat, Outcome.NOT_RUN, str(error)))
            else:
                submitted = (
                    partial(run_one, case, repeat)
                    if executor is None
                    else executor.submit(run_one, case, repeat).result
                )
                ahead.append(partial(_paid, submitted, spend))
        while len(ahead) > (0 if executor is None else WINDOW):
            yield ahead.popleft()()
    while ahead:
        yield ahead.popleft()()


def _paid(job: Callable[[], Ran], spend: Spend | None) -> Ran:
    """Wait for a job and settle what it cost, however it ends."""
    try:
        result, steps = job()
    finally:
        if spend is not None:
            spend.settle()
    return (replace(result, cost=float(spend.units)) if spend is not None else result), steps


def _keep(store: TraceStore, plan: _Plan, waiting: list[Ran]) -> None:
    """Store results and traces together, so that a finished case is there whole or not at all."""
    if not waiting:
        return
    with store.transaction() as db:
        traces = [(result.trace_id, steps) for result, steps in waiting if result.trace_id is not None]
        store.put_traces(traces, system=plan.name, version=plan.version)
        rows = [(plan.run_id, result.case_id, result.repeat, _text(result)) for result, _ in waiting]
        db.executemany("INSERT INTO case_results VALUES (?, ?, ?, ?)", rows)


_STORED = [(item.name, item.default) for item in fields(CaseResult) if item.name not in ("case_id", "repeat")]


def _text(result: CaseResult) -> str:
    """Return what is stored of a result: every field that is not as a fresh one has it."""
    held = {}
    for name, default in _STORED:
        value = getattr(result, name)
        if value is not default and value != default:
            held[name] = value
    return canonical.text(held)


def _stored(store: TraceStore, run_id: str) -> Iterator[tuple[tuple[str, int], CaseResult]]:
    with store.read() as db:
        rows = db.execute(
            "SELECT case_id, repeat, data FROM case_results WHERE run = ?", (run_id,)
        ).fetchall()
    for case_id, repeat, text in rows:
        held = canonical.loads(text)
        held.update(outcome=Outcome(held["outcome"]), tags=tuple(held.get("tags", ())))
        held["review"] = ReviewStatus(held.get("review", ReviewStatus.NOT_NEEDED))
        yield (case_id, repeat), CaseResult(case_id=case_id, repeat=repeat, **held)
