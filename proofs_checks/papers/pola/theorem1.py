"""Theorem 1 of arXiv 2510.04130, formalised: the number of targets that a family of relations can reach.

Item (1a) is for deterministic learners, (1b) for randomised ones, (1c) with a tolerance, (1d) for dimensions over all
blocks together, (1e) for dimensions of low complexity. F_M are the patterns of scale N with entries in [-M, M],
F_{M,B0} those with the leading block B0 at the training scale N0; D = d_N - d_N0 entries are then free. Phi is a
countable family of relations, fixed before the target; the theorem fails for an encoding with real values that is
chosen after the target. Everything in Theorem 1 rests on one fact: training shows B0 and no more, so what a relation
learns is a function of B0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, floor, lcm
from operator import ge, gt
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.functions.combinatorial.numbers import stirling
from sympy.utilities.iterables import partitions

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    cells_in_training,
    is_learned,
    learned_by_relation,
    small_fractions,
)
from lengthgen.theory.enumeration import cell_count, every_pattern, every_relation, kinds, union_volume
from lengthgen.theory.learning import learners, pola
from lengthgen.theory.lrc import level_sets, lrc
from lengthgen.theory.rational import rank
from lengthgen.theory.relation import Labels, upper_pairs

Reachable = Callable[[int], NDArray[np.bool_]]
Volume = Callable[[int, Fraction, Fraction, int], Fraction]
Cells = tuple[Any, ...]
Pattern = NDArray[np.float64]
Learner = Callable[[Pattern, Labels, int], Pattern]

VALUES = (0, 1, 2, 3)
_RADII = tuple(map(Fraction, ("1/10", "1/2", "1", "2")))
_VOLUME_CASES: tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...] = (
    (1, 2, ((0,), (1,))),
    (1, 3, ((0,), (1,))),
    (2, 3, ((0, 0, 0), (1, 1, 1), (1, 0, 1), (1, 2, 1), (1, 2, 3))),
)
_FIELD = sp.QQ.algebraic_field(sp.sqrt(2))


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


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "pola-1a",
    formalised("Theorem 1", "1a"),
    r"|F_{M,B_0}^{N_0,N}| \le |\Phi|,\quad \dim_H F_{M,B_0}^{N_0,N} = 0",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(
        LEAST_SQUARES,
        "no scale hint",
        "Phi is fixed before the target",
        "D = d_N - d_N0 > 0 entries beyond the block are free in [-M, M], M > 0, ||B0|| <= M",
    ),
    falsifiers={
        "training shows one scale more": {
            "reach": lambda training_scale: _reached_by_every_relation(training_scale + 1)
        },
        "relation chosen after the target": {"reach": _reached_by_level_sets},
        "one target fewer than relations": {"bound": lambda family: family - 1},
    },
)
def one_target_per_relation(
    reach: Reachable = _reached_by_every_relation, bound: Callable[[int], int] = lambda family: family
) -> Facts:
    """Each relation fixed beforehand lets position-only linear attention generalize to at most one target with a given
    leading block. So a countable family reaches a set of Hausdorff dimension 0 and relative volume 0 in a cube of
    dimension D. Besides, every relation and pattern is checked for N = 3.
    """
    patterns = every_pattern(SCALE, VALUES)
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
        yield (
            f"N0 = {training_scale}, N = {SCALE}: each of the {len(learned)} relations reaches 0 or 1 target with a "
            f"given block, all together at most {counts.max()}: relations that disagree with the block reach none, "
            "and several may reach one target, so equality fails"
        )
    yield (
        f"blocks with entries in {VALUES} are of every kind (which entries are equal, which zero), and a relation "
        "that learns the block right puts its entries or 0 beyond it, so no real target is left out"
    )
    yield (
        "argument for every countable Phi and deterministic learner: the output is a function of phi and B0, so "
        "phi gives at most one target; a countable set has Hausdorff dimension 0 and volume 0, while F_{M,B0} is a "
        "cube of dimension D if ||B0|| <= M and empty otherwise"
    )


@CLAIMS.claim(
    "pola-1b",
    formalised("Theorem 1", "1b"),
    r"\max_{P}\ \#\{A: P(A) \ge 1-\delta\} = \lfloor 1/(1-\delta) \rfloor",
    strength=Strength.EXHAUSTIVE,
    assumptions=(
        "the learner's randomness, with that of its sample, depends on B0 alone",
        "Phi fixed before",
        "0 <= delta < 1; to reach that many, N0 < N, M > 0 and ||B0|| <= M",
    ),
    falsifiers={
        "one target, as without chance": {"bound": lambda delta: 1},
        "rounded up": {"bound": lambda delta: ceil(1 / (1 - delta))},
        "rounded to the nearest": {"bound": lambda delta: floor(1 / (1 - delta) + Fraction(1, 2))},
        "success with chance above 1 - delta": {"succeeds": gt},
    },
)
def targets_per_random_learner(
    bound: Callable[[Fraction], int] = lambda delta: floor(1 / (1 - delta)),
    succeeds: Callable[[Fraction, Fraction], bool] = ge,
) -> Facts:
    """A randomised learner that is right with probability at least 1 - delta reaches at most floor(1/(1 - delta))
    targets for each relation and block, and for each block some relation lets one reach that many. Besides, every delta
    is checked with denominators up to 12.
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
    yield (
        f"every delta in [0, 1) with denominator up to {max(denominators)}, every law of the output whose chances have "
        "this denominator: the most targets is floor(1/(1 - delta)), attained by POLA that starts its unseen label at "
        "random"
    )
    yield (
        "argument for every delta: reaching different targets are disjoint events, so k(1 - delta) <= 1; k equal "
        "chances attain it; at delta = 0 this is pola-1a"
    )
    yield Reach(f"denominators up to {max(denominators)}")


