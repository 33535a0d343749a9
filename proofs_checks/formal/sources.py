"""Theorems by hand: the .v files of this folder, with the claims that they state and their false twins.

A theorem has a comment above it: what it says, and in brackets the claims that it states, as in (claims rope-1, rope-2)
or (part of claim alibi-7).  Below its proof stands its false twin, a small change of its statement, refuted:
`Lemma NAME_twin : ~ (false statement).`
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from lengthgen.infrastructure.errors import LengthgenError

FOLDER = Path(__file__).parent
SHARED = "Tactics"
"""File with the tactics of the generated lemmas."""
REFUTING = "Negations"
"""File with the tactics that refute false statements."""
_CHANGED = 0.2
"""Share of a theorem's words that its false twin may change."""
LIBRARY = "LengthGen"
"""Name of the library that the compiled files belong to."""
_REFUSED = re.compile(
    r"\b(Admitted|admit|Abort|give_up|Axioms?|Parameters?|Conjectures?|Hypothes[ei]s|Variables?|Context|Unset|bypass_check"
    r"|Declare|Primitive|Extract|Load)\b"
)
_THEOREM = re.compile(
    r"\(\*(?P<comment>(?:(?!\*\)).)*?)\*\)(?P<between>(?:(?!\(\*).)*?)"
    r"Theorem (?P<name>\w+)\s*:(?P<statement>.*?)\.\s*Proof\.(?P<proof>.*?)Qed\.",
    re.DOTALL,
)
_DEFINITION = re.compile(
    r"^(?:Definition|Fixpoint|Inductive|Record) (?P<name>\w+)\b.*?\.(?=\s)", re.DOTALL | re.MULTILINE
)
_TWIN = r"Lemma {name}_twin\s*:\s*~ \((?P<statement>(?:(?!\bProof\b).)*?)\)\.\s*Proof\.(?:(?!\bProof\b).)*?\bQed\."
_CLAIMS = r"claims? (?P<ids>[^)]*)"


class SourceError(LengthgenError):
    """A source of proofs is refused; the one-line message says why."""


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """Theorem of a .v file.

    Attributes:
        file: name of the file, without .v.
        name: name of the theorem.
        says: what it says, in words.
        claims: ids of the claims that it states.
        part_of: ids of the claims of which it states a part.
        statement: its statement.
        definitions: definitions of its file that the statement rests on, in their order.
        digest: SHA-256 of the file.
    """

    file: str
    name: str
    says: str
    claims: tuple[str, ...]
    part_of: tuple[str, ...]
    statement: str
    definitions: tuple[str, ...]
    digest: str


def files() -> tuple[Path, ...]:
    """Files by hand, in an order in which each can be compiled."""
    return tuple(sorted(FOLDER.glob("*.v"), key=lambda path: (path.stem != SHARED, path.stem)))


def refuse(text: str, name: str) -> None:
    """Raise `SourceError` for a text that assumes what it should prove, or that leaves a proof open."""
    refused = _REFUSED.search(_without_comments(text))
    if refused:
        raise SourceError(f"{name} has '{refused[0]}' in it: a proof may assume and leave open nothing")


@cache
def theorems() -> tuple[Theorem, ...]:
    """Theorems of all files.

    Raises:
        SourceError: a theorem has no words above it or no false twin below it, or a twin that is no small change of it.
    """
    return tuple(theorem for path in files() for theorem in parsed(path.read_text(encoding="utf-8"), path.stem))


def parsed(text: str, file: str) -> list[Theorem]:
    """Theorems of one text; raises as `theorems` does."""
    read, commands = [], _without_comments(text)
    defined = {match["name"]: " ".join(match[0].split()) for match in _DEFINITION.finditer(commands)}
    for match in _THEOREM.finditer(text):
        name, comment, statement = (" ".join(match[part].split()) for part in ("name", "comment", "statement"))
        refuted = re.search(_TWIN.format(name=name), commands, re.DOTALL)
        if refuted is None:
            raise SourceError(f"{file}.v: no false twin of {name} is refuted: Lemma {name}_twin : ~ (...)")
        twin = " ".join(refuted["statement"].split())
        same = SequenceMatcher(None, statement.split(), twin.split(), autojunk=False).ratio()
        if twin == statement or same < 1 - _CHANGED:
            raise SourceError(f"{file}.v: {name}_twin refutes no small change of {name}")
        read.append(
            Theorem(
                file=file,
                name=name,
                says=re.sub(rf"\s*\((part of )?{_CLAIMS}\)", "", comment),
                claims=_listed(rf"\({_CLAIMS}\)", comment),
                part_of=_listed(rf"\(part of {_CLAIMS}\)", comment),
                statement=statement,
                definitions=_behind(statement, defined),
                digest=hashlib.sha256(text.encode()).hexdigest(),
            )
        )
    named = re.findall(r"\bTheorem (\w+)", commands)
    without = sorted(set(named) - {theorem.name for theorem in read})
    if without:
        raise SourceError(f"{file}.v: no words are written above {', '.join(without)}")
    return read


def _behind(statement: str, defined: Mapping[str, str]) -> tuple[str, ...]:
    """Definitions that a statement names, and those that these name."""
    wanted: set[str] = set()
    texts = [statement]
    while texts:
        text = texts.pop()
        new = {name for name in defined if re.search(rf"\b{name}\b", text) and not _binds(text, name)} - wanted
        wanted |= new
        texts += [defined[name] for name in new]
    return tuple(text for name, text in defined.items() if name in wanted)


def _binds(text: str, name: str) -> bool:
    """True if the text has a variable of this name."""
    return bool(re.search(rf"(?:[({{]|\b(?:forall|exists|fun)\b)[\w' ]*\b{name}\b[\w' ]*(?::|,|=>)", text))


def _listed(pattern: str, comment: str) -> tuple[str, ...]:
    """Claims that a comment lists in brackets."""
    listed = re.search(pattern, comment)
    return tuple(re.split(r",\s*", listed["ids"])) if listed else ()


def _without_comments(text: str) -> str:
    """Text without its comments, which may be nested."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        kept.append(part if depth == 0 and part != "*)" else " ")
    return "".join(kept)
