"""Data of the view of the report page on theories judged by published results."""

import hashlib
from collections.abc import Mapping
from typing import Any

from lengthgen.empirical.studies.court.stored import COURT, command, read_scores
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import read_bytes
from lengthgen.paper_figs.report.plain import rounded, text
from lengthgen.paper_figs.report.views import ViewData
from lengthgen.paper_figs.sources import Sources

_KINDS = {"theories": "theory", "references": "base rate", "controls": "control"}
_RIGHT_AND_WRONG = ("right_yes", "right_no", "wrong_yes", "wrong_no")
_NO_SCORES: Mapping[str, Any] = {"scores": [], "cells": []}


def view(sources: Sources) -> ViewData:
    """Read the stored scores of the output folder."""
    path, name = sources.out / COURT, COURT.as_posix()
    if not path.exists():
        return ViewData(content=_NO_SCORES, missing=[("scores of theories by published results", command(sources.out))])
    try:
        answer = read_scores(path, sources.out)
        return ViewData(content=_court_content(answer), hashes={name: hashlib.sha256(read_bytes(path)).hexdigest()})
    except (LengthgenError, OSError) as error:
        return ViewData(content=_NO_SCORES, broken={name: in_words(error)})


def _court_content(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data that the view shows."""
    scores = [
        {"name": text(name), "kind": kind, **_score(row)}
        for part, kind in _KINDS.items()
        for name, row in answer[part].items()
    ]
    return {
        "frozen": text(answer["frozen"]),
        "threshold": rounded(answer["threshold"]),
        "scores": scores,
        "cells": [_cell(cell) for cell in answer["cells"]],
    }


def _score(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of one theory; None where there are none."""
    against = row.get("against_base")
    return {
        "says": text(row.get("statement") or row.get("says") or ""),
        "verdict": text(row["verdict"]),
        "answered": row["answered"],
        **{name: row.get(name) for name in _RIGHT_AND_WRONG},
        "brier": rounded(row.get("brier")),
        "against": [rounded(against[name]) for name in ("value", "low", "high")] if against else None,
    }


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return one cell: what was observed, and the answers with their reasons."""
    says = {name: guess["probability"] for name, guess in cell["guesses"].items()}
    probabilities = [probability for probability in says.values() if probability is not None]
    return {
        "name": text(cell["name"]),
        "evidence": text(cell["evidence"]),
        "fit": cell["fit"],
        "generalizes": cell["generalizes"],
        "disputed": any(p > 0.5 for p in probabilities) and any(p < 0.5 for p in probabilities),
        "answers": [
            [text(name), rounded(guess["probability"]), text(guess["reason"])]
            for name, guess in cell["guesses"].items()
        ],
    }
