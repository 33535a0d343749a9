"""The claims of `papers` and `consequences`, and their selection by id, family (`grape`), encoding and paper."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import lengthgen.circuits.encoding_spec  # noqa: F401  # registers the encodings whose relation is that of a circuit
from lengthgen.infrastructure.errors import LengthgenError, nearest
from lengthgen.proofs_checks.claim import PARTS, Claim, Claims, Source, Strength
from lengthgen.proofs_checks.ledger import Selection
from lengthgen.proofs_checks.paper import title
from lengthgen.proofs_checks.trained import NONE, Runs
from lengthgen.theory.encodings.catalogue import ENCODINGS, called

ORDER = (
    "sinusoidal",
    "absolute",
    "orthogonal",
    "seqpe",
    "digit_codes",
    "prism",
    "t5",
    "alibi",
    "kerple",
    "bam",
    "fire",
    "rope",
    "xpos",
    "interpolation",
    "yarn",
    "randomized",
    "random_positions",
    "modular",
    "modular_encoder",
    "grape",
    "fox",
    "cable",
    "hope",
    "swat",
    "wavelet",
    "graph_alibi",
    "graph_alibi_matrices",
    "records",
    "containments",
    "pola.theorem1",
    "pola.theorem2",
    "pola.definition3",
    "plaa",
    "sequential.parity",
    "sequential.bounds",
    "sequential.coverage",
    "sequential.merging",
    "sequential.selection",
    "sequential.machines",
    "readings",
    "runs.trained",
    "runs.longer_text",
    "runs.modular_runs",
    "theories.c_rasp",
    "theories.rivals",
    "theories.counting_operators",
)
"""Order of claims within each folder, by modules and packages; claims of modules that are not named come last."""
BY_ID = ("orthogonal", "prism", "kerple", "fire", "rope", "grape", "swat", "wavelet", "theories.c_rasp")
"""Modules and packages whose claims are sorted by id; claims of the others keep the order of their module."""


class Unknown(LengthgenError):
    """Raised for a name that no claim, family, paper or strength has; the one-line message gives the closest names."""


def gather(*groups: Iterable[Claim]) -> Claims:
    """Return the claims of all groups in order. Raises `ValueError` if two claims have the same id."""
    claims: dict[str, Claim] = {}
    for claim in (claim for group in groups for claim in group):
        if claim.id in claims:
            raise ValueError(f"two claims have the id {claim.id!r}")
        claims[claim.id] = claim
    return Claims(claims.values())


def _place(module: str, claim: Claim) -> tuple[int, str]:
    """Sort key of a claim in its folder: the place of its module or package in `ORDER`, then its id if in `BY_ID`."""
    entry = module if module in ORDER else module.partition(".")[0]
    return ORDER.index(entry) if entry in ORDER else len(ORDER), claim.id if entry in BY_ID else ""


def _listed_claims(part: str) -> list[tuple[ModuleType, Claim]]:
    """Claims of all modules of a folder in order, each with the module that lists it."""
    folder = f"{__package__}.{part}"
    modules = [import_module(module.name) for module in walk_packages(import_module(folder).__path__, f"{folder}.")]
    listed = [(module, claim) for module in modules for claim in getattr(module, "CLAIMS", ())]
    return sorted(listed, key=lambda pair: _place(pair[0].__name__.removeprefix(f"{folder}."), pair[1]))


_LISTED = [listed for part in PARTS for listed in _listed_claims(part)]
CLAIMS = gather(claim for _, claim in _LISTED)
_HOMES = {claim.id: Path(str(module.__file__)) for module, claim in _LISTED}


def select(names: Iterable[str] = (), *, paper: str | None = None) -> Claims:
    """Return the claims with these names, in order; all claims if no names are given.

    Args:
        names: an id (`grape-1`), its beginning (`grape`, `hope-6`, `pola-1` for 1a, 1b, ...), the name or an alias of
            an encoding (`fox`, `RoPE`), for the claims about it, or the arXiv id or address of a paper.
        paper: keeps only the claims of papers with this arXiv id, or with this text in their names (case is ignored).

    Raises:
        Unknown: no claim has one of the names, or no claim is left.
    """
    wanted_names = list(names)
    chosen_ids = {claim.id for name in wanted_names for claim in _claims_named(name)}
    claims = Claims(claim for claim in CLAIMS if not wanted_names or claim.id in chosen_ids)
    if paper is None:
        return claims
    if not any(_is_of_paper(claim.source, paper) for claim in CLAIMS):
        raise Unknown(_unknown_paper(paper))
    claims_of_paper = Claims(claim for claim in claims if _is_of_paper(claim.source, paper))
    if not claims_of_paper:
        raise Unknown(f"none of the claims named {', '.join(wanted_names)} is of a paper {paper!r}")
    return claims_of_paper


def selection(names: Iterable[str] = (), *, paper: str | None = None, runs: Runs = NONE) -> Selection:
    """Return the claims of `select` as a `Selection` for the ledger; claims on trained runs get `runs`."""
    return Selection(claims=tuple(claim.given(runs) for claim in select(names, paper=paper)), find=find, home=home)


def names() -> tuple[str, ...]:
    """Return all that selects claims in `select`: ids and families of claims, names of encodings, arXiv ids."""
    ids = [claim.id for claim in CLAIMS]
    families = [claim_id.rsplit("-", 1)[0] for claim_id in ids]
    return tuple(dict.fromkeys([*families, *ids, *ENCODINGS, *(claim.source.arxiv for claim in CLAIMS)]))


def arxiv_id(text: str) -> str:
    """Return the arXiv id in `2512.07805`, `arXiv:2512.07805v2` or an address of the paper; empty if there is none."""
    match = re.fullmatch(
        r"(?:arxiv:|(?:https?://)?(?:www\.)?arxiv\.org/\w+/)?(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?", text.strip(), re.I
    )
    return match[1] if match else ""


def find(claim_id: str) -> Claim:
    """Return the claim with this id."""
    return next(claim for claim in CLAIMS if claim.id == claim_id)


def home(claim: Claim) -> Path:
    """File of the module that lists the claim."""
    return _HOMES[claim.id]


def strengths(names: str) -> tuple[Strength, ...]:
    """Parse a comma-separated list of strengths. Raises `Unknown` for a name that is none."""
    parsed = []
    for name in names.split(","):
        try:
            parsed.append(Strength(name.strip().casefold()))
        except ValueError:
            raise Unknown(f"no strength is named {name.strip()!r}: {nearest(name.strip(), Strength)}") from None
    return tuple(parsed)


def _claims_named(name: str) -> list[Claim]:
    """Claims that one name selects. Raises `Unknown` if there are none."""
    if arxiv_id(name):
        return [*select(paper=name)]
    encoding = called(name)
    if encoding is None:
        folded = name.casefold()  # as all ids are
        claims = [claim for claim in CLAIMS if belongs(claim, folded)]
        claims = claims or [claim for claim in CLAIMS if belongs(claim, _without_alias(folded))]
        if not claims:
            raise Unknown(_unknown_claim(name))
        return claims
    families = {name.casefold(), encoding.name}
    claims = [
        claim
        for claim in CLAIMS
        if is_about(claim, encoding.name) or any(belongs(claim, family) for family in families)
    ]
    if not claims:
        why = encoding.no_formula or "state its `properties` in its record"
        raise Unknown(f"no claim is about '{encoding.name}': {why}")
    return claims


def is_about(claim: Claim, encoding: str) -> bool:
    """True if the claim is on the laws and properties of the encoding, or is a recovery with it at one end."""
    kind, _, rest = claim.id.partition("-")
    if kind in ("laws", "far", "cache"):
        return rest == encoding
    ends = {rest.removeprefix(f"{encoding}-"), rest.removesuffix(f"-{encoding}")} - {rest}
    return kind == "recovery" and any(end in ENCODINGS for end in ends)


def _without_alias(name: str) -> str:
    """Claim id with the encoding's name in place of an alias: `laws-rope` for `laws-rotary`."""
    aliases = {alias: encoding.name for encoding in ENCODINGS.values() for alias in encoding.aliases}
    return next((name.removesuffix(alias) + new for alias, new in aliases.items() if name.endswith(f"-{alias}")), name)


