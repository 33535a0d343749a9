"""Modular addition from text: the answer of `lengthgen modular-addition --json`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from lengthgen.circuits.encodings import parse_encodings
from lengthgen.empirical.experiment.sweep import train_sealed
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.modular_addition.conditions import CONDITIONS, load_profile
from lengthgen.empirical.modular_addition.modular_run import ModularRun, Outcome, is_fitted, outcomes
from lengthgen.infrastructure.errors import in_any_case
from lengthgen.progress import Progress


def modular_answer(
    names: str | None, encodings: str | None, profile_name: str, out: Path, backend: Backend
) -> dict[str, Any]:
    """Store predictions, train the models that are not stored yet, and compare.

    Args:
        names: conditions, comma-separated; None for all.
        encodings: encodings that replace those of the conditions, comma-separated; None for their own.
        profile_name: name of a profile of modular addition.
        out: folder of the results.
        backend: device.

    Raises:
        ConditionError, EncodingError, ProfileError: a condition, encoding or profile does not exist or does not fit.
        DamagedFile: a stored file has changed since it was written.
        BackendError: this machine lacks the backend.
    """
    profile = load_profile(profile_name)
    names_chosen = list(CONDITIONS) if names is None else [name.strip() for name in names.split(",")]
    chosen = [in_any_case(name, CONDITIONS) for name in names_chosen]
    replaced: Sequence[str | None] = [None] if encodings is None else [str(spec) for spec in parse_encodings(encodings)]
    runs = [
        ModularRun(condition_name=name, profile_name=profile_name, profile=profile, encoding=encoding)
        for name in dict.fromkeys(chosen)
        for encoding in replaced
    ]
    for run in runs:
        run.predictions(out)
    progress = Progress("modular addition", sum(run.result(out) is None for run in runs), "conditions")
    failures = train_sealed(runs, out, backend, lambda run: progress.step(run.name))
    results = {run: result for run in runs if (result := run.result(out))}
    return {
        "profile": profile_name,
        "modulus": profile.modulus,
        "seeds": list(profile.seeds),
        "conditions": {run.name: _row(run, result) for run, result in results.items()},
        "failures": failures,
        "folder": str(out / run.protocol / profile_name),
    }


def _row(run: ModularRun, result: dict[str, Any]) -> dict[str, Any]:
    """Return what was predicted and measured of one condition."""
    rows = outcomes(run, result)
    decided = [row for row in rows if row.agree is not None]
    return {
        "title": run.condition.title,
        "encoding": run.condition.encoding,
        "fitted": is_fitted(run, result),
        "shift_invariant": result["predictions"]["shift_invariant"],
        "shift_invariant_why": result["predictions"]["shift_invariant_why"],
        "predictions_sha256": result["predictions_sha256"],
        "losses_sha256": result["losses_sha256"],
        "trained": result["measured"]["trained"],
        "reference": result["measured"]["reference"],
        "agreeing": result["measured"]["agreeing"],
        "mean_over_positions": _mean_over_positions(rows),
        "agree": sum(bool(row.agree) for row in decided),
        "agree_in_expression": sum(bool(row.agree_in_expression) for row in decided),
        "decided": len(decided),
        "evaluations": [asdict(row) for row in rows],
        "seconds": result["seconds"],
    }


def _mean_over_positions(rows: Sequence[Outcome]) -> list[float]:
    """Mean accuracy over the positions of Eval-B, by seed."""
    return [fmean(shares) for shares in zip(*(row.accuracy for row in rows if row.evaluation[0] == "B"), strict=True)]
