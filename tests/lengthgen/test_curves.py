"""Training curves for TensorBoard: each number once, and no trace of those written before."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.questions.rounds import write_curves
from tests.empirical.conftest import smoke_run


class Writer:
    """Stands in for TensorBoard's writer, which is not installed here: notes what it is given, by folder."""

    written: dict[Path, list[tuple[str, float, int]]]

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "events").write_text("")

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.written.setdefault(self.folder, []).append((name, value, step))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[Path, list[tuple[str, float, int]]]:
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    Writer.written = {}
    return Writer.written


def test_every_measurement_is_written_once_and_again_in_place_of_itself(tmp_path, written) -> None:
    run = smoke_run()
    store, folder = RunStore(tmp_path), tmp_path / "tensorboard"
    train([run], store)
    rows = store.metrics(run)
    expected = {(f"exact match/scale {row.scale:03}", row.exact_match, row.epoch) for row in rows}
    expected |= {("training loss", row.training_loss, row.epoch) for row in rows}
    for _ in range(2):
        written.clear()
        write_curves([run], store, folder)
        assert sorted(written[folder / run.id]) == sorted(expected)
        assert [path.name for path in (folder / run.id).iterdir()] == ["events"]
    assert len({row.epoch for row in rows}) > 1 and len({row.scale for row in rows}) > 1


def test_the_writer_of_tensorboard_takes_what_is_written(tmp_path) -> None:
    pytest.importorskip("tensorboard", reason="the extra `curves` is not installed")
    run = smoke_run()
    store = RunStore(tmp_path)
    train([run], store)
    write_curves([run], store, tmp_path / "tensorboard")
    [events] = (tmp_path / "tensorboard" / run.id).iterdir()
    assert b"exact match/scale" in events.read_bytes()
