"""Diagnosis of a cell that contradicts its prediction or that no run learns: possible causes with their numbers ([F]).

A finding never changes a verdict: the cell stays refuted, undecided or not learnt. Several may apply; they come in the
order of `FINDINGS`, and "unexplained" is used if none does. A disagreement with either rule is examined: where our
rule and the literal conjecture differ, the finding says which premise made the difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from statistics import fmean, median
from typing import Any

from lengthgen.circuits.prediction_record import RULES
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.statistics.breaking import breaking_scale
from lengthgen.empirical.trial.conjecture import CellEvidence, Criteria, JudgedCell
from lengthgen.empirical.trial.outcomes import History, by_checkpoint

FEWEST = 20
"""Smallest number of test samples, over all runs, from which a share is computed."""
FALL = 0.1
"""Smallest relative drop of the training loss between the last two checkpoints that counts as still falling."""
STEPS = ("seen_steps", "seen_right", "unseen_right")
"""Names of shares: steps whose entry was met in training; right steps among these; right steps among the others."""
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


def disagreements(cell: JudgedCell) -> dict[str, bool]:
    """Rules that contradict the observation, with their answers."""
    return _contradicted(cell, RULES)


def _contradicted(cell: JudgedCell, rules: Iterable[str]) -> dict[str, bool]:
    """Rules among the given ones that contradict the observation, with their answers."""
    answers = {rule: cell.prediction.says(rule) if cell.prediction else None for rule in rules}
    return {
        rule: answer
        for rule, answer in answers.items()
        if answer is not None and cell.observed is not None and answer != cell.observed
    }


def diagnose(cell: JudgedCell, evidence: CellEvidence, criteria: Criteria) -> list[Finding]:
    """Findings on one cell; none if the forecast, coverage and the literal rule agree with the observation."""
    wrong = _contradicted(cell, ("forecast", "coverage", "literal"))
    case = _Case(cell=cell, runs=evidence.runs, criteria=criteria, wrong=wrong)
    if cell.fit.successes and not case.wrong:
        return []
    return [finding for diagnosis in FINDINGS if (finding := diagnosis(case))] or [_unexplained(case)]


def _not_fitted(case: _Case) -> Finding | None:
    """Finding if no run fits: how near the runs are, and whether they still approach."""
    if case.cell.fit.successes:
        return None
    checkpoints = [by_checkpoint(rows) for _, rows in case.runs]
    worst = [
        min(scores[max(scores)][scale].exact_match for scale in run.train)
        for (run, _), scores in zip(case.runs, checkpoints, strict=True)
    ]
    course = [
        (
            epoch,
            median(
                fmean(scores[epoch][scale].exact_match for scale in run.train)
                for (run, _), scores in zip(case.runs, checkpoints, strict=True)
                if epoch in scores
            ),
        )
        for epoch in sorted({epoch for scores in checkpoints for epoch in scores})
    ]
    change = course[-1][1] - course[-2][1] if len(course) > 1 else None
    since = "" if change is None else f" ({change:+.2f} since the checkpoint before)"
    complexity = None if case.cell.prediction is None else case.cell.prediction.complexity_train
    why = "; by the theory it cannot compute every training step" if complexity == inf else ""
    return Finding(
        kind="not fitted",
        says=f"exact match {course[-1][1]:.2f} over the training scales{since}, {median(worst):.2f} at the worst "
        f"(medians; best run {max(worst):.2f}){why}",
        evidence={
            "course": [list(point) for point in course],
            "change": change,
            "worst_scale_median": median(worst),
            "worst_scale_best_run": max(worst),
            "computable_in_training": None if complexity is None else complexity < inf,
        },
    )


def _may_be_coverage(case: _Case) -> bool:
    """True if coverage may explain the disagreement.

    A cell that generalizes although its complexity grows was not predicted to fail for lack of coverage.
    """
    return bool(case.wrong) and not (case.cell.observed and "literal" in case.wrong)


def _label_coverage(case: _Case) -> Finding | None:
    """Finding if some labels never occur in training, which decides the rule's answer."""
    prediction = case.cell.prediction
    if not _may_be_coverage(case) or prediction is None or prediction.labels_covered is not False:
        return None
    observed = breaking_scale(run.first_failure for run in case.cell.outcomes if run.fits)
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
    if not _may_be_coverage(case):
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
    counts: dict[int, dict[str, list[Any]]] = {}
    for (run, rows), outcome in zip(case.runs, case.cell.outcomes, strict=True):
        if not outcome.fits or outcome.generalizes != case.cell.observed:
            continue
        for scale in set(run.test) - set(run.train):
            if outcome.generalizes or outcome.exact_match[scale] < case.criteria.threshold:
                row = by_checkpoint(rows)[outcome.epoch][scale]
                samples = run.evaluation.samples
                seen = round(row.seen_samples * samples)
                right = round(row.exact_match_seen * seen) if seen else 0
                scale_counts = counts.setdefault(scale, {"seen": [0, 0], "unseen": [0, 0], "steps": []})
                scale_counts["steps"].append((row.seen_steps, row.token_accuracy_seen, _unseen_right(row)))
                scale_counts["seen"] = [scale_counts["seen"][0] + right, scale_counts["seen"][1] + seen]
                rest = round(row.exact_match * samples) - right
                scale_counts["unseen"] = [scale_counts["unseen"][0] + rest, scale_counts["unseen"][1] + samples - seen]
    return [
        {"scale": scale}
        | {name: _mean(values) for name, values in zip(STEPS, zip(*scale_counts["steps"], strict=True), strict=True)}
        | {kind: _exact_match_counts(*scale_counts[kind]) for kind in ("seen", "unseen")}
        for scale, scale_counts in sorted(counts.items())
    ]


def _share(scales: Sequence[dict[str, Any]], name: str) -> str:
    """Mean of a share over the scales, as text."""
    mean = _mean(row[name] for row in scales)
    return "none" if mean is None else f"{mean:.2f}"


def _unseen_right(row: Measurement) -> float:
    """Token accuracy of the steps whose entry was not met in training; NaN without such steps."""
    unseen = 1 - row.seen_steps
    seen_and_right = row.seen_steps * row.token_accuracy_seen if row.seen_steps else 0.0
    return (row.token_accuracy - seen_and_right) / unseen if unseen else nan


def _mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are numbers; None if none is."""
    numbers = [value for value in values if value is not None and not isnan(value)]
    return fmean(numbers) if numbers else None


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
    fitting = cell.generalizes_given_fit
    if 0 < fitting.successes < fitting.trials:
        sentences.append(f"{fitting.successes} of {fitting.trials} fitting runs generalize")
    evidence: dict[str, Any] = {"generalize": fitting.successes, "fit": fitting.trials}
    if not cell.observed:
        failing = [
            (run, by_checkpoint(rows))
            for (run, rows), outcome in zip(case.runs, cell.outcomes, strict=True)
            if not outcome.generalizes and (outcome.fits or not fitting.trials)
        ]
        wanted, scales = ("every scale", "test") if fitting.trials else ("every training scale", "train")
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
        evidence |= {"elsewhere": elsewhere, "loss_fall": fall, "loss": loss}
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
