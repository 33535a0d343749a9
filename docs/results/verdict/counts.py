"""Lines of the tables in README.md, from the stored runs.

PYTHONPATH=. python docs/results/verdict/counts.py, at the root of the project, prints them all. The runs beside those
of the preregistrations were trained by again.py, sink.py and swapped.py, which stand at revision 096b51a; what their
experiments are called there is so called here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import definiteness, own_letter_decides
from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from lengthgen.circuits.tasks.random_circuits import NAME
from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, load_frozen, spec_of
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, load_preregistration
from lengthgen.empirical.studies.verdict.rules import answers
from lengthgen.empirical.studies.verdict.runs import CellRun, SeenCell, load_runs, run_from, seen_cells
from lengthgen.infrastructure.files import read_json

RECORD = Path(__file__).parent
TASKS, LANGUAGES, SWAPPED = POPULATIONS = ("random-tasks", "random-languages", "swapped-arguments")
REGISTERED = load_preregistration(TASKS)
IDEAL = ("ipe", "ipe-sh")
LEVEL = 0.01
"""A run counts as one with a constant rate of errors unless those beyond training are as improbable as this."""
LATER_ANSWERS = RECORD / "own-token-later.parquet"
"""Answers of own-token, which came later, on random tasks: cell, and the first scale that fails or None."""
SHORT, LONG, WIDE = REGISTERED.train[1], REGISTERED.test[1], 40
"""Largest scales of training and of the test, and places to which operands are padded in the experiment "wider"."""
CHANGES = (
    "long",
    "long, PADs added",
    "long, symbols added",
    "short",
    "short, symbols added",
    "short, symbols in place of PADs",
    "short, PADs left out",
)
"""Samples that models are asked after training on padded operands."""
PREDICTED = (
    ("long, PADs added", "long"),
    ("long, PADs added", "long, symbols added"),
    ("short, symbols added", "short, symbols in place of PADs"),
)
"""Pairs of changes; predicted is that of most tasks on which they differ more runs solve the first."""
PREDICTED_OFF_BY_ONE = ("long", "short, PADs left out")
"""Changes; predicted is that of most tasks on which they differ more runs solve them with a sink that never ends."""
Rows = list[dict[str, Any]]


@cache
def runs_of(population: str) -> tuple[tuple[FrozenCell, list[CellRun]], ...]:
    """Return the frozen cells of a preregistration, each with its stored runs."""
    frozen = load_frozen(load_preregistration(population), RECORD / population)
    runs = load_runs(frozen, RECORD / population)
    return tuple((cell, runs.get(cell.name, [])) for cell in frozen.cells)


@cache
def with_majority(population: str) -> list[SeenCell]:
    """Return the cells of a preregistration that count and have a majority."""
    preregistration = load_preregistration(population)
    frozen = load_frozen(preregistration, RECORD / population)
    cells = seen_cells(frozen, load_runs(frozen, RECORD / population))
    return [cell for cell in cells if cell.fit >= preregistration.stopping.fitting and cell.observed is not None]


def kind_of(task: str, first: int, last: int) -> str:
    """Return what determines a state of a language, after the letters first, ..., last; "circuit" for other tasks."""
    if not task.startswith(RANDOM_LANGUAGE):
        return "circuit"
    automaton = random_language(task.removesuffix(WITH_STATES))
    if own_letter_decides(automaton, first, last):
        return "language, own letter"
    return "language, other" if definiteness(automaton) is None else "language, last letters"


def kind_lines() -> list[str]:
    """Return a line for each half and kind of task: how many cells generalize, and errors of "distractors"."""
    tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in with_majority(TASKS):
        kind = cell.cell.half, kind_of(cell.cell.task, SHORT + 1, LONG)
        tasks[kind].add(cell.cell.task)
        encoding = "ideal" if cell.cell.encoding in IDEAL else "other"
        counts[kind][encoding] += 1
        counts[kind][f"{encoding}, generalize"] += cell.observed
        counts[kind]["wrong yes"] += bool(cell.cell.says("distractors")) and not cell.observed
        counts[kind]["wrong no"] += cell.cell.says("distractors") is False and cell.observed
    return [
        f"| {' | '.join(kind)} | {len(tasks[kind])} "
        + "".join(f"| {of_kind[f'{name}, generalize']} of {of_kind[name]} " for name in ("ideal", "other"))
        + f"| {of_kind['wrong yes']} | {of_kind['wrong no']} |"
        for kind, of_kind in sorted(counts.items())
    ]


def reach_lines() -> list[str]:
    """Return a line for each number of letters that decide: cells that generalize, in the half for amendments.

    Languages of random-languages whose own letter decides each state beyond training are left out.
    """
    preregistration = load_preregistration(LANGUAGES)
    counts: dict[float, Counter[str]] = defaultdict(Counter)
    for cell in with_majority(LANGUAGES):
        kind = kind_of(cell.cell.task, preregistration.train[1] + 1, preregistration.test[1])
        if cell.cell.half == "amendment" and kind != "language, own letter":
            letters = definiteness(random_language(cell.cell.task.removesuffix(WITH_STATES)))
            of_letters = counts[float("inf") if letters is None else letters]
            of_letters[cell.cell.encoding] += 1
            of_letters[f"{cell.cell.encoding}, generalize"] += bool(cell.observed)
    return [
        f"| {letters:g} "
        + "".join(f"| {of[f'{name}, generalize']} of {of[name]} " for name in preregistration.encodings)
        + "|"
        for letters, of in sorted(counts.items())
    ]


def refused() -> list[SeenCell]:
    """Return the cells of the half for amendments to which minimised-distractors says no and own-token may say yes."""
    cells = [cell for cell in with_majority(TASKS) if cell.cell.half == "amendment"]
    return [cell for cell in cells if cell.cell.says("minimised-distractors") is False]


def asked(cells: Iterable[SeenCell]) -> dict[str, int | None]:
    """Return cell -> the scale at which own-token expects it to break first; None if it should generalize."""
    by_task: dict[tuple[str, str], list[SeenCell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.cell.task, cell.cell.format].append(cell)
    later = {}
    for (task, form), of_task in by_task.items():
        encodings = [cell.cell.encoding for cell in of_task]
        guesses = answers(spec_of(task, form), encodings, REGISTERED.train_scales, REGISTERED.test_scales)
        later |= {cell.cell.name: guesses[cell.cell.encoding]["own-token"].breaks_at for cell in of_task}
    return later


def own_token_lines() -> list[str]:
    """Return a line for each kind of task and answer of own-token: how many cells generalize."""
    later = {row["cell"]: row["breaks_at"] for row in read_rows(LATER_ANSWERS)}
    counts: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for cell in refused():
        if cell.cell.name in later:
            kind = "language" if cell.cell.task.startswith(RANDOM_LANGUAGE) else "circuit"
            counts[kind, "yes" if later[cell.cell.name] is None else "no"][bool(cell.observed)] += 1
    return [f"| {kind} | {answer} | {of[True]} of {of.total()} |" for (kind, answer), of in sorted(counts.items())]


def swapped_runs() -> list[tuple[FrozenCell, list[CellRun]]]:
    """Return the swapped cells to which "distractors" says yes, with their runs."""
    return [
        (cell, runs)
        for cell, runs in runs_of(SWAPPED)
        if cell.stratum.startswith("swapped") and (cell.answers["distractors"][0] or 0) > 0.5
    ]


def swapped_lines() -> list[str]:
    """Return a line for each format: models, samples, and how many of these are answered how.

    A model is asked at the first swapped step, y = f(own, other), where the query's own token has the label that the
    other one had until then. Samples are those in which f(own, own) is not the right token.
    """
    by_format: dict[str, Rows] = defaultdict(list)
    for each in read_json(RECORD / "swapped.json"):
        by_format[each["form"]].append(each)
    return [
        f"| {form} | {len(group)} "
        + "".join(f"| {sum(each[part] for each in group):,} " for part in ("samples", "right", "own_twice"))
        + f"| {sum(2 * each['own_twice'] > each['samples'] for each in group)} |"
        for form, group in sorted(by_format.items())
    ]


def at_the_swap() -> tuple[int, int]:
    """Return how many recorded runs of the swapped cells fail first at the scale of the swap, and their number."""
    preregistration = load_preregistration(SWAPPED)
    at_swap = [
        run.first_failure(preregistration) == int(named[4])
        for cell, runs in swapped_runs()
        if (named := NAME.match(cell.task))
        for run in runs
    ]
    return sum(at_swap), len(at_swap)


def kind_of_longer(cell: SeenCell) -> str:
    """Return the line in which a run counts that went on to its last step, past the check that ended it."""
    return f"{'yes' if cell.cell.says('distractors') else 'no'} | {cell.cell.format}"


def kind_of_circuit(cell: SeenCell) -> str:
    """Return the line in which a run counts under ideal relations whose circuit keeps the slot of the own token."""
    return f"{'rises' if 'rises' in cell.cell.task else 'invariant'} | {cell.cell.format}"


def again_lines(experiment: str, kind_of_cell: Callable[[SeenCell], str]) -> list[str]:
    """Return a line for each kind of cell: tasks, runs, how many generalized, do now, and changed in each direction."""
    cells = {cell.cell.name: cell for cell in with_majority(TASKS)}
    before = {(run.cell, run.index): run for _, runs in runs_of(TASKS) for run in runs}
    tasks: dict[str, set[str]] = defaultdict(set)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for again in map(run_from, read_rows(RECORD / f"again-{experiment}.parquet")):
        cell = cells[again.cell]
        kind = kind_of_cell(cell)
        then, now = (run.generalizes(REGISTERED) for run in (before[again.cell, again.index], again))
        tasks[kind].add(cell.cell.task)
        counts[kind].update(runs=1, then=then, now=now, gained=now and not then, lost=then and not now)
    columns = ("runs", "then", "now", "gained", "lost")
    return [
        f"| {kind} | {len(tasks[kind])} | {' | '.join(str(of[column]) for column in columns)} |"
        for kind, of in sorted(counts.items())
    ]


def padded_runs() -> list[tuple[FrozenCell, CellRun]]:
    """Return the fitting runs of padded cells under ideal encodings to which "distractors" says yes, of one half.

    The half is that which judges; the changes and the predictions were thought of on the other one.
    """
    meant = {
        cell.cell.name
        for cell in with_majority(TASKS)
        if cell.cell.half == "judgement"
        and cell.cell.encoding in IDEAL
        and cell.cell.format == "aligned"
        and cell.cell.says("distractors")
    }
    return [(cell, run) for cell, runs in runs_of(TASKS) if cell.name in meant for run in runs if run.fits(REGISTERED)]


def padding_rows(experiment: str) -> Rows:
    """Return the stored rows of an experiment on padding: changed, wider or off-by-one."""
    return read_rows(RECORD / f"sink-{experiment}.parquet")


def solves(row: Mapping[str, Any], change: str) -> bool:
    """True if a run solves the samples that are changed so."""
    return bool(row[change] >= REGISTERED.testing.threshold)


def change_lines(rows: Rows) -> list[str]:
    """Return a line for each change: runs that solve it, and the mean share of right samples."""
    return [
        f"| {name} | {sum(solves(row, name) for row in rows)} of {len(rows)} | {fmean(row[name] for row in rows):.2f} |"
        for name in CHANGES
    ]


def compared(pairs: Iterable[tuple[str, bool, bool]]) -> str:
    """Count runs, (task, solved in the first way, in the second): alone in one way, tasks on each side, e-value."""
    alone: Counter[bool] = Counter()
    by_task: dict[str, int] = defaultdict(int)
    for task, first, second in pairs:
        by_task[task] += first - second
        if first != second:
            alone[first] += 1
    for_it, against = (sum(sign * more > 0 for more in by_task.values()) for sign in (1, -1))
    evidence = Estimand.MAJORITY.evidence(for_it, for_it + against)
    return f"{alone[True]} | {alone[False]} | {for_it} | {against} | {evidence.above:.3g}"


def changed_lines() -> list[str]:
    """Return the lines of `change_lines`, and one for each prediction: both changes, and what `compared` gives."""
    rows = padding_rows("changed")
    return change_lines(rows) + [
        f"| {first} | {second} | {compared((row['task'], solves(row, first), solves(row, second)) for row in rows)} |"
        for first, second in PREDICTED
    ]


def off_by_one_lines() -> list[str]:
    """Return the lines of `change_lines`, and one for each prediction: the change, and what `compared` gives.

    Attention has a sink that never ends, exp(l_i) / (1 + sum over j of exp(l_j)); its runs have the seeds of "changed".
    """
    rows = padding_rows("off-by-one")
    twins = {(row["cell"], row["index"]): row for row in padding_rows("changed")}
    both = [(row, twins[row["cell"], row["index"]]) for row in rows]
    return change_lines(rows) + [
        f"| {name} | {compared((row['task'], solves(row, name), solves(twin, name)) for row, twin in both)} |"
        for name in PREDICTED_OFF_BY_ONE
    ]


def wider_lines() -> list[str]:
    """Return a line for each number of places: runs, how many fail first at which scales, and how many nowhere.

    The last line is what `compared` gives for wide operands against the others, at scales 1-20.
    """
    wider = replace(REGISTERED, test=(1, WIDE))
    wide = {run.cell: run.first_failure(wider) for run in map(run_from, padding_rows("wider"))}
    both = [
        (cell.task, wide[cell.name], run.first_failure(REGISTERED)) for cell, run in padded_runs() if run.index == 0
    ]
    lines = []
    for places, failures in ((LONG, [before for _, _, before in both]), (WIDE, [after for _, after, _ in both])):
        counts = [
            str(sum(failure in scales for failure in failures)) if scales[-1] <= places else ""
            for scales in (range(1, 6), range(6, 16), range(16, 21), range(21, 36), range(36, 41))
        ]
        solved = sum(failure > places for failure in failures)
        lines.append(f"| {places} | {len(failures)} | {' | '.join(counts)} | {solved} |")
    return [*lines, f"| {compared((task, after > LONG, before > LONG) for task, after, before in both)} |"]


def constant_rate_lines(population: str) -> list[str]:
    """Return a line for each answer of "distractors": could one rate of errors for a step be all of each failure?

    It has the runs that fit and fail, those of them with a constant rate, and those of these that fail first at one of
    the two largest scales.
    """
    failing: Counter[str] = Counter()
    constant: Counter[str] = Counter()
    late: Counter[str] = Counter()
    preregistration = load_preregistration(population)
    for cell, runs in runs_of(population):
        probability = cell.answers["distractors"][0]
        says = "yes" if probability is not None and probability > 0.5 else "no"
        for run in runs:
            if run.fits(preregistration) and not run.generalizes(preregistration):
                failing[says] += 1
                if p_value(run.exact_match, preregistration) > LEVEL:
                    constant[says] += 1
                    late[says] += run.first_failure(preregistration) >= preregistration.test[1] - 1
    return [
        f"| {population} | {says} | {failing[says]} | {constant[says]} | {late[says]} |" for says in sorted(failing)
    ]


def p_value(exact_match: NDArray[np.float64], preregistration: Preregistration) -> float:
    """Probability of so many errors beyond training, or more, if a step is wrong at one rate at every scale.

    Counts of first wrong steps then are Poisson at one rate a step, and given their sum the number beyond training is
    binomial. A task has a step for each scale, and no step counts after the first wrong one of a sample. Shares are
    taken as if all were of the smallest number of samples, which only makes a higher rate harder to see.
    """
    samples = preregistration.testing.samples
    scales = np.array(preregistration.test_scales)
    trained, beyond = scales <= preregistration.train[1], (scales > preregistration.train[1]) & ~np.isnan(exact_match)
    wrong = np.rint((1 - exact_match) * samples)
    steps = samples * scales * (1 + exact_match) / 2
    (before, steps_before), (after, steps_after) = (
        (wrong[part].sum(), steps[part].sum()) for part in (trained, beyond)
    )
    return float(binom.sf(after - 1, before + after, steps_after / (steps_before + steps_after)))


TABLES: Mapping[str, Callable[[], list[str]]] = {
    "kinds": kind_lines,
    "reach": reach_lines,
    "own token": own_token_lines,
    "swapped": swapped_lines,
    "trained longer": partial(again_lines, "longer", kind_of_longer),
    "today's circuits": partial(again_lines, "circuits", kind_of_circuit),
    "padding changed": changed_lines,
    "padding wider": wider_lines,
    "padding off by one": off_by_one_lines,
    **{f"constant rate, {population}": partial(constant_rate_lines, population) for population in POPULATIONS},
}
"""Lines of each table of README.md."""


if __name__ == "__main__":
    for table in TABLES.values():
        print("\n".join([*table(), ""]))
    print("{} of {} runs fail first at the scale of the swap".format(*at_the_swap()))
