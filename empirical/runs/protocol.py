"""Protocols: which cells an experiment has, as TOML files in empirical/protocols or of the user's own.

title = "..."
source = "..."            # where it is published
train = [1, 5]            # first and last training scale
test = [1, 20]

[[cells]]                 # every combination is a cell; any number of such groups
tasks = ["copy"]
formats = ["aligned"]
encodings = ["ipe"]

[quick]                   # what this protocol changes of a profile, and the digits of tasks under it
seeds = 3
training.epochs = 10
base.addition = 4
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Self

from circuits.encodings import EncodingError, parse_encoding
from circuits.task import MAX_SYMBOLS
from circuits.tasks import TaskSpec
from empirical.runs.limits import SCALE, Entries, Range, Text
from empirical.runs.profile import Profile, ProfileError, load_profile, read, read_toml, read_value
from theory.system.errors import nearest

FOLDER = Path(__file__).parents[1] / "protocols"
MOST_RUNS = 20_000
"""Runs that one protocol may have: all of them are planned before the first is trained."""
TAKEN = (
    "runs", "figures", "report", "tensorboard", "lrc.json", "claims.json", "src.json", "report.html", "manifest.json",
)  # fmt: skip
"""Names of other things in the folder in which each protocol has a folder of its own."""
Scales = Annotated[tuple[Annotated[int, SCALE], ...], Entries(SCALE.most)]
Base = Annotated[int | None, Range(2, MAX_SYMBOLS)]
Name = Annotated[str, Text(1_000)]


@dataclass(frozen=True)
class FolderName:
    """Names for a folder beside those of TAKEN: printable, not hidden, at most 100 bytes long."""

    def refusal(self, value: str) -> str | None:
        """As `empirical.runs.limits.Limit` says."""
        if value.casefold() in TAKEN:
            return f"is taken: a folder of results has {', '.join(TAKEN)}"
        plain = value.isprintable() and "/" not in value and not value.startswith(".")
        return None if value and plain and len(value.encode()) <= 100 else "cannot name a folder of results"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One condition, a task in one format and an encoding: its runs differ in model size and seed."""

    task: TaskSpec
    encoding: Name

    def __str__(self) -> str:
        return f"{self.task.title}, {self.task.format}, {self.encoding}"

    def as_json(self) -> dict[str, Any]:
        """The cell as JSON holds it: task, base, format and encoding side by side."""
        return self.task.as_json() | {"encoding": self.encoding}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """The cell that `as_json` wrote. Raises ProfileError: it is none of a cell."""
        cell: Self = read(cls, with_task(content, "cell"), "cell")
        return cell


def with_task(content: Any, where: str) -> Any:
    """JSON that holds task, base and format side by side, with these as the one value `task`, for `read`.

    Raises:
        ProfileError: one of the three is missing.
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
    """An experiment under one profile. Scales are ascending; the test's include those of training.

    Attributes:
        name: of what is stored for it.
        said: how it is named on the command line.

    Raises:
        ProfileError: training scales that reach as far as the test's, or are none of them; a cell that stands there
            twice; or more than MOST_RUNS.
    """

    name: Annotated[str, FolderName()]
    said: str
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
            raise ProfileError("a cell stands there twice")
        runs = len(self.cells) * len(self.profile.models) * self.profile.seeds
        if runs > MOST_RUNS:
            raise ProfileError(
                f"{len(self.cells)} cells, {len(self.profile.models)} models and {self.profile.seeds} seeds make "
                f"{runs:,} runs, and at most {MOST_RUNS:,} are planned"
            )


@dataclass(frozen=True, kw_only=True)
class _Group:
    tasks: Annotated[tuple[Name, ...], Entries(100)]
    formats: Annotated[tuple[Name, ...], Entries(10)]
    encodings: Annotated[tuple[Name, ...], Entries(100)]


@dataclass(frozen=True, kw_only=True)
class _File:
    title: str
    source: str
    train: tuple[Annotated[int, SCALE], ...]
    test: tuple[Annotated[int, SCALE], ...]
    cells: Annotated[tuple[_Group, ...], Entries(20)]


def names() -> list[str]:
    """The protocols that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_protocol(name: str, profile: str) -> Protocol:
    """A protocol under a profile.

    Args:
        name: one of `names()`, or path/to/file.toml.
        profile: of empirical/profiles.

    Raises:
        ProfileError: no such protocol or profile; in it or in a section for any profile a key that is missing, unknown,
            of the wrong type or out of its range; or a name that the folder of results has for something else.
    """
    loaded = load_profile(profile)
    where = f"protocol '{name}'"
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in names():
        otherwise = f"choose one of {', '.join(names())}, or path/to/file.toml"
        raise ProfileError(f"unknown {where}: {nearest(name, names(), otherwise=otherwise)}")
    if name.endswith(".toml") and path.stem.casefold() in names():
        raise ProfileError(f"{where}: '{path.stem}' is a protocol of the project, rename the file")
    content = read_toml(path)
    own = {field.name for field in fields(_File)}
    sections = {key: content.pop(key) for key in list(content) if key not in own and isinstance(content[key], dict)}
    file: _File = read(_File, content, where)
    bases: dict[str, int] = {}
    for key, section in sections.items():
        load_profile(key)  # a section is named after a profile
        changes = dict(section)
        digits = _bases(changes.pop("base", {}), file, f"{where}, {key}, base")
        changed = load_profile(key, changes, where=f"{where}, {key}")
        if key == profile:
            loaded, bases = changed, digits
    return made(
        name=path.stem, said=name, title=file.title, source=file.source, cells=tuple(_cells(file, bases)),
        train=_scales(file.train, where), test=_scales(file.test, where), profile_name=profile, profile=loaded,
    )  # fmt: skip


def made(**parts: Any) -> Protocol:
    """A protocol of these parts, once they are checked as those of a file are.

    Raises:
        ProfileError: a part that is out of its range, or parts that do not go together.
    """
    said = parts["said"]
    kind = "protocol" if said.endswith(".toml") or said in names() else "task"
    protocol: Protocol = read(Protocol, parts, f"{kind} '{said}'")
    return protocol


def _cells(file: _File, bases: Mapping[str, int]) -> Iterator[Cell]:
    for group in file.cells:
        encodings = [_named(text) for text in group.encodings]
        for task in group.tasks:
            for form in group.formats:
                for encoding in encodings:
                    yield Cell(task=TaskSpec(name=task, base=bases.get(task), format=form), encoding=encoding)


def _named(encoding: str) -> Name:
    """The encoding by its name and not an alias; what names none is refused when its runs are planned."""
    with suppress(EncodingError):
        return str(parse_encoding(encoding))
    return encoding


def _bases(content: Any, file: _File, where: str) -> dict[str, int]:
    """The digits of tasks, by their names."""
    if not isinstance(content, dict):
        raise ProfileError(f"{where} is not a table: write base.TASK = DIGITS")
    tasks = {task for group in file.cells for task in group.tasks}
    for task in content:
        if task not in tasks:
            raise ProfileError(f"{where}: '{task}' is none of its tasks")
    return {task: read_value(Base, digits, f"{where}, {task}") for task, digits in content.items()}


def _scales(ends: tuple[int, ...], where: str) -> tuple[int, ...]:
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ProfileError(f"{where}: scales are given as [first, last] with first <= last, not {list(ends)[:10]}")
    return tuple(range(ends[0], ends[1] + 1))
