"""Inputs of training and of evaluation, drawn by counters: equal arguments give equal inputs on every machine.

Shapes: N inputs, B pairs, K variants of a pair.
"""

from dataclasses import dataclass

import numpy as np

from lengthgen.empirical.experiment.samples import TEST, TRAIN, stream
from lengthgen.empirical.studies.modular_addition.conditions import Condition, ModularProfile
from lengthgen.empirical.studies.modular_addition.texts import (
    HELD_OUT,
    OPERATORS,
    TRAINED,
    Inputs,
    Integers,
    Plan,
    Texts,
    all_pairs,
    by_unordered_pair,
    label,
    ordered_split,
    pair_indices,
)

SHARES = (0.4, 0.4, 0.2)
"""Shares of the inputs with filler alone, with words alone, and with both, in a condition with words.  [P]"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Kind of evaluation.

    Attributes:
        name: "A": the inputs of training at its last stage; "B": filler of `at` characters; "C0" and "C1": filler of
            random length and words that training does not show, without and with markers; "S": `at` tokens of hidden
            padding before the inputs of "B at 0".
        at: position; 0 where there is none.
    """

    name: str
    at: int = 0

    def __str__(self) -> str:
        return f"{self.name} at {self.at}" if self.name in "BS" else self.name


class Data:
    """Pairs and inputs of one condition, profile and seed."""

    def __init__(self, condition: Condition, profile: ModularProfile, seed: int) -> None:
        """Split the pairs and encode the pieces of texts."""
        self.condition, self.profile, self.seed = condition, profile, seed
        self.texts = Texts(profile.modulus, condition.anchors, profile.length)
        split = by_unordered_pair if condition.swap_disjoint else ordered_split
        self.train, self.test = (pair_indices(part, profile.modulus) for part in split(seed, profile.modulus))
        self.labels = _labels(profile.modulus)

    @property
    def variants(self) -> int:
        """Number K of variants of a pair in a training step."""
        return self.profile.variants if self.condition.varied else 1

    def stage(self, step: int) -> int:
        """Longest filler of a training step.  [P: three equal stages]"""
        stages = self.profile.longest_prefixes
        return stages[min(len(stages) - 1, len(stages) * step // self.profile.steps)]

    def training(self, step: int) -> tuple[Inputs, Integers]:
        """Inputs of B K rows, the variants of a pair side by side, and labels [B K].

        The pairs of a step differ; each step draws them anew.  [F]
        """
        rng = stream(TRAIN, self.seed, step + 1)
        pairs = rng.choice(self.train, min(self.profile.batch, len(self.train)), replace=False)
        pairs = np.repeat(pairs, self.variants)
        return self.texts.assemble(self._as_trained(pairs, self.stage(step), rng), rng), self.labels[pairs]

    def tested(self, *, all_pairs: bool) -> Integers:
        """Pairs of an evaluation: the first test pairs, or as many of all pairs, drawn at random.  [P]"""
        count = self.profile.tests
        if not all_pairs:
            return self.test[:count]
        everything = np.arange(self.profile.modulus**2)
        chosen: Integers = stream(TEST, self.seed, 1).choice(everything, min(count, len(everything)), replace=False)
        return chosen

    def evaluation(self, kind: Kind, pairs: Integers, variant: int = 0) -> Inputs:
        """Inputs of one kind for these pairs; another variant draws the texts anew."""
        # The counter has a word for each of variant, kind and position.
        rng = stream(TEST, self.seed, 2 + ((variant * len(KINDS) + KINDS.index(kind.name)) << 20) + kind.at)
        if kind.name == "A":
            return self.texts.assemble(self._as_trained(pairs, self.profile.longest_prefixes[-1], rng), rng)
        zeros, held_out = np.zeros_like(pairs), kind.name in ("C0", "C1")
        operators = len(OPERATORS) if held_out and self.condition.words else 1
        plan = Plan(
            pairs=pairs,
            operators=rng.integers(operators, size=len(pairs)),
            words=rng.integers(HELD_OUT.start, HELD_OUT.stop, len(pairs)) if held_out else zeros,
            prefixes=rng.integers(self.profile.longest_prefixes[-1] + 1, size=len(pairs))
            if held_out
            else zeros + kind.at * (kind.name == "B"),
            anchored=kind.name == "C1" or (not held_out and self.condition.words),
        )
        return self.texts.assemble(plan, rng, padding=kind.at if kind.name == "S" else 0)

    def kinds(self) -> list[Kind]:
        """Evaluations of the condition, "A" first."""
        positions = self.profile.positions
        kinds = [Kind(name="A"), *(Kind(name="B", at=at) for at in positions), Kind(name="C0")]
        kinds += [Kind(name="C1")] if self.condition.words else []
        return kinds + ([Kind(name="S", at=at) for at in positions if at] if self.condition.masked else [])

    def _as_trained(self, pairs: Integers, longest: int, rng: np.random.Generator) -> Plan:
        """Plan of inputs as in training at a stage."""
        count = len(pairs)
        zeros = np.zeros(count, dtype=np.int64)
        prefixes, words, operators = zeros, zeros, zeros
        if self.condition.shifted:
            prefixes = rng.integers(self.profile.shortest_prefix, longest + 1, count)
        if self.condition.words:
            kinds = rng.choice(3, count, p=SHARES)
            prefixes = np.where(kinds == 1, 0, prefixes)
            words = np.where(kinds == 0, 0, rng.integers(TRAINED.start, TRAINED.stop, count))
            operators = rng.integers(len(OPERATORS), size=count)
        return Plan(pairs=pairs, operators=operators, words=words, prefixes=prefixes, anchored=self.condition.words)


KINDS = ("A", "B", "C0", "C1", "S")


def _labels(modulus: int) -> Integers:
    """Label of each pair, by its index in `all_pairs`."""
    return np.array([label(pair, modulus) for pair in all_pairs(modulus)], dtype=np.int64)
