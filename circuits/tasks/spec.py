"""A task as it is named: its name, its base and its format, as one value that is parsed once and handed on.

As a text: `addition`, `addition[base=4]`, `addition[format=aligned]`, `addition[base=4,format=aligned]`, where a user's
own task has `path/to/file.py:name` for its name.
"""

import inspect
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from circuits.formats import FORMATS, in_format
from circuits.task import Task, TaskError
from circuits.tasks.catalogue import TASKS
from theory.system.errors import nearest
from theory.system.userfile import load_object, split_file

LONGEST_TEXT = 1_000
"""Characters of a task's name, with the file of one's own."""


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """A task in one format. Two are equal iff they name the same task.

    Attributes:
        name: one of circuits.tasks.TASKS, or path/to/file.py:name.
        base: digits, if chosen; None for the task's own choice. A base that is chosen and happens to be the default
            is told from that: what is stored under its identifier stays where it is.
        format: one of circuits.formats.FORMATS.

    Raises:
        TaskError: there is no task of this name, it has no base to choose, or there is no such base or format.
    """

    name: str
    base: int | None = None
    format: str = "unaligned"

    def __post_init__(self) -> None:
        if not self.name.isprintable() or len(self.name) > LONGEST_TEXT:
            raise TaskError(f"a task's name is printable text of at most {LONGEST_TEXT:,} characters on one line")
        if self.base is not None and (self.name not in TASKS or not _has_base(self.name)):
            with_base = ", ".join(name for name in TASKS if _has_base(name))
            raise TaskError(f"task '{self.name}' has no base to choose; these have: {with_base}")
        if self.base is not None:
            TASKS[self.name](self.base)  # which knows what bases it has
        if self.name not in TASKS and (not self.is_own or self.name.endswith("]")):
            otherwise = f"known are {', '.join(TASKS)}; your own: path/to/file.py:name"
            raise TaskError(f"unknown task '{self.name}': {nearest(self.name, TASKS, otherwise=otherwise)}")
        if self.format not in FORMATS:
            raise TaskError(f"unknown format '{self.format}': choose one of {', '.join(FORMATS)}")

    def __str__(self) -> str:
        """The shortest text that `parse_task` reads as this."""
        said = [f"base={self.base}"] if self.base is not None else []
        said += [f"format={self.format}"] if self.format != "unaligned" else []
        return f"{self.name}[{','.join(said)}]" if said else self.name

    @property
    def is_own(self) -> bool:
        """Whether it is a task of the user's own."""
        return (split_file(self.name) or (None, None))[1] is not None

    @property
    def short_name(self) -> str:
        """The name without the file."""
        return self.name.rpartition(":")[2]

    @property
    def words(self) -> str:
        """Name and base in a sentence: "addition base 4", "path/to/file.py:mine"."""
        return self.name if self.base is None else f"{self.name} base {self.base}"

    @property
    def title(self) -> str:
        """Name and base in a table or a figure: "addition (base 4)", "mine"."""
        return self.short_name if self.base is None else f"{self.short_name} (base {self.base})"

    def identifier(self, *, with_file: bool = False) -> str:
        """Name and base in the name of a file or a run: "addition-base4"; a user's file only where asked for."""
        name = "-".join(Path(self.name.replace(".py:", "/")).parts).strip("/-") if with_file else self.short_name
        return name if self.base is None else f"{name}-base{self.base}"

    def plain(self) -> Task:
        """The task as it is written, in no format. A user's file is run: it is the user's own code.

        Raises:
            TaskError: no such file, it fails or defines no such Task, or the task refuses its base.
        """
        if self.base is not None:
            return replace(TASKS[self.name](self.base), name=self.identifier())
        if self.name in TASKS:
            return TASKS[self.name]()
        task: Task = load_object(self.name, what="task", error=TaskError, kind=Task)
        return task

    def laid_out(self, largest_scale: int) -> Task:
        """The task in its format. Raises TaskError as `plain` does, or where it cannot be aligned."""
        return in_format(self.plain(), self.format, largest_scale=largest_scale)

    def as_json(self) -> dict[str, Any]:
        """The keys by which stored JSON holds a task: task, base and format, side by side with others."""
        return {"task": self.name, "base": self.base, "format": self.format}


def parse_task(text: str) -> TaskSpec:
    """The task that a text names: NAME or NAME[base=DIGITS,format=FORMAT], either of these left out or both.

    Raises:
        TaskError: the text is none of these, or as for TaskSpec.
    """
    bracket = re.fullmatch(r"(.*)\[(.*)\]", text.strip())
    name, options = bracket.groups() if bracket else (text.strip(), None)
    given: dict[str, str] = {}
    for option in [] if options is None else options.split(","):
        found = re.fullmatch(r"\s*(?:(base)=([0-9]{1,9})|(format)=(\w+))\s*", option)
        key, value = (part for part in found.groups() if part) if found else ("", "")
        if not found or key in given:
            raise TaskError(f"'{text}' is no task: write NAME or NAME[base=DIGITS,format=FORMAT]")
        given[key] = value
    base = int(given["base"]) if "base" in given else None
    return TaskSpec(name=name, base=base, format=given.get("format", "unaligned"))


def load(name: str, *, base: int | None = None) -> Task:
    """A task by its name or `path/to/file.py:name`, in no format. Raises TaskError as TaskSpec and `plain` do."""
    return TaskSpec(name=name, base=base).plain()


def _has_base(name: str) -> bool:
    return bool(inspect.signature(TASKS[name]).parameters)
