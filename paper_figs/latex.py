"""Text for LaTeX: captions, and tables for a document that loads booktabs and graphicx."""

from collections.abc import Sequence

from proofs_checks.latex import text


def figure(name: str, caption: str, width: float) -> str:
    """The figure environment of NAME.pdf, to be included as a file. `name` is as `paper_figs.names` makes it."""
    lines = [
        r"\begin{figure}",
        r"\centering",
        rf"\includegraphics[width={width:g}in]{{{name}.pdf}}",
        rf"\caption{{{text(caption)}}}",
        rf"\label{{fig:{name}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines) + "\n"


def table(name: str, caption: str, headings: Sequence[str], lines: Sequence[Sequence[str]], columns: str) -> str:
    """The table environment, to be included as a file. `columns` is what tabular takes, such as "lrr"."""
    body = [_line(line) for line in lines]
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{text(caption)}}}",
        rf"\label{{tab:{name}}}",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _line(headings),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    """One line of a table. The braces keep the end of the line above from taking a bracket or a star for its own."""
    line = " & ".join(map(text, cells))
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"
