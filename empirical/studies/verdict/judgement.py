"""Judgement of a preregistration: what its finished runs say on every question, as plain data.

A cell counts if at least `stopping.fitting` of its runs fit.  Everything else about outcomes is conditional on that:
a model that does not fit its training scales says nothing on longer inputs.  Shares are taken over the tasks that
training has reached in the order of their hashes, a random sample (`pairs.reached`); a pair of rules is judged on
the tasks that are reached in the cells on which the two differ.  Baselines that were asked afterwards are in `fair`,
and `kinds` tells encodings in use and ideal ones apart on the half that judges.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import numpy as np

from lengthgen.circuits.forecast.rates import BASELINES, KINDS
from lengthgen.empirical.experiment.judge import ABSTAINED, Estimand, confusion, decides, e_bh, loss, share
from lengthgen.empirical.studies.verdict.fair import fair, of_kind
from lengthgen.empirical.studies.verdict.forecast_trial import forecast_against
from lengthgen.empirical.studies.verdict.frozen import FrozenCells
from lengthgen.empirical.studies.verdict.pairs import comparison, reached
from lengthgen.empirical.studies.verdict.population import HALVES
from lengthgen.empirical.studies.verdict.runs import CellRun, SeenCell, seen_cells

THRESHOLDS = (0.75, 0.9, 0.95, 0.99)
"""Shares of right samples that the multiverse uses in turn as the one from which on a scale is solved."""
RESTS = (1, 2, 3)
"""Numbers of fitting runs that the multiverse asks of a cell."""
NAME_SCALES = ("coverage", "distractors", "distractors-with-token", "minimised-distractors")
"""Rules whose scales of a failure are compared with those observed."""
PARTS = ("all", *HALVES)
"""Parts of the cells that are judged: the questions are answered by the half `judgement`."""


def judge(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> dict[str, Any]:
    """Return the whole judgement as JSON."""
    preregistration, seen = frozen.preregistration, seen_cells(frozen, runs)
    counting = [each for each in seen if each.fit >= preregistration.stopping.fitting]
    sample = reached(frozen.planned, runs, first=preregistration.stopping.first)
    names = {cell.name for cell in sample}
    sampled = [each for each in counting if each.cell.name in names]
    parts = {part: [each for each in sampled if part in ("all", each.cell.half)] for part in PARTS}
    judging = {cell.name for cell in reached(frozen.judging, runs, first=preregistration.stopping.first)}
    compared = {part: comparison(frozen, runs, part, seen) for part in PARTS}
    against_baselines = fair(frozen, runs, seen)
    rules = list(dict.fromkeys((*preregistration.rules, *BASELINES)))
    runs_of_sample = {name: of_cell for name, of_cell in runs.items() if name in names}
    return {
        "title": preregistration.title,
        "questions": list(preregistration.questions),
        "preregistration": preregistration.digest,
        "frozen": frozen.digest,
        "cells": len(frozen.cells),
        "planned": len(frozen.planned),
        "tasks": len({cell.task for cell in frozen.cells}),
        "encodings": list(preregistration.encodings),
        "seen": len(seen),
        "seen_tasks": len({each.cell.task for each in seen}),
        "runs": sum(each.runs for each in seen),
        "gaps": sum({run.index for run in of_cell} != set(range(len(of_cell))) for of_cell in runs.values()),
        "fitting_runs": sum(each.fit for each in seen),
        "counting": len(counting),
        "sample": {"tasks": len({cell.task for cell in sample}), "cells": len(sample), "counting": len(sampled)},
        "never_fit": _never_fit([each for each in seen if each.cell.name in names and not each.fit]),
        "rules": {rule: {part: _score(cells, rule) for part, cells in parts.items()} for rule in preregistration.rules},
        "baselines": {"half": HALVES[0], "runs": against_baselines.fitted},
        "fair": against_baselines.as_json(),
        "forecast": forecast_against(
            [each for each in seen if each.cell.name in judging], preregistration.rules, preregistration.stopping.alpha
        ),
        "kinds": {
            kind: {
                "rules": {rule: _score(of_kind(against_baselines.cells, kind), rule) for rule in rules},
                "decided": _decided(of_kind(counting, kind), preregistration.stopping.alpha),
                "breaking": _all_breaking(of_kind(sampled, kind), frozen),
            }
            for kind in KINDS
        },
        "pairs": [answer for each in compared.values() for answer in each.as_json()],
        "decided": _decided(counting, preregistration.stopping.alpha),
        "breaking": _all_breaking(sampled, frozen),
        "points": _counts(sampled, "format"),
        "strata": _counts(sampled, "stratum"),
        "formats": _formats(frozen, runs_of_sample),
        "multiverse": _multiverse(frozen, runs_of_sample),
        "null_rate": compared[HALVES[1]].null_rate(counting),
    }


def _never_fit(cells: Sequence[SeenCell]) -> dict[str, Any]:
    """Return the number of cells without a fitting run, and those of them that coverage predicts to generalize."""
    return {
        "cells": len(cells),
        "predicted_yes": sorted(each.cell.name for each in cells if each.cell.says("coverage")),
        "by_encoding": dict(sorted(Counter(each.cell.encoding for each in cells).items())),
    }


def _score(cells: Sequence[SeenCell], rule: str) -> dict[str, Any]:
    """Return the confusion of a rule over cells with a majority, and its Brier score over all cells that count."""
    answers = [each.cell.answers[rule][0] for each in cells]
    losses = [
        loss(ABSTAINED if probability is None else probability, each.share)
        for each, probability in zip(cells, answers, strict=True)
    ]
    predicted = [each.cell.says(rule) for each in cells]
    return confusion((says, each.observed) for says, each in zip(predicted, cells, strict=True)) | {
        "abstains": predicted.count(None),
        "brier": fmean(losses) if losses else None,
    }


def _decided(cells: Sequence[SeenCell], alpha: float) -> dict[str, Any]:
    """Return how many cells are decided for each estimand, alone and by e-BH over all cells."""
    answer: dict[str, Any] = {}
    for estimand in Estimand:
        evidence = [estimand.evidence(each.generalize, each.fit) for each in cells]
        alone = Counter(decides(each, alpha) for each in evidence)
        rejected = e_bh([value for each in evidence for value in (each.above, each.below)], alpha)
        answer[estimand.name.lower()] = {
            "yes": alone[True],
            "no": alone[False],
            "undecided": alone[None],
            "by_e_bh": sum(map(max, zip(rejected[::2], rejected[1::2], strict=True))),
        }
    return answer


def _all_breaking(cells: Sequence[SeenCell], frozen: FrozenCells) -> dict[str, Any]:
    """Return rule -> `_breaking`, for the rules that name scales."""
    rules, first = frozen.preregistration.rules, frozen.preregistration.train[1] + 1
    return {rule: _breaking(cells, rule, first=first) for rule in NAME_SCALES if rule in rules}


def _breaking(cells: Sequence[SeenCell], rule: str, *, first: int) -> dict[str, Any]:
    """Return how the predicted breaking scales compare with the observed, where both say that the cell breaks.

    `first` is the first scale beyond training. Most cells break there, so that who always says so is often right;
    cells predicted to break later are counted by themselves.
    """
    pairs = [
        (predicted, each.breaks_at)
        for each in cells
        if each.breaks_at is not None and (predicted := each.cell.answers[rule][1]) is not None
    ]
    late = [pair for pair in pairs if pair[0] > first]

    def exact(of: Sequence[tuple[int, float]]) -> dict[str, Any]:
        return asdict(share(sum(predicted == observed for predicted, observed in of), len(of)))

    return {
        "cells": len(pairs),
        "exact": exact(pairs),
        "within_one": sum(abs(predicted - observed) <= 1 for predicted, observed in pairs),
        "later_than_first": {"cells": len(late), "exact": exact(late)},
        "counts": [[*pair, count] for pair, count in sorted(Counter(pairs).items())],
    }


def _counts(cells: Sequence[SeenCell], part: str) -> list[dict[str, Any]]:
    """Return, by an attribute of cells and by encoding, how many generalize and to how many each rule says yes."""
    groups: dict[tuple[str, str], list[SeenCell]] = {}
    for each in cells:
        groups.setdefault((getattr(each.cell, part), each.cell.encoding), []).append(each)
    return [
        {
            part: name,
            "encoding": encoding,
            "cells": len(group),
            "generalize": sum(each.observed is True for each in group),
            "yes": {rule: sum(each.cell.says(rule) is True for each in group) for rule in group[0].cell.answers},
        }
        for (name, encoding), group in sorted(groups.items())
    ]


def _formats(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> dict[str, Any]:
    """Return exact match by scale in every format, over fitting runs of tasks whose SRC stays the same.

    Scales that were not tested count as 0: they come after failed ones.
    """
    values: dict[str, dict[str, list[Any]]] = {}
    for cell in frozen.cells:
        if cell.rises_at is None:
            fitting = [run.exact_match for run in runs.get(cell.name, []) if run.fits(frozen.preregistration)]
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
            cells = [each for each in seen if each.fit >= fitting and each.observed is not None]
            right = {rule: _right(cells, rule) for rule in frozen.preregistration.rules}
            universes.append({"threshold": threshold, "fitting": fitting, "cells": len(cells), "right": right})
    return universes


def _right(cells: Sequence[SeenCell], rule: str) -> float | None:
    """Return the share of cells on which a rule is right; an abstention is half right."""
    points = [0.5 if (says := each.cell.says(rule)) is None else float(says == each.observed) for each in cells]
    return fmean(points) if points else None
