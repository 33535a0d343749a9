"""Stored protocols on the page: what was predicted, and the verdicts of each conjecture.json."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empirical.runs.protocol import load_protocol, names
from empirical.trial.conjecture import RULES
from paper_figs.report.plain import rounded, text, texts
from paper_figs.stored import read_trial
from theory.system.errors import LengthgenError
from theory.system.files import DamagedFile, read_bytes, read_sealed_json

PREDICTIONS, CONJECTURE = "predictions.json", "conjecture.json"

_SHARES = ("fit", "generalizes_given_fit", "generalizes")
_CHANCES = ("p_against", "p_for", "p_against_holm", "p_for_holm")
_TABLE = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")


@dataclass(frozen=True, kw_only=True)
class TrialsData:
    """Stored protocols as the page holds them.

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
            try:
                if path.exists():
                    data.hashes[f"{name}/{path.name}"] = hashlib.sha256(read_bytes(path)).hexdigest()
                    if path == judged:
                        data.trials.append(
                            {"name": text(name), "title": title, "source": source, **_trial(read_trial(path, made))}
                        )
                    else:
                        read_sealed_json(path)
            except DamagedFile as error:
                data.broken[f"{name}/{path.name}"] = f"{error}: make it again with  {made}"
            except (LengthgenError, OSError) as error:
                data.broken[f"{name}/{path.name}"] = str(error)
        if not judged.exists():
            if name in stored:
                data.missing.append((f"verdicts of {name}, which is predicted and not judged yet", made))
            else:
                data.missing.append((f"runs and verdicts of {name}: {title}", made))
    return data


def _named(name: str, profile: str) -> tuple[str, str]:
    """Title and source of a protocol of the project; of another only its name is known."""
    if name not in names():
        return text(name), ""
    protocol = load_protocol(name, profile)
    return protocol.title, protocol.source


def _trial(content: Mapping[str, Any]) -> dict[str, Any]:
    """A trial as the page holds it, from one that `read_trial` has read."""
    main = content["main"]
    return {
        "main": {key: text(str(main[key])) for key in ("size", "checkpoint", "mode", "threshold")},
        "alpha": rounded(content["alpha"]),
        "confidence": rounded(content["confidence"]),
        "runs_needed": content["runs_needed"],
        "rules": {rule: _rule(content["rules"][rule]) for rule in RULES},
        "cells": [_cell(cell) for cell in content["cells"]],
    }


def _rule(its: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": {key: its["table"][key] for key in _TABLE},
        "agreement": rounded(its["agreement"]),
        "fisher_p": rounded(its["fisher_p"]),
        "misclassified": texts(its["misclassified"]),
        "refuted_by": texts(its["refuted_by"]),
    }


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    prediction, breaking = cell["prediction"], cell["breaking"]
    return {
        **{key: text(cell[key]) for key in ("task", "format", "encoding", "size", "verdict")},
        **{key: cell[key] for key in ("predicted", "literal", "observed")},
        **{key: _share(cell[key]) for key in _SHARES},
        **{key: rounded(cell[key]) for key in _CHANCES},
        "breaks": [prediction and rounded(prediction["breaks_at"]), breaking and rounded(breaking["observed"])],
        "before": cell["predicted_before_training"],
        "why": text(prediction["why"]) if prediction else "",
        "findings": [text(one["says"]) for one in cell["diagnosis"]],
    }


def _share(its: Mapping[str, Any]) -> list[Any]:
    return [its["successes"], its["trials"], rounded(its["low"]), rounded(its["high"])]
