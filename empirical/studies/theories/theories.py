"""Catalogue of theories of length generalization, and theories of the user's own."""

from collections.abc import Callable, Mapping
from typing import Any

from lengthgen.empirical.studies.theories.by_encoding import ENCODINGS_ORDER, MIN_DEGREE
from lengthgen.empirical.studies.theories.by_forecast import FORECAST
from lengthgen.empirical.studies.theories.counts import COUNTS
from lengthgen.empirical.studies.theories.k_sparse import K_SPARSE
from lengthgen.empirical.studies.theories.rasp import C_RASP, DEPTH, RASP_L
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory, TheoryError, no, yes
from lengthgen.empirical.studies.theories.src_rules import SRC_THEORIES
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.userfile import Guarded, load_object, shown, split_file

RIVALS: tuple[Theory, ...] = (C_RASP, K_SPARSE, ENCODINGS_ORDER, RASP_L, DEPTH, MIN_DEGREE)
"""Rivals of our reading of the conjecture on SRC."""
THEORIES: Mapping[str, Theory] = {theory.name: theory for theory in (*SRC_THEORIES, COUNTS, FORECAST, *RIVALS)}
"""Name -> theory."""
LISTED = "`lengthgen court` lists all; your own: path/to/file.py:function"
"""End of the hint for an unknown theory."""
OWN = "the user's own, joined after the results were known"
"""Domain of a theory of the user's own."""


def theory_named(text: str) -> Theory:
    """Return the theory that a text names: a name of THEORIES in any case, or `path/to/file.py:function`.

    The function takes a Question and returns a probability, True or False, None for an abstention, or a Guess. Its file
    is run, so it must be trusted.

    Raises:
        TheoryError: the name is unknown (the message suggests names), or the file does not define a function.
    """
    if split_file(text) is None:
        if (name := in_any_case(text, THEORIES)) in THEORIES:
            return THEORIES[name]
        raise TheoryError(f"unknown theory '{text}': {nearest(text, THEORIES, listed=LISTED)}")
    function = load_object(text, what="theory", error=TheoryError)
    if not callable(function):
        raise TheoryError(f"'{text}' is no theory: it must be a function from a question to a probability")
    return own_theory(text, function)


def own_theory(name: str, function: Callable[[Question], Any]) -> Theory:
    """Return the theory of a user's own function; asked, it raises TheoryError if the function fails."""

    def fails(question: Question) -> str:
        return f"theory '{name}' fails for {question.subject.name} with {question.encoding}"

    return Theory(
        name=name,
        title=name,
        statement="A function of the user's own.",
        label="F",
        source="",
        domain=OWN,
        guess=Guarded(function, read=_read, fails=fails, error=TheoryError, expected=()),
    )


def _read(answer: Any) -> Guess:
    """Return the guess that a user's own function means."""
    if isinstance(answer, Guess):
        return answer
    reason = "as its function says"
    if answer is None:
        return Guess(probability=None, reason="its function gives no answer")
    if isinstance(answer, bool):
        return yes(reason) if answer else no(reason)
    if isinstance(answer, int | float):
        return Guess(probability=float(answer), reason=reason)
    raise ValueError(f"it must give a probability, True, False, None or a Guess, not {shown(answer)}")
