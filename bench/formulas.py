"""Is the formula evaluator as fast as that of sympy, which is not safe for untrusted text?"""

import sympy

from bench.measure import TimingComparison, compare
from lengthgen.theory.pattern import from_formula


def compiled_against_sympy() -> TimingComparison:
    """Decay pattern at scale 40, exact on both sides."""
    pattern = from_formula("0.5**(j-i)")
    i, j = sympy.symbols("i j")
    expression = sympy.Rational(1, 2) ** (j - i)

    def with_sympy() -> list[sympy.Expr]:
        return [expression.subs({i: key, j: query}) for query in range(1, 41) for key in range(1, query + 1)]

    return compare("exact entries of 0.5**(j-i) at scale 40", lambda: pattern.matrix(40), "sympy's subs", with_sympy)
