"""All claims, gathered by name, and their selection by id, by family and by paper."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import circuits.encodings  # noqa: F401  # registers those whose relation is that of a circuit
from proofs_checks import papers
from proofs_checks.claim import Claim, Source, Strength
from proofs_checks.ledger import Selection
from proofs_checks.trained import NONE, Runs
from theory.encodings.catalogue import ENCODINGS, called
from theory.system.errors import LengthgenError


class Unknown(LengthgenError):
    """No claim, family, paper or strength has this name; the message is one line with the closest names."""


def gather(*groups: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims of all groups in order.  Raises `ValueError` where two claims have one id."""
    claims: dict[str, Claim] = {}
    for claim in (claim for group in groups for claim in group):
        if claim.id in claims:
            raise ValueError(f"two claims have the id {claim.id!r}")
        claims[claim.id] = claim
    return tuple(claims.values())


def _place(module: str, claim: Claim) -> tuple[int, str]:
    """The place of a claim by `papers.ORDER`: that of its module, or that of its package and therein its id."""
    name = module.removeprefix(f"{papers.__name__}.")
    if name in papers.ORDER:
        return papers.ORDER.index(name), ""
    package = name.partition(".")[0]
    return papers.ORDER.index(package) if package in papers.ORDER else len(papers.ORDER), claim.id


def _listed() -> list[tuple[ModuleType, Claim]]:
    """The claims of all modules of `papers`, each with the module that lists it, in order."""
    modules = [import_module(found.name) for found in walk_packages(papers.__path__, f"{papers.__name__}.")]
    listed = [(module, claim) for module in modules for claim in getattr(module, "CLAIMS", ())]
    return sorted(listed, key=lambda one: _place(one[0].__name__, one[1]))


_LISTED = _listed()
CLAIMS = gather(claim for _, claim in _LISTED)
_HOMES = {claim.id: Path(str(module.__file__)) for module, claim in _LISTED}


def select(names: Iterable[str] = (), *, paper: str | None = None) -> tuple[Claim, ...]:
    """The claims of these names, in order; all of them without names.

    Args:
        names: an id (`grape-1`), its beginning (`grape`, `hope-6`, `pola-1` for 1a, 1b, ...), or the name or an alias
            of an encoding (`fox`, `RoPE`), for the claims about it.
        paper: keeps those of the papers with this arXiv id, or with this text in their names, in capitals or not.

    Raises:
        Unknown: a name that no claim has, or no claim is left.
    """
    wanted = list(names)
    chosen = {claim.id for name in wanted for claim in _called(name)}
    named = tuple(claim for claim in CLAIMS if not wanted or claim.id in chosen)
    if paper is None:
        return named
    if not any(_made_in(claim.source, paper) for claim in CLAIMS):
        raise Unknown(_unknown_paper(paper))
    kept = tuple(claim for claim in named if _made_in(claim.source, paper))
    if not kept:
        raise Unknown(f"none of the claims named {', '.join(wanted)} is of a paper {paper!r}")
    return kept


def selection(names: Iterable[str] = (), *, paper: str | None = None, runs: Runs = NONE) -> Selection:
    """The claims that `select` selects, for the ledger; those on runs with the runs that decide them."""
    return Selection(claims=tuple(claim.given(runs) for claim in select(names, paper=paper)), find=find, home=home)


def find(claim_id: str) -> Claim:
    """The claim with this id."""
    return next(claim for claim in CLAIMS if claim.id == claim_id)


def home(claim: Claim) -> Path:
    """The file of the module that lists the claim."""
    return _HOMES[claim.id]


def strengths(names: str) -> tuple[Strength, ...]:
    """The strengths of a comma-separated list.  Raises `Unknown`."""
    found = []
    for name in names.split(","):
        try:
            found.append(Strength(name.strip()))
        except ValueError:
            hint = _hint(name.strip(), set(Strength), "the strengths")
            raise Unknown(f"no strength is named {name.strip()!r}; {hint}") from None
    return tuple(found)


def _called(name: str) -> list[Claim]:
    """The claims of one name.  Raises `Unknown`."""
    encoding = called(name)
    if encoding is None:
        found = [claim for claim in CLAIMS if _belongs(claim, name)]
        found = found or [claim for claim in CLAIMS if _belongs(claim, _of_today(name))]
        if not found:
            raise Unknown(_unknown_claim(name))
        return found
    families = {name, encoding.name}
    found = [
        claim
        for claim in CLAIMS
        if _is_about(claim, encoding.name) or any(_belongs(claim, family) for family in families)
    ]
    if not found:
        why = f": {encoding.no_formula}" if encoding.no_formula else ""
        raise Unknown(f"no claim is about '{encoding.name}'{why}")
    return found


def _is_about(claim: Claim, encoding: str) -> bool:
    """Whether the claim is one of the property matrix or of the lattice that an encoding is in."""
    kind, _, rest = claim.id.partition("-")
    if kind in ("laws", "far", "cache"):
        return rest == encoding
    ends = {rest.removeprefix(f"{encoding}-"), rest.removesuffix(f"-{encoding}")} - {rest}
    return kind == "recovery" and any(end in ENCODINGS for end in ends)


def _of_today(name: str) -> str:
    """The id with the name of an encoding in place of an alias: `laws-rope` for `laws-rotary`."""
    aliases = {alias: encoding.name for encoding in ENCODINGS.values() for alias in encoding.aliases}
    return next((name.removesuffix(alias) + new for alias, new in aliases.items() if name.endswith(f"-{alias}")), name)


def _belongs(claim: Claim, name: str) -> bool:
    part = name[-1:].isdigit() and re.match(rf"{re.escape(name)}[a-z]", claim.id)
    return claim.id == name or claim.id.startswith(f"{name}-") or bool(part)


def _made_in(source: Source, paper: str) -> bool:
    text = paper.strip().lower()
    return bool(text) and (text == source.arxiv or text in source.paper.lower())


def _unknown_claim(name: str) -> str:
    families = {claim.id.rsplit("-", 1)[0] for claim in CLAIMS}
    hint = _hint(name, families | {claim.id for claim in CLAIMS}, "the families", families)
    return f"no claim or family is named {name!r}; {hint}"


def _unknown_paper(text: str) -> str:
    ids = {claim.source.arxiv for claim in CLAIMS}
    words = {word for claim in CLAIMS for word in re.findall(r"\w{3,}", claim.source.paper.lower())}
    return f"no paper has the arXiv id or the name {text!r}; {_hint(text.strip().lower(), ids | words, 'the ids', ids)}"


def _hint(name: str, known: set[str], what: str, shown: set[str] | None = None) -> str:
    close = get_close_matches(name, sorted(known))
    return f"did you mean {' or '.join(close)}?" if close else f"{what} are {', '.join(sorted(shown or known))}"
