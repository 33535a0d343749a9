"""What a run is: one task, format, encoding, model and seed under one protocol, and the identity that follows."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from circuits.encodings import parse_encoding
from circuits.tasks import TaskSpec
from empirical.runs.buildable import require_buildable
from empirical.runs.data import TEST, examples
from empirical.runs.limits import SEED
from empirical.runs.profile import Evaluation, Model, ProfileError, Training, read
from empirical.runs.protocol import Cell, Name, Protocol, Scales, with_task
from theory.system.files import read_text
from theory.system.userfile import split_file

FORMAT_VERSION = 2
"""Raised when what a run's folder holds, or how a run is trained, changes: older runs are then not taken for it."""
MOST_ROWS = 500_000
"""Rows of metrics that a run may ask for."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: everything its numbers depend on but the code itself (FORMAT_VERSION stands for that).

    Attributes:
        task: in its format; in JSON its name, base and format stand side by side with the rest.
        encoding: as `circuits.encodings` writes it.
        digest: hash of samples of what the task generates at the scales in use, and of the encoding's file if it is
            the user's own: what changes there is another run.
        train, test: the scales, ascending.
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
        """Readable and unique: task, format, encoding, model, seed and a hash of the whole."""
        return f"{self._name()}-seed{self.seed}-{_hash(self.config)}"

    @cached_property
    def group(self) -> str:
        """Common to runs that differ in their seed alone: these can be trained as one ensemble."""
        return f"{self._name()}-{_hash(self.config | {'seed': None})}"

    @cached_property
    def config(self) -> dict[str, Any]:
        """The run as JSON holds it."""
        config: dict[str, Any] = json.loads(json.dumps(asdict(self) | self.task.as_json()))
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """What `config` gave.

        Raises:
            ProfileError: it is none of a run.
        """
        run: Self = read(cls, with_task(config, "config"), "config")
        return run

    def measured(self) -> list[tuple[int, int]]:
        """(epoch, scale) of every row of metrics, in order: each checkpoint, the last epoch among them, at each scale.

        Raises:
            ProfileError: there is none, or more than MOST_ROWS.
        """
        last, every = self.training.epochs, self.training.evaluate_every
        if last < 1 or every < 1 or not self.test:
            raise ProfileError(
                f"run {self.id} is measured nowhere: it needs at least 1 epoch, evaluate_every at least 1, a test scale"
            )
        rows = -(-last // every) * len(self.test)
        if rows > MOST_ROWS:
            raise ProfileError(
                f"run {self.id} asks for {rows:,} rows of metrics, and at most {MOST_ROWS:,} are kept: raise its "
                "evaluate_every"
            )
        return [(epoch, scale) for epoch in (*range(every, last, every), last) for scale in self.test]

    def _name(self) -> str:
        encoding = self.encoding.rpartition(":")[2].replace("[", "-").replace("=", "").replace(",", "-").rstrip("]")
        return f"{self.task.identifier()}-{self.task.format}-{encoding}-{self.model}"


def plan(protocol: Protocol) -> dict[tuple[Cell, Model], list[Run]]:
    """Every run of a protocol, by cell and model.

    Raises:
        TaskError: a task cannot be loaded or breaks its contract at some scale.
        EncodingError: an encoding is unknown.
        ProfileError: a model cannot be built for an encoding, or for so many tokens.
    """
    return {
        (cell, model): [one_run(protocol, cell, model, seed) for seed in range(protocol.profile.seeds)]
        for cell in protocol.cells
        for model in protocol.profile.models
    }


def one_run(protocol: Protocol, cell: Cell, model: Model, seed: int) -> Run:
    """One run of a protocol. Raises as `plan` does."""
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
    encoding, text = _own_file(run.encoding), _own_file(run.task.name)
    tokens = _tokens(run.task, text, max(*run.train, *run.test))
    require_buildable(parse_encoding(run.encoding), model, tokens)
    drawn = _drawn(run.task, text, *run.train, *run.test)
    return replace(run, digest=_hash([drawn, encoding]))


def _own_file(spec: str) -> str:
    """The text of the user's file that a task or an encoding stands in; none if it is a built-in one."""
    path, _ = split_file(spec) or (None, None)
    if path is None or not Path(path).is_file():
        return ""
    return read_text(Path(path)).replace("\r\n", "\n").replace("\r", "\n")  # line ends make no other run


@lru_cache(maxsize=256)
def _tokens(task: TaskSpec, text: str, largest: int) -> int:
    """Tokens that a model reads of a sequence of the largest scale; `text` as `_drawn` has it."""
    return int(examples(task.laid_out(largest), [largest], 1, split=TEST, seed=0).tokens.shape[1]) - 1


@lru_cache(maxsize=256)
def _drawn(task: TaskSpec, text: str, *scales: int) -> str:
    """Hash of the alphabet and of samples at all scales; `text` is that of the task's file, for the cache to know."""
    laid_out = task.laid_out(max(scales))
    samples = [
        examples(laid_out, [scale], 8, split=TEST, seed=0).tokens.tobytes().hex() for scale in sorted(set(scales))
    ]
    return _hash([laid_out.alphabet, samples])


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
