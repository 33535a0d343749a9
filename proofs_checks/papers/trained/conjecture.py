"""The conjecture on SRC, as a prediction for each cell of Figure 2, against what the runs of the cells do."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from circuits.modes import Mode
from circuits.prediction import Prediction
from empirical.runs.protocol import Cell
from empirical.runs.store import RunStore
from empirical.trial import conjecture
from empirical.trial.conjecture import CellKey, JudgedCell, Setting, judge
from empirical.trial.statistics import ALPHA
from proofs_checks.claim import Claim, Evidence, Refuted, Strength, Unsettled
from proofs_checks.papers.trained.sources import CONJECTURE
from proofs_checks.trained import NONE, Arm, Runs, TrainedCell
from theory.system.errors import LengthgenError
from theory.system.files import read_sealed_json

Predictions = dict[Cell, Prediction]


def predictions_agree(*, runs: Runs, protocol: str, rule: str, negated: bool) -> Evidence:
    """Decide whether predictions and what most fitting runs do agree in more cells than by chance, or in fewer.

    The test moves outcomes between tasks and between encodings (`empirical.trial.association`): that cells of one
    task, or of one encoding, resemble each other makes no p-value small.
    """
    reading = runs.read(Arm(protocol=protocol))
    assert runs.out is not None, "nothing is read from nowhere"
    predicted = _stored(runs.out / protocol / "predictions.json")
    evidence = [_evidence(trained, predicted, RunStore(runs.out / "runs")) for trained in reading.arms[0]]
    first = reading.arms[0][0].histories[0][0]
    setting = Setting(threshold=first.evaluation.threshold, size=str(first.model), rule=rule)
    from empirical.trial.association import association, permuted  # which takes a second to import

    cells = [_negated(cell) if negated else cell for cell in judge(evidence, setting)]
    found = association(cells)
    table, missed = found["table"], found["misclassified"]
    right = table["yes_yes"] + table["no_no"]
    agree = f"{right} of {right + len(missed)} observed cells do as predicted"
    more = found["permutation"]["task and encoding"]["p"]
    if more > ALPHA:
        fewer = permuted([_negated(cell) for cell in cells], tasks=True, encodings=True).p
        if fewer <= ALPHA:
            raise Refuted(f"{agree}, fewer than by chance: p = {fewer:.2g}; not {missed[0]}, for one")
        raise Unsettled(f"not decided: {agree}, p = {more:.2g}")
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(
            f"{agree}, p = {more:.2g} over rearrangements of tasks and encodings; Fisher's exact test, cells taken for "
            f"independent: {found['fisher_p']:.2g}",
            f"predicted yes: {table['yes_yes']} do, {table['yes_no']} do not; predicted no: {table['no_yes']} do, "
            f"{table['no_no']} do not; {table['not_observed']} without a fitting run or with a tie",
            f"not as predicted: {', '.join(missed) or 'none'}",
            reading.fact,
        ),
        assumptions=(*reading.conditions, "predictions were stored before training: every run names theirs by hash"),
    )


def _stored(path: Path) -> Predictions:
    """The stored predictions of the main mode, by cell."""
    try:
        answer = read_sealed_json(path)["answer"]
        return {
            Cell(**one["cell"]): Prediction.from_json(one["prediction"])
            for one in answer
            if one["mode"] == Mode.FREE and one["prediction"] is not None
        }
    except (OSError, LengthgenError, KeyError, TypeError) as error:
        raise Unsettled(f"no stored predictions can be read from {path}: {error}") from error


def _evidence(trained: TrainedCell, predicted: Predictions, store: RunStore) -> conjecture.Evidence:
    """What the trial is given of a cell, if its runs name the prediction that is stored."""
    cell, prediction = trained.cell, predicted.get(trained.cell)
    if prediction is None:
        raise Unsettled(f"{cell}: no prediction is stored")
    for run, _ in trained.histories:
        if store.environment(run).get(f"prediction_sha256_{Mode.FREE}") != prediction.digest:
            raise Unsettled(f"run {run.id} was not trained under the prediction that is stored now")
    first = trained.histories[0][0]
    return conjecture.Evidence(
        key=CellKey(task=cell.task, format=cell.format, encoding=cell.encoding, size=str(first.model)),
        predictions={Mode.FREE: prediction if prediction.generalizes is not None else None},
        runs=trained.histories,
        predicted_before_training=True,
    )


def _negated(cell: JudgedCell) -> JudgedCell:
    return cell if cell.predicted is None else replace(cell, predicted=not cell.predicted)


def _claim(rule: str, label: Literal["P", "F"], statement: str, latex: str) -> Claim:
    return Claim(
        id=f"conjecture-{rule}",
        source=CONJECTURE,
        statement=f"{statement} agrees with what the runs of Figure 2's tasks and encodings do in more cells than by "
        "chance.",
        latex=latex,
        label=label,
        check=predictions_agree,
        holds={"runs": NONE, "protocol": "fig2", "rule": rule, "negated": False},
        falsifiers={"the predictions negated": {"negated": True}},
    )


CLAIMS = (
    _claim(
        "literal",
        "P",
        "That an encoding generalizes iff the complexity that it induces stays, read literally,",
        r"\text{LG}\iff\mathrm{SRC}_\phi(20)=\mathrm{SRC}_\phi(5)<\infty",
    ),
    _claim(
        "coverage",
        "F",
        "That an encoding generalizes iff the complexity that it induces stays and training meets every label and "
        "operator entry",
        r"\text{LG}\iff\mathrm{SRC}_\phi(20)=\mathrm{SRC}_\phi(5)<\infty\ \text{and all entries are met}",
    ),
)
