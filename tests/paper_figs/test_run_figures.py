"""Figures and tables of runs: every number is read back and compared with the store."""

import json
import re
from itertools import combinations, pairwise, product
from pathlib import Path
from statistics import fmean, median

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from lengthgen.empirical.experiment.outcome import Checkpoint
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.tables import TableError
from lengthgen.paper_figs import panels, style, trial_cells
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures import accuracy, alignment, label_matrices, paper_tables, trial_figures
from lengthgen.paper_figs.saving import Undrawable
from lengthgen.paper_figs.seed_scores import CellScores, interval
from lengthgen.paper_figs.sources import Missing, Needs, Sources
from lengthgen.paper_figs.stored_trial import StoredTrial
from tests.paper_figs.made_up import EPOCHS, PROTOCOL, fill, score, seen, sources

THRESHOLD = 0.95
SCALES = range(1, 7)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sources, str]:
    return sources(tmp_path_factory.mktemp("made-up"))


def panel(figure: Figure, gid: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_gid() == gid)


def curve(axes: Axes, gid: str) -> dict[float, float]:
    [line] = [line for line in axes.lines if line.get_gid() == gid]
    return dict(zip(line.get_xdata(), line.get_ydata(), strict=True))


def labels_out_of_view(figure: Figure) -> set[Text]:
    """Labels of ticks beyond the axes, which matplotlib before 3.11 keeps and does not draw."""
    labels = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        first, last = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        beyond = [tick for tick in ticks if not first <= tick.get_loc() <= last]
        labels |= {label for tick in beyond for label in (tick.label1, tick.label2)}
    return labels


def on_the_page(figure: Figure, *, beyond: float = 1) -> None:
    """Check that all text is legible, set without LaTeX, and on the page; it may reach so many pixels beyond it."""
    figure.draw_without_rendering()
    width, height = figure.bbox.x1 + beyond, figure.bbox.y1 + beyond
    not_drawn = labels_out_of_view(figure)
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible() and text not in not_drawn:
            box = text.get_window_extent()
            assert text.get_fontsize() >= style.SMALLEST_TEXT and not text.get_usetex(), text
            assert box.x0 >= -beyond and box.y0 >= -beyond and box.x1 <= width and box.y1 <= height, text


@pytest.mark.parametrize("checkpoint", [Checkpoint.LAST, Checkpoint.BEST_ON_TEST])
def test_a_curve_is_the_median_of_the_runs_at_the_checkpoint_that_is_named(
    made_up: tuple[Sources, str], checkpoint: Checkpoint
) -> None:
    given, name = made_up
    drawing = accuracy.accuracy(given, protocol=name, checkpoint=checkpoint)
    for condition, runs in given.runs_of_size(name).items():
        axes = panel(drawing.shown, f"accuracy:{condition.task.title}:aligned")
        drawn = curve(axes, f"median:{condition.encoding}")
        bars = next(artist for artist in axes.collections if artist.get_gid() == f"interval:{condition.encoding}")
        for place, scale in enumerate(SCALES):
            values = []
            for run in runs:
                epochs = EPOCHS[1:] if checkpoint is Checkpoint.LAST else EPOCHS
                best = max(epochs, key=lambda epoch: (fmean(score(run, epoch, n) for n in SCALES), epoch))
                values.append(score(run, best, scale))
            assert drawn[scale] == median(values)
            segment = bars.get_segments()[place]
            assert abs(segment[0, 0] - scale) < 0.5
            assert segment[:, 1].tolist() == [min(values), max(values)]
            [row] = [
                row
                for row in drawing.rows
                if (row["task"], row["encoding"], row["scale"]) == (condition.task.title, condition.encoding, scale)
            ]
            assert [row[f"seed_{seed}"] for seed in range(1, 6)] == values
            assert (row["median"], row["low"], row["high"]) == (median(values), min(values), max(values))
            assert row["training_scale"] == (scale <= 2)
    has_warning = "selects on the test scales" in drawing.caption
    assert has_warning == (checkpoint is Checkpoint.BEST_ON_TEST)


