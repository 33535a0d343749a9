"""Opening picture of a task: labels, operators and shares, read back from the artists, are those of the forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import parse_encoding, parse_encodings, relation_of
from lengthgen.circuits.forecast.ask import forecasts
from lengthgen.circuits.prediction_record import Counted, Prediction
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs.figures import forecast_panels
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import PAGE_WIDTH
from tests.paper_figs.test_run_figures import on_the_page

TRAIN, TEST = range(1, 4), range(1, 9)
ENCODINGS = "ipe,rpe,ape,nope,random-ape"
NEW, SHARED = "#f2c9a5", "#d9d9d9"

Made = tuple[Analysis, Mapping[str, Prediction], Drawing]


def made(task: Task, encodings: str, form: str = "aligned", test: Sequence[int] = TEST) -> Made:
    analysis = analyse(task, form, test[-1])
    predictions = forecasts(analysis, parse_encodings(encodings), TRAIN, test)
    return analysis, predictions, forecast_panels.panels_drawing(analysis, predictions, train=TRAIN, test=test)


@pytest.fixture(scope="module")
def parity() -> Made:
    """Parity, of which four runs under `ipe` are said to be on record."""
    analysis, predictions, _ = made(load("parity"), ENCODINGS)
    forecast = predictions["ipe"].forecast
    assert forecast
    recorded = replace(forecast, recorded=Counted(runs=4, generalize=3))
    predictions = {**predictions, "ipe": replace(predictions["ipe"], forecast=recorded)}
    return analysis, predictions, forecast_panels.panels_drawing(analysis, predictions, train=TRAIN, test=TEST)


@pytest.fixture(scope="module")
def figure(parity: Made) -> Figure:
    return parity[2].shown


def _texts(figure: Figure, kind: str) -> dict[str, str]:
    """Texts of one kind by the rest of their identifiers."""
    texts = (text for text in figure.findobj(Text) if str(text.get_gid()).startswith(f"{kind}:"))
    return {str(text.get_gid()).removeprefix(f"{kind}:"): text.get_text() for text in texts}


def _colours(figure: Figure) -> dict[tuple[int, int], str]:
    """Colours of the cells of labels by row and column."""
    cells = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    lefts = sorted({round(cell.get_x(), 6) for cell in cells})
    return {(int(cell.get_y()), lefts.index(round(cell.get_x(), 6))): to_hex(cell.get_facecolor()) for cell in cells}


def test_labels_of_steps_are_equal_in_the_picture_just_where_the_relation_says_so(parity: Made, figure: Figure) -> None:
    analysis, predictions, _ = parity
    shown = _texts(figure, "labels")
    scale = forecast_panels.SCALE
    roles = analysis.circuit.roles(scale)
    for encoding in list(predictions)[:4]:
        labels = relation_of(parse_encoding(encoding), analysis.circuit).labels(
            analysis.traces[scale - 1].length, scale
        )
        drawn: list[str] = []
        true: list[int] = []
        for at, wiring in enumerate(analysis.circuit.wirings[scale]):
            slots = {
                slot: key for (key, query), role in roles.items() if query == wiring.position - 1 for _, slot in role
            }
            drawn += shown[f"{encoding}:{at}"].split(",")
            true += [int(labels[slots[slot] - 1, wiring.position - 2]) for slot in sorted(slots)]
        assert len(drawn) == len(true) and drawn
        assert (np.equal.outer(drawn, drawn) == np.equal.outer(true, true)).all()
    assert {text for key, text in shown.items() if key.startswith("random-ape")} == {"-"}


def test_new_labels_are_shaded_under_absolute_positions_alone_and_shared_ones_without_positions(figure: Figure) -> None:
    colours = _colours(figure)
    columns = max(column for _, column in colours) + 1
    assert columns >= 4
    rows = [[colours.get((row, column)) for column in range(columns)] for row in range(5)]
    assert rows[0] == rows[1] == ["#ffffff"] * columns
    assert rows[2] == ["#ffffff", *[NEW] * (columns - 1)]
    assert rows[3] == [SHARED] * columns and rows[4] == [None] * columns


def test_dots_bars_and_diamonds_are_the_forecast_and_its_record(parity: Made, figure: Figure) -> None:
    _, predictions, drawing = parity
    [axes] = [axes for axes in figure.axes if axes.get_gid() == "forecast"]
    lines = {str(line.get_gid()): np.asarray(line.get_xdata()).tolist() for line in axes.lines}
    operators = _texts(figure, "operators")
    for (encoding, prediction), row in zip(predictions.items(), drawing.rows, strict=True):
        forecast = prediction.forecast
        assert forecast
        assert lines[f"interval:{encoding}"] == [forecast.low, forecast.high]
        assert lines[f"share:{encoding}"] == [forecast.share] == [row["share"]]
        recorded = forecast.recorded
        assert (f"recorded:{encoding}" in lines) == (recorded.runs > 0)
        if recorded.runs:
            assert lines[f"recorded:{encoding}"] == [recorded.generalize / recorded.runs]
        assert (row["generalize"], row["runs"]) == (recorded.generalize, recorded.runs)
        assert operators[encoding] == row["operators"]
    assert [operators[encoding] for encoding in ("ipe", "nope", "random-ape")] == ["1", "∞", "-"]
    assert [gid for gid in lines if gid.startswith("recorded:")] == ["recorded:ipe"]
    train, test = operators["ape"].split(" → ")
    assert int(train) < int(test)


@pytest.mark.parametrize("task", ["reverse", "copy", "majority-count", "counter"])
def test_the_picture_is_legible_for_other_tasks_and_fits_its_height(task: str) -> None:
    encodings = "rpe,ape,nope,rope,alibi,t5,fire,clipped,sinusoidal"
    _, _, drawing = made(load(task), encodings, "unaligned")
    figure = drawing.shown
    width, height = figure.get_size_inches()
    assert width == PAGE_WIDTH and height <= 3.2
    on_the_page(figure, beyond=0)
    shown = [text for text in figure.findobj(Text) if str(text.get_gid()).startswith("labels:")]
    assert shown
    cells = {round(patch.get_window_extent().width) for patch in figure.axes[0].patches}
    assert all(text.get_window_extent().width <= max(cells) for text in shown)


def test_a_circuit_that_cannot_be_drawn_leaves_the_forecast_and_its_reason() -> None:
    counting = Task(
        name="all-of-it",
        alphabet=("0", "1"),
        prompt=lambda n: [("0", "1")] * n,
        generate=lambda prompt: ["1" if prompt.count("1") % 3 == 1 else "0"],
    )
    _, _, drawing = made(counting, "rpe,ape", "unaligned", TEST[:7])
    reason = "steps have up to 7 arguments, and 5 can be told apart"
    assert drawing.caption.startswith(f"The circuit of 'all-of-it' is not drawn: {reason}.")
    assert [row["labels"] for row in drawing.rows] == ["", ""]


def test_more_encodings_than_fit_are_refused(parity: Made) -> None:
    analysis, predictions, _ = parity
    many = {str(at): predictions["ape"] for at in range(forecast_panels.ROWS + 1)}
    with pytest.raises(LengthgenError, match="10 encodings are more than the 9 that fit a picture: name fewer"):
        forecast_panels.panels_drawing(analysis, many, train=TRAIN, test=TEST)


def test_files_of_the_picture_have_the_name_of_the_task(parity: Made, tmp_path: Path) -> None:
    analysis, predictions, _ = parity
    written = forecast_panels.write(analysis, predictions, tmp_path, train=TRAIN, test=TEST)
    assert {Path(path).suffix for path in written} >= {".png", ".pdf", ".csv"}
    assert all(Path(path).is_file() and Path(path).stem.startswith("forecast-parity-aligned") for path in written)
