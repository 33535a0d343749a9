"""Protocols, the cells of an experiment, and profiles, the sizes of their models and trainings: TOML files.

Profiles are in empirical/profiles: `smoke` takes seconds (the tests), `quick` minutes on two cores, `paper` follows the
published protocol and needs a GPU. Protocols are in empirical/protocols, or the user's own:

title = "..."
source = "..."            # where it is published
train = [1, 5]            # first and last training scale
test = [1, 20]

[[cells]]                 # each combination of the three is a cell; any number of such groups
tasks = ["copy"]
formats = ["aligned"]
encodings = ["ipe"]

[quick]                   # changes to the profile `quick`; scales, and the number base of tasks, under it
test = [1, 10]
seeds = 3
training.epochs = 10
base.addition = 4
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Self

from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.settings import (
    FLOAT32,
    POSITIVE,
    Entries,
    ProfileError,
    Range,
    Text,
    load,
    read,
    read_toml,
    read_value,
)

PROFILES, PROTOCOLS = (Path(__file__).parents[1] / name for name in ("profiles", "protocols"))
MOST_PARAMETERS = 100_000_000
"""Trainable parameters of the largest model: 1.6 GB with its optimiser."""
MOST_RUNS = 20_000
"""Largest number of runs of one protocol: all of them are planned before the first is trained."""
TAKEN = (
    "runs", "figures", "report", "tensorboard", "lrc.json", "claims.json", "src.json", "report.html", "manifest.json",
)  # fmt: skip
"""Names that a protocol may not have: other files and folders beside the protocols' own result folders."""
SEED = Range(0, 2**64 - 1)
"""Seeds of runs: one word of the counters from which examples are drawn (samples.py)."""
SCALE = Range(1, 1_000)
"""Scales at which models are trained and tested."""
SEEDS = Range(1, 1_000)
"""Number of runs of a cell, which differ in their seeds."""
TEST_SAMPLES = Range(1, 100_000)
"""Number of test samples at each scale."""
AUDITED = Range(1, 256)
"""Number of heads in an audit, and width of each."""
Scales = Annotated[tuple[Annotated[int, SCALE], ...], Entries(SCALE.most)]
Ends = tuple[Annotated[int, SCALE], ...]
Base = Annotated[int | None, Range(2, MAX_SYMBOLS)]
Name = Annotated[str, Text(1_000)]


