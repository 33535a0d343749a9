"""What may lie behind a cell that does not do as predicted, or that no run learns: findings with their numbers ([F]).

A finding never changes a verdict: the cell stays refuted, undecided or not learnt. Several may hold; the order is that
of `FINDINGS`, and "unexplained" stands where none does. A disagreement with either rule is looked into: where ours and
the literal conjecture part, the finding says which premise made the difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from statistics import fmean, median
from typing import Any

from empirical.runs.measurement import Measurement
from empirical.trial.conjecture import RULES, Criteria, Evidence, JudgedCell, predicted_by
from empirical.trial.outcomes import History, by_checkpoint

FEWEST = 20
"""Test samples, over all runs, below which a share of them says nothing."""
FALL = 0.1
"""Part of the training loss that is lost from the checkpoint before to the last one where it is still falling."""
STEPS = ("seen_steps", "seen_right", "unseen_right")
"""Shares: of steps whose entry was met in training, and of those and the others, how many are right."""
FLOOR = 1e-3
"""Training loss (nats a token) below which a further fall says nothing."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing found: its kind, a sentence with the numbers, and the numbers (None where there is none)."""

    kind: str
    says: str
    evidence: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A cell, its runs, and the rules that it disagrees with."""

    cell: JudgedCell
    runs: Sequence[History]
    criteria: Criteria
    wrong: dict[str, bool]


def disagreements(cell: JudgedCell) -> dict[str, bool]:
    """The rules that say otherwise than was observed, with what they say."""
    said = {rule: predicted_by(cell.prediction, rule) for rule in RULES}
    return {
        rule: answer
        for rule, answer in said.items()
        if answer is not None and cell.observed is not None and answer != cell.observed
    }


def diagnose(cell: JudgedCell, evidence: Evidence, criteria: Criteria) -> list[Finding]:
    """The findings on one cell; none where both rules agree with what was observed."""
    case = _Case(cell=cell, runs=evidence.runs, criteria=criteria, wrong=disagreements(cell))
    if cell.fit.successes and not case.wrong:
        return []
    return [finding for look in FINDINGS if (finding := look(case))] or [_unexplained(case)]


def _not_fitted(case: _Case) -> Finding | None:
    """No run fits: how near they are, and whether they are still getting nearer."""
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
    """A cell that generalizes though its complexity grows was not predicted to fail for want of coverage."""
    return bool(case.wrong) and not (case.cell.observed and "literal" in case.wrong)


def _label_coverage(case: _Case) -> Finding | None:
    """A rule's answer stands or falls with labels that training never meets."""
    prediction = case.cell.prediction
    if not _may_be_coverage(case) or prediction is None or prediction.labels_covered is not False:
        return None
    failures = [one.first_failure for one in case.cell.outcomes if one.fits and one.first_failure is not None]
    first = median(failures) if failures else None
    ending = "the runs generalize all the same" if case.cell.observed else f"the runs first fail at {first:g}"
    return Finding(
        kind="label coverage",
        says=f"beyond training there are labels that it never meets (something is missing from scale "
        f"{prediction.breaks_at} on); {ending}",
        evidence={"breaks_at": prediction.breaks_at, "first_failure": first},
    )


def _operator_coverage(case: _Case) -> Finding | None:
    """Samples all of whose operator entries were trained, against the others, where runs fail (or all generalize)."""
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
        says = f"{_of(unseen)} of the test samples with an entry not met in training are solved" + (
            ", too few to be missed at the threshold" if rare else ""
        )
        return Finding(kind="operator-table coverage", says=says, evidence=evidence)
    judged = [one for one in scales if one["seen"]["samples"] >= FEWEST]
    share = f"a mean {1 - fmean(one['seen_steps'] for one in scales):.0%} of steps use an entry not met in training"
    if not judged:
        says = (
            f"{share}, so that hardly a sample is without one; of single steps, each after right ones, "
            f"{_share(scales, 'seen_right')} with a met entry are right, and {_share(scales, 'unseen_right')} of the "
            "others"
        )
        return Finding(kind="operator-table coverage, not testable", says=says, evidence=evidence)
    if any(one["seen"]["exact_match"] < threshold for one in judged):
        return None
    says = (
        f"where runs fail they solve {_of(seen)} samples whose entries were all met in training, {_of(unseen)} of the "
        f"others ({len(judged)} of {len(scales)} failing scales have samples enough to judge by)"
    )
    return Finding(kind="operator-table coverage", says=says, evidence=evidence)


