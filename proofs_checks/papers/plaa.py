"""Attention with advice (PLAA), its min-degree bias, and RPE-Square (arXiv 2410.08898).

Only the paper's title and abstract could be read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import relation
from lengthgen.theory.enumeration import every_pattern, every_relation
from lengthgen.theory.learning import anchored, plaa, pola
from lengthgen.theory.learning.plaa import PositionBasis, position_basis, relation_basis
from lengthgen.theory.rational import exact_matrix, fractions, null_space, rank
from lengthgen.theory.relation import Labels

SOURCE = Source(
    paper="Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization",
    arxiv="2410.08898",
)

NamedBasis = tuple[str, PositionBasis]
Numbers = NDArray[Any]
Learner = Callable[[plaa.PositionBasis, Numbers, int], Numbers]
Places = dict[str, tuple[list[sp.Expr], sp.Expr, sp.Expr]]

LARGEST_SIZE = 5
GRID_SIZE = 3
GRID_VALUES = (0, 1, 2)
SIZE = 3
LONGEST_COPY = 6
LOGIT_SCALES = (2.0, 4.0, 8.0, 16.0)
ROUNDING = 1e-12
_ALPHABET = ("^", "+", "=", "$", "0", "1")


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


def matrices_text(basis: PositionBasis) -> str:
    """Text of the matrices in one line."""
    return f"U = {[[[str(entry) for entry in row] for row in matrix] for matrix in basis.matrices]}".replace("'", "")


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


def _characters(inputs: Sequence[tuple[int, ...]]) -> Numbers:
    """Matrix of chi_S(x) with a row per input x; S is the set where the input that names the column is -1."""
    return np.array(
        [
            [int(np.prod([sign for sign, named in zip(signs, names, strict=True) if named == -1])) for names in inputs]
            for signs in inputs
        ]
    )


def _unit(size: int, key: int, query: int) -> Numbers:
    """Matrix with a single 1 in this cell."""
    unit = np.zeros((size, size), dtype=np.int64)
    unit[key - 1, query - 1] = 1
    return unit


def _require_library(
    size: int, inputs: Sequence[tuple[int, ...]], functions: Sequence[tuple[int, int]], values: Numbers
) -> None:
    """Require that `lengthgen.theory.learning.plaa` computes the same function values."""
    computed = plaa.evaluate(np.array([_unit(size, *cell) for cell in functions]), np.array(inputs))
    if (computed != values).any():
        at, point = np.argwhere(computed != values)[0]
        raise Refuted(
            f"N = {size}: f of E_{functions[at]} at {inputs[point]} is {computed[at, point]}, not {values[at, point]}"
        )


def _require_spectrum(size: int, inputs: Sequence[tuple[int, ...]], spectrum: Numbers, key: int, query: int) -> None:
    """Require that `lengthgen.theory.learning.plaa` computes the same Fourier coefficients."""
    table = plaa.fourier(_unit(size, key, query))
    for signs, total in zip(inputs, spectrum, strict=True):
        members = [at for at, sign in enumerate(signs) if sign == -1]
        least = (*members[:2], size, size)[:2]
        if table[least] != Fraction(int(total), 2**size):
            raise Refuted(
                f"N = {size}: E_{key},{query} has coefficient {Fraction(int(total), 2**size)} at the set "
                f"{[member + 1 for member in members]}, not {table[least]}"
            )


def _vector(numbers: Numbers) -> str:
    """Text of a vector."""
    return f"({', '.join(map(str, numbers))})"


def _learned(basis: plaa.PositionBasis, targets: Numbers, scale: int) -> Numbers:
    """Coefficients at which gradient descent from 0 ends."""
    return plaa.learned_coefficients(basis, targets, training_scale=scale)


def _learned_from_ones(basis: plaa.PositionBasis, targets: Numbers, scale: int) -> Numbers:
    """Coefficients at which gradient descent from ones ends."""
    start = np.full(len(basis.matrices), Fraction(1), dtype=object)
    return np.asarray(start + _learned(basis, targets - basis.matrix(start), scale))


def _interpolated(basis: plaa.PositionBasis, targets: Numbers, scale: int) -> Numbers:
    """Coefficients of the min-degree interpolator."""
    return plaa.min_degree_interpolator(basis, targets, training_scale=scale)


def _degrees_separate(basis: plaa.PositionBasis, scale: int) -> bool:
    """True if the training set keeps functions of different degree apart."""
    return plaa.degrees_separate(basis, training_scale=scale)


def _seen_independent(basis: plaa.PositionBasis, scale: int) -> bool:
    """True if the U_k are independent in their seen, non-zero part."""
    seen = basis.seen(scale)
    return rank(seen) == sum(any(column) for column in seen.T)


def _orthogonal(basis: plaa.PositionBasis, scale: int) -> bool:
    """True if the U_k are orthogonal to each other."""
    flat = basis.matrices.reshape(len(basis.matrices), -1)
    return bool((np.triu(flat @ flat.T, 1) == 0).all())


def _in_span(basis: plaa.PositionBasis, targets: Numbers) -> NDArray[np.bool_]:
    """True for each target that is a combination of the U_k: it is orthogonal to everything orthogonal to them."""
    cells = np.triu_indices(basis.size)
    normals = null_space(exact_matrix(basis.matrices[:, *cells]))
    return np.asarray((fractions(exact_matrix(targets[:, *cells]) * normals) == 0).all(axis=1))


def _is_min_degree(basis: plaa.PositionBasis, targets: Numbers, scale: int) -> NDArray[np.bool_]:
    """True for each target that is its own min-degree interpolator."""
    return np.asarray((basis.matrix(_interpolated(basis, targets, scale)) == targets).all(axis=(1, 2)))


def _always(basis: plaa.PositionBasis, targets: Numbers, scale: int) -> NDArray[np.bool_]:
    """True for every target."""
    return np.ones(len(targets), dtype=bool)


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
    """The functions x_i 1[n(x) = j] of PLAA are independent and 0 on the all-ones input. Inputs with n(x) <= N0 show
    only the first N0 columns of A. Their degree is N - j + 1 + [i < j]. Decided for N <= 5.

    Args:
        advice: signs -> n(x), for inputs with a -1.
        on_all_ones: N -> the advice on the all-ones input.
        cells: N -> the pairs (i, j) of the functions.
        degree: (N, i, j) -> degree of the function.
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
        _require_library(size, inputs, functions, values)
        spectrum = values @ _characters(inputs)
        for (key, query), row in zip(functions, spectrum, strict=True):
            _require_spectrum(size, inputs, row, key, query)
            largest = max(signs.count(-1) for signs, weight in zip(inputs, row, strict=True) if weight)
            if largest != degree(size, key, query):
                raise Refuted(
                    f"N = {size}: x_{key} 1[n(x) = {query}] has degree {largest}, not {degree(size, key, query)}"
                )
            if plaa.degree(_unit(size, key, query)) != largest:
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
        "gradient descent from ones": {"learned": _learned_from_ones},
    },
)
def descent_is_min_degree(
    condition: Callable[[plaa.PositionBasis, int], bool] = _degrees_separate,
    learned: Learner = _learned,
    interpolator: Learner = _interpolated,
) -> Facts:
    """For independent U_k, gradient descent from 0 ends at the min-degree interpolator of every target in their span if
    and only if the training set keeps functions of different degree apart. Independence alone, our reading of the
    abstract, does not suffice. Decided for bases of matrices of N <= 4.

    Decide for each basis: gradient descent ends at the min-degree interpolator of all targets iff `condition` holds.

    The targets are all those in the span of the basis.
    """
    count = agreeing = 0
    for basis in small_bases():
        for scale in range(1, basis.size + 1):
            ends, least = learned(basis, basis.matrices, scale), interpolator(basis, basis.matrices, scale)
            differing = [k for k in range(len(ends)) if (ends[k] != least[k]).any()]
            if condition(basis, scale) and differing:
                k = differing[0]
                raise Refuted(
                    f"{matrices_text(basis)}, of degrees {basis.degrees}, N0 = {scale}, target U_{k + 1}: descent ends "
                    f"at p = {_vector(ends[k])}, the min-degree interpolator is p = {_vector(least[k])}"
                )
            if not condition(basis, scale) and not differing:
                raise Refuted(
                    f"{matrices_text(basis)}, of degrees {basis.degrees}, N0 = {scale}: the two agree all the same"
                )
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
        "whatever is in the span": {"bias": _always},
        "whatever vanishes beyond N0": {
            "bias": lambda basis, targets, scale: np.asarray((targets[:, :, scale:] == 0).all(axis=(1, 2)))
        },
    },
)
def generalizes_iff_biased(
    bases: Callable[[int], Iterable[NamedBasis]] = separated_bases,
    bias: Callable[[plaa.PositionBasis, Numbers, int], NDArray[np.bool_]] = _is_min_degree,
) -> Facts:
    """If the training set keeps degrees apart, gradient descent from 0 on inputs with n(x) <= N0 is right on all inputs
    if and only if the target is in the span of the U_k and is its own min-degree interpolator. Decided for N = 3.
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


def _overlapping_basis(labels: Labels) -> plaa.PositionBasis:
    """Basis of the sums of the relation's matrices, whose supports overlap."""
    disjoint = plaa.relation_basis(labels).matrices
    return plaa.position_basis(np.cumsum(disjoint, axis=0))


