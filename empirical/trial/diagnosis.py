"""Diagnosis of a cell that contradicts its prediction or that no run learns: possible causes with their numbers ([F]).

A finding never changes a verdict: the cell stays refuted, undecided or not learnt. Several may apply; they come in the
order of `FINDINGS`, and "unexplained" is used if none does. A disagreement with either rule is examined: where
coverage and our literal reading differ, the finding says which premise made the difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from statistics import fmean, median
from typing import Any

from lengthgen.circuits.prediction_record import RULES
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.outcome import History, by_checkpoint
from lengthgen.empirical.trial.conjecture import CellEvidence, Criteria, JudgedCell

FEWEST = 20
"""Smallest number of test samples, over all runs, from which a share is computed."""
FALL = 0.1
"""Smallest relative drop of the training loss between the last two checkpoints that counts as still falling."""
FLOOR = 1e-3
"""Training loss (nats per token) below which a further drop means nothing."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Finding on a cell: its kind, a sentence with the numbers, and the numbers (None for a missing one)."""

    kind: str
    says: str
    evidence: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """Cell with its runs and the rules that it contradicts."""

    cell: JudgedCell
    runs: Sequence[History]
    criteria: Criteria
    wrong: dict[str, bool]

    @property
    def may_be_coverage(self) -> bool:
        """True if coverage may explain the disagreement.

        A cell that generalizes although its complexity grows was not predicted to fail for lack of coverage.
        """
        return bool(self.wrong) and not (self.cell.observed and "literal" in self.wrong)


def disagreements(cell: JudgedCell, rules: Iterable[str] = RULES) -> dict[str, bool]:
    """Rules that contradict the observation, with their answers."""
    if cell.prediction is None or cell.observed is None:
        return {}
    answers = {rule: cell.prediction.says(rule) for rule in rules}
    return {rule: answer for rule, answer in answers.items() if answer is not None and answer != cell.observed}


def diagnose(cell: JudgedCell, evidence: CellEvidence, criteria: Criteria) -> list[Finding]:
    """Findings on one cell; none if the forecast, coverage and the literal rule agree with the observation.

    Where exact match alone was kept of the runs, the causes that need more are not examined, and a finding says so.
    """
    wrong = disagreements(cell, ("forecast", "coverage", "literal"))
    case = _Case(cell=cell, runs=evidence.runs, criteria=criteria, wrong=wrong)
    if cell.outcome.fit and not wrong:
        return []
    if any(isnan(row.training_loss) for _, rows in case.runs for row in rows):
        return [finding for diagnosis in BY_EXACT_MATCH if (finding := diagnosis(case))] + [NOT_KEPT]
    return [finding for diagnosis in FINDINGS if (finding := diagnosis(case))] or [_unexplained(case)]


def _not_fitted(case: _Case) -> Finding | None:
    """Finding if no run fits: how near the runs are, and whether they still approach."""
    if case.cell.outcome.fit:
        return None
    shares = [
        {epoch: [scores[scale].exact_match for scale in run.train] for epoch, scores in by_checkpoint(rows).items()}
        for run, rows in case.runs
    ]
    worst = [min(of_run[max(of_run)]) for of_run in shares]
    epochs = sorted({epoch for of_run in shares for epoch in of_run})
    course = [[epoch, median(fmean(of_run[epoch]) for of_run in shares if epoch in of_run)] for epoch in epochs]
    change = course[-1][1] - course[-2][1] if len(course) > 1 else None
    since = "" if change is None else f" ({change:+.2f} since the checkpoint before)"
    complexity = None if case.cell.prediction is None else case.cell.prediction.complexity_train
    why = "; by the theory it cannot compute every training step" if complexity == inf else ""
    return Finding(
        kind="not fitted",
        says=f"exact match {course[-1][1]:.2f} over the training scales{since}, {median(worst):.2f} at the worst "
        f"(medians; best run {max(worst):.2f}){why}",
        evidence={
            "course": course,
            "change": change,
            "worst_scale_median": median(worst),
            "worst_scale_best_run": max(worst),
            "computable_in_training": None if complexity is None else complexity < inf,
        },
    )


