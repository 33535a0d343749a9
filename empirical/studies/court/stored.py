"""Stored scores of theories by published results: how they are written and read.

A file has the reasons once, and each answer the place of its own, as many answers have one reason.
"""

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.environment import revision
from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.infrastructure.shapes import (
    COUNT,
    NUMBER,
    TEXT,
    WrongShape,
    both,
    list_of,
    mapping_to,
    or_none,
    read_stored,
    record,
)
from lengthgen.paper_figs.sources import Missing, Needs, Sources, StudyAnswers

COURT = Path("court", "published.json")
"""File with the scores of theories by published results."""
_SCORED = record(verdict=TEXT, answered=COUNT)
_COURT_CELL = record(
    **dict.fromkeys(("name", "evidence", "task", "encoding"), TEXT),
    **dict.fromkeys(("fit", "generalizes", "train", "test"), COUNT),
    guesses=mapping_to(record(probability=or_none(NUMBER), reason=COUNT)),
)
_COURT = record(
    reasons=list_of(TEXT),
    answer=record(
        evidence=TEXT,
        frozen=TEXT,
        threshold=NUMBER,
        theories=mapping_to(record(title=TEXT, verdict=TEXT, answered=COUNT)),
        references=mapping_to(_SCORED),
        controls=mapping_to(_SCORED),
        cells=list_of(_COURT_CELL),
        did_not_fit=list_of(TEXT),
    ),
)


def _guesses(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every answer of a theory to a cell."""
    return [guess for cell in answer["cells"] for guess in cell["guesses"].values()]


def _has_reasons(content: Any, where: str) -> None:
    """Check that each answer has the place of a reason."""
    places = range(len(content["reasons"]))
    if any(guess["reason"] not in places for guess in _guesses(content["answer"])):
        raise WrongShape(f"{where}.answer.cells have answers without a reason")


def write_scores(path: Path, answer: Mapping[str, Any]) -> None:
    """Store the scores, as `lengthgen court --json` prints them, with the revision of the code."""
    places: dict[str, int] = {}
    cells = [
        cell
        | {
            "guesses": {
                name: guess | {"reason": places.setdefault(guess["reason"], len(places))}
                for name, guess in cell["guesses"].items()
            }
        }
        for cell in answer["cells"]
    ]
    write_sealed_json(path, {"answer": {**answer, "cells": cells}, "reasons": [*places], "revision": revision()})


def read_scores(path: Path, out: Path) -> dict[str, Any]:
    """Read the scores in a file of the output folder `out`, or of a record that stands in for it.

    Raises:
        DamagedFile: the file has changed since it was written, or holds no scores.
        OSError: the file cannot be read.
    """
    content = read_stored(path, both(_COURT, _has_reasons), "scores of theories", f"make it again with  {command(out)}")
    scores: dict[str, Any] = content["answer"]
    for guess in _guesses(scores):
        guess["reason"] = content["reasons"][guess["reason"]]
    return scores


def command(out: Path) -> str:
    """Return the command that stores the scores in `out`."""
    return shlex.join(["lengthgen", "court", "--out", str(out)])


def scores(sources: Sources) -> dict[str, Any]:
    """Return the scores that figures show. Raises the errors of `read_scores`."""
    return sources.cached("court", "", partial(read_scores, sources.found(COURT), sources.out))


def _require(sources: Sources) -> None:
    if not sources.found(COURT).is_file():
        raise Missing(f"{sources.found(COURT)} is missing", command(sources.out))


SCORES = Needs(
    study=StudyAnswers(
        words="scores of theories",
        require=_require,
        digest=lambda sources: [file_digest(sources.found(COURT))],
        folder=lambda sources: sources.found(COURT).parent,
    )
)
"""Needs of a figure that shows the scores."""
