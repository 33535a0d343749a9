"""Bias and kernel by distance, for every encoding whose law gives them a value."""

from dataclasses import dataclass
from typing import Any

import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import finish, grid
from paper_figs.style import SMALLEST_TEXT, context
from theory import points
from theory.encodings import hope
from theory.encodings.catalogue import with_formulas
from theory.encodings.encoding import Encoding, Law

LARGEST = 24
PEAK = 6
_KEY, _LENGTH = 5, 64
"""Position of the key and length of the sequence, for laws that read them."""


@dataclass(frozen=True, kw_only=True)
class ScoreCurve:
    """One encoding at a point of its parameters' domains, by distance j - i = 0, 1, ...

    Attributes:
        parameters: the point, as text.
        kernel: what the first coordinate of the key adds to that of the query, in one plane; 1 where it is not turned.
        bias: what is added to the score.
    """

    name: str
    title: str
    parameters: dict[str, str]
    kernel: tuple[float, ...]
    bias: tuple[float, ...]


def courses() -> list[ScoreCurve]:
    """Curves of every encoding that turns or biases scores by distance alone; the others have none."""
    acting = (one for one in with_formulas() if (one.rotate or one.bias) and not one.embed)
    relative = (_course(one) for one in acting if Law.RELATIVE in one.laws)
    return [*(course for course in relative if course), _peaked()]


def _peaked() -> ScoreCurve:
    """HoPE is not monotone: a key whose score is greatest away from the query (`theory.encodings.hope.peaked_key`)."""
    rate, damping, query = sp.Rational(1, 10), sp.Rational(3, 20), (sp.Integer(1), sp.Rational(1, 5))
    key = hope.peaked_key(query, offset=sp.Integer(PEAK), rate=rate, damping=damping)
    offsets = map(sp.Integer, range(LARGEST + 1))
    scores = [float(hope.score(query, key, offset=offset, rate=rate, damping=damping)) for offset in offsets]
    return ScoreCurve(
        name="hope-peaked",
        title=f"HoPE, peak at {PEAK}",
        parameters={"theta": str(rate), "theta'": str(damping), "query": "(1, 1/5)"},
        kernel=tuple(score / scores[0] for score in scores),
        bias=(0.0,) * (LARGEST + 1),
    )


def _course(encoding: Encoding) -> ScoreCurve | None:
    """None where each distance has a free number of its own."""
    point: dict[str, str] = {}
    pairs = []
    for distance in range(LARGEST + 1):
        at = encoding.positions or (lambda index, length: index)
        length = sp.Integer(_LENGTH)
        query, key = (at(sp.Integer(index), length) for index in (_KEY + distance, _KEY))
        kernel, bias = sp.Integer(1), sp.Integer(0)
        if encoding.rotate:
            on_query, on_key = encoding.rotate(query, length)[0], encoding.rotate(key, length)[1]
            kernel = (on_key.T * on_query)[0, 0]
        if encoding.bias:
            bias = encoding.bias(query, key, length)
            if isinstance(bias, sp.Indexed):
                return None
        pairs.append(tuple(_value(one, point) for one in (kernel, bias)))
    return ScoreCurve(
        name=encoding.name,
        title=encoding.title,
        parameters=dict(sorted(point.items())),
        kernel=tuple(kernel for kernel, _ in pairs),
        bias=tuple(bias for _, bias in pairs),
    )


def _value(expression: sp.Expr, point: dict[str, str]) -> float:
    constant = points.constant_content(sp.sympify(expression))
    example = points.example(constant)
    point.update({str(symbol): str(value) for symbol, value in example.items()})
    return float(sp.N(points.value_at(constant, example)))


def drawing(found: list[ScoreCurve], *, width: float) -> Drawing:
    """The figure: a panel for each encoding."""
    rows: list[dict[str, object]] = [
        {
            "encoding": one.name,
            "distance": distance,
            "kernel": one.kernel[distance],
            "bias": one.bias[distance],
            "parameters": ", ".join(f"{key} = {value}" for key, value in one.parameters.items()),
        }
        for one in found
        for distance in range(LARGEST + 1)
    ]
    caption = (
        "What a position encoding does to a score by the distance j - i of query and key, computed from its formulas "
        "at an example point of its parameters: the bias (solid, left axis) and the first entry of one plane's kernel "
        f"(dashed, right axis; 1 where the plane is not turned): {len(found)} cases of encodings whose scores depend "
        "on distance alone by a law, not by a free number for each distance. Content is held constant; of the one case "
        f"of HoPE the score of a query and a key chosen so that it is greatest at distance {PEAK}, relative to 0. "
        "The points are in the data beside this figure."
    )
    return Drawing(shown=_draw(found, width), rows=rows, caption=caption)


def _draw(found: list[ScoreCurve], width: float) -> Figure:
    bias: dict[str, Any] = {"color": "#004488", "linestyle": "-", "linewidth": 1.0}
    kernel: dict[str, Any] = {"color": "#C04000", "linestyle": (0, (3, 1.3)), "linewidth": 1.0}
    with context():
        figure, panels = grid(len(found), width=width, narrowest=1.35, height=1.1, sharex=True)
        for axes, one in zip(panels, found, strict=True):
            axes.set_gid(one.name)
            axes.set_title(one.title, fontsize=7, pad=2)
            distances = range(LARGEST + 1)
            axes.tick_params(labelsize=SMALLEST_TEXT, length=2, pad=1.5)
            axes.set_xlabel("j - i", fontsize=SMALLEST_TEXT, labelpad=0)
            axes.tick_params(labelbottom=True)
            axes.set(xlim=(0, LARGEST), xticks=[0, 8, 16, 24])
            used = [("bias", one.bias, bias)] if any(one.bias) else []
            used += [("kernel", one.kernel, kernel)] if any(value != 1 for value in one.kernel) else []
            for place, (what, values, style) in enumerate(used):
                side = axes if not place else axes.twinx()
                side.plot(distances, values, **style, gid=f"{what}:{one.name}", clip_on=False)
                side.tick_params(labelsize=SMALLEST_TEXT, length=2, pad=1.5)
                side.locator_params(axis="y", nbins=3)
                side.axhline(0, color="0.8", linewidth=0.5, zorder=0)
                if place:
                    side.spines["right"].set_visible(True)
            if not used:
                axes.set_yticks([])
        labels = ((bias, "bias added to the score"), (kernel, "kernel of a plane"))
        finish(figure, [Line2D([], [], **style, label=label) for style, label in labels])
    return figure


FIGURES = (
    Entry(
        place=360,
        name="score-laws",
        title="Bias and kernel of every relative encoding by distance",
        make=lambda sources: drawing(courses(), width=sources.width),
    ),
)
