"""Reading of stored JSON answers for figures and the report page.

The answers are the trial of a protocol, the ledger of claims, and runs that the page has read before. An answer is
used only if its seal is intact and every value has the expected type. Otherwise the error names the file and the
command that makes it again.
"""

from pathlib import Path
from typing import Any

from lengthgen.infrastructure.shapes import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Shape,
    WrongShape,
    both,
    either,
    if_given,
    list_of,
    mapping_to,
    or_none,
    read_stored,
    record,
    row,
)


def read_trial(path: Path, again: str) -> dict[str, Any]:
    """Read a conjecture.json, as `lengthgen.empirical.trial.trial.as_json` made it.

    `again` is the command that makes it again.

    Raises:
        DamagedFile: the file was changed after it was written, or holds no trial; the message names the file and the
            command.
        OSError: the file cannot be read.
    """
    return _read(path, _TRIAL, "trial", again)


def read_claims(path: Path, again: str) -> list[dict[str, Any]]:
    """Read the claims of a claims.json (proofs_checks/report.py). Arguments and errors as `read_trial`."""
    claims: list[dict[str, Any]] = _read(path, _LEDGER, "claims", again)["answer"]["claims"]
    return claims


def read_circuits(path: Path, again: str) -> dict[str, Any]:
    """Read a circuits.json (`lengthgen.paper_figs.report.trial_circuits`). Arguments and errors as `read_trial`."""
    circuits: dict[str, Any] = _read(path, _CIRCUITS, "circuits", again)["answer"]
    return circuits


def _read(path: Path, shape: Shape, what: str, again: str, *, sealed: bool = True) -> dict[str, Any]:
    content: dict[str, Any] = read_stored(path, shape, what, f"make it again with  {again}", sealed=sealed)
    return content


def _scale_numbers(value: Any, where: str) -> None:
    """Check a mapping from scales, written as text, to numbers."""
    mapping_to(NUMBER)(value, where)
    if not all(key.isdecimal() and len(key) < 10 for key in value):
        raise WrongShape(f"{where} has a key that is not a scale")


def _labels_in_pool(value: Any, where: str) -> None:
    """Check that every encoding of a checked circuits.json names labels of its pool."""
    numbers = [
        number
        for exploration in value["explorations"]
        for its in exploration["encodings"].values()
        for number in its.get("labels") or []
    ]
    if not all(0 <= number < len(value["pool"]) for number in numbers):
        raise WrongShape(f"{where} names labels that it does not have")


SHARE = record(successes=COUNT, trials=COUNT, low=NUMBER, high=NUMBER)
_BREAKING = record(
    predicted=or_none(NUMBER),
    observed=or_none(NUMBER),
    range=or_none(list_of(NUMBER)),
    exact=record(successes=COUNT),
)
_RECORDED_CELL = record(
    **dict.fromkeys(("task", "format", "encoding", "size", "verdict"), TEXT),
    **dict.fromkeys(("predicted", "literal", "observed"), or_none(FLAG)),
    **dict.fromkeys(("fit", "generalizes_given_fit", "generalizes"), SHARE),
    prediction=or_none(record(breaks_at=or_none(NUMBER), why=TEXT)),
    breaking=or_none(_BREAKING),
    disagrees_with=list_of(TEXT),
    diagnosis=list_of(record(kind=TEXT, says=TEXT)),
    outcomes=list_of(record(seed=COUNT, fits=FLAG, first_failure=or_none(NUMBER), exact_match=_scale_numbers)),
    predicted_before_training=FLAG,
)
_FORECAST = record(
    **dict.fromkeys(("share", "low", "high"), NUMBER),
    breaks_at=or_none(NUMBER),
    why=TEXT,
    recorded=record(runs=COUNT, generalize=COUNT),
)
_E_VALUES = record(**dict.fromkeys(("e_against", "e_for"), or_none(NUMBER)))
_COUNTS = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")
_RULE = record(
    table=record(**dict.fromkeys(_COUNTS, COUNT)),
    agreement=or_none(NUMBER),
    fisher_p=NUMBER,
    permutation=mapping_to(record(p=NUMBER)),
    misclassified=list_of(TEXT),
    refuted_by=list_of(TEXT),
)


