"""LRC of a pattern, and the obstacle for each relation, as tables for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lengthgen.tables.layout import columns, titled

MOST_ROWS = 40
"""Largest number of rows shown in full."""


def lrc_table(answer: Mapping[str, Any]) -> Group:
    """Return the verdict in a sentence, LRC by scale, its growth, and with `relations` the obstacle for each one."""
    within = answer.get("within")
    table = columns("scale", "LRC", *([f"within {within['epsilon']}"] if within else []))
    rows = list(answer["bounds"].items())
    for scale, bounds in rows if len(rows) <= MOST_ROWS else [*rows[:MOST_ROWS], rows[-1]]:
        table.add_row(scale, _range(bounds), *([_range(within["bounds"][scale])] if within else []))
    notes = []
    if answer["structure"]:
        notes.append(f"the entry is {answer['structure']}")
    if answer["growth"]:
        notes.append(_growth(answer["growth"]))
    if within and within["growth"]:
        notes.append(f"within {within['epsilon']}, {_growth(within['growth'])}")
    if answer["generalizes"] is not False and (bias := _as_bias(answer)):
        notes.append(bias)
    notes += [f"written: {path}" for path in answer.get("figure", [])]
    parts: list[RenderableType] = [
        Text(_verdict(answer), style="bold"),
        titled(f"LRC of {answer['expression']:.60}", table, *notes),
    ]
    if "relations" in answer:
        parts += [_ideal(answer), _relations(answer)]
    return Group(*parts)


def _verdict(answer: Mapping[str, Any]) -> str:
    """Return the answer to the question of the command in one sentence."""
    first, last = answer["from_scale"], answer["to_scale"]
    span = f"from scale {first} to {last}"
    hint = " with scale hint" if answer["scale_hint"] else ""
    at_first, at_last = (_range(answer["bounds"][str(scale)]) for scale in (first, last))
    if first == last:
        more = f"a second scale, as in --scales {last},{2 * last}, asks what generalizes"
        return f"LRC is {at_last} at scale {last}; {more} [F]"
    if answer["generalizes"] is None:
        return f"Undecided: LRC at scale {last} is only known to be {at_last}, so it may generalize {span} or not [F]"
    if answer["generalizes"]:
        right = [row["relation"] for row in _standard(answer) if row["generalizes"]]
        which = f"; of the standard ones {', '.join(right)}" if right else ""
        return f"Yes: some position encoding{hint} makes it generalize {span}, since LRC stays {at_last}{which} [F]"
    growth = answer["growth"]
    ever = " and grows without bound" if growth and growth["kind"] == "unbounded" and growth["strength"] else ""
    grows = f"LRC is {at_first} at scale {first} and {at_last} at scale {last}{ever}"
    bias = _as_bias(answer) or "an encoding whose scores follow one law is not excluded"
    return (
        f"No: no encoding{hint} that learns one value per label makes it generalize {span}, since {grows}; {bias} [F]"
    )


def _standard(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of the relations but the last, which is that of the pattern's own level sets."""
    return list(answer.get("relations", []))[:-1]


def _as_bias(answer: Mapping[str, Any]) -> str:
    """Return what the pattern is as a bias of scores; empty if nothing is known."""
    if answer["softmax_cancels"]:
        return "as a bias, softmax cancels it: all keys of a query have one entry, so NoPE has the same weights"
    parts = []
    for weights_only, says in (
        (False, "as a bias, these have it at every scale by their law"),
        (True, "up to a number of each query, which softmax cancels"),
    ):
        named = [_law(law) for law in answer["laws"] if law["weights_only"] is weights_only]
        parts += [f"{says}: {', '.join(named)}"] if named else []
    return "; ".join(parts)


def _law(law: Mapping[str, Any]) -> str:
    """Return an encoding with the values of its parameters as text."""
    values = ", ".join(f"{name} = {value}" for name, value in law["parameters"].items())
    return f"{law['encoding']} ({values})" if values else str(law["encoding"])


def _range(bounds: Sequence[int]) -> str:
    """Return a lower and an upper bound as text; a single number if they are equal."""
    low, high = bounds
    return str(high) if low == high else f"{low} to {high}"


def _growth(growth: Mapping[str, Any]) -> str:
    """Return the growth of LRC as text."""
    if growth["low"] == growth["high"]:
        value, bounds = f" at {growth['high']}", ""
    else:
        value, bounds = "", f", {growth['low']} to {growth['high'] or 'more'}"
    since = f" from scale {growth['from_scale']} on" if growth["from_scale"] else ""
    proved = f"proved for all scales ({growth['strength']})" if growth["strength"] else "not proved"
    return f"over all scales: {growth['kind']}{value}{since}{bounds}, {proved}: {growth['reason']}"


def _relations(answer: Mapping[str, Any]) -> Group:
    """Return the table of relations."""
    table = columns("relation", "encodings with it", "generalizes", "why", "a learner from zero")
    for relation in answer["relations"]:
        limits = relation["limits"]
        which = f" (limits {limits[0]} to {limits[-1]})" if limits else ""
        yes = {True: "yes", False: "no", None: "undecided"}[relation["generalizes"]]
        table.add_row(
            f"{relation['relation']}{which}",
            relation["encodings"],
            yes,
            relation["why"],
            _learner_text(relation["learned"]),
        )
    title = f"Trained on scales 1 to {answer['from_scale']}, tested up to {answer['to_scale']} [F]"
    return titled(
        title,
        table,
        "An encoding whose scores follow a law (RoPE, ALiBi, FIRE, sinusoids) ties its parameters: one label with two "
        "values excludes it as well; a label never seen in training need not.",
    )


def _ideal(answer: Mapping[str, Any]) -> Group:
    """Return the table of the ideal relation."""
    table = columns("label", "entry", "cells", "first at")
    for label in answer["ideal"][:MOST_ROWS]:
        table.add_row(str(label["label"]), label["value"], str(label["cells"]), _cell_text(label["first"]))
    left = len(answer["ideal"]) - MOST_ROWS
    return titled(
        f"The ideal relation up to scale {answer['to_scale']}: the level sets of the pattern, label 0 where it is zero",
        table,
        *([f"and {left} more labels"] if left > 0 else []),
    )


def _learner_text(learned: Mapping[str, Any]) -> str:
    """Return the result of a learner as text."""
    if not learned["wrong_cells"]:
        return "is right everywhere"
    return (
        f"is wrong at {learned['wrong_cells']} of {learned['cells']} cells, "
        f"first at {_cell_text(learned['first_wrong'])}: "
        f"{learned['learned_there']:.40} for {learned['entry_there']:.40}"
    )


def _cell_text(cell: list[int]) -> str:
    """Return the positions of a cell as text."""
    return ", ".join(f"{name}={position}" for name, position in zip("ijn", cell, strict=False))
