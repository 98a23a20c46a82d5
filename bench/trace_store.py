"""What storing and reading a trace costs, against a plain loop that writes the same rows. Exit 1 when over.

    python bench/trace_store.py [--quick]

The loop calls `json.dumps` on each payload and inserts the same row into the same tables under the same
PRAGMAs. Opening and schema are timed apart. Both sides run in turn, so that a slow spell of the machine meets
both; the ratio of the best of each is compared. `--quick` takes a tenth of the sizes.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from harness_kit.store import TraceStore
from harness_kit.trace import Event, trusted_event

NINE = "2026-10-08T09:00:00+09:00"
BATCHED, PER_RUN, GROWTH = 1.6, 1.5, 1.3
RUN_EVENTS = 10


def payload(number: int) -> dict[str, object]:
    """Data as a chapter's events hold it: about 130 bytes of JSON."""
    return {
        "task": f"documents/{number % 97}.txt", "action": "summarize", "cost": number % 13, "ok": True,
        "detail": {"reason": "자료를 읽음", "lines": [1, 2, 3]},
    }  # fmt: skip


def events_of(run_id: str, count: int) -> list[Event]:
    return [trusted_event(run_id, seq, NINE, "model", payload(seq)) for seq in range(1, count + 1)]


@contextmanager
def new_store() -> Iterator[TraceStore]:
    with tempfile.TemporaryDirectory() as folder, TraceStore(Path(folder) / "runs.db") as store:
        yield store


@contextmanager
def plain_connection() -> Iterator[sqlite3.Connection]:
    """A bare connection to a store's file: the same tables and PRAGMAs, none of its code."""
    with new_store() as store:
        connection = sqlite3.connect(store.path, isolation_level=None)
        for name in ("secure_delete", "synchronous", "fullfsync", "busy_timeout"):
            with store.read() as db:
                (value,) = db.execute(f"PRAGMA {name}").fetchone()
            connection.execute(f"PRAGMA {name} = {value}")
        yield connection
        connection.close()


def batched(count: int) -> float:
    """Seconds to store `count` events in one transaction."""
    events = events_of("run", count)
    with new_store() as store:
        store.open_run("run", started=NINE)
        began = perf_counter()
        store.append(events)
        return perf_counter() - began


INSERT_RUN = "INSERT INTO runs (run_id, system, version, started, data) VALUES (?, '', '', ?, '{}')"
INSERT_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"


def plain_batched(count: int) -> float:
    rows = [(seq, NINE, "model", payload(seq)) for seq in range(1, count + 1)]
    with plain_connection() as db:
        db.execute(INSERT_RUN, ("run", NINE))
        began = perf_counter()
        db.execute("BEGIN IMMEDIATE")
        for seq, time, stage, data in rows:
            db.execute(INSERT_EVENT, (1, seq, time, stage, json.dumps(data)))
        db.execute("COMMIT")
        return perf_counter() - began


