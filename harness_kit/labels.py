"""Every word that a learner reads, in Korean and English, keyed by code; the words are in `data/labels.toml`.

>>> label(StopReason.BUDGET)
'비용 한도'
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple

from harness_kit import codes, rolewords
from harness_kit.errors import InputError
from harness_kit.resources import data_path

Lang = Literal["ko", "en"]


class Word(StrEnum):
    """Words of printed lines, tables and axes that are no code of their own."""

    ACTION = "action"
    ACTUAL = "actual"
    AFTER = "after"
    AGREES = "agrees"
    ALERT = "alert"
    ALL_CASES = "all_cases"
    ASKED_UNITS = "asked_units"
    AUTOMATIC_RUNS = "automatic_runs"
    BEFORE = "before"
    BUCKET = "bucket"
    BUDGET = "budget"
    CALLS = "calls"
    CALL_NUMBER = "call_number"
    CASE = "case"
    CASES = "cases"
    CASES_SUFFIX = "cases_suffix"
    CAUSE = "cause"
    CHECK = "check"
    COMMITTED = "committed"
    COST = "cost"
    COUNTED_APART = "counted_apart"
    DETAIL = "detail"
    DIFFERS = "differs"
    EVALUATION = "evaluation"
    EVIDENCE = "evidence"
    EXPECTED = "expected"
    FAILED = "failed"
    FILE = "file"
    FINISHED = "finished"
    GUESS = "guess"
    IMPROVED = "improved"
    INTERVAL = "interval"
    LIMIT = "limit"
    MATCH = "match"
    NO = "no"
    NONE = "none"
    NOTE = "note"
    NOT_GUESSED = "not_guessed"
    NO_CHANGE_SHOWS = "no_change_shows"
    OBSERVATION = "observation"
    OUTCOME = "outcome"
    PARTED_AT = "parted_at"
    PASSED = "passed"
    PENDING_REVIEW = "pending_review"
    POINTS = "points"
    PURPOSE_INPUT = "purpose_input"
    PURPOSE_RECORDS = "purpose_records"
    PURPOSE_REPORT = "purpose_report"
    QUESTION = "question"
    REASON = "reason"
    RECORDS_SUFFIX = "records_suffix"
    REFUSED = "refused"
    REGRESSED = "regressed"
    REGRESSED_CASE = "regressed_case"
    REGRESSED_CASES = "regressed_cases"
    REMEDY = "remedy"
    REPORT = "report"
    REPORT_ABSENT = "report_absent"
    REPORT_PRESENT = "report_present"
    REPORT_TITLE = "report_title"
    RESERVED = "reserved"
    REVIEW = "review"
    ROLE = "role"
    SAME = "same"
    SCENARIO = "scenario"
    SCORE = "score"
    SCORE_PERCENT = "score_percent"
    SECONDS = "seconds"
    SMALLEST_CHANGE = "smallest_change"
    SOURCE = "source"
    SPENT = "spent"
    STAGE = "stage"
    STATUS = "status"
    STEP = "step"
    SUMMARY = "summary"
    TASK = "task"
    TIME = "time"
    TRACE = "trace"
    TRACES_KEPT = "traces_kept"
    TRIGGER = "trigger"
    UNITS = "units"
    VERDICT = "verdict"
    VERSION = "version"
    YES = "yes"


class Label(NamedTuple):
    """One row of the glossary."""

    ko: str
    en: str


@cache
def words() -> dict[tuple[str, str], Label]:
    """Return every word of `data/labels.toml`, by the names of enumeration and member."""
    import tomllib  # dear, and only once something is shown

    tables = tomllib.loads(data_path("labels.toml").read_text("utf-8"))
    return {(kind, name): Label(*pair) for kind, table in tables.items() for name, pair in table.items()}


def label(code: StrEnum, lang: Lang = "ko") -> str:
    """Return the word for `code` in Korean (`ko`) or English (`en`)."""
    if lang not in ("ko", "en"):
        raise InputError(f"language {lang!r} is not known; use 'ko' or 'en'")
    try:
        found = words()[type(code).__name__, code.name]
    except (KeyError, AttributeError) as error:
        raise InputError(f"{code!r} has no label; expected a member of an enumeration in `codes`") from error
    return found.ko if lang == "ko" else found.en


def enumerations() -> Iterator[type[StrEnum]]:
    """Yield every enumeration whose members need a label, the words last."""
    for value in vars(codes).values():
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum:
            yield value
    yield rolewords.RoleWord
    yield Word


def glossary() -> list[tuple[str, str, str]]:
    """Return (code, Korean, English) for every member, in the order of the enumerations."""
    return [
        (f"{kind.__name__}.{code.name}", label(code, "ko"), label(code, "en"))
        for kind in enumerations()
        for code in kind
    ]
