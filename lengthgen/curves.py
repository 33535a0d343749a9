"""Training curves of stored runs for TensorBoard: one folder a run, loss and exact match by epoch."""

from pathlib import Path

from empirical.runs.run import Run
from empirical.runs.store import RunStore
from theory.system.errors import LengthgenError


class CurvesError(LengthgenError):
    """Error: TensorBoard is not installed."""


def write_curves(runs: list[Run], store: RunStore, folder: Path) -> None:
    """Write every finished run's checkpoints as event files under `folder`.

    Raises:
        CurvesError: the package that writes them is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise CurvesError("--log tensorboard needs TensorBoard: pip install 'lengthgen[curves]'") from error
    for run in runs:
        with SummaryWriter(str(folder / run.id)) as writer:
            for row in store.metrics(run):
                writer.add_scalar(f"exact match/scale {row.scale:03}", row.exact_match, row.epoch)
                writer.add_scalar("training loss", row.training_loss, row.epoch)
