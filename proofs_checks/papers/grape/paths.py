"""GRAPE (arXiv 2512.07805): biases summed along a path, with edges that all queries share."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.grape.source import source
from theory.encodings import alibi, fox, grape_additive, grape_path


def fox_unipotent(*, link: Callable[[sp.Expr], sp.Matrix], key_action: Callable[[sp.Matrix], sp.Matrix]) -> Evidence:
    """Decide by induction that a path of links is the link of the summed log gates, and that it scores FoX's bias."""
    i, j = sp.symbols("i j", integer=True)
    total, gate, slope, content = sp.symbols("D psi m c", real=True)
    path, extended = fox.path_bias(key=i, query=j), fox.path_bias(key=i, query=j + 1)
    empty = empty_value("sum of log gates", fox.path_bias(key=i, query=i))
    last = last_term("sum of log gates", path, extended)
    longer = combine(path, total, last).subs(last, gate)
    scored = grape_additive.score(content, query_action=sp.eye(2), key_action=key_action(link(total)))
    constant_gates = -slope * (j - i)
    alibi_action = grape_additive.unipotent(alibi.generator(slope=slope), i - j)
    tests = (
        ("step: one more link adds its log gate", lambda: link(gate) * link(total), lambda: link(longer)),
        ("score of the path = q.k + sum of log gates", scored, lambda: content + total),
        ("link = I - psi E", lambda: link(gate), lambda: sp.eye(2) - gate * grape_additive.nilpotent()),
        ("all gates exp(-m): the ALiBi action", lambda: link(constant_gates), alibi_action),
    )
    facts = (
        same_by_sympy("base: the empty path gives I", link(empty), sp.eye(2)),
        *(require_equal(*test) for test in tests),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("induction on the number of links, so any path length; any d, as the content enters by q.k",),
    )


def prefix_identity(*, prefix: Callable[[sp.Expr], sp.Sum]) -> Evidence:
    """Decide by induction that the sum over i < l <= j is A_j - A_i."""
    i, j = sp.symbols("i j", integer=True)
    summed, before = sp.symbols("S A_i", real=True)
    path, extended = grape_path.increments(key=i, query=j), grape_path.increments(key=i, query=j + 1)
    added = last_term("path", path, extended)
    grown = last_term("prefix", prefix(j), prefix(j + 1))
    # Under the hypothesis A_j = S + A_i.
    facts = (
        same_by_sympy(
            "base: the empty path", empty_value("path", grape_path.increments(key=i, query=i)), sp.Integer(0)
        ),
        require_equal(
            "step: A_(j+1) - A_i",
            lambda: combine(prefix(j), summed + before, grown) - before,
            lambda: combine(path, summed, added),
        ),
        same_by_sympy(
            "A_0 = a_0",
            empty_value("A_0", prefix(sp.Integer(0))),
            sp.Symbol(str(grape_path.INCREMENTS[0]), real=True),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("induction on j - i, so any path length",),
    )


def _inverse_transpose(matrix: sp.Matrix) -> sp.Matrix:
    return matrix.inv().T


CLAIMS = (
    Claim(
        id="grape-10",
        source=source("FoX as GRAPE-A: Section 5, and Appendix C for the printed sign"),
        statement="The links I - psi_l E multiply to I - (sum psi_l) E along a path, and with the key moved by the "
        "inverse transpose the score is q.k + sum log f_l: the Forgetting Transformer (errata F10: Appendix C prints "
        "I + psi_l E, which gives the bias the opposite sign).",
        latex=r"\prod_{l=i+1}^{j}(I-\psi_lE) = I-\Big(\sum_l\psi_l\Big)E,\quad"
        r"\hat q^\top P^{-\top}\hat k = q\cdot k+\sum_l\psi_l",
        label="P",
        check=fox_unipotent,
        holds={"link": lambda log_gate: fox.link(log_gate=log_gate), "key_action": _inverse_transpose},
        printed={"link": lambda log_gate: fox.link(log_gate=-log_gate)},
        falsifiers={
            "link transposed": {"link": lambda log_gate: fox.link(log_gate=log_gate).T},
            "key moved by the path itself": {"key_action": lambda matrix: matrix.T},
            "key moved by the inverse": {"key_action": lambda matrix: matrix.inv()},
        },
    ),
    Claim(
        id="grape-20",
        source=source("Section 5: a path sum as a difference of prefix sums"),
        statement="The sum of a_l over i < l <= j is A_j - A_i with A_u the sum up to a_u (errata F10: the paper "
        "prints A_u without a_u).",
        latex=r"\sum_{l=i+1}^{j}a_l=A_j-A_i,\quad A_u=\sum_{l\le u}a_l",
        label="F",
        check=prefix_identity,
        holds={"prefix": lambda position: grape_path.prefix(position=position)},
        printed={"prefix": lambda position: grape_path.prefix(position - 1)},
        falsifiers={
            "without the last": {"prefix": lambda position: grape_path.prefix(position - 1)},
            "with the next": {"prefix": lambda position: grape_path.prefix(position + 1)},
        },
    ),
)
