"""What a run needs beside its own models: its task and its circuit, labels and positions, its encoding's module."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from circuits.coverage import seen_entries, steps_seen
from circuits.encodings import EncodingSpec, parse_encoding
from circuits.prediction import Analysis, analyse
from circuits.task import Task
from circuits.tasks import TaskSpec
from empirical.encodings.base import PositionEncoding
from empirical.encodings.catalogue import label_relation, module_of
from empirical.model.geometry import Geometry
from empirical.runs.data import Examples
from empirical.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What runs that differ in their seed share."""

    run: Run
    task: Task
    analysis: Analysis
    spec: EncodingSpec
    geometry: Geometry

    @classmethod
    def of(cls, run: Run, device: str) -> "Setup":
        """Of one of the runs.

        Raises:
            EncodingError, RelationError: the encoding is not known, or cannot be at some scale of the run.
        """
        spec = parse_encoding(run.encoding)
        analysis = _analysis(run.task, run.digest, max(*run.train, *run.test))
        lengths = {scale: analysis.traces[scale - 1].length - 1 for scale in sorted({*run.train, *run.test})}
        relation = label_relation(spec, analysis.result and analysis.result.circuit)
        geometry = Geometry(lengths, relation=relation, longest=_longest(spec), device=device)
        return cls(run=run, task=analysis.task, analysis=analysis, spec=spec, geometry=geometry)

    def encoding(self) -> PositionEncoding:
        """A module with numbers of its own, drawn from PyTorch's generator.

        Raises:
            EncodingError: the user's own object makes none, or a parameter does not fit the model.
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
        return module_of(self.spec, sizes | ({} if self.geometry.relation is None else {"labels": self.geometry.count}))

    def seen(self, training: Examples, tests: Mapping[int, Examples]) -> dict[int, NDArray[np.bool_]]:
        """scale -> bool [samples, steps], whether the step's operator entry occurs in the training set."""
        if self.analysis.result is None:
            shapes = {scale: (len(data.tokens), data.is_step[0].sum()) for scale, data in tests.items()}
            return {scale: np.zeros(shape, dtype=np.bool_) for scale, shape in shapes.items()}
        entries = seen_entries(self.analysis.circuit, training.tokens, training.scales)
        return {
            scale: steps_seen(self.analysis.circuit, entries, data.tokens, data.scales) for scale, data in tests.items()
        }

    @cached_property
    def _trained_length(self) -> int:
        return max(self.analysis.traces[scale - 1].length - 1 for scale in self.run.train)


@lru_cache(maxsize=4)
def _analysis(task: TaskSpec, digest: str, largest_scale: int) -> Analysis:
    """Runs of one cell share it; `digest` is that of what the task generates."""
    return analyse(task.plain(), task.format, largest_scale)


def _longest(spec: EncodingSpec) -> int | None:
    """The number of positions that are drawn from, for an encoding at positions drawn anew for each batch."""
    return int(dict(spec.options)["longest"]) if spec.record.drawn_from else None
