"""Commands that decide by computation: patterns, encodings, claims, precision."""

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from lengthgen.commands.options import (
    CLAIM_NAMES,
    ENCODING_NAMES,
    Details,
    Device,
    Json,
    Out,
    error_bound,
    nonempty_path,
    show,
)
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.runs.limits import AUDITED
from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.userfile import split_file
from lengthgen.preconditions import require_training
from lengthgen.proofs_checks.claim import TIME_LIMIT
from lengthgen.scales import parse_scales
from lengthgen.tables.encodings import encodings_screen, encodings_table, lattice_screen, lattice_table
from lengthgen.tables.formal import formal_table
from lengthgen.tables.layout import Fitted
from lengthgen.tables.patterns import lrc_table


def lrc(
    pattern: Annotated[
        str,
        typer.Argument(
            help="Attention pattern A(i, j): a formula in the key i, the query j (1 <= i <= j) and the scale n; a "
            "matrix of formulas [[a, b], [c, d]]; path/to/array.npy; or path/to/file.py:name."
        ),
    ],
    scales: Annotated[
        str, typer.Option(help="Scales, for example 4,8 or 1-20. Training ends at the first, the test at the last.")
    ] = "4,8",
    parameters: Annotated[str, typer.Option(help="Free parameters of the formula, comma-separated.")] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Also judge the relation of every standard encoding.")
    ] = False,
    within: Annotated[
        Fraction | None,
        typer.Option(
            parser=error_bound,
            metavar="EPS",
            help="Also compute LRC within this error: each entry may be wrong by 0.01, or 1/100.",
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path,
            metavar="PATH",
            help="Folder to write with a figure of the pattern and of the learned values.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the Linear Representation Complexity (LRC) of a pattern: can any position encoding make it generalize?"""
    from lengthgen.explanation import MAX_SCALE, lrc_answer
    from lengthgen.patterns import load_pattern

    scale_list = parse_scales(scales, largest=MAX_SCALE)
    if draw:
        require_folder(draw)
    loaded = load_pattern(pattern, [name.strip() for name in parameters.split(",") if name.strip()])
    answer = lrc_answer(loaded, scale_list, explain=explain, within=within)
    if draw:
        from lengthgen.paper_figs.figures import pattern_panels

        answer["figure"] = pattern_panels.write(loaded, draw, train=scale_list[0], test=scale_list[-1])
    show(answer, lrc_table(answer), as_json)


def encodings(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Encodings by name, or path/to/file.py[:name].",
            show_default="all",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Print the properties of position encodings, computed from their formulas."""
    from lengthgen.encodings import full_matrix, matrix_answer, selected

    answer = matrix_answer(selected(names)) if names else full_matrix()
    show(answer, encodings_table(answer) if details else encodings_screen(answer), as_json)


class Layout(StrEnum):
    """Print formats of `verify`."""

    TABLE = "table"
    MARKDOWN = "markdown"
    EVIDENCE = "evidence"
    LATEX = "latex"


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids or families, encodings, arXiv ids; without names: all (`lengthgen claims WORDS` searches). "
            "Or path/to/file.py[:name] with your claims or encodings.",
            autocompletion=CLAIM_NAMES.complete,
        ),
    ] = None,
    paper: Annotated[
        str | None, typer.Option(help="Check only the claims of this paper: its arXiv id, or a part of its name.")
    ] = None,
    strength: Annotated[
        str | None, typer.Option(help="Show only claims decided with one of these strengths: general,bounded,...")
    ] = None,
    lattice: Annotated[
        bool, typer.Option("--lattice", help="Decide which encoding contains which, and draw the lattice into OUT.")
    ] = False,
    out: Out = Path("out"),
    time_limit: Annotated[float, typer.Option(help="Time limit for each claim, in seconds.")] = TIME_LIMIT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run all claims again, also unchanged ones.")] = False,
    certificates: Annotated[
        Path | None,
        typer.Option(help="Write the identities of the claims into this folder, for tests/replay_certificates.py."),
    ] = None,
    formal: Annotated[
        bool,
        typer.Option(
            "--formal", help="Let Coq prove the identities and the theorems by hand; sources go to OUT/formal."
        ),
    ] = False,
    runs: Annotated[
        Path | None,
        typer.Option(help="Folder with trained runs, the --out of `lengthgen sweep`; they decide the claims on runs."),
    ] = None,
    profile: Annotated[str, typer.Option(help="Profile of these runs: smoke, quick or paper.")] = "quick",
    layout: Annotated[
        Layout, typer.Option("--format", help="Print format; `evidence` prints the facts of all.")
    ] = Layout.TABLE,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Check claims of the field's papers. The exit code is 0 only if all selected claims hold.

    Claims on trained runs are selected by name, or by --runs. `lengthgen claims ID` shows one claim whole.
    """
    from lengthgen import verification
    from lengthgen.proofs_checks import latex, markdown, registry, report
    from lengthgen.tables.ledger import ledger_screen, own_screen, own_table

    for option, given in (("--json", as_json), ("--details", details)):
        if given and layout is not Layout.TABLE:
            raise typer.BadParameter(f"{option} and --format {layout.value} exclude each other")
    strengths = registry.strengths(strength) if strength is not None else None
    if lattice and formal:
        raise typer.BadParameter("--lattice and --formal exclude each other")
    if lattice or formal:
        require_folder(out)
    if certificates is not None:
        require_folder(certificates)
    if formal:
        verification.require_prover()
    runner = verification.ClaimRunner(time_limit=time_limit, fresh=fresh)
    trained = verification.trained_runs(runs, profile)
    files = [name for name in names or [] if split_file(name)]
    declared = None
    if files:
        if files != names or paper is not None or lattice:
            raise typer.BadParameter(
                f"{files[0]} is a file of your own: verify claims of papers with a separate command"
            )
        claims, declared = verification.own_claims_and_encodings(files, trained)
        if declared is not None and layout is not Layout.TABLE:
            raise typer.BadParameter(f"--format {layout.value} is for claims: name these, as path/to/file.py:CLAIMS")
        results = runner.results(claims, cache=False)
    else:
        results = runner.results(verification.selection(names or [], paper=paper, of_lattice=lattice, runs=trained))
    listed = [result for result in results if strengths is None or result.strength in strengths]
    failing = verification.failing(results, of_runs=bool(names) or runs is not None)
    holds = not failing and (declared is None or declared["holds"])
    if certificates is not None:
        tell(verification.write_certificates(listed, certificates))
    if formal:
        proved = verification.formal_answer(
            listed, out / "formal", complete=not names and paper is None and strength is None
        )
        show(proved, formal_table(proved), as_json)
        if not proved["holds"] or not holds:
            raise typer.Exit(1)
        return
    if layout is Layout.MARKDOWN:
        print(markdown.document(listed), end="")
    elif layout is Layout.EVIDENCE:
        print(markdown.evidence(listed), end="")
    elif layout is Layout.LATEX:
        print(latex.longtable(listed), end="")
    elif lattice:
        answer = verification.lattice_answer(results, out)
        show(answer, lattice_table(answer) if details else lattice_screen(answer), as_json)
    elif declared is None:
        ledger = Fitted(report.table(listed)) if details else ledger_screen(listed)
        show(report.as_json(listed) | {"holds": holds}, ledger, as_json)
    else:
        own = own_table(listed, declared) if details else own_screen(listed, declared)
        show((report.as_json(listed) if results else {}) | declared | {"holds": holds}, own, as_json)
    if failing:
        tell(f"{len(failing)} of {len(results)} claims are not shown to hold: {', '.join(failing)}")
    if not holds:
        raise typer.Exit(1)


def audit(
    encoding: Annotated[
        str,
        typer.Argument(
            help="Encoding: alibi, rotary, ...; path/to/file.py:object, an encoding or a model (your file is run); or "
            "a model of transformers: hf:llama, hf:LlamaForCausalLM, hf:path/to/config.json.",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ],
    dtype: Annotated[
        str, typer.Option(help="Dtypes of queries and keys, comma-separated.")
    ] = "float64,float32,bfloat16,float16",
    to: Annotated[int, typer.Option(help="Last position to test.")] = 1_000_000,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Largest error allowed for the relative law. Without it: the error of one rounding."),
    ] = None,
    claims: Annotated[
        str | None,
        typer.Option(
            help="Claims to test instead of the encoding's own: relative,distinct,streaming,decays,bidirectional."
        ),
    ] = None,
    parameters: Annotated[
        str, typer.Option(help="Parameters of the encoding, for example base=500000,layout=halves.")
    ] = "",
    other: Annotated[
        str, typer.Option(help="Parameters of a second instance to compare with, for example base=500.")
    ] = "",
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Field of the configuration of an hf: model; may be repeated."
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option(help="Least severity with which the exit code is 1: error, warning or note.")
    ] = "error",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Rule with which the exit code is not 1; may be repeated."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path, metavar="PATH", help="Also write findings: FILE.sarif, or FILE.xml for JUnit."
        ),
    ] = None,
    repro: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path,
            metavar="FILE.py",
            help="Also write a program that fails while an error or a warning is there, and needs no lengthgen.",
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path,
            metavar="PATH",
            help="Folder to write with a figure of the error of the relative law by position and dtype.",
        ),
    ] = None,
    heads: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most, help="Number of heads.")] = 4,
    head_dim: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most, help="Width of each head.")] = 64,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test the laws of a position encoding, or of a whole model, by dtype, position and call pattern.

    The exit code is 1 if a finding is at least as severe as --fail-on and its rule is not allowed.
    """
    Backend(device)
    require_training()
    from lengthgen import auditing
    from lengthgen.ci import require_report, require_reproductions, write_report, write_reproductions
    from lengthgen.tables.audits import audit_table

    if report:
        require_report(report)
    if repro:
        require_reproductions(repro)
    if draw:
        require_folder(draw)
    answer = auditing.audit(
        encoding,
        dtypes=dtype.split(","),
        claims=None if claims is None else [claim for claim in claims.split(",") if claim],
        parameters=auditing.parse_parameters(parameters),
        other=auditing.parse_parameters(other),
        to=to,
        budget=budget,
        heads=heads,
        head_dim=head_dim,
        device=device,
        fields=auditing.parse_fields(fields or []),
        fail_on=fail_on,
        allow=allow or [],
    )
    if report:
        write_report(answer, report)
    if repro:
        write_reproductions(answer, repro)
        answer["reproductions"] = str(repro)
    if draw:
        from lengthgen.paper_figs.figures import score_laws

        answer["figure"] = score_laws.write_audit(answer, draw)
    show(answer, audit_table(answer), as_json)
    if not answer["holds"]:
        raise typer.Exit(1)
