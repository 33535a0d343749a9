"""What a run needs beside its own models: its task and its circuit, labels and positions, its encoding's module."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits.coverage import seen_entries, steps_seen
from circuits.encodings import EncodingSpec, own_object, parse_encoding, relation_of
from circuits.prediction import Analysis, analyse
from circuits.task import Task
from circuits.tasks import load
from empirical.encodings.base import PositionEncoding
from empirical.encodings.catalogue import EncodingError, named
from empirical.encodings.guarded import guarded
from empirical.encodings.lbpe import LBPE
from empirical.encodings.relational import Relational
from empirical.encodings.rpe_square import RPESquare
from empirical.model.geometry import Geometry
from empirical.runs.data import Examples
from empirical.runs.run import Run
from theory.relation import Relation, relative
from theory.system.userfile import user_code

BY_LABELS = ("ipe", "ipe-sh", "rpe", "clipped")
"""Encodings that are a relation and no more: a table row for each label."""
CATALOGUED = {
    "ape": "learned",
    "sinusoidal": "sinusoidal",
    "t5": "t5",
    "nope": "nope",
    "rope": "rotary",
    "alibi": "alibi",
    "fire": "fire",
}
"""Those of the catalogue, by the experiments' names."""
MAX_LABELS = 1_000_000
"""Rows of a table for the labels of a relation, at most."""
DRAWN = "random-"
"""What begins the names of encodings at positions drawn anew for each batch (arXiv 2305.16843)."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What runs that differ in their seed share."""

    run: Run
    task: Task
    analysis: Analysis
    spec: EncodingSpec
    geometry: Geometry

    @classmethod
    def of(cls, run: Run, device: str) -> "Setting":
        """Of one of the runs.

        Raises:
            EncodingError, RelationError: the encoding is not known, or cannot be at some scale of the run.
        """
        spec = parse_encoding(run.encoding)
        analysis = _analysis(run.task, run.digest, run.base, run.format, max(*run.train, *run.test))
        lengths = {scale: analysis.traces[scale - 1].length - 1 for scale in sorted({*run.train, *run.test})}
        geometry = Geometry(lengths, relation=_labels(spec, analysis), longest=_longest(spec), device=device)
        return cls(run=run, task=analysis.task, analysis=analysis, spec=spec, geometry=geometry)

    def encoding(self) -> PositionEncoding:
        """A module with numbers of its own, drawn from PyTorch's generator.

        Raises:
            EncodingError: the user's own object makes none, or a parameter does not fit the model.
        """
        model = self.run.model
        head_width = model.width // model.heads
        length = self.geometry.longest or self.geometry.length
        sizes = {"heads": model.heads, "head_dim": head_width, "layers": model.layers, "length": length}
        if _is_relation(self.spec):
            labels = self.geometry.count
            if labels > MAX_LABELS:
                raise EncodingError(f"'{self.spec}' has {labels:,} labels, a table row each: number them 0, 1, 2, ...")
            return Relational(labels=labels, layers=model.layers, head_width=head_width)
        if self.spec.is_own:
            return _own(self.spec, sizes | {"width": model.width, "trained_length": self._trained_length})
        name = self.spec.name.removeprefix(DRAWN)
        if name in ("lbpe", "lbpe-sh"):
            return LBPE(layers=model.layers, head_width=head_width, scale_hint=name == "lbpe-sh")
        if name == "rpe-square":
            return RPESquare(width=model.width, heads=model.heads, layers=model.layers, length=length)
        return named(CATALOGUED[name], **sizes, **_own_parameters(self.spec))

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
def _analysis(task: str, digest: str, base: int | None, form: str, largest_scale: int) -> Analysis:
    """Runs of one cell share it; `digest` is that of what the task generates."""
    return analyse(load(task, base=base), form, largest_scale)


def _labels(spec: EncodingSpec, analysis: Analysis) -> Relation | None:
    """The relation whose labels the module reads, if it reads any."""
    if spec.name == f"{DRAWN}rpe":
        return relative()
    if _is_relation(spec) or (spec.is_own and _needs_labels(spec)):
        return relation_of(spec, analysis.result and analysis.result.circuit)
    return None


def _needs_labels(spec: EncodingSpec) -> bool:
    own = own_object(spec)
    with user_code(f"'{spec}': its attribute 'needs_labels' fails", error=EncodingError):
        return bool(getattr(own, "needs_labels", False))


def _is_relation(spec: EncodingSpec) -> bool:
    """Whether the encoding is a table row for each label of a relation and no more."""
    if spec.is_own:
        return issubclass(type(own_object(spec)), Relation)
    return spec.name.removeprefix(DRAWN) in BY_LABELS


def _longest(spec: EncodingSpec) -> int | None:
    return int(dict(spec.parameters)["longest"]) if spec.name.startswith(DRAWN) else None


def _own_parameters(spec: EncodingSpec) -> dict[str, Any]:
    """The parameters that the module takes; `longest` of drawn positions is none of these."""
    return {} if spec.name.startswith(DRAWN) else dict(spec.parameters)


def _own(spec: EncodingSpec, sizes: Mapping[str, int]) -> PositionEncoding:
    """What a user's class or function makes of the sizes that it asks for by name."""
    make = own_object(spec)
    if not callable(make):
        raise EncodingError(f"'{spec}' is neither a Relation nor a class or function that makes a PositionEncoding")
    with user_code(f"'{spec}' cannot be made of sizes among {', '.join(sizes)}", error=EncodingError):
        wanted = inspect.signature(make).parameters
        made = make(**{name: size for name, size in sizes.items() if name in wanted})
        if not isinstance(made, PositionEncoding):
            raise EncodingError(f"'{spec}' makes a {type(made).__name__}, not a PositionEncoding")
        return guarded(made, str(spec))
