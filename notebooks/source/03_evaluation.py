# %% [markdown]
# # 03 평가와 관측: 나아진 것, 잃은 것, 갈라진 단계
#
# 한 번 잘 끝났다고 해서 다음에도 맡길 수 있는 것은 아닙니다. 이 장에서는 같은 사례를 두 판에 돌려 보고 이렇게 묻습니다.
#
# * 무엇이 나아졌고 무엇을 잃었는가
# * 잃은 사례는 **어느 단계에서** 달라졌는가
# * 사례 몇 개로 그렇게 말해도 되는가
# * 사람이 아직 보지 않은 것은 무엇인가
#
# 대상은 쉼표로 적은 작업 요청을 목록으로 정리하는 작은 하네스입니다. 지침은 네 가지입니다.
# 양쪽 공백을 지운다. 빈 항목을 버린다. 되풀이된 항목은 처음 것만 남긴다. 입력 순서를 지킨다.

# %% [markdown]
# 첫 셀은 한글 글꼴을 고르고 판 번호를 보여 줍니다. 난수와 실제 시계는 쓰지 않습니다.

# %%
from harness_kit import Budget, TraceStore, __version__, frames, label, plots
from harness_kit.cases import Case, EvalSet
from harness_kit.compare import compare
from harness_kit.evals import evaluate
from harness_kit.exercises.predictions import Predictions
from harness_kit.matrix import matrix
from harness_kit.scenarios import evaluation as chapter

plots.use_korean()
guesses = Predictions()
print("harness_kit", __version__)

# %% [markdown]
# ## 1. 평가 세트
#
# 사례마다 식별자, 입력, 기대 결과, 채점 기준이 있습니다. 기대 결과는 구현이 낸 답을 베낀 것이 아니라 지침에서 먼저 적은 것입니다.

# %%
cases = chapter.shipped_cases()
for case in cases:
    print(f"{case.id:<10} {case.input!r:<24} → {case.expected}  [{case.criterion}]")

# %% [markdown]
# v1은 항목을 그대로 두고, v2는 집합으로 중복을 없앤 뒤 정렬합니다. **실행하기 전에** 예상을 적어 보세요.

# %%
guesses.guess("v1이 통과하는 사례 수", None)
guesses.guess("v2가 통과하는 사례 수", None)
guesses.guess("v2가 새로 잃는 사례", None)
guesses.guess("사람 검토를 기다리는 v2 사례 수", None)

# %%
store = TraceStore(":memory:")
before = evaluate(chapter.V1, cases, store=store)
after = evaluate(chapter.V2, cases, store=store)
results = frames.results(after)
assert results["outcome"].tolist() == ["failed", "passed", "passed", "passed"]
frames.korean(results.drop(columns=["repeat", "cost"]))

# %% [markdown]
# `spaces`가 실패했습니다. 항목은 맞는데 순서가 바뀌었습니다. `order`는 통과했지만 사람이 볼 사례로 정해 두었으므로 **대기**입니다.
# 자동 통과는 사람의 승인이 아닙니다.

# %%
print(guesses.compare("v1이 통과하는 사례 수", sum(r.outcome == "passed" for r in before.results)))
print(guesses.compare("v2가 통과하는 사례 수", sum(r.outcome == "passed" for r in after.results)))
print(guesses.compare("사람 검토를 기다리는 v2 사례 수", chapter.pending(after)))

# %% [markdown]
# ## 2. 점수는 오르고, 하나를 잃었다
#
# 다음 그림은 판마다 점수와 95% 구간을 보여 줍니다.

# %%
scores = frames.scores([before, after])
assert scores["passed"].tolist() == [2, 3] and scores["score"].tolist() == [0.5, 0.75]
axes = plots.scores(scores)

# %% [markdown]
# 점수는 50에서 75로 올랐지만 구간은 거의 겹칩니다. 사례 네 개로는 올랐다고 말하기 어렵습니다.
# 게다가 점수는 **무엇을 잃었는지** 말해 주지 않습니다. 사례끼리 이어 봐야 보입니다.

# %%
comparison = compare(before, after)
print(label(comparison.verdict), "/ 개선:", *comparison.improved, "/ 회귀:", *comparison.regressed)
print(guesses.compare("v2가 새로 잃는 사례", ", ".join(comparison.regressed)))
print("McNemar p =", round(comparison.evidence.p_value, 3))

