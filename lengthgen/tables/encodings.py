"""Property matrix and lattice of encodings as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, titled


def encodings_table(answer: Mapping[str, Any]) -> Group:
    """Return the property matrix, a row for each encoding."""
    table = columns(
        "encoding",
        "hooks",
        "trained",
        "relative",
        "shift",
        "norms",
        "cache",
        "permute",
        "causal",
        "bounded",
        "far keys",
    )
    for row in answer["encodings"]:
        decided = [
            _yes(row[what])
            for what in ("translation", "norm_preserving", "streaming", "relabelling", "causal_only", "bounded")
        ]
        hooks = ", ".join([*row["hooks"], *_weights(row)]) or "-"
        table.add_row(row["name"], hooks, row["learned"], row["relative"], *decided, row["far_field"])
    notes = [
        "trained: number of trained values, for H heads of width d, model width D; shift: attention weights unchanged "
        "when all positions move; cache: no score changes as the sequence grows; permute: a permutation of the tokens "
        "permutes the scores; causal: for keys up to the query only"
    ]
    notes += [
        f"{row['name']} is trained with losses of its own: {row['auxiliary_losses']}"
        for row in answer["encodings"]
        if row["auxiliary_losses"] != "none"
    ]
    notes += [f"{name} has no formulas: {why}" for name, why in answer.get("without_formulas", {}).items()]
    also = [f"{name} ({', '.join(aliases)})" for name, aliases in answer.get("aliases", {}).items() if aliases]
    notes += [f"other names: {', '.join(also)}"] if also else []
    return titled("Position encodings [F]", table, *notes)


def lattice_table(answer: Mapping[str, Any]) -> Group:
    """Return the recoveries: which encoding contains which, and which does not."""
    table = columns("encoding", "contains", "how", "claim", "verdict")
    for edge in answer["lattice"]:
        kind = "does not" if edge["kind"] == "impossible" else edge["kind"]
        how = f"{kind}: {edge['reason']}" if edge["reason"] else kind
        table.add_row(edge["contains"], edge["contained"], how, edge["claim"], edge["verdict"])
    written = [f"written: {path}" for path in answer["figure"]]
    return titled(
        "Exact recoveries [F]",
        table,
        "some: for some of its parameters; limit: in the limit of the parameters; within: up to the trained length; "
        "function: for some function that the trained network does not represent",
        *written,
    )


def own_table(answer: Mapping[str, Any]) -> Group:
    """Return the verdict on each declaration of a user's encodings, with its reason, below their rows of the matrix."""
    words = {True: "holds", False: "fails", None: "is not decided"}
    lines = [f"{law['encoding']}: {law['what']} {words[law['holds']]}: {law['reason']}" for law in answer["declared"]]
    return Group(encodings_table(answer), *(Text(line) for line in lines or ["no laws or special cases are declared"]))


def _weights(row: Mapping[str, Any]) -> list[str]:
    """Return the normaliser and the window of an encoding, if they are not softmax over all keys."""
    normaliser = [] if row["weights"] == "softmax" else [row["weights"]]
    return normaliser if row["window"] == "every key" else [*normaliser, f"window of {row['window']}"]


def _yes(holds: bool | None) -> str:
    """Return a truth value as text."""
    return {True: "yes", False: "no", None: "?"}[holds]
