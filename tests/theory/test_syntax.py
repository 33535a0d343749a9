"""Functions of a formula take exactly as many arguments as they have."""

import pytest

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.syntax import FormulaError


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "sqrt", "exp", "log", "sin", "cos"])
def test_a_function_of_one_number_is_read_with_one_argument_and_refused_with_two(name: str) -> None:
    assert parse(f"{name}(i)").nodes
    with pytest.raises(FormulaError, match=f"{name} takes 1 arguments, not 2"):
        parse(f"{name}(i, j)")
