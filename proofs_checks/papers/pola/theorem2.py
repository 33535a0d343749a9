"""Theorem 2 of arXiv 2510.04130, formalised: the patterns for which a relation lets POLA generalize.

For a given relation (2a, also from another start), for some relation (2b), and a sufficient condition (2c). Gradient
flow decouples over labels, and the computed learners follow it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Strength
from lengthgen.proofs_checks.facts import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.pola.cases import (
    DESCENT,
    SCALE,
    TOLERANCE,
    TRAINING_SCALES,
    VALUES,
    is_learned,
    learnable_text,
)
from lengthgen.theory.enumeration import every_pattern, every_relation
from lengthgen.theory.learning import flow, learners, pola
from lengthgen.theory.lrc import level_sets, lrc_profile
from lengthgen.theory.relation import Labels, absolute, clipped_relative, constant, relative, upper_pairs

Pattern = NDArray[np.float64]
Truth = NDArray[np.bool_]
Profile = Mapping[int, int]
Condition = Callable[[Pattern, Labels, int, Pattern], Truth]

KEYS, QUERIES = np.triu_indices(SCALE)
RANDOM_CASES = 60
RANDOM_TOLERANCE = 1e-12
SUCCEED = {
    "prefix sum": frozenset({"constant", "clipped", "level sets"}),
    "window filter": frozenset({"relative", "clipped", "level sets"}),
    "0.5^(j-i)": frozenset[str](),
}
COMPLEXITIES = {"prefix sum": (1, 1), "window filter": (2, 2), "0.5^(j-i)": (4, 8)}


def generalizes_exactly_on(
    *, condition: Condition, dimension: Callable[[Labels, int], int], starts: Iterable[tuple[int, ...]]
) -> Evidence:
    """Decide for each relation that the patterns learned from N0 are those that meet the condition.

    A start is a cycle of initial values for the labels 0, 1, ....
    """
    patterns, units = every_pattern(SCALE, VALUES), _units()
    for labels, training_scale, cycle in product(every_relation(SCALE), TRAINING_SCALES, starts):
        start = np.resize(np.array(cycle, dtype=np.float64), labels.max() + 1)
        learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
        where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {_listed(start)}"
        _require_nearest_minimum(learned, patterns, labels, training_scale, start)
        learned_right, expected = is_learned(learned, patterns), condition(patterns, labels, training_scale, start)
        if (learned_right != expected).any():
            at = int(np.argmax(learned_right != expected))
            answer = "learned" if learned_right[at] else "not learned"
            raise Refuted(f"{where}: A = {_listed(patterns[at])} is {answer}, against the condition")
        linear = pola.learned_matrix(units, labels, training_scale=training_scale)[:, KEYS, QUERIES]
        affine = patterns[:, KEYS, QUERIES] @ linear + learned[0, KEYS, QUERIES]
        if np.abs(learned[:, KEYS, QUERIES] - affine).max() >= TOLERANCE:
            raise Refuted(f"{where}: the learner is not an affine map")
        free = len(units) - int(np.linalg.matrix_rank(linear - np.eye(len(units))))
        if free != dimension(labels, training_scale):
            raise Refuted(f"{where}: dimension {free}, not {dimension(labels, training_scale)}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SCALE}",
        facts=(
            f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, under all "
            "relations: learned exactly where the condition holds",
            "in each of these cases the parameters are the minimum nearest to the start, by the pseudo-inverse",
            f"for all real patterns at N = {SCALE}: the learner is an affine map, and the patterns that it fixes have "
            "the dimension stated",
        ),
        assumptions=(DESCENT,),
    )


def _require_nearest_minimum(
    learned: Pattern, patterns: Pattern, labels: Labels, training_scale: int, start: Pattern
) -> None:
    """Require that the learned parameters are the least-squares solution nearest to the start."""
    seen = training_scale > QUERIES
    parameter_of_cell = np.equal.outer(labels[KEYS, QUERIES], np.arange(labels.max() + 1)).astype(np.float64)
    design = parameter_of_cell[seen]
    unexplained = patterns[:, KEYS[seen], QUERIES[seen]] - design @ start
    parameters = start + unexplained @ np.linalg.pinv(design).T
    gap = np.abs(learned[:, KEYS, QUERIES] - parameters @ parameter_of_cell.T).max(axis=1)
    if gap.max() >= TOLERANCE:
        where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {_listed(start)}"
        raise Refuted(f"not the nearest least-squares fit: {where}, A = {_listed(patterns[gap.argmax()])}")


def _units() -> Pattern:
    """Basis of all patterns: in each of them one entry is 1 and all others are 0."""
    units = np.zeros((len(KEYS), SCALE, SCALE))
    units[np.arange(len(KEYS)), KEYS, QUERIES] = 1
    return units


def _listed(array: NDArray[np.generic]) -> str:
    """Text of an integer array."""
    return str(np.asarray(array, dtype=np.int64).tolist())


def _values_with_zero(pattern: Pattern, scales: Iterable[int]) -> Profile:
    """Number of distinct entries at each scale, zero included."""
    return {scale: len(np.unique(pattern[:scale, :scale][upper_pairs(scale)])) for scale in scales}


def _rank(pattern: Pattern, scales: Iterable[int]) -> Profile:
    """Rank at each scale."""
    return {scale: int(np.linalg.matrix_rank(pattern[:scale, :scale])) for scale in scales}


def _labels_up_to(labels: Labels, training_scale: int) -> set[int]:
    """Labels that occur up to a scale."""
    return set(labels[upper_pairs(training_scale)].tolist())


def _classes(patterns: Pattern, labels: Labels) -> Iterator[tuple[int, Pattern]]:
    """Yield each label with the entries of its class, [patterns, cells]."""
    for label in sorted(_labels_up_to(labels, SCALE)):
        yield label, patterns[:, KEYS, QUERIES][:, labels[KEYS, QUERIES] == label]


def _consistent(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is constant on the classes."""
    return _all([np.ptp(cells, axis=1) == 0 for _, cells in _classes(patterns, labels)], patterns)


