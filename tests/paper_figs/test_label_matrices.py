"""Figure 1: labels, marks, tokens, edges and operators, read back from the artists, equal those of the analysis."""

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding, relation_of
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.paper_figs.figures import label_matrices
from lengthgen.paper_figs.figures.instance import Instance
from lengthgen.paper_figs.saving import Drawing
from lengthgen.theory.relation import NO_LABEL
from tests.paper_figs.test_run_figures import on_the_page, panel

SCALE = 3
ENCODINGS = {"aligned": ("ipe", "rpe", "ape", "nope"), "unaligned": ("ipe-sh", "rpe", "ape", "nope")}
PANELS = [(format_, encoding) for format_, encodings in ENCODINGS.items() for encoding in encodings]


@pytest.fixture(scope="module")
def analyses() -> dict[str, Analysis]:
    return {format_: analyse(load("parity"), format_, 4) for format_ in ("aligned", "unaligned")}


@pytest.fixture(scope="module")
def drawing(analyses: dict[str, Analysis]) -> Drawing:
    return label_matrices.drawing(analyses, scale=SCALE, encodings=ENCODINGS)


@pytest.fixture(scope="module")
def figure(drawing: Drawing) -> Figure:
    return drawing.shown


def _marks(axes: Axes) -> dict[int, tuple[float, float]]:
    """Map from slot to (key, query) of the marked cell."""
    frames = [patch for patch in axes.patches if str(patch.get_gid()).startswith("mark:")]
    return {
        int(frame.get_gid().split(":")[1]): (
            round(frame.get_y() + frame.get_height() / 2),
            round(frame.get_x() + frame.get_width() / 2),
        )
        for frame in frames
    }


@pytest.mark.parametrize(("format_", "encoding"), PANELS)
def test_a_matrix_shows_the_labels_of_its_relation(
    figure: Figure, analyses: dict[str, Analysis], format_: str, encoding: str
) -> None:
    analysis = analyses[format_]
    length = analysis.circuit.wirings[SCALE][-1].position
    expected = relation_of(parse_encoding(encoding), analysis.circuit).labels(length, SCALE)
    axes = panel(figure, f"{format_}:{encoding}")
    mesh = next(artist for artist in axes.collections if artist.get_gid() == "labels")
    shaded = np.ma.asarray(mesh.get_array()).reshape(expected.shape)
    written = np.full_like(expected, NO_LABEL)
    for text in axes.texts:
        query, key = text.get_position()
        written[int(key) - 1, int(query) - 1] = int(text.get_text())
    assert (shaded.filled(NO_LABEL) == expected).all()
    assert (written == expected).all()
    bottom, top = axes.get_ylim()
    assert bottom > top, "key 1 is the top row"


@pytest.mark.parametrize(("format_", "encoding"), PANELS)
def test_the_marked_cells_are_the_arguments_of_the_step(
    figure: Figure, analyses: dict[str, Analysis], format_: str, encoding: str
) -> None:
    wiring = analyses[format_].circuit.wirings[SCALE][1]
    expected = {slot: (key, wiring.position - 1) for slot, key in enumerate(wiring.arguments, start=1)}
    assert _marks(panel(figure, f"{format_}:{encoding}")) == expected


def test_the_marked_arguments_of_parity_are_x2_and_y1(analyses: dict[str, Analysis]) -> None:
    for analysis in analyses.values():
        instance = Instance(analysis=analysis, scale=SCALE, step=2)
        names = instance.names()
        assert {names[key - 1]: slots for key, slots in instance.arguments().items()} == {"x2": (1,), "y1": (2,)}
        assert names[instance.position - 1] == "y2"


def test_bold_labels_are_those_of_arguments(figure: Figure, analyses: dict[str, Analysis]) -> None:
    for format_, analysis in analyses.items():
        bold = {
            (int(text.get_position()[1]), int(text.get_position()[0]))
            for text in panel(figure, f"{format_}:rpe").texts
            if text.get_fontweight() == "bold"
        }
        assert bold == set(analysis.circuit.roles(SCALE))


