"""Figure of LRC by scale for families of patterns, with the growth over all scales that is proved for each."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish
from lengthgen.paper_figs.style import Dashes, context
from lengthgen.theory.enumeration import cell_count
from lengthgen.theory.growth import Growth, growth
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import from_formula

LARGEST = 32
FAMILIES: Mapping[str, tuple[str, str, str, Dashes]] = {
    # formula: its printed form, colour, marker, line
    "1": ("$1$", "#004488", "o", "-"),
    "max(2 - (j - i), 0)": (r"$\max(2 - (j - i),\, 0)$", "#BB5566", "s", (0, (5, 1.5))),
    "min(j - i, 6)": (r"$\min(j - i,\, 6)$", "#5A7522", "^", (0, (3, 1.2, 0.8, 1.2))),
    "(i + j) % 4": (r"$(i + j)\;\mathrm{mod}\;4$", "#791FCB", "v", (0, (2.2, 1.2))),
    "1 if i == ceil(n/2) else 0": (r"$1$ if $i = \lceil n/2 \rceil$, else $0$", "#4A9EB8", "P", (0, (0.9, 1.1))),
    "0.5**(j - i)": (r"$0.5^{\,j - i}$", "#C8961E", "D", "-"),
    "i + j": ("$i + j$", "#994455", "X", (0, (5, 1.5))),
    "gcd(i, j)": (r"$\gcd(i, j)$", "#117733", "<", (0, (3, 1.2, 0.8, 1.2))),
    "i * j": (r"$i\,j$", "#000000", "*", (0, (2.2, 1.2))),
}
"""Patterns A(i, j) and families A(i, j, n): first those that some encoding generalizes, last those that none does."""


def drawing(*, width: float) -> Drawing:
    """Draw the figure, `width` inches wide; all values are computed from the formulas."""
    curves = {text: _lrc_bounds(text) for text in FAMILIES}
    growth_of = {text: growth(from_formula(text)) for text in FAMILIES}
    rows: list[dict[str, object]] = [
        {"pattern": text, "scale": scale, "lower": low, "upper": high, "growth": _growth_name(growth_of[text])}
        for text, curve in curves.items()
        for scale, (low, high) in curve.items()
    ]
    summaries = [f"{text}: {_growth_name(growth_of[text])}, {curve[LARGEST][0]}" for text, curve in curves.items()]
    caption = (
        f"LRC of patterns A(i, j), key i and query j, or A(i, j, n), by scale [F]: the number of "
        "distinct values that are not zero (0 is not drawn). Grey: the number of all pairs, which nothing exceeds. "
        "Some relation lets a pattern generalize from one scale to another "
        f"iff LRC is the same at both. Growth over all scales, and LRC at scale {LARGEST}: {'; '.join(summaries)}."
    )
    return Drawing(shown=_draw(curves, growth_of, width), rows=rows, caption=caption)


def _lrc_bounds(text: str) -> dict[int, tuple[int, int]]:
    lrc = profile(from_formula(text), LARGEST)
    return {scale: lrc.bounds(scale) for scale in range(1, LARGEST + 1)}


def _growth_name(proved: Growth | None) -> str:
    return proved.kind.value if proved else "undecided"


def _draw(
    curves: Mapping[str, Mapping[int, tuple[int, int]]], growth_of: Mapping[str, Growth | None], width: float
) -> Figure:
    with context():
        figure = Figure(figsize=(width, 2.9 if width > 5 else 3.6), layout="constrained")
        axes = figure.add_subplot()
        scales = range(1, LARGEST + 1)
        axes.plot(scales, [cell_count(scale) for scale in scales], color="0.75", linewidth=2, zorder=0, gid="all pairs")
        handles = []
        for place, (text, curve) in enumerate(curves.items()):
            printed, colour, marker, line = FAMILIES[text]
            style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line}
            style |= {"linewidth": 1.0, "markersize": 3.6}
            mark_every = (place % 3, 3)
            positive = {scale: low for scale, (low, _) in curve.items() if low}  # a logarithmic axis cannot show 0
            axes.plot([*positive], [*positive.values()], **style, markevery=mark_every, gid=f"course:{text}")
            handles.append(Line2D([], [], **style, label=f"{printed}: {_growth_name(growth_of[text])}"))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
        axes.set_yticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
        axes.minorticks_off()
        axes.set(xlabel="scale n", ylabel="LRC", xlim=(0.95, LARGEST * 1.05))
        handles.append(Line2D([], [], color="0.75", linewidth=2, label="all pairs"))
        if width > 5:
            figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=7, handlelength=2.6)
            finish(figure, [])
        else:
            finish(figure, handles)
    return figure


FIGURES = (
    Entry(
        place=300,
        name="lrc-growth",
        title="LRC of pattern families by scale",
        make=lambda sources: drawing(width=sources.width),
    ),
)
