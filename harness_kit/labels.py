"""Every word that a learner reads, in Korean and English, keyed by code.

>>> label(StopReason.BUDGET)
'비용 한도'
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, NamedTuple

from harness_kit import codes, rolewords
from harness_kit.codes import (
    AlertKind,
    ChainFault,
    CommitStatus,
    ComparisonVerdict,
    Decision,
    Durability,
    Outcome,
    Refusal,
    ReviewStatus,
    RunStatus,
    SpendState,
    Stage,
    StepPhase,
    StopReason,
    TaskStatus,
    TriggerSource,
    TriggerStatus,
    Verdict,
)
from harness_kit.errors import InputError

Lang = Literal["ko", "en"]


class Word(StrEnum):
    """Words of printed lines, tables and axes that are no code of their own."""

    ACTION = "action"
    ACTUAL = "actual"
    AGREES = "agrees"
    ALERT = "alert"
    ALL_CASES = "all_cases"
    ASKED_UNITS = "asked_units"
    AUTOMATIC_RUNS = "automatic_runs"
    BUDGET = "budget"
    CALLS = "calls"
    CALL_NUMBER = "call_number"
    CASE = "case"
    CASES_SUFFIX = "cases_suffix"
    CHECK = "check"
    COMMITTED = "committed"
    COST = "cost"
    DETAIL = "detail"
    DIFFERS = "differs"
    EVALUATION = "evaluation"
    EXPECTED = "expected"
    FAILED = "failed"
    FILE = "file"
    FINISHED = "finished"
    GUESS = "guess"
    IMPROVED = "improved"
    LIMIT = "limit"
    MATCH = "match"
    NO = "no"
    NONE = "none"
    NOT_GUESSED = "not_guessed"
    OBSERVATION = "observation"
    PASSED = "passed"
    PENDING_REVIEW = "pending_review"
    POINTS = "points"
    PURPOSE_INPUT = "purpose_input"
    PURPOSE_RECORDS = "purpose_records"
    PURPOSE_REPORT = "purpose_report"
    QUESTION = "question"
    REASON = "reason"
    RECORDS_SUFFIX = "records_suffix"
    REGRESSED = "regressed"
    REGRESSED_CASE = "regressed_case"
    REMEDY = "remedy"
    REPORT = "report"
    REPORT_ABSENT = "report_absent"
    REPORT_PRESENT = "report_present"
    REPORT_TITLE = "report_title"
    RESERVED = "reserved"
    REVIEW = "review"
    ROLE = "role"
    SCENARIO = "scenario"
    SECONDS = "seconds"
    SPENT = "spent"
    STAGE = "stage"
    STATUS = "status"
    STEP = "step"
    SUMMARY = "summary"
    TASK = "task"
    TIME = "time"
    TRACE = "trace"
    TRACES_KEPT = "traces_kept"
    UNITS = "units"
    YES = "yes"


class Label(NamedTuple):
    """One row of the glossary."""

    ko: str
    en: str


_ROWS: tuple[tuple[StrEnum, str, str], ...] = (
    (TaskStatus.WAITING, "대기", "waiting"),
    (TaskStatus.READ, "읽음", "read"),
    (TaskStatus.DONE, "완료", "done"),
    (StopReason.COMPLETED, "완료", "completed"),
    (StopReason.REJECTED, "승인 거절", "approval refused"),
    (StopReason.BUDGET, "비용 한도", "budget limit"),
    (StopReason.MISMATCH, "승인 불일치", "approval does not match"),
    (StopReason.INVALID, "검증 실패", "validation failed"),
    (StopReason.INPUT_ERROR, "입력 오류", "input error"),
    (StopReason.ROUNDS, "수정 상한 도달", "round limit reached"),
    (StopReason.UNRESOLVED, "의견 충돌 미해결", "contradiction unresolved"),
    (ReviewStatus.NOT_NEEDED, "대상 아님", "not needed"),
    (ReviewStatus.PENDING, "대기", "pending"),
    (ReviewStatus.ACCEPTED, "승인", "accepted"),
    (ReviewStatus.REJECTED, "반려", "rejected"),
    (Outcome.PASSED, "통과", "passed"),
    (Outcome.FAILED, "실패", "failed"),
    (Outcome.ERRORED, "오류", "errored"),
    (Outcome.NOT_RUN, "미실행", "not run"),
    (Outcome.NOT_SELECTED, "제외", "not selected"),
    (Verdict.PASS, "합격", "pass"),
    (Verdict.FAIL, "불합격", "fail"),
    (Verdict.HOLD, "보류", "hold"),
    (Verdict.BLOCK, "차단", "block"),
    (ComparisonVerdict.PASSED, "통과", "passed"),
    (ComparisonVerdict.REGRESSED, "회귀", "regressed"),
    (ComparisonVerdict.INCONCLUSIVE, "판단 보류", "inconclusive"),
    (RunStatus.READY, "진행 가능", "ready"),
    (RunStatus.WAITING, "답변 대기", "waiting for an answer"),
    (RunStatus.UNKNOWN, "확인 필요", "unknown after a crash"),
    (RunStatus.FINISHED, "끝남", "finished"),
    (CommitStatus.SAVED, "저장", "saved"),
    (CommitStatus.REJECTED, "승인 거절", "rejected"),
    (CommitStatus.MISMATCH, "승인 불일치", "mismatch"),
    (Decision.APPROVED, "승인", "approved"),
    (Decision.REJECTED, "거절", "rejected"),
    (Decision.HOLD, "보류", "hold"),
    (Refusal.NO_ANSWER, "답변 없음", "no answer"),
    (Refusal.DECLINED, "사람이 거절함", "declined by a person"),
    (Refusal.CHANGED, "승인 뒤 내용이 바뀜", "changed after approval"),
    (Refusal.BASE_CHANGED, "디스크의 파일이 바뀜", "the file on disk changed"),
    (Refusal.FOREIGN, "다른 제안의 승인", "approval of another proposal"),
    (Refusal.USED, "이미 쓴 승인", "approval already used"),
    (Refusal.EXPIRED, "기한이 지난 승인", "approval expired"),
    (Refusal.FORGED, "서명이 맞지 않음", "signature does not fit"),
    (Refusal.SELF_APPROVED, "제안자가 스스로 승인함", "approved by its proposer"),
    (SpendState.RESERVED, "예약", "reserved"),
    (SpendState.STARTED, "호출 중", "started"),
    (SpendState.SETTLED, "정산", "settled"),
    (SpendState.REFUNDED, "되돌림", "refunded"),
    (SpendState.REFUSED, "거절", "refused"),
    (SpendState.RELEASED, "해제", "released"),
    (Durability.PROCESS, "프로세스 종료까지 견딤", "survives the end of the process"),
    (Durability.POWER, "정전까지 견딤", "survives loss of power"),
    (StepPhase.STARTED, "시작함", "started"),
    (StepPhase.COMPLETED, "마침", "completed"),
    (ChainFault.EDITED, "고쳐짐", "edited"),
    (ChainFault.DELETED, "지워짐", "deleted"),
    (ChainFault.REORDERED, "순서가 바뀜", "reordered"),
    (Stage.START, "시작", "start"),
    (Stage.MODEL, "모델 호출", "model"),
    (Stage.READ, "문서 읽음", "read"),
    (Stage.TASK_DONE, "작업 완료", "task done"),
    (Stage.BUDGET_STOP, "비용 한도에서 멈춤", "budget stop"),
    (Stage.MODEL_FAILED, "모델 실패", "model failed"),
    (Stage.ACTION_REFUSED, "행동 거절", "action refused"),
    (Stage.INPUT_ERROR, "입력 오류", "input error"),
    (Stage.INPUTS_REFUSED, "입력 준비 거절", "inputs refused"),
    (Stage.PROCEDURE_DIFFERS, "절차 파일이 다름", "procedure differs"),
    (Stage.VALIDATION_FAILED, "보고서 검증 실패", "validation failed"),
    (Stage.VALIDATION_PASSED, "보고서 검증 통과", "validation passed"),
    (Stage.REPORT_APPROVAL, "보고서 승인", "report approval"),
    (Stage.REPORT_COMMIT, "보고서 저장", "report commit"),
    (Stage.FINISH, "끝", "finish"),
    (Stage.AUDIT_READY, "기록 준비", "audit ready"),
    (Stage.WRITE, "작성", "write"),
    (Stage.REVIEW, "검토", "review"),
    (Stage.ANSWER_REFUSED, "답변 무효", "answer refused"),
    (Stage.ROUND, "회차 판정", "round judged"),
    (Stage.TESTS, "독립 테스트", "independent tests"),
    (Stage.CONFIRM, "확정", "confirm"),
    (TriggerSource.SCHEDULE, "일정", "schedule"),
    (TriggerSource.EVENT, "이벤트", "event"),
    (TriggerStatus.PASSED, "통과", "passed"),
    (TriggerStatus.FAILED, "실패", "failed"),
    (TriggerStatus.BLOCKED, "차단", "blocked"),
    (AlertKind.VERIFICATION_FAILED, "검증 실패", "verification failed"),
    (AlertKind.BUDGET_EXHAUSTED, "비용 부족", "budget exhausted"),
    (Word.ACTION, "행동", "action"),
    (Word.ACTUAL, "실제", "actual"),
    (Word.AGREES, "맞음", "agrees"),
    (Word.ALERT, "알림", "alert"),
    (Word.ALL_CASES, "전체 평가", "all scenarios"),
    (Word.ASKED_UNITS, "요청 단위", "units asked"),
    (Word.AUTOMATIC_RUNS, "자동 실행", "automatic runs"),
    (Word.BUDGET, "비용(단위)", "cost (units)"),
    (Word.CALLS, "호출 수", "calls"),
    (Word.CALL_NUMBER, "호출 순서", "call number"),
    (Word.CASE, "사례", "case"),
    (Word.CASES_SUFFIX, "건", "cases"),
    (Word.CHECK, "검사", "check"),
    (Word.COMMITTED, "저장됨", "written"),
    (Word.COST, "비용", "cost"),
    (Word.DETAIL, "내용", "detail"),
    (Word.DIFFERS, "다름", "differs"),
    (Word.EVALUATION, "평가", "evaluation"),
    (Word.EXPECTED, "기대", "expected"),
    (Word.FAILED, "실패", "failed"),
    (Word.FILE, "파일", "file"),
    (Word.FINISHED, "종료", "ended"),
    (Word.GUESS, "예상", "guess"),
    (Word.IMPROVED, "개선", "improved"),
    (Word.LIMIT, "한도", "limit"),
    (Word.MATCH, "비교", "match"),
    (Word.NO, "아니오", "no"),
    (Word.NONE, "없음", "none"),
    (Word.NOT_GUESSED, "예상 없음", "no guess"),
    (Word.OBSERVATION, "관찰", "observation"),
    (Word.PASSED, "통과", "passed"),
    (Word.PENDING_REVIEW, "사람 검토 대기", "waiting for a person"),
    (Word.POINTS, "점수", "score"),
    (Word.PURPOSE_INPUT, "입력 준비", "prepare the inputs"),
    (Word.PURPOSE_RECORDS, "실행 기록과 평가 저장", "save the run record and its evaluation"),
    (Word.PURPOSE_REPORT, "보고서 저장", "save the report"),
    (Word.QUESTION, "질문", "question"),
    (Word.REASON, "이유", "reason"),
    (Word.RECORDS_SUFFIX, "개 기록", "records"),
    (Word.REGRESSED, "회귀", "regressed"),
    (Word.REGRESSED_CASE, "회귀 사례 상세", "regressed case in detail"),
    (Word.REMEDY, "해결 방법", "remedy"),
    (Word.REPORT, "보고서", "report"),
    (Word.REPORT_ABSENT, "없음", "absent"),
    (Word.REPORT_PRESENT, "있음", "present"),
    (Word.REPORT_TITLE, "문서 정리 보고서", "Document report"),
    (Word.RESERVED, "예약", "reserved"),
    (Word.REVIEW, "사람의 판단", "review"),
    (Word.ROLE, "역할", "role"),
    (Word.SCENARIO, "시나리오", "scenario"),
    (Word.SECONDS, "시간(초)", "time (s)"),
    (Word.SPENT, "사용", "spent"),
    (Word.STAGE, "단계", "stage"),
    (Word.STATUS, "상태", "status"),
    (Word.STEP, "순번", "step"),
    (Word.SUMMARY, "요약", "summary"),
    (Word.TASK, "작업", "task"),
    (Word.TIME, "시각", "time"),
    (Word.TRACE, "추적", "trace"),
    (Word.TRACES_KEPT, "추적 저장 확인", "traces kept"),
    (Word.UNITS, "단위", "units"),
    (Word.YES, "예", "yes"),
    *rolewords.ROWS,
)

LABELS: dict[tuple[type[StrEnum], str], Label] = {
    (type(code), code.value): Label(ko, en) for code, ko, en in _ROWS
}
"""Keyed by (enumeration, value), since members of two enumerations may be equal as text."""


def label(code: StrEnum, lang: Lang = "ko") -> str:
    """Return the word for `code` in Korean (`ko`) or English (`en`)."""
    if lang not in ("ko", "en"):
        raise InputError(f"language {lang!r} is not known; use 'ko' or 'en'")
    try:
        found = LABELS[type(code), code.value]
    except (KeyError, AttributeError) as error:
        raise InputError(f"{code!r} has no label; expected a member of an enumeration in `codes`") from error
    return found.ko if lang == "ko" else found.en


def enumerations() -> Iterator[type[StrEnum]]:
    """Yield every enumeration whose members need a label, the words last."""
    for value in vars(codes).values():
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum:
            yield value
    yield Word
    yield rolewords.RoleWord


def glossary() -> list[tuple[str, str, str]]:
    """Return (code, Korean, English) for every member, in the order of the enumerations."""
    return [
        (f"{kind.__name__}.{code.name}", label(code, "ko"), label(code, "en"))
        for kind in enumerations()
        for code in kind
    ]
