"""Forgetting Transformer (arXiv 2503.02130)."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Source, Strength
from proofs_checks.identity import require_equal
from proofs_checks.induction import combine, empty_value, last_term
from theory.encodings import fox

PathFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]


def path_product(*, bias: PathFormula, gate: PathFormula) -> Evidence:
    """Decide exp(D_ij) = F_ij by induction on j - i, and with it the equality of the two attentions."""
    i, j = sp.symbols("i j", integer=True)
    total, content, other_total, other_content = sp.symbols("D S D_ S_", real=True)
    added = last_term("bias", bias(i, j), bias(i, j + 1))
    multiplied = last_term("gate", gate(i, j), gate(i, j + 1))
    # Under the hypothesis exp(D) = F the gate of the path may be written exp(D).
    longer_bias = combine(bias(i, j), total, added)
    longer_gate = combine(gate(i, j), sp.exp(total), multiplied)
    with_bias = sp.exp(content + total) / sp.exp(other_content + other_total)
    with_gate = sp.exp(total) * sp.exp(content) / (sp.exp(other_total) * sp.exp(other_content))
    tests = (
        ("base: exp(D_ii) = F_ii", sp.exp(empty_value("bias", bias(i, i))), empty_value("gate", gate(i, i))),
        ("step: exp(D_i,j+1) = F_i,j+1", sp.exp(longer_bias), longer_gate),
        ("ratio of any two weights of a row: softmax(S + D) = normalised F exp(S)", with_bias, with_gate),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("gates in (0, 1), written f = exp(log f)", "induction on j - i, so any path and row length"),
    )


CLAIMS = (
    Claim(
        id="fox-1",
        source=Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130", place="definition of D and F"),
        statement="The bias that is the sum of log forget gates after the key, up to the query, weighs attention by "
        "the product of these gates: softmax(S + D) is F exp(S), normalised.",
        latex=r"e^{D_{ij}}=\prod_{l=i+1}^{j}f_l=F_{ij},\quad"
        r"\mathrm{softmax}_i(S+D)=\frac{F_{ij}e^{S_{ij}}}{\sum_{i'}F_{i'j}e^{S_{i'j}}}",
        label="P",
        check=path_product,
        holds={
            "bias": lambda key, query: fox.path_bias(key=key, query=query),
            "gate": lambda key, query: fox.path_gate(key=key, query=query),
        },
        falsifiers={
            "gate of the key included": {"gate": lambda key, query: fox.path_gate(key=key - 1, query=query)},
            "gates one step early": {"gate": lambda key, query: fox.path_gate(key=key - 1, query=query - 1)},
            "gates added, not multiplied": {
                "gate": lambda key, query: sp.Sum(*fox.path_gate(key=key, query=query).args)
            },
        },
    ),
)
