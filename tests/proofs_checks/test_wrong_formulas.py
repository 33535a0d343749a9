"""A wrong formula in theory/ is refuted by each claim that rests on it, with a counterexample."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from lengthgen.proofs_checks import mutations, registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.theory.encodings import absolute, grape, paths, prism, relations, rotary
from lengthgen.theory.learning import pola
from lengthgen.theory.lrc import LrcProfile, profile
from lengthgen.theory.relation import Relation, from_function

RESTS = {
    "encodings.absolute": {
        "dct_cosine": "orthogonal-5 orthogonal-9",
        "haar_function": "orthogonal-4",
        "haar_wavelet": "orthogonal-4",
        "legendre_coordinate": "orthogonal-1-grid orthogonal-3 orthogonal-9",
        "legendre_function": "orthogonal-1 orthogonal-1-grid",
        "sinusoidal_code": "sin-1 sin-4 sin-2 sin-3",
        "sinusoidal_shift": "sin-1",
        "table_code": "ape-1",
    },
    "encodings.biases": {
        "FIRE_HIDDEN": "fire-3-width",
        "T5_BUCKETS": "t5-1 t5-5",
        "T5_LONGEST": "t5-1 t5-2",
        "_geometric_slopes": "alibi-1",
        "alibi_bias": "grape-8 alibi-3 alibi-4 alibi-5 alibi-6 alibi-7 bam-2 seqpe-7",
        "alibi_slopes": "alibi-1",
        "bam_log_prior": "bam-2 bam-9",
        "bam_posterior": "bam-1",
        "bam_power": "bam-2 bam-4 bam-6 bam-7 bam-9 bam-11 bam-5",
        "bam_temperature": "bam-8-ssmax bam-13",
        "fire_distance": "fire-3 fire-4",
        "fire_fraction": "fire-1 fire-2",
        "fire_psi": "fire-1",
        "fire_relation": "fire-2",
        "graph_alibi_bias": "graph-alibi-2-path graph-alibi-6 graph-alibi-6-trees graph-alibi-7",
        "kerple_logarithm": "kerple-2 kerple-5",
        "kerple_power": "kerple-1 kerple-3 kerple-4",
        "t5_bidirectional_bucket": "t5-1-bidirectional",
        "t5_bucket": "t5-5",
        "t5_buckets": "t5-1",
    },
    "encodings.grape": {
        "_action_in_coordinates": "grape-6",
        "additive_bias": "grape-8",
        "affinity": "grape-16",
        "affinity_potential": "grape-21",
        "alibi_generator": "grape-8 grape-10",
        "commuting_action": "grape-7",
        "content_gate": "grape-gated",
        "contextual_action": "grape-contextual",
        "cosine_share": "grape-angle",
        "displacement": "grape-2",
        "edge_potential": "grape-15-monotone",
        "edge_sum": "grape-15",
        "extended_score": "grape-10",
        "fox_link": "fox-6 grape-10",
        "gated_bias": "grape-17-features",
        "increments": "grape-20",
        "integer_period": "grape-18",
        "joint_score": "grape-11",
        "key_features": "grape-17-features",
        "lifted": "grape-11",
        "linear_offset": "grape-distance",
        "nilpotent": "grape-8",
        "partial_reflection": "grape-19",
        "phase": "grape-contextual",
        "plane_action": "grape-18 grape-3",
        "plane_exponential": "grape-6",
        "plane_generator": "grape-7",
        "plane_projector": "grape-1",
        "prefix": "grape-20",
        "quarter_turn": "grape-6",
        "query_features": "grape-17-features",
        "rank2_exponential": "grape-1 grape-2",
        "rank2_generator": "grape-1 grape-5",
        "reflection_singular_values": "grape-19",
        "regauged": "grape-4",
        "shear_condition_number": "grape-12",
        "shear_singular_values": "grape-12",
        "sine_share": "grape-angle",
        "softplus": "grape-gated",
        "spanning": "grape-6",
        "squared_speed": "grape-1 grape-4",
        "unipotent": "grape-8 grape-9 grape-13",
    },
    "encodings.hope": {
        "boost": "hope-1 hope-2",
        "channels": "hope-1 hope-3 hope-5-uniform",
        "decay_factors": "hope-6-real",
        "decay_rates": "hope-1 hope-7 hope-10",
        "falling_margins": "hope-4 hope-4-gaussian",
        "kernel": "hope-6-complex hope-7 xpos-4",
        "key_action": "hope-1",
        "light_cone": "hope-7 hope-2",
        "light_cone_score": "hope-1 hope-8 hope-5",
        "peaked_key": "hope-8",
        "plane_with": "hope-7",
        "query_action": "hope-1",
        "score": "hope-1 hope-3",
    },
    "encodings.paths": {
        "cable_bias": "cable-1 cable-2 cable-3 cable-6 cable-7 cable-5",
        "cable_distance": "cable-1 cable-2 cable-3 cable-5 cable-7",
        "cable_gate": "cable-2",
        "cable_log_gate": "cable-1 cable-3 cable-2",
        "cable_logarithm": "cable-9 cable-10",
        "cable_rectified": "cable-2 cable-4 cable-6 cable-3-without-bias",
        "fox_bias": "fox-1 grape-10 fox-2 fox-7 fox-8 fox-11 fox-12",
        "fox_constant_bias": "fox-2",
        "fox_log_gate": "fox-3 fox-6 fox-10",
        "fox_path_gate": "fox-1 fox-4",
        "fox_pruning_threshold": "fox-9",
        "fox_state": "fox-4",
        "fox_timescale_logit": "fox-10",
        "fox_timescales": "fox-10",
        "log_sigmoid": "grape-21",
        "softplus": "grape-21",
    },
    "encodings.prism": {
        "least_odds": "prism-7 prism-7-first prism-7-numbers",
        "mixed": "prism-2 prism-6 prism-7 prism-7-first prism-7-numbers prism-1",
        "moved": "prism-2 prism-5 prism-1",
        "released_mixed": "prism-10",
        "sharpened": "prism-3 prism-4 prism-7 prism-1",
        "superposition": "prism-5",
    },
    "encodings.randomized": {
        "coverage": "rpe-2 rpe-4",
        "draws": "rpe-1 rpe-2 rpe-3 rpe-5",
        "expected_gap": "rpe-3 rpe-5",
        "expected_position": "rpe-3",
        "gap_probability": "rpe-5",
        "released_distance": "rpe-6-distances",
        "row": "rpe-6",
    },
    "encodings.relations": {
        "HAAR_MATRIX": "wavelet-3",
        "restricted_shift": "wavelet-1",
        "restricted_turns": "wavelet-1",
        "restricted_wavelet": "wavelet-1",
        "ricker": "wavelet-4 wavelet-6 wavelet-7 wavelet-8",
        "wavelet_component": "wavelet-5",
        "wavelet_grid": "wavelet-8 wavelet-7-float",
        "wavelet_vector": "wavelet-5",
    },
    "encodings.rotary": {
        "_ntk_actions": "ntk-1 dntk-1 dntk-2",
        "by_parts": "rope-3",
        "closed_error_constant": "pi-3",
        "coordinates": "rope-6",
        "decay_bound": "rope-3",
        "dynamic_ntk_scale": "dntk-1",
        "error_constant": "pi-2 pi-5",
        "frequency": "rope-5 sin-4 sin-2",
        "interpolated_frequencies": "pi-1",
        "interpolated_position": "pi-1 pi-6",
        "last_full_turn": "rope-5",
        "linear_interpolation": "pi-2",
        "ntk_base": "ntk-1",
        "ntk_factor": "ntk-1 ntk-2",
        "ntk_frequencies": "ntk-1",
        "ntk_share": "ntk-1 ntk-2",
        "partial_sum": "rope-3",
        "period": "rope-5",
        "printed_error_constant": "pi-4",
        "rotation": "bam-10 rope-1 grape-5 rope-2 rope-7",
        "score": "rope-1 rope-4 rope-7",
        "sum_of_squared_frequencies": "pi-3 pi-4",
        "swat_receptive_field": "swat-2",
        "swat_slopes": "swat-7 swat-10",
        "swat_weight": "swat-5 swat-6 swat-7 swat-9 swat-1",
        "to_halves": "rope-6",
        "xpos_actions": "xpos-1",
        "xpos_first_infinite_key": "xpos-3",
        "xpos_kernel": "xpos-1 xpos-2 xpos-4",
        "xpos_rate": "xpos-2",
        "xpos_zeta": "xpos-2",
        "yarn_frequency": "yarn-1 yarn-5",
        "yarn_index_ramp": "yarn-1 yarn-3",
        "yarn_index_range": "yarn-2",
        "yarn_magnitude": "yarn-4 yarn-5",
        "yarn_plane_with": "yarn-2",
        "yarn_ramp": "yarn-1 yarn-3",
        "yarn_turns": "yarn-2 yarn-3",
    },
    "encodings.seqpe": {
        "last_digit": "seqpe-1",
        "other_digits": "seqpe-1",
    },
    "learning.anchored": {
        "addition_anchors": "plaa-rpe-square-labels",
        "copy_anchors": "plaa-rpe-square-labels",
        "hard_limit_error": "plaa-rpe-square-limit",
        "hard_scores": "plaa-rpe-square-limit",
    },
    "learning.flow": {
        "constant_class_sum": "pola-2-flow",
        "label_flow": "pola-2-flow pola-2-learners",
    },
    "learning.learners": {
        "gradient_descent": "pola-2-learners",
        "gradient_flow": "pola-2-learners",
    },
    "learning.plaa": {
        "advice": "plaa-1",
        "degree": "plaa-1",
        "degrees_separate": "plaa-2",
        "fourier": "plaa-1",
        "learned_coefficients": "plaa-2 plaa-3 plaa-pola",
    },
    "learning.pola": {
        "learned_matrix": "pola-1c pola-2a pola-2c",
        "population": "pola-2-learners",
    },
    "lrc": {
        "profile": "pola-1e",
    },
}
"""Module of lengthgen.theory -> its formula -> the claims that refute the formula when it is altered."""


def altered(value: Any, change: Callable[[Any], Any]) -> Any:
    """A formula, its value or each number of it changed; a sum or product along a path loses its first term."""
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, sp.Sum | sp.Product):
        variable, first, last = value.limits[0]
        return value.func(value.function, (variable, first + 1, last))
    if isinstance(value, sp.MatrixBase):
        return value.applyfunc(change)
    if isinstance(value, int | float | Fraction | np.generic | np.ndarray | sp.Expr):
        return change(value)
    if isinstance(value, Relation):
        return replace(value, law=altered(value.law, change))
    if isinstance(value, dict):
        return {key: altered(entry, change) for key, entry in value.items()}
    if is_dataclass(value):
        name = next(field.name for field in fields(value) if not isinstance(getattr(value, field.name), str))
        return replace(value, **{name: altered(getattr(value, name), change)})
    if callable(value):
        return lambda *args, **kwargs: altered(value(*args, **kwargs), change)
    values = [altered(entry, change) for entry in value]
    return values if hasattr(value, "__next__") else type(value)(values)


def later(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The formula where its first argument is one more."""

    def moved(*args: Any, **named: Any) -> Any:
        if args:
            return formula(altered(args[0], lambda number: number + 1), *args[1:], **named)
        first, *_ = named
        return formula(**named | {first: named[first] + 1})

    return moved


