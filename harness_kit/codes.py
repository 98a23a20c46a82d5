"""The codes of the kit: closed sets of English words. Their Korean words live in `labels`."""

from enum import StrEnum


class TaskStatus(StrEnum):
    """How far a task of a run has come."""

    WAITING = "waiting"
    READ = "read"
    DONE = "done"


class StopReason(StrEnum):
    """Why a run ended. Ended is not done: only `COMPLETED` says that the work was carried out."""

    COMPLETED = "completed"
    REJECTED = "rejected"
    BUDGET = "budget"
    MISMATCH = "mismatch"
    INVALID = "invalid"
    INPUT_ERROR = "input_error"
    ROUNDS = "rounds"
    """The last round that was allowed ended without a pass."""
    UNRESOLVED = "unresolved"
    """Issues contradict each other and no priority decides."""


class ReviewStatus(StrEnum):
    """What a person said; only a person moves it from `PENDING`."""

    NOT_NEEDED = "not_needed"
    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Outcome(StrEnum):
    """What became of one case in one evaluation run."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    NOT_RUN = "not_run"
    NOT_SELECTED = "not_selected"


class Verdict(StrEnum):
    """How a workflow ends."""

    PASS = "PASS"
    FAIL = "FAIL"
    HOLD = "HOLD"
    BLOCK = "BLOCK"


class ComparisonVerdict(StrEnum):
    """What two runs allow to be said."""

    PASSED = "PASSED"
    REGRESSED = "REGRESSED"
    INCONCLUSIVE = "INCONCLUSIVE"


class RunStatus(StrEnum):
    """Where a stepwise run stands."""

    READY = "ready"
    """`step()` can be called."""
    WAITING = "waiting"
    """A question is pending; `answer()` it."""
    UNKNOWN = "unknown"
    """A crash hid how an effect ended and reading back could not tell; a person resolves it."""
    FINISHED = "finished"


class CommitStatus(StrEnum):
    """What `approval.commit` did."""

    SAVED = "saved"
    REJECTED = "rejected"
    MISMATCH = "mismatch"


class Decision(StrEnum):
    """An answer to a proposal. No answer, a late one or a malformed one is `HOLD`."""

    APPROVED = "approved"
    REJECTED = "rejected"
    HOLD = "hold"


class Refusal(StrEnum):
    """Why a commit wrote nothing."""

    NO_ANSWER = "no_answer"
    DECLINED = "declined"
    CHANGED = "changed"
    BASE_CHANGED = "base_changed"
    FOREIGN = "foreign"
    USED = "used"
    EXPIRED = "expired"
    FORGED = "forged"
    SELF_APPROVED = "self_approved"


class SpendState(StrEnum):
    """Where one reservation of a ledger stands."""

    RESERVED = "reserved"
    STARTED = "started"
    """The call began; until it is settled nobody knows what it cost."""
    SETTLED = "settled"
    REFUNDED = "refunded"
    """Never started, so its units went back."""
    REFUSED = "refused"
    """Asked for and not granted."""
    RELEASED = "released"
    """Unknown after a crash, given back by an explicit act with a reason."""


class Durability(StrEnum):
    """What a store's finished writes survive."""

    PROCESS = "process"
    """The end of the process, `kill -9` included."""
    POWER = "power"
    """Loss of power too: each transaction is forced to the disk."""


class StepPhase(StrEnum):
    """Whether a checkpoint was taken before or after its step."""

    STARTED = "started"
    COMPLETED = "completed"


class ChainFault(StrEnum):
    """What is wrong with the decision chain."""

    EDITED = "edited"
    DELETED = "deleted"
    REORDERED = "reordered"


class Stage(StrEnum):
    """What an event of chapter 02 or 04 says happened."""

    START = "start"
    MODEL = "model"
    READ = "read"
    TASK_DONE = "task_done"
    BUDGET_STOP = "budget_stop"
    MODEL_FAILED = "model_failed"
    ACTION_REFUSED = "action_refused"
    INPUT_ERROR = "input_error"
    INPUTS_REFUSED = "inputs_refused"
    PROCEDURE_DIFFERS = "procedure_differs"
    VALIDATION_FAILED = "validation_failed"
    VALIDATION_PASSED = "validation_passed"
    REPORT_APPROVAL = "report_approval"
    REPORT_COMMIT = "report_commit"
    FINISH = "finish"
    AUDIT_READY = "audit_ready"
    WRITE = "write"
    REVIEW = "review"
    ANSWER_REFUSED = "answer_refused"
    ROUND = "round"
    TESTS = "tests"
    CONFIRM = "confirm"


class Standing(StrEnum):
    """How a case stands in one run over all its repeats; the first five are spelled as in `Outcome`."""

    PASSED = "passed"
    """Every repeat that ran passed."""
    FAILED = "failed"
    """None passed."""
    ERRORED = "errored"
    """None passed, and one at least crashed."""
    NOT_RUN = "not_run"
    NOT_SELECTED = "not_selected"
    MIXED = "mixed"
    """Some passed and some did not."""
    ABSENT = "absent"
    """The run's set does not have the case."""


class Bucket(StrEnum):
    """Where a case of two runs belongs; every case is in one."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    """All repeats passed before and none after, a crash included."""
    STILL_PASSING = "still_passing"
    STILL_FAILING = "still_failing"
    ERRORED = "errored"
    """Did not pass before and crashed after."""
    FLAKY = "flaky"
    """The repeats of one run disagree."""
    NOT_RUN = "not_run"
    """In both sets, and not run in one of the runs at least."""
    NOT_SELECTED = "not_selected"
    """Left out of both runs on purpose."""
    ADDED = "added"
    REMOVED = "removed"


class Cause(StrEnum):
    """What a change of a case comes from. Of the first three, a case has changed: it is counted apart."""

    INPUT = "input"
    EXPECTATION = "expectation"
    GRADER = "grader"
    HARNESS = "harness"
    """Input, expectation and grader are known to be the same."""
    UNKNOWN = "unknown"
    """A file holds no hashes."""


class Ground(StrEnum):
    """Why a gate said what it said, or what a reader of its verdict should know besides."""

    REGRESSION = "regression"
    MUST_PASS = "must_pass"
    MIN_SCORE = "min_score"
    TAG_SCORE = "tag_score"
    FLAKINESS = "flakiness"
    CRASH = "crash"
    COVERAGE = "coverage"
    INCOMPLETE = "incomplete"
    GATED_ABSENT = "gated_absent"
    NOTHING = "nothing"
    THIN_EVIDENCE = "thin_evidence"
    CASE_CHANGED = "case_changed"
    CAUSE_UNKNOWN = "cause_unknown"
    NEWLY_FLAKY = "newly_flaky"
    CASE_REMOVED = "case_removed"
    SAME_FAILURE = "same_failure"


class Parting(StrEnum):
    """What stands in place of a stage where two traces do not part at one."""

    NO_TRACE = "no_trace"
    SAME_TRACE = "same_trace"


class TriggerSource(StrEnum):
    """What fires a trigger."""

    SCHEDULE = "schedule"
    EVENT = "event"


class TriggerStatus(StrEnum):
    """What became of a trigger."""

    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    """Not started: its units did not fit."""


class AlertKind(StrEnum):
    """Why somebody should look; the remedies differ."""

    VERIFICATION_FAILED = "verification_failed"
    BUDGET_EXHAUSTED = "budget_exhausted"
