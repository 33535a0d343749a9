"""The figures of one experiment, drawn from its stored runs and from the circuits themselves."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from circuits.prediction import analyse
from circuits.tasks import load
from empirical.digests import source_digest
from empirical.profile import Model
from empirical.protocol import Cell, names
from empirical.run import Run
from empirical.store import StoreError
from lengthgen.cache import cached
from lengthgen.experiment import Experiment
from lengthgen.progress import Progress
from paper_figs import accuracy_by_scale, label_matrices
from paper_figs.saving import save

LABEL_SCALE = 3
"""The scale at which label matrices are shown: small enough for every pair to be read."""

Runs = Mapping[tuple[Cell, Model], Sequence[Run]]


def draw_figures(experiment: Experiment) -> list[str]:
    """Draws what is not drawn yet; returns the files, relative to the experiment's `out`.

    For each task accuracy by scale at the last checkpoint, one figure a model size, and label matrices for the formats
    that have them (`label_matrices.unfit`).

    Raises:
        StoreError: runs are missing, says which and how to make them; or are broken.
        StyleError: encodings that one figure cannot tell apart.
    """
    runs, store = experiment.runs(), experiment.store
    missing = [run.id for same in runs.values() for run in same if not store.finished(run)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise StoreError(f"run {missing[0]}{more} not in {store.root}: make them with  {_command(experiment)}")
    folder = experiment.folder / "figures"
    shown = [[asdict(cell), str(model), [store.digest(run) for run in same]] for (cell, model), same in runs.items()]
    key = [source_digest("theory", "circuits", "paper_figs", "lengthgen"), shown]
    drawn = cached(folder / "drawn.json", key, lambda: _draw(experiment, runs, folder))
    if any(not (experiment.out / name).exists() for name in drawn):
        (folder / "drawn.json").unlink()
        return draw_figures(experiment)
    return list(drawn)


def _command(experiment: Experiment) -> str:
    """What trains all runs."""
    protocol = experiment.protocol
    command = "sweep" if protocol.said in names() or protocol.said.endswith(".toml") else "conjecture"
    return shlex.join(
        ["lengthgen", command, protocol.said, "--profile", protocol.profile_name, "--out", str(experiment.out)]
    )


def _draw(experiment: Experiment, runs: Runs, folder: Path) -> list[str]:
    """Every figure, each with its caption and its numbers."""
    models = list(dict.fromkeys(model for _, model in runs))
    by_task: dict[tuple[str, int | None], list[Cell]] = {}
    for cell in experiment.protocol.cells:
        by_task.setdefault((cell.task, cell.base), []).append(cell)
    progress = Progress("figures", len(by_task) * (1 + len(models)))
    paths = []
    for name, cells in zip(_names(list(by_task)), by_task.values(), strict=True):
        drawn, unfit = _labels(cells, folder, f"figure1-{name}")
        paths += drawn
        progress.step("; ".join([f"labels of {name}", *(f"none {form}: {why}" for form, why in unfit.items())]))
        for model in models:
            of_model = {cell: runs[cell, model] for cell in cells}
            sized = [name, str(model)] if len(models) > 1 else [name]
            paths += _accuracy(experiment, of_model, model, folder, sized)
            progress.step(f"accuracy on {', '.join(sized)}")
    return [str(path.relative_to(experiment.out)) for path in paths]


def _names(tasks: Sequence[tuple[str, int | None]]) -> list[str]:
    """What figures and their files call tasks: without their files, unless two are then called the same."""
    short = [task.rpartition(":")[2] for task, _ in tasks]
    often = Counter(dict(zip(tasks, short, strict=True)).values())
    return [
        (brief if often[brief] == 1 else "-".join(Path(task.replace(".py:", "/")).parts).strip("/-"))
        + ("" if base is None else f"-base{base}")
        for (task, base), brief in zip(tasks, short, strict=True)
    ]


def _labels(cells: Sequence[Cell], folder: Path, file: str) -> tuple[list[Path], dict[str, str]]:
    """Label matrices of one task; also the formats that have none, and why."""
    encodings: dict[str, list[str]] = {}
    for cell in cells:
        encodings.setdefault(cell.format, []).append(cell.encoding)
    task = load(cells[0].task, base=cells[0].base)
    analyses = {form: analyse(task, form, LABEL_SCALE + 1) for form in encodings}
    # The second step where it is not the last, which only ends the output.
    steps = max(len(one.steps) for one in next(iter(analyses.values())).traces if one.scale <= LABEL_SCALE)
    shown: dict[str, int] = {"scale": LABEL_SCALE, "step": 2 if steps > 2 else 1}
    checked = {
        form: label_matrices.unfit(analyses[form], encodings=of_it, **shown) for form, of_it in encodings.items()
    }
    unfit = {form: why for form, why in checked.items() if why}
    fitting = {form: analysis for form, analysis in analyses.items() if form not in unfit}
    if not fitting:
        return [], unfit
    of_them = {form: encodings[form] for form in fitting}
    written = save(
        label_matrices.draw(fitting, encodings=of_them, **shown),
        folder,
        file,
        rows=label_matrices.rows(fitting, encodings=of_them, **shown),
        caption=label_matrices.caption(fitting, encodings=of_them, **shown),
    )
    return list(written), unfit


def _accuracy(
    experiment: Experiment, runs: Mapping[Cell, Sequence[Run]], model: Model, folder: Path, name: Sequence[str]
) -> tuple[Path, ...]:
    """Exact match by scale of one task and model size, one value a seed, at the last checkpoint."""
    protocol = experiment.protocol
    curves = []
    for cell, same in runs.items():
        by_seed = [experiment.store.final_exact_match(run) for run in same]
        exact_match = {scale: tuple(scores[scale] for scores in by_seed) for scale in protocol.test}
        curves.append(accuracy_by_scale.Cell(format=cell.format, encoding=cell.encoding, exact_match=exact_match))
    train, threshold = protocol.train, protocol.profile.evaluation.threshold
    size = f"width {model.width}, layers {model.layers}, heads {model.heads}"
    return save(
        accuracy_by_scale.draw(curves, train=train, threshold=threshold, task=", ".join(name)),
        folder,
        "-".join(["accuracy", *name]),
        rows=accuracy_by_scale.rows(curves, train=train, threshold=threshold),
        caption=accuracy_by_scale.caption(curves, train=train, threshold=threshold, task=name[0], model=size),
    )
