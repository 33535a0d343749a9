"""All registered experiments and all recorded trials together: one e-BH over every e-value that was ever recorded.

The family holds, in both directions: the registered pairs of rules, on the half that judges; the comparisons with
baselines, which were asked afterwards; and each predicted cell of each trial with enough fitting runs.  Cells of random
tasks are not in it: three runs each decide none.  e-BH needs no independence (Wang and Ramdas 2022, arXiv 2009.02824).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.judge import ALPHA, Evidence, e_bh, e_process, near_half
from lengthgen.empirical.studies.verdict.equal_tasks import elsewhere, judged_once, places
from lengthgen.empirical.studies.verdict.frozen import FrozenCells
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED
from lengthgen.empirical.studies.verdict.population import HALVES, OWN_LETTER
from lengthgen.empirical.studies.verdict.runs import CellRun
from lengthgen.empirical.trial.recorded import TrialCell, recorded_trials

OWN_TOKEN = "random-languages"
"""Preregistration whose tasks are languages, some of which need no attention and some of which are equal."""
MOST_ASKED = 3
"""Number of cells that most trials ask, for people."""
HEADLINES = {"parity padded": ("parity", "aligned", "rpe"), "parity filled": ("parity", "filled", "rpe")}
"""Cells that stand for the finding on filled operands: task, format and encoding."""
EXAMPLE = (67, 108)
"""Generalizing and fitting runs of padded addition under the ideal encoding, in all: a share near one half."""
DECIDED = ("consistent", "refuted")
"""Verdicts of a cell of a trial that decide its prediction."""

Stored = Mapping[str, tuple[FrozenCells, Mapping[str, Sequence[CellRun]]]]
"""Name of a preregistration -> its frozen answers and its runs."""


def together(stored: Stored, trials_in: Path) -> dict[str, Any]:
    """Return all judgements, those of trials, and what e-BH over all of them decides, as JSON.

    Args:
        stored: what is stored of each preregistration.
        trials_in: folder below which recorded trials are.

    Returns:
        experiments: name -> `judge`, where each of `pairs` on the half that judges and each of `fair` has
        `better_over_all`, its answer in the family of all. alpha; hypotheses, rejected: their numbers. trials: see
        `_trials`, with `shared`: preregistration -> cells that a trial asked too. own_token: see `_own_token`, where
        its runs are stored.
    """
    experiments = {name: judge(frozen, runs) for name, (frozen, runs) in stored.items()}
    trials = recorded_trials(trials_in)
    cells = [cell for of_trial in trials.values() for cell in of_trial if cell.evidence]
    questions = [question for answer in experiments.values() for question in _questions(answer)]
    values = [value for question in questions for value in (question["against_first"], question["against_second"])]
    of_cells = [value for cell in cells if cell.evidence for value in (cell.evidence.below, cell.evidence.above)]
    rejected = e_bh(values + of_cells, ALPHA)
    for question, worse in zip(questions, _both(rejected[: len(values)]), strict=True):
        sides = (question["first"], question["second"])
        question["better_over_all"] = UNDECIDED if worse[0] == worse[1] else sides[worse[0]]
    for answer in experiments.values():
        over_all = {(pair["first"], pair["second"]): pair.get("better_over_all") for pair in answer["pairs"]}
        for pair in answer["fair"]:
            if pair["registered"]:
                pair["better_over_all"] = over_all[pair["first"], pair["second"]]
    survive = {cell.name for cell, sides in zip(cells, _both(rejected[len(values) :]), strict=True) if any(sides)}
    return {
        "experiments": experiments,
        "alpha": ALPHA,
        "hypotheses": len(rejected),
        "rejected": sum(rejected),
        "trials": _trials(trials, survive)
        | {"shared": {name: _shared(frozen, trials) for name, (frozen, _) in stored.items()}},
        "own_token": _own_token(stored) if OWN_TOKEN in stored else None,
    }


def _questions(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the registered comparisons on the half that judges and those with baselines, each once."""
    registered = [pair for pair in answer["pairs"] if pair["part"] == HALVES[1]]
    return [*registered, *(pair for pair in answer["fair"] if not pair["registered"])]


def _both(rejected: Sequence[bool]) -> list[tuple[bool, bool]]:
    """Return the two directions of each question."""
    return list(zip(rejected[::2], rejected[1::2], strict=True))


