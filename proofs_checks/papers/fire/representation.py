"""Which biases FIRE represents exactly, up to which query, and by which function."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import same_by_sympy
from proofs_checks.papers.fire.numbers import refute_if_apart, require_same
from proofs_checks.papers.fire.source import source
from theory.encodings import alibi, fire, kerple, t5

Shape = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(input, L, c) -> f of it, that is to be ALiBi's bias."""

_BIASES: tuple[tuple[str, Callable[[sp.Expr], sp.Expr]], ...] = (
    ("ALiBi", lambda distance: alibi.bias(alibi.SLOPE, query_position=distance, key_position=sp.S.Zero)),
    ("Kerple, power", lambda distance: kerple.power(distance, scale=kerple.SCALE, exponent=kerple.EXPONENT)),
    ("Kerple, log", lambda distance: kerple.logarithm(distance, scale=kerple.SCALE, rate=kerple.RATE)),
    ("T5", lambda distance: t5.WEIGHTS[t5.bucket(distance)]),
)


def exact_up_to_threshold(*, shape: Shape, beyond: int) -> Evidence:
    """Decide that f of the input is the bias for queries up to L + `beyond`, and for ALiBi in closed form."""
    one = sp.Integer(1)
    for threshold in range(1, 5):
        for query in range(1, threshold + beyond + 1):
            for distance in range(query):
                part = fire.fraction(
                    distance=sp.Integer(distance),
                    query_position=sp.Integer(query),
                    threshold=sp.Integer(threshold),
                    rate=one,
                )
                value = shape(part, sp.Integer(threshold), one).subs(alibi.SLOPE, one)
                where = f"c = 1, L = {threshold}, j = {query}, D = {distance}, m = 1"
                refute_if_apart(f"{where}: f of the input", value, sp.Integer(-distance))
    rate, key, more = sp.symbols("c i s", positive=True)
    distance = sp.Symbol("D", integer=True, nonnegative=True)
    part = sp.Symbol("u", nonnegative=True)
    query, threshold = key + distance, key + distance + more
    found = fire.recovered_distance(
        fire.fraction(distance=distance, query_position=query, threshold=threshold, rate=rate),
        threshold=threshold,
        rate=rate,
    )
    facts = [same_by_sympy("j <= L = j + s: (e^(u psi(L)) - 1)/c = D", found, distance)]
    for name, bias in _BIASES:
        facts.append(require_same(f"{name}: f(u) = bias at (e^(u psi(L)) - 1)/c", bias(found), bias(distance)))
    power = sp.Symbol("e^(u psi(L))", positive=True)
    stated = -alibi.SLOPE / rate * (power - 1)
    written = shape(part, threshold, rate).subs(sp.exp(part * fire.psi(threshold, rate=rate)), power)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            same_by_sympy("ALiBi: f(u) = -(m/c) (e^(u log(c L + 1)) - 1)", written, stated),
            "L = 1 .. 4 in numbers; beyond L distance D is taken for a smaller one (claim fire-4), as at c = 1, L = 1, "
            f"j = 3, D = 2: {_beyond().n(4)} for -2",
        ),
        assumptions=("f is any function of [0, 1), not only a network of 32 units", "c > 0, L > 0"),
    )


def _beyond() -> sp.Expr:
    part = fire.fraction(distance=sp.Integer(2), query_position=sp.Integer(3), threshold=sp.S.One, rate=sp.S.One)
    return _alibi_shape(part, sp.S.One, sp.S.One).subs(alibi.SLOPE, 1)


def _alibi_shape(part: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    distance = fire.recovered_distance(part, threshold=threshold, rate=rate)
    return alibi.bias(alibi.SLOPE, query_position=distance, key_position=sp.S.Zero)


CLAIMS = (
    Claim(
        id="fire-3",
        source=source("representation of T5's, ALiBi's and Kerple's biases; psi fixed to log(c x + 1)"),
        statement="With threshold L some f gives any bias g(j - i) exactly for all keys of all queries up to L: f(u) = "
        "g((e^(u psi(L)) - 1)/c), for ALiBi -(m/c)(e^(u log(c L + 1)) - 1); beyond L it does not.",
        latex=r"f(u)=g\Big(\frac{e^{u\psi(L)}-1}{c}\Big)\Rightarrow b(j,i)=g(j-i)\ \forall\,i\le j\le L",
        label="P",
        check=exact_up_to_threshold,
        holds={"shape": _alibi_shape, "beyond": 0},
        falsifiers={
            "exact at j = L + 1": {"beyond": 1},
            "f linear": {"shape": lambda part, threshold, rate: -alibi.SLOPE * threshold * part},
            "without the 1 taken off": {
                "shape": lambda part, threshold, rate: _alibi_shape(part, threshold, rate) - alibi.SLOPE / rate
            },
        },
    ),
)
