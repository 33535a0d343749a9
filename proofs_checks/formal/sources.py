"""Theorems by hand: the .v files of this folder, with the claims that they state and their false twins.

A theorem has a comment above it: what it says, in brackets the claims that it states, as in (claims rope-1, rope-2) or
(part of claim alibi-7), and a line that makes it false: `False twin: "text" becomes "other text".`
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lengthgen.infrastructure.errors import LengthgenError

FOLDER = Path(__file__).parent
SHARED = "Tactics"
"""File with the tactics of the generated lemmas."""
LIBRARY = "LengthGen"
"""Name of the library that the compiled files belong to."""
_HEADER = re.compile(r"^(?:From|Require|Import|Open) .*$", re.MULTILINE)
_REFUSED = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Hypothes[ei]s|Variables?|Context|Unset|bypass_check"
    r"|Declare|Primitive|Extract|Load)\b"
)
_THEOREM = re.compile(
    r"\(\*(?P<comment>(?:(?!\*\)).)*?)False twin: \"(?P<old>[^\"]+)\"\s+becomes\s+\"(?P<new>[^\"]+)\"\.\s*\*\)\s*"
    r"(?P<between>(?:(?!\(\*).)*?)"
    r"Theorem (?P<name>\w+)\s*:(?P<statement>.*?)\.\s*Proof\.(?P<proof>.*?)Qed\.",
    re.DOTALL,
)
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
        twin: text of a file that imports the theorem's file and states the false statement with the same proof.
        digest: SHA-256 of the file.
    """

    file: str
    name: str
    says: str
    claims: tuple[str, ...]
    part_of: tuple[str, ...]
    statement: str
    twin: str
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
        SourceError: a theorem has no false twin, or a twin that is the theorem itself.
    """
    return tuple(theorem for path in files() for theorem in parsed(path.read_text(encoding="utf-8"), path.stem))


def parsed(text: str, file: str) -> list[Theorem]:
    """Theorems of one text; raises as `theorems` does."""
    read = []
    for match in _THEOREM.finditer(text):
        old, new = (" ".join(match[part].split()) for part in ("old", "new"))
        if match["statement"].count(old) + match["between"].count(old) != 1:
            raise SourceError(f"{file}.v: '{old}' is not once in the statement of {match['name']}")
        start, end = match.start("between"), match.end("statement")
        false = text[start:end].replace(old, new) + text[end : match.end()]
        comment = " ".join(match["comment"].split())
        read.append(
            Theorem(
                file=file,
                name=match["name"],
                says=re.sub(rf"\s*\((part of )?{_CLAIMS}\)", "", comment),
                claims=_listed(rf"\({_CLAIMS}\)", comment),
                part_of=_listed(rf"\(part of {_CLAIMS}\)", comment),
                statement=" ".join(match["statement"].split()),
                twin="\n".join([*_HEADER.findall(text), f"From {LIBRARY} Require Import {file}.", false]),
                digest=hashlib.sha256(text.encode()).hexdigest(),
            )
        )
    named = re.findall(r"\bTheorem (\w+)", _without_comments(text))
    without = sorted(set(named) - {theorem.name for theorem in read})
    if without:
        raise SourceError(f"{file}.v: no false twin is written above {', '.join(without)}")
    return read


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
