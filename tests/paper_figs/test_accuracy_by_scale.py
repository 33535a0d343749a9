"""Accuracy by scale: curves, seeds, intervals and shading are read back from the artists and compared."""

from collections.abc import Sequence
from statistics import median

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import beta, binomtest

from lengthgen.circuits import encoding_spec as built_in
from lengthgen.paper_figs import style
from lengthgen.paper_figs.figures import accuracy
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.seed_scores import CellScores, interval
from tests.paper_figs.test_run_figures import on_the_page, panel

TRAIN = (1, 2, 3)
THRESHOLD = 0.9
ENCODINGS = {"aligned": ("ipe", "rpe", "ape", "nope"), "unaligned": ("ipe-sh", "rpe", "ape", "nope")}
MODEL = "width 16, layers 2, heads 2"
SEEDS = 5


def _cell(format_: str, encoding: str, *, scales: Sequence[int] = range(1, 9), seeds: int = SEEDS) -> CellScores:
    """Synthetic scores of a cell, for these tests only."""
    rng = np.random.default_rng([list(ENCODINGS).index(format_), *encoding.encode()])
    values = {scale: tuple(rng.choice([0.0, 0.25, THRESHOLD, 1.0], seeds).tolist()) for scale in scales}
    return CellScores(format=format_, encoding=encoding, exact_match=values)


@pytest.fixture(scope="module")
def cells() -> list[CellScores]:
    return [_cell(format_, encoding) for format_, encodings in ENCODINGS.items() for encoding in encodings]


@pytest.fixture(scope="module")
def drawing(cells: list[CellScores]) -> Drawing:
    return _drawing(cells)


@pytest.fixture(scope="module")
def figure(drawing: Drawing) -> Figure:
    return drawing.shown


def _drawing(
    cells: Sequence[CellScores], train: Sequence[int] = TRAIN, threshold: float = THRESHOLD, task: str = "synthetic"
) -> Drawing:
    return accuracy.seeds_drawing(cells, train=train, threshold=threshold, task=task, model=MODEL)


def _drawn(cells: Sequence[CellScores], train: Sequence[int] = TRAIN) -> Figure:
    shown = _drawing(cells, train).shown
    return shown


def _curves(axes: Axes, gid: str) -> list[NDArray[np.float64]]:
    return [np.asarray(line.get_ydata()) for line in axes.lines if line.get_gid() == gid]


def test_curves_are_medians_and_seeds(figure: Figure, cells: list[CellScores]) -> None:
    for cell in cells:
        axes = panel(figure, f"exact match:{cell.format}:0")
        (curve,) = _curves(axes, f"median:{cell.encoding}")
        assert curve.tolist() == [median(cell.exact_match[scale]) for scale in cell.scales]
        seeds = np.array(_curves(axes, f"seed:{cell.encoding}"))
        assert seeds.T.tolist() == [list(cell.exact_match[scale]) for scale in cell.scales]


def test_shares_have_exact_intervals_in_the_table(figure: Figure, drawing: Drawing, cells: list[CellScores]) -> None:
    rows = {(row["format"], row["encoding"], row["scale"]): row for row in drawing.rows}
    for cell in cells:
        axes = panel(figure, f"solved:{cell.format}:0")
        (shares,) = _curves(axes, f"share:{cell.encoding}")
        for scale, share in zip(cell.scales, shares, strict=True):
            solved = sum(value >= THRESHOLD for value in cell.exact_match[scale])
            expected = binomtest(solved, SEEDS).proportion_ci(confidence_level=0.95, method="exact")
            assert share == solved / SEEDS
            row = rows[cell.format, cell.encoding, scale]
            assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_interval_is_clopper_pearson() -> None:
    for trials in (1, 5, 20):
        for successes in range(trials + 1):
            low = beta.ppf(0.025, successes, trials - successes + 1) if successes else 0.0
            high = beta.ppf(0.975, successes + 1, trials - successes) if successes < trials else 1.0
            assert interval(successes, trials) == pytest.approx((low, high), abs=1e-9)


