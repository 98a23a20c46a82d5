"""What two runs of the same cases allow to be said: an exact test, an interval, the smallest visible change.

    >>> mcnemar(won=0, lost=3)
    0.25
    >>> smallest_change()
    6

The test needs the standard library alone; the interval needs scipy (extra `notebook`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness_kit.errors import InputError
from harness_kit.extras import need

ALPHA = 0.05
"""The share of pure chance that a change may have and still be called more than chance."""

_EXACT_UP_TO = 2_000
"""Discordant cases up to which whole numbers are summed; beyond, their logarithms (to nine digits)."""

_CELLS = 4_000_000
"""Numbers drawn at once: 32 MB."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A bootstrap interval of a difference of scores, after minus before."""

    low: float
    high: float
    level: float
    """How often, of many such intervals, the true difference lies inside; 0 to 1."""
    cases: int
    resamples: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the cases that ran unchanged in both runs can carry."""

    cases: int
    """Pairs: unchanged cases that ran in both runs."""
    won: int
    """Cases that did not pass before and pass now."""
    lost: int
    """Cases that passed before and do not now."""
    alpha: float = ALPHA

    @property
    def p_value(self) -> float:
        """Exact two-sided McNemar test: 1.0 where nothing changed."""
        return mcnemar(won=self.won, lost=self.lost)

    @property
    def thin(self) -> bool:
        """Whether cases changed, and so few of them, or so evenly, that chance would do as much."""
        return self.won + self.lost > 0 and self.p_value > self.alpha

    @property
    def smallest_change(self) -> int | None:
        """How many cases must change one way, against those that changed the other way, to be more than
        chance; None where there are not that many cases."""
        against = min(self.won, self.lost)
        needed = smallest_change(against=against, alpha=self.alpha)
        return needed if needed + against <= self.cases else None


def mcnemar(*, won: int, lost: int) -> float:
    """Return the exact two-sided p-value of McNemar's test, from the cases that changed alone.

    Had the change no effect, each of them would as likely have been won as lost.
    """
    for name, count in (("won", won), ("lost", lost)):
        if type(count) is not int or count < 0:
            raise InputError(f"{name} is {count!r}; expected a number of cases, 0 or more")
    discordant, fewer = won + lost, min(won, lost)
    if won == lost:
        return 1.0
    if discordant > _EXACT_UP_TO:
        return min(1.0, _tail(discordant, fewer))
    ways = total = 1
    for chosen in range(fewer):
        ways = ways * (discordant - chosen) // (chosen + 1)
        total += ways
    chance: float = 2 * total / 2**discordant
    return min(1.0, chance)


def _tail(tosses: int, heads: int) -> float:
    """Twice the chance of at most `heads` heads, summed downward from its largest term."""
    log_term = (
        math.lgamma(tosses + 1) - math.lgamma(heads + 1) - math.lgamma(tosses - heads + 1)
        - tosses * math.log(2)
    )  # fmt: skip
    share, summed = 1.0, 0.0
    for left in range(heads, -1, -1):
        summed += share
        share *= left / (tosses - left + 1)
        if share < summed * 1e-16:
            break
    return 2 * math.exp(log_term) * summed


def smallest_change(*, against: int = 0, alpha: float = ALPHA) -> int:
    """Return how many cases must change one way, while `against` change the other way, for p <= `alpha`."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha!r}; expected a share between 0 and 1, such as {ALPHA}")
    low, high = against, 2 * against + 8
    while mcnemar(won=high, lost=against) > alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if mcnemar(won=middle, lost=against) > alpha:
            low = middle
        else:
            high = middle
    return high


def paired_interval(
    pairs: Mapping[tuple[float, float], int], *, level: float = 0.95, resamples: int = 9_999, seed: int = 0
) -> Interval:
    """Return the percentile bootstrap interval of the weighted mean difference, drawing whole cases.

    `pairs` says of each (difference after minus before, weight) how many cases have it. To draw as many
    cases as there are, with replacement, is to draw how often each of these comes up (a multinomial draw),
    so that a million cases cost no more than ten. The same seed gives the same interval.

    `InputError` for no cases, no weight, or settings out of range; `MissingExtraError` without scipy.
    """
    cases = sum(pairs.values())
    if not 0 < level < 1 or resamples < 1:
        raise InputError(f"level {level!r} with {resamples!r} resamples; expected 0 < level < 1, 1 or more")
    if any(type(count) is not int or count < 0 for count in pairs.values()):
        raise InputError("a pair has a count below 0; expected how many cases have it")
    if any(not math.isfinite(number) for pair in pairs for number in pair) or any(w < 0 for _, w in pairs):
        raise InputError("a difference or weight is not finite, or a weight is below 0; mend the results")
    if not sum(weight * count for (_, weight), count in pairs.items()) > 0:
        raise InputError("no case with a weight ran unchanged in both runs; there is no interval of nothing")
    numpy: Any = need("numpy", "notebook")
    scipy_stats: Any = need("scipy.stats", "notebook")
    kinds = sorted(pairs)
    counts = numpy.array([pairs[kind] for kind in kinds], dtype=float)
    differences, weights = numpy.array(kinds, dtype=float).T
    draws = numpy.random.default_rng(seed)
    means = []
    at_once = max(1, _CELLS // len(kinds))
    for done in range(0, resamples, at_once):
        size = min(at_once, resamples - done)
        drawn = scipy_stats.multinomial.rvs(cases, counts / cases, size=size, random_state=draws)
        drawn = numpy.asarray(drawn).reshape(size, len(kinds))
        weight = drawn @ weights
        # A draw of weightless cases alone says nothing of a difference.
        means.append(
            numpy.divide(drawn @ (differences * weights), weight, out=numpy.zeros(size), where=weight > 0)
        )
    edge = (1 - level) / 2
    low, high = numpy.quantile(numpy.concatenate(means), [edge, 1 - edge])
    return Interval(
        low=float(low), high=float(high), level=level, cases=cases, resamples=resamples, seed=seed
    )
