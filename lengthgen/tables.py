"""Answers as tables for people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

MOST_ROWS = 40
"""Scales of which a table for people shows each."""


def lrc_table(answer: Mapping[str, Any]) -> Group:
    """LRC by scale, its growth, and with `relations` what stops each encoding."""
    table = _table("scale", "LRC")
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
    parts = [_with(f"LRC of {answer['expression']:.60}", table, *notes)]
    if "relations" in answer:
        parts += [_ideal(answer), _relations(answer)]
    return Group(*parts)


def _growth(growth: Mapping[str, Any]) -> str:
    bounds = "" if growth["low"] == growth["high"] else f", {growth['low']} to {growth['high'] or 'more'}"
    since = f" from scale {growth['from_scale']} on" if growth["from_scale"] else ""
    proved = f"proved for all scales ({growth['strength']})" if growth["strength"] else "not proved"
    return f"over all scales: {growth['kind']}{since}{bounds}, {proved}: {growth['reason']}"


def _relations(answer: Mapping[str, Any]) -> Group:
    table = _table("relation", "encodings with it", "generalizes", "why", "a learner from zero")
    for one in answer["relations"]:
        limits = one["limits"]
        which = f" (limits {limits[0]} to {limits[-1]})" if limits else ""
        yes = {True: "yes", False: "no", None: "undecided"}[one["generalizes"]]
        table.add_row(f"{one['relation']}{which}", one["encodings"], yes, one["why"], _learned(one["learned"]))
    title = f"Trained on scales 1 to {answer['from_scale']}, looked at up to {answer['to_scale']} [F]"
    return _with(
        title,
        table,
        "An encoding whose scores follow a law (RoPE, ALiBi, FIRE, sinusoids) ties its parameters: one label with two "
        "values rules it out as well, a label never met need not.",
    )


def _ideal(answer: Mapping[str, Any]) -> Group:
    table = _table("label", "entry", "cells", "first at")
    for one in answer["ideal"][:MOST_ROWS]:
        table.add_row(str(one["label"]), one["value"], str(one["cells"]), _place(one["first"]))
    left = len(answer["ideal"]) - MOST_ROWS
    return _with(
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


def src_table(answer: Mapping[str, Any]) -> Group:
    """SRC by scale, with status, wiring and roles."""
    table = _table("scale", "SRC", "bounds")
    for scale, value in answer["src"].items():
        table.add_row(scale, "?" if value is None else str(value), "..".join(map(str, answer["bounds"][scale])))
    least = answer["minimal_arity"] or "not known"
    notes = [f"{answer['status']}, on {answer['inputs']} prompts; the fewest slots possible: {least}"]
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
    return _with(f"SRC of {answer['task']} at arity {answer['arity']}, {answer['mode']} wiring [F]", table, *notes)


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
    """What a certificate proves."""
    return Group(Text(f"proved: {answer['statement']}"))


def tasks_table(answer: Mapping[str, Any]) -> Group:
    """A row for each task."""
    table = _table("task", "layout", "base", "slots")
    for one in answer["tasks"]:
        table.add_row(one["task"], one["layout"], str(one["base"] or "-"), str(one["reference_arity"] or "unbounded"))
    return _with("Tasks", table, "base: digits unless --base is given; slots: of the reference circuit's operators [F]")


def encodings_table(answer: Mapping[str, Any]) -> Group:
    """The property matrix, a row for each encoding."""
    table = _table(
        "encoding", "hooks", "trained", "relative", "shift", "norms", "cache", "causal", "bounded", "far keys"
    )
    for one in answer["encodings"]:
        decided = [
            _yes(one[what]) for what in ("translation", "norm_preserving", "streaming", "causal_only", "bounded")
        ]
        hooks = ", ".join(one["hooks"]) or "-"
        table.add_row(one["name"], hooks, one["learned"], one["relative"], *decided, one["far_field"])
    return _with(
        "Position encodings [F]",
        table,
        "trained: numbers, for H heads of width d, model width D; shift: attention weights unchanged when all "
        "positions move; cache: no score changes as the sequence grows; causal: only keys up to the query are meant",
    )


def lattice_table(answer: Mapping[str, Any]) -> Group:
    """Which encoding contains which, and which does not."""
    table = _table("encoding", "contains", "how", "claim", "verdict")
    for one in answer["lattice"]:
        how = f"does not: {one['reason']}" if one["kind"] == "impossible" else one["kind"]
        table.add_row(one["contains"], one["contained"], how, one["claim"], one["verdict"])
    written = [f"written: {path}" for path in answer["figure"]]
    return _with(
        "Exact recoveries [F]",
        table,
        "limit: at the edge of the parameters; within: up to the trained length",
        *written,
    )


def own_table(answer: Mapping[str, Any]) -> Group:
    """What a user's encodings declare, with the reason of each verdict, under their rows of the matrix."""
    words = {True: "holds", False: "fails", None: "is not decided"}
    lines = [f"{one['encoding']}: {one['what']} {words[one['holds']]}: {one['reason']}" for one in answer["declared"]]
    return Group(encodings_table(answer), *(Text(line) for line in lines or ["no laws or special cases are declared"]))


