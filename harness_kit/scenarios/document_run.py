"""The run of chapter 04: one step is one model call or one write.

The model proposes to read a document and then to summarise it; the harness checks each proposal, and only
the harness writes: inputs, report and records each pass the gate.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_kit.budget import Budget
from harness_kit.codes import CommitStatus, Refusal, ReviewStatus, Stage, StopReason, TaskStatus
from harness_kit.errors import BudgetError, BudgetExceededError, InputError, ModelError
from harness_kit.labels import Word, label
from harness_kit.models import Model
from harness_kit.runs import Run
from harness_kit.scenarios.documents import (
    PROCEDURE,
    RECORDS,
    REPORT,
    Expectation,
    build_report,
    document_model,
    read_fact,
    report_faults,
    shipped_documents,
    shipped_procedure,
)
from harness_kit.store import TraceStore
from harness_kit.trace import Clock
from harness_kit.workspace import Workspace


class ApprovalGateRun(Run):
    """The chapter's run. State: phase, tasks, calls, ignored, error, checks, records."""

    system = "approval_gate"
    version = "1"

    def __init__(
        self,
        run_id: str,
        root: str | Path,
        *,
        clock: Clock,
        budget: Budget,
        store: TraceStore | None = None,
        documents: Mapping[str, str] | None = None,
        title: str | None = None,
        change_after_approval: str = "",
        expected: Expectation | None = None,
        model: Model | None = None,
        **parts: Any,
    ) -> None:
        given = shipped_documents() if documents is None else dict(documents)
        if not given:
            raise InputError("there are no documents; pass at least one as {name: text}")
        taken = {PROCEDURE, REPORT, *RECORDS} & set(given)
        if taken:
            raise InputError(f"document names {sorted(taken)} are the harness's own; rename the documents")
        self.equip(root=root, documents=given, model=model, expected=expected)
        settings = {
            "documents": list(given),
            "title": label(Word.REPORT_TITLE) if title is None else _title(title),
            "limit": budget.limit,
            "change_after_approval": change_after_approval,
        }
        super().__init__(run_id, clock=clock, budget=budget, store=store, settings=settings, **parts)

    def equip(  # type: ignore[override]  # names the parts that this run takes
        self,
        *,
        root: str | Path,
        documents: Mapping[str, str] | None = None,
        model: Model | None = None,
        expected: Expectation | None = None,
    ) -> None:
        """Take the folder, the documents to lay down in it, the model, and what the result is judged by."""
        self.documents = dict(shipped_documents() if documents is None else documents)
        self.model = document_model() if model is None else model
        self.expected = expected
        inputs = {*self.documents, PROCEDURE}
        whole = Workspace(root, writable={*inputs, REPORT, *RECORDS})
        self.inputs = whole.narrowed(writable=inputs)
        self.sources = whole.narrowed(readable=set(self.documents))
        self.reports = whole.narrowed(writable={REPORT})
        self.records = whole.narrowed(writable=set(RECORDS))

    def initial(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every document is a waiting task."""
        tasks = [
            {"name": name, "status": str(TaskStatus.WAITING), "observation": None, "summary": None}
            for name in settings["documents"]
        ]
        return {
            "phase": "prepare",
            "tasks": tasks,
            "calls": 0,
            "ignored": 0,
            "error": None,
            "checks": {},
            "records": None,
        }

    def advance(self) -> None:
        """Do the step that the phase names."""
        phases = {
            "prepare": self._prepare, "start": self._start, "work": self._work, "report": self._report,
            "save": self._save, "finish": self._finish, "records": self._records,
        }  # fmt: skip
        phases[self.state["phase"]]()

    def _prepare(self) -> None:
        files = {**self.documents, PROCEDURE: shipped_procedure()}
        self.propose(self.inputs, purpose=label(Word.PURPOSE_INPUT), files=files)
        self.state["phase"] = "start"

    def _start(self) -> None:
        prepared = self.commit_answer(self.inputs)
        self.note(Stage.START, scenario=self.run_id, limit=self.budget.limit)
        if prepared.status is not CommitStatus.SAVED:
            self.note(Stage.INPUTS_REFUSED, refusal=str(prepared.refusal))
            self._stop(_reason_of(prepared.status))
        elif self.inputs.read_text(PROCEDURE) != shipped_procedure():
            self.note(Stage.PROCEDURE_DIFFERS)
            self._stop(StopReason.INPUT_ERROR, f"{PROCEDURE} is not the procedure that this run enforces")
        else:
            self.state["phase"] = "work"

    def _work(self) -> None:
        task = next(task for task in self.state["tasks"] if task["status"] != TaskStatus.DONE)
        action = self._proposed_action(task)
        if action is not None:
            self._carry_out(task, action)
        if all(each["status"] == TaskStatus.DONE for each in self.state["tasks"]):
            self.state["phase"] = "report"

    def _proposed_action(self, task: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Ask the model, or stop the run and return None."""
        request = {"task": task["name"], "observation": task["observation"]}
        try:
            action = self.ask_model(self.model, request, role="summarizer").action
        except BudgetExceededError:
            self.note(Stage.BUDGET_STOP, used=self.cost)
            self._stop(StopReason.BUDGET)
            return None
        except (BudgetError, ModelError) as error:
            self.note(Stage.MODEL_FAILED, task=task["name"], error=type(error).__name__)
            self._stop(StopReason.INVALID, str(error))
            return None
        self.state["calls"] += 1
        kind = action.get("action")
        self.note(
            Stage.MODEL, task=task["name"], action=kind if isinstance(kind, str) else None, cost=self.cost
        )
        return action

    def _carry_out(self, task: dict[str, Any], action: Mapping[str, Any]) -> None:
        """Do what was proposed if it is this task's next action; else the run ends."""
        match (action.get("action"), task["status"]):
            case ("read_document", TaskStatus.WAITING) if action.get("name") == task["name"]:
                self._read(task)
            case ("summarize", TaskStatus.READ) if action.get("text") == task["observation"]:
                task.update(status=str(TaskStatus.DONE), summary=action["text"])
                self.note(Stage.TASK_DONE, task=task["name"])
            case _:
                self.note(Stage.ACTION_REFUSED, task=task["name"])
                self._stop(
                    StopReason.INVALID,
                    f"the action proposed for {task['name']!r} is not its next allowed one",
                )

    def _read(self, task: dict[str, Any]) -> None:
        try:
            fact, ignored = read_fact(self.sources, task["name"])
        except InputError as error:
            self.note(Stage.INPUT_ERROR, task=task["name"])
            self._stop(StopReason.INPUT_ERROR, str(error))
        else:
            task.update(status=str(TaskStatus.READ), observation=fact)
            self.state["ignored"] += ignored
            self.note(Stage.READ, task=task["name"], ignored=ignored)

    def _report(self) -> None:
        settings = self.state["settings"]
        report = build_report(settings["title"], self.state["tasks"])
        faults = report_faults(settings["title"], self.state["tasks"], report, settings["documents"])
        if faults:
            self.note(Stage.VALIDATION_FAILED, faults=len(faults))
            self._stop(StopReason.INVALID, "; ".join(faults))
        else:
            self.note(Stage.VALIDATION_PASSED)
            self.propose(self.reports, purpose=label(Word.PURPOSE_REPORT), files={REPORT: report})
            self.state.update(phase="save", review=str(ReviewStatus.PENDING))

    def _save(self) -> None:
        asked = self.question()
        now = asked
        if self.state["settings"]["change_after_approval"]:
            now = asked.with_files(
                {REPORT: asked.files[REPORT] + self.state["settings"]["change_after_approval"]}
            )
        saved = self.commit_answer(self.reports, now)
        review = _review_of(saved.refusal)
        self.note(Stage.REPORT_APPROVAL, accepted=review is ReviewStatus.ACCEPTED)
        self.note(Stage.REPORT_COMMIT, result=str(saved.status), refusal=saved.refusal and str(saved.refusal))
        self.state["review"] = str(review)
        self.state["committed"] = saved.status is CommitStatus.SAVED
        self._stop(_reason_of(saved.status))

    def _stop(self, reason: StopReason, error: str | None = None) -> None:
        self.state.update(reason=str(reason), error=error, phase="finish")

    def _finish(self) -> None:
        self.note(Stage.FINISH, reason=self.state["reason"], cost=self.cost)
        self.note(Stage.AUDIT_READY)
        self.state["checks"] = self.judge()
        self.state["passed"] = all(self.state["checks"].values()) if self.state["checks"] else None
        texts = [
            json.dumps(part, ensure_ascii=False, sort_keys=True, indent=2) + "\n" for part in self._audit()
        ]
        files = dict(zip(RECORDS, texts, strict=True))
        self.propose(self.records, purpose=label(Word.PURPOSE_RECORDS), files=files)
        self.state["phase"] = "records"

    def judge(self) -> dict[str, bool]:
        """Return the eight named checks against the expectation, looking at the disk; {} without one."""
        if self.expected is None:
            return {}
        report = self.reports.read_text(REPORT) if self.reports.exists(REPORT) else None
        return {
            "reason": self.state["reason"] == self.expected.reason,
            "calls": self.state["calls"] == self.expected.calls,
            "budget": self.cost <= self.budget.limit,
            "report_presence": (report is not None) == (self.expected.report is not None),
            "report_content": report == self.expected.report,
            "task_states": tuple(task["status"] for task in self.state["tasks"]) == self.expected.task_states,
            "ignored_instruction": self.state["ignored"] == self.expected.ignored,
            "trace_sequence": [event.seq for event in self.trace] == list(range(1, len(self.trace) + 1)),
        }

    def _audit(self) -> tuple[dict[str, Any], dict[str, Any]]:
        ran = {
            "run_id": self.run_id, "reason": self.state["reason"], "error": self.state["error"],
            "cost": self.cost, "limit": self.budget.limit, "committed": self.state["committed"],
            "tasks": self.state["tasks"], "events": [event.record() for event in self.trace],
        }  # fmt: skip
        judged = {"run_id": self.run_id, "checks": self.state["checks"], "passed": self.state["passed"]}
        return ran, judged

    def _records(self) -> None:
        saved = self.commit_answer(self.records)
        self.state["records"] = "saved" if saved.status is CommitStatus.SAVED else "refused"
        self.finish()


def _review_of(refusal: Refusal | None) -> ReviewStatus:
    """What a person said: an answer that is void (forged, expired, one's own, foreign) leaves it pending."""
    if refusal in (None, Refusal.CHANGED, Refusal.BASE_CHANGED, Refusal.USED):
        return ReviewStatus.ACCEPTED
    return ReviewStatus.REJECTED if refusal is Refusal.DECLINED else ReviewStatus.PENDING


def _reason_of(status: CommitStatus) -> StopReason:
    return {
        CommitStatus.SAVED: StopReason.COMPLETED,
        CommitStatus.REJECTED: StopReason.REJECTED,
        CommitStatus.MISMATCH: StopReason.MISMATCH,
    }[status]


def _title(text: str) -> str:
    if not isinstance(text, str) or not text.strip() or len(text.splitlines()) != 1:
        raise InputError(
            f"title {text!r} is not one line of text; give the report a title such as '주간 보고서'"
        )
    return text
