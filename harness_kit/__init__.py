"""harness_kit: a teaching and analysis kit for agent harnesses.

The harness is the program that decides whether an action that a model proposes is carried out, and hands
the result back as the next input. What a chapter's first cell needs is here; the rest is in the modules.
"""

from harness_kit.approval import Approval, commit
from harness_kit.approvers import ScriptedApprover, ask
from harness_kit.budget import Budget
from harness_kit.codes import CommitStatus, Decision, ReviewStatus, RunStatus, StopReason, TaskStatus
from harness_kit.labels import label
from harness_kit.models import Model, RecordedModel, Reply, ScriptedModel
from harness_kit.proposals import Proposal
from harness_kit.runs import Run
from harness_kit.store import TraceStore
from harness_kit.trace import Event, Recorder, fixed_clock
from harness_kit.workspace import Workspace

__all__ = [
    "Approval",
    "Budget",
    "CommitStatus",
    "Decision",
    "Event",
    "Model",
    "Proposal",
    "RecordedModel",
    "Recorder",
    "Reply",
    "ReviewStatus",
    "Run",
    "RunStatus",
    "ScriptedApprover",
    "ScriptedModel",
    "StopReason",
    "TaskStatus",
    "TraceStore",
    "Workspace",
    "ask",
    "commit",
    "fixed_clock",
    "label",
]

__version__ = "0.1.0"
