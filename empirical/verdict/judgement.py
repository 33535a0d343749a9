"""Judgement of a preregistration: what its finished runs say on every question, as plain data.

A cell counts if at least `stopping.fitting` of its runs fit.  Everything else about outcomes is conditional on that:
a model that does not fit its training scales says nothing on longer inputs.  Shares are taken over the tasks that
training has reached in the order of their hashes, a random sample (`disputes.reached`); a pair of rules is judged on
the tasks that are reached in the cells on which the two differ.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import numpy as np

from lengthgen.empirical.experiment.judge import Estimand, decides, e_bh, share
from lengthgen.empirical.verdict.comparisons import comparisons, null_rate, pair_answers
from lengthgen.empirical.verdict.disputes import reached
from lengthgen.empirical.verdict.frozen import FrozenCells
from lengthgen.empirical.verdict.population import HALVES
from lengthgen.empirical.verdict.power import Noise, Plan, cell_powers, pair_powers
from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.empirical.verdict.runs import CellRun, trainable
from lengthgen.empirical.verdict.seen import SeenCell, seen_cells

THRESHOLDS = (0.75, 0.9, 0.95, 0.99)
"""Shares of right samples that the multiverse uses in turn as the one from which on a scale is solved."""
RESTS = (1, 2, 3)
"""Numbers of fitting runs that the multiverse asks of a cell."""
NAME_SCALES = ("coverage", "distractors", "distractors-with-token", "minimised-distractors")
"""Rules whose scales of a failure are compared with those observed."""
PARTS = ("all", *HALVES)
"""Parts of the cells that are judged: the questions are answered by the half `judgement`."""


def judge(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> dict[str, Any]:
    """Return the whole judgement as JSON.

    Args:
        frozen: frozen answers of all cells.
        runs: finished runs by cell (`lengthgen.empirical.verdict.runs.load_runs`, which checks their seeds).
    """
    preregistration = frozen.preregistration
    seen = seen_cells(frozen, runs)
    counting = [cell for cell in seen if cell.fit >= preregistration.stopping.fitting]
    counts = {name: len(of_cell) for name, of_cell in runs.items()}
    planned = trainable(frozen.cells)
    sample = reached(planned, counts, first=preregistration.stopping.first)
    names = {cell.name for cell in sample}
    sampled = [cell for cell in counting if cell.cell.name in names]
    parts = {part: [cell for cell in sampled if part in ("all", cell.cell.half)] for part in PARTS}
    compared = {
        part: comparisons(preregistration, [cell for cell in planned if part in ("all", cell.half)], counting, counts)
        for part in PARTS
    }
    runs_of_sample = {name: of_cell for name, of_cell in runs.items() if name in names}
    return {
        "title": preregistration.title,
        "questions": list(preregistration.questions),
        "preregistration": preregistration.digest,
        "frozen": frozen.digest,
        "cells": len(frozen.cells),
        "planned": len(planned),
        "tasks": len({cell.task for cell in frozen.cells}),
        "encodings": list(preregistration.encodings),
        "seen": len(seen),
        "seen_tasks": len({cell.cell.task for cell in seen}),
        "runs": sum(cell.runs for cell in seen),
        "gaps": sum({run.index for run in of_cell} != set(range(len(of_cell))) for of_cell in runs.values()),
        "fitting_runs": sum(cell.fit for cell in seen),
        "counting": len(counting),
        "sample": {"tasks": len({cell.task for cell in sample}), "cells": len(sample), "counting": len(sampled)},
        "never_fit": _never_fit([cell for cell in seen if cell.cell.name in names]),
        "rules": {rule: {part: _score(cells, rule) for part, cells in parts.items()} for rule in preregistration.rules},
        "pairs": [answer for part in PARTS for answer in pair_answers(preregistration, part, compared[part])],
        "decided": _decided(counting, preregistration),
        "breaking": {
            rule: _breaking(sampled, rule, first=preregistration.train[1] + 1)
            for rule in NAME_SCALES
            if rule in preregistration.rules
        },
        "points": _counts(sampled, "format"),
        "strata": _counts(sampled, "stratum"),
        "formats": _formats(frozen, runs_of_sample),
        "multiverse": _multiverse(frozen, runs_of_sample),
        "null_rate": null_rate(counting, compared[HALVES[1]], preregistration),
    }


def gate(frozen: FrozenCells, *, simulations: int = 200) -> dict[str, Any]:
    """Return what the cells of a preregistration can decide, by simulation before any run.

    The half that answers the questions is simulated, with `stopping.first` runs a cell.
    """
    preregistration = frozen.preregistration
    cells = [cell for cell in trainable(frozen.cells) if cell.half == HALVES[1]]
    planned = [SeenCell(cell=cell, runs=0, fit=0, generalize=0, breaks_at=None) for cell in cells]
    powers = []
    for first, second in preregistration.rule_pairs:
        plan = _plan(planned, (first, second), preregistration.stopping.first)
        # Bonferroni over the pairs, which asks for more than e-BH does.
        level = preregistration.stopping.alpha / len(preregistration.rule_pairs)
        powers += [asdict(power) for power in pair_powers(plan, noise=Noise(), alpha=level, simulations=simulations)]
    return {
        "frozen": frozen.digest,
        "cells": len(cells),
        "noise": asdict(Noise()),
        "pairs": powers,
        "one_cell": [asdict(power) for power in cell_powers(preregistration.stopping.most)],
    }


def _never_fit(seen: Sequence[SeenCell]) -> dict[str, Any]:
    """Return the number of cells without a fitting run, and of those that coverage predicts to generalize."""
    never = [cell for cell in seen if not cell.fit]
    return {
        "cells": len(never),
        "predicted_yes": sorted(cell.cell.name for cell in never if cell.says("coverage")),
        "by_encoding": dict(sorted(Counter(cell.cell.encoding for cell in never).items())),
    }


def _score(cells: Sequence[SeenCell], rule: str) -> dict[str, Any]:
    """Return the confusion of a rule over cells with a majority, and its Brier score over all cells that count."""
    counts = dict.fromkeys(("right_yes", "wrong_yes", "right_no", "wrong_no", "abstains"), 0)
    losses = []
    for cell in cells:
        says, observed = cell.says(rule), cell.observed
        probability = cell.cell.answers[rule][0]
        p, q = (0.5 if probability is None else probability), cell.generalize / cell.fit
        losses.append(q * (1 - p) ** 2 + (1 - q) * p**2)
        if says is None:
            counts["abstains"] += 1
        elif observed is not None:
            counts[f"{'right' if says == observed else 'wrong'}_{'yes' if says else 'no'}"] += 1
    return counts | {"brier": fmean(losses) if losses else None}


def _decided(cells: Sequence[SeenCell], preregistration: Preregistration) -> dict[str, Any]:
    """Return how many cells are decided for each estimand, alone and by e-BH over all cells."""
    alpha = preregistration.stopping.alpha
    answer: dict[str, Any] = {}
    for estimand in Estimand:
        evidence = [estimand.evidence(cell.generalize, cell.fit) for cell in cells]
        alone = Counter(decides(each, alpha) for each in evidence)
        rejected = e_bh([value for each in evidence for value in (each.above, each.below)], alpha)
        answer[estimand.name.lower()] = {
            "yes": alone[True],
            "no": alone[False],
            "undecided": alone[None],
            "by_e_bh": sum(any(rejected[at : at + 2]) for at in range(0, len(rejected), 2)),
        }
    return answer


def _breaking(cells: Sequence[SeenCell], rule: str, *, first: int) -> dict[str, Any]:
    """Return how the predicted breaking scales compare with the observed, where both say that the cell breaks.

    `first` is the first scale beyond training. Most cells break there, so that who always says so is often right;
    cells predicted to break later are counted by themselves.
    """
    pairs = [
        (predicted, cell.breaks_at)
        for cell in cells
        if cell.breaks_at is not None and (predicted := cell.cell.answers[rule][1]) is not None
    ]
    exact = sum(predicted == observed for predicted, observed in pairs)
    late = [pair for pair in pairs if pair[0] > first]
    return {
        "cells": len(pairs),
        "exact": asdict(share(exact, len(pairs))),
        "within_one": sum(abs(predicted - observed) <= 1 for predicted, observed in pairs),
        "later_than_first": {
            "cells": len(late),
            "exact": asdict(share(sum(predicted == observed for predicted, observed in late), len(late))),
        },
        "counts": [[*pair, count] for pair, count in sorted(Counter(pairs).items())],
    }


def _counts(cells: Sequence[SeenCell], part: str) -> list[dict[str, Any]]:
    """Return, by an attribute of cells and by encoding, how many generalize and to how many each rule says yes."""
    groups: dict[tuple[str, str], list[SeenCell]] = {}
    for cell in cells:
        groups.setdefault((getattr(cell.cell, part), cell.cell.encoding), []).append(cell)
    return [
        {
            part: name,
            "encoding": encoding,
            "cells": len(group),
            "generalize": sum(cell.observed is True for cell in group),
            "yes": {rule: sum(cell.says(rule) is True for cell in group) for rule in group[0].cell.answers},
        }
        for (name, encoding), group in sorted(groups.items())
    ]


def _formats(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> dict[str, Any]:
    """Return exact match by scale in every format, over fitting runs of tasks whose SRC stays the same.

    Scales that were not tested count as 0: they come after failed ones.
    """
    preregistration = frozen.preregistration
    values: dict[str, dict[str, list[Any]]] = {}
    for cell in frozen.cells:
        if cell.rises_at is None:
            fitting = [run.exact_match for run in runs.get(cell.name, []) if run.fits(preregistration)]
            values.setdefault(cell.encoding, {}).setdefault(cell.format, []).extend(fitting)
    return {
        encoding: {
            form: {
                "runs": len(of_format),
                "exact_match": np.nan_to_num(np.stack(of_format)).mean(axis=0).round(4).tolist() if of_format else [],
            }
            for form, of_format in formats.items()
        }
        for encoding, formats in values.items()
    }


def _multiverse(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> list[dict[str, Any]]:
    """Return the share of right cells of every rule under each choice of threshold and number of fitting runs.

    Scales after several failures at the registered threshold were not tested and count as unsolved at every other.
    """
    universes = []
    for threshold in THRESHOLDS:
        seen = seen_cells(frozen, runs, threshold=threshold)
        for fitting in RESTS:
            cells = [cell for cell in seen if cell.fit >= fitting and cell.observed is not None]
            universes.append(
                {
                    "threshold": threshold,
                    "fitting": fitting,
                    "cells": len(cells),
                    "right": {rule: _right(cells, rule) for rule in frozen.preregistration.rules},
                }
            )
    return universes


def _right(cells: Sequence[SeenCell], rule: str) -> float | None:
    """Return the share of cells on which a rule is right; an abstention is half right."""
    points = [0.5 if (says := cell.says(rule)) is None else float(says == cell.observed) for cell in cells]
    return fmean(points) if points else None


def _plan(cells: Sequence[SeenCell], rules: Sequence[str], runs: int) -> Plan:
    """Return the cells as a plan of the power simulation."""
    return Plan(
        tasks=[cell.cell.task for cell in cells],
        answers={rule: [cell.says(rule) for cell in cells] for rule in rules},
        runs=runs,
    )
