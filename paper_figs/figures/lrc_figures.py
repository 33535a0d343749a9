"""Figures of LRC: by scale with its growth, within eps for the scores of encodings, and the bound of Theorem 1 (1c)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.panels import finish, grid
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import Dashes, context
from lengthgen.theory.encodings import biases, hope, relations, rotary
from lengthgen.theory.enumeration import cell_count, every_relation, union_volume
from lengthgen.theory.growth import Growth, growth
from lengthgen.theory.learning.pola import learned_matrix
from lengthgen.theory.lrc import profile
from lengthgen.theory.lrc_within import bounds_within
from lengthgen.theory.pattern import from_array, from_formula

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


def growth_drawing(*, width: float) -> Drawing:
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
    return Drawing(shown=_draw_growth(curves, growth_of, width), rows=rows, caption=caption)


def _lrc_bounds(text: str) -> dict[int, tuple[int, int]]:
    lrc = profile(from_formula(text), LARGEST)
    return {scale: lrc.bounds(scale) for scale in range(1, LARGEST + 1)}


def _growth_name(proved: Growth | None) -> str:
    return proved.kind.value if proved else "undecided"


def _draw_growth(
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


def scores_drawing(curves: Mapping[str, Mapping[Fraction, int]], *, width: float) -> Drawing:
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
    return Drawing(shown=_draw_scores(curves, width), rows=rows, caption=caption)


def _draw_scores(curves: Mapping[str, Mapping[Fraction, int]], width: float) -> Figure:
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


CASES = ((1, 2, (1,)), (2, 3, (1, 2, 3)), (1, 3, (1,)))
"""Training scale, test scale, and entries of the training block column by column; D = 2, 3, 5."""
BOUND = Fraction(4)
"""Bound M: targets have entries from -M to M."""
SHARES = tuple(map(Fraction, ("1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1")))
"""Values of eps / M."""


@dataclass(frozen=True, kw_only=True)
class ReachedVolume:
    """Reachable volume in one case.

    Attributes:
        train, test: training and test scale; training shows the leading block, the other D cells are free.
        relations: number of relations up to renaming labels.
        patterns: number of different learned patterns that agree with the block.
        volumes: map from eps / M to the exact share of the cube of the free cells within eps of such a pattern.
    """

    train: int
    test: int
    relations: int
    patterns: int
    volumes: dict[Fraction, Fraction]

    @property
    def free(self) -> int:
        """Number D of free cells."""
        return cell_count(self.test) - cell_count(self.train)

    def bound(self, share: Fraction) -> Fraction:
        """Upper bound of the share: number of relations times (eps / M)^D, at most 1."""
        return min(Fraction(1), self.relations * share**self.free)


def reached_volume(train: int, test: int, block: Sequence[int]) -> ReachedVolume:
    """Learn from the block with every relation (min-norm least squares) and compute the exact reachable volume.

    Learned floats are turned into exact fractions with denominators up to 60.
    """
    target = np.zeros((test, test))
    places = [(key, query) for query in range(train) for key in range(query + 1)]
    for place, entry in zip(places, block, strict=True):
        target[place] = entry
    keys, queries = np.triu_indices(test)
    beyond = queries >= train
    relations = [*every_relation(test)]
    centres = set()
    for labels in relations:
        learned = learned_matrix(target, labels, training_scale=train)
        if np.allclose(learned[:train, :train], target[:train, :train], atol=1e-9):
            centres.add(tuple(Fraction(float(value)).limit_denominator(60) for value in learned[keys, queries][beyond]))
    distinct_centres = sorted(centres)
    cube = (2 * BOUND) ** int(beyond.sum())
    volumes = {share: union_volume(distinct_centres, radius=share * BOUND, half_side=BOUND) / cube for share in SHARES}
    return ReachedVolume(
        train=train, test=test, relations=len(relations), patterns=len(distinct_centres), volumes=volumes
    )


def volume_drawing(cases: Sequence[ReachedVolume], *, width: float) -> Drawing:
    """Draw a panel for each case, `width` inches wide in all."""
    rows: list[dict[str, object]] = [
        {"train": case.train, "test": case.test, "D": case.free, "relations": case.relations, "patterns": case.patterns}
        | {"eps_by_M": float(share), "share": float(volume), "bound": float(case.bound(share))}
        for case in cases
        for share, volume in case.volumes.items()
    ]
    summaries = "; ".join(
        f"D = {case.free} (from scale {case.train} to {case.test}): {case.relations} relations learn {case.patterns} "
        f"patterns, at eps = M/{SHARES[3].denominator} a share of {float(case.volumes[SHARES[3]]):.2g}"
        for case in cases
    )
    caption = (
        "How much position encodings can reach [F of Theorem 1]: of all targets that have the entries seen in "
        "training, and D others between -M and M, the share within eps (largest entry) of what some relation learns "
        f"that has the seen ones right; all relations, exact volumes, M = {BOUND}. Line: the bound, number of "
        f"relations times (eps/M)^D. {summaries}."
    )
    return Drawing(shown=_draw_volume(cases, width), rows=rows, caption=caption)


def _draw_volume(cases: Sequence[ReachedVolume], width: float) -> Figure:
    points: dict[str, Any] = {"color": "#004488", "marker": "o", "linestyle": "none", "markersize": 3.6}
    line: dict[str, Any] = {"color": "#BB5566", "linestyle": (0, (5, 1.5)), "linewidth": 1.0}
    with context():
        figure, panels = grid(len(cases), width=width, narrowest=1.5, height=1.6, sharex=True, sharey=True)
        for place, (axes, case) in enumerate(zip(panels, cases, strict=True)):
            axes.set_gid(f"D:{case.free}")
            axes.set_title(f"D = {case.free}, scale {case.train} to {case.test}", fontweight="bold", pad=3)
            shares = [float(share) for share in case.volumes]
            axes.plot(shares, [float(case.bound(share)) for share in case.volumes], **line, gid="bound")
            axes.plot(shares, [float(volume) for volume in case.volumes.values()], **points, gid="share", clip_on=False)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks([1 / 64, 1 / 16, 1 / 4, 1], ["1/64", "1/16", "1/4", "1"])
            axes.minorticks_off()
            axes.set_xlabel("eps / M", labelpad=1)
            if not place:
                axes.set_ylabel("share of all targets")
        finish(figure, [Line2D([], [], **points, label="reached, exact"), Line2D([], [], **line, label="bound")])
    return figure


FIGURES = (
    Entry(
        place=300,
        name="lrc-growth",
        title="LRC of pattern families by scale",
        make=lambda sources: growth_drawing(width=sources.width),
    ),
    Entry(
        place=308,
        name="score-labels",
        title="Labels that the score of an encoding needs, by the error allowed",
        make=lambda sources: scores_drawing(label_curves(), width=sources.width),
    ),
    Entry(
        place=320,
        name="reachable-volume",
        title="Theorem 1: share of targets reached, and its bound",
        make=lambda sources: volume_drawing([reached_volume(*case) for case in CASES], width=sources.width),
    ),
)
