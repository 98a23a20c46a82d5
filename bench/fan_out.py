"""What overlapping 50 documents saves: eight workers against one after another, on latencies of 20 ms.

    python bench/fan_out.py [--quick]

Each document is written, reviewed by three reviewers, and rewritten up to twice; each call sleeps 20 ms.
Both ways must give the same results and make the same calls, and no ledger may be passed. The writing of
the files at the end, one after another by the coordinator, is outside the clock. Exits with 1 where the
ratio is over its bound.
"""

import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from harness_kit.approvers import ScriptedApprover
from harness_kit.budget import Budget
from harness_kit.codes import Decision
from harness_kit.fanout import confirm, write_and_review
from harness_kit.models import ScriptedModel
from harness_kit.roles import Coordination, Role, Spec
from harness_kit.trace import fixed_clock
from harness_kit.workspace import Workspace

DOCUMENTS, WORKERS, LATENCY, BOUND = 50, 8, 0.020, 1 / 5
CALLS = 4 * (17 * 1 + 17 * 2 + 16 * 3)
"""Rounds of the 50 documents, by number modulo 3, at one writer and three reviewers each."""
CODES = ("FIRST", "SECOND", "THIRD")
CLOCK = fixed_clock("2026-10-08T09:00:00+09:00")


def write(request: dict[str, Any]) -> Mapping[str, Any]:
    sleep(LATENCY)
    grown = request["candidate"] or f"{request['spec']['number']}\n"
    return {"candidate": grown + "".join(f"{code}\n" for code in request["feedback"][:1])}


def reviewer(code: str) -> Role:
    needed = CODES.index(code) + 1

    def answer(request: dict[str, Any]) -> Mapping[str, Any]:
        sleep(LATENCY)
        text = request["candidate"]
        asked = int(text.split()[0]) % 3 >= needed and code not in text
        issues = [code] if asked else []
        return {"candidate_id": request["candidate_id"], "approved": not asked, "issues": issues}

    return Role(name=code.lower(), model=ScriptedModel(answer, name=code), codes=(code,))


def once(count: int, workers: int) -> tuple[float, list[Any], int]:
    """Return seconds, results and calls of one way."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"doc{number:02}.txt" for number in range(count)]
        workspace = Workspace(Path(folder).resolve(), writable=set(names))
        budget = Budget(CALLS)
        runs = {
            name: Coordination(
                name,
                spec=Spec(
                    file=name,
                    content={"number": number},
                    reviewers=tuple(code.lower() for code in CODES),
                    issues=CODES,
                ),
                writer=Role(name="writer", model=ScriptedModel(write, name="writer")),
                reviewers=[reviewer(code) for code in CODES],
                rounds=3,
                tests={"begins with its number": lambda first, final: final.split()[0].isdigit()},
                workspace=workspace,
                clock=CLOCK,
                budget=budget,
            )
            for number, name in enumerate(names)
        }
        began = perf_counter()
        if workers == 1:
            write_and_review(runs)
        else:
            with ThreadPoolExecutor(workers) as pool:
                write_and_review(runs, pool)
        took = perf_counter() - began
        person = ScriptedApprover(decision=Decision.APPROVED, approver="bench", clock=CLOCK)
        done = confirm(runs, person)
        assert all(one.committed for one in done.values()), "every document is written"
        assert budget.spent <= budget.limit and budget.reserved == 0
        told = [(name, one.saved, dict(one.calls), one.history) for name, one in done.items()]
        return took, told, budget.spent


def main() -> int:
    count = 16 if "--quick" in sys.argv[1:] else DOCUMENTS
    slow, one_by_one, calls = once(count, 1)
    fast, side_by_side, calls_too = once(count, WORKERS)
    same = one_by_one == side_by_side and calls == calls_too
    ratio = fast / slow
    good = same and ratio <= BOUND
    print(
        f"{count} documents, 3 reviewers, {WORKERS} workers, {LATENCY * 1000:g} ms a call: "
        f"{slow:.2f} s one after another, {fast:.2f} s side by side; "
        f"{ratio:.3f} x, bound {BOUND:.3f} x: {'ok' if ratio <= BOUND else 'OVER'}; "
        f"{calls} and {calls_too} calls, results {'the same' if same else 'DIFFER'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
