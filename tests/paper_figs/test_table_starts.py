"""Figures 2 and 3 at a small start of tables show the paper's cells, from runs with that start alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.trial.record import read_record
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures.published_cells import paper_cells
from lengthgen.paper_figs.figures.table_starts import RECORDED_IN, START, cells_at_start
from lengthgen.paper_figs.sources import RECORDS, Missing, Sources


@pytest.mark.parametrize("name", ["fig2", "fig3"])
def test_the_runs_are_those_of_the_figure_but_for_the_start(name: str) -> None:
    protocol = load_protocol(name, "quick")
    recorded = {
        (run.run.task, run.run.encoding): run.run
        for folder in RECORDED_IN
        for run in read_record(RECORDS / folder).runs
    }
    for cell in paper_cells(protocol):
        run = recorded[cell.task, f"{cell.encoding}[start={START}]"]
        assert run.training == protocol.profile.training
        assert (run.train, run.test, run.model) == (protocol.train, protocol.test, protocol.profile.models[0])
        assert run.evaluation == protocol.profile.evaluation


def test_curves_are_the_exact_match_of_recorded_runs() -> None:
    cells = cells_at_start(RECORDS, load_protocol("fig2", "quick"))
    assert [*cells] == ["copy", "parity", "addition (base 4)", "multiplication (base 4)", "division (base 4)", "shift"]
    assert {len(each) for each in cells.values()} == {3}
    [ape] = [cell for cell in cells["parity"] if cell.encoding == f"ape[start={START}]"]
    [runs] = [
        own
        for key, own in read_record(RECORDS / RECORDED_IN[1]).cells.items()
        if (key.task, key.encoding) == ("parity", ape.encoding)
    ]
    assert ape.seeds == len(runs)
    for scale in (1, 5, 6, 20):
        assert ape.exact_match[scale] == tuple(
            next(row.exact_match for row in reversed(run.rows) if row.scale == scale) for run in runs
        )


def test_without_records_they_say_what_is_missing(tmp_path: Path) -> None:
    sources = Sources(out=tmp_path, profile="quick", width=7.0)
    needs = catalogue(sources)["figure2-small-start"].needs
    for lacking in (sources, replace(sources, records=tmp_path / "none")):
        with pytest.raises(Missing, match=r"recorded runs with the start 0\.02 are missing"):
            lacking.require(needs)
