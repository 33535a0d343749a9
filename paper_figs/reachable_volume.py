"""Figure of Theorem 1 (1c): share of all targets within eps of a pattern that some relation learns, and its bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, grid
from lengthgen.paper_figs.style import context
from lengthgen.theory.enumeration import cell_count, every_relation, union_volume
from lengthgen.theory.learning.pola import learned_matrix

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


def drawing(cases: Sequence[ReachedVolume], *, width: float) -> Drawing:
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
    return Drawing(shown=_draw(cases, width), rows=rows, caption=caption)


def _draw(cases: Sequence[ReachedVolume], width: float) -> Figure:
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
        place=320,
        name="reachable-volume",
        title="Theorem 1: share of targets reached, and its bound",
        make=lambda sources: drawing([reached_volume(*case) for case in CASES], width=sources.width),
    ),
)