@dataclass(frozen=True, kw_only=True)
class Model:
    """Size of the decoder: embedding width, layers, attention heads.

    Raises:
        ProfileError: the width is not a multiple of the heads, or the model has more than MOST_PARAMETERS parameters.
    """

    width: Annotated[int, Range(1, 16_384)]
    layers: Annotated[int, Range(1, 1_000)]
    heads: Annotated[int, Range(1, 1_024)]

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ProfileError(f"width {self.width} is not a multiple of {self.heads} heads")
        if self.parameters > MOST_PARAMETERS:
            raise ProfileError(
                f"width {self.width} with {self.layers} layers makes {self.parameters:,} trainable parameters, and a "
                f"model has at most {MOST_PARAMETERS:,}"
            )

    @property
    def parameters(self) -> int:
        """Number of trainable parameters in the matrices of all layers, without token table and encoding."""
        return 12 * self.layers * self.width**2

    def sizes(self) -> dict[str, int]:
        """Sizes that the module of an encoding is made with."""
        return {"heads": self.heads, "head_dim": self.width // self.heads, "width": self.width, "layers": self.layers}

    def __str__(self) -> str:
        return f"w{self.width}l{self.layers}h{self.heads}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training by AdamW on a fixed set of samples.

    Attributes:
        samples: size of the training set, a multiple of `batch`; scales are drawn uniformly.
        batch: samples per step; each epoch shuffles them anew.
        learning_rate: initial value; it falls to 0 by a half cosine over all steps, or over those of `schedule_epochs`.
        clip: largest norm of a model's gradient.
        evaluate_every: epochs between checkpoints.
        stop_when_solved: number of consecutive checkpoints at which every training scale must reach the evaluation's
            threshold, on samples of their own (stopping.py), for the run to end there; 0: it never
            ends early.
        prompts_as_filler: share of the samples whose filler is cut out of prompts (samples.py); None: of
            none.
        leave_out: largest number of first tokens, all filler, that a step leaves out; each step draws its number. None:
            no step leaves out any.
        fill_padding: share of the samples whose padding holds what its places hold at a larger scale (samples.py);
            None: of none.
        fill_padding_to: that larger scale; None: the largest of the run.
        schedule_epochs: epochs over which the learning rate falls; None: all. With more than `epochs`, the run is the
            beginning of a longer training, step by step.

    Raises:
        ProfileError: the samples are not whole batches, `fill_padding_to` is given without `fill_padding`, or the
            schedule ends before the last epoch.
    """

    samples: Annotated[int, Range(1, 1_000_000)]
    batch: Annotated[int, Range(1, 10_000)]
    epochs: Annotated[int, Range(1, 1_000_000)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    clip: Annotated[float, POSITIVE]
    evaluate_every: Annotated[int, Range(1, 1_000_000)]
    stop_when_solved: Annotated[int, Range(0, 1_000)] = 0
    prompts_as_filler: Annotated[float | None, Range(0, 1, above=True)] = None
    leave_out: Annotated[int | None, Range(1, 10_000)] = None
    fill_padding: Annotated[float | None, Range(0, 1, above=True)] = None
    fill_padding_to: Annotated[int | None, SCALE] = None
    schedule_epochs: Annotated[int | None, Range(1, 1_000_000)] = None

    def __post_init__(self) -> None:
        if self.fill_padding_to is not None and self.fill_padding is None:
            raise ProfileError("fill_padding_to is how far padding is filled: give fill_padding, the share of samples")
        if self.samples % self.batch:
            raise ProfileError(f"{self.samples} samples are not whole batches of {self.batch}")
        if self.schedule_epochs is not None and self.schedule_epochs < self.epochs:
            raise ProfileError(
                f"schedule_epochs = {self.schedule_epochs}: the learning rate is 0 before the end of {self.epochs}"
            )

    @property
    def steps(self) -> int:
        """Number of training steps."""
        return self.epochs * (self.samples // self.batch)

    @property
    def schedule_steps(self) -> int:
        """Number of steps over which the learning rate falls to 0."""
        return (self.schedule_epochs or self.epochs) * (self.samples // self.batch)

    @property
    def varies_filler(self) -> bool:
        """True if it has settings of filler, or fills padding."""
        return any(value is not None for value in (self.prompts_as_filler, self.leave_out, self.fill_padding))

    def as_json(self) -> dict[str, Any]:
        """Settings for JSON, without those at their default that came later: files written before lack them."""
        later = {field.name for field in fields(self) if field.default is not MISSING}
        return {name: value for name, value in asdict(self).items() if value or name not in later}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Number of samples at each scale, and the exact match from which on a scale counts as solved."""

    samples: Annotated[int, TEST_SAMPLES]
    threshold: Annotated[float, Range(0, 1, above=True)]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Model sizes, training, evaluation, and number of runs (seeds) of each cell.

    Raises:
        ProfileError: a model occurs twice.
    """

    models: Annotated[tuple[Model, ...], Entries(20)]
    seeds: Annotated[int, SEEDS]
    training: Training
    evaluation: Evaluation

    def __post_init__(self) -> None:
        if len(set(self.models)) < len(self.models):
            raise ProfileError("the same model occurs twice")


def load_profile(name: str, changes: Mapping[str, Any] | None = None, *, where: str | None = None) -> Profile:
    """Load the named profile, with some of its values changed.

    Args:
        name: name of a file in empirical/profiles.
        changes: new values as nested dictionaries, as in TOML; sections are changed key by key.
        where: replaces the profile's name in errors, if the changes come from elsewhere.

    Raises:
        ProfileError: the profile does not exist, or a key is missing, unknown, of the wrong type or out of its range.
    """
    return load(Profile, PROFILES, name, where or f"profile '{name}'", changes)


@dataclass(frozen=True)
class FolderName:
    """Limit of protocol names: printable, not hidden, at most 100 bytes long, and none of TAKEN."""

    def refusal(self, value: str) -> str | None:
        """Reason for refusing the name; see `settings.Range`."""
        if value.casefold() in TAKEN:
            return f"is taken: a folder of results has {', '.join(TAKEN)}"
        plain = value.isprintable() and "/" not in value and not value.startswith(".")
        return None if value and plain and len(value.encode()) <= 100 else "cannot name a folder of results"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Cell of an experiment: a task in one format with one encoding. Its runs differ in model size and seed."""

    task: TaskSpec
    encoding: Name

    def __str__(self) -> str:
        return f"{self.task.title}, {self.task.format}, {self.encoding}"

    def as_json(self) -> dict[str, Any]:
        """Cell as JSON: task, base, format and encoding side by side."""
        return self.task.as_json() | {"encoding": self.encoding}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read a cell that `as_json` wrote. Raises ProfileError if the content does not describe a cell."""
        return read(cls, with_task(content, "cell"), "cell")


def with_task(content: Any, where: str) -> Any:
    """Gather the keys task, base and format of a JSON object into one value `task`, as `read` needs it.

    Raises:
        ProfileError: one of the three keys is missing.
    """
    names = {"task": "name", "base": "base", "format": "format"}
    if not isinstance(content, dict):
        return content
    missing = [key for key in names if key not in content]
    if missing:
        raise ProfileError(f"{where}: missing key '{missing[0]}'")
    task = {name: content[key] for key, name in names.items()}
    return {key: value for key, value in content.items() if key not in names} | {"task": task}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Experiment under one profile. Scales are ascending; the test scales include the training scales.

    Attributes:
        name: name of its result folder.
        cli_name: its name on the command line.

    Raises:
        ProfileError: the largest training scale reaches the largest test scale, a training scale is no test scale, a
            cell occurs twice, or there are more than MOST_RUNS runs.
    """

    name: Annotated[str, FolderName()]
    cli_name: str
    title: Annotated[str, Text(300)]
    source: Annotated[str, Text(300)]
    cells: Annotated[tuple[Cell, ...], Entries(1_000)]
    train: Scales
    test: Scales
    profile_name: str
    profile: Profile

    def __post_init__(self) -> None:
        if self.train[-1] >= self.test[-1]:
            raise ProfileError(
                f"the largest test scale ({self.test[-1]}) must exceed those of training (to {self.train[-1]})"
            )
        if not set(self.train) <= set(self.test):
            raise ProfileError("the test scales must include the training scales: fitting is judged on them")
        if len(set(self.cells)) < len(self.cells):
            raise ProfileError("the same cell occurs twice")
        runs = len(self.cells) * len(self.profile.models) * self.profile.seeds
        if runs > MOST_RUNS:
            raise ProfileError(
                f"{len(self.cells)} cells, {len(self.profile.models)} models and {self.profile.seeds} seeds make "
                f"{runs:,} runs, and at most {MOST_RUNS:,} are allowed"
            )


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Group of cells in a protocol file: all combinations of its tasks, formats and encodings."""

    tasks: Annotated[tuple[Name, ...], Entries(100)]
    formats: Annotated[tuple[Name, ...], Entries(10)]
    encodings: Annotated[tuple[Name, ...], Entries(100)]


@dataclass(frozen=True, kw_only=True)
class _File:
    """Content of a protocol file without its profile sections."""

    title: str
    source: str
    train: Ends
    test: Ends
    cells: Annotated[tuple[_Group, ...], Entries(20)]


def names() -> list[str]:
    """Names of the protocols that come with the project."""
    return sorted(path.stem for path in PROTOCOLS.glob("*.toml"))


def load_protocol(name: str, profile: str) -> Protocol:
    """Load a protocol under a profile.

    Args:
        name: one of `names()` in any case, or path/to/file.toml.
        profile: name of a profile in empirical/profiles.

    Raises:
        ProfileError: the protocol or profile does not exist; a key of the protocol or of any of its profile sections is
            missing, unknown, of the wrong type or out of range; or the name is taken in the results folder.
    """
    chosen_profile = load_profile(profile)
    where = f"protocol '{name}'"
    name = in_any_case(name, names())
    path = Path(name) if name.endswith(".toml") else PROTOCOLS / f"{name}.toml"
    if not name.endswith(".toml") and name not in names():
        listed = "`lengthgen protocols` lists all; your own: path/to/file.toml"
        raise ProfileError(f"unknown {where}: {nearest(name, names(), listed=listed)}")
    if name.endswith(".toml") and path.stem.casefold() in names():
        raise ProfileError(f"{where}: '{path.stem}' is a protocol of the project, rename the file")
    content = read_toml(path)
    file_keys = {field.name for field in fields(_File)}
    sections = {
        key: content.pop(key) for key in list(content) if key not in file_keys and isinstance(content[key], dict)
    }
    file = read(_File, content, where)
    bases: dict[str, int] = {}
    ends = {"train": file.train, "test": file.test}
    scales = {part: _scales(pair, f"{where}, {part}") for part, pair in ends.items()}
    for key, section in sections.items():
        load_profile(key)  # raises unless the section is named after a profile
        changes = dict(section)
        digits = _bases(changes.pop("base", {}), file, f"{where}, {key}, base")
        own_ends = {
            part: read_value(Ends, changes.pop(part), f"{where}, {key}, {part}") for part in ends if part in changes
        }
        own_scales = {part: _scales(pair, f"{where}, {key}, {part}") for part, pair in (ends | own_ends).items()}
        changed_profile = load_profile(key, changes, where=f"{where}, {key}")
        if key == profile:
            chosen_profile, bases, scales = changed_profile, digits, own_scales
    return checked_protocol(
        name=path.stem, cli_name=name, title=file.title, source=file.source, cells=tuple(_cells(file, bases)), **scales,
        profile_name=profile, profile=chosen_profile,
    )  # fmt: skip


def checked_protocol(**values: Any) -> Protocol:
    """Make a protocol of these fields after the same checks as for a file.

    Raises:
        ProfileError: a field is out of its range, or the fields do not fit together.
    """
    cli_name = values["cli_name"]
    kind = "protocol" if cli_name.endswith(".toml") or cli_name in names() else "task"
    return read(Protocol, values, f"{kind} '{cli_name}'")


def _cells(file: _File, bases: Mapping[str, int]) -> Iterator[Cell]:
    """Yield the cells of all groups."""
    for group in file.cells:
        encodings = [_canonical_name(text) for text in group.encodings]
        for task in group.tasks:
            for form in group.formats:
                for encoding in encodings:
                    yield Cell(task=TaskSpec(name=task, base=bases.get(task), format=form), encoding=encoding)


def _canonical_name(encoding: str) -> Name:
    """Canonical name of an encoding given by name or alias; an unknown name is refused when its runs are planned."""
    from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding  # with sympy, which options do not need

    with suppress(EncodingError):
        return str(parse_encoding(encoding))
    return encoding


def _bases(content: Any, file: _File, where: str) -> dict[str, int]:
    """Number base of tasks by task name."""
    if not isinstance(content, dict):
        raise ProfileError(f"{where} is not a table: write base.TASK = DIGITS")
    tasks = {task for group in file.cells for task in group.tasks}
    for task in content:
        if task not in tasks:
            raise ProfileError(f"{where}: '{task}' is not one of its tasks")
    return {task: read_value(Base, digits, f"{where}, {task}") for task, digits in content.items()}


def _scales(ends: tuple[int, ...], where: str) -> tuple[int, ...]:
    """Expand [first, last] to all scales between them."""
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ProfileError(f"{where}: scales are given as [first, last] with first <= last, not {list(ends)[:10]}")
    return tuple(range(ends[0], ends[1] + 1))
