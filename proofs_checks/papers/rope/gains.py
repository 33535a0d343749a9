"""A trained gain for each coordinate, as QK normalisation has it, before or after the rotation."""

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.rope.source import PLANES, source
from theory.encodings import rotary

Gains = tuple[sp.Expr, sp.Expr]

_G1, _G2, _SHARED = sp.symbols("g1 g2 c", positive=True)


def gains_after_rotation(*, query_gains: Gains, key_gains: Gains) -> Evidence:
    """Decide whether the score keeps its relative law with these gains after the rotation, and with any before it."""
    i, offset, w = sp.symbols("i D omega", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    any_query, any_key = (sp.diag(*sp.symbols(f"{name}1 {name}2", positive=True)) for name in ("u", "v"))
    flip = sp.diag(1, -1)

    def kernel(position: sp.Expr, on_query: sp.Matrix, on_key: sp.Matrix) -> sp.Matrix:
        turned_key, turned_query = (on * rotary.rotation(at * w) for on, at in ((on_key, position), (on_query, j)))
        return turned_key.T * turned_query

    j = i + offset
    total = any_key * any_query
    even, odd = (total[0, 0] + total[1, 1]) / 2, (total[0, 0] - total[1, 1]) / 2
    facts = (
        require_equal(
            "stated gains after rotation: the kernel at (i + D, i) is that at (D, 0)",
            lambda: kernel(i, sp.diag(*query_gains), sp.diag(*key_gains)),
            lambda: sp.diag(*key_gains).T * sp.diag(*query_gains) * rotary.rotation(offset * w),
        ),
        require_equal(
            "any gains u, v after rotation: (u1 v1 + u2 v2)/2 R(D) + (u1 v1 - u2 v2)/2 F R(2i + D), F = diag(1, -1)",
            lambda: kernel(i, any_query, any_key),
            lambda: even * rotary.rotation(offset * w) + odd * flip * rotary.rotation((2 * i + offset) * w),
        ),
        "so the law is relative iff u1 v1 = u2 v2 in every plane",
        require_equal(
            "any gains before rotation: (v k)^T R(D) (u q)",
            lambda: rotary.score(any_query * query, any_key * key, query_position=j, key_position=i, frequency=w),
            lambda: ((any_key * key).T * rotary.rotation(offset * w) * any_query * query)[0],
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=(PLANES, "the norm by which RMSNorm divides is the same before and after (rope-2)"),
    )


CLAIMS = (
    Claim(
        id="rope-7",
        source=source("the relative property, under the QK normalisation of later models"),
        statement="With a gain on every coordinate after the rotation the relative law holds iff in each plane the "
        "products of the query's and the key's gains are equal; gains before the rotation never break it.",
        latex=r"R(i)^\top\mathrm{diag}(v)\,\mathrm{diag}(u)\,R(i+D)\ \text{free of } i\iff u_1v_1=u_2v_2",
        label="F",
        check=gains_after_rotation,
        holds={"query_gains": (_G1, _G2), "key_gains": (_SHARED / _G1, _SHARED / _G2)},
        falsifiers={
            "unequal gains on the query": {
                "query_gains": (sp.Integer(2), sp.Integer(1)),
                "key_gains": (sp.Integer(1), sp.Integer(1)),
            },
            "the same unequal gains on both": {
                "query_gains": (sp.Integer(2), sp.Integer(1)),
                "key_gains": (sp.Integer(2), sp.Integer(1)),
            },
            "gains drawn at random": {
                "query_gains": (sp.Rational(3, 2), sp.Rational(5, 7)),
                "key_gains": (sp.Rational(2, 9), sp.Rational(8, 3)),
            },
        },
    ),
)