def per_run(count: int) -> float:
    """Seconds to store `count` events in runs of ten, each run and its events in a transaction of its own."""
    runs = [(name, events_of(name, RUN_EVENTS)) for name in map("run-{}".format, range(count // RUN_EVENTS))]
    with new_store() as store:
        began = perf_counter()
        for name, events in runs:
            with store.transaction():
                store.open_run(name, started=NINE)
                store.append(events)
        return perf_counter() - began


def plain_per_run(count: int) -> float:
    names = [f"run-{number}" for number in range(count // RUN_EVENTS)]
    rows = [[(seq, NINE, "model", payload(seq)) for seq in range(1, RUN_EVENTS + 1)] for _ in names]
    with plain_connection() as db:
        began = perf_counter()
        for name, events in zip(names, rows, strict=True):
            db.execute("BEGIN IMMEDIATE")
            key = db.execute(INSERT_RUN, (name, NINE)).lastrowid
            for seq, time, stage, data in events:
                db.execute(INSERT_EVENT, (key, seq, time, stage, json.dumps(data)))
            db.execute("COMMIT")
        return perf_counter() - began


def compared(name: str, ours: Callable[[int], float], plain: Callable[[int], float], count: int, bound: float,
             rounds: int) -> bool:  # fmt: skip
    """Print one line and return whether ours stays within `bound` times the plain loop."""
    pairs = [(ours(count), plain(count)) for _ in range(rounds)]
    mine, theirs = (min(side) for side in zip(*pairs, strict=True))
    ratio = mine / theirs
    each, plainly = mine / count * 1e6, theirs / count * 1e6
    told = f"{count / mine:,.0f} events/s, {each:.2f} µs an event (plain {plainly:.2f})"
    return judged(f"{name}, {count:,} events", told, ratio, bound)


def judged(name: str, told: str, ratio: float, bound: float) -> bool:
    good = ratio <= bound
    print(f"{name}: {told}; {ratio:.2f} x, bound {bound} x: {'ok' if good else 'OVER'}", flush=True)
    return good


def growth(sizes: list[int], rounds: int) -> bool:
    """Whether an event of the largest batch costs about what one of the smallest does."""
    costs = {}
    for size in sizes:
        # As many small batches as it takes to be timed, and never fewer than three looks.
        repeats = max(rounds, min(40, 100_000 // size))
        costs[size] = min(batched(size) for _ in range(repeats)) / size * 1e6
    told = ", ".join(f"{size:,}: {cost:.2f} µs" for size, cost in costs.items())
    return judged("cost of an event by batch", told, max(costs.values()) / costs[sizes[0]], GROWTH)


def opening() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        times = []
        for _ in range(2):
            began = perf_counter()
            TraceStore(path).close()
            times.append((perf_counter() - began) * 1000)
    print(f"opening: {times[0]:.1f} ms with the schema, {times[1]:.1f} ms without", flush=True)


READ = """
import sys
from time import perf_counter
import pandas
from harness_kit import frames
from harness_kit.store import TraceStore

def peak():
    try:
        import resource
    except ImportError:
        return float("nan")  # Windows
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)

before = peak()
with TraceStore(sys.argv[1]) as store:
    began = perf_counter()
    frame = frames.events(store)
    took = perf_counter() - began
print(f"{len(frame):,} rows in {took:.1f} s, {took / len(frame) * 1e6:.1f} µs a row, "
      f"peak memory {peak():.2f} GiB ({before:.2f} before)")
"""


def reading(count: int) -> None:
    """Bytes an event on disk, and what it takes to have them all in a DataFrame (in a process of its own)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with TraceStore(path) as store:
            for name in map("run-{}".format, range(count // 1000)):
                store.open_run(name, started=NINE)
                store.append(events_of(name, 1000))
        text = (
            sum(len(json.dumps(payload(seq), ensure_ascii=False).encode()) for seq in range(1, 1001)) / 1000
        )
        size = path.stat().st_size / count
        print(
            f"size: {size:.0f} bytes an event, of which {text:.0f} are its payload as plain JSON", flush=True
        )
        try:
            import pandas  # noqa: F401
        except ImportError:
            print("DataFrame: not measured; install the extra notebook")
            return
        said = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True,
            cwd=Path(__file__).resolve().parent.parent,
        )  # fmt: skip
        print(f"DataFrame: {said.stdout.strip()}", flush=True)


def main() -> int:
    quick = "--quick" in sys.argv[1:]
    scale, rounds = (10, 15) if quick else (1, 9)
    opening()
    reading(1_000_000 // scale)  # first, since a child's peak memory begins with that of this process
    good = [
        compared("batched", batched, plain_batched, 100_000 // scale, BATCHED, rounds),
        compared("a transaction a run", per_run, plain_per_run, 20_000 // scale, PER_RUN, rounds),
        growth([1_000, 10_000, 100_000, 1_000_000 // scale], 2),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
