"""What a position encoding can make position-only linear attention generalize (Theorem 2 of arXiv 2510.04130)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from proofs_checks.identity import require_equal
from theory import flow, learners, pola
from theory.lrc import level_sets, lrc_profile
from theory.relation import absolute, clipped_relative, constant, relative

Pattern = NDArray[np.float64]
Labels = NDArray[np.int64]
Truth = NDArray[np.bool_]
Profile = Mapping[int, int]
Condition = Callable[[Pattern, Labels, int, Pattern], Truth]

SCALE = 3
TRAINING_SCALES = (1, 2)
VALUES = (0, 1, 2)
# Class means of these values at this scale are at least 1/6 away from every value that they do not equal.
TOLERANCE = 1e-9
KEYS, QUERIES = np.triu_indices(SCALE)
RANDOM_CASES = 60
RANDOM_TOLERANCE = 1e-12
LEARNER = "gradient descent on squared loss, on spanning noise-free data of scales up to N0, without scale hint"


def learnable_iff_constant(
    *, complexity: Callable[[Pattern, Iterable[int]], Profile], relations: Callable[[], Iterable[Labels]]
) -> Evidence:
    """Decide, pattern by pattern: some relation learns it from scale N0 <=> its complexity at N is that at N0."""
    patterns, labellings = _patterns(), list(relations())
    profiles = [complexity(pattern, (*TRAINING_SCALES, SCALE)) for pattern in patterns]
    for training_scale in TRAINING_SCALES:
        learnable = np.zeros(len(patterns), dtype=bool)
        for labels in labellings:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale)
            _require_nearest_minimum(learned, patterns, labels, training_scale, np.zeros(labels.max() + 1))
            learnable |= _equal(learned, patterns)
        for pattern, profile, found in zip(patterns, profiles, learnable, strict=True):
            before, after = profile[training_scale], profile[SCALE]
            if found != (before == after):
                answer = "some relation learns it" if found else "no relation learns it"
                where = f"N0 = {training_scale}, A = {pattern.astype(int).tolist()}"
                raise Refuted(f"{where}: complexity {before} -> {after}, {answer}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, each under "
            f"{len(labellings)} relations: learnable by one of them exactly where LRC does not grow",
            "what is learned equals the pseudo-inverse solution in every one of these cases",
        ),
        assumptions=(LEARNER, "start 0"),
    )


def generalizes_exactly_on(
    *, condition: Condition, dimension: Callable[[Labels, int], int], starts: Iterable[tuple[int, ...]]
) -> Evidence:
    """Decide, relation by relation: the patterns that are learned from N0 are those that meet the condition.

    A start gives the values before training of label 0, 1, ..., over and over.
    """
    patterns, units = _patterns(), _as_patterns(np.eye(len(KEYS)))
    for labels, training_scale, cycle in product(_all_relations(), TRAINING_SCALES, starts):
        start = np.resize(np.array(cycle, dtype=np.float64), labels.max() + 1)
        learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
        where = f"labels {_listed(labels)}, N0 = {training_scale}, start {_listed(start)}"
        _require_nearest_minimum(learned, patterns, labels, training_scale, start)
        found, wanted = _equal(learned, patterns), condition(patterns, labels, training_scale, start)
        if (found != wanted).any():
            at = int(np.argmax(found != wanted))
            answer = "learned" if found[at] else "not learned"
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
        facts=(
            f"{len(patterns)} patterns with entries in {VALUES} at N = {SCALE}, N0 in {TRAINING_SCALES}, under all "
            "relations: learned exactly where the condition holds",
            "in each of these cases the parameters are the minimum nearest to the start, by the pseudo-inverse",
            f"for all real patterns at N = {SCALE}: the learner is an affine map, and the patterns that it fixes have "
            "the dimension stated",
        ),
        assumptions=(LEARNER,),
    )


def suffices(*, condition: Condition, necessary: bool, starts: Iterable[int]) -> Evidence:
    """Decide, relation by relation: a pattern that meets the condition is learned, from every start."""
    patterns = _patterns()
    met = spared = 0
    for labels, training_scale in product(_all_relations(), TRAINING_SCALES):
        wanted = condition(patterns, labels, training_scale, np.zeros(labels.max() + 1))
        for start in starts:
            learned = pola.learned_matrix(patterns, labels, training_scale=training_scale, start=start)
            found = _equal(learned, patterns)
            wrong = (found != wanted) if necessary else (wanted & ~found)
            if wrong.any():
                at = int(np.argmax(wrong))
                answer = "learned" if found[at] else "not learned"
                where = f"labels {_listed(labels)}, N0 = {training_scale}, start {start}"
                raise Refuted(f"{where}: A = {_listed(patterns[at])} is {answer}, against the condition")
            met, spared = met + int(wanted.sum()), spared + int((found & ~wanted).sum())
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"all relations, N0 in {TRAINING_SCALES}, patterns with entries in {VALUES} at N = {SCALE}, starts "
            f"{tuple(starts)}: the condition holds {met} times, and each time the pattern is learned",
            f"it is not necessary: {spared} times a pattern is learned without it",
        ),
        assumptions=(LEARNER,),
    )


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
        ("velocity", derived.velocity(theta), velocity(theta, weight, mean)),
        ("velocity of an unseen label", derived.unseen_velocity(theta), unseen_velocity(theta)),
        ("flow at time 0", by_flow.subs(flow.TIME, 0), start),
        ("flow: derivative in time", by_flow.diff(flow.TIME), derived.velocity(by_flow)),
        ("flow as solved from the derived equation", flow.flow_solution(derived), by_flow),
        ("end of the flow", sp.limit(by_flow, flow.TIME, sp.oo), mean),
        ("descent at step 0", descent_solution(sp.Integer(1)), start),
        ("descent: one more step", next_step, by_descent + flow.RATE * derived.velocity(by_descent)),
        ("descent as solved from the derived recurrence", solved, by_descent),
    )
    facts = [require_equal(*test) for test in tests]
    if flow.constant_class_sum(value) != value * flow.class_weight():
        raise Refuted("the mean of a constant class is not its constant")
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


def worked_cases(*, succeed: Mapping[str, frozenset[str]], complexities: Mapping[str, tuple[int, int]]) -> Evidence:
    """Decide which relations learn the worked patterns from scale 4 up to 8, and their complexities at both."""
    training_scale, scale = 4, 8
    misses = []
    for name, pattern in _worked_patterns(scale).items():
        profile = lrc_profile(pattern, (training_scale, scale))
        if tuple(profile.values()) != complexities[name]:
            raise Refuted(f"{name}: complexity {profile}, not {complexities[name]}")
        relations = {"constant": constant(), "absolute": absolute(), "relative": relative()}
        relations |= {"clipped": clipped_relative(2), "level sets": level_sets(pattern)}
        for relation, law in relations.items():
            learned = pola.learned_matrix(pattern, law.labels(scale), training_scale=training_scale)
            error = pola.error_by_scale(learned, pattern).largest
            # Entries are multiples of 1/128 and a class has at most 10 cells in training: a miss is at least 1/1280.
            first = int(np.argmax(error > 1 / 2000)) + 1 if error[-1] > 1 / 2000 else None
            if (first is None) != (relation in succeed[name]):
                found = "generalizes" if first is None else f"fails from scale {first}"
                raise Refuted(f"{name} under the {relation} relation {found}: largest error {error[-1]:.6g}")
            if first is not None:
                misses.append(f"{name} under {relation} fails from scale {first}, by {error[-1]:.3g}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=("LRC at scales 4 and 8: " + ", ".join(f"{name} {pair}" for name, pair in complexities.items()), *misses),
        assumptions=(LEARNER, "start 0", "clipped at distance 2; 0.5^(j-i) fails under every relation by (2b)"),
    )


def _require_nearest_minimum(
    learned: Pattern, patterns: Pattern, labels: Labels, training_scale: int, start: Pattern
) -> None:
    """That the learner's parameters are, of those of least squared loss, the nearest to the start."""
    keys, queries = np.triu_indices(SCALE)
    seen = queries < training_scale
    parameter_of_cell = (labels[keys, queries, None] == np.arange(labels.max() + 1)).astype(np.float64)
    design = parameter_of_cell[seen]
    unexplained = patterns[:, keys[seen], queries[seen]] - design @ start
    parameters = start + unexplained @ np.linalg.pinv(design).T
    gap = np.abs(learned[:, KEYS, QUERIES] - parameters @ parameter_of_cell.T).max(axis=1)
    if gap.max() >= TOLERANCE:
        where = f"labels {_listed(labels)}, N0 = {training_scale}, start {_listed(start)}"
        raise Refuted(f"not the nearest least-squares fit: {where}, A = {_listed(patterns[gap.argmax()])}")


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


