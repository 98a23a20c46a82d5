"""The words of chapter 02, which `labels` takes up with its own."""

from enum import StrEnum


class RoleWord(StrEnum):
    """Words that a learner reads where several roles share one piece of work."""

    WRITER = "writer"
    REVIEWER = "reviewer"
    FORM = "form"
    CONTENT = "content"
    TOTAL = "total"
    ROUND = "round"
    REVISION_ASKED = "revision_asked"
    REVIEW_PASSED = "review_passed"
    REVIEW_REFUSED = "review_refused"
    TESTS = "tests"
    CHANGES = "changes"
    DRAFT = "draft"
    CONFIRMED = "confirmed"
    CONFIRMED_FILE = "confirmed_file"
    CONFIRMED_TEXT = "confirmed_text"
    CALL_COUNT = "call_count"
    NOT_CONFIRMED = "not_confirmed"
    PURPOSE_DOCUMENT = "purpose_document"
    DOCUMENT = "document"
    START = "start"
    END = "end"
    WAITED = "waited"
    REWORK = "rework"
    WALL = "wall"
    WAY = "way"
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


ROWS: tuple[tuple[StrEnum, str, str], ...] = (
    (RoleWord.WRITER, "작성자", "writer"),
    (RoleWord.REVIEWER, "검토자", "reviewer"),
    (RoleWord.FORM, "형식 검토자", "form reviewer"),
    (RoleWord.CONTENT, "내용 검토자", "content reviewer"),
    (RoleWord.TOTAL, "합계", "total"),
    (RoleWord.ROUND, "회차", "round"),
    (RoleWord.REVISION_ASKED, "수정 요청", "changes asked"),
    (RoleWord.REVIEW_PASSED, "검토 통과", "review passed"),
    (RoleWord.REVIEW_REFUSED, "답변 무효", "answer refused"),
    (RoleWord.TESTS, "테스트", "tests"),
    (RoleWord.CHANGES, "변경 비교", "difference"),
    (RoleWord.DRAFT, "초안", "draft"),
    (RoleWord.CONFIRMED, "확정안", "confirmed text"),
    (RoleWord.CONFIRMED_FILE, "확정 파일", "confirmed file"),
    (RoleWord.CONFIRMED_TEXT, "확정 내용", "what it holds"),
    (RoleWord.CALL_COUNT, "호출 횟수", "calls"),
    (RoleWord.NOT_CONFIRMED, "미확정", "not confirmed"),
    (RoleWord.PURPOSE_DOCUMENT, "확정 문서 저장", "save the confirmed document"),
    (RoleWord.DOCUMENT, "문서", "document"),
    (RoleWord.START, "시작(초)", "start (s)"),
    (RoleWord.END, "끝(초)", "end (s)"),
    (RoleWord.WAITED, "기다림(초)", "waited (s)"),
    (RoleWord.REWORK, "재작업 호출", "rework calls"),
    (RoleWord.WALL, "전체 시간(초)", "wall time (s)"),
    (RoleWord.WAY, "방식", "way"),
    (RoleWord.SEQUENTIAL, "순차", "one after another"),
    (RoleWord.PARALLEL, "병렬", "in parallel"),
)
