"""Ensemble: runs trained side by side with data, models and optimiser on one model axis; and the setup of a run.

The runs differ in their seed, or also in their task if its sequences have the same lengths.

Shapes: M runs, N samples of a training set, B samples of a batch, L length.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.coverage import seen_entries, steps_seen
from lengthgen.circuits.encoding_spec import EncodingError, EncodingSpec, parse_encoding
from lengthgen.circuits.formats import FilledTask
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.modules import label_relation, module_of
from lengthgen.empirical.experiment.loop import cosine
from lengthgen.empirical.experiment.run import Run, drawn_from, require_positions, training_refusal
from lengthgen.empirical.experiment.samples import (
    TRAIN,
    Examples,
    examples,
    left_out,
    with_filled_padding,
    with_prompts_as_filler,
)
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.model.mapped import seeded, stack_models
from lengthgen.empirical.model.optimizer import ModelwiseAdamW


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Setup shared by runs that differ in their seed."""

    run: Run
    task: Task
    analysis: Analysis
    spec: EncodingSpec
    geometry: Geometry

    @classmethod
    def of(cls, run: Run, device: str) -> "Setup":
        """Make the setup of one of the runs.

        Raises:
            EncodingError, RelationError: the encoding is unknown, or undefined at some scale of the run.
        """
        spec = parse_encoding(run.encoding)
        analysis = _analysis(run.task, run.digest, max(*run.train, *run.test))
        lengths = {scale: analysis.traces[scale - 1].length - 1 for scale in {*run.train, *run.test}}
        relation = label_relation(spec, None if analysis.result is None else analysis.result.circuit)
        consecutive = spec.record.consecutive
        longest = drawn_from(spec)
        if longest is not None:
            require_positions(max(lengths.values()), longest)
        geometry = Geometry(lengths, relation=relation, longest=longest, consecutive=consecutive, device=device)
        return cls(run=run, task=analysis.task, analysis=analysis, spec=spec, geometry=geometry)

    def encoding(self) -> PositionEncoding:
        """Make the encoding's module, with parameters drawn from PyTorch's generator.

        Raises:
            EncodingError: the user's own object makes none or attends to later tokens, or a parameter does not fit the
                model.
        """
        trained_length = max(self.analysis.traces[scale - 1].length - 1 for scale in self.run.train)
        module = module_of(self.spec, self.geometry.sizes(trained_length) | self.run.model.sizes())
        refusal = training_refusal(str(self.spec), causal=module.causal, has_structure=module.needs_distances)
        if refusal:
            raise EncodingError(refusal)
        return module

    def examples(self, scales: Sequence[int], count: int, *, split: int, seed: int) -> Examples:
        """Draw instances of the task (`samples.examples`), those for training with filler as the run says.

        Raises:
            TaskError: outputs end early, and one is longer than all those of the analysis.
        """
        drawn = examples(self.task, scales, count, split=split, seed=seed)
        longest = max(self.analysis.traces[scale - 1].length for scale in scales)
        if drawn.tokens.shape[1] > longest:
            raise TaskError(
                f"task '{self.task.name}': a sequence has {drawn.tokens.shape[1]} tokens, and the longest analysed has "
                f"{longest}; draw long outputs more often, or take smaller scales"
            )
        training, largest = self.run.training, max(*self.run.train, *self.run.test)
        if split == TRAIN and training.prompts_as_filler is not None:
            assert isinstance(self.task, FilledTask)
            share = training.prompts_as_filler
            return with_prompts_as_filler(drawn, self.task, largest_scale=largest, share=share, seed=seed)
        if split == TRAIN and training.fill_padding is not None:
            reach = training.fill_padding_to or largest
            return with_filled_padding(drawn, self.task, reach=reach, share=training.fill_padding, seed=seed)
        return drawn

    def seen(self, training: Examples, tests: Mapping[int, Examples]) -> dict[int, NDArray[np.bool_]]:
        """scale -> bool [samples, steps]: True if the step's operator entry occurs in the training set."""
        if self.analysis.result is None:
            shapes = {scale: (len(data.tokens), data.is_step.any(axis=0).sum()) for scale, data in tests.items()}
            return {scale: np.zeros(shape, dtype=np.bool_) for scale, shape in shapes.items()}
        entries = seen_entries(self.analysis.circuit, training.tokens, training.scales)
        seen = {
            scale: steps_seen(self.analysis.circuit, entries, data.tokens, data.scales) for scale, data in tests.items()
        }
        # Where outputs end early, no sample may have the last steps.
        return {scale: steps[:, : tests[scale].exists.shape[1]] for scale, steps in seen.items()}


@lru_cache(maxsize=16)
def _analysis(task: TaskSpec, digest: str, largest_scale: int) -> Analysis:
    """Analysis of the task, cached for the runs of a few tasks; `digest` is the hash of what the task generates."""
    return analyse(task.plain(), task.format, largest_scale)


