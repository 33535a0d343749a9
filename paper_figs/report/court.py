"""Data of the court view of the report page: scores of theories, and every answer to every published cell."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import read_bytes
from lengthgen.paper_figs.report.plain import rounded, text
from lengthgen.paper_figs.sources import COURT
from lengthgen.paper_figs.stored import read_court

_KINDS = {"theories": "theory", "references": "base rate", "controls": "control"}
_COUNTS = ("right_yes", "right_no", "wrong_yes", "wrong_no")


@dataclass(frozen=True, kw_only=True)
class CourtData:
    """Page data of the court.

    Attributes:
        content: scores, cells and the hash of the frozen answers; no scores if nothing is stored.
        missing: pairs of a missing thing and the command that makes it.
        broken: map from a file that cannot be used to the reason.
        hashes: map from file to SHA-256 of its content.
    """

    content: dict[str, Any] = field(default_factory=lambda: {"scores": [], "cells": []})
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def court_data(out: Path) -> CourtData:
    """Read the stored scores of `out`."""
    command = shlex.join(["lengthgen", "court", "--out", str(out)])
    path, name = out / COURT, COURT.as_posix()
    if not path.exists():
        return CourtData(missing=[("scores of theories by published results", command)])
    try:
        answer = read_court(path, command)
        return CourtData(content=_content(answer), hashes={name: hashlib.sha256(read_bytes(path)).hexdigest()})
    except (LengthgenError, OSError) as error:
        return CourtData(broken={name: in_words(error)})


def _content(answer: Mapping[str, Any]) -> dict[str, Any]:
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
        **{name: row.get(name) for name in _COUNTS},
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
