"""Records: figures of an experiment without runs show those of its record, and say so; nothing else stands in."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.empirical.experiment.store import RunStore, StoreError
from lengthgen.empirical.experiment.tables import read_rows, write_rows
from lengthgen.empirical.studies.court.stored import SCORES
from lengthgen.empirical.studies.verdict.stored import judgement_of
from lengthgen.empirical.trial.record import TABLE, RecordedRun, read_record, write_record
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.sources import RECORDS, Missing, Needs, Sources
from lengthgen.paper_figs.style import TALLEST, WIDTHS
from lengthgen.questions.figures import draw_catalogue, figure
from tests.paper_figs.made_up import PROTOCOL, fill, prediction, protocol_file, rows_of, score, sources
from tests.paper_figs.test_run_figures import on_the_page
from tools.record import record

OF_THE_PAPER = ("figure2", "figure3", "figure4", "figure5", "figure5-scale-hint")
NARROW, PAGE = WIDTHS["column"], WIDTHS["page"]
ROUNDING = 0.01


@pytest.fixture
def made_up(tmp_path: Path) -> tuple[Sources, Sources, str]:
    """Sources with runs, and sources without any whose records have these runs; and the name of the protocol."""
    trained, name = sources(tmp_path)
    runs = [
        RecordedRun(run=run, predictions={"free": prediction(run.encoding)}, rows=rows_of(run, score), provenance={})
        for of_cell in trained.runs(name).values()
        for run in of_cell
    ]
    write_record(tmp_path / "docs" / "results" / "some" / "made-up", runs, tmp_path / "nothing-was-frozen.json")
    return (
        trained,
        Sources(out=tmp_path / "new", profile="smoke", width=7.0, records=tmp_path / "docs" / "results"),
        name,
    )


def test_a_record_takes_the_cells_that_are_whole_and_names_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunStore, "environment", lambda *_: {"versions": {}})  # nothing was trained
    trained, name = sources(tmp_path)
    write_sealed_json(trained.out / "made-up" / "predictions.json", {"answer": []})
    complete, incomplete, *rest = trained.runs(name).items()
    shutil.rmtree(trained.store.folder(incomplete[1][-1]))
    record(trained.out, "smoke", tmp_path / "records", name)
    runs = [each.run for each in read_record(tmp_path / "records" / "made-up").runs]
    assert runs == [run for _, group in (complete, *rest) for run in group]
    cell, model = incomplete[0]
    assert capsys.readouterr().err == f"left out, as not all its runs are finished: {cell}, {model}\n"
    for _, group in (complete, *rest):
        shutil.rmtree(trained.store.folder(group[0]))
    with pytest.raises(StoreError, match=r"no cell of .* has all its runs"):
        record(trained.out, "smoke", tmp_path / "others", name)


def test_a_record_grows_by_the_runs_of_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunStore, "environment", lambda *_: {"versions": {}})  # nothing was trained
    trained, name = sources(tmp_path)
    cells = [*trained.runs(name).values()]
    runs = [
        RecordedRun(run=run, predictions={"free": prediction(run.encoding)}, rows=rows_of(run, score), provenance={})
        for group in cells
        for run in group[:2]
    ]
    write_record(tmp_path / "records" / "made-up", runs, tmp_path / "nothing-was-frozen.json")
    for group in cells:
        for run in group[:2]:
            shutil.rmtree(trained.store.folder(run))
    shutil.rmtree(trained.store.folder(cells[0][-1]))
    record(trained.out, "smoke", tmp_path / "records", name)
    record_after = read_record(tmp_path / "records" / "made-up")
    assert [each.run for each in record_after.runs] == [*cells[0][:2], *(run for group in cells[1:] for run in group)]
    assert {group[0].predictions["free"] for group in record_after.cells.values()} == {
        prediction(group[0].encoding) for group in cells
    }


def test_added_runs_of_a_cell_stay_when_its_record_grows(tmp_path: Path) -> None:
    """Runs beyond the planned ones are known from the record alone."""
    read = read_record(RECORDS / "table-start" / "grid")
    name = str(RECORDS / "table-start" / "grid.toml")
    shutil.copytree(read.folder, tmp_path / "grid")
    fewer = tmp_path / "grid.toml"
    fewer.write_text(Path(name).read_text(encoding="utf-8").replace("seeds = 12", "seeds = 4"), encoding="utf-8")
    record(tmp_path / "nothing", "quick", tmp_path, str(fewer))
    assert [each.run.id for each in read_record(tmp_path / "grid").runs] == [each.run.id for each in read.runs]


def test_a_record_gives_the_numbers_of_its_runs(made_up: tuple[Sources, Sources, str]) -> None:
    trained, recorded, name = made_up
    recorded.require(Needs(protocols=(name,), trial=True))
    assert recorded.cells(name) == trained.cells(name)
    same = [{**cell, "predicted_before_training": False, "post_hoc": True} for cell in trained.trial(name)["cells"]]
    assert recorded.trial(name)["cells"] == same, "nothing was frozen"


def test_a_figure_of_a_record_says_so_in_its_caption(made_up: tuple[Sources, Sources, str], tmp_path: Path) -> None:
    trained, recorded, name = made_up
    of_runs, of_record = (
        draw_catalogue(its, tmp_path / folder, ["accuracy-made-up", "predicted-made-up"], [name])
        for its, folder in ((trained, "one"), (recorded, "two"))
    )
    record = "docs/results/some/made-up"
    assert not of_runs.recorded
    assert of_record.recorded == dict.fromkeys(("accuracy-made-up", "predicted-made-up"), record)
    captions = [(tmp_path / folder / "accuracy-made-up.txt").read_text() for folder in ("one", "two")]
    assert captions[1] == f"{captions[0][:-1]} From the planned runs of the record {record}: not trained here.\n"
    assert f"From the record {record}" in (tmp_path / "two" / "predicted-made-up.txt").read_text()
    tables = [(tmp_path / folder / "accuracy-made-up.csv").read_bytes() for folder in ("one", "two")]
    assert tables[0] == tables[1]


def test_runs_of_ones_own_are_never_mixed_with_a_record(made_up: tuple[Sources, Sources, str]) -> None:
    _, recorded, name = made_up
    fill(recorded.store, next(iter(recorded.runs(name).values()))[0])
    fresh = replace(recorded, cache={})
    assert fresh.record(name) is None
    with pytest.raises(Missing, match="29 of the 30 runs"):
        fresh.require(Needs(protocols=(name,)))


def test_a_record_of_other_settings_or_with_too_few_runs_does_not_stand_in(
    made_up: tuple[Sources, Sources, str], tmp_path: Path
) -> None:
    _, recorded, name = made_up
    protocol_file(tmp_path, PROTOCOL + "training.epochs = 9\n")
    assert replace(recorded, cache={}).record(name) is None
    protocol_file(tmp_path)
    assert replace(recorded, cache={}).record(name) is not None
    path = tmp_path / "docs" / "results" / "some" / "made-up" / TABLE
    write_rows(path, read_rows(path)[:-1])
    assert replace(recorded, cache={}).record(name) is None


def test_a_figure_that_reads_more_than_a_record_holds_is_missing(made_up: tuple[Sources, Sources, str]) -> None:
    _, recorded, name = made_up
    entries = catalogue(recorded, [name])
    with pytest.raises(Missing, match="30 of the 30 runs"):
        recorded.require(entries["coverage-made-up"].needs)


def test_without_a_checkout_figures_without_runs_are_missing(made_up: tuple[Sources, Sources, str]) -> None:
    _, recorded, name = made_up
    installed = replace(recorded, records=recorded.out / "docs" / "results", cache={})
    for needs in (Needs(protocols=(name,)), SCORES, judgement_of("random-tasks")):
        with pytest.raises(Missing):
            installed.require(needs)


def test_a_changed_record_is_not_drawn(made_up: tuple[Sources, Sources, str], tmp_path: Path) -> None:
    _, recorded, name = made_up
    path = tmp_path / "docs" / "results" / "some" / "made-up" / TABLE
    rows = read_rows(path)
    rows[0]["seed"] = 7
    write_rows(path, rows)
    reason = draw_catalogue(recorded, tmp_path / "figures", ["accuracy-made-up"], [name]).broken["accuracy-made-up"]
    assert re.search(rf"{TABLE} holds no runs .* is not the name .*: git checkout", reason)


@pytest.fixture(scope="module")
def of_this_project(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(out=tmp_path_factory.mktemp("new"), profile="quick", width=PAGE, records=RECORDS)


def test_every_protocol_but_the_one_that_reproduce_trains_has_its_record(of_this_project: Sources) -> None:
    folders = {name: of_this_project.record(name) for name in protocol_names()}
    names = {name: folder and folder.relative_to(RECORDS).as_posix() for name, folder in folders.items()}
    figures = {name: f"quick/until-decided/{name}" for name in ("fig2", "fig3", "fig4")}
    others = {name: f"quick/{name}" for name in ("controls", "predecessor", "randomized")}
    prism = {name: f"prism/{name}" for name in ("prism", "algorithmic")}
    assert names == {"fig1": None, **figures, **others, **prism}


@pytest.mark.parametrize("width", [NARROW, PAGE])
@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_the_figures_of_the_paper_are_drawn_from_records_and_fit(
    of_this_project: Sources, name: str, width: float
) -> None:
    entry = catalogue(of_this_project)[name]
    of_this_project.require(entry.needs)
    shown = entry.make(replace(of_this_project, width=width)).shown
    assert shown.get_figwidth() <= width + ROUNDING and shown.get_figheight() <= TALLEST
    on_the_page(shown)


def test_the_public_function_draws_from_a_record_too(tmp_path: Path) -> None:
    caption = figure("figure4", out=tmp_path, width="column").caption
    assert caption.endswith(
        "From the planned runs of the record docs/results/quick/until-decided/fig4: not trained here."
    )


def test_figure_4_shows_the_recorded_scores(of_this_project: Sources) -> None:
    trial = read_record(RECORDS / "quick" / "until-decided" / "fig4").trial
    rows = catalogue(of_this_project)["figure4"].make(of_this_project).rows
    assert len(rows) == 6 * 20
    for cell in trial["cells"]:
        for row in rows:
            if (row["task"], row["encoding"]) == (cell["task"], cell["encoding"]):
                recorded = [outcome["exact_match"][str(row["scale"])] for outcome in cell["outcomes"][: row["seeds"]]]
                assert [row[f"seed_{at}"] for at in range(1, row["seeds"] + 1)] == recorded
