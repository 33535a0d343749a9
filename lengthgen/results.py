"""Computed answers as plain data: the output of commands with --json, stored by `reproduce`."""

import inspect
import math
from typing import Any

from lengthgen.circuits.search.templates import Template
from lengthgen.circuits.tasks import TASKS
from lengthgen.circuits.tasks.catalogue import TWO_SCALE_TASKS
from lengthgen.circuits.tasks.families import PUBLISHED_TASKS


def tasks_answer() -> dict[str, Any]:
    """Return the named tasks: layout, default base, arity of the reference circuit.

    Beside them the tasks of two scales, and the names of the tasks of published experiments.
    """
    tasks = []
    for name, make in TASKS.items():
        reference = make().reference
        base = inspect.signature(make).parameters.get("base")
        tasks.append(
            {
                "task": name,
                "layout": (inspect.getdoc(make) or "").partition("\n")[0],
                "base": base.default if base else None,
                "reference_arity": reference.arity if reference else None,
            }
        )
    two_scales = [
        {"task": name, "layout": (inspect.getdoc(make) or "").partition("\n")[0]}
        for name, make in TWO_SCALE_TASKS.items()
    ]
    return {"tasks": tasks, "two_scale_tasks": two_scales, "published_tasks": [*PUBLISHED_TASKS]}


def number(value: float | None) -> int | str | None:
    """Return a count as JSON holds it: infinite is "inf", unknown is null."""
    if value is None:
        return None
    return "inf" if math.isinf(value) else int(value)


def template_text(template: Template) -> str:
    """Return the position of an argument in words; t is the number of the step."""
    offset = f" {'+' if template.offset > 0 else '-'} {abs(template.offset)}" if template.offset else ""
    part = f"part {template.segment + 1} of the prompt"
    t = "t" if template.pace == 1 else f"ceil(t/{template.pace})"
    return {
        "query": f"{template.offset} before the query" if template.offset else "the query itself",
        "along": f"{part}, place {t}{offset}",
        "start": f"{part}, place {1 + template.offset}",
        "end": f"{part}, {template.offset} before its last place" if template.offset else f"{part}, last place",
        "against": f"{part}, place {t}{offset} from its end",
    }[template.kind]
