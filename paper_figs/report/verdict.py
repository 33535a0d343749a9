"""Data of the verdict view of the report page: what the runs of random tasks say of each rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.paper_figs.figures.verdict_rules import RANDOM_TASKS
from lengthgen.paper_figs.report.plain import rounded, text, texts
from lengthgen.paper_figs.sources import Missing, Needs, Sources

_COUNTS = ("right_yes", "right_no", "wrong_yes", "wrong_no", "abstains")


@dataclass(frozen=True, kw_only=True)
class VerdictData:
    """Page data of the verdict.

    Attributes:
        content: what was decided, the evidence for pairs of rules, their answers and breaking scales; empty if nothing
            is stored.
        missing: pairs of a missing thing and the command that makes it.
        broken: map from a file that cannot be used to the reason.
    """

    content: dict[str, Any] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)


def verdict_data(sources: Sources) -> VerdictData:
    """Judge the stored runs of random tasks, once for the same runs (`Sources.verdict`)."""
    try:
        sources.require(Needs(verdict=RANDOM_TASKS))
        return VerdictData(content=_content(*sources.verdict(RANDOM_TASKS)))
    except Missing as missing:
        return VerdictData(missing=[("runs of random tasks, which judge rules", missing.command)])
    except (LengthgenError, OSError) as error:
        return VerdictData(broken={"verdict": in_words(error)})


def _content(preregistration: Preregistration, judgement: Mapping[str, Any]) -> dict[str, Any]:
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
            {"name": text(name), "brier": rounded(parts["all"]["brier"])} | {key: parts["all"][key] for key in _COUNTS}
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
