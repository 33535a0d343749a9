"""Tables are saved as data, text and LaTeX; special characters of LaTeX are escaped."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from paper_figs.saving import Drawing, Printed, write
from proofs_checks import latex

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
        ("a\x00b\x1b[2J", r"a[U+0000]b[U+001B][2J"),
    ],
)
def test_text_is_set_as_it_is_read(plain: str, set: str) -> None:
    assert latex.text(plain) == set


def test_a_line_that_begins_with_a_bracket_or_a_star_is_no_option_of_the_line_above() -> None:
    lines = latex.table("x", "None.", ["[a]", "b"], [("é", "1"), ("*", "2"), ("a[b]", "3")], "lr").splitlines()
    assert lines[6:11] == [r"{}[a] & b \\", r"\midrule", r"{}[U+00E9] & 1 \\", r"{}* & 2 \\", r"a[b] & 3 \\"]


def test_a_caption_is_one_line_whatever_names_it_repeats(tmp_path: Path) -> None:
    for path in write(replace(TABLE, caption="of 'a\nb\x1b[2J'"), tmp_path, "table-x"):
        if path.suffix != ".csv":
            assert "\x1b" not in path.read_text() and "a b" in path.read_text()
