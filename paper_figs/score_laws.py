"""Figure of score laws: bias and kernel by distance, for each encoding whose formulas give them a value.

Panels share one vertical range. A curve is divided by its largest absolute value, which stands in the panel, because
the biases differ by a factor of 40 and their shape is what the panels compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap
from typing import Any

import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, grid
from lengthgen.paper_figs.style import PAGE_WIDTH, SMALLEST_TEXT, context
from lengthgen.theory import laws
from lengthgen.theory.encodings import hope, relations
from lengthgen.theory.encodings.catalogue import with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Law

LARGEST = 24
PEAK = 6
"""Offset at which the score of the HoPE example is largest."""
_CHARACTERS = 30
"""Characters that fit the width of a panel."""
_LETTERS = {
    "theta": "θ", "th_": "θ_", "lambda": "λ", "omega": "ω", "alpha": "α", "beta": "β", "gamma": "γ", "eps": "ε",
}  # fmt: skip
"""Greek letters of the names of symbols; a name comes before those that are part of it."""
_KEY, _LENGTH = 5, 64
"""Position of the key and length of the sequence, for formulas that use them."""


@dataclass(frozen=True, kw_only=True)
class ScoreCurve:
    """Kernel and bias of one encoding by distance j - i = 0, 1, ..., at an example point of its parameters.

    Attributes:
        name: name of the encoding.
        title: title of the panel.
        parameters: the example point, as text.
        kernel: first entry of the kernel of one plane, the factor between the first coordinates of query and key; 1 if
            the plane is not rotated.
        bias: bias added to the score.
    """

    name: str
    title: str
    parameters: dict[str, str]
    kernel: tuple[float, ...]
    bias: tuple[float, ...]


@lru_cache(maxsize=1)
def score_curves() -> tuple[ScoreCurve, ...]:
    """Return the curves of all encodings that rotate or bias scores by distance alone, and two examples of content.

    The examples are a HoPE score with a peak, and what wavelet vectors add to the score of one query.
    """
    acting = (encoding for encoding in with_formulas() if (encoding.rotate or encoding.bias) and not encoding.embed)
    curves = (_score_curve(encoding) for encoding in acting if Law.RELATIVE in encoding.laws)
    return (*(curve for curve in curves if curve), _peaked_hope(), _vectors())


def _peaked_hope() -> ScoreCurve:
    """Return a HoPE example that is not monotone: its score is largest at offset PEAK (`hope.peaked_key`)."""
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


def _vectors() -> ScoreCurve:
    """Return what a plane of wavelet vectors adds to the score of the query (1, 1), at example scales and shifts."""
    values = dict(
        zip((*relations.WAVELET_SCALES, *relations.WAVELET_SHIFTS), map(sp.Integer, (1, 4, 0, 1)), strict=True)
    )
    vectors = [
        relations.wavelet_vector(sp.Integer(distance), sp.S.Zero, wavelet=relations.ricker).subs(values)
        for distance in range(LARGEST + 1)
    ]
    return ScoreCurve(
        name="wavelet",
        title="Wavelet, query (1, 1)",
        parameters={str(symbol): str(value) for symbol, value in values.items()},
        kernel=(1.0,) * (LARGEST + 1),
        bias=tuple(float(sum(vector)) for vector in vectors),
    )


def _score_curve(encoding: Encoding) -> ScoreCurve | None:
    """Return the curve of an encoding, or None if each distance has its own free parameter."""
    point: dict[str, str] = {}
    pairs = []
    for distance in range(LARGEST + 1):
        position_of = encoding.positions or (lambda index, length: index)
        length = sp.Integer(_LENGTH)
        query, key = (position_of(sp.Integer(index), length) for index in (_KEY + distance, _KEY))
        kernel, bias = sp.Integer(1), sp.Integer(0)
        if encoding.rotate:
            on_query, on_key = encoding.rotate(query, length)[0], encoding.rotate(key, length)[1]
            kernel = (on_key.T * on_query)[0, 0]
        if encoding.bias:
            bias = encoding.bias(query, key, length)
            if isinstance(bias, sp.Indexed):
                return None
        pairs.append(tuple(_value(expression, point) for expression in (kernel, bias)))
    return ScoreCurve(
        name=encoding.name,
        title=encoding.title,
        parameters=dict(sorted(point.items())),
        kernel=tuple(kernel for kernel, _ in pairs),
        bias=tuple(bias for _, bias in pairs),
    )


def _value(expression: sp.Expr, point: dict[str, str]) -> float:
    constant = laws.constant_content(sp.sympify(expression))
    example = laws.example(constant)
    point.update({str(symbol): str(value) for symbol, value in example.items()})
    return float(sp.N(laws.value_at(constant, example)))


def drawing(curves: Sequence[ScoreCurve], *, width: float) -> Drawing:
    """Draw a panel for each encoding, `width` inches wide in all."""
    rows: list[dict[str, object]] = [
        {
            "encoding": curve.name,
            "distance": distance,
            "kernel": curve.kernel[distance],
            "bias": curve.bias[distance],
            "parameters": ", ".join(f"{key} = {value}" for key, value in curve.parameters.items()),
        }
        for curve in curves
        for distance in range(LARGEST + 1)
    ]
    caption = (
        "Effect of position encodings on a score by the distance j - i of query and key, computed from the formulas at "
        "an example point of the parameters, which stands under the name: the bias (solid) and the first entry of the "
        "kernel of one plane (dashed; not drawn where the plane is not rotated). Each curve is divided by its largest "
        f"absolute value, which stands in the panel unless it is 1. {len(curves)} cases of encodings whose scores "
        "depend on distance alone by a law, without a free parameter for each distance. Content is held constant. The "
        f"HoPE case with a peak shows the score of a query and a key chosen so that it is largest at distance {PEAK}, "
        "relative to distance 0; the wavelet case shows what the vectors add to the score of the query (1, 1)."
    )
    return Drawing(shown=_draw(curves, width), rows=rows, caption=caption)


def _greek(symbol: str) -> str:
    """Return the printed form of the name of a symbol: theta' as θ'."""
    for name, letter in _LETTERS.items():
        symbol = symbol.replace(name, letter)
    return symbol


def _draw(curves: Sequence[ScoreCurve], width: float) -> Figure:
    bias: dict[str, Any] = {"color": "#004488", "linestyle": "-", "linewidth": 1.0}
    kernel: dict[str, Any] = {"color": "#C04000", "linestyle": (0, (3, 1.3)), "linewidth": 1.0}
    with context():
        figure, panels = grid(len(curves), width=width, narrowest=1.35, height=1.25, sharex=True, sharey=True)
        for axes, curve in zip(panels, curves, strict=True):
            axes.set_gid(curve.name)
            parameters = ", ".join(
                f"{_greek(key)}={value}".replace(", ", ",") for key, value in curve.parameters.items()
            )
            lines_of_title = [curve.title, *wrap(parameters, _CHARACTERS, break_long_words=False)]
            axes.set_title("\n".join(lines_of_title), fontsize=SMALLEST_TEXT, pad=2, linespacing=1.0, parse_math=False)
            distances = range(LARGEST + 1)
            axes.tick_params(labelsize=SMALLEST_TEXT, length=2, pad=1.5)
            axes.set_xlabel("j - i", fontsize=SMALLEST_TEXT, labelpad=0)
            axes.tick_params(labelbottom=True)
            axes.set(xlim=(0, LARGEST), xticks=[0, 8, 16, 24], ylim=(-1.1, 1.1), yticks=[-1, 0, 1])
            axes.axhline(0, color="0.8", linewidth=0.5, zorder=0)
            lines = [("bias", curve.bias, bias)] if any(curve.bias) else []
            lines += [("kernel", curve.kernel, kernel)] if any(value != 1 for value in curve.kernel) else []
            largest = {kind: max(map(abs, values)) for kind, values, _ in lines}
            for kind, values, style in lines:
                shares = [value / largest[kind] for value in values]
                axes.plot(distances, shares, **style, gid=f"{kind}:{curve.name}", clip_on=False)
            factors = "\n".join(f"{kind} / {value:.3g}" for kind, value in largest.items() if f"{value:.3g}" != "1")
            axes.text(0.03, 0.03, factors, transform=axes.transAxes, va="bottom", fontsize=SMALLEST_TEXT,
                      path_effects=[withStroke(linewidth=1.8, foreground="white")])  # fmt: skip
        labels = ((bias, "bias added to the score"), (kernel, "kernel of a plane"))
        finish(figure, [Line2D([], [], **style, label=label) for style, label in labels])
    return figure


FIGURES = (
    Entry(
        place=360,
        name="score-laws",
        title="Bias and kernel of every relative encoding by distance",
        make=lambda sources: drawing(score_curves(), width=sources.width),
        least_width=PAGE_WIDTH,
    ),
)
