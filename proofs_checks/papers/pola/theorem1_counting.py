"""Theorem 1 of arXiv 2510.04130, formalised: the number of targets that a family of relations can reach.

Item (1a) is for deterministic learners, (1b) for randomised ones, (1c) with a tolerance. F_M are the patterns of scale
N with entries in [-M, M], F_{M,B0} those with the leading block B0 at the training scale N0; D = d_N - d_N0 entries are
then free. Phi is a countable family of relations, fixed before the target. Everything in Theorem 1 rests on one fact:
training shows B0 and no more, so what a relation learns is a function of B0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor
from operator import ge, gt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy.utilities.iterables import partitions

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TRAINING_SCALES,
    cells_in_training,
    is_learned,
    learned_by_relation,
    small_fractions,
)
from lengthgen.theory.enumeration import cell_count, every_pattern, every_relation, union_volume
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import level_sets
from lengthgen.theory.relation import Labels

Reach = Callable[[int], NDArray[np.bool_]]
VALUES = (0, 1, 2, 3)

Volume = Callable[[int, Fraction, Fraction, int], Fraction]
Cells = tuple[Any, ...]

_RADII = tuple(map(Fraction, ("1/10", "1/2", "1", "2")))
_VOLUME_CASES: tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...] = (
    (1, 2, ((0,), (1,))),
    (1, 3, ((0,), (1,))),
    (2, 3, ((0, 0, 0), (1, 1, 1), (1, 0, 1), (1, 2, 1), (1, 2, 3))),
)


def one_target_per_relation(*, reach: Reach, bound: Callable[[int], int]) -> Evidence:
    """Decide block by block that a family of n relations reaches at most bound(n) targets with that block."""
    patterns = every_pattern(SCALE, VALUES)
    facts = []
    for training_scale in TRAINING_SCALES:
        learned = reach(training_scale)
        entries = patterns[:, *np.triu_indices(SCALE)][:, cells_in_training(training_scale)]
        blocks, block_of = np.unique(entries, axis=0, return_inverse=True)
        in_block = block_of.ravel()[:, None] == np.arange(len(blocks))
        families = {1: learned, len(learned): np.any(learned, axis=0, keepdims=True)}
        for size, family in families.items():
            counts = family.astype(np.int64) @ in_block
            for row, at in np.ndindex(counts.shape):
                if counts[row, at] > bound(size):
                    examples = patterns[family[row] & in_block[:, at]][:2].astype(int).tolist()
                    raise Refuted(
                        f"N0 = {training_scale}, B0 = {blocks[at].astype(int).tolist()}: a family of {size} reaches "
                        f"{counts[row, at]} targets, not {bound(size)} at most: {examples}"
                    )
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}: each of the {len(learned)} relations reaches 0 or 1 target with a "
            f"given block, all together at most {counts.max()}: relations that disagree with the block reach none, "
            "and several may reach one target, so equality fails"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            *facts,
            f"blocks with entries in {VALUES} are of every kind (which entries are equal, which zero), and a relation "
            "that learns the block right puts its entries or 0 beyond it, so no real target is left out",
            "argument for every countable Phi and deterministic learner: the output is a function of phi and B0, so "
            "phi gives at most one target; a countable set has Hausdorff dimension 0 and volume 0, while F_{M,B0} is a "
            "cube of dimension D if ||B0|| <= M and empty otherwise",
        ),
        assumptions=(LEAST_SQUARES, "no scale hint", "Phi is fixed before the target"),
    )


def targets_per_random_learner(
    *, bound: Callable[[Fraction], int], succeeds: Callable[[Fraction, Fraction], bool]
) -> Evidence:
    """Decide for deltas of small denominator how many targets one relation reaches with probability 1 - delta each.

    The distribution of the output over targets is fixed by B0. Probabilities may be taken as multiples of 1/q if 1 -
    delta is one: rounding them down keeps every success. So integer partitions of q stand for all distributions.
    """
    denominators = range(2, 13)
    for q in denominators:
        laws = [Counter(law) for law in partitions(q)]
        for shares in range(1, q + 1):
            confidence = Fraction(shares, q)
            most = max(
                sum(times for part, times in law.items() if succeeds(Fraction(part, q), confidence)) for law in laws
            )
            stated = bound(1 - confidence)
            if most != stated:
                raise Refuted(f"delta = {1 - confidence}: one relation reaches {most} targets at most, not {stated}")
            chances = _chances_from_random_start(stated)
            if sum(succeeds(chance, confidence) for chance in chances) != stated:
                raise Refuted(f"delta = {1 - confidence}: {stated} random starts do not reach {stated} targets")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"denominators up to {max(denominators)}",
        facts=(
            f"every delta in [0, 1) with denominator up to {max(denominators)}, every law of the output: the most "
            "targets is floor(1/(1 - delta)), attained by POLA that starts its unseen label at random",
            "argument for every delta: reaching different targets are disjoint events, so k(1 - delta) <= 1; k equal "
            "chances attain it; at delta = 0 this is pola-1a",
        ),
        assumptions=("the learner's randomness, with that of its sample, depends on B0 alone", "Phi fixed before"),
    )


def _reached_by_every_relation(training_scale: int) -> NDArray[np.bool_]:
    """Patterns that each relation learns: bool [relations, patterns]."""
    return learned_by_relation(pola.learned_matrix, VALUES, size=SCALE, training_scale=training_scale)


def _reached_by_level_sets(training_scale: int) -> NDArray[np.bool_]:
    """Patterns learned under the relation of their own level sets, a single rule: bool [1, patterns]."""
    patterns = every_pattern(SCALE, VALUES)
    own = np.array([level_sets(pattern).labels(SCALE) for pattern in patterns])
    relations, relation_of = np.unique(own, axis=0, return_inverse=True)
    is_reached = np.zeros((1, len(patterns)), dtype=bool)
    for at, labels in enumerate(relations):
        alike = relation_of.ravel() == at
        learned = pola.learned_matrix(patterns[alike], labels, training_scale=training_scale)
        is_reached[0, alike] = is_learned(learned, patterns[alike])
    return is_reached


def _chances_from_random_start(starts: int) -> list[Fraction]:
    """Probability of each target that POLA reaches from B0 = 1 if its unseen label starts at 0, 1, ... at random."""
    labels, block = np.array([[0, 1], [0, 1]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    ends = Counter(
        tuple(pola.learned_matrix(block, labels, training_scale=1, start=(0.0, start)).ravel())
        for start in range(starts)
    )
    return [Fraction(times, starts) for times in ends.values()]


def reachable_volume(*, bound: Volume) -> Evidence:
    """Decide exactly that the share of F_{M,B0} within eps of a learned pattern is at most the bound.

    It must be attained by families whose boxes lie apart and inside. The norm is the largest entry.
    """
    attained = compared = 0
    for training_scale, size, blocks in _VOLUME_CASES:
        free = cell_count(size) - cell_count(training_scale)
        relations = list(every_relation(size))
        for block in blocks:
            learned = _learned_cells(block, relations, training_scale, size)
            for eps, side in product(_RADII, sorted({Fraction(max(1, *block)), Fraction(4)})):
                near = [beyond for seen_cells, beyond in learned if _distance(seen_cells, block) <= eps]
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
    """Entries that each relation learns from the block: those that training shows, and those beyond, as Fractions."""
    target = np.zeros((size, size))
    target[np.triu_indices(training_scale)] = block
    keys, queries = np.triu_indices(size)
    is_shown = queries < training_scale
    learned = []
    for labels in relations:
        cells = small_fractions(pola.learned_matrix(target, labels, training_scale=training_scale)[keys, queries])
        learned.append((tuple(cells[is_shown]), tuple(cells[~is_shown])))
    return learned


def _distance(first: Iterable[Any], second: Iterable[Any]) -> Any:
    """Largest difference of entries."""
    return max(abs(x - y) for x, y in zip(first, second, strict=True))


def _apart_and_inside(centres: Sequence[Cells], eps: Fraction, side: Fraction) -> bool:
    """True if the boxes around the centres are disjoint and inside the cube."""
    pairs = ((first, second) for at, first in enumerate(centres) for second in centres[:at])
    inside = all(abs(entry) + eps <= side for centre in centres for entry in centre)
    return inside and all(_distance(first, second) >= 2 * eps for first, second in pairs)


def _sampled_volume(bound: Volume) -> str:
    """Fact on the share of random points near a learned pattern, with its exact binomial limits."""
    from scipy.special import betaincinv  # slow to import, and only this claim needs it

    eps, side, points, doubt = Fraction(1, 4), Fraction(3, 2), 100_000, 1e-9
    relations = list(every_relation(SCALE))
    target = np.zeros((SCALE, SCALE))
    target[np.triu_indices(2)] = 1
    learned = np.array([pola.learned_matrix(target, labels, training_scale=2) for labels in relations])
    fits = np.abs(learned - target)[:, :2, :2].max(axis=(1, 2)) < float(eps)
    centres = np.unique(learned[fits, :, 2].round(6), axis=0)
    points_in_cube = np.random.default_rng(1).uniform(-float(side), float(side), (points, centres.shape[1]))
    near = (np.abs(points_in_cube[:, None] - centres).max(axis=2) <= float(eps)).any(axis=1)
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
        id="pola-1a",
        source=formalised("Theorem 1", "1a"),
        statement="Each relation fixed beforehand lets position-only linear attention generalize to at most one "
        "target with a given leading block. So a countable family reaches a set of Hausdorff dimension 0 "
        "and relative volume 0 in a cube of dimension D. "
        "Every relation and pattern is checked for N = 3; a general argument covers the rest.",
        latex=r"|F_{M,B_0}^{N_0,N}| \le |\Phi|,\quad \dim_H F_{M,B_0}^{N_0,N} = 0,\quad \dim_H F_{M,B_0} = D",
        label="F",
        check=one_target_per_relation,
        holds={"reach": _reached_by_every_relation, "bound": lambda family: family},
        falsifiers={
            "training shows one scale more": {
                "reach": lambda training_scale: _reached_by_every_relation(training_scale + 1)
            },
            "relation chosen after the target": {"reach": _reached_by_level_sets},
            "one target fewer than relations": {"bound": lambda family: family - 1},
        },
    ),
    Claim(
        id="pola-1b",
        source=formalised("Theorem 1", "1b"),
        statement="A randomised learner that is right with probability at least 1 - delta reaches at most "
        "floor(1/(1 - delta)) targets for each relation and block, and that many can be reached. "
        "Every delta is checked with denominators up to 12; a general argument covers the rest.",
        latex=r"\max_{P}\ \#\{A: P(A) \ge 1-\delta\} = \lfloor 1/(1-\delta) \rfloor",
        label="F",
        check=targets_per_random_learner,
        holds={"bound": lambda delta: floor(1 / (1 - delta)), "succeeds": ge},
        falsifiers={
            "one target, as without chance": {"bound": lambda delta: 1},
            "rounded up": {"bound": lambda delta: ceil(1 / (1 - delta))},
            "rounded to the nearest": {"bound": lambda delta: floor(1 / (1 - delta) + Fraction(1, 2))},
            "success with chance above 1 - delta": {"succeeds": gt},
        },
    ),
    Claim(
        id="pola-1c",
        source=formalised("Theorem 1", "1c"),
        statement="Within tolerance eps in the largest entry, a family of relations reaches at most the share "
        "|Phi| (eps/M)^D of the targets with a given leading block; boxes that lie apart and inside attain it. "
        "Volumes are computed for D = 2, 3, 5; a general argument covers the rest.",
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
