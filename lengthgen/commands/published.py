"""Command that lists the published results."""

from typing import Annotated

import typer

from lengthgen.commands.options import Json, show


def published(
    evidence: Annotated[
        str | None,
        typer.Option(
            help="List only this data set: huang2025, decompiling2026, kazemnejad2023_lengths or kazemnejad2023_math."
        ),
    ] = None,
    task: Annotated[str | None, typer.Option(help="List only results on this task.")] = None,
    encoding: Annotated[str | None, typer.Option(help="List only results of this encoding.")] = None,
    as_json: Json = False,
) -> None:
    """List published results on length generalization: accuracy at trained and at longer lengths, with sources."""
    from lengthgen.published import published_answer
    from lengthgen.tables.published import published_table

    answer = published_answer(evidence=evidence, task=task, encoding=encoding)
    show(answer, published_table(answer), as_json)
