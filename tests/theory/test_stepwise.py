"""A choice along a progression has one value at every step, or is called undecided."""

import pytest

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.asymptotics import S
from lengthgen.theory.formula.progressions import UndecidedChoice, evaluate


@pytest.mark.parametrize("text", ["1 if 1 - 20000/j > 0 else 2", "1 if 100000/sqrt(j) - 1 > 0 else 2"])
def test_a_choice_that_changes_only_far_out_is_undecided(text: str) -> None:
    """A sign that the limit does not share is not the sign at every step."""
    with pytest.raises(UndecidedChoice):
        evaluate(parse(text).nodes[0], {"i": 1, "j": S + 1})
