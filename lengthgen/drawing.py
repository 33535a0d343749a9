"""The figures of one experiment, drawn from its stored runs and from the circuits themselves."""

from circuits.prediction import analyse
from circuits.tasks import load
from empirical.store import StoreError
from lengthgen.cache import cached, file_digest, source_digest
from lengthgen.experiment import Experiment
from lengthgen.progress import Progress
from paper_figs import accuracy_by_scale, label_matrices
from paper_figs.cells import Cell
from paper_figs.style import save

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
    """Figure 1 and the accuracies of every task, each with its caption and its numbers."""
    progress = Progress("figures", 2 * len(experiment.tasks))
    folder = experiment.out / "figures"
    paths = []
    for task in experiment.tasks:
        name = task.rpartition(":")[2]
        shown = {"encodings": experiment.encodings, "scale": LABEL_SCALE}
        analyses = {one: analyse(load(task), one, LABEL_SCALE + 1) for one in experiment.formats}
        paths += save(
            label_matrices.draw(analyses, **shown),
            folder,
            f"figure1-{name}",
            rows=label_matrices.rows(analyses, **shown),
            caption=label_matrices.caption(analyses, **shown),
        )
        progress.step(f"labels of {name}")
        cells = _accuracies(experiment, task)
        judged = {"train": experiment.train, "threshold": experiment.profile.evaluation.threshold}
        paths += save(
            accuracy_by_scale.draw(cells, task=name, **judged),
            folder,
            f"accuracy-{name}",
            rows=accuracy_by_scale.rows(cells, **judged),
            caption=accuracy_by_scale.caption(cells, task=name, **judged),
        )
        progress.step(f"accuracy on {name}")
    return [str(path.relative_to(experiment.out)) for path in paths]


def _accuracies(experiment: Experiment, task: str) -> list[Cell]:
    """The cells of one task: exact match by scale, one value a seed, at the last checkpoint."""
    cells = []
    for (of_task, one, encoding), runs in experiment.runs().items():
        if of_task == task:
            by_seed = [experiment.store.final_exact_match(run) for run in runs]
            exact_match = {scale: tuple(scores[scale] for scores in by_seed) for scale in experiment.test}
            cells.append(Cell(format=one, encoding=encoding, exact_match=exact_match))
    return cells
