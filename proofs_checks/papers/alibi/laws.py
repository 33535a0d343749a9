"""What ALiBi's bias leaves as it is."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.alibi.source import source
from theory.encodings import alibi
from theory.encodings.encoding import LENGTH

Bias = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Normaliser = Callable[[sp.Expr, sp.Expr], sp.Expr]


def _published(slope: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    return alibi.bias(slope, query_position=query, key_position=key)


def key_only(*, key_bias: Callable[[sp.Expr, sp.Expr], sp.Expr], normaliser: Normaliser) -> Evidence:
    """Decide that a bias of the key alone gives the weights that ALiBi gives, for any two keys of any row."""
    slope = alibi.SLOPE
    query, key, other, score, other_score = sp.symbols("j i i_ s s_", real=True)
    full = [one + _published(slope, query, at) for one, at in ((score, key), (other_score, other))]
    short = [one + key_bias(slope, at) for one, at in ((score, key), (other_score, other))]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "weight of the key at i, beside the one at i_", lambda: normaliser(*full), lambda: normaliser(*short)
            ),
            "a weight of a row of any length is 1 / sum over k of exp(l_k - l_i), and this decides every e^(l_k - l_i)",
        ),
    )


def relative_law(*, bias: Bias) -> Evidence:
    """Decide that the bias keeps under a common shift, and that the two-sided form extends it."""
    slope = alibi.SLOPE
    i, shift = sp.symbols("i s", real=True)
    distance = sp.Symbol("D", nonnegative=True)
    assert alibi.ENCODING.bias is not None
    two_sided = alibi.ENCODING.bias
    stated = bias(slope, i + distance, i)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal("b(j + s, i + s) = b(j, i)", lambda: bias(slope, i + distance + shift, i + shift), stated),
            require_equal("b(i + D, i) = -m D", stated, lambda: -slope * distance),
            require_equal("two-sided form, key before the query", lambda: two_sided(i + distance, i, LENGTH), stated),
            require_equal("two-sided form, key after the query", lambda: two_sided(i, i + distance, LENGTH), stated),
            "all scores of a row so keep under a shift of all positions, and with them the weights and the output",
        ),
    )


def _softmax(logit: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.exp(logit) / (sp.exp(logit) + sp.exp(other))


CLAIMS = (
    Claim(
        id="alibi-2",
        source=source("section 3; the bias of the key alone is that of the released code"),
        statement="Under softmax the bias m i of the key alone gives the attention weights that -m (j - i) gives.",
        latex=r"\mathrm{softmax}_i(s_{ij}-m(j-i))=\mathrm{softmax}_i(s_{ij}+mi)",
        label="P",
        check=key_only,
        holds={"key_bias": lambda slope, key: _published(slope, sp.S.Zero, key), "normaliser": _softmax},
        falsifiers={
            "for a sigmoid of each logit (errata F25)": {"normaliser": lambda logit, other: 1 / (1 + sp.exp(-logit))},
            "key bias of the other sign": {"key_bias": lambda slope, key: _published(slope, key, sp.S.Zero)},
            "key bias of twice the slope": {"key_bias": lambda slope, key: _published(2 * slope, sp.S.Zero, key)},
        },
    ),
    Claim(
        id="alibi-3",
        source=source("section 3"),
        statement="ALiBi's bias depends on positions through j - i alone, so a common shift of all positions changes "
        "no score, weight or output.",
        latex=r"b(j+s,i+s)=b(j,i)=-m(j-i)",
        label="P",
        check=relative_law,
        holds={"bias": _published},
        falsifiers={
            "-m i j / T": {"bias": lambda slope, query, key: -slope * query * key / LENGTH},
            "the key alone, as a score": {"bias": lambda slope, query, key: _published(slope, sp.S.Zero, key)},
            "growing with distance": {"bias": lambda slope, query, key: _published(slope, key, query)},
        },
    ),
)
