"""`lengthgen verify`: its options, and what is done and printed for each; `verification` has the answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.userfile import split_file
from lengthgen.proofs_checks.claim import TIME_LIMIT
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import Fitted, filled
from lengthgen.terminal.options import CLAIM_NAMES, Details, Json, Out


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
        Literal["table", "markdown", "evidence", "latex"],
        typer.Option("--format", help="Print format; `evidence` prints the facts of all."),
    ] = "table",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Check claims of the field's papers. The exit code is 0 only if all selected claims hold.

    Claims on trained runs are selected by name, or by --runs. `lengthgen claims ID` shows one claim whole.
    """
    from lengthgen.proofs_checks import latex, markdown, registry, report
    from lengthgen.questions import verification

    for option, given in (("--json", as_json), ("--details", details)):
        if given and layout != "table":
            raise typer.BadParameter(f"{option} and --format {layout} exclude each other")
    strengths = registry.strengths(strength) if strength is not None else None
    if lattice and formal:
        raise typer.BadParameter("--lattice and --formal exclude each other")
    if lattice or formal:
        require_folder(out)
    if certificates is not None:
        require_folder(certificates)
    if formal:
        verification.require_prover()
    trained = verification.trained_runs(runs, profile)
    files = [name for name in names or [] if split_file(name)]
    declared = None
    if files:
        if files != names or paper is not None or lattice:
            raise typer.BadParameter(
                f"{files[0]} is a file of your own: verify claims of papers with a separate command"
            )
        claims, declared = verification.own_claims_and_encodings(files, trained)
        if declared is not None and layout != "table":
            raise typer.BadParameter(f"--format {layout} is for claims: name these, as path/to/file.py:CLAIMS")
    else:
        of_lattice = verification.lattice_claims() if lattice else []
        claims = registry.selection([*(names or []), *of_lattice], paper=paper, runs=trained)
    results = verification.claim_results(claims, time_limit=time_limit, fresh=fresh, cache=not files)
    listed = [result for result in results if strengths is None or result.strength in strengths]
    failing = verification.failing(results, of_runs=bool(names) or runs is not None)
    holds = not failing and (declared is None or declared["holds"])
    if certificates is not None:
        tell(verification.write_certificates(listed, certificates))
    if formal:
        complete = not names and paper is None and strength is None
        proved = verification.formal_answer(listed, out / "formal", complete=complete)
        show(proved, formal_table(proved), as_json, fails=not (proved["holds"] and holds))
        return
    if layout != "table":
        written = {"markdown": markdown.document, "evidence": markdown.evidence, "latex": latex.longtable}[layout]
        print(written(listed), end="")
    elif lattice:
        answer = verification.lattice_answer(results, out)
        form = verification.lattice_table if details else verification.lattice_screen
        show(answer, form(answer), as_json)
    elif declared is None:
        ledger = Fitted(report.table(listed)) if details else verification.ledger_screen(listed)
        show(report.as_json(listed) | {"holds": holds}, ledger, as_json)
    else:
        own = (verification.own_table if details else verification.own_screen)(listed, declared)
        show((report.as_json(listed) if results else {}) | declared | {"holds": holds}, own, as_json)
    if failing:
        tell(f"{len(failing)} of {len(results)} claims are not shown to hold: {', '.join(failing)}")
    if not holds:
        raise typer.Exit(1)


def formal_table(answer: Mapping[str, Any]) -> Table:
    """Return the outcome of a run of Coq, one line for each thing that it decided."""
    stale = answer["stale"]
    rows = [
        ("prover", answer["prover"]),
        ("lemmas accepted and replayed", str(answer["lemmas"])),
        ("theorems by hand", str(len(answer["theorems"]))),
        ("false twins refused", str(answer["refused"])),
        ("assumptions", ", ".join(answer["assumptions"])),
        ("identities without a lemma", f"{answer['complex']} with complex numbers, {len(answer['unproved'])} unproved"),
        ("algebraic general claims that are formal", f"{answer['formal']} of {answer['algebraic']}"),
        ("not formal", ", ".join(answer["not_formal"]) or "none"),
        ("sources", answer["sources"]),
    ]
    if not answer["holds"]:
        changes = f"{len(stale['new'])} new lemmas, {stale['lost']} lost, theorems changed: {len(stale['theorems'])}"
        rows.append(("differs from the record", f"{changes}; new record: {answer['sources']}/recorded.json"))
    return filled(("Coq", ""), rows)
