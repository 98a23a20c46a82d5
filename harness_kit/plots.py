"""Plots: axes in, axes out, each drawn from a frame of `frames` alone. Needs the extra `notebook`."""

from typing import TYPE_CHECKING, Any

from harness_kit.codes import SpendState, Stage
from harness_kit.extras import need
from harness_kit.frames import word
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
