"""Tasks, SRC and predictions, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, titled


def tasks_table(answer: Mapping[str, Any]) -> Group:
    """A row for each task."""
    table = columns("task", "layout", "base", "slots")
    for one in answer["tasks"]:
        table.add_row(one["task"], one["layout"], str(one["base"] or "-"), str(one["reference_arity"] or "unbounded"))
    return titled(
        "Tasks", table, "base: digits unless --base is given; slots: of the reference circuit's operators [F]"
    )


def src_table(answer: Mapping[str, Any]) -> Group:
    """SRC by scale, with status, wiring and roles."""
    table = columns("scale", "SRC", "bounds")
    for scale, value in answer["src"].items():
        table.add_row(scale, "?" if value is None else str(value), "..".join(map(str, answer["bounds"][scale])))
    least = answer["minimal_arity"] or "not known"
    notes = [
        f"{answer['status']}: {answer['statement']}",
        f"{answer['inputs']} prompts looked at; the fewest slots possible: {least}",
    ]
    if answer["stopped"]:
        notes.append(f"not finished: {answer['stopped']}; the bounds hold")
    if answer["coverage_scale"]:
        notes.append(f"every table entry in use is met up to scale {answer['coverage_scale']}")
    for combination in answer["wiring"]:
        notes.append("; ".join(f"slot {slot}: {where}" for slot, where in enumerate(combination, start=1)))
    if answer["roles"]:
        notes.append(_roles(answer["roles"]))
    for arity, values in answer.get("curve", {}).items():
        notes.append(f"at arity {arity}: " + ", ".join("?" if one is None else str(one) for one in values.values()))
    notes.append("seconds: " + ", ".join(f"{phase} {time:.2f}" for phase, time in answer["seconds"].items()))
    notes += [f"written: {path}" for path in (answer.get("certificate"), *answer.get("figure", [])) if path]
    return titled(f"SRC of {answer['task']} at arity {answer['arity']}, {answer['mode']} wiring [F]", table, *notes)


def _roles(roles: Mapping[str, Any]) -> str:
    labels = f"the ideal relation has {roles['labels']} labels"
    if not roles["scale_hint"]:
        return f"{labels} and needs no scale hint"
    first = roles["first_changing"][0]
    return (
        f"{labels} and needs a scale hint: {roles['changing_pairs']} pairs change their role with the scale, first "
        f"key {first['key']} for query {first['query']} at scale {first['scale']}"
    )


def certificate_table(answer: Mapping[str, Any]) -> Group:
    """What a certificate proves, or what was tried on random prompts and how to try the same again."""
    if answer["proved"]:
        return Group(Text(f"proved: {answer['statement']}"))
    return Group(
        Text(answer["statement"]),
        Text(f"the prompts are random: --seed {answer['seed']} draws the same ones, another number others"),
    )


def prediction_table(answer: Mapping[str, Any]) -> Group:
    """Predictions by encoding; dashes where there is none."""
    train, test = answer["train"], answer["test"]
    title = (
        f"{answer['task']}, {answer['format']}, {answer['mode']} wiring: "
        f"trained on {train[0]}-{train[-1]}, tested on {test[0]}-{test[-1]}"
    )
    table = columns("encoding", "relation", "operators: train", "test", "generalizes", "breaks at", "literally")
    for encoding, one in answer["predictions"].items():
        complexities = ("-" if one[of] is None else str(one[of]) for of in ("complexity_train", "complexity_test"))
        generalizes, literal = ({True: "yes", False: "no", None: "-"}[one[of]] for of in ("generalizes", "literal"))
        breaks_at = str(one["breaks_at"] or "-")
        # As Text, in which brackets are no markup.
        names = (Text(encoding), Text(one["relation"] or "-"))
        table.add_row(*names, *complexities, generalizes, breaks_at, literal)
    return titled(
        title,
        table,
        *(f"{encoding}: {one['why']}" for encoding, one in answer["predictions"].items()),
        "literally: the conjecture by operators alone; generalizes: with labels and entries covered as well [F]",
    )
