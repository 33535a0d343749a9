"""Options that several commands share, and the printing of answers."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

from lengthgen.empirical.model.backend import DEVICES
from lengthgen.infrastructure.errors import in_any_case, one_line

NOT_PROVED = 3
"""Exit code if nothing is wrong, but not everything is proved."""


class PageLayout(StrEnum):
    """Print formats of an answer that is also a page of the documents."""

    TABLE = "table"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class Names:
    """Names that an argument or option takes; the shell completes them, and `read` ignores their case."""

    load: Callable[[], Iterable[str]]

    def read(self, value: str) -> str:
        """Return a name as it is registered; typer's callback. An unknown name is for the command to refuse."""
        return in_any_case(value, self.load())

    def complete(self, incomplete: str) -> list[str]:
        """Return the texts that complete the last name of a comma-separated list; typer's callback."""
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in self.load() if name.startswith(last.lower())]


def _remembered(kind: str, names: Callable[[], Iterable[str]]) -> list[str]:
    """Return names as stored for this version of the code: importing the modules that have them takes a second."""
    from lengthgen.infrastructure.cache import UserCached
    from lengthgen.infrastructure.digests import source_digest
    from lengthgen.infrastructure.files import user_cache
    from lengthgen.infrastructure.shapes import TEXT, list_of

    code = source_digest("theory", "circuits", "empirical", "proofs_checks", "paper_figs")
    entry = UserCached(path=user_cache("names") / f"{kind}.json", code=code)
    stored: list[str] = entry.computed(lambda: list(names()), list_of(TEXT))
    return stored


def _tasks() -> Iterable[str]:
    from lengthgen.circuits.tasks.spec import NAMED

    return NAMED


def _formats() -> Iterable[str]:
    from lengthgen.circuits.formats import FORMATS

    return FORMATS


def _encodings() -> Iterable[str]:
    def names() -> Iterable[str]:
        from lengthgen.circuits.encodings import ENCODINGS

        return ENCODINGS

    return _remembered("encodings", names)


def _claims() -> Iterable[str]:
    def names() -> Iterable[str]:
        from lengthgen.proofs_checks.registry import CLAIMS

        return [claim.id for claim in CLAIMS]

    return _remembered("claims", names)


def _figures() -> Iterable[str]:
    def names() -> Iterable[str]:
        from lengthgen.paper_figs.declaration import catalogue
        from lengthgen.paper_figs.sources import Sources
        from lengthgen.paper_figs.style import PAGE_WIDTH

        return catalogue(Sources(out=Path("out"), profile="quick", width=PAGE_WIDTH))

    return _remembered("figures", names)


def _protocols() -> Iterable[str]:
    def protocols() -> Iterable[str]:
        from lengthgen.empirical.runs.protocol import names

        return names()

    return _remembered("protocols", protocols)


def _protocols_and_tasks() -> Iterable[str]:
    return [*_protocols(), *_tasks()]


def _theories() -> Iterable[str]:
    from lengthgen.circuits.theories.catalogue import THEORIES

    return THEORIES


def _conditions() -> Iterable[str]:
    from lengthgen.empirical.modular_addition.conditions import CONDITIONS

    return CONDITIONS


TASK_NAMES, FORMAT_NAMES, ENCODING_NAMES = Names(_tasks), Names(_formats), Names(_encodings)
PROTOCOL_NAMES, TRIAL_NAMES = Names(_protocols), Names(_protocols_and_tasks)
CLAIM_NAMES, FIGURE_NAMES = Names(_claims), Names(_figures)
THEORY_NAMES, CONDITION_NAMES = Names(_theories), Names(_conditions)
PROFILE_NAMES = Names(lambda: ("smoke", "quick", "paper"))
DEVICE_NAMES = Names(lambda: DEVICES)

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


def nonempty_path(text: str | Path) -> Path:
    """Return the path that a text names. Refuse the empty text, which pathlib takes for the current folder."""
    if not str(text):
        raise typer.BadParameter("the path is empty: name a file or a folder")
    return Path(text)


def error_bound(text: str | Fraction) -> Fraction:
    """Return the exact number that a text such as 0.01, 1e-2 or 1/100 names. Refuse negative and endless numbers."""
    if isinstance(text, Fraction) or re.fullmatch(r"\d{1,30}(/0*[1-9]\d{0,29}|(\.\d{1,30})?(e[+-]?\d{1,2})?)", text):
        return Fraction(text)
    raise typer.BadParameter(f"'{text:.60}' is no error of an entry: give a number such as 0.01 or 1/100")


Out = Annotated[Path, typer.Option(parser=nonempty_path, metavar="PATH", help="Folder for all stored results.")]
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


def show(answer: Mapping[str, Any], table: RenderableType, as_json: bool) -> None:
    """Print a command's answer: as JSON, or as a table."""
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        # If the width is unknown, as in a file, tables get 140 columns.
        console = Console(width=None if sys.stdout.isatty() else 140, markup=False, emoji=False)
        console.print(Segments(_printable(console.render(table))), end="")


def _printable(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the segments with control characters escaped: text in a table may come from untrusted files."""
    for segment in segments:
        if segment.is_control or segment.text.isprintable() or segment.text == "\n":
            yield segment
        else:
            text = "\n".join(one_line(line) for line in segment.text.split("\n"))
            yield Segment(text, segment.style)
