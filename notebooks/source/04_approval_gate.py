# %% [markdown]
# # 04 승인 관문: 문서 세 개로 보고서 한 개 만들기
#
# **하네스**는 모델이 내놓은 행동을 실제로 할지 말지 정하고, 그 결과를 모델의 다음 입력으로 건네는 프로그램입니다.
# 이 장의 하네스는 짧은 문서 세 개를 읽어 보고서 한 개를 씁니다. 일은 작지만 정해 둘 것은 작지 않습니다.
#
# * 무엇을 읽어도 되는가, 읽은 것 가운데 무엇을 모델에게 보여 주는가
# * 다음 호출을 할 돈이 남아 있는가
# * 사람이 본 글과 디스크에 적힌 글이 같은가
# * 끝난 것, 기대대로 움직인 것, 파일이 쓰인 것은 왜 서로 다른 질문인가
#
# 위에서 아래로 한 셀씩 실행하세요. 네트워크도 실제 시계도 쓰지 않으므로 누구의 컴퓨터에서나 같은 결과가 나옵니다.

# %% [markdown]
# 첫 셀은 한글 글꼴을 고르고, 쓰고 있는 판 번호를 보여 줍니다.

# %%
import tempfile

from harness_kit import Budget, Decision, StopReason, TaskStatus, __version__, frames, label, plots
from harness_kit.approvers import RecordedDecisions, ask
from harness_kit.exercises.predictions import Predictions
from harness_kit.resources import data_path
from harness_kit.scenarios import approval_gate as chapter
from harness_kit.trace import ManualClock

plots.use_korean()
guesses = Predictions()
print("harness_kit", __version__)

# %% [markdown]
# 이 장에는 난수가 없으므로 씨앗 값을 정할 일도 없습니다. 시각은 우리가 건네는 시계에서만 나옵니다.

# %% [markdown]
# ## 1. 입력: 문서 세 개
#
# 다음 셀은 문서를 그대로 보여 줍니다. `사실:`로 시작하는 줄이 문서마다 꼭 하나 있어야 합니다.

# %%
documents = chapter.shipped_documents()
for name, text in documents.items():
    print(f"[{name}]", *text.splitlines(), sep="\n  ")

# %% [markdown]
# `support.txt`에는 명령처럼 생긴 줄이 하나 섞여 있습니다. 하네스에게 이 줄은 따를 지시가 아니라 세고 버릴 글자입니다.
#
# ## 2. 예상하고, 실행하기
#
# 모델 호출 한 번은 1단위입니다. 문서마다 호출이 두 번(읽자고 제안, 요약을 돌려줌) 필요합니다.
# **실행하기 전에** 아래 `None` 자리에 예상을 적어 보세요. 비워 두어도 실행은 됩니다.

# %%
guesses.guess("한도 6에서 모델을 부르는 횟수", None)
guesses.guess("한도 4에서 끝까지 마친 문서 수", None)
guesses.guess("승인 뒤에 글이 바뀌면 보고서가 저장되는가", None)
guesses.guess("거절된 실행의 평가가 통과하는가", None)

# %% [markdown]
# 이제 실행을 하나 만듭니다. 실행(run)은 값입니다. `step()`을 부를 때마다 한 걸음 나아가고, 질문이 생기면 멈춥니다.
# 시계도 우리가 건넵니다. 이 수업에서는 모델이 읽자고 할 때 0.5초, 요약할 때 2초가 흐른다고 정했습니다.

# %%
folder = tempfile.TemporaryDirectory()
clock = ManualClock("2026-10-08T09:00:00+09:00")
model = chapter.document_model(on_request=lambda request: clock.advance(2 if request["observation"] else 0.5))
run = chapter.ApprovalGateRun("lesson", folder.name, clock=clock, budget=Budget(6), model=model)
run.step()
print(label(run.status), "/", run.pending.purpose, "/ 파일", len(run.pending.files), "개")

# %% [markdown]
# 첫 걸음에서 벌써 멈췄습니다. 입력 파일 네 개를 놓는 일도 **쓰기**이므로 같은 관문을 지납니다.
#
# 수업에서는 사람을 기다리지 않고 이름이 적힌 결정 파일을 씁니다. 다음 셀은 누가 어떤 까닭으로 답했는지 보여 줍니다.

