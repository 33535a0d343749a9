"""Verdict on rules of prediction as one page of Markdown; equal judgements give the same text, letter by letter."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lengthgen.empirical.verdict.pairs import UNDECIDED
from lengthgen.tables.layout import e_value_text, markdown_table, rounded
from lengthgen.tables.verdict import JUDGING

PAIR_HEADINGS = ("rule", "against", "cells with runs", "tasks that count", "wins", "e-values", "better")
RULE_HEADINGS = ("rule", "right yes", "wrong yes", "right no", "wrong no", "abstains", "Brier score")
BREAKING_HEADINGS = (
    "rule",
    "cells",
    "exactly there",
    "within one",
    "expected after the first scale beyond training: exactly there",
)
FORMATS = {"aligned": "padded (aligned)", "filled": "filled", "unaligned": "as it stands (unaligned)"}
COUNTS = ("right_yes", "wrong_yes", "right_no", "wrong_no", "abstains")


def verdict_page(answer: Mapping[str, Any], gate: Mapping[str, Any], *, out: str) -> str:
    """Return the page: the answer in front, what was fixed first, the evidence, and what would change it.

    Args:
        answer: judgement of the stored runs (`lengthgen.empirical.verdict.judgement.judge`), with its name.
        gate: simulated power before the first run.
        out: folder of the results, as the commands on the page name it.
    """
    command = f"lengthgen verdict {answer['name']} --out {out}"
    judging = [pair for pair in answer["pairs"] if pair["part"] == JUDGING]
    both = [pair for pair in answer["pairs"] if pair["part"] == "all"]
    parts = [
        f"# {answer['title']}",
        f"{answer['runs']:,} runs of {answer['seen']:,} cells are stored; {answer['planned']:,} cells are planned, "
        "with three runs each at first, and a cell counts with three runs that fit. The evidence is sequential: it may "
        "be looked at at any time, and "
        f"{'all these runs are done' if _is_finished(answer) else 'training goes on from here'}. "
        f"This page is written by `{command} --format markdown`.",
        "## Answer",
        _list(_sentence(pair, gate) for pair in judging),
        *_fixed_first(answer, command),
        "## Evidence on the half of the tasks that judges",
        "Cells that separate two rules are trained before others, until the pair is decided. A pair is judged on the "
        "tasks up to the first one, in the order of the hashes of their names, that still lacks a run of such a cell. "
        "A cell counts with three runs that fit; a task on which both rules are right equally often is won by neither. "
        "The e-values are for the first rule and for the second; 20 decides a question by itself, and "
        '"better" is decided by e-BH over all of them.',
        markdown_table(PAIR_HEADINGS, map(_pair_row, judging)),
        "On both halves. Nothing was amended on the other half, so nothing was fitted to it; still it is not what was "
        "registered.",
        markdown_table(PAIR_HEADINGS, map(_pair_row, both)),
        *_scores(answer),
        "## Single cells",
        _single_cells(answer),
        "## What would change it",
        _what_would_change(judging, gate),
    ]
    return "\n\n".join(parts) + "\n"


def _is_finished(answer: Mapping[str, Any]) -> bool:
    """True if every planned cell has its first runs."""
    finished: bool = answer["sample"]["cells"] == answer["planned"]
    return finished


def _sentence(pair: Mapping[str, Any], gate: Mapping[str, Any]) -> str:
    """Return what the evidence says on a pair of rules in one or two sentences."""
    reached = (
        f"of the {pair['disputed']:,} cells on which they differ {pair['reached']:,} have runs and "
        f"{pair['cells']:,} count"
    )
    if pair["better"] == UNDECIDED:
        evidence = f"e-values {e_value_text(pair['against_second'])} and {e_value_text(pair['against_first'])}"
        cannot = "" if _can_decide(pair, gate) else "; by the power computed before the first run they cannot decide"
        return f"{pair['first']} or {pair['second']}: **undecided** ({evidence}; {reached}{cannot})."
    better, worse = ("first", "second") if pair["better"] == pair["first"] else ("second", "first")
    return (
        f"**{pair[better]} says better than {pair[worse]}** which cells generalize: e-value "
        f"{e_value_text(pair[f'against_{worse}'])}, better on {pair[f'wins_{better}']} tasks and worse on "
        f"{pair[f'wins_{worse}']} ({reached})."
    )


def _fixed_first(answer: Mapping[str, Any], command: str) -> list[str]:
    """Return the section on what was fixed before the first run."""
    registered = f"../empirical/verdict/registered/{answer['name']}.toml"
    return [
        "## What was fixed first",
        f"{answer['tasks']:,} random tasks in {len(answer['encodings'])} encodings: {answer['cells']:,} cells, of "
        f"which {answer['planned']:,} can be trained ([the preregistration]({registered}) has models, training and "
        "statistics). All rules answered for all cells before the first run. The seeds of a cell's runs derive from "
        "its answers, so runs of changed answers are refused. Rules and tasks are ours [F]; `literal` is the "
        "conjecture of arXiv 2510.04130 as far as it is known [P].",
        _list(
            [
                f"hash of the answers: `{answer['frozen']}`",
                f"hash of the preregistration: `{answer['preregistration']}`",
            ]
        ),
        f"    {command} --json         # every number on this page\n"
        f"    {command} --rerun 50     # trains a random sample of cells again and compares"
        + ("" if _is_finished(answer) else f"\n    {command} --train 2h     # goes on"),
        "Questions:",
        "\n".join(f"{number}. {question}" for number, question in enumerate(answer["questions"], start=1)),
        *(["Departures from the plan:", _list(answer["deviations"])] if answer["deviations"] else []),
    ]


def _scores(answer: Mapping[str, Any]) -> list[str]:
    """Return the section on answers that were right and wrong, and on breaking scales."""
    sample, never = answer["sample"], answer["never_fit"]
    most = sorted(never["by_encoding"].items(), key=lambda item: -item[1])[:3]
    which = ", most of them under " + ", ".join(f"{name} ({count})" for name, count in most) if most else ""
    return [
        "## Right and wrong answers",
        f"A random sample: {sample['tasks']:,} tasks, all of whose cells have their first runs; {sample['cells']:,} "
        f"cells, of which {sample['counting']:,} count. {never['cells']:,} have no fitting run{which}; coverage says "
        f"yes to {len(never['predicted_yes'])} of all these.",
        markdown_table(RULE_HEADINGS, (_rule_row(name, of_parts["all"]) for name, of_parts in answer["rules"].items())),
        "Of the cells of this sample that break, and that a rule expects to break, the first failure is at the "
        "expected scale (in parentheses 95 % intervals). It is the median over the runs that fit, where one that never "
        "fails counts as infinite:",
        markdown_table(
            BREAKING_HEADINGS, (_breaking_row(name, of_rule) for name, of_rule in answer["breaking"].items())
        ),
        "By format, in this sample: cells of which most fitting runs generalize, of the cells that count",
        _counts_table(answer["points"], "format", "encoding", FORMATS),
        "The same by source of the task and profile of its SRC beyond training",
        _counts_table(answer["strata"], "encoding", "stratum", {name: name for name in answer["encodings"]}),
    ]


def _can_decide(pair: Mapping[str, Any], gate: Mapping[str, Any]) -> bool:
    """True if the gate gives the pair enough power, whichever rule is true."""
    rules = {pair["first"], pair["second"]}
    return all(each["verdict"] == "can decide" for each in gate["pairs"] if {each["true"], each["against"]} == rules)


def _what_would_change(judging: Sequence[Mapping[str, Any]], gate: Mapping[str, Any]) -> str:
    """Return what is still open, and the limits of these runs."""
    waiting = [_versus(pair) for pair in judging if pair["reached"] < pair["disputed"]]
    powerless = [_versus(pair) for pair in judging if not _can_decide(pair, gate)]
    more_runs = f"More runs: cells that separate these are not all trained: {', '.join(waiting)}."
    other_tasks = f"Other tasks: no number of runs of these cells was expected to decide {', '.join(powerless)}."
    return _list(
        [
            *([more_runs] if waiting else []),
            *([other_tasks] if powerless else []),
            "A rule that was thought of later is post hoc on these runs, and a prediction only under a new "
            "preregistration. So is the [forecast](forecast.md), which counts one half of the tasks and is scored on "
            "the other, beside these rules.",
            "Small models and short training: a cell that does not fit its training scales says nothing.",
            "Breaking scales are those at which fewer samples are right than the preregistration asks for; "
            "`multiverse` of `--json` repeats all shares at other thresholds.",
        ]
    )


def _versus(pair: Mapping[str, Any]) -> str:
    return f"{pair['first']} and {pair['second']}"


def _single_cells(answer: Mapping[str, Any]) -> str:
    """Return how many cells are decided by themselves, and how often swapped outcomes decide anything."""
    names = {"possible": "some run", "majority": "most runs", "nearly_all": "nearly all runs"}
    lines = [
        f"{names[name]}: yes for {counts['yes']:,} cells, no for {counts['no']:,}, undecided for "
        f"{counts['undecided']:,}; {counts['by_e_bh']:,} are decided by e-BH over all cells"
        for name, counts in answer["decided"].items()
    ]
    null = answer["null_rate"]
    if null is not None:
        lines.append(
            f"with outcomes swapped by a coin in each task, {null['rate']:.1%} of {null['simulations']:,} simulations "
            f"decide anything about rules; {null['stated']:.0%} is stated"
        )
    head = f"Which share of the fitting runs generalizes, in the {answer['counting']:,} cells that count?"
    return f"{head}\n\n{_list(lines)}"


def _pair_row(pair: Mapping[str, Any]) -> list[str]:
    return [
        pair["first"],
        pair["second"],
        f"{pair['reached']:,} of {pair['disputed']:,}",
        f"{pair['tasks']:,}",
        f"{pair['wins_first']} : {pair['wins_second']}",
        f"{e_value_text(pair['against_second'])} : {e_value_text(pair['against_first'])}",
        pair["better"],
    ]


def _rule_row(name: str, score: Mapping[str, Any]) -> list[str]:
    return [name, *(str(score[key]) for key in COUNTS), rounded(score["brier"], ".3f")]


def _breaking_row(name: str, of_rule: Mapping[str, Any]) -> list[str]:
    return [
        name,
        str(of_rule["cells"]),
        _share(of_rule["exact"]),
        str(of_rule["within_one"]),
        _share(of_rule["later_than_first"]["exact"]),
    ]


def _counts_table(groups: Sequence[Mapping[str, Any]], across: str, down: str, headings: Mapping[str, str]) -> str:
    """Return cells that generalize of those that count: key `down` in rows, key `across` in columns that occur."""
    counts = {(group[down], group[across]): f"{group['generalize']} of {group['cells']}" for group in groups}
    columns = {name: heading for name, heading in headings.items() if name in {column for _, column in counts}}
    rows = [
        [row, *(counts.get((row, column), "-") for column in columns)] for row in sorted({row for row, _ in counts})
    ]
    return markdown_table([down, *columns.values()], rows)


def _share(share: Mapping[str, Any]) -> str:
    return f"{share['successes']} of {share['trials']} ({share['low']:.2f} to {share['high']:.2f})"


def _list(points: Iterable[str]) -> str:
    return "\n".join(f"- {point}" for point in points)
