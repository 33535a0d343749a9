"""The figures of one experiment, drawn from its stored runs and from the circuits themselves."""

from circuits.prediction import analyse
from circuits.tasks import load
from empirical.conjecture import outcome
from empirical.store import StoreError
from lengthgen.cache import cached, file_digest, source_digest
from lengthgen.experiment import Experiment
from lengthgen.progress import Progress

LABEL_SCALE = 3
"""The scale at which label matrices are shown: small enough for every pair to be read."""


def draw_figures(experiment: Experiment) -> list[str]:
    """Draws what is not drawn yet; returns the files, relative to the experiment's folder.

    Raises:
        StoreError: runs are missing; says which and how to make them.
    """
    cells = experiment.runs()
    missing = [run.id for runs in cells.values() for run in runs if not experiment.store.finished(run)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise StoreError(
            f"run {missing[0]}{more} not in {experiment.store.root}: make them with  lengthgen reproduce "
            f"--profile {experiment.profile.name} --out {experiment.out}"
        )
    folder = experiment.out / "figures"
    digests = [file_digest(experiment.store.folder(run) / "metrics.parquet") for runs in cells.values() for run in runs]
    key = [source_digest("theory", "circuits", "paper_figs"), [*cells], digests]
    drawn = cached(folder / "drawn.json", key, lambda: _draw(experiment))
    if any(not (experiment.out / name).exists() for name in drawn):
        (folder / "drawn.json").unlink()
        return draw_figures(experiment)
    return list(drawn)


def _draw(experiment: Experiment) -> list[str]:
    raise NotImplementedError
