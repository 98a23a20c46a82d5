"""A gate: what two runs must show to pass. Its default asks for no regression, no crash and full coverage.

    gate = Gate(min_score=0.9, per_tag={"order": 1.0})
    gate = Gate.read("gate.toml")

What a gate asks for and the runs do not tell is INCONCLUSIVE, never PASSED.
"""

import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from harness_kit.codes import Bucket, Cause, ComparisonVerdict, Ground, Standing
from harness_kit.errors import InputError
from harness_kit.joining import Join
from harness_kit.pairing import RAN, Score
from harness_kit.stats import Evidence


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One ground of a verdict, or a note beside it."""

    ground: Ground
    verdict: ComparisonVerdict | None
    """What it makes of the comparison; None for a note, which changes nothing."""
    cases: tuple[str, ...] = ()
    """The cases that it is about, all of them."""
    detail: str = ""
    """Numbers, names and signs, which read the same in every language."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What the second of two runs must show; `InputError` for a limit out of range."""

    no_regressions: bool = True
    """An unchanged case that passed in every repeat must not fail in every repeat."""
    must_pass: tuple[str, ...] = ()
    """Cases that must pass in every repeat, besides those that the set itself marks so."""
    min_score: float | None = None
    """Share of the weight that must pass, 0 to 1."""
    per_tag: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The same for the cases with a tag, by tag."""
    max_flaky: int | None = None
    """Cases whose repeats may disagree in the second run; None where this is no matter."""
    max_errored: int = 0
    """Cases that may crash in the second run; of a crashed case nothing is known."""
    min_coverage: float = 1.0
    """Share of the cases that must have run, in both runs, 0 to 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.no_regressions, bool):
            raise _wrong("no_regressions", self.no_regressions, "true or false")
        ids: Any = self.must_pass
        if isinstance(ids, str) or not all(isinstance(one, str) for one in ids):
            raise _wrong("must_pass", self.must_pass, "a list of case ids")
        object.__setattr__(self, "must_pass", tuple(self.must_pass))
        if not isinstance(self.per_tag, Mapping):
            raise _wrong("per_tag", self.per_tag, "a table of tag and share")
        object.__setattr__(self, "per_tag", MappingProxyType(dict(self.per_tag)))
        shares = {"min_coverage": self.min_coverage}
        shares |= {f"per_tag.{tag}": share for tag, share in self.per_tag.items()}
        if self.min_score is not None:
            shares["min_score"] = self.min_score
        for name, share in shares.items():
            if type(share) not in (int, float) or not 0 <= share <= 1:
                raise _wrong(name, share, "a share from 0 to 1")
        for name in ("max_flaky", "max_errored"):
            limit = getattr(self, name)
            if (type(limit) is not int or limit < 0) and not (limit is None and name == "max_flaky"):
                raise _wrong(name, limit, "a number of cases, 0 or more")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a gate from a TOML file whose keys are the fields; `InputError` for any other."""
        try:
            told = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise InputError(f"cannot read gate {os.fspath(path)!r}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"gate {os.fspath(path)!r} is no TOML: {error}; mend it (Korean keys stand in quotes)"
            ) from error
        known = [one.name for one in fields(cls)]
        unknown = [name for name in told if name not in known]
        try:
            if unknown:
                raise InputError(f"{unknown[0]!r} is no limit of a gate; there are {', '.join(known)}")
            return cls(**told)
        except InputError as error:
            raise InputError(f"gate {os.fspath(path)!r}: {error}") from error

    def judge(self, join: Join) -> tuple[Reason, ...]:
        """Return what speaks against PASSED; nothing where the gate is passed."""
        return tuple(self._reasons(join))

    def _reasons(self, join: Join) -> Iterator[Reason]:
        if self.no_regressions and join.regressed:
            yield _regressed(Ground.REGRESSION, join.regressed)
        yield from self._must_pass(join)
        if self.min_score is not None:
            yield from _short(Ground.MIN_SCORE, "", join.score_after(), self.min_score)
        for tag, share in self.per_tag.items():
            yield from _short(Ground.TAG_SCORE, f"{tag}: ", join.score_after(tag), share)
        if self.max_flaky is not None and len(join.flaky_now) > self.max_flaky:
            yield _regressed(Ground.FLAKINESS, join.flaky_now, f"> {self.max_flaky}")
        if len(join.errored_now) > self.max_errored:
            yield _open(Ground.CRASH, join.errored_now, f"> {self.max_errored}" if self.max_errored else "")
        for side in (join.before, join.after):
            if not side.run.complete:
                yield _open(Ground.INCOMPLETE, (), f"{side.run.run_id}: {side.run.problem or '-'}")
        coverage = join.coverage
        if coverage is not None and coverage < self.min_coverage:
            # Rounded down, so that one of a million does not read as all of them.
            shown = math.floor(coverage * 1000) / 10
            yield _open(Ground.COVERAGE, join.not_covered, f"{shown:g} % < {self.min_coverage * 100:g} %")
        if not join.pairs:
            yield _open(Ground.NOTHING)

    def _must_pass(self, join: Join) -> Iterator[Reason]:
        marked = dict.fromkeys([*self.must_pass, *join.before.must_pass, *join.after.must_pass])
        held = join.after.held
        ran = {case_id for case_id in marked if case_id in held and held[case_id].outcome in RAN}
        failed = tuple(one for one in marked if one in ran and held[one].outcome != Standing.PASSED)
        absent = tuple(one for one in marked if one not in ran)
        torn = tuple(one for one in marked if one in ran and one in join.after.unfinished)
        if failed:
            yield _regressed(Ground.MUST_PASS, failed)
        if absent or torn:
            yield _open(Ground.GATED_ABSENT, absent + tuple(one for one in torn if one not in failed))


def _short(ground: Ground, name: str, score: Score, share: float) -> Iterator[Reason]:
    value, at_best = score.value, score.at_best
    if value is None or at_best is None:
        yield _open(Ground.GATED_ABSENT, (), name.removesuffix(": ") or ground.value)
    elif at_best < share:
        yield _regressed(ground, (), f"{name}{value:.3g} < {share:g}")
    elif value < share:
        yield _open(ground, (), f"{name}{value:.3g} … {at_best:.3g}, {share:g}")


def notes(join: Join, evidence: Evidence) -> tuple[Reason, ...]:
    """Return what a reader of the verdict should know besides; none of it changes the verdict."""
    unknown = join.causes[Cause.UNKNOWN]
    removed = join.ids(Bucket.REMOVED)
    told = [
        Reason(ground=Ground.THIN_EVIDENCE, verdict=None, detail=f"p = {evidence.p_value:.3g}")
        if evidence.thin else None,
        Reason(ground=Ground.CASE_CHANGED, verdict=None, cases=join.changed) if join.changed else None,
        Reason(ground=Ground.CAUSE_UNKNOWN, verdict=None, detail=str(unknown)) if unknown else None,
        Reason(ground=Ground.NEWLY_FLAKY, verdict=None, cases=join.newly_flaky) if join.newly_flaky else None,
        Reason(ground=Ground.CASE_REMOVED, verdict=None, cases=removed) if removed else None,
    ]  # fmt: skip
    return tuple(note for note in told if note is not None)


def verdict_of(reasons: tuple[Reason, ...]) -> ComparisonVerdict:
    """A regression outweighs what is not known; what is not known outweighs a pass."""
    verdicts = {reason.verdict for reason in reasons}
    for verdict in (ComparisonVerdict.REGRESSED, ComparisonVerdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return ComparisonVerdict.PASSED


def _regressed(ground: Ground, cases: tuple[str, ...] = (), detail: str = "") -> Reason:
    return Reason(ground=ground, verdict=ComparisonVerdict.REGRESSED, cases=cases, detail=detail)


def _open(ground: Ground, cases: tuple[str, ...] = (), detail: str = "") -> Reason:
    return Reason(ground=ground, verdict=ComparisonVerdict.INCONCLUSIVE, cases=cases, detail=detail)


def _wrong(name: str, value: Any, expected: str) -> InputError:
    return InputError(f"gate {name} is {value!r}; expected {expected}")
