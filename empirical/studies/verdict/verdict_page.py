"""docs/verdict.md: the one page on all registered experiments, written from the answer of `lengthgen verdict`.

Every number is computed.  Equal judgements give the same page, letter by letter.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lengthgen.circuits.forecast.rates import ALWAYS_NO, BASELINES, KINDS, RATE, RATE_WITH_SRC
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED
from lengthgen.empirical.studies.verdict.verdict_rows import (
    FAIR_HEADINGS,
    JUDGING,
    REGISTERED_HEADINGS,
    RULE_HEADINGS,
    fair_rows,
    registered_pairs,
    registered_row,
    score_rows,
    told_rules,
)
from lengthgen.terminal.layout import e_value_text, markdown_table

TASKS, LANGUAGES, SWAPPED = "random-tasks", "random-languages", "swapped-arguments"


def verdict_page(answer: Mapping[str, Any], *, out: str) -> str:
    """Return the page, from the answer of `together` with all registered experiments."""
    experiments = answer["experiments"]
    command = f"lengthgen verdict --out {out}"
    parts = [
        "# The verdict: which rule says where small transformers stop generalizing?",
        f"Written by `{command} --format markdown` from stored runs; `--json` has every number. Models have 2 layers "
        "and width 32, label tables start at N(0, 1), training is on scales 1-5, the test reaches 20. A cell (task, "
        "format, encoding) counts if three runs fit scales 1-5. Rules and tasks are ours [F]. *Ideal* encodings (ipe, "
        "ipe-sh) "
        "are given the relation of a circuit of the task, which nobody has in practice; the others are *in use*.",
        "## In short",
        _list(_in_short(answer)),
        "## Against baselines that know no theory",
        "`rate` is the share of fitting runs that generalized under the same encoding and format; "
        f"`{RATE_WITH_SRC}` also knows whether the task's SRC stays the same. Both count one half of the tasks of the "
        f"same experiment ({_runs_counted(experiments)}); all is judged on the other half. Rates, and what tells kinds "
        "apart, are **not registered, asked afterwards**. Tasks won:lost (the larger e-value); a task is won by what "
        "is right for more of its runs, on cells where the two differ. By e-BH: + the rule is better, - the baseline, "
        "? open, a second sign where e-BH over all says otherwise; *no task*: they differ on none.",
        *(part for name, of_one in experiments.items() for part in _against(name, of_one)),
        "Cells of random tasks on which each is right, and its Brier score (0 is best):",
        markdown_table(RULE_HEADINGS, score_rows(experiments[TASKS], [*BASELINES, *_told(experiments[TASKS])])),
        "## What was registered",
        "All rules answered before the first run, and the seeds of the runs derive from their answers.",
        markdown_table(
            ("experiment", "tasks", "cells", "runs", "SHA-256 of the answers"),
            [
                (
                    f"[{name}](../empirical/studies/verdict/registered/{name}.toml)",
                    *(f"{of_one[key]:,}" for key in ("tasks", "planned", "runs")),
                    f"`{of_one['frozen']}`",
                )
                for name, of_one in experiments.items()
            ],
        ),
        "Tasks won : lost by kind, and e-values for the first : for the second rule; 20 decides one question alone. "
        "Better is decided by e-BH over the pairs of an experiment; e-BH over all is named where it says otherwise.",
        markdown_table(
            REGISTERED_HEADINGS,
            [registered_row(pair) for of_one in experiments.values() for pair in registered_pairs(of_one, weak=False)],
        ),
        *_plan(experiments),
        "## What the results rest on",
        _list(_rests_on(answer)),
        "## One e-BH over all",
        _over_all(answer),
        _list(_trials(answer["trials"])),
        "## Our reading",
        _list(_reading(experiments[TASKS])),
        "## Registered; weak opponents",
        f"`name` says yes to ideal encodings alone: it is right in {_right_share(experiments[TASKS], 'name')} of the "
        f"cells of random tasks, always-no in {_right_share(experiments[TASKS], ALWAYS_NO)}. The two others ignore the "
        "task, or all of it but how far its steps reach.",
        markdown_table(
            REGISTERED_HEADINGS,
            [registered_row(pair) for of_one in experiments.values() for pair in registered_pairs(of_one, weak=True)],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _told(answer: Mapping[str, Any]) -> list[str]:
    """Return the rules that the tables with baselines tell of, in their order."""
    return list(dict.fromkeys(each["first"] for each in answer["fair"] if each["first"] in told_rules(answer)))


def _runs_counted(experiments: Mapping[str, Any]) -> str:
    return ", ".join(f"{of_one['baselines']['runs']:,} runs of {name}" for name, of_one in experiments.items())


def _against(name: str, answer: Mapping[str, Any]) -> list[str]:
    """Return the heading line and the table of an experiment."""
    return [f"**{name}**", markdown_table(FAIR_HEADINGS, fair_rows(answer, told_rules(answer)))]


def _in_short(answer: Mapping[str, Any]) -> list[str]:
    experiments, own, trials = answer["experiments"], answer["own_token"], answer["trials"]
    tasks, e_value = experiments[TASKS], {way: e_value_text(own[way]["e_value"]) for way in ("each", "once", "new")}
    languages, swapped = (_judging(experiments[name])[0] for name in (LANGUAGES, SWAPPED))
    return [
        *(f"**{rule}**, random tasks: {_said(tasks, rule)}." for rule in _told(tasks)),
        f"**{own['first']}** beats {own['second']} on new languages, {languages['wins_first']} : "
        f"{languages['wins_second']} tasks (e {e_value['each']}). But {own['own_letter']} of these "
        f"{own['each']['tasks']} tasks need no attention, since the query's own letter decides each state. Equal tasks "
        f"counted once, {own['once']['tasks']} are left (e {e_value['once']}); without those equal to a task "
        f"elsewhere, {own['new']['tasks']} (**e {e_value['new']}: {own['new']['better']}**).",
        f"**{swapped['first']}** beats {swapped['second']} where arguments are swapped, {swapped['wins_first']} : "
        f"{swapped['wins_second']} tasks (e {e_value_text(swapped['against_second'])}), all under ideal encodings.",
        f"Of {sum(trials['own'].values())} cells that {trials['trials']} recorded trials decided one by one, "
        f"{sum(trials['over_all'].values())} survive one e-BH over all.",
    ]


def _judging(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the registered pairs on the half that judges."""
    return [pair for pair in answer["pairs"] if pair["part"] == JUDGING]