# %%
people = RecordedDecisions(data_path("approval_gate", "decisions.json"))
answer = ask(people, run.pending)
decision = run.answer(answer.approval)
print(people.name, "/", answer.approval.approver, "/", answer.approval.reason, "/", label(decision))

# %% [markdown]
# 답을 받았으니 걸음을 이어 갑니다. 다음 셀은 파일을 놓고, 모델에게 처음 두 번 묻습니다.

# %%
for _ in range(3):
    run.step()
frames.korean(frames.tasks(run.state["tasks"]))

# %% [markdown]
# 첫 문서가 **대기 → 읽음 → 완료**로 옮겨 갔습니다. *관찰*은 하네스가 읽은 사실이고 *요약*은 모델이 돌려준 문장입니다.
# 지금은 같은 글이지만 칸은 따로 둡니다. 진짜 모델은 말을 바꿀 수 있기 때문입니다.
#
# 다음 셀은 질문이 나올 때까지 걷습니다.

# %%
while run.pending is None:
    run.step()
frames.korean(frames.tasks(run.state["tasks"]))

# %% [markdown]
# 세 문서가 모두 완료되었습니다. 그런데 보고서 파일은 아직 없습니다. 모두 마친 것과 저장한 것은 다릅니다.
#
# ## 3. 승인받는 것은 파일 이름이 아니다
#
# 다음 셀은 사람이 보게 될 것, 곧 지금 디스크와 제안의 차이를 보여 줍니다.

# %%
proposal = run.pending
print(proposal.purpose, "/ 비용", proposal.cost)
print(proposal.diff(run.reports))

# %% [markdown]
# 새 파일이므로 모든 줄에 `+`가 붙었습니다. 명령처럼 생긴 줄은 어디에도 없습니다.
#
# 지문은 목적, 파일 전체 글, 지금까지의 비용, 덮어쓸 바이트, 작업 폴더, 실행 번호를 함께 묶습니다.
# 다음 셀은 하나만 바꿔도 지문이 달라지는지 확인합니다.

# %%
other = proposal.with_files({"report.md": proposal.files["report.md"] + "한 줄 더\n"})
print("같은 글의 지문이 같은가:", proposal.fingerprint == proposal.with_files(proposal.files).fingerprint)
print("한 줄 더한 지문이 같은가:", proposal.fingerprint == other.fingerprint)

# %% [markdown]
# 지문은 "같은 제안인가"를 알려 줄 뿐 "누가 승인했는가"를 증명하지 않습니다. 그래서 승인에는 이름과 출처, 까닭이 따로 붙습니다.

# %%
answer = ask(people, proposal)
print(label(answer.decision), "/", answer.approval.approver, "/", answer.approval.source)
decision = run.answer(answer.approval)
run.step()
print(run.reports.read_text("report.md"))

# %% [markdown]
# 저장한 뒤에는 디스크에서 다시 읽어 확인합니다. 마지막으로 실행 기록과 평가 두 파일을 위해 **또 한 번** 승인을 받습니다.

# %%
while not run.finished:
    if run.pending is not None:
        run.answer(ask(people, run.pending).approval)
    run.step()
result = chapter.result_of(run)
print(label(result.reason), "/ 보고서 저장:", result.committed, "/ 기록:", result.records)

# %% [markdown]
# ## 4. 추적: 어디에서 시간과 단위를 썼는가
#
# 다음 표는 사건마다 한 줄입니다. 원문은 기록에 옮겨 적지 않고, 무엇을 했는지만 남깁니다.

# %%
trace = frames.trace(result.events)
assert trace["seq"].tolist() == list(range(1, 19)) and trace["spent"].iloc[-1] == 6
frames.korean(trace.drop(columns="time"))

# %% [markdown]
# 단위는 *모델 호출* 줄에서만 늘어납니다. 같은 표를 그림으로 보면 어느 걸음이 길었는지 한눈에 들어옵니다.

# %%
axes = plots.trace(trace)

