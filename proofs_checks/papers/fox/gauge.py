"""Which parts of the running sums c matter: their differences alone, and for softmax the key's part alone."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.fox.source import source
from theory.encodings import fox

Weight = Callable[[sp.Expr, sp.Expr], sp.Expr]
Kept = Callable[[sp.Expr, sp.Expr], sp.Expr]


def softmax(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """The weight of a key from exp(its logit) and the sum of the others' exponentials."""
    return own / (own + rest)


def sigmoid(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """The weight of a key from exp(its logit) alone."""
    return own / (1 + own)


def gauge(*, weight: Weight, kept: Kept) -> Evidence:
    """Decide D_ij = c_j - c_i with c_t = D_st for a base s, and that a row's weights need but the kept part of it."""
    s, i, j = sp.symbols("s i j", integer=True)
    total, at_query, at_key, at_other, content, other, shift = sp.symbols("D c_j c_i c_k S_i S_k g", real=True)
    path, from_base = fox.path_bias(key=i, query=j), fox.path_bias(key=s, query=j)
    last, last_from_base = (
        last_term("D", one, fox.path_bias(key=key, query=j + 1)) for one, key in ((path, i), (from_base, s))
    )

    def weighed(law: Kept) -> sp.Expr:
        return weight(sp.exp(content + law(at_query, at_key)), sp.exp(other + law(at_query, at_other)))

    tests = (
        (
            "step: c_j+1 - c_j = D_i,j+1 - D_ij",
            lambda: combine(from_base, at_query, last_from_base) - at_query,
            lambda: combine(path, total, last) - total,
        ),
        ("c + g: no change", lambda: (at_query + shift) - (at_key + shift), lambda: at_query - at_key),
        ("weight by S + c_j - c_i = weight by S + what is kept", lambda: weighed(_difference), lambda: weighed(kept)),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy("base j = i: D_ii = 0", empty_value("D_ii", fox.path_bias(key=i, query=i)), sp.Integer(0)),
            *(require_equal(*test) for test in tests),
        ),
        assumptions=(
            "any base s not after the key, so that c is defined up to a constant",
            "a row of two keys i and k; in longer rows any two weights keep their ratio, and with it all of them",
        ),
    )


def _difference(at_query: sp.Expr, at_key: sp.Expr) -> sp.Expr:
    return at_query - at_key


CLAIMS = (
    Claim(
        id="fox-8",
        source=source("running sums of log gates"),
        statement="Only differences of the running sums matter; under softmax the query's part may be dropped as well, "
        "so that -c_i for the key suffices.  Under sigmoid attention it may not.",
        latex=r"\mathrm{softmax}_i(S_{ij}+c_j-c_i)=\mathrm{softmax}_i(S_{ij}-c_i)",
        label="F",
        check=gauge,
        holds={"weight": softmax, "kept": lambda at_query, at_key: -at_key},
        falsifiers={
            "sigmoid attention": {"weight": sigmoid},
            "the key's part dropped": {"kept": lambda at_query, at_key: at_query},
            "+c_i": {"kept": lambda at_query, at_key: at_key},
        },
    ),
)
