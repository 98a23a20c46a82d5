"""Two runs of the same cases: what improved, what regressed, why, at which step, and what may be said.

    comparison = compare(before, after)
    comparison.verdict, comparison.regressed, comparison.causes
    comparison.first_divergence("spaces")

Every case is in one bucket. A case whose input, expectation or grader changed is counted apart, by that
cause, since it does not show what the harness became.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from harness_kit.codes import Bucket, ComparisonVerdict, Parting
from harness_kit.errors import InputError
from harness_kit.gates import Gate, Reason, notes, verdict_of
from harness_kit.joining import Join, Row, same
from harness_kit.pairing import CaseSummary, Side, first, summary
from harness_kit.results import CaseResult, EvalRun, Traces
from harness_kit.stats import Evidence, Interval, paired_interval
from harness_kit.trace import Divergence, Event, first_divergence


class Comparison(Join):
    """Two runs, joined, counted and judged; `compare` makes it."""

    def __init__(
        self, before: EvalRun, after: EvalRun, gate: Gate | None = None, traces: Traces | None = None
    ) -> None:
        super().__init__(before, after)
        if gate is not None and not isinstance(gate, Gate):
            raise InputError(f"gate is {gate!r}; expected a Gate, or Gate.read(path)")
        self.gate = Gate() if gate is None else gate
        self.why = self.gate.judge(self)
        """What speaks against PASSED; empty where nothing does."""
        self.verdict: ComparisonVerdict = verdict_of(self.why)
        self._traces = traces

    def __repr__(self) -> str:
        shown = ", ".join(f"{bucket} {count}" for bucket, count in self.counts.items() if count)
        return f"<Comparison {self.verdict}: {shown or 'no unchanged case'}>"

    @cached_property
    def evidence(self) -> Evidence:
        """The exact test over unchanged cases that ran in both runs."""
        return Evidence(cases=self.pairs, won=len(self.improved), lost=len(self.regressed))

    @cached_property
    def notes(self) -> tuple[Reason, ...]:
        """What to know besides the verdict; it changes nothing."""
        return notes(self, self.evidence)

    def interval(self, *, level: float = 0.95, resamples: int = 9_999, seed: int = 0) -> Interval:
        """Return the bootstrap interval of the score's difference over unchanged pairs; see `stats`."""
        counted: Counter[tuple[float, float]] = Counter()
        left, right = self.before.held, self.after.held
        for case_id, kind in zip(self.rows.ids, self.rows.kinds, strict=True):
            if kind.ran and not kind.changed:
                was, now = left[case_id], right[case_id]
                if isinstance(was, CaseResult) and isinstance(now, CaseResult):
                    difference = float(kind.after == "passed") - float(kind.before == "passed")
                else:
                    difference = _share(summary(now)) - _share(summary(was))
                counted[difference, float(first(now).weight)] += 1
        return paired_interval(counted, level=level, resamples=resamples, seed=seed)

    @cached_property
    def same_failure(self) -> tuple[str, ...]:
        """Cases that fail with the same output in both runs: it may be the expectation that is wrong."""
        cases = self.ids(Bucket.STILL_FAILING)
        return tuple(case_id for case_id in cases if fails_alike([self.before, self.after], case_id))

    def row(self, case_id: str) -> Row:
        """Return the row of one case; `InputError` where neither run has it."""
        if case_id not in self._places:
            raise InputError(f"case {case_id!r} is in neither run; see comparison.rows")
        return self.rows[self._places[case_id]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case_id: place for place, case_id in enumerate(self.rows.ids)}

    # Traces.

    def traces(self, case_id: str) -> tuple[Sequence[Event], Sequence[Event]]:
        """Return the traces that show a case best: of a repeat that passed before, and one that does not
        now. `InputError` where one of the runs left none."""
        row = self.row(case_id)
        was = self._events(self.before, row.before, passing=True)
        now = self._events(self.after, row.after, passing=False)
        for run, events in ((self.before.run, was), (self.after.run, now)):
            if events is None:
                raise InputError(
                    f"run {run.run_id!r} left no trace of case {case_id!r}; evaluate with store=, or give "
                    "compare(traces=) what reads them"
                )
        return was or (), now or ()

    def first_divergence(self, case_id: str) -> Divergence | None:
        """Return the first step at which the two traces of a case part; None where they tell the same."""
        return first_divergence(*self.traces(case_id))

    def divergence_stages(self) -> dict[str, int]:
        """Return how many regressed cases part at which stage, most first; `Parting` where at none.

        The numbers add up to the regressed cases.
        """
        counted: Counter[str] = Counter()
        for case_id in self.regressed:
            row = self.row(case_id)
            was = self._events(self.before, row.before, passing=True)
            now = self._events(self.after, row.after, passing=False)
            if was is None or now is None:
                counted[Parting.NO_TRACE] += 1
            else:
                parted = first_divergence(was, now)
                counted[parted.stage if parted else Parting.SAME_TRACE] += 1
        return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))

    def _events(self, side: Side, case: CaseSummary | None, *, passing: bool) -> Sequence[Event] | None:
        read = side.run.traces or self._traces
        result = None if case is None else case.shown(passing=passing)
        if read is None or result is None or result.trace_id is None:
            return None
        # A store may know the name of a trace and hold no step of it.
        return read(result.trace_id) or None


def compare(
    before: EvalRun, after: EvalRun, *, gate: Gate | None = None, traces: Traces | None = None
) -> Comparison:
    """Join two runs by case id, count what changed, and judge it by `gate` (by default: no regression, no
    crash, full coverage).

    `traces` reads the traces of runs that bring no reader of their own (`store.events`, say).
    `InputError` for blank or duplicate ids and values that no result may have.
    """
    return Comparison(before, after, gate, traces)


def fails_alike(sides: Sequence[Side], case_id: str) -> bool:
    """Whether a case fails in all these runs with one output, which is there."""
    shown = [summary(side.held[case_id]).shown(passing=False) if case_id in side.held else None
             for side in sides]  # fmt: skip
    outputs = [result.actual for result in shown if result is not None and result.outcome == "failed"]
    return (
        len(outputs) == len(sides)
        and outputs[0] is not None
        and all(same(outputs[0], output) for output in outputs[1:])
    )


def _share(case: CaseSummary) -> float:
    return case.passed / case.ran
