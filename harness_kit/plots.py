"""Plots: axes in, axes out, each drawn from a frame of `frames` alone. Needs the extra `notebook`."""

from typing import TYPE_CHECKING, Any

from harness_kit.codes import Bucket, SpendState, Stage, Standing
from harness_kit.compare import Comparison
from harness_kit.extras import need
from harness_kit.frames import buckets, word
from harness_kit.labels import Word, label
from harness_kit.resources import korean_font
from harness_kit.rolewords import RoleWord

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DARK, LIGHT, RED = "#1f4e79", "#9dc3e6", "#b22222"
"""Read in greyscale too: dark and light differ in brightness, and each series differs in form."""


def use_korean() -> str:
    """Make matplotlib write Hangul, with the same glyphs on every machine; return the font's name.

    The shipped font comes first and the system's after it, for letters that it lacks.
    """
    matplotlib = need("matplotlib", "notebook")
    manager = need("matplotlib.font_manager", "notebook")
    path = str(korean_font())
    manager.fontManager.addfont(path)
    name = str(manager.FontProperties(fname=path).get_name())
    there = set(manager.fontManager.get_font_names())
    # Fonts that are not installed are left out: matplotlib warns of each one at every text.
    others = [font for font in ("AppleGothic", "Malgun Gothic", "Noto Sans CJK KR") if font in there]
    matplotlib.rcParams["font.family"] = [name, *others, "sans-serif"]
    matplotlib.rcParams["axes.unicode_minus"] = False
    return name


