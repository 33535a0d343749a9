"""Our readings of the conjecture of arXiv 2510.04130, compared with the stored runs of one protocol."""

from dataclasses import replace
from pathlib import Path

from lengthgen.circuits.prediction_record import RULES, Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment.judge import ALPHA
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial import conjecture
from lengthgen.empirical.trial.association import association, cluster_permutation_test
from lengthgen.empirical.trial.conjecture import CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.frozen import FrozenCell, answers, frozen_cells, read_predictions
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.proofs_checks.claim import Refuted, Strength, Unsettled
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import CONJECTURE
from lengthgen.proofs_checks.trained import NONE, Arm, Runs, TrainedCell

CLAIMS = PaperClaims(CONJECTURE)


def predictions_agree(runs: Runs, protocol: str, rule: str, negated: bool) -> Facts:
    """Decide if predictions and results agree in more cells than by chance; refuted if in fewer.

    The result of a cell is what most of its fitting runs do. The permutation test moves results between tasks and
    between encodings (`lengthgen.empirical.trial.association`), so that similar cells of one task or one encoding do
    not make the p-value small.
    """
    reading = runs.read(Arm(protocol=protocol))
    assert runs.out is not None, "runs were read, so their folder is given"
    predicted = _read_predictions(runs.out / protocol / "predictions.json")
    any_runs = {(trained.cell, trained.histories[0][0].model): [trained.histories[0][0]] for trained in reading.arms[0]}
    frozen = frozen_cells(load_protocol(protocol, runs.profile), runs.out, any_runs)
    store = RunStore(runs.out / "runs")
    evidence = [
        _evidence(trained, predicted, frozen.get(key), store)
        for key, trained in zip(any_runs, reading.arms[0], strict=True)
    ]
    first = reading.arms[0][0].histories[0][0]
    criteria = Criteria(threshold=first.evaluation.threshold, size=str(first.model), rule=rule)
    cells = [_negated(cell) if negated else cell for cell in judge(evidence, criteria)]
    agreement = association(cells)
    table, missed = agreement["table"], agreement["misclassified"]
    right = table["yes_yes"] + table["no_no"]
    agree = f"{right} of {right + len(missed)} observed cells do as predicted"
    more = agreement["permutation"]["task and encoding"]["p"]
    if more > ALPHA:
        fewer = cluster_permutation_test([_negated(cell) for cell in cells], tasks=True, encodings=True).p
        if fewer <= ALPHA:
            raise Refuted(f"{agree}, fewer than by chance: p = {fewer:.2g}; not {missed[0]}, for one")
        raise Unsettled(f"not decided: {agree}, p = {more:.2g}")
    yield (
        f"{agree}, p = {more:.2g} over rearrangements of tasks and encodings; Fisher's exact test, cells taken for "
        f"independent: {agreement['fisher_p']:.2g}"
    )
    yield (
        f"predicted yes: {table['yes_yes']} do, {table['yes_no']} do not; predicted no: {table['no_yes']} do, "
        f"{table['no_no']} do not; {table['not_observed']} without a fitting run or with a tie"
    )
    yield f"not as predicted: {', '.join(missed) or 'none'}"
    yield reading.fact
    yield from map(Assumption, reading.conditions)
    yield Assumption("predictions were stored before training: every run names theirs by hash")


def _read_predictions(path: Path) -> dict[Cell, Prediction]:
    """Stored predictions of the main mode, by cell. Raises `Unsettled` if they cannot be read."""
    try:
        answer = read_predictions(path, "train again, which predicts first")
    except (OSError, LengthgenError) as error:
        raise Unsettled(f"no stored predictions can be read from {path}: {error}") from error
    return {
        Cell.from_json(entry["cell"]): Prediction.from_json(entry["prediction"])
        for entry in answer
        if entry["mode"] == Mode.FREE and entry["prediction"] is not None
    }


def _evidence(
    trained: TrainedCell, predicted: dict[Cell, Prediction], frozen: FrozenCell | None, store: RunStore
) -> conjecture.CellEvidence:
    """Evidence of a cell for the trial.

    Raises `Unsettled` if its runs name another prediction than the stored one, or if another one was frozen: the seeds
    of the runs derive from that.
    """
    cell, prediction = trained.cell, predicted.get(trained.cell)
    if prediction is None:
        raise Unsettled(f"{cell}: no prediction is stored")
    for run, _ in trained.histories:
        if store.environment(run).get(f"prediction_sha256_{Mode.FREE}") != prediction.digest:
            raise Unsettled(f"run {run.id} was not trained under the prediction that is stored now")
    frozen_answers = {} if frozen is None else frozen.rules
    present = answers({Mode.FREE: prediction})
    if any(present.get(name) != answer for name, answer in frozen_answers.items() if name.startswith(f"{Mode.FREE}/")):
        raise Unsettled(f"{cell}: the stored prediction is not the one from which the seeds of its runs derive")
    first = trained.histories[0][0]
    return conjecture.CellEvidence(
        key=CellKey(task=cell.task.key, format=cell.task.format, encoding=cell.encoding, size=str(first.model)),
        predictions={Mode.FREE: prediction if prediction.generalizes is not None else None},
        runs=trained.histories,
        predicted_before_training=frozen is not None,
        frozen_rules=frozenset((Mode.FREE, rule) for rule in RULES),
    )


def _negated(cell: JudgedCell) -> JudgedCell:
    """Cell with the opposite prediction."""
    return cell if cell.predicted is None else replace(cell, predicted=not cell.predicted)


for _rule, _reading, _also, _covered in (
    ("literal", "Our literal reading of the conjecture", "", ""),
    (
        "coverage",
        "Our reading with coverage",
        " and training meets every label and operator entry",
        r"\ \text{and all entries are met}",
    ),
):
    CLAIMS.claim(
        f"conjecture-{_rule}",
        "",
        rf"\text{{LG}}\iff\mathrm{{SRC}}_\phi(20)=\mathrm{{SRC}}_\phi(5)<\infty{_covered}",
        statement=f"{_reading}, that an encoding generalizes iff its induced complexity stays the same{_also}, agrees "
        "with the trained runs of Figure 2's tasks, under encodings and formats of ours too, in more cells than "
        "expected by chance.",
        holds={"runs": NONE, "protocol": "fig2", "rule": _rule, "negated": False},
        strength=Strength.STATISTICAL,
        falsifiers={"the predictions negated": {"negated": True}},
    )(predictions_agree)