def belongs(claim: Claim, name: str) -> bool:
    """True if `name` is the claim's id or a beginning of it: `pola-1` begins `pola-1a`."""
    if not name or not claim.id.startswith(name):
        return False
    following = claim.id[len(name) :][:1]
    return following in ("", "-") or (name[-1].isdigit() and following.isalpha())


def _is_of_paper(source: Source, paper: str) -> bool:
    """True if `paper` is the arXiv id or address of the source, or part of its name."""
    text = arxiv_id(paper) or paper.strip().lower()
    return bool(text) and (text == source.arxiv or text in f"{source.paper}\n{title(source)}".lower())


def _unknown_claim(name: str) -> str:
    paper = bool(name.strip()) and any(_is_of_paper(claim.source, name) for claim in CLAIMS)
    listed = "`lengthgen claims WORDS` searches statements and papers"
    hint = f"--paper {name.strip()!r} has its claims" if paper else nearest(name, names(), listed=listed)
    return f"no claim, family or encoding is named {name!r}: {hint}"


def _unknown_paper(text: str) -> str:
    ids = {claim.source.arxiv for claim in CLAIMS}
    text = arxiv_id(text) or text
    titles = " ".join({f"{claim.source.paper} {title(claim.source)}" for claim in CLAIMS})
    words = {*re.findall(r"\w{3,}", titles.lower())}
    candidates = ids | words if get_close_matches(text.strip().lower(), words) else ids
    hint = nearest(text.strip(), candidates, listed="`lengthgen claims WORDS` searches papers and statements")
    return f"no paper has the arXiv id or the name {text!r}: {hint}"
