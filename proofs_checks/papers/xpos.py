"""xPos (arXiv 2212.10554): the relative law of its score."""

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.rope import PLANES, turned
from lengthgen.theory.encodings import rotary

SOURCE = Source(paper="A Length-Extrapolatable Transformer (xPos)", arxiv="2212.10554")
CLAIMS = PaperClaims(SOURCE)


def _action(position: sp.Expr, frequency: sp.Expr, rate: sp.Expr, *, on_key: int = 1) -> sp.Matrix:
    return rotary.xpos_actions(position, frequency=frequency, rate=rate)[on_key]


@CLAIMS.claim(
    "xpos-1",
    "definition of the query and key maps",
    r"(X_q(j)q)\cdot(X_k(i)k)=\sum_l\zeta_l^{D/512}\,k_l^\top R_2(D\theta_l)\,q_l",
    label="P",
    assumptions=(PLANES, "exact arithmetic"),
    falsifiers={
        "the key scaled like the query": {"key_action": lambda *at: _action(*at, on_key=0)},
        "the key not scaled": {"key_action": lambda position, frequency, rate: turned(position, frequency)},
    },
)
def relative_law(key_action: Formula = _action) -> Facts:
    """After xPos the score depends on positions through D = j - i alone: RoPE's kernel times zeta^(D/512) in each
    plane.
    """
    i, offset, w, rate = sp.symbols("i D omega lambda", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    kernel, on_query = rotary.xpos_kernel(offset, frequency=w, rate=rate), _action(j, w, rate, on_key=0)
    scored = rotary.XPOS.score(query, key, query_position=j, key_position=i)
    scored, zeta = scored.subs({rotary.FREQUENCY: w, rotary.XPOS_RATE: rate}), sp.exp(-512 * rate)
    yield "actions at j = i + D and i = X(D)", lambda: key_action(i, w, rate).T * on_query, kernel
    yield "score = k^T X(D) q", scored, lambda: (key.T * kernel * query)[0]
    yield "X(512) = zeta R(512)", lambda: kernel.subs(offset, 512), lambda: zeta * rotary.rotation(512 * w)
