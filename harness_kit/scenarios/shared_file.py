"""Two roles at one file: how a line is lost, and why it is not where only the coordinator writes.

    moves = ["writer", "reviewer", "reviewer", "writer"]      # both look, then both save
    two_owners(folder, moves).lost                            # ('reviewer 1',)
    one_owner(folder, moves, person).lost                     # ()

A role's first move is a look at the file, its second saves what it saw with one line more, and so on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_kit.approval import Approver, commit
from harness_kit.approvers import ask
from harness_kit.codes import CommitStatus
from harness_kit.labels import label
from harness_kit.proposals import Proposal
from harness_kit.rolewords import RoleWord
from harness_kit.workspace import Workspace

FILE = "document.txt"


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What became of the lines."""

    confirmed: tuple[str, ...]
    """Lines whose saving was reported as done, in the order of saving."""
    refused: tuple[str, ...]
    """Lines that were not saved, and whose role was told so."""
    text: str
    """The file at the end."""

    @property
    def lost(self) -> tuple[str, ...]:
        """Lines reported as saved that are not in the file."""
        kept = self.text.splitlines()
        return tuple(line for line in self.confirmed if line not in kept)


def two_owners(root: str | Path, moves: Sequence[str]) -> Shared:
    """Let every role write the file itself: whoever saves last wins."""
    path = Path(root) / FILE
    path.write_text("", encoding="utf-8")

    def look(line: str) -> Callable[[], bool]:
        seen = path.read_text(encoding="utf-8")

        def save() -> bool:
            path.write_text(f"{seen}{line}\n", encoding="utf-8")
            return True

        return save

    return _moved(moves, look, lambda: path.read_text(encoding="utf-8"))


def one_owner(root: str | Path, moves: Sequence[str], approver: Approver) -> Shared:
    """Let every role hand its line to the coordinator, which writes only over what was seen."""
    workspace = Workspace(root, writable={FILE})

    def now() -> str:
        return workspace.read_text(FILE) if workspace.exists(FILE) else ""

    def look(line: str) -> Callable[[], bool]:
        proposal = Proposal.for_files(
            workspace,
            purpose=label(RoleWord.PURPOSE_DOCUMENT),
            files={FILE: f"{now()}{line}\n"},
            cost=0,
            proposer="coordinator",
        )

        def save() -> bool:
            result = commit(workspace, proposal, ask(approver, proposal).approval)
            return result.status is CommitStatus.SAVED

        return save

    return _moved(moves, look, now)


def _moved(moves: Sequence[str], look: Callable[[str], Callable[[], bool]], now: Callable[[], str]) -> Shared:
    waiting: dict[str, tuple[str, Callable[[], bool]]] = {}
    turns: dict[str, int] = {}
    confirmed: list[str] = []
    refused: list[str] = []
    for role in moves:
        if role in waiting:
            line, save = waiting.pop(role)
            (confirmed if save() else refused).append(line)
        else:
            turns[role] = turns.get(role, 0) + 1
            line = f"{role} {turns[role]}"
            waiting[role] = line, look(line)
    return Shared(confirmed=tuple(confirmed), refused=tuple(refused), text=now())
