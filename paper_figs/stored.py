"""Stored answers that figures and the page read: the trial of a protocol, the ledger of claims, runs read before.

An answer is believed if its seal is whole and every value has the type that is read; else its file is named, with the
command that makes it again.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theory.system.errors import LengthgenError
from theory.system.files import DamagedFile, read_sealed_json

Check = Callable[[Any, str], None]
"""Looks at a value and at the name of its place; raises _Wrong."""
LARGEST = 1 << 63
"""No number is larger."""


class _Wrong(Exception):
    """A value that is not what its place asks for."""


def read_trial(path: Path, again: str) -> dict[str, Any]:
    """A conjecture.json, as `empirical.trial.trial.as_json` made it.

    Args:
        path: the file.
        again: the command that makes it again.

    Raises:
        LengthgenError: it is not as it was written, or holds no trial; the message names both.
        OSError: it cannot be read.
    """
    return _read(path, _TRIAL, "trial", again)


def read_claims(path: Path, again: str) -> list[dict[str, Any]]:
    """The claims of a claims.json, as `proofs_checks.report.as_json` has them. Arguments and errors as `read_trial`."""
    claims: list[dict[str, Any]] = _read(path, _LEDGER, "claims", again)["answer"]["claims"]
    return claims


def is_shown_run(content: Any) -> bool:
    """Whether this is what `paper_figs.report.runs` remembers of a run that it has read."""
    try:
        _RUN(content, "run")
    except _Wrong:
        return False
    return True


def _read(path: Path, check: Check, what: str, again: str) -> dict[str, Any]:
    try:
        content = read_sealed_json(path)
        check(content, what)
    except DamagedFile as error:
        raise LengthgenError(f"{error}: make it again with  {again}") from error
    except _Wrong as error:
        raise LengthgenError(f"{path} holds no {what} ({error}): make it again with  {again}") from error
    return content


def _is(name: str, *kinds: type) -> Check:
    def check(value: Any, where: str) -> None:
        if type(value) not in kinds:
            raise _Wrong(f"{where} is {type(value).__name__}, not {name}")
        if type(value) is int and abs(value) > LARGEST:
            raise _Wrong(f"{where} is too large")

    return check


def _record(**fields: Check) -> Check:
    """A mapping with at least these keys."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _Wrong(f"{where} is {type(value).__name__}, not a mapping")
        for key, of_key in fields.items():
            if key not in value:
                raise _Wrong(f"{where} has no {key}")
            of_key(value[key], f"{where}.{key}")

    return check


def _each(of_one: Check) -> Check:
    """A list of such values."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _Wrong(f"{where} is {type(value).__name__}, not a list")
        for place, one in enumerate(value):
            of_one(one, f"{where}[{place}]")

    return check


def _named(of_one: Check) -> Check:
    """A mapping from any texts to such values."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _Wrong(f"{where} is {type(value).__name__}, not a mapping")
        for key, one in value.items():
            of_one(one, f"{where}.{key}")

    return check


def _scales(value: Any, where: str) -> None:
    """A mapping from whole numbers, written as texts, to numbers."""
    _named(_NUMBER)(value, where)
    if not all(key.isdecimal() and len(key) < 10 for key in value):
        raise _Wrong(f"{where} has a key that is no scale")


def _or_none(of_one: Check) -> Check:
    def check(value: Any, where: str) -> None:
        if value is not None:
            of_one(value, where)

    return check


_TEXT, _FLAG, _COUNT = _is("a text", str), _is("true or false", bool), _is("a whole number", int)
_NUMBER = _is("a number", int, float)
_SHARE = _record(successes=_COUNT, trials=_COUNT, low=_NUMBER, high=_NUMBER)
_BREAKING = _record(
    predicted=_or_none(_NUMBER),
    observed=_or_none(_NUMBER),
    range=_or_none(_each(_NUMBER)),
    exact=_record(successes=_COUNT),
)
_CELL = _record(
    **dict.fromkeys(("task", "format", "encoding", "size", "verdict"), _TEXT),
    **dict.fromkeys(("predicted", "literal", "observed"), _or_none(_FLAG)),
    **dict.fromkeys(("fit", "generalizes_given_fit", "generalizes"), _SHARE),
    **dict.fromkeys(("p_against", "p_for", "p_against_holm", "p_for_holm"), _or_none(_NUMBER)),
    prediction=_or_none(_record(breaks_at=_or_none(_NUMBER), why=_TEXT)),
    breaking=_or_none(_BREAKING),
    disagrees_with=_each(_TEXT),
    diagnosis=_each(_record(kind=_TEXT, says=_TEXT)),
    outcomes=_each(_record(seed=_COUNT, fits=_FLAG, first_failure=_or_none(_NUMBER), exact_match=_scales)),
    predicted_before_training=_FLAG,
)
_COUNTS = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")
_RULE = _record(
    table=_record(**dict.fromkeys(_COUNTS, _COUNT)),
    agreement=_or_none(_NUMBER),
    fisher_p=_NUMBER,
    permutation=_named(_record(p=_NUMBER)),
    misclassified=_each(_TEXT),
    refuted_by=_each(_TEXT),
)
_TRIAL = _record(
    main=_record(size=_TEXT, checkpoint=_TEXT, mode=_TEXT, threshold=_NUMBER),
    alpha=_NUMBER,
    confidence=_NUMBER,
    runs_needed=_COUNT,
    rules=_record(coverage=_RULE, literal=_RULE),
    breaking=_record(**dict.fromkeys(("cells", "as_predicted", "earlier", "later", "never"), _COUNT)),
    cells=_each(_CELL),
)
_CLAIM = _record(
    **dict.fromkeys(("id", "verdict", "statement", "latex", "label", "reason"), _TEXT),
    source=_record(paper=_TEXT, arxiv=_TEXT, place=_TEXT),
    strength=_or_none(_TEXT),
    seconds=_or_none(_NUMBER),
    facts=_each(_TEXT),
    assumptions=_each(_TEXT),
    falsifiers=_each(_record(name=_TEXT, rejected=_FLAG, reason=_TEXT)),
)
_RUN = _record(
    epochs=_each(_COUNT),
    loss=_each(_or_none(_NUMBER)),
    exact=_each(_each(_or_none(_NUMBER))),
    seconds=_or_none(_NUMBER),
    peak_memory_mib=_or_none(_NUMBER),
    time=_TEXT,
    environment=_record(**dict.fromkeys(("device", "machine", "python", "revision"), _TEXT), versions=_named(_TEXT)),
)
_LEDGER = _record(answer=_record(claims=_each(_CLAIM)))
