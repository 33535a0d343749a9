"""Drawings and their files: each file whole or absent, and the same bytes each time."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from matplotlib.figure import Figure

from paper_figs.names import file_name
from paper_figs.style import context
from proofs_checks import latex
from theory.system.errors import one_line
from theory.system.files import write_bytes

Rows = Sequence[Mapping[str, object]]

_METADATA: Mapping[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
_TEXT_WIDTH = 120


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A table as it is printed: headings, lines of as many texts, and what tabular is told of columns ("lrp{3cm}")."""

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    columns: str


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A figure at its printed size, or a table.

    Attributes:
        rows: the numbers that it shows; all with the same columns, at least one.
        caption: one paragraph, plain text.
    """

    shown: Figure | Printed
    rows: Rows
    caption: str


def plain_table(rows: Rows, caption: str, columns: str) -> Drawing:
    """A table that shows its rows as they are; `columns` as in `Printed`."""
    lines = [[str(value) for value in row.values()] for row in rows]
    return Drawing(shown=Printed(headings=[*rows[0]], lines=lines, columns=columns), rows=rows, caption=caption)


def write(drawing: Drawing, folder: Path, name: str) -> tuple[Path, ...]:
    """Writes the files of a drawing; returns their paths.

    NAME.csv has its numbers, NAME.tex a whole figure or table environment, caption and label included. A figure has
    NAME.pdf, .svg and .png (300 dpi), and its caption as NAME.txt; a table is NAME.txt. The same drawing gives the same
    bytes: no time, no random identifier.

    Args:
        drawing: what is written.
        folder: made if it does not exist.
        name: file name without ending, as `paper_figs.names.file_name` makes it.

    Raises:
        ValueError: a name that file systems or LaTeX may not take.
        OSError: the folder cannot be written.
    """
    if name != file_name(name):
        raise ValueError(f"{name!r} is no safe name of files")
    shown, caption = drawing.shown, one_line(drawing.caption, longest=len(drawing.caption))
    files = {"csv": _csv(drawing.rows)}
    if isinstance(shown, Figure):
        drawn = {ending: _drawn(shown, ending) for ending in _METADATA}
        files = drawn | files | {"txt": f"{caption}\n".encode()}
        environment = latex.figure(name, caption, shown.get_figwidth())
    else:
        files["txt"] = _text(shown, caption).encode()
        environment = latex.table(name, caption, shown.headings, shown.lines, shown.columns)
    files["tex"] = environment.encode()
    paths = {ending: folder / f"{name}.{ending}" for ending in files}
    for ending, content in files.items():
        write_bytes(paths[ending], content)
    return tuple(paths.values())


def _drawn(figure: Figure, ending: str) -> bytes:
    drawn = io.BytesIO()
    with context():
        figure.savefig(drawn, format=ending, dpi=300, metadata=_METADATA[ending])
    return drawn.getvalue()


def _csv(rows: Rows) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _text(table: Printed, caption: str) -> str:
    """In columns of spaces, under the caption."""
    every = [table.headings, *table.lines]
    widths = [max(len(line[column]) for line in every) for column in range(len(table.headings))]
    rule = "  ".join("-" * width for width in widths)
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in every]
    return "\n".join([*wrap(caption, _TEXT_WIDTH), "", lines[0], rule, *lines[1:]]) + "\n"
