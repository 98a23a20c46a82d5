"""A comparison as lines of text and as one JSON value: what the command prints and a notebook shows."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from harness_kit.codes import Bucket, ComparisonVerdict, Ground, Parting
from harness_kit.compare import Comparison
from harness_kit.gates import Reason
from harness_kit.joining import Row
from harness_kit.labels import Lang, Word, label
from harness_kit.pairing import CaseSummary, Score, Side
from harness_kit.stats import Evidence, Interval

EXIT_CODES = {ComparisonVerdict.PASSED: 0, ComparisonVerdict.REGRESSED: 1, ComparisonVerdict.INCONCLUSIVE: 3}
"""2 is bad input."""

_NAMED = 10
"""Cases named in one line; the others are counted."""


def comparison_lines(
    comparison: Comparison, *, interval: Interval | None = None, lang: Lang = "ko"
) -> list[str]:
    """Return the comparison in words: the two runs, every bucket that holds a case, causes, where regressed
    cases part, the evidence, the verdict with its grounds, and notes."""

    def word(code: StrEnum) -> str:
        return label(code, lang)

    lines = [
        f"{word(name)}: {_run_line(side, score, lang)}"
        for name, side, score in (
            (Word.BEFORE, comparison.before, comparison.score_before()),
            (Word.AFTER, comparison.after, comparison.score_after()),
        )
    ]
    always = (Bucket.IMPROVED, Bucket.REGRESSED)
    for bucket, count in comparison.counts.items():
        if count or bucket in always:
            names = "" if bucket is Bucket.STILL_PASSING else _names(comparison.ids(bucket))
            lines.append(f"{word(bucket)} {count}{names}")
    for cause, buckets in comparison.apart.items():
        if sum(buckets.values()):
            lines.append(f"{word(Word.COUNTED_APART)}, {word(Word.CAUSE)} {word(cause)}: "
                         + _counted(buckets, lang))  # fmt: skip
    if sum(comparison.causes.values()):
        lines.append(f"{word(Word.CAUSE)}: {_counted(comparison.causes, lang)}")
    stages = comparison.divergence_stages()
    if set(stages) - {Parting.NO_TRACE}:
        lines.append(f"{word(Word.PARTED_AT)}: " + ", ".join(
            f"{word(Parting(stage)) if stage in set(Parting) else stage} {count}"
            for stage, count in stages.items()
        ))  # fmt: skip
    lines += evidence_lines(comparison.evidence, interval, lang)
    lines.append(f"{word(Word.VERDICT)}: {word(comparison.verdict)}")
    lines += [f"  {reason_line(reason, lang)}" for reason in comparison.why]
    notes = list(comparison.notes)
    if comparison.same_failure:
        notes.append(Reason(ground=Ground.SAME_FAILURE, verdict=None, cases=comparison.same_failure))
    lines += [f"{word(Word.NOTE)}: {reason_line(note, lang)}" for note in notes]
    return lines


def evidence_lines(evidence: Evidence, interval: Interval | None = None, lang: Lang = "ko") -> list[str]:
    """Return the exact test, the interval if there is one, and the smallest change that would show."""
    counted = f"n={evidence.cases}, +{evidence.won}, -{evidence.lost}"
    lines = [f"{label(Word.EVIDENCE, lang)}: {counted}, p={evidence.p_value:.3g}"]
    if interval is not None:
        lines.append(
            f"{label(Word.INTERVAL, lang)}: {interval.low:+.3f} … {interval.high:+.3f} ({interval.level:.0%})"
        )
    needed = evidence.smallest_change
    template = Word.NO_CHANGE_SHOWS if needed is None else Word.SMALLEST_CHANGE
    against = min(evidence.won, evidence.lost)
    lines.append("  " + label(template, lang).format(cases=evidence.cases, needed=needed, against=against))
    return lines


def reason_line(reason: Reason, lang: Lang = "ko") -> str:
    """Return a ground in words, with its numbers and its cases."""
    told = label(reason.ground, lang)
    if reason.cases:
        told += f" ({len(reason.cases)})"
    return told + (f": {reason.detail}" if reason.detail else "") + _names(reason.cases)


def _run_line(side: Side, score: Score, lang: Lang) -> str:
    run = side.run
    named = " ".join(filter(None, [run.system, run.version])) or run.run_id
    value = "-" if score.value is None else f"{score.value * 100:.1f}"
    # What did not run may have passed or not.
    if not score.complete and score.at_best is not None:
        value += f" … {score.at_best * 100:.1f}"
    return f"{named}, {score.passed:g}/{score.selected:g}, {label(Word.POINTS, lang)} {value}"


def _names(cases: Sequence[str]) -> str:
    if not cases:
        return ""
    more = f", … (+{len(cases) - _NAMED})" if len(cases) > _NAMED else ""
    named = (case_id if case_id.isprintable() else repr(case_id) for case_id in cases[:_NAMED])
    return f": {', '.join(named)}{more}"


def _counted(counts: Mapping[Any, int], lang: Lang) -> str:
    return ", ".join(f"{label(code, lang)} {count}" for code, count in counts.items() if count)


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain JSON values, codes in English; rows of all cases but those that still
    pass unchanged."""
    evidence = comparison.evidence
    return {
        "verdict": str(comparison.verdict),
        "why": [_reason(reason) for reason in comparison.why],
        "notes": [_reason(reason) for reason in comparison.notes],
        "counts": _plain(comparison.counts),
        "apart": {str(cause): _plain(buckets) for cause, buckets in comparison.apart.items()},
        "causes": _plain(comparison.causes),
        "coverage": comparison.coverage,
        "evidence": {
            "cases": evidence.cases, "won": evidence.won, "lost": evidence.lost, "alpha": evidence.alpha,
            "p_value": evidence.p_value, "smallest_change": evidence.smallest_change,
        },
        "divergence_stages": {str(stage): count for stage, count in comparison.divergence_stages().items()},
        "same_failure": list(comparison.same_failure),
        "before": _side(comparison.before, comparison.score_before()),
        "after": _side(comparison.after, comparison.score_after()),
        "rows": [
            _row(comparison.rows[place]) for place, kind in enumerate(comparison.rows.kinds)
            if kind.bucket is not Bucket.STILL_PASSING or kind.changed
        ],
    }  # fmt: skip


def _plain(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(code): count for code, count in counts.items()}


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "ground": str(reason.ground), "verdict": None if reason.verdict is None else str(reason.verdict),
        "cases": list(reason.cases), "detail": reason.detail,
    }  # fmt: skip


def _side(side: Side, score: Score) -> dict[str, Any]:
    run = side.run
    return {
        "run_id": run.run_id, "system": run.system, "version": run.version, "complete": run.complete,
        "score": score.value, "score_at_best": score.at_best, "passed": score.passed,
        "selected": score.selected,
    }  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    def stands(case: CaseSummary | None) -> str | None:
        return None if case is None else str(case.outcome)

    return {
        "case_id": row.case_id, "bucket": str(row.bucket), "causes": [str(cause) for cause in row.causes],
        "before": stands(row.before), "after": stands(row.after),
    }  # fmt: skip
