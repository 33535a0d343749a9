"""Run: one task, format, encoding, model and seed under one protocol, with the identity that follows from them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import trace
from lengthgen.empirical.runs.buildable import require_buildable, saturation
from lengthgen.empirical.runs.data import TEST, examples
from lengthgen.empirical.runs.filler import require_filler
from lengthgen.empirical.runs.limits import SEED
from lengthgen.empirical.runs.profile import Evaluation, Model, ProfileError, Training, read
from lengthgen.empirical.runs.protocol import Cell, Name, Protocol, Scales, with_task
from lengthgen.infrastructure.neighbours import own_text
from lengthgen.infrastructure.userfile import split_file

FORMAT_VERSION = 2
"""Version of a run folder's contents and of the training; raised with each change, so that old runs are not reused."""
MOST_ROWS = 500_000
"""Largest number of metric rows of a run."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run: everything its numbers depend on except the code itself, which FORMAT_VERSION stands for.

    Attributes:
        task: task in its format; in JSON its name, base and format stand side by side with the rest.
        encoding: name as written by `lengthgen.circuits.encoding_spec`.
        digest: hash of samples that the task generates at the scales in use, and of the user's own files, with the
            modules beside them that they import: a change of any of these makes another run.
        train, test: scales, ascending.
    """

    task: TaskSpec
    encoding: Name
    digest: Name
    train: Scales
    test: Scales
    seed: Annotated[int, SEED]
    model: Model
    training: Training
    evaluation: Evaluation
    version: int = FORMAT_VERSION

    @cached_property
    def id(self) -> str:
        """Readable unique name: task, format, encoding, model, seed and a hash of all fields."""
        return f"{self._name()}-seed{self.seed}-{_hash(self.config)}"

    @cached_property
    def group(self) -> str:
        """Name shared by runs that differ in their seed alone: these can be trained as one ensemble."""
        return f"{self._name()}-{_hash(self.config | {'seed': None})}"

    @cached_property
    def config(self) -> dict[str, Any]:
        """Fields of the run as JSON."""
        fields = asdict(self) | self.task.as_json() | {"training": self.training.as_json()}
        config: dict[str, Any] = json.loads(json.dumps(fields))
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Read a run from its `config`.

        Raises:
            ProfileError: the content does not describe a run.
        """
        training = config.get("training") if isinstance(config, dict) else None
        if isinstance(training, dict):
            config = config | {"training": {"stop_when_solved": 0} | training}
        run: Self = read(cls, with_task(config, "config"), "config")
        return run

    @property
    def checkpoints(self) -> range:
        """Epochs of the checkpoints before the last epoch, which is a checkpoint too."""
        return range(self.training.evaluate_every, self.training.epochs, self.training.evaluate_every)

    @property
    def may_end(self) -> range:
        """Epochs before the last one at which early stopping may end the run."""
        needed = self.training.stop_when_solved
        return self.checkpoints[needed - 1 :] if needed else range(0)

    def metric_keys(self) -> list[tuple[int, int]]:
        """(epoch, scale) of each row of metrics, in order: every checkpoint, the last epoch included, at every scale.

        A run that may stop early is measured once, where it ends: at the last epoch, or at one of `may_end`.

        Raises:
            ProfileError: there is no row, or there are more than MOST_ROWS.
        """
        last_epoch, interval = self.training.epochs, self.training.evaluate_every
        if last_epoch < 1 or interval < 1 or not self.test:
            raise ProfileError(
                f"run {self.id} has no checkpoint to measure: it needs at least 1 epoch, evaluate_every at least 1, a "
                "test scale"
            )
        measured = () if self.training.stop_when_solved else self.checkpoints
        rows = (len(measured) + 1) * len(self.test)
        if rows > MOST_ROWS:
            raise ProfileError(
                f"run {self.id} asks for {rows:,} rows of metrics, and at most {MOST_ROWS:,} are allowed: raise its "
                "evaluate_every"
            )
        return [(epoch, scale) for epoch in (*measured, last_epoch) for scale in self.test]

    def _name(self) -> str:
        """Readable part of the run's names, without seed."""
        encoding = self.encoding.rpartition(":")[2].replace("[", "-").replace("=", "").replace(",", "-").rstrip("]")
        return f"{self.task.identifier()}-{self.task.format}-{encoding}-{self.model}"


