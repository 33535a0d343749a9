"""Tables are saved as data, text and LaTeX; what LaTeX would read otherwise is escaped."""

import csv
from pathlib import Path

import pytest

from paper_figs import latex
from paper_figs.saving import Drawing, Printed, write

TABLE = Drawing(
    shown=Printed(headings=("task", "share"), lines=[("a_b", "50%"), ("c & d", "≥ 1")], columns="lr"),
    rows=[{"task": "a_b", "share": 0.5}, {"task": "c & d", "share": 1.0}],
    caption="How $ many.",
)


def test_a_table_is_data_text_and_latex(tmp_path: Path) -> None:
    paths = write(TABLE, tmp_path / "new", "table-x")
    assert [path.name for path in paths] == ["table-x.csv", "table-x.txt", "table-x.tex"]
    data, text, environment = (path.read_text() for path in paths)
    assert [*csv.DictReader(data.splitlines())] == [{"task": "a_b", "share": "0.5"}, {"task": "c & d", "share": "1.0"}]
    assert text.splitlines() == ["How $ many.", "", "task   share", "-----  -----", "a_b    50%", "c & d  ≥ 1"]
    assert environment.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{How \$ many.}",
        r"\label{tab:table-x}",
        r"\begin{tabular}{@{}lr@{}}",
        r"\toprule",
        r"task & share \\",
        r"\midrule",
        r"a\_b & 50\% \\",
        r"c \& d & $\geq$ 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    again = write(TABLE, tmp_path / "again", "table-x")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


@pytest.mark.parametrize(
    ("plain", "set"),
    [
        ("a\\b {c} ~^", r"a\textbackslash{}b \{c\} \textasciitilde{}\textasciicircum{}"),
        ("1 < 2 > 0 | x\ny", r"1 \textless{} 2 \textgreater{} 0 \textbar{} x y"),
        ("∞ ≤ é", r"$\infty$ $\leq$ [U+00E9]"),
    ],
)
def test_text_is_set_as_it_is_read(plain: str, set: str) -> None:
    assert latex.text(plain) == set
