"""The derived flow is the gradient of the loss written out, cell by cell and token by token, in exact numbers."""

import itertools
import random
from fractions import Fraction

import pytest
import sympy as sp

from lengthgen.theory.learning import flow

Labels = dict[tuple[int, int], int]


def _written_out(
    labels: Labels, pattern: dict[tuple[int, int], Fraction], weights: list[Fraction], label: int
) -> sp.Expr:
    """Return -dL/dtheta_label of the loss as a mean over all sign vectors, which have unit second moments."""
    scale = len(weights)
    theta = {name: sp.Symbol(f"theta_{name}") for name in labels.values()}
    signs = list(itertools.product((-1, 1), repeat=scale))
    loss = sp.Integer(0)
    for tokens in signs:
        for j in range(1, scale + 1):
            residual = sum((theta[labels[i, j]] - pattern[i, j]) * tokens[i - 1] for i in range(1, j + 1))
            loss += weights[j - 1] * residual**2 / len(signs)
    return sp.expand(-sp.diff(loss, theta[label]))


def _range(limits: list[sp.Expr], scales: dict[sp.Symbol, int]) -> range:
    first, last = (int(limit.subs(scales)) for limit in limits)
    return range(first, last + 1)


def _filled_in(
    expression: sp.Expr, labels: Labels, pattern: dict[tuple[int, int], Fraction], weights: list[Fraction], label: int
) -> sp.Expr:
    """A sum over pairs with N0, phi, A, w and l filled in, by Python loops over its term."""
    factor, total = expression.as_coeff_Mul()
    value = sp.Integer(0)
    (key, *keys), (query, *queries) = total.limits
    assert (key, query) == (flow.KEY, flow.QUERY)
    scale = {flow.TRAINING_SCALE: len(weights)}
    for j in _range(queries, scale):
        for i in _range(keys, {flow.QUERY: j}):
            filled = {
                sp.KroneckerDelta(flow.LABEL, flow.RELATION(flow.KEY, flow.QUERY)): int(labels[i, j] == label),
                flow.PATTERN[flow.KEY, flow.QUERY]: pattern[i, j],
                flow.QUERY_WEIGHTS[flow.QUERY]: weights[j - 1],
            }
            value += total.function.xreplace({term: sp.Rational(number) for term, number in filled.items()})
    return factor * value


@pytest.mark.parametrize("seed", range(12))
def test_the_derived_flow_is_the_gradient_of_the_loss_written_out(seed: int) -> None:
    rng = random.Random(seed)
    scale = rng.randint(1, 3)
    pairs = [(i, j) for j in range(1, scale + 1) for i in range(1, j + 1)]
    labels = {pair: rng.randint(1, 3) for pair in pairs}
    pattern = {pair: Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for pair in pairs}
    weights = [Fraction(rng.randint(1, 5), rng.randint(1, 5)) for _ in range(scale)]
    derived = flow.label_flow()
    assert derived.cross == 0
    for label in set(labels.values()):
        slope, intercept = (
            _filled_in(part, labels, pattern, weights, label) for part in (derived.slope, derived.intercept)
        )
        velocity = -(slope * sp.Symbol(f"theta_{label}") + intercept)
        assert sp.expand(velocity - _written_out(labels, pattern, weights, label)) == 0
        heavy = _filled_in(flow.class_weight(), labels, pattern, weights, label)
        mean = _filled_in(flow.class_sum(), labels, pattern, weights, label) / heavy
        named = derived.velocity(sp.Symbol(f"theta_{label}"))
        assert sp.expand(named.subs({flow.CLASS_WEIGHT: heavy, flow.CLASS_MEAN: mean}) - velocity) == 0


def test_correlated_tokens_couple_the_labels() -> None:
    correlation = sp.Symbol("rho")
    unit = flow.unit_second_moment
    derived = flow.label_flow(lambda key, other: unit(key, other) + correlation * (1 - unit(key, other)))
    assert derived.cross.has(flow.PARAMETERS[flow.RELATION(flow.OTHER_KEY, flow.QUERY)])
    assert derived.cross.subs(correlation, 0) == 0
    assert derived.slope == flow.label_flow().slope


def test_the_variance_of_the_tokens_is_the_speed_of_the_flow() -> None:
    theta = sp.Symbol("theta")
    fast = flow.label_flow(lambda key, other: 3 * flow.unit_second_moment(key, other))
    assert sp.expand(fast.velocity(theta) - 3 * flow.label_flow().velocity(theta)) == 0


def test_a_label_that_training_never_meets_does_not_move() -> None:
    assert flow.label_flow().unseen_velocity(sp.Symbol("theta")) == 0


def test_the_solution_starts_at_the_start_obeys_the_flow_and_ends_at_the_mean() -> None:
    derived = flow.label_flow()
    solution = flow.flow_solution(derived)
    assert sp.simplify(solution.subs(flow.TIME, 0) - flow.START) == 0
    assert sp.simplify(solution.diff(flow.TIME) - derived.velocity(solution)) == 0
    assert sp.limit(solution, flow.TIME, sp.oo) == flow.CLASS_MEAN


def test_the_steps_of_descent_are_those_of_the_loop() -> None:
    derived = flow.label_flow()
    values = {flow.CLASS_WEIGHT: sp.Rational(3, 7), flow.CLASS_MEAN: -2, flow.START: 5, flow.RATE: sp.Rational(1, 4)}
    solution, theta = flow.descent_solution(derived), sp.Integer(5)
    for step in range(6):
        assert solution.subs(values).subs(flow.STEPS, step) == theta
        theta += values[flow.RATE] * derived.velocity(theta).subs(values)


def test_the_sum_over_a_constant_class_is_its_weight_times_the_constant() -> None:
    value = sp.Symbol("a", real=True)
    assert flow.constant_class_sum(value) == value * flow.class_weight()
    assert flow.class_sum() != flow.PATTERN[flow.KEY, flow.QUERY] * flow.class_weight()
