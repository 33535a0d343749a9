"""Theorem 2 of arXiv 2510.04130, formalised: the patterns for which a relation lets POLA generalize.

For a given relation (2a, also from another start), for some relation (2b), and a sufficient condition (2c).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    DESCENT,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    VALUES,
    is_learned,
    learnable_text,
)
from lengthgen.theory.enumeration import every_pattern, every_relation
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import lrc_profile
from lengthgen.theory.relation import Labels, absolute, relative, upper_pairs

Pattern = NDArray[np.float64]
Truth = NDArray[np.bool_]
Profile = Mapping[int, int]
Condition = Callable[[Pattern, Labels, int, Pattern], Truth]

KEYS, QUERIES = np.triu_indices(SCALE)


def generalizes_exactly_on(
    condition: Condition, dimension: Callable[[Labels, int], int], starts: Iterable[tuple[int, ...]]
) -> Facts:
    """Decide for each relation that the patterns learned from N0 are those that meet the condition.

    A start is a cycle of initial values for the labels 0, 1, ....
    """
    patterns, units = every_pattern(SCALE, VALUES), np.zeros((len(KEYS), SCALE, SCALE))
    units[np.arange(len(KEYS)), KEYS, QUERIES] = 1
    for labels, training_scale, cycle in product(every_relation(SCALE), TRAINING_SCALES, starts):
        start = np.resize(np.array(cycle, dtype=np.float64), labels.max() + 1)
        learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
        where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {_listed(start)}"
        _require_nearest_minimum(learned, patterns, labels, training_scale, start)
        expected = condition(patterns, labels, training_scale, start)
        _require_learned(learned, patterns, is_learned(learned, patterns) != expected, where)
        linear = pola.learned_matrix(units, labels, training_scale=training_scale)[:, KEYS, QUERIES]
        affine = patterns[:, KEYS, QUERIES] @ linear + learned[0, KEYS, QUERIES]
        if np.abs(learned[:, KEYS, QUERIES] - affine).max() >= TOLERANCE:
            raise Refuted(f"{where}: the learner is not an affine map")
        free = len(units) - int(np.linalg.matrix_rank(linear - np.eye(len(units))))
        if free != dimension(labels, training_scale):
            raise Refuted(f"{where}: dimension {free}, not {dimension(labels, training_scale)}")
    yield (
        f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, under all "
        "relations: learned exactly where the condition holds"
    )
    yield "in each of these cases the parameters are the minimum nearest to the start, by the pseudo-inverse"
    yield (
        f"for all real patterns at N = {SCALE}: the learner is an affine map, and the patterns that it fixes have the "
        "dimension stated"
    )


def _require_learned(learned: Pattern, patterns: Pattern, wrong: Truth, where: str) -> None:
    """Require that no pattern is learned, or not learned, against the condition."""
    if wrong.any():
        at = int(np.argmax(wrong))
        answer = "learned" if is_learned(learned, patterns)[at] else "not learned"
        raise Refuted(f"{where}: A = {_listed(patterns[at])} is {answer}, against the condition")


def _require_nearest_minimum(
    learned: Pattern, patterns: Pattern, labels: Labels, training_scale: int, start: Pattern
) -> None:
    """Require that the learned parameters are the least-squares solution nearest to the start."""
    seen = training_scale > QUERIES
    parameter_of_cell = np.equal.outer(labels[KEYS, QUERIES], np.arange(labels.max() + 1)).astype(np.float64)
    design = parameter_of_cell[seen]
    unexplained = patterns[:, KEYS[seen], QUERIES[seen]] - design @ start
    parameters = start + unexplained @ np.linalg.pinv(design).T
    gap = np.abs(learned[:, KEYS, QUERIES] - parameters @ parameter_of_cell.T).max(axis=1)
    if gap.max() >= TOLERANCE:
        where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {_listed(start)}"
        raise Refuted(f"not the nearest least-squares fit: {where}, A = {_listed(patterns[gap.argmax()])}")


def _listed(array: NDArray[np.generic]) -> str:
    """Text of an integer array."""
    return str(np.asarray(array, dtype=np.int64).tolist())


def _values_with_zero(pattern: Pattern, scales: Iterable[int]) -> Profile:
    """Number of distinct entries at each scale, zero included."""
    return {scale: len(np.unique(pattern[:scale, :scale][upper_pairs(scale)])) for scale in scales}


def _rank(pattern: Pattern, scales: Iterable[int]) -> Profile:
    """Rank at each scale."""
    return {scale: int(np.linalg.matrix_rank(pattern[:scale, :scale])) for scale in scales}


def _labels_up_to(labels: Labels, training_scale: int) -> set[int]:
    """Labels that occur up to a scale."""
    return set(labels[upper_pairs(training_scale)].tolist())


def _classes(patterns: Pattern, labels: Labels) -> Iterator[tuple[int, Pattern]]:
    """Yield each label with the entries of its class, [patterns, cells]."""
    for label in sorted(_labels_up_to(labels, SCALE)):
        yield label, patterns[:, KEYS, QUERIES][:, labels[KEYS, QUERIES] == label]


def _consistent(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is constant on the classes."""
    return _all([np.ptp(cells, axis=1) == 0 for _, cells in _classes(patterns, labels)], patterns)


