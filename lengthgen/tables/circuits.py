"""Tasks and SRC as tables for people."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.circuits.tasks.families import WITH_STATES
from lengthgen.tables.layout import Screen, columns, cut_to_screen, more, titled


def tasks_table(answer: Mapping[str, Any]) -> Group:
    """Return a table with a row for each task."""
    table = columns("task", "layout", "base", "slots")
    for task in answer["tasks"]:
        table.add_row(
            task["task"], task["layout"], str(task["base"] or "-"), str(task["reference_arity"] or "unbounded")
        )
    return titled(
        "Tasks",
        table,
        "base: number base unless --base is given; slots: argument slots of the reference circuit's operators [F]",
        *(f"two scales (src --second-scales): {task['task']}  {task['layout']}" for task in answer["two_scale_tasks"]),
        f"and {len(answer['published_tasks'])} tasks of published results (`lengthgen published` says of which): "
        + ", ".join(_folded(answer["published_tasks"])),
    )


def src_screen(answer: Mapping[str, Any]) -> Screen:
    """Return SRC with its status, by scale with equal values in one row, and what else was asked."""
    rows = _runs_of_scales({scale: (value, answer["bounds"][scale]) for scale, value in answer["src"].items()})
    lines = _findings(answer)

    def form(shown: int) -> Group:
        table = columns("scales", "SRC", "bounds")
        for scales, (value, bounds) in rows[:shown]:
            table.add_row(scales, "?" if value is None else str(value), "..".join(map(str, bounds)))
        notes = [*more(len(rows), shown), *lines[:shown], *more(len(lines), shown)]
        return titled(f"{answer['status']}: {answer['statement']}", table, *notes)

    return cut_to_screen(max(len(rows), len(lines)), form)


def _folded(names: Sequence[str]) -> list[str]:
    """Return names of tasks, a task and the same with its states as one: "published-parity[-with-states]"."""
    return [
        f"{name}[{WITH_STATES}]" if f"{name}{WITH_STATES}" in names else name
        for name in names
        if not name.endswith(WITH_STATES)
    ]


def src_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by scale, with all that the search found."""
    table = columns("scale", "SRC", "bounds")
    for scale, value in answer["src"].items():
        table.add_row(scale, "?" if value is None else str(value), "..".join(map(str, answer["bounds"][scale])))
    notes = [
        f"{answer['status']}: {answer['statement']}",
        f"{answer['inputs']} prompts tried; the fewest slots possible: {answer['minimal_arity'] or 'not known'}",
        *([f"every table entry in use occurs up to scale {answer['coverage_scale']}"] * bool(answer["coverage_scale"])),
        *_findings(answer),
        "seconds: " + ", ".join(f"{phase} {time:.2f}" for phase, time in answer["seconds"].items()),
    ]
    return titled(f"SRC of {answer['task']} at arity {answer['arity']}, {answer['mode']} wiring [F]", table, *notes)


def _findings(answer: Mapping[str, Any]) -> list[str]:
    """Return what the circuit is like, what it does not read, and the answers to further questions; a line each."""
    notes = [f"not finished: {answer['stopped']}; the bounds hold"] if answer["stopped"] else []
    for combination in answer["wiring"]:
        notes.append("; ".join(f"slot {slot}: {where}" for slot, where in enumerate(combination, start=1)))
    if answer["roles"]:
        notes.append(_roles(answer["roles"]))
    if answer["unread"] and answer["unread"]["positions"]:
        notes.append(
            f"no step of scale {answer['unread']['scale']} reads the prompt at "
            f"{_positions(answer['unread']['positions'])}: {'' if answer['proved'] else 'on the prompts tried, '}"
            "the output does not depend on it; is this the task you mean?"
        )
    for arity, values in answer.get("curve", {}).items():
        notes.append(
            f"at arity {arity}: " + ", ".join("?" if value is None else str(value) for value in values.values())
        )
    if "front" in answer:
        notes += [_front_row(row) for row in answer["front"]]
        notes.append("*: no other pair has as few symbols, slots and operators")
    if "minima" in answer:
        notes.append(_minima(answer["minima"]))
    if "within" in answer:
        shown = ", ".join(_bounds(*bounds) for bounds in answer["within"]["bounds"].values())
        notes.append(
            f"if a share of {answer['within']['error']} of the prompts of each scale may come out wrong: {shown}"
        )
    if "scratchpad" in answer:
        notes.append(_scratchpad(answer["scratchpad"]))
    return notes + [f"written: {path}" for path in (answer.get("certificate"), *answer.get("figure", [])) if path]


