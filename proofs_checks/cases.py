"""Formulas by cases inside a check: which case holds is decided by the signs of the sides of its conditions."""

import sympy as sp

from lengthgen.theory.zero.sympy_engine import Undecided


def decided(value: sp.Expr) -> sp.Expr:
    """Value with each condition of a case decided by the sign of the difference of its sides.

    Raises `Undecided` if the assumptions on the symbols leave a sign open.
    """

    def holds(test: sp.Basic) -> bool:
        difference = sp.factor(sp.together(sp.expand(test.lhs - test.rhs)))
        answers = {
            sp.GreaterThan: difference.is_nonnegative,
            sp.StrictGreaterThan: difference.is_positive,
            sp.LessThan: difference.is_nonpositive,
            sp.StrictLessThan: difference.is_negative,
        }
        answer = answers[type(test)]
        if answer is None:
            raise Undecided(f"{test} is not decided")
        return bool(answer)

    def case(cases: sp.Piecewise) -> sp.Expr:
        for part, condition in cases.args:
            tests = {test: sp.sympify(holds(test)) for test in condition.atoms(sp.core.relational.Relational)}
            if condition.xreplace(tests) == sp.true:
                return part
        raise Undecided(f"no case of {cases} holds")

    return value.replace(lambda part: isinstance(part, sp.Piecewise), case)
