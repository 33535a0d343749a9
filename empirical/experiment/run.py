"""Run: one task, format, encoding, model and seed under one protocol, with the identity that follows from them.

Whether its model can be built is checked before anything is computed, and without torch.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from lengthgen.circuits.encoding_spec import EncodingError, EncodingSpec, parse_encoding
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import trace
from lengthgen.empirical.experiment.protocol import (
    SEED,
    Cell,
    Evaluation,
    Model,
    Name,
    Protocol,
    Scales,
    Training,
    with_task,
)
from lengthgen.empirical.experiment.samples import TEST, examples, require_filler
from lengthgen.infrastructure.files import seal
from lengthgen.infrastructure.neighbours import own_text
from lengthgen.infrastructure.settings import ProfileError, read
from lengthgen.infrastructure.userfile import split_file
from lengthgen.theory.encodings.encoding import LENGTH, Encoding

FORMAT_VERSION = 2
"""Version of a run folder's contents and of the training; raised with each change, so that old runs are not reused."""
MOST_ROWS = 500_000
"""Largest number of metric rows of a run."""
MOST_TOKENS = 10_000
"""Largest number of tokens that a model reads: attention compares each token with all before it."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run: everything its numbers depend on except the code itself, which FORMAT_VERSION stands for.

    Attributes:
        task: task in its format; in JSON its name, base and format stand side by side with the rest.
        encoding: name as written by `circuits.encoding_spec`.
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
        return f"{self._name()}-seed{self.seed}-{seal(self.config)[:12]}"

    @cached_property
    def group(self) -> str:
        """Name shared by runs that differ in their seed alone: these can be trained as one ensemble."""
        return f"{self._name()}-{seal(self.config | {'seed': None})[:12]}"

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
        return read(cls, with_task(config, "config"), "config")

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
        largest = max(*run.train, *run.test)
        require_filler(run.training, run.task.laid_out(largest), run.train, largest)
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
    """Warnings on runs whose encoding cannot count so many tokens (`saturation`), each once.

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
    return seal([task_digest, _own_text(run.encoding)])[:12]


@lru_cache(maxsize=256)
def _task_digest(task: TaskSpec, text: str, *scales: int) -> str:
    """Hash of the alphabet, of samples at all scales, and of `text`, that of the user's files, if it is not empty."""
    laid_out = task.laid_out(max(scales))
    samples = [
        examples(laid_out, [scale], 8, split=TEST, seed=0).tokens.tobytes().hex() for scale in sorted(set(scales))
    ]
    return seal([laid_out.alphabet, samples, *([text] if text else [])])[:12]


def require_buildable(spec: EncodingSpec, model: Model, tokens: int) -> None:
    """Raise an error unless a model of this encoding and size can read so many tokens.

    Raises:
        EncodingError: the file of the user's own encoding does not exist.
        ProfileError: no such model can be built. The user's own object may still refuse when it is made.
    """
    own = split_file(spec.name)
    if own and not Path(own[0]).is_file():
        raise EncodingError(f"encoding file '{own[0]}' does not exist")
    record = None if spec.is_own else spec.record
    if record and (refusal := training_refusal(str(spec), causal=record.causal, has_structure=record.has_structure)):
        raise ProfileError(refusal)
    require_sizes(spec, model)
    if tokens > MOST_TOKENS:
        raise ProfileError(
            f"a sequence has {tokens:,} tokens, and a model reads at most {MOST_TOKENS:,}: lower the scales"
        )
    if record and (longest := drawn_from(spec)):
        require_positions(tokens, longest)


def require_sizes(spec: EncodingSpec, model: Model) -> None:
    """Raise ProfileError unless the widths of a model suit the encoding; a user's own object may refuse later."""
    record = None if spec.is_own else spec.record
    head_width = model.width // model.heads
    if record and record.planes == "head" and head_width % 2:
        raise ProfileError(
            f"'{spec}' needs an even head width, but width {model.width} with {model.heads} heads gives {head_width}"
        )
    if record and head_width < 2 and _turns(record):
        raise ProfileError(
            f"'{spec}' rotates a plane of each head, but width {model.width} with {model.heads} heads has head width 1"
        )
    if record and record.planes == "width" and model.width % 2:
        raise ProfileError(f"'{spec}' needs an even width, not {model.width}")
    rank = dict(spec.options).get("rank")
    if isinstance(rank, int) and (rank > head_width or rank % 2):
        raise ProfileError(f"'{spec}' needs an even rank up to the width of a head, {head_width}")


def saturation(spec: EncodingSpec, tokens: int) -> str:
    """Warning if the counts of an encoding end before the tokens that a model reads; empty if they do not.

    It is no reason to refuse: gates that reset may need no count so large (claim prism-8).
    """
    positions = dict(spec.options).get("positions")
    if not isinstance(positions, int) or tokens < positions:
        return ""
    return (
        f"'{spec}' counts to {positions - 1:,}, and a sequence has {tokens:,} tokens: unless its gates reset, the last "
        f"tokens share one position; set positions={tokens + 1}"
    )


def training_refusal(name: str, *, causal: bool, has_structure: bool) -> str:
    """Reason why an encoding cannot be trained on the next token of a task; empty if it can."""
    reasons = [] if causal else ["it attends to later tokens, and so to those that it should predict"]
    reasons += ["it needs a graph of the tokens, and no task gives one"] if has_structure else []
    return f"'{name}' is not trained on the next token: {'; '.join(reasons)}" if reasons else ""


def _turns(record: Encoding) -> bool:
    """True if the encoding's actions mix the two coordinates of a plane, or treat them differently."""
    import sympy as sp  # slow to import, and only models of head width 1 need it

    if record.rotate is None:
        return False
    actions = record.rotate(sp.Symbol("p", integer=True, nonnegative=True), LENGTH)
    return any(action != action[0, 0] * sp.eye(2) for action in actions)


def drawn_from(spec: EncodingSpec) -> int | None:
    """Number of positions from which an encoding's are drawn anew for each batch; None if they are not drawn."""
    return int(dict(spec.options)["longest"]) if spec.record.drawn_from else None


def require_positions(tokens: int, longest: int) -> None:
    """Raise ProfileError unless so many tokens can have different positions below `longest`."""
    if tokens > longest:
        raise ProfileError(
            f"a sequence has {tokens:,} tokens, whose positions are drawn from {longest:,}: set longest={tokens}"
        )
