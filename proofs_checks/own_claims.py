"""Claims that a user writes: `Claim` objects of a Python file, run like those of the ledger and never stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError, one_line
from lengthgen.infrastructure.userfile import require_name, run_file, shown, split_file, user_code
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.ledger import Selection
from lengthgen.proofs_checks.paper import PaperClaims
from lengthgen.proofs_checks.trained import Runs
from lengthgen.theory.encodings.encoding import Encoding

LONGEST = 2000
"""Longest statement, reason or fact, in characters."""


class OwnClaimError(LengthgenError):
    """Raised if the file fails or defines no claim that can be run; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """Claims of a file, or of the one object of it that `spec` names; `encodings` is True if it has encodings too."""

    spec: str
    path: Path
    claims: tuple[Claim, ...]
    encodings: bool


def load(spec: str) -> OwnFile:
    """Run the file and return its claims.

    `spec` is `path/to/file.py`, or `path/to/file.py:name` for one object of the file. Claims are found by themselves
    and in lists and tuples, such as `CLAIMS`. A named object that is neither a claim nor a list of claims is taken for
    an encoding.

    Raises:
        OwnClaimError: the file is missing or fails, defines neither claims nor encodings, or has a claim with a wrong
            part.
    """
    path, name = split_file(spec) or (spec, None)
    defined = run_file(path, what="Python", error=OwnClaimError)
    if name is not None:
        defined = {name: defined[name]} if name in defined else {}
    claims = {id(claim): claim for key, value in defined.items() for claim in _claims_in(path, key, value)}
    encodings = (name is not None and not claims) or any(type(value) is Encoding for value in defined.values())
    if not claims and not encodings:
        raise OwnClaimError(
            f"'{path}' defines no Claim and no Encoding: see proofs_checks/claim.py and theory/encodings/encoding.py"
        )
    return OwnFile(spec=spec, path=Path(path), claims=tuple(map(_checked_claim, claims.values())), encodings=encodings)


def selection(files: Sequence[OwnFile], runs: Runs) -> Selection:
    """Return the claims of all files as a `Selection` for the ledger; claims on trained runs get `runs`.

    Raises:
        OwnClaimError: two claims have the same id, or one has the id of a claim of the project.
    """
    homes: dict[str, Path] = {}
    built_in = {claim.id for claim in registry.CLAIMS}
    claims = [(file, claim) for file in files for claim in file.claims]
    for file, claim in claims:
        if claim.id in built_in:
            raise OwnClaimError(f"'{file.path}': lengthgen has a claim of the id {claim.id!r} itself: choose another")
        if claim.id in homes:
            raise OwnClaimError(f"'{file.path}': two claims have the id {claim.id!r}")
        homes[claim.id] = file.path
    return Selection(
        claims=tuple(claim.given(runs) for _, claim in claims),
        find=partial(_find, tuple(file.spec for file in files), runs),
        home=lambda claim: homes[claim.id],
    )


_loaded = cache(load)


def _find(specs: tuple[str, ...], runs: Runs, claim_id: str) -> Claim:
    """Return the claim with this id in a worker process, which runs each file once."""
    for claim in (claim for spec in specs for claim in _loaded(spec).claims):
        if claim.id == claim_id:
            return claim.given(runs)
    raise OwnClaimError(f"the claim {claim_id!r} is no longer there when its file is run again")


def _claims_in(path: str, name: str, value: Any) -> list[Claim]:
    """Claims that an object is or contains. Raises `OwnClaimError` if it contains other things as well."""
    if type(value) is Claim:
        return [value]
    items = value if type(value) in (list, tuple, PaperClaims) else [value] if name == "CLAIMS" else []
    claims = [item for item in items if type(item) is Claim]
    if len(claims) < len(items) and (claims or name == "CLAIMS"):
        other = next(item for item in items if type(item) is not Claim)
        raise OwnClaimError(f"'{path}': {name} holds {shown(other)}, which is no Claim")
    return claims


def _checked_claim(claim: Claim) -> Claim:
    """Return the claim with a guarded check. Raises `OwnClaimError` if a part of the claim has the wrong type."""
    require_name(claim.id, "id of a claim", OwnClaimError)
    source = claim.source
    if type(source) is not Source:
        raise OwnClaimError(f"{claim.id}: its source must be a Source, not {shown(source)}")
    texts = {"paper": source.paper, "arxiv": source.arxiv, "place": source.place}
    for what, text in {"statement": claim.statement, "latex": claim.latex, **texts}.items():
        if not isinstance(text, str) or len(text) > LONGEST:
            raise OwnClaimError(f"{claim.id}: its {what} must be a text of at most {LONGEST} characters")
    if claim.label not in ("P", "F"):
        raise OwnClaimError(f"{claim.id}: its label must be 'P' or 'F', not {shown(claim.label)}")
    for name in claim.falsifiers:
        require_name(name, f"name of a falsifier of {claim.id}", OwnClaimError)
    if not callable(claim.check):
        raise OwnClaimError(f"{claim.id}: its check must be a function, not {shown(claim.check)}")
    return replace(claim, check=_guarded(claim.check))


def _guarded(check: Callable[..., Any]) -> Callable[..., Evidence]:
    """Wrap the check: it returns evidence or a refutation in plain text; another failure leaves the claim unsettled."""

    @wraps(check)
    def guarded(**parameters: Any) -> Evidence:
        try:
            with user_code("the check fails", error=OwnClaimError, expected=()):
                decision = _run_check(check, parameters)
        except OwnClaimError as failure:
            raise Unsettled(str(failure)) from failure
        if isinstance(decision, Exception):
            raise decision
        return decision

    return guarded


def _run_check(check: Callable[..., Any], parameters: Mapping[str, Any]) -> Evidence | Refuted | Unsettled:
    """Evidence, refutation or reason for no decision, which the check gives for these parameters."""
    try:
        evidence = check(**parameters)
    except Refuted as counterexample:
        return Refuted(_plain(counterexample))
    except Unsettled as reason:
        return Unsettled(_plain(reason))
    except KeyboardInterrupt:  # workers ignore interrupts, so the check raised it itself
        return Unsettled("the check fails: KeyboardInterrupt")
    if type(evidence) is not Evidence:
        return Unsettled(f"the check returned {shown(evidence)}, not Evidence")
    return Evidence(
        strength=Strength(evidence.strength),
        facts=tuple(map(_plain, evidence.facts)),
        assumptions=tuple(map(_plain, evidence.assumptions)),
        reach=_plain(evidence.reach),
    )


def _plain(text: Any) -> str:
    return one_line(str(text), longest=LONGEST)