# %% [markdown]
# 막대는 앞 사건부터 걸린 시간입니다. 시간은 모델을 부를 때만 흐르고, 요약(2초)이 읽자는 제안(0.5초)보다 오래 걸립니다.
#
# 다음 셀은 장부를 봅니다. 예약은 호출보다 **먼저**, 정산은 호출 **뒤**에 합니다.

# %%
ledger = frames.spending(result.ledger, result.limit)
assert ledger["spent"].tolist() == [1, 2, 3, 4, 5, 6] and set(ledger["reserved"]) == {1}
axes = plots.spending(ledger)

# %% [markdown]
# 여섯 번째 호출에서 한도에 닿았지만 넘지는 않았습니다. 한도가 4라면 어떻게 될까요? 예상한 뒤 실행하세요.

# %%
short = chapter.run(limit=4)
ledger = frames.spending(short.ledger, short.limit)
assert ledger["state"].tolist() == ["settled"] * 4 + ["refused"]
axes = plots.spending(ledger)

# %% [markdown]
# 다섯째 요청은 가위표로 남았습니다. 거절된 호출은 하지 않았으므로 사용량은 4 그대로입니다.

# %%
print(guesses.compare("한도 6에서 모델을 부르는 횟수", result.calls))
done = sum(task["status"] == TaskStatus.DONE for task in short.tasks)
print(guesses.compare("한도 4에서 끝까지 마친 문서 수", done))

# %% [markdown]
# ## 5. 네 시나리오
#
# 정상, 거절, 비용 부족, 승인 뒤 변경을 저마다 새 폴더에서 실행합니다. *종료*, *통과*, *저장됨*을 따로 읽으세요.

# %%
told = chapter.results()
outcomes = frames.outcomes([(scenario.name, result) for scenario, result in told])
assert outcomes["passed"].tolist() == [True] * 4
assert outcomes["committed"].tolist() == [True, False, False, False]
frames.korean(outcomes)

# %% [markdown]
# 넷 다 통과했지만 저장된 것은 하나뿐입니다. 통과는 "예상한 대로 멈췄다"는 뜻이지 "일을 마쳤다"는 뜻이 아닙니다.

# %%
by_name = {scenario.id: result for scenario, result in told}
print(guesses.compare("승인 뒤에 글이 바뀌면 보고서가 저장되는가", by_name["changed"].committed))
print(guesses.compare("거절된 실행의 평가가 통과하는가", by_name["rejected"].passed))

# %% [markdown]
# 평가는 이름 붙은 여덟 검사입니다. 기대값은 코드가 아니라 `data/`에 사람이 적어 두었습니다.

# %%
frames.korean(frames.checks(by_name["changed"]))

# %% [markdown]
# ## 6. 자주 하는 실수 네 가지
#
# 쌍마다 첫 셀은 틀린 방식, 둘째 셀은 고친 방식입니다. 먼저 첫 셀의 결과를 **예상하고** 실행하세요.
#
# ### 실수 1. 승인했다는 사실만 기억한다

# %%
guesses.guess("실수 1: 바뀐 글을 써도 된다고 판단하는가", None)

# %%
was_approved, draft = True, "검토를 마친 글"
draft += " 그리고 아무도 못 본 글"
print(guesses.compare("실수 1: 바뀐 글을 써도 된다고 판단하는가", was_approved))

# %% [markdown]
# 참·거짓 하나는 **무엇을** 승인했는지 모릅니다. 고친 방식은 승인을 제안의 지문에 묶습니다.

# %%
changed = chapter.run(change_after_approval="아무도 못 본 글\n")
print(label(changed.reason), "/ 저장:", changed.committed)
assert changed.reason is StopReason.MISMATCH and changed.report is None

# %% [markdown]
# ### 실수 2. 부르고 나서 한도를 본다

# %%
guesses.guess("실수 2: 한도 4에서 실제로 쓴 단위", None)

# %%
limit, spent = 4, 4
spent += 1  # 먼저 부르고
over = spent > limit  # 나중에 본다
print(guesses.compare("실수 2: 한도 4에서 실제로 쓴 단위", spent), "/ 중단:", over)

# %% [markdown]
# 멈추기는 했지만 이미 넘었습니다. 장부에 **먼저 예약**하면 넘을 수 없습니다.

# %%
from harness_kit.errors import BudgetExceededError

