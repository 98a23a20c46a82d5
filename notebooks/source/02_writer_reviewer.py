# %% [markdown]
# # 02 작성자와 검토자: 일을 나누되 잃어버리지 않기
#
# 한 문서를 여러 역할이 함께 다룹니다. **작성자**는 후보를 돌려주고, **검토자**는 그 후보에 대한 판정을 돌려줍니다.
# 누구를 부를지, 언제 그만둘지, 무엇을 저장할지는 **조율자**만 정합니다. 조율자는 모델이 아니라 보통의 프로그램입니다.
#
# * 역할마다 무엇을 받고, 무엇을 돌려줄 수 있는가
# * 두 검토자의 말이 다르면 어떻게 합치는가
# * 문서 여러 편을 겹쳐 처리하면 무엇이 줄고, 무엇이 줄지 않는가
# * 두 역할이 한 파일을 쓰면 왜 줄이 사라지는가
#
# 위에서 아래로 한 셀씩 실행하세요. 모델은 규칙으로 만든 가짜이므로 누구의 컴퓨터에서나 결과가 같습니다.

# %% [markdown]
# 첫 셀은 한글 글꼴을 고르고, 쓰고 있는 판 번호를 보여 줍니다. 난수가 없으므로 씨앗 값도 없습니다.

# %%
import tempfile

from harness_kit import Budget, StopReason, __version__, fixed_clock, frames, label, plots
from harness_kit.exercises.predictions import Predictions
from harness_kit.fanout import Job, call_rows, confirm, fan_out, way_rows, write_and_review
from harness_kit.roles import drive, result_of
from harness_kit.scenarios import shared_file
from harness_kit.scenarios import writer_reviewer as chapter

plots.use_korean()
guesses, clock = Predictions(), fixed_clock("2026-10-08T09:00:00+09:00")
print("harness_kit", __version__)

# %% [markdown]
# ## 1. 초안과 검사 기준
#
# 다음 셀은 가짜 작성자의 첫 초안과, 검토자가 찾을 수 있는 문제 코드를 보여 줍니다.

# %%
content = chapter.documents()["final.txt"]
draft = chapter.first_draft(content)
print(draft)
print("찾을 수 있는 코드:", *chapter.ISSUES)

# %% [markdown]
# 초안에는 검증 줄이 없고, 완료 줄은 "저장하면 끝"이라고만 합니다. 저장은 요구를 만족했다는 증거가 아닙니다.
#
# ## 2. 예상하고, 한 걸음씩 실행하기
#
# 회차는 작성 한 번과 그 후보의 검토를 묶은 것이고, 많아야 세 번입니다.
# **실행하기 전에** 아래 `None` 자리에 예상을 적어 보세요. 비워 두어도 실행은 됩니다.

# %%
guesses.guess("끝날 때까지 모델을 부르는 횟수", None)
guesses.guess("한 회차만 허락하면 저장되는가", None)
guesses.guess("검토자를 둘로 늘리면 모두 몇 번 부르는가", None)
guesses.guess("두 문서를 겹쳐 처리하면 호출이 줄어드는가", None)

# %% [markdown]
# 조율자도 실행(run)입니다. 한 걸음은 모델 호출 한 번이거나 쓰기 한 번입니다. 두 걸음만 걸어 봅니다.

# %%
folder = tempfile.TemporaryDirectory()
run = chapter.coordination(folder.name, budget=Budget(20), clock=clock, run_id="lesson")
run.step()
run.step()
print("회차 1의 의견:", *run.state["feedback"], "/ 다음 할 일:", run.state["phase"])

# %% [markdown]
# 의견은 문장이 아니라 코드입니다. 작성자는 코드를 보고 고칠 줄을 고르고, 프로그램은 코드를 보고 길을 고릅니다.
#
# 이제 질문이 나올 때까지 걷습니다. 질문은 조율자가 사람에게 하는 것입니다.

# %%
while run.pending is None:
    run.step()
print(run.pending.purpose, "/ 비용", run.pending.cost, "/ 검사", run.state["checks"])

