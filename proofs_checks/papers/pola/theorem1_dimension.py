"""Theorem 1, formalised: dimensions over all blocks together (1d), of low complexity (1e), and where it fails.

It fails for an encoding with real values that is chosen after the target.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.functions.combinatorial.numbers import stirling

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    cells_in_training,
    small_fractions,
)
from lengthgen.theory.enumeration import cell_count, every_relation, kinds
from lengthgen.theory.learning import learners, pola
from lengthgen.theory.lrc import lrc
from lengthgen.theory.rational import rank
from lengthgen.theory.relation import Labels, upper_pairs

Pattern = NDArray[np.float64]
Learner = Callable[[Pattern, Labels, int], Pattern]

Cells = tuple[Any, ...]

_FIELD = sp.QQ.algebraic_field(sp.sqrt(2))


def dimension_over_all_blocks(*, by: Mapping[str, Learner], dimension: Callable[[int], int]) -> Evidence:
    """Decide exactly, for each relation, that the learned patterns form a flat of at most the stated dimension.

    The learner is read as an affine map A -> K A + c; the patterns that it learns are the fixed points of that map.
    """
    facts = []
    for training_scale in TRAINING_SCALES:
        cases_by_dimension, stated = Counter[int](), dimension(training_scale)
        for (name, learner), labels in product(by.items(), every_relation(SCALE)):
            flat = _as_affine_map(learner, labels, training_scale)
            where = f"N0 = {training_scale}, {name}, labels {labels[upper_pairs(SCALE)].tolist()}"
            if flat.stretch > 1:
                raise Refuted(f"{where}: a change of B by 1 changes what is learned by {flat.stretch}")
            if flat.image > stated:
                raise Refuted(f"{where}: what is learned fills dimension {flat.image}, more than {stated}")
            if flat.reached is not None:
                cases_by_dimension[flat.reached] += 1
        if max(cases_by_dimension) != stated:
            raise Refuted(
                f"N0 = {training_scale}: no relation reaches dimension {stated}, at most {max(cases_by_dimension)}"
            )
        facts.append(
            f"N0 = {training_scale}: dimension {dict(sorted(cases_by_dimension.items()))} (dimension: number of cases)"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            *facts,
            f"N = {SCALE}, all relations, exact ranks, {', '.join(by)}: each an affine map of B that stretches the "
            "largest entry by no more than 1",
            "argument for every countable Phi and learner Lipschitz in B: F_M meets the graph of B -> learned(B), a "
            "Lipschitz image of R^d_N0, once for each phi; a countable union has the supremum of the dimensions",
            "Lipschitz is needed: at N0 = 1, N = 2 a learner whose two free entries run along a space-filling curve as "
            "B does reaches a set that projects onto a square, of dimension at least 2 > d_N0 = 1",
        ),
        assumptions=(
            "learner affine, or at least Lipschitz, in B for each phi",
            "no scale hint",
            "Phi fixed before, M > 0",
        ),
    )


def low_complexity_is_thin(
    *, complexity: Callable[[NDArray[Any]], int], dimension: Callable[[int, int], int]
) -> Evidence:
    """Decide for each kind of pattern that those of complexity at most r have the stated dimension."""
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
    return Evidence(
        strength=Strength.BOUNDED,
        reach="N <= 3",
        facts=(
            f"N <= {SCALE}: every kind of pattern, with entries in [-1/7, 1/7], and every r up to d_N + 1",
            f"N <= {largest}: S(d_N + 1, k + 1) linear spaces of dimension k, for every k <= d_N",
            "the set is a finite union of linear spaces, cut by the cube, so M > 0 does not matter; r = 0 leaves the "
            "zero pattern, of dimension 0; r >= d_N leaves all",
        ),
        assumptions=("M > 0",),
    )


def targets_of_the_same_complexity(*, number: Callable[[int, int], int], half_side: Callable[[int], int]) -> Evidence:
    """Decide for each kind of block how many patterns around it have the same complexity as the block."""
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
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N <= 3",
        facts=(
            f"blocks of every kind with N <= {SCALE}, entries beyond from the block's values, zero and one value more",
            "any other value would raise LRC like that one, so no real target is left out",
            "B0 = 0 leaves the zero pattern alone; with M < ||B0|| there is no target at all",
        ),
        assumptions=("||B0|| <= M",),
    )


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


def _least_squares(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by least squares of least norm."""
    return pola.learned_matrix(target, labels, training_scale=training_scale)


