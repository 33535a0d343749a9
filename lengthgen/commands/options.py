"""Options that several commands share, and the printing of answers."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

from theory.system.errors import one_line

INTERRUPTED = 130
"""Exit code of an interrupted command, the same as in shells."""
NOT_PROVED = 3
"""Exit code if nothing is wrong, but not everything is proved."""

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON instead of a table.")]
TaskArgument = Annotated[
    str,
    typer.Argument(
        help="Task: parity, copy, addition, ... (`lengthgen tasks` lists all), or your own as path/to/file.py:name."
    ),
]
Base = Annotated[int | None, typer.Option(min=2, help="Number base of a named task; its digits are 0 to BASE - 1.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="Format of the task: aligned (operands padded to one width), filled (aligned, with random symbols in "
        "place of the padding) or unaligned.",
    ),
]
Encodings = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encodings, comma-separated: ipe,rpe,clipped[limit=8],path/to/file.py:name,... Without this option: the "
        "ideal encoding, rpe, ape and nope.",
    ),
]
IDEAL = {"aligned": "ipe", "unaligned": "ipe-sh", "filled": "ipe-sh"}
"""Ideal encoding of a format: if operands move with the scale, it needs a scale hint."""


def usual_encodings(format: str) -> str:
    """Return the encodings of a command that is called without --encoding."""
    return f"{IDEAL.get(format, 'ipe')},rpe,ape,nope"


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
ProfileName = Annotated[str, typer.Option("--profile", help="Size of the experiments: smoke, quick or paper.")]
Device = Annotated[str, typer.Option(help="Device to compute on: cpu or cuda.")]
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