# %% [markdown]
# 검토를 통과한 **그 후보**에 독립된 검사를 한 번 더 했습니다. 검사는 기준 자체도 시험합니다. 검증 줄을 지운 글이 여전히 걸리는지 봅니다.
#
# 다음 셀은 이름이 적힌 결정 파일로 답하고, 저장한 파일을 다시 읽어 초안과 견줍니다.

# %%
drive(run, chapter.approver())
done = result_of(run)
assert done.committed and done.saved == done.candidate
print(*done.changes, sep="\n")

# %% [markdown]
# 더해진 줄과 바뀐 줄이 요청한 두 줄뿐입니다. 제목, 목표, 작업은 그대로입니다.

# %%
print(guesses.compare("끝날 때까지 모델을 부르는 횟수", sum(done.calls.values())))
frames.korean(frames.spending(run.budget.rows(), 20)[["step", "role", "state", "spent"]])

# %% [markdown]
# 작성 두 번, 검토 두 번입니다. 검토자를 붙였더니 **작성** 호출까지 한 번 늘었습니다. 이것이 재작업입니다.
#
# ## 3. 누가 무엇을 받았는가
#
# 작성자는 답에 자기 평가("잘 마쳤습니다")를 덧붙입니다. 다음 셀은 검토자가 받은 것을 그대로 보여 줍니다.

# %%
seen = []
watched = chapter.run(on_review=seen.append)
assert len(seen) == watched.calls["reviewer"]
print(sorted(seen[0]), "/ 자기 평가가 보이는가:", "잘 마쳤습니다" in str(seen))

# %% [markdown]
# 후보, 후보의 번호(글의 해시), 검사 기준뿐입니다. 판정은 이 번호를 되돌려주어야 하고, 번호가 다르면 받지 않습니다.
#
# ## 4. 상한에 이르면
#
# 한 회차만 허락하면 어떻게 될까요? 예상한 뒤 실행하세요.

# %%
short = chapter.run(rounds=1)
assert short.calls == {"writer": 1, "reviewer": 1}
print(guesses.compare("한 회차만 허락하면 저장되는가", short.committed))
print(*chapter.lines(rounds=1), sep="\n")

# %% [markdown]
# 저장은 없지만 호출 수와 마지막 후보는 남습니다. 멈춘 이유를 알아야 다음에 무엇을 바꿀지 정할 수 있습니다.
#
# ## 5. 검토자가 둘일 때
#
# 형식 검토자와 내용 검토자가 **같은 후보**를 읽습니다. 다음 셀은 회차마다 두 판정을 보여 줍니다.

# %%
both = chapter.run(reviewing=("form", "content"))
for entry in both.history:
    said = {review["role"]: review["approved"] for review in entry["reviews"]}
    print(f"회차 {entry['round']}: {said} → 확정 {entry['passed']}")
print(guesses.compare("검토자를 둘로 늘리면 모두 몇 번 부르는가", sum(both.calls.values())))

# %% [markdown]
# 첫 회차에서 형식은 통과했지만, 후보가 바뀌었으므로 형식도 **다시** 검토합니다. 그래서 2 + 2 + 2 = 6번입니다.
#
# ## 6. 두 문서를 겹쳐 처리하기
#
# 문서 두 편은 서로 기다릴 까닭이 없습니다. 그러나 한 문서 안에서 검토는 작성 뒤에만 할 수 있습니다.
# 다음 셀은 문서마다 실행을 하나씩 만듭니다. 장부는 둘이 함께 씁니다.

# %%
budget = Budget(20)
runs = {
    name: chapter.coordination(
        folder.name, file=name, reviewing=("form", "content"), budget=budget, clock=clock, run_id=name
    )
    for name in chapter.documents()
}
print("문서:", *runs)

# %% [markdown]
# 이제 일꾼 둘이 확정 직전까지 처리합니다. 여기까지는 아무도 저장하지 않습니다. 둘 다 통과한 뒤 조율자가 차례로 저장합니다.

# %%
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(2) as pool:
    passed = write_and_review(runs, pool)
assert all(one.error is None and not one.value.committed for one in passed.values())
written = confirm(runs, chapter.approver())
print({name: (one.committed, sum(one.calls.values())) for name, one in written.items()})

