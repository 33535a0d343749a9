"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import grape, rotary


def _turned_back(angle: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[sp.cos(angle), sp.sin(angle)], [-sp.sin(angle), sp.cos(angle)]])


def _no_cross_term(gram: grape.Gram, *, along_a: sp.Expr, along_b: sp.Expr, time: sp.Expr, speed: sp.Expr) -> sp.Matrix:
    return sp.sin(time * speed) / speed * sp.Matrix([along_b, -along_a])


RIGHT_PLANE, RIGHT_ACTION = grape.plane_exponential, grape.commuting_action
RIGHT_TURN = grape.quarter_turn


WRONG: list[tuple[Any, ...]] = [
    ("grape.displacement", _no_cross_term, "grape-2"),
    ("grape.regauged", lambda gram, change: gram, "grape-4"),
    ("grape.squared_speed", lambda gram: gram.alpha * gram.beta, "grape-1 grape-4"),
    ("grape.integer_period", lambda turns: sp.Integer(turns.p), "grape-18"),
    ("grape.plane_action", lambda position, *, speed: sp.eye(2), "grape-18"),
    ("grape.plane_action", lambda position, *, speed: _turned_back(speed * position), "grape-3"),
    ("grape.rank2_exponential", lambda gram, **at: grape.identity(gram=gram), "grape-2"),
    ("grape.quarter_turn", list, "grape-6"),
    ("grape.spanning", lambda vectors: [copy for vector in vectors for copy in (vector, vector)], "grape-6"),
    ("grape.plane_generator", lambda frame, plane: grape.identity(frame), "grape-7"),
    (
        "grape.plane_exponential",
        lambda frame, plane, *, angle: RIGHT_PLANE(frame, plane, angle=-angle),
        "grape-6",
    ),
    ("grape.commuting_action", lambda frame, angles: RIGHT_ACTION(frame, angles[:1]), "grape-7"),
    ("grape._action_in_coordinates", _turned_back, "grape-6"),
    (
        "grape.phase",
        lambda position: sp.Sum(sp.Symbol("w"), (sp.Symbol("l"), 1, position)),
        "grape-contextual",
    ),
    ("grape.contextual_action", lambda phase, *, frequency: rotary.rotation(phase + frequency), "grape-contextual"),
    ("grape.additive_bias", lambda slope, **at: sp.Integer(0), "grape-8"),
    ("grape.unipotent", lambda generator, time: sp.eye(2) - time * generator, "grape-8 grape-9"),
    ("grape.joint_score", lambda query, key, **actions: sp.Matrix(query).dot(sp.Matrix(key)), "grape-11"),
    ("grape.lifted", lambda content, tail: sp.Matrix([*content, 1, 1]), "grape-11"),
    ("grape.shear_singular_values", lambda shear, *, root: (root, 1 / root), "grape-12"),
    ("grape.shear_condition_number", lambda shear, *, root: 1 + shear, "grape-12"),
    ("grape.unipotent", lambda generator, time: sp.eye(2) + time**2 * generator, "grape-13"),
    ("grape.sine_share", sp.sin, "grape-angle"),
    ("grape.cosine_share", lambda angle: (1 + sp.cos(angle)) / angle**2, "grape-angle"),
    (
        "grape.linear_offset",
        lambda there, here, *, weights: weights.dot(there) * weights.dot(here),
        "grape-distance",
    ),
    ("grape.content_gate", lambda along: sp.Integer(1), "grape-gated"),
    ("grape.softplus", lambda logit: sp.Integer(1), "grape-gated"),
    (
        "grape.quarter_turn",
        lambda vector: [-entry for entry in RIGHT_TURN(vector)],
        "grape-6",
        r"J turns each pair",
    ),
    ("grape.gated_bias", lambda slope, **gates: sp.Integer(0), "grape-17"),
    ("grape.query_features", lambda position, gate: sp.Matrix([0, gate, -position, 1]), "grape-17"),
    ("grape.key_features", lambda position, gate: sp.Matrix([1, position, gate, 0]), "grape-17"),
    ("grape.edge_sum", lambda *, query, key, until: sp.Sum(1, (sp.Symbol("l"), key, until)), "grape-15"),
    ("grape.edge_potential", lambda row, token: row(token) - row(token - 1), "grape-15-monotone"),
    ("grape.affinity", lambda query_probe, token_probe, **at: sp.Integer(0), "grape-16"),
    ("grape.affinity_potential", lambda affinity, *, slope, probe_dim: slope * affinity, "grape-21"),
    ("grape.increments", lambda *, key, query: sp.Sum(sp.Symbol("a"), (sp.Symbol("l"), key, query)), "grape-20"),
    ("grape.prefix", lambda position: sp.Sum(sp.Symbol("a"), (sp.Symbol("l"), 0, position)), "grape-20"),
    ("paths.log_sigmoid", lambda logit: -logit, "grape-21"),
    ("paths.softplus", lambda logit: sp.log(1 + sp.exp(-logit)), "grape-21"),
    (
        "grape.partial_reflection",
        lambda strength: grape.PlaneOperator(
            gram=grape.Frame(matrix=sp.ImmutableMatrix([[1]])),
            identity=sp.Integer(1),
            coefficients=sp.Matrix([[-strength / 2]]),
        ),
        "grape-19",
    ),
    ("grape.reflection_singular_values", lambda strength: (sp.Integer(1), sp.Abs(1 + strength)), "grape-19"),
]
