"""Command `report`: write one page to explore all stored results."""

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from lengthgen.commands.options import Json, Out, ProfileName, show
from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.messages import tell


def report(
    complete: Annotated[
        bool,
        typer.Option(
            "--complete", help="Also compute larger scales and the predictions of all encodings: minutes, once."
        ),
    ] = False,
    out: Out = Path("out"),
    profile: ProfileName = "quick",
    as_json: Json = False,
) -> None:
    """Write OUT/report.html: one page, usable offline, with your tasks, forecasts and runs first.

    The page shows stored results, decided claims, and the circuits of all tasks at small scales. The exit code is 0
    only if nothing stored is broken.
    """
    load_profile(profile)
    require_folder(out)
    from lengthgen.reporting import write_report

    began = perf_counter()
    answer = write_report(out, profile, complete=complete)
    answer["seconds"] = round(perf_counter() - began, 2)
    lines = [
        f"written: {answer['page']}, {answer['bytes'] / 1e6:.1f} MB",
        *(f"{count['count']} {count['of']}" for count in answer["counts"]),
        *(f"predicted and not judged yet: {part['what']}: {part['made_by']}" for part in answer["unjudged"]),
    ]
    if answer["missing"]:
        lines.append(f"{len(answer['missing'])} results of the project are not in {out}; --json lists them")
    show(answer, "\n".join(lines), as_json)
    if answer["broken"]:
        for name, why in answer["broken"].items():
            tell(f"error: {name}: {why}")
        raise typer.Exit(1)
