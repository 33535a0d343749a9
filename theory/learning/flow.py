"""Why does gradient flow on POLA decouple over labels? Derived from the loss, for every relation, pattern and scale.

The loss is the expected square of the residuals r_j = sum over i <= j of (theta_phi(i,j) - A_ij) x_i, summed over the
queries j <= N0 with weights w_j. phi, A, w, N0 and the label stay symbols, so a class may have any number of cells.
Tokens enter through their second moments E[x_i x_h] only. Tokens are scalars. Vector tokens with identity second
moments give one such problem for every entry of W ([F], docs/theory/definitions.md, "What a learner learns"; arXiv
2510.04130 Thm. 2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import sympy as sp

SecondMoment = Callable[[sp.Expr, sp.Expr], sp.Expr]

KEY, QUERY, LABEL, TRAINING_SCALE = sp.symbols("i j l N0", integer=True, positive=True)
OTHER_KEY = KEY + sp.Symbol("s", integer=True, nonzero=True)
"""A key different from KEY: the shift is not zero."""
RELATION = sp.Function("phi", integer=True)
PARAMETERS, PATTERN, QUERY_WEIGHTS = (sp.IndexedBase(name, real=True) for name in ("theta", "A", "w"))

CLASS_WEIGHT, START = sp.Symbol("m", positive=True), sp.Symbol("theta0", real=True)
CLASS_MEAN, TIME = sp.Symbol("mu", real=True), sp.Symbol("t", nonnegative=True)
RATE, STEPS = sp.Symbol("eta", positive=True), sp.Symbol("k", integer=True, nonnegative=True)


def unit_second_moment(key: sp.Expr, other: sp.Expr) -> sp.Expr:
    """E[x_i x_h] = 1 if i = h, else 0: noise-free data that spans, in coordinates where it is white [F]."""
    return sp.KroneckerDelta(key, other)


def class_weight() -> sp.Expr:
    """Weight m_l of label l: the sum of w_j over the pairs i <= j <= N0 labelled l [F]."""
    return _over_pairs(QUERY_WEIGHTS[QUERY] * _INDICATOR)


def class_sum() -> sp.Expr:
    """Sum of w_j A_ij over the pairs i <= j <= N0 labelled l: m_l times the mean of A over the class [F]."""
    return _over_pairs(QUERY_WEIGHTS[QUERY] * PATTERN[KEY, QUERY] * _INDICATOR)


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Gradient flow d theta_l / dt = -(slope theta_l + intercept) - cross of the parameter of one label l.

    Attributes:
        slope: a multiple of a sum over pairs.
        intercept: a multiple of a sum over pairs.
        cross: the contribution of two different keys at query j, before the sums over j and both keys; 0 iff the flow
            of one label does not depend on the parameters of the others.
    """

    slope: sp.Expr
    intercept: sp.Expr
    cross: sp.Expr

    def velocity(self, theta: sp.Expr) -> sp.Expr:
        """Flow without `cross` at theta_l = theta, with m and mu in place of the sums that define them."""
        names = {class_weight(): CLASS_WEIGHT, class_sum(): CLASS_WEIGHT * CLASS_MEAN}
        return sp.expand(-(self.slope.xreplace(names) * theta + self.intercept.xreplace(names)))

    def unseen_velocity(self, theta: sp.Expr) -> sp.Expr:
        """Flow without `cross` of a label that occurs in no training pair: all indicators phi(i, j) = l are 0."""
        never = {_INDICATOR: sp.Integer(0)}
        return -(self.slope.xreplace(never).doit() * theta + self.intercept.xreplace(never).doit())


def label_flow(second_moment: SecondMoment = unit_second_moment) -> Flow:
    """Flow of theta_l on the expected loss, by differentiation [F].

    A squared residual is a double sum over keys i, h: the pairs with i = h give slope and intercept, those with i != h
    give `cross`.
    """
    own = QUERY_WEIGHTS[QUERY] * _residual(KEY) ** 2 * second_moment(KEY, KEY)
    mixed = QUERY_WEIGHTS[QUERY] * _residual(KEY) * _residual(OTHER_KEY) * second_moment(KEY, OTHER_KEY)
    parameter = PARAMETERS[LABEL]
    # Differentiation gives the indicator phi(i, j) = l; where it is 1, theta_phi(i,j) equals theta_l.
    gradient = sp.expand(sp.diff(own, parameter).xreplace({PARAMETERS[RELATION(KEY, QUERY)]: parameter}))
    return Flow(
        slope=_over_pairs(gradient.coeff(parameter, 1)),
        intercept=_over_pairs(gradient.coeff(parameter, 0)),
        cross=sp.expand(sp.diff(mixed, parameter)),
    )


def constant_class_sum(value: sp.Expr) -> sp.Expr:
    """`class_sum` if A has one value on the class, with the value taken out of the sum [F]."""
    return _over_pairs(class_sum().function.xreplace({PATTERN[KEY, QUERY]: value}))


@cache
def flow_solution(flow: Flow) -> sp.Expr:
    """Value of theta_l at TIME of gradient flow from START; sympy solves the flow without `cross` [F]."""
    theta = sp.Function("theta_l")
    solved = sp.dsolve(sp.Eq(theta(TIME).diff(TIME), flow.velocity(theta(TIME))), theta(TIME), ics={theta(0): START})
    return sp.expand(solved.rhs)


@cache
def descent_solution(flow: Flow) -> sp.Expr:
    """Value of theta_l after STEPS steps of gradient descent at RATE from START, without `cross`; by sympy [F]."""
    theta = sp.Function("theta_l")
    step = theta(STEPS + 1) - theta(STEPS) - RATE * flow.velocity(theta(STEPS))
    return sp.expand(sp.rsolve(step, theta(STEPS), {theta(0): START}))


_INDICATOR = sp.KroneckerDelta(LABEL, RELATION(KEY, QUERY))


def _residual(key: sp.Expr) -> sp.Expr:
    """Error of the parameter of a key's label at QUERY."""
    return PARAMETERS[RELATION(key, QUERY)] - PATTERN[key, QUERY]


def _over_pairs(term: sp.Expr) -> sp.Expr:
    """Sum over the pairs i <= j <= N0; constant factors are taken out, so that equal sums have equal form."""
    constant, summand = term.as_independent(KEY, QUERY, QUERY_WEIGHTS, PATTERN)
    return constant * sp.Sum(summand, (KEY, 1, QUERY), (QUERY, 1, TRAINING_SCALE))