def _ideal_slots() -> Places:
    """Special positions, query and key of each slot; t counts steps from 0; r, s >= 0 are the digits left to read."""
    t, r, s = sp.symbols("t r s", integer=True, nonnegative=True)
    digit = t + 1
    first_length, second_length = digit + s, r + 1
    places = {"copy: x_(t+1) at step t": ([sp.Integer(1), first_length + 2], first_length + 2 + t, digit + 1)}
    for operand, (first, second) in enumerate(((first_length, second_length), (second_length, first_length))):
        specials = [sp.Integer(1), first + 2, first + second + 3]
        for step in (t, t + 1):
            name = f"addition: {'ab'[operand]}_(t+1) at step {step}".replace(" + ", "+")
            places[name] = (specials, specials[-1] + step, specials[operand] + digit)
    return places


def _last_anchor(position: sp.Expr, specials: list[sp.Expr]) -> sp.Expr:
    """Last special position up to this one. Raises `ValueError` if the symbols' signs do not decide a comparison."""
    anchor = sp.Integer(1)
    for special in specials:
        distance = sp.expand(position - special)
        if distance.is_nonnegative:
            anchor = special
        elif not distance.is_negative:
            raise ValueError(f"the signs of the symbols do not say whether {position} lies before {special}")
    return anchor


