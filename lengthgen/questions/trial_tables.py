"""Trial of a conjecture for people: its first screen, and tables with all verdicts, tests and choices."""

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

from lengthgen.circuits.forecast.rates import ALWAYS_NO, BASELINES, KINDS, RATE, RATE_WITH_SRC, is_of_kind
from lengthgen.circuits.prediction_record import RULES
from lengthgen.questions.predict import interval_text
from lengthgen.terminal.layout import (
    Screen,
    cut_to_screen,
    e_value_text,
    filled,
    more,
    percent,
    rounded,
    share_text,
    texts,
    titled,
    yes_no,
)

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
BASELINES_IN_WORDS = {
    ALWAYS_NO: ALWAYS_NO,
    RATE: "rate by encoding and format",
    RATE_WITH_SRC: "the same, with: SRC invariant or not",
}
"""Baselines in words."""
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
    """Return the cells of the judged model size, the two sentences, and the command for the picture."""
    cells = _cells(trial)
    by_interest = sorted(range(len(cells)), key=lambda index: [*VERDICTS].index(cells[index]["verdict"]))
    tasks = list(dict.fromkeys(task_name(cell) for cell in cells))
    what = task_name(cells[0]) if len(tasks) == 1 else f"{folder.name}, {len(tasks)} tasks"
    forecast = any(cell.get("forecast") for cell in cells)
    undecided = any(cell["verdict"] == "undecided (power)" for cell in cells)
    late = sum(not cell["predicted_before_training"] for cell in cells)
    draw = ["lengthgen", "figures", "--trial", str(folder), "--into", str(folder / "figures")]
    notes = [
        *(["forecast: share of the fitting runs that should generalize, with its 95 % interval"] * forecast),
        f"runs: that generalize, of those that fit; {BARS[-1]}: exact match from {trial['main']['threshold']:g} on, "
        "in the median run",
        *(["more: runs that probably decide the cell, if its shares stay as they are (--until-decided)"] * undecided),
        *([f"{late} {'cell' if late == 1 else 'cells'} not predicted before training"] if late else []),
        found(trial),
        *beside_baselines(trial),
        f"to draw it: {shlex.join(draw)}",
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
    """Return the verdict on a cell in words, and how many runs an undecided one probably lacks."""
    word = VERDICTS[cell["verdict"]]
    return f"{word}: {likely_text(cell['likely_runs'])} more" if word == "undecided" else word


def likely_text(likely: Mapping[str, Any]) -> str:
    """Return the number of further runs that probably decide a cell."""
    return f"over {likely['most']:,}" if likely["runs"] is None else f"about {likely['runs']:,}"


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
    first = f"{_by_kind(of['agrees'], of['agrees'] + refuted)} did as predicted"
    named = [f"{_name(cell, cells)} ({_runs(cell)} fitting runs generalize)" for cell in refuted[:FEW_NAMES]]
    if len(refuted) > FEW_NAMES:
        named.append(f"{len(refuted) - FEW_NAMES} more")
    return f"{first}{'; not so: ' * bool(refuted)}{', '.join(named)}." + f" Open: {waiting}." * bool(waiting)


def _by_kind(some: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]) -> str:
    """Return how many cells of some are among others, of encodings in use, of ideal ones, and of all."""

    def counted(kind: str) -> str:
        right, of_kind = ([cell for cell in group if is_of_kind(cell["encoding"], kind)] for group in (some, cells))
        return f"{len(right)} of {len(of_kind)}"

    total = f"{counted('all')} decided {'cell' if len(cells) == 1 else 'cells'}"
    ideal = sum(is_of_kind(cell["encoding"], "ideal") for cell in cells)
    if ideal in (0, len(cells)):
        return f"{total} ({'ideal encodings' if ideal else 'encodings in use'})"
    return f"Encodings in use: {counted('in use')}; ideal: {counted('ideal')}; together {total}"


def beside_baselines(trial: Mapping[str, Any]) -> list[str]:
    """Return a line on how often the forecast and each baseline are right, if a cell is observed."""
    kinds = trial["baselines"]["kinds"]
    if not kinds["all"]["cells"]:
        return []
    shown_kinds = [kind for kind in KINDS if kinds[kind]["cells"]]
    names = [name for name in ("forecast", *BASELINES) if kinds["all"]["scores"][name]["answered"]]
    rates = "; ".join(f"{name} {', '.join(_right(kinds[kind], name) for kind in shown_kinds)}" for name in names)
    return [f"right ({', '.join(shown_kinds)}): {rates}"]


def _right(of_kind: Mapping[str, Any], name: str) -> str:
    return f"{of_kind['scores'][name]['right']} of {of_kind['cells']}"


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


