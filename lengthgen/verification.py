"""`lengthgen verify`: which claims are asked for, their run, and what is written of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from empirical.runs.profile import load_profile
from empirical.runs.store import StoreError
from lengthgen.encodings import own_answer, selected
from lengthgen.progress import Progress
from proofs_checks import ledger, own_claims, registry, report
from proofs_checks.lattice import lattice
from proofs_checks.ledger import Selection
from proofs_checks.runner import Result
from proofs_checks.trained import Runs
from theory.system.files import user_cache


@dataclass(frozen=True, kw_only=True)
class Run:
    """How the claims are run: seconds for each, and whether unchanged ones are run again."""

    time_limit: float
    fresh: bool

    def of(self, selection: Selection, *, kept: bool = True) -> tuple[Result, ...]:
        """The results, in the order of the claims, kept for the next time or not; progress goes to stderr."""
        return ledger.run(
            selection,
            cache=user_cache("claims") if kept else None,
            progress=partial(Progress, "claims"),
            time_limit=self.time_limit,
            fresh=self.fresh,
        )


def claims_of_the_lattice() -> list[str]:
    """The ids of the claims that decide the edges and the edges that do not exist."""
    return sorted({claim for *_, claim in lattice().edges(data="claim")})


def lattice_answer(results: Sequence[Result], folder: Path) -> dict[str, Any]:
    """The edges with their verdicts, and the drawing of the lattice written into the folder."""
    from paper_figs import recovery_lattice

    by_id = {result.claim.id: result for result in results}
    graph = lattice()
    edges = [
        {"contains": by, "contained": of, **edge, "verdict": str(by_id[edge["claim"]].verdict)}
        for by, of, edge in graph.edges(data=True)
    ]
    return report.as_json(results) | {"lattice": edges, "figure": recovery_lattice.write(graph, folder)}


def selection(names: Sequence[str], *, paper: str | None, of_lattice: bool, runs: Runs) -> Selection:
    """The claims asked for by name, paper or as those of the lattice."""
    return registry.selection([*names, *claims_of_the_lattice()] if of_lattice else names, paper=paper, runs=runs)


def own(files: Sequence[str], runs: Runs) -> tuple[Selection, dict[str, Any] | None]:
    """The claims in files of the user's own, and the answer on the encodings there, if there are any.

    Raises:
        OwnClaimError: a file fails or has nothing to verify, or an id is taken.
    """
    loaded = [own_claims.load(file) for file in files]
    claims = own_claims.selection(loaded, runs)
    with_encodings = [one.spec for one in loaded if one.encodings]
    return claims, own_answer(selected(with_encodings)) if with_encodings else None


def runs_in(out: Path | None, profile: str) -> Runs:
    """The runs of a profile in the folder of a sweep; none where no folder is named.

    Raises:
        StoreError: the folder holds no runs.
        ProfileError: no such profile.
    """
    load_profile(profile)
    if out is not None and not (out / "runs").is_dir():
        raise StoreError(f"there are no runs in {out}: name the folder that `lengthgen sweep` had as --out")
    return Runs(out=out, profile=profile)


def failing(results: Sequence[Result], *, of_runs: bool) -> list[str]:
    """The claims that do not hold; those on runs count only where they were asked for."""
    return [result.claim.id for result in results if not result.holds and (of_runs or not result.claim.on_runs)]