def _covered(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True if every label of scale N is met in training."""
    return np.full(len(patterns), _labels_up_to(labels, training_scale) == _labels_up_to(labels, SCALE))


def _consistent_in_training(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is constant on the classes within training scales."""
    beyond = np.arange(SCALE) >= training_scale
    apart = np.where(beyond, labels.size + np.arange(labels.size).reshape(labels.shape), labels)
    return _consistent(patterns, apart, training_scale, start)


def _unmet_at_start(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that equals the start on the classes never met in training."""
    unmet = _labels_up_to(labels, SCALE) - _labels_up_to(labels, training_scale)
    classes = _classes(patterns, labels)
    return _all([(cells == start[label]).all(axis=1) for label, cells in classes if label in unmet], patterns)


def _unmet_zero(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    """True for each pattern that is 0 on the classes never met in training."""
    return _unmet_at_start(patterns, labels, training_scale, np.zeros_like(start))


def _both(first: Condition, second: Condition) -> Condition:
    """Condition that both conditions hold."""
    return lambda *case: first(*case) & second(*case)


def _all(conditions: list[Truth], patterns: Pattern) -> Truth:
    """True for each pattern for which all conditions hold."""
    return np.asarray(np.logical_and.reduce([np.ones(len(patterns), dtype=bool), *conditions]))


def _labels_met(labels: Labels, training_scale: int) -> int:
    """Number of labels met in training."""
    return len(_labels_up_to(labels, training_scale))


CLAIMS = PaperClaims(SOURCE)


CLAIMS.append(
    Claim(
        id="pola-2a",
        source=formalised("Theorem 2", "2a"),
        statement="Under a fixed relation, the patterns that generalize from N0 to N are those constant on "
        "its classes and 0 on classes not met at N0: a linear space whose dimension is the number of "
        "labels met at N0. "
        "Decided for N = 3, under every relation.",
        latex=r"\{A:\ A=\theta\circ\varphi,\ \theta_k=0\ \forall k\notin\varphi(T_{N_0})\},\ \dim=|\varphi(T_{N_0})|",
        label="F",
        check=generalizes_exactly_on,
        holds={"condition": _both(_consistent, _unmet_zero), "dimension": _labels_met, "starts": ((0,),)},
        falsifiers={
            "classes never met are free": {"condition": _consistent},
            "0 where never met is enough": {"condition": _unmet_zero},
            "every class must be met": {"condition": _both(_consistent, _covered)},
            "one dimension for each label at N": {"dimension": lambda labels, _: _labels_met(labels, SCALE)},
            "one dimension for each cell at N0": {"dimension": lambda _, scale: scale * (scale + 1) // 2},
        },
    )
)


@CLAIMS.claim(
    "pola-2b",
    formalised("Theorem 2", "2b"),
    r"\exists\varphi:\ (N_0,N)\text{-LG on }A \iff \mathrm{LRC}_N(A)=\mathrm{LRC}_{N_0}(A)",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(DESCENT, "start 0"),
    falsifiers={
        "zero counted as a value": {"complexity": _values_with_zero},
        "rank in place of LRC": {"complexity": _rank},
        "absolute relation only": {"relations": lambda: (absolute().labels(SCALE),)},
        "relative relation only": {"relations": lambda: (relative().labels(SCALE),)},
    },
)
def learnable_iff_constant(
    complexity: Callable[[Pattern, Iterable[int]], Profile] = lrc_profile,
    relations: Callable[[], Iterable[Labels]] = lambda: every_relation(SCALE),
) -> Facts:
    """Some position relation lets position-only linear attention generalize a pattern from scale N0 to N if and only if
    the pattern's linear representation complexity is the same at both scales. Decided for N = 3, under every relation.
    """
    patterns, labellings = every_pattern(SCALE, VALUES), list(relations())
    profiles = [complexity(pattern, (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    for training_scale in TRAINING_SCALES:
        learnable = np.zeros(len(patterns), dtype=bool)
        for labels in labellings:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale)
            _require_nearest_minimum(learned, patterns, labels, training_scale, np.zeros(labels.max() + 1))
            learnable |= is_learned(learned, patterns)
        for pattern, profile, is_learnable in zip(patterns, profiles, learnable, strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if is_learnable != (before == after):
                where = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}"
                raise Refuted(f"{where}: complexity {before} -> {after}, {learnable_text(bool(is_learnable))}")
    yield (
        f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, each under "
        f"{len(labellings)} relations: learnable by one of them exactly where LRC does not grow"
    )
    yield "what is learned equals the pseudo-inverse solution in every one of these cases"


@CLAIMS.claim(
    "pola-2c",
    formalised("Theorem 2", "2c"),
    r"A=\theta\circ\varphi\ \wedge\ \varphi(T_N)=\varphi(T_{N_0}) \implies (N_0,N)\text{-LG on }A",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SCALE}",
    assumptions=(DESCENT,),
    falsifiers={
        "consistency alone": {"condition": _consistent},
        "coverage alone": {"condition": _covered},
        "consistency within training scales, and coverage": {"condition": _both(_consistent_in_training, _covered)},
    },
)
def suffices(condition: Condition = _both(_consistent, _covered), starts: Iterable[int] = (0, 5)) -> Facts:
    """Consistency (the pattern is constant on the classes of the relation) and coverage (every label of scale N is met
    at N0) suffice for generalization from N0 to N, from every start; neither does alone. Decided for N = 3, under every
    relation.
    """
    patterns = every_pattern(SCALE, VALUES)
    met = spared = 0
    for labels, training_scale in product(every_relation(SCALE), TRAINING_SCALES):
        meets_condition = condition(patterns, labels, training_scale, np.zeros(labels.max() + 1))
        for start in starts:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
            learned_right = is_learned(learned, patterns)
            wrong = meets_condition & ~learned_right
            if wrong.any():
                at = int(np.argmax(wrong))
                answer = "learned" if learned_right[at] else "not learned"
                where = f"labels {_listed(labels[KEYS, QUERIES])}, N0 = {training_scale}, start {start}"
                raise Refuted(f"{where}: A = {_listed(patterns[at])} is {answer}, against the condition")
            met, spared = met + int(meets_condition.sum()), spared + int((learned_right & ~meets_condition).sum())
    yield (
        f"all relations, N0 in {TRAINING_SCALES}, patterns with entries in {VALUES} at N = {SCALE}, starts "
        f"{tuple(starts)}: the condition holds {met} times, and each time the pattern is learned"
    )
    yield f"it is not necessary: {spared} times a pattern is learned without it"


CLAIMS.append(
    Claim(
        id="pola-2-start",
        source=formalised("Theorem 2", "2a, from another start"),
        statement="From a start theta0 a label that training never meets keeps its theta0: the patterns that "
        "generalize are those constant on classes and equal to theta0 on the classes never met, an affine space of the "
        "same dimension. "
        "Decided for N = 3, under every relation.",
        latex=r"\{A:\ A=\theta\circ\varphi,\ \theta_k=\theta^{(0)}_k\ \forall k\notin\varphi(T_{N_0})\}",
        label="F",
        check=generalizes_exactly_on,
        holds={"condition": _both(_consistent, _unmet_at_start), "dimension": _labels_met, "starts": ((1,), (2, 0, 1))},
        falsifiers={
            "the start is forgotten": {"condition": _both(_consistent, _unmet_zero)},
            "the start where never met is enough": {"condition": _unmet_at_start},
            "every class must be met": {"condition": _both(_consistent, _covered)},
            "labels never met are directions as well": {"dimension": lambda labels, _: _labels_met(labels, SCALE)},
        },
    )
)


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
    assumptions=("tokens have identity second moments at every query", "no noise, no scale hint", "m_l > 0 if met"),
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
    """Gradient flow decouples over labels: each parameter goes to the mean of the pattern over its class, at twice the
    class's weight. Labels never met do not move. Gradient descent does the same in steps.

    Args:
        second_moment: second moment of the tokens at two keys.
        velocity: (theta, class weight, class mean) -> velocity of a seen label.
        unseen_velocity: theta -> velocity of a label that training never meets.
        flow_solution: remaining share of the start -> theta under the flow.
        descent_solution: remaining share of the start -> theta under gradient descent.
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
    flow, for data that mix the scales up to N0.
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
