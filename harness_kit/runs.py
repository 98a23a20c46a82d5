"""The stepwise run: a value that moves by `step()`, waits at a question, and survives a crash.

    run = ApprovalGateRun("demo", ...)
    while not run.finished:
        if run.pending is not None:
            run.answer(ask(approver, run.pending).approval)
        run.step()

A subclass keeps everything it knows in `self.state` (plain JSON) and moves it in `advance()`, one action a
step. With a store, the state before a step is kept as *started* and the state after it as *completed*,
together with the step's events in one transaction. A run found *started* was cut off inside a step: that
step is done again from the state before it, and its effects are not repeated, since a spend is known by
its key and a commit by its mark on disk. Where neither can tell (a model that may not be asked twice),
the run is *unknown* until a person resolves it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from harness_kit import canonical
from harness_kit.approval import Approval, CommitResult, commit
from harness_kit.budget import FAILED, Budget
from harness_kit.codes import Decision, ReviewStatus, RunStatus, SpendState
from harness_kit.errors import ApprovalError, RunError
from harness_kit.models import Model, Reply, call_model
from harness_kit.proposals import Proposal
from harness_kit.runstate import RunState
from harness_kit.store import TraceStore
from harness_kit.trace import Clock, Event, Recorder
from harness_kit.workspace import Workspace


class UnknownEffectError(RunError):
    """A crash hid whether a call that may not be repeated was made."""


class Run(RunState):
    """Base of all runs. Subclasses set `system` and `version`, fill `initial()`, and write `advance()`."""

    def __init__(
        self,
        run_id: str,
        *,
        clock: Clock,
        budget: Budget,
        store: TraceStore | None = None,
        redact: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        on_event: Iterable[Callable[[Event], object]] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._assemble(run_id, clock, budget, store, redact, on_event)
        self.state = self._fresh(settings or {})
        if store is not None:
            with store.transaction():
                store.open_run(
                    run_id, system=self.system, version=self.version, started=self.state["started"]
                )
                store.update_run(run_id, limit=budget.limit, status=self.status)
                store.checkpoint(run_id, 0, self.state)

    @classmethod
    def resume(
        cls,
        store: TraceStore,
        run_id: str,
        *,
        clock: Clock,
        budget: Budget,
        redact: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        on_event: Iterable[Callable[[Event], object]] = (),
        **parts: Any,
    ) -> Self:
        """Take up a stored run where it stands, in this or another process.

        `parts` are what a subclass needs besides (its model, its workspace). `RunError` where the stored
        run is of another system or version.
        """
        held = store.run(run_id)
        if (held.system, held.version) != (cls.system, cls.version):
            raise RunError(
                f"run {run_id!r} is {held.system} version {held.version}, this is {cls.system} version "
                f"{cls.version}; resume it with the code that began it, or start a new run"
            )
        found = store.last_checkpoint(run_id)
        if found is None:
            raise RunError(f"run {run_id!r} has no checkpoint; start a new run")
        run = cls.__new__(cls)
        run._assemble(run_id, clock, budget, store, redact, on_event)
        run.state = canonical.loads(canonical.dumps(found.state))
        run.events = store.events(run_id)
        run._interrupted = found.phase == "started"
        run.equip(**parts)
        return run

    def _assemble(
        self,
        run_id: str,
        clock: Clock,
        budget: Budget,
        store: TraceStore | None,
        redact: Callable[[dict[str, Any]], dict[str, Any]] | None,
        on_event: Iterable[Callable[[Event], object]],
    ) -> None:
        self.run_id = run_id
        self.clock = clock
        self.budget = budget
        self.store = store
        self.redact = redact
        self.on_event = tuple(on_event)
        self.events: list[Event] = []
        self._interrupted = False
        self._asked = 0
        self._record = Recorder(run_id, clock=clock, redact=redact)

    def _fresh(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "number": 0, "started": self.clock(), "ended": None, "settings": dict(settings),
            "reason": None, "passed": None, "review": str(ReviewStatus.NOT_NEEDED), "committed": False,
            "questions": 0, "pending": None, "answer": None, "unknown": None, "retries": 0,
            **self.initial(settings),
        }  # fmt: skip

    # What a subclass writes.

    def equip(self, **parts: Any) -> None:
        """Take what the run works with and cannot keep in its state; called on resume."""

    def initial(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the subclass's own part of the first state."""
        return {}

    def advance(self) -> None:
        """Do one step's work on `self.state`: at most one model call or one commit."""
        raise NotImplementedError

    # How it moves.

    def step(self) -> None:
        """Do the next step whole, or leave the run as it was."""
        if self.status is not RunStatus.READY:
            remedy = {
                RunStatus.FINISHED: "it has ended; start a new run",
                RunStatus.WAITING: "answer its question first: run.answer(...)",
                RunStatus.UNKNOWN: "look at what happened and call run.resolve(reason=..., by=...)",
            }[self.status]
            raise RunError(f"run {self.run_id!r} is {self.status.value}, so it cannot step; {remedy}")
        before = canonical.dumps(self.state)
        if self.store is not None and not self._interrupted:
            self.store.checkpoint(self.run_id, self.number + 1, self.state, phase="started")
        happened = self._recorder().events
        self._asked = 0
        try:
            self.advance()
            self.state["number"] += 1
            self._keep(happened)
        except UnknownEffectError as error:
            self.state = canonical.loads(before)
            self.state["unknown"] = str(error)
            self._keep([], phase="started")
            return
        except BaseException:
            self.state = canonical.loads(before)
            self._interrupted = True  # the next attempt reads back first what this one may have done
            raise
        self._interrupted = False
        self._show(happened)

    def answer(self, approval: Approval | None) -> Decision:
        """Give the pending question its answer. None is HOLD: the question stays.

        An answer is taken once; `RunError` where no question waits, `ApprovalError` where another process
        answered first. Whether the answer fits is judged by the commit that follows.
        """
        if self.state["pending"] is None or self.finished:
            raise RunError(f"run {self.run_id!r} asks nothing now; step it until it does")
        if self.state["answer"] is not None:
            raise RunError(
                f"question {self.state['questions']} of run {self.run_id!r} was answered; that is taken once"
            )
        if approval is None:
            return Decision.HOLD
        if not isinstance(approval, Approval):
            raise ApprovalError(
                f"{type(approval).__name__} is no Approval; pass what the approver returned, or None"
            )
        before = canonical.dumps(self.state)
        self.state["answer"] = approval.record()
        try:
            if self.store is not None:
                with self.store.transaction():
                    question = Proposal.from_record(self.state["pending"]).summary()
                    self.store.record_decision(
                        "answer",
                        self.run_id,
                        {"approval": approval.record(), "question": question},
                        time=approval.time,
                        unique=f"answer:{self.run_id}:{self.state['questions']}",
                    )
                    self._keep([])
        except BaseException:
            self.state = canonical.loads(before)
            raise
        return approval.decision

    def resolve(self, *, reason: str, by: str) -> None:
        """Say that the unknown call of a crashed step may be made anew; its units are given back."""
        if self.status is not RunStatus.UNKNOWN:
            raise RunError(f"run {self.run_id!r} is {self.status.value}; only an unknown run can be resolved")
        if not reason.strip() or not by.strip():
            raise RunError(f"resolving needs a reason and a name, got {reason!r} by {by!r}")
        held = self.budget.find(self._key(0))
        if held is not None and held.state in (SpendState.RESERVED, SpendState.STARTED):
            self.budget.release(held.id, reason=f"{by}: {reason}")
        self.state["unknown"] = None
        self.state["retries"] += 1
        if self.store is not None:
            with self.store.transaction():
                self.store.record_decision(
                    "resolve", self.run_id, {"by": by, "reason": reason}, time=self.clock()
                )
                self._keep([], phase="started")

    # What a step is made of.

    def note(self, stage: str, **data: Any) -> None:
        """Record an event of this step."""
        self._record(str(stage), **data)

    def ask_model(self, model: Model, request: Mapping[str, Any], *, role: str = "") -> Reply:
        """Reserve, call and settle under a key of this step, so that a repeated step pays once."""
        base = key = self._key(self._asked)
        self._asked += 1
        attempt = 0
        while (known := self.budget.find(key)) is not None and known.state in _HELD:
            if not model.repeatable:
                raise UnknownEffectError(
                    f"it is unknown whether model {model.name!r} answered step {self.number + 1}, and it may "
                    f"not be asked twice (units held: {known.units})"
                )
            if known.note != FAILED:
                break  # cut off, or its answer was lost: the same spend serves the same question
            attempt += 1
            key = f"{base}:again{attempt}"
        return call_model(model, request, self.budget, role=role, key=key, run_id=self.run_id)

    def propose(self, workspace: Workspace, *, purpose: str, files: Mapping[str, str]) -> Proposal:
        """Make a question; the run waits after this step until `answer()`."""
        proposal = Proposal.for_files(
            workspace,
            purpose=purpose,
            files=files,
            cost=self.cost,
            run_id=self.run_id,
            number=self.state["questions"] + 1,
        )
        self.state["questions"] = proposal.number
        self.state["pending"] = proposal.record()
        return proposal

    def commit_answer(
        self, workspace: Workspace, proposal: Proposal | None = None, *, key: bytes | None = None
    ) -> CommitResult:
        """Commit the answered question (or what became of it: `proposal`); its text leaves the state."""
        asked = self.question()
        approval = Approval.from_record(self.state["answer"], asked)
        result = commit(
            workspace,
            proposal or asked,
            approval,
            store=self.store,
            now=self.clock() if approval.expires is not None else None,
            key=key,
            resume=self._interrupted,
        )
        self.state["pending"] = self.state["answer"] = None
        return result

    def finish(self) -> None:
        """Say that nothing is left to do."""
        self.state["ended"] = self.clock()

    def _key(self, index: int) -> str:
        retry = self.state["retries"]
        return f"{self.run_id}:{self.number + 1}:{index}" + (f":retry{retry}" if retry else "")

    def _recorder(self) -> Recorder:
        self._record = Recorder(self.run_id, clock=self.clock, redact=self.redact, start=len(self.events))
        return self._record

    def _keep(self, events: list[Event], *, phase: str = "completed") -> None:
        """Store events, state and the run's row in one transaction."""
        if self.store is not None:
            row = self.record()
            with self.store.transaction():
                self.store.append(events)
                number = self.number + (phase == "started")
                self.store.checkpoint(self.run_id, number, self.state, phase=phase)
                self.store.update_run(
                    self.run_id,
                    **{name: row[name] for name in _STORED},
                )
        self.events = [*self.events, *events]
        self._recorder()

    def _show(self, events: list[Event]) -> None:
        """Observers see an event once it is kept; one that raises does not undo the step."""
        for event in events:
            for observer in self.on_event:
                observer(event)


_HELD = (SpendState.RESERVED, SpendState.STARTED, SpendState.SETTLED)
_STORED = ("status", "reason", "passed", "review", "committed", "cost", "ended", "duration_ms")