def _rules(value: Any, where: str) -> None:
    """Check the rules of a trial: two that every version has, and any others in the same form."""
    record(coverage=_RULE, literal=_RULE)(value, where)
    mapping_to(_RULE)(value, where)


_RECORD = record(
    main=record(size=TEXT, checkpoint=TEXT, mode=TEXT, threshold=NUMBER),
    alpha=NUMBER,
    confidence=NUMBER,
    rules=_rules,
    breaking=record(**dict.fromkeys(("cells", "as_predicted", "earlier", "later", "never"), COUNT)),
    cells=list_of(_RECORDED_CELL),
)
CLAIM = record(
    **dict.fromkeys(("id", "verdict", "statement", "latex", "label", "reason"), TEXT),
    source=record(paper=TEXT, arxiv=TEXT, place=TEXT),
    strength=or_none(TEXT),
    seconds=or_none(NUMBER),
    facts=list_of(TEXT),
    assumptions=list_of(TEXT),
    falsifiers=list_of(record(name=TEXT, rejected=FLAG, reason=TEXT)),
)
SHOWN_RUN = record(
    epochs=list_of(COUNT),
    loss=list_of(or_none(NUMBER)),
    exact=list_of(list_of(or_none(NUMBER))),
    seconds=or_none(NUMBER),
    peak_memory_mib=or_none(NUMBER),
    time=TEXT,
    environment=record(**dict.fromkeys(("device", "machine", "python", "revision"), TEXT), versions=mapping_to(TEXT)),
)
"""Shape of a run as `lengthgen.paper_figs.report.runs` keeps it."""
_JUDGED = record(
    rules=mapping_to(_RULE),
    unanimous_runs=COUNT,
    train=list_of(COUNT),
    cells=list_of(both(_E_VALUES, if_given(forecast=_FORECAST))),
)
_LIMIT = either(COUNT, TEXT)
_STEP = row(COUNT, COUNT, list_of(row(COUNT, COUNT)))
_INSTANCE = either(record(names=list_of(TEXT), steps=list_of(_STEP)), record(length=COUNT))
_PREDICTION = record(
    relation=or_none(TEXT),
    why=TEXT,
    **dict.fromkeys(("generalizes", "scale_hint", "labels_covered", "entries_covered", "literal"), or_none(FLAG)),
    **dict.fromkeys(("complexity_train", "complexity_test", "unseen_distractors", "breaks_at"), or_none(_LIMIT)),
)
_CIRCUIT = record(
    src=list_of(row(_LIMIT, _LIMIT)),
    status=TEXT,
    **dict.fromkeys(("arity", "inputs"), COUNT),
    coverage_scale=or_none(COUNT),
    roles=list_of(list_of(row(COUNT, COUNT))),
)


def _explored(labels: Shape) -> Shape:
    """Shape of an exploration of a task (`relations.explored`), given that of each list of labels."""
    return both(
        record(
            **dict.fromkeys(("task", "format"), TEXT),
            largest=COUNT,
            train=or_none(row(COUNT, COUNT)),
            scales=list_of(_INSTANCE),
            encodings=mapping_to(if_given(prediction=_PREDICTION, labels=list_of(labels), why=TEXT)),
        ),
        either(_CIRCUIT, record(why=TEXT)),
    )


def exploration(value: Any, where: str) -> None:
    """Check an exploration, or the reason why there is none (`lengthgen.paper_figs.report.relations.explore`)."""
    record(**dict.fromkeys(("task", "format"), TEXT))(value, where)
    (_explored(list_of(COUNT)) if "encodings" in value else record(why=TEXT))(value, where)


POOLED = both(record(explorations=list_of(_explored(COUNT)), pool=list_of(list_of(COUNT))), _labels_in_pool)
"""Shape of the answer in a circuits.json."""
_CIRCUITS = record(answer=POOLED)
_TRIAL = both(_RECORD, _JUDGED)
_LEDGER = record(answer=record(claims=list_of(CLAIM)))
