"""What FoX is in other words: linear attention that forgets, Cable, and GRAPE's unipotent actions."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.fox.source import source
from theory.encodings import fox, grape_additive

Recurrence = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]


def recurrence(*, carried: Recurrence) -> Evidence:
    """Decide that the state after t tokens is the sum over i <= t of F_it w_i, by linearity and induction on t.

    The recurrence is linear in the state and in what is written, so each token's write may be followed alone: it enters
    at its own time, where the state holds none of it, and nothing of it is written later.
    """
    i, j = sp.symbols("i j", integer=True)
    gate, product, written, state, other, more = sp.symbols("f F w S S_ w_", real=True)
    path = fox.path_gate(key=i, query=j)
    last = last_term("F", path, fox.path_gate(key=i, query=j + 1))
    longer = combine(path, product, last)
    nothing = sp.Integer(0)
    tests = (
        (
            "linear in state and write",
            lambda: carried(state + other, gate, written + more),
            lambda: carried(state, gate, written) + carried(other, gate, more),
        ),
        (
            "base t = i: the write enters with F_ii",
            lambda: carried(nothing, gate, written),
            lambda: empty_value("F_ii", fox.path_gate(key=i, query=i)) * written,
        ),
        (
            "step: F_i,t+1 w",
            lambda: carried(product * written, sp.exp(last.args[0]), nothing),
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


def other_names(*, cable_logit: Callable[[sp.Expr], sp.Expr], link: Callable[[sp.Expr], sp.Matrix]) -> Evidence:
    """Decide that Cable's gate at a logit is FoX's at another, and that endpoint actions of GRAPE score D."""
    z, content, at_query, at_key, between = sp.symbols("z c c_j c_i D", real=True)
    inverse, inverse_between = link(at_key).inv(), link(between).inv().T
    tests = (
        ("exp(log f) = sigma(z)", sp.exp(fox.log_gate(z)), lambda: fox.gate(z)),
        (
            "exp(-softplus(z)) = sigma(-z)",
            sp.exp(fox.cable_log_gate(cable_logit(z))),
            lambda: fox.gate(-z),
        ),
        (
            "action of j after the inverse of that of i = that of the path",
            lambda: link(at_query) * inverse,
            lambda: link(at_query - at_key),
        ),
        (
            "L(-c_j) q^ . L(c_i)^T k^ = q.k + c_j - c_i",
            lambda: grape_additive.score(content, query_action=link(-at_query), key_action=link(at_key).T),
            lambda: content + at_query - at_key,
        ),
        (
            "path of D, on the key",
            lambda: grape_additive.score(content, query_action=sp.eye(2), key_action=inverse_between),
            lambda: content + between,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=(
            "content enters by q.k, so every head width",
            "D_ij = c_j - c_i (fox-8); the path's product is grape-10",
        ),
    )


CLAIMS = (
    Claim(
        id="fox-4",
        source=source("relation to linear attention with a forget gate"),
        statement="Linear attention whose state is multiplied by f_t before each write weighs a value by the same "
        "F_ij: FoX is this with exp(q.k) for the kernel.",
        latex=r"S_t=f_tS_{t-1}+v_t\phi(k_t)^\top\ \Rightarrow\ S_j=\sum_{i\le j}F_{ij}v_i\phi(k_i)^\top",
        label="P",
        check=recurrence,
        holds={"carried": lambda state, gate, written: fox.carried(state, gate=gate, written=written)},
        falsifiers={
            "gate applied after the write": {"carried": lambda state, gate, written: gate * (state + written)},
            "write weighed by 1 - f": {"carried": lambda state, gate, written: gate * state + (1 - gate) * written},
            "state not gated": {"carried": lambda state, gate, written: state + written},
        },
    ),
    Claim(
        id="fox-6",
        source=source("the bias; Cable: arXiv 2503.08067, released code; GRAPE: arXiv 2512.07805, Section 5"),
        statement="Cable's released law at logits -z is FoX's at z, token by token (errata F13); and FoX is GRAPE-A "
        "with the query moved by I + c_j E and the key by the transpose of I - c_i E, c the running sum of log gates.",
        latex=r"-\mathrm{softplus}(-z)=\log\sigma(z),\quad (I+c_jE)\hat q\cdot(I-c_iE)^\top\hat k=q\cdot k+c_j-c_i",
        label="P",
        check=other_names,
        holds={"cable_logit": lambda logit: logit, "link": lambda total: fox.link(log_gate=total)},
        falsifiers={
            "Cable(W, b) = FoX(W, b)": {"cable_logit": lambda logit: -logit},
            "I - psi E for I + psi E": {"link": lambda total: fox.link(log_gate=-total)},
            "links transposed": {"link": lambda total: fox.link(log_gate=total).T},
        },
    ),
)
