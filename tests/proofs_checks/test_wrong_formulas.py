"""A wrong formula in theory/ is refuted by the claim that rests on it, with a counterexample."""

import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.theory import lrc
from lengthgen.theory.encodings import grape, hope, paths
from lengthgen.theory.learning import anchored, flow, learners, pola
from tests.proofs_checks import wrong_formulas

RIGHT_PROFILE, RIGHT_LEARNER, RIGHT_POPULATION = lrc.profile, pola.learned_matrix, pola.population
RIGHT_FLOW, RIGHT_GRADIENT_FLOW, RIGHT_DESCENT = flow.label_flow, learners.gradient_flow, learners.gradient_descent


def _cosine_over_speed(gram: grape.Gram, *, time: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    generator = grape.rank2_generator(gram)
    cosine = (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed)
    return grape.identity(gram) + generator.scaled(sp.sin(time * speed) / speed) + cosine


def _reversed_generator(gram: grape.Gram) -> grape.PlaneOperator:
    return grape.PlaneOperator(gram=gram, identity=sp.Integer(0), coefficients=sp.Matrix([[0, -1], [1, 0]]))


def _counted_from_the_next_scale(pattern: Any, scale: int | None = None) -> lrc.LrcProfile:
    right = RIGHT_PROFILE(pattern, scale)
    return lrc.LrcProfile(scale=right.scale, first_scales=right.first_scales + 1)


def _one_value_for_zero(pattern: Any, scale: int | None = None) -> lrc.LrcProfile:
    right = RIGHT_PROFILE(pattern, scale)
    zeros = [j + 1 for j in range(right.scale) for i in range(j + 1) if pattern[i][j] == 0]
    first_scales = sorted([*zeros[:1], *right.first_scales.tolist()])
    return lrc.LrcProfile(scale=right.scale, first_scales=np.array(first_scales, dtype=np.int64))


def _starts(labels: Any, start: Any) -> dict[int, float]:
    names = np.unique(labels[np.triu_indices(len(labels))])
    return dict(zip(names.tolist(), np.broadcast_to(start, names.shape).tolist(), strict=True))


def _last_value_wins(target: Any, labels: Any, *, training_scale: int, start: Any = 0.0, **_: Any) -> Any:
    learned, first = np.zeros_like(target, dtype=np.float64), _starts(labels, start)
    for key, query in zip(*np.triu_indices(labels.shape[0]), strict=True):
        learned[..., key, query] = first[labels[key, query]]
        for seen_query in range(training_scale):
            for seen_key in range(seen_query + 1):
                if labels[seen_key, seen_query] == labels[key, query]:
                    learned[..., key, query] = target[..., seen_key, seen_query]
    return learned


def _knows_the_target(target: Any, labels: Any, *, training_scale: int, start: Any = 0.0, **_: Any) -> Any:
    return target


def _forgets_its_start(target: Any, labels: Any, *, training_scale: int, start: Any = 0.0, **_: Any) -> Any:
    return RIGHT_LEARNER(target, labels, training_scale=training_scale)


def _twice(target: Any, labels: Any, *, training_scale: int, start: Any = 0.0, **_: Any) -> Any:
    learned = np.zeros_like(target, dtype=np.float64)
    learned[..., :training_scale, :training_scale] = 2 * target[..., :training_scale, :training_scale]
    return learned


def _problem_of_the_largest_scale_only(target: Any, labels: Any, *, scale_weights: Any = None, **rest: Any) -> Any:
    return RIGHT_POPULATION(target, labels, **rest)


def _half_speed(second_moment: flow.SecondMoment = flow.unit_second_moment) -> flow.Flow:
    right = RIGHT_FLOW(second_moment)
    return flow.Flow(slope=right.slope / 2, intercept=right.intercept / 2, cross=right.cross)


def _learns_nothing(basis: Any, targets: Any, *, training_scale: int, weights: Any = None) -> Any:
    return np.zeros((*np.shape(targets)[:-2], len(basis.matrices)), dtype=object)


WRONG: list[tuple[Any, ...]] = [
    ("grape.squared_speed", lambda gram: gram.alpha * gram.beta + gram.gamma**2, "grape-1"),
    ("grape.rank2_exponential", _cosine_over_speed, "grape-1"),
    ("grape.rank2_generator", _reversed_generator, "grape-1 grape-5"),
    ("grape.plane_projector", grape.identity, "grape-1"),
    ("grape.nilpotent", lambda: sp.Matrix([[0, 1], [0, 0]]), "grape-8"),
    ("grape.extended_score", lambda content, **actions: content, "grape-10"),
    (
        "biases.alibi_bias",
        lambda slope, *, query_position, key_position: slope * (query_position - key_position),
        "grape-8",
    ),
    ("grape.alibi_generator", lambda *, slope: sp.Matrix([[0, 0], [slope, 0]]), "grape-8 grape-10"),
    (
        "paths.fox_path_gate",
        lambda *, key, query: sp.Product(paths.LOG_GATES[sp.Symbol("l")], (sp.Symbol("l"), key + 1, query)),
        "fox-1",
    ),
    (
        "hope.key_action",
        lambda position, *, rate, damping: sp.exp(-position * damping) * hope.boost(-position * rate),
        "hope-1",
    ),
    (
        "hope.kernel",
        lambda offset, *, rate, damping: sp.exp(-offset * damping) * hope.boost(-offset * rate),
        "hope-6-complex",
    ),
    ("hope.light_cone_score", lambda query, key, **law: query.dot(key), "hope-1"),
    ("hope.decay_factors", lambda *, rate, damping: (sp.exp(-damping), sp.exp(-rate - damping)), "hope-6-real"),
    ("lengthgen.theory.lrc.profile", _one_value_for_zero, "pola-2b pola-1e pola-1e-count"),
    (
        "lengthgen.theory.lrc.profile",
        _counted_from_the_next_scale,
        "pola-2b pola-2-worked pola-3-monotone pola-3-vector",
    ),
    ("lengthgen.theory.learning.pola.population", _problem_of_the_largest_scale_only, "pola-2-learners"),
    (
        "lengthgen.theory.learning.learners.gradient_flow",
        lambda problem, *, start, time: RIGHT_GRADIENT_FLOW(problem, start=start, time=time / 2),
        "pola-2-learners",
    ),
    (
        "lengthgen.theory.learning.learners.gradient_descent",
        lambda problem, *, start, rate, steps: RIGHT_DESCENT(problem, start=start, rate=rate / 2, steps=steps),
        "pola-2-learners",
    ),
    ("lengthgen.theory.learning.flow.label_flow", _half_speed, "pola-2-flow pola-2-learners"),
    ("lengthgen.theory.learning.flow.constant_class_sum", lambda value: value, "pola-2-flow"),
    ("lengthgen.theory.learning.plaa.advice", lambda inputs: (np.asarray(inputs) == -1).argmax(axis=-1) + 1, "plaa-1"),
    (
        "lengthgen.theory.learning.plaa.fourier",
        lambda matrix: np.zeros((len(matrix) + 1, len(matrix) + 1), dtype=object),
        "plaa-1",
    ),
    ("lengthgen.theory.learning.plaa.degree", len, "plaa-1"),
    ("lengthgen.theory.learning.plaa.learned_coefficients", _learns_nothing, "plaa-2 plaa-3 plaa-pola"),
    ("lengthgen.theory.learning.plaa.degrees_separate", lambda basis, *, training_scale: training_scale > 1, "plaa-2"),
    ("lengthgen.theory.learning.anchored.zigzag", np.abs, "plaa-rpe-square-labels"),
    (
        "lengthgen.theory.learning.anchored.copy_anchors",
        lambda scale: anchored.last_anchor((1, scale + 1), length=2 * scale + 3),
        "plaa-rpe-square-labels",
    ),
    (
        "lengthgen.theory.learning.anchored.addition_anchors",
        lambda first, second: anchored.last_anchor((1, first + 2), length=2 * (first + second) + 5),
        "plaa-rpe-square-labels",
    ),
    (
        "lengthgen.theory.learning.anchored.hard_scores",
        lambda anchors, table: np.zeros((len(anchors),) * 2),
        "plaa-rpe-square-limit",
    ),
    (
        "lengthgen.theory.learning.anchored.hard_limit_error",
        lambda table, *, lead, length: 0.0,
        "plaa-rpe-square-limit",
    ),
]
CASES = list(wrong_formulas.cases(WRONG))


CLAIMS = {claim.id: claim for claim in registry.CLAIMS}


@pytest.fixture(autouse=True)
def forget_evaluated_functions() -> Iterator[None]:
    """Sympy remembers what a function of numbers was, and would not ask a patched formula."""
    clear_cache()
    yield
    clear_cache()


@pytest.mark.parametrize(
    ("formula", "wrong", "claim_id", "reason"), CASES, ids=[f"{row[0]}-{row[2]}-{n}" for n, row in enumerate(CASES)]
)
def test_wrong_formula_is_refuted(
    formula: str, wrong: Any, claim_id: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, holds = pkgutil.resolve_name(formula), CLAIMS[claim_id].holds
    monkeypatch.setattr(formula, wrong)
    with pytest.raises(Refuted, match=reason):
        CLAIMS[claim_id].check(
            **{key: wrong if callable(right) and value is right else value for key, value in holds.items()}
        )


WRONG_LEARNERS: list[tuple[Callable[..., Any], str, str]] = [
    (_knows_the_target, "pola-1a", "reaches 1024 targets"),
    (_knows_the_target, "pola-1b", "random starts do not reach"),
    (_knows_the_target, "pola-1d", "fills dimension 6"),
    (
        _knows_the_target,
        "pola-2a",
        r"not the nearest .* N0 = 1, start \[0\], A = \[\[0, 0, 0\], \[0, 0, 0\], \[0, 0, 2\]\]",
    ),
    (_knows_the_target, "pola-2b", r"not the nearest .* A = \[\[0, 0, 0\], \[0, 0, 0\], \[0, 0, 2\]\]"),
    (
        _knows_the_target,
        "pola-2-start",
        r"not the nearest .* start \[1\], A = \[\[0, 0, 0\], \[0, 0, 0\], \[0, 0, 2\]\]",
    ),
    (_knows_the_target, "pola-2-worked", "prefix sum under the absolute relation generalizes"),
    (_knows_the_target, "pola-3-rank", "sufficient in all 729 cases"),
    (_knows_the_target, "pola-3-vector", "0 -> 1, some relation learns it"),
    (_knows_the_target, "plaa-pola", r"POLA \[\[1, 0, 0\], \[0, 0, 0\], \[0, 0, 0\]\]"),
    (_twice, "pola-1d", "changes what is learned by 2"),
    (_twice, "pola-2c", r"\[\[1, 1, 1\], \[0, 1, 1\], \[0, 0, 1\]\] is not learned"),
    (_last_value_wins, "pola-2a", r"not the nearest .* N0 = 2"),
    (_last_value_wins, "pola-2b", r"not the nearest .* N0 = 2"),
    (_last_value_wins, "pola-2-start", r"not the nearest .* N0 = 2"),
    (_forgets_its_start, "pola-1b", "2 random starts do not reach 2 targets"),
    (_forgets_its_start, "pola-2-start", r"not the nearest .* labels \[0, 0, 0, 0, 0, 1\], N0 = 1, start \[1, 1\]"),
]


@pytest.mark.parametrize(
    ("learner", "claim_id", "reason"), WRONG_LEARNERS, ids=[f"{row[0].__name__}-{row[1]}" for row in WRONG_LEARNERS]
)
def test_a_wrong_learner_is_refuted(
    learner: Callable[..., Any], claim_id: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lengthgen.theory.learning.pola.learned_matrix", learner)
    with pytest.raises(Refuted, match=reason):
        CLAIMS[claim_id].check(**CLAIMS[claim_id].holds)