def all_scales_screen(answer: Mapping[str, Any]) -> Screen:
    """Return SRC by scale, its value at all scales, and the reason."""
    table = columns("scales", "SRC")
    for scales, value in _runs_of_scales(answer["src"]):
        table.add_row(scales, "?" if value is None else str(value))
    proved = (
        f"SRC is {answer['value']} at all scales from {answer['constant_from']} on"
        if answer["value"] is not None
        else "no value is proved for all scales"
    )
    title = f"SRC of {answer['task']} at arity {answer['arity']}, free wiring [F]"
    return Screen([titled(title, table, proved, answer["why"])])


def _runs_of_scales(by_scale: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return (scales, value) for each run of successive scales with one value, such as ("1-4", 2)."""
    runs = []
    for (_, value), run in groupby(enumerate(by_scale), key=lambda at: (int(at[1]) - at[0], by_scale[at[1]])):
        first, *others = [scale for _, scale in run]
        runs.append((f"{first}-{others[-1]}" if others else first, value))
    return runs


def grid_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by both scales: the first scale in rows, the second in columns."""
    first = next(iter(answer["src"].values()))
    table = columns("m", *(f"n = {n}" for n in first))
    for m, row in answer["bounds"].items():
        cells = [str(low) if low == high else f"{low}..{high}" for low, high in row.values()]
        table.add_row(m, *cells)
    notes = [f"{answer['status']}: SRC(f, m, n) is that of all pairs of scales up to (m, n)"]
    if answer["stopped"]:
        notes.append(f"not finished: {answer['stopped']}; the bounds hold")
    return titled(f"SRC of {answer['task']} at arity {answer['arity']}, {answer['mode']} wiring [F]", table, *notes)


def _bounds(low: int | str, high: int | str | None) -> str:
    """Return bounds as text: the value where they meet."""
    return str(low) if low == high else f"{low}..{'?' if high is None else high}"


def _front_row(row: Mapping[str, Any]) -> str:
    """Return the fewest operators at one alphabet and arity as text; a star marks the front."""
    operators = "?" if row["operators"] is None else row["operators"]
    mark = " *" if row["front"] else ""
    return f"base {row['base']} ({row['symbols']} symbols), arity {row['arity']}: {operators}{mark}"


def _minima(minima: Mapping[str, Any]) -> str:
    """Return the number of minimum circuits and what they have in common as text."""
    entries = ", ".join(f"{' '.join(symbols)} -> {symbol}" for symbols, symbol in minima["entries"][:12])
    more = f", and {len(minima['entries']) - 12} more" if len(minima["entries"]) > 12 else ""
    return (
        f"{minima['count']:,} minimum circuits; all have the entries {entries or '(none)'}{more}; "
        f"{len(minima['forced'])} of {minima['steps']} steps have one wiring in all"
    )


def _scratchpad(scratchpad: Mapping[str, Any]) -> str:
    """Return the fewest scratchpad tokens as text."""
    setting = f"operators up to {scratchpad['operators']}, arity {scratchpad['arity']}"
    stopped = f" ({scratchpad['stopped']})" if scratchpad["stopped"] else ""
    return f"fewest scratchpad tokens for {setting}: {_bounds(*scratchpad['tokens'])}{stopped}"


def _positions(positions: Sequence[int]) -> str:
    """Return positions in words, the first ten of them."""
    shown = ", ".join(map(str, positions[:10]))
    return f"position{'s' * (len(positions) > 1)} {shown}{', ...' * (len(positions) > 10)}"


def _roles(roles: Mapping[str, Any]) -> str:
    """Return the number of labels of the ideal relation, and its need for a scale hint, as text."""
    labels = f"the ideal relation has {roles['labels']} labels"
    if not roles["scale_hint"]:
        return f"{labels} and needs no scale hint"
    first = roles["first_changing"][0]
    return (
        f"{labels} and needs a scale hint: {roles['changing_pairs']} pairs change their role with the scale, first "
        f"key {first['key']} for query {first['query']} at scale {first['scale']}"
    )


def certificate_table(answer: Mapping[str, Any]) -> Group:
    """Return the bounds that a certificate proves; for random prompts also the way to repeat the check."""
    if answer["proved"]:
        return Group(Text(f"proved: {answer['statement']}"))
    return Group(
        Text(answer["statement"]),
        Text(f"the prompts are random: --seed {answer['seed']} draws the same ones, another number others"),
    )