def _by_scale(case: _Case) -> list[dict[str, Any]]:
    """Seen and unseen samples at the scales beyond training where fitting runs fail, or at all where most solve all."""
    found: dict[int, dict[str, list[Any]]] = {}
    for (run, rows), one in zip(case.runs, case.cell.outcomes, strict=True):
        if not one.fits or one.generalizes != case.cell.observed:
            continue
        for scale in sorted(set(run.test) - set(run.train)):
            if one.generalizes or one.exact_match[scale] < case.criteria.threshold:
                row = by_checkpoint(rows)[one.epoch][scale]
                samples = run.evaluation.samples
                seen = round(row.seen_samples * samples)
                right = round(row.exact_match_seen * seen) if seen else 0
                every = found.setdefault(scale, {"seen": [0, 0], "unseen": [0, 0], "steps": []})
                every["steps"].append((row.seen_steps, row.token_accuracy_seen, _unseen_right(row)))
                every["seen"] = [every["seen"][0] + right, every["seen"][1] + seen]
                rest = round(row.exact_match * samples) - right
                every["unseen"] = [every["unseen"][0] + rest, every["unseen"][1] + samples - seen]
    return [
        {"scale": scale}
        | {name: _mean(values) for name, values in zip(STEPS, zip(*every["steps"], strict=True), strict=True)}
        | {kind: _match(*every[kind]) for kind in ("seen", "unseen")}
        for scale, every in sorted(found.items())
    ]


def _share(scales: Sequence[dict[str, Any]], name: str) -> str:
    found = _mean(one[name] for one in scales)
    return "none" if found is None else f"{found:.2f}"


def _unseen_right(row: Measurement) -> float:
    """Token accuracy of the steps whose entry was not met; NaN where there are none."""
    unseen = 1 - row.seen_steps
    met = row.seen_steps * row.token_accuracy_seen if row.seen_steps else 0.0
    return (row.token_accuracy - met) / unseen if unseen else nan


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are numbers; None where none is."""
    known = [value for value in values if value is not None and not isnan(value)]
    return fmean(known) if known else None


def _pooled(scales: Sequence[dict[str, Any]], kind: str) -> dict[str, Any]:
    return _match(sum(one[kind]["right"] for one in scales), sum(one[kind]["samples"] for one in scales))


def _match(right: int, samples: int) -> dict[str, Any]:
    return {"right": right, "samples": samples, "exact_match": right / samples if samples else None}


def _of(pooled: dict[str, Any]) -> str:
    return f"{pooled['right']} of {pooled['samples']}"


def _optimisation(case: _Case) -> Finding | None:
    """Chance or too little training decides: seeds or checkpoints disagree, or the loss is still falling."""
    cell, says = case.cell, []
    given = cell.generalizes_given_fit
    if 0 < given.successes < given.trials:
        says.append(f"{given.successes} of {given.trials} fitting runs generalize")
    evidence: dict[str, Any] = {"generalize": given.successes, "fit": given.trials}
    if not cell.observed:
        concerned = [
            (run, by_checkpoint(rows))
            for (run, rows), one in zip(case.runs, cell.outcomes, strict=True)
            if not one.generalizes and (one.fits or not given.trials)
        ]
        wanted, scales = ("every scale", "test") if given.trials else ("every training scale", "train")
        elsewhere = sum(
            any(
                all(scores[scale].exact_match >= case.criteria.threshold for scale in getattr(run, scales))
                for scores in checkpoints.values()
            )
            for run, checkpoints in concerned
        )
        if elsewhere:
            says.append(f"{elsewhere} of {len(concerned)} runs that fail solve {wanted} at another checkpoint")
        fall, loss = _fall([list(checkpoints.values()) for _, checkpoints in concerned])
        if fall is not None and fall >= FALL and loss >= FLOOR:
            says.append(f"the training loss fell by {fall:.0%} to {loss:.2g} since the checkpoint before (medians)")
        evidence |= {"elsewhere": elsewhere, "loss_fall": fall, "loss": loss}
    return Finding(kind="optimisation", says="; ".join(says), evidence=evidence) if says else None


def _fall(courses: Sequence[Sequence[Mapping[int, Measurement]]]) -> tuple[float | None, float]:
    """The part of the training loss lost between the last two checkpoints, and the last loss: medians over runs."""
    losses = [[next(iter(scores.values())).training_loss for scores in course[-2:]] for course in courses]
    falls = [1 - last / before for before, last in (pair for pair in losses if len(pair) > 1) if before > 0]
    return median(falls) if falls else None, median(pair[-1] for pair in losses)


def _distractors(case: _Case) -> Finding | None:
    """Irrelevant keys look otherwise beyond training."""
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
    """What is left, with the numbers that speak against coverage where runs fail on what they have seen."""
    seen = _pooled(_by_scale(case), "seen")
    fail = f"; where runs fail they solve {_of(seen)} samples whose entries were all met in training"
    return Finding(
        kind="unexplained",
        says="no finding on coverage, optimisation or distractors applies" + ("" if case.cell.observed else fail),
        evidence={"seen": seen},
    )


FINDINGS = (_not_fitted, _label_coverage, _operator_coverage, _optimisation, _distractors)
