"""Why Theorem 2 of arXiv 2510.04130 holds, formalised: the flow decouples over labels, and learners follow it."""

from collections.abc import Callable

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import derivative, require_equal, same_by_sympy
from proofs_checks.papers.pola.source import source
from theory import flow, learners, pola

Pattern = NDArray[np.float64]

RANDOM_CASES = 60
RANDOM_TOLERANCE = 1e-12


def flow_decouples(
    *,
    second_moment: flow.SecondMoment,
    velocity: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr],
    unseen_velocity: Callable[[sp.Expr], sp.Expr],
    flow_solution: Callable[[sp.Expr], sp.Expr],
    descent_solution: Callable[[sp.Expr], sp.Expr],
) -> Evidence:
    """Derive the flow of one label from the loss; decide the stated flow and solutions against it."""
    derived, theta = flow.label_flow(second_moment), sp.Symbol("theta", real=True)
    if derived.cross != 0:
        raise Refuted(f"the labels do not decouple: {_pull_of_another_label(derived.cross)}")
    weight, mean, start, value = flow.CLASS_WEIGHT, flow.CLASS_MEAN, flow.START, sp.Symbol("a", real=True)
    by_flow, factor = flow_solution(sp.exp(-2 * weight * flow.TIME)), sp.Symbol("q", real=True)
    # One more step multiplies the power of 1 - 2 eta m by the same factor: induction over the steps.
    by_descent, next_step = (descent_solution(power) for power in (factor, (1 - 2 * flow.RATE * weight) * factor))
    solved = flow.descent_solution(derived).subs((1 - 2 * flow.RATE * weight) ** flow.STEPS, factor)
    tests = (
        ("velocity", derived.velocity(theta), lambda: velocity(theta, weight, mean)),
        ("flow at time 0", lambda: by_flow.xreplace({flow.TIME: sp.Integer(0)}), start),
        ("flow: derivative in time", lambda: derivative(by_flow, flow.TIME), derived.velocity(by_flow)),
        ("flow as solved from the derived equation", flow.flow_solution(derived), by_flow),
        ("descent at step 0", lambda: descent_solution(sp.Integer(1)), start),
        ("descent: one more step", next_step, by_descent + flow.RATE * derived.velocity(by_descent)),
        ("descent as solved from the derived recurrence", solved, by_descent),
    )
    facts = [
        *(require_equal(*test) for test in tests),
        same_by_sympy("velocity of an unseen label", derived.unseen_velocity(theta), unseen_velocity(theta)),
        same_by_sympy("end of the flow", sp.limit(by_flow, flow.TIME, sp.oo), mean),
    ]
    summed, wanted = flow.constant_class_sum(value), value * flow.class_weight()
    if summed != wanted:
        raise Refuted(f"where A is {value} on a class, the weighted sum over it is {summed}, not {wanted}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            "cross terms of different keys vanish, for any relation, pattern, N0 and weights of queries: sums with "
            "symbolic ends",
            *facts,
            "the mean of a class on which A is constant is that constant",
        ),
        assumptions=("tokens have identity second moments at every query", "no noise, no scale hint", "m_l > 0 if met"),
    )


def learners_follow_the_flow(
    *, second_moment: flow.SecondMoment, query_weight: Callable[[Pattern, int], float]
) -> Evidence:
    """Hold the closed forms of `theory.learners` on POLA to the flow and the descent solved symbolically."""
    derived = flow.label_flow(second_moment)
    label = (flow.START, flow.CLASS_WEIGHT, flow.CLASS_MEAN)
    by_flow = sp.lambdify((*label, flow.TIME), flow.flow_solution(derived), "math")
    by_descent = sp.lambdify((*label, flow.RATE, flow.STEPS), flow.descent_solution(derived), "math")
    rng = np.random.default_rng(0)
    worst, compared = 0.0, 0
    for case in range(RANDOM_CASES):
        scale = int(rng.integers(1, 7))
        labels, target = rng.integers(0, 6, (7, 7)), rng.normal(size=(7, 7))
        weights, rate, time, steps = rng.dirichlet(np.ones(scale)), *rng.uniform(0, 0.1, 2), int(rng.integers(0, 30))
        problem = pola.population(target, labels, training_scale=scale, scale_weights=weights)
        start = rng.normal(size=problem.hessian.shape)
        flowed = learners.gradient_flow(problem, start=start, time=time)
        descended = learners.gradient_descent(problem, start=start, rate=rate, steps=steps)
        for at, name in enumerate(np.unique(labels[np.triu_indices(7)])):
            cells = [(i, j) for j in range(scale) for i in range(j + 1) if labels[i, j] == name]
            heavy = sum(query_weight(weights, j + 1) for _, j in cells)
            pulled = sum(query_weight(weights, j + 1) * target[i, j] for i, j in cells)
            known = (start[at], heavy, pulled / heavy) if heavy else (start[at], 0.0, 0.0)
            for what, got, wanted in (
                (f"flow at time {time:.3f}", flowed[at], by_flow(*known, time)),
                (f"descent of rate {rate:.3f} after {steps} steps", descended[at], by_descent(*known, rate, steps)),
            ):
                if not abs(got - wanted) < RANDOM_TOLERANCE:
                    raise Refuted(f"case {case}, N0 = {scale}, label {name}, {what}: {got:.12g} != {wanted:.12g}")
                worst, compared = max(worst, abs(got - wanted)), compared + 1
    return Evidence(
        strength=Strength.NUMERIC,
        facts=(f"{compared} parameters of {RANDOM_CASES} random problems of mixed scales agree to {worst:.1e}",),
        assumptions=(f"float64, tolerance {RANDOM_TOLERANCE:g}", "noise-free data with identity second moments"),
    )


