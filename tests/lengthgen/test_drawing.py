"""The figures of a protocol, from stored runs of made-up numbers: which there are, what they show, when redrawn."""

import csv
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from empirical.measurement import Measurement
from empirical.protocol import load_protocol
from empirical.run import Run
from empirical.store import StoreError
from lengthgen.drawing import draw_figures
from lengthgen.experiment import Experiment

PROTOCOL = """
title = "Made up"
source = "none"
train = [1, 2]
test = [1, 4]

[[cells]]
tasks = ["parity"]
formats = ["aligned"]
encodings = ["ipe", "clipped[limit=4]"]

[[cells]]
tasks = ["parity"]
formats = ["unaligned"]
encodings = ["ipe-sh", "nope"]

[[cells]]
tasks = ["addition"]
formats = ["unaligned"]
encodings = ["random-rope"]

[[cells]]
tasks = ["select-last"]
formats = ["unaligned"]
encodings = ["rpe"]

[smoke]
base.addition = 2
"""
ONE_FORMAT = PROTOCOL[: PROTOCOL.index("[[cells]]", PROTOCOL.index("clipped"))]
SIZES = """[smoke]
models = [{ width = 16, layers = 2, heads = 2 }, { width = 32, layers = 3, heads = 4 }]
"""
ENDINGS = ("pdf", "svg", "png", "csv", "txt", "tex")


def experiment(folder: Path, text: str = PROTOCOL) -> Experiment:
    (folder / "made-up.toml").write_text(text)
    return Experiment(protocol=load_protocol(str(folder / "made-up.toml"), "smoke"), out=folder / "out")


def score(run: Run, scale: int) -> float:
    """A number that tells runs and scales apart."""
    return (sum(run.id.encode()) % 89 + scale) / 100


def finish(one: Experiment, run: Run, *, perfect: bool = False) -> None:
    of_no_matter = {field.name: 1.0 for field in fields(Measurement)}
    rows = [
        Measurement(**of_no_matter | {"epoch": epoch, "scale": scale, "exact_match": exact_match})
        for scale in run.test
        for epoch, exact_match in ((2, 0.0), (4, 1.0 if perfect else score(run, scale)))
    ]
    one.store.finish(run, metrics=rows, checkpoint=b"none", environment={})


def trained(folder: Path, text: str = PROTOCOL) -> Experiment:
    one = experiment(folder, text)
    for same in one.runs().values():
        for run in same:
            finish(one, run)
    return one


def table(one: Experiment, name: str) -> list[dict[str, str]]:
    with (one.folder / "figures" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Experiment, list[str]]:
    one = trained(tmp_path_factory.mktemp("drawn"))
    return one, draw_figures(one)


def test_every_task_has_its_accuracy_and_those_that_can_its_labels(drawn: tuple[Experiment, list[str]]) -> None:
    one, written = drawn
    names = [
        "figure1-parity",
        "accuracy-parity",
        "accuracy-addition-base2",
        "figure1-select-last",
        "accuracy-select-last",
    ]
    assert written == [f"made-up/figures/{name}.{ending}" for name in names for ending in ENDINGS]
    assert all((one.out / name).stat().st_size > 0 for name in written)


def test_labels_are_of_the_encodings_of_each_format(drawn: tuple[Experiment, list[str]]) -> None:
    shown = {(row["format"], row["encoding"]) for row in table(drawn[0], "figure1-parity")}
    assert shown == {
        ("aligned", "ipe"),
        ("aligned", "clipped[limit=4]"),
        ("unaligned", "ipe-sh"),
        ("unaligned", "nope"),
    }


def test_marked_is_a_step_that_does_not_only_end_the_output(drawn: tuple[Experiment, list[str]]) -> None:
    marked = {row["key_token"] for row in table(drawn[0], "figure1-select-last") if row["slots"]}
    assert marked == {"x3"}
    assert {row["key_token"] for row in table(drawn[0], "figure1-parity") if row["slots"]} == {"x2", "y1"}


