"""Menu of the command line: every command with its group, its one line of help, and the module that defines it.

A module is imported when one of its commands is called, so that neither help nor a short answer waits for the others.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from lengthgen.infrastructure.discovery import studies
from lengthgen.infrastructure.errors import in_any_case, nearest


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Command on the menu.

    Attributes:
        line: what the command does, in at most 57 characters, so that it fits beside its name in 80 columns.
        module: module with the function of the command's name, in which `-` is `_`; "" for `questions.NAME`.
        resumes: whether an interrupted call keeps its results so far, from which the same call goes on.
        formula: whether it takes a formula, which may begin with a minus, as an option does.
    """

    line: str
    module: str = ""
    resumes: bool = False
    formula: bool = False


_CORE: Mapping[str, Mapping[str, Listed]] = {
    "Ask (exact answers, without training)": {
        "lrc": Listed(line="Can any position encoding make a pattern generalize?", formula=True),
        "src": Listed(line="Fewest operators of any circuit for a task"),
        "predict": Listed(line="Forecast which encodings generalize on a task, and why"),
        "forecast": Listed(line="How good are forecasts, and what do they count?"),
        "tasks": Listed(line="List the tasks of the project", module="questions.src"),
        "encodings": Listed(line="List position encodings with their computed properties"),
    },
    "Prove (claims, certificates, precision)": {
        "claims": Listed(line="Find claims by words, or show one with its proof"),
        "verify": Listed(line="Check claims of papers, or your own", resumes=True),
        "check-certificate": Listed(
            line="Check a proof of SRC by code that shares none with src", module="questions.src"
        ),
        "audit": Listed(line="Measure the precision of an encoding by position"),
    },
    "Train (models and verdicts)": {
        "train": Listed(line="Train one model and test it at every scale", resumes=True),
        "sweep": Listed(line="Predict, then train all runs of a protocol", module="questions.train", resumes=True),
        "protocols": Listed(line="List the protocols: their cells, scales and runs", module="questions.train"),
        "conjecture": Listed(
            line="Predict, train over seeds, and judge each prediction", module="questions.train", resumes=True
        ),
        "evaluate": Listed(line="Test a finished run at other scales", module="questions.runs"),
        "relation": Listed(line="Compare the relation that a run learned with the ideal", module="questions.runs"),
    },
    "Show (stored results)": {
        "runs": Listed(line="List, filter and remove stored runs"),
        "figures": Listed(line="Draw figures and tables", resumes=True),
        "report": Listed(line="Write one page to explore all results", resumes=True),
        "reproduce": Listed(line="Run everything into one folder, report included", module="reproduce", resumes=True),
    },
}


def _with_studies(name: str, command: Listed) -> Iterator[tuple[str, Listed]]:
    """Yield a command, and after it those of studies that stand there on the menu."""
    yield name, command
    for study in studies():
        for follower, described in getattr(study, "COMMANDS", {}).items():
            if described["after"] == name:
                module = f"{study.__name__.removeprefix('lengthgen.')}.{described['module']}"
                resumes = described.get("resumes", False)
                yield from _with_studies(follower, Listed(line=described["line"], module=module, resumes=resumes))


GROUPS: Mapping[str, Mapping[str, Listed]] = {
    title: dict(placed for name, command in group.items() for placed in _with_studies(name, command))
    for title, group in _CORE.items()
}
COMMANDS: Mapping[str, Listed] = {name: command for group in GROUPS.values() for name, command in group.items()}
SETTINGS = {"help_option_names": ["-h", "--help"], "token_normalize_func": str.lower}
"""Settings of all commands: names of commands, of options and of their fixed values are read in any case."""


def function(name: str) -> Callable[..., None]:
    """Return the function behind a command on the menu."""
    module = import_module(f"lengthgen.{COMMANDS[name].module or f'questions.{name}'}")
    command: Callable[..., None] = getattr(module, name.replace("-", "_"))
    return command


@lru_cache
def _command(name: str) -> Any:
    """Return the parser of a command on the menu."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, short_help=COMMANDS[name].line, context_settings=SETTINGS)(function(name))
    return typer.main.get_command(alone)


class Menu(TyperGroup):
    """Group of the commands on the menu."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, importing its module; None if there is none of this name."""
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments. Refuse an unknown name with the nearest ones."""
        name = in_any_case(args[0], COMMANDS)
        if name not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"unknown command '{args[0]:.60}': {nearest(name, COMMANDS, listed='`lengthgen -h` lists all')}")
        return super().resolve_command(ctx, [name, *args[1:]])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group, without importing any command."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), command.line) for name, command in group.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the names that begin as what was typed, with their lines, without importing the commands."""
        if not incomplete[:1].isalnum() and incomplete:  # an option
            return super().shell_complete(ctx, incomplete)
        # Some versions of typer contain a copy of click, others use the package.
        click = TyperGroup.__mro__[1].__module__.rpartition(".")[0]
        item = import_module(f"{click}.shell_completion").CompletionItem
        return [item(name, help=COMMANDS[name].line) for name in COMMANDS if name.startswith(incomplete)]


def all_functions() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield every command's name with its function; imports all of them."""
    return ((name, function(name)) for name in COMMANDS)
