"""Options and answers that several commands share."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

from theory.system.errors import one_line

INTERRUPTED = 130
"""Exit code, as shells have it."""
NOT_PROVED = 3
"""Exit code where nothing is wrong and not all of what was asked is proved."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
TaskArgument = Annotated[
    str, typer.Argument(help="parity, copy, addition, ... (`lengthgen tasks` lists all), or path/to/file.py:name")
]
Base = Annotated[int | None, typer.Option(min=2, help="Digits of a named task: 0 to BASE - 1.")]
Format = Annotated[str, typer.Option("--format", help="aligned or unaligned")]
Encodings = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Comma-separated: ipe,rpe,clipped[limit=8],path/to/file.py:name,...; the ideal one, rpe, ape and nope if "
        "left out.",
    ),
]
IDEAL = {"aligned": "ipe", "unaligned": "ipe-sh"}
"""The ideal encoding of a format: what is not padded needs a scale hint."""


def usual_encodings(format: str) -> str:
    """Those that are looked at where none are named."""
    return f"{IDEAL.get(format, 'ipe')},rpe,ape,nope"


def some_path(text: str | Path) -> Path:
    """The path that a text names; the empty text, which pathlib takes for the current folder, names none."""
    if not str(text):
        raise typer.BadParameter("it is empty: name a file or a folder")
    return Path(text)


Out = Annotated[Path, typer.Option(parser=some_path, metavar="PATH", help="Folder for everything that is stored.")]
ProfileName = Annotated[str, typer.Option("--profile", help="smoke, quick or paper")]
Device = Annotated[str, typer.Option(help="cpu or cuda")]
Compile = Annotated[
    bool, typer.Option("--compile", help="Compile the training step: half a minute more each cell, for long runs.")
]
TrainScales = Annotated[str, typer.Option("--train", help="Training scales, like 1-5.")]
TestScales = Annotated[str, typer.Option("--test", help="Test scales, like 1-20.")]


def show(answer: Mapping[str, Any], table: RenderableType, as_json: bool) -> None:
    """Prints a command's answer: as JSON, or as a table."""
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        # Where the width is not known, as in a file, tables get what they need.
        console = Console(width=None if sys.stdout.isatty() else 140, markup=False, emoji=False)
        console.print(Segments(_printable(console.render(table))), end="")


def _printable(segments: Iterable[Segment]) -> Iterator[Segment]:
    """The segments with control characters escaped: names and reasons in a table may come from anybody's file."""
    for segment in segments:
        if segment.is_control or segment.text.isprintable() or segment.text == "\n":
            yield segment
        else:
            text = "\n".join(one_line(line) for line in segment.text.split("\n"))
            yield Segment(text, segment.style)
