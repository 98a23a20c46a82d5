"""A role, and how it is asked: every failure to answer becomes a `ModelError`, none becomes a pass."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_kit.errors import InputError, ModelError
from harness_kit.models import Model, Reply
from harness_kit.rolespec import Spec


@dataclass(frozen=True, kw_only=True)
class Role:
    """One part in the work."""

    name: str
    model: Model
    codes: tuple[str, ...] = ()
    """Issue codes that a reviewer may return; none for a writer."""
    timeout: float | None = None
    """Seconds to wait for an answer; None waits as long as it takes."""


class GuardedModel:
    """A role's model, whose every failure is a `ModelError`: it raises, or is not done in time.

    A call that hangs is left behind in a daemon thread; what it says later is not heard.
    """

    def __init__(self, role: Role) -> None:
        model = role.model
        self.name, self.free, self.repeatable = model.name, model.free, model.repeatable
        self._model, self._timeout = model, role.timeout

    def price(self, request: Mapping[str, Any]) -> int | None:
        """The price of the guarded model."""
        return self._model.price(request)

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Ask, and wait at most the timeout."""
        heard: list[Reply | Exception] = []

        def listen() -> None:
            try:
                heard.append(self._model(request))
            except Exception as error:
                heard.append(error)

        if self._timeout is None:
            listen()
        else:
            thread = threading.Thread(target=listen, daemon=True, name=f"role {self.name}")
            thread.start()
            thread.join(self._timeout)
        if not heard:
            raise ModelError(f"no answer within {self._timeout} s")
        if isinstance(heard[0], ModelError):
            raise heard[0]
        if isinstance(heard[0], Exception):
            raise ModelError(f"raised {type(heard[0]).__name__}: {heard[0]}") from heard[0]
        return heard[0]


def check_roles(spec: Spec, writer: Role, reviewers: Sequence[Role]) -> None:
    """Raise `InputError` unless the roles are those that the specification requires, each with a name."""
    names = [role.name for role in (writer, *reviewers)]
    if len(set(names)) != len(names) or not all(name.strip() for name in names):
        raise InputError(f"roles {names} need names of their own, none blank; one role is one owner")
    if set(names[1:]) != set(spec.reviewers):
        raise InputError(
            f"reviewers are {sorted(names[1:])}, the specification requires {sorted(spec.reviewers)}; "
            "pass exactly those"
        )
    if writer.codes:
        raise InputError(f"writer {writer.name!r} may return {list(writer.codes)}; a writer judges nothing")
    for role in reviewers:
        unknown = sorted(set(role.codes) - set(spec.issues))
        if unknown or not role.codes:
            raise InputError(
                f"reviewer {role.name!r} may return {list(role.codes)}; expected some of {list(spec.issues)}"
            )