# %% [markdown]
# 나아진 것이 둘, 잃은 것이 하나인데도 판정은 **회귀**입니다. p값은 판정을 바꾸지 않습니다. 근거가 얇다는 말을 덧붙일 뿐입니다.

# %%
mended = evaluate(chapter.V2_MENDED, cases, store=store, version="v3")
table = frames.matrix(matrix([before, after, mended]))
assert table["v2"].tolist() == ["failed", "passed", "passed", "passed"]
axes = plots.matrix(table)

# %% [markdown]
# 고친 판(v3)은 순서를 지키면서 중복을 없앱니다. 네 칸이 모두 통과이고 `spaces`의 회귀는 v2가 들여온 것임이 보입니다.
#
# ## 3. 어느 단계에서 갈라졌나
#
# 사례마다 input → model → tool → verify 네 단계가 남습니다. 다음 셀은 두 판의 `spaces` 추적을 나란히 놓습니다.

# %%
trace = frames.side_by_side(*comparison.traces("spaces"))
assert trace["same"].tolist() == [True, True, False, False]
frames.korean(trace)

# %% [markdown]
# 계획(model)까지는 같고 **도구(tool)** 에서 처음 갈라집니다. 모델을 탓하기 전에 정렬을 넣은 줄을 읽어야 합니다.

# %%
divergences = frames.divergences(comparison)
assert divergences.to_dict("list") == {"stage": ["tool"], "cases": [1]}
axes = plots.divergences(divergences)

# %% [markdown]
# ## 4. 사람 없이 시작되는 실행과 예산
#
# 일정과 이벤트가 실행을 시작합니다. 한 번에 3단위(모델 1, 도구 2)를 **시작하기 전에** 예약하고, 실패해도 돌려주지 않습니다.

# %%
guesses.guess("한도 6에서 차단되는 실행 수", None)

# %%
told = chapter.run()
fired = frames.triggers(told.fired, units=3)
assert fired["spent"].tolist() == [3, 6, 6] and fired["refused"].tolist() == [0, 0, 3]
print(guesses.compare("한도 6에서 차단되는 실행 수", int((fired["refused"] > 0).sum())))
frames.korean(fired)

# %%
axes = plots.triggers(fired)

# %% [markdown]
# `daily`는 검증에 실패했지만 3단위를 썼습니다. `extra`는 시작하지 못했습니다. 두 알림은 대응이 다르므로 종류도 다릅니다.
#
# ## 5. 자주 하는 실수 네 가지
#
# 쌍마다 앞 셀은 틀린 방식, 뒤 셀은 고친 방식입니다.
#
# ### 실수 1. 순서가 중요한데 집합으로 견준다

# %%
guesses.guess("실수 1: 뒤집힌 목록이 통과하는가", None)

# %%
expected, actual = ["자료 확인", "초안 작성"], ["초안 작성", "자료 확인"]
print(guesses.compare("실수 1: 뒤집힌 목록이 통과하는가", set(actual) == set(expected)))

# %% [markdown]
# 집합은 순서와 개수를 버립니다. 요구에 순서가 있으면 목록째 견주고, 채점 기준은 **이름으로** 고릅니다.

# %%
from harness_kit.graders import named

print(named("ordered_exact")(actual, expected))

# %% [markdown]
# ### 실수 2. 총점이 올랐으니 잃은 것이 없다고 본다

# %%
guesses.guess("실수 2: 총점만 보면 '회귀 없음'이라고 하는가", None)

# %%
no_loss = scores["passed"].iloc[1] >= scores["passed"].iloc[0]
print(guesses.compare("실수 2: 총점만 보면 '회귀 없음'이라고 하는가", bool(no_loss)))

# %% [markdown]
# 합계는 얻은 것으로 잃은 것을 가립니다. 사례의 식별자로 이어서 "전에 통과했고 지금 실패한 것"을 찾습니다.

# %%
assert list(comparison.regressed) == ["spaces"]
print("사례별로 보면 잃은 것:", *comparison.regressed)

# %% [markdown]
# ### 실수 3. 시작한 뒤에 한도를 본다

# %%
guesses.guess("실수 3: 한도 6을 다 쓴 뒤 한 번 더 시작하면 쓴 단위", None)

