"""Thirty processes write runs into one store at once: nothing may be lost. Exit 1 where something is.

    python bench/store_processes.py [--quick]

One write is one transaction with a new run and its ten events. Its time includes waiting for the others.
First all write as fast as they can, in bursts; then each pauses between two writes, as real runs do.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import quantiles
from time import perf_counter, sleep

from harness_kit.store import TraceStore
from harness_kit.trace import trusted_event

NINE = "2026-10-08T09:00:00+09:00"
PROCESSES, EVENTS = 30, 10
PAUSE = 0.005
"""Seconds between two writes of one process in the second part."""


def write(path: str, writer: str, runs: int, pause: float, start: Path) -> None:
    """Be one of the writers: print the milliseconds of each write."""
    while not start.exists():
        sleep(0.001)
    with TraceStore(path) as store:
        for number in range(runs):
            run_id = f"{writer}-{number}"
            events = [trusted_event(run_id, seq, NINE, "model", {"n": seq}) for seq in range(1, EVENTS + 1)]
            sleep(pause)
            began = perf_counter()
            with store.transaction():
                store.open_run(run_id, started=NINE)
                store.append(events)
            print((perf_counter() - began) * 1000)


def together(runs: int, pause: float) -> bool:
    """Let all processes write `runs` runs each; print how long one write took, and whether all are there."""
    with tempfile.TemporaryDirectory() as folder:
        path, start = Path(folder) / "runs.db", Path(folder) / "start"
        command = [sys.executable, __file__, "--writer", str(path), str(runs), str(pause), str(start)]
        root = Path(__file__).resolve().parent.parent
        writers = [
            subprocess.Popen([*command, f"writer{number}"], cwd=root, stdout=subprocess.PIPE, text=True)
            for number in range(PROCESSES)
        ]
        sleep(2)  # until all have been started, so that they also create the file together
        began = perf_counter()
        start.touch()
        printed = [writer.communicate()[0] for writer in writers]
        took = perf_counter() - began
        failed = [number for number, writer in enumerate(writers) if writer.returncode]
        wanted = {f"writer{number}-{run}" for number in range(PROCESSES) for run in range(runs)}
        with TraceStore(path) as store:
            lost = wanted - {run.run_id for run in store.runs()}
            events = store.count_events()
    times = sorted(float(line) for text in printed for line in text.splitlines())
    cuts = quantiles(times, n=100)
    print(f"one write, pause {pause * 1000:g} ms: p50 {cuts[49]:.1f} ms, p95 {cuts[94]:.1f} ms, "
          f"p99 {cuts[98]:.1f} ms, worst {times[-1]:.0f} ms; "
          f"all together {len(times) / took:,.0f} writes/s")  # fmt: skip
    good = not failed and not lost and events == len(wanted) * EVENTS
    print(f"{PROCESSES} processes, {len(wanted):,} runs, {events:,} events: {len(lost)} runs lost, "
          f"{len(failed)} writers failed: {'ok' if good else 'LOST'}")  # fmt: skip
    return good


def main() -> int:
    runs = 20 if "--quick" in sys.argv[1:] else 500
    good = [together(runs, 0), together(runs, PAUSE)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    if "--writer" in sys.argv[1:]:
        _, _, store_path, count, wait, start_file, name = sys.argv
        write(store_path, name, int(count), float(wait), Path(start_file))
    else:
        sys.exit(main())
