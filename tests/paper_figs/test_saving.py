"""Tables are saved as data, text and LaTeX; special characters of LaTeX are escaped."""

import csv
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.backends import backend_pgf
from matplotlib.figure import Figure

from lengthgen.paper_figs.saving import Drawing, Printed, Undrawable, at_width, write
from lengthgen.paper_figs.style import PAGE_WIDTH, TALLEST, context
from lengthgen.proofs_checks import latex

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


def test_names_of_any_characters_are_written(tmp_path: Path) -> None:
    name, readable = "we\udcff\x01<&/own.py:own", r"we\udcff\x01<&/own.py:own"
    with context():
        figure = Figure(figsize=(1, 1))
        figure.add_subplot(gid=f"axes:{name}").plot([1, 2], gid=name)
    of_name = replace(TABLE, rows=[{"encoding": name}], caption=name)
    csv_path, text, _ = write(replace(of_name, shown=replace(TABLE.shown, lines=[(name, "1")])), tmp_path, "table-x")
    assert [*csv.DictReader(csv_path.read_text().splitlines())] == [{"encoding": readable}]
    assert readable in text.read_text()
    write(replace(of_name, shown=figure), tmp_path, "figure-x")
    names = {element.get("id") for element in ElementTree.parse(tmp_path / "figure-x.svg").iter()}
    assert names >= {readable, f"axes:{readable}"}


def made(width: float, area: float) -> Drawing:
    return replace(TABLE, shown=Figure(figsize=(width, area / width)))


@pytest.mark.parametrize(
    ("wanted", "area", "drawn"),
    [(3.25, 20.0, 3.25), (3.25, 3.25 * TALLEST, 3.25), (3.25, 30.0, PAGE_WIDTH), (PAGE_WIDTH, 30.0, PAGE_WIDTH)],
)
def test_a_figure_that_is_too_tall_at_its_width_has_that_of_a_page(wanted: float, area: float, drawn: float) -> None:
    assert at_width(lambda width: made(width, area), wanted).width == drawn


def test_a_figure_that_does_not_fit_a_column_is_tried_on_a_page() -> None:
    def of_a_page(width: float) -> Drawing:
        if width < PAGE_WIDTH:
            raise Undrawable("too many panels")
        return made(width, 7.0)

    assert at_width(of_a_page, 3.25).width == PAGE_WIDTH
    with pytest.raises(Undrawable, match=r"it would be 10\.0 inches high, and 9 fit a page"):
        at_width(lambda width: made(width, 70.0), 3.25)


def test_pgf_is_written_without_latex_and_escapes_what_latex_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_pgf, "LatexManager", None)
    with context():
        figure = Figure(figsize=(3, 2))
        for y, text in enumerate(("50% of a_b & θ", "$x_1^2$", "{on the line}")):
            figure.text(0.5, y / 3, text, va="center_baseline" if y == 2 else "bottom", ha="right")
    write(replace(TABLE, shown=figure), tmp_path, "texts")
    written = (tmp_path / "texts.pgf").read_text()
    for text in (r"50\% of a\_b \& $\theta$", "$x_1^2$", r"\{on the line\}"):
        [line] = [line for line in written.splitlines() if line.endswith(f"{text}}}}}%")]
        assert line.startswith(r"\pgftext[x=1.500000in,y=") and ",right,b" in line, "a text stands at its anchor"
    assert written.isascii() and "setmainfont" not in written, "the fonts are those of the document"


def test_a_figure_that_is_rasterized_for_its_size_has_no_pgf(tmp_path: Path) -> None:
    for rasterized in (False, True):
        with context():
            figure = Figure(figsize=(3, 2))
            figure.add_subplot().pcolormesh([[1, 2], [3, 4]], rasterized=rasterized)
        paths = write(replace(TABLE, shown=figure), tmp_path / str(rasterized), "mesh")
        assert (tmp_path / str(rasterized) / "mesh.pgf" in paths) != rasterized
