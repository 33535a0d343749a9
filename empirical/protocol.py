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

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empirical.profile import Profile, ProfileError, load_profile, read, read_toml

FOLDER = Path(__file__).parent / "protocols"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One condition: its runs differ in model size and seed. `base` is the task's digits, if not its default."""

    task: str
    base: int | None
    format: str
    encoding: str

    def __str__(self) -> str:
        digits = "" if self.base is None else f" base {self.base}"
        return f"{self.task.rpartition(':')[2]}{digits}, {self.format}, {self.encoding}"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """An experiment under one profile. Scales are ascending; the test's include those of training.

    Attributes:
        name: of what is stored for it.
        said: how it is named on the command line.
    """

    name: str
    said: str
    title: str
    source: str
    cells: tuple[Cell, ...]
    train: tuple[int, ...]
    test: tuple[int, ...]
    profile_name: str
    profile: Profile


@dataclass(frozen=True, kw_only=True)
class _Group:
    tasks: tuple[str, ...]
    formats: tuple[str, ...]
    encodings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _File:
    title: str
    source: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    cells: tuple[_Group, ...]


def names() -> list[str]:
    """The protocols that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_protocol(name: str, profile: str) -> Protocol:
    """A protocol under a profile.

    Args:
        name: one of `names()`, or path/to/file.toml.
        profile: of empirical/profiles.

    Raises:
        ProfileError: no such protocol or profile, or a key that is missing, unknown or of the wrong type.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in names():
        raise ProfileError(f"unknown protocol '{name}': choose one of {', '.join(names())}, or path/to/file.toml")
    if name.endswith(".toml") and path.stem in names():
        raise ProfileError(f"protocol '{name}': '{path.stem}' is a protocol of the project, rename the file")
    content = read_toml(path)
    changes = {key: content.pop(key) for key in list(content) if isinstance(content[key], dict)}
    for key in changes:
        load_profile(key)  # a section is named after a profile
    file: _File = read(_File, content, f"protocol '{name}'")
    own = dict(changes.get(profile, {}))
    bases = own.pop("base", {})
    loaded = load_profile(profile, own)
    train, test = (_scales(ends, f"protocol '{name}'") for ends in (file.train, file.test))
    cells = tuple(
        Cell(task=task, base=bases.get(task), format=form, encoding=encoding)
        for group in file.cells
        for task in group.tasks
        for form in group.formats
        for encoding in group.encodings
    )
    strangers = sorted(set(bases) - {cell.task for cell in cells})
    if strangers:
        raise ProfileError(f"protocol '{name}', base: '{strangers[0]}' is none of its tasks")
    if len(set(cells)) < len(cells):
        raise ProfileError(f"protocol '{name}': a cell stands there twice")
    return made(
        name=path.stem, said=name, title=file.title, source=file.source, cells=cells, train=train, test=test,
        profile_name=profile, profile=loaded,
    )  # fmt: skip


def made(**parts: Any) -> Protocol:
    """A protocol of these parts, once its scales are looked at.

    Raises:
        ProfileError: training scales that reach as far as the test's, or are none of them.
    """
    protocol = Protocol(**parts)
    if protocol.train[-1] >= protocol.test[-1]:
        raise ProfileError(
            f"the largest test scale ({protocol.test[-1]}) must exceed those of training (to {protocol.train[-1]})"
        )
    if not set(protocol.train) <= set(protocol.test):
        raise ProfileError("the test scales must include the training scales: fitting is judged on them")
    return protocol


def _scales(ends: tuple[int, ...], where: str) -> tuple[int, ...]:
    if len(ends) != 2 or not 1 <= ends[0] <= ends[1]:
        raise ProfileError(f"{where}: scales are given as [first, last] with 1 <= first <= last, not {list(ends)}")
    return tuple(range(ends[0], ends[1] + 1))
