"""Consequences of Theorem 2 of arXiv 2510.04130: gradient flow decouples over labels, and worked cases.

The computed learners follow the flow.
"""

from collections.abc import Callable, Mapping

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Parameters, Refuted, Strength
from lengthgen.proofs_checks.facts import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    DESCENT,
)
from lengthgen.theory.learning import flow, learners, pola
from lengthgen.theory.lrc import level_sets, lrc_profile
from lengthgen.theory.relation import absolute, clipped_relative, constant, relative

Pattern = NDArray[np.float64]

RANDOM_CASES = 60
RANDOM_TOLERANCE = 1e-12
SUCCEED = {
    "prefix sum": frozenset({"constant", "clipped", "level sets"}),
    "window filter": frozenset({"relative", "clipped", "level sets"}),
    "0.5^(j-i)": frozenset[str](),
}
COMPLEXITIES = {"prefix sum": (1, 1), "window filter": (2, 2), "0.5^(j-i)": (4, 8)}


CLAIMS = PaperClaims(SOURCE)


def _pull_of_another_label(cross: sp.Expr) -> str:
    """Text on how the second key of query 2 changes the gradient of the first key's label, for theta 0 and 1, A = 0."""
    shift, here = flow.OTHER_KEY - flow.KEY, flow.RELATION(flow.KEY, flow.QUERY)
    there = flow.RELATION(flow.OTHER_KEY, flow.QUERY)
    entries: dict[sp.Expr, int] = dict.fromkeys(cross.atoms(sp.Indexed), 0)
    entries |= {flow.PARAMETERS[there]: 1, flow.QUERY_WEIGHTS[flow.QUERY]: 1}
    entries |= {sp.KroneckerDelta(flow.LABEL, here): 1, sp.KroneckerDelta(flow.LABEL, there): 0}
    pull = cross.xreplace({term: sp.Integer(value) for term, value in entries.items()})
    value = pull.subs({flow.KEY: 1, shift: 1, flow.QUERY: 2})
    return f"at query 2, keys labelled 1 and 2, theta = (0, 1), A = 0: x_1 x_2 adds {value} to theta_1's gradient"


def _relaxed(share: sp.Expr) -> sp.Expr:
    """Mean of the class plus the remaining share of the start's distance from it."""
    return flow.CLASS_MEAN + (flow.START - flow.CLASS_MEAN) * share


def _worked_patterns(scale: int) -> dict[str, Pattern]:
    """The three worked patterns at a scale."""
    keys, queries = np.indices((scale, scale))
    window = np.where(queries == keys, 2.0, np.where(queries == keys + 1, -1.0, 0.0))
    return {
        "prefix sum": np.triu(np.ones((scale, scale))),
        "window filter": window,
        "0.5^(j-i)": np.triu(0.5 ** np.abs(queries - keys)),
    }


def _changed_pattern(name: str, change: Callable[[Pattern], Pattern]) -> Parameters:
    """Falsifier with one of the patterns changed."""

    def changed(scale: int) -> dict[str, Pattern]:
        patterns = _worked_patterns(scale)
        return patterns | {name: change(patterns[name])}

    return {"patterns": changed}


@CLAIMS.claim(
    "pola-2-flow",
    formalised("Theorem 2", "gradient flow"),
    r"\dot\theta_k=-2m_k(\theta_k-\mu_k),\quad \theta_k(t)=\mu_k+(\theta^{(0)}_k-\mu_k)e^{-2m_kt}",
    assumptions=(
        "tokens have identity second moments at every query",
        "no noise, no scale hint",
        "m_l > 0 if met",
        "0 < eta m_l < 1 for descent at the rate eta",
    ),
    falsifiers={
        "correlated tokens": {"second_moment": lambda key, other: (1 + flow.unit_second_moment(key, other)) / 2},
        "tokens of variance 2": {"second_moment": lambda key, other: 2 * flow.unit_second_moment(key, other)},
        "half the speed": {"velocity": lambda theta, weight, mean: -weight * (theta - mean)},
        "towards the sum over the class": {
            "velocity": lambda theta, weight, mean: -2 * weight * (theta - weight * mean)
        },
        "labels never met decay to 0": {"unseen_velocity": lambda theta: -2 * theta},
        "the start fades at half the speed": {"flow_solution": lambda kept: _relaxed(sp.sqrt(kept))},
        "descent takes two steps for one": {"descent_solution": lambda kept: _relaxed(kept**2)},
    },
)
def flow_decouples(
    second_moment: flow.SecondMoment = flow.unit_second_moment,
    velocity: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda theta, weight, mean: -2 * weight * (theta - mean),
    unseen_velocity: Callable[[sp.Expr], sp.Expr] = lambda theta: sp.Integer(0),
    flow_solution: Callable[[sp.Expr], sp.Expr] = _relaxed,
    descent_solution: Callable[[sp.Expr], sp.Expr] = _relaxed,
) -> Facts:
    """Gradient flow decouples over labels: each parameter goes to the mean of the pattern over the training pairs of
    its class, weighted as training weighs their queries, at twice the class's weight. Labels never met do not move.
    Gradient descent at a small rate does the same in steps.
    """
    derived, theta = flow.label_flow(second_moment), sp.Symbol("theta", real=True)
    refute(derived.cross != 0, f"the labels do not decouple: {_pull_of_another_label(derived.cross)}")
    weight, mean, start, value = flow.CLASS_WEIGHT, flow.CLASS_MEAN, flow.START, sp.Symbol("a", real=True)
    by_flow, factor = flow_solution(sp.exp(-2 * weight * flow.TIME)), sp.Symbol("q", real=True)
    # Induction over the steps: one more step multiplies the power of 1 - 2 eta m by the same factor.
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
    summed, expected_sum = flow.constant_class_sum(value), value * flow.class_weight()
    if summed != expected_sum:
        raise Refuted(f"where A is {value} on a class, the weighted sum over it is {summed}, not {expected_sum}")
    yield (
        "cross terms of different keys vanish, for any relation, pattern, N0 and weights of queries: sums with "
        "symbolic ends"
    )
    yield from facts
    yield "the mean of a class on which A is constant is that constant"


