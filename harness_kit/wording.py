"""Tables in the learner's words: Korean column names and codes, for looking at."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness_kit.codes import (
    AlertKind,
    Bucket,
    Cause,
    Outcome,
    ReviewStatus,
    SpendState,
    Stage,
    Standing,
    StopReason,
    TaskStatus,
    TriggerSource,
    TriggerStatus,
)
from harness_kit.extras import need
from harness_kit.labels import Word, label
from harness_kit.rolewords import RoleWord

if TYPE_CHECKING:
    import pandas as pd

_COLUMN_WORDS: dict[str, StrEnum] = {
    "calls": Word.CALLS, "document": RoleWord.DOCUMENT, "end": RoleWord.END, "rework": RoleWord.REWORK,
    "round": RoleWord.ROUND, "start": RoleWord.START, "waited": RoleWord.WAITED, "wall": RoleWord.WALL,
    "way": RoleWord.WAY,
    "actual": Word.ACTUAL, "alert": Word.ALERT, "expected": Word.EXPECTED, "outcome": Word.OUTCOME,
    "refused": Word.REFUSED, "same": Word.SAME, "score": Word.SCORE, "source": Word.SOURCE,
    "trigger": Word.TRIGGER, "trigger_status": Word.STATUS, "version": Word.VERSION,
    "after": Word.AFTER, "apart": Word.COUNTED_APART, "before": Word.BEFORE, "bucket": Word.BUCKET,
    "case_id": Word.CASE, "cases": Word.CASES, "cause": Word.CAUSE,
    "asked": Word.ASKED_UNITS, "check": Word.CHECK, "committed": Word.COMMITTED, "cost": Word.BUDGET,
    "detail": Word.DETAIL, "finished": Word.FINISHED, "limit": Word.LIMIT, "name": Word.TASK,
    "observation": Word.OBSERVATION, "passed": Word.PASSED, "reason": Word.REASON, "reserved": Word.RESERVED,
    "review": Word.REVIEW, "role": Word.ROLE, "scenario": Word.SCENARIO, "seconds": Word.SECONDS,
    "seq": Word.STEP, "spent": Word.SPENT, "stage": Word.STAGE, "state": Word.STATUS, "status": Word.STATUS,
    "step": Word.STEP, "summary": Word.SUMMARY, "time": Word.TIME, "units": Word.UNITS,
}  # fmt: skip
_CODES: dict[str, type[StrEnum]] = {
    "role": RoleWord, "way": RoleWord,
    "alert": AlertKind, "outcome": Outcome, "source": TriggerSource,
    "trigger_status": TriggerStatus,
    "after": Standing, "before": Standing, "bucket": Bucket, "cause": Cause,
    "finished": StopReason, "reason": StopReason, "review": ReviewStatus, "stage": Stage, "state": SpendState,
    "status": TaskStatus,
}  # fmt: skip


def korean(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with Korean column names and words, for looking at; the codes stay in the original."""
    pandas = need("pandas", "notebook")
    shown = frame.copy()
    for name in frame.columns:
        kind = _CODES.get(name)
        words = [word(value, kind) for value in frame[name]]
        shown[name] = pandas.Series(words, index=frame.index, dtype=object)
    return shown.rename(columns={name: label(word) for name, word in _COLUMN_WORDS.items()})


def word(value: Any, kind: type[StrEnum] | None) -> Any:
    """Return the Korean word for a value of a table, or the value itself where there is none."""
    if value is None or value is True or value is False:
        return {None: "-", True: label(Word.YES), False: label(Word.NO)}[value]
    if kind is not None and isinstance(value, str) and value in set(kind):
        return label(kind(value))
    if isinstance(value, dict):
        return ", ".join(f"{name}={word(item, None)}" for name, item in value.items())
    return value