def _right_share(answer: Mapping[str, Any], rule: str) -> str:
    score = answer["rules"][rule]["all"]
    return f"{(score['right_yes'] + score['right_no']) / _total(score):.3f}"


def _said(answer: Mapping[str, Any], rule: str) -> str:
    """Return in words how a rule does against the baselines, by kind of encoding."""
    texts = []
    for kind in KINDS:
        of_kind = [each for each in answer["fair"] if each["first"] == rule and each["kind"] == kind]
        groups = {
            "beats": [each["second"] for each in of_kind if each["better"] == rule],
            "loses to": [each["second"] for each in of_kind if each["better"] == each["second"]],
            "undecided against": [each["second"] for each in of_kind if each["better"] not in (rule, each["second"])],
        }
        words_of_kind = ", ".join(
            f"{words} {'every baseline' if len(names) == len(of_kind) else ' and '.join(names)}"
            for words, names in groups.items()
            if names
        )
        texts.append(f"{kind}, {words_of_kind}")
    return "; ".join(texts)


def _plan(experiments: Mapping[str, Any]) -> list[str]:
    """Return where runs departed from their plan, and which pairs they could not decide by the power computed first."""
    lines = [
        f"{name} departed from its plan in {len(of_one['deviations'])} points "
        f"([which](results/verdict/{name}/deviations.json))."
        for name, of_one in experiments.items()
        if of_one["deviations"]
    ]
    without_power = [pair for of_one in experiments.values() for pair in of_one["without_power"]]
    if without_power:
        lines.append(f"By the power computed first, these were not expected to be decided: {', '.join(without_power)}.")
    return [" ".join(lines)] if lines else []


def _rests_on(answer: Mapping[str, Any]) -> list[str]:
    experiments, trials = answer["experiments"], answer["trials"]
    [literal] = (
        pair["kinds"]
        for pair in _judging(experiments[TASKS])
        if (pair["first"], pair["second"]) == ("coverage", "literal")
    )
    formats = {form: _formats(experiments[TASKS], form) for form in ("aligned", "filled")}
    protocols = ", ".join(f"{name} by {count}" for name, count in trials["asked"].items())
    return [
        f"*Coverage against literal*: {literal['all']['cells']} cells, {literal['ideal']['cells']} of them ideal.",
        f"*Swapped arguments*: {experiments[SWAPPED]['planned']} cells, all ideal; {trials['shared'][SWAPPED]} of them "
        "were asked by a trial too.",
        f"*Filled operands*: in use, {formats['filled']} cells of random tasks generalize filled, {formats['aligned']} "
        f"padded. On named tasks many trials ask one cell: relative positions on {protocols} of "
        f"{trials['trials']} trials; most of all {_most_asked(trials['most_asked'])}. These are no independent "
        "confirmations.",
        "*Label tables* start at N(0, 1) in the registered experiments, which say nothing of another start.",
    ]


