"""Command line: `lengthgen COMMAND`, where every command has the option --json.

Packages that only some commands need (matplotlib, networkx, scipy, sympy, torch) are imported by these commands, so
that the others start fast.
"""

import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from lengthgen.commands import circuits, court, figures, language, published, report, strata, theory, training, verdict
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
    language.language,
    theory.verify,
    theory.audit,
    training.train,
    training.sweep,
    training.conjecture,
    training.evaluate,
    training.relation,
    training.runs,
    training.text,
    training.modular_addition,
    published.published,
    court.court,
    strata.strata,
    verdict.verdict,
    figures.figures,
    report.report,
    training.reproduce,
):
    app.command()(command)

click_app: Callable[..., int | None] = typer.main.get_command(app)  # typer would make it anew for each call of `app`
# Some versions of typer contain a copy of click, others use the package; this finds the class in use.
ClickException: type[Any] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run the command line. Every expected error is one line on stderr and a non-zero exit code."""
    with interrupts_heeded() as signals:
        code = _run()
    if code == INTERRUPTED:
        how = f"ended by {signals[0].name}" if signals else "interrupted"
        tell(f"error: {how}; run the same command again to go on")
        exec("")  # else Python ends by a signal instead of this code, if the interrupt came during exec of a string
        sys.exit(128 + signals[0] if signals else INTERRUPTED)
    sys.exit(code)


def _run() -> int:
    """Run the command; return its exit code."""
    try:
        open_streams()
        try:
            code = click_app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
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
    except SystemExit as ended:  # commands end by typer.Exit, so this comes from a user's own code
        _fail(f"your own code called sys.exit({ended.code!r}) before there was an answer: remove that call")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in TRAINING:
            raise
        _fail(missing_training(str(error.name)))
    except (LengthgenError, OSError) as error:
        _fail(str(error))
    return code or 0


def _fail(message: str) -> NoReturn:
    """Print a one-line error on stderr and end with exit code 2."""
    tell(f"error: {' '.join(message.split())}")
    sys.exit(2)
