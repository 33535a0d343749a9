"""Print the table and the tests of dose and response: PYTHONPATH=. python THIS_FILE, at the root of the project.

The tests were registered before any of the runs (README.md beside this file).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu, spearmanr

from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.outcome import RunOutcome
from lengthgen.empirical.experiment.samples import TEST, TRAIN, Examples
from lengthgen.empirical.trial.record import read_record

HERE = Path(__file__).parent
SHARES = (0, 1, 5, 25, 100)
"""Percent of the training samples whose padding holds digits, as at scale 20."""
REACHES = (8, 11, 14, 17, 20)
"""Scale up to which padding of all training samples is filled; the last is that of the share of 100 percent."""
LEVEL = 0.01
RELATIVE, IDEAL = "rpe", "ipe[start=0.02]"


def runs_of(name: str, encoding: str) -> tuple[RunOutcome, ...]:
    """Return the outcomes of the runs of one protocol and encoding."""
    [cell] = [cell for cell in read_record(HERE / name).judged() if cell.key.encoding == encoding]
    return cell.outcomes


def groups() -> dict[str, dict[int, tuple[RunOutcome, ...]]]:
    """Return the outcomes of the three questions by dose."""
    reach = {scale: runs_of(f"reach-{scale}", RELATIVE) for scale in REACHES[:-1]}
    return {
        "share, relative": {share: runs_of(f"share-{share}", RELATIVE) for share in SHARES},
        "reach, relative": reach | {REACHES[-1]: runs_of("share-100", RELATIVE)},
        "share, ideal (start 0.02)": {share: runs_of(f"share-{share}", IDEAL) for share in SHARES},
    }


def rise(by_dose: dict[int, tuple[RunOutcome, ...]]) -> float:
    """Return the one-sided p of Mann and Whitney: have the fitting runs that generalize larger doses than others?"""
    doses = {
        did: [dose for dose, runs in by_dose.items() for run in runs if run.generalizes is did] for did in (True, False)
    }
    return float(mannwhitneyu(doses[True], doses[False], alternative="greater").pvalue) if all(doses.values()) else 1.0


def later(by_reach: dict[int, tuple[RunOutcome, ...]], beyond: int = 21) -> float:
    """Return the one-sided p of Spearman's correlation of reach and first failing scale, over the runs that fit."""
    pairs = [(reach, run.first_failure or beyond) for reach, runs in by_reach.items() for run in runs if run.fits]
    return float(spearmanr(*zip(*pairs, strict=True), alternative="greater").pvalue)


def keys(data: Examples) -> list[tuple[int, int]]:
    """Return distance and symbol of every key of every step, the query's own among them."""
    steps = [
        (tokens, place - 1)
        for tokens, own in zip(data.tokens, data.is_step, strict=True)
        for place in np.flatnonzero(own)
    ]
    return [(int(query) - key, int(tokens[key])) for tokens, query in steps for key in range(query + 1)]


def new_keys(name: str) -> float:
    """Return the share of keys of 100 samples of scale 20 whose distance and symbol training did not show together."""
    run = next(each.run for each in read_record(HERE / name).runs if each.run.encoding == RELATIVE)
    setup = Setup.of(run, "cpu")
    shown = {*keys(setup.examples(run.train, run.training.samples, split=TRAIN, seed=run.seed))}
    return float(np.mean([key not in shown for key in keys(setup.examples([20], 100, split=TEST, seed=run.seed))]))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, largest = [0.0] * len(values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = largest
    return corrected


def lines() -> Iterator[str]:
    """Yield the lines of the table, and one for each test."""
    asked = groups()
    yield "| what | dose | fit | generalize, of those that fit | first failures of those that fit | median at 20 |"
    yield "|---|---|---|---|---|---|"
    for what, by_dose in asked.items():
        for dose, runs in by_dose.items():
            fitting = [run for run in runs if run.fits]
            failures = sorted(run.first_failure for run in fitting if run.first_failure)
            at_20 = sorted(run.exact_match[20] for run in runs)
            middle = (at_20[(len(at_20) - 1) // 2] + at_20[len(at_20) // 2]) / 2
            solved = sum(run.generalizes is True for run in fitting)
            yield (
                f"| {what} | {dose} | {len(fitting)} of {len(runs)} | {solved} of {len(fitting)} | "
                f"{', '.join(map(str, failures)) or 'none'} | {middle:.2f} |"
            )
    relative, reach, ideal = asked.values()
    values = [rise(relative), later(reach), rise(ideal)]
    yield ""
    for what, value, corrected in zip(asked, values, holm(values), strict=True):
        answer = "rises with the dose" if corrected < LEVEL else "is not seen to rise"
        yield f"{what}: p = {value:.2g}, {corrected:.2g} after Holm: {answer}."
    near = [abs((run.first_failure or 21) - to - 1) <= 1 for to, runs in reach.items() for run in runs if run.fits]
    yield f"Of {len(near)} fitting runs {sum(near)} fail first within one scale of reach + 1."
    for share in SHARES:
        yield f"Filled in {share} % of the samples: {new_keys(f'share-{share}'):.0%} of the keys at scale 20 are new."


if __name__ == "__main__":
    print("\n".join(lines()))
