r"""Figures as PGF, whose text has the fonts of the document that reads it with `\input`.

matplotlib asks LaTeX for the size of each text, so that it writes PGF only where LaTeX is installed. Here sizes are
those of matplotlib's own fonts, as in the other formats: texts stand at their anchors, so that a document with wider
fonts moves none.
"""

import io
from typing import Any

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from lengthgen.proofs_checks import latex


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