def _yes(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "?"}[holds]


def prediction_table(answer: Mapping[str, Any]) -> Group:
    """Predictions by encoding; dashes where there is none."""
    train, test = answer["train"], answer["test"]
    title = (
        f"{answer['task']}, {answer['format']}, {answer['mode']} wiring: "
        f"trained on {train[0]}-{train[-1]}, tested on {test[0]}-{test[-1]}"
    )
    table = _table("encoding", "relation", "operators: train", "test", "generalizes", "breaks at", "literally")
    for encoding, one in answer["predictions"].items():
        complexities = ("-" if one[of] is None else str(one[of]) for of in ("complexity_train", "complexity_test"))
        generalizes, literal = ({True: "yes", False: "no", None: "-"}[one[of]] for of in ("generalizes", "literal"))
        breaks_at = str(one["breaks_at"] or "-")
        # As Text, in which brackets are no markup.
        names = (Text(encoding), Text(one["relation"] or "-"))
        table.add_row(*names, *complexities, generalizes, breaks_at, literal)
    return _with(
        title,
        table,
        *(f"{encoding}: {one['why']}" for encoding, one in answer["predictions"].items()),
        "literally: the conjecture by operators alone; generalizes: with labels and entries covered as well [F]",
    )


def accuracy_table(answer: Mapping[str, Any]) -> Group:
    """Exact match of one run by scale."""
    table = _table("scale", "exact match")
    for scale, value in answer["accuracy"].items():
        table.add_row(scale, f"{value:.3f}")
    outcome = {True: "generalizes", False: "does not generalize", None: "does not fit its training scales"}
    ending = f"(threshold {answer['threshold']}); stored in {answer['folder']}"
    return _with(answer["run"], table, f"{outcome[answer['generalizes']]} {ending}")


def conjecture_table(trial: Mapping[str, Any]) -> Group:
    """Every cell with its verdict, the 2x2 table of both rules, and what may lie behind each disagreement."""
    names = _cell_names(trial)
    table = _table(
        "cell", "predicted", "literal", "fit", "generalize | fit", "verdict", "breaks at", "expected", "best on test"
    )
    for cell, name in zip(trial["cells"], names, strict=True):
        fit, best = cell["fit"], cell["best_on_test"]["generalizes"]
        breaking = cell["breaking"]
        table.add_row(
            name,
            _said(cell["predicted"]),
            _said(cell["literal"]),
            f"{fit['successes']}/{fit['trials']}",
            _share(cell["generalizes_given_fit"]),
            cell["verdict"],
            _scale(breaking and breaking["observed"]),
            _scale(breaking and breaking["predicted"]),
            f"{best['successes']}/{best['trials']}",
        )
    found = [
        f"{name} (observed {_said(cell['observed'])}): "
        + "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"])
        for cell, name in zip(trial["cells"], names, strict=True)
        if cell["diagnosis"]
    ]
    title = f"Cells: runs of all runs, exact 95% intervals, {_reading(trial['main'])}"
    notes = ["best on test: by the published choice of checkpoint, which selects on the test scales"]
    if trial["runs_needed"]:
        notes.append(f"a verdict needs {trial['runs_needed']} fitting runs that agree (Holm over the cells)")
    return Group(_with(title, table, *notes), _rules(trial), *(Text(line) for line in found))