@CLAIMS.claim(
    "pola-2-learners",
    formalised("Theorem 2", "gradient flow and descent, as computed"),
    r"m_k=\sum_{\varphi(i,j)=k}\ \sum_{n\ge j}p_n",
    strength=Strength.NUMERIC,
    assumptions=(f"float64, tolerance {RANDOM_TOLERANCE:g}", "noise-free data with identity second moments"),
    falsifiers={
        "tokens of variance 2": {"second_moment": lambda key, other: 2 * flow.unit_second_moment(key, other)},
        "a query counts in its own scale only": {"query_weight": lambda weights, query: float(weights[query - 1])},
        "every pair counts alike": {"query_weight": lambda weights, query: 1.0},
    },
)
def learners_follow_the_flow(
    second_moment: flow.SecondMoment = flow.unit_second_moment,
    query_weight: Callable[[Pattern, int], float] = lambda scale_weights, query: float(
        scale_weights[query - 1 :].sum()
    ),
) -> Facts:
    """The closed forms of gradient flow and gradient descent that the code computes are the solutions of the derived
    flow, for data that mix the scales up to N0: on random problems with N0 up to 6, and times and rates up to 0.1.
    """
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
            class_weight = sum(query_weight(weights, j + 1) for _, j in cells)
            weighted_sum = sum(query_weight(weights, j + 1) * target[i, j] for i, j in cells)
            arguments = (
                (start[at], class_weight, weighted_sum / class_weight) if class_weight else (start[at], 0.0, 0.0)
            )
            for what, computed, expected in (
                (f"flow at time {time:.3f}", flowed[at], by_flow(*arguments, time)),
                (f"descent of rate {rate:.3f} after {steps} steps", descended[at], by_descent(*arguments, rate, steps)),
            ):
                if not abs(computed - expected) < RANDOM_TOLERANCE:
                    raise Refuted(
                        f"case {case}, N0 = {scale}, label {name}, {what}: {computed:.12g} != {expected:.12g}"
                    )
                worst, compared = max(worst, abs(computed - expected)), compared + 1
    yield f"{compared} parameters of {RANDOM_CASES} random problems of mixed scales agree to {worst:.1e}"


@CLAIMS.claim(
    "pola-2-worked",
    formalised("Theorem 2", "worked cases"),
    r"N_0=4,\ N=8:\quad \mathrm{LRC}\ 1\to1,\ 2\to2,\ 4\to8",
    strength=Strength.EXHAUSTIVE,
    answers=("succeed", "complexities"),
    falsifiers={
        "sums over the last four tokens": _changed_pattern("prefix sum", lambda sums: sums - np.triu(sums, 4)),
        "a window over the first tokens": _changed_pattern(
            "window filter", lambda window: np.triu(window[:1].repeat(8, axis=0))
        ),
        "a clip at distance 1": {"clip": 1},
        "0.5^(j-i) up to distance 3": _changed_pattern("0.5^(j-i)", lambda powers: powers - np.triu(powers, 4)),
        "0.5^(j-i) rounded to halves": _changed_pattern("0.5^(j-i)", lambda powers: np.round(2 * powers) / 2),
    },
)
def worked_cases(
    patterns: Callable[[int], Mapping[str, Pattern]] = _worked_patterns,
    clip: int = 2,
    succeed: Mapping[str, frozenset[str]] = SUCCEED,
    complexities: Mapping[str, tuple[int, int]] = COMPLEXITIES,
) -> Facts:
    """From scale 4 to 8: a prefix sum is learned under the constant and the clipped relation, a window filter of two
    weights under the relative and the clipped one, and 0.5^(j-i) under none.
    """
    training_scale, scale = 4, 8
    misses = []
    for name, pattern in patterns(scale).items():
        profile = lrc_profile(pattern, (training_scale, scale))
        refute(tuple(profile.values()) != complexities[name], f"{name}: complexity {profile}, not {complexities[name]}")
        relations = {"constant": constant(), "absolute": absolute(), "relative": relative()}
        relations |= {"clipped": clipped_relative(clip), "level sets": level_sets(pattern)}
        for relation, law in relations.items():
            learned = pola.learned_matrix(pattern, law.labels(scale), training_scale=training_scale)
            error = pola.error_by_scale(learned, pattern).largest
            # Entries are multiples of 1/128 and a class has at most 10 cells in training: a miss is at least 1/1280.
            first_failure = int(np.argmax(error > 1 / 2000)) + 1 if error[-1] > 1 / 2000 else None
            if (first_failure is None) != (relation in succeed[name]):
                result = "generalizes" if first_failure is None else f"fails from scale {first_failure}"
                raise Refuted(f"{name} under the {relation} relation {result}: largest error {error[-1]:.6g}")
            if first_failure is not None:
                misses.append(f"{name} under {relation} fails from scale {first_failure}, by {error[-1]:.3g}")
    yield "LRC at scales 4 and 8: " + ", ".join(f"{name} {pair}" for name, pair in complexities.items())
    yield from misses
    yield Reach(f"From scale {training_scale} to {scale}")
    yield Assumption(DESCENT)
    yield Assumption("start 0")
    yield Assumption(f"clipped at distance {clip}; 0.5^(j-i) fails under every relation by (2b)")
