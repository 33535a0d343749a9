"""Panels of a pattern: entries, classes and learned means are read back from the artists and compared."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil, log, pi, sqrt
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs import saving, style
from lengthgen.paper_figs.figures import pattern_panels
from lengthgen.paper_figs.saving import Drawing
from lengthgen.theory.learning.pola import learned_matrix
from lengthgen.theory.pattern import Pattern, from_array, from_formula
from lengthgen.theory.pattern import from_function as pattern_from_function
from lengthgen.theory.relation import absolute, clipped_relative, constant, relative, t5_buckets
from tests.paper_figs.test_run_figures import on_the_page

Cell = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Case:
    """Pattern of a test, and the same pattern as a plain Python function of (i, j, n)."""

    text: str
    entry: Callable[[int, int, int], Any]
    train: int = 4
    test: int = 8
    clip: int = 3
    family: bool = False
    parameters: tuple[str, ...] = ()

    @property
    def pattern(self) -> Pattern:
        return from_formula(self.text, parameters=self.parameters)

    def cells(self) -> list[Cell]:
        scales = range(1, self.test + 1) if self.family else [0]
        return [(i, j, n or j) for n in scales for j in range(1, (n or self.test) + 1) for i in range(1, j + 1)]

    def shown(self) -> list[Cell]:
        return [cell for cell in self.cells() if not self.family or cell[2] == self.test]


def t5(distance: int) -> int:
    """Bucket of a distance by the published code; no distance up to 40 begins a bucket beyond 16."""
    return distance if distance < 16 else 16 + int(log(distance / 16) / log(8) * 16)


NUMBERS = {
    "prefix": Case(text="1", entry=lambda i, j, n: 1, clip=0),
    "window": Case(
        text="2 if i == j else 1 if j - i == 1 else 0", entry=lambda i, j, n: {0: 2, 1: 1}.get(j - i, 0), clip=2
    ),
    "decay": Case(text="0.5**(j-i)", entry=lambda i, j, n: Fraction(1, 2 ** (j - i))),
    "product": Case(text="i*j", entry=lambda i, j, n: i * j),
    "roots": Case(text="sqrt(2) if i%2 else pi", entry=lambda i, j, n: sqrt(2) if i % 2 else pi),
    "middle": Case(text="1 if i == ceil(n/2) else 0", entry=lambda i, j, n: int(i == ceil(n / 2)), family=True),
    "signed": Case(text="(i-j)%7-3", entry=lambda i, j, n: (i - j) % 7 - 3, train=19, test=30, clip=18),
    "small": Case(text="(-1)**j*i/9", entry=lambda i, j, n: Fraction((-1) ** j * i, 9), train=1, test=3, clip=0),
}
LABELS = {
    "vector": Case(text="[[1,j-i],[0,1]]", entry=lambda i, j, n: (1, j - i, 0, 1)),
    "parameters": Case(
        text="a if i == j else b*(j-i)",
        entry=lambda i, j, n: sp.Symbol("a") if i == j else sp.Symbol("b") * (j - i),
        parameters=("a", "b"),
    ),
    "some zeros": Case(text="[[j%2, i%2]]", entry=lambda i, j, n: (j % 2, i % 2), train=3, test=5, clip=2),
}
CASES = NUMBERS | LABELS
PANELS = ("constant", "absolute", "relative", "clipped", "t5-32-128", "ideal")


@cache
def drawing(name: str) -> Drawing:
    case = CASES[name]
    return pattern_panels.drawing(case.pattern, train=case.train, test=case.test)


def drawn(name: str) -> Figure:
    shown = drawing(name).shown
    return shown


def label(case: Case, panel: str, cell: Cell) -> object:
    i, j, n = cell
    laws = {
        "constant": 0,
        "absolute": (i, j),
        "relative": j - i,
        "clipped": min(j - i, case.clip),
        "t5-32-128": t5(j - i),
    }
    return laws[panel] if panel in laws else case.entry(i, j, n)


def learned(case: Case, panel: str) -> dict[Cell, Any]:
    """Learned entries: the mean over the training cells with the same label, or 0 if there are none."""
    met: dict[object, list[NDArray[Any]]] = {}
    for cell in case.cells():
        if cell[2] <= case.train:
            met.setdefault(label(case, panel, cell), []).append(
                np.atleast_1d(np.array(case.entry(*cell), dtype=object))
            )
    width = np.size(np.array(case.entry(1, 1, 1), dtype=object))
    means = {class_label: sum(entries) * Fraction(1, len(entries)) for class_label, entries in met.items()}
    if case.parameters or case.text.startswith("sqrt"):
        means = {class_label: sum(entries) / sp.Integer(len(entries)) for class_label, entries in met.items()}
    zero = np.zeros(width, dtype=object)
    return {cell: means.get(label(case, panel, cell), zero) for cell in case.cells()}


def wrong(case: Case, panel: str) -> set[Cell]:
    def differs(first: Any, second: Any) -> bool:
        if isinstance(second, float):
            return abs(float(first) - second) > 1e-9 * abs(second)
        return bool(sp.expand(first - second) != 0) if case.parameters else bool(first != second)

    means = learned(case, panel)
    return {
        cell
        for cell in case.cells()
        if any(map(differs, means[cell], np.atleast_1d(np.array(case.entry(*cell), dtype=object))))
    }


def axes_of(figure: Figure, panel: str) -> Axes:
    return next(axes for axes in figure.axes if str(axes.get_gid()).startswith(panel))


def colours(axes: Axes) -> NDArray[np.float64]:
    """Values that set the colours of a panel; NaN where no cell is drawn."""
    mesh = next(artist for artist in axes.collections if artist.get_gid() == "cells")
    size = int(axes.get_xlim()[1] - 0.5)
    return np.asarray(np.ma.filled(np.ma.asarray(mesh.get_array(), dtype=float), np.nan)).reshape(size, size)


def marked(axes: Axes, gid: str) -> set[tuple[int, int]]:
    """Cells (key, query) that have these strokes."""
    cells = set()
    for collection in axes.collections:
        if collection.get_gid() == gid:
            assert isinstance(collection, LineCollection)
            for segment in collection.get_segments():
                corners = {(round(float(key)), round(float(query))) for query, key in segment}
                assert len(corners) == 1, "a stroke stays in its cell"
                cells |= corners
    return cells


def texts(axes: Axes) -> dict[tuple[int, int], str]:
    shown = [text for text in axes.texts if text.get_gid() == "text"]
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in shown}


def titles(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_gid() == "title"]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_pattern_and_what_is_learned_are_coloured_by_their_numbers(name: str) -> None:
    case = NUMBERS[name]
    for panel in ("pattern", *PANELS):
        values = colours(axes_of(drawn(name), panel))
        expected = np.full((case.test, case.test), np.nan)
        means = learned(case, panel) if panel != "pattern" else {}
        for i, j, n in case.shown():
            value = case.entry(i, j, n) if panel == "pattern" else means[i, j, n][0]
            expected[i - 1, j - 1] = float(value)
        assert np.allclose(values, expected, rtol=1e-12, atol=1e-15, equal_nan=True), panel
        assert axes_of(drawn(name), panel).get_ylim() == (case.test + 0.5, 0.5), "key 1 is the top row"


@pytest.mark.parametrize("name", CASES)
def test_crosses_stand_just_where_the_learned_entry_is_another(name: str) -> None:
    case = CASES[name]
    for panel in PANELS:
        expected = {(i, j) for i, j, n in wrong(case, panel) if (i, j, n) in set(case.shown())}
        assert marked(axes_of(drawn(name), panel), "wrong") == expected, panel
    for panel in {"pattern", "level sets"} & {axes.get_gid() for axes in drawn(name).axes}:
        assert not marked(axes_of(drawn(name), panel), "wrong")


def test_means_are_those_of_gradient_descent() -> None:
    relations = (constant(), absolute(), relative(), clipped_relative(3), t5_buckets())
    target = np.triu(np.outer(np.arange(1.0, 9), np.arange(1.0, 9)))
    for relation, panel in zip(relations, PANELS, strict=False):
        values = np.nan_to_num(colours(axes_of(drawn("product"), panel)))
        assert np.allclose(values, learned_matrix(target, relation.labels(8), training_scale=4), rtol=1e-12), panel


@pytest.mark.parametrize("name", CASES)
def test_titles_say_lrc_and_the_first_error(name: str) -> None:
    case = CASES[name]
    zeros = (0, (0, 0))
    distinct = [
        len({case.entry(*cell) for cell in case.cells() if cell[2] <= scale and case.entry(*cell) not in zeros})
        for scale in (case.train, case.test)
    ]
    assert titles(axes_of(drawn(name), "level sets")) == ["level sets", f"LRC {distinct[0]} → {distinct[1]}"]
    names = ("constant (NoPE)", "absolute", "relative", f"clipped at {case.clip}", "T5 buckets", "ideal (level sets)")
    for panel, title in zip(PANELS, names, strict=True):
        errors = [n for _, _, n in wrong(case, panel)]
        verdict = f"first error at scale {min(errors)}" if errors else "generalizes"
        assert titles(axes_of(drawn(name), panel)) == [title, verdict]


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "signed"])
def test_written_numbers_are_the_entries_or_two_digits(name: str) -> None:
    case = NUMBERS[name]
    constants = {r"$\sqrt{2}$": sqrt(2), r"$\pi$": pi}
    for panel in ("pattern", *PANELS):
        means = learned(case, panel) if panel != "pattern" else {}
        written = texts(axes_of(drawn(name), panel))
        assert set(written) == {(i, j) for i, j, _ in case.shown()}
        for i, j, n in case.shown():
            text = written[i, j]
            number = constants[text] if text in constants else float(Fraction(text))
            value = float(case.entry(i, j, n) if panel == "pattern" else means[i, j, n][0])
            exact = panel == "pattern" or (i, j, n) not in wrong(case, panel)
            assert number == pytest.approx(value, rel=1e-12 if exact else 0.05, abs=0)


@pytest.mark.parametrize("name", CASES)
def test_level_sets_and_labels_join_what_is_equal(name: str) -> None:
    case = CASES[name]
    for panel in ("level sets", *(PANELS if name in LABELS else ())):
        axes = axes_of(drawn(name), panel)
        shade, written = colours(axes), texts(axes)
        assert panel != "level sets" or case.test > 8 or set(written) == {(i, j) for i, j, _ in case.shown()}
        assert np.isnan(shade).sum() == case.test * (case.test - 1) // 2
        by_label: dict[object, set[tuple[float, str]]] = {}
        for i, j, n in case.shown():
            by_label.setdefault(label(case, panel, (i, j, n)), set()).add(
                (shade[i - 1, j - 1], written.get((i, j), ""))
            )
            zero = panel in ("level sets", "ideal") and case.entry(i, j, n) in (0, (0, 0))
            assert (shade[i - 1, j - 1] == 0) == zero, "white is for zero entries alone"
        assert all(len(looks) == 1 for looks in by_label.values()), "one label, one shade, one text"
        assert len({shade for looks in by_label.values() for shade, _ in looks}) == len(by_label)


@pytest.mark.parametrize("name", CASES)
def test_just_the_positions_of_training_are_outlined(name: str) -> None:
    case = CASES[name]
    for axes in drawn(name).axes:
        if axes.get_gid() == "scale":
            continue
        (line,) = [line for line in axes.lines if line.get_gid() == "training"]
        outline = Path(np.asarray(line.get_xydata()))
        inside = {
            (i, j)
            for i in range(1, case.test + 1)
            for j in range(1, case.test + 1)
            if outline.contains_point((j, i), radius=0.0)
        }
        assert inside == {(i, j) for j in range(1, case.train + 1) for i in range(1, j + 1)}
        assert (line.get_linestyle() == "--") == case.family, "no shown cell of a family is met in training"


def test_a_family_that_training_reaches_is_outlined_as_met() -> None:
    figure = pattern_panels.drawing(from_formula("n - i"), train=4, test=4).shown
    assert {line.get_linestyle() for axes in figure.axes for line in axes.lines if line.get_gid() == "training"} == {
        "-"
    }


def test_numbers_below_zero_carry_a_dash_where_none_are_written() -> None:
    case = NUMBERS["signed"]
    axes = axes_of(drawn("signed"), "pattern")
    assert not texts(axes)
    assert marked(axes, "negative") == {(i, j) for i, j, n in case.shown() if case.entry(i, j, n) < 0}
    assert not marked(axes_of(drawn("small"), "pattern"), "negative"), "its numbers are written, sign and all"


def _grey(colour: Any) -> float:
    return float(np.dot(colour[:3], (0.299, 0.587, 0.114)))


@pytest.mark.parametrize("count", [0, 1, 2, 12, 13, 800])
def test_shades_keep_their_order_in_grey_under_black_text(count: int) -> None:
    colours_ = style.shades(count)
    greys = [_grey(colours_(index)) for index in range(count + 1)]
    assert len(greys) == colours_.N and greys[0] == pytest.approx(1)
    steps = [before - after for before, after in pairwise(greys)]
    assert all(step > (0.03 if count <= 12 else 0) for step in steps)
    assert min(greys) >= 0.45 or not count


def test_numbers_are_coloured_around_white_and_alike_in_grey_on_both_sides() -> None:
    assert _grey(style.DIVERGING(0.5)) == pytest.approx(1, abs=0.01)
    for size in (0.1, 0.3, 0.5):
        assert abs(_grey(style.DIVERGING(0.5 - size)) - _grey(style.DIVERGING(0.5 + size))) < 0.03
    assert min(_grey(style.DIVERGING(end)) for end in (0.0, 1.0)) > 0.45, "black text stays legible"
    for name, bound in (("small", 3 / 9), ("window", 2)):
        mesh = next(artist for artist in axes_of(drawn(name), "pattern").collections if artist.get_gid() == "cells")
        assert mesh.get_clim() == (-bound, bound)


@pytest.mark.parametrize("name", CASES)
def test_text_is_legible_on_the_page_and_in_its_cell(name: str) -> None:
    figure = drawn(name)
    assert figure.get_size_inches()[0] == style.PAGE_WIDTH
    on_the_page(figure, beyond=0)
    squares = {tuple(np.round(axes.get_window_extent().size, 6)) for axes in figure.axes if axes.get_gid() != "scale"}
    assert len(squares) == 1 and len(set(*squares)) == 1, "matrices are squares of one size"
    for axes in figure.axes:
        for text in axes.texts:
            if text.get_gid() == "text":
                left, right = axes.transData.inverted().transform(text.get_window_extent())[:, 0]
                assert right - left <= 1 and abs((left + right) / 2 - round(text.get_position()[0])) < 0.05


@pytest.mark.parametrize("name", CASES)
def test_rows_hold_what_is_drawn(name: str) -> None:
    case = CASES[name]
    rows: list[dict[str, Any]] = drawing(name).rows
    panels = [axes for axes in drawn(name).axes if axes.get_gid() != "scale"]
    assert len(rows) == len(panels) * case.test * (case.test + 1) // 2
    assert list(dict.fromkeys(row["panel"] for row in rows)) == [axes.get_gid() for axes in panels]
    for axes in panels:
        shade, crosses, written = colours(axes), marked(axes, "wrong"), texts(axes)
        for row in rows:
            at = row["key"], row["query"]
            if row["panel"] != axes.get_gid():
                continue
            assert row["wrong"] == (at in crosses)
            assert row["scale"] == (case.test if case.family else row["query"])
            assert row["training"] == (row["scale"] <= case.train)
            if row["number"] == "":
                assert written.get(at, str(row["label"])) == str(row["label"])
            else:
                assert row["number"] == shade[at[0] - 1, at[1] - 1]
    entries = {row["entry"] for row in rows}
    assert len(entries) == len({case.entry(*cell) for cell in case.shown()})


def test_matrices_are_listed_as_they_are_typed() -> None:
    rows = drawing("vector").rows
    assert {row["entry"] for row in rows} == {f"[[1, {distance}], [0, 1]]" for distance in range(8)}
    assert {row["number"] for row in rows} == {""}


@pytest.mark.parametrize("name", CASES)
def test_the_caption_has_the_formula_lrc_and_every_verdict(name: str) -> None:
    case = CASES[name]
    caption = drawing(name).caption
    assert "\n" not in caption and f" = {case.text}, " in caption
    low, high = titles(axes_of(drawn(name), "level sets"))[1].removeprefix("LRC ").split(" → ")
    assert f"LRC is {low} at scale {case.train} and {high} at scale {case.test} [F]" in caption
    for panel in PANELS:
        title, verdict = titles(axes_of(drawn(name), panel))
        sentence = caption[caption.index(f"{title[0].upper()}{title[1:]}: ") :].split(". ")[0]
        crosses = len(marked(axes_of(drawn(name), panel), "wrong"))
        assert verdict in sentence
        assert sentence.endswith(f"{crosses} of the {case.test * (case.test + 1) // 2} entries shown are wrong")
    assert ("Dashed: the positions" in caption) == case.family
    assert ("entries are matrices" in caption or "free parameters" in caption) == (name in LABELS)


def test_the_caption_says_why_and_which_limits() -> None:
    caption = drawing("window").caption
    assert "Clipped at 2: generalizes (so do limits up to 3), 0 of the 36" in caption
    assert (
        "Absolute: first error at scale 5, 8 of the 36 entries shown are wrong. Key 4, query 5 (beyond training) has a "
        "label that training never meets, and the pattern is not zero there." in caption
    )
    assert "(no limit below 4 does)" in drawing("decay").caption


def test_entries_wrong_by_less_than_floats_show_are_marked() -> None:
    figure = pattern_panels.drawing(from_formula("1 + 0.5**(j-i) / 10**18"), train=2, test=3).shown
    assert marked(axes_of(figure, "constant"), "wrong") == {(i, j) for j in (1, 2, 3) for i in range(1, j + 1)}
    assert marked(axes_of(figure, "relative"), "wrong") == {(1, 3)}


def test_numbers_that_floats_do_not_reach_are_shown_by_labels() -> None:
    for text in ("2**(400*j)", "2**1023"):
        figure = pattern_panels.drawing(from_formula(text), train=2, test=4).shown
        assert axes_of(figure, "level sets") is figure.axes[0]
        assert "Labels are shown: entries pass floating-point numbers." in [text.get_text() for text in figure.texts]


def test_long_names_and_dollars_do_no_harm() -> None:
    figure = pattern_panels.drawing(pattern_from_function(lambda i, j: i, name="$x$"), train=2, test=3).shown
    assert titles(axes_of(figure, "pattern")) == ["pattern A", r"\$x\$"]
    figure = pattern_panels.drawing(from_formula("+".join(["i"] * 90)), train=2, test=3).shown
    assert titles(axes_of(figure, "pattern")) == ["pattern A", "scales 1..3"]


@pytest.mark.parametrize(
    ("pattern", "train", "test", "message"),
    [
        (from_formula("1"), 4, 41, "test scale 41 is too large to be read in print: draw at most 40"),
        (from_formula("1"), 5, 4, "1 <= train <= test, not train=5, test=4"),
        (from_formula("1"), 0, 4, "1 <= train <= test, not train=0, test=4"),
        (from_formula("1"), 1, 0, "scale must be 1 or more"),
        (from_array(np.eye(3)), 2, 4, "scale must be 1 to 3"),
        (from_formula("1/(j-3)"), 2, 4, "division by zero at i=1, j=3"),
        (from_array(np.diag([1.0, np.inf])), 1, 2, "'array' has the entry inf: only finite entries can be learned"),
    ],
)
def test_patterns_that_cannot_be_drawn_are_refused(pattern: Pattern, train: int, test: int, message: str) -> None:
    with pytest.raises(LengthgenError, match=message) as raised:
        pattern_panels.drawing(pattern, train=train, test=test)
    assert "\n" not in str(raised.value)


def test_files_are_named_after_pattern_and_scales(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "_image_bytes", lambda figure, ending: b"the images are those of test_style")
    paths = [
        FilePath(path)
        for pattern, train, test in (
            *((from_formula(text), train, test) for text, train, test in (("i*j", 1, 2), ("i+j", 1, 2), ("i*j", 1, 3))),
            (pattern_from_function(lambda i, j: i, name="i-j-\udcff\x01.py:f"), 1, 2),
        )
        for path in pattern_panels.write(pattern, tmp_path, train=train, test=test)
    ]
    assert len({path.stem for path in paths}) == 4 and len(set(paths)) == 24
    assert all(path.name.startswith("pattern-i-j-") and path.stat().st_size for path in paths)
    caption = paths[4].read_text()
    assert caption == pattern_panels.drawing(from_formula("i*j"), train=1, test=2).caption + "\n"
    assert len(paths[3].read_text().splitlines()) == 1 + 8 * 3


def test_a_pattern_of_zeros_is_white_in_the_middle_of_the_colours():
    figure = pattern_panels.drawing(from_formula("0"), train=2, test=4).shown
    norms = [mesh.norm for axes in figure.axes for mesh in axes.collections if mesh.get_gid() == "cells"]
    assert {float(norm(0.0)) for norm in norms if norm.vmin < 0} == {0.5}
