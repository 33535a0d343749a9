"""Is failing at large scales an accumulation of errors that each step makes at any scale? Lines of a table.

PYTHONPATH=. python docs/results/verdict/constant_error.py, at the root of the project, for the stored runs.

If a step is wrong at the same rate at every scale, long samples are wrong more often for their length alone. Counts of
first wrong steps then are Poisson at one rate a step, and given their sum the number beyond training is binomial.
"""

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from lengthgen.empirical.verdict.frozen import load_frozen
from lengthgen.empirical.verdict.preregistration import Preregistration, load_preregistration
from lengthgen.empirical.verdict.runs import load_runs

RECORD = Path(__file__).parent
POPULATIONS = ("random-tasks", "random-languages", "swapped-arguments")
LEVEL = 0.01
"""A run counts as one with a constant rate unless its errors beyond training are as improbable as this."""


def rows(population: str) -> list[str]:
    """Return a line for each answer of "distractors".

    It has the runs that fit and fail, those of them with a constant rate, and those of these that fail first at one of
    the two largest scales.
    """
    failing: Counter[str] = Counter()
    constant: Counter[str] = Counter()
    late: Counter[str] = Counter()
    preregistration = load_preregistration(population)
    frozen = load_frozen(preregistration, RECORD / population)
    runs = load_runs(frozen, RECORD / population)
    for cell in frozen.cells:
        probability = cell.answers["distractors"][0]
        says = "yes" if probability is not None and probability > 0.5 else "no"
        for run in runs.get(cell.name, []):
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

    A task has a step for each scale, and no step counts after the first wrong one of a sample. Shares are taken as if
    all were of the smallest number of samples, which only makes a higher rate harder to see.
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


if __name__ == "__main__":
    print("\n".join(line for population in POPULATIONS for line in rows(population)))
