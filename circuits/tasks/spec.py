"""Task specification: name, base and format of a task as one value that is parsed once and handed on.

As a text: `addition`, `addition[base=4]`, `addition[format=aligned]`, `addition[base=4,format=aligned]`. A user's own
task is typed and stored as `path/to/file.py:name`, and shown as `name`: in tables, figures, messages, names of files.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from lengthgen.circuits.formats import FORMATS, in_format
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks.catalogue import TASKS, TWO_SCALE_TASKS
from lengthgen.circuits.tasks.families import PUBLISHED_TASKS, has_base, is_of_family, require_family, task_of_family
from lengthgen.circuits.tasks.transducer import MACHINES, Transducer
from lengthgen.circuits.tasks.two_scales import TwoScaleTask
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.userfile import load_object, split_file

NAMED = (*TASKS, *PUBLISHED_TASKS)
"""Names of all tasks of one scale that `lengthgen tasks` lists."""
LONGEST_TEXT = 1_000
"""Largest number of characters of a task's name, including the file of a user's own task."""


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """Task in one format. Two specs are equal iff they name the same task.

    Names are read in any case.

    Attributes:
        name: one of lengthgen.circuits.tasks.TASKS, path/to/file.py:name, or the name of a random or published
            task (`lengthgen.circuits.tasks.families`).
        base: number of digits if chosen; None for the task's default. A chosen base that equals the default is kept
            distinct from None, so that results stored under its identifier stay valid.
        format: one of lengthgen.circuits.formats.FORMATS.

    Raises:
        TaskError: no task has this name, the task has no base to choose, or the base or format does not exist.
    """

    name: str
    base: int | None = None
    format: str = "unaligned"

    def __post_init__(self) -> None:
        if not self.name.isprintable() or len(self.name) > LONGEST_TEXT:
            raise TaskError(f"a task's name is printable text of at most {LONGEST_TEXT:,} characters on one line")
        object.__setattr__(self, "name", in_any_case(self.name, [*NAMED, *TWO_SCALE_TASKS]))
        object.__setattr__(self, "format", in_any_case(self.format, FORMATS))
        if self.name in TWO_SCALE_TASKS:
            raise TaskError(
                f"task '{self.name}' has two scales: ask for its SRC with  lengthgen src {self.name} --scales 1-3 "
                "--second-scales 1-3"
            )
        if self.base is not None and not _has_base(self.name):
            with_base = ", ".join(name for name in TASKS if _has_base(name))
            raise TaskError(f"task '{self.name}' has no base to choose; these have: {with_base}")
        if self.base is not None:
            _with_base(self.name, self.base)  # raises TaskError for a base out of range
        if is_of_family(self.name) and not self.is_own:
            require_family(self.name)
        elif self.name not in TASKS and (not self.is_own or self.name.endswith("]")):
            listed = "`lengthgen tasks` lists all; your own: path/to/file.py:name"
            hint = nearest(self.name, NAMED, listed=listed)
            raise TaskError(f"unknown task '{self.name}': {hint}")
        if self.format not in FORMATS:
            raise TaskError(f"unknown format '{self.format}': choose one of {', '.join(FORMATS)}")

    def __str__(self) -> str:
        """Return the shortest text that `parse_task` reads as this spec."""
        options = [f"base={self.base}"] if self.base is not None else []
        options += [f"format={self.format}"] if self.format != "unaligned" else []
        return f"{self.name}[{','.join(options)}]" if options else self.name

    @property
    def is_own(self) -> bool:
        """True if it is a task of the user's own."""
        return (split_file(self.name) or (None, None))[1] is not None

    @property
    def short_name(self) -> str:
        """Name without the file."""
        return self.name.rpartition(":")[2]

    @property
    def key(self) -> str:
        """Name and base by which a stored trial holds the task: "addition base 4", "path/to/file.py:mine"."""
        return self.name if self.base is None else f"{self.name} base {self.base}"

    @property
    def words(self) -> str:
        """Name and base in a sentence: "addition base 4", "mine"."""
        return self.short_name if self.base is None else f"{self.short_name} base {self.base}"

    @property
    def title(self) -> str:
        """Name and base in a table or a figure: "addition (base 4)", "mine"."""
        return self.short_name if self.base is None else f"{self.short_name} (base {self.base})"

    def identifier(self, *, with_file: bool = False) -> str:
        """Return name and base for the name of a file or a run: "addition-base4"; a user's file only `with_file`."""
        name = "-".join(Path(self.name.replace(".py:", "/")).parts).strip("/-") if with_file else self.short_name
        return name if self.base is None else f"{name}-base{self.base}"

    def plain(self) -> Task:
        """Return the task as written, in no format. A user's file is run, and its task gets the name it has there.

        Raise TaskError if the file does not exist, fails or defines no such Task, or the task refuses its base.
        """
        if self.base is not None:
            return replace(_with_base(self.name, self.base), name=self.identifier())
        if self.name in TASKS:
            return TASKS[self.name]()
        if is_of_family(self.name) and not self.is_own:
            return task_of_family(self.name)
        task: Task = load_object(self.name, what="task", error=TaskError, kind=Task)
        return replace(task, name=self.short_name)

    def laid_out(self, largest_scale: int) -> Task:
        """Return the task in its format. Raise TaskError as `plain` does, or if it cannot be aligned."""
        return in_format(self.plain(), self.format, largest_scale=largest_scale)

    def as_json(self) -> dict[str, Any]:
        """Return the keys by which stored JSON holds a task: task, base and format, next to other keys."""
        return {"task": self.name, "base": self.base, "format": self.format}


