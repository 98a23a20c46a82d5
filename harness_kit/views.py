"""Runs and traces as rows and as lines of text; tables and plots are made from the same rows."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from harness_kit.canonical import dumps
from harness_kit.chain import Link
from harness_kit.labels import Word, label
from harness_kit.records import RunRecord
from harness_kit.store import TraceStore
from harness_kit.trace import Event


def trace_rows(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return one row a step: `seq`, `stage`, `time`, `seconds` since the step before, `units` used in this
    step, `spent` units so far, and `detail` (the rest of the event's data).

    Units come from events that carry the run's spending so far under `cost`.
    """
    rows: list[dict[str, Any]] = []
    before: datetime | None = None
    spent = 0
    for event in events:
        now = datetime.fromisoformat(event.time)
        so_far = event.data.get("cost", spent)
        rows.append(
            {
                "seq": event.seq,
                "stage": event.stage,
                "time": event.time,
                "seconds": (now - before).total_seconds() if before is not None else 0.0,
                "units": so_far - spent,
                "spent": so_far,
                "detail": {name: value for name, value in event.data.items() if name != "cost"},
            }
        )
        before, spent = now, so_far
    return rows


def trace_lines(store: TraceStore, run_id: str) -> list[str]:
    """Return a run as text: its own line, then one line a step."""
    lines = [run_line(store.run(run_id))]
    for row in trace_rows(store.events(run_id)):
        detail = dumps(row["detail"]).decode("utf-8")
        lines.append(
            f"  {row['seq']} {row['stage']} +{row['seconds']:g} s, "
            f"{label(Word.SPENT)} {row['spent']} {label(Word.UNITS)} {detail}"
        )
    return lines


def decision_line(link: Link) -> str:
    """Return one line: which row, what was decided by whom, and the beginning of its hash."""
    approval = link.body.get("approval", {})
    said = [approval[name] for name in ("decision", "approver", "reason") if approval.get(name)]
    by = link.body.get("by")
    return " ".join(
        [
            str(link.seq),
            link.time,
            link.kind,
            link.run_id,
            *([by] if by else []),
            " / ".join(said),
            link.hash[:12],
        ]
    ).replace("  ", " ")


def run_line(run: RunRecord) -> str:
    """Return one line: ended, judged, decided and written are said apart."""
    parts = {
        Word.STATUS: run.status, Word.REASON: run.reason, Word.PASSED: run.passed, Word.REVIEW: run.review,
        Word.COMMITTED: run.committed, Word.COST: run.cost,
    }  # fmt: skip
    return f"{run.run_id}: " + ", ".join(
        f"{label(word)}={'-' if value is None else str(value).lower()}" for word, value in parts.items()
    )
