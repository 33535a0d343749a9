"""What no position encoding can do for position-only linear attention (Theorem 1 of arXiv 2510.04130), formalised.

F_M are the patterns of scale N with entries in [-M, M], F_{M,B0} those with the leading block B0 at the training scale
N0; D = d_N - d_N0 entries are then free. Phi is a countable family of relations, fixed before the target. Everything
rests on one fact: training shows B0 and no more, so what a relation learns is a function of B0.
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
from scipy.stats import beta
from sympy.functions.combinatorial.numbers import stirling
from sympy.utilities.iterables import partitions

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from theory import learners, pola
from theory.dimension import cell_count, every_pattern, every_relation, kinds, rank, union_volume
from theory.lrc import level_sets, lrc
from theory.relation import Labels

Pattern = NDArray[np.float64]
Learner = Callable[[Pattern, Labels, int], Pattern]
Reach = Callable[[int], NDArray[np.bool_]]
Volume = Callable[[int, Fraction, Fraction, int], Fraction]
Cells = tuple[Any, ...]

SCALE = 3
TRAINING_SCALES = (1, 2)
VALUES = (0, 1, 2, 3)
# Means of at most 6 such values are at least 1/6 away from every one that they do not equal, and from each other 1/30.
TOLERANCE = 1e-9

_LEARNER = "least squares of least norm (gradient descent from zero) on spanning noise-free data of scales up to N0"
_NO_HINT = "no scale hint"


def one_target_per_relation(*, reach: Reach, bound: Callable[[int], int], equal: bool) -> Evidence:
    """Decide, block by block: of the targets with that block, a family of relations reaches at most its own number."""
    patterns = every_pattern(SCALE, VALUES)
    facts = []
    for training_scale in TRAINING_SCALES:
        reached = reach(training_scale)
        shown = patterns[:, *np.triu_indices(SCALE)][:, _shown(training_scale)]
        blocks, block_of = np.unique(shown, axis=0, return_inverse=True)
        in_block = block_of.ravel()[:, None] == np.arange(len(blocks))
        families = {1: reached, len(reached): np.any(reached, axis=0, keepdims=True)}
        for size, family in families.items():
            counts = family.astype(np.int64) @ in_block
            for row, at in np.ndindex(counts.shape):
                if counts[row, at] > bound(size) or (equal and counts[row, at] < bound(size)):
                    some = patterns[family[row] & in_block[:, at]][:2].astype(int).tolist()
                    raise Refuted(
                        f"N0 = {training_scale}, B0 = {blocks[at].astype(int).tolist()}: a family of {size} reaches "
                        f"{counts[row, at]} targets, not {bound(size)}{'' if equal else ' at most'}: {some}"
                    )
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}: each of the {len(reached)} relations reaches 0 or 1 target with a "
            f"given block, all together at most {counts.max()}: relations that disagree with the block reach none, "
            "and several may reach one target, so equality fails"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            *facts,
            f"blocks with entries in {VALUES} are of every kind (which entries are equal, which zero), and a relation "
            "that learns the block right puts its entries or 0 beyond it, so no real target is left out",
            "argument for every countable Phi and deterministic learner: the output is a function of phi and B0, so "
            "phi gives at most one target; a countable set has Hausdorff dimension 0 and volume 0, while F_{M,B0} is a "
            "cube of dimension D if ||B0|| <= M and empty otherwise",
        ),
        assumptions=(_LEARNER, _NO_HINT, "Phi is fixed before the target"),
    )


def targets_per_random_learner(
    *, bound: Callable[[Fraction], int], succeeds: Callable[[Fraction, Fraction], bool]
) -> Evidence:
    """Decide, for every delta of small denominator: how many targets one relation reaches with chance 1 - delta.

    The output's law on the targets is fixed by B0. Chances may be taken as multiples of 1/q if 1 - delta is one:
    rounding them down keeps every success. So integer partitions of q stand for all laws.
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
        facts=(
            f"every delta in [0, 1) with denominator up to {max(denominators)}, every law of the output: the most "
            "targets is floor(1/(1 - delta)), attained by POLA that starts its unseen label at random",
            "argument for every delta: reaching different targets are disjoint events, so k(1 - delta) <= 1; k equal "
            "chances attain it; at delta = 0 this is pola-1a",
        ),
        assumptions=("the learner's randomness, with that of its sample, depends on B0 alone", "Phi fixed before"),
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
        assumptions=(_LEARNER, _NO_HINT, "error is the largest |learned - A| over entries", "||B0|| <= M, M > 0"),
    )


