"""Source of published numbers, and its description in sources.toml."""

from dataclasses import dataclass
from pathlib import Path

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.settings import read, read_toml

FOLDER = Path(__file__).parent
"""Folder of the tables, `NAME.csv`, and of their description, `sources.toml`."""


class PublishedError(LengthgenError):
    """Published numbers that are damaged, or a name that they do not have. The message is one line."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of the numbers of one table.

    Attributes:
        title, arxiv, authors: the paper.
        repository, file: where the numbers were taken from.
        retrieved: when, as far as it is known.
        licence: remark on the licence of the repository.
        lengths: which lengths were tested, in words.
        model: what was trained.
        accuracy: what is counted, and in which unit the table has it.
        traps: what misleads whoever takes the numbers as they stand.
        train: largest length of training.
        train_of: task -> largest length of training, where it is another one.
        names: task as the table writes it -> its name here; a task that is not listed has the same name.
        encodings: encoding as the table writes it -> text of an encoding.
        unusable: encoding as the table writes it -> reason why its rows are no evidence.
        remarks: task, encoding or task/encoding -> remark on its cells.
    """

    title: str
    arxiv: str
    authors: str
    repository: str
    file: str
    retrieved: str
    licence: str
    lengths: str
    model: str
    accuracy: str
    traps: tuple[str, ...]
    train: int
    train_of: dict[str, int]
    names: dict[str, str]
    encodings: dict[str, str]
    unusable: dict[str, str]
    remarks: dict[str, str]


def read_sources(folder: Path) -> dict[str, Source]:
    """Return the sources that `sources.toml` in a folder describes, by the names of their tables.

    Raises:
        PublishedError: the file cannot be read, or a key is missing, unknown or of the wrong type.
    """
    try:
        tables = read_toml(folder / "sources.toml")
        return {name: read(Source, table, f"sources.toml, {name}") for name, table in tables.items()}
    except LengthgenError as error:
        raise PublishedError(str(error)) from error
