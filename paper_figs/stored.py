"""Reading of stored JSON answers for figures and the report page.

The answers are the trial of a protocol, the ledger of claims, and runs that the page has read before. An answer is
used only if its seal is intact and every value has the expected type. Otherwise the error names the file and the
command that makes it again.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from theory.system.errors import LengthgenError
from theory.system.files import SEAL, DamagedFile, read_json, read_sealed_json

Check = Callable[[Any, str], None]
"""Function that checks (value, name of its place) and raises _Wrong if the value does not fit."""
LARGEST = 1 << 63
"""Largest absolute value of an accepted whole number."""


class _Wrong(Exception):
    """Error for a value that does not have the expected type or form."""


def read_trial(path: Path, again: str) -> dict[str, Any]:
    """Read a conjecture.json, as `empirical.trial.trial.as_json` made it.

    Args:
        path: the file.
        again: the command that makes it again.

    Raises:
        LengthgenError: the file was changed after it was written, or holds no trial; the message names the file and
            the command.
        OSError: the file cannot be read.
    """
    return _read(path, _TRIAL, "trial", again)


def read_record(path: Path, again: str) -> dict[str, Any]:
    """Read a conjecture.json of this or of an earlier version; e-values that it lacks are None.

    Arguments and errors as `read_trial`, but a file without a seal is read, as those of the first version are.
    """
    if not is_sealed(path):
        content = _checked(partial(read_json, path), path, _RECORD, "trial", again)
    else:
        content = _read(path, _RECORD, "trial", again)
    cells = [{"e_against": None, "e_for": None} | cell for cell in content["cells"]]
    return content | {"cells": cells}


def is_sealed(path: Path) -> bool:
    """True if a file has a seal; conjecture.json of the first version has none, so that changes of it are not seen."""
    return not path.is_file() or SEAL in path.read_text(encoding="utf-8", errors="replace")


def read_claims(path: Path, again: str) -> list[dict[str, Any]]:
    """Read the claims of a claims.json (`proofs_checks.report.as_json`). Arguments and errors as `read_trial`."""
    claims: list[dict[str, Any]] = _read(path, _LEDGER, "claims", again)["answer"]["claims"]
    return claims


def read_circuits(path: Path, again: str) -> dict[str, Any]:
    """Read a circuits.json (`paper_figs.report.trial_circuits`). Arguments and errors as `read_trial`."""
    circuits: dict[str, Any] = _read(path, _CIRCUITS, "circuits", again)["answer"]
    return circuits


def read_court(path: Path, again: str) -> dict[str, Any]:
    """Read the scores in court/published.json (`lengthgen court`). Arguments and errors as `read_trial`."""
    scores: dict[str, Any] = _read(path, _COURT, "scores of theories", again)["answer"]
    return scores


def is_shown_run(content: Any) -> bool:
    """True if the content has the form in which `paper_figs.report.runs` stores a run that it has read."""
    try:
        _RUN(content, "run")
    except _Wrong:
        return False
    return True


def _read(path: Path, check: Check, content_name: str, again: str) -> dict[str, Any]:
    return _checked(partial(read_sealed_json, path), path, check, content_name, again)


def _checked(read: Callable[[], Any], path: Path, check: Check, content_name: str, again: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = read()
        check(content, content_name)
    except DamagedFile as error:
        raise LengthgenError(f"{error}: make it again with  {again}") from error
    except _Wrong as error:
        raise LengthgenError(f"{path} holds no {content_name} ({error}): make it again with  {again}") from error
    return content


def _of_type(name: str, *kinds: type) -> Check:
    def check(value: Any, where: str) -> None:
        if type(value) not in kinds:
            raise _Wrong(f"{where} is {type(value).__name__}, not {name}")
        if type(value) is int and abs(value) > LARGEST:
            raise _Wrong(f"{where} is too large")

    return check


def _record(**fields: Check) -> Check:
    """Check for a mapping that has at least these keys, each with its own check."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _Wrong(f"{where} is {type(value).__name__}, not a mapping")
        for key, check_field in fields.items():
            if key not in value:
                raise _Wrong(f"{where} has no {key}")
            check_field(value[key], f"{where}.{key}")

    return check


