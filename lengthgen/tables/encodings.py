"""The property matrix and the lattice of encodings, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, titled


def encodings_table(answer: Mapping[str, Any]) -> Group:
    """The property matrix, a row for each encoding."""
    table = columns(
        "encoding", "hooks", "trained", "relative", "shift", "norms", "cache", "causal", "bounded", "far keys"
    )
    for one in answer["encodings"]:
        decided = [
            _yes(one[what]) for what in ("translation", "norm_preserving", "streaming", "causal_only", "bounded")
        ]
        hooks = ", ".join(one["hooks"]) or "-"
        table.add_row(one["name"], hooks, one["learned"], one["relative"], *decided, one["far_field"])
    notes = [
        "trained: numbers, for H heads of width d, model width D; shift: attention weights unchanged when all "
        "positions move; cache: no score changes as the sequence grows; causal: only keys up to the query are meant"
    ]
    notes += [f"{name} has no formulas: {why}" for name, why in answer.get("without_formulas", {}).items()]
    also = [f"{name} ({', '.join(aliases)})" for name, aliases in answer.get("aliases", {}).items() if aliases]
    notes += [f"other names: {', '.join(also)}"] if also else []
    return titled("Position encodings [F]", table, *notes)


def lattice_table(answer: Mapping[str, Any]) -> Group:
    """Which encoding contains which, and which does not."""
    table = columns("encoding", "contains", "how", "claim", "verdict")
    for one in answer["lattice"]:
        kind = "does not" if one["kind"] == "impossible" else one["kind"]
        how = f"{kind}: {one['reason']}" if one["reason"] else kind
        table.add_row(one["contains"], one["contained"], how, one["claim"], one["verdict"])
    written = [f"written: {path}" for path in answer["figure"]]
    return titled(
        "Exact recoveries [F]",
        table,
        "some: for some of its parameters; limit: at the edge of the parameters; within: up to the trained length; "
        "function: the same, by some function that the trained network is not",
        *written,
    )


def own_table(answer: Mapping[str, Any]) -> Group:
    """What a user's encodings declare, with the reason of each verdict, under their rows of the matrix."""
    words = {True: "holds", False: "fails", None: "is not decided"}
    lines = [f"{one['encoding']}: {one['what']} {words[one['holds']]}: {one['reason']}" for one in answer["declared"]]
    return Group(encodings_table(answer), *(Text(line) for line in lines or ["no laws or special cases are declared"]))


def _yes(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "?"}[holds]
