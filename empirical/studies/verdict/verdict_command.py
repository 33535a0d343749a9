"""`lengthgen verdict`: its options, and verdicts as tables; `judging` has the answers, `verdict_page` the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.circuits.forecast.rates import BASELINES, KINDS
from lengthgen.empirical.studies.verdict.verdict_rows import (
    FAIR_HEADINGS,
    JUDGING,
    LEGEND,
    REGISTERED_HEADINGS,
    RULE_HEADINGS,
    e_values_text,
    fair_rows,
    registered_pairs,
    registered_row,
    score_rows,
    told_rules,
    wins_text,
)
from lengthgen.infrastructure.messages import tell
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import (
    Screen,
    cut_to_screen,
    filled,
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
        str | None,
        typer.Argument(
            help="Preregistration: random-tasks, random-languages, swapped-arguments or new-tasks.",
            show_default="all together; random-tasks for --freeze, --train and --rerun",
        ),
    ] = None,
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
        PageLayout,
        typer.Option("--format", help="Format of the judgement of all; `markdown` is the page docs/verdict.md."),
    ] = "table",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Judge rules of prediction, beside baselines, by runs on random tasks that were predicted first.

    Without options: judge the stored runs. Without a name: all complete experiments in OUT, and the trials that are
    stored in the folder of OUT, with one e-BH over all of them. The exit code of --rerun is 1 if the answers of rules
    differ, or if a model fails first at another scale although it was trained with the same processor and torch;
    elsewhere, if more models do than rounding explains, or one by more than rounding explains.
    """
    from lengthgen.empirical.studies.verdict.judging import (
        freeze_answer,
        rerun_answer,
        together_answer,
        train_answer,
        verdict_answer,
    )
    from lengthgen.empirical.studies.verdict.verdict_page import verdict_page

    work = {"--freeze": freeze, "--train": train is not None, "--rerun": rerun is not None}
    chosen = [option for option, wanted in work.items() if wanted]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{chosen[0]} and {chosen[1]} are different work: choose one of them")
    if until_decided and train is None:
        raise typer.BadParameter("--until-decided goes with --train")
    for option, given in (("--seed", seed is not None), ("--deciding", deciding)):
        if given and rerun is None:
            raise typer.BadParameter(f"{option} goes with --rerun")
    if layout == "markdown" and (name or as_json or details or chosen):
        unwanted = name or next(iter([*chosen, *(["--json"] if as_json else []), "--details"]))
        raise typer.BadParameter(f"--format markdown is the page on all stored judgements: leave out {unwanted}")
    if details and (freeze or rerun is not None):
        raise typer.BadParameter(f"--details is about a judgement, and {chosen[0]} prints all it has: leave one out")
    require_training()
    if freeze:
        answer = freeze_answer(name or USUAL, out)
        show(answer, gate_table(answer), as_json)
    elif rerun is not None:
        answer = rerun_answer(name or USUAL, out, count=rerun, seed=seed or 0, deciding=deciding)
        show(answer, rerun_table(answer), as_json)
        if answer["why"]:
            tell(answer["why"] if answer["agrees"] else f"error: {answer['why']}")
        if not answer["agrees"]:
            raise typer.Exit(1)
    elif train is not None:
        answer = train_answer(name or USUAL, out, seconds=parse_budget(train), until_decided=until_decided)
        show(answer, verdict_table(answer) if details else verdict_screen(answer), as_json)
    elif name is not None:
        answer = verdict_answer(name, out)
        show(answer, verdict_table(answer) if details else verdict_screen(answer), as_json)
    elif layout == "markdown":
        print(verdict_page(together_answer(out), out=str(out)), end="")
    else:
        answer = together_answer(out)
        tables = [verdict_table(of_one) for of_one in answer["experiments"].values()]
        show(answer, Group(*tables) if details else together_screen(answer), as_json)


USUAL = "random-tasks"
"""Preregistration that is frozen, trained or trained again if none is named."""


def verdict_screen(answer: Mapping[str, Any]) -> Screen:
    """Return how rules do against baselines on the tasks kept for judgement, and what registered pairs decide."""
    rows = list(fair_rows(answer, told_rules(answer)))
    registered = registered_pairs(answer, weak=False)
    names = dict.fromkeys((*BASELINES, *(row[0] for row in rows)))
    scores = sorted(
        (of_rule["brier"], name)
        for name, of_rule in answer["kinds"]["all"]["rules"].items()
        if name in names and of_rule["brier"] is not None
    )
    ranking = ", ".join(f"{name} {rounded(score, '.3f')}" for score, name in scores)
    decided = "; ".join(
        f"{pair['first']} against {pair['second']} {wins_text(pair)} {e_values_text(pair)}: {pair['better']}"
        for pair in registered
    )
    notes = [
        LEGEND,
        *([f"Brier score: {ranking}"] if scores else []),
        *([f"registered (won : lost, e-values): {decided}"] if registered else []),
        *_gaps(answer),
    ]

    def form(shown: int) -> Group:
        return titled(_head(answer), filled(FAIR_HEADINGS, rows[:shown]), *more(len(rows), shown), *notes)

    return cut_to_screen(len(rows), form)