def _list_of(check_item: Check) -> Check:
    """Check for a list whose values all pass the given check."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _Wrong(f"{where} is {type(value).__name__}, not a list")
        for place, item in enumerate(value):
            check_item(item, f"{where}[{place}]")

    return check


def _mapping_to(check_value: Check) -> Check:
    """Check for a mapping with any keys whose values all pass the given check."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _Wrong(f"{where} is {type(value).__name__}, not a mapping")
        for key, item in value.items():
            check_value(item, f"{where}.{key}")

    return check


def _scale_numbers(value: Any, where: str) -> None:
    """Check for a mapping from scales, written as text, to numbers."""
    _mapping_to(_NUMBER)(value, where)
    if not all(key.isdecimal() and len(key) < 10 for key in value):
        raise _Wrong(f"{where} has a key that is not a scale")


def _both(first: Check, second: Check) -> Check:
    def check(value: Any, where: str) -> None:
        first(value, where)
        second(value, where)

    return check


def _either(first: Check, second: Check) -> Check:
    def check(value: Any, where: str) -> None:
        try:
            first(value, where)
        except _Wrong:
            second(value, where)

    return check


def _row(*checks: Check) -> Check:
    """Check for a list with as many values as there are checks, each for one value."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) != len(checks):
            raise _Wrong(f"{where} is no list of {len(checks)}")
        for place, (check_item, item) in enumerate(zip(checks, value, strict=True)):
            check_item(item, f"{where}[{place}]")

    return check


def _if_given(**fields: Check) -> Check:
    """Check for a mapping in which each of these keys may be absent or None."""

    def check(value: Any, where: str) -> None:
        for key, check_field in fields.items():
            _or_none(check_field)(value.get(key), f"{where}.{key}")

    return check


def _labels_in_pool(value: Any, where: str) -> None:
    """Check that every encoding of a checked circuits.json names labels of its pool."""
    numbers = [
        number
        for exploration in value["explorations"]
        for its in exploration["encodings"].values()
        for number in its.get("labels") or []
    ]
    if not all(0 <= number < len(value["pool"]) for number in numbers):
        raise _Wrong(f"{where} names labels that it does not have")


def _or_none(check_value: Check) -> Check:
    def check(value: Any, where: str) -> None:
        if value is not None:
            check_value(value, where)

    return check


_TEXT, _FLAG, _COUNT = _of_type("a text", str), _of_type("true or false", bool), _of_type("a whole number", int)
_NUMBER = _of_type("a number", int, float)
_SHARE = _record(successes=_COUNT, trials=_COUNT, low=_NUMBER, high=_NUMBER)
_BREAKING = _record(
    predicted=_or_none(_NUMBER),
    observed=_or_none(_NUMBER),
    range=_or_none(_list_of(_NUMBER)),
    exact=_record(successes=_COUNT),
)
_RECORDED_CELL = _record(
    **dict.fromkeys(("task", "format", "encoding", "size", "verdict"), _TEXT),
    **dict.fromkeys(("predicted", "literal", "observed"), _or_none(_FLAG)),
    **dict.fromkeys(("fit", "generalizes_given_fit", "generalizes"), _SHARE),
    prediction=_or_none(_record(breaks_at=_or_none(_NUMBER), why=_TEXT)),
    breaking=_or_none(_BREAKING),
    disagrees_with=_list_of(_TEXT),
    diagnosis=_list_of(_record(kind=_TEXT, says=_TEXT)),
    outcomes=_list_of(_record(seed=_COUNT, fits=_FLAG, first_failure=_or_none(_NUMBER), exact_match=_scale_numbers)),
    predicted_before_training=_FLAG,
)
_FORECAST = _record(
    **dict.fromkeys(("share", "low", "high"), _NUMBER),
    breaks_at=_or_none(_NUMBER),
    why=_TEXT,
    recorded=_record(runs=_COUNT, generalize=_COUNT),
)
_E_VALUES = _record(**dict.fromkeys(("e_against", "e_for"), _or_none(_NUMBER)))
_COUNTS = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")
_RULE = _record(
    table=_record(**dict.fromkeys(_COUNTS, _COUNT)),
    agreement=_or_none(_NUMBER),
    fisher_p=_NUMBER,
    permutation=_mapping_to(_record(p=_NUMBER)),
    misclassified=_list_of(_TEXT),
    refuted_by=_list_of(_TEXT),
)


def _rules(value: Any, where: str) -> None:
    """Check the rules of a trial: two that every version has, and any others in the same form."""
    _record(coverage=_RULE, literal=_RULE)(value, where)
    _mapping_to(_RULE)(value, where)


_RECORD = _record(
    main=_record(size=_TEXT, checkpoint=_TEXT, mode=_TEXT, threshold=_NUMBER),
    alpha=_NUMBER,
    confidence=_NUMBER,
    rules=_rules,
    breaking=_record(**dict.fromkeys(("cells", "as_predicted", "earlier", "later", "never"), _COUNT)),
    cells=_list_of(_RECORDED_CELL),
)
_CLAIM = _record(
    **dict.fromkeys(("id", "verdict", "statement", "latex", "label", "reason"), _TEXT),
    source=_record(paper=_TEXT, arxiv=_TEXT, place=_TEXT),
    strength=_or_none(_TEXT),
    seconds=_or_none(_NUMBER),
    facts=_list_of(_TEXT),
    assumptions=_list_of(_TEXT),
    falsifiers=_list_of(_record(name=_TEXT, rejected=_FLAG, reason=_TEXT)),
)
_RUN = _record(
    epochs=_list_of(_COUNT),
    loss=_list_of(_or_none(_NUMBER)),
    exact=_list_of(_list_of(_or_none(_NUMBER))),
    seconds=_or_none(_NUMBER),
    peak_memory_mib=_or_none(_NUMBER),
    time=_TEXT,
    environment=_record(
        **dict.fromkeys(("device", "machine", "python", "revision"), _TEXT), versions=_mapping_to(_TEXT)
    ),
)
_SCORED = _record(verdict=_TEXT, answered=_COUNT)
_COURT_CELL = _record(
    **dict.fromkeys(("name", "evidence", "task", "encoding"), _TEXT),
    **dict.fromkeys(("fit", "generalizes", "train", "test"), _COUNT),
    guesses=_mapping_to(_record(probability=_or_none(_NUMBER), reason=_TEXT)),
)
_COURT = _record(
    answer=_record(
        evidence=_TEXT,
        frozen=_TEXT,
        threshold=_NUMBER,
        theories=_mapping_to(_record(title=_TEXT, verdict=_TEXT, answered=_COUNT)),
        references=_mapping_to(_SCORED),
        controls=_mapping_to(_SCORED),
        cells=_list_of(_COURT_CELL),
        did_not_fit=_list_of(_TEXT),
    )
)
_JUDGED = _record(
    rules=_mapping_to(_RULE),
    unanimous_runs=_COUNT,
    train=_list_of(_COUNT),
    cells=_list_of(_both(_E_VALUES, _if_given(forecast=_FORECAST))),
)
_LIMIT = _either(_COUNT, _TEXT)
_STEP = _row(_COUNT, _COUNT, _list_of(_row(_COUNT, _COUNT)))
_INSTANCE = _either(_record(names=_list_of(_TEXT), steps=_list_of(_STEP)), _record(length=_COUNT))
_PREDICTION = _record(
    relation=_or_none(_TEXT),
    why=_TEXT,
    **dict.fromkeys(("generalizes", "scale_hint", "labels_covered", "entries_covered", "literal"), _or_none(_FLAG)),
    **dict.fromkeys(("complexity_train", "complexity_test", "unseen_distractors", "breaks_at"), _or_none(_LIMIT)),
)
_CIRCUIT = _record(
    src=_list_of(_row(_LIMIT, _LIMIT)),
    status=_TEXT,
    **dict.fromkeys(("arity", "inputs"), _COUNT),
    coverage_scale=_or_none(_COUNT),
    roles=_list_of(_list_of(_row(_COUNT, _COUNT))),
)
_EXPLORATION = _both(
    _record(
        **dict.fromkeys(("task", "format"), _TEXT),
        largest=_COUNT,
        train=_or_none(_row(_COUNT, _COUNT)),
        scales=_list_of(_INSTANCE),
        encodings=_mapping_to(_if_given(prediction=_PREDICTION, labels=_list_of(_COUNT), why=_TEXT)),
    ),
    _either(_CIRCUIT, _record(why=_TEXT)),
)
_CIRCUITS = _record(
    answer=_both(_record(explorations=_list_of(_EXPLORATION), pool=_list_of(_list_of(_COUNT))), _labels_in_pool)
)
_TRIAL = _both(_RECORD, _JUDGED)
_LEDGER = _record(answer=_record(claims=_list_of(_CLAIM)))
