"""Claims on trained models, decided by stored runs; each claim names the protocol whose runs it reads.

The plots of arXiv 2510.04130 could not be read, so what a claim says of a figure is our reading [F].
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from lengthgen.circuits.prediction_record import RULES, Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment.judge import ALPHA
from lengthgen.empirical.experiment.outcome import History, by_checkpoint, outcome
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial import conjecture
from lengthgen.empirical.trial.association import association, cluster_permutation_test
from lengthgen.empirical.trial.conjecture import CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.frozen import FrozenCell, answers, frozen_cells, read_predictions
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.majority import Count, settle
from lengthgen.proofs_checks.papers import randomized
from lengthgen.proofs_checks.papers.pola import SOURCE
from lengthgen.proofs_checks.trained import NONE, Arm, Runs, TrainedCell

CONJECTURE = SOURCE.at("abstract: length generalization is possible iff SRC stays the same at all scales")
RANDOMIZED = randomized.SOURCE.at("abstract; of its tasks duplicating and reversing a string, by decoders")
SURVEY = Source(
    paper="Length Extrapolation of Transformers: A Survey from the Perspective of Positional Encoding",
    arxiv="2312.17044",
    place="on absolute encodings; the tasks are ours",
)

Predictions = dict[Cell, Prediction]

_PADDED = ("aligned",)
_IDEAL = Arm(protocol="fig2", encodings=("ipe", "ipe-sh"), formats=_PADDED)
_ABSOLUTE = Arm(protocol="fig2", encodings=("ape",), formats=_PADDED)
_ABSOLUTE_OF_THREE = Arm(protocol="fig2", encodings=("ape",), tasks=("copy", "shift", "parity"), formats=_PADDED)
_COPY = Arm(protocol="fig2", encodings=("ipe",), tasks=("copy",), formats=_PADDED)
"""Control that the same check must find to generalize: a task with constant SRC, under its ideal encoding."""
_MOST_FAIL = r"\Pr(\text{all scales}\mid\text{training scales})<\tfrac12"
_MOST_SUCCEED = r"\Pr(\text{all scales}\mid\text{training scales})>\tfrac12"
MARGIN = 0.1
"""Two runs match if their mean exact match differs by at most this ([F], fixed before the runs were seen)."""
_ARITHMETIC = ("addition", "multiplication", "division")
_PLAIN = Arm(protocol="randomized", encodings=("ape", "rpe"))
_RANDOM = Arm(protocol="randomized", encodings=("random-ape[longest=128]", "random-rpe[longest=128]"))


def figure(number: int) -> Source:
    """Return the source of a figure whose caption we know and whose plot we do not."""
    return SOURCE.at(f"Figure {number}, whose plot could not be read; sizes, digits and formats are ours")


def most_generalize(*, runs: Runs, arm: Arm, generalize: bool, least: int | None) -> Evidence:
    """Decide if most fitting runs generalize, or do not, in at least `least` cells of the arm.

    Args:
        runs: the trained runs.
        arm: the cells.
        generalize: True if the runs are claimed to generalize, False if they are claimed not to.
        least: number of cells; None for all.
    """
    reading = runs.read(arm)
    counts = [_runs_that_do(cell, generalize) for cell in reading.arms[0]]
    return settle(
        counts,
        least=len(counts) if least is None else least,
        trial="runs",
        does="generalize" if generalize else "do not generalize",
        reading=reading,
    )


def _runs_that_do(trained: TrainedCell, generalize: bool) -> Count:
    """Count of a cell's fitting runs that generalize, or that do not."""
    outcomes = [outcome(history, threshold=history[0].evaluation.threshold) for history in trained.histories]
    fitting = [run_outcome for run_outcome in outcomes if run_outcome.fits]
    return Count(
        cell=str(trained.cell),
        did=sum(run_outcome.generalizes is generalize for run_outcome in fitting),
        trials=len(fitting),
        of=len(outcomes),
        note="" if len(fitting) == len(outcomes) else f"; {len(outcomes) - len(fitting)} more runs do not fit",
    )


def _learned_labels(id: str, encoding: str, how: str) -> Claim:
    """Claim on an encoding of Figure 4, whose labels are learned."""
    return Claim(
        id=id,
        source=figure(4),
        statement=f"Labels learned {how}, trained on scales 1-10, generalize to scale 20 on at least two of three "
        "tasks: selecting the first, the middle and the last symbol.",
        latex=rf"{_MOST_SUCCEED}\ \text{{on at least 2 of 3 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": Arm(protocol="fig4", encodings=(encoding,)), "generalize": True, "least": 2},
        answers=("generalize", "least"),
        falsifiers={"so do learned absolute codes on copy, shift and parity": {"arm": _ABSOLUTE_OF_THREE}},
    )