def _pull_of_another_label(cross: sp.Expr) -> str:
    """What the second key of query 2 adds to the gradient of the first key's label: theta 0 and 1, A = 0."""
    shift, here = flow.OTHER_KEY - flow.KEY, flow.RELATION(flow.KEY, flow.QUERY)
    there = flow.RELATION(flow.OTHER_KEY, flow.QUERY)
    entries: dict[sp.Expr, int] = dict.fromkeys(cross.atoms(sp.Indexed), 0)
    entries |= {flow.PARAMETERS[there]: 1, flow.QUERY_WEIGHTS[flow.QUERY]: 1}
    entries |= {sp.KroneckerDelta(flow.LABEL, here): 1, sp.KroneckerDelta(flow.LABEL, there): 0}
    pull = cross.xreplace({term: sp.Integer(value) for term, value in entries.items()})
    value = pull.subs({flow.KEY: 1, shift: 1, flow.QUERY: 2})
    return f"at query 2, keys labelled 1 and 2, theta = (0, 1), A = 0: x_1 x_2 adds {value} to theta_1's gradient"


def _tail_weight(scale_weights: Pattern, query: int) -> float:
    return float(scale_weights[query - 1 :].sum())


def _relaxed(kept: sp.Expr) -> sp.Expr:
    """The mean of the class and what is kept of the start's distance from it."""
    return flow.CLASS_MEAN + (flow.START - flow.CLASS_MEAN) * kept


CLAIMS = (
    Claim(
        id="pola-2-flow",
        source=source("Theorem 2", "gradient flow"),
        statement="Gradient flow decouples over labels: each parameter goes to the mean of the pattern over its "
        "class, at twice the class's weight. Labels never met do not move. Gradient descent does the same "
        "in steps.",
        latex=r"\dot\theta_k=-2m_k(\theta_k-\mu_k),\quad \theta_k(t)=\mu_k+(\theta^{(0)}_k-\mu_k)e^{-2m_kt}",
        label="F",
        check=flow_decouples,
        holds={
            "second_moment": flow.unit_second_moment,
            "velocity": lambda theta, weight, mean: -2 * weight * (theta - mean),
            "unseen_velocity": lambda theta: sp.Integer(0),
            "flow_solution": _relaxed,
            "descent_solution": _relaxed,
        },
        falsifiers={
            "correlated tokens": {
                "second_moment": lambda key, other: (1 + flow.unit_second_moment(key, other)) / 2,
            },
            "tokens of variance 2": {"second_moment": lambda key, other: 2 * flow.unit_second_moment(key, other)},
            "half the speed": {"velocity": lambda theta, weight, mean: -weight * (theta - mean)},
            "towards the sum over the class": {
                "velocity": lambda theta, weight, mean: -2 * weight * (theta - weight * mean),
            },
            "labels never met decay to 0": {"unseen_velocity": lambda theta: -2 * theta},
            "the start fades at half the speed": {"flow_solution": lambda kept: _relaxed(sp.sqrt(kept))},
            "descent takes two steps for one": {"descent_solution": lambda kept: _relaxed(kept**2)},
        },
    ),
    Claim(
        id="pola-2-learners",
        source=source("Theorem 2", "gradient flow and descent, as computed"),
        statement="The closed forms of gradient flow and gradient descent that are computed are the solutions of the "
        "derived flow, for data that mix the scales up to N0.",
        latex=r"m_k=\sum_{\varphi(i,j)=k}\ \sum_{n\ge j}p_n",
        label="F",
        check=learners_follow_the_flow,
        holds={"second_moment": flow.unit_second_moment, "query_weight": _tail_weight},
        falsifiers={
            "tokens of variance 2": {"second_moment": lambda key, other: 2 * flow.unit_second_moment(key, other)},
            "a query counts in its own scale only": {"query_weight": lambda weights, query: float(weights[query - 1])},
            "every pair counts alike": {"query_weight": lambda weights, query: 1.0},
        },
    ),
)