def together_screen(answer: Mapping[str, Any]) -> Screen:
    """Return how the rules of every experiment do against baselines, and what trials keep under e-BH over all."""
    rows: list[list[str]] = []
    for name, of_one in answer["experiments"].items():
        rows += [[name, *[""] * (len(FAIR_HEADINGS) - 1)]]
        rows += [[f"  {rule}", *others] for rule, *others in fair_rows(of_one, told_rules(of_one))]
    trials = answer["trials"]
    kept = ", ".join(f"{trials['over_all'][name]} of {trials['own'][name]} {name}" for name in trials["own"])
    runs = sum(of_one["runs"] for of_one in answer["experiments"].values())
    notes = [
        LEGEND,
        f"e-BH over all {answer['hypotheses']:,} hypotheses of these and of {trials['trials']} trials rejects "
        f"{answer['rejected']}; of the cells that their own trial decides it keeps {kept}",
    ]

    def form(shown: int) -> Group:
        table = filled(FAIR_HEADINGS, rows[:shown])
        return titled(f"Rules beside baselines, {runs:,} runs", table, *more(len(rows), shown), *notes)

    return cut_to_screen(len(rows), form)


def verdict_table(answer: Mapping[str, Any]) -> Group:
    """Return the evidence for every pair of rules, the score of every rule, and what cells say, by kind."""
    halves = (
        (
            pair["part"],
            pair["first"],
            pair["second"],
            str(pair["tasks"]),
            wins_text(pair),
            e_values_text(pair),
            pair["better"],
        )
        for pair in answer["pairs"]
        if pair["part"] != JUDGING
    )
    cells = (
        (name.replace("_", " "), kind, *texts(counts, "yes", "no", "undecided", "by_e_bh"))
        for kind in KINDS
        for name, counts in answer["kinds"][kind]["decided"].items()
    )
    breaking = (
        _breaking_row(name, kind, of_rule)
        for kind in KINDS
        for name, of_rule in answer["kinds"][kind]["breaking"].items()
    )
    first_failures = (
        "rule",
        "kind",
        "cells that break",
        "exact scale  95 %",
        "within one",
        "later scales, exact  95 %",
    )
    null = answer["null_rate"]
    rules = answer["kinds"]["all"]["rules"]
    return Group(
        titled(_head(answer), filled(FAIR_HEADINGS, fair_rows(answer)), LEGEND),
        titled(
            "Rules and baselines on the half kept for judgement, cells with a majority",
            filled(RULE_HEADINGS, score_rows(answer, rules)),
        ),
        *(
            titled(title, filled(REGISTERED_HEADINGS, map(registered_row, pairs)))
            for title, weak in (("Registered pairs", False), ("Registered; weak opponents", True))
            if (pairs := registered_pairs(answer, weak=weak))
        ),
        titled(
            "The same on other tasks",
            filled(("part", "rule", "against", "tasks", "wins", "e-values", "better"), halves),
            "e-values: for the first rule : for the second; 20 decides alone, e-BH over each part",
        ),
        *(
            [
                titled(
                    "The forecast by Brier scores, half kept for judgement",
                    filled(
                        ("tasks", "encodings", "against", "tasks", "won : lost", "e-values", "better"),
                        map(_forecast_row, answer["forecast"]),
                    ),
                )
            ]
            if answer["forecast"]
            else []
        ),
        titled(
            "Cells decided",
            filled(("share of runs that generalize", "kind", "yes", "no", "undecided", "by e-BH"), cells),
        ),
        titled("Predicted and observed first failures", filled(first_failures, breaking)),
        Text(
            "labels permuted by task: "
            + ("no cell" if null is None else f"{percent(null['rate'])} of {null['simulations']:,} decide anything")
        ),
        *map(Text, _gaps(answer)),
        Text(f"frozen answers: {answer['frozen']}"),
        Text(f"preregistration: {answer['preregistration']}"),
    )


def _forecast_row(pair: Mapping[str, Any]) -> list[str]:
    """Return the row of a comparison of the forecast."""
    names = [pair["part"], pair["kind"], pair["against"], str(pair["tasks"])]
    return [*names, wins_text(pair), e_values_text(pair), pair["better"]]


def _head(answer: Mapping[str, Any]) -> str:
    """Return the question of the preregistration, and how much of it has been trained."""
    return (
        f"{answer['title']}: {answer['runs']:,} runs of {answer['seen']:,} of {answer['cells']:,} cells, "
        f"{answer['counting']:,} with enough fitting runs"
    )


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


def _breaking_row(name: str, kind: str, of_rule: Mapping[str, Any]) -> list[str]:
    exact, later = share_text(of_rule["exact"]), share_text(of_rule["later_than_first"]["exact"])
    return [name, kind, str(of_rule["cells"]), exact, str(of_rule["within_one"]), later]
