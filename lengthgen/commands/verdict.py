"""Command that decides between rules of prediction by preregistered runs on random tasks."""

from pathlib import Path
from typing import Annotated

import typer

from lengthgen.commands.options import Details, Json, Out, PageLayout, show
from lengthgen.infrastructure.messages import tell


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
        PageLayout,
        typer.Option("--format", help="Format of a judgement; `markdown` is the page docs/verdict.md."),
    ] = PageLayout.TABLE,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Judge rules of prediction by runs on random tasks that were predicted first.

    Without options: judge the stored runs. The exit code of --rerun is 1 if the answers of rules differ, or
    if a model fails first at another scale although it was trained with the same processor and torch;
    elsewhere, if more models do than rounding explains, or one by more than rounding explains.
    """
    from lengthgen.budget import parse_budget
    from lengthgen.preconditions import require_training
    from lengthgen.tables.verdict import gate_table, rerun_table, verdict_screen, verdict_table
    from lengthgen.tables.verdict_page import verdict_page
    from lengthgen.verdict import freeze_answer, rerun_answer, stored_gate, train_answer, verdict_answer

    work = {"--freeze": freeze, "--train": train is not None, "--rerun": rerun is not None}
    chosen = [option for option, wanted in work.items() if wanted]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{chosen[0]} and {chosen[1]} are different work: choose one of them")
    if until_decided and train is None:
        raise typer.BadParameter("--until-decided goes with --train")
    for option, given in (("--seed", seed is not None), ("--deciding", deciding)):
        if given and rerun is None:
            raise typer.BadParameter(f"{option} goes with --rerun")
    if layout is PageLayout.MARKDOWN and (as_json or details or freeze or rerun is not None):
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
        seconds = None if train is None else parse_budget(train)
        answer = (
            verdict_answer(name, out)
            if seconds is None
            else train_answer(name, out, seconds=seconds, until_decided=until_decided)
        )
        if layout is PageLayout.MARKDOWN:
            print(verdict_page(answer, stored_gate(name, out), out=str(out)), end="")
        else:
            show(answer, verdict_table(answer) if details else verdict_screen(answer), as_json)
