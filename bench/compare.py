"""What comparing two runs costs, against a bare pandas outer merge of the same columns. Exit 1 when over.

    python bench/compare.py [--quick]

Both sides start from what they take: `compare` from results in memory, the merge from two ready frames. The
hashes are texts of their own, as after reading a file. `compare` is measured with its verdict, all counts,
scores and the exact test, and once more with every row made. Both sides run in turn; the best of each counts.
"""

import gc
import sys
from collections.abc import Callable
from operator import attrgetter
from time import perf_counter
from typing import Any

import pandas as pd

from harness_kit.codes import Outcome
from harness_kit.compare import Comparison, compare
from harness_kit.results import CaseResult, EvalRun

BOUND = 5.0
COLUMNS = ("case_id", "outcome", "score", "input_hash", "expectation_hash", "grader_hash", "weight")


def run(version: str, count: int, *, step: int, hashes: bool = True) -> EvalRun:
    """A tenth of the cases fail, others in each version; a hundredth has a new input; the order differs.

    Without hashes the run is as from a file that carries neither them nor its set.
    """
    results = []
    for number in range(count):
        # 7,919 is a prime that divides no size here, so that every case comes once.
        case = number * 7_919 % count if step else number
        passed = (case + step) % 10 != 0
        results.append(
            CaseResult(
                case_id=f"case-{case:07d}", outcome=Outcome.PASSED if passed else Outcome.FAILED,
                score=float(passed),
                input_hash=f"{case + (step if case % 100 == 1 else 0):064x}" if hashes else None,
                expectation_hash=f"{case + 1:064x}" if hashes else None,
                grader_hash="a" * 64 if hashes else None,
            )
        )  # fmt: skip
    return EvalRun(run_id=f"eval:{version}", system="tidy", version=version, results=results,
                   case_ids=tuple(sorted(one.case_id for one in results)) if hashes else (),
                   knows_its_set=hashes)  # fmt: skip


def frame(one: EvalRun) -> pd.DataFrame:
    return pd.DataFrame(list(map(attrgetter(*COLUMNS), one.results)), columns=list(COLUMNS))


def judged(before: EvalRun, after: EvalRun) -> Comparison:
    comparison = compare(before, after)
    told = (comparison.verdict, comparison.counts, comparison.apart, comparison.causes, comparison.evidence,
            comparison.notes, comparison.improved, comparison.score_before(), comparison.score_after())
    assert all(one is not None for one in told)
    return comparison


def seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    began = perf_counter()
    held = call()
    took = perf_counter() - began
    del held
    return took


def measured(count: int, rounds: int, *, hashes: bool = True) -> bool:
    before, after = (run("v1", count, step=0, hashes=hashes), run("v2", count, step=3, hashes=hashes))
    left, right = frame(before), frame(after)
    sides: dict[str, Callable[[], Any]] = {
        "merge": lambda: left.merge(right, on="case_id", how="outer", indicator=True),
        "compare": lambda: judged(before, after),
    }
    if hashes:
        sides["compare and all rows"] = lambda: list(judged(before, after).rows)
    took: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            took[name].append(seconds(call))
    plain = min(took.pop("merge"))
    good = True
    for name, times in took.items():
        ratio = min(times) / plain
        # The rows are made on demand, a page of a table at a time; that all are made at once is no promise.
        bound = BOUND if name == "compare" else None
        good &= bound is None or ratio <= bound
        said = "no bound" if bound is None else f"bound {bound:g} x: {'ok' if ratio <= bound else 'OVER'}"
        what = f"{count:,} cases{'' if hashes else ' without hashes'}, {name}"
        print(f"{what}: {min(times):.2f} s, merge {plain:.2f} s; {ratio:.2f} x, {said}",
              flush=True)  # fmt: skip
    return good


def main() -> int:
    quick = "--quick" in sys.argv[1:]
    sizes = [(10_000, 5), (100_000, 3)] if quick else [(100_000, 5), (1_000_000, 3)]
    good = [measured(*size, hashes=hashes) for size in sizes for hashes in (True, False)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
