"""Command line: `lengthgen COMMAND`, where every command has the option --json.

Packages that only some commands need (matplotlib, networkx, scipy, sympy, torch) are imported by these commands, so
that the others start fast.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from lengthgen.interrupts import INTERRUPTED, interrupts_heeded
from lengthgen.menu import SETTINGS, Menu
from lengthgen.preconditions import TRAINING, missing_training
from lengthgen.streams import LostAnswer, open_streams
from theory.system.errors import LengthgenError, in_words
from theory.system.messages import tell

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
    with interrupts_heeded() as signals:
        code = _run()
    if code == INTERRUPTED:
        how = f"ended by {signals[0].name}" if signals else "interrupted"
        tell(f"error: {how}; what was stored is kept: run the same command again")
        exec("")  # else Python ends by a signal instead of this code, if the interrupt came during exec of a string
        sys.exit(128 + signals[0] if signals else INTERRUPTED)
    sys.exit(code)


def _run() -> int:
    """Run the command; return its exit code."""
    try:
        open_streams()
        try:
            code = click_app(args=sys.argv[1:] or ["--help"], prog_name="lengthgen", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except LostAnswer as lost:
        if lost.unwanted:
            return 128 + signal.SIGPIPE
        _fail(str(lost))
    except ClickException as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):  # some versions of typer return the code instead
        return INTERRUPTED
    except SystemExit as ended:
        if "_LENGTHGEN_COMPLETE" in os.environ or {*sys.argv[1:2]} & {*COMPLETION}:
            return int(ended.code or 0)
        # Commands end by typer.Exit, so this comes from a user's own code
        _fail(f"your own code called sys.exit({ended.code!r}) before there was an answer: remove that call")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in TRAINING:
            raise
        _fail(missing_training(str(error.name)))
    except (LengthgenError, OSError) as error:
        _fail(in_words(error))
    return code or 0


def _fail(message: str) -> NoReturn:
    """Print a one-line error on stderr and end with exit code 2."""
    tell(f"error: {' '.join(message.split())}")
    sys.exit(2)
