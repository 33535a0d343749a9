"""The command that draws the figures and tables of the catalogue."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lengthgen.commands.options import Json, Out, ProfileName, show, some_path
from theory.system.errors import LengthgenError, one_line
from theory.system.files import require_folder
from theory.system.messages import tell


class WidthName(StrEnum):
    """How wide figures are printed; inches in `paper_figs.style.WIDTHS`."""

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
        typer.Argument(metavar="[NAME]...", help="As --list names them; all that can be drawn, if left out."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Name all figures and tables, and draw none.")] = False,
    protocol: Annotated[
        list[str] | None, typer.Option(help="Also of this protocol of your own, path/to/file.toml; may be repeated.")
    ] = None,
    profile: ProfileName = "quick",
    width: Annotated[
        WidthName,
        typer.Option(help="Of a page or a column; what is not legible so narrow is drawn as wide as it must be."),
    ] = WidthName.PAGE,
    out: Out = Path("out"),
    into: Annotated[
        Path | None,
        typer.Option(parser=some_path, metavar="PATH", help="Folder for the figures; OUT/figures, if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw figures and tables from stored runs and computed theory; what is drawn and unchanged is not drawn again.

    Ends with 0 only if every figure that was named was drawn, and no run that some figure reads is broken.
    """
    from paper_figs.sources import Sources
    from paper_figs.style import WIDTHS

    sources = Sources(out=out, profile=profile, width=WIDTHS[width.value])
    if listed:
        answer = _listed(sources, protocol or [])
        lines = [one_line(f"{one['name']:<28}{one['title']}; {one['reads']}") for one in answer["figures"]]
        show(answer, "\n".join(lines), as_json)
        return
    folder = into or out / "figures"
    require_folder(folder)
    _draw(sources, folder, names or [], protocol or [], as_json)


def _listed(sources: Any, own: list[str]) -> dict[str, Any]:
    from paper_figs.catalogue import catalogue

    return {
        "figures": [
            {"name": entry.name, "title": entry.title, "reads": entry.needs.in_words()}
            for entry in catalogue(sources, own).values()
        ]
    }


def _draw(sources: Any, folder: Path, names: list[str], own: list[str], as_json: bool) -> None:
    from lengthgen.gallery import draw_catalogue

    drawn = draw_catalogue(sources, folder, names, own)
    failing = drawn.broken | (drawn.missing if names else {})
    reasons = [f"{name}: {reason}" for name, reason in failing.items()]
    if failing and not drawn.files:
        raise LengthgenError("; ".join(reasons))
    if not names:
        for reason, skipped in drawn.skipped.items():
            tell(f"skipped {', '.join(skipped)}: {reason}")
    answer = {
        "folder": str(folder),
        "figures": drawn.files,
        "unchanged": drawn.unchanged,
        "missing": drawn.missing,
        "broken": drawn.broken,
    }
    lines = [
        f"{name}{' (unchanged)' if name in drawn.unchanged else ''}: {', '.join(Path(one).suffix[1:] for one in files)}"
        for name, files in drawn.files.items()
    ]
    lines.append(f"in {folder}")
    show(answer, "\n".join(lines), as_json)
    if failing:
        for reason in reasons:
            tell(f"error: {reason}")
        raise typer.Exit(1)
