"""What `import harness_kit` costs over an empty interpreter: at most 60 ms. Exit 1 when over.

    python bench/import_time.py [ROUNDS]

The two are run in turn, so that a slow spell of the machine meets both; medians are compared. Compiled
files are kept, as they are for any installed package, in a folder of this run's own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

BOUND = 60.0
"""Milliseconds."""


def once(statement: str, environment: dict[str, str]) -> float:
    """Milliseconds of one fresh interpreter that runs `statement`."""
    root = Path(__file__).resolve().parent.parent
    began = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, cwd=root, env=environment)
    return (perf_counter() - began) * 1000


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as compiled:
        environment["PYTHONPYCACHEPREFIX"] = compiled
        once("import harness_kit", environment)  # compiles
        pairs = [(once("pass", environment), once("import harness_kit", environment)) for _ in range(rounds)]
    empty, full = (median(side) for side in zip(*pairs, strict=True))
    cost = full - empty
    verdict = "ok" if cost <= BOUND else "OVER"
    over = f"{cost:.1f} ms over an empty interpreter ({empty:.1f} ms)"
    print(f"import harness_kit: {over}, bound {BOUND:.0f} ms: {verdict}")
    return int(cost > BOUND)


if __name__ == "__main__":
    sys.exit(main())
