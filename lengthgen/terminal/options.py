"""Options that several commands share, the names that they take, and the encodings of a command without any."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lengthgen.empirical.model.backend import DEVICES
from lengthgen.infrastructure.errors import in_any_case
from lengthgen.terminal.typed import nonempty_path


@dataclass(frozen=True)
class Names:
    """Names that an argument or option takes; the shell completes them, and `read` ignores their case.

    Attributes:
        load: function that returns the names.
        remembered: kind of the names, if they are stored for this version of the code, since importing the modules
            that have them takes a second; else "".
    """

    load: Callable[[], Iterable[str]]
    remembered: str = ""

    def all(self) -> Iterable[str]:
        """Return all names."""
        if not self.remembered:
            return self.load()
        from lengthgen.infrastructure.cache import UserCached
        from lengthgen.infrastructure.digests import source_digest
        from lengthgen.infrastructure.files import user_cache
        from lengthgen.infrastructure.shapes import TEXT, list_of

        code = source_digest("theory", "circuits", "empirical", "proofs_checks", "paper_figs")
        entry = UserCached(path=user_cache("names") / f"{self.remembered}.json", code=code)
        stored: list[str] = entry.computed(lambda: list(self.load()), list_of(TEXT))
        return stored

    def read(self, value: str) -> str:
        """Return a name as it is registered; typer's callback. An unknown name is for the command to refuse."""
        return in_any_case(value, self.all())

    def complete(self, incomplete: str) -> list[str]:
        """Return the texts that complete the last name of a comma-separated list; typer's callback."""
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in self.all() if name.startswith(last.lower())]


def _defined(module: str, attribute: str) -> Any:
    """Import a module, and return what it defines under a name."""
    return getattr(import_module(f"lengthgen.{module}"), attribute)


def _figures() -> Iterable[str]:
    from lengthgen.paper_figs.declaration import catalogue
    from lengthgen.paper_figs.sources import Sources
    from lengthgen.paper_figs.style import PAGE_WIDTH

    return catalogue(Sources(out=Path("out"), profile="quick", width=PAGE_WIDTH))


TASK_NAMES = Names(lambda: _defined("circuits.tasks.spec", "NAMED"))
FORMAT_NAMES = Names(lambda: _defined("circuits.formats", "FORMATS"))
ENCODING_NAMES = Names(lambda: _defined("circuits.encoding_spec", "ENCODINGS"), remembered="encodings")
PROTOCOL_NAMES = Names(lambda: [*_defined("empirical.experiment.protocol", "names")()], remembered="protocols")
TRIAL_NAMES = Names(lambda: [*PROTOCOL_NAMES.all(), *TASK_NAMES.all()])
CLAIM_NAMES = Names(lambda: [claim.id for claim in _defined("proofs_checks.registry", "CLAIMS")], remembered="claims")
FIGURE_NAMES = Names(_figures, remembered="figures")
PROFILE_NAMES = Names(lambda: ("smoke", "quick", "paper"))
DEVICE_NAMES = Names(lambda: DEVICES)


def path_option(help: str, metavar: str = "PATH") -> Any:
    """Return an option that takes the path of a file or folder."""
    return typer.Option(parser=nonempty_path, metavar=metavar, help=help)


PageLayout = Literal["table", "markdown"]
"""Print formats of an answer that is also a page of the documents."""
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON instead of a table.")]
Details = Annotated[bool, typer.Option("--details", help="Print all that is known, not only the first screen.")]
TaskArgument = Annotated[
    str,
    typer.Argument(
        help="Task: parity, copy, addition, ... (`lengthgen tasks` lists all), or your own as path/to/file.py:name.",
        autocompletion=TASK_NAMES.complete,
    ),
]
Base = Annotated[int | None, typer.Option(min=2, help="Number base of a named task; its digits are 0 to BASE - 1.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="Format of the task: aligned (operands padded to one width), filled (aligned, with random symbols in "
        "place of the padding) or unaligned.",
        autocompletion=FORMAT_NAMES.complete,
    ),
]
Encodings = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encodings, comma-separated: ipe,rpe,clipped[limit=8],path/to/file.py:name,...",
        show_default="ipe (ipe-sh if unaligned or filled), rpe, ape, nope",
        autocompletion=ENCODING_NAMES.complete,
    ),
]
Out = Annotated[Path, path_option("Folder for all stored results.")]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        help="Size of the experiments: smoke, quick or paper.",
        callback=PROFILE_NAMES.read,
        autocompletion=PROFILE_NAMES.complete,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        help="Device to compute on: cpu or cuda.", callback=DEVICE_NAMES.read, autocompletion=DEVICE_NAMES.complete
    ),
]
Compile = Annotated[
    bool,
    typer.Option(
        "--compile", help="Compile the training step; costs half a minute per cell and pays off in long runs."
    ),
]
TrainScales = Annotated[str, typer.Option("--train", help="Training scales, for example 1-5.")]
TestScales = Annotated[str, typer.Option("--test", help="Test scales, for example 1-20.")]


def ideal_encoding(format: str) -> str:
    """Return the ideal encoding of a format; operands that move with the scale need a scale hint."""
    return "ipe-sh" if format == "unaligned" else "ipe"


def usual_encodings(format: str) -> str:
    """Return the encodings of a command that is called without --encoding."""
    return f"{ideal_encoding(format)},rpe,ape,nope"
