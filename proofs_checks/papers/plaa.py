"""Attention with advice (PLAA) and its min-degree bias (arXiv 2410.08898).

Only the paper's title and abstract could be read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import relation
from lengthgen.theory.enumeration import every_pattern
from lengthgen.theory.learning import plaa
from lengthgen.theory.learning.plaa import PositionBasis, position_basis, relation_basis
from lengthgen.theory.rational import exact_matrix, fractions, null_space, rank

SOURCE = Source(
    paper="Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization",
    arxiv="2410.08898",
)

NamedBasis = tuple[str, PositionBasis]
Numbers = NDArray[Any]
Learner = Callable[[PositionBasis, Numbers, int], Numbers]

LARGEST_SIZE = 5
GRID_SIZE = 3
GRID_VALUES = (0, 1, 2)


def separated_bases(size: int) -> tuple[NamedBasis, ...]:
    """Return encodings for which the training set keeps functions of different degree apart at every scale."""
    bands = [np.eye(size, k=offset, dtype=np.int64) for offset in range(size)]
    relations = (relation.absolute(), relation.relative(), relation.clipped_relative(1), relation.constant())
    return (
        *((law.name, relation_basis(law.labels(size))) for law in relations),
        ("nested windows", position_basis(np.cumsum(bands, axis=0))),
        ("a band and the prefix sum", position_basis([bands[0], np.triu(np.ones((size, size), dtype=np.int64))])),
    )


def mixed_bases(size: int) -> tuple[NamedBasis, ...]:
    """Return encodings for which functions of different degree become dependent on some training set."""
    first, second = (np.diag(row) for row in np.eye(size, dtype=np.int64)[:2])
    return (("two cells and the diagonal", position_basis([first, second, np.eye(size, dtype=np.int64)])),)


def small_bases() -> Iterator[PositionBasis]:
    """Yield all bases of 0/1 diagonals at N = 3 and of one or two matrices at N = 2, and some encodings at N = 4."""
    diagonals = [np.diag(entries) for entries in product((0, 1), repeat=3) if any(entries)]
    squares = [np.array([[a, b], [0, c]]) for a, b, c in product((0, 1, 2), repeat=3) if a or b or c]
    for matrices, most in ((diagonals, 3), (squares, 2)):
        for size in range(1, most + 1):
            for chosen in combinations(matrices, size):
                if rank([matrix.ravel() for matrix in chosen]) == size:
                    yield position_basis(chosen)
    for _, basis in (*separated_bases(4), *mixed_bases(4)):
        yield basis
    bands = [np.eye(4, k=offset, dtype=np.int64) for offset in range(4)]
    yield position_basis([bands[0], bands[2], bands[0] + bands[2] + bands[3]])


def _require_columns_seen(
    size: int, inputs: Sequence[tuple[int, ...]], functions: Sequence[tuple[int, int]], values: Numbers
) -> None:
    """Require for inputs with n(x) <= N0: the first N0 columns give independent functions, all others vanish."""
    of_column = np.array([query for _, query in functions])
    for scale in range(1, size + 1):
        met = [all(sign == 1 for sign in signs[scale:]) for signs in inputs]
        seen, beyond = values[of_column <= scale][:, met], values[of_column > scale][:, met]
        refute(beyond.any(), f"N = {size}: a column beyond N0 = {scale} does not vanish on the inputs with n(x) <= N0")
        if (independent := rank(seen)) != len(seen):
            raise Refuted(
                f"N = {size}, N0 = {scale}: {len(seen)} cells give {independent} independent functions, so two "
                "matrices have one f_A on the training set"
            )


def _learned(basis: PositionBasis, targets: Numbers, scale: int) -> Numbers:
    """Coefficients at which gradient descent from 0 ends."""
    return plaa.learned_coefficients(basis, targets, training_scale=scale)


def _interpolated(basis: PositionBasis, targets: Numbers, scale: int) -> Numbers:
    """Coefficients of the min-degree interpolator."""
    return plaa.min_degree_interpolator(basis, targets, training_scale=scale)


def _seen_independent(basis: PositionBasis, scale: int) -> bool:
    """True if the U_k are independent in their seen, non-zero part."""
    seen = basis.seen(scale)
    return rank(seen) == sum(any(column) for column in seen.T)


def _orthogonal(basis: PositionBasis, scale: int) -> bool:
    """True if the U_k are orthogonal to each other."""
    flat = basis.matrices.reshape(len(basis.matrices), -1)
    return bool((np.triu(flat @ flat.T, 1) == 0).all())


def _in_span(basis: PositionBasis, targets: Numbers) -> NDArray[np.bool_]:
    """True for each target that is a combination of the U_k: it is orthogonal to everything orthogonal to them."""
    cells = np.triu_indices(basis.size)
    normals = null_space(exact_matrix(basis.matrices[:, *cells]))
    return np.asarray((fractions(exact_matrix(targets[:, *cells]) * normals) == 0).all(axis=1))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "plaa-1",
    "PLAA, definition; its Fourier expansion is ours",
    r"f_A(x)=x^\top A e_{n(x)},\quad \deg x_i\mathbf 1[n(x)=j]=N-j+1+[i<j]",
    strength=Strength.BOUNDED,
    reach=f"N <= {LARGEST_SIZE}",
    falsifiers={
        "advice is the first -1": {"advice": lambda signs: signs.index(-1) + 1},
        "the all-ones input is advised N": {"on_all_ones": lambda size: size},
        "full matrices": {"cells": lambda size: [(i, j) for j in range(1, size + 1) for i in range(1, size + 1)]},
        "one degree for the whole column": {"degree": lambda size, key, query: size - query + 2},
    },
)
def function_class(
    advice: Callable[[Sequence[int]], int] = lambda signs: max(at for at, sign in enumerate(signs, 1) if sign == -1),
    on_all_ones: Callable[[int], int] = lambda size: 0,
    cells: Callable[[int], list[tuple[int, int]]] = lambda size: [
        (i, j) for j in range(1, size + 1) for i in range(1, j + 1)
    ],
    degree: Callable[[int, int, int], int] = lambda size, key, query: size - query + 1 + (key < query),
) -> Facts:
    """The functions x_i 1[n(x) = j], i <= j, of PLAA are independent and 0 on the all-ones input. Inputs with n(x) <=
    N0 show only the first N0 columns of A. Their degree is N - j + 1 + [i < j]. Decided for N <= 5.
    """
    for size in range(1, LARGEST_SIZE + 1):
        inputs = [tuple(map(int, signs)) for signs in product((1, -1), repeat=size)]
        functions = cells(size)
        advised = [advice(signs) if -1 in signs else on_all_ones(size) for signs in inputs]
        values = np.array(
            [
                [signs[key - 1] * (last == query) for signs, last in zip(inputs, advised, strict=True)]
                for key, query in functions
            ]
        )
        for (key, query), row in zip(functions, values, strict=True):
            if row[0] != 0:
                raise Refuted(f"N = {size}: x_{key} 1[n(x) = {query}] is {row[0]} on the all-ones input")
        _require_columns_seen(size, inputs, functions, values)
        units = np.zeros((len(functions), size, size), dtype=np.int64)
        for unit, (key, query) in zip(units, functions, strict=True):
            unit[key - 1, query - 1] = 1
        computed = plaa.evaluate(units, np.array(inputs))
        if (computed != values).any():
            at, point = np.argwhere(computed != values)[0]
            raise Refuted(
                f"N = {size}: f of E_{functions[at]} at {inputs[point]} is {computed[at, point]}, not "
                f"{values[at, point]}"
            )
        sets = [[at for at, sign in enumerate(signs) if sign == -1] for signs in inputs]
        characters = np.array([[np.prod([signs[at] for at in members]) for members in sets] for signs in inputs])
        spectrum = values @ characters.astype(np.int64)
        for (key, query), unit, row in zip(functions, units, spectrum, strict=True):
            table = plaa.fourier(unit)
            for members, total in zip(sets, row, strict=True):
                stated, weight = table[(*members[:2], size, size)[:2]], Fraction(int(total), 2**size)
                refute(
                    stated != weight,
                    f"N = {size}: E_{key},{query} has coefficient {weight} at the set "
                    f"{[member + 1 for member in members]}, not {stated}",
                )
            largest = max(len(members) for members, weight in zip(sets, row, strict=True) if weight)
            least = degree(size, key, query)
            refute(largest != least, f"N = {size}: x_{key} 1[n(x) = {query}] has degree {largest}, not {least}")
            if plaa.degree(unit) != largest:
                raise Refuted(f"N = {size}: E_{key},{query} has degree {largest}, not what `theory.plaa.degree` says")
    yield (
        f"every N <= {LARGEST_SIZE}, all {2**LARGEST_SIZE} inputs at the largest: zero on the all-ones input, the "
        "N(N+1)/2 functions x_i 1[n(x) = j] independent, those with j <= N0 already on the training set, where the "
        "others vanish"
    )
    yield (
        "their Fourier coefficients and degrees, by the transform over all inputs, are those of `theory.plaa`; a "
        "coefficient depends on the two least members of its set alone"
    )
    yield "f_A is linear in A, so this decides every matrix of these sizes"


@CLAIMS.claim(
    "plaa-2",
    "gradient descent under a generalised RPE; only title and abstract could be read, so the statement that "
    "is corrected and the degree profile are our reading, not the paper's text",
    r"\lim_t p(t)=p_{\text{min-deg}}\ \forall A^*\in\langle U_k\rangle \iff "
    r"\operatorname{rank}S=\sum_d\operatorname{rank}S_d,\quad S=\big(U_k|_{[N_0]}\big)_k",
    strength=Strength.EXHAUSTIVE,
    reach="N <= 4",
    assumptions=(
        "target in the span of the U_k",
        "gradient descent from p = 0 ends at the least-squares solution of least norm (a textbook fact)",
        "degree profile: sums of p_k^2 over the functions of one degree, compared from the largest degree down "
        "(our reading: only the name could be read)",
    ),
    printed={"condition": lambda basis, scale: True},
    falsifiers={
        "independent U_k suffice": {"condition": lambda basis, scale: True},
        "only where the seen U_k are independent": {"condition": _seen_independent},
        "only where the U_k are orthogonal": {"condition": _orthogonal},
        "gradient descent from ones": {
            "learned": lambda basis, targets, scale: np.asarray(
                1 + _learned(basis, targets - basis.matrices.sum(axis=0).astype(object), scale)
            )
        },
    },
)
def descent_is_min_degree(
    condition: Callable[[PositionBasis, int], bool] = lambda basis, scale: plaa.degrees_separate(
        basis, training_scale=scale
    ),
    learned: Learner = _learned,
    interpolator: Learner = _interpolated,
) -> Facts:
    """For independent U_k, gradient descent from 0 ends at the min-degree interpolator of every target in their span if
    and only if the training set keeps functions of different degree apart. Independence alone, our reading of the
    abstract, does not suffice. Decided for the pairs of a basis and N0 that the facts name, with N <= 4.
    """
    count = agreeing = 0
    for basis in small_bases():
        for scale in range(1, basis.size + 1):
            ends, least = learned(basis, basis.matrices, scale), interpolator(basis, basis.matrices, scale)
            differing = [k for k in range(len(ends)) if (ends[k] != least[k]).any()]
            matrices = str([[list(map(str, row)) for row in matrix] for matrix in basis.matrices]).replace("'", "")
            where = f"U = {matrices}, of degrees {basis.degrees}, N0 = {scale}"
            if condition(basis, scale) and differing:
                k = differing[0]
                end, right = (f"({', '.join(map(str, numbers))})" for numbers in (ends[k], least[k]))
                raise Refuted(
                    f"{where}, target U_{k + 1}: descent ends at p = {end}, the min-degree interpolator is p = {right}"
                )
            refute(not condition(basis, scale) and not differing, f"{where}: the two agree all the same")
            count, agreeing = count + 1, agreeing + (not differing)
    yield (
        f"{count} cases of a basis and N0: every independent set of diagonal 0/1 matrices at N = 3, every one or "
        "two independent matrices with entries 0, 1, 2 at N = 2, and eight encodings at N = 4; the two agree on "
        f"all targets of the span in {agreeing} of them, exactly those where the training set keeps degrees apart"
    )
    yield (
        "what is refuted as printed is our reading of the abstract, that independent U_k suffice: this is no error "
        "found in the paper, whose text could not be read"
    )
    yield "both are linear in the target, so the U_k as targets decide the span; all numbers are rational"


@CLAIMS.claim(
    "plaa-3",
    "generalization if and only if the target agrees with the bias",
    r"(N_0,N)\text{-LG on }A \iff A\in\langle U_k\rangle,\ A=A_{\text{min-deg}}(A|_{[N_0]})",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {GRID_SIZE}",
    assumptions=("gradient descent from p = 0, uniform law over the inputs with n(x) <= N0",),
    falsifiers={
        "bases that mix degrees": {"bases": mixed_bases},
        "whatever is in the span": {"bias": lambda basis, targets, scale: np.ones(len(targets), dtype=bool)},
        "whatever vanishes beyond N0": {
            "bias": lambda basis, targets, scale: np.asarray((targets[:, :, scale:] == 0).all(axis=(1, 2)))
        },
    },
)
def generalizes_iff_biased(
    bases: Callable[[int], Iterable[NamedBasis]] = separated_bases,
    bias: Callable[[PositionBasis, Numbers, int], NDArray[np.bool_]] = lambda basis, targets, scale: np.asarray(
        (basis.matrix(_interpolated(basis, targets, scale)) == targets).all(axis=(1, 2))
    ),
) -> Facts:
    """If the training set keeps degrees apart, gradient descent from 0 on inputs with n(x) <= N0 is right on all inputs
    if and only if the target is in the span of the U_k and is its own min-degree interpolator. Decided for N = 3, six
    encodings and all targets with entries 0, 1, 2.
    """
    targets = every_pattern(GRID_SIZE, GRID_VALUES).astype(np.int64).astype(object)
    everything = plaa.inputs_up_to(GRID_SIZE, size=GRID_SIZE)
    expected_values = plaa.evaluate(targets, everything)
    facts = []
    for name, basis in bases(GRID_SIZE):
        in_span = _in_span(basis, targets)
        for scale in range(1, GRID_SIZE):
            learned_values = plaa.evaluate(basis.matrix(_learned(basis, targets, scale)), everything)
            generalizes = (learned_values == expected_values).all(axis=1)
            agrees = in_span.copy()
            agrees[in_span] = bias(basis, targets[in_span], scale)
            if (generalizes != agrees).any():
                at = int((generalizes != agrees).argmax())
                does = "generalizes" if generalizes[at] else "does not generalize"
                raise Refuted(f"{name}, N0 = {scale}, A = {targets[at].tolist()}: {does}, against the bias")
            facts.append(f"{name}, N0 = {scale}: {int(generalizes.sum())} of {len(targets)} targets generalize")
    yield f"N = {GRID_SIZE}, entries {GRID_VALUES}, all {len(everything)} inputs, rational arithmetic"
    yield from facts
