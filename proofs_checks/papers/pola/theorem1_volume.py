"""Theorem 1 of arXiv 2510.04130, formalised: the share of the targets that is reached within a tolerance (1c).

The targets are those of `theorem1_counting`: the patterns in [-M, M]^D around one leading block.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.cases import LEAST_SQUARES, SCALE
from proofs_checks.papers.pola.small_fractions import small_fractions
from proofs_checks.papers.pola.source import source
from theory import pola
from theory.dimension import cell_count, every_relation, union_volume
from theory.relation import Labels

Volume = Callable[[int, Fraction, Fraction, int], Fraction]
Cells = tuple[Any, ...]

_RADII = tuple(map(Fraction, ("1/10", "1/2", "1", "2")))
_VOLUME_CASES: tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...] = (
    (1, 2, ((0,), (1,))),
    (1, 3, ((0,), (1,))),
    (2, 3, ((0, 0, 0), (1, 1, 1), (1, 0, 1), (1, 2, 1), (1, 2, 3))),
)


def reachable_volume(*, bound: Volume) -> Evidence:
    """Decide, in exact arithmetic: the share of F_{M,B0} within eps of what is learned is at most the bound.

    It must be attained by families whose boxes lie apart and inside. The norm is the largest entry.
    """
    attained = compared = 0
    for training_scale, size, blocks in _VOLUME_CASES:
        free = cell_count(size) - cell_count(training_scale)
        relations = list(every_relation(size))
        for block in blocks:
            learned = _learned_cells(block, relations, training_scale, size)
            for eps, side in product(_RADII, sorted({Fraction(max(1, *block)), Fraction(4)})):
                near = [beyond for shown, beyond in learned if _distance(shown, block) <= eps]
                distinct = sorted(set(near))
                families = [([centre], 1) for centre in distinct] + [(distinct, len(distinct)), (near, len(relations))]
                for centres, count in families:
                    if not centres:
                        continue
                    volume = union_volume(centres, radius=eps, half_side=side)
                    share, stated = volume / (2 * side) ** free, bound(count, eps, side, free)
                    compared += 1
                    where = f"N0 = {training_scale}, N = {size}, B0 = {block}, eps = {eps}, M = {side}"
                    if share > stated:
                        raise Refuted(f"{where}: {count} relations reach {share} of the volume, more than {stated}")
                    if count == len(centres) and _apart_and_inside(centres, eps, side):
                        attained += 1
                        if share != stated:
                            raise Refuted(f"{where}: {count} boxes apart and inside fill {share}, not {stated}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="D = 2, 3, 5",
        facts=(
            f"exact volumes, D = 2, 3, 5, of {compared} families of relations (one, one for each pattern learned, all) "
            f"for {sum(len(blocks) for *_, blocks in _VOLUME_CASES)} blocks, eps in {', '.join(map(str, _RADII))}, M "
            f"the block's largest entry or 4: none above the bound, equal in all {attained} cases of boxes that lie "
            "apart and inside",
            _sampled_volume(bound),
            "argument for every Phi and D: a box of side 2 eps in a cube of side 2M for each relation that fits B0, "
            "and a union has at most the sum of the volumes; for eps >= M the bound says nothing",
            "risk at most eps^2 a query puts each column in a ball inside that box, so the bound holds for it too",
        ),
        assumptions=(
            LEAST_SQUARES,
            "no scale hint",
            "error is the largest |learned - A| over entries",
            "||B0|| <= M, M > 0",
        ),
    )


def _learned_cells(
    block: Sequence[int], relations: Iterable[Labels], training_scale: int, size: int
) -> list[tuple[Cells, Cells]]:
    """What each relation learns from the block: the entries that training shows, and those beyond, as Fractions."""
    target = np.zeros((size, size))
    target[np.triu_indices(training_scale)] = block
    keys, queries = np.triu_indices(size)
    shown = queries < training_scale
    learned = []
    for labels in relations:
        cells = small_fractions(pola.learned_matrix(target, labels, training_scale=training_scale)[keys, queries])
        learned.append((tuple(cells[shown]), tuple(cells[~shown])))
    return learned


def _distance(one: Iterable[Any], other: Iterable[Any]) -> Any:
    return max(abs(x - y) for x, y in zip(one, other, strict=True))


def _apart_and_inside(centres: Sequence[Cells], eps: Fraction, side: Fraction) -> bool:
    pairs = ((one, other) for at, one in enumerate(centres) for other in centres[:at])
    inside = all(abs(entry) + eps <= side for centre in centres for entry in centre)
    return inside and all(_distance(one, other) >= 2 * eps for one, other in pairs)


def _sampled_volume(bound: Volume) -> str:
    """Points drawn in the cube, the share of them near what is learned, and its exact binomial limits."""
    from scipy.special import betaincinv  # slow to import, and the only claim that needs it

    eps, side, points, doubt = Fraction(1, 4), Fraction(3, 2), 100_000, 1e-9
    relations = list(every_relation(SCALE))
    target = np.zeros((SCALE, SCALE))
    target[np.triu_indices(2)] = 1
    learned = np.array([pola.learned_matrix(target, labels, training_scale=2) for labels in relations])
    fits = np.abs(learned - target)[:, :2, :2].max(axis=(1, 2)) < float(eps)
    centres = np.unique(learned[fits, :, 2].round(6), axis=0)
    drawn = np.random.default_rng(1).uniform(-float(side), float(side), (points, centres.shape[1]))
    near = (np.abs(drawn[:, None] - centres).max(axis=2) <= float(eps)).any(axis=1)
    hits = int(near.sum())
    low = float(betaincinv(hits, points - hits + 1, doubt / 2))
    high = float(betaincinv(hits + 1, points - hits, 1 - doubt / 2))
    stated = bound(len(centres), eps, side, centres.shape[1])
    if not low <= stated <= high:
        raise Refuted(f"{hits} of {points} points near {len(centres)} learned patterns: {low} to {high}, not {stated}")
    return (
        f"{len(centres)} boxes apart and inside, D = 3, eps = {eps}, M = {side}: {hits} of {points} random points lie "
        f"in them, a share in [{low:.5f}, {high:.5f}] but for a chance of {doubt:g}; the bound is {float(stated):.5f}"
    )


CLAIMS = (
    Claim(
        id="pola-1c",
        source=source("Theorem 1", "1c"),
        statement="Within tolerance eps in the largest entry, a family of relations reaches at most the share "
        "|Phi| (eps/M)^D of the targets with a given leading block; boxes that lie apart and inside attain it. "
        "Volumes are computed for D = 2, 3, 5; an argument does the rest.",
        latex=r"\mathrm{vol}(F^{N_0,N,\varepsilon}_{M,B_0}) / \mathrm{vol}(F_{M,B_0}) \le |\Phi|\,(\varepsilon/M)^D",
        label="F",
        check=reachable_volume,
        holds={"bound": lambda family, eps, side, free: family * (eps / side) ** free},
        falsifiers={
            "eps taken for the whole side": {
                "bound": lambda family, eps, side, free: family * (eps / side / 2) ** free
            },
            "the family counted once": {"bound": lambda family, eps, side, free: (eps / side) ** free},
            "one dimension fewer": {"bound": lambda family, eps, side, free: family * (eps / side) ** (free - 1)},
            "one dimension more": {"bound": lambda family, eps, side, free: family * (eps / side) ** (free + 1)},
        },
    ),
)
