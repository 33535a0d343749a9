"""Claims: a statement with its source, and one check that decides the statement and its mutations alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from lengthgen.infrastructure.brief import Brief, Listed

Parameters = Mapping[str, Any]
TIME_LIMIT = 60.0
"""Default time limit of a claim, in seconds."""
PARTS: Mapping[str, str] = {"papers": "What the papers say", "consequences": "What we add"}
"""Folder of claims -> its heading, in the order of the ledger."""


class Strength(StrEnum):
    """Reach of a check, from strong to weak."""

    FORMAL = "formal"  # Coq's kernel accepted a theorem that states the claim; no check returns it
    GENERAL = "general"  # symbolic: every dimension and parameter
    BOUNDED = "bounded"  # symbolic or exact for each dimension up to a bound
    EXHAUSTIVE = "exhaustive"  # every case of a finite domain
    INTERVAL = "interval"  # rigorous enclosure
    NUMERIC = "numeric"  # floating point with a tolerance
    STATISTICAL = "statistical"  # trained runs, with a test


class Refuted(Exception):
    """The statement is false; the message is a concrete counterexample."""


class Unsettled(Exception):
    """The check cannot decide the statement yet; the message says why, and what is missing."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Paper that makes a statement, its arXiv id, and the place in it; empty for the paper itself."""

    paper: str
    arxiv: str
    place: str = ""

    def at(self, place: str) -> "Source":
        """Return the source with another place in the same paper."""
        return replace(self, place=place)


@dataclass(frozen=True, kw_only=True, repr=False)
class Evidence(Brief):
    """Facts that a check established, and the assumptions under which it did.

    `reach` is the range that a bounded or exhaustive check went through, such as "N <= 3". The statement of the claim
    must contain these words.
    """

    strength: Strength
    facts: tuple[str, ...]
    assumptions: tuple[str, ...] = ()
    reach: str = ""

    def _brief(self) -> str:
        return f"{self.strength}, {len(self.facts)} facts"

    def _details(self) -> dict[str, tuple[str, ...]]:
        return {"facts": self.facts, "assumptions": self.assumptions}


@dataclass(frozen=True, kw_only=True, repr=False)
class Claim(Brief):
    """Statement with its source, the check that decides it, and mutations of it that the check must reject.

    `check(**holds)` decides the statement that we believe: it returns `Evidence` or raises `Refuted`. Each falsifier is
    a false statement, made by changing some of the parameters `holds`; it names only the parameters that it changes.
    `printed` does the same for the paper's statement where that differs from ours; the check must refute it too.

    `answers` names the parameters that the check only compares with what it computes: a number, a set, yes or no. Any
    check that computes the answer rejects another one. So a falsifier must keep the answers, and change what the answer
    is computed from: a formula, a sign, a circuit, a table.

    Raises `ValueError` for a claim without falsifiers, for a mutation that is the statement itself or changes a
    parameter that the statement does not have, and for a falsifier that changes an answer.
    """

    id: str
    source: Source
    statement: str
    latex: str
    label: Literal["P", "F"]
    check: Callable[..., Evidence]
    holds: Parameters
    falsifiers: Mapping[str, Parameters]
    printed: Parameters = field(default_factory=dict)
    answers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.falsifiers:
            raise ValueError(f"claim {self.id} has no falsifier: name a false statement that its check must reject")
        unknown = sorted(set(self.answers) - set(self.holds))
        if unknown:
            raise ValueError(f"claim {self.id}: the answers {unknown} are no parameters of the statement")
        for name, changes in self.falsifiers.items():
            self._refuse_pointless(f"falsifier {name!r}", changes)
            flipped = sorted(set(changes) & set(self.answers))
            if flipped:
                raise ValueError(f"claim {self.id}: falsifier {name!r} changes the stated answer {flipped}")
        if self.printed:
            self._refuse_pointless("the printed statement", self.printed)

    @property
    def part(self) -> str:
        """Folder that states the claim, a key of `PARTS`; "own" for a claim of the user's."""
        folder = getattr(self.check, "__module__", "").removeprefix(f"{__package__}.").partition(".")[0]
        return folder if folder in PARTS else "own"

    @property
    def on_runs(self) -> bool:
        """True if trained runs decide the claim: its check takes them as `runs`, a `Runs` of trained.py."""
        return "runs" in self.holds

    def given(self, runs: Any) -> "Claim":
        """Return the claim with the trained runs that decide it; a claim that needs no runs is returned unchanged."""
        return replace(self, holds={**self.holds, "runs": runs}) if self.on_runs else self

    def mutated(self, changes: Parameters) -> Parameters:
        """Parameters of the statement with some of them changed."""
        return {**self.holds, **changes}

    def _refuse_pointless(self, name: str, changes: Parameters) -> None:
        unknown = sorted(set(changes) - set(self.holds))
        if unknown:
            raise ValueError(f"claim {self.id}: {name} changes {unknown}, which the statement does not have")
        if self.mutated(changes) == dict(self.holds):
            raise ValueError(f"claim {self.id}: {name} is the statement itself")

    def _brief(self) -> str:
        return f"{self.id}: {self.statement}"

    def _details(self) -> dict[str, str]:
        return {
            "paper": ", ".join(filter(None, (self.source.paper, self.source.place))),
            "arXiv": self.source.arxiv,
            "label": self.label,
            "TeX": self.latex,
            "falsifiers": "; ".join(self.falsifiers),
        }


class Claims(Listed[Claim]):
    """Claims in order; `repr` shows how many there are, and the first."""

    __slots__ = ()

    def _heading(self) -> str:
        return f"{len(self)} claim{'' if len(self) == 1 else 's'}"
