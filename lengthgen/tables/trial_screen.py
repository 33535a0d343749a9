"""First screen of a trial: a line a cell, what was found in two sentences, and the command that draws it."""

import shlex
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from lengthgen.predicting import interval_text
from lengthgen.tables.layout import Screen, cut_to_screen, more
from lengthgen.tables.trials import task_name

OPERANDS = {"aligned": "padded", "filled": "filled", "unaligned": "as written"}
"""Formats in words: how the operands stand in the prompt."""
VERDICTS = {
    "refuted": "refuted",
    "mixed": "mixed",
    "undecided (power)": "undecided",
    "not learnt": "not learnt",
    "consistent": "agrees",
    "no prediction": "no prediction",
}
"""Verdicts in words; on a screen without room for all cells, those of the first ones are kept."""
BARS, BARS_IN_ASCII = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
"""Exact match from 0 to solved as characters, and as characters for streams that have ASCII alone."""
FEW_NAMES = 3
"""Largest number of cells that a sentence names."""


class Sparkline:
    """Exact match by scale, one character a scale, or fewer evenly spaced ones; the highest bar is a solved scale."""

    def __init__(self, curve: Sequence[Sequence[float]], *, threshold: float) -> None:
        self.levels = [_level(value, threshold) for _, value in curve]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars, count = BARS_IN_ASCII if options.ascii_only else BARS, len(self.levels)
        room = min(options.max_width, count)
        yield Text("".join(bars[self.levels[(place + 1) * count // room - 1]] for place in range(room)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, len(self.levels))


def _level(value: float, threshold: float) -> int:
    """Return the height of a bar: 8 for a solved scale, 0 for no exact match (or a NaN), and 1 to 7 between them."""
    if value >= threshold:
        return len(BARS) - 1
    return ceil((len(BARS) - 2) * value / threshold) if value > 0 else 0


def trial_screen(trial: Mapping[str, Any], folder: Path) -> Screen:
    """Return the cells of the judged model size, the two sentences, and the command for the picture.

    Args:
        trial: `lengthgen.empirical.trial.trial.as_json`.
        folder: folder of the stored trial.
    """
    cells = _cells(trial)
    by_interest = sorted(range(len(cells)), key=lambda index: [*VERDICTS].index(cells[index]["verdict"]))
    tasks = list(dict.fromkeys(task_name(cell) for cell in cells))
    what = task_name(cells[0]) if len(tasks) == 1 else f"{folder.name}, {len(tasks)} tasks"
    forecast = any(cell.get("forecast") for cell in cells)
    notes = [
        *(["forecast: share of the fitting runs that should generalize, with its 95 % interval"] * forecast),
        f"runs: that generalize, of those that fit; {BARS[-1]}: exact match from {trial['main']['threshold']:g} on, "
        "in the median run",
        *_open_notes(cells),
        found(trial),
        f"to draw it: {_draw(folder)}",
    ]

    def form(shown: int) -> Group:
        chosen = sorted(sorted(by_interest[:shown]), key=lambda index: tasks.index(task_name(cells[index])))
        return Group(
            Text(
                f"{what}: trained on scales {trial['train'][0]}-{trial['train'][-1]}, tested to "
                f"{cells[0]['curve'][-1][0]}",
                style="bold",
            ),
            _table([cells[index] for index in chosen], trial["main"]["threshold"], by_task=len(tasks) > 1),
            *map(Text, [*more(len(cells), shown), *notes]),
        )

    return cut_to_screen(len(cells), form)


def _table(cells: Sequence[Mapping[str, Any]], threshold: float, *, by_task: bool) -> Table:
    """Return a row for each cell, below the names of their tasks if these differ; sparklines take the room left."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("encoding", overflow="fold")
    for heading in ("operands", "forecast", "runs"):
        table.add_column(heading, no_wrap=True)
    table.add_column("exact match by scale")
    table.add_column("verdict", no_wrap=True)
    task = None
    for cell in cells:
        if by_task and task_name(cell) != task:
            task = task_name(cell)
            table.add_row(Text(task))
        table.add_row(
            Text("  " * by_task + cell["encoding"]),
            OPERANDS[cell["format"]],
            forecast_text(cell.get("forecast")),
            _runs(cell),
            Sparkline(cell["curve"], threshold=threshold),
            verdict_text(cell),
        )
    return table


def forecast_text(forecast: Mapping[str, Any] | None) -> str:
    """Return the forecast share of fitting runs that generalize, with its interval; a dash if there is none."""
    return "-" if forecast is None else interval_text(*(forecast[key] for key in ("share", "low", "high")))


def verdict_text(cell: Mapping[str, Any]) -> str:
    """Return the verdict on a cell in words, and how many runs an undecided one lacks."""
    word = VERDICTS[cell["verdict"]]
    return f"{word}: {cell['lacking_runs']} more" if word == "undecided" else word


def found(trial: Mapping[str, Any]) -> str:
    """Return what was found in two sentences: which decided cells did as was predicted, and how many are open."""
    cells = [cell for cell in _cells(trial) if cell["predicted"] is not None]
    of = {word: [cell for cell in cells if VERDICTS[cell["verdict"]] == word] for word in VERDICTS.values()}
    refuted = of["refuted"]
    decided = len(of["agrees"]) + len(refuted)
    still = {
        "undecided": "undecided for want of runs",
        "mixed": "mixed (some runs generalize, others do not)",
        "not learnt": "learnt by no run",
    }
    waiting = ", ".join(f"{len(of[word])} {words}" for word, words in still.items() if of[word])
    if not cells:
        return "No cell has a prediction."
    if not decided:
        return f"No cell is decided: {waiting}."
    first = f"{len(of['agrees'])} of {decided} decided {_cells_word(decided)} did as predicted"
    named = [f"{_name(cell, cells)} ({_runs(cell)} fitting runs generalize)" for cell in refuted[:FEW_NAMES]]
    if len(refuted) > FEW_NAMES:
        named.append(f"{len(refuted) - FEW_NAMES} more")
    return f"{first}{'; not so: ' * bool(refuted)}{', '.join(named)}." + f" Open: {waiting}." * bool(waiting)


def _open_notes(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what the verdicts ask for: more runs, or predictions that were made before training."""
    undecided = any(cell["verdict"] == "undecided (power)" for cell in cells)
    late = sum(not cell["predicted_before_training"] for cell in cells)
    return [
        *(["more: fitting runs that agree and would decide the cell (--until-decided trains them)"] * undecided),
        *([f"{late} {_cells_word(late)} not predicted before training"] if late else []),
    ]


def _cells(trial: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the cells of the model size that is judged."""
    return [cell for cell in trial["cells"] if cell["size"] == trial["main"]["size"]]


def _runs(cell: Mapping[str, Any]) -> str:
    """Return how many fitting runs generalize."""
    return f"{cell['generalizes_given_fit']['successes']} of {cell['generalizes_given_fit']['trials']}"


def _name(cell: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of a cell in a sentence: its encoding, how operands stand, and its task if there are several."""
    what = task_name(cell) if len({other["task"] for other in cells}) > 1 else "operands"
    words = OPERANDS[cell["format"]]
    return f"{cell['encoding']} on {f'{what} {words}' if cell['format'] == 'unaligned' else f'{words} {what}'}"


def _draw(folder: Path) -> str:
    """Return the command that draws a stored trial."""
    return shlex.join(["lengthgen", "figures", "--trial", str(folder), "--into", str(folder / "figures")])


def _cells_word(count: int) -> str:
    return "cell" if count == 1 else "cells"