# %%
used, limit, cost = 6, 6, 3
used += cost  # 먼저 실행하고
stopped = used > limit  # 나중에 본다
print(guesses.compare("실수 3: 한도 6을 다 쓴 뒤 한 번 더 시작하면 쓴 단위", used))

# %% [markdown]
# 이미 넘겨 쓴 뒤에 멈췄습니다. 시작하기 전에 예약하면 거절될 뿐 넘지 않습니다.

# %%
from harness_kit.errors import BudgetExceededError

budget = Budget(6)
budget.reserve(6).settle()
try:
    budget.reserve(cost)
except BudgetExceededError as refusal:
    print(refusal)

# %% [markdown]
# ### 실수 4. 자동 통과를 사람의 승인으로 적는다

# %%
guesses.guess("실수 4: 아무도 보지 않은 order가 '승인'으로 남는가", None)

# %%
order = next(result for result in after.results if result.case_id == "order")
written = "승인" if order.outcome == "passed" else "대기"
print(guesses.compare("실수 4: 아무도 보지 않은 order가 '승인'으로 남는가", written == "승인"))

# %% [markdown]
# 코드가 확인한 것과 사람이 판단할 것은 다른 칸에 둡니다. 사람이 보기 전까지 그 칸은 '대기'입니다.

# %%
print("자동 채점:", label(order.outcome), "/ 사람:", label(order.review))

# %% [markdown]
# ## 6. 내 함수, 내 사례, 내 채점 기준
#
# 아래 세 셀을 여러분의 것으로 바꾸세요. 함수는 입력 하나를 받아 답 하나를 돌려주면 됩니다.

# %%
def my_system(text):
    return [part.strip() for part in text.split(",") if part.strip()]


# %%
from harness_kit.graders import Grade, grader


@grader("no_blanks")
def no_blanks(actual, expected):
    blanks = [item for item in actual if not item.strip()]
    return Grade.of(not blanks and len(actual) == expected, f"빈 항목 {len(blanks)}개, 전체 {len(actual)}개")


# %%
my_cases = EvalSet(
    (
        Case(id="blank", input="검토, , 발송", expected=2, criterion="no_blanks"),
        Case(id="repeat", input="검토, 검토", expected=["검토"]),
    )
)
mine = evaluate(my_system, my_cases)
frames.korean(frames.results(mine)[["case_id", "outcome", "expected", "actual", "reason"]])

# %% [markdown]
# 파일에서 읽으려면 `EvalSet.read("cases.jsonl")` 또는 `EvalSet.read("cases.csv")`를, 표를 내보내려면 `frames.save`를 씁니다.

# %%
import tempfile

with tempfile.TemporaryDirectory() as folder:
    saved = [frames.save(results, f"{folder}/results{kind}") for kind in (".csv", ".xlsx")]
    print([path.name for path in saved], all(path.stat().st_size > 0 for path in saved))

# %% [markdown]
# ## 7. 직접 해 보기
#
# 1. v2의 도구를 고쳐 순서를 지키게 하고(`chapter.run(after=chapter.V2_MENDED)`) 점수, 회귀, 대기 수를 예상하세요.
# 2. `chapter.MIXED` 사례를 더하면 두 판은 몇 개를 통과하나요? 기대 결과를 먼저 적으세요.
# 3. 자동 실행의 한도를 9로 바꾸면(`chapter.run(limit=9)`) 상태, 알림, 남는 기록은 몇 개인가요?
# 4. `spaces`의 model과 tool 기록을 근거로 검토 메모를 써 보세요. 자동 채점이 말한 것과 사람이 아직 판단하지 않은 것을 나누어 적습니다.

# %%
mine = chapter.run(limit=9, cases=cases, after=chapter.V2)
print([label(one.status) for one in mine.fired], mine.records)

# %% [markdown]
# ## 8. 정리
#
# 점수는 얼마나, 비교는 무엇을, 추적은 어디에서를 말합니다. 마지막 두 셀은 예상을 모으고 이 장이 인쇄해야 하는 글과 맞춰 봅니다.

# %%
guesses.table()

# %%
from harness_kit.reproduce import chapter_named, check

for line in chapter.lines():
    print(line)
assert check(chapter_named("03")).difference == ""
frames.korean(scores)
