"""Stored scores of theories by published results, as figures and the report page read them."""

import shlex
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.shapes import COUNT, NUMBER, TEXT, list_of, mapping_to, or_none, read_stored, record
from lengthgen.paper_figs.sources import Missing, Needs, Sources, StudyAnswers

COURT = Path("court", "published.json")
"""File with the scores of theories by published results."""
_SCORED = record(verdict=TEXT, answered=COUNT)
_COURT_CELL = record(
    **dict.fromkeys(("name", "evidence", "task", "encoding"), TEXT),
    **dict.fromkeys(("fit", "generalizes", "train", "test"), COUNT),
    guesses=mapping_to(record(probability=or_none(NUMBER), reason=TEXT)),
)
_COURT = record(
    answer=record(
        evidence=TEXT,
        frozen=TEXT,
        threshold=NUMBER,
        theories=mapping_to(record(title=TEXT, verdict=TEXT, answered=COUNT)),
        references=mapping_to(_SCORED),
        controls=mapping_to(_SCORED),
        cells=list_of(_COURT_CELL),
        did_not_fit=list_of(TEXT),
    )
)


def read_scores(path: Path, out: Path) -> dict[str, Any]:
    """Read the scores in a file of the output folder `out`, or of a record that stands in for it."""
    scores: dict[str, Any] = read_stored(path, _COURT, "scores of theories", f"make it again with  {command(out)}")[
        "answer"
    ]
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