@pytest.mark.parametrize(
    ("count", "width", "shape"), [(1, 7, (1, 1)), (3, 7, (1, 3)), (4, 7, (2, 2)), (7, 7, (3, 3)), (3, 1, (3, 1))]
)
def test_panels_fill_as_few_lines_as_the_width_allows(count: int, width: float, shape: tuple[int, int]) -> None:
    assert panels.shape(count, width=width, narrowest=2) == shape


@pytest.mark.parametrize("count", [1, 2, 5, 8, 11])
def test_the_interval_of_a_median_has_the_level_that_is_said(count: int) -> None:
    place, level = accuracy.rank(count)
    # Each value is below or above the true median with probability one half: all 2^m cases are looked at.
    holds = [place <= sum(below) <= count - place for below in product((0, 1), repeat=count)]
    assert level == pytest.approx(sum(holds) / len(holds))
    assert level >= 0.9 or place == 1
    wider = [place + 1 <= sum(below) <= count - place - 1 for below in product((0, 1), repeat=count)]
    assert sum(wider) / len(wider) < 0.9
    ordered = [value / 100 for value in range(count)]
    assert accuracy.median_interval(ordered[::-1]) == (ordered[place - 1], ordered[count - place])


@pytest.mark.parametrize("width", sorted({*style.WIDTHS.values()})[::3])
def test_figures_of_runs_fit_every_width(made_up: tuple[Sources, str], width: float) -> None:
    given, name = made_up
    trial, protocol = given.trial(name), given.protocol(name)
    shown = [
        accuracy.accuracy(Sources(out=given.out, profile="smoke", width=width), protocol=name),
        trial_figures.predicted_drawing(trial, protocol, width),
        trial_figures.success_drawing(trial, protocol, width),
        trial_figures.breaking_drawing(trial, protocol, width),
        alignment.drawing(given.cells(name), scales=(2, 4), train=(1, 2), width=width, model="any"),
    ]
    for drawing in shown:
        assert drawing.shown.get_figwidth() == width
        on_the_page(drawing.shown)