def conjecture_table(trial: Mapping[str, Any]) -> Group:
    """Return all verdicts, the 2x2 tables, and what may explain a disagreement."""
    diagnoses = (
        f"{name} (observed {yes_no(cell['observed'])}): "
        + "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"])
        for cell, name in zip(trial["cells"], _cell_names(trial), strict=True)
        if cell["diagnosis"]
    )
    return Group(*_baselines_table(trial), verdicts_table(trial), *map(Text, diagnoses))


def _baselines_table(trial: Mapping[str, Any]) -> list[Group]:
    """Return how often each rule and each baseline is right, by kind of encoding; nothing without an observed cell."""
    kinds = trial["baselines"]["kinds"]
    shown_kinds = [kind for kind in KINDS if kinds[kind]["cells"]]
    if not shown_kinds:
        return []
    rows = [
        (
            RULES.get(name, BASELINES_IN_WORDS.get(name, name)),
            *(
                f"{_right(kinds[kind], name)}  {rounded(kinds[kind]['scores'][name]['brier'], '.3f')}"
                for kind in shown_kinds
            ),
        )
        for name in kinds["all"]["scores"]
        if kinds["all"]["scores"][name]["answered"]
    ]
    return [
        titled(
            "Right by the majority of fitting runs, and Brier score: baselines last",
            filled(("", *(f"{kind}{' encodings' if kind != 'all' else ''}" for kind in shown_kinds)), rows),
            f"rates: {trial['baselines']['source']} ({trial['baselines']['runs']:,} runs)",
        )
    ]


def verdicts_table(trial: Mapping[str, Any]) -> Group:
    """Return every cell with its verdict, and the 2x2 table of each rule."""
    cells = list(zip(trial["cells"], _cell_names(trial), strict=True))
    headings = ("cell", "predicted", "literal", "fit", "generalize | fit", "verdict", "e", "share")
    rows = []
    for cell, name in cells:
        fit, best, breaking = cell["fit"], cell["best_on_test"]["generalizes"], cell["breaking"]
        rows.append(
            (
                name,
                *(yes_no(cell[rule]) for rule in ("predicted", "literal")),
                f"{fit['successes']}/{fit['trials']}",
                share_text(cell["generalizes_given_fit"]),
                cell["verdict"],
                larger_e_value(cell),
                "".join(
                    yes_no(cell["estimates"][about]["answer"], "?")[0]
                    for about in ("possible", "majority", "nearly_all")
                ),
                *(_scale(breaking and breaking[about]) for about in ("observed", "predicted")),
                f"{best['successes']}/{best['trials']}",
            )
        )
    table = filled((*headings, "breaks", "expected", "best"), rows)
    title = f"Cells: runs of all runs, exact 95% intervals, {_setting_text(trial['main'])}"
    notes = ["best: by the published choice of checkpoint, which selects on the test scales"]
    notes += [
        f"{name}: {other['runs']} more stored runs (fit {other['fit']}, generalize {other['generalize']}) are not "
        "frozen: their seeds do not derive from the predictions, and they decide nothing"
        for cell, name in cells
        if (other := cell["not_frozen"])["runs"]
    ]
    notes += [
        *(f"{name}: not predicted before training" for cell, name in cells if not cell["predicted_before_training"]),
        f"a verdict needs {trial['unanimous_runs']} fitting runs that agree; e: e-value for it (e-BH over the cells)",
        *_likely_lines(cells),
        "share: do over 5%, over 50%, over 90% of the fitting runs generalize? y, n, or ? where it is undecided",
    ]
    if trial["never_fit"]:
        notes.append(f"predicted to generalize, and no run fits: {', '.join(trial['never_fit'])}")
    return Group(titled(title, table, *notes), _rules_table(trial))


def _likely_lines(cells: Sequence[tuple[Mapping[str, Any], str]]) -> list[str]:
    """Return a line for each open cell: how many further runs probably decide it, and its e-value near one half."""
    return [
        f"{name}: {likely_text(likely)} more runs, if its shares stay as they are ({percent(likely['share'])} of the "
        f"fitting runs); at least {cell['lacking_runs']}, if they agree"
        + (f"; e-value by the mixture near one half {e_value_text(max(near.values()))}" if near else "")
        for cell, name in cells
        for likely, near in [(cell["likely_runs"], cell["near_half"])]
        if likely
    ]


_TWO_BY_TWO = {"yes, yes": "yes_yes", "yes, no": "yes_no", "no, yes": "no_yes", "no, no": "no_no"}
"""Headings of the 2x2 table, predicted and observed, and the keys of its counts."""


