"""What a position encoding can make position-only linear attention generalize (Theorem 2 of arXiv 2510.04130)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from theory import pola
from theory.lrc import lrc_profile

Pattern = NDArray[np.float64]
Labels = NDArray[np.int64]
Profile = Mapping[int, int]

SCALE = 3
TRAINING_SCALES = (1, 2)
VALUES = (0, 1, 2)
# Class means of these values at this scale are at least 1/6 away from every value that they do not equal.
TOLERANCE = 1e-9


def learnable_iff_constant(
    *, complexity: Callable[[Pattern, Iterable[int]], Profile], relations: Callable[[], Iterable[Labels]]
) -> Evidence:
    """Decide, pattern by pattern: some relation learns it from scale N0 <=> its complexity at N is that at N0."""
    patterns, labellings = _patterns(), list(relations())
    profiles = [complexity(pattern, (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    for training_scale in TRAINING_SCALES:
        learnable = np.zeros(len(patterns), dtype=bool)
        for labels in labellings:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale)
            _require_least_squares(learned, patterns, labels, training_scale)
            learnable |= (np.abs(learned - patterns) < TOLERANCE).all(axis=(1, 2))
        for pattern, profile, found in zip(patterns, profiles, learnable, strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if found != (before == after):
                answer = "some relation learns it" if found else "no relation learns it"
                where = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}"
                raise Refuted(f"{where}: complexity {before} -> {after}, {answer}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, each under "
            f"{len(labellings)} relations: learnable by one of them exactly where LRC does not grow",
            "what is learned equals the pseudo-inverse solution in every one of these cases",
        ),
        assumptions=("least squares from zero on spanning data of scales up to N0", "no scale hint"),
    )


def _require_least_squares(learned: Pattern, patterns: Pattern, labels: Labels, training_scale: int) -> None:
    """That the learner's matrices come from the parameters of least norm among those of least squared loss."""
    keys, queries = np.triu_indices(SCALE)
    parameter_of_cell = labels[keys, queries, None] == np.arange(labels.max() + 1)
    seen = queries < training_scale
    parameters = patterns[:, keys[seen], queries[seen]] @ np.linalg.pinv(parameter_of_cell[seen].astype(float)).T
    gap = np.abs(learned[:, keys, queries] - parameters @ parameter_of_cell.T).max(axis=1)
    if gap.max() >= TOLERANCE:
        pattern = patterns[gap.argmax()].astype(int).tolist()
        raise Refuted(
            f"not least squares of least norm: labels {labels.tolist()}, N0 = {training_scale}, A = {pattern}"
        )


def _patterns() -> Pattern:
    cells = np.array(list(product(VALUES, repeat=SCALE * (SCALE + 1) // 2)), dtype=np.float64)
    patterns = np.zeros((len(cells), SCALE, SCALE))
    patterns[:, *np.triu_indices(SCALE)] = cells
    return patterns


def _as_labels(blocks: Iterable[int]) -> Labels:
    labels = np.zeros((SCALE, SCALE), dtype=np.int64)
    labels[np.triu_indices(SCALE)] = list(blocks)
    return labels


def _all_relations() -> Iterator[Labels]:
    """Every set partition of the cells on and above the diagonal, as a relation."""
    return map(_as_labels, _partitions(SCALE * (SCALE + 1) // 2))


def _partitions(size: int) -> Iterator[tuple[int, ...]]:
    """Set partitions as restricted growth strings: each element names its block, blocks numbered by first use."""
    if size == 0:
        yield ()
        return
    for blocks in _partitions(size - 1):
        for block in range(max(blocks, default=-1) + 2):
            yield (*blocks, block)


def _absolute_relation() -> tuple[Labels]:
    return (_as_labels(range(SCALE * (SCALE + 1) // 2)),)


def _relative_relation() -> tuple[Labels]:
    keys, queries = np.triu_indices(SCALE)
    return (_as_labels(queries - keys),)


def _values_with_zero(pattern: Pattern, scales: Iterable[int]) -> Profile:
    return {scale: len(np.unique(pattern[:scale, :scale][np.triu_indices(scale)])) for scale in scales}


def _rank(pattern: Pattern, scales: Iterable[int]) -> Profile:
    return {scale: int(np.linalg.matrix_rank(pattern[:scale, :scale])) for scale in scales}


CLAIMS = (
    Claim(
        id="pola-2b",
        source=Source(
            paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization",
            arxiv="2510.04130",
            place="Theorem 2, in our formalisation (2b)",
        ),
        statement="Some position relation lets position-only linear attention generalize a pattern from scale N0 to N "
        "if and only if the pattern's linear representation complexity is the same at both scales.",
        latex=r"\exists\varphi:\ (N_0,N)\text{-LG on }A \iff \mathrm{LRC}_N(A)=\mathrm{LRC}_{N_0}(A)",
        label="F",
        check=learnable_iff_constant,
        holds={"complexity": lrc_profile, "relations": _all_relations},
        falsifiers={
            "zero counted as a value": {"complexity": _values_with_zero},
            "rank in place of LRC": {"complexity": _rank},
            "absolute relation only": {"relations": _absolute_relation},
            "relative relation only": {"relations": _relative_relation},
        },
    ),
)
