"""LRC and what stops each relation, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from lengthgen.tables.layout import columns, titled

MOST_ROWS = 40
"""Scales of which a table for people shows each."""


def lrc_table(answer: Mapping[str, Any]) -> Group:
    """LRC by scale, its growth, and with `relations` what stops each encoding."""
    table = columns("scale", "LRC")
    rows = list(answer["bounds"].items())
    for scale, (low, high) in rows if len(rows) <= MOST_ROWS else [*rows[:MOST_ROWS], rows[-1]]:
        table.add_row(scale, str(high) if low == high else f"{low} to {high}")
    some = {True: "some relation", False: "no relation", None: "whether some relation"}[answer["generalizes"]]
    ending = " is undecided" if answer["generalizes"] is None else ""
    hint = " with scale hint" if answer["scale_hint"] else ""
    notes = [f"{some}{hint} generalizes it from scale {answer['from_scale']} to {answer['to_scale']}{ending} [F]"]
    if answer["structure"]:
        notes.append(f"the entry is {answer['structure']}")
    if answer["growth"]:
        notes.append(_growth(answer["growth"]))
    notes += [f"written: {path}" for path in answer.get("figure", [])]
    parts = [titled(f"LRC of {answer['expression']:.60}", table, *notes)]
    if "relations" in answer:
        parts += [_ideal(answer), _relations(answer)]
    return Group(*parts)


def _growth(growth: Mapping[str, Any]) -> str:
    bounds = "" if growth["low"] == growth["high"] else f", {growth['low']} to {growth['high'] or 'more'}"
    since = f" from scale {growth['from_scale']} on" if growth["from_scale"] else ""
    proved = f"proved for all scales ({growth['strength']})" if growth["strength"] else "not proved"
    return f"over all scales: {growth['kind']}{since}{bounds}, {proved}: {growth['reason']}"


def _relations(answer: Mapping[str, Any]) -> Group:
    table = columns("relation", "encodings with it", "generalizes", "why", "a learner from zero")
    for one in answer["relations"]:
        limits = one["limits"]
        which = f" (limits {limits[0]} to {limits[-1]})" if limits else ""
        yes = {True: "yes", False: "no", None: "undecided"}[one["generalizes"]]
        table.add_row(f"{one['relation']}{which}", one["encodings"], yes, one["why"], _learned(one["learned"]))
    title = f"Trained on scales 1 to {answer['from_scale']}, looked at up to {answer['to_scale']} [F]"
    return titled(
        title,
        table,
        "An encoding whose scores follow a law (RoPE, ALiBi, FIRE, sinusoids) ties its parameters: one label with two "
        "values rules it out as well, a label never met need not.",
    )


def _ideal(answer: Mapping[str, Any]) -> Group:
    table = columns("label", "entry", "cells", "first at")
    for one in answer["ideal"][:MOST_ROWS]:
        table.add_row(str(one["label"]), one["value"], str(one["cells"]), _place(one["first"]))
    left = len(answer["ideal"]) - MOST_ROWS
    return titled(
        f"The ideal relation up to scale {answer['to_scale']}: the level sets of the pattern, label 0 where it is zero",
        table,
        *([f"and {left} labels more"] if left > 0 else []),
    )


def _learned(learned: Mapping[str, Any]) -> str:
    if not learned["wrong_cells"]:
        return "is right everywhere"
    return (
        f"is wrong at {learned['wrong_cells']} of {learned['cells']} cells, first at {_place(learned['first_wrong'])}: "
        f"{learned['learned_there']:.40} for {learned['entry_there']:.40}"
    )


def _place(cell: list[int]) -> str:
    return ", ".join(f"{name}={position}" for name, position in zip("ijn", cell, strict=False))
