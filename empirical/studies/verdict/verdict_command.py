"""`lengthgen verdict`: its options, and verdicts as tables and as a page of Markdown; `judging` has the answers.

Equal judgements give the same page, letter by letter.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.infrastructure.messages import tell
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import (
    Screen,
    cut_to_screen,
    e_value_text,
    filled,
    markdown_table,
    more,
    percent,
    rounded,
    share_text,
    texts,
    titled,
)
from lengthgen.terminal.options import Details, Json, Out, PageLayout
from lengthgen.terminal.preconditions import require_training
from lengthgen.terminal.typed import parse_budget


def verdict(
    name: Annotated[
        str, typer.Argument(help="Preregistration: random-tasks, random-languages or swapped-arguments.")
    ] = "random-tasks",
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Let all rules answer for every cell, and print the hash of the answers.")
    ] = False,
    train: Annotated[
        str | None, typer.Option("--train", help="Train for this time, such as 90s, 30m or 2h, and judge then.")
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="With --train: add runs to cells that are not decided.")
    ] = False,
    rerun: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Train so many runs again, drawn at random, and compare.")
    ] = None,
    deciding: Annotated[
        bool, typer.Option("--deciding", help="With --rerun: draw the runs that decide the questions.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="With --rerun: seed of the draw, 0 without it.")
    ] = None,
    out: Out = Path("out/verdict"),
    layout: Annotated[
        PageLayout, typer.Option("--format", help="Format of a judgement; `markdown` is the page docs/verdict.md.")
    ] = "table",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Judge rules of prediction by runs on random tasks that were predicted first.

    Without options: judge the stored runs. The exit code of --rerun is 1 if the answers of rules differ, or
    if a model fails first at another scale although it was trained with the same processor and torch;
    elsewhere, if more models do than rounding explains, or one by more than rounding explains.
    """
    from lengthgen.empirical.studies.verdict.judging import (
        freeze_answer,
        rerun_answer,
        stored_gate,
        train_answer,
        verdict_answer,
    )

    work = {"--freeze": freeze, "--train": train is not None, "--rerun": rerun is not None}
    chosen = [option for option, wanted in work.items() if wanted]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{chosen[0]} and {chosen[1]} are different work: choose one of them")
    if until_decided and train is None:
        raise typer.BadParameter("--until-decided goes with --train")
    for option, given in (("--seed", seed is not None), ("--deciding", deciding)):
        if given and rerun is None:
            raise typer.BadParameter(f"{option} goes with --rerun")
    if layout == "markdown" and (as_json or details or freeze or rerun is not None):
        raise typer.BadParameter("--format markdown is for a judgement: leave out --json, --details, --freeze, --rerun")
    if details and (freeze or rerun is not None):
        raise typer.BadParameter(f"--details is about a judgement, and {chosen[0]} prints all it has: leave one out")
    require_training()
    if freeze:
        answer = freeze_answer(name, out)
        show(answer, gate_table(answer), as_json)
    elif rerun is not None:
        answer = rerun_answer(name, out, count=rerun, seed=seed or 0, deciding=deciding)
        show(answer, rerun_table(answer), as_json)
        if answer["why"]:
            tell(answer["why"] if answer["agrees"] else f"error: {answer['why']}")
        if not answer["agrees"]:
            raise typer.Exit(1)
    else:
        if train is None:
            answer = verdict_answer(name, out)
        else:
            answer = train_answer(name, out, seconds=parse_budget(train), until_decided=until_decided)
        if layout == "markdown":
            print(verdict_page(answer, stored_gate(name, out), out=str(out)), end="")
        else:
            show(answer, verdict_table(answer) if details else verdict_screen(answer), as_json)


JUDGING = "judgement"
"""Part of the tasks that decides, in an answer."""
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


def verdict_screen(answer: Mapping[str, Any]) -> Screen:
    """Return which rules say better than which on the tasks kept for judgement, and the scores of all rules."""
    pairs = [pair for pair in answer["pairs"] if pair["part"] == JUDGING]
    scored = {name: parts[JUDGING]["brier"] for name, parts in answer["rules"].items()}
    scores = sorted((score, name) for name, score in scored.items() if score is not None)
    ranking = ", ".join(f"{name} {rounded(score, '.3f')}" for score, name in scores)
    exact = [
        f"{name} {percent(of_rule['exact']['successes'] / of_rule['exact']['trials'])}"
        for name, of_rule in answer["breaking"].items()
        if of_rule["exact"]["trials"]
    ]
    notes = [
        "e-values: for the first rule : for the second; e-BH over all of them decides which says better",
        *([f"Brier score: {ranking}"] if scores else []),
        *([f"first failures at the expected scale: {', '.join(exact)}"] if exact else []),
        "these rules are rivals of the forecast, which was made later: `lengthgen forecast` scores both",
        *_gaps(answer),
    ]

    def form(shown: int) -> Group:
        rows = ((pair["first"], pair["second"], _wins(pair), _e_values(pair), pair["better"]) for pair in pairs[:shown])
        table = filled(("rule", "against", "tasks won", "e-values", "says better"), rows)
        return titled(_head(answer), table, *more(len(pairs), shown), *notes)

    return cut_to_screen(len(pairs), form)


