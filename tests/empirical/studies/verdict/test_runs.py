"""Stored runs: forged answers and rows are noticed, pieces lose nothing, and every wanted run has its piece."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lengthgen.empirical.experiment.tables import TableError, read_rows, write_rows
from lengthgen.empirical.studies.verdict import runs as module
from lengthgen.empirical.studies.verdict.frozen import CELLS, FrozenCell, FrozenCells, load_frozen
from lengthgen.empirical.studies.verdict.runs import (
    PIECES,
    RUNS,
    TASKS,
    TOGETHER,
    join_pieces,
    load_runs,
    missing_runs,
    pieces,
)
from tests.empirical.studies.verdict.made_up import cell_row, frozen, frozen_cell, preregistration, run_row, store_cells

ALL = [frozen_cell(task, encoding) for task in ("copy", "parity", "addition") for encoding in ("nope", "rpe")]
Forge = Callable[[dict[str, Any]], dict[str, Any]]


def load(folder: Path) -> FrozenCells:
    return load_frozen(preregistration(), folder)


def forge(path: Path, change: Forge, place: int = 0) -> None:
    """Change one row of a table."""
    rows = read_rows(path)
    changed = change(dict(rows[place]))
    assert changed != rows[place]
    rows[place] = changed
    write_rows(path, rows)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Folder with frozen cells, a joined table of two runs of each, and two pieces with one more."""
    cells = frozen(ALL)
    store_cells(ALL, tmp_path)
    write_rows(tmp_path / RUNS, [run_row(cells, cell, index, 3) for cell in ALL for index in (0, 1)])
    for name, piece in (("a", ALL[:3]), ("b", ALL[3:])):
        write_rows(tmp_path / PIECES / f"{name}.parquet", [run_row(cells, cell, 2) for cell in piece])
    return tmp_path


def test_runs_are_read_by_cell_and_index(stored: Path) -> None:
    runs = load_runs(load(stored), stored)
    assert set(runs) == {cell.name for cell in ALL}
    assert all([run.index for run in of_cell] == [0, 1, 2] for of_cell in runs.values())
    assert all([run.first_failure(preregistration()) for run in each] == [3, 3, 5] for each in runs.values())


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row | {"coverage": 0.0},
        lambda row: row | {"coverage": None},
        lambda row: row | {"coverage breaks at": 3},
        lambda row: row | {"always-no": 0.998},
    ],
)
def test_an_answer_that_was_changed_after_the_runs_is_noticed(stored: Path, change: Forge) -> None:
    forge(stored / CELLS, change, 4)
    with pytest.raises(TableError) as refused:
        load_runs(load(stored), stored)
    assert "does not follow from the frozen answers: they were changed after these runs" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_another_preregistration_has_other_runs(stored: Path) -> None:
    with pytest.raises(TableError, match="does not follow from the frozen answers"):
        load_runs(load_frozen(preregistration(title="Another"), stored), stored)


def test_a_change_that_touches_no_answer_keeps_the_runs(stored: Path) -> None:
    before = load(stored)
    rows = [dict(reversed(row.items())) | {"shape": "1", "stratum": "tidied"} for row in read_rows(stored / CELLS)]
    write_rows(stored / CELLS, rows[::-1])
    assert set(load_runs(load(stored), stored)) == set(load_runs(before, stored))
    assert load(stored).digest == before.digest


def test_a_task_in_the_other_half_is_noticed(stored: Path) -> None:
    forge(stored / CELLS, lambda row: row | {"half": {"amendment": "judgement"}.get(row["half"], "amendment")})
    with pytest.raises(TableError, match="belongs to the half"):
        load(stored)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda row: row | {"frozen": "0" * 64}, "does not follow from the frozen answers"),
        (lambda row: row | {"cell": "parity/filled/rpe"}, "is no cell of the frozen answers"),
        (lambda row: row | {"exact_match": row["exact_match"][:2]}, "lacks the numbers of some test scales"),
    ],
)
def test_a_changed_row_of_the_runs_is_noticed(stored: Path, change: Forge, says: str) -> None:
    forge(stored / RUNS, change, 7)
    with pytest.raises(TableError) as refused:
        load_runs(load(stored), stored)
    assert says in str(refused.value) and RUNS in str(refused.value) and "\n" not in str(refused.value)


def test_runs_beyond_the_planned_ones_are_refused(stored: Path) -> None:
    most = preregistration().stopping.most
    for index, fine in ((most - 1, True), (most, False), (-1, False)):
        write_rows(stored / PIECES / "more.parquet", [run_row(load(stored), ALL[0], index)])
        if fine:
            assert [run.index for run in load_runs(load(stored), stored)[ALL[0].name]] == [0, 1, 2, most - 1]
        else:
            with pytest.raises(TableError, match=f"run {index} of .* is none of its planned runs"):
                load_runs(load(stored), stored)


def test_two_rows_about_one_run_must_agree(stored: Path) -> None:
    frozen_cells = load(stored)
    same, *_ = read_rows(stored / RUNS)
    write_rows(stored / PIECES / "again.parquet", [same])
    assert len(load_runs(frozen_cells, stored)[ALL[0].name]) == 3
    for other in ({"steps": 5}, {"exact_match": [1.0, 1.0, 0.25, None]}):
        write_rows(stored / PIECES / "again.parquet", [same | other])
        with pytest.raises(TableError, match=f"run 0 of {ALL[0].name} is stored twice"):
            load_runs(frozen_cells, stored)


@pytest.mark.parametrize("name", [CELLS, RUNS, f"{PIECES}/a.parquet"])
def test_damage_is_named_in_one_line(stored: Path, name: str) -> None:
    path = stored / name
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], content[:-1], b"", b"PAR1 and no more"):
        path.write_bytes(damaged)
        with pytest.raises(TableError) as refused:
            load_runs(load(stored), stored)
        assert str(path) in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [CELLS, RUNS, f"{PIECES}/a.parquet"])