def _rules(trial: Mapping[str, Any]) -> Group:
    table = _table(
        "rule", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "Fisher", "by task", "by encoding", "both"
    )
    notes = []
    for rule, one in trial["rules"].items():
        counts, tests = one["table"], one["permutation"]
        table.add_row(
            {"coverage": "with coverage", "literal": "literal"}[rule],
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            _percent(one["agreement"]),
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
        f"the rules differ on {one['cell']}: with coverage {_said(one['coverage'])}, literal {_said(one['literal'])}, "
        f"observed {_said(one['observed'])}"
        for one in trial["rules_differ"]
    ]
    return _with("Predicted, observed: cells by the majority of their fitting runs; p-values one-sided", table, *notes)


def sensitivity_table(trial: Mapping[str, Any]) -> Group:
    """What becomes of the trial where one choice is made otherwise, and the cells that change."""
    table = _table("varied", "yes, yes", "yes, no", "no, yes", "no, no", "agree", "literal agrees", "cells that change")
    notes = []
    for one in trial["sensitivity"]:
        varied, rules = one["varied"], one["rules"]
        name = f"{varied} {one['setting'][varied]}" if varied else "nothing"
        counts = rules["coverage"]["table"]
        table.add_row(
            name,
            *(str(counts[key]) for key in ("yes_yes", "yes_no", "no_yes", "no_no")),
            _percent(rules["coverage"]["agreement"]),
            _percent(rules["literal"]["agreement"]),
            str(len(one["changed"])),
        )
        notes += [f"{name}: {change['cell']}: {_change(change)}" for change in one["changed"]]
    title = f"The same runs, read otherwise, one choice at a time, than {_reading(trial['main'])}"
    return _with(title, table, *notes)


