"""Consequences of Definition 3 of arXiv 2510.04130: profiles of LRC, vector tokens, LRC within an error."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise, product
from math import ceil

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Strength, Unsettled
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    VALUES,
    cells_in_training,
    learnable_text,
)
from lengthgen.proofs_checks.papers.pola.definition3 import Cells, Pattern, Profile
from lengthgen.theory.enumeration import cell_count, every_pattern, every_relation, kinds
from lengthgen.theory.growth import GrowthKind
from lengthgen.theory.growth_within import growth_within
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import lrc, lrc_profile
from lengthgen.theory.pattern import from_formula

Fits = Callable[[Fraction, Fraction], bool]
"""(length of an interval, eps) -> True if one parameter serves all entries in the interval."""


def _fewest_labels(entries: Pattern) -> list[int]:
    """Least number of labels with non-zero parameter among relations that represent the patterns.

    `entries` has the shape [patterns, cells, entries].
    """
    cells = entries.shape[1]
    fewest = np.full(len(entries), cells + 1)
    for others in kinds(cells - 1):
        classes = np.array((0, *others))
        first = np.array([np.argmax(classes == name) for name in classes])
        represents = (entries == entries[:, first]).all(axis=(1, 2))
        used = (entries[:, np.unique(first)] != 0).any(axis=2).sum(axis=1)
        fewest = np.where(represents, np.minimum(fewest, used), fewest)
    return [int(number) for number in fewest]


def _matrices(pattern: Pattern) -> set[Cells]:
    """Distinct matrices of a pattern, flattened."""
    return {tuple(matrix.ravel().tolist()) for matrix in pattern[np.triu_indices(len(pattern))]}


def _values_met_once(pattern: Pattern, scales: Iterable[int]) -> dict[int, int]:
    """Number of non-zero values that occur exactly once, at each scale."""
    profile = {}
    for scale in scales:
        values, times = np.unique(pattern[:scale, :scale][np.triu_indices(scale)], return_counts=True)
        profile[scale] = int(((times == 1) & (values != 0)).sum())
    return profile


def _within_new_entries(profile: Cells) -> bool:
    """True if the complexity never falls and rises by at most n at scale n."""
    return all(0 <= after - before <= scale for scale, (before, after) in enumerate(pairwise((0, *profile)), start=1))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "pola-3-monotone",
    formalised("Definition 3", "monotone"),
    r"0 \le \mathrm{LRC}_n(A) - \mathrm{LRC}_{n-1}(A) \le n",
    strength=Strength.EXHAUSTIVE,
    reach="N = 3",
    falsifiers={
        "it must rise": {"allowed": lambda profile: all(a < b for a, b in pairwise(profile))},
        "it rises by one at most": {"allowed": lambda profile: all(0 <= b - a <= 1 for a, b in pairwise(profile))},
        "it rises by any number": {"allowed": lambda profile: all(a <= b for a, b in pairwise(profile))},
        "values met once, in place of LRC": {"complexity": _values_met_once},
    },
)
def profiles_of_patterns(
    complexity: Profile = lrc_profile, allowed: Callable[[Cells], bool] = _within_new_entries
) -> Facts:
    """LRC never falls from scale n - 1 to n and rises by at most n; every such sequence is the profile of some pattern.
    Decided for N = 3, where all profiles occur.
    """
    profiles = set()
    for kind in kinds(cell_count(SCALE)):
        pattern = np.zeros((SCALE, SCALE), dtype=np.int64)
        pattern[np.triu_indices(SCALE)] = kind
        profile = tuple(complexity(pattern, range(1, SCALE + 1)).values())
        refute(not allowed(profile), f"A = {pattern.tolist()} has complexities {profile}")
        profiles.add(profile)
    for profile in product(range(cell_count(SCALE) + 1), repeat=SCALE):
        refute(allowed(profile) and profile not in profiles, f"no pattern has complexities {profile}")
    yield f"N = {SCALE}: patterns of every kind, hence all real ones, have {len(profiles)} profiles, each as stated"
    yield "argument for every n: scale n + 1 keeps the entries of scale n and adds n + 1"


@CLAIMS.claim(
    "pola-3-vector",
    formalised("Definition 3", "vector tokens"),
    r"\mathrm{LRC}_n(W) = |\{W_{ij}: i \le j \le n\} \setminus \{0\}|",
    strength=Strength.EXHAUSTIVE,
    reach="N = 2",
    assumptions=(LEAST_SQUARES, "tokens of identity second moments", "a label carries one whole matrix"),
    falsifiers={
        "entries counted": {
            "count": lambda pattern: len({entry for matrix in _matrices(pattern) for entry in matrix} - {0})
        },
        "the zero matrix counted": {"count": lambda pattern: len(_matrices(pattern))},
        "norms counted": {
            "count": lambda pattern: len({sum(entry**2 for entry in matrix) for matrix in _matrices(pattern)} - {0})
        },
    },
)
def matrices_are_counted(count: Callable[[Pattern], int] = lrc) -> Facts:
    """For vector tokens the complexity is the number of distinct non-zero matrices W_ij: the fewest labels in use,
    constant from N0 to N iff some relation learns the pattern, and LRC for 1x1 matrices. Decided for N = 2, N0 = 1,
    matrices of 1x1 and 1x2 with entries 0, 1, 2, and of 2x2 with entries 0, 1.
    """
    size, training_scale = 2, 1
    upper = np.triu_indices(size)
    cases = 0
    for (rows, columns), values in (((1, 1), VALUES), ((1, 2), VALUES), ((2, 2), (0, 1))):
        matrices = np.array(list(product(values, repeat=rows * columns))).reshape(-1, rows, columns)
        chosen = np.array(list(product(range(len(matrices)), repeat=cell_count(size))))
        patterns = np.zeros((len(chosen), size, size, rows, columns), dtype=np.int64)
        patterns[:, *upper] = matrices[chosen]
        fewest = _fewest_labels(patterns[:, *upper].reshape(len(chosen), len(chosen[0]), -1))
        learnable = np.zeros(len(patterns), dtype=bool)
        for labels in every_relation(size):
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, vector_tokens=True)
            learnable |= (np.abs(learned - patterns) < TOLERANCE).all(axis=(1, 2, 3, 4))
        for pattern, labels_used, is_learnable in zip(patterns, fewest, learnable, strict=True):
            before, after = count(pattern[:training_scale, :training_scale]), count(pattern)
            where = f"W_11, W_12, W_22 = {pattern[upper].tolist()}"
            refute(after != labels_used, f"{where}: the fewest labels are {labels_used}, not {after}")
            refute((before == after) != is_learnable, f"{where}: {before} -> {after}, {learnable_text(is_learnable)}")
            if rows == columns == 1 and after != lrc(pattern[:, :, 0, 0]):
                raise Refuted(f"{where}: {after}, while the scalar case has {lrc(pattern[:, :, 0, 0])}")
        cases += len(patterns)
    yield (
        f"N = {size}, N0 = {training_scale}: {cases} patterns of 1x1, 1x2 and 2x2 matrices, entries in {VALUES} or "
        "(0, 1), under every relation"
    )
    yield "1x1 matrices have the LRC of their entries"


def _served(entries: NDArray[np.float64], epsilon: Fraction, fits: Fits) -> NDArray[np.bool_]:
    """Return for each pattern if one parameter serves its entries, [patterns, cells] -> bool [patterns]."""
    lengths = entries.max(axis=1) - entries.min(axis=1)
    served = {length: fits(Fraction(length), epsilon) for length in np.unique(lengths).tolist()}
    return np.array([served[length] for length in lengths.tolist()], dtype=np.bool_)


def _halvings(epsilon: Fraction) -> int:
    """Return m = ceil(log2(1/eps)): the number of powers 2^0, 2^-1, ... above eps."""
    return (ceil(1 / epsilon) - 1).bit_length()


@CLAIMS.claim(
    "pola-3-within",
    formalised("Definition 3", "within an error"),
    r"\mathrm{LRC}^{\varepsilon}_\infty(2^{-(j-i)}) = \max(1, \lceil\log_2(1/\varepsilon)\rceil - 1)",
    falsifiers={
        "a parameter for each entry above eps": {"stated": _halvings},
        "always fewer than the entries": {"stated": lambda epsilon: _halvings(epsilon) - 1},
        "another rate": {"formula": "(1/3)**(j - i)"},
        "a pattern that ends": {"formula": "0.5**min(j - i, 3)"},
        "gaps of half the entry": {"gap": lambda entry: entry / 2},
    },
)
def halving_needs(
    formula: str = "0.5**(j - i)",
    stated: Callable[[Fraction], int] = lambda epsilon: max(1, _halvings(epsilon) - 1),
    gap: Callable[[sp.Expr], sp.Expr] = lambda entry: entry,
) -> Facts:
    """For A_ij = 2^-(j-i), LRC is unbounded, but for every 0 < eps < 1 the LRC within eps stays at max(1,
    ceil(log2(1/eps)) - 1) from some scale on.
    """
    pattern = from_formula(formula)
    last, part = sp.symbols("t u", positive=True)  # the last entry above eps is t = 2^-(m-1), and eps = t (1 + u) / 2
    epsilon = last * (1 + part) / 2
    reach_of_last = last + 2 * epsilon
    yield "the entry before the last", lambda: 2 * last, lambda: last + gap(last)
    yield "the interval that begins at t ends beyond 2 t, by", reach_of_last - 2 * last, part * last
    yield "and before 4 t, by", 4 * last - reach_of_last, (2 - part) * last
    yield (
        "earlier neighbours 2 s and s, s >= 4 t, are more than 2 eps apart, by, for s = 4 t",
        4 * last - 2 * epsilon,
        (3 - part) * last,
    )
    tried = sorted({Fraction(k, 24) for k in range(1, 24)} | {Fraction(1, 2**m) for m in range(1, 9)})
    for each in tried:
        growth = growth_within(pattern, each)
        if growth is None or growth.strength is None or growth.low != growth.high:
            raise Unsettled(f"eps = {each}: {growth.reason if growth else 'no formula'}")
        if growth.high != stated(each):
            raise Refuted(f"eps = {each}: {growth.high} parameters are needed at every large scale, not {stated(each)}")
    at_zero = growth_within(pattern, Fraction(0))
    if at_zero is None or at_zero.kind is not GrowthKind.UNBOUNDED:
        raise Refuted("LRC itself is bounded")
    yield (
        "argument: 2^-D > eps iff D < m, m = ceil(log2(1/eps)); for m >= 2, t = 2^-(m-1) and 2 t share a parameter "
        "as 0 <= u < 1, and no two others of these m entries do, so m - 1 are needed; for m = 1 one is"
    )
    yield f"the proved growth of the formula gives this number at {len(tried)} values of eps, k/24 and powers of 1/2"
    yield f"eps = 0: {at_zero.reason}"


@CLAIMS.claim(
    "pola-2-within",
    formalised("Theorem 2", "with error"),
    r"\max_{i\le j\le N}|\hat A_{ij} - A_{ij}| \le 2\varepsilon",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(LEAST_SQUARES,),
    answers=("attained",),
    falsifiers={
        "an error of at most eps": {"bound": lambda epsilon: epsilon},
        "labels that training does not meet": {"labels_met": False, "fits": lambda length, epsilon: not length},
        "intervals of length 4 eps": {"fits": lambda length, epsilon: length <= 4 * epsilon},
        "a larger bound is attained": {"bound": lambda epsilon: 3 * epsilon},
    },
)
def learned_error(
    fits: Fits = lambda length, epsilon: length <= 2 * epsilon,
    bound: Callable[[Fraction], Fraction] = lambda epsilon: 2 * epsilon,
    labels_met: bool = True,
    attained: bool = True,
) -> Facts:
    """Under a relation each of whose labels has its entries in an interval of length 2 eps, and occurs in training at
    N0, every entry up to N is learned with an error of at most 2 eps; this is attained, and it fails for labels that
    training does not meet. Decided for N = 3, entries 0, 1 and 2, eps = 1/2 and 1; a general argument covers the rest.
    """
    patterns = every_pattern(SCALE, VALUES)
    upper = np.triu_indices(SCALE)
    entries = patterns[:, *upper]
    largest: dict[Fraction, float] = {}
    cases = 0
    for epsilon in (Fraction(1, 2), Fraction(1)):
        for labels in every_relation(SCALE):
            classes = [labels[upper] == label for label in np.unique(labels[upper])]
            represented = np.all([_served(entries[:, cells], epsilon, fits) for cells in classes], axis=0)
            for training_scale in TRAINING_SCALES:
                shown = cells_in_training(training_scale)
                if labels_met and not all((cells & shown).any() for cells in classes):
                    continue
                learned = pola.learned_matrix(patterns[represented], labels, training_scale=training_scale)
                errors = np.abs(learned - patterns[represented]).max(axis=(1, 2), initial=0)
                cases += len(errors)
                worst = float(errors.max(initial=0))
                largest[epsilon] = max(largest.get(epsilon, 0.0), worst)
                if worst > bound(epsilon) + TOLERANCE:
                    pattern = patterns[represented][int(errors.argmax())].astype(int).tolist()
                    raise Refuted(
                        f"eps = {epsilon}, N0 = {training_scale}, A = {pattern}: an entry is learned with the error "
                        f"{worst:.4g}, not {bound(epsilon)} at most"
                    )
    if attained != all(abs(error - bound(epsilon)) < TOLERANCE for epsilon, error in largest.items()):
        raise Refuted(f"the largest errors are {largest}")
    yield (
        f"N = {SCALE}, entries in {VALUES}, eps = 1/2 and 1: {cases} patterns under relations; the largest errors "
        f"are {', '.join(f'{error:.4g} for eps = {epsilon}' for epsilon, error in largest.items())}"
    )
    yield (
        "argument for every N: a label is learned as the mean of its entries in training, which lies in the same "
        "interval of length 2 eps as all its entries"
    )
