"""Write docs/paper-figures.md, the paper's figures on its data, and their summary in README: run this file."""

from collections.abc import Iterator
from pathlib import Path

from lengthgen.paper_figs.figures.published_cells import published_cells, summary, table
from lengthgen.paper_figs.saving import Printed
from lengthgen.paper_figs.sources import RECORDS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "paper-figures.md"
README = ROOT / "README.md"
FIRST_LINE = "|  | ideal |"
"""Start of the table in README."""


def page() -> str:
    """Return the page, in Markdown."""
    drawing = table(published_cells(RECORDS))
    assert isinstance(drawing.shown, Printed)
    return "\n".join(
        [
            "# The paper's figures on its data",
            "",
            "Made by `python tools/paper_figures.py`; `lengthgen figures table-paper-figures` writes the same table",
            "for LaTeX, and all its numbers as CSV. Its runs: [registered for it](results/paper-figures/README.md),",
            "[trained before](results/published-budget/README.md), and",
            "[six of Addition](results/padding-sink/README.md).",
            "",
            *_lines(drawing.shown),
            "",
            drawing.caption,
            "",
        ]
    )


def readme(text: str) -> str:
    """Return the text of README with the present summary in place of its table."""
    before, rest = text.split(FIRST_LINE, maxsplit=1)
    _, after = rest.split("|\n\n", maxsplit=1)
    return "\n".join([before.removesuffix("\n"), *_lines(summary(published_cells(RECORDS))), "", after])


def _lines(shown: Printed) -> Iterator[str]:
    for line in (shown.headings, ["---"] * len(shown.headings), *shown.lines):
        yield f"| {' | '.join(line)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