def _equal(learned: Pattern, patterns: Pattern) -> Truth:
    return np.asarray((np.abs(learned - patterns) < TOLERANCE).all(axis=(1, 2)))


def _listed(array: NDArray[np.generic]) -> str:
    return str(np.asarray(array, dtype=np.int64).tolist())


def _patterns() -> Pattern:
    return _as_patterns(list(product(VALUES, repeat=len(KEYS))))


def _as_patterns(cells: Iterable[Iterable[float]]) -> Pattern:
    entries = np.array(cells, dtype=np.float64)
    patterns = np.zeros((len(entries), SCALE, SCALE))
    patterns[:, KEYS, QUERIES] = entries
    return patterns


def _worked_patterns(scale: int) -> dict[str, Pattern]:
    keys, queries = np.indices((scale, scale))
    window = np.where(queries == keys, 2.0, np.where(queries == keys + 1, -1.0, 0.0))
    return {
        "prefix sum": np.triu(np.ones((scale, scale))),
        "window filter": window,
        "0.5^(j-i)": np.triu(0.5 ** np.abs(queries - keys)),
    }


def _as_labels(blocks: Iterable[int]) -> Labels:
    labels = np.zeros((SCALE, SCALE), dtype=np.int64)
    labels[KEYS, QUERIES] = list(blocks)
    return labels


