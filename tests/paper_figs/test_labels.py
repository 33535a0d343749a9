"""Label matrices of the tasks of a protocol: which figures exist, their content, and why some cannot be drawn."""

import itertools
from pathlib import Path

import pytest

from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures import label_matrices
from lengthgen.paper_figs.saving import Drawing, Undrawable
from lengthgen.paper_figs.sources import Sources
from tests.paper_figs.made_up import protocol_file

CELL = '[[cells]]\ntasks = {}\nformats = ["{}"]\nencodings = {}\n'
HEAD = 'title = "Made up"\nsource = "none"\ntrain = [1, 2]\ntest = [1, 4]\n'


def drawing(folder: Path, *cells: str, task: str) -> Drawing:
    """Draw the matrices of the only task of a protocol with these cells."""
    sources, name = protocol(folder, *cells)
    entry = catalogue(sources, [name])[f"labels-made-up-{task}"]
    return entry.make(sources)


def protocol(folder: Path, *cells: str) -> tuple[Sources, str]:
    path = protocol_file(folder, HEAD + "".join(cells))
    return Sources(out=folder / "out", profile="smoke", width=7.0), str(path)


def shown(of: Drawing) -> set[tuple[object, object]]:
    return {(row["format"], row["encoding"]) for row in of.rows}


def test_each_format_has_its_encodings(tmp_path: Path) -> None:
    cells = (
        CELL.format('["parity"]', "aligned", '["ipe", "clipped[limit=4]"]'),
        CELL.format('["parity"]', "unaligned", '["ipe-sh", "nope"]'),
    )
    assert shown(drawing(tmp_path, *cells, task="parity")) == {
        ("aligned", "ipe"), ("aligned", "clipped[limit=4]"), ("unaligned", "ipe-sh"), ("unaligned", "nope"),
    }  # fmt: skip


def test_marked_is_a_step_that_does_not_only_end_the_output(tmp_path: Path) -> None:
    of = drawing(tmp_path, CELL.format('["select-last"]', "unaligned", '["rpe"]'), task="select-last")
    assert {row["key_token"] for row in of.rows if row["slots"]} == {"x3"}


def test_a_format_that_cannot_be_drawn_is_left_out(tmp_path: Path) -> None:
    cells = (
        CELL.format('["parity"]', "aligned", '["ipe"]'),
        CELL.format('["parity"]', "unaligned", '["lbpe-sh"]'),
    )
    assert shown(drawing(tmp_path, *cells, task="parity")) == {("aligned", "ipe")}


def test_a_long_task_is_drawn_at_a_smaller_scale(tmp_path: Path) -> None:
    of = drawing(tmp_path, CELL.format('["addition"]', "unaligned", '["rpe"]'), task="addition")
    assert {row["scale"] for row in of.rows} == {2}


@pytest.mark.parametrize(
    ("task", "encoding", "why"),
    [
        ("copy", "lbpe", "unaligned: 'lbpe' finds its labels in training"),
        ("copy", "random-rope[longest=64]", "unaligned: 'random-rope.longest=64.' has no relation"),
    ],
)
def test_the_reason_why_none_is_drawn_is_given(tmp_path: Path, task: str, encoding: str, why: str) -> None:
    with pytest.raises(Undrawable, match=why):
        drawing(tmp_path, CELL.format(f'["{task}"]', "unaligned", f'["{encoding}"]'), task=task)


def test_a_circuit_that_takes_too_many_steps_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_matrices, "STEPS", 1)
    with pytest.raises(Undrawable, match=r"aligned: .* no circuit of mode 'free' found: the limit of 1 steps"):
        drawing(tmp_path, CELL.format('["parity"]', "aligned", '["rpe"]'), task="parity")


def test_the_speed_of_the_machine_does_not_decide_what_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = itertools.count(step=1_000)
    monkeypatch.setattr("lengthgen.circuits.clock.perf_counter", lambda: float(next(times)))
    cells = CELL.format('["parity"]', "aligned", '["rpe"]')
    assert shown(drawing(tmp_path, cells, task="parity")) == {("aligned", "rpe")}


def test_a_task_too_long_for_print_is_reported_before_its_circuit_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_matrices, "analyse", None)
    with pytest.raises(Undrawable, match="aligned: scale 2 has 16 positions, and 11 can be read in print"):
        drawing(tmp_path, CELL.format('["addition"]', "aligned", '["rpe"]'), task="addition")


def test_steps_that_read_more_tokens_than_can_be_told_apart_are_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lengthgen.paper_figs.figures.label_matrices.MOST_SLOTS", 1)
    with pytest.raises(Undrawable, match="its steps read up to 2 tokens, and 1 can be told apart"):
        drawing(tmp_path, CELL.format('["parity"]', "unaligned", '["rpe"]'), task="parity")


def test_tasks_of_one_name_in_two_files_are_told_apart_and_their_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tasks.py").write_text("from lengthgen.circuits.tasks import load\nmine = load('copy')\n")
    sources, name = protocol(
        tmp_path, CELL.format('["one/tasks.py:mine", "two/tasks.py:mine"]', "unaligned", '["rpe"]')
    )
    entries = catalogue(sources, [name])
    for folder in ("one", "two"):
        entry = entries[f"labels-made-up-{folder}-tasks-mine"]
        assert entry.needs.files == (Path(folder) / "tasks.py",)
        before = sources.digest(entry.needs)
        with (tmp_path / folder / "tasks.py").open("a") as file:
            file.write("# changed\n")
        assert sources.digest(entry.needs) != before
