"""Figures of label matrices: Figure 1 (Parity), and one figure for each task of a protocol."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.trace import trace
from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.infrastructure.neighbours import own_files
from lengthgen.infrastructure.userfile import split_file
from lengthgen.paper_figs import label_matrices
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing, Undrawable
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH

SCALES = (3, 2)
"""Scales in order of preference; the first one that is legible in print is drawn."""
STEPS = 600_000_000
"""Budget of counted steps (`lengthgen.circuits.clock`) for the search of each circuit."""
ENCODINGS = {"aligned": ("ipe", "rpe", "ape", "nope"), "unaligned": ("ipe-sh", "rpe", "ape", "nope")}
"""Encodings of Figure 1 by format."""


def parity(_: Sources, *, scale: int, step: int) -> Drawing:
    """Draw Figure 1 at one scale, with the arguments of one step marked."""
    analyses = {form: analyse(load("parity"), form, SCALES[0] + 1) for form in ENCODINGS}
    return label_matrices.drawing(analyses, scale=scale, encodings=ENCODINGS, step=step)


def labels(_: Sources, *, tasks: Sequence[tuple[TaskSpec, Sequence[str]]]) -> Drawing:
    """Draw the label matrices of a task in all formats that are legible, at the first scale of SCALES with one.

    Raises:
        Undrawable: no format is legible at any scale, or the search for a circuit takes more than `STEPS`.
    """
    reasons: dict[str, str] = {}
    for scale in SCALES:
        fitting: dict[str, Analysis] = {}
        reasons_of_scale: dict[str, str] = {}
        for task, encodings in tasks:
            analysis = _legible_analysis(task, scale, encodings)
            if isinstance(analysis, str):
                reasons_of_scale[task.format] = analysis
            else:
                fitting[task.format] = analysis
        if fitting:
            drawn_encodings = {task.format: encodings for task, encodings in tasks if task.format in fitting}
            step = _marked_step(next(iter(fitting.values())), scale)
            return label_matrices.drawing(fitting, scale=scale, encodings=drawn_encodings, step=step)
        reasons = reasons_of_scale
    raise Undrawable("; ".join(f"{form}: {reason}" for form, reason in reasons.items()))


def _legible_analysis(task: TaskSpec, scale: int, encodings: Sequence[str]) -> Analysis | str:
    """Return the analysis of a task, or the reason why its matrices would not be legible. Raises as `labels`."""
    try:
        # Checked first: the search for a circuit takes longest for the tasks that are too long.
        if reason := label_matrices.too_long(trace(task.laid_out(scale + 1), scale).length, scale):
            return reason
        analysis = analyse(task.plain(), task.format, scale + 1, clock=Clock(steps=STEPS))
        step = _marked_step(analysis, scale)
        return label_matrices.unfit(analysis, scale=scale, encodings=encodings, step=step) or analysis
    except SearchStopped as error:
        raise Undrawable(f"{task.format}: {error}") from None
    except TaskError as error:
        return str(error)


def _marked_step(analysis: Analysis, scale: int) -> int:
    """Step to mark: the second one, or the first one if the second is the last, which only ends the output."""
    return 2 if len(analysis.traces[scale - 1].steps) > 2 else 1


_SHOWN_BEFORE = ("fig1",)
"""Protocols whose only task is that of Figure 1."""


def _protocol_figures(protocol_name: str, protocol: Protocol) -> list[Entry]:
    """Declare one figure for each task of a protocol, unless Figure 1 shows it already."""
    if protocol_name in _SHOWN_BEFORE:
        return []
    by_task: dict[TaskSpec, dict[TaskSpec, list[str]]] = {}
    for cell in protocol.cells:
        in_formats = by_task.setdefault(replace(cell.task, format="unaligned"), {})
        in_formats.setdefault(cell.task, []).append(cell.encoding)
    entries = []
    for name, (task, in_formats) in zip(_file_names(list(by_task)), by_task.items(), strict=True):
        encodings = [each for names in in_formats.values() for each in names]
        entries.append(
            Entry(
                place=510,
                name=f"labels-{protocol.name}-{name}",
                title=f"{protocol.name}: circuit, and labels of each encoding, of {name}",
                make=partial(labels, tasks=tuple(in_formats.items())),
                needs=Needs(files=_user_files([task.name, *encodings])),
                least_width=PAGE_WIDTH,
            )
        )
    return entries


def _user_files(specs: Sequence[str]) -> tuple[Path, ...]:
    """Return the user's Python files that some of the tasks and encodings depend on."""
    paths = {Path(file_and_name[0]) for spec in specs if (file_and_name := split_file(spec))}
    return tuple(dict.fromkeys(file for path in sorted(paths) for file in own_files(path)))


def _file_names(tasks: Sequence[TaskSpec]) -> list[str]:
    """Return names of tasks for file names; the user's file is part of a name only if two tasks would be equal."""
    counts = Counter(task.short_name for task in tasks)
    return [task.identifier(with_file=counts[task.short_name] > 1) for task in tasks]


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