# %% [markdown]
# 결과는 먼저 끝난 순서가 아니라 **이름**으로 모읍니다. 이제 호출마다 걸리는 시간을 정해 두고
# (작성 4초, 형식 1초, 내용 2초) 일꾼이 하나일 때와 둘일 때를 같은 자로 재어 봅니다.

# %%
seconds = {"writer": 4, "form": 1, "content": 2}
events = {name: one.events for name, one in written.items()}
ways = {"sequential": call_rows(events, seconds), "parallel": call_rows(events, seconds, workers=2)}
table = frames.ways(way_rows(ways))
assert table["wall"].tolist() == [28, 14] and table["calls"].tolist() == [12, 12]
fewer = len(ways["parallel"]) < len(ways["sequential"])
print(guesses.compare("두 문서를 겹쳐 처리하면 호출이 줄어드는가", fewer))
frames.korean(table)

# %% [markdown]
# 전체 시간은 반이 되었지만 호출과 재작업은 한 번도 줄지 않았습니다. 사라진 것은 **기다림**입니다.
#
# 다음 그림은 일꾼이 하나일 때입니다. 막대 하나가 호출 하나이고, 숫자는 회차입니다.

# %%
calls = frames.calls(ways["sequential"])
assert calls["start"].iloc[6] == 14
axes = plots.timeline(calls)

# %% [markdown]
# 둘째 문서는 첫 문서가 끝나는 14초까지 기다립니다. 일꾼이 둘이면 이렇게 됩니다.

# %%
calls = frames.calls(ways["parallel"])
assert calls["start"].iloc[6] == 0 and calls["end"].max() == 14
axes = plots.timeline(calls)

# %% [markdown]
# 두 줄은 겹치지만 한 줄 안의 막대는 겹치지 않습니다. 아직 없는 후보를 검토할 수는 없기 때문입니다.
#
# ## 7. 자주 하는 실수 네 가지
#
# 쌍마다 첫 셀은 틀린 방식, 둘째 셀은 고친 방식입니다. 먼저 첫 셀의 결과를 **예상하고** 실행하세요.
#
# ### 실수 1. 작성자의 말을 판정으로 쓴다

# %%
guesses.guess("실수 1: 검증 줄이 없는 초안이 통과하는가", None)

# %%
answer = {"candidate": draft, "report": {"success": True}}
print(guesses.compare("실수 1: 검증 줄이 없는 초안이 통과하는가", answer["report"]["success"]))

# %% [markdown]
# 작성자는 늘 자신 있습니다. 고친 방식은 **후보**를 기준에 대어 봅니다.

# %%
found = chapter.document_issues(answer["candidate"], content)
print("찾은 문제:", *found, "/ 통과:", not found)
assert found == ["NO_CHECK", "WEAK_DONE"]

# %% [markdown]
# ### 실수 2. 두 역할이 한 파일을 저장한다
#
# 둘이 함께 읽고, 검토자가 먼저, 작성자가 나중에 저장합니다. 둘 다 "저장했다"고 보고합니다.

# %%
guesses.guess("실수 2: 파일에 남는 줄 수", None)

# %%
moves = ["writer", "reviewer", "reviewer", "writer"]
shared = shared_file.two_owners(folder.name, moves)
print(guesses.compare("실수 2: 파일에 남는 줄 수", len(shared.text.splitlines())), "/ 잃은 줄:", *shared.lost)

# %% [markdown]
# 오류는 하나도 나지 않았습니다. 고친 방식에서는 조율자만 쓰고, **읽었던 바이트 위에만** 씁니다.

# %%
with tempfile.TemporaryDirectory() as other:
    shared = shared_file.one_owner(other, moves, chapter.approver())
print("저장됨:", *shared.confirmed, "/ 거절됨:", *shared.refused, "/ 잃은 줄:", *shared.lost or ["없음"])
assert shared.lost == ()

# %% [markdown]
# 늦은 쪽은 "그 사이 파일이 바뀌었다"는 답을 받습니다. 다시 읽고 다시 제안하면 두 줄이 모두 남습니다.
# 문서가 여럿일 때는 부르기 **전에** 주인을 확인합니다. 두 일이 한 파일을 맡겠다고 하면 한 번도 부르지 않습니다.

