"""Figure of LRC within eps for the scores of encodings: how many labels does a relation need to carry a score?"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish
from lengthgen.paper_figs.style import Dashes, context
from lengthgen.theory.encodings import biases, hope, relations, rotary
from lengthgen.theory.lrc_within import bounds_within
from lengthgen.theory.pattern import from_array

SCALE = 64
ERRORS = tuple(Fraction(numerator, 1000) for numerator in (1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 125, 200, 320, 499))
"""Errors of an entry, as shares of the range that the score has up to SCALE."""
_HEAD_DIM, _BASE = 16, 10_000
WAVELET_SCALES = 4

Scores = Sequence[float]
"""Scores at the distances 0, 1, ..., SCALE - 1."""


def _rotated(head_dim: int) -> Scores:
    """Return the mean kernel of the planes of a head: the mean of cos(theta D), theta = base^(-2 l / d)."""
    frequencies = np.array([float(frequency) for frequency in rotary.frequencies(head_dim, _BASE)])
    scores: list[float] = np.cos(np.outer(np.arange(SCALE), frequencies)).mean(axis=1).tolist()
    return scores


def _damped() -> Scores:
    """Return the kernel of one HoPE plane between equal unit vectors, theta = 1/10 and theta' = 3/20."""
    unit = (sp.Integer(1), sp.Integer(0))
    rate, damping = sp.Rational(1, 10), sp.Rational(3, 20)
    offsets = map(sp.Integer, range(SCALE))
    return [float(hope.score(unit, unit, offset=offset, rate=rate, damping=damping)) for offset in offsets]


def _waves() -> Scores:
    """Return q . p(D) of Ricker's wavelets for the query of ones: the sum of the components of the vectors."""
    pairs = relations.wavelet_grid(_HEAD_DIM, WAVELET_SCALES)
    return [
        sum(
            float(relations.wavelet_component(sp.Integer(distance), scale=a, shift=b, wavelet=relations.ricker))
            for a, b in pairs
        )
        for distance in range(SCALE)
    ]


SCORES: Mapping[str, tuple[Callable[[], Scores], str, Dashes]] = {
    "ALiBi": (lambda: [-distance / 2 for distance in range(SCALE)], "#004488", "-"),
    "KERPLE (log)": (lambda: [-float(np.log1p(distance)) for distance in range(SCALE)], "#BB5566", (0, (5, 1.5))),
    "T5, bias - bucket": (
        lambda: [-float(biases.t5_bucket(sp.Integer(distance)).doit()) for distance in range(SCALE)],
        "#5A7522",
        (0, (3, 1.2, 0.8, 1.2)),
    ),
    "RoPE, 1 plane": (lambda: _rotated(2), "#791FCB", (0, (2.2, 1.2))),
    "RoPE, 8 planes": (lambda: _rotated(_HEAD_DIM), "#C8961E", "-"),
    "HoPE, 1 plane": (_damped, "#4A9EB8", (0, (0.9, 1.1))),
    "Wavelets, 4 scales": (_waves, "#222222", (0, (4, 1.2, 1, 1.2, 1, 1.2))),
}
"""Scores by distance, content held constant."""


def labels_needed(scores: Scores) -> dict[Fraction, int]:
    """Return error -> fewest labels of a relation that carries the scores with that error, a share of their range.

    Scores are moved so that none is near zero: softmax ignores what is added to all, so zero is a label like others.
    """
    by_distance = np.array(scores)
    spread = by_distance.max() - by_distance.min()
    moved = 1 + (by_distance - by_distance.min()) / spread
    key, query = np.indices((SCALE, SCALE))
    pattern = from_array(np.where(key <= query, moved[query - key], 0))
    return {error: bounds_within(pattern, error, [SCALE])[SCALE][1] for error in ERRORS}


def label_curves() -> dict[str, dict[Fraction, int]]:
    """Return name -> error -> fewest labels, computed from the formulas of the scores."""
    return {name: labels_needed(scores()) for name, (scores, *_) in SCORES.items()}


def drawing(curves: Mapping[str, Mapping[Fraction, int]], *, width: float) -> Drawing:
    """Draw the figure, `width` inches wide."""
    rows: list[dict[str, object]] = [
        {"score": name, "error": float(error), "labels": count}
        for name, curve in curves.items()
        for error, count in curve.items()
    ]
    at = ERRORS[6]
    summary = "; ".join(f"{name} {curve[at]}" for name, curve in curves.items())
    caption = (
        f"Fewest labels of a relation that carries the scores of an encoding up to scale {SCALE}, against the error "
        "that is allowed for each score, as a share of the range of the scores: LRC within eps [F]. Scores are those "
        "of one head with its content held constant: ALiBi with slope 1/2, KERPLE with r1 = r2 = 1, T5 with a bias "
        f"that falls by one from bucket to bucket, the mean of the planes of RoPE with base {_BASE}, one plane of "
        f"HoPE, and Ricker's wavelets at head width {_HEAD_DIM} for a query of ones. "
        f"Labels at an error of {float(at):g}: {summary}."
    )
    return Drawing(shown=_draw(curves, width), rows=rows, caption=caption)


def _draw(curves: Mapping[str, Mapping[Fraction, int]], width: float) -> Figure:
    with context():
        figure = Figure(figsize=(width, 2.6), layout="constrained")
        axes = figure.add_subplot()
        handles = []
        for name, curve in curves.items():
            _, colour, line = SCORES[name]
            errors = [float(error) for error in curve]
            axes.plot(errors, [*curve.values()], color=colour, linestyle=line, linewidth=1.1, gid=f"labels:{name}")
            handles.append(Line2D([], [], color=colour, linestyle=line, linewidth=1.1, label=name))
        axes.set_xscale("log")
        axes.set_yscale("log", base=2)
        axes.set_xticks([0.001, 0.01, 0.1, 0.5], ["0.001", "0.01", "0.1", "0.5"])
        axes.set_yticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
        axes.minorticks_off()
        axes.set(xlabel="error of a score, as a share of the range", ylabel="labels")
        finish(figure, handles)
    return figure


FIGURES = (
    Entry(
        place=308,
        name="score-labels",
        title="Labels that the score of an encoding needs, by the error allowed",
        make=lambda sources: drawing(label_curves(), width=sources.width),
    ),
)
