"""The property matrix as it is stated: a row for each encoding that has formulas.  `laws` and `caching` decide it."""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from theory.encodings import learned
from theory.encodings.encoding import HEAD_DIM, HEADS, LAYERS, WIDTH, Law
from theory.far import Cases, FarCase, FarField


@dataclass(frozen=True, kw_only=True)
class Row:
    """The stated properties of an encoding; every entry is decided anew.

    Attributes:
        laws: those that it keeps.
        hooks: those that do something, separated by spaces.
        parameters: of the formulas on one plane of one head, with their domains.
        learned: trained numbers.
        causal_only: whether keys after the query are not meant.
        bounded: whether scores are, for bounded content.
        far: the course of far keys, by cases of the parameters.
        width: numbers that a cached key needs beside its content.
    """

    laws: frozenset[Law]
    hooks: str
    parameters: tuple[str, ...] = ()
    learned: sp.Expr = sp.S.Zero
    causal_only: bool = False
    bounded: bool = True
    far: Cases
    width: str = "0"


_EVERY = frozenset(Law)
_STREAMING = frozenset({Law.STREAMING})
_SHIFT_ONLY = _EVERY - {Law.NORM}
_CARRIED = _EVERY - {Law.RELATIVE}


_BY_EXPONENT = (
    FarCase(where="0 < p < 1", behaviour=FarField.STRETCHED),
    FarCase(where="p = 1", behaviour=FarField.EXPONENTIAL),
    FarCase(where="1 < p <= 2", behaviour=FarField.FASTER),
)
_BY_SPEED = (
    FarCase(where="speed > 0", behaviour=FarField.OSCILLATING),
    FarCase(where="speed = 0", behaviour=FarField.CONSTANT),
)


def _far(course: FarField) -> Cases:
    return (FarCase(behaviour=course),)


ROWS: Mapping[str, Row] = {
    "nope": Row(laws=_EVERY, hooks="", far=_far(FarField.NONE)),
    "sinusoidal": Row(laws=_STREAMING, hooks="embed", parameters=("theta positive",), far=_far(FarField.UNDEFINED)),
    "ape": Row(
        laws=_STREAMING,
        hooks="embed",
        parameters=("P real",),
        learned=WIDTH * learned.ROWS,
        far=_far(FarField.UNDEFINED),
    ),
    "t5": Row(
        laws=_EVERY, hooks="bias", parameters=("w any",), learned=32 * HEADS, far=_far(FarField.CONSTANT), width="114"
    ),
    "t5-bidirectional": Row(
        laws=_EVERY, hooks="bias", parameters=("w any",), learned=32 * HEADS, far=_far(FarField.CONSTANT), width="92"
    ),
    "alibi": Row(
        laws=_EVERY, hooks="bias", parameters=("m positive",), bounded=False, far=_far(FarField.EXPONENTIAL), width="2"
    ),
    "kerple-power": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("r1 positive", "p in (0, 2]"),
        learned=2 * HEADS,
        bounded=False,
        far=_BY_EXPONENT,
        width="p = 1: 2; p = 2: 3; other p: none",
    ),
    "kerple-log": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("r1 positive", "r2 positive"),
        learned=2 * HEADS,
        bounded=False,
        far=_far(FarField.POLYNOMIAL),
        width="none",
    ),
    "fire": Row(
        laws=frozenset({Law.NORM, Law.STREAMING}),
        hooks="bias",
        parameters=("f function", "c positive", "L positive"),
        learned=LAYERS * (33 * HEADS + 66),
        causal_only=True,
        far=_far(FarField.CONSTANT),
        width="none",
    ),
    "rope": Row(laws=_EVERY, hooks="rotate", parameters=("theta positive",), far=_far(FarField.OSCILLATING)),
    "xpos": Row(
        laws=_SHIFT_ONLY,
        hooks="rotate",
        parameters=("theta positive", "lambda positive"),
        causal_only=True,
        far=_far(FarField.UNIFORM),
    ),
    "interpolation": Row(
        laws=_EVERY,
        hooks="positions rotate",
        parameters=("theta positive", "u positive"),
        far=_far(FarField.OSCILLATING),
    ),
    "ntk": Row(
        laws=_EVERY, hooks="rotate", parameters=("theta positive", "g positive"), far=_far(FarField.OSCILLATING)
    ),
    "dynamic-ntk": Row(
        laws=_EVERY - {Law.STREAMING},
        hooks="rotate",
        parameters=("theta positive", "g function", "L positive whole", "alpha positive"),
        far=_far(FarField.OSCILLATING),
        width="none",
    ),
    "yarn": Row(
        laws=_SHIFT_ONLY,
        hooks="rotate",
        parameters=("theta positive", "u positive", "gamma in [0, 1]"),
        far=_far(FarField.OSCILLATING),
    ),
    "random-ape": Row(
        laws=frozenset(),
        hooks="positions embed",
        parameters=("p nonnegative whole", "P real"),
        learned=WIDTH * learned.ROWS,
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "random-rope": Row(
        laws=frozenset({Law.NORM}),
        hooks="positions rotate",
        parameters=("p nonnegative whole", "theta positive"),
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "random-alibi": Row(
        laws=frozenset({Law.NORM}),
        hooks="positions bias",
        parameters=("p nonnegative whole", "m positive"),
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "grape": Row(
        laws=_EVERY, hooks="rotate", parameters=("speed nonnegative",), learned=2 * HEADS * HEAD_DIM, far=_BY_SPEED
    ),
    "grape-commuting": Row(
        laws=_EVERY,
        hooks="rotate",
        parameters=("theta positive",),
        learned=HEADS * HEAD_DIM**2 / 2,
        far=_far(FarField.OSCILLATING),
    ),
    "grape-contextual": Row(
        laws=_CARRIED,
        hooks="rotate",
        parameters=("theta positive", "w positive"),
        learned=HEAD_DIM / 2 + LAYERS * (WIDTH + 1),
        far=_far(FarField.OSCILLATING),
    ),
    "grape-additive": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("omega positive",),
        learned=HEADS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "grape-gated": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("omega positive", "lambda_q positive", "lambda_k positive"),
        learned=LAYERS * HEADS * (2 * HEAD_DIM + 1),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="4",
    ),
    "grape-path": Row(
        laws=_CARRIED,
        hooks="bias",
        parameters=("psi negative", "alpha positive"),
        learned=8 * WIDTH * HEADS * LAYERS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="none",
    ),
    "fox": Row(
        laws=_CARRIED,
        hooks="bias",
        parameters=("log_f negative",),
        learned=HEADS * LAYERS * (WIDTH + 1),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "fox-bias-only": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("b real",),
        learned=HEADS * LAYERS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "fox-fixed": Row(
        laws=_EVERY,
        hooks="bias",
        parameters=("T positive",),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "hope": Row(
        laws=_SHIFT_ONLY,
        hooks="rotate",
        parameters=("theta positive", "g positive"),
        learned=sp.S.One,
        causal_only=True,
        far=_far(FarField.UNIFORM),
    ),
}
"""The matrix as it is stated, by encoding."""
