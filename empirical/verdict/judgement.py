"""Judgement of a preregistration: what its finished runs say on every question, as plain data.

A cell counts if at least `stopping.fitting` of its runs fit.  Everything else about outcomes is conditional on that:
a model that does not fit its training scales says nothing on longer inputs.  Shares are taken over the tasks that
training has reached in the order of their hashes, a random sample (`disputes.reached`); a pair of rules is judged on
the tasks that are reached in the cells on which the two differ.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median_low
from typing import Any

import numpy as np

from empirical.trial.statistics import share
from empirical.verdict.disputes import Pair, disputed, reached
from empirical.verdict.e_values import LARGEST_LOG, Estimand, decides, e_bh
from empirical.verdict.frozen import FrozenCell, FrozenCells
from empirical.verdict.pairs import PairCell, PairEvidence, Score, compare, log_e_values, trajectory
from empirical.verdict.population import HALVES
from empirical.verdict.power import Noise, Plan, cell_powers, pair_powers
from empirical.verdict.preregistration import Preregistration
from empirical.verdict.runs import CellRun, trainable

THRESHOLDS = (0.75, 0.9, 0.95, 0.99)
"""Shares of right samples that the multiverse uses in turn as the one from which on a scale is solved."""
RESTS = (1, 2, 3)
"""Numbers of fitting runs that the multiverse asks of a cell."""
SIMULATIONS = 1_000
"""Number of permutations of outcomes."""
PARTS = ("all", *HALVES)
"""Parts of the cells that are judged: the questions are answered by the half `judgement`."""


UNDECIDED = "undecided"
"""Answer on two rules if neither is shown to be the better one."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two rules compared on one part of the cells.

    Attributes:
        disputed: number of cells that can be trained and on which the rules differ.
        reached: number of these in tasks that training has reached.
        evidence: evidence from the reached cells that count.
        brier: the same by Brier scores.
    """

    disputed: int
    reached: int
    evidence: PairEvidence
    brier: PairEvidence


@dataclass(frozen=True, kw_only=True)
class SeenCell:
    """Cell with its finished runs.

    Attributes:
        cell: frozen answers.
        runs: number of finished runs.
        fit: number of runs that fit.
        generalize: number of runs that fit and generalize.
        breaks_at: median first failure of the fitting runs that break; None if at least half of them generalize.
    """

    cell: FrozenCell
    runs: int
    fit: int
    generalize: int
    breaks_at: int | None

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with a tie or without a fitting run."""
        return None if 2 * self.generalize == self.fit else 2 * self.generalize > self.fit

    def says(self, rule: str) -> bool | None:
        """Answer of a rule; None if it abstains."""
        probability = self.cell.answers[rule][0]
        return None if probability in (None, 0.5) else probability > 0.5


def seen_cells(
    frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], *, threshold: float | None = None
) -> list[SeenCell]:
    """Return the cells that have runs, judged at a threshold (None: that of the preregistration)."""
    preregistration = frozen.preregistration
    last_trained, last = preregistration.train[1], preregistration.test[1]
    cells = []
    for cell in frozen.cells:
        failures = [run.first_failure(preregistration, threshold) for run in runs.get(cell.name, [])]
        fitting = [failure for failure in failures if failure > last_trained]
        broken = sorted(failure for failure in fitting if failure <= last)
        if failures:
            cells.append(
                SeenCell(
                    cell=cell,
                    runs=len(failures),
                    fit=len(fitting),
                    generalize=len(fitting) - len(broken),
                    breaks_at=median_low(broken) if 2 * len(broken) > len(fitting) else None,
                )
            )
    return cells


