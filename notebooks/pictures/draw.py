"""Draw the README's picture from a run, as the notebook does: python notebooks/pictures/draw.py"""

from pathlib import Path

import matplotlib as mpl

from harness_kit import frames, plots
from harness_kit.scenarios import approval_gate

mpl.use("Agg")
plots.use_korean()
result = approval_gate.run(limit=4)
axes = plots.spending(frames.spending(result.ledger, result.limit))
axes.figure.savefig(Path(__file__).parent / "budget.png", dpi=110, metadata={"Software": None})
