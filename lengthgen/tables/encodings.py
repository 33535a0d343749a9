"""Property matrix and lattice of encodings as tables for people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

from lengthgen.tables.layout import Screen, columns, cut_to_screen, more, titled

RELATIVE = ("yes", "up to L", "no", "not decided")
"""Answers of `lengthgen.theory.laws.relative_law`, in the order of the groups of a screen."""


def encodings_screen(answer: Mapping[str, Any]) -> Screen:
    """Return the property matrix, or if it is longer than a screen the encodings by two of their properties."""
    return Screen([encodings_table(answer), _groups(answer)])


def _groups(answer: Mapping[str, Any]) -> Group:
    """Return the names of encodings by whether they are relative, and by what becomes of far keys."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in answer["encodings"]:
        far = "as its parameters say" if ":" in row["far_field"] else row["far_field"]
        groups.setdefault((row["relative"], far), []).append(row["name"])
    table = columns("relative", "far keys", "encodings")
    for (relative, far), names in sorted(groups.items(), key=lambda item: (RELATIVE.index(item[0][0]), -len(item[1]))):
        table.add_row(relative, far, ", ".join(names))
    without = answer.get("without_formulas", {})
    return titled(
        f"{len(answer['encodings']) + len(without)} position encodings [F]",
        table,
        *([f"without formulas: {', '.join(without)}"] if without else []),
        "relative: scores depend on the distance alone, L is the trained length; far keys: what becomes of their "
        "scores. All properties of one: lengthgen encodings NAME; of all: --details",
    )


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
    notes += without_formulas(answer)
    also = [f"{name} ({', '.join(aliases)})" for name, aliases in answer.get("aliases", {}).items() if aliases]
    notes += [f"other names: {', '.join(also)}"] if also else []
    return titled("Position encodings [F]", table, *notes)


def without_formulas(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on each encoding that has no formulas, with the reason."""
    return [f"{name} has no formulas: {why}" for name, why in answer.get("without_formulas", {}).items()]


def lattice_screen(answer: Mapping[str, Any]) -> Screen:
    """Return how many recoveries there are of each kind, as many of them as fit, and the files that were drawn."""
    edges = answer["lattice"]
    kinds = Counter(edge["kind"] for edge in edges)
    title = f"{len(edges)} exact recoveries [F]: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}"

    def form(shown: int) -> Group:
        table = _edges(edges[:shown])
        return titled(title, table, *more(len(edges), shown), *_written(answer))

    return cut_to_screen(len(edges), form)


def lattice_table(answer: Mapping[str, Any]) -> Group:
    """Return the recoveries: which encoding contains which, and which does not."""
    return titled(
        "Exact recoveries [F]",
        _edges(answer["lattice"]),
        "some: for some of its parameters; limit: in the limit of the parameters; within: up to the trained length; "
        "function: for some function that the trained network does not represent",
        *_written(answer),
    )


def _edges(edges: Iterable[Mapping[str, Any]]) -> Table:
    """Return a row for each recovery."""
    table = columns("encoding", "contains", "how", "claim", "verdict")
    for edge in edges:
        kind = "does not" if edge["kind"] == "impossible" else edge["kind"]
        how = f"{kind}: {edge['reason']}" if edge["reason"] else kind
        table.add_row(edge["contains"], edge["contained"], how, edge["claim"], edge["verdict"])
    return table


def _written(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on the files of the drawing."""
    return [f"written: {', '.join(answer['figure'])}"]


def declared_lines(answer: Mapping[str, Any]) -> list[str]:
    """Return the verdict on each declaration of a user's encodings with its reason, those that fail first."""
    words = {False: "fails", None: "is not decided", True: "holds"}
    laws = sorted(answer["declared"], key=lambda law: [*words].index(law["holds"]))
    lines = [f"{law['encoding']}: {law['what']} {words[law['holds']]}: {law['reason']}" for law in laws]
    return lines or ["no laws or special cases are declared"]


def _weights(row: Mapping[str, Any]) -> list[str]:
    """Return the normaliser and the window of an encoding, if they are not softmax over all keys."""
    normaliser = [] if row["weights"] == "softmax" else [row["weights"]]
    return normaliser if row["window"] == "every key" else [*normaliser, f"window of {row['window']}"]


def _yes(holds: bool | None) -> str:
    """Return a truth value as text."""
    return {True: "yes", False: "no", None: "?"}[holds]
