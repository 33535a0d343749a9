"""Write docs/paper-figures.md, the table of the paper's figures on its data: `python tools/paper_figures.py`."""

from pathlib import Path

from lengthgen.paper_figs.figures.published_cells import published_cells, table
from lengthgen.paper_figs.saving import Printed
from lengthgen.paper_figs.sources import RECORDS

PAGE = Path(__file__).parent.parent / "docs" / "paper-figures.md"


def page() -> str:
    """Return the page, in Markdown."""
    drawing = table(published_cells(RECORDS))
    assert isinstance(drawing.shown, Printed)
    lines = [drawing.shown.headings, ["---"] * len(drawing.shown.headings), *drawing.shown.lines]
    return "\n".join(
        [
            "# The paper's figures on its data",
            "",
            "Made by `python tools/paper_figures.py`; `lengthgen figures table-paper-figures` writes the same table",
            "for LaTeX, and all its numbers as CSV. Its runs: [registered for it](results/paper-figures/README.md),",
            "[trained before](results/published-budget/README.md), and",
            "[six of Addition](results/padding-sink/README.md).",
            "",
            *(f"| {' | '.join(line)} |" for line in lines),
            "",
            drawing.caption,
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
