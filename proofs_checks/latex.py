"""LaTeX for a paper: text, formulas, figures, tables, and the ledger as a table of the appendix.

The document must load booktabs and graphicx; for the ledger also longtable, amsmath and amssymb.
"""

import re
from collections.abc import Iterable, Sequence

from lengthgen.proofs_checks.report import MARKS, by_paper, by_part
from lengthgen.proofs_checks.result import Result

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
    "→": r"$\rightarrow$",
    "–": "--",
    **{
        letter: rf"$\{name}$"
        for letter, name in zip(
            "αβγελθω", ("alpha", "beta", "gamma", "epsilon", "lambda", "theta", "omega"), strict=True
        )
    },
    **{character: f"\\{character}" for character in "{}$&#%_"},
}
_COLUMNS = r"@{}p{0.20\linewidth}p{0.43\linewidth}p{0.12\linewidth}p{0.14\linewidth}@{}"
_HEADINGS = (r"\toprule", r"Claim & Statement & Verdict & Reach \\", r"\midrule")


def text(plain: str) -> str:
    """Return plain text escaped for LaTeX, in one line; a character that plain LaTeX cannot set becomes `[U+....]`."""
    line = " ".join(plain.split())
    printable = (letter if letter.isascii() and letter.isprintable() else f"[U+{ord(letter):04X}]" for letter in line)
    return "".join(_SPECIAL.get(letter, fallback) for letter, fallback in zip(line, printable, strict=True))


def mathematics(latex: str) -> str:
    """Return a formula in math mode, or as plain text if its braces are unbalanced or it would end math mode early."""
    formula = " ".join(latex.split())
    bare = re.sub(r"\\.", "", formula)
    depths = [bare.count("{", 0, end) - bare.count("}", 0, end) for end in range(len(bare) + 1)]
    balanced = min(depths) >= 0 and depths[-1] == 0 and not re.search(r"[$%#\\]", bare)
    return f"${formula}$" if balanced else text(formula)


def figure(name: str, caption: str, width: float, *, across: bool) -> str:
    """Return the figure environment of NAME.pdf, labelled fig:NAME.

    The name is not escaped, so LaTeX must be able to read it; the width is in inches. `across` makes it figure*, which
    stands across both columns; in a document of one column it is figure.
    """
    environment = "figure*" if across else "figure"
    lines = [
        rf"\begin{{{environment}}}",
        r"\centering",
        rf"\includegraphics[width={width:g}in]{{{name}.pdf}}",
        rf"\caption{{{text(caption)}}}",
        rf"\label{{fig:{name}}}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def table(name: str, caption: str, headings: Sequence[str], lines: Sequence[Sequence[str]], columns: str) -> str:
    """Return the table environment, labelled tab:NAME; `columns` is tabular's column specification, such as "lrr"."""
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
    """Return the ledger as a longtable: one row per claim, under the name of its paper; what papers say comes first.

    The columns are id and label, statement in words and in mathematics, verdict, reach.
    """
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
    for position, (heading, of_part) in enumerate(by_part(results)):
        lines += [r"\addlinespace"] if position else []
        lines += [_across(rf"\textbf{{\emph{{{text(heading)}}}}}")]
        for paper, of_paper in by_paper(of_part):
            title = rf"\textbf{{{text(paper.paper)}}} (arXiv:{text(paper.arxiv)})"
            lines += [r"\addlinespace", _across(title), *map(_claim_row, of_paper)]
    return "\n".join([*lines, r"\end{longtable}"]) + "\n"


def _across(heading: str) -> str:
    """Row of a heading over all columns, which stays on the page of the row below it."""
    return rf"\multicolumn{{4}}{{@{{}}p{{\linewidth}}@{{}}}}{{{heading}}} \\*"


def _claim_row(result: Result) -> str:
    """Row of one claim."""
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
    """Row of a table; a leading {} keeps the end of the row above from reading a bracket or a star as its option."""
    line = " & ".join(cells)
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"
