"""Classifiers of one condition: several seeds trained side by side, and measured at every position.

Shapes: M models (seeds), B pairs, K variants of a pair, L text length, N classes.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.encodings.modules import module_of
from lengthgen.empirical.experiment.loop import losses_of_all
from lengthgen.empirical.experiment.samples import TRAIN
from lengthgen.empirical.experiment.sealed import Losses
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.mapped import seeded, stack_models
from lengthgen.empirical.model.optimizer import ModelwiseAdamW
from lengthgen.empirical.studies.modular_addition.conditions import Condition, ModularProfile
from lengthgen.empirical.studies.modular_addition.draws import Data, Kind
from lengthgen.empirical.studies.modular_addition.encoder import Encoder
from lengthgen.empirical.studies.modular_addition.texts import PAD, SYMBOLS, Inputs, Integers

TOKENS = 1 << 14
"""Largest number of tokens computed at once in a test, over all models; at least one input is."""


class Classifiers:
    """Models of one condition, which differ in their seed."""

    def __init__(self, condition: Condition, profile: ModularProfile, backend: Backend) -> None:
        """Draw the initial models and split the pairs."""
        self.condition, self.profile, self.device = condition, profile, backend.device
        self.data = [Data(condition, profile, seed) for seed in profile.seeds]
        self.encoder = stack_models([self._initial_model(seed) for seed in profile.seeds]).to(backend.device)
        self.optimizer = ModelwiseAdamW(self.encoder, rate=profile.learning_rate, weight_decay=profile.weight_decay)

    def train(self) -> Losses:
        """Train all models; return the losses by step and model, the consistency term included."""
        return losses_of_all(self, self.profile.steps, self.profile.seeds)

    def rate(self, step: int) -> float:
        """Learning rate of a training step, from 0."""
        return self.profile.rate(step)

    def losses_at(self, step: int) -> tuple[Tensor, None]:
        """Losses of a training step, [M]; see `loop.Learner`."""
        self.encoder.train()
        drawn = [data.training(step) for data in self.data]
        labels = torch.from_numpy(np.stack([labels for _, labels in drawn])).to(self.device)
        self.encoder.dropout.begin([_dropout_seed(seed, step) for seed in self.profile.seeds], self.device)
        logits = self._logits([inputs for inputs, _ in drawn])
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels).mean(1)
        variants = logits.unflatten(1, (-1, self.data[0].variants))
        return losses + self.condition.weight * consistency(self.condition.consistency, variants), None

    def measure(self) -> dict[str, Any]:
        """Measure all evaluations; a list has one share for each model.

        Returns:
            trained: accuracy on training pairs, with the inputs of training.
            reference: accuracy on the pairs of the other evaluations, with the inputs of training.
            agreeing: share of the pairs of "A" of which as many variants as in training are all answered right (CC@K).
            accuracy: evaluation -> accuracy.
        """
        own, count = Kind(name="A"), self.profile.tests
        tested = [data.tested(all_pairs=self.condition.tests_all_pairs) for data in self.data]
        held_out = [data.tested(all_pairs=False) for data in self.data]
        variants = [self.right(own, held_out, variant) for variant in range(self.data[0].variants)]
        accuracy = {str(own): _shares(variants[0])}
        for kind in self.data[0].kinds()[1:]:
            accuracy[str(kind)] = _shares(self.right(kind, tested))
        return {
            "trained": _shares(self.right(own, [data.train[:count] for data in self.data])),
            "reference": _shares(self.right(own, tested)),
            "agreeing": _shares([np.all(answers, axis=0) for answers in zip(*variants, strict=True)]),
            "accuracy": accuracy,
        }

    @torch.no_grad()
    def right(self, kind: Kind, pairs_M: Sequence[Integers], variant: int = 0) -> list[NDArray[np.bool_]]:
        """True where a model's answer is right, for the pairs of each model: bool [pairs] each.

        A right answer to all variants of a pair is also the same answer to all.
        """
        self.encoder.eval()
        inputs = [data.evaluation(kind, pairs, variant) for data, pairs in zip(self.data, pairs_M, strict=True)]
        size = max(1, TOKENS // (len(inputs) * self.profile.length))
        parts = [
            self._logits([_rows(drawn, slice(start, start + size)) for drawn in inputs]).argmax(-1).cpu().numpy()
            for start in range(0, len(pairs_M[0]), size)
        ]
        answers = np.concatenate(parts, axis=1)
        return [answer == data.labels[pairs] for data, answer, pairs in zip(self.data, answers, pairs_M, strict=True)]

    def _logits(self, inputs_M: Sequence[Inputs]) -> Tensor:
        """Logits of the inputs of each model: [M, inputs, N]."""
        tokens = np.stack([inputs.tokens for inputs in inputs_M])
        hidden = None
        if self.condition.masked:  # then columns that all inputs have as padding change nothing
            length = 1 + int(np.flatnonzero((tokens != PAD).any((0, 1)))[-1])
            tokens = tokens[..., :length]
            hidden = self._tensor(tokens == PAD)
        read = None
        if self.condition.readout == "expression":
            rows = np.arange(tokens.shape[-1])
            starts, ends = (np.stack([getattr(inputs, name) for inputs in inputs_M]) for name in ("starts", "ends"))
            read = self._tensor((starts[..., None] <= rows) & (rows < ends[..., None]))
        logits: Tensor = self.encoder(self._tensor(tokens), hidden_MBL=hidden, read_MBL=read)
        return logits

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def _initial_model(self, seed: int) -> Encoder:
        """Make the initial model of a seed."""
        profile, has_cls = self.profile, self.condition.readout == "cls"
        sizes = profile.model.sizes() | dict.fromkeys(("length", "trained_length"), profile.length)

        def make() -> Encoder:
            return Encoder(
                symbols=SYMBOLS,
                classes=profile.modulus,
                encoding=module_of(parse_encoding(self.condition.encoding), sizes),
                has_cls=has_cls,
                dropout=profile.dropout,
                **asdict(profile.model),
            )

        return seeded(seed, make)


def consistency(term: str, logits_MBKN: Tensor) -> Tensor:
    """Consistency term of each model, [M].

    "disagreement" is the share of the pairs whose variants have different most probable labels, as in the released
    script of arXiv 2601.04283: a number without gradient.  "logits" is the squared difference of the logits of two
    variants, averaged over classes, over the pairs of variants and over the batch, as the paper describes.
    """
    models, _, variants, _ = logits_MBKN.shape
    if term == "disagreement":
        answers = logits_MBKN.argmax(-1)
        return (answers != answers[..., :1]).any(-1).to(logits_MBKN.dtype).mean(1)
    if term == "logits":
        differences = [
            logits_MBKN[:, :, first] - logits_MBKN[:, :, second] for first, second in combinations(range(variants), 2)
        ]
        return torch.stack([difference.square().mean((1, 2)) for difference in differences]).mean(0)
    return logits_MBKN.new_zeros(models)


def _shares(right_M: Sequence[NDArray[np.bool_]]) -> list[float]:
    return [float(right.mean()) for right in right_M]


def _rows(inputs: Inputs, rows: slice) -> Inputs:
    return Inputs(tokens=inputs.tokens[rows], starts=inputs.starts[rows], ends=inputs.ends[rows])


def _dropout_seed(seed: int, step: int) -> int:
    """Seed of the dropout of a step."""
    return int(np.random.SeedSequence([seed, TRAIN, step, 3]).generate_state(1, np.uint64)[0] >> 1)