def _change(change: Mapping[str, Any]) -> str:
    """The parts of an answer that are not as in the main setting."""
    main, here = change["main"], change["here"]
    return ", ".join(
        f"{part} {main[part]} -> {here[part]}"
        if part == "verdict"
        else f"{part} {_said(main[part])} -> {_said(here[part])}"
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


def _said(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "-"}[answer]


def _scale(scale: float | None) -> str:
    return "-" if scale is None else f"{scale:g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def audit_table(answer: Mapping[str, Any]) -> Group:
    """For each way in which an encoding acts: every setting, the law by decade, what was found."""
    return Group(
        *(part for one in answer["audits"] for part in (_audited(one), _by_decade(one), Text("\n".join(_found(one)))))
    )


def _audited(one: Mapping[str, Any]) -> Group:
    table = _table(
        "setting", "worst error of the law", "beyond its budget from", "distinct codes", "ways of use that agree"
    )
    for setting, found in one["settings"].items():
        law, ways = found["law"], found["agreement"].values()
        table.add_row(
            setting,
            "not claimed" if law is None else _error(law["worst"]),
            "-" if law is None else _since(law),
            _distinct(found["codes"]["windows"]),
            f"{sum(way['first_beyond'] is None for way in ways)} of {len(ways)}",
        )
    claims = ", ".join(one["claims"]) or "nothing"
    title = f"Audit of {one['subject']} ({one['kind']}), which claims: {claims}; positions to {one['last_position']}"
    return _with(title, table, *_measured(one))


def _measured(one: Mapping[str, Any]) -> list[str]:
    """What is about the first setting, or was not measured."""
    setting, first = next(iter(one["settings"].items()))
    codes, lines = first["codes"], []
    if runs := codes["windows"][1:]:
        lines.append(f"distinct codes: of runs of {runs[0]['of']} from {', '.join(str(run['from']) for run in runs)}")
    if one["slope"]:
        lines.append(f"with the distance the bias {', '.join(one['slope']['directions'])} (by head)")
    if repeated := codes["first_repeated"]:
        lines.append(f"in {setting} the code of {repeated['same_as']} comes again first at {repeated['position']}")
    if codes["clamped_from"] is not None and 2 * codes["clamped_from"] < one["last_offset"]:  # else it is a rounding
        lines.append(f"in {setting} all from {codes['clamped_from']} on have one code")
    return lines + [f"{refused} is refused: {why}" for refused, why in one["refused"].items()]


def _by_decade(one: Mapping[str, Any]) -> Group:
    laws = {setting: found["law"]["decades"] for setting, found in one["settings"].items() if found["law"]}
    if not laws:
        return Group()
    unit = "a logit, over |q| |k|" if one["kind"] in ("rotate", "scores") else "the bias"
    decades = list(next(iter(laws.values())))
    table = _table("setting", *decades)
    for setting, found in laws.items():
        table.add_row(setting, *(_error(found[decade]["error"]) for decade in decades))
    return _with(f"Worst error of the relative law by query position ({unit})", table)


def _found(one: Mapping[str, Any]) -> list[str]:
    lines = []
    for finding in one["findings"]:
        where: dict[int | None, list[str]] = {}
        for setting, position in finding["first"].items():
            where.setdefault(position, []).append(setting)
        parts = [
            ("" if position is None else f"from {position}")
            + ("" if settings == ["all"] else f" in {' / '.join(settings)}")
            for position, settings in where.items()
        ]
        ending = "; ".join(part.strip() for part in parts if part)
        lines.append(f"found: {finding['says']}" + (f" ({ending})" if ending else ""))
    lines += [f"note: {note} ({why})" for note, why in one["notes"].items()]
    return lines or ["nothing found"]


def _distinct(windows: list[Mapping[str, int]]) -> str:
    if all(run["distinct"] == run["of"] for run in windows):
        return "all"
    return ", ".join(str(run["distinct"]) for run in windows[1:]) or f"{windows[0]['distinct']} of {windows[0]['of']}"


def _since(law: Mapping[str, Any]) -> str:
    if law["first_beyond"] is None:
        return "-"
    return f"{'' if law['exact'] else 'at most '}{law['first_beyond']} (offset {law['offset']})"


def _error(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1e}"


def summary(answers: Mapping[str, Any], out: Path) -> Group:
    """The one screen at the end of `reproduce`."""
    claims = answers["claims"]["claims"]
    rejected = [falsifier["rejected"] for claim in claims for falsifier in claim["falsifiers"]]
    patterns = [f"{one['name']} {' -> '.join(map(str, one['lrc'].values()))}" for one in answers["lrc"]]
    tasks = [
        f"{one['task']} {', '.join(map(str, one['src'].values()))} (arity {one['arity']})" for one in answers["src"]
    ]
    return Group(
        Text(f"LRC from scale 4 to 8:  {'; '.join(patterns)}"),
        Text(f"SRC at scales 1-6:      {'; '.join(tasks)}"),
        Text(
            f"Claims:                 {sum(claim['holds'] for claim in claims)} of {len(claims)} hold, "
            f"{sum(rejected)} of {len(rejected)} falsifiers rejected"
        ),
        conjecture_table(answers["conjecture"]),
        Text(f"Figures: {', '.join(answers['figures'])}"),
        Text(f"Everything is in {out}; manifest.json names every file."),
    )


def _table(*headings: str) -> Table:
    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)


def _with(title: str, table: Table, *notes: str) -> Group:
    """A title that may be wider than its table, the table, and what is to be said about it."""
    return Group(Text(title, style="bold"), table, *(Text(note) for note in notes))


def _share(share: Mapping[str, Any]) -> str:
    return f"{share['successes']}/{share['trials']}  {share['low']:.2f}-{share['high']:.2f}"
