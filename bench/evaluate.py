"""What an evaluation costs beside a plain loop that encodes and writes the same rows in the same way.

    python bench/evaluate.py [--quick]

Both sides split, strip and dedupe comma-separated text, grade it, and write for each case its run row, four
steps and one result, under the same PRAGMAs: once in a transaction a case, once in one transaction a thousand
cases. Building the cases and opening the file are outside the clock. Exits with 1 where a bound is passed.
"""

import gc
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from harness_kit.cases import Case, EvalSet
from harness_kit.evals import UNTIMED, evaluate
from harness_kit.store import TraceStore

BATCHED, PER_CASE, GROWTH = 2.0, 1.6, 1.3
BATCH = 1_000


def clean(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def made(count: int) -> EvalSet:
    return EvalSet(
        tuple(
            Case(
                id=f"case-{n}",
                input=f" 초안 {n} , 검토, 검토 ,, 발송 {n % 7}",
                expected=[f"초안 {n}", "검토", f"발송 {n % 7}"],
            )
            for n in range(count)
        )
    )


def ours(cases: EvalSet, batch: int) -> float:
    with tempfile.TemporaryDirectory() as folder, TraceStore(Path(folder) / "runs.db") as store:
        gc.collect()
        began = perf_counter()
        run = evaluate(clean, cases, store=store, version="1", batch=batch)
        spent = perf_counter() - began
        assert all(result.outcome == "passed" for result in run.results) and store.count_events() == 4 * len(
            cases
        )
        return spent


def plain(cases: EvalSet, batch: int) -> float:
    """The same rows by hand: json.dumps for every payload, execute for every row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with TraceStore(path) as store:
            evaluate(clean, [Case(id="first", input="", expected=[])], store=store, version="0")
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")
        gc.collect()
        began = perf_counter()
        results = []
        for place, case in enumerate(cases):
            if place % batch == 0:
                db.execute("BEGIN IMMEDIATE")
            actual = clean(case.input)
            passed = actual == case.expected
            trace_id = f"eval:1:{case.id}"
            key = db.execute(
                "INSERT INTO runs (run_id, system, version, status, started, data) "
                "VALUES (?, 'clean', '1', 'finished', ?, '{}')",
                (trace_id, UNTIMED),
            ).lastrowid
            steps = (
                ("input", {"case_id": case.id}),
                ("model", {"tool": "clean"}),
                ("tool", {"output": actual}),
                ("verify", {"passed": passed}),
            )
            for seq, (stage, data) in enumerate(steps, 1):
                db.execute(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?)", (key, seq, UNTIMED, stage, json.dumps(data))
                )
            result = {
                "outcome": "passed",
                "score": 1.0,
                "actual": actual,
                "expected": case.expected,
                "trace_id": trace_id,
                "input_hash": case.hashes["input"],
                "expectation_hash": case.hashes["expected"],
                "grader_hash": case.hashes["criterion"],
            }
            results.append(result)
            db.execute(
                "INSERT INTO case_results VALUES (?, ?, ?, ?)", ("eval:1", case.id, 1, json.dumps(result))
            )
            if place % batch == batch - 1 or place == len(cases) - 1:
                db.execute("COMMIT")
        spent = perf_counter() - began
        assert len(results) == len(cases)
        db.close()
        return spent


def judged(name: str, told: str, ratio: float, bound: float) -> bool:
    good = ratio <= bound
    print(f"{name}: {told}; {ratio:.2f} x, bound {bound} x: {'ok' if good else 'OVER'}", flush=True)
    return good


def compared(name: str, count: int, batch: int, bound: float, rounds: int) -> bool:
    cases = made(count)
    pairs = [(ours(cases, batch), plain(cases, batch)) for _ in range(rounds)]
    mine, theirs = (min(side) for side in zip(*pairs, strict=True))
    told = f"{mine / count * 1e6:.1f} µs a case (plain {theirs / count * 1e6:.1f})"
    return judged(f"{name}, {count:,} cases", told, mine / theirs, bound)


def growth(sizes: list[int], rounds: int) -> bool:
    costs = {}
    for size in sizes:
        cases = made(size)
        costs[size] = min(ours(cases, BATCH) for _ in range(max(rounds, 20_000 // size))) / size * 1e6
    told = ", ".join(f"{size:,}: {cost:.1f} µs" for size, cost in costs.items())
    return judged("cost of a case by size", told, max(costs.values()) / costs[sizes[0]], GROWTH)


MEMORY = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from evaluate import clean, made
from pathlib import Path
import tempfile
from harness_kit.evals import evaluate
from harness_kit.store import TraceStore

cases = made(int(sys.argv[2]))
steps = int(sys.argv[3])
def told(text, note):
    for n in range(steps):
        note("model", step=n, text=text * 20)
    return clean(text)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with tempfile.TemporaryDirectory() as folder, TraceStore(Path(folder) / "runs.db") as store:
    evaluate(told, cases, store=store, version="1", batch=1000)
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory(count: int) -> None:
    """Peak memory over that of the cases, with a short trace a case and with one ten times as long."""
    for steps in (1, 20):
        command = [sys.executable, "-c", MEMORY, str(Path(__file__).parent), str(count), str(steps)]
        before, after = map(
            int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        )
        unit = 1024 if sys.platform != "darwin" else 1024 * 1024
        print(
            f"memory, {count:,} cases, {steps} model steps each: "
            f"{before / unit:.0f} MiB of cases, peak {after / unit:.0f} MiB"
        )


def main() -> int:
    quick = "--quick" in sys.argv
    rounds = 3 if quick else 5
    good = [
        compared("batched", 10_000, BATCH, BATCHED, rounds),
        compared("per case", 3_000 if quick else 10_000, 1, PER_CASE, rounds),
        growth([1_000, 10_000] if quick else [1_000, 10_000, 100_000], 2),
    ]
    memory(5_000 if quick else 20_000)
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
