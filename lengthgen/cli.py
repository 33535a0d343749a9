"""Command line: `lengthgen COMMAND`, where every command has the option --json.

Packages that only some commands need (matplotlib, networkx, scipy, sympy, torch) are imported by these commands, so
that the others start fast.
"""

import os
import shlex
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from lengthgen.infrastructure.errors import LengthgenError, in_any_case, in_words, one_line
from lengthgen.infrastructure.messages import tell
from lengthgen.terminal.interrupts import INTERRUPTED, interruptible
from lengthgen.terminal.menu import COMMANDS, SETTINGS, Menu
from lengthgen.terminal.preconditions import TRAINING, missing_training
from lengthgen.terminal.streams import LostAnswer, open_streams

COMPLETION = ("--install-completion", "--show-completion")
"""Options by which typer installs or shows the completion of a shell; they end the process."""

app = typer.Typer(
    cls=Menu,
    context_settings=SETTINGS,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog='Begin with:  lengthgen lrc "1 if j - i < 3 else 0"',
)


def _show_version(wanted: bool) -> None:
    """Print the version and end the command."""
    if wanted:
        from importlib.metadata import version

        print(f"lengthgen {version('lengthgen')}")
        raise typer.Exit


@app.callback()
def _all_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Check claims about position encodings and length generalization: by proof, by exact computation, by experiment.

    lengthgen COMMAND -h explains a command; each takes --json.
    """


click_app: Callable[..., int | None] = typer.main.get_command(app)  # typer would make it anew for each call of `app`
# Some versions of typer contain a copy of click, others use the package; this finds the class in use.
ClickException: type[Any] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run the command line. Every expected error is one line on stderr and a non-zero exit code."""
    code, ended_by = interruptible(_run)
    if code == INTERRUPTED:
        how = "interrupted" if ended_by == signal.SIGINT else f"ended by {ended_by.name}"
        tell(f"error: {how}{_way_on()}")
        exec("")  # else Python ends by a signal instead of this code, if the interrupt came during exec of a string
        code = 128 + ended_by
    sys.exit(code)


def _way_on() -> str:
    """Say that an interrupted command can go on, if it is one that stores its results so far."""
    command = COMMANDS.get(in_any_case("".join(sys.argv[1:2]), COMMANDS))
    return "; what was stored is kept: run the same command again" if command and command.resumes else ""


def _behind_dashes(option: str) -> str:
    """Say how a formula is written that begins with a minus and was read as this unknown option; else nothing."""
    name, *arguments = sys.argv[1:] or [""]
    command = COMMANDS.get(in_any_case(name, COMMANDS))
    if not (command and command.formula and option and not option.startswith("--")):
        return ""
    formula = next((text for text in arguments if text.startswith(option)), option)
    others = [text for text in arguments if text is not formula]
    return f'; for a formula, write: lengthgen {shlex.join([name, *others])} -- "{one_line(formula)}"'


def _run() -> int:
    """Run the command; return its exit code."""
    try:
        open_streams()
        try:
            code = click_app(args=sys.argv[1:] or ["--help"], prog_name="lengthgen", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except LostAnswer as lost:
        return 128 + signal.SIGPIPE if lost.unwanted else _failed(str(lost))
    except ClickException as error:
        return _failed(error.format_message() + _behind_dashes(getattr(error, "option_name", "")))
    except (typer.Abort, KeyboardInterrupt):  # some versions of typer return the code instead
        return INTERRUPTED
    except SystemExit as ended:
        if "_LENGTHGEN_COMPLETE" in os.environ or {*sys.argv[1:2]} & {*COMPLETION}:
            return int(ended.code or 0)
        # Commands end by typer.Exit, so this comes from a user's own code
        return _failed(f"your own code called sys.exit({ended.code!r}) before there was an answer: remove that call")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in TRAINING:
            raise
        return _failed(missing_training(str(error.name)))
    except (LengthgenError, OSError) as error:
        return _failed(in_words(error))
    return code or 0


def _failed(message: str) -> int:
    """Print a one-line error on stderr; return its exit code, 2."""
    tell(f"error: {' '.join(message.split())}")
    return 2