def _label_coverage(case: _Case) -> Finding | None:
    """Finding if some labels never occur in training, which decides the rule's answer."""
    prediction = case.cell.prediction
    if not case.may_be_coverage or prediction is None or prediction.labels_covered is not False:
        return None
    observed = case.cell.outcome.breaks_at
    ending = "the runs generalize all the same" if observed is None else f"the runs break at scale {observed:g}"
    return Finding(
        kind="label coverage",
        says=f"beyond training there are labels that it never meets (something is missing from scale "
        f"{prediction.breaks_at} on); {ending}",
        evidence={"breaks_at": prediction.breaks_at, "observed": observed},
    )


def _operator_coverage(case: _Case) -> Finding | None:
    """Finding that compares samples whose operator entries were all trained with the others.

    It looks where runs fail, or, if most runs generalize, at all scales.
    """
    if not case.may_be_coverage:
        return None
    threshold = case.criteria.threshold
    scales = _by_scale(case)
    seen, unseen = (_pooled(scales, kind) for kind in ("seen", "unseen"))
    evidence = {"scales": scales, "seen": seen, "unseen": unseen}
    if unseen["samples"] < FEWEST:
        return None
    if case.cell.observed:
        rare = unseen["samples"] <= (1 - threshold) * (seen["samples"] + unseen["samples"])
        says = f"{_ratio(unseen)} of the test samples with an entry not met in training are solved" + (
            ", too few to be missed at the threshold" if rare else ""
        )
        return Finding(kind="operator-table coverage", says=says, evidence=evidence)
    judged = [row for row in scales if row["seen"]["samples"] >= FEWEST]
    share = f"a mean {1 - fmean(row['seen_steps'] for row in scales):.0%} of steps use an entry not met in training"
    if not judged:
        says = (
            f"{share}, so that hardly a sample is without one; of single steps, each after right ones, "
            f"{_share(scales, 'seen_right')} with a met entry are right, and {_share(scales, 'unseen_right')} of the "
            "others"
        )
        return Finding(kind="operator-table coverage, not testable", says=says, evidence=evidence)
    if any(row["seen"]["exact_match"] < threshold for row in judged):
        return None
    says = (
        f"where runs fail they solve {_ratio(seen)} samples whose entries were all met in training, {_ratio(unseen)} "
        f"of the others ({len(judged)} of {len(scales)} failing scales have samples enough to judge by)"
    )
    return Finding(kind="operator-table coverage", says=says, evidence=evidence)


def _by_scale(case: _Case) -> list[dict[str, Any]]:
    """Seen and unseen samples at scales beyond training where fitting runs fail; at all of them if most solve all."""
    rows: dict[int, list[tuple[Measurement, int]]] = {}
    for (run, metrics), outcome in zip(case.runs, case.cell.outcomes, strict=True):
        if outcome.fits and outcome.generalizes == case.cell.observed:
            for scale in set(run.test) - set(run.train):
                if outcome.generalizes or outcome.exact_match[scale] < case.criteria.threshold:
                    row = by_checkpoint(metrics)[outcome.epoch][scale]
                    rows.setdefault(scale, []).append((row, run.evaluation.samples))
    return [_seen_and_unseen(scale, rows[scale]) for scale in sorted(rows)]


def _seen_and_unseen(scale: int, measured: Sequence[tuple[Measurement, int]]) -> dict[str, Any]:
    """Samples of some runs at one scale whose steps were all met in training, and the others.

    With them the means of three shares: steps whose entry was met in training; right steps among these; right steps
    among the others.
    """
    seen = [round(row.seen_samples * samples) for row, samples in measured]
    right_seen = [
        round(row.exact_match_seen * count) if count else 0 for (row, _), count in zip(measured, seen, strict=True)
    ]
    right = sum(round(row.exact_match * samples) for row, samples in measured)
    samples = sum(samples for _, samples in measured)
    return {
        "scale": scale,
        "seen_steps": _mean(row.seen_steps for row, _ in measured),
        "seen_right": _mean(row.token_accuracy_seen for row, _ in measured),
        "unseen_right": _mean(_unseen_right(row) for row, _ in measured),
        "seen": _exact_match_counts(sum(right_seen), sum(seen)),
        "unseen": _exact_match_counts(right - sum(right_seen), samples - sum(seen)),
    }


def _unseen_right(row: Measurement) -> float:
    """Token accuracy of the steps whose entry was not met in training; NaN without such steps."""
    unseen = 1 - row.seen_steps
    seen_and_right = row.seen_steps * row.token_accuracy_seen if row.seen_steps else 0.0
    return (row.token_accuracy - seen_and_right) / unseen if unseen else nan


