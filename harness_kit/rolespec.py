"""What the roles agree on: the specification, one review, and how reviews become one decision. Pure.

    >>> spec = Spec(file="a.txt", content={}, reviewers=("form", "content"), issues=("LONGER", "NO_CHECK"))
    >>> form = Review(role="form", candidate_id="c1", approved=True, issues=())
    >>> content = Review(role="content", candidate_id="c1", approved=False, issues=("NO_CHECK",))
    >>> merge(spec, "c1", [content, form]).feedback
    ('NO_CHECK',)

Nothing here depends on the order in which answers arrive.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from harness_kit import canonical
from harness_kit.errors import InputError, ModelError
from harness_kit.paths import check_name


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What is to be written, and by which rules it is confirmed. `InputError` where the rules do not fit."""

    file: str
    """The one file that the coordinator writes."""
    content: Mapping[str, Any]
    """What the writer is told; plain JSON."""
    reviewers: tuple[str, ...]
    """Names of the required reviewers, in the order in which they are asked. All must pass a candidate."""
    issues: tuple[str, ...]
    """Every issue code there is; issues are handed on in this order."""
    contradictions: tuple[tuple[str, str], ...] = ()
    """Pairs of codes that cannot both be followed."""
    priority: tuple[str, ...] = ()
    """Codes that win over what contradicts them, the strongest first; both of a pair must stand here."""

    def __post_init__(self) -> None:
        check_name(self.file)
        for what in ("reviewers", "issues", "priority"):
            object.__setattr__(self, what, _words(getattr(self, what), what))
        for what in ("reviewers", "issues"):
            if not getattr(self, what):
                raise InputError(f"{what} is empty; name at least one, or nothing could be judged")
        pairs = tuple(tuple(pair) for pair in self.contradictions)
        if any(len(pair) != 2 or pair[0] == pair[1] for pair in pairs):
            raise InputError(f"contradictions are {list(pairs)}; expected pairs of two different codes")
        unknown = ({*self.priority} | {code for pair in pairs for code in pair}) - set(self.issues)
        if unknown:
            raise InputError(
                f"codes {sorted(unknown)} are not among the issues {list(self.issues)}; add them"
            )
        object.__setattr__(self, "contradictions", pairs)
        snapshot = canonical.loads(canonical.dumps(dict(self.content)))
        object.__setattr__(self, "content", MappingProxyType(snapshot))

    def record(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_record` rebuilds the specification."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        loaded: dict[str, Any] = canonical.loads(canonical.dumps({**plain, "content": dict(self.content)}))
        return loaded

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Spec":
        """Rebuild a specification; `InputError` where a field is missing or unknown."""
        try:
            return cls(**record)
        except TypeError as error:
            raise InputError(f"not a specification: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Review:
    """One reviewer's verdict on one candidate."""

    role: str
    candidate_id: str
    """Which candidate was judged."""
    approved: bool
    issues: tuple[str, ...]
    """Codes of what must change; empty where it is approved, and only there."""

    def record(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "role": self.role, "candidate_id": self.candidate_id, "approved": self.approved,
            "issues": list(self.issues),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What the reviews of one candidate come to."""

    passed: bool
    feedback: tuple[str, ...]
    """Issues for the writer, in the order of the specification."""
    dropped: tuple[str, ...]
    """Issues that a stronger, contradicting one overruled."""
    unresolved: tuple[str, ...]
    """Contradicting issues that no priority decides; the work is held while there are any."""


def candidate_id(text: str) -> str:
    """Return a candidate's id: the SHA-256 of its text (64 hex digits)."""
    return canonical.digest_bytes(text.encode("utf-8"))


def read_candidate(action: Mapping[str, Any]) -> str:
    """Return the text that a writer answered; `ModelError` where it is not `{"candidate": text}`.

    A `report` (what the writer says of its own work) may stand beside it and goes no further.
    """
    if set(action) - {"report"} != {"candidate"}:
        raise ModelError(f"a writer answered the fields {sorted(action)}; expected candidate")
    text = action["candidate"]
    if not isinstance(text, str) or not text.strip():
        raise ModelError(
            f"a writer answered the candidate {str(text)[:40]!r}; expected text that is not blank"
        )
    return text


def read_review(action: Mapping[str, Any], *, role: str, codes: Iterable[str], judged: str) -> Review:
    """Return a reviewer's verdict on candidate `judged`, or raise `ModelError` and say what is wrong."""
    if set(action) != {"candidate_id", "approved", "issues"}:
        raise ModelError(
            f"the review has the fields {sorted(action)}; expected candidate_id, approved and issues"
        )
    approved, issues = action["approved"], action["issues"]
    if not isinstance(approved, bool):
        raise ModelError(f"approved is {approved!r}; expected true or false")
    if not isinstance(issues, list) or not all(isinstance(code, str) for code in issues):
        raise ModelError(f"issues are {issues!r}; expected a list of codes")
    unknown = sorted(set(issues) - set(codes))
    if unknown:
        raise ModelError(f"issue codes {unknown} are not this reviewer's; it may return {sorted(codes)}")
    if len(set(issues)) != len(issues):
        raise ModelError(f"issues {issues} name one code twice; name each once")
    if action["candidate_id"] != judged:
        raise ModelError(
            f"the review is of candidate {str(action['candidate_id'])[:12]!r}, not of {judged[:12]!r}; "
            "review the present one"
        )
    if approved and issues:
        raise ModelError(
            f"the review passes the candidate and leaves the issues {issues}; say one or the other"
        )
    if not approved and not issues:
        raise ModelError("the review fails the candidate and names no issue; say what must change")
    return Review(role=role, candidate_id=judged, approved=approved, issues=tuple(issues))


def merge(spec: Spec, judged: str, reviews: Iterable[Review]) -> Merged:
    """Join the reviews of candidate `judged`; `InputError` where one is missing, doubled or of another."""
    by_role: dict[str, Review] = {}
    for review in reviews:
        if review.candidate_id != judged or review.role in by_role:
            raise InputError(
                f"review by {review.role!r} of {review.candidate_id[:12]!r} is doubled or of another "
                f"candidate than {judged[:12]!r}; pass one review of it from each reviewer"
            )
        by_role[review.role] = review
    if set(by_role) != set(spec.reviewers):
        raise InputError(
            f"reviews came from {sorted(by_role)}, required are {sorted(spec.reviewers)}; all must answer"
        )
    found = {code for review in by_role.values() for code in review.issues}
    at_odds = [pair for pair in spec.contradictions if found >= set(pair)]
    undecided = {code for pair in at_odds if not set(pair) <= set(spec.priority) for code in pair}
    kept: set[str] = set()
    dropped: set[str] = set()
    for code in (code for code in spec.priority if code in found):
        rivals = {other for pair in at_odds for other in pair if code in pair and other != code}
        (dropped if rivals & kept else kept).add(code)
    return Merged(
        passed=all(review.approved for review in by_role.values()),
        feedback=tuple(code for code in spec.issues if code in found - dropped - undecided),
        dropped=tuple(code for code in spec.issues if code in dropped - undecided),
        unresolved=tuple(code for code in spec.issues if code in undecided),
    )


def _words(given: Any, what: str) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(word, str) and word.strip() for word in given):
        raise InputError(f"{what} is {given!r}; expected a list of words")
    words = tuple(given)
    if len(set(words)) != len(words):
        raise InputError(f"{what} {list(words)} names one word twice; name each once")
    return words
