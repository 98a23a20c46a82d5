"""Several versions of one system: how each case stands in each, and which version introduced each regression.

matrix([v1, v2, v3]).introduced[0].failed_in
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness_kit.codes import Bucket, Cause, Standing
from harness_kit.compare import fails_alike
from harness_kit.errors import InputError
from harness_kit.joining import kind_of
from harness_kit.pairing import RAN, Score, Side
from harness_kit.results import EvalRun


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """One regression: between these two versions, no other of these ran the case."""

    case_id: str
    passed_in: str
    """The last version in which every repeat passed, …"""
    failed_in: str
    """… and the next one in which the case ran: none passed."""
    cause: Cause | None
    """Harness, or what else changed; unknown where a file holds no hashes."""
    mended_in: str | None
    """The first later version in which every repeat passed again; None where there is none."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Cases by version."""

    versions: tuple[str, ...]
    """In the order given: the versions' names, or run ids where two are named alike."""
    cells: dict[str, tuple[Standing, ...]]
    """How a case stands in each version, by case id."""
    introduced: tuple[Introduction, ...]
    """By case, then by version."""
    scores: tuple[Score, ...]
    """Of each version."""
    same_failure: tuple[str, ...]
    """Cases that fail with one output in every version: it may be the expectation that is wrong."""


def matrix(runs: Sequence[EvalRun]) -> Matrix:
    """Lay two or more runs side by side, in the order of their versions.

    `InputError` for fewer than two runs, two of the same id, or results that cannot be joined.
    """
    if len(runs) < 2:
        raise InputError(f"there are {len(runs)} runs; a matrix takes two or more, in the order of versions")
    sides = [Side(run) for run in runs]
    ids = [run.run_id for run in runs]
    if len(set(ids)) < len(ids):
        raise InputError(f"two of the runs {', '.join(ids)} have one id; give each run once")
    named = [run.version for run in runs]
    versions = tuple(named if len(set(named)) == len(named) and all(named) else ids)
    cases = list(dict.fromkeys(case_id for side in sides for case_id in side.order))
    # A run that carries no set tells nothing of a case that it does not hold.
    columns = [side.aligned(cases, absent=Standing.NOT_RUN) for side in sides]
    cells = {
        case_id: tuple(Standing(held.outcome) for held in row)
        for case_id, row in zip(cases, zip(*columns, strict=True), strict=True)
    }
    return Matrix(
        versions=versions, cells=cells, introduced=tuple(
            found for case_id, row in cells.items() if Standing.PASSED in row
            for found in _introduced(case_id, row, versions, sides)
        ), scores=tuple(side.score() for side in sides),
        same_failure=tuple(
            case_id for case_id, row in cells.items()
            if set(row) == {Standing.FAILED} and fails_alike(sides, case_id)
        ),
    )  # fmt: skip


def _introduced(
    case_id: str, row: Sequence[Standing], versions: Sequence[str], sides: Sequence[Side]
) -> list[Introduction]:
    ran = [place for place, standing in enumerate(row) if standing in RAN]
    found = []
    for earlier, later in pairwise(ran):
        kind = kind_of(sides[earlier].held[case_id], sides[later].held[case_id])
        if kind.bucket is Bucket.REGRESSED:
            mended = [place for place in ran if place > later and row[place] is Standing.PASSED]
            one = Introduction(
                case_id=case_id, passed_in=versions[earlier], failed_in=versions[later],
                cause=kind.causes[0] if kind.causes else None,
                mended_in=versions[mended[0]] if mended else None,
            )  # fmt: skip
            found.append(one)
    return found