def _square(query: sp.Expr, of_query: sp.Expr, key: sp.Expr, of_key: sp.Expr) -> sp.Expr:
    """Index of RPE-Square, (j - a_j) - (i - a_i)."""
    return (query - of_query) - (key - of_key)


def _require_copy_slot_alone(index: Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr], slot: sp.Expr) -> None:
    """Require that x_u has the index of the slot only for u = t + 1, and that no key from '=' on has it."""
    n, t, u, slack = sp.symbols("n t u s", integer=True, nonnegative=True)
    prompt = sp.expand(index(n + 2 + t, n + 2, u + 1, sp.Integer(1)))
    if sp.solve(prompt - slot, u) != [t + 1]:
        raise Refuted(f"copy: x_u has index {prompt}, which is that of the slot at u = {sp.solve(prompt - slot, u)}")
    output = sp.expand(index(n + 2 + u + slack, n + 2, n + 2 + u, n + 2))
    if not (output - slot).is_positive:
        raise Refuted(f"copy: a key of the output has index {output}, which can be that of the slot, {slot}")


def _require_relation(indices: dict[str, int]) -> None:
    """Require that the relation of RPE-Square labels the slots so at small scales, and no other copy key."""
    slot_label = int(anchored.zigzag(np.array(indices["copy: x_(t+1) at step t"])))
    law = anchored.rpe_square(anchored.copy_anchors)
    for scale in range(1, LONGEST_COPY + 1):
        labels = law.labels(2 * scale + 3, scale)
        for step in range(scale + 1):
            column = labels[:, scale + 1 + step]
            slot = [step + 1] if step < scale else []
            if np.flatnonzero(column == slot_label).tolist() != slot:
                raise Refuted(
                    f"n = {scale}, step {step}: keys of label {slot_label} are not the slot in {column.tolist()}"
                )
    for first, second in product(range(1, 5), repeat=2):
        table = anchored.anchor_index(anchored.addition_anchors(first, second))
        for start, width, name in ((1, first, "a"), (first + 2, second, "b")):
            for step in range(width):
                index = table[start + step, first + second + 2 + step]
                if index != indices[f"addition: {name}_(t+1) at step t"]:
                    raise Refuted(f"digits {first}, {second}: {name}_{step + 1} has index {index} at step {step}")


def _anchor_finder() -> anchored.AnchorAttention:
    """Attention with equal queries, in which logits fall in the order '=', '+', [BOS], all other symbols."""
    query_weights = np.ones((1, len(_ALPHABET)))
    key_weights = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]])
    return anchored.AnchorAttention(query=query_weights, key=key_weights)


