"""How much does it cost to decide every identity twice?"""

from collections.abc import Callable

import sympy as sp

from bench.measure import TimingComparison, compare
from lengthgen.theory.encodings import grape, hope, rotary
from lengthgen.theory.zero import flint_engine, sympy_engine


def flint_against_sympy() -> TimingComparison:
    """Identities behind RoPE, GRAPE and HoPE, entry by entry: rotations, a Gram algebra with a root, boosts."""
    i, j, w, damping, s, t = sp.symbols("i j w d s t")
    gram = grape.Gram(alpha=sp.Symbol("alpha"), beta=sp.Symbol("beta"), gamma=sp.Symbol("gamma"))
    squares = {s: grape.squared_speed(gram)}
    rotation = grape.rank2_exponential(gram, time=t, speed=s)
    rates = {"rate": w, "damping": damping}
    hope_residual = hope.query_action(j, **rates).T * hope.key_action(i, **rates) - hope.kernel(j - i, **rates)
    rope_residual = rotary.rotation(i * w).T * rotary.rotation(j * w) - rotary.rotation((j - i) * w)
    grape_residual = rotation.derivative(t).coordinates() - (grape.rank2_generator(gram) @ rotation).coordinates()
    entries = [*hope_residual, *rope_residual, *grape_residual]

    def zeros(is_zero: Callable[..., bool]) -> int:
        return sum(is_zero(entry, squares=squares) for entry in entries)

    return compare(
        f"{len(entries)} entries of encodings' laws decided by python-flint",
        lambda: zeros(flint_engine.is_zero),
        "sympy's polynomials",
        lambda: zeros(sympy_engine.is_zero),
    )