class Ensemble:
    """Models of runs, with their training sets and their optimiser."""

    def __init__(
        self, runs: Sequence[Run], setups: Setup | Sequence[Setup], backend: Backend, *, shuffled: bool = True
    ) -> None:
        """Draw each model and training set from its run's seed, exactly as for that run alone.

        Args:
            runs: runs with the same encoding, model, training and scales.
            setups: setup of all runs, or the setup of each.
            backend: device and compilation.
            shuffled: True if each epoch takes the samples in an order drawn by (seed, epoch), False if in their own.

        Raises:
            ValueError: the sequences of the tasks have different lengths.
        """
        self.runs = tuple(runs)
        self.setups = [setups] * len(runs) if isinstance(setups, Setup) else list(setups)
        self.geometry = Geometry.joined([setup.geometry for setup in self.setups])
        device = backend.device
        run = runs[0]
        self.train_sets = [
            setup.examples(run.train, run.training.samples, split=TRAIN, seed=member.seed)
            for member, setup in zip(self.runs, self.setups, strict=True)
        ]
        traces = [setup.analysis.traces[scale - 1] for setup in self.setups for scale in run.train]
        self.first_query = min(trace.steps[0] for trace in traces) - 2
        self.decoder = stack_models(list(map(_initial_model, self.runs, self.setups))).to(device)
        self.forward = backend.forward_of(self.decoder)
        settings = run.training
        self.optimizer = ModelwiseAdamW(
            self.decoder, rate=settings.learning_rate, weight_decay=settings.weight_decay, clip=settings.clip
        )
        self.shuffled, self._order = shuffled, (-1, torch.empty(0))
        length = max(trace.length for trace in traces)
        self.tokens, self.is_step = (
            torch.from_numpy(_stack_arrays(self.train_sets, name, length)).flatten(0, 1).to(device)
            for name in ("tokens", "is_step")
        )
        rows = np.concatenate([self.geometry.rows(data.scales) for data in self.train_sets])
        self.rows = torch.from_numpy(rows).to(device)
        self.scales = torch.from_numpy(np.concatenate([data.scales for data in self.train_sets])).to(device)

    def rate(self, step: int) -> float:
        """Learning rate of a training step: a half cosine."""
        training = self.runs[0].training
        return cosine(training.learning_rate, step, training.schedule_steps)

    def losses_at(self, step: int) -> tuple[Tensor, Tensor | None]:
        """Losses of a training step on its samples, and the auxiliary ones, [M] each; see `loop.Learner`."""
        if not self.decoder.training:
            self.decoder.train()
        auxiliary = self.decoder.encoding.has_auxiliary_loss
        return self.losses(self.batch(step), step), self.auxiliary_losses(step) if auxiliary else None

    def batch(self, step: int) -> Tensor:
        """Samples of a training step, int64 [M, B], counted through all training sets."""
        training = self.runs[0].training
        epoch, place = divmod(step, training.samples // training.batch)
        if epoch != self._order[0]:
            orders = [
                np.random.default_rng([run.seed, epoch]).permutation(training.samples)
                if self.shuffled
                else np.arange(training.samples)
                for run in self.runs
            ]
            first = training.samples * np.arange(len(self.runs))[:, None]
            self._order = epoch, torch.from_numpy(np.stack(orders) + first).to(self.tokens.device)
        return self._order[1][:, place * training.batch : (place + 1) * training.batch]

    def auxiliary_losses(self, step: int) -> Tensor:
        """Auxiliary loss of each model's encoding at a training step: [M]."""
        training = self.runs[0].training
        counters = [(run.seed, TRAIN, step) for run in self.runs]
        positions = self.geometry.positions(self.tokens.shape[-1] - 1, counters)
        return self.decoder.encoding.auxiliary_losses(positions, counters, step / training.schedule_steps)

    def losses(self, samples_MB: Tensor, step: int) -> Tensor:
        """Mean cross-entropy of each model over the generated tokens of its samples: [M], in nats per token.

        Args:
            samples_MB: int64 indices of the samples, counted through all training sets.
            step: training step; it determines the drawn positions, if positions are drawn.
        """
        geometry, first = self.geometry, left_out(self.runs[0].training, step)
        tokens = self.tokens[samples_MB].long()
        positions = geometry.positions(tokens.shape[-1] - 1, [(run.seed, TRAIN, step) for run in self.runs])
        labels = geometry.labels(self.rows[samples_MB], positions)
        logits = self.forward(
            tokens[..., first:-1],
            first_query=self.first_query - first,
            positions=positions[..., first:],
            labels=None if labels is None else labels[..., first:, first:],
            scales_MB=self.scales[samples_MB],
        )
        is_step = self.is_step[samples_MB][..., self.first_query + 1 :]
        targets = tokens[..., self.first_query + 1 :]
        token_losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)
        return (token_losses * is_step).sum((1, 2)) / is_step.sum((1, 2))

    def weights(self, model: int) -> dict[str, Tensor]:
        """Weights of one model by name, without the model axis."""
        return {name: value[model].contiguous() for name, value in self.decoder.state_dict().items()}

    def state(self) -> dict[str, Tensor]:
        """Tensors from which training resumes; axis 0 of each non-scalar is that of the models."""
        return {"numbers": self.optimizer.numbers.detach()} | self.optimizer.state()

    def load(self, state: dict[str, Tensor]) -> None:
        """Resume from a `state`.

        Raises:
            KeyError, RuntimeError, ValueError: the state belongs to other models.
        """
        with torch.no_grad():
            self.optimizer.numbers.copy_(state.pop("numbers"))
        self.optimizer.load(state)


def _initial_model(run: Run, setup: Setup) -> Decoder:
    """Make the initial model of a run."""
    symbols = len(setup.task.alphabet)
    return seeded(run.seed, lambda: Decoder(symbols=symbols, encoding=setup.encoding(), **asdict(run.model)))


def _stack_arrays(sets: Sequence[Examples], name: str, length: int) -> NDArray[Any]:
    """Stack one array of every training set, padded on the right: [M, N, length]."""
    arrays = [getattr(train_set, name) for train_set in sets]
    return np.stack([np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in arrays])