def test_a_flipped_bit_is_refused_or_changes_nothing(stored: Path, name: str) -> None:
    """Some bytes of a parquet file have no effect, such as statistics that nobody asks for."""
    path = stored / name
    content, rows = path.read_bytes(), repr(read_rows(path))
    places = range(0, len(content), 97)
    refused = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        try:
            assert repr(read_rows(path)) == rows
        except TableError:
            refused += 1
    assert refused > len(places) / 4


@pytest.mark.parametrize("missing", ["coverage", "half", "name breaks at"])
def test_frozen_answers_that_lack_a_column_are_refused(stored: Path, missing: str) -> None:
    rows = [cell_row(cell) for cell in ALL]
    write_rows(stored / CELLS, [{key: value for key, value in row.items() if key != missing} for row in rows])
    with pytest.raises(TableError, match="does not fit its preregistration"):
        load(stored)


def test_a_table_of_something_else_holds_no_runs(stored: Path) -> None:
    write_rows(stored / PIECES / "a.parquet", [{"cell": ALL[0].name, "frozen": load(stored).digest}])
    with pytest.raises(TableError, match="holds no runs of a verdict"):
        load_runs(load(stored), stored)


def test_joining_keeps_all_runs_and_may_be_repeated(stored: Path) -> None:
    before = read_rows(stored / RUNS) + [row for name in "ab" for row in read_rows(stored / PIECES / f"{name}.parquet")]
    assert join_pieces(load(stored), stored) == len(before) == 18
    once = (stored / RUNS).read_bytes()
    key = lambda row: (row["cell"], row["index"])  # noqa: E731
    assert sorted(read_rows(stored / RUNS), key=key) == sorted(before, key=key)
    assert not list((stored / PIECES).iterdir())
    assert join_pieces(load(stored), stored) == 18 and (stored / RUNS).read_bytes() == once


def test_joining_that_is_killed_before_it_removes_pieces_loses_nothing(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "unlink", killed)
        join_pieces(load(stored), stored)
    assert len(read_rows(stored / RUNS)) == 18 and len(list((stored / PIECES).iterdir())) == 2
    assert join_pieces(load(stored), stored) == 18 and not list((stored / PIECES).iterdir())


def test_a_piece_that_comes_while_others_are_joined_stays(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_and_add(path: Path, rows: list[dict[str, Any]]) -> None:
        write_rows(path, rows)
        write_rows(stored / PIECES / "late.parquet", [run_row(load(stored), ALL[0], 3)])

    monkeypatch.setattr(module, "write_rows", write_and_add)
    assert join_pieces(load(stored), stored) == 18
    assert [run.index for run in load_runs(load(stored), stored)[ALL[0].name]] == [0, 1, 2, 3]


def test_missing_runs_fill_gaps_and_no_more(stored: Path) -> None:
    frozen_cells = load(stored)
    runs = load_runs(frozen_cells, stored)
    del runs[ALL[1].name][1]
    counts = {ALL[0].name: 3, ALL[1].name: 4, ALL[2].name: 2}
    assert missing_runs(frozen_cells, runs, counts) == [(ALL[1], 1), (ALL[1], 3)]


def wanted_runs(seed: int) -> list[tuple[FrozenCell, int]]:
    """Return runs of many cells in any order: three shapes, two formats, up to 30 runs a cell."""
    draw = random.Random(seed)
    cells = [
        frozen_cell(f"task-{number}", encoding, form=form, shape=str(number % 3))
        for number in range(30)
        for form in ("aligned", "filled")
        for encoding in ("nope", "rpe", "ape")
    ]
    wanted = [(cell, index) for cell in cells for index in range(draw.choice([0, 1, 3, 30]))]
    draw.shuffle(wanted)
    return wanted


def test_each_wanted_run_is_in_one_piece_of_runs_that_can_be_trained_together() -> None:
    wanted = wanted_runs(0)
    planned = pieces(wanted)
    names = [(cell.name, index) for piece in planned for cell, index in piece]
    assert sorted(names) == sorted((cell.name, index) for cell, index in wanted) and len(set(names)) == len(names)
    for piece in planned:
        assert 1 <= len(piece) <= TOGETHER
        assert len({(cell.shape, cell.format, cell.encoding) for cell, _ in piece}) == 1
    assert max(map(len, planned)) == TOGETHER
    assert len({module._name_of(piece) for piece in planned}) == len(planned)


def test_while_the_pieces_of_a_task_are_trained_a_worker_needs_to_remember_few_tasks() -> None:
    tasks = [{(cell.task, cell.format) for cell, _ in piece} for piece in pieces(wanted_runs(0))]
    for task in set().union(*tasks):
        places = [place for place, of_piece in enumerate(tasks) if task in of_piece]
        assert len(set().union(*tasks[places[0] : places[-1] + 1])) <= TASKS


def test_the_pieces_do_not_depend_on_the_order_in_which_runs_are_wanted() -> None:
    wanted = wanted_runs(1)
    assert pieces(wanted) == pieces(wanted[::-1]) == pieces(sorted(wanted, key=lambda each: (each[1], each[0].name)))


def test_cells_without_ideal_labels_have_no_model_with_them() -> None:
    cells = [frozen_cell("copy", encoding, coverage=(None, None)) for encoding in ("ipe", "ipe-sh", "rpe")]
    planned = frozen([*cells, frozen_cell("parity", "ipe")]).planned
    assert [cell.encoding for cell in planned] == ["rpe", "ipe"]
