"""A proposal: everything that one approval covers, as an immutable snapshot.

What is shown is what is hashed is what is written. The fingerprint covers the workspace, the run, the
proposal's number, the purpose, every file's full text, the cost so far, and the bytes that each file
replaces. Change any of them and it is another question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from harness_kit import canonical
from harness_kit.errors import CanonicalError, InputError
from harness_kit.workspace import Workspace

FORMAT = "harness_kit.proposal.v1"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A question to a person: may exactly this be written?"""

    workspace: str
    """Identity of the workspace (`Workspace.identity`, 64 hex digits)."""
    run_id: str
    """The run that asks; '' outside a run."""
    number: int
    """Which question of that run this is, from 1."""
    purpose: str
    """What the write is for, in words."""
    files: Mapping[str, str]
    """Full text by file name; written as UTF-8."""
    cost: int
    """Units spent when the question was asked."""
    base: Mapping[str, str | None]
    """SHA-256 of the bytes that each file replaces, by name; None where it does not exist yet."""
    proposer: str = "harness"
    """The role that asks; it may not answer."""

    def __post_init__(self) -> None:
        files, base = dict(self.files), dict(self.base)
        if not files:
            raise InputError("a proposal without files proposes nothing; name at least one file")
        for name, text in files.items():
            if type(text) is not str:  # a subclass could show one text and write another
                raise InputError(f"text of {name!r} is {type(text).__name__}; expected str itself")
        if set(files) != set(base):
            raise InputError(f"base names {sorted(base)} are not the files {sorted(files)}; give one each")
        if not isinstance(self.purpose, str) or not self.purpose.strip():
            raise InputError(f"purpose {self.purpose!r} is blank; say what the write is for")
        for what, number, least in (("number", self.number, 1), ("cost", self.cost, 0)):
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise InputError(f"{what} is {number!r}; expected a whole number, {least} or more")
        object.__setattr__(self, "files", MappingProxyType(files))
        object.__setattr__(self, "base", MappingProxyType(base))
        self.fingerprint  # noqa: B018 - computed now, so that text with no canonical form is refused here

    @classmethod
    def for_files(
        cls,
        workspace: Workspace,
        *,
        purpose: str,
        files: Mapping[str, str],
        cost: int,
        run_id: str = "",
        number: int = 1,
        proposer: str = "harness",
    ) -> "Proposal":
        """Snapshot `files` against what lies in `workspace` now; names are checked, nothing is written."""
        workspace.check_writable(files)
        return cls(
            workspace=workspace.identity,
            run_id=run_id,
            number=number,
            purpose=purpose,
            files=files,
            cost=cost,
            base={name: workspace.digest(name) for name in files},
            proposer=proposer,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that an approval covers."""
        return canonical.fingerprint({"format": FORMAT, **self.record()})

    def with_files(self, files: Mapping[str, str]) -> "Proposal":
        """Return the same question with other text: another fingerprint."""
        return replace(self, files=files)

    def asked_again(self, workspace: Workspace) -> "Proposal":
        """Return the next question: same purpose and text, against what lies on disk now."""
        return replace(
            self, number=self.number + 1, base={name: workspace.digest(name) for name in self.files}
        )

    def record(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_record` rebuilds the proposal."""
        return {
            "workspace": self.workspace, "run_id": self.run_id, "number": self.number,
            "purpose": self.purpose, "files": dict(self.files), "cost": self.cost,
            "base": dict(self.base), "proposer": self.proposer,
        }  # fmt: skip

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Proposal":
        """Rebuild a proposal; `InputError` where a field is missing or unknown."""
        try:
            return cls(**record)
        except (TypeError, AttributeError, ValueError) as error:
            if isinstance(error, CanonicalError):
                raise
            raise InputError(f"not a proposal record: {error}") from error

    def summary(self) -> dict[str, Any]:
        """Return what stays once the question is decided: hashes and sizes, no text."""
        return {
            "fingerprint": self.fingerprint, "run_id": self.run_id, "number": self.number,
            "purpose": self.purpose, "cost": self.cost, "proposer": self.proposer,
            "files": {
                name: {
                    "sha256": canonical.digest_bytes(text.encode("utf-8")),
                    "lines": len(text.splitlines()),
                    "replaces": self.base[name],
                }
                for name, text in self.files.items()
            },
        }  # fmt: skip

    def diff(self, workspace: Workspace) -> str:
        """Return the unified diff from the files on disk now to the proposed ones."""
        before = {name: workspace.read_text(name) if workspace.exists(name) else "" for name in self.files}
        return text_diff(before, self.files)


def text_diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return one unified diff over all names of both sides; '' where nothing differs."""
    import difflib  # dear, and only where something is shown

    parts: list[str] = []
    for name in dict.fromkeys([*before, *after]):
        parts += difflib.unified_diff(
            _lines(before.get(name, "")), _lines(after.get(name, "")), f"a/{name}", f"b/{name}"
        )
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Split after line feeds alone, and say it where the last line has none, as diff tools do."""
    lines = [line + "\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\\ No newline at end of file\n"]
