"""Drawing of the lattice: a mark for each edge in the cell of its encodings, with nothing over anything else."""

import csv
from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lengthgen.paper_figs.figures import ledger_matrix
from lengthgen.paper_figs.saving import _image_bytes
from lengthgen.paper_figs.style import WIDTHS
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.recovery_graph import lattice
from tests.paper_figs.test_run_figures import on_the_page


@pytest.fixture(scope="module", params=sorted({*WIDTHS.values()}))
def figure(request):
    shown = ledger_matrix.recovery_drawing(lattice(), width=request.param).shown
    assert shown.get_figwidth() <= request.param + 0.001
    return shown


def test_every_edge_is_decided_by_a_claim_of_the_ledger():
    claims = {claim.id for claim in registry.CLAIMS}
    assert {claim for *_, claim in lattice().edges(data="claim")} <= claims


def marks(figure):
    """Place of each mark by its kind and encodings."""
    (axes,) = figure.axes
    lines = [line for line in axes.lines if str(line.get_gid()).count(":") == 2]
    return {tuple(line.get_gid().split(":")): (line.get_xdata()[0], line.get_ydata()[0]) for line in lines}


def test_each_edge_has_one_mark_in_the_row_and_the_column_of_its_encodings(figure):
    graph = lattice()
    places = marks(figure)
    assert sorted(places) == sorted((kind, by, of) for by, of, kind in graph.edges(data="kind"))
    (axes,) = figure.axes
    row = {text.get_text(): text.get_position()[1] for text in axes.texts if text.get_gid() == "general"}
    column = {text.get_text(): text.get_position()[0] for text in axes.texts if text.get_gid() == "special"}
    titles = graph.nodes(data="title")
    assert len({*column.values()}) == len(column) and len({*row.values()}) == len(row)
    cell = sorted(column.values())[1] - sorted(column.values())[0]
    for (_, by, of), (x, y) in places.items():
        assert y == row[titles[by]] and abs(x - column[titles[of]]) < cell / 2


def test_names_and_legend_lie_on_the_page_and_apart(figure):
    on_the_page(figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    boxes = [text.get_window_extent(renderer) for text in [*axes.texts, *axes.get_legend().get_texts()]]
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)
    lowest = axes.transData.transform((0, min(y for _, y in marks(figure).values())))[1]
    assert axes.get_legend().get_window_extent(renderer).y1 < lowest, "the legend is below the last row"


def test_the_data_behind_it_are_the_edges(tmp_path):
    graph = lattice()
    ledger_matrix.write_recoveries(graph, tmp_path)
    with (tmp_path / "recovery-lattice.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == graph.number_of_edges()
    assert {(row["contains"], row["contained"], row["kind"]) for row in rows} == {
        (by, of, kind) for by, of, kind in graph.edges(data="kind")
    }
    again = _image_bytes(ledger_matrix.recovery_drawing(graph, width=WIDTHS["column"]).shown, "svg")
    assert again == (tmp_path / "recovery-lattice.svg").read_bytes()