def parse_task(text: str) -> TaskSpec:
    """Return the task that a text names: NAME or NAME[base=DIGITS,format=FORMAT], where each option may be left out.

    Raise TaskError if the text does not have this form, or as for TaskSpec.
    """
    bracket = re.fullmatch(r"(.*)\[(.*)\]", text.strip())
    name, options = bracket.groups() if bracket else (text.strip(), None)
    values: dict[str, str] = {}
    for option in [] if options is None else options.split(","):
        match = re.fullmatch(r"\s*(?:(base)=([0-9]{1,9})|(format)=(\w+))\s*", option)
        key, value = (part for part in match.groups() if part) if match else ("", "")
        if not match or key in values:
            raise TaskError(f"'{text}' is no task: write NAME or NAME[base=DIGITS,format=FORMAT]")
        values[key] = value
    base = int(values["base"]) if "base" in values else None
    return TaskSpec(name=name, base=base, format=values.get("format", "unaligned"))


def load(name: str, *, base: int | None = None) -> Task:
    """Return a task by its name or `path/to/file.py:name`, in no format. Raise TaskError as TaskSpec and `plain` do."""
    return TaskSpec(name=name, base=base).plain()


def load_two_scales(name: str, *, base: int | None = None) -> TwoScaleTask:
    """Return a task of two scales by its name or `path/to/file.py:name`. A user's file is run.

    Raise TaskError if there is none of this name, or the base does not fit.
    """
    task: TwoScaleTask = _load_other(name, base, TWO_SCALE_TASKS, TwoScaleTask, "task of two scales")
    return task


def load_machine(name: str, *, base: int | None = None) -> Transducer:
    """Return a finite-state transducer by the name of its task or `path/to/file.py:name`. A user's file is run.

    Raise TaskError if there is none of this name, or the base does not fit.
    """
    if in_any_case(name, MACHINES) in MACHINES:
        TaskSpec(name=name, base=base)  # raises TaskError for a base that the task does not have
    machine: Transducer = _load_other(name, base, MACHINES, Transducer, "finite-state transducer")
    return machine


def _load_other(name: str, base: int | None, named: Mapping[str, Callable[..., Any]], kind: type, what: str) -> Any:
    """Return a named object, or one of a user's file. Raise TaskError if there is none, or a file's has no base."""
    name = in_any_case(name, named)
    if name in named:
        return named[name]() if base is None else named[name](base)
    if split_file(name) is None:
        raise TaskError(f"'{name}' is no {what}: {nearest(name, named, listed='your own: path/to/file.py:name')}")
    if base is not None:
        raise TaskError(f"'{name}' has no base to choose")
    return replace(load_object(name, what=what, error=TaskError, kind=kind), name=name.rpartition(":")[2])


@lru_cache(maxsize=64)
def _with_base(name: str, base: int) -> Task:
    return TASKS[name](base) if name in TASKS else task_of_family(name, base)


def _has_base(name: str) -> bool:
    return bool(inspect.signature(TASKS[name]).parameters) if name in TASKS else has_base(name)
