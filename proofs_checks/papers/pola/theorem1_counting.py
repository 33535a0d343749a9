"""Theorem 1 of arXiv 2510.04130, formalised: how many targets a family of relations reaches (1a), and by chance (1b).

F_M are the patterns of scale N with entries in [-M, M], F_{M,B0} those with the leading block B0 at the training scale
N0; D = d_N - d_N0 entries are then free. Phi is a countable family of relations, fixed before the target. Everything
in Theorem 1 rests on one fact: training shows B0 and no more, so what a relation learns is a function of B0.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from operator import ge, gt

import numpy as np
from numpy.typing import NDArray
from sympy.utilities.iterables import partitions

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.cases import LEAST_SQUARES, SCALE, TRAINING_SCALES, reached, right, shown
from proofs_checks.papers.pola.source import source
from theory import pola
from theory.dimension import every_pattern
from theory.lrc import level_sets

Reach = Callable[[int], NDArray[np.bool_]]
VALUES = (0, 1, 2, 3)


def one_target_per_relation(*, reach: Reach, bound: Callable[[int], int]) -> Evidence:
    """Decide, block by block: of the targets with that block, a family of relations reaches at most its own number."""
    patterns = every_pattern(SCALE, VALUES)
    facts = []
    for training_scale in TRAINING_SCALES:
        learnt = reach(training_scale)
        entries = patterns[:, *np.triu_indices(SCALE)][:, shown(training_scale)]
        blocks, block_of = np.unique(entries, axis=0, return_inverse=True)
        in_block = block_of.ravel()[:, None] == np.arange(len(blocks))
        families = {1: learnt, len(learnt): np.any(learnt, axis=0, keepdims=True)}
        for size, family in families.items():
            counts = family.astype(np.int64) @ in_block
            for row, at in np.ndindex(counts.shape):
                if counts[row, at] > bound(size):
                    some = patterns[family[row] & in_block[:, at]][:2].astype(int).tolist()
                    raise Refuted(
                        f"N0 = {training_scale}, B0 = {blocks[at].astype(int).tolist()}: a family of {size} reaches "
                        f"{counts[row, at]} targets, not {bound(size)} at most: {some}"
                    )
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}: each of the {len(learnt)} relations reaches 0 or 1 target with a "
            f"given block, all together at most {counts.max()}: relations that disagree with the block reach none, "
            "and several may reach one target, so equality fails"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            *facts,
            f"blocks with entries in {VALUES} are of every kind (which entries are equal, which zero), and a relation "
            "that learns the block right puts its entries or 0 beyond it, so no real target is left out",
            "argument for every countable Phi and deterministic learner: the output is a function of phi and B0, so "
            "phi gives at most one target; a countable set has Hausdorff dimension 0 and volume 0, while F_{M,B0} is a "
            "cube of dimension D if ||B0|| <= M and empty otherwise",
        ),
        assumptions=(LEAST_SQUARES, "no scale hint", "Phi is fixed before the target"),
    )


def targets_per_random_learner(
    *, bound: Callable[[Fraction], int], succeeds: Callable[[Fraction, Fraction], bool]
) -> Evidence:
    """Decide, for every delta of small denominator: how many targets one relation reaches with chance 1 - delta.

    The output's law on the targets is fixed by B0. Chances may be taken as multiples of 1/q if 1 - delta is one:
    rounding them down keeps every success. So integer partitions of q stand for all laws.
    """
    denominators = range(2, 13)
    for q in denominators:
        laws = [Counter(law) for law in partitions(q)]
        for shares in range(1, q + 1):
            confidence = Fraction(shares, q)
            most = max(
                sum(times for part, times in law.items() if succeeds(Fraction(part, q), confidence)) for law in laws
            )
            stated = bound(1 - confidence)
            if most != stated:
                raise Refuted(f"delta = {1 - confidence}: one relation reaches {most} targets at most, not {stated}")
            chances = _chances_from_random_start(stated)
            if sum(succeeds(chance, confidence) for chance in chances) != stated:
                raise Refuted(f"delta = {1 - confidence}: {stated} random starts do not reach {stated} targets")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"denominators up to {max(denominators)}",
        facts=(
            f"every delta in [0, 1) with denominator up to {max(denominators)}, every law of the output: the most "
            "targets is floor(1/(1 - delta)), attained by POLA that starts its unseen label at random",
            "argument for every delta: reaching different targets are disjoint events, so k(1 - delta) <= 1; k equal "
            "chances attain it; at delta = 0 this is pola-1a",
        ),
        assumptions=("the learner's randomness, with that of its sample, depends on B0 alone", "Phi fixed before"),
    )


def _reached_by_every_relation(training_scale: int) -> NDArray[np.bool_]:
    """Which patterns each relation learns: bool [relations, patterns]."""
    return reached(pola.learned_matrix, VALUES, size=SCALE, training_scale=training_scale)


def _reached_by_level_sets(training_scale: int) -> NDArray[np.bool_]:
    """Which patterns are learned under the relation of their own level sets, one rule: bool [1, patterns]."""
    patterns = every_pattern(SCALE, VALUES)
    own = np.array([level_sets(pattern).labels(SCALE) for pattern in patterns])
    relations, relation_of = np.unique(own, axis=0, return_inverse=True)
    learnt = np.zeros((1, len(patterns)), dtype=bool)
    for at, labels in enumerate(relations):
        alike = relation_of.ravel() == at
        learned = pola.learned_matrix(patterns[alike], labels, training_scale=training_scale)
        learnt[0, alike] = right(learned, patterns[alike])
    return learnt


def _chances_from_random_start(starts: int) -> list[Fraction]:
    """The chance of each target that POLA reaches from B0 = 1 if its unseen label starts at 0, 1, ... alike."""
    labels, block = np.array([[0, 1], [0, 1]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    ends = Counter(
        tuple(pola.learned_matrix(block, labels, training_scale=1, start=(0.0, start)).ravel())
        for start in range(starts)
    )
    return [Fraction(times, starts) for times in ends.values()]


CLAIMS = (
    Claim(
        id="pola-1a",
        source=source("Theorem 1", "1a"),
        statement="Each relation fixed beforehand lets position-only linear attention generalize to at most one "
        "target with a given leading block. So a countable family reaches a set of Hausdorff dimension 0 "
        "and relative volume 0 in a cube of dimension D. "
        "Every relation and pattern is tried for N = 3; an argument does the rest.",
        latex=r"|F_{M,B_0}^{N_0,N}| \le |\Phi|,\quad \dim_H F_{M,B_0}^{N_0,N} = 0,\quad \dim_H F_{M,B_0} = D",
        label="F",
        check=one_target_per_relation,
        holds={"reach": _reached_by_every_relation, "bound": lambda family: family},
        falsifiers={
            "training shows one scale more": {
                "reach": lambda training_scale: _reached_by_every_relation(training_scale + 1)
            },
            "relation chosen after the target": {"reach": _reached_by_level_sets},
            "one target fewer than relations": {"bound": lambda family: family - 1},
        },
    ),
    Claim(
        id="pola-1b",
        source=source("Theorem 1", "1b"),
        statement="A randomised learner that is right with chance at least 1 - delta reaches at most "
        "floor(1/(1 - delta)) targets for each relation and block, and that many can be reached. "
        "Every delta is tried with denominators up to 12; an argument does the rest.",
        latex=r"\max_{P}\ \#\{A: P(A) \ge 1-\delta\} = \lfloor 1/(1-\delta) \rfloor",
        label="F",
        check=targets_per_random_learner,
        holds={"bound": lambda delta: floor(1 / (1 - delta)), "succeeds": ge},
        falsifiers={
            "one target, as without chance": {"bound": lambda delta: 1},
            "rounded up": {"bound": lambda delta: ceil(1 / (1 - delta))},
            "rounded to the nearest": {"bound": lambda delta: floor(1 / (1 - delta) + Fraction(1, 2))},
            "success with chance above 1 - delta": {"succeeds": gt},
        },
    ),
)