def _covered(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True if every label of scale N is met in training."""
    return np.full(len(patterns), _labels_up_to(labels, training_scale) == _labels_up_to(labels, SCALE))


def _consistent_in_training(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is constant on the classes within training scales."""
    beyond = np.arange(SCALE) >= training_scale
    apart = np.where(beyond, labels.size + np.arange(labels.size).reshape(labels.shape), labels)
    return _consistent(patterns, apart, training_scale, start)


def _unmet_at_start(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that equals the start on the classes never met in training."""
    unmet = _labels_up_to(labels, SCALE) - _labels_up_to(labels, training_scale)
    classes = _classes(patterns, labels)
    return _all([(cells == start[label]).all(axis=1) for label, cells in classes if label in unmet], patterns)


def _unmet_zero(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is 0 on the classes never met in training."""
    return _unmet_at_start(patterns, labels, training_scale, np.zeros_like(start))


def _both(first: Condition, second: Condition) -> Condition:
    """Condition that both conditions hold."""
    return lambda *case: first(*case) & second(*case)


def _all(conditions: list[Truth], patterns: Pattern) -> Truth:
    """True for each pattern for which all conditions hold."""
    return np.asarray(np.logical_and.reduce([np.ones(len(patterns), dtype=bool), *conditions]))


def _labels_met(labels: Labels, training_scale: int) -> int:
    """Number of labels met in training."""
    return len(_labels_up_to(labels, training_scale))


def _labels_in_all(labels: Labels, _: int) -> int:
    """Number of labels at scale N."""
    return _labels_met(labels, SCALE)


CLAIMS = PaperClaims(SOURCE)


_exactly = partial(
    CLAIMS.claim,
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(DESCENT,),
)
_exactly(
    "pola-2a",
    formalised("Theorem 2", "2a"),
    r"\{A:\ A=\theta\circ\varphi,\ \theta_k=0\ \forall k\notin\varphi(T_{N_0})\},\ \dim=|\varphi(T_{N_0})|",
    statement="Under a fixed relation, the patterns that generalize from N0 to N are those constant on its classes and "
    "0 on classes not met at N0: a linear space whose dimension is the number of labels met at N0. Besides, it is "
    "decided for N = 3, under every relation.",
    assumptions=(DESCENT, "start 0"),
    holds={"condition": _both(_consistent, _unmet_zero), "dimension": _labels_met, "starts": ((0,),)},
    falsifiers={
        "classes never met are free": {"condition": _consistent},
        "0 where never met is enough": {"condition": _unmet_zero},
        "every class must be met": {"condition": _both(_consistent, _covered)},
        "one dimension for each label at N": {"dimension": _labels_in_all},
        "one dimension for each cell at N0": {"dimension": lambda _, scale: scale * (scale + 1) // 2},
    },
)(generalizes_exactly_on)


@CLAIMS.claim(
    "pola-2b",
    formalised("Theorem 2", "2b"),
    r"\exists\varphi:\ (N_0,N)\text{-LG on }A \iff \mathrm{LRC}_N(A)=\mathrm{LRC}_{N_0}(A)",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(DESCENT, "start 0"),
    falsifiers={
        "zero counted as a value": {"complexity": _values_with_zero},
        "rank in place of LRC": {"complexity": _rank},
        "absolute relation only": {"relations": lambda: (absolute().labels(SCALE),)},
        "relative relation only": {"relations": lambda: (relative().labels(SCALE),)},
    },
)
def learnable_iff_constant(
    complexity: Callable[[Pattern, Iterable[int]], Profile] = lrc_profile,
    relations: Callable[[], Iterable[Labels]] = lambda: every_relation(SCALE),
) -> Facts:
    """Some position relation lets position-only linear attention generalize a pattern from scale N0 to N if and only if
    the pattern's linear representation complexity is the same at both scales, from start 0. Besides, it is decided for
    N = 3 and entries 0, 1, 2, under every relation.
    """
    patterns, labellings = every_pattern(SCALE, VALUES), list(relations())
    profiles = [complexity(pattern, (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    for training_scale in TRAINING_SCALES:
        learnable = np.zeros(len(patterns), dtype=bool)
        for labels in labellings:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale)
            _require_nearest_minimum(learned, patterns, labels, training_scale, np.zeros(labels.max() + 1))
            learnable |= is_learned(learned, patterns)
        for pattern, profile, is_learnable in zip(patterns, profiles, learnable, strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if is_learnable != (before == after):
                where = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}"
                raise Refuted(f"{where}: complexity {before} -> {after}, {learnable_text(bool(is_learnable))}")
    yield (
        f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, each under "
        f"{len(labellings)} relations: learnable by one of them exactly where LRC does not grow"
    )
    yield "what is learned equals the pseudo-inverse solution in every one of these cases"


@CLAIMS.claim(
    "pola-2c",
    formalised("Theorem 2", "2c"),
    r"A=\theta\circ\varphi\ \wedge\ \varphi(T_N)=\varphi(T_{N_0}) \implies (N_0,N)\text{-LG on }A",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(DESCENT,),
    falsifiers={
        "consistency alone": {"condition": _consistent},
        "coverage alone": {"condition": _covered},
        "consistency within training scales, and coverage": {"condition": _both(_consistent_in_training, _covered)},
    },
)
def suffices(condition: Condition = _both(_consistent, _covered), starts: Iterable[int] = (0, 5)) -> Facts:
    """Consistency (the pattern is constant on the classes of the relation) and coverage (every label of scale N is met
    at N0) suffice for generalization from N0 to N, from every start; neither does alone. Besides, it is decided for N =
    3, under every relation.
    """
    patterns = every_pattern(SCALE, VALUES)
    met = spared = 0
    for labels, training_scale in product(every_relation(SCALE), TRAINING_SCALES):
        meets_condition = condition(patterns, labels, training_scale, np.zeros(labels.max() + 1))
        for start in starts:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
            learned_right = is_learned(learned, patterns)
            where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {start}"
            _require_learned(learned, patterns, meets_condition & ~learned_right, where)
            met, spared = met + int(meets_condition.sum()), spared + int((learned_right & ~meets_condition).sum())
    yield (
        f"all relations, N0 in {TRAINING_SCALES}, patterns with entries in {VALUES} at N = {SCALE}, starts "
        f"{tuple(starts)}: the condition holds {met} times, and each time the pattern is learned"
    )
    yield f"it is not necessary: {spared} times a pattern is learned without it"


_exactly(
    "pola-2-start",
    formalised("Theorem 2", "2a, from another start"),
    r"\{A:\ A=\theta\circ\varphi,\ \theta_k=\theta^{(0)}_k\ \forall k\notin\varphi(T_{N_0})\}",
    statement="From a start theta0 a label that training never meets keeps its theta0: the patterns that generalize "
    "are those constant on classes and equal to theta0 on the classes never met, an affine space of the same "
    "dimension. Besides, it is decided for N = 3, under every relation.",
    holds={"condition": _both(_consistent, _unmet_at_start), "dimension": _labels_met, "starts": ((1,), (2, 0, 1))},
    falsifiers={
        "the start is forgotten": {"condition": _both(_consistent, _unmet_zero)},
        "the start where never met is enough": {"condition": _unmet_at_start},
        "every class must be met": {"condition": _both(_consistent, _covered)},
        "labels never met are directions as well": {"dimension": _labels_in_all},
    },
)(generalizes_exactly_on)
