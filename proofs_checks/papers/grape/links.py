"""The link functions of GRAPE's gates and edges (arXiv 2512.07805): bounds on their size and slope."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import derivative, require_equal, same_by_sympy
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_path, links


def lipschitz_links(*, link: Callable[[sp.Expr], sp.Expr], constant: sp.Rational) -> Evidence:
    """Decide 0 < (log sigma)' <= constant and log sigma < 0, with x = e^-z > 0, and softplus(z) = -log sigma(-z)."""
    z, slope = sp.symbols("z alpha", real=True)
    x = sp.Symbol("x", positive=True)
    value, steepness = (one.subs(z, -sp.log(x)) for one in (sp.exp(link(z)), link(z).diff(z)))
    steepest = sp.limit(steepness, x, sp.oo)
    if steepest < constant:
        raise Refuted(f"the slope tends to {steepest} as z falls, not to {constant}")
    excess = _numerator(constant - steepness, x)
    facts = [
        _positive("(log sigma)' > 0, so it increases", _numerator(steepness, x), x),
        _positive("exp(log sigma) < 1, so log sigma < 0", _numerator(1 - value, x), x),
        _positive(f"(log sigma)' < {constant}", excess, x),
        require_equal("(log sigma)' = 1/(1 + e^z)", lambda: derivative(link(z), z), lambda: 1 / (1 + sp.exp(z))),
        require_equal(
            "softplus' = 1 - (log sigma)'", lambda: derivative(links.softplus(z), z), lambda: 1 - derivative(link(z), z)
        ),
        same_by_sympy("exp(softplus) = 1 + e^z > 1", sp.exp(links.softplus(z)), 1 + sp.exp(z)),
    ]
    potential = grape_path.potential(z, slope=slope, probe_dim=sp.Integer(2))
    facts.append(
        require_equal(
            "an edge's derivative", lambda: derivative(potential, z), lambda: slope * derivative(link(z / 2), z)
        )
    )
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
        holds={"link": links.log_sigmoid, "constant": sp.Integer(1)},
        answers=("constant",),
        falsifiers={
            "twice the logarithm": {"link": lambda z: 2 * links.log_sigmoid(z)},
            "half the logarithm": {"link": lambda z: links.log_sigmoid(z) / 2},
            "softplus, which is positive": {"link": links.softplus},
            "log sigma(-z), which falls": {"link": lambda z: links.log_sigmoid(-z)},
        },
    ),
)