def verdict_table(answer: Mapping[str, Any]) -> Group:
    """Return the evidence for every pair of rules, the score of every rule, and what cells say."""
    pairs = (
        (
            *texts(pair, "part", "first", "second", "tasks", "cells"),
            f"{pair['wins_first']}:{pair['wins_second']}",
            _e_values(pair),
            pair["better"],
        )
        for pair in answer["pairs"]
    )
    rules = (_rule_row(name, parts[JUDGING]) for name, parts in answer["rules"].items())
    cells = (
        (name.replace("_", " "), *texts(counts, "yes", "no", "undecided", "by_e_bh"))
        for name, counts in answer["decided"].items()
    )
    breaking = (_breaking_row(name, of_rule, share_text) for name, of_rule in answer["breaking"].items())
    first_failures = ("rule", "cells that break", "exact scale  95 %", "within one", "later scales, exact  95 %")
    null = answer["null_rate"]
    return Group(
        titled(
            _head(answer),
            filled(("part", "rule", "against", "tasks", "cells", "wins", "e-values", "better"), pairs),
            "e-values: for the first rule : for the second; 20 decides alone, e-BH over each part",
        ),
        titled("Rules on the half kept for judgement, cells with a majority", filled(RULE_HEADINGS, rules)),
        titled("Cells decided", filled(("share of runs that generalize", "yes", "no", "undecided", "by e-BH"), cells)),
        titled("Predicted and observed first failures", filled(first_failures, breaking)),
        Text(
            "labels permuted by task: "
            + ("no cell" if null is None else f"{percent(null['rate'])} of {null['simulations']:,} decide anything")
        ),
        *map(Text, _gaps(answer)),
        Text(f"frozen answers: {answer['frozen']}"),
        Text(f"preregistration: {answer['preregistration']}"),
    )


def _head(answer: Mapping[str, Any]) -> str:
    """Return the question of the preregistration, and how much of it has been trained."""
    return (
        f"{answer['title']}: {answer['runs']:,} runs of {answer['seen']:,} of {answer['cells']:,} cells, "
        f"{answer['counting']:,} with enough fitting runs"
    )


def _wins(pair: Mapping[str, Any]) -> str:
    """Return the numbers of tasks that the first and the second rule of a pair win."""
    return f"{pair['wins_first']} : {pair['wins_second']}"


def _e_values(pair: Mapping[str, Any]) -> str:
    """Return the e-values for the first and for the second rule of a pair."""
    return f"{e_value_text(pair['against_second'])} : {e_value_text(pair['against_first'])}"


def _gaps(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on runs that are missing between others, if there are any."""
    return [f"{answer['gaps']} cells lack runs before their last one: were some removed?"] if answer["gaps"] else []


def gate_table(answer: Mapping[str, Any]) -> Group:
    """Return the simulated power of every question."""
    rows = (
        (*texts(pair, "true", "against", "cells"), percent(pair["power"]), pair["verdict"]) for pair in answer["pairs"]
    )
    return titled(
        f"Power before the first run, {answer['cells']:,} cells",
        filled(("if true", "against", "cells that differ", "power", "verdict"), rows),
        f"frozen answers: {answer['frozen']}; publish this hash before the first run",
    )


def rerun_table(answer: Mapping[str, Any]) -> Group:
    """Return how many runs agree with what is stored, and how likely forged ones were met."""
    rows = ((name.replace("_", " "), str(count), str(answer["cells"])) for name, count in answer["same"].items())
    differ = [f"{each['cell']}: stored {each['stored']}, again {each['again']}" for each in answer["differ"]]
    again = titled(
        f"Cells trained again, seed {answer['seed']}", filled(("same as stored", "runs", "of"), rows), *differ
    )
    if not answer["forged"]:
        return again
    forged = (
        (f"{each['better']}, not {each['worse']}", *texts(each, "fewest", "drawn", "among"), percent(each["chance"]))
        for each in answer["forged"]
    )
    table = filled(("decided", "fewest forged runs", "drawn", "from", "chance to meet one"), forged)
    says = (
        "Whoever changed runs to decide a question changed at least so many of them; --deciding draws the runs that "
        "decide, and more runs meet more"
    )
    return Group(again, titled("If runs were forged", table, says))


def verdict_page(answer: Mapping[str, Any], gate: Mapping[str, Any], *, out: str) -> str:
    """Return the page: the answer in front, what was fixed first, the evidence, and what would change it."""
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
    from lengthgen.empirical.studies.verdict.pairs import UNDECIDED

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
    registered = f"../empirical/studies/verdict/registered/{answer['name']}.toml"
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
            BREAKING_HEADINGS, (_breaking_row(name, of_rule, _share) for name, of_rule in answer["breaking"].items())
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
        _wins(pair),
        _e_values(pair),
        pair["better"],
    ]


def _rule_row(name: str, score: Mapping[str, Any]) -> list[str]:
    counts = texts(score, "right_yes", "wrong_yes", "right_no", "wrong_no", "abstains")
    return [name, *counts, rounded(score["brier"], ".3f")]


def _breaking_row(name: str, of_rule: Mapping[str, Any], share: Callable[[Mapping[str, Any]], str]) -> list[str]:
    exact, later = share(of_rule["exact"]), share(of_rule["later_than_first"]["exact"])
    return [name, str(of_rule["cells"]), exact, str(of_rule["within_one"]), later]


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