def _texts() -> Iterator[tuple[list[str], NDArray[np.int64]]]:
    """Texts of copy and addition with the anchors of their positions."""
    digits = np.random.default_rng(0)
    for scale in range(1, LONGEST_COPY + 1):
        word = "".join(digits.choice(["0", "1"], size=scale))
        yield list(f"^{word}={word}$"), anchored.copy_anchors(scale)
    for first, second in ((1, 1), (1, 3), (4, 2)):
        a, b, c = ("".join(digits.choice(["0", "1"], size=size)) for size in (first, second, max(first, second) + 1))
        yield list(f"^{a}+{b}={c}$"), anchored.addition_anchors(first, second)


def _hard(anchors: NDArray[np.int64], table: Numbers) -> Numbers:
    """Scores R at the hard index."""
    return anchored.hard_scores(anchors, table)


def _hard_with(change: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Callable[..., Numbers]:
    """Scores R at another index than (j - a_j) - (i - a_i)."""

    def hard(anchors: NDArray[np.int64], table: Numbers) -> Numbers:
        return np.triu(anchored.gather(table, np.triu(change(anchors))))

    return hard


def _positions(anchors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions from 1."""
    return np.arange(1, len(anchors) + 1)


@CLAIMS.claim(
    "plaa-pola",
    "generalised RPE; its relation to POLA (arXiv 2510.04130) is ours",
    r"U_k=\mathbf 1[\varphi=k]\ \Rightarrow\ A_{\mathrm{PLAA}}=A_{\mathrm{POLA}}(\varphi)",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SIZE}",
    assumptions=("POLA weighs all pairs i <= j <= N0 alike, so PLAA weighs all values of the advice alike",),
    falsifiers={
        "uniform law over inputs": {"weights": lambda scale: [2**j for j in range(scale)]},
        "overlapping supports": {"basis_of": _overlapping_basis},
    },
)
def pola_is_the_disjoint_case(
    basis_of: Callable[[Labels], plaa.PositionBasis] = plaa.relation_basis,
    weights: Callable[[int], Sequence[int]] = lambda scale: [1] * scale,
) -> Facts:
    """With the 0/1 matrices of a relation, which have disjoint supports, PLAA with all values of the advice equally
    likely learns exactly what POLA learns under the relation. Decided for N = 3.
    """
    keys, queries = np.triu_indices(SIZE)
    cells = np.vstack([np.eye(len(keys), dtype=np.int64), [[3, -1, 4, 1, -5, 9], [2, 7, -1, 8, 2, 8]]])
    targets = np.zeros((len(cells), SIZE, SIZE), dtype=np.int64)
    targets[:, keys, queries] = cells
    count = 0
    for labels in every_relation(SIZE):
        basis = basis_of(labels)
        for scale in range(1, SIZE + 1):
            learned_by_plaa = basis.matrix(
                plaa.learned_coefficients(basis, targets, training_scale=scale, weights=weights(scale))
            ).astype(np.float64)
            learned_by_pola = pola.learned_matrix(targets, labels, training_scale=scale)
            if (learned_by_plaa != learned_by_pola).any():
                at = int((learned_by_plaa != learned_by_pola).any(axis=(1, 2)).argmax())
                raise Refuted(
                    f"labels {labels[keys, queries].tolist()}, N0 = {scale}, A = {targets[at].tolist()}: PLAA learns "
                    f"{learned_by_plaa[at].tolist()}, POLA {learned_by_pola[at].tolist()}"
                )
            learned = plaa.learned_coefficients(basis, basis.matrices, training_scale=scale)
            if (learned != plaa.min_degree_interpolator(basis, basis.matrices, training_scale=scale)).any():
                raise Refuted(f"labels {labels[keys, queries].tolist()}, N0 = {scale}: not the min-degree interpolator")
        count += 1
    yield (
        f"all {count} relations at N = {SIZE}, every N0: the rational PLAA solution, rounded once, equals the "
        "floating-point matrix of POLA bit for bit on a basis of the targets and two dense ones"
    )
    yield "on targets in the span it is the min-degree interpolator"


@CLAIMS.claim(
    "plaa-rpe-square-labels",
    "RPE-Square, the index (j - l_j) - (i - l_i)",
    r"(j-a_j)-(i-a_i)=\text{const on ideal slots},\quad j-i=n\ \text{in copy}",
    assumptions=("sharp attention to the last of [BOS], '+', '=' up to each position",),
    falsifiers={
        "plain relative": {"index": lambda query, of_query, key, of_key: query - key},
        "anchor of the query only": {"index": lambda query, of_query, key, of_key: query - of_query - key},
        "anchor of the key only": {"index": lambda query, of_query, key, of_key: query - (key - of_key)},
        "sum of the distances": {"index": lambda query, of_query, key, of_key: (query - of_query) + (key - of_key)},
        "the anchor before the last": {
            "anchor": lambda position, specials: specials[max(specials.index(_last_anchor(position, specials)) - 1, 0)]
        },
    },
)
def square_labels(
    index: Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr] = _square,
    anchor: Callable[[sp.Expr, list[sp.Expr]], sp.Expr] = _last_anchor,
) -> Facts:
    """In unaligned copy and reversed addition, RPE-Square gives each ideal slot the same index at every scale and step:
    -1 for the digit written next, 0 for the one before. The plain relative index changes with the scale.
    """
    indices = {}
    for name, (specials, query, key) in _ideal_slots().items():
        indices[name] = sp.expand(index(query, anchor(query, specials), key, anchor(key, specials)))
        if indices[name].free_symbols:
            raise Refuted(f"{name}: query {query}, key {key} have index {indices[name]}, which is not one number")
    _require_copy_slot_alone(index, indices["copy: x_(t+1) at step t"])
    _require_relation({name: int(value) for name, value in indices.items()})
    yield from (f"{name}: index {value}, for all t and all lengths" for name, value in indices.items())
    yield (
        "copy: at an output query no other key has the index of the slot, and '=' has index t, its own anchor: at "
        "the last query, which gives [EOS], no key has the slot's index at all"
    )
    yield "addition: both operands share an index, so only a symmetric operator can use it"
    yield (
        f"`theory.rpe_square` gives these to the digit written next, for copy at n <= {LONGEST_COPY} and for "
        "addition of up to 4 digits"
    )


@CLAIMS.claim(
    "plaa-rpe-square-limit",
    "RPE-Square, the score; its limit and the bound are ours",
    r"|\mathrm{score}_{ij}-R_{(j-a_j)-(i-a_i)}|\le 4\max|R|\,(T-1)\,e^{-D}",
    strength=Strength.NUMERIC,
    assumptions=(f"double precision, {ROUNDING:g} allowed for rounding", "anchors have different keys"),
    falsifiers={
        "plain relative": {"hard": _hard_with(lambda a: _positions(a)[None, :] - _positions(a)[:, None])},
        "sign reversed": {"hard": _hard_with(lambda a: (_positions(a) - a)[:, None] - (_positions(a) - a)[None, :])},
        "anchor of the query only": {
            "hard": _hard_with(lambda a: (_positions(a) - a)[None, :] - _positions(a)[:, None])
        },
        "anchor of the key only": {
            "hard": _hard_with(lambda a: _positions(a)[None, :] - 1 - (_positions(a) - a)[:, None])
        },
        "twice the rate": {"rate": 2.0},
    },
)
def square_limit(hard: Callable[[NDArray[np.int64], Numbers], Numbers] = _hard, rate: float = 1.0) -> Facts:
    """If the anchors' logits lead by at least D in a text of T tokens, every score of RPE-Square is within 4 max|R| (T
    - 1) e^-D of R at (j - a_j) - (i - a_i).
    """
    worst, count = 0.0, 0
    for symbols, anchors in _texts():
        embedded = np.eye(len(_ALPHABET))[[_ALPHABET.index(symbol) for symbol in symbols]]
        table = np.random.default_rng(len(symbols)).normal(size=2 * len(symbols) - 1)
        limit = hard(anchors, table)
        for scale in LOGIT_SCALES:
            attention = _anchor_finder().sharpened(scale)
            found_anchors, lead = anchored.hard_anchors(embedded, attention)
            if (found_anchors != anchors).any():
                raise Refuted(
                    f"{symbols}: attention leads to the anchors {found_anchors.tolist()}, not {anchors.tolist()}"
                )
            gaps = np.abs(anchored.soft_scores(embedded, table, query=attention, key=attention) - limit)
            bound = anchored.hard_limit_error(table, lead=rate * lead, length=len(symbols))
            if gaps.max() > bound + ROUNDING:
                key, query = np.unravel_index(gaps.argmax(), gaps.shape)
                raise Refuted(
                    f"{''.join(symbols)}, logits leading by {lead:g}, key {key + 1}, query {query + 1}: soft and hard "
                    f"differ by {gaps.max():.3g}, the bound is {bound:.3g}"
                )
            worst, count = max(worst, float(gaps.max() / (bound + ROUNDING))), count + 1
    yield (
        f"{count} texts of copy and addition and logit scales {LOGIT_SCALES}: the gap is at most {worst:.2f} of "
        "4 max|R| (T-1) e^-lead"
    )
    yield "one pair of weight matrices finds the anchors at every scale: nothing but the text is looked at"
