"""Trial of a conjecture as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.circuits.prediction_record import RULES
from lengthgen.tables.layout import columns, e_value_text, percent, share_text, titled, yes_no


def conjecture_table(trial: Mapping[str, Any]) -> Group:
    """Return all verdicts, the 2x2 tables, and what may explain a disagreement."""
    return Group(verdicts_table(trial), *map(Text, _diagnoses(trial)))


def verdicts_table(trial: Mapping[str, Any]) -> Group:
    """Return every cell with its verdict, and the 2x2 table of each rule."""
    names = _cell_names(trial)
    table = columns(
        "cell",
        "predicted",
        "literal",
        "fit",
        "generalize | fit",
        "verdict",
        "e",
        "share",
        "breaks",
        "expected",
        "best",
    )
    for cell, name in zip(trial["cells"], names, strict=True):
        fit, best = cell["fit"], cell["best_on_test"]["generalizes"]
        breaking = cell["breaking"]
        table.add_row(
            name,
            yes_no(cell["predicted"]),
            yes_no(cell["literal"]),
            f"{fit['successes']}/{fit['trials']}",
            share_text(cell["generalizes_given_fit"]),
            cell["verdict"],
            larger_e_value(cell),
            "".join(_answer(cell["estimates"][name]) for name in ("possible", "majority", "nearly_all")),
            _scale(breaking and breaking["observed"]),
            _scale(breaking and breaking["predicted"]),
            f"{best['successes']}/{best['trials']}",
        )
    title = f"Cells: runs of all runs, exact 95% intervals, {_setting_text(trial['main'])}"
    notes = ["best: by the published choice of checkpoint, which selects on the test scales"]
    notes += [
        f"{name}: {other['runs']} more stored runs (fit {other['fit']}, generalize {other['generalize']}) are not "
        "frozen: their seeds do not derive from the predictions, and they decide nothing"
        for cell, name in zip(trial["cells"], names, strict=True)
        if (other := cell["not_frozen"])["runs"]
    ]
    notes += [
        f"{name}: not predicted before training"
        for cell, name in zip(trial["cells"], names, strict=True)
        if not cell["predicted_before_training"]
    ]
    notes.append(
        f"a verdict needs {trial['unanimous_runs']} fitting runs that agree; e: e-value for it (e-BH over the cells)"
    )
    notes.append(
        "share: do over 5%, over 50%, over 90% of the fitting runs generalize? y, n, or ? where it is undecided"
    )
    if trial["never_fit"]:
        notes.append(f"predicted to generalize, and no run fits: {', '.join(trial['never_fit'])}")
    return Group(titled(title, table, *notes), _rules_table(trial))


def _diagnoses(trial: Mapping[str, Any]) -> list[str]:
    """Return a line on each cell that disagrees with its prediction: possible reasons."""
    return [
        f"{name} (observed {yes_no(cell['observed'])}): "
        + "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"])
        for cell, name in zip(trial["cells"], _cell_names(trial), strict=True)
        if cell["diagnosis"]
    ]


def _rules_table(trial: Mapping[str, Any]) -> Group:
    """Return the 2x2 table of each rule with its statistical tests."""
    table = columns(
        "rule", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "Fisher", "by task", "by encoding", "both"
    )
    notes = []
    for (first, *others), result in _equal_results(trial["rules"]):
        counts, tests = result["table"], result["permutation"]
        rule = RULES[first] + (" (post hoc)" if result["post_hoc"] else "")
        table.add_row(
            rule,
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            percent(result["agreement"]),
            f"{result['fisher_p']:.3f}",
            *(f"{test['p']:.3f}" if test["least_p"] <= trial["alpha"] else "-" for test in tests.values()),
        )
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
        + "".join(f"{name} {yes_no(cell[rule])}, " for rule, name in RULES.items() if _differs(cell, rule))
        + f"observed {yes_no(cell['observed'])}"
        for cell in trial["rules_differ"]
    ]
    title = "Predicted, observed: cells by the majority of their fitting runs; one-sided p-values, -: none can be small"
    return titled(title, table, *notes)


def _differs(cell: Mapping[str, Any], rule: str) -> bool:
    """True for the rule with coverage, and for rules with another answer."""
    return rule == "coverage" or cell.get(rule) not in {None, cell["coverage"]}


def _equal_results(results: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """Return each result with the rules that have it, in the order of the first."""
    groups: list[tuple[list[str], Any]] = []
    for rule, result in results.items():
        group = next((names for names, other in groups if other == result), None)
        if group:
            group.append(rule)
        else:
            groups.append(([rule], result))
    return groups


def sensitivity_table(trial: Mapping[str, Any]) -> Group:
    """Return the trial with one choice varied at a time: the choices that change a cell, and how."""
    table = columns(
        "varied", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "literal agrees", "cells that change"
    )
    cells: dict[str, list[str]] = {}
    same = []
    for variant in trial["sensitivity"]:
        varied, rules = variant["varied"], variant["rules"]
        name = f"{varied} {variant['setting'][varied]}" if varied else "nothing"
        if varied and not variant["changed"]:
            same.append(name)
            continue
        counts = rules["coverage"]["table"]
        table.add_row(
            name,
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            percent(rules["coverage"]["agreement"]),
            percent(rules["literal"]["agreement"]),
            str(len(variant["changed"])),
        )
        for change in variant["changed"]:
            cells.setdefault(f"{name}: {_change(change)}", []).append(change["cell"])
    title = f"The same runs with one choice varied at a time; main setting: {_setting_text(trial['main'])}"
    notes = [f"{change}: {', '.join(names)}" for change, names in cells.items()]
    return titled(title, table, *notes, *([f"no cell changes: {', '.join(same)}"] if same else []))


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


def _answer(estimate: Mapping[str, Any]) -> str:
    """Return the answer to one question about the share of runs as text."""
    return {True: "y", False: "n", None: "?"}[estimate["answer"]]


def larger_e_value(cell: Mapping[str, Any]) -> str:
    """Return the larger e-value of a cell, for or against its prediction."""
    return e_value_text(max((cell[name] for name in ("e_for", "e_against") if cell[name] is not None), default=None))


def _scale(scale: float | None) -> str:
    """Return a scale or an e-value as text."""
    return "-" if scale is None else f"{scale:.3g}"
