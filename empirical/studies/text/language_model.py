"""Byte-level language models of one encoding: several seeds trained side by side, and measured at every length.

Shapes: M models (seeds), B windows, L bytes that a model reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.circuits.encoding_spec import EncodingSpec
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.modules import label_relation, module_of
from lengthgen.empirical.experiment.loop import TrainingError, cosine, losses_of_all
from lengthgen.empirical.experiment.run import drawn_from, require_buildable
from lengthgen.empirical.experiment.samples import TEST, TRAIN
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.model.mapped import MappedEncoding, seeded, stack_models
from lengthgen.empirical.model.optimizer import ModelwiseAdamW
from lengthgen.empirical.studies.text.corpus import (
    DIGITS,
    Corpus,
    TextProfile,
    Windows,
    ending_together,
    windows,
    with_keys,
)

SYMBOLS = 256
WARM_UP = 0.05
"""Share of the steps in which the learning rate rises to its initial value; then it falls to 0 by a half cosine."""
LAST = 32
"""Bytes at the end of a window whose mean loss is compared between lengths: fewer than any trained length."""
TOKENS = 1 << 13
"""Largest number of bytes computed at once in a test, over all models; at least one window is."""


Counters = Sequence[tuple[int, ...]]
"""Counter of each model, which determines drawn positions."""


@dataclass(frozen=True, kw_only=True)
class AtLength:
    """Measurements at one length; a list has one number for each model.

    Attributes:
        length: bytes that the models read.
        loss: mean loss of all bytes, in nats per byte.
        last: mean loss of the last LAST bytes, the same text at every length.
        by_position: mean loss of the bytes at each position, averaged over models, in eighths of the window.
        keys: share of the keys of which all digits are the most probable ones, given those before them.
    """

    length: int
    loss: list[float]
    last: list[float]
    by_position: list[float]
    keys: list[float]


class LanguageModels:
    """Models of one encoding, which differ in their seed."""

    def __init__(self, spec: EncodingSpec, profile: TextProfile, corpus: Corpus, backend: Backend) -> None:
        """Draw the initial models."""
        require_buildable(spec, profile.model, profile.lengths[-1])
        self.spec, self.profile, self.corpus = spec, profile, corpus
        self.geometry = Geometry(
            {1: profile.lengths[-1]},
            relation=label_relation(spec, None),
            longest=drawn_from(spec),
            consecutive=spec.record.consecutive,
            device=backend.device,
        )
        members = [
            seeded(seed, lambda: Decoder(symbols=SYMBOLS, encoding=self._module(spec), **asdict(profile.model)))
            for seed in range(profile.seeds)
        ]
        self.decoder = stack_models(members).to(backend.device)
        self.forward = backend.forward_of(self.decoder)
        self.optimizer = ModelwiseAdamW(
            self.decoder, rate=profile.learning_rate, weight_decay=profile.weight_decay, clip=profile.clip
        )

    def train(self) -> list[list[float]]:
        """Train all models; return the losses by step and model, in nats per byte, without auxiliary losses."""
        self.decoder.train()
        return losses_of_all(self, self.profile.steps, range(self.profile.seeds), f"{self.spec}: ")

    def rate(self, step: int) -> float:
        """Learning rate of a training step, from 0."""
        steps = self.profile.steps
        return cosine(self.profile.learning_rate, step, steps, warm_up=max(1, round(WARM_UP * steps)))

    def losses_at(self, step: int) -> tuple[Tensor, Tensor | None]:
        """Losses of a training step and the auxiliary ones, [M] each; see `loop.Learner`."""
        profile, encoding = self.profile, self.decoder.encoding
        tokens = np.stack([self._batch(seed, step) for seed in range(profile.seeds)])
        counters = [(seed, TRAIN, step) for seed in range(profile.seeds)]
        losses = self._losses(self._tensor(tokens), counters).mean((1, 2))
        if not encoding.has_auxiliary_loss:
            return losses, None
        positions = self.geometry.positions(profile.length, counters)
        return losses, encoding.auxiliary_losses(positions, counters, step / profile.steps)

    @torch.no_grad()
    def measure(self, length: int, *, under: EncodingSpec | None = None) -> AtLength:
        """Measure the models at one length, perhaps under another encoding than that of training."""
        if under is not None:
            trained = self.decoder.encoding
            self.decoder.encoding = self._replacement(under)
            try:
                return self.measure(length)
            finally:
                self.decoder.encoding = trained
        self.decoder.eval()
        test, count, longest = self.corpus.test, self.profile.windows, self.profile.lengths[-1] + 1
        plain = ending_together(test, count, length + 1, longest)
        losses = np.concatenate([self._losses(*part).cpu().numpy() for part in self._parts(plain)], axis=1)
        keyed = with_keys(windows(test, count, length + 1, (0, TEST, length)), (1, TEST, length))
        recalled = np.concatenate([self._recalled(*part).cpu().numpy() for part in self._parts(keyed)], axis=1)
        eighths = np.array_split(losses.mean((0, 1), dtype=np.float64), 8)
        return AtLength(
            length=length,
            loss=losses.mean((1, 2), dtype=np.float64).tolist(),
            last=losses[..., -LAST:].mean((1, 2), dtype=np.float64).tolist(),
            by_position=[float(part.mean()) for part in eighths],
            keys=recalled.mean(1, dtype=np.float64).tolist(),
        )

    def _replacement(self, spec: EncodingSpec) -> MappedEncoding:
        """Return another encoding of all models."""
        require_buildable(spec, self.profile.model, self.profile.lengths[-1])
        replacement = MappedEncoding([self._module(spec) for _ in range(self.profile.seeds)])
        if any(True for encoding in (replacement, self.decoder.encoding) for _ in encoding.parameters()):
            raise TrainingError(
                f"'{self.spec}' cannot become '{spec}' without training: one of them has trained numbers"
            )
        return replacement.to(self.geometry.device)

    def _losses(self, tokens_MBL: Tensor, counters: Counters) -> Tensor:
        """Losses of the bytes after the first, in nats: [M, B, L - 1]."""
        targets = tokens_MBL[..., 1:]
        logits = self._logits(tokens_MBL, counters)
        return F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)

    def _recalled(self, tokens_MBL: Tensor, counters: Counters) -> Tensor:
        """True where all digits of the key are predicted: [M, B]."""
        return (self._logits(tokens_MBL, counters, last=DIGITS).argmax(-1) == tokens_MBL[..., -DIGITS:]).all(-1)

    def _logits(self, tokens_MBL: Tensor, counters: Counters, last: int | None = None) -> Tensor:
        """Logits of the bytes after the first, or of the last ones: [M, B, L - 1 or last, SYMBOLS]."""
        length = tokens_MBL.shape[-1] - 1
        positions = self.geometry.positions(length, counters)
        forward = self.forward if self.decoder.training else self.decoder
        logits: Tensor = forward(
            tokens_MBL[..., :-1],
            first_query=0 if last is None else length - last,
            positions=positions,
            labels=self.geometry.labels(torch.zeros(tokens_MBL.shape[:2], dtype=torch.int64), positions),
            scales_MB=torch.full(tokens_MBL.shape[:2], length, device=tokens_MBL.device),  # the scale of a text
        )
        return logits

    def _parts(self, tokens: Windows) -> Iterator[tuple[Tensor, Counters]]:
        """Yield test windows in parts that fit into memory, the same for all models, with counters of positions."""
        size = max(1, TOKENS // (self.profile.seeds * tokens.shape[1]))
        for start in range(0, len(tokens), size):
            part = tokens[start : start + size]
            yield (
                self._tensor(np.broadcast_to(part, (self.profile.seeds, *part.shape))),
                [(0, TEST, start)] * (self.profile.seeds),
            )

    def _batch(self, seed: int, step: int) -> Windows:
        """Windows of a training step; every second one states a key and asks for it."""
        drawn = windows(self.corpus.train, self.profile.batch, self.profile.length + 1, (seed, TRAIN, step))
        drawn[::2] = with_keys(drawn[::2], (seed, TRAIN, step, 2))
        return drawn

    def _tensor(self, tokens: NDArray[np.uint8]) -> Tensor:
        return torch.from_numpy(tokens.astype(np.int64)).to(self.geometry.device)

    def _module(self, spec: EncodingSpec) -> PositionEncoding:
        """Make the module of an encoding, with parameters drawn from PyTorch's generator."""
        return module_of(spec, self.geometry.sizes(self.profile.length) | self.profile.model.sizes())
