"""Random questions on which theories disagree, as plain data."""

from itertools import islice
from typing import Any

from lengthgen.circuits.theories.catalogue import theory_named
from lengthgen.circuits.theories.theory import TheoryError
from lengthgen.empirical.court.disagreement import questions as drawn_questions
from lengthgen.empirical.court.disagreement import stratified


def strata_answer(first: str, second: str, *, questions: int, per_stratum: int, seed: int) -> dict[str, Any]:
    """Return the strata of two theories among some random questions.

    Raises:
        TheoryError: a theory is unknown, both are the same, or the user's own fails.
    """
    theories = theory_named(first), theory_named(second)
    if theories[0].name == theories[1].name:
        raise TheoryError(f"a theory does not disagree with itself: name another one than '{first}'")
    drawn = islice(drawn_questions(seed), questions)
    return {"seed": seed} | stratified(*theories, drawn, per_stratum=per_stratum)
