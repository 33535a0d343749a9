"""Training curves of stored runs for TensorBoard: one folder a run, loss and exact match by epoch."""

import shutil
from pathlib import Path

from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore


def write_curves(runs: list[Run], store: RunStore, folder: Path) -> None:
    """Write every finished run's checkpoints as event files under `folder`, in place of those written before.

    Raises:
        ModuleNotFoundError: TensorBoard is not installed.
    """
    from torch.utils.tensorboard import SummaryWriter

    for run in runs:
        shutil.rmtree(folder / run.id, ignore_errors=True)  # TensorBoard would show the points of both
        losses: dict[int, float] = {}
        with SummaryWriter(str(folder / run.id)) as writer:
            for row in store.metrics(run):
                writer.add_scalar(f"exact match/scale {row.scale:03}", row.exact_match, row.epoch)
                losses[row.epoch] = row.training_loss
            for epoch, loss in losses.items():
                writer.add_scalar("training loss", loss, epoch)