def judge(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> dict[str, Any]:
    """Return the whole judgement as JSON.

    Args:
        frozen: frozen answers of all cells.
        runs: finished runs by cell (`empirical.verdict.runs.load_runs`, which checks their seeds).
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
        part: _comparisons(preregistration, [cell for cell in planned if part in ("all", cell.half)], counting, counts)
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
        "seen": len(seen),
        "seen_tasks": len({cell.cell.task for cell in seen}),
        "runs": sum(cell.runs for cell in seen),
        "gaps": sum({run.index for run in of_cell} != set(range(len(of_cell))) for of_cell in runs.values()),
        "fitting_runs": sum(cell.fit for cell in seen),
        "counting": len(counting),
        "sample": {"tasks": len({cell.task for cell in sample}), "cells": len(sample), "counting": len(sampled)},
        "never_fit": _never_fit([cell for cell in seen if cell.cell.name in names]),
        "rules": {rule: {part: _score(cells, rule) for part, cells in parts.items()} for rule in preregistration.rules},
        "pairs": [answer for part in PARTS for answer in _pairs(preregistration, part, compared[part])],
        "decided": _decided(counting, preregistration),
        "breaking": {rule: _breaking(sampled, rule) for rule in ("coverage", "distractors", "minimised-distractors")},
        "points": _points(sampled),
        "formats": _formats(frozen, runs_of_sample),
        "multiverse": _multiverse(frozen, runs_of_sample),
        "null_rate": _null_rate(counting, compared[HALVES[1]], preregistration),
    }


def decided_pairs(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> set[Pair]:
    """Return the registered pairs of rules that the half that judges has decided."""
    preregistration = frozen.preregistration
    counting = [cell for cell in seen_cells(frozen, runs) if cell.fit >= preregistration.stopping.fitting]
    planned = [cell for cell in trainable(frozen.cells) if cell.half == HALVES[1]]
    counts = {name: len(of_cell) for name, of_cell in runs.items()}
    compared = _comparisons(preregistration, planned, counting, counts)
    answers = _pairs(preregistration, HALVES[1], compared)
    return {(each["first"], each["second"]) for each in answers if each["better"] != UNDECIDED}


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


def _comparisons(
    preregistration: Preregistration,
    planned: Sequence[FrozenCell],
    counting: Sequence[SeenCell],
    counts: Mapping[str, int],
) -> dict[Pair, Comparison]:
    """Return the comparison of every registered pair of rules on the planned cells of one part.

    Args:
        preregistration: that of the cells.
        planned: cells that can be trained.
        counting: cells with enough fitting runs; others than the planned ones are left out.
        counts: name of the cell -> number of its finished runs.
    """
    by_name = {cell.cell.name: cell for cell in counting}

    def evidence(cells: Sequence[FrozenCell], pair: Pair, score: Score) -> PairEvidence:
        counted = [by_name[cell.name] for cell in cells if cell.name in by_name]
        return compare(_pair_cells(counted, *pair), score)

    def reached_cells(cells: Sequence[FrozenCell]) -> list[FrozenCell]:
        return reached(cells, counts, first=preregistration.stopping.first)

    comparisons = {}
    for pair in preregistration.rule_pairs:
        differing = disputed(planned, pair)
        judged = reached_cells(differing)
        comparisons[pair] = Comparison(
            disputed=len(differing),
            reached=len(judged),
            evidence=evidence(judged, pair, Score.RIGHT),
            brier=evidence(reached_cells(disputed(planned, pair, Score.BRIER)), pair, Score.BRIER),
        )
    return comparisons


def _pair_cells(cells: Sequence[SeenCell], first: str, second: str) -> list[PairCell]:
    """Return the cells as evidence for one rule against another."""
    return [
        PairCell(
            task=cell.cell.task,
            rule_a=cell.cell.answers[first][0],
            rule_b=cell.cell.answers[second][0],
            successes=cell.generalize,
            trials=cell.fit,
        )
        for cell in cells
    ]


def _pairs(preregistration: Preregistration, part: str, compared: Mapping[Pair, Comparison]) -> list[dict[str, Any]]:
    """Return the evidence for every registered pair in one part, decided by e-BH over its pairs."""
    answers = []
    final = {
        pair: (_last(of_pair.evidence.against_a), _last(of_pair.evidence.against_b))
        for pair, of_pair in compared.items()
    }
    level = preregistration.stopping.alpha
    rejected = iter(e_bh([value for values in final.values() for value in values], level))
    for pair, of_pair in compared.items():
        worse_first, worse_second = next(rejected), next(rejected)
        verdict = UNDECIDED if worse_first == worse_second else pair[1] if worse_first else pair[0]
        evidence, brier = of_pair.evidence, of_pair.brier
        answers.append(
            {
                "part": part,
                "first": pair[0],
                "second": pair[1],
                "tasks": len(evidence.tasks),
                "cells": evidence.cells,
                "disputed": of_pair.disputed,
                "reached": of_pair.reached,
                "wins_first": evidence.wins_a,
                "wins_second": evidence.wins_b,
                "against_first": final[pair][0],
                "against_second": final[pair][1],
                "better": verdict,
                "trajectory": _thinned(trajectory(evidence)),
                "brier": {"against_first": _last(brier.against_a), "against_second": _last(brier.against_b)},
            }
        )
    return answers


def _last(values: Sequence[float]) -> float:
    """Return the last of running e-values; 1 without any."""
    return values[-1] if values else 1.0


def _thinned(points: Sequence[tuple[int, float, float]]) -> list[list[float]]:
    """Return at most 100 points of a trajectory, its last one among them."""
    step = max(1, len(points) // 100)
    chosen = sorted({*range(0, len(points), step), len(points) - 1})
    return [[points[place][0], round(points[place][1], 3), round(points[place][2], 3)] for place in chosen]


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


def _breaking(cells: Sequence[SeenCell], rule: str) -> dict[str, Any]:
    """Return how the predicted breaking scales compare with the observed, where both say that the cell breaks."""
    pairs = [
        (predicted, cell.breaks_at)
        for cell in cells
        if cell.breaks_at is not None and (predicted := cell.cell.answers[rule][1]) is not None
    ]
    exact = sum(predicted == observed for predicted, observed in pairs)
    late = [pair for pair in pairs if pair[0] > min((p for p, _ in pairs), default=0)]
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


def _points(cells: Sequence[SeenCell]) -> list[dict[str, Any]]:
    """Return, by format and encoding, the share of cells that generalize and what rules say of them."""
    groups: dict[tuple[str, str], list[SeenCell]] = {}
    for cell in cells:
        groups.setdefault((cell.cell.format, cell.cell.encoding), []).append(cell)
    return [
        {
            "format": form,
            "encoding": encoding,
            "cells": len(group),
            "generalize": sum(cell.observed is True for cell in group),
            "coverage": sum(cell.says("coverage") is True for cell in group),
            "distractors": sum(cell.says("distractors") is True for cell in group),
        }
        for (form, encoding), group in sorted(groups.items())
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


def _null_rate(
    cells: Sequence[SeenCell], compared: Mapping[Pair, Comparison], preregistration: Preregistration
) -> dict[str, Any] | None:
    """Return how often the pairs decide anything on the judging half if outcomes of whole tasks are swapped by a coin.

    "Generalizes" and "fails" change places in a task, for all pairs at once, so that every difference is as likely as
    its negative.  Then e-BH is asked as for the real outcomes.  None without a cell.
    """
    if not cells:
        return None
    place = {task: at for at, task in enumerate(dict.fromkeys(cell.cell.task for cell in cells))}
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (SIMULATIONS, len(place)))
    finals = []
    for evidence in (comparison.evidence for comparison in compared.values()):
        differences = signs[:, [place[task] for task in evidence.tasks]] * np.array(evidence.differences)
        for side in (differences, -differences):
            finals.append(log_e_values(side)[:, -1] if evidence.tasks else np.zeros(SIMULATIONS))
    e_values = np.exp(np.minimum(np.stack(finals, axis=1), LARGEST_LOG))
    alpha = preregistration.stopping.alpha
    decided = [any(e_bh(row, alpha)) for row in e_values.tolist()]
    return {"rate": fmean(decided), "stated": alpha, "simulations": SIMULATIONS}
