"""LaTeX for a paper: plain text, formulas, figures, tables, and the ledger as a table of its appendix.

The document loads booktabs and graphicx; for the ledger longtable, amsmath and amssymb as well.
"""

import re
from collections.abc import Iterable, Sequence

from proofs_checks.report import MARKS, by_paper
from proofs_checks.runner import Result

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "∞": r"$\infty$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "–": "--",
    **{character: f"\\{character}" for character in "{}$&#%_"},
}
_COLUMNS = r"@{}p{0.20\linewidth}p{0.43\linewidth}p{0.12\linewidth}p{0.14\linewidth}@{}"
_HEADINGS = (r"\toprule", r"Claim & Statement & Verdict & Reach \\", r"\midrule")


def text(plain: str) -> str:
    """Text as it is, in one line; what plain LaTeX cannot set is named by its number."""
    line = " ".join(plain.split())
    plainly = (one if one.isascii() and one.isprintable() else f"[U+{ord(one):04X}]" for one in line)
    return "".join(_SPECIAL.get(one, shown) for one, shown in zip(line, plainly, strict=True))


def mathematics(latex: str) -> str:
    """A formula in math mode; as plain text if it would not end where it should."""
    formula = " ".join(latex.split())
    bare = re.sub(r"\\.", "", formula)
    depths = [bare.count("{", 0, end) - bare.count("}", 0, end) for end in range(len(bare) + 1)]
    sound = min(depths) >= 0 and depths[-1] == 0 and not re.search(r"[$%#\\]", bare)
    return f"${formula}$" if sound else text(formula)


def figure(name: str, caption: str, width: float) -> str:
    """The figure environment of NAME.pdf, `width` inches wide, labelled fig:NAME; LaTeX must take the name as it is."""
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
    """The table environment, labelled tab:NAME; `columns` is what tabular takes, such as "lrr"."""
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{text(caption)}}}",
        rf"\label{{tab:{name}}}",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _row(map(text, headings)),
        r"\midrule",
        *(_row(map(text, line)) for line in lines),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(parts) + "\n"


def longtable(results: Sequence[Result]) -> str:
    """One row a claim under the name of its paper: id and label, statement in words and in mathematics, outcome."""
    holding = sum(result.holds for result in results)
    lines = [
        rf"\begin{{longtable}}{{{_COLUMNS}}}",
        rf"\caption{{Claims checked by program: {holding} of {len(results)} hold. P: the paper says it; F: our "
        r"formalisation. Corrected: the printed statement fails and the one given here holds.}",
        r"\label{tab:claims}\\",
        *(*_HEADINGS, r"\endfirsthead"),
        *(*_HEADINGS, r"\endhead"),
        r"\bottomrule",
        r"\endlastfoot",
    ]
    for position, (paper, of_paper) in enumerate(by_paper(results)):
        title = rf"\textbf{{{text(paper.paper)}}} (arXiv:{text(paper.arxiv)})"
        lines += [r"\addlinespace"] if position else []
        lines += [rf"\multicolumn{{4}}{{@{{}}p{{\linewidth}}@{{}}}}{{{title}}} \\*", *map(_claim, of_paper)]
    return "\n".join([*lines, r"\end{longtable}"]) + "\n"


def _claim(result: Result) -> str:
    claim = result.claim
    name = text(claim.id).replace("-", r"-\allowbreak{}")
    cells = (
        rf"\raggedright\texttt{{{name}}} ({text(claim.label)})",
        rf"\raggedright {text(claim.statement)} {mathematics(claim.latex)}",
        str(result.verdict),
        MARKS[result.strength] if result.strength else "--",
    )
    return _row(cells)


def _row(cells: Iterable[str]) -> str:
    """A line of a table. The braces keep the end of the line above from taking a bracket or a star for its own."""
    line = " & ".join(cells)
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"
