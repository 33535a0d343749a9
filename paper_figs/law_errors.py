"""Figure of an audit: the error of the relative law by position, in each dtype, with its budget.

Colour is never the only mark: each dtype has a marker, each way of use a line.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.infrastructure.errors import writable
from lengthgen.paper_figs import saving
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import PAGE_WIDTH, context, slot_look

LINES: Mapping[str, Any] = {"": "-", "module moved": (0, (4, 1.5)), "autocast": (0, (1, 1.2))}
"""Line of inputs of a dtype, of a module that was moved to it, and of autocast to it."""
LEAST = 1e-18
"""Smallest error that is drawn: an error of 0 has no logarithm."""
BUDGET: dict[str, Any] = {"linewidth": 0.6, "linestyle": (0, (8, 2.8))}
"""Line of a budget."""


def drawing(audit: Mapping[str, Any]) -> Drawing:
    """Draw the errors of one audit of `lengthgen.questions.auditing.audit`, one that has measured the relative law.

    The table has one row for each point: the setting, the query position, the largest error of the law there over all
    tested offsets in relation to its budget, and this budget; the error is empty if it is not finite.
    """
    curves = {name: _curve(result["law"]) for name, result in audit["settings"].items() if result["law"]}
    dtypes = list(dict.fromkeys(name.partition(", ")[0] for name in curves))
    unit = "a logit, over |q| |k|" if audit["kind"] in ("rotate", "scores") else "the bias"
    subject = writable(audit["subject"]).replace("$", r"\$")
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for name, curve in curves.items():
            dtype, _, use = name.partition(", ")
            its = slot_look(1 + dtypes.index(dtype))
            positions, errors, budgets = zip(*curve, strict=True)
            drawn = [float("nan") if error is None else max(error, LEAST) for error in errors]
            width = 2.6 - 0.5 * dtypes.index(dtype)  # the wider line shows below one that hides it
            axes.plot(positions, drawn, color=its.colour, marker=its.marker, markersize=3, markevery=8,
                      linewidth=width, linestyle=LINES[use], label=name, gid=name)  # fmt: skip
            if not use:
                axes.plot(positions, budgets, color=its.colour, **BUDGET, gid=f"budget {name}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("query position j")
        axes.set_ylabel(f"error ({unit})")
        handles, _ = axes.get_legend_handles_labels()
        handles.append(Line2D([], [], color="black", **BUDGET, label="budget"))
        figure.legend(handles=handles, loc="outside right upper", frameon=False)
    rows = [
        {"setting": name, "position": position, "error": "" if error is None else error, "budget": budget}
        for name, curve in curves.items()
        for position, error, budget in curve
    ]
    caption = (
        f"Error of the relative law of {subject} ({unit}) by query position, up to {audit['last_position']}: of each "
        "eighth of an octave the error that is the most times its budget, over the tested offsets. Dashed thin: the "
        f"budget of the dtype. An error below {LEAST:g} is drawn there; a line has a gap where it is not finite."
    )
    return Drawing(shown=figure, rows=rows, caption=caption)


def _curve(law: Mapping[str, Any]) -> list[tuple[int, float | None, float]]:
    """Position, error and budget of each point but that of position 0, whose error is 0 by definition."""
    parts = (law["by_position"][name] for name in ("position", "error", "budget"))
    return [point for point in zip(*parts, strict=True) if point[0]]


def write(answer: Mapping[str, Any], folder: Path) -> list[str]:
    """Draw each audit of an answer that has measured the relative law, and write the files; return their paths."""
    paths: list[str] = []
    for number, audit in enumerate(answer["audits"]):
        if not any(result["law"] for result in audit.get("settings", {}).values()):
            continue
        subject = f"{answer['encoding']} {audit['subject']} {number}"
        readable = re.sub(r"[^0-9A-Za-z]+", "-", audit["subject"])[:40].strip("-")
        name = f"audit-{readable}-{crc32(writable(subject).encode()):08x}"
        paths += map(str, saving.write(drawing(audit), folder, name))
    return paths
