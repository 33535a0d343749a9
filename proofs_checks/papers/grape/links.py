"""The link functions of GRAPE's gates and edges (arXiv 2512.07805): bounds on their size and slope."""

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_path, links


def lipschitz_links(*, constant: sp.Rational) -> Evidence:
    """Decide 0 < (log sigma)' <= constant and log sigma < 0, with x = e^-z > 0, and softplus(z) = -log sigma(-z)."""
    z, slope = sp.symbols("z alpha", real=True)
    x = sp.Symbol("x", positive=True)
    link = links.log_sigmoid(z)
    value, derivative = (one.subs(z, -sp.log(x)) for one in (sp.exp(link), link.diff(z)))
    excess = _numerator(constant - derivative, x)
    facts = [
        _positive("(log sigma)' > 0, so it increases", _numerator(derivative, x), x),
        _positive("exp(log sigma) < 1, so log sigma < 0", _numerator(1 - value, x), x),
        _positive(f"(log sigma)' < {constant}", excess, x),
        require_equal("(log sigma)' = 1/(1 + e^z)", link.diff(z), 1 / (1 + sp.exp(z))),
        require_equal("softplus' = 1 - (log sigma)'", links.softplus(z).diff(z), 1 - link.diff(z)),
        require_equal("exp(softplus) = 1 + e^z > 1", sp.exp(links.softplus(z)), 1 + sp.exp(z)),
    ]
    potential = grape_path.potential(z, slope=slope, probe_dim=sp.Integer(2))
    facts.append(require_equal("an edge's derivative", potential.diff(z), slope * link.diff(z).subs(z, z / 2) / 2))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "the derivative tends to 1 as z falls, so no smaller constant does"),
        assumptions=("every real z is -log x for one x > 0",),
    )


def _numerator(expression: sp.Expr, variable: sp.Symbol) -> sp.Poly:
    """The numerator of a rational function of x > 0 whose denominator has positive coefficients only."""
    numerator, denominator = sp.together(expression).as_numer_denom()
    if any(coefficient < 0 for coefficient in sp.Poly(denominator, variable).coeffs()):
        numerator, denominator = -numerator, -denominator
    if any(coefficient < 0 for coefficient in sp.Poly(denominator, variable).coeffs()):
        raise Refuted(f"the denominator {denominator} changes its sign")
    return sp.Poly(numerator, variable)


def _positive(what: str, polynomial: sp.Poly, variable: sp.Symbol) -> str:
    """The fact that no coefficient is negative and some are positive; else a point x = 2^k at which it is not."""
    if all(coefficient >= 0 for coefficient in polynomial.coeffs()) and not polynomial.is_zero:
        return f"{what}: the numerator {polynomial.as_expr()} has no negative coefficient, x = e^-z > 0"
    point = next((sp.Integer(2) ** power for power in range(-20, 21) if polynomial.eval(2**power) <= 0), None)
    raise Refuted(f"{what}: the numerator {polynomial.as_expr()} is {polynomial.eval(point)} at x = {point}")


CLAIMS = (
    Claim(
        id="grape-21",
        source=source("the link g = log sigmoid of the edge potentials"),
        statement="log sigma is negative, increases, and changes by at most as much as its argument; no constant below "
        "1 will do.  softplus(z) = -log sigma(-z) is positive and so too.",
        latex=r"g=\log\sigma:\ g<0,\ 0<g'(z)=\frac{1}{1+e^{z}}<1",
        label="P",
        check=lipschitz_links,
        holds={"constant": sp.Integer(1)},
        falsifiers={
            "Lipschitz constant 1/2": {"constant": sp.Rational(1, 2)},
            "Lipschitz constant 0.99": {"constant": sp.Rational(99, 100)},
        },
    ),
)
