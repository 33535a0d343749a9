"""Gates that do not depend on data: ALiBi, NoPE, and the initialisation by a timescale."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.fox.source import source
from theory import exact
from theory.enclosure import enclose
from theory.encodings import alibi, fox

Formula = Callable[[sp.Expr], sp.Expr]
_BITS = 100


def constant_gates(*, gate: Formula) -> Evidence:
    """Decide exp(D_ij) = exp(ALiBi's bias) by induction on j - i, all gates being the stated one."""
    i, j = sp.symbols("i j", integer=True)
    slope, total = sp.Symbol("m", positive=True), sp.Symbol("D", real=True)
    path = fox.path_bias(key=i, query=j)
    last = last_term("D", path, fox.path_bias(key=i, query=j + 1))
    until, longer = (alibi.bias(slope, query_position=end, key_position=i) for end in (j, j + 1))
    tests = (
        (
            "base: exp(D_ii) = 1",
            lambda: sp.exp(empty_value("D", fox.path_bias(key=i, query=i))),
            lambda: sp.exp(alibi.bias(slope, query_position=i, key_position=i)),
        ),
        (
            "one more gate: exp(D_i,j+1) = exp(D_ij) f",
            lambda: sp.exp(combine(path, total, last)),
            lambda: sp.exp(total) * sp.exp(last),
        ),
        ("step: exp(-m (j - i)) f = exp(-m (j + 1 - i))", lambda: sp.exp(until) * gate(slope), lambda: sp.exp(longer)),
        (
            "(j - i) log f with log f = -m",
            lambda: fox.constant_bias(sp.Integer(-1) * slope, query_position=j, key_position=i),
            until,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("the same gate at all tokens: W = 0", "induction on j - i, so any path"),
    )


def near_nope(*, bound: Formula) -> Evidence:
    """Decide f < 1 for every logit z, and 0 < -log f <= bound(e^-z), by the sign of a derivative."""
    z, x = sp.Symbol("z", real=True), sp.Symbol("x", positive=True)
    gate = sp.exp(fox.log_gate(z))
    facts = [
        require_equal("1 - sigma(z) = 1/(1 + e^z), which is positive", lambda: 1 - gate, lambda: 1 / (1 + sp.exp(z)))
    ]
    logarithm = fox.log_gate(z).subs(sp.exp(-z), x)
    _refute_bound(bound(x) + logarithm, x)
    slope = sp.together((bound(x) + logarithm).diff(x))
    signs = [sp.Poly(part, x).coeffs() for part in sp.fraction(slope)]
    if (bound(x) + logarithm).subs(x, 0) != 0 or any(coefficient < 0 for part in signs for coefficient in part):
        raise exact.Undecided(f"the sign of {slope} for x > 0 is not read off its coefficients")
    at_twenty: Any = enclose(-fox.log_gate(sp.Integer(20)), bits=_BITS)
    rounded = np.float32(1 / (1 + np.exp(-20.0)))
    facts += [
        f"x = e^-z: bound - log(1 + x) is 0 at x = 0 and its derivative {slope} >= 0",
        f"-log sigma(20) = {at_twenty.str(6, radius=False)}; float32 rounds sigma(20) to {rounded}",
    ]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so |D_ij| <= (j - i) e^-z: at each distance D tends to 0 as z grows, and is never 0"),
        assumptions=("one logit z for all tokens",),
    )


def _refute_bound(room: sp.Expr, x: sp.Symbol) -> None:
    """Raise `Refuted` where the room is negative at some e^-z."""
    for exponent in range(-2, 3):
        value = sp.N(room.subs(x, sp.Integer(2) ** exponent), 15)
        if value < 0:
            raise Refuted(f"e^-z = {sp.Integer(2) ** exponent}: -log f exceeds the bound by {sp.N(-value, 5)}")


def timescale(*, logit: Formula) -> Evidence:
    """Decide sigma(b) = e^(-1/T) for the logit b of a timescale T, so that -1/log sigma(b) = T; and the timescales."""
    rate = sp.Symbol("r", positive=True)
    facts = [
        same_by_sympy("sigma(b) = e^(-1/T), with r = 1/T", sp.exp(fox.log_gate(logit(1 / rate))), sp.exp(-rate)),
        *_expansion(logit),
    ]
    shortest, longest = sp.Integer(2), sp.Integer(512)
    spread = fox.timescales(5, shortest=shortest, longest=longest)
    tests = (
        ("ends", sp.Matrix([spread[0], spread[-1]]), sp.Matrix([shortest, longest])),
        (
            "equal ratios: T_h^2 = T_h-1 T_h+1",
            sp.Matrix([one**2 for one in spread[1:-1]]),
            sp.Matrix([before * after for before, after in zip(spread, spread[2:], strict=False)]),
        ),
        (
            "one head: the shortest",
            sp.Matrix(fox.timescales(1, shortest=shortest, longest=longest)),
            sp.Matrix([shortest]),
        ),
    )
    facts += [same_by_sympy(f"timescales {', '.join(map(str, spread))}: {what}", *sides) for what, *sides in tests]
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("T > 0",))


def _expansion(logit: Formula) -> list[str]:
    """b against log T - 1/(2T) at some timescales."""
    facts = []
    for value in (1, 10, 1000):
        off: Any = enclose(logit(sp.Integer(value)) - sp.log(value), bits=_BITS)
        facts.append(f"T = {value}: b - log T = {off.str(6, radius=False)}, -1/(2T) = {-1 / (2 * value)}")
    return facts


CLAIMS = (
    Claim(
        id="fox-2",
        source=source("ALiBi as forget gates without data"),
        statement="With the gate e^-m at all tokens the bias is ALiBi's with slope m.",
        latex=r"f\equiv e^{-m}\ \Rightarrow\ D_{ij}=-m(j-i)",
        label="P",
        check=constant_gates,
        holds={"gate": lambda slope: sp.exp(-slope)},
        falsifiers={
            "f = m": {"gate": lambda slope: slope},
            "f = e^m": {"gate": sp.exp},
            "f = 1 - m": {"gate": lambda slope: 1 - slope},
        },
    ),
    Claim(
        id="fox-3",
        source=source("gates of the type none"),
        statement="A gate is below 1 at every logit, so FoX is NoPE in the limit only: with one logit z at all tokens "
        "0 < -D_ij <= (j - i) e^-z.",
        latex=r"0<-\log\sigma(z)\le e^{-z}",
        label="F",
        check=near_nope,
        holds={"bound": lambda x: x},
        falsifiers={
            "0, exactly NoPE": {"bound": lambda x: 0 * x},
            "at most e^-2z": {"bound": lambda x: x**2},
            "at most e^-z / 2": {"bound": lambda x: x / 2},
        },
    ),
    Claim(
        id="fox-10",
        source=source("released code: initial bias of data-independent gates"),
        statement="The logit b = -log(e^(1/T) - 1) gives the gate e^(-1/T), that is -1/log f = T, exactly; b = log T "
        "only for large T.",
        latex=r"b=-\log(e^{1/T}-1)\ \Rightarrow\ -1/\log\sigma(b)=T,\quad b=\log T-\tfrac1{2T}+O(T^{-2})",
        label="P",
        check=timescale,
        holds={"logit": lambda value: fox.timescale_logit(timescale=value)},
        falsifiers={
            "b = log T": {"logit": sp.log},
            "b = log T - 1/(2T)": {"logit": lambda timescale: sp.log(timescale) - 1 / (2 * timescale)},
            "b = log(e^(1/T) - 1)": {"logit": lambda timescale: -fox.timescale_logit(timescale)},
        },
    ),
)
