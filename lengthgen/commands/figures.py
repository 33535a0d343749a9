"""Command `figures`: draw the figures and tables of the catalogue."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lengthgen.commands.options import FIGURE_NAMES, Json, Out, ProfileName, nonempty_path, show
from lengthgen.infrastructure.errors import LengthgenError, one_line
from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.messages import tell


class WidthName(StrEnum):
    """Names of printed widths of figures; `lengthgen.paper_figs.style.WIDTHS` has them in inches."""

    PAGE = "page"
    COLUMN = "column"
    NEURIPS = "neurips"
    ICML = "icml"
    ICML_COLUMN = "icml-column"
    ACL = "acl"
    ACL_COLUMN = "acl-column"


def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names of figures, as listed by --list. Without names: all that can be drawn.",
            autocompletion=FIGURE_NAMES.complete,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all figures and tables without drawing any.")] = False,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Also draw the figures of your own protocol, path/to/file.toml; may be given several times."),
    ] = None,
    trial: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path,
            metavar="PATH",
            help="Draw the figures of this stored conjecture alone: a conjecture.json, or its folder.",
        ),
    ] = None,
    task: Annotated[str | None, typer.Option(help="With --trial: only these tasks, comma-separated.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="With --trial: only these encodings, comma-separated, in this order.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", help="With --trial: only these formats, comma-separated.", show_default="all"),
    ] = None,
    profile: ProfileName = "quick",
    width: Annotated[
        WidthName,
        typer.Option(help="Printed width: a page or a column. A figure that would be illegible or too tall is wider."),
    ] = WidthName.PAGE,
    out: Out = Path("out"),
    into: Annotated[
        Path | None,
        typer.Option(parser=nonempty_path, metavar="PATH", help="Folder for the figures. Without it: OUT/figures."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw figures and tables from stored runs and computed theory.

    Figures whose sources did not change are not redrawn. In a checkout, those of an experiment without runs in OUT are
    drawn from its record in docs/results, and their captions say so. With --trial, the figures of one stored
    conjecture: accuracy, predicted, success, breaking, disagreements.

    The exit code is 0 only if every named figure was drawn, and no run that a figure reads is broken.
    """
    from lengthgen.paper_figs.sources import RECORDS, Sources
    from lengthgen.paper_figs.style import WIDTHS

    choice = {"task": task, "encoding": encoding, "format": format}
    if trial is None and any(choice.values()):
        raise LengthgenError("--task, --encoding and --format choose from a stored conjecture: name it with --trial")
    if listed and trial is not None:
        raise LengthgenError("--list is about the catalogue; what --trial draws is in --help: leave out one of the two")
    sources = Sources(out=out, profile=profile, width=WIDTHS[width.value], records=RECORDS)
    if listed:
        answer = _catalogue_listing(sources, protocol or [])
        lines = [
            one_line(f"{entry['name'] + '  ':<28}{entry['title']}; {entry['reads']}") for entry in answer["figures"]
        ]
        show(answer, "\n".join(lines), as_json)
        return
    folder = into or out / "figures"
    require_folder(folder)
    if trial is None:
        from lengthgen.gallery import draw_catalogue

        drawn = draw_catalogue(sources, folder, names or [], protocol or [])
    else:
        from lengthgen.gallery import draw_trial
        from lengthgen.paper_figs.stored_trial import load_trial

        drawn = draw_trial(load_trial(trial).chosen(**choice), folder, names or [], width=WIDTHS[width.value])
    _show_drawn(drawn, folder, named=bool(names), of_trial=trial is not None, as_json=as_json)


def _catalogue_listing(sources: Any, own: list[str]) -> dict[str, Any]:
    """Return name, title and sources of every figure and table."""
    from lengthgen.paper_figs.declaration import catalogue

    return {
        "figures": [
            {"name": entry.name, "title": entry.title, "reads": entry.needs.in_words()}
            for entry in catalogue(sources, own).values()
        ]
    }


def _show_drawn(drawn: Any, folder: Path, *, named: bool, of_trial: bool, as_json: bool) -> None:
    """Print the answer, then one list of what is missing; end with exit code 1 if a figure failed.

    Of a trial, which has five figures, each missing one has its reason.
    """
    from lengthgen.gallery import few

    failing = drawn.broken | (drawn.missing if named else {})
    reasons = [f"{name}: {reason}" for name, reason in failing.items()]
    if failing and not drawn.files:
        raise LengthgenError("; ".join(reasons))
    answer = {
        "folder": str(folder),
        "figures": drawn.files,
        "unchanged": drawn.unchanged,
        "recorded": drawn.recorded,
        "widened": drawn.widened,
        "missing": drawn.missing,
        "broken": drawn.broken,
    }
    lines = [
        f"{name}{' (unchanged)' if name in drawn.unchanged else ''}: {', '.join(Path(p).suffix[1:] for p in files)}"
        + (f"; from {drawn.recorded[name]}" if name in drawn.recorded else "")
        for name, files in drawn.files.items()
    ]
    lines.append(f"in {folder}")
    if drawn.widened:
        lines.append(f"wider than asked for, since they need it (figure* in LaTeX): {few(drawn.widened)}")
    show(answer, "\n".join(lines), as_json)
    if not named:
        reasons_of_trial = [f"not drawn: {name}: {reason}" for name, reason in drawn.missing.items()]
        for line in reasons_of_trial if of_trial else drawn.missing_lines():
            tell(line)
    if failing:
        for reason in reasons:
            tell(f"error: {reason}")
        raise typer.Exit(1)
