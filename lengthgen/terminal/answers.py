"""Answers: plain data that says itself in one line, printed as JSON or as a table."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

from lengthgen.infrastructure.errors import one_line


class Answer(dict[str, Any]):
    """Plain data of an answer, and what it says in one line: `print(answer)` shows the line."""

    def __init__(self, content: Mapping[str, Any], says: str) -> None:
        """Make an answer of plain data and of the line that says it."""
        super().__init__(content)
        self.says = one_line(says, longest=300)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.says})"


def show(answer: Mapping[str, Any], table: RenderableType, as_json: bool, *, fails: object = False) -> None:
    """Print a command's answer: as JSON, or as a table. Then end the command with exit code 1 if it `fails`."""
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        # If the width is unknown, as in a file, tables get 140 columns.
        console = Console(width=None if sys.stdout.isatty() else 140, markup=False, emoji=False)
        console.print(Segments(_printable(console.render(table))), end="")
    if fails:
        raise typer.Exit(1)


def _printable(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the segments with control characters escaped: text in a table may come from untrusted files."""
    for segment in segments:
        if segment.is_control or segment.text.isprintable() or segment.text == "\n":
            yield segment
        else:
            text = "\n".join(one_line(line) for line in segment.text.split("\n"))
            yield Segment(text, segment.style)