def spending(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw a ledger by step: units spent before and reserved for each call, against the limit.

    `frame` is `frames.spending(...)`. Refused reservations stand as crosses above the bars.
    """
    axes = _axes(ax)
    granted = frame[frame["state"] != SpendState.REFUSED.value]
    refused = frame[frame["state"] == SpendState.REFUSED.value]
    before = frame["spent"].shift(fill_value=0)
    axes.bar(granted["step"], before[granted.index], color=DARK, label=label(Word.SPENT))
    axes.bar(
        granted["step"], granted["reserved"], bottom=before[granted.index], color=LIGHT, edgecolor=DARK,
        hatch="//", label=label(Word.RESERVED),
    )  # fmt: skip
    if len(refused):
        axes.plot(
            refused["step"], before[refused.index] + refused["asked"], "x", color=RED, markersize=10,
            markeredgewidth=2, label=label(SpendState.REFUSED),
        )  # fmt: skip
    limit = int(frame["limit"].max()) if len(frame) else 0
    axes.axhline(limit, color=RED, linestyle="--", label=f"{label(Word.LIMIT)} {limit}")
    axes.set_xlabel(label(Word.CALL_NUMBER))
    axes.set_ylabel(label(Word.BUDGET))
    _whole_numbers(axes, x=True, y=True)
    axes.set_ylim(0, max(limit, int((before + frame["asked"]).max()) if len(frame) else 0) + 1.6)
    axes.legend(loc="upper left", ncols=2, frameon=False)
    return axes


def trace(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw one run, a row a step: how long each step took, and where its units went.

    `frame` is `frames.trace(...)`. The bar is time; the text beside it names the units, if any.
    """
    axes = _axes(ax, height=0.6 + 0.28 * max(len(frame), 1))
    axes.barh(frame["seq"], frame["seconds"], color=LIGHT, edgecolor=DARK)
    for _, row in frame.iterrows():
        if row["units"]:
            axes.text(
                row["seconds"], row["seq"], f" +{row['units']} {label(Word.UNITS)}", va="center", color=DARK
            )
    axes.set_yticks(
        list(frame["seq"]),
        [f"{seq} {word(stage, Stage)}" for seq, stage in zip(frame["seq"], frame["stage"], strict=True)],
    )
    axes.invert_yaxis()
    axes.set_xlabel(label(Word.SECONDS))
    axes.set_ylabel(label(Word.STEP))
    axes.set_xlim(0, max(float(frame["seconds"].max()) if len(frame) else 0.0, 1.0) * 1.25)
    return axes


def outcomes(comparison: "Comparison | pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw how many cases of two runs are in which bucket: unchanged ones, and those counted apart.

    Takes a comparison, or `frames.buckets(...)` of one. Buckets that hold no case are left out, but for
    improved and regressed, of which none is an answer too.
    """
    frame = buckets(comparison) if isinstance(comparison, Comparison) else comparison
    asked = frame["bucket"].isin([Bucket.IMPROVED.value, Bucket.REGRESSED.value])
    shown = frame[asked | (frame["cases"] + frame["apart"] > 0)]
    axes = _axes(ax, height=0.9 + 0.34 * len(shown))
    rows = list(range(len(shown)))
    lost = [RED if bucket == Bucket.REGRESSED.value else DARK for bucket in shown["bucket"]]
    axes.barh(rows, shown["cases"], color=lost, label=label(Word.CASES))
    if shown["apart"].any():
        axes.barh(
            rows, shown["apart"], left=shown["cases"], color=LIGHT, edgecolor=DARK, hatch="//",
            label=label(Word.COUNTED_APART),
        )  # fmt: skip
        axes.legend(frameon=False)
    for row, cases, apart in zip(rows, shown["cases"], shown["apart"], strict=True):
        axes.text(cases + apart, row, f" {cases}" + (f" + {apart}" if apart else ""), va="center", color=DARK)
    axes.set_yticks(rows, [word(bucket, Bucket) for bucket in shown["bucket"]])
    axes.invert_yaxis()
    axes.set_xlabel(label(Word.CASES))
    axes.set_ylabel(label(Word.BUCKET))
    axes.set_xlim(0, max(int((shown["cases"] + shown["apart"]).max()), 1) * 1.15)
    _whole_numbers(axes, x=True)
    return axes


def scores(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the score of each version with its 95 % interval; `frame` is `frames.scores(...)`."""
    axes = _axes(ax)
    places = range(len(frame))
    below, above = frame["score"] - frame["low"], frame["high"] - frame["score"]
    axes.errorbar(
        places,
        frame["score"] * 100,
        yerr=[below.clip(lower=0) * 100, above.clip(lower=0) * 100],
        fmt="o",
        color=DARK,
        ecolor=LIGHT,
        elinewidth=4,
        capsize=6,
        markersize=9,
    )
    for place, (_, row) in zip(places, frame.iterrows(), strict=True):
        axes.annotate(
            f"{row['passed']}/{row['cases']}",
            (place, row["score"] * 100),
            (10, 0),
            textcoords="offset points",
        )
    axes.set_xticks(list(places), list(frame["version"]))
    axes.set_xlim(-0.5, max(len(frame) - 0.5, 0.5))
    axes.set_ylim(0, 105)
    axes.set_xlabel(label(Word.VERSION))
    axes.set_ylabel(label(Word.SCORE_PERCENT))
    return axes


def matrix(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw cases by version, each cell in colour and word; `frame` is `frames.matrix(...)`."""
    axes = _axes(ax, height=0.9 + 0.42 * max(len(frame), 1))
    versions = [name for name in frame.columns if name not in ("case_id", "introduced")]
    shade = {
        Standing.PASSED.value: LIGHT,
        Standing.FAILED.value: RED,
        Standing.ERRORED.value: RED,
        Standing.MIXED.value: "#f2d388",
    }
    for row, (_, cells) in enumerate(frame.iterrows()):
        for column, version in enumerate(versions):
            colour = shade.get(cells[version], "#e6e6e6")
            axes.barh(row, 0.96, left=column - 0.48, height=0.9, color=colour)
            axes.text(
                column,
                row,
                word(cells[version], Standing),
                ha="center",
                va="center",
                color="white" if colour == RED else "black",
            )
    axes.set_xticks(range(len(versions)), versions)
    axes.set_xlim(-0.5, max(len(versions), 1) - 0.5)
    axes.set_yticks(range(len(frame)), list(frame["case_id"]))
    axes.invert_yaxis()
    axes.set_xlabel(label(Word.VERSION))
    axes.set_ylabel(label(Word.CASE))
    return axes


def divergences(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw at which step regressed cases part from the run before; `frame` is `frames.divergences(...)`."""
    axes = _axes(ax, height=1.2 + 0.4 * max(len(frame), 1))
    axes.barh(
        [word(stage, Stage) for stage in frame["stage"]],
        frame["cases"],
        height=0.5,
        color=LIGHT,
        edgecolor=DARK,
        hatch="//",
    )
    axes.set_ylim(max(len(frame), 1) - 0.4, -0.6)
    axes.set_xlabel(label(Word.REGRESSED_CASES))
    axes.set_ylabel(label(Word.STAGE))
    _whole_numbers(axes, x=True)
    return axes


def triggers(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw a shared ledger by trigger: spent before, reserved, refused; `frame` is `frames.triggers(...)`."""
    axes = _axes(ax)
    before = frame["spent"].shift(fill_value=0)
    granted = frame["asked"] - frame["refused"]
    axes.bar(frame["trigger"], before, color=DARK, label=label(Word.SPENT))
    axes.bar(
        frame["trigger"],
        granted,
        bottom=before,
        color=LIGHT,
        edgecolor=DARK,
        hatch="//",
        label=label(Word.RESERVED),
    )
    refused = frame[frame["refused"] > 0]
    axes.bar(
        refused["trigger"],
        refused["refused"],
        bottom=before[refused.index],
        fill=False,
        edgecolor=RED,
        linestyle=":",
        linewidth=2,
        label=label(SpendState.REFUSED),
    )
    limit = int(frame["limit"].max()) if len(frame) else 0
    axes.axhline(limit, color=RED, linestyle="--", label=f"{label(Word.LIMIT)} {limit}")
    axes.set_xlabel(label(Word.TRIGGER))
    axes.set_ylabel(label(Word.BUDGET))
    axes.set_ylim(0, max(limit, int((before + frame["asked"]).max()) if len(frame) else 0) * 1.35 + 1)
    _whole_numbers(axes, y=True)
    axes.legend(loc="upper left", ncols=2, frameon=False)
    return axes


def timeline(frame: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw who worked on which document when: one bar a call, a line a document.

    `frame` is `frames.calls(...)`. Each role has its tone and its hatching; a call that was refused has a
    red edge, and the number in a bar is the round.
    """
    axes = _axes(ax, height=1.4 + 0.5 * max(frame["document"].nunique(), 1))
    documents = list(dict.fromkeys(frame["document"]))
    for place, role in enumerate(dict.fromkeys(frame["role"])):
        part = frame[frame["role"] == role]
        tone, hatch, ink = _ROLE_LOOKS[place % len(_ROLE_LOOKS)]
        lines = [documents.index(document) for document in part["document"]]
        axes.barh(
            lines, part["end"] - part["start"], left=part["start"], height=0.6, color=tone, hatch=hatch,
            edgecolor=[RED if refused else "black" for refused in part["refused"]],
            label=word(role, RoleWord),
        )  # fmt: skip
        for line, (_, row) in zip(lines, part.iterrows(), strict=True):
            axes.text(
                (row["start"] + row["end"]) / 2, line, str(row["round"]), ha="center", va="center", color=ink,
                bbox={"facecolor": tone, "edgecolor": "none", "pad": 1},
            )  # fmt: skip
    axes.set_yticks(range(len(documents)), documents)
    axes.set_ylim(len(documents) - 0.4, -0.6)
    axes.set_xlim(0, max(float(frame["end"].max()) if len(frame) else 0.0, 1.0) * 1.02)
    axes.set_xlabel(label(Word.SECONDS))
    axes.set_ylabel(label(RoleWord.DOCUMENT))
    if documents:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, frameon=False)
    return axes


_ROLE_LOOKS = (
    (DARK, "", "white"),
    (LIGHT, "//", "black"),
    ("#ffffff", "..", "black"),
    ("#7f7f7f", "\\\\", "white"),
)


def _axes(ax: "Axes | None", height: float = 3.2) -> "Axes":
    if ax is not None:
        return ax
    made: Axes = need("matplotlib.pyplot", "notebook").subplots(figsize=(7.2, height), layout="constrained")[
        1
    ]
    return made


def _whole_numbers(axes: Any, *, x: bool = False, y: bool = False) -> None:
    locator = need("matplotlib.ticker", "notebook").MaxNLocator
    if x:
        axes.xaxis.set_major_locator(locator(integer=True))
    if y:
        axes.yaxis.set_major_locator(locator(integer=True))
