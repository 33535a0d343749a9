"""Data of the verdicts view of the report page: predictions and verdicts of each stored protocol."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from circuits.prediction_record import RULES
from empirical.runs.protocol import load_protocol, names
from paper_figs.report.plain import rounded, text, texts
from paper_figs.stored import read_trial
from theory.system.errors import LengthgenError, in_words
from theory.system.files import DamagedFile, read_bytes, read_sealed_json

PREDICTIONS, CONJECTURE = "predictions.json", "conjecture.json"

_SHARES = ("fit", "generalizes_given_fit", "generalizes")
_EVIDENCE = ("e_against", "e_for")
_TABLE = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")


@dataclass(frozen=True, kw_only=True)
class TrialsData:
    """Page data of the stored protocols.

    Attributes:
        trials: data of each judged protocol.
        missing: pairs of a missing thing and the command that makes it.
        broken: map from a file that cannot be used to the reason.
        hashes: map from file to SHA-256 of its content.
    """

    trials: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def trials_data(out: Path, profile: str) -> TrialsData:
    """Read all protocol folders of `out`, and list the built-in protocols that have no files there as missing."""
    data = TrialsData()
    stored = {path.parent.name for name in (PREDICTIONS, CONJECTURE) for path in out.glob(f"[!.]*/{name}")}
    for name in sorted(stored | set(names())):
        title, source = _title_and_source(name, profile)
        judged, predicted = out / name / CONJECTURE, out / name / PREDICTIONS
        command = shlex.join(["lengthgen", "conjecture", name, "--profile", profile, "--out", str(out)])
        for path in (judged, predicted):
            try:
                if path.exists():
                    data.hashes[f"{name}/{path.name}"] = hashlib.sha256(read_bytes(path)).hexdigest()
                    if path == judged:
                        data.trials.append(
                            {
                                "name": text(name),
                                "title": title,
                                "source": source,
                                **_trial_data(read_trial(path, command)),
                            }
                        )
                    else:
                        read_sealed_json(path)
            except DamagedFile as error:
                data.broken[f"{name}/{path.name}"] = f"{error}: make it again with  {command}"
            except (LengthgenError, OSError) as error:
                data.broken[f"{name}/{path.name}"] = in_words(error)
        if not judged.exists():
            if name in stored:
                data.missing.append((f"verdicts of {name}, which is predicted and not judged yet", command))
            else:
                data.missing.append((f"runs and verdicts of {name}: {title}", command))
    return data


def _title_and_source(name: str, profile: str) -> tuple[str, str]:
    """Return title and source of a built-in protocol; of another one only its name is known."""
    if name not in names():
        return text(name), ""
    protocol = load_protocol(name, profile)
    return protocol.title, protocol.source


def _trial_data(content: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a trial from `read_trial` to the data of the page."""
    main = content["main"]
    return {
        "main": {key: text(str(main[key])) for key in ("size", "checkpoint", "mode", "threshold")},
        "alpha": rounded(content["alpha"]),
        "confidence": rounded(content["confidence"]),
        "unanimous_runs": content["unanimous_runs"],
        "rules": {rule: _rule_data(content["rules"][rule]) for rule in RULES if rule in content["rules"]},
        "cells": [_cell_data(cell) for cell in content["cells"]],
    }


def _rule_data(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": {key: rule["table"][key] for key in _TABLE},
        "agreement": rounded(rule["agreement"]),
        "fisher_p": rounded(rule["fisher_p"]),
        "misclassified": texts(rule["misclassified"]),
        "refuted_by": texts(rule["refuted_by"]),
    }


def _cell_data(cell: Mapping[str, Any]) -> dict[str, Any]:
    prediction, breaking = cell["prediction"], cell["breaking"]
    return {
        **{key: text(cell[key]) for key in ("task", "format", "encoding", "size", "verdict")},
        **{key: cell[key] for key in ("predicted", "literal", "observed")},
        **{key: _share_data(cell[key]) for key in _SHARES},
        **{key: rounded(cell[key]) for key in _EVIDENCE},
        "breaks": [prediction and rounded(prediction["breaks_at"]), breaking and rounded(breaking["observed"])],
        "before": cell["predicted_before_training"],
        "why": text(prediction["why"]) if prediction else "",
        "findings": [text(finding["says"]) for finding in cell["diagnosis"]],
    }


def _share_data(share: Mapping[str, Any]) -> list[Any]:
    return [share["successes"], share["trials"], rounded(share["low"]), rounded(share["high"])]