def dimension_over_all_blocks(*, by: Mapping[str, Learner], dimension: Callable[[int], int]) -> Evidence:
    """Decide, exactly and relation by relation: the patterns learned form a flat of at most the stated dimension.

    The learner is read as an affine map A -> K A + c; what it reaches are the fixed points of that map.
    """
    facts = []
    for training_scale in TRAINING_SCALES:
        found, stated = Counter[int](), dimension(training_scale)
        for (name, learner), labels in product(by.items(), kinds(cell_count(SCALE) - 1)):
            flat = _what_is_learned(learner, (0, *labels), training_scale)
            where = f"N0 = {training_scale}, {name}, labels {(0, *labels)}"
            if flat.stretch > 1:
                raise Refuted(f"{where}: a change of B by 1 changes what is learned by {flat.stretch}")
            if flat.image > stated:
                raise Refuted(f"{where}: what is learned fills dimension {flat.image}, more than {stated}")
            if flat.reached is not None:
                found[flat.reached] += 1
        if max(found) != stated:
            raise Refuted(f"N0 = {training_scale}: no relation reaches dimension {stated}, at most {max(found)}")
        facts.append(f"N0 = {training_scale}: dimension {dict(sorted(found.items()))} (dimension: number of cases)")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            *facts,
            f"N = {SCALE}, all relations, exact ranks, {', '.join(by)}: each an affine map of B that stretches the "
            "largest entry by no more than 1",
            "argument for every countable Phi and learner Lipschitz in B: F_M meets the graph of B -> learned(B), a "
            "Lipschitz image of R^d_N0, once for each phi; a countable union has the supremum of the dimensions",
            "Lipschitz is needed: at N0 = 1, N = 2 a learner whose two free entries run along a space-filling curve as "
            "B does reaches a set that projects onto a square, of dimension at least 2 > d_N0 = 1",
        ),
        assumptions=("learner affine, or at least Lipschitz, in B for each phi", _NO_HINT, "Phi fixed before, M > 0"),
    )


def low_complexity_is_thin(
    *, complexity: Callable[[NDArray[Any]], int], dimension: Callable[[int, int], int]
) -> Evidence:
    """Decide, kind by kind of pattern: the patterns of complexity at most r have the stated dimension."""
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
                found = f"of dimension {max(within)}" if within else "none"
                raise Refuted(
                    f"N = {size}, r = {r}: patterns of complexity <= r are {found}, not {dimension(r, cells)}"
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
    return Evidence(
        strength=Strength.BOUNDED,
        facts=(
            f"N <= {SCALE}: every kind of pattern, with entries in [-1/7, 1/7], and every r up to d_N + 1",
            f"N <= {largest}: S(d_N + 1, k + 1) linear spaces of dimension k, for every k <= d_N",
            "the set is a finite union of linear spaces, cut by the cube, so M > 0 does not matter; r = 0 leaves the "
            "zero pattern, of dimension 0; r >= d_N leaves all",
        ),
        assumptions=("M > 0",),
    )


def targets_of_the_same_complexity(*, number: Callable[[int, int], int], half_side: Callable[[int], int]) -> Evidence:
    """Decide, kind by kind of block: how many patterns around it have no more complexity than it has."""
    for training_scale, size in ((1, 2), (1, 3), (2, 3)):
        block = np.triu_indices(training_scale)
        free = cell_count(size) - cell_count(training_scale)
        beyond = [at for at in zip(*np.triu_indices(size), strict=True) if at[1] >= training_scale]
        for kind in kinds(cell_count(training_scale)):
            values = max(kind)
            pattern = np.zeros((size, size), dtype=np.int64)
            pattern[block] = kind
            found = 0
            for entries in product(range(values + 2), repeat=free):
                pattern[tuple(np.transpose(beyond))] = entries
                found += pattern.max() <= half_side(values) and lrc(pattern) == lrc(pattern, training_scale)
            if found != number(values, free):
                where = f"N0 = {training_scale}, N = {size}, B0 = {list(kind)}, M = {half_side(values)}"
                raise Refuted(f"{where}: {found} targets keep LRC = {values}, not {number(values, free)}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"blocks of every kind with N <= {SCALE}, entries beyond from the block's values, zero and one value more",
            "any other value would raise LRC like that one, so no real target is left out",
            "B0 = 0 leaves the zero pattern alone; with M < ||B0|| there is no target at all",
        ),
        assumptions=("||B0|| <= M",),
    )