def test_accuracy_is_that_of_the_last_checkpoint_run_by_run(drawn: tuple[Experiment, list[str]]) -> None:
    one, _ = drawn
    seen = set()
    for (cell, _), runs in one.runs().items():
        name = "addition-base2" if cell.base else cell.task
        rows = [
            row
            for row in table(one, f"accuracy-{name}")
            if (row["format"], row["encoding"]) == (cell.format, cell.encoding)
        ]
        assert [int(row["scale"]) for row in rows] == [1, 2, 3, 4]
        for row in rows:
            values = tuple(float(row[f"seed_{seed}"]) for seed in (1, 2))
            assert values == tuple(score(run, int(row["scale"])) for run in runs)
            assert row["training_scale"] == str(int(row["scale"]) <= 2)
            seen.add(values)
    assert len(seen) > 8, "made-up numbers tell the cells apart"


def test_several_model_sizes_have_a_figure_each(tmp_path: Path) -> None:
    one = trained(tmp_path, ONE_FORMAT + SIZES)
    written = draw_figures(one)
    names = ["figure1-parity", "accuracy-parity-w16l2h2", "accuracy-parity-w32l3h4"]
    assert [Path(name).stem for name in written if name.endswith(".pdf")] == names
    small, large = (table(one, f"accuracy-parity-{size}") for size in ("w16l2h2", "w32l3h4"))
    assert small != large
    caption = (one.folder / "figures" / "accuracy-parity-w32l3h4.txt").read_text()
    assert "models of width 32, layers 3, heads 4;" in caption


def test_what_is_drawn_is_drawn_again_only_if_a_run_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = trained(tmp_path, ONE_FORMAT)
    written = draw_figures(one)
    assert "figures: 2/2" in capsys.readouterr().err
    before = {name: (one.out / name).read_bytes() for name in written}
    assert draw_figures(one) == written
    assert capsys.readouterr().err == "", "nothing was done"

    (one.out / written[0]).unlink()
    assert draw_figures(one) == written
    assert {name: (one.out / name).read_bytes() for name in written} == before, "the same bytes again"

    run = next(iter(one.runs().values()))[0]
    shutil.rmtree(one.store.folder(run))
    finish(one, run, perfect=True)
    assert draw_figures(one) == written
    changed = {name for name in written if (one.out / name).read_bytes() != before[name]}
    assert {Path(name).stem for name in changed} == {"accuracy-parity"}


def test_why_labels_are_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw_figures(trained(tmp_path, PROTOCOL.replace('["ipe-sh", "nope"]', '["lbpe-sh", "nope"]')))
    said = capsys.readouterr().err
    assert "labels of parity; none unaligned: 'lbpe-sh' finds its labels in training" in said
    assert "labels of addition-base2; none unaligned: scale 3 has 13 positions" in said
    assert {row["format"] for row in table(experiment(tmp_path), "figure1-parity")} == {"aligned"}


def test_missing_runs_are_named_with_what_makes_them(tmp_path: Path) -> None:
    one = trained(tmp_path)
    runs = [run for same in one.runs().values() for run in same]
    for run in runs[:2]:
        shutil.rmtree(one.store.folder(run))
    with pytest.raises(StoreError) as raised:
        draw_figures(one)
    message = str(raised.value)
    assert message.startswith(f"run {runs[0].id} and 1 more not in ")
    assert message.endswith(f"lengthgen sweep {one.protocol.said} --profile smoke --out {one.out}")
    assert not (one.folder / "figures").exists()


def test_a_protocol_of_the_project_is_named_without_ending(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="make them with  lengthgen sweep fig1 --profile smoke --out "):
        draw_figures(Experiment(protocol=load_protocol("fig1", "smoke"), out=tmp_path))


def test_a_damaged_run_is_not_drawn(tmp_path: Path) -> None:
    one = trained(tmp_path)
    run = next(iter(one.runs().values()))[1]
    (one.store.folder(run) / "metrics.parquet").write_bytes(b"other")
    with pytest.raises(StoreError, match=run.id):
        draw_figures(one)


def test_tasks_of_one_name_in_two_files_have_figures_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tasks.py").write_text("from circuits.tasks import load\nmine = load('copy')\n")
    tasks = '["one/tasks.py:mine", "two/tasks.py:mine"]'
    cells = f'[[cells]]\ntasks = {tasks}\nformats = ["unaligned"]\nencodings = ["rpe"]\n'
    one = trained(tmp_path, PROTOCOL.partition("[[cells]]")[0] + cells)
    names = {Path(name).stem for name in draw_figures(one)}
    assert names == {f"{kind}-{folder}-tasks-mine" for kind in ("figure1", "accuracy") for folder in ("one", "two")}
