"""The command line: `lengthgen COMMAND`, each with --json.

What only some commands need (matplotlib, scipy's statistics, sympy) is imported by them, so that the others start fast.
"""

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from empirical.messages import tell
from lengthgen.commands import circuits, figures, report, theory, training
from lengthgen.commands.options import INTERRUPTED
from theory.errors import LengthgenError

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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale; a lone surrogate of a file name is escaped
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with _interrupts_heeded():
            code = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
    except ClickException as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except SystemExit as ended:  # commands end by typer.Exit, so this is a user's own code
        _fail(f"your own code ended the command by sys.exit({ended.code!r}) before there was an answer: leave that out")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("torch", "safetensors", "pyarrow"):
            raise
        _fail(f"this needs {error.name}: install the extra with  pip install 'lengthgen[train]'")
    except (LengthgenError, OSError) as error:
        _fail(str(error))
    if code == INTERRUPTED:  # which some versions of typer return and others raise
        tell("error: interrupted; run the same command again to go on")
        exec("")  # else Python ends by a signal, not this status, if the interrupt met an exec of a string
    sys.exit(code or 0)


@contextmanager
def _interrupts_heeded() -> Iterator[None]:
    """An interrupt that meets a callback or `__del__`, as while a module is imported, is not lost.

    Python prints and drops whatever these raise; this raises it once more, a moment later.
    """
    before = sys.unraisablehook

    def again(dropped: Any) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            # Here it would be dropped once more; and a thread that waits is woken by nothing but a signal.
            main = threading.main_thread().ident
            threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        else:
            before(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _fail(message: str) -> None:
    tell(f"error: {' '.join(message.split())}")
    sys.exit(2)
