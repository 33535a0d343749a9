"""Theorem 1 (1c): the share of all targets that lie within eps of what some relation learns, and its bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import finish, grid
from paper_figs.style import context
from theory.dimension import cell_count, every_relation, union_volume
from theory.pola import learned_matrix

CASES = ((1, 2, (1,)), (2, 3, (1, 2, 3)), (1, 3, (1,)))
"""Training scale, test scale, and the block that training shows, column by column; so D = 2, 3, 5."""
BOUND = Fraction(4)
"""M: targets have entries from -M to M."""
SHARES = tuple(map(Fraction, ("1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1")))
"""eps / M."""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """One case.

    Attributes:
        train, test: scales; training shows `block`, the other D cells are free.
        relations: how many there are up to renaming labels.
        patterns: how many different ones they learn of those that have the block right.
        volumes: eps / M -> exact share of the free cells' cube within eps of one of these patterns.
    """

    train: int
    test: int
    relations: int
    patterns: int
    volumes: dict[Fraction, Fraction]

    @property
    def free(self) -> int:
        """D."""
        return cell_count(self.test) - cell_count(self.train)

    def bound(self, share: Fraction) -> Fraction:
        """Number of relations times (eps / M)^D, at most 1."""
        return min(Fraction(1), self.relations * share**self.free)


def reached(train: int, test: int, block: Sequence[int]) -> Reached:
    """Every relation learns from the block (least squares of least norm), in floats that are then exact fractions."""
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
    every = sorted(centres)
    cube = (2 * BOUND) ** int(beyond.sum())
    volumes = {share: union_volume(every, radius=share * BOUND, half_side=BOUND) / cube for share in SHARES}
    return Reached(train=train, test=test, relations=len(relations), patterns=len(every), volumes=volumes)


def drawing(found: Sequence[Reached], *, width: float) -> Drawing:
    """The figure: a panel for each case."""
    rows: list[dict[str, object]] = [
        {"train": one.train, "test": one.test, "D": one.free, "relations": one.relations, "patterns": one.patterns}
        | {"eps_by_M": float(share), "share": float(volume), "bound": float(one.bound(share))}
        for one in found
        for share, volume in one.volumes.items()
    ]
    told = "; ".join(
        f"D = {one.free} (from scale {one.train} to {one.test}): {one.relations} relations learn {one.patterns} "
        f"patterns, at eps = M/{SHARES[3].denominator} a share of {float(one.volumes[SHARES[3]]):.2g}"
        for one in found
    )
    caption = (
        "How much position encodings can reach [F of Theorem 1]: of all targets that have the entries seen in "
        "training, and D others between -M and M, the share within eps (largest entry) of what some relation learns "
        f"that has the seen ones right; all relations, exact volumes, M = {BOUND}. Line: the bound, number of "
        f"relations times (eps/M)^D. {told}."
    )
    return Drawing(shown=_draw(found, width), rows=rows, caption=caption)


def _draw(found: Sequence[Reached], width: float) -> Figure:
    points: dict[str, Any] = {"color": "#004488", "marker": "o", "linestyle": "none", "markersize": 3.6}
    line: dict[str, Any] = {"color": "#BB5566", "linestyle": (0, (5, 1.5)), "linewidth": 1.0}
    with context():
        figure, panels = grid(len(found), width=width, narrowest=1.5, height=1.6, sharex=True, sharey=True)
        for place, (axes, one) in enumerate(zip(panels, found, strict=True)):
            axes.set_gid(f"D:{one.free}")
            axes.set_title(f"D = {one.free}, scale {one.train} to {one.test}", fontweight="bold", pad=3)
            shares = [float(share) for share in one.volumes]
            axes.plot(shares, [float(one.bound(share)) for share in one.volumes], **line, gid="bound")
            axes.plot(shares, [float(volume) for volume in one.volumes.values()], **points, gid="share", clip_on=False)
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
        make=lambda sources: drawing([reached(*case) for case in CASES], width=sources.width),
    ),
)