# %%
from harness_kit.errors import InputError

jobs = [Job(name="초안", files=("final.txt",)), Job(name="요약", files=("final.txt",))]
try:
    fan_out(jobs, print)
except InputError as refusal:
    print(refusal)

# %% [markdown]
# ### 실수 3. 먼저 온 통과만 본다

# %%
guesses.guess("실수 3: 한 명만 통과해도 확정하는가", None)

# %%
first_round = {review["role"]: review["approved"] for review in both.history[0]["reviews"]}
print(guesses.compare("실수 3: 한 명만 통과해도 확정하는가", any(first_round.values())))

# %% [markdown]
# `any`는 반대표를 버립니다. `all`만으로도 모자랍니다. 아무도 답하지 않은 빈 표에서 참이기 때문입니다.

# %%
print("빈 표의 all:", all({}.values()))
required = {"form", "content"}
print("모두 왔고 모두 통과했는가:", set(first_round) == required and all(first_round.values()))
assert not both.history[0]["passed"] and both.history[1]["passed"]

# %% [markdown]
# ### 실수 4. 상한에 이른 후보를 완료로 여긴다

# %%
guesses.guess("실수 4: 검토에 실패한 후보를 확정했다고 하는가", None)

# %%
shown_as_confirmed = short.candidate is not None
print(guesses.compare("실수 4: 검토에 실패한 후보를 확정했다고 하는가", shown_as_confirmed))

# %% [markdown]
# 후보가 **있다**는 것과 **확정되었다**는 것은 다릅니다. 고친 방식은 두 값을 따로 둡니다.

# %%
print("종료 이유:", label(short.reason), "/ 저장됨:", short.committed, "/ 파일의 글:", short.saved)
assert short.reason is StopReason.ROUNDS and short.candidate and short.saved is None

# %% [markdown]
# ## 8. 직접 해 보기
#
# 네 문제는 인자만 바꿔 풀 수 있습니다. 셀을 복사해서 바꾸고, **기대값을 먼저** 적으세요.
#
# 1. 한 회차만 허락하면? `rounds=1`로 실행하고 역할별 호출 수, `saved`, `history`를 보세요.
# 2. "검증"이라는 낱말만 든 초안은? `draft=`에 그런 글을 넣고 첫 회차의 `feedback`을 보세요. 왜 상한까지 갈까요?
# 3. 두 문서 가운데 하나만 통과하면? 6절의 셀에서 한 문서에 `rounds=1`을 주고 `confirm` 뒤의 폴더를 보세요.
# 4. 검토자가 둘이고 초안이 완벽하다면 몇 번 부를까요? `reviewing=("form", "content"), faults=[]`로 확인하세요.

# %%
mention = draft.replace("입력 문서를 정리한다.", "검증이라는 단어를 포함한 문서 작성")
mine = chapter.run(draft=mention)
print("낱말이 있는가:", "검증" in mention, "/ 첫 의견:", *mine.history[0]["feedback"])
print("종료:", label(mine.reason), "/", dict(mine.calls))
assert not mine.committed

# %% [markdown]
# 낱말이 있는 것, 항목이 있는 것, 항목이 옳은 것, 항목이 한 번만 있는 것은 서로 다른 검사입니다.
# 이 작성자는 목표 줄을 고칠 줄 모르므로 상한까지 같은 의견이 남습니다.
#
# ## 9. 정리
#
# 작성, 판정, 확정은 주인이 다릅니다. 판정은 후보에 묶이고, 확정은 모든 판정과 검사와 사람의 답에 묶입니다.
# 겹쳐 처리하면 기다림이 줄 뿐 호출은 줄지 않습니다. 마지막 셀은 내 예상을 모으고, 인쇄해야 하는 글과 실제 출력을 맞춰 봅니다.

# %%
guesses.table()

# %%
from harness_kit.reproduce import chapter_named, check

folder.cleanup()
for line in chapter.lines():
    print(line)
assert check(chapter_named("02")).difference == ""