def real_labels_after_the_target(
    *, labels: Callable[[Cells], Cells], works: Callable[[Cells, Cells], bool]
) -> Evidence:
    """Decide, over an alphabet with an irrational number: A = slope * phi, the slope learned, is right where stated."""
    zero, facts = _FIELD(0), []
    alphabet = (zero, _FIELD(1), _FIELD.from_sympy(sp.sqrt(2)))
    for training_scale in TRAINING_SCALES:
        shown = _shown(training_scale)
        reached: Counter[Cells] = Counter()
        for target in product(alphabet, repeat=cell_count(SCALE)):
            phi = labels(target)
            seen = [(x, y) for x, y, show in zip(phi, target, shown, strict=True) if show]
            weight = sum((x * x for x, _ in seen), zero)
            slope = sum((x * y for x, y in seen), zero) / weight if weight else zero
            block = tuple(y for _, y in seen)
            right = all(slope * x == y for x, y in zip(phi, target, strict=True))
            if right != works(block, target):
                shape, marks = ([str(_real(entry)) for entry in cells] for cells in (target, phi))
                raise Refuted(
                    f"N0 = {training_scale}, A = [{', '.join(shape)}], phi = [{', '.join(marks)}]: the slope learned "
                    f"is {_real(slope)}, which {'generalizes' if right else 'does not generalize'}"
                )
            reached[block] += right
        most = max(reached.values())
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}, entries in {{0, 1, sqrt 2}}: the one rule phi := A reaches {most} "
            f"targets with each block that is not zero, where one relation fixed before reaches 1; of the "
            f"{most} with the block zero it reaches {reached[(zero,) * int(shown.sum())]}"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            *facts,
            "argument for every N and A: the slope is (sum A^2)/(sum A^2) = 1 over T_N0 unless B0 = 0, where it stays "
            "0 and only A = 0 is right; so all of F_M but a null set is reached, and all of F_{M,B0} if B0 != 0",
            "neither half alone does it: countably many real-valued phi fixed before the target fall under pola-1a, "
            "and labels chosen after it from a countable set reach a countable part of each F_{M,B0}",
            "integer labels with a slope do reach, if B0 != 0, the targets whose entries are whole multiples of one "
            "number: a dense but countable part, so an irrational ratio is what refutes them",
        ),
        assumptions=("A_ij = s phi(i,j) with one slope s, least squares from s = 0",),
    )


_FIELD = sp.QQ.algebraic_field(sp.sqrt(2))
_RADII = tuple(map(Fraction, ("1/10", "1/2", "1", "2")))
_VOLUME_CASES: tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...] = (
    (1, 2, ((0,), (1,))),
    (1, 3, ((0,), (1,))),
    (2, 3, ((0, 0, 0), (1, 1, 1), (1, 0, 1), (1, 2, 1), (1, 2, 3))),
)


def _shown(training_scale: int) -> NDArray[np.bool_]:
    """Which cells of scale N training shows."""
    return np.asarray(np.triu_indices(SCALE)[1] < training_scale)


def _reached_by_every_relation(training_scale: int) -> NDArray[np.bool_]:
    """Which patterns each relation learns: bool [relations, patterns]."""
    return _reached(pola.learned_matrix, training_scale)


@cache
def _reached(learn: Callable[..., Pattern], training_scale: int) -> NDArray[np.bool_]:
    patterns = every_pattern(SCALE, VALUES)
    learned = (learn(patterns, labels, training_scale=training_scale) for labels in every_relation(SCALE))
    return np.array([_right(found, patterns) for found in learned])


