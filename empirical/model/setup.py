"""Setup of a run: its task and circuit, labels and positions, and the encoding's module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.coverage import seen_entries, steps_seen
from lengthgen.circuits.encoding_spec import EncodingError, EncodingSpec, parse_encoding
from lengthgen.circuits.formats import FilledTask
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.modules import label_relation, module_of
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.runs.buildable import training_refusal
from lengthgen.empirical.runs.data import TRAIN, Examples, examples
from lengthgen.empirical.runs.filler import with_prompts_as_filler
from lengthgen.empirical.runs.run import Run


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
        geometry = Geometry(lengths, relation=relation, longest=_longest(spec), consecutive=consecutive, device=device)
        return cls(run=run, task=analysis.task, analysis=analysis, spec=spec, geometry=geometry)

    def encoding(self) -> PositionEncoding:
        """Make the encoding's module, with parameters drawn from PyTorch's generator.

        Raises:
            EncodingError: the user's own object makes none or attends to later tokens, or a parameter does not fit the
                model.
        """
        model = self.run.model
        sizes = {
            "heads": model.heads,
            "head_dim": model.width // model.heads,
            "width": model.width,
            "layers": model.layers,
            "length": self.geometry.longest or self.geometry.length,
            "trained_length": self._trained_length,
        }
        sizes |= {} if self.geometry.relation is None else {"labels": self.geometry.count}
        module = module_of(self.spec, sizes)
        refusal = training_refusal(str(self.spec), causal=module.causal, has_structure=module.needs_distances)
        if refusal:
            raise EncodingError(refusal)
        return module

    def examples(self, scales: Sequence[int], count: int, *, split: int, seed: int) -> Examples:
        """Draw instances of the task (empirical/runs/data.py), those for training with filler as the run says.

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
        share = self.run.training.prompts_as_filler
        if split != TRAIN or share is None:
            return drawn
        assert isinstance(self.task, FilledTask)
        return with_prompts_as_filler(
            drawn, self.task, largest_scale=max(*self.run.train, *self.run.test), share=share, seed=seed
        )

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

    @cached_property
    def _trained_length(self) -> int:
        """Number of tokens that the model reads at the largest training scale."""
        return max(self.analysis.traces[scale - 1].length - 1 for scale in self.run.train)


@lru_cache(maxsize=16)
def _analysis(task: TaskSpec, digest: str, largest_scale: int) -> Analysis:
    """Analysis of the task, cached for the runs of a few tasks; `digest` is the hash of what the task generates."""
    return analyse(task.plain(), task.format, largest_scale)


def _longest(spec: EncodingSpec) -> int | None:
    """Number of positions to draw from, if the encoding's positions are drawn anew for each batch; else None."""
    return int(dict(spec.options)["longest"]) if spec.record.drawn_from else None
