"""Contextual GRAPE-M (arXiv 2512.07805): phases summed over the tokens before."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_contextual, rotary
from theory.encodings.encoding import KEY, QUERY


def contextual_phases(
    *, phase: Callable[[sp.Expr], sp.Sum], key_action: Callable[[sp.Expr, sp.Expr], sp.Matrix]
) -> Evidence:
    """Decide that scores follow the rates from the key on, to the query and without it, by induction on j - i."""
    j = sp.Symbol("j", integer=True)
    before, gained, frequency, rate = sp.symbols("Phi_i D theta w_j", real=True)
    added = last_term("phase", phase(j), phase(j + 1))
    own = grape_contextual.RATES[j]
    longer = combine(phase(j), before + gained, added)

    def kernel() -> sp.Matrix:
        return key_action(before, frequency).T * grape_contextual.action(before + gained, frequency=frequency)

    tests = (("A(Phi_i)^T A(Phi_i + D) = R2(D theta)", kernel, lambda: rotary.rotation(gained * frequency)),)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy("Phi_0 = 0", empty_value("phase", phase(sp.Integer(0))), sp.Integer(0)),
            same_by_sympy("Phi_(j+1) = Phi_j + w_j", longer, before + gained + sp.Symbol(str(own), real=True)),
            *(require_equal(*test) for test in tests),
            _constant_rates(rate),
        ),
        assumptions=("induction on j - i, so any distance", "plane by plane, so every even d follows"),
    )


def _constant_rates(rate: sp.Symbol) -> str:
    """What the symbolic encoding scores where all rates are one number: as RoPE, with its frequency times the rate."""
    query, key = sp.Integer(5), sp.Integer(3)
    score = grape_contextual.ENCODING.score(query_position=query, key_position=key).doit()
    rope = rotary.score(QUERY, KEY, query_position=query, key_position=key, frequency=rate * rotary.FREQUENCY)
    return require_equal(
        "constant rates: RoPE at w theta", lambda: score.subs(dict.fromkeys(score.atoms(sp.Indexed), rate)), rope
    )


CLAIMS = (
    Claim(
        id="grape-contextual",
        source=source("contextual GRAPE-M: cumulative phases of the tokens before"),
        statement="With phases summed over the tokens before, a score depends on the rates of the tokens from the key "
        "on, up to the query and without it: their sum stands where RoPE has j - i.",
        latex=r"R(\Phi_i\theta)^\top R(\Phi_j\theta)=R\Big(\theta\sum_{l=i}^{j-1}w_l\Big)",
        label="P",
        check=contextual_phases,
        holds={
            "phase": lambda position: grape_contextual.phase(position=position),
            "key_action": lambda phase, frequency: grape_contextual.action(phase, frequency=frequency),
        },
        falsifiers={
            "the query's own rate counts": {"phase": lambda position: grape_contextual.phase(position=position + 1)},
            "the key is turned back": {
                "key_action": lambda phase, frequency: grape_contextual.action(-phase, frequency=frequency)
            },
            "the key is turned by its position": {
                "key_action": lambda phase, frequency: grape_contextual.action(sp.Symbol("i"), frequency=frequency)
            },
        },
    ),
)
