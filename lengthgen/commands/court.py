"""Command that judges theories of length generalization by results."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lengthgen.commands.options import THEORY_NAMES, Details, Json, Out, show


class Evidence(StrEnum):
    """Kind of evidence."""

    PUBLISHED = "published"
    RUNS = "runs"


def court(
    evidence: Annotated[
        Evidence, typer.Option(help="Results to judge by: published ones, or the stored runs in OUT.")
    ] = Evidence.PUBLISHED,
    theory: Annotated[
        list[str] | None,
        typer.Option(
            help="Judge this theory: a name such as src-coverage, or your own as path/to/file.py:function, which is "
            "run. May be given several times.",
            show_default="all of the catalogue",
            autocompletion=THEORY_NAMES.complete,
        ),
    ] = None,
    out: Out = Path("out"),
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Score theories of length generalization: which of them predicts which result?

    All predictions are made and hashed before any outcome is read. A theory of your own joins after the results were
    known, and is marked so. The scores of the whole catalogue are stored in OUT/court, for the figures and the report.
    --details also prints the controls, and the cells on which theories disagree, with their reasons.
    """
    from lengthgen.court import court_answer
    from lengthgen.tables.court import court_screen, court_table

    answer = court_answer(evidence.value, theory or [], out)
    show(answer, court_table(answer) if details else court_screen(answer), as_json)