def _all_relations() -> Iterator[Labels]:
    """Every set partition of the cells on and above the diagonal, as a relation with labels 0, 1, ..."""
    return map(_as_labels, _partitions(len(KEYS)))


def _partitions(size: int) -> Iterator[tuple[int, ...]]:
    """Set partitions as restricted growth strings: each element names its block, blocks numbered by first use."""
    if size == 0:
        yield ()
        return
    for blocks in _partitions(size - 1):
        for block in range(max(blocks, default=-1) + 2):
            yield (*blocks, block)


def _absolute_relation() -> tuple[Labels]:
    return (_as_labels(range(len(KEYS))),)


def _relative_relation() -> tuple[Labels]:
    return (_as_labels(QUERIES - KEYS),)


def _values_with_zero(pattern: Pattern, scales: Iterable[int]) -> Profile:
    return {scale: len(np.unique(pattern[:scale, :scale][np.triu_indices(scale)])) for scale in scales}


def _rank(pattern: Pattern, scales: Iterable[int]) -> Profile:
    return {scale: int(np.linalg.matrix_rank(pattern[:scale, :scale])) for scale in scales}


def _met(labels: Labels, training_scale: int) -> set[int]:
    return set(labels[np.triu_indices(training_scale)].tolist())


def _classes(patterns: Pattern, labels: Labels) -> Iterator[tuple[int, Pattern]]:
    """Each label with the entries of its class, [patterns, cells]."""
    for label in sorted(_met(labels, SCALE)):
        yield label, patterns[:, KEYS, QUERIES][:, labels[KEYS, QUERIES] == label]