def test_the_training_range_is_shaded_and_nothing_else(cells: list[CellScores]) -> None:
    figure = _drawn(cells, (1, 2, 5))
    for axes in figure.axes:
        shaded = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
        assert [(round(box.x0, 6), round(box.x1, 6)) for box in shaded] == [(0.5, 2.5), (4.5, 5.5)]
    (threshold,) = _curves(panel(figure, "exact match:aligned:0"), "threshold")
    assert (threshold == THRESHOLD).all()


def test_no_marks_of_one_scale_coincide(figure: Figure) -> None:
    axes = panel(figure, "solved:aligned:0")
    places = [line.get_xdata()[0] for line in axes.lines if str(line.get_gid()).startswith("share:")]
    in_points = np.diff(sorted(axes.transData.transform([(place, 0) for place in places])[:, 0])) * 72 / figure.dpi
    assert (in_points > 2).all()


def test_an_encoding_looks_the_same_in_every_panel_and_the_legend(figure: Figure) -> None:
    (legend,) = figure.legends
    entries = {text.get_text(): handle for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)}
    assert list(entries) == ["IPE", "RPE", "APE", "NoPE", "IPE-SH", "threshold 0.9", "training scales"]
    for encoding in {encoding for encodings in ENCODINGS.values() for encoding in encodings}:
        look = style.look(encoding)
        lines = [
            line
            for axes in figure.axes
            for line in axes.lines
            if line.get_gid() in (f"median:{encoding}", f"share:{encoding}")
        ]
        assert len(lines) == 2 * sum(encoding in encodings for encodings in ENCODINGS.values())
        assert {(line.get_color(), line.get_marker()) for line in [*lines, entries[look.label]]} == {
            (look.colour, look.marker)
        }
    _legend_hides_nothing(figure)


def _legend_hides_nothing(figure: Figure) -> None:
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    for axes in figure.axes:
        assert not box.overlaps(axes.get_tightbbox()), "the legend hides data"


def test_more_than_six_encodings_take_further_panels() -> None:
    many = {"aligned": [*built_in.ENCODINGS][:13], "unaligned": ["ipe-sh", "rpe", "here/law.py:near"]}
    given = [_cell(format_, encoding) for format_, encodings in many.items() for encoding in encodings]
    figure = _drawn(given)
    shown: dict[str, list[list[str]]] = {}
    for axes in figure.axes:
        kind, format_, _ = str(axes.get_gid()).split(":")
        lines = [str(line.get_gid()).partition(":") for line in axes.lines]
        curve = {"exact match": "median", "solved": "share"}[kind]
        shown.setdefault(f"{kind}:{format_}", []).append([name for what, _, name in lines if what == curve])
    for kind in ("exact match", "solved"):
        parts = shown[f"{kind}:aligned"]
        assert [len(part) for part in parts] == [5, 5, 3]
        assert [name for part in parts for name in part] == many["aligned"]
        assert shown[f"{kind}:unaligned"] == [many["unaligned"]]
    titles = {axes.get_title() for axes in figure.axes} - {""}
    assert titles == {*(f"synthetic, aligned ({part} of 3)" for part in (1, 2, 3)), "synthetic, unaligned"}
    _legend_hides_nothing(figure)
    on_the_page(figure, beyond=0)
    for axes in figure.axes:
        if axes.get_xlabel():
            assert any(label.get_visible() and label.get_text() for label in axes.get_xticklabels())


def test_parameters_and_encodings_of_ones_own_are_told_apart_in_the_legend() -> None:
    names = ["clipped", "clipped[limit=2]", "clipped[limit=4]", "one/law.py:near", "two/law.py:near"]
    figure = _drawn([_cell("aligned", name) for name in names])
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()][: len(names)]
    assert texts == ["clipped RPE", "clipped RPE (limit=2)", "clipped RPE (limit=4)", *names[3:]]
    drawn = [(line.get_color(), line.get_marker(), line.get_fillstyle()) for line in legend.legend_handles[:5]]
    assert len(set(drawn)) == len(names)