def test_alignment_shows_every_run(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    drawing = alignment.drawing(given.cells(name), scales=(2, 5), train=(1, 2), width=7.0, model="any")
    for scale in (2, 5):
        axes = panel(drawing.shown, f"scale:{scale}")
        for encoding in ("ipe", "rpe", "ape"):
            drawn = [line for line in axes.lines if line.get_gid() == f"seeds:{encoding}"]
            expected = [
                [score(run, EPOCHS[-1], scale) for run in runs]
                for condition, runs in given.runs_of_size(name).items()
                if condition.encoding == encoding
            ]
            assert [[*line.get_ydata()] for line in drawn] == expected
            rows = [row for row in drawing.rows if (row["scale"], row["encoding"]) == (scale, encoding)]
            assert [[row[f"seed_{seed}"] for seed in range(1, 6)] for row in rows] == expected
    with pytest.raises(ValueError, match=r"no values at scales \[9\]"):
        alignment.drawing(given.cells(name), scales=(9,), train=(1, 2), width=7.0, model="any")


def test_halves_of_a_cell_are_the_prediction_and_the_runs(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    trial = given.trial(name)
    drawing = trial_figures.predicted_drawing(trial, given.protocol(name), 7.0)
    [axes] = drawing.shown.axes
    grounds = {patch.get_gid(): patch.get_facecolor() for patch in axes.patches}
    texts = {text.get_gid(): text.get_text() for text in axes.texts}
    for cell in trial["cells"]:
        gid = f"{cell['task']}:{cell['format']}:{cell['encoding']}"
        expected = cell["encoding"] != "ape"
        assert texts[f"predicted:{gid}"] == ("yes" if expected else "no")
        solving = 5 if cell["encoding"] == "ipe" else 0
        assert texts[f"observed:{gid}"] == f"{solving}/5"
        dark = grounds[f"predicted:{gid}"] != grounds[f"observed:{gid}"]
        assert dark == (cell["encoding"] == "rpe") == (f"wrong:{gid}" in grounds)
    bottoms = {patch.get_gid(): (patch.get_y(), patch.get_height()) for patch in axes.patches}
    for task in ("copy", "parity"):
        [label] = [text for text in axes.texts if text.get_text() == task]
        bottom, height = bottoms[f"predicted:{task}:aligned:ipe"]
        assert label.get_position()[1] == pytest.approx(bottom + height / 2), "a task stands beside its cells"
    assert texts["row:copy"] == "2/3" and texts["column:rpe"] == "0/2" and texts["column:ape"] == "2/2"
    assert "As predicted: 4 of 6 cells with both a prediction and an outcome, 67%" in drawing.caption
    assert (
        "Of the cells predicted to generalize 2 do and 2 do not, of those predicted not to 0 do and 2 do not"
        in drawing.caption
    )


def test_shares_of_runs_have_exact_intervals(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    drawing = trial_figures.success_drawing(given.trial(name), given.protocol(name), 7.0)
    for encoding, solving in (("ipe", 5), ("ape", 0)):
        for what, count in (("fit", 5), ("generalizes_given_fit", solving), ("generalizes", solving)):
            axes = panel(drawing.shown, what)
            [line] = [line for line in axes.lines if line.get_gid() == f"mark:copy:aligned:{encoding}"]
            [bar] = [artist for artist in axes.collections if artist.get_gid() == f"bar:copy:aligned:{encoding}"]
            assert [*line.get_xdata()] == [count / 5]
            assert bar.get_segments()[0][:, 0].tolist() == pytest.approx(interval(count, 5))
    assert "Runs in all: 30; that fit: 30; that generalize: 10" in drawing.caption


def test_dash_and_mark_are_where_cells_were_to_break_and_do(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    drawing = trial_figures.breaking_drawing(given.trial(name), given.protocol(name), 7.0)
    [axes] = drawing.shown.axes
    never = dict(zip([text.get_text() for text in axes.get_xticklabels()], axes.get_xticks(), strict=True))["never"]
    assert never == 8
    long = trial_figures._draw_breaking(given.trial(name)["cells"], train=(1, 2), last=50, width=7.0)
    assert long.axes[0].get_xticks()[-1] == 56, "an eighth beyond the others"
    for encoding, predicted, observed in (("ipe", never, never), ("rpe", never, 3), ("ape", 3, 3)):
        gid = f"parity:aligned:{encoding}"
        [mark] = [line for line in axes.lines if line.get_gid() == f"observed:{gid}"]
        [stroke] = [line for line in axes.lines if line.get_gid() == f"predicted:{gid}"]
        assert [*mark.get_xdata()] == [observed]
        assert [*stroke.get_xdata()] == [predicted] and [*stroke.get_ydata()] == [*mark.get_ydata()]
    assert "Of 2 cells predicted to break, at just that scale: 2, earlier: 0" in drawing.caption
    assert "copy, aligned, RPE (predicted never, median 3)" in drawing.caption


def test_the_numbers_of_a_breaking_scale_are_those_of_its_line(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    trial = json.loads(json.dumps(given.trial(name)))
    [cell] = [cell for cell in trial["cells"] if (cell["task"], cell["encoding"]) == ("parity", "rpe")]
    del cell["outcomes"][4:]
    for outcome, failure in zip(cell["outcomes"], (3, 4, None, None), strict=True):
        outcome["first_failure"] = failure
    cell["breaking"] |= {"observed": 5.0, "range": [3, 4]}
    drawing = trial_figures.breaking_drawing(trial, given.protocol(name), 7.0)
    gid = "parity:aligned:rpe"
    [line] = [line for line in drawing.shown.axes[0].collections if line.get_gid() == f"range:{gid}"]
    assert line.get_segments()[0][:, 0].tolist() == [3, 8], "8 is the place of never"
    [row] = [row for row in drawing.rows if (row["task"], row["encoding"]) == ("parity", "rpe")]
    assert (row["observed"], row["first"], row["last"]) == ("5", "3", "never")
    assert "(predicted never, median 5)" in drawing.caption


@pytest.mark.parametrize("width", sorted({*style.WIDTHS.values()}))
@pytest.mark.parametrize("last", [2, 6, 7, 12, 20, 23, 25, 40, 50, 52, 99, 100, 149, 1000])
def test_the_first_and_the_last_scale_are_marked_and_no_marks_touch(
    made_up: tuple[Sources, str], width: float, last: int
) -> None:
    given, name = made_up
    figure = trial_figures._draw_breaking(given.trial(name)["cells"], train=(1, 2), last=last, width=width)
    labels = figure.axes[0].get_xticklabels()
    assert [labels[0].get_text(), *(label.get_text() for label in labels[-2:])] == ["1", str(last), "never"]
    for left, right in pairwise(labels):
        assert left.get_window_extent().x1 + 2 < right.get_window_extent().x0, "two pixels at 100 dots per inch"


def test_disagreements_are_those_of_the_trial(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    drawing = trial_figures.disagreements_drawing(given.trial(name), "made-up")
    assert [(row["task"], row["encoding"], row["generalize"], row["fit"]) for row in drawing.rows] == [
        ("copy", "rpe", 0, 5),
        ("parity", "rpe", 0, 5),
    ]
    assert [line[:6] for line in drawing.shown.lines] == [
        (task, "aligned", "RPE", "yes", "yes", "0/5") for task in ("copy", "parity")
    ]
    nothing = trial_figures.disagreements_drawing({"cells": [], "main": given.trial(name)["main"]}, "made-up")
    assert "0 of 0" in nothing.caption and [*nothing.rows] == [{"task": "none"}]


def test_tables_of_runs_hold_what_the_store_holds(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    for row in paper_tables.results(given, protocol=name).rows:
        solving = 5 if row["encoding"] == "IPE" else 0
        assert (row["fit"], row["generalize"], row["runs"]) == (5, solving, 5)
        assert (row["low"], row["high"]) == interval(solving, 5)
        [runs] = [
            runs
            for condition, runs in given.runs_of_size(name).items()
            if (condition.task.title, condition.encoding.upper()) == (row["task"], row["encoding"])
        ]
        last = [score(run, EPOCHS[-1], 6) for run in runs]
        assert (row["median at 6"], row["least at 6"], row["greatest at 6"]) == (median(last), min(last), max(last))
    for row in paper_tables.coverage(given, protocol=name).rows:
        runs = [run for at, same in given.runs_of_size(name).items() if at.task.title == row["task"] for run in same]
        assert row["runs"] == len(runs) == 15
        shares = {n: [seen(run, EPOCHS[-1], n) for run in runs] for n in SCALES}
        assert [name for name in row if name.startswith("n = ")] == [f"n = {n}" for n in range(2, 7)]
        assert [row[f"n = {n}"] for n in range(2, 7)] == pytest.approx([fmean(shares[n]) for n in range(2, 7)])
        assert row["least"] == min(shares[6])
        assert row["beyond training"] == pytest.approx(fmean(share for n in range(3, 7) for share in shares[n]))
    protocol = given.protocol(name)
    settings = {row["setting"]: row["made-up"] for row in paper_tables.hyperparameters([protocol]).rows}
    training = protocol.profile.training
    assert settings["learning rate"] == f"{training.learning_rate:g}" and settings["epochs"] == str(training.epochs)
    assert settings["training scales"] == "1-2" and settings["seeds"] == "5"


FEW = PROTOCOL.replace('"copy", "parity"', '"copy"').replace('"ipe", "rpe", "ape"', '"ipe", "ape"')


def test_printed_lines_of_results_are_what_runs_did_at_their_last_checkpoint(tmp_path: Path) -> None:
    """Three of five runs fit (four of the other encoding), and one of these generalizes (two of the other)."""

    def mixed(run: Run, epoch: int, scale: int) -> float:
        rank = run.seed - (run.encoding == "ape")
        solved = rank < 1 or (rank < 3 and scale <= 2)
        return round(1 - (scale + run.seed) / 900 if solved else (run.seed + epoch) / (2 * scale + 9), 6)

    given, name = sources(tmp_path, FEW, scores=mixed)
    shown = paper_tables.results(given, protocol=name).shown
    assert [*shown.headings] == ["task", "format", "encoding", "fit", "generalize", "95%", "median at n = 6", "range"]
    expected = []
    for condition, runs in given.runs_of_size(name).items():
        ends = [[mixed(run, EPOCHS[-1], scale) for scale in SCALES] for run in runs]
        fit, solving = (sum(min(scores[:upto]) >= THRESHOLD for scores in ends) for upto in (2, 6))
        last = sorted(scores[-1] for scores in ends)
        (low, high), label = interval(solving, 5), condition.encoding.upper()
        shares = [f"{fit}/5", f"{solving}/5", f"{low:.2f}-{high:.2f}"]
        expected.append(["copy", "aligned", label, *shares, f"{last[2]:.3f}", f"{last[0]:.3f}-{last[4]:.3f}"])
    assert [line[3:5] for line in expected] == [["3/5", "1/5"], ["4/5", "2/5"]]
    assert [[*line] for line in shown.lines] == expected


def test_printed_lines_of_coverage_are_its_rows(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    drawing = paper_tables.coverage(given, protocol=name)
    numbers = ["n = 2", "n = 3", "n = 4", "n = 5", "n = 6", "beyond training", "least"]
    assert [*drawing.shown.headings] == ["task", "format", "runs", *numbers]
    assert [[*line] for line in drawing.shown.lines] == [
        [row["task"], "aligned", "15", *(f"{row[number]:.3f}" for number in numbers)] for row in drawing.rows
    ]


def test_a_trial_of_other_runs_is_refused(tmp_path: Path) -> None:
    given, name = sources(tmp_path)
    [first, *_] = [run for same in given.runs(name).values() for run in same]
    given.store.remove(first.id)
    fill(given.store, first, lambda run, epoch, scale: 0.5)
    with pytest.raises(Missing, match=r"was not made of these runs \(copy, aligned, ipe\).*lengthgen conjecture"):
        given.trial(name)


def test_missing_runs_are_counted_and_named_with_their_command(tmp_path: Path) -> None:
    given, name = sources(tmp_path)
    runs = [run for same in given.runs(name).values() for run in same]
    needs = Needs(protocols=(name,), trial=True)
    given.require(needs)
    (given.out / "made-up" / "conjecture.json").unlink()
    with pytest.raises(Missing, match=f"conjecture.json is missing: make it with  lengthgen conjecture {name}"):
        given.require(needs)
    for run in runs[3:5]:
        given.store.remove(run.id)
    fresh = Sources(out=given.out, profile="smoke", width=7.0)
    with pytest.raises(Missing) as raised:
        fresh.require(needs)
    assert f"2 of the 30 runs of {name} are missing" in str(raised.value)
    assert f"({runs[3].id} and 1 more)" in str(raised.value)
    assert str(raised.value).endswith(f"lengthgen conjecture {name} --profile smoke --out {given.out}")
    with pytest.raises(Missing, match=r"claims.json is missing: make it with  lengthgen reproduce"):
        fresh.require(Needs(ledger=True))


def test_labels_of_a_learned_relation_are_those_of_largest_weight(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from lengthgen.empirical.encodings.relations import LBPE
    from lengthgen.empirical.experiment.train import train
    from lengthgen.paper_figs.figures import learned_labels
    from tests.paper_figs.made_up import protocol_file

    text = """
title = "Learned"
source = "none"
train = [1, 2]
test = [1, 4]

[[cells]]
tasks = ["select-last"]
formats = ["unaligned"]
encodings = ["lbpe"]

[smoke]
seeds = 1
training.epochs = 1
"""
    given = Sources(out=tmp_path, profile="smoke", width=7.0)
    name = str(protocol_file(tmp_path, text))
    [[run]] = given.runs_of_size(name).values()
    train([run], given.store)
    relation = learned_labels.read_learned_relation(run, given.store, 3, "select-last")
    from safetensors.torch import load

    numbers = load(given.store.checkpoint(run))
    encoding = LBPE(layers=run.model.layers, head_dim=run.model.width // run.model.heads, scale_hint=False)
    own = {key.removeprefix("encoding."): value.reshape(encoding.get_parameter(key.removeprefix("encoding.")).shape)
           for key, value in numbers.items() if key.startswith("encoding.")}  # fmt: skip
    encoding.load_state_dict(own)
    length = len(relation.ideal)
    assert length == 5, "x1 x2 x3 = y, and $ asks nothing"
    for query in range(length):
        for key in range(query + 1):
            with torch.inference_mode():
                weights = encoding.label_weights(torch.tensor([query]), torch.tensor([key]))[0, 0]
            ordered = sorted(range(len(weights)), key=lambda label: -float(weights[label]))[:3]
            assert relation.labels[key, query].tolist() == ordered
            assert relation.weights[key, query].tolist() == pytest.approx(
                [float(weights[label]) for label in ordered], rel=1e-5
            )
    assert relation.queries == (4,), "at `=`; after a digit there is always $"
    assert relation.ideal[2, 3] != relation.ideal[1, 3] == relation.ideal[0, 3]
    learned_labels.write_relations(tmp_path / "relations.json", [relation])
    [read] = learned_labels.read_relations(tmp_path / "relations.json")
    assert (read.labels == relation.labels).all() and (read.ideal == relation.ideal).all()
    assert read.weights == pytest.approx(relation.weights, abs=1e-4) and read.meaning == relation.meaning
    path = tmp_path / learned_labels.AGREEMENT
    learned_labels.write_agreement(path, [run], given.store)
    agreement = learned_labels.read_agreement(path)
    pairs = {scale: {0: scale, 1: 1} for scale in (1, 2, 3, 4)}  # at `=`: the last digit is read, other keys are not
    assert {scale: {label: n for label, (_, n) in its.items()} for scale, its in agreement[run.id].items()} == pairs
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TableError, match="agreement"):
        learned_labels.read_agreement(path)
    for width in (3.25, 7.0):
        drawing = learned_labels.drawing([read], width=width)
        on_the_page(drawing.shown)
    axes = panel(drawing.shown, "select-last:learned")
    shown = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    for row in drawing.rows:
        key, query = row["key"], row["query"]
        assert shown[key, query] == str(row["label_1"])
        for rank in (1, 2, 3):
            assert row[f"label_{rank}"] == relation.labels[key - 1, query - 1, rank - 1]
            assert row[f"weight_{rank}"] == pytest.approx(relation.weights[key - 1, query - 1, rank - 1], abs=1e-4)
    boxes = [patch for patch in axes.patches if patch.get_gid() == "wrong"]
    assert len(boxes) == relation.pairs - relation.agreeing, "a box for each pair that is read otherwise"
    assert relation.pairs == 4 and f"select-last: {relation.agreeing} of 4" in drawing.caption


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([1], "A curve is one run (seed)"),
        ([2], "the median of 2 runs (seeds). A bar, from the smallest to the largest value, holds the median of such "
              "runs with probability 50.0%"),
        ([1, 6], "the median of 1 to 6 runs (seeds). A bar, from the smallest to the largest value, holds the median "
                 "of such runs with probability 96.9%; one run has no bar"),
        ([6, 10], "value 1 or 2 from below to the same from above, holds the median of such runs with probability at "
                  "least 96.9%"),
    ],
)  # fmt: skip
def test_a_caption_claims_no_more_of_a_median_than_its_runs_show(counts: list[int], sentence: str) -> None:
    assert sentence in accuracy.median_text("curve", counts)


NONSENSE = re.compile(r"\b1 (runs|seeds|cells|claims)\b|\b0\.0%|\b[Oo]f 0 |\b0 of 0\b")


@pytest.mark.parametrize("encodings", ['"ipe"', '"ipe", "rpe", "ape"'])
def test_captions_of_one_run_a_cell_make_sense(tmp_path: Path, encodings: str) -> None:
    text = PROTOCOL.replace("seeds = 5", "seeds = 1").replace('"ipe", "rpe", "ape"', encodings)
    given, name = sources(tmp_path, text)
    drawn = [
        entry.make(given)
        for key, entry in catalogue(given, [name]).items()
        if key.endswith("-made-up") and not key.startswith("labels")
    ]
    assert len(drawn) == 7
    for drawing in drawn:
        assert not NONSENSE.search(drawing.caption), drawing.caption


def test_every_model_size_has_its_accuracy(tmp_path):
    sizes = "models = [{ width = 16, layers = 2, heads = 2 }, { width = 32, layers = 3, heads = 4 }]\n"

    def by_size(run, epoch, scale):
        return 0.25 if run.model.width == 16 else 0.75

    given, name = sources(tmp_path, PROTOCOL + sizes, scores=by_size)
    entries = catalogue(given, [name])
    for figure, width, expected in (("accuracy-made-up", 16, 0.25), ("accuracy-made-up-w32l3h4", 32, 0.75)):
        drawn = entries[figure].make(given)
        assert {value for row in drawn.rows for key, value in row.items() if key.startswith("seed_")} == {expected}
        assert f"width {width}, layers" in drawn.caption


@pytest.mark.parametrize(("step", "observed"), [(0.5, ""), (1.0, "not learnt")])
def test_only_the_long_words_of_narrow_cells_are_left_out(step: float, observed: str) -> None:
    axes = Figure().add_subplot()
    cell = {
        "task": "copy", "format": "aligned", "encoding": "ipe", "predicted": True, "observed": None,
        "fit": {"successes": 0, "trials": 5}, "generalizes_given_fit": {"successes": 0, "trials": 0},
    }  # fmt: skip
    trial_figures._draw_cell(axes, cell, 0, 0, step, "coverage")
    assert [text.get_text() for text in axes.texts] == ["yes", observed]


def test_a_figure_of_a_trial_gets_the_trial_and_its_protocol(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    family = trial_cells.trial_figure("kind", "title", lambda *arguments: arguments, place=0)
    [entry] = family(name, given.protocol(name))
    trial, protocol, width = entry.make(given)
    assert (trial, protocol, width) == (given.trial(name), given.protocol(name), given.width)


def test_files_of_the_user_are_named_in_order() -> None:
    specs = [f"folder/{letter}.py:name" for letter in "hbdgacfe"]
    assert [path.name for path in label_matrices._user_files([*specs, "parity"])] == [
        f"{letter}.py" for letter in "abcdefgh"
    ]


def test_a_grey_half_is_explained_for_few_fitting_runs(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    trial = json.loads(json.dumps(given.trial(name)))
    [cell] = [cell for cell in trial["cells"] if (cell["task"], cell["encoding"]) == ("parity", "ipe")]
    for share in ("fit", "generalizes_given_fit"):
        cell[share] |= {"successes": 2}
    cell["generalizes_given_fit"] |= {"trials": 2}
    cell["observed"] = None  # two fitting runs, both of which generalize, are a majority, and too few
    figure = trial_figures.predicted_drawing(trial, given.protocol(name), 7.0).shown
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "no prediction, under 3 fitting runs, or a tie" in labels
    on_the_page(figure)


def _long_names(count: int) -> dict[str, list[CellScores]]:
    scores = [CellScores(format="aligned", encoding="rpe", exact_match={1: (1.0,), 2: (0.5,)})]
    return {f"random-local-invariant-{124721887 + number} base 3": scores for number in range(count)}


@pytest.mark.parametrize("width", sorted({*style.WIDTHS.values()}))
def test_titles_of_panels_neither_touch_nor_leave_the_page(width: float) -> None:
    drawing = accuracy.accuracy_drawing(
        _long_names(6), train=(1,), threshold=0.95, width=width, checkpoint="", model=""
    )
    figure = drawing.shown
    on_the_page(figure)
    boxes = [axes.title.get_window_extent() for axes in figure.axes]
    assert not any(box.overlaps(other) for box, other in combinations(boxes, 2))


def test_more_panels_than_a_page_holds_are_refused() -> None:
    settings = {"train": (1,), "threshold": 0.95, "width": 7.0, "checkpoint": "", "model": ""}
    assert accuracy.accuracy_drawing(_long_names(24), **settings).rows
    with pytest.raises(Undrawable, match="25 panels do not fit a page: choose some of them with --trial, and --task"):
        accuracy.accuracy_drawing(_long_names(25), **settings)


@pytest.mark.parametrize(("count", "says"), [(5, False), (6, True)])
def test_the_caption_says_where_bars_are_left_out(count: int, says: bool) -> None:
    names = ("ipe", "rpe", "ape", "nope", "rope", "t5")[:count]
    cells = [CellScores(format="aligned", encoding=name, exact_match={1: (1.0,), 2: (0.5,)}) for name in names]
    caption = accuracy.accuracy_drawing(
        {"copy": cells}, train=(1,), threshold=0.95, width=7.0, checkpoint="", model=""
    ).caption
    assert ("; in panels of more than 5 curves only marks have bars. Training" in caption) == says


@pytest.mark.parametrize("width", sorted({*style.WIDTHS.values()}))
def test_a_long_name_of_a_task_covers_no_encoding_and_no_line(made_up: tuple[Sources, str], width: float) -> None:
    given, name = made_up
    text = json.dumps(given.trial(name)).replace('"copy"', '"random-local-invariant-124721887 base 3"')
    figure = trial_figures.breaking_drawing(json.loads(text), given.protocol(name), width).shown
    on_the_page(figure)
    figure.set_dpi(600)  # at 100 the letters are wider than in print
    renderer = FigureCanvasAgg(figure).get_renderer()
    with style.context():
        boxes = {written.get_text(): written.get_window_extent(renderer) for written in figure.texts}
    labels = [boxes.pop(label) for label in ("IPE", "RPE", "APE")]
    assert {text.replace("\n", " ").replace("- ", "-") for text in boxes} == {
        "random-local-invariant-124721887 base 3",
        "parity",
    }
    assert max(box.x1 for box in boxes.values()) < min(label.x0 for label in labels)
    first, second = sorted(boxes.values(), key=lambda box: box.y0)
    assert first.y1 < second.y0


def test_tasks_of_one_name_in_two_files_are_two_rows_and_two_panels(made_up: tuple[Sources, str]) -> None:
    given, name = made_up
    text = json.dumps(given.trial(name)).replace('"copy"', '"a.py:flip"').replace('"parity"', '"b.py:flip"')
    trial = json.loads(text)
    protocol = given.protocol(name)
    assert trial_cells.task_names(trial["cells"])[::3] == ["a.py:flip", "b.py:flip"]
    stored = StoredTrial(name="two", train=protocol.train, test=protocol.test, content=trial)
    drawings = [draw(7.0) for draw in stored.figures().values()]
    accuracy, matrix = (drawing.shown for drawing in drawings[:2])
    assert [axes.get_title() for axes in accuracy.axes] == ["a.py:flip", "b.py:flip"]
    assert {"a.py:flip", "b.py:flip"} <= {written.get_text() for written in matrix.axes[0].texts}
    assert "a.py:flip, aligned, RPE (predicted never" in drawings[3].caption
