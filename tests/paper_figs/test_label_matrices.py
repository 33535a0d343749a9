"""Figure 1 shows what the analysis says: labels, marks, tokens, edges and operators are read back from the artists."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from circuits.prediction import ENCODINGS, Analysis, analyse
from circuits.roles import step_roles
from circuits.task import Task
from circuits.tasks import load
from paper_figs import label_matrices
from paper_figs.instance import Instance
from paper_figs.style import SMALLEST_TEXT
from theory.relation import NO_LABEL

SCALE = 3


@pytest.fixture(scope="module")
def analyses() -> dict[str, Analysis]:
    return {format_: analyse(load("parity"), format_, 4) for format_ in ("aligned", "unaligned")}


@pytest.fixture(scope="module")
def figure(analyses: dict[str, Analysis]) -> Figure:
    return label_matrices.draw(analyses, scale=SCALE)


def _panel(figure: Figure, gid: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_gid() == gid)


def _marks(axes: Axes) -> dict[int, tuple[float, float]]:
    """slot -> (key, query) of the marked cell."""
    lines = [line for line in axes.lines if str(line.get_gid()).startswith("mark:")]
    return {int(line.get_gid().split(":")[1]): (line.get_ydata()[0], line.get_xdata()[0]) for line in lines}


@pytest.mark.parametrize("format_", ["aligned", "unaligned"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_matrix_shows_the_labels_of_its_relation(
    figure: Figure, analyses: dict[str, Analysis], format_: str, encoding: str
) -> None:
    analysis = analyses[format_]
    length = analysis.circuit.wirings[SCALE][-1].position
    expected = analysis.relation(encoding).labels(length, SCALE)
    axes = _panel(figure, f"{format_}:{encoding}")
    mesh = next(one for one in axes.collections if one.get_gid() == "labels")
    shaded = np.ma.asarray(mesh.get_array()).reshape(expected.shape)
    written = np.full_like(expected, NO_LABEL)
    for text in axes.texts:
        query, key = text.get_position()
        written[int(key) - 1, int(query) - 1] = int(text.get_text())
    assert (shaded.filled(NO_LABEL) == expected).all()
    assert (written == expected).all()
    bottom, top = axes.get_ylim()
    assert bottom > top, "key 1 is the top row"


@pytest.mark.parametrize("format_", ["aligned", "unaligned"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_marked_cells_are_the_arguments_of_the_step(
    figure: Figure, analyses: dict[str, Analysis], format_: str, encoding: str
) -> None:
    wiring = analyses[format_].circuit.wirings[SCALE][1]
    expected = {slot: (key, wiring.position - 1) for slot, key in enumerate(wiring.arguments, start=1)}
    assert _marks(_panel(figure, f"{format_}:{encoding}")) == expected


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
            for text in _panel(figure, f"{format_}:rpe").texts
            if text.get_fontweight() == "bold"
        }
        assert bold == set(step_roles(analysis.circuit, SCALE))


def test_tokens_name_the_positions(figure: Figure, analyses: dict[str, Analysis]) -> None:
    names = {format_: Instance(analysis=one, scale=SCALE, step=2).names() for format_, one in analyses.items()}
    assert names["aligned"] == ["x1", "x2", "x3", "_", "_", "=", "y1", "y2", "y3", "$"]
    assert names["unaligned"] == ["x1", "x2", "x3", "=", "y1", "y2", "y3", "$"]
    for format_, expected in names.items():
        axes = _panel(figure, f"{format_}:ipe")
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
    assert instance.names() == ["a1", "a2", "_", "+", "b1", "b2", "_", "=", "y1", "y2", "$"]


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


def test_titles_and_caption_quote_the_induced_operators(figure: Figure, analyses: dict[str, Analysis]) -> None:
    # [P, Fig. 1]: one for the ideal encoding; one for the relative on aligned data only; a new one a step for absolute.
    caption = label_matrices.caption(analyses, scale=SCALE)
    expected = {
        "aligned": {"ipe": "1 operator", "rpe": "1 operator", "ape": "4 operators", "nope": "∞ operators"},
        "unaligned": {"ipe": "1 operator", "rpe": "3 operators", "ape": "9 operators", "nope": "∞ operators"},
    }
    for format_, counts in expected.items():
        for encoding, count in counts.items():
            title = _panel(figure, f"{format_}:{encoding}").get_title()
            assert title.endswith(f": {count}")
        sentence = caption[caption.index(f"{format_.capitalize()}: ") :]
        assert sentence.index(f"({counts['rpe']})") < sentence.index(f"({counts['nope']})")
    assert "RPE 5, 0 (1 operator); APE 23, 28 (4 operators)" in caption
    assert "x2 (slot 1) and y1 (slot 2) are marked, from which y2 is computed" in caption


def test_rows_hold_every_cell_once(analyses: dict[str, Analysis]) -> None:
    rows = label_matrices.rows(analyses, scale=SCALE)
    lengths = {format_: one.circuit.wirings[SCALE][-1].position for format_, one in analyses.items()}
    assert len(rows) == len(ENCODINGS) * sum(length * (length + 1) // 2 for length in lengths.values())
    for row in rows:
        relation = analyses[str(row["format"])].relation(str(row["encoding"]))
        key, query = int(str(row["key"])), int(str(row["query"]))
        assert row["label"] == relation.labels(lengths[str(row["format"])], SCALE)[key - 1, query - 1]
    marked = {(row["format"], row["key_token"], row["query_token"], row["slots"]) for row in rows if row["slots"]}
    assert marked == {(format_, token, "y1", slot) for format_ in lengths for token, slot in (("x2", "1"), ("y1", "2"))}


def test_text_is_legible_and_on_the_page(figure: Figure) -> None:
    figure.draw_without_rendering()
    page = figure.bbox
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    for text in texts:
        assert text.get_fontsize() >= SMALLEST_TEXT, text
        assert not text.get_usetex()
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": 9}, "scale 9 was not analysed: choose one of 1..4"),
        ({"scale": 3, "step": 7}, r"scale 3 has the steps 1\.\.4, not 7"),
        ({"scale": 3, "encodings": ()}, "nothing to draw"),
        ({"scale": 3, "encodings": ("rope",)}, "unknown encoding 'rope'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    analyses: dict[str, Analysis], changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        label_matrices.draw(analyses, **changes)  # type: ignore[arg-type]


def test_an_instance_too_long_for_print_is_refused() -> None:
    with pytest.raises(ValueError, match="14 positions in the aligned format"):
        label_matrices.draw({"aligned": analyse(load("parity"), "aligned", 7)}, scale=4)
