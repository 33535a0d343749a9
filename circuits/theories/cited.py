"""Classifications of tasks that a theory's authors printed (cited.toml)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("cited.toml")


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Answers of one theory's authors.

    Attributes:
        arxiv: the paper.
        place: where it gives them.
        answers: kind of encoding ("any" for all) -> name of a published task -> the answer, yes or no.
    """

    arxiv: str
    place: str
    answers: Mapping[str, Mapping[str, bool]]


@cache
def classification(theory: str) -> Classification:
    """Return what the authors of the named theory say of tasks."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))[theory]
    answers = {kind: by_task for kind, by_task in table.items() if isinstance(by_task, dict)}
    return Classification(arxiv=table["arxiv"], place=table["place"], answers=answers)
