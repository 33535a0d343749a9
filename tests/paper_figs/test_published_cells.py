"""The table of the paper's figures: its page is current, its cells are all cells, and its answers follow from runs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import plan
from lengthgen.empirical.trial.frozen import FILE, frozen_cells, frozen_records
from lengthgen.empirical.trial.record import TABLE, read_record
from lengthgen.paper_figs.figures.published_cells import (
    NO_RUNS,
    RECORDED_IN,
    UNREADABLE,
    PublishedCell,
    is_published,
    published_cells,
    summary,
    table,
)
from lengthgen.paper_figs.saving import Printed
from lengthgen.paper_figs.sources import RECORDS
from tests.paper_figs.made_up import rows_of
from tools.paper_figures import PAGE, README, page, readme

REGISTERED = RECORDS / "paper-figures"
NAMES = sorted(path.stem for path in REGISTERED.glob("*.toml"))


@pytest.fixture(scope="module")
def cells() -> list[PublishedCell]:
    return published_cells(RECORDS)


def answers(cells: Sequence[PublishedCell]) -> list[str]:
    shown = table(cells).shown
    assert isinstance(shown, Printed)
    return [line[-1] for line in shown.lines if line[0] != "5"]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it with  python tools/paper_figures.py"
    text = README.read_text(encoding="utf-8")
    assert readme(text) == text, "write it with  python tools/paper_figures.py"


def test_the_summary_counts_the_same_runs_as_the_table(cells: Sequence[PublishedCell]) -> None:
    lines = {line[0]: line[1:] for line in summary(cells).lines}
    of_parity = made_up(next(each for each in cells if str(each.cell) == "parity, aligned, ipe"), [12] * 5 + [21])
    assert "6/10" in lines["parity"] and len(lines) == 9
    assert summary([of_parity]).lines == [["parity", "1/6", *[""] * 5]]
    assert summary([made_up(of_parity, [12] * 6)]).lines == [["parity", "**0/6**", *[""] * 5]]
    assert summary([made_up(of_parity, [3] * 6)]).lines == [["parity", "no fit", *[""] * 5]]


def test_every_cell_of_the_figures_was_trained_or_is_registered(cells: Sequence[PublishedCell]) -> None:
    assert [sum(each.figure == figure for each in cells) for figure in (2, 3, 4)] == [18, 6, 6]
    protocols = [load_protocol(str(REGISTERED / f"{name}.toml"), "paper") for name in NAMES]
    begun, ended = (
        {
            cell
            for each in protocols
            if (each.profile.training.schedule_epochs is not None) == begins
            for cell in each.cells
        }
        for begins in (True, False)
    )
    assert ended < begun, "the whole training is registered for cells that were begun"
    earlier = {each.cell for each in cells if any(run.training.schedule_epochs is None for run, _ in each.runs)} - ended
    assert not begun & earlier, "a cell that was trained before is not registered again"
    assert begun | earlier == {each.cell for each in cells}


@pytest.mark.parametrize("name", NAMES)
def test_registered_runs_are_those_of_the_table_and_were_frozen(name: str, cells: Sequence[PublishedCell]) -> None:
    protocol = load_protocol(str(REGISTERED / f"{name}.toml"), "paper")
    planned = plan(protocol)
    assert frozen_cells(protocol, REGISTERED, planned).keys() == planned.keys()
    readme = (REGISTERED / "README.md").read_text(encoding="utf-8")
    assert f"| {name} | `{frozen_records(REGISTERED / name / FILE)[-1].digest}` |" in readme
    for (cell, _), runs in planned.items():
        run = runs[0]
        shown = [each for each in cells if each.cell == cell]
        assert shown
        assert all(is_published(run, cell, each.protocol) for each in shown)
        assert all(run.training.epochs in (each.early_epochs, each.epochs) for each in shown)


def test_no_run_of_the_published_training_is_left_out(cells: Sequence[PublishedCell]) -> None:
    elsewhere = [
        folder
        for folder in {path.parent for path in RECORDS.glob(f"*/**/{TABLE}")}
        if folder.relative_to(RECORDS).parts[0] not in (*RECORDED_IN, "verdict")  # which has random tasks alone
    ]
    assert len(elsewhere) > 20
    for folder in elsewhere:
        for key, recorded in read_record(folder).cells.items():
            assert not any(is_published(recorded[0].run, each.cell, each.protocol) for each in cells), (folder, key)


def test_another_training_start_or_format_is_not_the_published_one(cells: Sequence[PublishedCell]) -> None:
    [each] = [each for each in cells if str(each.cell) == "parity, aligned, ipe" and each.figure == 2]
    run, _ = each.runs[0]
    assert is_published(run, each.cell, each.protocol)
    for other in (
        replace(run, training=replace(run.training, batch=500)),
        replace(run, training=replace(run.training, epochs=30)),  # with a schedule of its own
        replace(run, encoding="ipe[start=0.02]"),
        replace(run, task=replace(run.task, format="filled")),
        replace(run, evaluation=replace(run.evaluation, samples=250)),
    ):
        assert not is_published(other, each.cell, each.protocol)
    early = replace(run, training=replace(run.training, epochs=30, evaluate_every=30, schedule_epochs=300))
    assert is_published(early, each.cell, each.protocol)


def made_up(each: PublishedCell, failures: Sequence[int], *, late: Sequence[int] = ()) -> PublishedCell:
    """The cell with made-up runs, each of which solves all scales below its first failure, and another at the end."""
    protocol = replace(each.protocol, cells=(each.cell,), profile=replace(each.protocol.profile, seeds=len(failures)))
    [runs] = [runs for (_, model), runs in plan(protocol).items() if model == protocol.profile.models[0]]
    one_checkpoint = rows_of(runs[0])[: len(protocol.test)]
    histories = [
        (
            run,
            [
                replace(row, epoch=epoch, exact_match=float(row.scale < failure))
                for epoch, failure in zip((each.early_epochs, each.epochs), at_checkpoints, strict=False)
                for row in one_checkpoint
            ],
        )
        for run, *at_checkpoints in zip(runs, failures, *([late] if late else []), strict=True)
    ]
    return replace(each, runs=histories)


@pytest.mark.parametrize(
    ("encoding", "failures", "answer"),
    [
        ("ipe", [21] * 6, "yes"),
        ("ipe", [21] * 4 + [12, 15], "possible"),
        ("ipe", [12] * 6, "not most"),
        ("ipe", [21] * 10 + [9] * 30, "possible, not most"),
        ("ipe", [9, 21], "open"),  # two runs decide nothing
        ("ipe", [3] * 6, "not learnt"),
        ("ape", [6] * 6, "yes"),
        ("ape", [21] * 6, "no"),
        ("rpe", [21] * 6, UNREADABLE),
    ],
)
def test_runs_agree_with_the_paper_or_not(
    cells: Sequence[PublishedCell], encoding: str, failures: Sequence[int], answer: str
) -> None:
    [each] = [each for each in cells if str(each.cell) == f"parity, aligned, {encoding}" and each.figure == 2]
    assert answers([made_up(each, failures)]) == [answer]
    assert answers([replace(each, runs=())]) == [NO_RUNS]


def test_a_cell_that_hardly_fits_is_compared_after_all_epochs(cells: Sequence[PublishedCell]) -> None:
    [each] = [each for each in cells if str(each.cell) == "parity, aligned, ipe" and each.figure == 2]
    assert answers([made_up(each, [3] * 6, late=[12] * 6)]) == ["not most"]
    assert summary([made_up(each, [3] * 6, late=[12] * 6)]).lines == [["parity", "**0/6**", *[""] * 5]]
    assert answers([made_up(each, [21] * 6, late=[12] * 6)]) == ["yes"]  # fits before
    assert answers([made_up(each, [3] * 4 + [12] * 2, late=[3] * 6)]) == ["open"]  # fits no better at the end


def test_learned_relations_are_compared_over_all_runs(cells: Sequence[PublishedCell]) -> None:
    [each] = [each for each in cells if str(each.cell) == "select-last, unaligned, lbpe"]
    trained = {scale: {0: (0, 9), 1: (0, 1)} for scale in each.protocol.train}  # which do not count
    better = trained | {11: {0: (10, 10), 1: (1, 1)}, 12: {0: (10, 10), 1: (0, 1)}}
    worse = trained | {11: {0: (5, 10), 1: (0, 1)}, 12: {0: (5, 10), 1: (0, 1)}}
    shown = table([replace(each, agreements=[better, worse])]).shown
    assert isinstance(shown, Printed)
    assert shown.lines[-1][0] == "5"
    assert "read keys 0.25 (0.00-0.50), others 0.75" in shown.lines[-1]