@CLAIMS.claim(
    "pola-1c",
    formalised("Theorem 1", "1c"),
    r"\mathrm{vol}(F^{N_0,N,\varepsilon}_{M,B_0}) / \mathrm{vol}(F_{M,B_0}) \le |\Phi|\,(\varepsilon/M)^D",
    strength=Strength.EXHAUSTIVE,
    reach="D = 2, 3, 5",
    assumptions=(
        LEAST_SQUARES,
        "no scale hint",
        "error is the largest |learned - A| over entries",
        "||B0|| <= M, M > 0, eps > 0",
    ),
    falsifiers={
        "eps taken for the whole side": {"bound": lambda family, eps, side, free: family * (eps / side / 2) ** free},
        "the family counted once": {"bound": lambda family, eps, side, free: (eps / side) ** free},
        "one dimension fewer": {"bound": lambda family, eps, side, free: family * (eps / side) ** (free - 1)},
        "one dimension more": {"bound": lambda family, eps, side, free: family * (eps / side) ** (free + 1)},
    },
)
def reachable_volume(bound: Volume = lambda family, eps, side, free: family * (eps / side) ** free) -> Facts:
    """Within tolerance eps in the largest entry, a family of relations reaches at most the share |Phi| (eps/M)^D of the
    targets with a given leading block; boxes that lie apart and inside attain it. Besides, volumes are computed for D =
    2, 3, 5.
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
                        refute(share != stated, f"{where}: {count} boxes apart and inside fill {share}, not {stated}")
    yield (
        f"exact volumes, D = 2, 3, 5, of {compared} families of relations (one, one for each pattern learned, all) "
        f"for {sum(len(blocks) for *_, blocks in _VOLUME_CASES)} blocks, eps in {', '.join(map(str, _RADII))}, M "
        f"the block's largest entry, at least 1, or 4: none above the bound, equal in all {attained} cases of boxes "
        "that lie apart and inside"
    )
    yield _sampled_volume(bound)
    yield (
        "argument for every Phi and D: a box of side 2 eps in a cube of side 2M for each relation that fits B0, "
        "and a union has at most the sum of the volumes; for eps >= M the bound says nothing"
    )
    yield "risk at most eps^2 a query puts each column in a ball inside that box, so the bound holds for it too"


@dataclass(frozen=True, kw_only=True)
class _Flat:
    """Learner under one relation as a map A -> K A + c: rank of K, dimension of its fixed points, and its stretch."""

    image: int
    reached: int | None  # dimension of the fixed points; None: no pattern is learned
    stretch: Fraction  # largest change of the learned pattern, in any entry, when the target changes by 1


def _as_affine_map(learner: Learner, labels: Labels, training_scale: int) -> _Flat:
    """The learner under one relation as an affine map."""
    cells, upper = cell_count(SCALE), upper_pairs(SCALE)
    # The unit patterns, the zero pattern, and one more to check that the learner is affine.
    targets = np.zeros((cells + 2, SCALE, SCALE))
    targets[:, *upper] = [*np.eye(cells), np.zeros(cells), np.arange(1, cells + 1) ** 2]
    learned = learner(targets, labels, training_scale)[:, *upper]
    offset = learned[cells]
    linear = (learned[:cells] - offset).T
    if np.abs(linear @ targets[cells + 1][upper] + offset - learned[cells + 1]).max() > TOLERANCE:
        raise ArithmeticError(
            f"the learner is not affine under labels {labels.tolist()}, so a matrix does not describe it"
        )
    return _flat(tuple(map(tuple, linear.tolist())), tuple(offset.tolist()))


@cache
def _flat(linear: tuple[tuple[float, ...], ...], offset: tuple[float, ...]) -> _Flat:
    """Rank, fixed points and stretch of an affine map, in exact arithmetic."""
    cells = len(offset)
    matrix, moved = small_fractions(np.array(linear)), small_fractions(np.array(offset))
    defect = matrix - np.eye(cells, dtype=np.int64).astype(object)
    constraints = rank(defect)
    return _Flat(
        image=rank(matrix),
        reached=cells - constraints if rank(np.column_stack([defect, moved])) == constraints else None,
        stretch=max(sum(map(abs, row)) for row in matrix),
    )


def _short_descent(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by three steps of gradient descent."""
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.pola_matrix(learners.gradient_descent(problem, rate=1 / 8, steps=3), labels)


