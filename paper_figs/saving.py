r"""Drawings and how they are written to files.

Each file is written completely or not at all, and the same drawing gives the same bytes each time. PGF, whose text
has the fonts of the document that reads it with `\input`, is written where no LaTeX is installed: sizes of texts are
those of matplotlib's own fonts, as in the other formats, and texts stand at their anchors, so that a document with
wider fonts moves none.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from lengthgen.infrastructure.errors import LengthgenError, one_line, writable
from lengthgen.infrastructure.files import write_bytes
from lengthgen.paper_figs.names import file_name
from lengthgen.paper_figs.style import PAGE_WIDTH, TALLEST, WIDEST_COLUMN, context
from lengthgen.proofs_checks import latex

Rows = Sequence[Mapping[str, object]]

_METADATA: Mapping[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
_TEXT_WIDTH, _CELL_WIDTH = 120, 60
"""Largest number of characters of a line of text, and of a cell of a table in it."""


class Undrawable(LengthgenError):
    """Error for a figure that could not be read in print, or whose search was stopped; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Printed form of a table.

    Attributes:
        headings: text of each heading.
        lines: texts of each line, one for each heading.
        columns: column specification of LaTeX's tabular, such as "lrp{3cm}".
    """

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    columns: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Drawing:
    """Figure at its printed size, or table, with its data and caption. Notebooks show the figure.

    Attributes:
        shown: the figure or the printed table.
        rows: the numbers that it shows, at least one row, all with the same columns.
        caption: caption in plain text, one paragraph.
    """

    shown: Figure | Printed
    rows: Rows
    caption: str

    @property
    def width(self) -> float:
        """Width of the figure in inches; 0 for a table, which LaTeX sets."""
        return float(self.shown.get_figwidth()) if isinstance(self.shown, Figure) else 0.0

    @property
    def height(self) -> float:
        """Height of the figure in inches; 0 for a table."""
        return float(self.shown.get_figheight()) if isinstance(self.shown, Figure) else 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({one_line(self.caption, longest=200)})"

    def _repr_png_(self) -> bytes | None:
        return _image_bytes(self.shown, "png") if isinstance(self.shown, Figure) else None

    def _repr_html_(self) -> str | None:
        return None if isinstance(self.shown, Figure) else f"<pre>{escape(_table_text(self.shown, self.caption))}</pre>"


def at_width(make: Callable[[float], Drawing], width: float) -> Drawing:
    """Draw a figure by its width in inches: `width`, or that of a page if it would be too tall or illegible.

    Raises:
        Undrawable: the figure does not fit a page either; the message says why.
    """
    if width < PAGE_WIDTH:
        try:
            drawing = make(width)
        except Undrawable:
            pass  # a page has more room
        else:
            if drawing.height <= TALLEST:
                return drawing
    drawing = make(max(width, PAGE_WIDTH))
    if drawing.height > TALLEST:
        raise Undrawable(f"it would be {drawing.height:.1f} inches high, and {TALLEST:g} fit a page")
    return drawing


def plain_table(rows: Rows, caption: str, columns: str) -> Drawing:
    """Make a table that shows its rows as they are; `columns` as in `Printed`."""
    lines = [[str(value) for value in row.values()] for row in rows]
    return Drawing(shown=Printed(headings=[*rows[0]], lines=lines, columns=columns), rows=rows, caption=caption)


def write(drawing: Drawing, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the files of a drawing and return their paths.

    NAME.csv has the numbers. NAME.tex has a complete environment with caption and label: table, figure, or figure* if
    the figure is wider than a column. A figure also has NAME.pdf, NAME.svg, NAME.png (300 dpi), NAME.pgf unless parts
    of it are rasterized for their size, and its caption in NAME.txt; a table has its text in NAME.txt. The same drawing
    gives the same bytes, because files hold no time and no random identifier.

    The folder is made if it does not exist; the name, without ending, is as `lengthgen.paper_figs.names.file_name`
    makes it.

    Raises:
        ValueError: file systems or LaTeX may not accept the name.
        OSError: the folder cannot be written.
    """
    if name != file_name(name):
        raise ValueError(f"{name!r} is not a safe file name")
    shown, caption = drawing.shown, one_line(drawing.caption, longest=len(drawing.caption))
    files = {"csv": _csv_bytes(drawing.rows)}
    if isinstance(shown, Figure):
        for artist in shown.findobj():
            artist.set_gid(writable(artist.get_gid() or "") or None)  # the SVG has it unescaped
        images = {ending: _image_bytes(shown, ending) for ending in _METADATA}
        if not any(artist.get_rasterized() for artist in shown.findobj()):
            with context():
                images["pgf"] = _text_bytes(as_pgf(shown))
        files = images | files | {"txt": _text_bytes(f"{caption}\n")}
        environment = latex.figure(name, caption, drawing.width, across=drawing.width > WIDEST_COLUMN)
    else:
        files["txt"] = _text_bytes(_table_text(shown, caption))
        environment = latex.table(name, caption, shown.headings, shown.lines, shown.columns)
    files["tex"] = _text_bytes(environment)
    paths = {ending: folder / f"{name}.{ending}" for ending in files}
    for ending, content in files.items():
        write_bytes(paths[ending], content)
    return tuple(paths.values())


