"""Command that draws random questions on which two theories disagree."""

from typing import Annotated

import typer

from lengthgen.commands.options import THEORY_NAMES, Json, show


def strata(
    first: Annotated[
        str, typer.Option(help="A theory: src-coverage, c-rasp, k-sparse, ...", autocompletion=THEORY_NAMES.complete)
    ] = "src-coverage",
    second: Annotated[str, typer.Option(help="Another theory.", autocompletion=THEORY_NAMES.complete)] = "k-sparse",
    questions: Annotated[int, typer.Option(min=1, max=100_000, help="Number of questions that are drawn.")] = 100,
    per_stratum: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of cells that are wanted in each stratum.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the draw.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw random circuits and languages, and sort them by the disagreement of two theories.

    A stratum says which theory says yes, which no, and where the latter expects the break. The tasks can be loaded by
    their names, so that runs on them decide between the theories.
    """
    from lengthgen.strata import strata_answer
    from lengthgen.tables.strata import strata_table

    answer = strata_answer(first, second, questions=questions, per_stratum=per_stratum, seed=seed)
    show(answer, strata_table(answer), as_json)
