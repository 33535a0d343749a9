"""The reading of Linear Representation Complexity (Definition 3 of arXiv 2510.04130) that we take, and what it does.

It is the number of distinct non-zero entries, and for vector tokens the number of distinct non-zero matrices.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.cases import LEAST_SQUARES, SCALE, TOLERANCE, VALUES, said
from proofs_checks.papers.pola.source import source
from theory import pola
from theory.dimension import cell_count, every_relation, kinds
from theory.lrc import lrc, lrc_profile

Pattern = NDArray[Any]
Cells = tuple[int, ...]
Profile = Callable[[Pattern, Iterable[int]], Mapping[int, int]]


def profiles_of_patterns(*, complexity: Profile, allowed: Callable[[Cells], bool]) -> Evidence:
    """Decide which sequences of complexities at scales 1..N the real patterns have, kind by kind of pattern."""
    found = set()
    for kind in kinds(cell_count(SCALE)):
        pattern = np.zeros((SCALE, SCALE), dtype=np.int64)
        pattern[np.triu_indices(SCALE)] = kind
        profile = tuple(complexity(pattern, range(1, SCALE + 1)).values())
        if not allowed(profile):
            raise Refuted(f"A = {pattern.tolist()} has complexities {profile}")
        found.add(profile)
    for profile in product(range(cell_count(SCALE) + 1), repeat=SCALE):
        if allowed(profile) and profile not in found:
            raise Refuted(f"no pattern has complexities {profile}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N = 3",
        facts=(
            f"N = {SCALE}: patterns of every kind, hence all real ones, have {len(found)} profiles, each as stated",
            "argument for every n: scale n + 1 keeps the entries of scale n and adds n + 1",
        ),
    )


def matrices_are_counted(*, count: Callable[[Pattern], int]) -> Evidence:
    """Decide for vector tokens: the count is the fewest labels in use, and tells what some relation learns."""
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
        for pattern, labels_used, found in zip(patterns, fewest, learnable, strict=True):
            before, after = count(pattern[:training_scale, :training_scale]), count(pattern)
            where = f"W_11, W_12, W_22 = {pattern[upper].tolist()}"
            if after != labels_used:
                raise Refuted(f"{where}: the fewest labels are {labels_used}, not {after}")
            if (before == after) != found:
                raise Refuted(f"{where}: {before} -> {after}, {said(found)}")
            if rows == columns == 1 and after != lrc(pattern[:, :, 0, 0]):
                raise Refuted(f"{where}: {after}, while the scalar case has {lrc(pattern[:, :, 0, 0])}")
        cases += len(patterns)
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N = 2",
        facts=(
            f"N = {size}, N0 = {training_scale}: {cases} patterns of 1x1, 1x2 and 2x2 matrices, entries in {VALUES} or "
            "(0, 1), under every relation",
            "1x1 matrices have the LRC of their entries",
        ),
        assumptions=(LEAST_SQUARES, "tokens of identity second moments", "a label carries one whole matrix"),
    )


def _fewest_labels(entries: Pattern) -> list[int]:
    """The fewest labels with non-zero parameter over all relations that represent patterns [p, cells, entries]."""
    cells = entries.shape[1]
    fewest = np.full(len(entries), cells + 1)
    for others in kinds(cells - 1):
        classes = np.array((0, *others))
        first = np.array([np.argmax(classes == name) for name in classes])
        represents = (entries == entries[:, first]).all(axis=(1, 2))
        used = (entries[:, np.unique(first)] != 0).any(axis=2).sum(axis=1)
        fewest = np.where(represents, np.minimum(fewest, used), fewest)
    return [int(one) for one in fewest]


def _with_the_zero_matrix(pattern: Pattern) -> int:
    return len(_matrices(pattern))


def _distinct_entries(pattern: Pattern) -> int:
    return len({entry for matrix in _matrices(pattern) for entry in matrix} - {0})


def _distinct_norms(pattern: Pattern) -> int:
    return len({sum(entry**2 for entry in matrix) for matrix in _matrices(pattern)} - {0})


def _matrices(pattern: Pattern) -> set[Cells]:
    return {tuple(matrix.ravel().tolist()) for matrix in pattern[np.triu_indices(len(pattern))]}


def _values_met_once(pattern: Pattern, scales: Iterable[int]) -> dict[int, int]:
    profile = {}
    for scale in scales:
        values, times = np.unique(pattern[:scale, :scale][np.triu_indices(scale)], return_counts=True)
        profile[scale] = int(((times == 1) & (values != 0)).sum())
    return profile


def _within_new_entries(profile: Cells) -> bool:
    return all(0 <= after - before <= scale for scale, (before, after) in enumerate(pairwise((0, *profile)), start=1))


CLAIMS = (
    Claim(
        id="pola-3-monotone",
        source=source("Definition 3", "monotone"),
        statement="LRC never falls from scale n - 1 to n and rises by at most n; every such sequence is the profile of "
        "some pattern. "
        "All profiles are there for N = 3.",
        latex=r"0 \le \mathrm{LRC}_n(A) - \mathrm{LRC}_{n-1}(A) \le n",
        label="F",
        check=profiles_of_patterns,
        holds={"complexity": lrc_profile, "allowed": _within_new_entries},
        falsifiers={
            "it must rise": {"allowed": lambda profile: all(a < b for a, b in pairwise(profile))},
            "it rises by one at most": {"allowed": lambda profile: all(0 <= b - a <= 1 for a, b in pairwise(profile))},
            "it rises by any number": {"allowed": lambda profile: all(a <= b for a, b in pairwise(profile))},
            "values met once, in place of LRC": {"complexity": _values_met_once},
        },
    ),
    Claim(
        id="pola-3-vector",
        source=source("Definition 3", "vector tokens"),
        statement="For vector tokens the complexity is the number of distinct non-zero matrices W_ij: the fewest "
        "labels in use, constant from N0 to N iff some relation learns the pattern, and LRC for 1x1 matrices. "
        "Decided for N = 2.",
        latex=r"\mathrm{LRC}_n(W) = |\{W_{ij}: i \le j \le n\} \setminus \{0\}|",
        label="F",
        check=matrices_are_counted,
        holds={"count": lrc},
        falsifiers={
            "entries counted": {"count": _distinct_entries},
            "the zero matrix counted": {"count": _with_the_zero_matrix},
            "norms counted": {"count": _distinct_norms},
        },
    ),
)
