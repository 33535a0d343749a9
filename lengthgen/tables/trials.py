"""The trial of a conjecture, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, percent, said, share, titled


def conjecture_table(trial: Mapping[str, Any]) -> Group:
    """Every cell with its verdict, the 2x2 table of both rules, and what may lie behind each disagreement."""
    names = _cell_names(trial)
    table = columns(
        "cell", "predicted", "literal", "fit", "generalize | fit", "verdict", "breaks at", "expected", "best on test"
    )
    for cell, name in zip(trial["cells"], names, strict=True):
        fit, best = cell["fit"], cell["best_on_test"]["generalizes"]
        breaking = cell["breaking"]
        table.add_row(
            name,
            said(cell["predicted"]),
            said(cell["literal"]),
            f"{fit['successes']}/{fit['trials']}",
            share(cell["generalizes_given_fit"]),
            cell["verdict"],
            _scale(breaking and breaking["observed"]),
            _scale(breaking and breaking["predicted"]),
            f"{best['successes']}/{best['trials']}",
        )
    found = [
        f"{name} (observed {said(cell['observed'])}): "
        + "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"])
        for cell, name in zip(trial["cells"], names, strict=True)
        if cell["diagnosis"]
    ]
    title = f"Cells: runs of all runs, exact 95% intervals, {_reading(trial['main'])}"
    notes = ["best on test: by the published choice of checkpoint, which selects on the test scales"]
    if trial["runs_needed"]:
        notes.append(f"a verdict needs {trial['runs_needed']} fitting runs that agree (Holm over the cells)")
    return Group(titled(title, table, *notes), _rules(trial), *(Text(line) for line in found))


def _rules(trial: Mapping[str, Any]) -> Group:
    table = columns(
        "rule", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "Fisher", "by task", "by encoding", "both"
    )
    notes = []
    for rule, one in trial["rules"].items():
        counts, tests = one["table"], one["permutation"]
        table.add_row(
            {"coverage": "with coverage", "literal": "literal"}[rule],
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            percent(one["agreement"]),
            f"{one['fisher_p']:.3f}",
            *(f"{test['p']:.3f} (least {test['least_p']:.3f})" for test in tests.values()),
        )
        if one["misclassified"]:
            notes.append(f"{rule}: misses {', '.join(one['misclassified'])}")
        if one["refuted_by"]:
            notes.append(f"{rule}: refuted by {', '.join(one['refuted_by'])}")
    counts = trial["rules"]["coverage"]["table"]
    notes.append(f"not in the table: {counts['not_observed']} not observed, {counts['no_prediction']} not predicted")
    if not trial["rules"]["coverage"]["both_kinds"]:
        notes.append("cells predicted yes and cells predicted no were not both observed: nothing tests the 'iff'")
    notes += [
        f"the rules differ on {one['cell']}: with coverage {said(one['coverage'])}, literal {said(one['literal'])}, "
        f"observed {said(one['observed'])}"
        for one in trial["rules_differ"]
    ]
    return titled("Predicted, observed: cells by the majority of their fitting runs; p-values one-sided", table, *notes)


def sensitivity_table(trial: Mapping[str, Any]) -> Group:
    """What becomes of the trial where one choice is made otherwise, and the cells that change."""
    table = columns(
        "varied", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "literal agrees", "cells that change"
    )
    notes = []
    for one in trial["sensitivity"]:
        varied, rules = one["varied"], one["rules"]
        name = f"{varied} {one['setting'][varied]}" if varied else "nothing"
        counts = rules["coverage"]["table"]
        table.add_row(
            name,
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            percent(rules["coverage"]["agreement"]),
            percent(rules["literal"]["agreement"]),
            str(len(one["changed"])),
        )
        notes += [f"{name}: {change['cell']}: {_change(change)}" for change in one["changed"]]
    title = f"The same runs, read otherwise, one choice at a time, than {_reading(trial['main'])}"
    return titled(title, table, *notes)


def _change(change: Mapping[str, Any]) -> str:
    """The parts of an answer that are not as in the main setting."""
    main, here = change["main"], change["here"]
    return ", ".join(
        f"{part} {main[part]} -> {here[part]}"
        if part == "verdict"
        else f"{part} {said(main[part])} -> {said(here[part])}"
        for part in main
        if main[part] != here[part]
    )


def _reading(setting: Mapping[str, Any]) -> str:
    checkpoint = setting["checkpoint"].replace("_", " ")
    return (
        f"solved from {setting['threshold']:g}, {checkpoint} checkpoint, {setting['mode']} operators, {setting['size']}"
    )


def _cell_names(trial: Mapping[str, Any]) -> list[str]:
    """With the model size where there are several."""
    several = len({cell["size"] for cell in trial["cells"]}) > 1
    parts = ("task", "format", "encoding", "size") if several else ("task", "format", "encoding")
    return [" ".join(cell[part] for part in parts) for cell in trial["cells"]]


def _scale(scale: float | None) -> str:
    return "-" if scale is None else f"{scale:g}"