def _trials(trials: Mapping[str, Sequence[TrialCell]], survive: set[str]) -> dict[str, Any]:
    """Return what trials decided, and how much of it survives e-BH over all.

    Returns:
        trials, cells, tested: numbers of trials, of their cells, and of those with a prediction and enough fitting
        runs; own: verdict -> number of cells that their own trial decides so; over_all: the same of those that survive;
        survive: their names; different: number of different cells; most_asked, asked: those that most trials asked, and
        those of HEADLINES, with the number of trials; example: both e-values of EXAMPLE; near_half: what the mean of
        both e-processes would decide otherwise, cell by cell.
    """
    cells = [cell for of_trial in trials.values() for cell in of_trial]
    counted = Counter(key for of_trial in trials.values() for key in {cell.asked for cell in of_trial})
    judged = [judgement for of_trial in trials.values() for judgement in _judged(of_trial)]
    return {
        "trials": len(trials),
        "cells": len(cells),
        "tested": len(judged),
        "own": {verdict: sum(present == verdict for _, present, _ in judged) for verdict in DECIDED},
        "over_all": {
            verdict: sum(present == verdict and cell.name in survive for cell, present, _ in judged)
            for verdict in DECIDED
        },
        "survive": sorted(survive),
        "different": len(counted),
        "most_asked": [
            {**dict(zip(("task", "format", "encoding"), key, strict=True)), "trials": count}
            for key, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST_ASKED]
        ],
        "asked": {name: counted[key] for name, key in HEADLINES.items()},
        "example": {
            "generalize": EXAMPLE[0],
            "fit": EXAMPLE[1],
            "present": e_process(*EXAMPLE).above,
            "near_half": near_half(*EXAMPLE).above,
        },
        "near_half": [
            {"cell": cell.name, "generalize": cell.generalize, "fit": cell.fit, "present": present, "mean": mean}
            for cell, present, mean in judged
            if present != mean
        ],
    }


def _shared(frozen: FrozenCells, trials: Mapping[str, Sequence[TrialCell]]) -> int:
    """Return how many cells of a preregistration some trial asked too."""
    of_trials = {cell.asked for of_trial in trials.values() for cell in of_trial}
    return sum((cell.task, cell.format, cell.encoding) in of_trials for cell in frozen.planned)


def _judged(cells: Sequence[TrialCell]) -> list[tuple[TrialCell, str, str]]:
    """Return the tested cells of a trial, each with its verdict and with that by the mean of both e-processes."""
    tested = [(cell, cell.evidence, cell.near_half) for cell in cells if cell.evidence and cell.near_half]
    present = _verdicts([evidence for _, evidence, _ in tested])
    mean = _verdicts(
        [
            Evidence(above=(evidence.above + near.above) / 2, below=(evidence.below + near.below) / 2)
            for _, evidence, near in tested
        ]
    )
    return [(cell, first, second) for (cell, _, _), first, second in zip(tested, present, mean, strict=True)]


def _verdicts(evidence: Sequence[Evidence]) -> list[str]:
    """Return the verdict on each cell of a trial, as `lengthgen.empirical.trial.conjecture.judge` decides."""
    against, agreeing = e_bh([each.below for each in evidence]), e_bh([each.above for each in evidence])
    return [
        "refuted" if refuted else "consistent" if consistent else UNDECIDED
        for refuted, consistent in zip(against, agreeing, strict=True)
    ]


def _own_token(stored: Stored) -> dict[str, Any]:
    """Return what the first registered pair on languages rests on.

    Returns:
        first, second: the pair; tasks: those that count; own_letter: those of them whose own letter decides each state,
        so that no attention is needed; and for each task, for equal ones once, and for those of these that equal none
        elsewhere: number of tasks, e-value for the first rule, and the better one.
    """
    frozen, runs = stored[OWN_TOKEN]
    pair = frozen.preregistration.rule_pairs[0]
    placed = places({name: of_name for name, (of_name, _) in stored.items()})
    ways = {
        "each": judged_once(frozen, runs, once=False),
        "once": judged_once(frozen, runs, once=True),
        "new": judged_once(frozen, runs, once=True, left_out=elsewhere(placed, (OWN_TOKEN, HALVES[1]))),
    }
    counted = {*ways["each"].evidence[pair].tasks}
    return {
        "first": pair[0],
        "second": pair[1],
        "own_letter": len({cell.task for cell in frozen.cells if cell.task in counted and OWN_LETTER in cell.stratum}),
        **{
            name: {
                "tasks": len(compared.evidence[pair].tasks),
                "e_value": compared.evidence[pair].against[1],
                "better": compared.better[pair],
            }
            for name, compared in ways.items()
        },
    }