def _descent_from_one(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by gradient descent from 1."""
    return pola.learned_matrix(target, labels, training_scale=training_scale, start=1.0)


def _short_descent(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by three steps of gradient descent."""
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.pola_matrix(learners.gradient_descent(problem, rate=1 / 8, steps=3), labels)


def _ridge(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by ridge regression."""
    problem = pola.population(target, labels, training_scale=training_scale)
    return pola.pola_matrix(learners.ridge(problem, penalty=1.0), labels)


def _sees_everything(target: Pattern, labels: Labels, training_scale: int) -> Pattern:
    """Pattern learned by least squares if training shows all scales."""
    return pola.learned_matrix(target, labels, training_scale=SCALE)


_AFFINE: Mapping[str, Learner] = {
    "least squares": _least_squares,
    "gradient descent from 1": _descent_from_one,
    "three steps of gradient descent": _short_descent,
    "ridge": _ridge,
}


def _zero_as_a_value(pattern: NDArray[Any]) -> int:
    """Number of distinct entries, zero included."""
    return len(set(pattern[np.triu_indices(len(pattern))].tolist()))


def _one_scale_earlier(pattern: NDArray[Any]) -> int:
    """LRC at the scale before the last."""
    return lrc(pattern, max(1, len(pattern) - 1))


def real_labels_after_the_target(
    *, labels: Callable[[Cells], Cells], works: Callable[[Cells, Cells], bool]
) -> Evidence:
    """Decide which targets the slope learned for A = slope * phi gets right, for entries in {0, 1, sqrt 2}.

    `labels` gives phi for a target; `works` takes leading block and target and says if the target is learned.
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
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N = 3",
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


@cache
def _as_expression(element: Any) -> sp.Expr:
    """Element of the number field as an expression."""
    return _FIELD.to_sympy(element)


def _the_target(target: Cells) -> Cells:
    """Labels equal to the target."""
    return target


def _all_ones(target: Cells) -> Cells:
    """Labels that are all 1."""
    return tuple(_FIELD(1) for _ in target)


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
    return tuple(map(_rounded, target))


@cache
def _rounded(entry: Any) -> Any:
    """Entry rounded to an integer; few different entries occur."""
    return _FIELD(round(_as_expression(entry)))


CLAIMS = (
    Claim(
        id="pola-1d",
        source=formalised("Theorem 1", "1d"),
        statement="Over all leading blocks together, countably many relations with a learner Lipschitz in the block "
        "reach dimension at most d_N0, below d_N. Gradient descent, ridge and least squares are affine in "
        "the block; least squares attains the bound. "
        "Every relation is checked for N = 3; a general argument covers the rest.",
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
        source=formalised("Theorem 1", "1e"),
        statement="The patterns of scale N with LRC at most r and entries in [-M, M], M > 0, have dimension "
        "min(r, d_N). "
        "Every kind of pattern is checked for N <= 3.",
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
        source=formalised("Theorem 1", "1e"),
        statement="Exactly (r + 1)^D targets with the leading block B0, r = LRC_N0(B0) and ||B0|| <= M, keep the "
        "complexity r at scale N. "
        "Every kind of block is checked for N <= 3.",
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
        source=formalised("Theorem 1", "its boundary"),
        statement="If the encoding may take real values and be chosen after the target, Theorem 1 is false: phi := "
        "A with one learned slope generalizes on every A whose leading block is not zero, and on A = 0. "
        "Targets are checked for N = 3; a general argument covers the rest.",
        latex=r"\varphi := A:\ (N_0,N)\text{-LG on }A \iff A_{[N_0],[N_0]} \ne 0 \text{ or } A = 0",
        label="F",
        check=real_labels_after_the_target,
        holds={"labels": _the_target, "works": lambda block, target: any(block) or not any(target)},
        falsifiers={
            "integer labels in the ratio of the entries": {"labels": _integer_multiples},
            "level sets as integer labels": {"labels": _level_numbers},
            "real labels fixed before the target": {"labels": _all_ones},
            "a zero block too": {"works": lambda block, target: True},
            "the zero target not": {"works": lambda block, target: any(block)},
        },
    ),
)
