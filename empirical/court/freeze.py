"""Frozen predictions: the answers of all theories to all questions, with a hash, before any outcome is looked at."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthgen.circuits.rivals.rival import Guess, Question, Theory
from lengthgen.infrastructure.shapes import COUNT, NUMBER, TEXT, both, made_into, or_none, reads

Questions = Mapping[str, Question]
"""Cell name -> question."""


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """Answers of theories to questions.

    Attributes:
        guesses: theory name -> cell name -> answer.
    """

    guesses: Mapping[str, Mapping[str, Guess]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all answers with their reasons."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return theory -> cell -> probability, breaking length and reason."""
        return {
            theory: {cell: guess_as_json(guess) for cell, guess in of_cells.items()}
            for theory, of_cells in self.guesses.items()
        }


def guess_from_json(content: Mapping[str, Any]) -> Guess:
    """Return the answer that `guess_as_json` wrote."""
    return Guess(**content)


GUESS = both(
    made_into(Guess, probability=or_none(NUMBER), reason=TEXT, breaks_at=or_none(COUNT)), reads(guess_from_json)
)
"""Shape of an answer that `guess_as_json` wrote."""


def guess_as_json(guess: Guess) -> dict[str, Any]:
    """Return an answer as JSON."""
    return {"probability": guess.probability, "breaks_at": guess.breaks_at, "reason": guess.reason}


def freeze(theories: Sequence[Theory], questions: Questions) -> Frozen:
    """Ask every theory every question.

    Raises:
        TheoryError: a theory of the user's own fails.
    """
    return Frozen(
        guesses={
            theory.name: {cell: theory.guess(question) for cell, question in questions.items()} for theory in theories
        }
    )
