"""What does deciding every identity twice cost?"""

from collections.abc import Callable

import sympy as sp

from bench.measure import Comparison, compare
from theory import exact, second_engine
from theory.encodings import grape, hope, rotary


def flint_against_sympy() -> Comparison:
    """The identities behind RoPE, GRAPE and HoPE, entry by entry: rotations, a Gram algebra with a root, boosts."""
    i, j, w, damping, s, t = sp.symbols("i j w d s t")
    gram = grape.Gram(alpha=sp.Symbol("alpha"), beta=sp.Symbol("beta"), gamma=sp.Symbol("gamma"))
    squares = {s: grape.squared_speed(gram)}
    turn = grape.rank2_exponential(gram, time=t, speed=s)
    law = {"rate": w, "damping": damping}
    kept = hope.query_action(j, **law).T * hope.key_action(i, **law) - hope.kernel(j - i, **law)
    turned = rotary.rotation(i * w).T * rotary.rotation(j * w) - rotary.rotation((j - i) * w)
    solved = turn.derivative(t).coordinates() - (grape.rank2_generator(gram) @ turn).coordinates()
    entries = [*kept, *turned, *solved]

    def zeros(is_zero: Callable[..., bool]) -> int:
        return sum(is_zero(entry, squares=squares) for entry in entries)

    return compare(
        f"{len(entries)} entries of encodings' laws decided by python-flint",
        lambda: zeros(second_engine.is_zero),
        "sympy's polynomials",
        lambda: zeros(exact.is_zero),
    )
