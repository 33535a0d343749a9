"""Drawing of a circuit: boxes, arrows and tokens are read back from the artists and compared with the circuit."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit, CircuitError
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.tasks import load
from lengthgen.paper_figs.figures import circuit_diagram
from lengthgen.paper_figs.saving import Drawing, write
from tests.paper_figs.test_run_figures import on_the_page

Shown = tuple[Circuit, int, tuple[str, ...] | None]
Kind = TypeVar("Kind", bound=Artist)

CASES: dict[str, Shown] = {
    "parity": (reference_circuit(load("parity"), [3, 6]), 6, tuple("101101=")),
    "copy": (reference_circuit(load("copy"), [6]), 6, tuple("011101=")),
    "addition with carries": (reference_circuit(load("addition-carry", base=2), [2]), 2, tuple("11+10=")),
    "three places": (reference_circuit(load("addition-carry", base=2), [3]), 3, tuple("110+101=")),
    "multiplication": (reference_circuit(load("multiplication", base=2), [6]), 6, None),
    "five slots": (reference_circuit(load("addition", base=2), [3]), 3, None),
    "two operators": (reference_circuit(load("sort-trace"), [3]), 3, tuple("312=")),
}
in_table = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def drawings() -> dict[str, Drawing]:
    return {name: circuit_diagram.drawing(*shown) for name, shown in CASES.items()}


@pytest.fixture(scope="module")
def figures(drawings: dict[str, Drawing]) -> dict[str, Figure]:
    drawn = {name: drawing.shown for name, drawing in drawings.items()}
    for figure in drawn.values():
        figure.draw_without_rendering()
    return drawn


def _with(figure: Figure, what: str, kind: type[Kind]) -> dict[tuple[int, ...], Kind]:
    """Map from the numbers in the gids to the artists of one kind."""
    artists = {}
    for artist in figure.findobj(kind):
        name, *numbers = str(artist.get_gid()).split(":")
        if name == what:
            assert isinstance(artist, kind)
            artists[tuple(map(int, numbers))] = artist
    return artists


def _boxes(figure: Figure) -> dict[int, Bbox]:
    return {position: box.get_window_extent() for (position,), box in _with(figure, "box", Rectangle).items()}


def _line(arrow: PathPatch) -> NDArray[np.float64]:
    """Points of an arrow from its tail to its head."""
    (points,) = arrow.get_transform().transform_path(arrow.get_path()).to_polygons(closed_only=False)
    return np.asarray(points)


def _expected_edges(circuit: Circuit, scale: int) -> set[tuple[int, int, int]]:
    return {
        (wiring.arguments[slot], wiring.position, slot + 1)
        for wiring in circuit.wirings[scale]
        for slot in circuit.essential_slots(wiring.operator)
    }


@in_table
def test_arrows_and_operators_are_those_of_the_circuit(figures: dict[str, Figure], name: str) -> None:
    circuit, scale, _ = CASES[name]
    expected = _expected_edges(circuit, scale)
    assert set(_with(figures[name], "edge", PathPatch)) == expected
    written = {step: text.get_text() for (step,), text in _with(figures[name], "operator", Text).items()}
    assert written == {wiring.position: f"u{wiring.operator + 1}" for wiring in circuit.wirings[scale]}
    numbers = {key: text.get_text() for key, text in _with(figures[name], "slot", Text).items()}
    assert numbers == {(step, slot): str(slot) for _, step, slot in expected}


@in_table
def test_an_arrow_falls_from_its_argument_to_the_number_of_its_slot(figures: dict[str, Figure], name: str) -> None:
    boxes = _boxes(figures[name])
    numbers = _with(figures[name], "slot", Text)
    for (argument, step, slot), arrow in _with(figures[name], "edge", PathPatch).items():
        (x0, y0), *_, (x1, y1) = _line(arrow)
        assert y0 == pytest.approx(boxes[argument].y0)
        assert boxes[argument].x0 < x0 < boxes[argument].x1
        assert y1 == pytest.approx(boxes[step].y1)
        assert y1 < y0
        number = numbers[step, slot].get_window_extent()
        assert number.x0 < x1 < number.x1


@in_table
def test_nothing_overlaps(figures: dict[str, Figure], name: str) -> None:
    figure = figures[name]
    boxes = _boxes(figure)
    for first, second in combinations(boxes.values(), 2):
        assert not first.overlaps(second)
    for (argument, step, slot), arrow in _with(figure, "edge", PathPatch).items():
        line = _line(arrow)
        for position, box in boxes.items():
            if position not in (argument, step):
                inside = (line > (box.x0, box.y0)) & (line < (box.x1, box.y1))
                assert not inside.all(axis=1).any(), (argument, step, slot, position)
    extents = [text.get_window_extent() for text in _texts(figure)]
    for first, second in combinations(extents, 2):
        # An extent has the height of a line of text, with room for letters that are not there.
        assert not first.shrunk(1, 0.7).overlaps(second.shrunk(1, 0.7))
    for (position,), text in _with(figure, "token", Text).items():
        extent = text.get_window_extent()
        assert boxes[position].x0 < extent.x0
        assert extent.x1 < boxes[position].x1


def _texts(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


@in_table
def test_text_is_legible_and_on_the_page(figures: dict[str, Figure], name: str) -> None:
    on_the_page(figures[name], beyond=0)


@in_table
def test_steps_are_in_order_and_at_their_depth(figures: dict[str, Figure], name: str) -> None:
    circuit, scale, _ = CASES[name]
    boxes = _boxes(figures[name])
    depth: dict[int, int] = {}
    for wiring in circuit.wirings[scale]:
        read = [wiring.arguments[slot] for slot in circuit.essential_slots(wiring.operator)]
        depth[wiring.position] = 1 + max((depth.get(argument, 0) for argument in read), default=0)
    left = [boxes[position].x0 for position in depth]
    assert left == sorted(left)
    tops = {position: round(boxes[position].y1, 6) for position in depth}
    layers = sorted(set(tops.values()), reverse=True)
    assert {position: layers.index(top) + 1 for position, top in tops.items()} == depth


def _tokens(figure: Figure) -> str:
    texts = sorted(_with(figure, "token", Text).items())
    return " ".join(text.get_text().replace(r"\$", "$") for _, text in texts)


def test_a_prompt_shows_its_tokens_and_what_the_circuit_makes_of_them(
    figures: dict[str, Figure], drawings: dict[str, Drawing]
) -> None:
    assert _tokens(figures["parity"]) == "1 0 1 1 0 1 = 1 1 0 1 1 0 $"
    assert _tokens(figures["addition with carries"]) == "1 1 + 1 0 = 0 1 0 1 $"
    caption = drawings["addition with carries"].caption
    assert "the prompt 1 1 + 1 0 =, which gives 0 1 0 1 $." in caption


def test_tokens_without_a_prompt_have_names() -> None:
    circuit, _, _ = CASES["parity"]
    drawing = circuit_diagram.drawing(circuit, 3)
    assert _tokens(drawing.shown) == "$x_{1}$ $x_{2}$ $x_{3}$ = $y_{1}$ $y_{2}$ $y_{3}$ $y_{4}$"
    assert "y_t is the token of step t" in drawing.caption


@in_table
def test_rows_hold_every_slot_once(drawings: dict[str, Drawing], name: str) -> None:
    circuit, scale, prompt = CASES[name]
    rows = drawings[name].rows
    drawn = {(row["argument"], row["step"], row["slot"]) for row in rows if row["essential"]}
    assert drawn == _expected_edges(circuit, scale)
    assert [(row["step"], row["slot"], row["argument"], row["operator"]) for row in rows] == [
        (wiring.position, slot, argument, f"u{wiring.operator + 1}")
        for wiring in circuit.wirings[scale]
        for slot, argument in enumerate(wiring.arguments, start=1)
    ]
    first = circuit.wirings[scale][0].position
    for row in rows:
        assert row["scale"] == scale
        assert row["argument_kind"] == ("prompt" if int(str(row["argument"])) < first else "step")
        assert (row["argument_token"] == "") == (prompt is None)


def test_rows_hold_the_tokens_of_the_prompt(drawings: dict[str, Drawing]) -> None:
    second = [row for row in drawings["parity"].rows if row["step"] == 9]
    assert [(row["argument_token"], row["slot"], row["step_token"]) for row in second] == [("0", 1, "1"), ("1", 2, "1")]


@in_table
def test_the_legend_has_the_colours_of_the_boxes(figures: dict[str, Figure], name: str) -> None:
    figure = figures[name]
    [axes] = figure.axes
    shaded = {
        patch.get_facecolor() for patch in axes.patches if isinstance(patch, Rectangle) and not patch.get_linewidth()
    }
    legend = {patch.get_facecolor() for part in figure.legends for patch in part.get_patches()}
    assert legend == shaded


def test_slots_that_decide_nothing_are_left_out(drawings: dict[str, Drawing]) -> None:
    circuit = src(load("copy"), traces_up_to(load("copy"), 3), 2).circuit
    assert circuit is not None
    drawing = circuit_diagram.drawing(circuit, 3)
    figure = drawing.shown
    assert {slot for _, _, slot in _with(figure, "edge", PathPatch)} == {1}
    legend = [text.get_text() for part in figure.legends for text in part.get_texts()]
    assert legend == ["operator u1", "slot 1"]
    assert "are left out" in drawing.caption
    assert "are left out" not in drawings["parity"].caption


def test_a_circuit_that_depends_on_nothing_is_drawn_without_arrows() -> None:
    circuit = reference_circuit(load("copy"), [2])
    constant = replace(circuit, operators=tuple(np.zeros_like(table) for table in circuit.operators))
    drawing = circuit_diagram.drawing(constant, 2)
    assert not _with(drawing.shown, "edge", PathPatch)
    assert [row["essential"] for row in drawing.rows] == [False] * 3


def test_the_caption_counts_steps_operators_and_depth(drawings: dict[str, Drawing]) -> None:
    start = "The circuit of 'addition-carry-base2' at scale 2: 5 steps, 2 unit operators of arity 3, depth 2. "
    assert drawings["addition with carries"].caption.startswith(start)


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    shown = CASES["addition with carries"]
    builds = [
        write(
            circuit_diagram.drawing(*shown),
            tmp_path / build,
            "circuit",
        )
        for build in ("one", "two")
    ]
    assert len(builds[0]) == 7
    for first, second in zip(*builds, strict=True):
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("scale", "prompt", "message"),
    [
        (4, None, "the circuit has no scale 4: choose one of 3, 14"),
        (14, None, "15 prompt tokens and 15 steps in 15 layers; 14 of each in 10 layers fit a page"),
        (3, ("1", "x", "1", "="), "symbol 'x' is not in the alphabet"),
        (3, ("1", "="), "are of shape"),
    ],
)
def test_circuits_that_cannot_be_drawn_are_refused(scale: int, prompt: tuple[str, ...] | None, message: str) -> None:
    circuit = reference_circuit(load("parity"), [3, 14])
    with pytest.raises(ValueError, match=message) as caught:
        circuit_diagram.drawing(circuit, scale, prompt)
    assert isinstance(caught.value, CircuitError) == (prompt is not None)


def test_symbols_too_long_for_a_box_are_refused() -> None:
    circuit = reference_circuit(load("copy"), [2])
    long = replace(circuit, task=replace(circuit.task, alphabet=("0", "1", "=", "the end")))
    with pytest.raises(ValueError, match="longer than the 5 characters"):
        circuit_diagram.drawing(long, 2)


def test_points_of_a_route_lie_on_its_bezier_curve():
    route = [(5.0, 7.0), (1.0, 2.0), (3.0, 5.0), (4.0, 1.0)]
    points = circuit_diagram._points(route)
    assert points.shape == (60, 2)
    for place in (0, 17, 59):
        level = np.array(route)
        while len(level) > 1:  # de Casteljau's construction
            level = level[:-1] + place / 59 * (level[1:] - level[:-1])
        assert points[place].tolist() == pytest.approx(level[0].tolist())