def _consistent(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    return _all([np.ptp(cells, axis=1) == 0 for _, cells in _classes(patterns, labels)], patterns)


def _covered(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    return np.full(len(patterns), _met(labels, training_scale) == _met(labels, SCALE))


def _consistent_in_training(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    beyond = np.arange(SCALE) >= training_scale
    apart = np.where(beyond, labels.size + np.arange(labels.size).reshape(labels.shape), labels)
    return _consistent(patterns, apart, training_scale, start)


def _unmet_at_start(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    unmet = _met(labels, SCALE) - _met(labels, training_scale)
    classes = _classes(patterns, labels)
    return _all([(cells == start[label]).all(axis=1) for label, cells in classes if label in unmet], patterns)


def _unmet_zero(patterns: Pattern, labels: Labels, training_scale: int, start: Pattern) -> Truth:
    return _unmet_at_start(patterns, labels, training_scale, np.zeros_like(start))


def _both(one: Condition, other: Condition) -> Condition:
    return lambda *case: one(*case) & other(*case)


def _all(conditions: list[Truth], patterns: Pattern) -> Truth:
    return np.asarray(np.logical_and.reduce([np.ones(len(patterns), dtype=bool), *conditions]))


def _labels_met(labels: Labels, training_scale: int) -> int:
    return len(_met(labels, training_scale))


def _tail_weight(scale_weights: Pattern, query: int) -> float:
    return float(scale_weights[query - 1 :].sum())


def _relaxed(kept: sp.Expr) -> sp.Expr:
    """The mean of the class and what is kept of the start's distance from it."""
    return flow.CLASS_MEAN + (flow.START - flow.CLASS_MEAN) * kept


def _source(place: str) -> Source:
    paper = "On the Limitations and Capabilities of Position Embeddings for Length Generalization"
    return Source(paper=paper, arxiv="2510.04130", place=f"Theorem 2, in our formalisation ({place})")


SUCCEED = {
    "prefix sum": frozenset({"constant", "clipped", "level sets"}),
    "window filter": frozenset({"relative", "clipped", "level sets"}),
    "0.5^(j-i)": frozenset[str](),
}
COMPLEXITIES = {"prefix sum": (1, 1), "window filter": (2, 2), "0.5^(j-i)": (4, 8)}

CLAIMS = (
    Claim(
        id="pola-2a",
        source=_source("2a"),
        statement="Under a fixed position relation, the patterns that generalize from N0 to N are exactly those that "
        "are constant on its classes and 0 on the classes that no pair of scale N0 meets: a linear space whose "
        "dimension is the number of labels met at N0.",
        latex=r"\{A:\ A=\theta\circ\varphi,\ \theta_k=0\ \forall k\notin\varphi(T_{N_0})\},\ \dim=|\varphi(T_{N_0})|",
        label="F",
        check=generalizes_exactly_on,
        holds={
            "condition": _both(_consistent, _unmet_zero),
            "dimension": _labels_met,
            "starts": ((0,),),
        },
        falsifiers={
            "classes never met are free": {"condition": _consistent},
            "0 where never met is enough": {"condition": _unmet_zero},
            "every class must be met": {"condition": _both(_consistent, _covered)},
            "one dimension for each label at N": {"dimension": lambda labels, _: _labels_met(labels, SCALE)},
            "one dimension for each cell at N0": {"dimension": lambda _, scale: scale * (scale + 1) // 2},
        },
    ),
    Claim(
        id="pola-2b",
        source=_source("2b"),
        statement="Some position relation lets position-only linear attention generalize a pattern from scale N0 to N "
        "if and only if the pattern's linear representation complexity is the same at both scales.",
        latex=r"\exists\varphi:\ (N_0,N)\text{-LG on }A \iff \mathrm{LRC}_N(A)=\mathrm{LRC}_{N_0}(A)",
        label="F",
        check=learnable_iff_constant,
        holds={"complexity": lrc_profile, "relations": _all_relations},
        falsifiers={
            "zero counted as a value": {"complexity": _values_with_zero},
            "rank in place of LRC": {"complexity": _rank},
            "absolute relation only": {"relations": _absolute_relation},
            "relative relation only": {"relations": _relative_relation},
        },
    ),
    Claim(
        id="pola-2c",
        source=_source("2c"),
        statement="Consistency (the pattern is constant on the classes of the relation) and coverage (every label of "
        "scale N is met at N0) suffice for generalization from N0 to N, from every start; neither does alone.",
        latex=r"A=\theta\circ\varphi\ \wedge\ \varphi(T_N)=\varphi(T_{N_0}) \implies (N_0,N)\text{-LG on }A",
        label="F",
        check=suffices,
        holds={"condition": _both(_consistent, _covered), "necessary": False, "starts": (0, 5)},
        falsifiers={
            "consistency alone": {"condition": _consistent},
            "coverage alone": {"condition": _covered},
            "consistency within training scales, and coverage": {"condition": _both(_consistent_in_training, _covered)},
            "necessary as well": {"necessary": True},
        },
    ),
    Claim(
        id="pola-2-start",
        source=_source("2a, from another start"),
        statement="From a start theta0 a label that training never meets keeps its theta0: the patterns that "
        "generalize are those constant on classes and equal to theta0 on the classes never met, an affine space of the "
        "same dimension.",
        latex=r"\{A:\ A=\theta\circ\varphi,\ \theta_k=\theta^{(0)}_k\ \forall k\notin\varphi(T_{N_0})\}",
        label="F",
        check=generalizes_exactly_on,
        holds={
            "condition": _both(_consistent, _unmet_at_start),
            "dimension": _labels_met,
            "starts": ((1,), (2, 0, 1)),
        },
        falsifiers={
            "the start is forgotten": {"condition": _both(_consistent, _unmet_zero)},
            "the start where never met is enough": {"condition": _unmet_at_start},
            "every class must be met": {"condition": _both(_consistent, _covered)},
            "labels never met are directions as well": {"dimension": lambda labels, _: _labels_met(labels, SCALE)},
        },
    ),
    Claim(
        id="pola-2-flow",
        source=_source("gradient flow"),
        statement="Gradient flow on the loss of position-only linear attention decouples over labels: each parameter "
        "goes to the mean of the pattern over its class at twice the class's weight, labels never met do not move, and "
        "gradient descent does the same in steps.",
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
        source=_source("gradient flow and descent, as computed"),
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
    Claim(
        id="pola-2-worked",
        source=_source("worked cases"),
        statement="From scale 4 to 8: a prefix sum is learned under the constant and the clipped relation, a window "
        "filter of two weights under the relative and the clipped one, and 0.5^(j-i) under none.",
        latex=r"N_0=4,\ N=8:\quad \mathrm{LRC}\ 1\to1,\ 2\to2,\ 4\to8",
        label="F",
        check=worked_cases,
        holds={"succeed": SUCCEED, "complexities": COMPLEXITIES},
        falsifiers={
            "the relative relation learns the prefix sum": {
                "succeed": SUCCEED | {"prefix sum": SUCCEED["prefix sum"] | {"relative"}},
            },
            "the constant relation learns the window filter": {
                "succeed": SUCCEED | {"window filter": SUCCEED["window filter"] | {"constant"}},
            },
            "the clipped relation fails on the window filter": {
                "succeed": SUCCEED | {"window filter": SUCCEED["window filter"] - {"clipped"}},
            },
            "the relative relation learns 0.5^(j-i)": {"succeed": SUCCEED | {"0.5^(j-i)": frozenset({"relative"})}},
            "the complexity of 0.5^(j-i) stays": {"complexities": COMPLEXITIES | {"0.5^(j-i)": (4, 4)}},
        },
    ),
)