def _reached_by_level_sets(training_scale: int) -> NDArray[np.bool_]:
    """Which patterns are learned under the relation of their own level sets, one rule: bool [1, patterns]."""
    right = [
        _right(pola.learned_matrix(target, level_sets(target).labels(SCALE), training_scale=training_scale), target)
        for target in every_pattern(SCALE, VALUES)
    ]
    return np.array([right])


def _right(learned: Pattern, patterns: Pattern) -> NDArray[np.bool_]:
    return np.asarray((np.abs(learned - patterns) < TOLERANCE).all(axis=(-2, -1)))


def _chances_from_random_start(starts: int) -> list[Fraction]:
    """The chance of each target that POLA reaches from B0 = 1 if its unseen label starts at 0, 1, ... alike."""
    labels, shown = np.array([[0, 1], [0, 1]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    ends = Counter(
        tuple(pola.learned_matrix(shown, labels, training_scale=1, start=(0.0, start)).ravel())
        for start in range(starts)
    )
    return [Fraction(times, starts) for times in ends.values()]


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
        cells = _rational(pola.learned_matrix(target, labels, training_scale=training_scale)[keys, queries])
        learned.append((tuple(cells[shown]), tuple(cells[~shown])))
    return learned


def _rational(values: NDArray[np.float64]) -> NDArray[Any]:
    """The fractions of small denominator that the floats stand for."""
    exact = np.array([_fraction(value) for value in values.ravel().tolist()], dtype=object)
    return exact.reshape(values.shape)


@cache
def _fraction(value: float) -> Fraction:
    exact = Fraction(value).limit_denominator(1000)
    if abs(float(exact) - value) > TOLERANCE:
        raise ArithmeticError(f"{value} is no fraction of small denominator: exact arithmetic does not apply")
    return exact


def _distance(one: Iterable[Any], other: Iterable[Any]) -> Any:
    return max(abs(x - y) for x, y in zip(one, other, strict=True))


def _apart_and_inside(centres: Sequence[Cells], eps: Fraction, side: Fraction) -> bool:
    pairs = ((one, other) for at, one in enumerate(centres) for other in centres[:at])
    inside = all(abs(entry) + eps <= side for centre in centres for entry in centre)
    return inside and all(_distance(one, other) >= 2 * eps for one, other in pairs)


def _sampled_volume(bound: Volume) -> str:
    """Points drawn in the cube, the share of them near what is learned, and its exact binomial limits."""
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
    low = float(beta.ppf(doubt / 2, hits, points - hits + 1))
    high = float(beta.ppf(1 - doubt / 2, hits + 1, points - hits))
    stated = bound(len(centres), eps, side, centres.shape[1])
    if not low <= stated <= high:
        raise Refuted(f"{hits} of {points} points near {len(centres)} learned patterns: {low} to {high}, not {stated}")
    return (
        f"{len(centres)} boxes apart and inside, D = 3, eps = {eps}, M = {side}: {hits} of {points} random points lie "
        f"in them, a share in [{low:.5f}, {high:.5f}] but for a chance of {doubt:g}; the bound is {float(stated):.5f}"
    )


@dataclass(frozen=True, kw_only=True)
class _Flat:
    """A learner under one relation, A -> K A + c: the rank of K, the dimension of its fixed points, its stretch."""

    image: int
    reached: int | None  # None: no pattern is learned
    stretch: Fraction  # the most that what is learned changes, in the largest entry, when the target changes by 1


def _what_is_learned(learner: Learner, labels: tuple[int, ...], training_scale: int) -> _Flat:
    cells, upper = cell_count(SCALE), np.triu_indices(SCALE)
    phi = np.zeros((SCALE, SCALE), dtype=np.int64)
    phi[upper] = labels
    # The unit patterns, zero, and one more to see that the learner is affine.
    targets = np.zeros((cells + 2, SCALE, SCALE))
    targets[:, *upper] = [*np.eye(cells), np.zeros(cells), np.arange(1, cells + 1) ** 2]
    learned = learner(targets, phi, training_scale)[:, *upper]
    offset = learned[cells]
    linear = (learned[:cells] - offset).T
    if np.abs(linear @ targets[cells + 1][upper] + offset - learned[cells + 1]).max() > TOLERANCE:
        raise ArithmeticError(f"the learner is not affine under labels {labels}, so a matrix does not describe it")
    return _flat(tuple(map(tuple, linear.tolist())), tuple(offset.tolist()))


@cache
def _flat(linear: tuple[tuple[float, ...], ...], offset: tuple[float, ...]) -> _Flat:
    cells = len(offset)
    matrix, moved = _rational(np.array(linear)), _rational(np.array(offset))
    defect = matrix - np.eye(cells, dtype=np.int64).astype(object)
    constraints = rank(defect)
    return _Flat(
        image=rank(matrix),
        reached=cells - constraints if rank(np.column_stack([defect, moved])) == constraints else None,
        stretch=max(sum(map(abs, row)) for row in matrix),
    )


def _least_squares(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    return pola.learned_matrix(target, labels, training_scale=training_scale)


def _descent_from_one(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    return pola.learned_matrix(target, labels, training_scale=training_scale, start=1.0)


def _short_descent(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.spread(learners.gradient_descent(problem, rate=1 / 8, steps=3), labels)


def _ridge(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.spread(learners.ridge(problem, penalty=1.0), labels)


def _sees_everything(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    return pola.learned_matrix(target, labels, training_scale=SCALE)


_AFFINE: Mapping[str, Learner] = {
    "least squares": _least_squares,
    "gradient descent from 1": _descent_from_one,
    "three steps of gradient descent": _short_descent,
    "ridge": _ridge,
}


@cache
def _real(element: Any) -> sp.Expr:
    return _FIELD.to_sympy(element)


def _the_target(target: Cells) -> Cells:
    return target


def _all_ones(target: Cells) -> Cells:
    return tuple(_FIELD(1) for _ in target)


def _level_numbers(target: Cells) -> Cells:
    numbers = {_FIELD(0): 0}
    return tuple(_FIELD(numbers.setdefault(entry, len(numbers))) for entry in target)


def _whole_multiples(target: Cells) -> Cells:
    """Integers in the ratio of the entries, where they have one; otherwise the entries rounded."""
    unit = next((entry for entry in target if entry), _FIELD(1))
    ratios = [_real(entry / unit) for entry in target]
    if all(ratio.is_Rational for ratio in ratios):
        scale = lcm(*(int(ratio.q) for ratio in ratios))
        return tuple(_FIELD(int(ratio * scale)) for ratio in ratios)
    return tuple(_FIELD(round(_real(entry))) for entry in target)


def _zero_as_a_value(pattern: NDArray[Any]) -> int:
    return len(set(pattern[np.triu_indices(len(pattern))].tolist()))


def _one_scale_earlier(pattern: NDArray[Any]) -> int:
    return lrc(pattern, max(1, len(pattern) - 1))


def _source(place: str) -> Source:
    return Source(
        paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization",
        arxiv="2510.04130",
        place=f"Theorem 1, in our formalisation ({place}); the printed statement could not be read in full",
    )


CLAIMS = (
    Claim(
        id="pola-1a",
        source=_source("1a"),
        statement="Of the targets with a given leading block, each relation fixed beforehand lets position-only linear "
        "attention generalize to at most one: a countable family reaches a set of Hausdorff dimension 0 and relative "
        "volume 0 in a cube of dimension D.",
        latex=r"|F_{M,B_0}^{N_0,N}| \le |\Phi|,\quad \dim_H F_{M,B_0}^{N_0,N} = 0,\quad \dim_H F_{M,B_0} = D",
        label="F",
        check=one_target_per_relation,
        holds={"reach": _reached_by_every_relation, "bound": lambda family: family, "equal": False},
        falsifiers={
            "training shows one scale more": {
                "reach": lambda training_scale: _reached_by_every_relation(training_scale + 1)
            },
            "relation chosen after the target": {"reach": _reached_by_level_sets},
            "one target fewer than relations": {"bound": lambda family: family - 1},
            "every relation reaches a target of its own": {"equal": True},
        },
    ),
    Claim(
        id="pola-1b",
        source=_source("1b"),
        statement="A randomised learner that is right with chance at least 1 - delta reaches at most "
        "floor(1/(1 - delta)) targets for each relation and block, and that many can be reached.",
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
        source=_source("1c"),
        statement="Within tolerance eps in the largest entry, a family of relations reaches at most the share "
        "|Phi| (eps/M)^D of the targets with a given leading block; boxes that lie apart and inside attain it.",
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
    Claim(
        id="pola-1d",
        source=_source("1d"),
        statement="Over all leading blocks together, a countable family of relations with a learner Lipschitz in the "
        "block reaches a set of dimension at most d_N0, below the d_N of all targets; affine learners (gradient "
        "descent, ridge, least squares) are so, and least squares attains it.",
        latex=r"\dim_H F_M^{N_0,N} \le d_{N_0} < d_N = \dim_H F_M",
        label="F",
        check=dimension_over_all_blocks,
        holds={"by": _AFFINE, "dimension": cell_count},
        falsifiers={
            "training shows all scales": {"by": {"least squares at scale N": _sees_everything}},
            "one dimension fewer": {"dimension": lambda training_scale: cell_count(training_scale) - 1},
            "all dimensions": {"dimension": lambda training_scale: cell_count(SCALE)},
            "ridge alone attains it": {"by": {"ridge": _ridge}},
        },
    ),
    Claim(
        id="pola-1e",
        source=_source("1e"),
        statement="The patterns of scale N with LRC at most r and entries in [-M, M], M > 0, have dimension "
        "min(r, d_N).",
        latex=r"\dim_H\{A \in F_M: \mathrm{LRC}_N(A) \le r\} = \min(r, d_N)",
        label="F",
        check=low_complexity_is_thin,
        holds={"complexity": lrc, "dimension": min},
        falsifiers={
            "zero a value of its own": {"complexity": _zero_as_a_value},
            "LRC one scale earlier": {"complexity": _one_scale_earlier},
            "one dimension more": {"dimension": lambda r, cells: min(r + 1, cells)},
            "not capped by d_N": {"dimension": lambda r, cells: r},
        },
    ),
    Claim(
        id="pola-1e-count",
        source=_source("1e"),
        statement="Exactly (r + 1)^D targets with the leading block B0, r = LRC_N0(B0) and ||B0|| <= M, keep the "
        "complexity r at scale N.",
        latex=r"|\{A \in F_{M,B_0}: \mathrm{LRC}_N(A) = \mathrm{LRC}_{N_0}(B_0) = r\}| = (r+1)^D",
        label="F",
        check=targets_of_the_same_complexity,
        holds={"number": lambda r, free: (r + 1) ** free, "half_side": lambda largest: largest},
        falsifiers={
            "zero forgotten": {"number": lambda r, free: r**free},
            "one value more": {"number": lambda r, free: (r + 2) ** free},
            "one free entry more": {"number": lambda r, free: (r + 1) ** (free + 1)},
            "M below the block's largest entry": {"half_side": lambda largest: max(0, largest - 1)},
        },
    ),
    Claim(
        id="pola-1-boundary",
        source=_source("its boundary"),
        statement="If the encoding may take real values and be chosen after the target, Theorem 1 is false: phi := A "
        "with one learned slope generalizes from N0 to N on every A whose leading block is not zero, and on A = 0.",
        latex=r"\varphi := A:\ (N_0,N)\text{-LG on }A \iff A_{[N_0],[N_0]} \ne 0 \text{ or } A = 0",
        label="F",
        check=real_labels_after_the_target,
        holds={"labels": _the_target, "works": lambda block, target: any(block) or not any(target)},
        falsifiers={
            "integer labels in the ratio of the entries": {"labels": _whole_multiples},
            "level sets as integer labels": {"labels": _level_numbers},
            "real labels fixed before the target": {"labels": _all_ones},
            "a zero block too": {"works": lambda block, target: True},
            "the zero target not": {"works": lambda block, target: any(block)},
        },
    ),
)
