"""Tasks, SRC and predictions as tables for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.text import Text

from circuits.prediction_record import Prediction
from empirical.trial.conjecture import RULES, breaks_at, predicted_by
from lengthgen.predicting import HEADINGS, Forecasts, cells
from lengthgen.tables.layout import columns, titled, yes_no


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
    )


def src_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by scale, with status, wiring and roles."""
    table = columns("scale", "SRC", "bounds")
    for scale, value in answer["src"].items():
        table.add_row(scale, "?" if value is None else str(value), "..".join(map(str, answer["bounds"][scale])))
    least = answer["minimal_arity"] or "not known"
    notes = [
        f"{answer['status']}: {answer['statement']}",
        f"{answer['inputs']} prompts tried; the fewest slots possible: {least}",
    ]
    if answer["stopped"]:
        notes.append(f"not finished: {answer['stopped']}; the bounds hold")
    if answer["coverage_scale"]:
        notes.append(f"every table entry in use occurs up to scale {answer['coverage_scale']}")
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
    notes.append("seconds: " + ", ".join(f"{phase} {time:.2f}" for phase, time in answer["seconds"].items()))
    notes += [f"written: {path}" for path in (answer.get("certificate"), *answer.get("figure", [])) if path]
    return titled(f"SRC of {answer['task']} at arity {answer['arity']}, {answer['mode']} wiring [F]", table, *notes)


def all_scales_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by scale, its value at all scales, and the reason."""
    table = columns("scale", "SRC")
    for scale, value in answer["src"].items():
        table.add_row(scale, "?" if value is None else str(value))
    proved = (
        f"SRC is {answer['value']} at all scales from {answer['constant_from']} on"
        if answer["value"] is not None
        else "no value is proved for all scales"
    )
    return titled(f"SRC of {answer['task']} at arity {answer['arity']}, free wiring [F]", table, proved, answer["why"])


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


def _from_train_to_test(train: float | None, test: float | None) -> str:
    """Return a number in training and in the test as text."""
    return "-" if train is None else f"{train:g} -> {test:g}"


def certificate_table(answer: Mapping[str, Any]) -> Group:
    """Return the bounds that a certificate proves; for random prompts also the way to repeat the check."""
    if answer["proved"]:
        return Group(Text(f"proved: {answer['statement']}"))
    return Group(
        Text(answer["statement"]),
        Text(f"the prompts are random: --seed {answer['seed']} draws the same ones, another number others"),
    )


def forecast_table(forecasts: Forecasts) -> Group:
    """Return the forecasts by encoding, in five columns of 80 characters together, with the runs that they count."""
    table = columns(*HEADINGS)
    for encoding in forecasts.predictions:
        table.add_row(Text(encoding), *map(Text, cells(forecasts[encoding])))
    notes = [
        f"{encoding}: {counted.runs:,} comparable runs, {counted.generalize:,} generalized"
        for encoding in forecasts.predictions
        if (counted := forecasts[encoding].comparable)
    ]
    return titled(
        f"Forecasts for {forecasts.title}",
        table,
        *notes,
        "generalize: share of the runs that fit, with its 95% interval; breaks at: 80% of the others between [F]",
        "--rules: what each theory says; `lengthgen forecast`: how good forecasts are",
    )


def rules_table(forecasts: Forecasts) -> Group:
    """Return what each rule says of each encoding: yes, or no with the scale at which it expects a failure."""
    table = columns("encoding", "relation", "operators", "labels", *RULES.values())
    notes = []
    for encoding, prediction in forecasts.predictions.items():
        labels = prediction.selection and (prediction.selection.labels_train, prediction.selection.labels_test)
        table.add_row(
            Text(encoding),  # brackets in a Text are no markup
            Text(prediction.relation or "-"),
            _from_train_to_test(prediction.complexity_train, prediction.complexity_test),
            _from_train_to_test(*(labels or (None, None))),
            *(_rule_text(prediction, rule) for rule in RULES),
        )
        notes.append(f"{encoding}: {prediction.why}")
    return titled(
        "What the rules say [F], and the scale at which they expect a failure; they are explained in the glossary",
        table,
        *notes,
        "operators, labels: over the training scales -> over all scales; labels are those of arguments, which for the "
        "ideal relation are its roles (operator, slot) [F]",
    )


def _rule_text(prediction: Prediction, rule: str) -> str:
    """Return the answer of a rule with the scale of the failure."""
    answer, at = predicted_by(prediction, rule), breaks_at(prediction, rule)
    return yes_no(answer) if at is None or answer is not False else f"no, {at}"
