"""Definition 3, Linear Representation Complexity (LRC): the readings that we reject, the one that we take, errors.

LRC within eps [F] counts the parameters that a decaying pattern needs.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TRAINING_SCALES,
    VALUES,
    is_learned,
    learnable_text,
    learned_by_relation,
)
from lengthgen.theory.enumeration import every_pattern
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import lrc_profile
from lengthgen.theory.rational import rank

Pattern = NDArray[Any]
Cells = tuple[int, ...]
Profile = Callable[[Pattern, Iterable[int]], Mapping[int, int]]


def _learnable(size: int, training_scale: int) -> list[bool]:
    """True for each pattern with entries in VALUES that some relation learns from the training scale."""
    learned = learned_by_relation(pola.learned_matrix, VALUES, size=size, training_scale=training_scale)
    return [bool(learned_by_each.any()) for learned_by_each in learned.T]


def _fewest_real_bases(cells: Cells) -> int:
    """Least number of real basis matrices; the pattern itself may be one."""
    return _fewest(cells, [cells], disjoint=False)


def _fewest_disjoint_bases(cells: Cells) -> int:
    """Least number of basis matrices that are classes of a relation: zeros and ones with disjoint supports."""
    return _fewest(cells, list(product((0, 1), repeat=len(cells))), disjoint=True)


def _fewest(cells: Cells, bases: list[Cells], *, disjoint: bool) -> int:
    """Least number of these bases that span the pattern."""
    if not any(cells):
        return 0
    for number in range(1, len(cells) + 1):
        for chosen in combinations(bases, number):
            overlap = max(sum(entries) for entries in zip(*chosen, strict=True)) > 1
            if not (disjoint and overlap) and rank([*chosen, cells]) == rank(chosen):
                return number
    raise ArithmeticError(f"no basis matrices span {cells}")


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "pola-3-bases",
    formalised("Definition 3", "basis matrices"),
    r"\min\{k: A \in \mathrm{span}(U_1,\dots,U_k)\} = [A \ne 0]",
    strength=Strength.EXHAUSTIVE,
    assumptions=(LEAST_SQUARES, "basis matrices are chosen after the pattern, as a minimum over them allows"),
    answers=("decides",),
    falsifiers={
        "basis matrices of zeros and ones": {
            "fewest": lambda cells: _fewest(cells, list(product((0, 1), repeat=len(cells))), disjoint=False)
        },
        "basis matrices of a relation": {"fewest": _fewest_disjoint_bases},
        "1 for zero too": {"stated": lambda cells: 1},
        "basis matrices of a relation, counted as such": {
            "fewest": _fewest_disjoint_bases,
            "stated": _fewest_disjoint_bases,
        },
    },
)
def bases_decide_nothing(
    fewest: Callable[[Cells], int] = _fewest_real_bases,
    stated: Callable[[Cells], int] = lambda cells: int(any(cells)),
    decides: bool = False,
) -> Facts:
    """Counted in real-valued basis matrices, the complexity of every pattern but zero is 1, so it does not tell what
    position-only linear attention can learn under some relation. What can be learned is decided for N = 2.
    """
    size, training_scale = 2, 1
    patterns = every_pattern(size, VALUES)
    misjudged = []
    for pattern, learnable in zip(patterns.astype(np.int64), _learnable(size, training_scale), strict=True):
        needed = []
        for scale in (training_scale, size):
            cells = tuple(pattern[:scale, :scale][np.triu_indices(scale)].tolist())
            needed.append(fewest(cells))
            if needed[-1] != stated(cells):
                raise Refuted(f"entries {cells}: {needed[-1]} basis matrices are needed, not {stated(cells)}")
        if (needed[0] == needed[1]) != learnable:
            misjudged.append(f"A = {pattern.tolist()}: {needed[0]} -> {needed[1]}, {learnable_text(learnable)}")
    if decides == bool(misjudged):
        raise Refuted(misjudged[0] if misjudged else f"it tells what is learned in all {len(patterns)} cases")
    yield (
        f"N = {size}, N0 = {training_scale}, entries in {VALUES}: a number that stays misjudges {len(misjudged)} "
        f"of {len(patterns)} patterns; the first is {misjudged[0] if misjudged else 'none'}"
    )
    yield "argument for every N: A itself serves as basis matrix, with parameter 1; only A = 0 needs none"
    yield Reach(f"N = {size}")


@CLAIMS.claim(
    "pola-3-rank",
    formalised("Definition 3", "rank"),
    r"\mathrm{rank}\,A_{[N]}=\mathrm{rank}\,A_{[N_0]}\not\Leftrightarrow\exists\varphi:\ (N_0,N)\text{-LG on }A",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(LEAST_SQUARES, "no scale hint"),
    answers=("necessary", "sufficient"),
    falsifiers={
        "prefix sums of rank 1": {"prefix_sums": lambda scale: 1},
        "LRC in place of rank": {"complexity": lrc_profile, "prefix_sums": lambda scale: 1},
    },
)
def staying_complexity(
    complexity: Profile = lambda pattern, scales: {scale: rank(pattern[:scale, :scale]) for scale in scales},
    prefix_sums: Callable[[int], int] = int,
    necessary: bool = False,
    sufficient: bool = False,
) -> Facts:
    """Prefix sums have rank n at every scale although one shared value solves them all; a rank that stays the same is
    neither necessary nor sufficient for some relation to learn a pattern. What can be learned is decided for N = 3.
    """
    largest = 12
    sums = np.triu(np.ones((largest, largest), dtype=np.int64))
    for scale, complexity_found in complexity(sums, range(1, largest + 1)).items():
        if complexity_found != prefix_sums(scale):
            raise Refuted(f"prefix sums at n = {scale}: {complexity_found}, not {prefix_sums(scale)}")
    if not is_learned(pola.learned_matrix(sums, np.zeros_like(sums), training_scale=1), sums):
        raise Refuted(f"one shared value does not learn prefix sums from scale 1 to {largest}")
    patterns = every_pattern(SCALE, VALUES)
    profiles = [complexity(pattern.astype(np.int64), (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    exceptions: dict[str, list[str]] = {"necessary": [], "sufficient": []}
    for training_scale in TRAINING_SCALES:
        for pattern, profile, learnable in zip(patterns, profiles, _learnable(SCALE, training_scale), strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if (before == after) != learnable:
                case = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}: {before} -> {after}"
                exceptions["necessary" if learnable else "sufficient"].append(f"{case}, {learnable_text(learnable)}")
    facts = []
    for name, claimed in (("necessary", necessary), ("sufficient", sufficient)):
        cases = exceptions[name]
        if claimed == bool(cases):
            raise Refuted(f"not {name}: {cases[0]}" if cases else f"{name} in all {len(patterns)} cases")
        facts.append(f"{name}: fails in {len(cases)} cases{', first ' if cases else ''}{''.join(cases[:1])}")
    yield f"prefix sums at n <= {largest}: the stated complexity, while one shared value learns them from scale 1"
    yield f"N = {SCALE}, entries in {VALUES}, N0 in {TRAINING_SCALES}, a complexity that stays: {'; '.join(facts)}"
    yield "argument for every n: prefix sums are triangular with ones on the diagonal, so of rank n"
