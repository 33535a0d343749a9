"""What do models answer where a circuit's arguments are swapped first? A line of a table for each format.

PYTHONPATH=. python docs/results/verdict/swapped.py, at the root of the project: trains the first run of each swapped
cell to which "distractors" says yes again (a few seconds a run), writes swapped.json, and prints the lines and how many
recorded runs fail first at the swap.

At the step of the swap, y = f(own, other): the query's own token y_(t-1) has the label that x had until then, and the
other token x the label of y.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lengthgen.circuits.tasks.random_circuits import NAME
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.evaluation import predicted
from lengthgen.empirical.verdict.frozen import FrozenCell, load_frozen
from lengthgen.empirical.verdict.preregistration import load_preregistration
from lengthgen.empirical.verdict.runs import load_runs, pieces, run_of
from lengthgen.empirical.verdict.training import TrainedModels, train_models
from lengthgen.infrastructure.files import read_json, write_json

RECORD = Path(__file__).parent
REGISTERED = "swapped-arguments"
STORED = RECORD / "swapped.json"
SAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Answers of a model at the first swapped step, over samples in which f(own, own) is not the right token.

    Attributes:
        cell: name of the cell.
        form: format of its task.
        samples: number of these samples.
        right: in how many it answers f(own, other), which is right.
        own_twice: in how many it answers f(own, own).
    """

    cell: str
    form: str
    samples: int
    right: int
    own_twice: int


def cells() -> list[FrozenCell]:
    """Return the swapped cells to which "distractors" says yes."""
    frozen = load_frozen(load_preregistration(REGISTERED), RECORD / REGISTERED)
    return [
        cell
        for cell in frozen.cells
        if cell.stratum.startswith("swapped") and (cell.answers["distractors"][0] or 0) > 0.5
    ]


def first_swapped(cell: FrozenCell) -> int:
    """Return the first swapped step, which is the first scale that has one."""
    named = NAME.match(cell.task)
    assert named is not None
    return int(named[4])


def asked(wanted: list[FrozenCell]) -> Iterator[Answers]:
    """Train the first run of each cell, and yield what it answers."""
    preregistration = load_preregistration(REGISTERED)
    for piece in pieces([(cell, 0) for cell in wanted]):
        runs = [run_of(preregistration, cell, index) for cell, index in piece]
        trained = train_models(runs, [Setup.of(run, "cpu") for run in runs], preregistration.check)
        for model, (cell, _) in enumerate(piece):
            yield answers_of(trained, model, cell)


def answers_of(trained: TrainedModels, model: int, cell: FrozenCell) -> Answers:
    """Return what a trained model answers at the first swapped step."""
    step, circuit = first_swapped(cell), trained.setups[model].analysis.circuit
    wiring = circuit.wirings[step][step - 1]
    operator = circuit.operators[wiring.operator].reshape(len(circuit.task.alphabet), -1)
    models = np.array([model])
    (data,) = trained.examples(models, step, SAMPLES)
    given = predicted(*trained.held(models), data)[0, :, step - 1]
    first, second, right = (data.tokens[:, position - 1] for position in (*wiring.arguments, wiring.position))
    assert (operator[first, second] == right).all()
    own = data.tokens[:, wiring.position - 2]
    own_twice = operator[own, own]
    counts = own_twice != right
    return Answers(
        cell=cell.name,
        form=cell.format,
        samples=int(counts.sum()),
        right=int((given == right)[counts].sum()),
        own_twice=int((given == own_twice)[counts].sum()),
    )


def lines(answers: Iterable[Answers]) -> list[str]:
    """Return a line of a table for each format: models, samples, and how many of these are answered how."""
    by_format: dict[str, list[Answers]] = defaultdict(list)
    for each in answers:
        by_format[each.form].append(each)
    return [
        f"| {form} | {len(group)} | {sum(each.samples for each in group):,} | {sum(each.right for each in group):,} "
        f"| {sum(each.own_twice for each in group):,} | {sum(2 * each.own_twice > each.samples for each in group)} |"
        for form, group in sorted(by_format.items())
    ]


def at_the_swap() -> tuple[int, int]:
    """Return how many recorded runs of the cells fail first at the scale of the swap, and the number of these runs."""
    preregistration, folder = load_preregistration(REGISTERED), RECORD / REGISTERED
    by_cell = load_runs(load_frozen(preregistration, folder), folder)
    at_swap = [
        run.first_failure(preregistration) == first_swapped(cell) for cell in cells() for run in by_cell[cell.name]
    ]
    return sum(at_swap), len(at_swap)


def stored() -> list[Answers]:
    """Return the stored answers."""
    return [Answers(**content) for content in read_json(STORED)]


if __name__ == "__main__":
    write_json(STORED, [asdict(each) for each in sorted(asked(cells()), key=lambda each: each.cell)])
    print("\n".join(lines(stored())))
    print("{} of {} runs fail first at the scale of the swap".format(*at_the_swap()))