def _absolute(id: str, what: str, encoding: str, tasks: str) -> Claim:
    """Claim that an absolute code does not extrapolate."""
    return Claim(
        id=id,
        source=SURVEY,
        statement=f"{what} do not extrapolate: trained to {tasks} 1 to 5 symbols, most models do not reach 20.",
        latex=rf"{_MOST_FAIL}\ \text{{on each task}}",
        label="P",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="randomized", encodings=(encoding,)),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does the ideal encoding": {"arm": _COPY}},
    )


def most_pairs(
    *, runs: Runs, arm: Arm, other: Arm, measure: str, scales: Sequence[int], wins: Callable[[float], bool], does: str
) -> Evidence:
    """Decide if in every cell most pairs of runs with the same seed, both fitting, differ as `wins` says.

    The difference is the mean of `measure` (a column of the metrics) over the scales at the last checkpoint, `arm`
    minus `other`. The cells of the two arms are paired in their order. `does` is the verb phrase for the report.
    """
    reading = runs.read(arm, other)
    counts = [_pairs_won(first, second, measure, scales, wins) for first, second in zip(*reading.arms, strict=True)]
    return settle(counts, least=len(counts), trial="pairs", does=does, reading=reading)


def _pairs_won(
    first: TrainedCell, second: TrainedCell, measure: str, scales: Sequence[int], wins: Callable[[float], bool]
) -> Count:
    """Count of the pairs of runs whose difference `wins` accepts."""
    if replace(first.cell.task, format=second.cell.task.format) != second.cell.task:
        raise ValueError(f"{first.cell} and {second.cell} are different tasks")
    pairs = list(zip(first.histories, second.histories, strict=True))
    differences = [
        _mean(first_run, measure, scales) - _mean(second_run, measure, scales)
        for first_run, second_run in pairs
        if _fits(first_run) and _fits(second_run)
    ]
    reach = f"; differences {min(differences):.3f} to {max(differences):.3f}" if differences else ""
    return Count(
        cell=f"{first.cell} against {second.cell.task.format}, {second.cell.encoding}",
        did=sum(map(wins, differences)),
        trials=len(differences),
        of=len(pairs),
        note=f"{reach}; {len(pairs)} pairs in all",
    )


def _fits(history: History) -> bool:
    """True if the run solves its training scales."""
    return outcome(history, threshold=history[0].evaluation.threshold).fits


def _mean(history: History, measure: str, scales: Sequence[int]) -> float:
    """Mean of a measure over the scales, at the last checkpoint."""
    _, rows = history
    *_, last = by_checkpoint(rows).values()
    return fmean(getattr(last[scale], measure) for scale in scales)


def predictions_agree(*, runs: Runs, protocol: str, rule: str, negated: bool) -> Evidence:
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
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(
            f"{agree}, p = {more:.2g} over rearrangements of tasks and encodings; Fisher's exact test, cells taken for "
            f"independent: {agreement['fisher_p']:.2g}",
            f"predicted yes: {table['yes_yes']} do, {table['yes_no']} do not; predicted no: {table['no_yes']} do, "
            f"{table['no_no']} do not; {table['not_observed']} without a fitting run or with a tie",
            f"not as predicted: {', '.join(missed) or 'none'}",
            reading.fact,
        ),
        assumptions=(*reading.conditions, "predictions were stored before training: every run names theirs by hash"),
    )


def _read_predictions(path: Path) -> Predictions:
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
    trained: TrainedCell, predicted: Predictions, frozen: FrozenCell | None, store: RunStore
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


def _prediction_claim(rule: str, label: Literal["P", "F"], statement: str, latex: str) -> Claim:
    """Claim that a rule's predictions agree with the trained runs."""
    return Claim(
        id=f"conjecture-{rule}",
        source=CONJECTURE,
        statement=f"{statement} agrees with the trained runs of Figure 2's tasks and encodings in more cells than "
        "expected by chance.",
        latex=latex,
        label=label,
        check=predictions_agree,
        holds={"runs": NONE, "protocol": "fig2", "rule": rule, "negated": False},
        falsifiers={"the predictions negated": {"negated": True}},
    )


