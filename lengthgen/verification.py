"""Claims of `lengthgen verify`: their selection, their run, and the answer of the command."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen.empirical.runs.profile import load_profile
from lengthgen.empirical.runs.store import StoreError
from lengthgen.encodings import own_encodings_answer, selected
from lengthgen.infrastructure.files import user_cache
from lengthgen.progress import Progress
from lengthgen.proofs_checks import ledger, own_claims, prover, registry, report
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.lattice import lattice
from lengthgen.proofs_checks.ledger import Selection
from lengthgen.proofs_checks.result import Result
from lengthgen.proofs_checks.trained import Runs


@dataclass(frozen=True, kw_only=True)
class ClaimRunner:
    """Settings of a run of claims: time limit in seconds for each claim, and True to run unchanged claims again."""

    time_limit: float
    fresh: bool

    def results(self, selection: Selection, *, cache: bool = True) -> tuple[Result, ...]:
        """Return the results in the order of the claims, cached for the next time if `cache`.

        Progress goes to stderr.
        """
        return ledger.run(
            selection,
            cache=user_cache("claims") if cache else None,
            progress=partial(Progress, "verify", pieces="claims"),
            time_limit=self.time_limit,
            fresh=self.fresh,
        )


def lattice_claims() -> list[str]:
    """Return the ids of the claims that decide the edges of the lattice, and the edges that do not exist."""
    return sorted({claim for *_, claim in lattice().edges(data="claim")})


def lattice_answer(results: Sequence[Result], folder: Path) -> dict[str, Any]:
    """Return the edges with their verdicts, and write the drawing of the lattice into the folder."""
    from lengthgen.paper_figs.figures import ledger_matrix

    by_id = {result.claim.id: result for result in results}
    graph = lattice()
    edges = [
        {"contains": container, "contained": contained, **edge, "verdict": str(by_id[edge["claim"]].verdict)}
        for container, contained, edge in graph.edges(data=True)
    ]
    return report.as_json(results) | {"lattice": edges, "figure": ledger_matrix.write_recoveries(graph, folder)}


def selection(names: Sequence[str], *, paper: str | None, of_lattice: bool, runs: Runs) -> Selection:
    """Return the claims selected by name or paper, or those of the lattice if `of_lattice`."""
    return registry.selection([*names, *lattice_claims()] if of_lattice else names, paper=paper, runs=runs)


def own_claims_and_encodings(files: Sequence[str], runs: Runs) -> tuple[Selection, dict[str, Any] | None]:
    """Return the claims in files of the user's own, and the answer on the encodings there, if there are any.

    Raises:
        OwnClaimError: a file fails or has nothing to verify, or a claim id is taken.
    """
    modules = [own_claims.load(file) for file in files]
    claims = own_claims.selection(modules, runs)
    with_encodings = [module.spec for module in modules if module.encodings]
    return claims, own_encodings_answer(selected(with_encodings)) if with_encodings else None


def trained_runs(out: Path | None, profile: str) -> Runs:
    """Return the runs of a profile in the folder of a sweep or of other models; none if no folder is named.

    Raises:
        StoreError: the folder holds no runs.
        ProfileError: the profile does not exist.
    """
    load_profile(profile)
    if out is not None and not any((out / kind).is_dir() for kind in ("runs", "text", "modular-addition")):
        raise StoreError(
            f"there are no runs in {out}: name the folder that was the --out of `lengthgen sweep`, `text` or "
            "`modular-addition`"
        )
    return Runs(out=out, profile=profile)


def failing(results: Sequence[Result], *, of_runs: bool) -> list[str]:
    """Return the ids of claims that do not hold; claims on runs count only if they were requested."""
    return [result.claim.id for result in results if not result.holds and (of_runs or not result.claim.on_runs)]


def write_certificates(results: Sequence[Result], folder: Path) -> str:
    """Write the certificates of the results into a folder, and return a line that counts them."""
    counts = report.write_certificates(results, folder)
    missing = f", {counts['missing']} without a certificate" if counts["missing"] else ""
    identities = f"{counts['proved']} identities and {counts['refuted']} false ones"
    return f"{folder}: {identities} of {counts['claims']} claims{missing}"


def require_prover() -> None:
    """Raise `ProverError` with the recorded outcome and the command that installs Coq, if Coq is missing."""
    if prover.missing():
        record = recorded.record()
        raise prover.ProverError(
            f"{prover.missing()}. Recorded: {len(record['lemmas'])} lemmas and {len(record['theorems'])} theorems, "
            f"accepted by {record['prover']}; lengthgen verify --formal replays them"
        )


def formal_answer(results: Sequence[Result], folder: Path, *, complete: bool) -> dict[str, Any]:
    """Let Coq prove the identities of the results and all theorems, and compare the outcome with the record.

    Args:
        results: claims whose identities become lemmas.
        folder: folder of the sources and of the new record, `recorded.json`.
        complete: True if these are all claims, so that the outcome should be the record.
    """
    outcome = prover.prove(results, folder, partial(Progress, "Coq", pieces="files"))
    prover.write_record(outcome, folder / recorded.RECORD.name)
    record = recorded.record()
    new = sorted(name for digest, name in outcome.lemmas.items() if digest not in record["lemmas"])
    lost = sorted(set(record["lemmas"]) - outcome.lemmas.keys()) if complete else []
    changed = [theorem.name for theorem in outcome.theorems if record["theorems"].get(theorem.name) != theorem.digest]
    covered = report.coverage(results)
    return {
        "prover": outcome.prover,
        "assumptions": list(outcome.assumptions),
        "lemmas": len(outcome.lemmas),
        "theorems": [theorem.name for theorem in outcome.theorems],
        "refused": outcome.twins,
        "unproved": [{"claim": claim, "statement": statement} for claim, statement in outcome.unproved],
        "complex": outcome.complex,
        "algebraic": len(covered.algebraic),
        "formal": len(covered.formal),
        "not_formal": sorted(set(covered.algebraic) - set(covered.formal)),
        "stale": {"new": new, "lost": len(lost), "theorems": changed},
        "sources": str(folder),
        "holds": not (new or lost or changed),
    }