def test_text_is_legible_and_on_the_page(figure: Figure) -> None:
    on_the_page(figure, beyond=0)


def test_rows_hold_what_is_drawn(drawing: Drawing, cells: list[CellScores]) -> None:
    rows = drawing.rows
    assert len(rows) == len(cells) * 8
    for row in rows:
        cell = next(other for other in cells if (other.format, other.encoding) == (row["format"], row["encoding"]))
        values = cell.exact_match[int(str(row["scale"]))]
        assert tuple(row[f"seed_{at}"] for at in range(1, SEEDS + 1)) == values
        solved = sum(value >= THRESHOLD for value in values)
        expected = binomtest(solved, SEEDS).proportion_ci(confidence_level=0.95, method="exact")
        assert (row["solved"], row["seeds"], row["share"]) == (solved, SEEDS, solved / SEEDS)
        assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert (row["median"], row["threshold"]) == (median(values), THRESHOLD)
        assert row["training_scale"] == (row["scale"] in TRAIN)


def test_the_caption_counts_fits_and_successes() -> None:
    values = {1: (1.0, 1.0, 0.2), 2: (0.95, 1.0, 1.0), 3: (0.0, 0.9, 1.0)}
    cell = CellScores(format="aligned", encoding="ipe", exact_match=values)
    caption = _drawing([cell], train=(1, 2), task="toy").caption
    assert caption.endswith("every scale: aligned IPE 2 and 1 (of 3).")
    assert "0 of 3, 0.00 to 0.71; 1 of 3, 0.01 to 0.91;" in caption and "3 of 3, 0.29 to 1.00." in caption
    assert f"models of {MODEL};" in caption
    assert " IPE: ideal. " in caption


@pytest.mark.parametrize(("scales", "train"), [((5, 10, 15, 20), (5,)), ((7,), (7,)), (range(1, 41), (1, 2))])
def test_other_scales_and_one_format(scales: Sequence[int], train: Sequence[int]) -> None:
    given = [_cell("aligned", encoding, scales=scales, seeds=1) for encoding in ENCODINGS["aligned"]]
    figure = _drawn(given, train)
    ticks = panel(figure, "solved:aligned:0").get_xticks()
    assert all(float(tick).is_integer() for tick in ticks)
    assert len(scales) > 10 or ticks.tolist() == list(scales)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "at least one scale"),
        ({1: ()}, "at least one seed"),
        ({1: (1.0, 1.0), 2: (1.0,)}, r"ipe, aligned: unequal numbers of seeds at its scales: \{1: 2, 2: 1\}"),
        ({1: (1.5,)}, r"must lie in \[0, 1\]"),
        ({1: (float("nan"),)}, r"must lie in \[0, 1\]"),
    ],
)
def test_a_broken_cell_is_refused(values: dict[int, tuple[float, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CellScores(format="aligned", encoding="ipe", exact_match=values)


@pytest.mark.parametrize(
    ("other", "train", "threshold", "message"),
    [
        (_cell("aligned", "rpe", scales=(1, 2)), (1,), 0.9, r"rpe, aligned: no values at scales \[3, 4, 5, 6, 7, 8\]"),
        (_cell("aligned", "rpe", seeds=3), (1,), 0.9, "unequal numbers of seeds: .*'rpe, aligned': 3"),
        (_cell("aligned", "ipe"), (1,), 0.9, "ipe, aligned: given twice"),
        (_cell("aligned", "rpe"), (9,), 0.9, r"these have none: \[9\]"),
        (_cell("aligned", "rpe"), (), 0.9, "none given"),
        (_cell("aligned", "rpe"), (1,), 95, r"threshold must lie in \(0, 1\]"),
    ],
)
def test_cells_that_cannot_be_compared_are_refused(
    other: CellScores, train: tuple[int, ...], threshold: float, message: str
) -> None:
    cells = [_cell("aligned", "ipe"), other]
    with pytest.raises(ValueError, match=message):
        _drawing(cells, train, threshold)


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="no cells"):
        _drawing([])
