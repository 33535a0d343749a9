"""The law of FoX: a product of gates along the path, constant gates, and linear attention with forgetting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.fox import SOURCE
from lengthgen.theory import exact
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import biases, paths

PathFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]

Formula = Callable[[sp.Expr], sp.Expr]

_BITS = 100

Recurrence = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]


def path_product(*, bias: PathFormula, gate: PathFormula) -> Evidence:
    """Decide exp(D_ij) = F_ij by induction on j - i, and with it that both forms of attention are equal."""
    i, j = sp.symbols("i j", integer=True)
    total, content, other_total, other_content = sp.symbols("D S D_ S_", real=True)
    added = last_term("bias", bias(i, j), bias(i, j + 1))
    multiplied = last_term("gate", gate(i, j), gate(i, j + 1))
    # Under the hypothesis exp(D) = F the gate of the path may be written exp(D).
    tests = (
        (
            "base: exp(D_ii) = F_ii",
            lambda: sp.exp(empty_value("bias", bias(i, i))),
            lambda: empty_value("gate", gate(i, i)),
        ),
        (
            "step: exp(D_i,j+1) = F_i,j+1",
            lambda: sp.exp(combine(bias(i, j), total, added)),
            lambda: combine(gate(i, j), sp.exp(total), multiplied),
        ),
        (
            "ratio of any two weights of a row: softmax(S + D) = normalised F exp(S)",
            lambda: sp.exp(content + total) / sp.exp(other_content + other_total),
            lambda: sp.exp(total) * sp.exp(content) / (sp.exp(other_total) * sp.exp(other_content)),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("gates in (0, 1), written f = exp(log f)", "induction on j - i, so any path and row length"),
    )


def constant_gates(*, gate: Formula) -> Evidence:
    """Decide exp(D_ij) = exp(ALiBi's bias) by induction on j - i, if all gates are the stated one."""
    i, j = sp.symbols("i j", integer=True)
    slope, total = sp.Symbol("m", positive=True), sp.Symbol("D", real=True)
    path = paths.fox_bias(key=i, query=j)
    last = last_term("D", path, paths.fox_bias(key=i, query=j + 1))
    until, longer = (biases.alibi_bias(slope, query_position=end, key_position=i) for end in (j, j + 1))
    tests = (
        (
            "base: exp(D_ii) = 1",
            lambda: sp.exp(empty_value("D", paths.fox_bias(key=i, query=i))),
            lambda: sp.exp(biases.alibi_bias(slope, query_position=i, key_position=i)),
        ),
        (
            "one more gate: exp(D_i,j+1) = exp(D_ij) f",
            lambda: sp.exp(combine(path, total, last)),
            lambda: sp.exp(total) * sp.exp(last),
        ),
        ("step: exp(-m (j - i)) f = exp(-m (j + 1 - i))", lambda: sp.exp(until) * gate(slope), lambda: sp.exp(longer)),
        (
            "(j - i) log f with log f = -m",
            lambda: paths.fox_constant_bias(sp.Integer(-1) * slope, query_position=j, key_position=i),
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
    gate = sp.exp(paths.fox_log_gate(z))
    facts = [
        require_equal("1 - sigma(z) = 1/(1 + e^z), which is positive", lambda: 1 - gate, lambda: 1 / (1 + sp.exp(z)))
    ]
    logarithm = paths.fox_log_gate(z).subs(sp.exp(-z), x)
    _refute_bound(bound(x) + logarithm, x)
    slope = sp.together((bound(x) + logarithm).diff(x))
    signs = [sp.Poly(part, x).coeffs() for part in sp.fraction(slope)]
    if (bound(x) + logarithm).subs(x, 0) != 0 or any(coefficient < 0 for part in signs for coefficient in part):
        raise exact.Undecided(f"the sign of {slope} for x > 0 is not read off its coefficients")
    at_twenty: Any = enclose(-paths.fox_log_gate(sp.Integer(20)), bits=_BITS)
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
    """Raise `Refuted` if the bound minus -log f is negative at some e^-z."""
    for exponent in range(-2, 3):
        value = sp.N(room.subs(x, sp.Integer(2) ** exponent), 15)
        if value < 0:
            raise Refuted(f"e^-z = {sp.Integer(2) ** exponent}: -log f exceeds the bound by {sp.N(-value, 5)}")


def recurrence(*, carried: Recurrence) -> Evidence:
    """Decide that the state after t tokens is the sum over i <= t of F_it w_i, by linearity and induction on t.

    The recurrence is linear in the state and in what is written, so each token's write may be followed alone. It enters
    at its own time, when the state contains nothing of it, and nothing of it is written later.
    """
    i, j = sp.symbols("i j", integer=True)
    gate, product, written, state, other_state, other_write = sp.symbols("f F w S S_ w_", real=True)
    path = paths.fox_path_gate(key=i, query=j)
    last = last_term("F", path, paths.fox_path_gate(key=i, query=j + 1))
    longer = combine(path, product, last)
    zero = sp.Integer(0)
    tests = (
        (
            "linear in state and write",
            lambda: carried(state + other_state, gate, written + other_write),
            lambda: carried(state, gate, written) + carried(other_state, gate, other_write),
        ),
        (
            "base t = i: the write enters with F_ii",
            lambda: carried(zero, gate, written),
            lambda: empty_value("F_ii", paths.fox_path_gate(key=i, query=i)) * written,
        ),
        (
            "step: F_i,t+1 w",
            lambda: carried(product * written, sp.exp(last.args[0]), zero),
            lambda: longer * written,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *(require_equal(*test) for test in tests),
            "with w_i = v_i phi(k_i)^T in S and phi(k_i) in z: S_j phi(q_j) / z_j.phi(q_j) weighs v_i by "
            "F_ij phi(q_j).phi(k_i), normalised; FoX has exp(q.k) in the place of phi(q).phi(k)",
        ),
        assumptions=("any feature map, any values", "induction on the number of tokens"),
    )


CLAIMS = (
    Claim(
        id="fox-1",
        source=SOURCE.at("definition of D and F"),
        statement="If the bias is the sum of log forget gates after the key, up to the query, attention is weighted "
        "by the product of these gates: softmax(S + D) is F exp(S), normalised.",
        latex=r"e^{D_{ij}}=\prod_{l=i+1}^{j}f_l=F_{ij},\quad"
        r"\mathrm{softmax}_i(S+D)=\frac{F_{ij}e^{S_{ij}}}{\sum_{i'}F_{i'j}e^{S_{i'j}}}",
        label="P",
        check=path_product,
        holds={
            "bias": lambda key, query: paths.fox_bias(key=key, query=query),
            "gate": lambda key, query: paths.fox_path_gate(key=key, query=query),
        },
        falsifiers={
            "gate of the key included": {"gate": lambda key, query: paths.fox_path_gate(key=key - 1, query=query)},
            "gates one step early": {"gate": lambda key, query: paths.fox_path_gate(key=key - 1, query=query - 1)},
            "gates added, not multiplied": {
                "gate": lambda key, query: sp.Sum(*paths.fox_path_gate(key=key, query=query).args)
            },
        },
    ),
    Claim(
        id="fox-2",
        source=SOURCE.at("ALiBi as forget gates without data"),
        statement="With the gate e^-m at all tokens the bias is that of ALiBi with slope m.",
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
        source=SOURCE.at("gates of the type none"),
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
        id="fox-4",
        source=SOURCE.at("relation to linear attention with a forget gate"),
        statement="Linear attention whose state is multiplied by f_t before each write weights a value by the same "
        "F_ij: FoX is this with exp(q.k) as the kernel.",
        latex=r"S_t=f_tS_{t-1}+v_t\phi(k_t)^\top\ \Rightarrow\ S_j=\sum_{i\le j}F_{ij}v_i\phi(k_i)^\top",
        label="P",
        check=recurrence,
        holds={"carried": lambda state, gate, written: paths.fox_state(state, gate=gate, written=written)},
        falsifiers={
            "gate applied after the write": {"carried": lambda state, gate, written: gate * (state + written)},
            "write weighed by 1 - f": {"carried": lambda state, gate, written: gate * state + (1 - gate) * written},
            "state not gated": {"carried": lambda state, gate, written: state + written},
        },
    ),
)