def plan(
    protocol: Protocol, *, count: int | None = None, cells: Sequence[Cell] | None = None
) -> dict[tuple[Cell, Model], list[Run]]:
    """Return runs of a protocol, by cell and model, with the seeds 0, 1, ...

    Args:
        protocol: the protocol.
        count: number of runs of each cell and model; without it, as many as the profile says.
        cells: cells to plan; without it, all.

    Raises:
        TaskError: a task cannot be loaded or breaks its contract at some scale.
        EncodingError: an encoding is unknown.
        ProfileError: a model cannot be built for an encoding, or for so many tokens.
    """
    return {
        (cell, model): [
            one_run(protocol, cell, model, seed) for seed in range(protocol.profile.seeds if count is None else count)
        ]
        for cell in (protocol.cells if cells is None else cells)
        for model in protocol.profile.models
    }


def one_run(protocol: Protocol, cell: Cell, model: Model, seed: int) -> Run:
    """Make one run of a protocol. Raises what `plan` raises."""
    run = Run(
        task=cell.task,
        encoding=str(parse_encoding(cell.encoding)),
        digest="",
        train=protocol.train,
        test=protocol.test,
        seed=seed,
        model=model,
        training=protocol.profile.training,
        evaluation=protocol.profile.evaluation,
    )
    if run.training.varies_filler:
        require_filler(run.training, run.task.laid_out(max(*run.train, *run.test)), run.train)
    tokens = _tokens(run.task, _own_text(run.task.name), max(*run.train, *run.test))
    require_buildable(parse_encoding(run.encoding), model, tokens)
    return replace(run, digest=_digest(run))


def require_unchanged(run: Run) -> None:
    """Raise ProfileError if the user's files are not those of the run any more, and TaskError as `plan` does."""
    own = [name for name in (run.task.name, run.encoding) if split_file(name)]
    if own and _digest(run) != run.digest:
        raise ProfileError(
            f"{' or '.join(own)}, or a module beside it, is another text than that of run {run.id}: train again with "
            "the new text, or bring the old one back"
        )


def saturations(runs: Iterable[Run]) -> list[str]:
    """Warnings on runs whose encoding cannot count so many tokens (empirical/runs/buildable.py), each once.

    Raises:
        TaskError: as for `plan`.
    """
    texts = [
        saturation(
            parse_encoding(run.encoding),
            _tokens(run.task, _own_text(run.task.name), max(*run.train, *run.test)),
        )
        for run in runs
    ]
    return list(dict.fromkeys(filter(None, texts)))


def _own_text(spec: str) -> str:
    """Text of the user's file that defines a task or an encoding, with its neighbours; empty for a built-in one."""
    path, _ = split_file(spec) or (None, None)
    return own_text(Path(path)) if path is not None and Path(path).is_file() else ""


@lru_cache(maxsize=256)
def _tokens(task: TaskSpec, text: str, largest: int) -> int:
    """Number of tokens that a model reads of a sequence of the largest scale; `text` as in `_task_digest`."""
    laid_out = task.laid_out(largest)
    if laid_out.end is not None:  # outputs have different lengths
        return trace(laid_out, largest).length - 1
    return int(examples(laid_out, [largest], 1, split=TEST, seed=0).tokens.shape[1]) - 1


def _digest(run: Run) -> str:
    """Value of `Run.digest` for the user's files as they are now."""
    task_digest = _task_digest(run.task, _own_text(run.task.name), *run.train, *run.test)
    return _hash([task_digest, _own_text(run.encoding)])


@lru_cache(maxsize=256)
def _task_digest(task: TaskSpec, text: str, *scales: int) -> str:
    """Hash of the alphabet, of samples at all scales, and of `text`, that of the user's files, if it is not empty."""
    laid_out = task.laid_out(max(scales))
    samples = [
        examples(laid_out, [scale], 8, split=TEST, seed=0).tokens.tobytes().hex() for scale in sorted(set(scales))
    ]
    return _hash([laid_out.alphabet, samples, *([text] if text else [])])


def _hash(content: Any) -> str:
    """First 12 hex digits of the SHA-256 of the content as JSON."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