def _image_bytes(figure: Figure, ending: str) -> bytes:
    buffer = io.BytesIO()
    with context():
        figure.savefig(buffer, format=ending, dpi=300, metadata=_METADATA[ending])
    return buffer.getvalue()


def _csv_bytes(rows: Rows) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return _text_bytes(text.getvalue())


def _text_bytes(text: str) -> bytes:
    """Return the text in UTF-8, whatever characters the names and paths of a user have."""
    return writable(text).encode()


def _table_text(table: Printed, caption: str) -> str:
    """Return the table as text in aligned columns, long cells on several lines, with the caption above."""
    wrapped = [
        [wrap(cell, _CELL_WIDTH, break_on_hyphens=False) for cell in line] for line in (table.headings, *table.lines)
    ]
    all_lines = [parts for cells in wrapped for parts in zip_longest(*cells, fillvalue="")]
    widths = [max(len(line[column]) for line in all_lines) for column in range(len(table.headings))]
    rule = "  ".join("-" * width for width in widths)
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in all_lines
    ]
    return "\n".join([*wrap(caption, _TEXT_WIDTH, break_on_hyphens=False), "", lines[0], rule, *lines[1:]]) + "\n"


def as_pgf(figure: Figure) -> str:
    """Return a figure as a pgfpicture; the document must load pgf."""
    written = io.StringIO()
    width, height = figure.get_size_inches()
    written.write(
        "% \\input this file in place of \\includegraphics; the document must load pgf.\n"
        "\\begingroup\n\\makeatletter\n\\def\\mathdefault#1{#1}\n\\begin{pgfpicture}\n"
        f"\\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}\n"
        "\\pgfusepath{use as bounding box}\n"
    )
    renderer: Any = _Renderer
    figure.draw(renderer(figure, written))
    written.write("\\end{pgfpicture}\n\\makeatother\n\\endgroup\n")
    return written.getvalue()


class _Renderer(RendererPgf):
    """Renderer of PGF that needs no LaTeX and escapes what LaTeX would read as a command."""

    def get_text_width_height_descent(self, *text: Any) -> tuple[float, float, float]:
        """Size of a text in matplotlib's fonts, in display units."""
        return RendererBase.get_text_width_height_descent(self, *text)

    def draw_text(
        self, gc: GraphicsContextBase, x: float, y: float, s: str, prop: FontProperties, angle: float,
        ismath: Any = False, mtext: Text | None = None,
    ) -> None:  # fmt: skip
        """Write one line of text."""
        anchored: Any = mtext
        if mtext is not None and not angle and mtext.get_verticalalignment() == "center_baseline":
            anchored = _OnBaseline(mtext, y)
        inherited: Any = super().draw_text
        inherited(gc, x, y, s if ismath else latex.text(s), prop, angle, ismath, anchored)


class _OnBaseline:
    """Anchor of a text with alignment `center_baseline`, which PGF lacks: its baseline, as matplotlib computed it."""

    def __init__(self, text: Text, baseline: float) -> None:
        x, _ = text.get_transform().transform(text.get_unitless_position())
        self.get_unitless_position = lambda: (x, baseline)
        self.get_transform = IdentityTransform
        self.get_rotation_mode = text.get_rotation_mode
        self.get_horizontalalignment = text.get_horizontalalignment
        self.get_verticalalignment = lambda: "baseline"