def _mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are numbers; None if none is."""
    numbers = [value for value in values if value is not None and not isnan(value)]
    return fmean(numbers) if numbers else None


def _share(scales: Sequence[dict[str, Any]], name: str) -> str:
    """Mean of a share over the scales, as text."""
    mean = _mean(row[name] for row in scales)
    return "none" if mean is None else f"{mean:.2f}"


def _pooled(scales: Sequence[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Samples of one kind, pooled over the scales."""
    return _exact_match_counts(sum(row[kind]["right"] for row in scales), sum(row[kind]["samples"] for row in scales))


def _exact_match_counts(right: int, samples: int) -> dict[str, Any]:
    """Exact match as JSON with its counts; None without samples."""
    return {"right": right, "samples": samples, "exact_match": right / samples if samples else None}


def _ratio(pooled: dict[str, Any]) -> str:
    """Text such as "3 of 20": right samples of all samples."""
    return f"{pooled['right']} of {pooled['samples']}"


def _optimisation(case: _Case) -> Finding | None:
    """Finding if chance or too little training may decide: seeds or checkpoints disagree, or the loss still falls."""
    cell, sentences = case.cell, []
    generalize, fit = cell.outcome.generalize, cell.outcome.fit
    if 0 < generalize < fit:
        sentences.append(f"{generalize} of {fit} fitting runs generalize")
    evidence: dict[str, Any] = {"generalize": generalize, "fit": fit}
    if not cell.observed:
        failing = [
            (run, by_checkpoint(rows))
            for (run, rows), outcome in zip(case.runs, cell.outcomes, strict=True)
            if not outcome.generalizes and (outcome.fits or not fit)
        ]
        wanted, scales = ("every scale", "test") if fit else ("every training scale", "train")
        elsewhere = sum(
            any(
                all(scores[scale].exact_match >= case.criteria.threshold for scale in getattr(run, scales))
                for scores in checkpoints.values()
            )
            for run, checkpoints in failing
        )
        if elsewhere:
            sentences.append(f"{elsewhere} of {len(failing)} runs that fail solve {wanted} at another checkpoint")
        fall, loss = _loss_drop([list(checkpoints.values()) for _, checkpoints in failing])
        if fall is not None and fall >= FALL and loss >= FLOOR:
            sentences.append(
                f"the training loss fell by {fall:.0%} to {loss:.2g} since the checkpoint before (medians)"
            )
        evidence |= {"elsewhere": elsewhere, "loss_fall": fall, "loss": None if isnan(loss) else loss}
    return Finding(kind="optimisation", says="; ".join(sentences), evidence=evidence) if sentences else None


def _loss_drop(courses: Sequence[Sequence[Mapping[int, Measurement]]]) -> tuple[float | None, float]:
    """Relative drop of the training loss between the last two checkpoints, and the last loss: medians over runs."""
    losses = [[next(iter(scores.values())).training_loss for scores in course[-2:]] for course in courses]
    falls = [1 - last / before for before, last in (pair for pair in losses if len(pair) > 1) if before > 0]
    return median(falls) if falls else None, median(pair[-1] for pair in losses)


def _distractors(case: _Case) -> Finding | None:
    """Finding if irrelevant keys show pairs of label and token that training did not show."""
    prediction = case.cell.prediction
    if case.wrong.get("coverage") is not True or prediction is None or not prediction.unseen_distractors:
        return None
    return Finding(
        kind="unseen distractors",
        says=f"{prediction.unseen_distractors} pairs of label and token occur at irrelevant keys only beyond training: "
        "the rule ignores them, a trained model may not",
        evidence={"pairs": prediction.unseen_distractors},
    )


def _unexplained(case: _Case) -> Finding:
    """Finding if no other applies, with the numbers that speak against coverage if runs fail on seen entries."""
    seen = _pooled(_by_scale(case), "seen")
    fail = f"; where runs fail they solve {_ratio(seen)} samples whose entries were all met in training"
    return Finding(
        kind="unexplained",
        says="no finding on coverage, optimisation or distractors applies" + ("" if case.cell.observed else fail),
        evidence={"seen": seen},
    )


FINDINGS = (_not_fitted, _label_coverage, _operator_coverage, _optimisation, _distractors)
BY_EXACT_MATCH = (_not_fitted, _label_coverage, _optimisation, _distractors)
"""Those that can be made from the exact match of the last checkpoint, as far as it goes."""
NOT_KEPT = Finding(
    kind="not kept",
    says="steps met in training, losses and other checkpoints of these runs were not kept, and so not examined",
    evidence={},
)
