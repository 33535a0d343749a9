"""Search of claims by words: of their statements, encodings, papers and ids.

A word is found in any form ("distance", "distances"), under any name of an encoding ("rotary" for RoPE), and under
words of the same meaning (a recovery is a special case). Claims with more of the words come first, and among them those
that have the words in their id, then in the statement, then in the paper.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from lengthgen.infrastructure.errors import LONGEST_COMPARED, one_line
from lengthgen.proofs_checks.claim import Claim
from lengthgen.proofs_checks.paper import title
from lengthgen.proofs_checks.registry import CLAIMS, Unknown, arxiv_id, belongs, is_about
from lengthgen.theory.encodings.catalogue import ENCODINGS
from lengthgen.theory.encodings.encoding import Encoding

_ENDINGS = ("ization", "ations", "ation", "ates", "ate", "ions", "ion", "ing", "ize", "ies", "es", "ed", "s", "e", "y")
_SHORTEST_STEM = 4
_LEFT_OUT = (
    "a an and are as at be by can do does for from have has how if in is it its no not of on or that the their there "
    "this to under was what when where which with"
)
"""Words that a query may have and a search does not ask for."""
_SAME_MEANING = (
    "special case recovery recover reduction reduce contain extension instance",
    "wrong error errata erratum mistake misprint corrected print",
    "extrapolation generalization longer",
    "decay fall forget",
)
"""Groups of words of which each stands for the others."""
_ID, _STATEMENT, _PAPER = 4, 2, 1
"""Weights of a word that occurs in the id or is a name of the encoding, in the statement, in the source."""
_LONGEST_SHOWN = 60
"""Characters of unknown words in a message."""


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Claims that a search found, best first.

    Attributes:
        claims: those that have the most of the words.
        unknown: words that no claim has, each with the nearest word that some claim has, or nothing.
        missing: number of the known words that these claims lack.
    """

    claims: tuple[Claim, ...]
    unknown: tuple[tuple[str, str], ...] = ()
    missing: int = 0


def search(words: Iterable[str]) -> Matches:
    """Return the claims with the most of these words; all claims in order if there are no words.

    Args:
        words: words of a statement, of a paper's name, names of encodings, arXiv ids, claim ids or their beginnings.

    Raises:
        Unknown: no claim has any of the words.
    """
    wanted = list(dict.fromkeys(word for text in words for word in _words_of_query(text)))
    if not wanted:
        return Matches(claims=CLAIMS)
    weights = {word: _weights(word) for word in wanted}
    unknown = tuple((word, _nearest_word(word)) for word in wanted if not weights[word])
    weighed = [weights[word] for word in wanted if weights[word]]
    if not weighed:
        meant = ", ".join(near for _, near in unknown if near)
        hint = f"did you mean {meant}?" if meant else "`lengthgen claims` lists all"
        raise Unknown(f"no claim has the words {one_line(', '.join(wanted), longest=_LONGEST_SHOWN)!r}: {hint}")
    counts = {claim.id: sum(claim.id in of_word for of_word in weighed) for claim in CLAIMS}
    most = max(counts.values())
    best = [claim for claim in CLAIMS if counts[claim.id] == most]
    best.sort(key=lambda claim: -sum(of_word.get(claim.id, 0) for of_word in weighed))
    return Matches(claims=tuple(best), unknown=unknown, missing=len(weighed) - most)


def _words_of_query(text: str) -> list[str]:
    """Words of a part of the query without articles and the like; claim ids, their beginnings and arXiv ids whole."""
    words = []
    for part in text.split():
        folded = part.strip(".,;:?!\"'()").casefold()
        if arxiv_id(folded) or (re.search(r"[-\d]", folded) and any(belongs(claim, folded) for claim in CLAIMS)):
            words.append(arxiv_id(folded) or folded)
        else:
            words += [word for word in _split(folded) if word not in _LEFT_OUT.split()]
    return words


def _weights(word: str) -> dict[str, int]:
    """Weight of a word by the id of each claim that has it."""
    forms = _same_meaning(_stem(word))
    weights = {}
    for claim in CLAIMS:
        if word == claim.source.arxiv or belongs(claim, word):
            weights[claim.id] = _ID
        elif weight := max((weight for form, weight in _index()[claim.id].items() if form in forms), default=0):
            weights[claim.id] = weight
    return weights


@cache
def _index() -> dict[str, dict[str, int]]:
    """Claim id -> stem of each word that finds the claim -> weight of the place where it stands."""
    papers: dict[str, list[str]] = {}
    for claim in CLAIMS:
        papers.setdefault(claim.source.arxiv, []).append(claim.source.paper)
    index = {}
    for claim in CLAIMS:
        source = claim.source
        paper = " ".join((*papers[source.arxiv], title(source), source.place))
        texts = ((paper, _PAPER), (claim.statement, _STATEMENT))
        weights = {_stem(word): weight for text, weight in (*texts, (claim.id, _ID)) for word in _split(text)}
        spoken = _spaced(f"{claim.id} {claim.statement} {source.paper} {source.place}")
        for encoding in ENCODINGS.values():
            about = is_about(claim, encoding.name)
            if about or any(_spaced(name) in spoken for name in _names(encoding)):
                for word in (word for name in _names(encoding) for word in _split(name)):
                    weights[_stem(word)] = max(weights.get(_stem(word), 0), _ID if about else _STATEMENT)
        index[claim.id] = weights
    return index


def _names(encoding: Encoding) -> tuple[str, ...]:
    """Name, title and aliases of an encoding."""
    return (encoding.name, encoding.title, *encoding.aliases)


def _nearest_word(word: str) -> str:
    """The nearest word of the claims to one that none of them has; empty if none is near."""
    words = {
        part
        for claim in CLAIMS
        for part in _split(f"{claim.id} {claim.statement} {claim.source.paper} {title(claim.source)}")
        if part.isalpha()
    }
    names = {name.casefold() for encoding in ENCODINGS.values() for name in (encoding.name, *encoding.aliases)}
    ids = {claim.source.arxiv for claim in CLAIMS} | {claim.id for claim in CLAIMS}
    choices = sorted(ids if re.search(r"\d", word) else words | names)
    return next(iter(get_close_matches(word[:LONGEST_COMPARED], choices, n=1, cutoff=0.7)), "")


def _split(text: str) -> list[str]:
    """Words of a text in lower case: letters and digits, with single letters left out."""
    return [word for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) > 1 or word.isdigit()]


def _spaced(text: str) -> str:
    """Words of a text with a space around each, so that a phrase of whole words is a part of it."""
    return f" {' '.join(_split(text))} "


def _same_meaning(stem: str) -> frozenset[str]:
    """Stems of the words that stand for one."""
    return frozenset({stem}).union(*(group for group in _groups() if stem in group))


@cache
def _groups() -> Sequence[frozenset[str]]:
    return [frozenset(map(_stem, group.split())) for group in _SAME_MEANING]


@cache
def _stem(word: str) -> str:
    """Return a word without its endings, such as those of the plural."""
    for ending in _ENDINGS:
        least = _SHORTEST_STEM if ending != "s" else 3
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.isdigit():
            return _stem(word.removesuffix(ending))
    return word
