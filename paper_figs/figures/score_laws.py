"""Figures of scores by position: laws of encodings, the bound of Position Interpolation, errors of an audit.

Panels of laws share one vertical range. A curve is divided by its largest absolute value, which stands in the panel,
because the biases differ by a factor of 40 and their shape is what the panels compare. In the figure of an audit colour
is never the only mark: each dtype has a marker, each way of use a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import writable
from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import hashed_name
from lengthgen.paper_figs.panels import finish, grid
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import PAGE_WIDTH, SMALLEST_TEXT, context, slot_look
from lengthgen.theory import laws
from lengthgen.theory.encodings import hope, relations, rotary
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


def laws_drawing(curves: Sequence[ScoreCurve], *, width: float) -> Drawing:
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
    return Drawing(shown=_draw_laws(curves, width), rows=rows, caption=caption)


def _greek(symbol: str) -> str:
    """Return the printed form of the name of a symbol: theta' as θ'."""
    for name, letter in _LETTERS.items():
        symbol = symbol.replace(name, letter)
    return symbol


def _draw_laws(curves: Sequence[ScoreCurve], width: float) -> Figure:
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


BASE = 10_000
HEAD_WIDTHS = (128, 2)
"""Head dimensions: that of the paper, and the one where its bound fails by most."""
POINTS = 41
_STYLES: dict[str, dict[str, Any]] = {
    "error": {"color": "#004488", "linestyle": "-", "linewidth": 1.4},
    "printed": {"color": "#C04000", "linestyle": (0, (3, 1.3)), "linewidth": 1.0},
    "corrected": {"color": "#000000", "linestyle": (0, (1, 1.2)), "linewidth": 1.0},
}


def bound_curve(head_dim: int) -> dict[str, NDArray[np.float64]]:
    """Return error and bounds of one head at POINTS distances x from 0 to 1, between two trained distances.

    The error is |a(x) - a_linear(x)| of the score a(x) = sum over planes of cos(theta (x - 1/2)), with content of size
    1, which is equal at both ends; the bounds, as printed and corrected, are K x (1 - x).
    """
    exact = rotary.frequencies(head_dim, BASE)
    x = np.linspace(0, 1, POINTS)
    score = np.cos(np.outer(x - 0.5, np.array([float(frequency) for frequency in exact]))).sum(axis=1)
    printed = rotary.printed_error_constant(head_dim=head_dim, base=sp.Integer(BASE))
    constants = {"printed_bound": printed, "corrected_bound": rotary.error_constant(exact)}
    bounds = {name: float(constant) * x * (1 - x) for name, constant in constants.items()}
    return {"distance": x, "error": np.abs(score - score[0]), **bounds}


def bound_drawing(*, width: float) -> Drawing:
    """Draw a panel for each head dimension, `width` inches wide in all."""
    curves = {head_dim: bound_curve(head_dim) for head_dim in HEAD_WIDTHS}
    rows: list[dict[str, object]] = [
        {"head_dim": head_dim, **{name: float(values[at]) for name, values in curve.items()}}
        for head_dim, curve in curves.items()
        for at in range(POINTS)
    ]
    at_middle = {
        head_dim: {name: its[POINTS // 2] for name, its in curve.items()} for head_dim, curve in curves.items()
    }
    values_at_middle = "; ".join(
        f"d = {head_dim}: error {its['error']:.4f}, printed bound {its['printed_bound']:.4f}, corrected "
        f"bound {its['corrected_bound']:.4f}"
        for head_dim, its in at_middle.items()
    )
    caption = (
        "Theorem 2.1 of Position Interpolation (2306.15595) [P] is false as printed: between two trained distances, 0 "
        "and 1, a rotary score may differ from its linear interpolation by more than the printed bound "
        f"d/(8 ln c) x (1 - x), c = {BASE}. Contents of size 1, all planes aligned at x = 1/2. With half the sum of "
        f"theta^2 in place of d/(8 ln c) the bound holds (claim pi-2). At x = 1/2: {values_at_middle}."
    )
    return Drawing(shown=_draw_bound(curves, width), rows=rows, caption=caption)


def _draw_bound(curves: Mapping[int, Mapping[str, NDArray[np.float64]]], width: float) -> Figure:
    with context():
        figure, panels = grid(len(curves), width=width, narrowest=1.5, height=1.6)
        for axes, (head_dim, curve) in zip(panels, curves.items(), strict=True):
            axes.set_title(f"head of width {head_dim}", fontweight="bold", pad=3)
            for name, style in _STYLES.items():
                values = curve[name if name == "error" else f"{name}_bound"]
                axes.plot(curve["distance"], values, **style, gid=f"{name}:{head_dim}")
            axes.set(xlim=(0, 1), ylim=(0, None), xlabel="distance x")
        panels[0].set_ylabel("difference")
        labels = {"error": "error of the line", "printed": "bound as printed", "corrected": "bound corrected"}
        finish(figure, [Line2D([], [], **_STYLES[name], label=label) for name, label in labels.items()])
    return figure


LINES: Mapping[str, Any] = {"": "-", "module moved": (0, (4, 1.5)), "autocast": (0, (1, 1.2))}
"""Line of inputs of a dtype, of a module that was moved to it, and of autocast to it."""
LEAST_ERROR = 1e-18
"""Smallest error that is drawn: an error of 0 has no logarithm."""
BUDGET: dict[str, Any] = {"linewidth": 0.6, "linestyle": (0, (8, 2.8))}
"""Line of a budget."""


def audit_drawing(audit: Mapping[str, Any]) -> Drawing:
    """Draw the errors of one audit of `lengthgen.auditing.audit`, one that has measured the relative law.

    The table has one row for each point: the setting, the query position, the largest error of the law there over all
    tested offsets in relation to its budget, and this budget; the error is empty if it is not finite.
    """
    curves = {name: _audit_curve(result["law"]) for name, result in audit["settings"].items() if result["law"]}
    dtypes = list(dict.fromkeys(name.partition(", ")[0] for name in curves))
    unit = "a logit, over |q| |k|" if audit["kind"] in ("rotate", "scores") else "the bias"
    subject = writable(audit["subject"]).replace("$", r"\$")
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for name, curve in curves.items():
            dtype, _, use = name.partition(", ")
            its = slot_look(1 + dtypes.index(dtype))
            positions, errors, budgets = zip(*curve, strict=True)
            drawn = [float("nan") if error is None else max(error, LEAST_ERROR) for error in errors]
            width = 2.6 - 0.5 * dtypes.index(dtype)  # the wider line shows below one that hides it
            axes.plot(positions, drawn, color=its.colour, marker=its.marker, markersize=3, markevery=8,
                      linewidth=width, linestyle=LINES[use], label=name, gid=name)  # fmt: skip
            if not use:
                axes.plot(positions, budgets, color=its.colour, **BUDGET, gid=f"budget {name}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("query position j")
        axes.set_ylabel(f"error ({unit})")
        handles, _ = axes.get_legend_handles_labels()
        handles.append(Line2D([], [], color="black", **BUDGET, label="budget"))
        figure.legend(handles=handles, loc="outside right upper", frameon=False)
    rows = [
        {"setting": name, "position": position, "error": "" if error is None else error, "budget": budget}
        for name, curve in curves.items()
        for position, error, budget in curve
    ]
    caption = (
        f"Error of the relative law of {subject} ({unit}) by query position, up to {audit['last_position']}: of each "
        "eighth of an octave the error that is the most times its budget, over the tested offsets. Dashed thin: the "
        f"budget of the dtype. An error below {LEAST_ERROR:g} is drawn there; a line has a gap where it is not finite."
    )
    return Drawing(shown=figure, rows=rows, caption=caption)


def _audit_curve(law: Mapping[str, Any]) -> list[tuple[int, float | None, float]]:
    """Position, error and budget of each point but that of position 0, whose error is 0 by definition."""
    parts = (law["by_position"][name] for name in ("position", "error", "budget"))
    return [point for point in zip(*parts, strict=True) if point[0]]


def write_audit(answer: Mapping[str, Any], folder: Path) -> list[str]:
    """Draw each audit of an answer that has measured the relative law, and write the files; return their paths."""
    paths: list[str] = []
    for number, audit in enumerate(answer["audits"]):
        if not any(result["law"] for result in audit.get("settings", {}).values()):
            continue
        subject = f"{answer['encoding']} {audit['subject']} {number}"
        name = hashed_name("audit", audit["subject"], subject)
        paths += map(str, saving.write(audit_drawing(audit), folder, name))
    return paths


FIGURES = (
    Entry(
        place=360,
        name="score-laws",
        title="Bias and kernel of every relative encoding by distance",
        make=lambda sources: laws_drawing(score_curves(), width=sources.width),
        least_width=PAGE_WIDTH,
    ),
    Entry(
        place=370,
        name="interpolation-bound",
        title="The interpolation bound of 2306.15595, broken and corrected",
        make=lambda sources: bound_drawing(width=sources.width),
    ),
)
