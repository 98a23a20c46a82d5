"""What a row of a journal costs, from 1,000 rows to 200,000: flat within 1.5 times. Exit 1 when over.

    python bench/journal.py [ROWS ...]

Time and memory are ratios to a bare `csv.DictReader` pass over the same file that keeps its rows, so that the
machine cancels out, its caches too: a pass that forgets each row is equally fast for any size, and nothing
that keeps them is. Half of the rows are equal items that all fit each other, so a search through pairs shows.
Each classification is held against the truth that the journal was made with.
"""

import csv
import sys
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

# Run from any folder, and of the checkout that this file is in.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness_kit.journal import gate, generator, ledger, parsing, reading  # the path comes first
from harness_kit.journal.config import Config
from harness_kit.journal.quiet import quiet
from harness_kit.journal.rows import Classification

SIZES = (1_000, 10_000, 200_000)
BOUND = 1.5
"""Largest cost of a row over that in the smallest journal."""

CONFIG = Config.from_mapping(generator.CONFIG)


@quiet()
def bare(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def whole(path: Path) -> Classification:
    table = reading.read(path)
    result = ledger.classify(parsing.parse_rows(table), CONFIG)
    if not gate.check(table, CONFIG, result).passed:
        raise SystemExit("the gate refuses the classification")
    return result


def seconds(call: Callable[[Path], object], path: Path) -> float:
    began = process_time()
    call(path)
    return process_time() - began


def peak(call: Callable[[Path], object], path: Path) -> int:
    """Bytes at most while `call` runs."""
    tracemalloc.start()
    call(path)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest


def wrong(made: generator.Made, result: Classification) -> int:
    """Target rows whose amounts by class differ from the truth."""
    found = {row_id: Counter[str]() for row_id in made.truth}
    for allocation in result.allocations:
        found[allocation.row_id][allocation.row_class] += allocation.amount
    return sum(+found[row_id] != Counter(truth) for row_id, truth in made.truth.items())


def main() -> int:
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    costs: list[tuple[float, float]] = []
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.csv"
            made = generator.generate(Random(size), rows=size, crowd=0.5)
            generator.write_csv(made.records, path)
            errors = wrong(made, whole(path))
            rows = len(made.records)
            # The generator's own records would be walked by every collection of the measured code.
            del made
            rounds = max(3, min(41, 100_000 // size))
            pairs = [(seconds(bare, path), seconds(whole, path)) for _ in range(rounds)]
            time = median(ours / theirs for theirs, ours in pairs)
            memory = peak(whole, path) / peak(bare, path)
            costs.append((time, memory))
            flat = [now / first for now, first in zip(costs[-1], costs[0], strict=True)]
            verdict = "ok" if max(flat) <= BOUND and not errors else "OVER"
            failed |= verdict != "ok"
            print(
                f"{rows:>7} rows: time {time:.1f} x, memory {memory:.2f} x a DictReader pass; "
                f"{flat[0]:.2f} and {flat[1]:.2f} of the smallest journal's, bound {BOUND}; "
                f"{errors} rows wrong: {verdict}",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
