"""Data of the verdicts view of the report page: forecasts, runs and verdicts of each stored trial."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthgen.circuits.prediction_record import RULES
from lengthgen.empirical.experiment.protocol import load_protocol, names
from lengthgen.empirical.trial.frozen import FILE as FROZEN
from lengthgen.empirical.trial.frozen import frozen_protocol, read_predictions
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import read_bytes
from lengthgen.paper_figs.report.plain import rounded, task_name, text, texts
from lengthgen.paper_figs.stored import read_trial

PREDICTIONS, CONJECTURE = "predictions.json", "conjecture.json"

_SHARES = ("fit", "generalizes_given_fit", "generalizes")
_EVIDENCE = ("e_against", "e_for")
_TABLE = ("yes_yes", "yes_no", "no_yes", "no_no", "not_observed", "no_prediction")


@dataclass(frozen=True, kw_only=True)
class TrialsData:
    """Page data of the stored trials.

    Attributes:
        trials: data of each judged trial, those of the user's own tasks first.
        commands: map from the name of each stored trial, in this order, to the command that makes it again.
        unjudged: pairs of a trial that is predicted and not judged, and the command that judges it.
        missing: pairs of a built-in protocol that was not begun and the command that makes it.
        broken: map from a file that cannot be used to the reason.
        hashes: map from file to SHA-256 of its content.
    """

    trials: list[dict[str, Any]] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    unjudged: list[tuple[str, str]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def trials_data(out: Path, profile: str) -> TrialsData:
    """Read all trials of `out`, and list the built-in protocols that have no files there as missing."""
    data, built_in = TrialsData(), names()
    stored = {path.parent.name for name in (PREDICTIONS, CONJECTURE) for path in out.glob(f"[!.]*/{name}")}
    for name in sorted(stored, key=lambda name: (name in built_in, name)):
        title, source = _title_and_source(name, profile)
        judged, predicted = out / name / CONJECTURE, out / name / PREDICTIONS
        command = data.commands[name] = _command(out, name, profile)
        for path in (judged, predicted):
            try:
                if path.exists():
                    data.hashes[f"{name}/{path.name}"] = hashlib.sha256(read_bytes(path)).hexdigest()
                    if path == judged:
                        data.trials.append(
                            {
                                "name": text(name),
                                "own": name not in built_in,
                                "title": title,
                                "source": source,
                                **_trial_data(read_trial(path, command)),
                            }
                        )
                    else:
                        read_predictions(path, f"make it again with  {command}")
            except (LengthgenError, OSError) as error:
                data.broken[f"{name}/{path.name}"] = in_words(error)
        if not judged.exists():
            data.unjudged.append((name, command))
    for name in sorted({*built_in} - stored):
        title, _ = _title_and_source(name, profile)
        data.missing.append((f"runs and verdicts of {name}: {title}", _command(out, name, profile)))
    return data


def _command(out: Path, name: str, profile: str) -> str:
    """Return the command that judges a trial: for a task with the options by which it was predicted."""
    chosen = [name] if name in names() else _chosen(out / name / FROZEN) or [name]
    return shlex.join(["lengthgen", "conjecture", *chosen, "--profile", profile, "--out", str(out)])


def _chosen(path: Path) -> list[str]:
    """Return the task that was frozen in a file, and the options of its cells; nothing if it cannot be told."""
    try:
        protocol = frozen_protocol(path)
        cells = protocol["cells"]
        [(task, base)] = {(cell["task"], cell["base"]) for cell in cells}
        options = {key: ",".join(dict.fromkeys(cell[key] for cell in cells)) for key in ("format", "encoding")}
        scales = {key: ",".join(map(str, protocol[key])) for key in ("train", "test")}
    except (LengthgenError, OSError, LookupError, TypeError, ValueError):
        return []
    options |= scales | ({} if base is None else {"base": str(base)})
    return [task, *(part for key, value in options.items() for part in (f"--{key}", value))]


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
        "train": content["train"],
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
        "task": task_name(cell["task"]),
        **{key: text(cell[key]) for key in ("format", "encoding", "size", "verdict")},
        "forecast": _forecast_data(cell.get("forecast")),
        "exact": [
            [[int(scale), rounded(value)] for scale, value in outcome["exact_match"].items()]
            for outcome in cell["outcomes"]
        ],
        **{key: cell[key] for key in ("predicted", "literal", "observed")},
        **{key: _share_data(cell[key]) for key in _SHARES},
        **{key: rounded(cell[key]) for key in _EVIDENCE},
        "breaks": [prediction and rounded(prediction["breaks_at"]), breaking and rounded(breaking["observed"])],
        "before": cell["predicted_before_training"],
        "why": text(prediction["why"]) if prediction else "",
        "findings": [text(finding["says"]) for finding in cell["diagnosis"]],
    }


def _forecast_data(forecast: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return share of the fitting runs that should generalize with its interval, breaking scale, reason and record."""
    if forecast is None:
        return None
    recorded = forecast["recorded"]
    return {
        "share": [rounded(forecast[key]) for key in ("share", "low", "high")],
        "breaks_at": rounded(forecast["breaks_at"]),
        "why": text(forecast["why"]),
        "recorded": [recorded["generalize"], recorded["runs"]],
    }


def _share_data(share: Mapping[str, Any]) -> list[Any]:
    return [share["successes"], share["trials"], rounded(share["low"]), rounded(share["high"])]
