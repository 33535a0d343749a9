"""Drawing of the lattice: it shows all edges, and each encoding once and inside the page."""

import csv
from itertools import combinations

import matplotlib.patches
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.path import Path as Curve

from paper_figs import recovery_lattice
from paper_figs.saving import _image_bytes
from proofs_checks import registry
from proofs_checks.lattice import lattice


@pytest.fixture(scope="module")
def figure():
    return recovery_lattice.drawing(lattice()).shown


def test_every_edge_is_decided_by_a_claim_of_the_ledger():
    claims = {claim.id for claim in registry.CLAIMS}
    assert {claim for *_, claim in lattice().edges(data="claim")} <= claims


def test_each_encoding_with_an_edge_has_one_box_and_each_edge_one_arrow(figure):
    graph = lattice()
    (axes,) = figure.axes
    titles = sorted(text.get_text() for text in axes.texts)
    assert titles == sorted(graph.nodes[name]["title"] for name in graph if graph.degree(name))
    arrows = [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.FancyArrowPatch)]
    assert len(arrows) == graph.number_of_edges()


def test_just_the_impossible_edges_are_crossed_out_each_on_its_arrow(figure):
    (axes,) = figure.axes
    kinds = [kind for *_, kind in lattice().edges(data="kind")]
    crosses = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "x"]
    assert len(crosses) == kinds.count("impossible") > 0
    paths = [
        axes.transData.inverted().transform_path(arrow.get_transform().transform_path(arrow.get_path()))
        for arrow in axes.patches
        if isinstance(arrow, matplotlib.patches.FancyArrowPatch)
    ]
    curves = [
        bezier(path.vertices[:3])
        if Curve.CURVE3 in ([] if path.codes is None else path.codes)
        else path.interpolated(50).vertices
        for path in paths
    ]
    for cross in crosses:
        assert min(np.hypot(*(curve - cross).T).min() for curve in curves) < 0.03, "inches"


def bezier(points):
    """Points on a quadratic Bezier curve."""
    at = np.linspace(0, 1, 100)[:, None]
    return (1 - at) ** 2 * points[0] + 2 * at * (1 - at) * points[1] + at**2 * points[2]


def test_boxes_lie_on_the_page_and_apart(figure):
    (axes,) = figure.axes
    boxes = [patch.get_bbox() for patch in axes.patches if isinstance(patch, matplotlib.patches.Rectangle)]
    for box in boxes:
        assert box.x0 >= 0 and box.x1 <= axes.get_xlim()[1] and box.y0 >= 0 and box.y1 <= axes.get_ylim()[1]
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


def test_no_arrow_to_another_column_runs_behind_a_box(figure):
    (axes,) = figure.axes
    boxes = [patch.get_bbox() for patch in axes.patches if isinstance(patch, matplotlib.patches.Rectangle)]
    for arrow in [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.FancyArrowPatch)]:
        path = axes.transData.inverted().transform_path(arrow.get_transform().transform_path(arrow.get_path()))
        if abs(path.vertices[2, 0] - path.vertices[0, 0]) > 0.1:  # others end in the column where they begin
            points = path.interpolated(60).vertices
            for box in boxes:
                inside = (points[:, 0] > box.x0 + 0.01) & (points[:, 0] < box.x1 - 0.01)
                assert not (inside & (points[:, 1] > box.y0 + 0.01) & (points[:, 1] < box.y1 - 0.01)).any()


def test_arrows_lie_on_the_page(figure):
    (axes,) = figure.axes
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for arrow in [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.FancyArrowPatch)]:
        drawn = axes.transData.inverted().transform_bbox(arrow.get_path().get_extents(arrow.get_transform()))
        assert left <= drawn.x0 and drawn.x1 <= right and low <= drawn.y0 and drawn.y1 <= high


def test_text_fits_its_box(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    width = recovery_lattice._WIDTH * figure.dpi
    for text in axes.texts:
        assert text.get_window_extent(renderer).width < width, text.get_text()


def test_the_data_behind_it_are_the_edges(tmp_path):
    graph = lattice()
    recovery_lattice.write(graph, tmp_path)
    with (tmp_path / "recovery-lattice.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == graph.number_of_edges()
    assert {(row["contains"], row["contained"], row["kind"]) for row in rows} == {
        (by, of, kind) for by, of, kind in graph.edges(data="kind")
    }
    again = _image_bytes(recovery_lattice.drawing(graph).shown, "svg")
    assert again == (tmp_path / "recovery-lattice.svg").read_bytes()
