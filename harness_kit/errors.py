"""The error tree.

Every error of the kit derives from `HarnessError`. A class says what its catcher can do; the message
names the value, what was expected, and the remedy.

    HarnessError
    ├── InputError            mend the argument or the file and call again
    │   ├── CanonicalError        a value has no canonical JSON form
    │   └── ConfinementError      a path is not one that the workspace may touch
    ├── WorkspaceError        the disk refused or changed; nothing was lost
    │   ├── BaseChangedError      a file is no longer what the caller saw: look again
    │   └── RecoveryError         a half-done commit needs a person to look
    ├── BudgetError           the ledger refuses
    │   ├── BudgetExceededError   ask for less, or raise the limit on purpose
    │   └── BudgetClosedError     an overrun closed the ledger; reopen it with a reason
    ├── ModelError            the model has no answer that can be used
    ├── StoreError            the trace store refuses
    │   ├── StoreVersionError     written by a newer kit: upgrade
    │   ├── StoreCorruptError     not a store of ours, or damaged: restore a copy
    │   ├── DuplicateRunError     pick another run id, or resume
    │   └── SequenceError         events have a gap, a repeat, or the wrong run
    ├── ApprovalError         an approval or an answer cannot be used
    ├── RunError              the run cannot make that move now
    └── MissingExtraError     install the named extra
"""


class HarnessError(Exception):
    """Root of all errors that this package raises on purpose."""


class InputError(HarnessError, ValueError):
    """An argument or an input file is not what the callee takes."""


class CanonicalError(InputError):
    """A value has no canonical JSON form; the message holds the path to the offending part."""


class ConfinementError(InputError):
    """A name or path is outside what a workspace may read or write."""


class WorkspaceError(HarnessError):
    """The file system refused, or is not what it was; files that were whole are still whole."""


class BaseChangedError(WorkspaceError):
    """A file to be replaced no longer holds the bytes that the caller saw."""


class RecoveryError(WorkspaceError):
    """A half-done commit can be neither finished nor undone without overwriting somebody's edit."""


class BudgetError(HarnessError):
    """The ledger refuses an entry."""


class BudgetExceededError(BudgetError):
    """A reservation does not fit; `asked`, `spent`, `reserved`, `left` and `limit` are units."""

    def __init__(self, message: str, *, asked: int, spent: int, reserved: int, limit: int) -> None:
        super().__init__(message)
        self.asked = asked
        self.spent = spent
        self.reserved = reserved
        self.limit = limit
        self.left = max(0, limit - spent - reserved)


class BudgetClosedError(BudgetError):
    """A call cost more than was reserved for it; the ledger takes no more until it is reopened."""


class ModelError(HarnessError):
    """The model gave no usable answer."""


class StoreError(HarnessError):
    """The trace store refuses."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of the kit."""


class StoreCorruptError(StoreError):
    """The file is no store of ours, or it is damaged."""


class DuplicateRunError(StoreError):
    """A run of that id exists already."""


class SequenceError(StoreError):
    """Events do not continue the run's sequence."""


class ApprovalError(HarnessError):
    """An approval, or an answer to a question, cannot be used."""


class RunError(HarnessError):
    """The run cannot make the move that was asked for in its present state."""


class MissingExtraError(HarnessError, ImportError):
    """An optional dependency is not installed; the message names the extra."""