def _ridge(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by ridge regression."""
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.pola_matrix(learners.ridge(problem, penalty=1.0), labels)


_AFFINE: Mapping[str, Learner] = {
    "least squares": lambda target, labels, training_scale: pola.learned_matrix(
        target, labels, training_scale=training_scale
    ),
    "gradient descent from 1": lambda target, labels, training_scale: pola.learned_matrix(
        target, labels, training_scale=training_scale, start=1.0
    ),
    "three steps of gradient descent": _short_descent,
    "ridge": _ridge,
}


@cache
def _as_expression(element: Any) -> sp.Expr:
    """Element of the number field as an expression."""
    return _FIELD.to_sympy(element)


def _level_numbers(target: Cells) -> Cells:
    """Integers that number the distinct entries; zero has 0."""
    numbers = {_FIELD(0): 0}
    return tuple(_FIELD(numbers.setdefault(entry, len(numbers))) for entry in target)


def _integer_multiples(target: Cells) -> Cells:
    """Integers in the ratio of the entries if there are such integers; otherwise the entries rounded."""
    unit = next((entry for entry in target if entry), _FIELD(1))
    ratios = [_as_expression(entry / unit) for entry in target]
    if all(ratio.is_Rational for ratio in ratios):
        scale = lcm(*(int(ratio.q) for ratio in ratios))
        return tuple(_FIELD(int(ratio * scale)) for ratio in ratios)
    return tuple(_FIELD(round(_as_expression(entry))) for entry in target)


@CLAIMS.claim(
    "pola-1d",
    formalised("Theorem 1", "1d"),
    r"\dim_H F_M^{N_0,N} \le d_{N_0} < d_N = \dim_H F_M",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(
        LEAST_SQUARES,
        "learner affine, or at least Lipschitz, in B for each phi",
        "no scale hint",
        "Phi fixed before, M > 0, N0 < N",
        "a positive penalty of ridge",
    ),
    falsifiers={
        "training shows all scales": {
            "by": {
                "least squares at scale N": lambda target, labels, _: pola.learned_matrix(
                    target, labels, training_scale=SCALE
                )
            }
        },
        "one dimension fewer": {"dimension": lambda training_scale: cell_count(training_scale) - 1},
        "all dimensions": {"dimension": lambda training_scale: cell_count(SCALE)},
        "ridge alone attains it": {"by": {"ridge": _ridge}},
    },
)
def dimension_over_all_blocks(
    by: Mapping[str, Learner] = _AFFINE, dimension: Callable[[int], int] = cell_count
) -> Facts:
    """Over all leading blocks together, countably many relations with a learner Lipschitz in the block reach dimension
    at most d_N0, below d_N. Gradient descent, ridge and least squares are affine in the block; least squares attains
    the bound. Besides, every relation is checked for N = 3.
    """
    for training_scale in TRAINING_SCALES:
        cases_by_dimension, stated = Counter[int](), dimension(training_scale)
        for (name, learner), labels in product(by.items(), every_relation(SCALE)):
            flat = _as_affine_map(learner, labels, training_scale)
            where = f"N0 = {training_scale}, {name}, labels {labels[upper_pairs(SCALE)].tolist()}"
            refute(flat.stretch > 1, f"{where}: a change of B by 1 changes what is learned by {flat.stretch}")
            refute(flat.image > stated, f"{where}: what is learned fills dimension {flat.image}, more than {stated}")
            if flat.reached is not None:
                cases_by_dimension[flat.reached] += 1
        if max(cases_by_dimension) != stated:
            raise Refuted(
                f"N0 = {training_scale}: no relation reaches dimension {stated}, at most {max(cases_by_dimension)}"
            )
        counts = dict(sorted(cases_by_dimension.items()))
        yield f"N0 = {training_scale}: dimension {counts} (dimension: number of cases)"
    yield (
        f"N = {SCALE}, all relations, exact ranks, {', '.join(by)}: each an affine map of B that stretches the "
        "largest entry by no more than 1"
    )
    yield (
        "argument for every countable Phi and learner Lipschitz in B: F_M meets the graph of B -> learned(B), a "
        "Lipschitz image of R^d_N0, once for each phi; a countable union has the supremum of the dimensions"
    )
    yield (
        "Lipschitz is needed: at N0 = 1, N = 2 a learner whose two free entries run along a space-filling curve as "
        "B does reaches a set that projects onto a square, of dimension at least 2 > d_N0 = 1"
    )


@CLAIMS.claim(
    "pola-1e",
    formalised("Theorem 1", "1e"),
    r"\dim_H\{A \in F_M: \mathrm{LRC}_N(A) \le r\} = \min(r, d_N)",
    strength=Strength.BOUNDED,
    reach="N <= 3",
    assumptions=("M > 0",),
    falsifiers={
        "zero a value of its own": {
            "complexity": lambda pattern: len(set(pattern[np.triu_indices(len(pattern))].tolist()))
        },
        "LRC one scale earlier": {"complexity": lambda pattern: lrc(pattern, max(1, len(pattern) - 1))},
        "one dimension more": {"dimension": lambda r, cells: min(r + 1, cells)},
        "not capped by d_N": {"dimension": lambda r, cells: r},
    },
)
def low_complexity_is_thin(
    complexity: Callable[[NDArray[Any]], int] = lrc, dimension: Callable[[int, int], int] = min
) -> Facts:
    """The patterns of scale N with LRC at most r and entries in [-M, M], M > 0, have dimension min(r, d_N). Besides,
    every kind of pattern is checked for N <= 3.
    """
    for size in range(1, SCALE + 1):
        cells = cell_count(size)
        highest: dict[int, int] = {}
        for kind in kinds(cells):
            small = np.zeros((size, size), dtype=object)
            small[np.triu_indices(size)] = [Fraction(entry, 7 * cells) for entry in kind]
            level = complexity(small)
            highest[level] = max(highest.get(level, 0), len(set(kind) - {0}))
        for r in range(cells + 2):
            within = [top for level, top in highest.items() if level <= r]
            if not within or max(within) != dimension(r, cells):
                description = f"of dimension {max(within)}" if within else "none"
                raise Refuted(
                    f"N = {size}, r = {r}: patterns of complexity <= r are {description}, not {dimension(r, cells)}"
                )
    largest = 10
    for cells in map(cell_count, range(1, largest + 1)):
        spaces = [int(stirling(cells + 1, k + 1)) for k in range(cells + 2)]
        q = sp.Integer(cells + 3)
        if sum(number * sp.ff(q, k) for k, number in enumerate(spaces)) != (q + 1) ** cells:
            raise Refuted(f"d_N = {cells}: the kinds do not add up to all patterns over {q} values and zero")
        for r in range(cells + 2):
            top = max(k for k in range(r + 1) if spaces[k])
            if top != dimension(r, cells):
                raise Refuted(f"d_N = {cells}, r = {r}: linear spaces of dimension {top}, not {dimension(r, cells)}")
    yield f"N <= {SCALE}: every kind of pattern, with entries in [-1/7, 1/7], and every r up to d_N + 1"
    yield f"N <= {largest}: S(d_N + 1, k + 1) linear spaces of dimension k, for every k <= d_N"
    yield (
        "the set is a finite union of linear spaces, cut by the cube, so M > 0 does not matter; r = 0 leaves the "
        "zero pattern, of dimension 0; r >= d_N leaves all"
    )


@CLAIMS.claim(
    "pola-1e-count",
    formalised("Theorem 1", "1e"),
    r"|\{A \in F_{M,B_0}: \mathrm{LRC}_N(A) = \mathrm{LRC}_{N_0}(B_0) = r\}| = (r+1)^D",
    strength=Strength.EXHAUSTIVE,
    reach="N <= 3",
    assumptions=("||B0|| <= M",),
    falsifiers={
        "zero forgotten": {"number": lambda r, free: r**free},
        "one value more": {"number": lambda r, free: (r + 2) ** free},
        "one free entry more": {"number": lambda r, free: (r + 1) ** (free + 1)},
        "M below the block's largest entry": {"half_side": lambda largest: max(0, largest - 1)},
    },
)
def targets_of_the_same_complexity(
    number: Callable[[int, int], int] = lambda r, free: (r + 1) ** free,
    half_side: Callable[[int], int] = lambda largest: largest,
) -> Facts:
    """Exactly (r + 1)^D targets with the leading block B0, r = LRC_N0(B0) and ||B0|| <= M, keep the complexity r at
    scale N. Besides, every kind of block is checked for N <= 3.
    """
    for training_scale, size in ((1, 2), (1, 3), (2, 3)):
        block = np.triu_indices(training_scale)
        free = cell_count(size) - cell_count(training_scale)
        beyond = [at for at in zip(*np.triu_indices(size), strict=True) if at[1] >= training_scale]
        for kind in kinds(cell_count(training_scale)):
            values = max(kind)
            pattern = np.zeros((size, size), dtype=np.int64)
            pattern[block] = kind
            targets = 0
            for entries in product(range(values + 2), repeat=free):
                pattern[tuple(np.transpose(beyond))] = entries
                targets += pattern.max() <= half_side(values) and lrc(pattern) == lrc(pattern, training_scale)
            if targets != number(values, free):
                where = f"N0 = {training_scale}, N = {size}, B0 = {list(kind)}, M = {half_side(values)}"
                raise Refuted(f"{where}: {targets} targets keep LRC = {values}, not {number(values, free)}")
    yield f"blocks of every kind with N <= {SCALE}, entries beyond from the block's values, zero and one value more"
    yield "any other value would raise LRC like that one, so no real target is left out"
    yield "B0 = 0 leaves the zero pattern alone; with M < ||B0|| there is no target at all"


@CLAIMS.claim(
    "pola-1-boundary",
    formalised("Theorem 1", "its boundary"),
    r"\varphi := A:\ (N_0,N)\text{-LG on }A \iff A_{[N_0],[N_0]} \ne 0 \text{ or } A = 0",
    strength=Strength.EXHAUSTIVE,
    reach="N = 3",
    assumptions=("A_ij = s phi(i,j) with one slope s, least squares from s = 0",),
    falsifiers={
        "integer labels in the ratio of the entries": {"labels": _integer_multiples},
        "level sets as integer labels": {"labels": _level_numbers},
        "real labels fixed before the target": {"labels": lambda target: (_FIELD(1),) * len(target)},
        "a zero block too": {"works": lambda block, target: True},
        "the zero target not": {"works": lambda block, target: any(block)},
    },
)
def real_labels_after_the_target(
    labels: Callable[[Cells], Cells] = tuple,
    works: Callable[[Cells, Cells], bool] = lambda block, target: any(block) or not any(target),
) -> Facts:
    """If the encoding may take real values and be chosen after the target, Theorem 1 is false: phi := A with one
    learned slope generalizes on every A whose leading block is not zero, and on A = 0. Besides, targets are
    checked for N = 3.
    """
    zero, facts = _FIELD(0), []
    alphabet = (zero, _FIELD(1), _FIELD.from_sympy(sp.sqrt(2)))
    for training_scale in TRAINING_SCALES:
        shows = cells_in_training(training_scale)
        reached_by_block: Counter[Cells] = Counter()
        for target in product(alphabet, repeat=cell_count(SCALE)):
            phi = labels(target)
            seen = [(x, y) for x, y, show in zip(phi, target, shows, strict=True) if show]
            weight = sum((x * x for x, _ in seen), zero)
            slope = sum((x * y for x, y in seen), zero) / weight if weight else zero
            block = tuple(y for _, y in seen)
            is_right = all(slope * x == y for x, y in zip(phi, target, strict=True))
            if is_right != works(block, target):
                shape, marks = ([str(_as_expression(entry)) for entry in cells] for cells in (target, phi))
                raise Refuted(
                    f"N0 = {training_scale}, A = [{', '.join(shape)}], phi = [{', '.join(marks)}]: the slope learned "
                    f"is {_as_expression(slope)}, which {'generalizes' if is_right else 'does not generalize'}"
                )
            reached_by_block[block] += is_right
        most = max(reached_by_block.values())
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}, entries in {{0, 1, sqrt 2}}: the one rule phi := A reaches {most} "
            f"targets with each block that is not zero, where one relation fixed before reaches 1; of the "
            f"{most} with the block zero it reaches {reached_by_block[(zero,) * int(shows.sum())]}"
        )
    yield from facts
    yield (
        "argument for every N and A: the slope is (sum A^2)/(sum A^2) = 1 over T_N0 unless B0 = 0, where it stays "
        "0 and only A = 0 is right; so all of F_M but a null set is reached, and all of F_{M,B0} if B0 != 0"
    )
    yield (
        "neither half alone does it: countably many real-valued phi fixed before the target fall under pola-1a, "
        "and labels chosen after it from a countable set reach a countable part of each F_{M,B0}"
    )
    yield (
        "integer labels with a slope do reach, if B0 != 0, the targets whose entries are whole multiples of one "
        "number: a dense but countable part, so an irrational ratio is what refutes them"
    )
