"""Label matrices and circuit of each task of a protocol, and Figure 1."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from circuits.prediction import Analysis, SearchStopped, analyse
from circuits.task import TaskError
from circuits.tasks import TaskSpec, load
from circuits.trace import trace
from empirical.runs.protocol import Protocol
from paper_figs import label_matrices
from paper_figs.declaration import Entry, Undrawable
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from paper_figs.style import PAGE_WIDTH

SCALES = (3, 2)
"""Scales in order of preference: the first is drawn whose positions and labels can be read in print."""
STEPS = 6_000_000_000
"""Counted steps (`circuits.clock`) for each circuit."""
ENCODINGS = {"aligned": ("ipe", "rpe", "ape", "nope"), "unaligned": ("ipe-sh", "rpe", "ape", "nope")}
"""The four encodings of Figure 1, in both formats."""


def parity(_: Sources, *, scale: int, step: int) -> Drawing:
    """Figure 1 at one scale and step."""
    analyses = {form: analyse(load("parity"), form, SCALES[0] + 1) for form in ENCODINGS}
    return label_matrices.drawing(analyses, scale=scale, encodings=ENCODINGS, step=step)


def labels(_: Sources, *, tasks: Sequence[tuple[TaskSpec, Sequence[str]]]) -> Drawing:
    """The formats that have a legible figure, at the largest scale at which any has one.

    Raises:
        Undrawable: no format has one, or the search for a circuit takes more than `STEPS`.
    """
    why: dict[str, str] = {}
    for scale in SCALES:
        fitting: dict[str, Analysis] = {}
        unfit: dict[str, str] = {}
        for task, of_it in tasks:
            found = _legible(task, scale, of_it)
            if isinstance(found, str):
                unfit[task.format] = found
            else:
                fitting[task.format] = found
        if fitting:
            shown = {task.format: of_it for task, of_it in tasks if task.format in fitting}
            step = _step(next(iter(fitting.values())), scale)
            return label_matrices.drawing(fitting, scale=scale, encodings=shown, step=step)
        why = unfit
    raise Undrawable("; ".join(f"{form}: {reason}" for form, reason in why.items()))


def _legible(task: TaskSpec, scale: int, encodings: Sequence[str]) -> Analysis | str:
    """The analysis of a task, or why its matrices cannot be read; raises as `labels`."""
    try:
        # Looked at before the circuit, which takes longest for the tasks that are too long.
        if reason := label_matrices.too_long(trace(task.laid_out(scale + 1), scale).length, scale):
            return reason
        analysis = analyse(task.plain(), task.format, scale + 1, steps=STEPS)
        step = _step(analysis, scale)
        return label_matrices.unfit(analysis, scale=scale, encodings=encodings, step=step) or analysis
    except SearchStopped as error:
        raise Undrawable(f"{task.format}: {error}") from None
    except TaskError as error:
        return str(error)


def _step(analysis: Analysis, scale: int) -> int:
    """The step to mark: the second, unless it is the last, which only ends the output."""
    return 2 if len(analysis.traces[scale - 1].steps) > 2 else 1


def _protocol_figures(_: str, protocol: Protocol) -> list[Entry]:
    """One for each task of a protocol."""
    by_task: dict[TaskSpec, dict[TaskSpec, list[str]]] = {}
    for cell in protocol.cells:
        in_formats = by_task.setdefault(replace(cell.task, format="unaligned"), {})
        in_formats.setdefault(cell.task, []).append(cell.encoding)
    found = []
    for name, (task, in_formats) in zip(_names(list(by_task)), by_task.items(), strict=True):
        encodings = [each for of_it in in_formats.values() for each in of_it]
        found.append(
            Entry(
                place=510,
                name=f"labels-{protocol.name}-{name}",
                title=f"{protocol.name}: circuit, and labels of each encoding, of {name}",
                make=partial(labels, tasks=tuple(in_formats.items())),
                needs=Needs(files=_files([task.name, *encodings])),
                least_width=PAGE_WIDTH,
            )
        )
    return found


def _files(specs: Sequence[str]) -> tuple[Path, ...]:
    """The user's own files that tasks and encodings stand in."""
    found = (Path(spec.rpartition(":")[0]) for spec in specs)
    return tuple(sorted({path for path in found if path.suffix == ".py"}))


def _names(tasks: Sequence[TaskSpec]) -> list[str]:
    """Names of tasks in file names: without the files that these stand in, unless two then have one name."""
    often = Counter(task.short_name for task in tasks)
    return [task.identifier(with_file=often[task.short_name] > 1) for task in tasks]


FIGURES = (
    *(
        Entry(
            place=100,
            name=name,
            title=f"Parity: circuit, and labels of each encoding at scale {scale}, step {step} marked",
            make=partial(parity, scale=scale, step=step),
            least_width=PAGE_WIDTH,
        )
        for name, scale, step in (("figure1", 3, 2), ("figure1-next-step", 3, 3), ("figure1-smaller-scale", 2, 2))
    ),
    _protocol_figures,
)
