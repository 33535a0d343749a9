"""Stored protocols on the page: what was predicted, and the verdicts of each conjecture.json."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empirical.files import read_json
from empirical.protocol import load_protocol, names
from paper_figs.report.plain import part, rounded, texts
from theory.errors import LengthgenError

PREDICTIONS, CONJECTURE = "predictions.json", "conjecture.json"

_SHARES = ("fit", "generalizes_given_fit", "generalizes")
_CHANCES = ("p_against", "p_for", "p_against_holm", "p_for_holm")
_TABLE = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")


@dataclass(frozen=True, kw_only=True)
class TrialsData:
    """What the page holds of protocols.

    Attributes:
        trials: those that were judged.
        missing: what is not there, and the command that makes it.
        broken: file -> what is wrong.
        hashes: file -> SHA-256 of what was read.
    """

    trials: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def trials_data(out: Path, profile: str) -> TrialsData:
    """Every folder of `out` that holds a protocol's files, and every protocol of the project that has none there."""
    data = TrialsData()
    stored = {path.parent.name for name in (PREDICTIONS, CONJECTURE) for path in out.glob(f"[!.]*/{name}")}
    for name in sorted(stored | set(names())):
        title, source = _named(name, profile)
        judged, predicted = out / name / CONJECTURE, out / name / PREDICTIONS
        made = shlex.join(["lengthgen", "conjecture", name, "--profile", profile, "--out", str(out)])
        for path in (judged, predicted):
            if path.is_file():
                data.hashes[f"{name}/{path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
        if judged.is_file():
            try:
                data.trials.append({"name": name, "title": title, "source": source, **_trial(read_json(judged))})
            except (LengthgenError, KeyError, TypeError, ValueError, AttributeError) as error:
                reason = str(error) if isinstance(error, LengthgenError) else f"{type(error).__name__}: {error}"
                data.broken[f"{name}/{CONJECTURE}"] = f"{reason}: it is made again by  {made}"
        elif name in stored:
            data.missing.append((f"verdicts of {name}, which is predicted and not judged yet", made))
        else:
            data.missing.append((f"runs and verdicts of {name}: {title}", made))
    return data


def _named(name: str, profile: str) -> tuple[str, str]:
    """Title and source of a protocol of the project; of another only its name is known."""
    if name not in names():
        return name, ""
    protocol = load_protocol(name, profile)
    return protocol.title, protocol.source


def _trial(content: Any) -> dict[str, Any]:
    """Raises `KeyError`, `TypeError` or `ValueError` for what is no trial."""
    main = part(content, "main")
    return {
        "main": {key: str(main[key]) for key in ("size", "checkpoint", "mode", "threshold")},
        "alpha": rounded(float(content["alpha"])),
        "confidence": rounded(float(content["confidence"])),
        "runs_needed": int(content["runs_needed"]),
        "rules": {str(rule): _rule(its) for rule, its in part(content, "rules").items()},
        "cells": [_cell(cell) for cell in content["cells"]],
    }


def _rule(its: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": {key: int(its["table"][key]) for key in _TABLE},
        "agreement": _number(its["agreement"]),
        "fisher_p": _number(its["fisher_p"]),
        "misclassified": texts(its["misclassified"]),
        "refuted_by": texts(its["refuted_by"]),
    }


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    prediction = cell["prediction"]
    return {
        **{key: str(cell[key]) for key in ("task", "format", "encoding", "size", "verdict")},
        **{key: _answer(cell[key]) for key in ("predicted", "literal", "observed")},
        **{key: _share(part(cell, key)) for key in _SHARES},
        **{key: _number(cell[key]) for key in _CHANCES},
        "breaks": [
            prediction and _number(prediction["breaks_at"]),
            cell["breaking"] and _number(part(cell, "breaking")["observed"]),
        ],
        "before": bool(cell["predicted_before_training"]),
        "why": str(prediction["why"]) if prediction else "",
        "findings": [str(one["says"]) for one in cell["diagnosis"]],
    }


def _share(its: Mapping[str, Any]) -> list[Any]:
    return [int(its["successes"]), int(its["trials"]), _number(its["low"]), _number(its["high"])]


def _number(value: Any) -> float | None:
    return None if value is None else rounded(float(value))


def _answer(value: Any) -> bool | None:
    return None if value is None else bool(value)
