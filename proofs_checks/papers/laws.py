"""The property matrix: which laws each encoding keeps, and what it does to far keys.  Computed from its formulas."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from proofs_checks.identity import require_equal
from theory import laws, properties
from theory.encodings import learned
from theory.encodings.catalogue import ENCODINGS, named
from theory.encodings.encoding import HEAD_DIM, HEADS, LAYERS, WIDTH, Encoding, Law
from theory.exact import Undecided
from theory.properties import FarField

_CHEAPEST_FIRST = (Law.STREAMING, Law.NORM, Law.RELATIVE, Law.TRANSLATION)


def laws_kept(*, name: str, kept: frozenset[Law]) -> Evidence:
    """Decide which of the laws an encoding keeps, and that these are the ones it declares."""
    encoding = named(name)
    facts = []
    for law in _CHEAPEST_FIRST:
        ruling = laws.rule(encoding, law)
        if ruling.holds is None:
            raise Undecided(f"{law}: {ruling.reason}")
        if ruling.holds != (law in kept):
            raise Refuted(f"{law}: {'holds' if ruling.holds else 'fails'}, {ruling.reason}")
        facts.append(f"{law} {'holds' if ruling.holds else 'fails'}: {ruling.reason}")
    if set(encoding.laws) != kept:
        raise Refuted(f"{name} declares {', '.join(encoding.laws) or 'nothing'}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("one plane and one head stand for all: others differ in the values of parameters",),
    )


def row(
    *,
    name: str,
    hooks: tuple[str, ...],
    parameters: tuple[str, ...],
    learned: sp.Expr,
    causal_only: bool,
    bounded: bool,
    far_field: FarField,
) -> Evidence:
    """Decide the row of the matrix: hooks, parameters, trained numbers, bounds, causal use and far keys."""
    encoding = named(name)
    require_equal("trained numbers", encoding.learned, learned)
    computed: tuple[tuple[str, Callable[[Encoding], Any], Any], ...] = (
        ("hooks", lambda one: one.hooks, hooks),
        ("parameters", properties.domains, parameters),
        ("bounded", properties.bounded, bounded),
        ("causal use only", properties.causal_only, causal_only),
        ("far keys", properties.far_field, far_field),
    )
    for what, compute, stated in computed:
        found = compute(encoding)
        if found != stated:
            raise Refuted(f"{what}: computed {found!s}, stated {stated!s} (at D = 10^3, 10^6, 10^12)")
    return Evidence(
        strength=Strength.NUMERIC,
        facts=(f"trained numbers: {learned}", *(f"{what}: {stated!s}" for what, _, stated in computed)),
        assumptions=(
            "content and gates constant, each parameter at one value of its domain",
            "distances 10^3, 10^6, 10^12 and their neighbours, to 40 digits",
        ),
    )


_EVERY = frozenset(Law)
_STREAMING = frozenset({Law.STREAMING})
_SHIFT_ONLY = _EVERY - {Law.NORM}
_CONTENT = frozenset({Law.NORM, Law.STREAMING})

KEPT: Mapping[str, frozenset[Law]] = {
    "nope": _EVERY,
    "sinusoidal": _STREAMING,
    "learned": _STREAMING,
    "t5": _EVERY,
    "t5-bidirectional": _EVERY,
    "alibi": _EVERY,
    "kerple-power": _EVERY,
    "kerple-log": _EVERY,
    "fire": _CONTENT,
    "rotary": _EVERY,
    "xpos": _SHIFT_ONLY,
    "interpolation": _EVERY,
    "ntk": _EVERY,
    "dynamic-ntk": _EVERY - {Law.STREAMING},
    "yarn": _SHIFT_ONLY,
    "randomized": frozenset({Law.NORM}),
    "grape": _EVERY,
    "grape-commuting": _EVERY,
    "grape-contextual": _CONTENT,
    "grape-additive": _EVERY,
    "grape-gated": _CONTENT,
    "grape-path": _CONTENT,
    "fox": _CONTENT,
    "fox-bias-only": _EVERY,
    "fox-fixed": _EVERY,
    "hope": _SHIFT_ONLY,
}
"""The laws that each encoding keeps, as stated; every one is decided anew."""

ROWS: Mapping[str, tuple[str, sp.Expr, bool, bool, FarField]] = {
    # name: hooks, trained numbers, causal use only, bounded, far keys
    "nope": ("", sp.S.Zero, False, True, FarField.NONE),
    "sinusoidal": ("embed", sp.S.Zero, False, True, FarField.UNDEFINED),
    "learned": ("embed", WIDTH * learned.ROWS, False, True, FarField.UNDEFINED),
    "t5": ("bias", 32 * HEADS, False, True, FarField.CONSTANT),
    "t5-bidirectional": ("bias", 32 * HEADS, False, True, FarField.CONSTANT),
    "alibi": ("bias", sp.S.Zero, False, False, FarField.EXPONENTIAL),
    "kerple-power": ("bias", 2 * HEADS, False, False, FarField.STRETCHED),
    "kerple-log": ("bias", 2 * HEADS, False, False, FarField.POLYNOMIAL),
    "fire": ("bias", LAYERS * (33 * HEADS + 66), True, True, FarField.CONSTANT),
    "rotary": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "xpos": ("rotate", sp.S.Zero, True, True, FarField.UNIFORM),
    "interpolation": ("positions rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "ntk": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "dynamic-ntk": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "yarn": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "randomized": ("positions rotate", sp.S.Zero, False, True, FarField.UNDEFINED),
    "grape": ("rotate", 2 * HEADS * HEAD_DIM, False, True, FarField.OSCILLATING),
    "grape-commuting": ("rotate", HEADS * HEAD_DIM**2 / 2, False, True, FarField.OSCILLATING),
    "grape-contextual": ("rotate", HEAD_DIM / 2 + LAYERS * (WIDTH + 1), False, True, FarField.OSCILLATING),
    "grape-additive": ("bias", HEADS, True, False, FarField.EXPONENTIAL),
    "grape-gated": ("bias", LAYERS * HEADS * (2 * HEAD_DIM + 1), True, False, FarField.EXPONENTIAL),
    "grape-path": ("bias", 8 * WIDTH * HEADS * LAYERS, True, False, FarField.EXPONENTIAL),
    "fox": ("bias", HEADS * LAYERS * (WIDTH + 1), True, False, FarField.EXPONENTIAL),
    "fox-bias-only": ("bias", HEADS * LAYERS, True, False, FarField.EXPONENTIAL),
    "fox-fixed": ("bias", sp.S.Zero, True, False, FarField.EXPONENTIAL),
    "hope": ("rotate", sp.S.One, True, True, FarField.UNIFORM),
}
"""The matrix as it is stated; every cell is computed anew."""


PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "nope": (),
    "sinusoidal": ("theta positive",),
    "learned": ("P real",),
    "t5": ("w any",),
    "t5-bidirectional": ("w any",),
    "alibi": ("m positive",),
    "kerple-power": ("r1 positive", "p positive"),
    "kerple-log": ("r1 positive", "r2 positive"),
    "fire": ("f function", "c positive", "L positive"),
    "rotary": ("theta positive",),
    "xpos": ("theta positive", "lambda positive"),
    "interpolation": ("theta positive", "u positive"),
    "ntk": ("theta positive", "g positive"),
    "dynamic-ntk": ("theta positive", "g function", "L positive whole", "alpha positive"),
    "yarn": ("theta positive", "u positive", "gamma nonnegative"),
    "randomized": ("p nonnegative whole", "theta positive"),
    "grape": ("speed nonnegative",),
    "grape-commuting": ("theta positive",),
    "grape-contextual": ("theta positive", "w positive"),
    "grape-additive": ("omega positive",),
    "grape-gated": ("omega positive", "lambda_q positive", "lambda_k positive"),
    "grape-path": ("psi negative",),
    "fox": ("log_f negative",),
    "fox-bias-only": ("b real",),
    "fox-fixed": ("T positive",),
    "hope": ("theta positive", "g positive"),
}
"""The parameters of each law on one plane of one head, and their domains, as stated; each is read anew."""


def _source(encoding: Encoding) -> Source:
    return Source(paper=encoding.title, arxiv=encoding.arxiv, place="what follows from its formulas")


def _laws_claim(encoding: Encoding) -> Claim:
    kept = KEPT[encoding.name]
    return Claim(
        id=f"laws-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title} keeps these laws and no others: {', '.join(law for law in Law if law in kept)}.",
        latex=r"s_{j+s,\,i+s}=s_{ji}\ \text{and the like}",
        label="F",
        check=laws_kept,
        holds={"name": encoding.name, "kept": kept},
        falsifiers={f"{law} {'fails' if law in kept else 'holds'}": {"kept": kept ^ {law}} for law in Law},
    )


def _row_claim(encoding: Encoding) -> Claim:
    hooks, trained, causal_only, bounded, far_field = ROWS[encoding.name]
    use, size = "causal use only" if causal_only else "either side", "bounded" if bounded else "unbounded"
    return Claim(
        id=f"far-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title}: {use}, {size}; far keys: {far_field}; trained numbers: {trained}.",
        latex=r"\lim_{j-i\to\infty} s_{ji}",
        label="F",
        check=row,
        holds={
            "name": encoding.name,
            "hooks": tuple(hooks.split()),
            "parameters": PARAMETERS[encoding.name],
            "learned": trained,
            "causal_only": causal_only,
            "bounded": bounded,
            "far_field": far_field,
        },
        falsifiers={
            "one parameter more": {"parameters": (*PARAMETERS[encoding.name], "x positive")},
            "one trained number more": {"learned": trained + 1},
            "bounded the other way": {"bounded": not bounded},
            "causal use the other way": {"causal_only": not causal_only},
            "another far field": {
                "far_field": FarField.GROWING if far_field is not FarField.GROWING else FarField.UNIFORM
            },
        },
    )


CLAIMS = (
    *(_laws_claim(encoding) for encoding in ENCODINGS.values()),
    *(_row_claim(encoding) for encoding in ENCODINGS.values()),
)
