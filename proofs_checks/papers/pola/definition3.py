"""Definition 3, Linear Representation Complexity (LRC): the readings that we reject and the one that we take."""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    LEAST_SQUARES,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    VALUES,
    is_learned,
    learnable_text,
    learned_by_relation,
)
from lengthgen.theory.enumeration import cell_count, every_pattern, every_relation, kinds
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import lrc, lrc_profile
from lengthgen.theory.rational import rank

Pattern = NDArray[Any]
Cells = tuple[int, ...]
Profile = Callable[[Pattern, Iterable[int]], Mapping[int, int]]


def bases_decide_nothing(*, fewest: Callable[[Cells], int], stated: Callable[[Cells], int], decides: bool) -> Evidence:
    """Decide how many basis matrices a pattern needs, and if this number says which patterns some relation learns.

    Args:
        fewest: entries -> least number of basis matrices, computed.
        stated: entries -> the stated number.
        decides: True if a number that stays the same is claimed to say what is learned.
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
    """Decide the complexity of prefix sums, and if a constant complexity is necessary and sufficient to be learned."""
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
    """True for each pattern with entries in VALUES that some relation learns from the training scale."""
    learned = learned_by_relation(pola.learned_matrix, VALUES, size=size, training_scale=training_scale)
    return [bool(learned_by_each.any()) for learned_by_each in learned.T]


def _fewest_real_bases(cells: Cells) -> int:
    """Least number of real basis matrices; the pattern itself may be one."""
    return _fewest(cells, [cells], disjoint=False)


def _fewest_binary_bases(cells: Cells) -> int:
    """Least number of basis matrices of zeros and ones."""
    return _fewest(cells, list(product((0, 1), repeat=len(cells))), disjoint=False)


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


def _rank_profile(pattern: Pattern, scales: Iterable[int]) -> dict[int, int]:
    """Rank at each scale."""
    return {scale: rank(pattern[:scale, :scale]) for scale in scales}


def profiles_of_patterns(*, complexity: Profile, allowed: Callable[[Cells], bool]) -> Evidence:
    """Decide which sequences of complexities at scales 1..N real patterns have, for each kind of pattern."""
    profiles = set()
    for kind in kinds(cell_count(SCALE)):
        pattern = np.zeros((SCALE, SCALE), dtype=np.int64)
        pattern[np.triu_indices(SCALE)] = kind
        profile = tuple(complexity(pattern, range(1, SCALE + 1)).values())
        if not allowed(profile):
            raise Refuted(f"A = {pattern.tolist()} has complexities {profile}")
        profiles.add(profile)
    for profile in product(range(cell_count(SCALE) + 1), repeat=SCALE):
        if allowed(profile) and profile not in profiles:
            raise Refuted(f"no pattern has complexities {profile}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N = 3",
        facts=(
            f"N = {SCALE}: patterns of every kind, hence all real ones, have {len(profiles)} profiles, each as stated",
            "argument for every n: scale n + 1 keeps the entries of scale n and adds n + 1",
        ),
    )


def matrices_are_counted(*, count: Callable[[Pattern], int]) -> Evidence:
    """Decide for vector tokens that the count is the least number of labels in use, and shows what can be learned."""
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
            if after != labels_used:
                raise Refuted(f"{where}: the fewest labels are {labels_used}, not {after}")
            if (before == after) != is_learnable:
                raise Refuted(f"{where}: {before} -> {after}, {learnable_text(is_learnable)}")
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


def _with_the_zero_matrix(pattern: Pattern) -> int:
    """Number of distinct matrices, the zero matrix included."""
    return len(_matrices(pattern))


def _distinct_entries(pattern: Pattern) -> int:
    """Number of distinct non-zero entries of the matrices."""
    return len({entry for matrix in _matrices(pattern) for entry in matrix} - {0})


def _distinct_norms(pattern: Pattern) -> int:
    """Number of distinct non-zero norms of the matrices."""
    return len({sum(entry**2 for entry in matrix) for matrix in _matrices(pattern)} - {0})


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


CLAIMS = (
    Claim(
        id="pola-3-bases",
        source=formalised("Definition 3", "basis matrices"),
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
        source=formalised("Definition 3", "rank"),
        statement="Prefix sums have rank n at every scale although one shared value solves them all; a rank that stays "
        "the same is neither necessary nor sufficient for some relation to learn a pattern. "
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
    Claim(
        id="pola-3-monotone",
        source=formalised("Definition 3", "monotone"),
        statement="LRC never falls from scale n - 1 to n and rises by at most n; every such sequence is the profile of "
        "some pattern. "
        "All profiles occur for N = 3.",
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
        source=formalised("Definition 3", "vector tokens"),
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