def _rules_table(trial: Mapping[str, Any]) -> Group:
    """Return the 2x2 table of each rule with its statistical tests."""
    rows, notes = [], []
    for (first, *others), result in _equal_results(trial["rules"]):
        counts, tests = result["table"], result["permutation"]
        rule = RULES[first] + (" (post hoc)" if result["post_hoc"] else "")
        p_values = [f"{test['p']:.3f}" if test["least_p"] <= trial["alpha"] else "-" for test in tests.values()]
        agreement = percent(result["agreement"]), f"{result['fisher_p']:.3f}"
        rows.append((rule, *texts(counts, *_TWO_BY_TWO.values()), *agreement, *p_values))
        if result["misclassified"]:
            notes.append(f"{rule}: misses {', '.join(result['misclassified'])}")
        if result["refuted_by"]:
            notes.append(f"{rule}: refuted by {', '.join(result['refuted_by'])}")
        if others:
            notes.append(f"{', '.join(RULES[name] for name in others)}: as {rule}")
    counts = trial["rules"]["coverage"]["table"]
    notes.append(f"not in the table: {counts['not_observed']} not observed, {counts['no_prediction']} not predicted")
    if not trial["rules"]["coverage"]["both_kinds"]:
        notes.append("cells predicted yes and cells predicted no were not both observed, so the 'iff' is not tested")
    notes += [
        f"the rules differ on {cell['cell']}: "
        + "".join(
            f"{name} {yes_no(cell[rule])}, "
            for rule, name in RULES.items()
            if rule == "coverage" or cell.get(rule) not in {None, cell["coverage"]}
        )
        + f"observed {yes_no(cell['observed'])}"
        for cell in trial["rules_differ"]
    ]
    title = "Predicted, observed: cells by the majority of their fitting runs; one-sided p-values, -: none can be small"
    headings = ("rule", *_TWO_BY_TWO, "agree", "Fisher", "by task", "by encoding", "both")
    return titled(title, filled(headings, rows), *notes)


def _equal_results(results: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """Return each result with the rules that have it, in the order of the first."""
    groups: list[tuple[list[str], Any]] = []
    for rule, result in results.items():
        for names, other in groups:
            if other == result:
                names.append(rule)
                break
        else:
            groups.append(([rule], result))
    return groups


def sensitivity_table(trial: Mapping[str, Any]) -> Group:
    """Return the trial with one choice varied at a time: the choices that change a cell, and how."""
    cells: dict[str, list[str]] = {}
    rows, same = [], []
    for variant in trial["sensitivity"]:
        varied, rules = variant["varied"], variant["rules"]
        name = f"{varied} {variant['setting'][varied]}" if varied else "nothing"
        if varied and not variant["changed"]:
            same.append(name)
            continue
        agreement = (percent(rules[rule]["agreement"]) for rule in ("coverage", "literal"))
        counts = texts(rules["coverage"]["table"], *_TWO_BY_TWO.values())
        rows.append((name, *counts, *agreement, str(len(variant["changed"]))))
        for change in variant["changed"]:
            cells.setdefault(f"{name}: {_change(change)}", []).append(change["cell"])
    title = f"The same runs with one choice varied at a time; main setting: {_setting_text(trial['main'])}"
    notes = [f"{change}: {', '.join(names)}" for change, names in cells.items()]
    headings = ("varied", *_TWO_BY_TWO, "agree", "literal agrees", "cells that change")
    return titled(title, filled(headings, rows), *notes, *([f"no cell changes: {', '.join(same)}"] if same else []))


def _change(change: Mapping[str, Any]) -> str:
    """Return the parts of an answer that differ from the main setting."""
    main, changed = change["main"], change["here"]
    return ", ".join(
        f"{part} {main[part]} -> {changed[part]}"
        if part == "verdict"
        else f"{part} {yes_no(main[part])} -> {yes_no(changed[part])}"
        for part in main
        if main[part] != changed[part]
    )


def _setting_text(setting: Mapping[str, Any]) -> str:
    """Return a setting of the trial as text."""
    checkpoint = setting["checkpoint"].replace("_", " ")
    return (
        f"solved from {setting['threshold']:g}, {checkpoint} checkpoint, {setting['mode']} operators, {setting['size']}"
    )


def _cell_names(trial: Mapping[str, Any]) -> list[str]:
    """Return the names of all cells, with the model size if there are several sizes."""
    several = len({cell["size"] for cell in trial["cells"]}) > 1
    parts = ("format", "encoding", "size") if several else ("format", "encoding")
    return [" ".join([task_name(cell), *(cell[part] for part in parts)]) for cell in trial["cells"]]


def task_name(cell: Mapping[str, Any]) -> str:
    """Return the name of a cell's task without its file."""
    name: str = cell["task"]
    return name.rpartition(":")[2]


def larger_e_value(cell: Mapping[str, Any]) -> str:
    """Return the larger e-value of a cell, for or against its prediction."""
    return e_value_text(max((cell[name] for name in ("e_for", "e_against") if cell[name] is not None), default=None))


def _scale(scale: float | None) -> str:
    """Return a scale or an e-value as text."""
    return "-" if scale is None else f"{scale:.3g}"
