"""The command line: `lengthgen COMMAND`, each with --json.

What only some commands need (matplotlib, scipy's statistics, sympy) is imported by them, so that the others start fast.
"""

import signal
import sys
from typing import Any, NoReturn

import typer

from lengthgen.commands import circuits, figures, report, theory, training
from lengthgen.commands.options import INTERRUPTED
from lengthgen.interrupts import interrupts_heeded
from lengthgen.preconditions import TRAINING, missing_training
from lengthgen.streams import LostAnswer, open_streams
from theory.system.errors import LengthgenError
from theory.system.messages import tell

app = typer.Typer(
    help="Check claims about position encodings and length generalization.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    theory.lrc,
    circuits.src,
    circuits.check_certificate,
    circuits.tasks,
    theory.encodings,
    circuits.predict,
    theory.verify,
    theory.audit,
    training.train,
    training.sweep,
    training.conjecture,
    training.evaluate,
    training.relation,
    training.runs,
    figures.figures,
    report.report,
    training.reproduce,
):
    app.command()(command)

# typer brings its own copy of click in some versions and uses the package in others; this is the right one's.
ClickException: type[Any] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Entry point: every expected error is one line on stderr and a non-zero exit."""
    with interrupts_heeded() as came:
        code = _run()
    if code == INTERRUPTED:
        how = f"ended by {came[0].name}" if came else "interrupted"
        tell(f"error: {how}; run the same command again to go on")
        exec("")  # else Python ends by a signal, not this status, if the interrupt met an exec of a string
        sys.exit(128 + came[0] if came else INTERRUPTED)
    sys.exit(code)


def _run() -> int:
    """Runs the command; returns its exit code."""
    try:
        open_streams()
        try:
            code: int | None = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
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
    except SystemExit as ended:  # commands end by typer.Exit, so this is a user's own code
        _fail(f"your own code ended the command by sys.exit({ended.code!r}) before there was an answer: leave that out")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in TRAINING:
            raise
        _fail(missing_training(str(error.name)))
    except (LengthgenError, OSError) as error:
        _fail(str(error))
    return code or 0


def _fail(message: str) -> NoReturn:
    tell(f"error: {' '.join(message.split())}")
    sys.exit(2)