def _formats(answer: Mapping[str, Any], form: str) -> str:
    """Return how many cells of encodings in use generalize in a format, of those that count."""
    groups = [each for each in answer["points"] if each["format"] == form and each["encoding"] not in ("ipe", "ipe-sh")]
    return f"{sum(each['generalize'] for each in groups):,} of {sum(each['cells'] for each in groups):,}"


def _most_asked(cells: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{each['encoding']} on {each['format']} {each['task']} ({each['trials']})" for each in cells)


def _over_all(answer: Mapping[str, Any]) -> str:
    trials = answer["trials"]
    return (
        f"One family of {answer['hypotheses']:,} hypotheses: registered pairs, comparisons with baselines, and the "
        f"{trials['tested']} predicted cells of {trials['trials']} trials with three fitting runs, each in both "
        f"directions. e-BH at {answer['alpha']} rejects {answer['rejected']}."
    )


def _trials(trials: Mapping[str, Any]) -> list[str]:
    own, over_all, example = trials["own"], trials["over_all"], trials["example"]
    gained, lost = (sum(each[key] == UNDECIDED for each in trials["near_half"]) for key in ("present", "mean"))
    return [
        f"Of what trials decide by themselves, {over_all['consistent']} of {own['consistent']} confirmed predictions "
        f"survive, and {over_all['refuted']} of {own['refuted']} refuted ones. A trial stops when its own cells are "
        "decided, so its e-values are mostly just large enough for that.",
        "The e-process of a cell expects shares near 0 or 1. A second one is powerful near one half: "
        f"{example['generalize']} of {example['fit']} runs give e {e_value_text(example['near_half'])}, by the first "
        f"{e_value_text(example['present'])}. It was made afterwards, stands beside the first, and decides nothing. "
        f"Their mean, a valid e-process, would decide {gained} of the cells that are open and leave open {lost} that "
        "are decided (`--json` names them).",
    ]


def _reading(tasks: Mapping[str, Any]) -> list[str]:
    literal = tasks["rules"]["literal"]["all"]
    in_use = tasks["kinds"]["in use"]["rules"]
    best = min((name for name in in_use if in_use[name]["brier"] is not None), key=lambda name: in_use[name]["brier"])
    beat = {each["first"] for each in tasks["fair"] if each["kind"] == "in use" and each["better"] == each["first"]}
    beats = f"{', '.join(sorted(beat))} beat a baseline" if beat else "no rule beats a baseline"
    return [
        "The paper (arXiv 2510.04130) says that length generalization is *possible* if and only if SRC stays the same "
        "[P]. That an encoding generalizes if SRC under it does not grow (`literal`) is our reading [F]. Its "
        f"{literal['wrong_yes']} wrong yes and {literal['wrong_no']} wrong no, of {_total(literal):,} cells in both "
        "halves, count against the reading, not against the paper.",
        f"Which task: one bit, SRC invariant or not, takes the Brier score of the rate from "
        f"{_brier(tasks, RATE)} to {_brier(tasks, RATE_WITH_SRC)}; `literal` has {_brier(tasks, 'literal')}, "
        f"`coverage` {_brier(tasks, 'coverage')}, `distractors` {_brier(tasks, 'distractors')}.",
        f"Which encoding in use: {beats} on random tasks, and `{best}` has the best Brier score, "
        f"{in_use[best]['brier']:.3f}. The [forecast](forecast.md) counts runs instead.",
        "Models are small and training is short; a rule made after these runs predicts only under a new registration.",
    ]


def _brier(answer: Mapping[str, Any], rule: str) -> str:
    return f"{answer['kinds']['all']['rules'][rule]['brier']:.3f}"


def _total(score: Mapping[str, Any]) -> int:
    return sum(score[key] for key in ("right_yes", "wrong_yes", "right_no", "wrong_no"))


def _list(points: Iterable[str]) -> str:
    return "\n".join(f"- {point}" for point in points)
