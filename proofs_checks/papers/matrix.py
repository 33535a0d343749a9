"""The property matrix as stated: one row for each encoding that has formulas.

`lengthgen.proofs_checks.papers.laws` and `lengthgen.proofs_checks.papers.caching` decide every entry from the formulas.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from lengthgen.theory.encodings import learned, seqpe
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, HEAD_DIM, HEADS, LAYERS, WIDTH, Law, Normaliser
from lengthgen.theory.far import Cases, FarCase, FarField


@dataclass(frozen=True, kw_only=True)
class PropertyRow:
    """Stated properties of one encoding; the checks decide every entry from the formulas.

    Attributes:
        laws: laws that the encoding keeps.
        hooks: hooks that the encoding uses, separated by spaces.
        parameters: parameters of the formulas on one plane of one head, with their domains.
        learned: number of trained numbers.
        causal_only: True if the encoding is not meant for keys after the query.
        bounded: True if logits are bounded for bounded content.
        far: behaviour of the logits of far keys, by cases of the parameters.
        width: numbers that a cached key needs beside its content; "none" if no fixed number suffices.
        normaliser: function that turns scores into weights.
    """

    laws: frozenset[Law]
    hooks: str
    parameters: tuple[str, ...] = ()
    learned: sp.Expr = sp.S.Zero
    causal_only: bool = False
    bounded: bool = True
    far: Cases
    width: str = "0"
    normaliser: Normaliser = Normaliser.SOFTMAX


_DISTANCE_LAWS = frozenset(DISTANCE_LAWS)
_STREAMING = frozenset({Law.STREAMING})
_ALL_BUT_NORM = _DISTANCE_LAWS - {Law.NORM}
_ALL_BUT_RELATIVE = _DISTANCE_LAWS - {Law.RELATIVE}

_BY_EXPONENT = (
    FarCase(where="0 < p < 1", behaviour=FarField.STRETCHED),
    FarCase(where="p = 1", behaviour=FarField.EXPONENTIAL),
    FarCase(where="1 < p <= 2", behaviour=FarField.FASTER),
)
_BY_REAL_EXPONENT = (
    FarCase(where="th_beta < 0", behaviour=FarField.CONSTANT),
    FarCase(where="th_beta = 0", behaviour=FarField.CONSTANT),
    FarCase(where="0 < th_beta < 1", behaviour=FarField.STRETCHED),
    FarCase(where="th_beta = 1", behaviour=FarField.EXPONENTIAL),
    FarCase(where="th_beta > 1", behaviour=FarField.FASTER),
)
_BY_STEPS = (
    FarCase(where="r > 0", behaviour=FarField.EXPONENTIAL),
    FarCase(where="r = 0", behaviour=FarField.CONSTANT),
)
_BY_SPEED = (
    FarCase(where="speed > 0", behaviour=FarField.OSCILLATING),
    FarCase(where="speed = 0", behaviour=FarField.CONSTANT),
)


def _far(course: FarField) -> Cases:
    return (FarCase(behaviour=course),)


ROWS: Mapping[str, PropertyRow] = {
    "nope": PropertyRow(laws=frozenset(Law), hooks="", far=_far(FarField.NONE)),
    "sinusoidal": PropertyRow(
        laws=_STREAMING, hooks="embed", parameters=("theta positive",), far=_far(FarField.UNDEFINED)
    ),
    "ape": PropertyRow(
        laws=_STREAMING,
        hooks="embed",
        parameters=("P real",),
        learned=WIDTH * learned.ROWS,
        far=_far(FarField.UNDEFINED),
    ),
    "legendre": PropertyRow(
        laws=frozenset(),
        hooks="positions embed",
        parameters=("l nonnegative whole", "L positive whole"),
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "haar": PropertyRow(
        laws=_STREAMING,
        hooks="embed",
        parameters=("l nonnegative whole", "L positive whole"),
        far=_far(FarField.UNDEFINED),
    ),
    "dct": PropertyRow(
        laws=_STREAMING,
        hooks="embed",
        parameters=("l nonnegative whole", "L positive whole"),
        far=_far(FarField.UNDEFINED),
    ),
    "seqpe": PropertyRow(
        laws=frozenset({Law.NORM, Law.STREAMING}),
        hooks="bias",
        parameters=("u real", "w real"),
        learned=27 * WIDTH**2 + (42 + seqpe.DIGITS) * WIDTH,
        far=_far(FarField.UNDEFINED),
        width="d",
    ),
    "prism": PropertyRow(
        laws=frozenset({Law.TRANSLATION, Law.STREAMING}),
        hooks="embed",
        parameters=("theta positive", "P positive whole", "h nonnegative"),
        learned=96 * WIDTH + 3397,
        far=_far(FarField.UNDEFINED),
    ),
    "t5": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("w any",),
        learned=32 * HEADS,
        far=_far(FarField.CONSTANT),
        width="114",
    ),
    "t5-bidirectional": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("w any",),
        learned=32 * HEADS,
        far=_far(FarField.CONSTANT),
        width="92",
    ),
    "alibi": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("m positive",),
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "kerple-power": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("r1 positive", "p in (0, 2]"),
        learned=2 * HEADS,
        bounded=False,
        far=_BY_EXPONENT,
        width="p = 1: 2; p = 2: 3; other p: none",
    ),
    "kerple-log": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("r1 positive", "r2 positive"),
        learned=2 * HEADS,
        bounded=False,
        far=_far(FarField.POLYNOMIAL),
        width="none",
    ),
    "bam": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("th_alpha real", "th_beta real", "eps positive"),
        learned=2 * HEADS,
        bounded=False,
        far=_BY_REAL_EXPONENT,
        width="th_beta = 0, 1, 2, ...: th_beta + 1; other th_beta: none",
    ),
    "bam-ssmax": PropertyRow(
        laws=_STREAMING,
        hooks="rotate bias",
        parameters=("th_alpha real", "th_beta real", "eps positive", "s_h positive"),
        learned=2 * HEADS + LAYERS * HEADS,
        bounded=False,
        far=_BY_REAL_EXPONENT,
        width="th_beta = 0, 1, 2, ...: th_beta + 1; other th_beta: none",
    ),
    "fire": PropertyRow(
        laws=frozenset({Law.NORM, Law.STREAMING}),
        hooks="bias",
        parameters=("f function", "c positive", "L positive"),
        learned=LAYERS * (33 * HEADS + 66),
        causal_only=True,
        far=_far(FarField.CONSTANT),
        width="none",
    ),
    "rope": PropertyRow(
        laws=_DISTANCE_LAWS, hooks="rotate", parameters=("theta positive",), far=_far(FarField.OSCILLATING)
    ),
    "xpos": PropertyRow(
        laws=_ALL_BUT_NORM,
        hooks="rotate",
        parameters=("theta positive", "lambda positive"),
        causal_only=True,
        far=_far(FarField.UNIFORM),
    ),
    "interpolation": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="positions rotate",
        parameters=("theta positive", "u positive"),
        far=_far(FarField.OSCILLATING),
    ),
    "ntk": PropertyRow(
        laws=_DISTANCE_LAWS, hooks="rotate", parameters=("theta positive", "g positive"), far=_far(FarField.OSCILLATING)
    ),
    "dynamic-ntk": PropertyRow(
        laws=_DISTANCE_LAWS - {Law.STREAMING},
        hooks="rotate",
        parameters=("theta positive", "g function", "L positive whole", "alpha positive"),
        far=_far(FarField.OSCILLATING),
        width="none",
    ),
    "yarn": PropertyRow(
        laws=_ALL_BUT_NORM,
        hooks="rotate",
        parameters=("theta positive", "u positive", "gamma in [0, 1]"),
        far=_far(FarField.OSCILLATING),
    ),
    "random-ape": PropertyRow(
        laws=frozenset(),
        hooks="positions embed",
        parameters=("p nonnegative whole", "P real"),
        learned=WIDTH * learned.ROWS,
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "offset-ape": PropertyRow(
        laws=_STREAMING,
        hooks="positions embed",
        parameters=("o nonnegative whole", "P real"),
        learned=WIDTH * learned.ROWS,
        far=_far(FarField.UNDEFINED),
    ),
    "random-rope": PropertyRow(
        laws=frozenset({Law.NORM}),
        hooks="positions rotate",
        parameters=("p nonnegative whole", "theta positive"),
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "random-alibi": PropertyRow(
        laws=frozenset({Law.NORM}),
        hooks="positions bias",
        parameters=("p nonnegative whole", "m positive"),
        far=_far(FarField.UNDEFINED),
        width="none",
    ),
    "grape": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="rotate",
        parameters=("speed nonnegative",),
        learned=2 * HEADS * HEAD_DIM,
        far=_BY_SPEED,
    ),
    "grape-commuting": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="rotate",
        parameters=("theta positive",),
        learned=HEADS * HEAD_DIM**2 / 2,
        far=_far(FarField.OSCILLATING),
    ),
    "grape-contextual": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="rotate",
        parameters=("theta positive", "w positive"),
        learned=HEAD_DIM / 2 + LAYERS * (WIDTH + 1),
        far=_far(FarField.OSCILLATING),
    ),
    "grape-additive": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("omega positive",),
        learned=HEADS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "grape-gated": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("omega positive", "lambda_q positive", "lambda_k positive"),
        learned=LAYERS * HEADS * (2 * HEAD_DIM + 1),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="4",
    ),
    "grape-path": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("psi negative", "alpha positive"),
        learned=8 * WIDTH * HEADS * LAYERS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="none",
    ),
    "fox": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("log_f negative",),
        learned=HEADS * LAYERS * (WIDTH + 1),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "fox-bias-only": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("b real",),
        learned=HEADS * LAYERS,
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "fox-fixed": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="bias",
        parameters=("T positive",),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "cable": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("s positive",),
        learned=HEADS * LAYERS * (WIDTH + 1),
        causal_only=True,
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="2",
    ),
    "cable-gated": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("r nonnegative", "g positive"),
        learned=2 * HEADS * LAYERS * WIDTH,
        causal_only=True,
        bounded=False,
        far=_BY_STEPS,
        width="2",
    ),
    "cable-nw": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("r nonnegative",),
        learned=HEADS * LAYERS * WIDTH,
        causal_only=True,
        bounded=False,
        far=_BY_STEPS,
        width="2",
    ),
    "cable-log": PropertyRow(
        laws=_ALL_BUT_RELATIVE,
        hooks="bias",
        parameters=("r nonnegative", "g positive"),
        learned=2 * HEADS * LAYERS * WIDTH,
        bounded=False,
        far=(replace(_BY_STEPS[0], behaviour=FarField.POLYNOMIAL), _BY_STEPS[1]),
        width="none",
    ),
    "hope": PropertyRow(
        laws=_ALL_BUT_NORM,
        hooks="rotate",
        parameters=("theta positive", "g positive"),
        learned=sp.S.One,
        causal_only=True,
        far=_far(FarField.UNIFORM),
    ),
    "swat": PropertyRow(
        laws=_DISTANCE_LAWS,
        hooks="rotate bias",
        parameters=("theta positive", "slope nonzero real", "W positive whole"),
        causal_only=True,
        far=(
            FarCase(where="slope < 0, D < W", behaviour=FarField.EXPONENTIAL),
            FarCase(where="slope > 0, D < W", behaviour=FarField.SATURATED),
            FarCase(where="D >= W", behaviour=FarField.HIDDEN),
        ),
        width="2",
        normaliser=Normaliser.SIGMOID,
    ),
    "wavelet": PropertyRow(
        laws=_ALL_BUT_NORM,
        hooks="relative_key",
        parameters=("a1 positive", "a2 positive", "b1 nonnegative whole", "b2 nonnegative whole"),
        far=_far(FarField.CONSTANT),
        width="none",
    ),
    "graph-alibi": PropertyRow(
        laws=frozenset({Law.TRANSLATION, Law.NORM, Law.RELABELLING}),
        hooks="bias",
        parameters=("m positive", "hops nonnegative whole"),
        bounded=False,
        far=_far(FarField.EXPONENTIAL),
        width="none",
    ),
}
"""Encoding name -> its stated properties."""