WAYS: list[Callable[[Any], Any]] = [
    lambda formula: altered(formula, lambda number: 2 * number),
    lambda formula: altered(formula, lambda number: -number),
    lambda formula: altered(formula, lambda number: number + 1),
    later,
]
"""Ways to alter a formula, tried in turn: not every claim speaks of every scale and sign."""
CLAIMS = {claim.id: claim for claim in registry.CLAIMS}
RIGHT_COMPONENT, RIGHT_COSINE, RIGHT_MOVED = relations.wavelet_component, absolute.dct_cosine, prism.moved
RIGHT_GATE, RIGHT_LEARNER = paths.fox_path_gate, pola.learned_matrix


@pytest.fixture(autouse=True)
def forget_evaluated_functions() -> Iterator[None]:
    """Sympy remembers what a function of numbers was, and would not ask a patched formula."""
    clear_cache()
    yield
    clear_cache()


def check_with(right: Any, wrong: Any, claim_id: str) -> None:
    """Check a claim with the wrong formula where its statement has the right one."""
    claim = CLAIMS[claim_id]
    claim.check(**{key: wrong if callable(right) and value is right else value for key, value in claim.holds.items()})


@pytest.mark.parametrize(
    ("module", "formula", "claim_id"),
    [
        (module, formula, claim_id)
        for module, formulas in RESTS.items()
        for formula, claims in formulas.items()
        for claim_id in claims.split()
    ],
)
def test_an_altered_formula_is_refuted(
    module: str, formula: str, claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = import_module(f"lengthgen.theory.{module}")
    right, messages = getattr(home, formula), []
    for way in WAYS:
        clear_cache()
        try:
            monkeypatch.setattr(home, formula, way(right))
            check_with(right, getattr(home, formula), claim_id)
        except Refuted as counterexample:
            if any(letter.isdigit() for letter in str(counterexample)):
                return
            messages.append(str(counterexample))
        except Exception as failure:  # the altered formula is none that the check can read
            messages.append(repr(failure))
    pytest.fail(f"no alteration of {formula} is refuted by {claim_id}: {messages}")


def _counted_from_the_next_scale(pattern: Any, scale: int | None = None) -> LrcProfile:
    right = profile(pattern, scale)
    return LrcProfile(scale=right.scale, first_scales=right.first_scales + 1)


def _one_value_for_zero(pattern: Any, scale: int | None = None) -> LrcProfile:
    right = profile(pattern, scale)
    zeros = [j + 1 for j in range(right.scale) for i in range(j + 1) if pattern[i][j] == 0]
    first_scales = sorted([*zeros[:1], *right.first_scales.tolist()])
    return LrcProfile(scale=right.scale, first_scales=np.array(first_scales, dtype=np.int64))


def _knows_the_target(target: Any, labels: Any, **_: Any) -> Any:
    return target


def _forgets_its_start(target: Any, labels: Any, *, training_scale: int, start: Any = 0.0) -> Any:
    return RIGHT_LEARNER(target, labels, training_scale=training_scale)


WRONG: list[tuple[str, Any, str, str]] = [
    (
        "encodings.biases.alibi_bias",
        lambda slope, *, query_position, key_position: -slope * (query_position - key_position) ** 2,
        "alibi-2",
        "weight of the key",
    ),
    ("encodings.biases.bam_temperature", lambda position, *, factor: factor, "bam-9", r"\d"),
    (
        "encodings.absolute.LEARNED",
        replace(absolute.LEARNED, embed=lambda position: sp.zeros(2, 1)),
        "ape-2",
        r"\d",
    ),
    ("encodings.absolute.LEARNED", replace(absolute.LEARNED, limit=absolute.TABLE_ROWS - 1), "ape-3", r"\d"),
    (
        "encodings.absolute.LEARNED",
        replace(absolute.LEARNED, embed=lambda position: sp.Matrix([absolute.TABLE[position, c] for c in (1, 0)])),
        "ape-3",
        r"\d",
    ),
    (
        "encodings.absolute.dct_cosine",
        lambda index, position, *, trained_length: RIGHT_COSINE(index, position, trained_length=trained_length + 1),
        "orthogonal-5-repeats",
        r"\d",
    ),
    (
        "encodings.absolute.LEGENDRE",
        replace(absolute.LEGENDRE, positions=lambda index, length: 2 * index / (length - 1) - 1),
        "orthogonal-3",
        r"\d",
    ),
    (
        "encodings.absolute.SINUSOIDAL",
        replace(absolute.SINUSOIDAL, embed=lambda position: sp.Matrix([1, 1])),
        "sin-5",
        r"\d",
    ),
    (
        "encodings.prism.moved",
        lambda histogram, move: [*RIGHT_MOVED(histogram, move)[:-1], 0 * histogram[-1]],
        "prism-4",
        r"\d",
    ),
    (
        "encodings.relations.wavelet_component",
        lambda distance, *, scale, shift, wavelet: RIGHT_COMPONENT(distance, scale=scale, shift=0, wavelet=wavelet),
        "wavelet-9",
        r"\d",
    ),
    *(
        (
            "encodings.rotary.DYNAMIC_NTK",
            replace(rotary.DYNAMIC_NTK, relation=from_function(law, name="wrong", scale_hint=True)),
            "dntk-2",
            messages,
        )
        for law, messages in (
            (lambda key, query, _: query - key, r"\d+ pairs of distance and length have \d+ labels"),
            (lambda key, query, length: query + length * length, r"distance and length .* have the labels"),
        )
    ),
    *(
        (
            f"encodings.grape.{record}",
            mutations.with_law("rotate", lambda rotate, *at: (rotate(*at)[0], rotate(*at)[1].T))(
                getattr(grape, record)
            ),
            claim_id,
            r"\d",
        )
        for record, claim_id in (("GRAPE", "grape-3"), ("COMMUTING", "grape-6"), ("CONTEXTUAL", "grape-contextual"))
    ),
    ("encodings.relations.restricted_shift", lambda plane, *, angle, turns: 2 * plane - angle, "wavelet-2", r"\d"),
    ("encodings.relations.restricted_turns", lambda position: sp.S.One, "wavelet-2", r"\d"),
    (
        "encodings.paths.fox_path_gate",
        lambda *, key, query: -RIGHT_GATE(key=key, query=query),
        "fox-13",
        "word 0+: F = -1",
    ),
    ("lrc.profile", _one_value_for_zero, "pola-2b pola-1e-count", r"\d"),
    ("lrc.profile", _counted_from_the_next_scale, "pola-2b pola-2-worked pola-3-monotone pola-3-vector", r"\d"),
    ("learning.anchored.zigzag", np.abs, "plaa-rpe-square-labels", r"\d"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-1a", "reaches 1024 targets"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-1b", "random starts do not reach"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-1d", "fills dimension 6"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-2a", r"not the nearest .* N0 = 1, start \[0\], A = \["),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-2b", r"not the nearest .* \[0, 0, 2\]\]"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-2-start", r"not the nearest .* start \[1\]"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-2-worked", "under the absolute relation generalizes"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-3-rank", "sufficient in all 729 cases"),
    ("learning.pola.learned_matrix", _knows_the_target, "pola-3-vector", "0 -> 1, some relation learns it"),
    ("learning.pola.learned_matrix", _knows_the_target, "plaa-pola", r"POLA \[\[1, 0, 0\], \[0, 0, 0\], \[0, 0, 0\]\]"),
    ("learning.pola.learned_matrix", _forgets_its_start, "pola-1b", "2 random starts do not reach 2 targets"),
    (
        "learning.pola.learned_matrix",
        _forgets_its_start,
        "pola-2-start",
        r"not the nearest .* labels \[0, 0, 0, 0, 0, 1\], N0 = 1, start \[1, 1\]",
    ),
]
"""(formula, what replaces it, claims that refute it, expression of their message), where no alteration would do."""


@pytest.mark.parametrize(
    ("formula", "wrong", "claim_id", "reason"),
    [(formula, wrong, claim_id, reason) for formula, wrong, claims, reason in WRONG for claim_id in claims.split()],
)
def test_a_wrong_formula_is_refuted(
    formula: str, wrong: Any, claim_id: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, name = formula.rpartition(".")
    right = getattr(import_module(f"lengthgen.theory.{module}"), name)
    monkeypatch.setattr(f"lengthgen.theory.{formula}", wrong)
    with pytest.raises(Refuted, match=reason):
        check_with(right, wrong, claim_id)