CLAIMS = (
    Claim(
        id="fig2-ideal",
        source=figure(2),
        statement="Trained on scales 1-5, the ideal encoding (for Shift with scale hint) generalizes to scale 20 on "
        "Copy, Shift, Parity, Addition, Multiplication and Division.",
        latex=rf"{_MOST_SUCCEED}\ \text{{on each of 6 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": _IDEAL, "generalize": True, "least": None},
        answers=("generalize", "least"),
        falsifiers={"learned absolute codes do": {"arm": _ABSOLUTE}},
    ),
    Claim(
        id="fig2-absolute",
        source=figure(2),
        statement="Trained on scales 1-5, learned absolute codes generalize to scale 20 on none of the six tasks.",
        latex=rf"{_MOST_FAIL}\ \text{{on each of 6 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": _ABSOLUTE, "generalize": False, "least": None},
        answers=("generalize", "least"),
        falsifiers={"the ideal encoding on none": {"arm": _IDEAL}},
    ),
    _learned_labels("fig4-hint", "lbpe-sh", "with scale hint"),
    _learned_labels("fig4-no-hint", "lbpe", "without scale hint"),
    Claim(
        id="control-growing",
        source=CONJECTURE,
        statement="If SRC grows with the scale (each step applies a different permutation), no encoding tried "
        "generalizes, not even the one with the task's roles and scale hint.",
        latex=rf"\mathrm{{SRC}}(20)>\mathrm{{SRC}}(5)\Rightarrow{_MOST_FAIL}",
        label="F",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="controls", tasks=("permutation",)),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does copying, whose SRC stays": {"arm": _COPY}},
    ),
    Claim(
        id="control-infeasible",
        source=CONJECTURE,
        statement="If no operators of bounded arity compute the task (parity and long multiplication without CoT), no "
        "encoding tried generalizes.",
        latex=rf"\mathrm{{SRC}}(20)=\infty\Rightarrow{_MOST_FAIL}",
        label="F",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="controls", tasks=("parity-direct", "multiplication-nn")),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does copying, whose SRC stays": {"arm": _COPY}},
    ),
    _absolute("ape-4", "Learned absolute codes", "ape", "copy or to reverse"),
    _absolute("sin-6", "Sinusoidal codes", "sinusoidal", "copy"),
    Claim(
        id="fig3-hint",
        source=figure(3),
        statement="The ideal encoding with scale hint, on data that are not aligned, matches the ideal encoding on "
        f"aligned data: in Addition, Multiplication and Division most pairs of runs with the same seed differ by at "
        f"most {MARGIN:g} in mean exact match at scales 16-20.",
        latex=rf"\Pr(\lvert a_{{16..20}}-b_{{16..20}}\rvert\le{MARGIN:g})>\tfrac12\ \text{{on each of 3 tasks}}",
        label="F",
        check=most_pairs,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="fig3", encodings=("ipe-sh",), tasks=_ARITHMETIC),
            "other": Arm(protocol="fig3", encodings=("ipe",), tasks=_ARITHMETIC),
            "measure": "exact_match",
            "scales": range(16, 21),
            "wins": lambda difference: abs(difference) <= MARGIN,
            "does": f"are at most {MARGIN:g} apart",
        },
        falsifiers={
            "learned absolute codes match it": {
                "arm": Arm(protocol="fig2", encodings=("ape",), formats=_PADDED, tasks=_ARITHMETIC)
            },
            "the hint is better by more than the margin": {
                "wins": lambda difference: difference > MARGIN,
                "does": f"are more than {MARGIN:g} better",
            },
        },
    ),
    Claim(
        id="rpe-7",
        source=RANDOMIZED,
        statement="Random positions beat plain ones at unseen lengths: trained to copy and to reverse 1 to 5 symbols, "
        "with learned absolute and with relative codes, most runs have a higher mean token accuracy at scales 6-20 "
        "than the plain run with the same seed.",
        latex=r"\Pr(a^{\text{drawn}}_{6..20}>a^{\text{plain}}_{6..20})>\tfrac12\ \text{on each of 4 pairs}",
        label="P",
        check=most_pairs,
        holds={
            "runs": NONE,
            "arm": _RANDOM,
            "other": _PLAIN,
            "measure": "token_accuracy",
            "scales": range(6, 21),
            "wins": lambda difference: difference > 0,
            "does": "are better",
        },
        falsifiers={"plain positions beat those drawn": {"arm": _PLAIN, "other": _RANDOM}},
    ),
    _prediction_claim(
        "literal",
        "P",
        "The rule that an encoding generalizes iff its induced complexity stays the same, read literally,",
        r"\text{LG}\iff\mathrm{SRC}_\phi(20)=\mathrm{SRC}_\phi(5)<\infty",
    ),
    _prediction_claim(
        "coverage",
        "F",
        "The rule that an encoding generalizes iff its induced complexity stays the same and training meets every "
        "label and operator entry",
        r"\text{LG}\iff\mathrm{SRC}_\phi(20)=\mathrm{SRC}_\phi(5)<\infty\ \text{and all entries are met}",
    ),
)
