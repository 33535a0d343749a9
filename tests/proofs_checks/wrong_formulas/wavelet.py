"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import relations

RIGHT_COMPONENT, RIGHT_KEY_VECTOR = relations.wavelet_component, relations.wavelet_vector
RIGHT_GRID, RIGHT_RESTRICTED = relations.wavelet_grid, relations.restricted_wavelet


def _inverted(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    return (point**2 - 1) * sp.exp(-(point**2) / 2)


def _wide(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Half the exponent, as of a bell twice as wide."""
    return (1 - point**2) * sp.exp(-(point**2) / 4)


def _from_the_start(distance: sp.Expr, *, scale: sp.Expr, shift: sp.Expr, wavelet: Any) -> sp.Expr:
    """Components without their shift."""
    return RIGHT_COMPONENT(distance, scale=scale, shift=0 * shift, wavelet=wavelet)


def _of_the_query(query_position: sp.Expr, key_position: sp.Expr, *, wavelet: Any) -> sp.Matrix:
    return RIGHT_KEY_VECTOR(query_position, 0 * key_position, wavelet=wavelet)


def _twice_the_scales(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    return tuple((2 * a, b) for a, b in RIGHT_GRID(head_dim, scales))


def _larger_scales(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    """Grid that begins at the scale 32."""
    return tuple((32 * a, b) for a, b in RIGHT_GRID(head_dim, scales))


def _longer(point: sp.Expr, *, turns: sp.Expr) -> sp.Expr:
    """Half the turns in each interval."""
    return RIGHT_RESTRICTED(point, turns=turns / 2)


WRONG: list[tuple[Any, ...]] = [
    ("relations.ricker", _inverted, "wavelet-4 wavelet-6 wavelet-7"),
    ("relations.ricker", _wide, "wavelet-4 wavelet-6 wavelet-7 wavelet-8"),
    ("relations.wavelet_component", _from_the_start, "wavelet-5 wavelet-9"),
    ("relations.wavelet_vector", _of_the_query, "wavelet-5"),
    ("relations.wavelet_grid", _twice_the_scales, "wavelet-8"),
    ("relations.wavelet_grid", _larger_scales, "wavelet-7-float"),
    ("relations.restricted_wavelet", _longer, "wavelet-1"),
    ("relations.restricted_shift", lambda plane, *, angle, turns: 2 * plane + angle / (2 * sp.pi * turns), "wavelet-1"),
    ("relations.restricted_shift", lambda plane, *, angle, turns: 2 * plane - angle, "wavelet-1 wavelet-2"),
    ("relations.restricted_turns", lambda position: sp.ceiling(position / (2 * sp.pi)) - 1, "wavelet-1"),
    ("relations.restricted_turns", lambda position: sp.S.One, "wavelet-1 wavelet-2"),
    ("relations.HAAR_MATRIX", sp.ImmutableMatrix([[1, 1], [-1, 1]]) / sp.sqrt(2), "wavelet-3"),
]
