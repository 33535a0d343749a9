"""Adaptive pruning: keys below a threshold of D weigh next to nothing together."""

from collections.abc import Callable
from typing import Any

import flint
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.fox.source import source
from theory import exact
from theory.enclosure import enclose
from theory.encodings import fox

Threshold = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_KEYS, _BOUND, _MASS = 64, sp.Integer(3), sp.exp(-5)
_TRIFLE = sp.Rational(1, 10**9)
_BITS = 100


def pruned_mass(*, threshold: Threshold) -> Evidence:
    """Decide that keys with D_ij < threshold weigh at most eps together, where |S| <= U over T keys.

    Each of them has exp(S + D) < e^(U + threshold), there are fewer than T of them, and the query's own key, which has
    D = 0, adds at least e^-U to the sum: so they weigh less than T e^(2U + threshold).
    """
    worst = _adversarial_mass(threshold)
    bound, keys, mass = sp.symbols("U T eps", positive=True)
    delta = threshold(bound, keys, mass)
    try:
        exactly = require_equal("T e^(2U + threshold) = eps", lambda: keys * sp.exp(2 * bound + delta), mass)
    except Refuted as difference:
        raise exact.Undecided(f"no row found that loses more than eps, but {difference}") from difference
    at_least_one = sp.expand_log(delta.subs({keys: 1 + keys, mass: 1 / (1 + sp.Symbol("e", positive=True))}))
    if not at_least_one.is_negative:
        raise exact.Undecided(f"the sign of {at_least_one} is not known")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            exactly,
            f"with T + 1 keys and eps = 1/(1 + e) the threshold is {at_least_one} < 0: the query's own key stays",
            "D rises with the key's position (fox-5), so what is pruned is a prefix of the row",
            f"a row of {_KEYS} keys made to lose most, U = {_BOUND}, eps = e^-5 = {sp.N(_MASS, 4)}: {worst}",
        ),
        assumptions=("|q.k|/sqrt(d) <= U for all pairs of the row", "any T, U and eps"),
    )


def _adversarial_mass(threshold: Threshold) -> str:
    """The mass that a row loses whose own key has S = -U, all others S = U and D a trifle below the threshold.

    Raises `Refuted` where it is more than eps.
    """
    query = _KEYS - 1
    delta = threshold(_BOUND, sp.Integer(_KEYS), _MASS)
    log_gates = [-_TRIFLE] * query + [delta - _TRIFLE]
    terms: list[Any] = []
    with flint.ctx.workprec(_BITS):
        for key in range(query):
            _, first, last = fox.path_bias(key=sp.Integer(key), query=sp.Integer(query)).limits[0]
            bias = sp.Add(*log_gates[int(first) : int(last) + 1])
            terms.append(enclose(sp.exp(_BOUND + bias), bits=_BITS))
        own: Any = enclose(sp.exp(-_BOUND), bits=_BITS)
        allowed: Any = enclose(_MASS, bits=_BITS)
        pruned = sum(terms)
        lost = pruned / (pruned + own)
    if lost > allowed:
        raise Refuted(
            f"T = {_KEYS}, U = {_BOUND}, eps = {allowed.str(3, radius=False)}: with S = -U for its own key, U and "
            f"D = {sp.N(delta, 5)} for the others, a row loses {lost.str(3, radius=False)} of its mass"
        )
    return f"loses {lost.str(4, radius=False)}"


CLAIMS = (
    Claim(
        id="fox-9",
        source=source("adaptive computation pruning (follow-up paper and released code)"),
        statement="Where |q.k|/sqrt(d) <= U, the keys of a row with D_ij < -(2U + log T) + log eps weigh at most eps "
        "together.",
        latex=r"\sum_{i:D_{ij}<\delta}a_{ij}\le\varepsilon,\quad\delta=-(2U+\ln T)+\ln\varepsilon",
        label="P",
        check=pruned_mass,
        holds={"threshold": lambda bound, keys, mass: fox.pruning_threshold(bound=bound, keys=keys, mass=mass)},
        falsifiers={
            "without 2U": {
                "threshold": lambda bound, keys, mass: fox.pruning_threshold(bound=sp.Integer(0), keys=keys, mass=mass)
            },
            "U for 2U": {
                "threshold": lambda bound, keys, mass: fox.pruning_threshold(bound=bound / 2, keys=keys, mass=mass)
            },
            "without log T": {
                "threshold": lambda bound, keys, mass: fox.pruning_threshold(bound=bound, keys=sp.Integer(1), mass=mass)
            },
        },
    ),
)
