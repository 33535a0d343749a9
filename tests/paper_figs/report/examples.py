"""Made-up pages of claims, runs and verdicts, of any size and with hostile texts."""

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.paper_figs.report import looks
from lengthgen.paper_figs.report.page import Summary, page

HOSTILE = (
    "</script><script>window.hostile = 1</script><img src=x onerror='window.hostile = 1'><!-- & \u2028 \" ' {{data}}"
)
"""Text that would run a script if it were read as markup."""

FLIP = """
from lengthgen import Task

flip = Task(
    name="any text",
    alphabet=("0", "1", "="),
    prompt=lambda n: [("0", "1")] * n + [("=",)],
    generate=lambda prompt: ["1" if bit == "0" else "0" for bit in prompt[:-1]],
)
"""
"""Content of a user's file with one task."""

PAPERS = [(f"Paper {number}", f"2400.{number:05}") for number in range(20)]
VERDICTS = ("verified", "corrected", "refuted", "unsettled")
STRENGTHS = ("general", "bounded", "numeric")


def claim(number, **changes):
    paper, arxiv = PAPERS[number % len(PAPERS)]
    return {
        "id": f"claim-{number}", "verdict": VERDICTS[number % 4], "strength": STRENGTHS[number % 3],
        "statement": f"Statement {number} says that scores decay with the distance.",
        "latex": r"\alpha^{n}", "label": "P",
        "reason": "because" if number % 4 else "", "paper": paper, "arxiv": arxiv, "place": f"Theorem {number}",
        "seconds": 0.25, "facts": [f"fact {number}", "another fact"], "assumptions": ["an assumption"],
        "falsifiers": [["turned around", True, f"counterexample {number}"]],
        "math": ["math", {"display": "inline"}, ["mi", {}, "α"]], "origin": "cache",
        "part": ("What the papers say", "What we add")[number % 2],
    } | changes  # fmt: skip


def runs(count, task="parity"):
    """Made-up runs in groups of five seeds, with each built-in encoding, in as many tasks as needed."""
    names = list(ENCODINGS)
    groups, rows = [], []
    for number in range(count):
        cell = number // 5
        if cell == len(groups):
            groups.append(
                {
                    "task": f"{task} {cell // len(names)}", "format": "aligned", "encoding": names[cell % len(names)],
                    "size": "w64l2h4", "train": [1, 2, 3, 4, 5], "test": list(range(1, 21)), "threshold": 0.95,
                    "epochs": 10, "setting": "scales 1-5 trained, 1-20 tested", "digest": f"{cell:012}",
                }
            )  # fmt: skip
        good = number % 2
        rows.append(
            {
                "name": f"{task}-run-{number}", "group": cell, "seed": number % 5,
                "epochs": [5, 10], "loss": [0.5, 0.01],
                "exact": [[0.5] * 20, [1] * 5 + [1 if good else 0.123] * 15], "seconds": 10.5, "peak_memory_mib": 900,
                "time": "2026-01-01T00:00:00+00:00", "environment": 0, "hash": "0" * 64,
            }
        )  # fmt: skip
    environment = {
        "device": "cpu",
        "machine": "x86_64",
        "python": "3.11",
        "revision": "abc",
        "versions": {"torch": "2"},
    }
    return {"groups": groups, "environments": [environment] if rows else [], "runs": rows}


def trial(**changes):
    cell = {
        "task": "parity", "format": "aligned", "encoding": "ipe", "size": "w64l2h4", "verdict": "consistent",
        "forecast": None, "exact": [[[scale, 1] for scale in range(1, 21)]] * 5,
        "predicted": True, "literal": True, "observed": True, "fit": [5, 5, 0.478, 1], "generalizes": [5, 5, 0.478, 1],
        "generalizes_given_fit": [5, 5, 0.478, 1], "e_against": 0.1, "e_for": 21.3,
        "breaks": [None, None], "before": True, "why": "operators: 1", "findings": [],
    }  # fmt: skip
    table = {"yes_yes": 1, "yes_no": 0, "no_yes": 0, "no_no": 0, "not_observed": 0, "no_prediction": 0}
    rule = {"table": table, "agreement": 1, "fisher_p": None, "misclassified": [], "refuted_by": []}
    return {
        "name": "fig1", "own": False, "title": "Parity", "source": "a paper", "train": [1, 2, 3, 4, 5],
        "alpha": 0.05, "confidence": 0.95, "unanimous_runs": 5,
        "main": {"size": "w64l2h4", "checkpoint": "last", "mode": "free", "threshold": "0.95"},
        "rules": {"coverage": rule, "literal": rule}, "cells": [cell],
    } | changes  # fmt: skip


def page_of(
    *,
    claims=(),
    runs_content=None,
    relations=(),
    pool=(),
    tasks=(),
    trials=(),
    court=None,
    verdict=None,
    unjudged=(),
    broken=None,
    missing=0,
    missing_listed_by="lengthgen report --json",
):
    """Make a page of the given data; data that are not given are empty."""
    content = runs_content or {"groups": [], "environments": [], "runs": []}
    judged = {cell["encoding"] for trial in trials for cell in trial["cells"]}
    drawn = looks.encoding_looks(sorted({group["encoding"] for group in content["groups"]} | judged))
    related = [*ENCODINGS, *(name for exploration in relations for name in exploration.get("encodings", ()))]
    return page(
        Summary(
            counts=[(str(len(claims)), "claims", "claims")], broken=broken or {}, missing=missing,
            missing_listed_by=missing_listed_by,
        ),
        {
            "claims": list(claims),
            "tasks": {"tasks": list(tasks), "slots": looks.slot_looks()},
            "relations": {
                "found": list(relations), "pool": list(pool), "encodings": looks.encoding_looks(related),
            },
            "runs": content | {"looks": drawn},
            "trials": {"trials": list(trials), "unjudged": list(unjudged), "looks": drawn},
            "court": court or {"scores": [], "cells": []},
            "verdict": verdict or {},
            "provenance": {
                "out": "out", "profile": "quick", "revision": "abc", "versions": {"python": "3.11"}, "files": [],
            },
        },
    )  # fmt: skip
