"""`lengthgen verify`: claims of papers and of users, checked; encodings of a user, the lattice, the run of Coq."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.infrastructure.files import require_folder, user_cache
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.userfile import split_file
from lengthgen.proofs_checks.claim import TIME_LIMIT, Strength
from lengthgen.questions.encodings import (
    declared_lines,
    encodings_table,
    own_encodings_answer,
    selected,
    without_formulas,
)
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import LINES, Fitted, Screen, columns, cut_to_screen, filled, more, titled
from lengthgen.terminal.options import CLAIM_NAMES, Details, Json, Out
from lengthgen.terminal.progress import Progress

if TYPE_CHECKING:
    from lengthgen.proofs_checks.ledger import Selection
    from lengthgen.proofs_checks.result import Result, Verdict
    from lengthgen.proofs_checks.trained import Runs


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
    from lengthgen.proofs_checks import latex, registry, report

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
        require_prover()
    trained = trained_runs(runs, profile)
    files = [name for name in names or [] if split_file(name)]
    declared = None
    if files:
        if files != names or paper is not None or lattice:
            raise typer.BadParameter(
                f"{files[0]} is a file of your own: verify claims of papers with a separate command"
            )
        claims, declared = own_claims_and_encodings(files, trained)
        if declared is not None and layout != "table":
            raise typer.BadParameter(f"--format {layout} is for claims: name these, as path/to/file.py:CLAIMS")
    else:
        of_lattice = lattice_claims() if lattice else []
        claims = registry.selection([*(names or []), *of_lattice], paper=paper, runs=trained)
    results = claim_results(claims, time_limit=time_limit, fresh=fresh, cache=not files)
    listed = [result for result in results if strengths is None or result.strength in strengths]
    failing = claims_failing(results, of_runs=bool(names) or runs is not None)
    holds = not failing and (declared is None or declared["holds"])
    if certificates is not None:
        tell(write_certificates(listed, certificates))
    if formal:
        complete = not names and paper is None and strength is None
        proved = formal_answer(listed, out / "formal", complete=complete)
        show(proved, formal_table(proved), as_json, fails=not (proved["holds"] and holds))
        return
    if layout != "table":
        written = {"markdown": report.document, "evidence": report.evidence, "latex": latex.longtable}[layout]
        print(written(listed), end="")
    elif lattice:
        answer = lattice_answer(results, out)
        form = lattice_table if details else lattice_screen
        show(answer, form(answer), as_json)
    elif declared is None:
        ledger = Fitted(report.table(listed)) if details else ledger_screen(listed)
        show(report.as_json(listed) | {"holds": holds}, ledger, as_json)
    else:
        own = (own_table if details else own_screen)(listed, declared)
        show((report.as_json(listed) if results else {}) | declared | {"holds": holds}, own, as_json)
    if failing:
        tell(f"{len(failing)} of {len(results)} claims are not shown to hold: {', '.join(failing)}")
    if not holds:
        raise typer.Exit(1)


def claim_results(
    selection: "Selection", *, time_limit: float, fresh: bool = False, cache: bool = True
) -> "tuple[Result, ...]":
    """Return the results of claims in their order, and tell the progress.

    Args:
        selection: the claims.
        time_limit: seconds for each claim.
        fresh: True to run unchanged claims again.
        cache: True to store the results for the next time.
    """
    from lengthgen.proofs_checks.ledger import run

    return run(
        selection,
        cache=user_cache("claims") if cache else None,
        progress=partial(Progress, "verify", pieces="claims"),
        time_limit=time_limit,
        fresh=fresh,
    )


def lattice_claims() -> list[str]:
    """Return the ids of the claims that decide the edges of the lattice, and the edges that do not exist."""
    from lengthgen.proofs_checks.recovery_graph import lattice

    return sorted({claim for *_, claim in lattice().edges(data="claim")})


def lattice_answer(results: "Sequence[Result]", folder: Path) -> dict[str, Any]:
    """Return the edges with their verdicts, and write the drawing of the lattice into the folder."""
    from lengthgen.paper_figs.figures import ledger_matrix
    from lengthgen.proofs_checks import report
    from lengthgen.proofs_checks.recovery_graph import lattice

    by_id = {result.claim.id: result for result in results}
    graph = lattice()
    edges = [
        {"contains": container, "contained": contained, **edge, "verdict": str(by_id[edge["claim"]].verdict)}
        for container, contained, edge in graph.edges(data=True)
    ]
    return report.as_json(results) | {"lattice": edges, "figure": ledger_matrix.write_recoveries(graph, folder)}


def own_claims_and_encodings(files: Sequence[str], runs: "Runs") -> "tuple[Selection, dict[str, Any] | None]":
    """Return the claims in files of the user's own, and the answer on the encodings there, if there are any.

    Raises:
        OwnClaimError: a file fails or has nothing to verify, or a claim id is taken.
    """
    from lengthgen.proofs_checks import own_claims

    modules = [own_claims.load(file) for file in files]
    claims = own_claims.selection(modules, runs)
    with_encodings = [module.spec for module in modules if module.encodings]
    return claims, own_encodings_answer(selected(with_encodings)) if with_encodings else None


def trained_runs(out: Path | None, profile: str) -> "Runs":
    """Return the runs of a profile in the folder of a sweep or of other models; none if no folder is named.

    Raises:
        StoreError: the folder holds no runs.
        ProfileError: the profile does not exist.
    """
    from lengthgen.empirical.experiment.store import StoreError
    from lengthgen.proofs_checks.trained import Runs

    load_profile(profile)
    if out is not None and not any((out / kind).is_dir() for kind in ("runs", "text", "modular-addition")):
        raise StoreError(
            f"there are no runs in {out}: name the folder that was the --out of `lengthgen sweep`, `text` or "
            "`modular-addition`"
        )
    return Runs(out=out, profile=profile)


def claims_failing(results: "Sequence[Result]", *, of_runs: bool) -> list[str]:
    """Return the ids of claims that do not hold; claims on runs count only if they were requested."""
    return [result.claim.id for result in results if not result.holds and (of_runs or not result.claim.on_runs)]


def write_certificates(results: "Sequence[Result]", folder: Path) -> str:
    """Write the certificates of the results into a folder, and return a line that counts them."""
    from lengthgen.proofs_checks import report

    counts = report.write_certificates(results, folder)
    missing = f", {counts['missing']} without a certificate" if counts["missing"] else ""
    identities = f"{counts['proved']} identities and {counts['refuted']} false ones"
    return f"{folder}: {identities} of {counts['claims']} claims{missing}"


def require_prover() -> None:
    """Raise `ProverError` with the recorded outcome and the command that installs Coq, if Coq is missing."""
    from lengthgen.proofs_checks import prover
    from lengthgen.proofs_checks.formal import recorded

    if missing := prover.missing():
        record = recorded.record()
        raise prover.ProverError(
            f"{missing}. Recorded: {len(record['lemmas'])} lemmas and {len(record['theorems'])} theorems, "
            f"accepted by {record['prover']}; lengthgen verify --formal replays them"
        )


def formal_answer(results: "Sequence[Result]", folder: Path, *, complete: bool) -> dict[str, Any]:
    """Let Coq prove the identities of the results and all theorems, and compare the outcome with the record.

    Args:
        results: claims whose identities become lemmas.
        folder: folder of the sources and of the new record, `recorded.json`.
        complete: True if these are all claims, so that the outcome should be the record.
    """
    from lengthgen.proofs_checks import prover, report
    from lengthgen.proofs_checks.formal import recorded

    outcome = prover.prove(results, folder, partial(Progress, "Coq", pieces="files"))
    prover.write_record(outcome, folder / recorded.RECORD.name)
    record = recorded.record()
    new = sorted(name for digest, name in outcome.lemmas.items() if digest not in record["lemmas"])
    lost = sorted(set(record["lemmas"]) - outcome.lemmas.keys()) if complete else []
    changed = [theorem.name for theorem in outcome.theorems if record["theorems"].get(theorem.name) != theorem.digest]
    reworded = [claim for claim, words in outcome.claims.items() if record["claims"].get(claim) != words]
    return {
        "prover": outcome.prover,
        "assumptions": list(outcome.assumptions),
        "lemmas": len(outcome.lemmas),
        "theorems": [theorem.name for theorem in outcome.theorems],
        "refuted": outcome.refuted,
        "unproved": [{"claim": claim, "statement": statement} for claim, statement in outcome.unproved],
        "complex": outcome.complex,
        "formal": [result.claim.id for result in results if result.strength is Strength.FORMAL],
        "formal_steps": report.with_formal_steps(results),
        "stale": {"new": new, "lost": len(lost), "theorems": changed, "claims": reworded},
        "sources": str(folder),
        "holds": not (new or lost or changed or reworded),
    }


def ledger_screen(results: "Sequence[Result]") -> Screen:
    """Return each claim with its statement; or if this is longer than a screen a line each, or numbers and names.

    Numbers are those of claims by verdict and reach, names those of claims that are refuted, corrected or unsettled.
    """
    sentence = Text(_sentence(results), style="bold")
    few = []
    if len(results) < LINES:
        few = [Group(sentence, *_by_part(results, partial(_rows, wrapped=True)))]
        cut = _by_part(results, partial(_rows, wrapped=False))
        few += [Group(sentence, *cut, Text("whole statements and reasons: --details"))]
    longest = max(map(len, _not_verified(results).values()), default=0)
    counts = _by_part(results, _counts)
    return Screen(chain(few, (Group(sentence, *counts, *_names(results, shown)) for shown in range(longest, -1, -1))))


def _by_part(results: "Sequence[Result]", form: "Callable[[Sequence[Result]], RenderableType]") -> list[RenderableType]:
    """Return the results in this form: what papers say and what we add under headings, if there are both."""
    from lengthgen.proofs_checks.report import by_part

    parts = by_part(results)
    if len(parts) < 2:
        return [form(results)]
    return [shown for heading, of_part in parts for shown in (Text(heading, style="bold"), form(of_part))]


def _rows(results: "Sequence[Result]", *, wrapped: bool) -> RenderableType:
    """Return a row for each claim: its statement and why it is not verified, or as much of both as a line holds."""
    from lengthgen.proofs_checks.report import mark

    rows = columns("claim", "verdict", "reach")
    for column in rows.columns:
        column.no_wrap = True
    rows.add_column("statement", no_wrap=not wrapped, overflow="ellipsis", ratio=1)
    rows.expand = True
    for result in results:
        text = result.claim.statement + (f"{chr(10) if wrapped else ' '}{result.reason}" if result.reason else "")
        rows.add_row(Text(f"{result.claim.id} [{result.claim.label}]"), result.verdict, mark(result), Text(text))
    return rows


def own_table(results: "Sequence[Result]", declared: Mapping[str, Any]) -> Group:
    """Return the verdict on each law of a user's encodings, the claims of the file, and the encodings' properties."""
    from lengthgen.proofs_checks.report import table

    claims = [Fitted(table(results))] if results else []
    return Group(*map(Text, declared_lines(declared)), *claims, encodings_table(declared))


def own_screen(results: "Sequence[Result]", declared: Mapping[str, Any]) -> Screen:
    """Return the same, or if it is longer than a screen what was decided of laws, failures first."""
    lines = [*without_formulas(declared), *declared_lines(declared)]
    sentence = [_sentence(results)] if results else []

    def cut(shown: int) -> Group:
        left = [*more(len(lines), shown), "properties of these encodings: --details"]
        return Group(*map(Text, [*sentence, *lines[:shown], *left]))

    return Screen(chain([own_table(results, declared)], (cut(shown) for shown in range(len(lines), -1, -1))))


def _sentence(results: "Sequence[Result]") -> str:
    """Return how many claims hold, how many falsifiers of settled claims were rejected, and which claims need runs."""
    from lengthgen.proofs_checks.report import rejected
    from lengthgen.proofs_checks.result import Verdict

    settled = [result for result in results if result.verdict is not Verdict.UNSETTLED]
    falsifiers = sum(len(result.falsifiers) for result in settled)
    waiting = sum(result.verdict is Verdict.UNSETTLED and result.claim.on_runs for result in results)
    return (
        f"{sum(result.holds for result in results):,} of {len(results):,} claims hold"
        + (f"; {sum(map(rejected, settled)):,} of {falsifiers:,} falsifiers are rejected" if settled else "")
        + (f"; {waiting:,} need trained runs (--runs)" if waiting else "")
    )


def _counts(results: "Sequence[Result]") -> RenderableType:
    """Return the number of claims by verdict in rows and by reach in columns."""
    from lengthgen.proofs_checks.report import MARKS
    from lengthgen.proofs_checks.result import Verdict

    counts = Counter((result.verdict, result.strength) for result in results)
    reaches = [reach for reach in (*Strength, None) if any(of == reach for _, of in counts)]
    numbers = {verdict: [counts[verdict, reach] for reach in reaches] for verdict in Verdict}
    headings = ["not decided" if reach is None else MARKS[reach] for reach in reaches]
    rows = (
        [verdict, *(str(number or "-") for number in row), str(sum(row))]
        for verdict, row in numbers.items()
        if any(row)
    )
    return Fitted(filled(["verdict", *headings, "claims"], rows))


def _not_verified(results: "Sequence[Result]") -> "dict[Verdict, list[str]]":
    """Return the claims with each verdict other than `verified`, by name."""
    from lengthgen.proofs_checks.result import Verdict

    names = {
        verdict: [result.claim.id for result in results if result.verdict is verdict]
        for verdict in (Verdict.REFUTED, Verdict.CORRECTED, Verdict.UNSETTLED)
    }
    return {verdict: of for verdict, of in names.items() if of}


def _names(results: "Sequence[Result]", shown: int) -> list[Text]:
    """Return a line for each verdict other than `verified`, with so many names, and where to find the rest."""
    lines = [
        f"{verdict}: {', '.join([*names[:shown], *more(len(names), shown)])}"
        for verdict, names in _not_verified(results).items()
    ]
    return [Text(line) for line in [*lines, "a claim whole: lengthgen claims ID; all of them: --details"]]


def lattice_screen(answer: dict[str, Any]) -> Screen:
    """Return how many recoveries there are of each kind, as many of them as fit, and the files that were drawn."""
    edges = answer["lattice"]
    kinds = Counter(edge["kind"] for edge in edges)
    title = f"{len(edges)} exact recoveries [F]: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}"

    def form(shown: int) -> Group:
        return _recoveries(answer | {"lattice": edges[:shown]}, title, *more(len(edges), shown))

    return cut_to_screen(len(edges), form)


def lattice_table(answer: Mapping[str, Any]) -> Group:
    """Return the recoveries: which encoding contains which, and which does not."""
    legend = (
        "some: for some of its parameters; limit: in the limit of the parameters; within: up to the trained length; "
        "function: for some function that the trained network does not represent"
    )
    return _recoveries(answer, "Exact recoveries [F]", legend)


def _recoveries(answer: Mapping[str, Any], title: str, *notes: str) -> Group:
    """Return a row for each recovery, and a line on the files of the drawing."""
    rows = []
    for edge in answer["lattice"]:
        kind = "does not" if edge["kind"] == "impossible" else edge["kind"]
        how = f"{kind}: {edge['reason']}" if edge["reason"] else kind
        rows.append((edge["contains"], edge["contained"], how, edge["claim"], edge["verdict"]))
    table = filled(("encoding", "contains", "how", "claim", "verdict"), rows)
    return titled(title, table, *notes, f"written: {', '.join(answer['figure'])}")


def formal_table(answer: Mapping[str, Any]) -> Table:
    """Return the outcome of a run of Coq, one line for each thing that it decided."""
    stale = answer["stale"]
    rows = [
        ("prover", answer["prover"]),
        ("lemmas accepted and replayed", str(answer["lemmas"])),
        ("theorems by hand", str(len(answer["theorems"]))),
        ("false statements refuted", str(answer["refuted"])),
        ("assumptions", ", ".join(answer["assumptions"])),
        ("identities without a lemma", f"{answer['complex']} with complex numbers, {len(answer['unproved'])} unproved"),
        ("formal claims, as recorded", ", ".join(answer["formal"]) or "none"),
        ("other claims with formal steps", str(len(answer["formal_steps"]))),
        ("sources", answer["sources"]),
    ]
    if not answer["holds"]:
        changes = (
            f"{len(stale['new'])} new lemmas, {stale['lost']} lost, theorems changed: {len(stale['theorems'])}, "
            f"formal claims reworded: {len(stale['claims'])}"
        )
        rows.append(("differs from the record", f"{changes}; new record: {answer['sources']}/recorded.json"))
    return filled(("Coq", ""), rows)
