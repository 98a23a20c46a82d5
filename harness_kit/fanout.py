"""Several pieces of work side by side: results by name, one owner a file, and what overlapping costs.

    jobs = [Job(name="a", files=("a.txt",)), Job(name="b", files=("b.txt",))]
    done = fan_out(jobs, write_one, executor)      # {'a': Done(...), 'b': Done(...)} whoever came first

What one job does stays in order; only jobs overlap. Without an executor they run one after another, with
the same results: overlapping saves waiting, never calls.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harness_kit.approval import Approver
from harness_kit.codes import RunStatus, Stage
from harness_kit.coordination import Coordination
from harness_kit.errors import InputError
from harness_kit.paths import check_name, fold
from harness_kit.roles import Coordinated, drive, result_of
from harness_kit.trace import Event

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of work."""

    name: str
    """Results are kept under it."""
    files: tuple[str, ...] = ()
    """The files that this job owns; no other may claim one of them."""
    data: Any = None
    """Whatever the work needs besides."""


@dataclass(frozen=True, kw_only=True)
class Done(Generic[T]):
    """What became of one job."""

    name: str
    value: T | None
    """What the work returned; None where it raised."""
    error: str | None
    """Type and words of what it raised; None where it returned."""


def fan_out(
    jobs: Iterable[Job], role: Callable[[Job], T], executor: "Executor | None" = None
) -> dict[str, Done[T]]:
    """Do `role` for every job and return what became of each, in the order of `jobs`.

    `InputError`, before anything is called, where two jobs share a name or claim one file. A job that
    raises is reported in its own place; the others go on.
    """
    todo = list(jobs)
    _check_owners(todo)
    if executor is None:
        return {job.name: _do(role, job) for job in todo}
    started: list[tuple[Job, Future[Done[T]] | Exception]] = []
    for job in todo:
        try:
            started.append((job, executor.submit(_do, role, job)))
        except Exception as error:  # a pool that broke takes no more; what it has done is kept
            started.append((job, error))
    return {job.name: _collected(job, future) for job, future in started}


def _do(role: Callable[[Job], T], job: Job) -> Done[T]:
    try:
        return Done(name=job.name, value=role(job), error=None)
    except Exception as error:
        return Done(name=job.name, value=None, error=f"{type(error).__name__}: {error}")


def _collected(job: Job, future: "Future[Done[T]] | Exception") -> Done[T]:
    try:
        if isinstance(future, Exception):
            raise future
        return future.result()
    except Exception as error:
        return Done(name=job.name, value=None, error=f"{type(error).__name__}: {error}")


def _check_owners(jobs: Sequence[Job]) -> None:
    owners: dict[str, str] = {}
    names: set[str] = set()
    for job in jobs:
        if not job.name.strip() or job.name in names:
            raise InputError(f"job name {job.name!r} is blank or stands twice; give each job its own name")
        names.add(job.name)
        for file in job.files:
            other = owners.setdefault(fold(check_name(file)), job.name)
            if other != job.name:
                raise InputError(f"jobs {other!r} and {job.name!r} both claim {file!r}; give it to one")


def write_and_review(
    runs: Mapping[str, Coordination], executor: "Executor | None" = None
) -> dict[str, Done[Coordinated]]:
    """Drive every run until it has ended or its candidate waits for approval; nothing is written yet."""
    jobs = [Job(name=name, files=(run.spec.file,)) for name, run in runs.items()]

    def work(job: Job) -> Coordinated:
        drive(runs[job.name], None)
        return result_of(runs[job.name])

    return fan_out(jobs, work, executor)


def confirm(runs: Mapping[str, Coordination], approver: Approver | None) -> dict[str, Coordinated]:
    """Ask for and write every document, one after another, once all have passed; otherwise write none."""
    if all(run.status is RunStatus.WAITING for run in runs.values()):
        for run in runs.values():
            drive(run, approver)
    return {name: result_of(run) for name, run in runs.items()}


CALL_STAGES = frozenset({Stage.WRITE, Stage.REVIEW, Stage.ANSWER_REFUSED})


def call_rows(
    events: Mapping[str, Iterable[Event]], seconds: Mapping[str, float], workers: int = 1
) -> list[dict[str, Any]]:
    """Lay the calls of several documents out in time, as `workers` would make them, and return a row a call.

    `seconds` says how long a call of each role takes. A document's calls stay in order; a worker takes the
    next document once it is free. Columns: `document`, `role`, `round`, `rework` (a call after round 1),
    `refused`, `waited` (seconds from when the call could have begun to its start), `start`, `end` (seconds
    from the beginning of all).
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers is {workers!r}; expected a whole number, 1 or more")
    free = [0.0] * workers
    rows: list[dict[str, Any]] = []
    for document, told in events.items():
        worker = free.index(min(free))
        ready, now = 0.0, free[worker]
        for event in told:
            if event.stage not in CALL_STAGES or event.data.get("called") is False:
                continue
            role = event.data["role"]
            if role not in seconds or not seconds[role] >= 0:
                raise InputError(
                    f"seconds has {seconds.get(role)!r} for role {role!r}; give 0 or more seconds a call"
                )
            rows.append(
                {
                    "document": document, "role": role, "round": event.data["round"],
                    "rework": event.data["round"] > 1, "refused": event.stage == Stage.ANSWER_REFUSED,
                    "waited": round(now - ready, 9), "start": round(now, 9),
                    "end": round(now + seconds[role], 9),
                }
            )  # fmt: skip
            ready = now = now + seconds[role]
        free[worker] = now
    return rows


def way_rows(ways: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return one row a way of working: `way`, `wall` and `waited` (seconds), `calls`, `rework`."""
    return [
        {
            "way": way, "wall": max((row["end"] for row in rows), default=0.0), "calls": len(rows),
            "rework": sum(row["rework"] for row in rows),
            "waited": round(sum(row["waited"] for row in rows), 9),
        }
        for way, rows in ways.items()
    ]  # fmt: skip