budget = Budget(4)
budget.reserve(4).settle()
try:
    budget.reserve(1)
except BudgetExceededError as refusal:
    print(refusal)
print("쓴 단위:", budget.spent)

# %% [markdown]
# ### 실수 3. 평가가 통과했으니 일이 끝났다고 여긴다

# %%
guesses.guess("실수 3: 거절된 실행을 '완료'로 표시하는가", None)

# %%
refused = by_name["rejected"]
shown_as_done = refused.passed
print(guesses.compare("실수 3: 거절된 실행을 '완료'로 표시하는가", shown_as_done))

# %% [markdown]
# 아무것도 저장하지 않은 실행이 '완료'로 표시되었습니다. 고친 방식은 세 질문을 세 칸으로 둡니다.

# %%
print("종료 이유:", label(refused.reason), "/ 기대대로:", refused.passed, "/ 저장됨:", refused.committed)
assert refused.reason is not StopReason.COMPLETED and refused.passed and not refused.committed

# %% [markdown]
# ### 실수 4. 문서 전체를 모델에게 준다

# %%
guesses.guess("실수 4: 모델 입력에 명령 줄이 들어 있는가", None)

# %%
request = {"task": "support.txt", "document": documents["support.txt"]}
print(guesses.compare("실수 4: 모델 입력에 명령 줄이 들어 있는가", "지시:" in request["document"]))

# %% [markdown]
# 모델이 그 줄을 무시하기를 바라는 것은 경계가 아닙니다. 고친 방식은 사실 한 줄만 골라 건네고, 버린 줄의 수를 남깁니다.

# %%
seen = []
watching = chapter.document_model(on_request=seen.append)
watched = chapter.run(model=watching)
print(seen[3], "/ 버린 줄:", watched.ignored)
assert not any("지시" in str(request) for request in seen)

# %% [markdown]
# 그래도 남는 것이 있습니다. `사실:` 줄 **안에** 든 거짓말은 이 방법으로 막지 못합니다. 막을 수 있는 것은 문서가 관문을 바꾸는 일입니다.
#
# ## 7. 직접 해 보기
#
# 네 문제는 코드를 고치지 않고 인자만 바꿔 풀 수 있습니다. 셀을 복사해서 바꿔 보세요. **기대값을 먼저** 적습니다.
#
# 1. 한도가 5라면? 종료 이유, 호출 수, 문서별 상태, 보고서가 있는지 적고 `limit=5`로 확인하세요.
# 2. 제목을 바꾸면 지문은? `title="주간 보고서"`로 실행하고, 기대 보고서도 함께 바꿔야 하는 까닭을 말해 보세요.
# 3. 보고서는 승인하고 기록은 거절하면? `audit_approval=Decision.REJECTED`로 실행하고 `records`를 보세요.
# 4. 사실 줄이 두 개인 문서가 있으면? `documents=`에 그런 문서를 넣고 `reason`, `error`, 문서별 상태를 보세요.

# %%
expected = chapter.Expectation(
    reason=StopReason.COMPLETED,
    calls=6,
    task_states=(TaskStatus.DONE,) * 3,
    report=data_path("approval_gate", "expected_report.md").read_text("utf-8"),
)
mine = chapter.run(limit=6, expected=expected, audit_approval=Decision.APPROVED)
print(label(mine.reason), mine.calls, [label(TaskStatus(task["status"])) for task in mine.tasks], mine.passed)

# %% [markdown]
# 기대를 먼저 적었으므로 틀려도 배울 것이 남습니다. 기대값만 고쳐 통과시키는 것은 오류를 숨기는 일입니다.
#
# ## 8. 정리
#
# 제안, 관찰, 검증, 승인, 저장은 서로 다른 결정입니다. 모델은 제안하고, 하네스는 정하고, 사람은 승인합니다.
# 마지막 두 셀은 내 예상을 모두 모으고, 이 장이 인쇄해야 하는 글과 실제 출력을 맞춰 본 뒤 검사표를 보여 줍니다.

# %%
guesses.table()

# %%
from harness_kit.reproduce import chapter_named, check

folder.cleanup()
for line in chapter.lines():
    print(line)
assert check(chapter_named("04")).difference == ""
frames.korean(frames.checks(by_name["normal"]))
