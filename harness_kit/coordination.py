"""The coordinator's run: write, review, rewrite, test, ask, write the file; one call or one write a step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness_kit.asking import GuardedModel, Role, check_roles
from harness_kit.budget import Budget
from harness_kit.codes import CommitStatus, Decision, ReviewStatus, Stage, StopReason
from harness_kit.errors import BudgetClosedError, BudgetError, BudgetExceededError, InputError, ModelError
from harness_kit.labels import label
from harness_kit.rolespec import Review, Spec, candidate_id, merge, read_candidate, read_review
from harness_kit.rolewords import RoleWord
from harness_kit.runs import Run
from harness_kit.store import TraceStore
from harness_kit.trace import Clock
from harness_kit.workspace import Workspace

Test = Callable[[str, str], bool]
"""An independent test: given the first draft and the candidate, True where it holds."""


class Coordination(Run):
    """The coordinator's run over one file.

    State: phase, round, first, candidate, candidate_id, feedback, reviews, history, refused, checks, calls.
    """

    system = "coordination"
    version = "1"

    def __init__(
        self,
        run_id: str,
        *,
        spec: Spec,
        writer: Role,
        reviewers: Sequence[Role],
        rounds: int,
        tests: Mapping[str, Test],
        workspace: Workspace,
        clock: Clock,
        budget: Budget,
        store: TraceStore | None = None,
        **parts: Any,
    ) -> None:
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise InputError(f"rounds is {rounds!r}; expected a whole number, 1 or more")
        self.spec = spec
        self.equip(writer=writer, reviewers=reviewers, tests=tests, workspace=workspace)
        settings = {"spec": spec.record(), "rounds": rounds, "tests": list(tests)}
        super().__init__(run_id, clock=clock, budget=budget, store=store, settings=settings, **parts)

    def equip(  # type: ignore[override]  # names the parts that this run takes
        self,
        *,
        writer: Role,
        reviewers: Sequence[Role],
        tests: Mapping[str, Test],
        workspace: Workspace,
    ) -> None:
        """Take the roles, the tests and the folder; `InputError` where they do not fit the specification."""
        if hasattr(self, "state"):
            self.spec = Spec.from_record(self.state["settings"]["spec"])
            if list(tests) != self.state["settings"]["tests"]:
                raise InputError(
                    f"tests {list(tests)} are not those that the run began with, "
                    f"{self.state['settings']['tests']}; pass the same or start a new run"
                )
        check_roles(self.spec, writer, reviewers)
        if not tests:
            raise InputError("there are no tests; pass at least one, since passed reviews are no proof")
        by_name = {role.name: role for role in reviewers}
        self.writer, self.tests = writer, dict(tests)
        self.reviewers = {name: by_name[name] for name in self.spec.reviewers}
        self.workspace = workspace.narrowed(writable={self.spec.file})

    def initial(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing written, nobody asked."""
        return {
            "phase": "write", "round": 1, "first": None, "candidate": None, "candidate_id": None,
            "feedback": [], "reviews": {}, "report": None, "history": [], "refused": [], "checks": {},
            "unresolved": [], "saved": None, "error": None,
            "calls": dict.fromkeys((self.writer.name, *self.reviewers), 0),
        }  # fmt: skip

    def advance(self) -> None:
        """Do the step that the phase names."""
        phases = {"write": self._write, "review": self._review, "test": self._test, "save": self._save}
        phases[self.state["phase"]]()

    def _write(self) -> None:
        request = {
            "spec": dict(self.spec.content), "candidate": self.state["candidate"] or "",
            "feedback": self.state["feedback"],
        }  # fmt: skip
        text = self._answer_of(self.writer, request, Stage.WRITE, read_candidate)
        if text is None:
            if not self.finished:
                self._stop(StopReason.INVALID, self.state["refused"][-1]["why"])
            return
        judged = candidate_id(text)
        first = text if self.state["first"] is None else self.state["first"]
        # A changed candidate needs every review anew.
        self.state.update(first=first, candidate=text, candidate_id=judged, reviews={}, phase="review")

    def _review(self) -> None:
        judged = self.state["candidate_id"]
        turn = next(name for name in self.reviewers if name not in self.state["reviews"])
        role = self.reviewers[turn]
        # The candidate and the criteria, and nothing of what the writer says about it.
        request = {
            "candidate": self.state["candidate"], "candidate_id": judged, "criteria": list(role.codes),
        }  # fmt: skip
        review = self._answer_of(
            role,
            request,
            Stage.REVIEW,
            lambda action: read_review(action, role=turn, codes=role.codes, judged=judged),
        )
        self.state["reviews"][turn] = None if review is None else review.record()
        if self.finished:
            self._keep_round()  # the ledger stopped it; what the others said is kept
        elif len(self.state["reviews"]) == len(self.reviewers):
            self._judge()

    def _keep_round(self) -> dict[str, Any]:
        """Put what this round brought so far into the history; a round has not passed until it is said."""
        told: dict[str, Any] = {
            "round": self.state["round"], "candidate_id": self.state["candidate_id"],
            "candidate": self.state["candidate"],
            "reviews": [record for record in self.state["reviews"].values() if record is not None],
            "passed": False, "feedback": [], "dropped": [], "unresolved": [],
        }  # fmt: skip
        self.state["history"].append(told)
        return told

    def _judge(self) -> None:
        """Join the reviews of this round, and say how it goes on. Only all of them together pass."""
        state, number = self.state, self.state["round"]
        told = self._keep_round()
        reviews = [Review(**{**record, "issues": tuple(record["issues"])}) for record in told["reviews"]]
        if len(reviews) < len(self.reviewers):
            self.note(Stage.ROUND, round=number, passed=False, refused=True)
            last = state["refused"][-1]
            self._stop(StopReason.INVALID, f"{last['role']}, round {last['round']}: {last['why']}")
            return
        merged = merge(self.spec, state["candidate_id"], reviews)
        told.update(
            passed=merged.passed, feedback=list(merged.feedback), dropped=list(merged.dropped),
            unresolved=list(merged.unresolved),
        )  # fmt: skip
        self.note(
            Stage.ROUND, round=number, passed=merged.passed, feedback=told["feedback"],
            dropped=told["dropped"], unresolved=told["unresolved"],
        )  # fmt: skip
        state["feedback"] = told["feedback"]
        if merged.passed:
            state["phase"] = "test"
        elif merged.unresolved:
            state["unresolved"] = told["unresolved"]
            both = " and ".join(merged.unresolved)
            self._stop(StopReason.UNRESOLVED, f"{both} contradict each other; give them a priority")
        elif number == state["settings"]["rounds"]:
            self._stop(
                StopReason.ROUNDS, f"round {number} was the last and did not pass; nothing is confirmed"
            )
        else:
            state.update(round=number + 1, phase="write")

    def _test(self) -> None:
        self.state["checks"] = {name: self._holds(test) for name, test in self.tests.items()}
        failed = [name for name, good in self.state["checks"].items() if not good]
        self.note(Stage.TESTS, passed=not failed, failed=failed)
        if failed:
            self._stop(
                StopReason.INVALID, f"tests {failed} failed on the candidate that all reviewers passed"
            )
            return
        files = {self.spec.file: self.state["candidate"]}
        self.propose(self.workspace, purpose=label(RoleWord.PURPOSE_DOCUMENT), files=files)
        self.state.update(phase="save", review=str(ReviewStatus.PENDING))

    def _holds(self, test: Test) -> bool:
        try:
            return test(self.state["first"], self.state["candidate"]) is True
        except Exception:  # a test that cannot say so has not passed
            return False

    def _save(self) -> None:
        accepted = self.state["answer"]["decision"] == Decision.APPROVED
        self.state["review"] = str(ReviewStatus.ACCEPTED if accepted else ReviewStatus.REJECTED)
        result = self.commit_answer(self.workspace)
        saved = result.status is CommitStatus.SAVED
        self.note(Stage.CONFIRM, result=str(result.status), candidate_id=self.state["candidate_id"])
        if saved:
            self.state.update(committed=True, saved=self.workspace.read_text(self.spec.file))
            self._stop(StopReason.COMPLETED)
        elif result.status is CommitStatus.MISMATCH:
            self._stop(StopReason.MISMATCH, result.why)
        else:
            self._stop(StopReason.REJECTED, result.why)

    def _answer_of(
        self, role: Role, request: Mapping[str, Any], stage: Stage, read: Callable[[Mapping[str, Any]], Any]
    ) -> Any:
        """Ask one role once and return what it said, or keep why that is refused and return None."""
        began, number = self.clock(), self.state["round"]
        told = {"role": role.name, "document": self.spec.file, "round": number, "started": began}
        try:
            action = self.ask_model(GuardedModel(role), request, role=role.name).action
            said = read(action)
        except (BudgetExceededError, BudgetClosedError) as error:
            self.note(Stage.BUDGET_STOP, used=self.cost)
            self._stop(StopReason.BUDGET, str(error))
            return None
        except BudgetError as error:  # an unknown price: no call was made
            self._refuse(role, told, str(error), called=False)
            return None
        except ModelError as error:
            self._refuse(role, told, str(error), called=True)
            return None
        self.state["calls"][role.name] += 1
        if stage is Stage.WRITE:
            self.state["report"] = action.get("report")
        self.note(stage, **told, cost=self.cost)
        return said

    def _refuse(self, role: Role, told: Mapping[str, Any], why: str, *, called: bool) -> None:
        self.state["calls"][role.name] += called
        self.state["refused"].append({"role": role.name, "round": told["round"], "why": why})
        self.note(Stage.ANSWER_REFUSED, **told, why=why, called=called, cost=self.cost)

    def _stop(self, reason: StopReason, error: str | None = None) -> None:
        self.state.update(reason=str(reason), error=error, phase="finish")
        self.note(Stage.FINISH, reason=str(reason), cost=self.cost)
        self.finish()