def test_tokens_name_the_positions(figure: Figure, analyses: dict[str, Analysis]) -> None:
    names = {
        format_: Instance(analysis=analysis, scale=SCALE, step=2).names() for format_, analysis in analyses.items()
    }
    assert names["aligned"] == ["x1", "x2", "x3", "_", "_", "_", "=", "y1", "y2", "y3", "$"]
    assert names["unaligned"] == ["x1", "x2", "x3", "=", "y1", "y2", "y3", "$"]
    for format_, expected in names.items():
        axes = panel(figure, f"{format_}:{ENCODINGS[format_][0]}")
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [label.get_text().replace(r"\$", "$") for label in labels] == expected


def test_several_operands_have_a_letter_each() -> None:
    task = Task(
        name="digitwise",
        alphabet=("0", "1", "+", "=", "$"),
        prompt=lambda n: [("0", "1")] * n + [("+",)] + [("0", "1")] * n + [("=",)],
        generate=lambda s: [
            *("01"[a != b] for a, b in zip(s[: len(s) // 2 - 1], s[len(s) // 2 : -1], strict=True)),
            "$",
        ],
    )
    instance = Instance(analysis=analyse(task, "aligned", 2), scale=2, step=1)
    assert instance.names() == ["a1", "a2", "_", "_", "+", "b1", "b2", "_", "_", "=", "y1", "y2", "$"]


def test_the_drawn_circuit_is_the_circuit(figure: Figure, analyses: dict[str, Analysis]) -> None:
    drawings = [axes for axes in figure.axes if axes.get_gid() is None]
    for axes, analysis in zip(drawings, analyses.values(), strict=True):
        graph: nx.MultiDiGraph = analysis.circuit.graph(SCALE)
        edges = [tuple(map(int, patch.get_gid().split(":")[1:])) for patch in axes.patches if patch.get_gid()]
        assert sorted(edges) == sorted(graph.edges(data="slot"))
        steps = [operator + 1 for _, operator in graph.nodes(data="operator") if operator is not None]
        boxes = [text.get_text() for text in axes.texts if text.get_bbox_patch() is not None]
        assert boxes == [f"u{operator}" for operator in steps]
        arguments = analysis.circuit.wirings[SCALE][1].arguments
        marks = {line.get_gid() for line in axes.lines if line.get_gid()}
        assert marks == {f"circuit-mark:{slot}:{key}" for slot, key in enumerate(arguments, start=1)}


def test_titles_and_caption_quote_the_induced_operators(figure: Figure, drawing: Drawing) -> None:
    # [P, Fig. 1]: one for the ideal encoding; one for the relative on aligned data only; a new one a step for absolute.
    caption = drawing.caption
    expected = {
        "aligned": {"ipe": "1 operator", "rpe": "1 operator", "ape": "4 operators", "nope": "∞ operators"},
        "unaligned": {"ipe-sh": "1 operator", "rpe": "3 operators", "ape": "9 operators", "nope": "∞ operators"},
    }
    starts = {"aligned": "Aligned (operands padded up to scale 4)", "unaligned": "Unaligned"}
    for format_, counts in expected.items():
        for encoding, count in counts.items():
            title = panel(figure, f"{format_}:{encoding}").get_title()
            assert title.endswith(f": {count}")
        sentence = caption[caption.index(f"{starts[format_]}: x2 (slot 1)") :]
        assert sentence.index(f"({counts['rpe']})") < sentence.index(f"({counts['nope']})")
    assert "RPE 6, 0 (1 operator); APE 30, 36 (4 operators)" in caption
    assert "IPE: ideal; RPE: relative; APE: learned absolute; NoPE: none; IPE-SH: ideal with scale hint." in caption
    assert "Labels that depend on the scale as well: IPE-SH." in caption
    assert "x2 (slot 1) and y1 (slot 2) are marked, from which y2 is computed" in caption


def test_rows_hold_every_cell_once(drawing: Drawing, analyses: dict[str, Analysis]) -> None:
    rows = drawing.rows
    lengths = {format_: analysis.circuit.wirings[SCALE][-1].position for format_, analysis in analyses.items()}
    assert len(rows) == 4 * sum(length * (length + 1) // 2 for length in lengths.values())
    assert {(row["format"], row["encoding"]) for row in rows} == set(PANELS)
    for row in rows:
        relation = relation_of(parse_encoding(str(row["encoding"])), analyses[str(row["format"])].circuit)
        key, query = int(str(row["key"])), int(str(row["query"]))
        assert row["label"] == relation.labels(lengths[str(row["format"])], SCALE)[key - 1, query - 1]
    marked = {(row["format"], row["key_token"], row["query_token"], row["slots"]) for row in rows if row["slots"]}
    assert marked == {(format_, token, "y1", slot) for format_ in lengths for token, slot in (("x2", "1"), ("y1", "2"))}


def _apart(texts: list[Text]) -> None:
    boxes = [text.get_window_extent() for text in texts]
    assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))


def test_text_is_legible_and_on_the_page(figure: Figure) -> None:
    on_the_page(figure, beyond=0)


MANY = {
    "aligned": ("ipe", "rpe", "clipped[limit=2]", "t5[buckets=4,longest=9]", "ape", "sinusoidal", "rpe-square", "fire"),
    "unaligned": ("ipe-sh", "rope", "alibi", "clipped", "clipped[limit=3]"),
}


def test_more_than_four_encodings_take_further_lines_and_stay_apart(analyses: dict[str, Analysis]) -> None:
    figure = label_matrices.drawing(analyses, scale=SCALE, encodings=MANY).shown
    on_the_page(figure, beyond=0)
    assert figure.get_size_inches()[1] < 9, "it fits a page"
    matrices = [axes for axes in figure.axes if axes.get_gid()]
    assert [axes.get_gid() for axes in matrices] == [
        f"{panel}:{encoding}" for panel, its in MANY.items() for encoding in its
    ]
    _apart([text for axes in figure.axes for text in (axes.title, axes._left_title) if text.get_text()])
    for first, second in combinations(figure.axes, 2):
        assert not first.get_window_extent().overlaps(second.get_window_extent())
    assert len({axes.get_title() for axes in matrices[8:]}) == 5, "the parameter tells the clipped ones apart"
    for axes in matrices:
        _apart(axes.texts)


def test_an_encoding_of_the_users_own_is_named_by_its_file(tmp_path: Any, analyses: dict[str, Analysis]) -> None:
    source = "from lengthgen import Relation\nnear = Relation(name='near', law=lambda i, j, n: (j - i) % 3)\n"
    (tmp_path / "my_relations.py").write_text(source)
    shown = {"aligned": (f"{tmp_path}/my_relations.py:near",)}
    of_it = {"aligned": analyses["aligned"]}
    drawing = label_matrices.drawing(of_it, scale=SCALE, encodings=shown)
    (axes,) = [axes for axes in drawing.shown.axes if axes.get_gid()]
    assert axes.get_title().startswith("my_relations.py:near")
    assert {text.get_text() for text in axes.texts} == {"0", "1", "2"}
    assert "my_relations.py:near: our own" in drawing.caption


@pytest.mark.parametrize("task", ["multiplication", "division"])
def test_every_slot_of_the_step_is_in_the_legend(task: str) -> None:
    analysis = analyse(load(task, base=3), "unaligned", SCALE + 1)
    figure = label_matrices.drawing({"unaligned": analysis}, scale=SCALE, encodings={"unaligned": ("ipe-sh",)}).shown
    (legend,) = figure.legends
    slots = sorted(_marks(panel(figure, "unaligned:ipe-sh")))
    assert legend.get_title().get_text().startswith("u1: unit operator. Step 2, which gives y2")
    assert [text.get_text() for text in legend.get_texts()] == [f"slot {slot}" for slot in slots]
    assert len(slots) > 2
    on_the_page(figure, beyond=0)


UNFIT = {
    "an unknown scale": ({"scale": 9}, "scale 9 was not analysed: choose one of 1..4"),
    "an unknown step": ({"step": 7}, "scale 3 has the steps 1..4, not 7"),
    "too long": ({"scale": 4}, "scale 4 has 12 positions, and 11 can be read in print"),
    "redrawn": ({"encodings": ("rpe", "random-rope")}, "'random-rope' has no relation: it draws positions"),
    "learned": ({"encodings": ("lbpe-sh",)}, "'lbpe-sh' finds its labels in training"),
    "too many": ({"encodings": tuple(f"clipped[limit={limit}]" for limit in range(9))}, "more than the 8"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_matrix_that_could_not_be_read_is_reported_and_not_drawn(analyses: dict[str, Analysis], name: str) -> None:
    changes, message = UNFIT[name]
    arguments: dict[str, Any] = {"scale": SCALE, "step": 2, "encodings": ("rpe",)} | changes
    reason = label_matrices.unfit(analyses["aligned"], **arguments)
    assert reason is not None and message in reason
    wrapped = arguments | {"encodings": {"aligned": arguments["encodings"]}}
    with pytest.raises(ValueError) as raised:
        label_matrices.drawing({"aligned": analyses["aligned"]}, **wrapped)
    assert str(raised.value) == f"aligned format: {reason}"


def test_a_matrix_that_can_be_read_is_fit(analyses: dict[str, Analysis]) -> None:
    for format_, encodings in ENCODINGS.items():
        assert label_matrices.unfit(analyses[format_], scale=SCALE, encodings=encodings) is None


def test_roles_that_change_with_the_scale_have_no_matrix_without_a_hint(analyses: dict[str, Analysis]) -> None:
    reason = label_matrices.unfit(analyses["unaligned"], scale=SCALE, encodings=("rpe", "ipe"))
    assert reason is not None and reason.startswith("'ipe' has no relation: ") and "scale hint" in reason


def test_labels_and_symbols_wider_than_a_cell_have_no_matrix(tmp_path: Any, analyses: dict[str, Analysis]) -> None:
    source = "from lengthgen import Relation\nlarge = Relation(name='large', law=lambda i, j, n: 100 * (i == j))\n"
    (tmp_path / "own.py").write_text(source)
    reason = label_matrices.unfit(analyses["aligned"], scale=SCALE, encodings=(f"{tmp_path}/own.py:large",))
    assert reason is not None and "has the label 100, of more than the 2 characters" in reason
    worded = Task(
        name="worded",
        alphabet=("0", "1", "then", "$"),
        prompt=lambda n: [("0", "1")] * n + [("then",)],
        generate=lambda symbols: [*symbols[:-1], "$"],
    )
    reason = label_matrices.unfit(analyse(worded, "unaligned", 4), scale=SCALE, encodings=("rpe",))
    assert reason == "symbol 'then' has more than the 2 characters that fit a cell"


def test_a_task_without_circuit_has_no_matrix() -> None:
    analysis = analyse(load("parity-direct"), "unaligned", 10)
    assert analysis.result is None
    reason = label_matrices.unfit(analysis, scale=SCALE, encodings=("rpe",), step=1)
    assert reason is not None and "arguments" in reason


@pytest.mark.parametrize("encodings", [{}, {"aligned": ()}, {"aligned": ("rpe",)}])
def test_nothing_to_draw_is_refused(analyses: dict[str, Analysis], encodings: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        label_matrices.drawing(analyses, scale=SCALE, encodings=encodings)


def test_names_that_are_no_encoding_are_refused(analyses: dict[str, Analysis]) -> None:
    with pytest.raises(EncodingError, match="did you mean rope"):
        label_matrices.drawing(analyses, scale=SCALE, encodings=ENCODINGS | {"aligned": ("ropee",)})
