"""What chapter 04 works on: its documents, its scenarios, and what a report must look like."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness_kit.codes import Decision, StopReason, TaskStatus
from harness_kit.errors import InputError
from harness_kit.models import ScriptedModel
from harness_kit.resources import data_path
from harness_kit.workspace import Workspace

REPORT, PROCEDURE = "report.md", "procedure.txt"
RECORDS = ("run.json", "evaluation.json")


def story() -> dict[str, Any]:
    """Return the chapter's data file as it stands."""
    loaded: dict[str, Any] = json.loads(data_path("approval_gate", "scenarios.json").read_text("utf-8"))
    return loaded


def shipped_documents() -> dict[str, str]:
    """Return the chapter's three documents, text by name, in the order in which they are worked on."""
    return {
        name: data_path("approval_gate", "documents", name).read_text("utf-8")
        for name in story()["documents"]
    }


def shipped_procedure() -> str:
    """Return the procedure that the run compares with the file on disk before it starts."""
    return data_path("approval_gate", PROCEDURE).read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What a run should show, written down before it runs and independently of the code."""

    reason: StopReason
    calls: int
    """Model calls, 1 unit each."""
    task_states: tuple[TaskStatus, ...]
    """In document order."""
    report: str | None = None
    """Full text of the report; None where there must be none."""
    ignored: int = 1
    """Lines in the form of an instruction that were left out of the context."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One row of the chapter's table."""

    id: str
    name: str
    limit: int
    """Units."""
    decision: Decision
    """The scripted person's answer to the report."""
    change_after_approval: str
    """Text that is added to the report between approval and commit."""
    expected: Expectation


def scenarios() -> list[Scenario]:
    """Return the chapter's four scenarios from `data/approval_gate/scenarios.json`."""
    report = data_path("approval_gate", "expected_report.md").read_text("utf-8")
    return [
        Scenario(
            id=row["id"],
            name=row["name"],
            limit=row["limit"],
            decision=Decision(row["report_decision"]),
            change_after_approval=row["change_after_approval"],
            expected=Expectation(
                reason=StopReason(row["expected"]["reason"]),
                calls=row["expected"]["calls"],
                task_states=tuple(TaskStatus(state) for state in row["expected"]["task_states"]),
                report=report if row["expected"]["report"] else None,
                ignored=row["expected"]["ignored"],
            ),
        )
        for row in story()["scenarios"]
    ]


def document_model(on_request: Callable[[dict[str, Any]], object] = lambda request: None) -> ScriptedModel:
    """Return the chapter's stand-in for a model: propose to read, then hand the observation back.

    `on_request` sees every request as the model gets it.
    """

    def propose(request: dict[str, Any]) -> dict[str, Any]:
        on_request(request)
        if request["observation"] is None:
            return {"action": "read_document", "name": request["task"]}
        return {"action": "summarize", "text": request["observation"]}

    return ScriptedModel(propose, name="document_model")


def read_fact(workspace: Workspace, name: str) -> tuple[str, int]:
    """Return the document's one fact and how many instruction lines were left out.

    `InputError` where there is no fact, an empty one, or more than one. The message holds no document text.
    """
    prefixes = story()
    lines = workspace.read_text(name).splitlines()
    facts = [
        line.removeprefix(prefixes["fact_prefix"]).strip()
        for line in lines
        if line.startswith(prefixes["fact_prefix"])
    ]
    if len(facts) != 1 or not facts[0]:
        raise InputError(
            f"document {name!r} has {len(facts)} fact lines ({sum(not fact for fact in facts)} empty); "
            f"write exactly one line that begins with {prefixes['fact_prefix']!r} and says something"
        )
    return facts[0], sum(line.startswith(prefixes["order_prefix"]) for line in lines)


def build_report(title: str, tasks: list[dict[str, Any]]) -> str:
    """Return the report: the title, then one line a task with its source."""
    return f"# {title}\n\n" + "".join(f"- [{task['name']}] {task['summary']}\n" for task in tasks)


def report_faults(title: str, tasks: list[dict[str, Any]], report: str, documents: list[str]) -> list[str]:
    """Return what is wrong with a report's form and sources; empty where it may be proposed."""
    faults = []
    if [task["name"] for task in tasks] != documents:
        faults.append("tasks are not the documents in their order")
    for task in tasks:
        if task["status"] != TaskStatus.DONE:
            faults.append(f"{task['name']} is {task['status']}")
        elif not task["summary"].strip() or len(task["summary"].splitlines()) != 1:
            faults.append(f"summary of {task['name']} is not one line of text")
    if report != build_report(title, tasks):
        faults.append("the text is not the one built from the tasks")
    return faults
