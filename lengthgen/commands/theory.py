"""Commands that decide: patterns, encodings, claims, precision."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from empirical.model.backend import Backend
from empirical.runs.limits import AUDITED
from lengthgen.commands.options import Device, Json, Out, show, some_path
from lengthgen.preconditions import require_training
from lengthgen.scales import parse_scales
from lengthgen.tables.audits import audit_table
from lengthgen.tables.encodings import encodings_table, lattice_table, own_table
from lengthgen.tables.patterns import lrc_table
from proofs_checks.runner import TIME_LIMIT
from theory.system.files import require_folder
from theory.system.messages import tell
from theory.system.userfile import split_file


def lrc(
    pattern: Annotated[
        str,
        typer.Argument(
            help="A(i, j) as a formula, i the key and j the query, 1 <= i <= j, n the scale; a matrix of formulas "
            "[[a, b], [c, d]]; path/to/array.npy; or path/to/file.py:name."
        ),
    ],
    scales: Annotated[str, typer.Option(help="Scales, like 4,8 or 1-20: from the first to the last.")] = "4,8",
    parameters: Annotated[str, typer.Option(help="Names left open in the formula, comma-separated.")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Judge the relation of every standard encoding.")] = False,
    draw: Annotated[
        Path | None,
        typer.Option(parser=some_path, metavar="PATH", help="Folder for a figure of the pattern and what is learned."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Linear Representation Complexity of an attention pattern: can any position encoding make it generalize?"""
    from lengthgen.explanation import MAX_SCALE, lrc_answer
    from lengthgen.patterns import load_pattern

    wanted = parse_scales(scales, largest=MAX_SCALE)
    if draw:
        require_folder(draw)
    loaded = load_pattern(pattern, [name.strip() for name in parameters.split(",") if name.strip()])
    answer = lrc_answer(loaded, wanted, explain=explain)
    if draw:
        from paper_figs import pattern_panels

        answer["figure"] = pattern_panels.write(loaded, draw, train=wanted[0], test=wanted[-1])
    show(answer, lrc_table(answer), as_json)


def encodings(
    names: Annotated[
        list[str] | None, typer.Argument(help="As listed, or path/to/file.py[:name]; all if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The property matrix of position encodings, computed from their formulas."""
    from lengthgen.encodings import matrix_answer, selected, whole_matrix

    answer = matrix_answer(selected(names)) if names else whole_matrix()
    show(answer, encodings_table(answer), as_json)


class Layout(StrEnum):
    """How `verify` prints its ledger."""

    TABLE = "table"
    MARKDOWN = "markdown"
    LATEX = "latex"


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids or families; all where left out. Or path/to/file.py[:name] with your claims or encodings."
        ),
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Only of this paper: its arXiv id, or a part of its name.")] = None,
    strength: Annotated[
        str | None, typer.Option(help="Show only what reaches one of these, comma-separated: general,bounded,...")
    ] = None,
    lattice: Annotated[bool, typer.Option("--lattice", help="What contains what; drawn into --out.")] = False,
    out: Out = Path("out"),
    time_limit: Annotated[float, typer.Option(help="Seconds for each claim.")] = TIME_LIMIT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run unchanged claims again as well.")] = False,
    runs: Annotated[
        Path | None,
        typer.Option(help="Decide the claims on trained runs by those in this folder, the --out of `lengthgen sweep`."),
    ] = None,
    profile: Annotated[str, typer.Option(help="Of these runs: smoke, quick or paper")] = "quick",
    layout: Annotated[Layout, typer.Option("--format", help="What is printed.")] = Layout.TABLE,
    as_json: Json = False,
) -> None:
    """Check claims of the field's papers. Ends with 0 only if all that were asked for hold.

    Claims on trained runs are asked for by name, or by --runs.
    """
    from lengthgen import verification
    from proofs_checks import latex, markdown, registry, report

    if as_json and layout is not Layout.TABLE:
        raise typer.BadParameter(f"--json and --format {layout.value} exclude each other")
    wanted = registry.strengths(strength) if strength is not None else None
    if lattice:
        require_folder(out)
    run = verification.Run(time_limit=time_limit, fresh=fresh)
    trained = verification.runs_in(runs, profile)
    files = [name for name in names or [] if split_file(name)]
    declared = None
    if files:
        if files != names or paper is not None or lattice:
            raise typer.BadParameter(
                f"{files[0]} is a file of your own: verify claims of papers by a command of their own"
            )
        claims, declared = verification.own(files, trained)
        if declared is not None and layout is not Layout.TABLE:
            raise typer.BadParameter(f"--format {layout.value} is for claims: name these, as path/to/file.py:CLAIMS")
        results = run.of(claims, kept=False)
    else:
        results = run.of(verification.selection(names or [], paper=paper, of_lattice=lattice, runs=trained))
    shown = [result for result in results if wanted is None or result.strength in wanted]
    failing = verification.failing(results, of_runs=bool(names) or runs is not None)
    holds = not failing and (declared is None or declared["holds"])
    if layout is Layout.MARKDOWN:
        print(markdown.document(shown), end="")
    elif layout is Layout.LATEX:
        print(latex.longtable(shown), end="")
    elif lattice:
        answer = verification.lattice_answer(results, out)
        show(answer, lattice_table(answer), as_json)
    elif declared is None:
        show(report.as_json(shown) | {"holds": holds}, report.table(shown), as_json)
    else:
        ledger, tables = (report.as_json(shown), [report.table(shown)]) if results else ({}, [])
        show(ledger | declared | {"holds": holds}, Group(*tables, own_table(declared)), as_json)
    if failing:
        tell(f"{len(failing)} of {len(results)} claims do not hold: {', '.join(failing)}")
    if not holds:
        raise typer.Exit(1)


def audit(
    encoding: Annotated[str, typer.Argument(help="alibi, rotary, ... or path/to/file.py:object, which is run.")],
    dtype: Annotated[
        str, typer.Option(help="Of queries and keys, comma-separated.")
    ] = "float64,float32,bfloat16,float16",
    to: Annotated[int, typer.Option(help="The last position.")] = 1_000_000,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Of the relative law; what rounding once gives, if left out.")
    ] = None,
    claims: Annotated[
        str | None, typer.Option(help="In place of its own: relative,distinct,streaming,decays,bidirectional.")
    ] = None,
    parameters: Annotated[str, typer.Option(help="Like base=500000,layout=halves.")] = "",
    other: Annotated[str, typer.Option(help="What a second instance has in their place, like base=500.")] = "",
    heads: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most)] = 4,
    head_dim: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most)] = 64,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Precision of an encoding by dtype and position, and its ways of use. Ends with 0 only if nothing is found."""
    Backend(device)
    require_training()
    from lengthgen.auditing import audit_answer

    answer = audit_answer(
        encoding,
        dtypes=dtype.split(","),
        claims=None if claims is None else [claim for claim in claims.split(",") if claim],
        parameters=parameters,
        other=other,
        to=to,
        budget=budget,
        heads=heads,
        head_dim=head_dim,
        device=device,
    )
    show(answer, audit_table(answer), as_json)
    if not answer["holds"]:
        raise typer.Exit(1)
