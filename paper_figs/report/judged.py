"""Data of the views of the report page on judged answers: theories by published results, rules by random tasks."""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import read_bytes
from lengthgen.paper_figs.figures.verdict_rules import RANDOM_TASKS
from lengthgen.paper_figs.report.plain import rounded, text, texts
from lengthgen.paper_figs.sources import COURT, Missing, Needs, Sources
from lengthgen.paper_figs.stored import read_court

_KINDS = {"theories": "theory", "references": "base rate", "controls": "control"}
_RIGHT_AND_WRONG = ("right_yes", "right_no", "wrong_yes", "wrong_no")
_NO_SCORES: Mapping[str, Any] = {"scores": [], "cells": []}


@dataclass(frozen=True, kw_only=True)
class ViewData:
    """Page data of a view.

    Attributes:
        content: what the view shows; of the verdict empty if nothing is stored.
        missing: pairs of a missing thing and the command that makes it.
        broken: map from a file that cannot be used to the reason.
        hashes: map from file to SHA-256 of its content.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def court_data(out: Path) -> ViewData:
    """Read the stored scores of `out`."""
    command = shlex.join(["lengthgen", "court", "--out", str(out)])
    path, name = out / COURT, COURT.as_posix()
    if not path.exists():
        return ViewData(content=_NO_SCORES, missing=[("scores of theories by published results", command)])
    try:
        answer = read_court(path, command)
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


def verdict_data(sources: Sources) -> ViewData:
    """Judge the stored runs of random tasks, once for the same runs (`Sources.verdict`)."""
    try:
        sources.require(Needs(verdict=RANDOM_TASKS))
        return ViewData(content=_verdict_content(*sources.verdict(RANDOM_TASKS)))
    except Missing as missing:
        return ViewData(missing=[("runs of random tasks, which judge rules", missing.command)])
    except (LengthgenError, OSError) as error:
        return ViewData(broken={"verdict": in_words(error)})


def _verdict_content(preregistration: Preregistration, judgement: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": text(preregistration.title),
        "questions": texts(preregistration.questions),
        "frozen": text(judgement["frozen"]),
        "alpha": rounded(preregistration.stopping.alpha),
        "train": list(preregistration.train),
        "test": list(preregistration.test),
        **{key: judgement[key] for key in ("tasks", "cells", "runs", "fitting_runs", "seen", "counting")},
        "decided": {
            text(name): {answer: counts[answer] for answer in ("yes", "no", "undecided")}
            for name, counts in judgement["decided"].items()
        },
        "pairs": [
            {
                **{key: text(pair[key]) for key in ("first", "second", "better", "part")},
                "tasks": pair["tasks"],
                "cells": pair["cells"],
                # The evidence for a rule is that against the other one.
                "evidence": [rounded(pair["against_second"]), rounded(pair["against_first"])],
            }
            for pair in judgement["pairs"]
        ],
        "rules": [
            {"name": text(name), "brier": rounded(parts["all"]["brier"])}
            | {key: parts["all"][key] for key in (*_RIGHT_AND_WRONG, "abstains")}
            for name, parts in judgement["rules"].items()
        ],
        "breaking": [
            {
                "name": text(name),
                "cells": its["cells"],
                "exact": its["exact"]["successes"],
                "range": [rounded(its["exact"]["low"]), rounded(its["exact"]["high"])],
                "within_one": its["within_one"],
            }
            for name, its in judgement["breaking"].items()
            if its["cells"]
        ],
    }
