"""Data of the view of the report page on rules judged by random tasks."""

from collections.abc import Mapping
from typing import Any

from lengthgen.empirical.studies.verdict import WEAK
from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.empirical.studies.verdict.stored import RANDOM_TASKS, judged, judgement_of
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.paper_figs.report.plain import rounded, text, texts
from lengthgen.paper_figs.report.views import ViewData
from lengthgen.paper_figs.sources import Missing, Sources

_RIGHT_AND_WRONG = ("right_yes", "right_no", "wrong_yes", "wrong_no")


def view(sources: Sources) -> ViewData:
    """Judge the stored runs of random tasks, once for the same runs (`judged`)."""
    try:
        sources.require(judgement_of(RANDOM_TASKS))
        return ViewData(content=_verdict_content(*judged(sources, RANDOM_TASKS)))
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
            if pair["second"] not in WEAK
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
