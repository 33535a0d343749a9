"""LRC within eps [F]: the parameters that a decaying pattern needs, and the errors of a learner under its relation."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    VALUES,
    cells_in_training,
)
from lengthgen.theory.enumeration import every_pattern, every_relation
from lengthgen.theory.growth import GrowthKind
from lengthgen.theory.growth_within import growth_within
from lengthgen.theory.learning import pola
from lengthgen.theory.pattern import from_formula

Fits = Callable[[Fraction, Fraction], bool]
"""(length of an interval, eps) -> True if one parameter serves all entries in the interval."""


def halving_needs(*, formula: str, stated: Callable[[Fraction], int], gap: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide how many parameters a halving pattern needs within eps, at every scale and for every 0 < eps < 1.

    Args:
        formula: the pattern; at distance D its entry is claimed to be 2^-D.
        stated: eps -> the stated number of parameters.
        gap: entry t -> the claimed difference between the entry before, 2t, and t.
    """
    pattern = from_formula(formula)
    last, part = sp.symbols("t u", positive=True)  # the last entry above eps is t = 2^-(m-1), and eps = t (1 + u) / 2
    epsilon = last * (1 + part) / 2
    reach_of_last = last + 2 * epsilon
    facts = [
        require_equal("the entry before the last", lambda: 2 * last, lambda: last + gap(last)),
        require_equal("the interval that begins at t ends beyond 2 t, by", reach_of_last - 2 * last, part * last),
        require_equal("and before 4 t, by", 4 * last - reach_of_last, (2 - part) * last),
        require_equal(
            "earlier neighbours 2 s and s, s >= 4 t, are more than 2 eps apart, by, for s = 4 t",
            4 * last - 2 * epsilon,
            (3 - part) * last,
        ),
    ]
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            "argument: 2^-D > eps iff D < m, m = ceil(log2(1/eps)); for m >= 2, t = 2^-(m-1) and 2 t share a parameter "
            "as 0 <= u < 1, and no two others of these m entries do, so m - 1 are needed; for m = 1 one is",
            f"the proved growth of the formula gives this number at {len(tried)} values of eps, k/24 and powers of 1/2",
            f"eps = 0: {at_zero.reason}",
        ),
    )


def learned_error(*, fits: Fits, bound: Callable[[Fraction], Fraction], labels_met: bool, attained: bool) -> Evidence:
    """Decide the largest error of what is learned under a relation whose classes one parameter serves within eps.

    Args:
        fits: decides which relations represent a pattern within eps.
        bound: eps -> the stated largest error of any entry.
        labels_met: True if every label used up to N must occur up to N0.
        attained: True if the bound is claimed to be attained.
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
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            f"N = {SCALE}, entries in {VALUES}, eps = 1/2 and 1: {cases} patterns under relations; the largest errors "
            f"are {', '.join(f'{error:.4g} for eps = {epsilon}' for epsilon, error in largest.items())}",
            "argument for every N: a label is learned as the mean of its entries in training, which lies in the same "
            "interval of length 2 eps as all its entries",
        ),
        assumptions=(LEAST_SQUARES,),
    )


def _served(entries: NDArray[np.float64], epsilon: Fraction, fits: Fits) -> NDArray[np.bool_]:
    """Return for each pattern if one parameter serves its entries, [patterns, cells] -> bool [patterns]."""
    lengths = entries.max(axis=1) - entries.min(axis=1)
    served = {length: fits(Fraction(length), epsilon) for length in np.unique(lengths).tolist()}
    return np.array([served[length] for length in lengths.tolist()], dtype=np.bool_)


def _halvings(epsilon: Fraction) -> int:
    """Return m = ceil(log2(1/eps)): the number of powers 2^0, 2^-1, ... above eps."""
    return (ceil(1 / epsilon) - 1).bit_length()


CLAIMS = (
    Claim(
        id="pola-3-within",
        source=formalised("Definition 3", "within an error"),
        statement="For A_ij = 2^-(j-i), LRC is unbounded, but for every 0 < eps < 1 the LRC within eps stays at "
        "max(1, ceil(log2(1/eps)) - 1) from some scale on.",
        latex=r"\mathrm{LRC}^{\varepsilon}_\infty(2^{-(j-i)}) = \max(1, \lceil\log_2(1/\varepsilon)\rceil - 1)",
        label="F",
        check=halving_needs,
        holds={
            "formula": "0.5**(j - i)",
            "stated": lambda epsilon: max(1, _halvings(epsilon) - 1),
            "gap": lambda entry: entry,
        },
        falsifiers={
            "a parameter for each entry above eps": {"stated": _halvings},
            "always fewer than the entries": {"stated": lambda epsilon: _halvings(epsilon) - 1},
            "another rate": {"formula": "(1/3)**(j - i)"},
            "a pattern that ends": {"formula": "0.5**min(j - i, 3)"},
            "gaps of half the entry": {"gap": lambda entry: entry / 2},
        },
    ),
    Claim(
        id="pola-2-within",
        source=formalised("Theorem 2", "with error"),
        statement="Under a relation each of whose labels has its entries in an interval of length 2 eps, and occurs in "
        "training at N0, every entry up to N is learned with an error of at most 2 eps; this is attained, and it fails "
        "for labels that training does not meet. "
        "Decided for N = 3.",
        latex=r"\max_{i\le j\le N}|\hat A_{ij} - A_{ij}| \le 2\varepsilon",
        label="F",
        check=learned_error,
        holds={
            "fits": lambda length, epsilon: length <= 2 * epsilon,
            "bound": lambda epsilon: 2 * epsilon,
            "labels_met": True,
            "attained": True,
        },
        answers=("attained",),
        falsifiers={
            "an error of at most eps": {"bound": lambda epsilon: epsilon},
            "labels that training does not meet": {"labels_met": False, "fits": lambda length, epsilon: not length},
            "intervals of length 4 eps": {"fits": lambda length, epsilon: length <= 4 * epsilon},
            "a larger bound is attained": {"bound": lambda epsilon: 3 * epsilon},
        },
    ),
)
