"""Readings of Linear Representation Complexity (Definition 3 of arXiv 2510.04130) that we reject, and why.

A reading is of use if a complexity that stays from N0 to N tells which patterns some relation learns (pola-2b). The
number of real-valued basis matrices and the rank do not tell; the number of distinct non-zero entries does.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.cases import LEAST_SQUARES, SCALE, TRAINING_SCALES, VALUES, reached, right, said
from proofs_checks.papers.pola.source import source
from theory import pola
from theory.dimension import every_pattern
from theory.lrc import lrc_profile
from theory.rational import rank

Pattern = NDArray[Any]
Cells = tuple[int, ...]
Profile = Callable[[Pattern, Iterable[int]], Mapping[int, int]]


def bases_decide_nothing(*, fewest: Callable[[Cells], int], stated: Callable[[Cells], int], decides: bool) -> Evidence:
    """Decide how many basis matrices a pattern needs, and whether that number tells what some relation learns."""
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
            misjudged.append(f"A = {pattern.tolist()}: {needed[0]} -> {needed[1]}, {said(learnable)}")
    if decides == bool(misjudged):
        raise Refuted(misjudged[0] if misjudged else f"it tells what is learned in all {len(patterns)} cases")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {size}",
        facts=(
            f"N = {size}, N0 = {training_scale}, entries in {VALUES}: a number that stays misjudges {len(misjudged)} "
            f"of {len(patterns)} patterns; the first is {misjudged[0] if misjudged else 'none'}",
            "argument for every N: A itself serves as basis matrix, with parameter 1; only A = 0 needs none",
        ),
        assumptions=(LEAST_SQUARES, "basis matrices are chosen after the pattern, as a minimum over them allows"),
    )


def staying_complexity(
    *, complexity: Profile, prefix_sums: Callable[[int], int], necessary: bool, sufficient: bool
) -> Evidence:
    """Decide the complexity of prefix sums, and if one that stays is necessary, and sufficient, to be learned."""
    largest = 12
    sums = np.triu(np.ones((largest, largest), dtype=np.int64))
    for scale, found in complexity(sums, range(1, largest + 1)).items():
        if found != prefix_sums(scale):
            raise Refuted(f"prefix sums at n = {scale}: {found}, not {prefix_sums(scale)}")
    if not right(pola.learned_matrix(sums, np.zeros_like(sums), training_scale=1), sums):
        raise Refuted(f"one shared value does not learn prefix sums from scale 1 to {largest}")
    patterns = every_pattern(SCALE, VALUES)
    profiles = [complexity(pattern.astype(np.int64), (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    exceptions: dict[str, list[str]] = {"necessary": [], "sufficient": []}
    for training_scale in TRAINING_SCALES:
        for pattern, profile, learnable in zip(patterns, profiles, _learnable(SCALE, training_scale), strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if (before == after) != learnable:
                case = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}: {before} -> {after}"
                exceptions["necessary" if learnable else "sufficient"].append(f"{case}, {said(learnable)}")
    facts = []
    for name, claimed in (("necessary", necessary), ("sufficient", sufficient)):
        cases = exceptions[name]
        if claimed == bool(cases):
            raise Refuted(f"not {name}: {cases[0]}" if cases else f"{name} in all {len(patterns)} cases")
        facts.append(f"{name}: fails in {len(cases)} cases{', first ' if cases else ''}{''.join(cases[:1])}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            f"prefix sums at n <= {largest}: the stated complexity, while one shared value learns them from scale 1",
            f"N = {SCALE}, entries in {VALUES}, N0 in {TRAINING_SCALES}, a complexity that stays: {'; '.join(facts)}",
            "argument for every n: prefix sums are triangular with ones on the diagonal, so of rank n",
        ),
        assumptions=(LEAST_SQUARES, "no scale hint"),
    )


def _learnable(size: int, training_scale: int) -> list[bool]:
    """Which of the patterns with entries in VALUES some relation learns from the training scale."""
    found = reached(pola.learned_matrix, VALUES, size=size, training_scale=training_scale)
    return [bool(by_some.any()) for by_some in found.T]


def _fewest_real_bases(cells: Cells) -> int:
    """Any real matrix may be a basis matrix, so the pattern itself may."""
    return _fewest(cells, [cells], disjoint=False)


def _fewest_binary_bases(cells: Cells) -> int:
    return _fewest(cells, list(product((0, 1), repeat=len(cells))), disjoint=False)


def _fewest_disjoint_bases(cells: Cells) -> int:
    """The classes of a relation are basis matrices of zeros and ones with disjoint support."""
    return _fewest(cells, list(product((0, 1), repeat=len(cells))), disjoint=True)


def _fewest(cells: Cells, bases: list[Cells], *, disjoint: bool) -> int:
    """The fewest of the bases that span the pattern."""
    if not any(cells):
        return 0
    for number in range(1, len(cells) + 1):
        for chosen in combinations(bases, number):
            overlap = max(sum(entries) for entries in zip(*chosen, strict=True)) > 1
            if not (disjoint and overlap) and rank([*chosen, cells]) == rank(chosen):
                return number
    raise ArithmeticError(f"no basis matrices span {cells}")


def _rank_profile(pattern: Pattern, scales: Iterable[int]) -> dict[int, int]:
    return {scale: rank(pattern[:scale, :scale]) for scale in scales}


CLAIMS = (
    Claim(
        id="pola-3-bases",
        source=source("Definition 3", "basis matrices"),
        statement="Counted in real-valued basis matrices, the complexity of every pattern but zero is 1, so it does "
        "not tell what position-only linear attention can learn under some relation. "
        "What can be learned is decided for N = 2.",
        latex=r"\min\{k: A \in \mathrm{span}(U_1,\dots,U_k)\} = [A \ne 0]",
        label="F",
        check=bases_decide_nothing,
        holds={"fewest": _fewest_real_bases, "stated": lambda cells: int(any(cells)), "decides": False},
        answers=("decides",),
        falsifiers={
            "basis matrices of zeros and ones": {"fewest": _fewest_binary_bases},
            "basis matrices of a relation": {"fewest": _fewest_disjoint_bases},
            "1 for zero too": {"stated": lambda cells: 1},
            "basis matrices of a relation, counted as such": {
                "fewest": _fewest_disjoint_bases,
                "stated": _fewest_disjoint_bases,
            },
        },
    ),
    Claim(
        id="pola-3-rank",
        source=source("Definition 3", "rank"),
        statement="Prefix sums have rank n at every scale although one shared value solves them all; a rank that stays "
        "is neither necessary nor sufficient for some relation to learn a pattern. "
        "What can be learned is decided for N = 3.",
        latex=r"\mathrm{rank}\,A_{[N]}=\mathrm{rank}\,A_{[N_0]}\not\Leftrightarrow"
        r"\exists\varphi:\ (N_0,N)\text{-LG on }A",
        label="F",
        check=staying_complexity,
        holds={"complexity": _rank_profile, "prefix_sums": int, "necessary": False, "sufficient": False},
        answers=("necessary", "sufficient"),
        falsifiers={
            "prefix sums of rank 1": {"prefix_sums": lambda scale: 1},
            "LRC in place of rank": {"complexity": lrc_profile, "prefix_sums": lambda scale: 1},
        },
    ),
)
