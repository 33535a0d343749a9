"""The property matrix: which laws each encoding keeps, and what it does to far keys.  Decided from its formulas."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from proofs_checks import mutations
from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from proofs_checks.mutations import Formulas
from theory import far, laws, properties
from theory.encodings import learned
from theory.encodings.catalogue import ENCODINGS, named
from theory.encodings.encoding import HEAD_DIM, HEADS, LAYERS, WIDTH, Encoding, Law
from theory.exact import Undecided
from theory.far import Cases, FarCase, FarField

_CHEAPEST_FIRST = (Law.STREAMING, Law.NORM, Law.RELATIVE, Law.TRANSLATION)


def laws_kept(*, name: str, formulas: Formulas, kept: frozenset[Law]) -> Evidence:
    """Decide which of the laws an encoding keeps, and that these are the ones it declares."""
    encoding = formulas(named(name))
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
        assumptions=(
            "one plane and one head stand for all: others differ in the values of parameters",
            "a shift of positions takes the tokens along, and so what is made of them (gates, rates, potentials)",
        ),
    )


def row(
    *,
    name: str,
    formulas: Formulas,
    hooks: tuple[str, ...],
    parameters: tuple[str, ...],
    learned: sp.Expr,
    causal_only: bool,
    bounded: bool,
    cases: Cases,
) -> Evidence:
    """Decide the row of the matrix: hooks, parameters, trained numbers, bounds, causal use and far keys."""
    encoding = formulas(named(name))
    computed: tuple[tuple[str, Callable[[Encoding], Any], Any], ...] = (
        ("far keys", properties.far_field, far.text(cases)),
        ("bounded", properties.bounded, bounded),
        ("causal use only", properties.causal_only, causal_only),
        ("hooks", lambda one: one.hooks, hooks),
        ("trained numbers", lambda one: sp.expand(one.learned), sp.expand(learned)),
        ("parameters", properties.domains, parameters),
    )
    for what, compute, stated in computed:
        found = compute(encoding)
        if found is None or FarField.UNDECIDED in str(found):
            raise Undecided(f"{what}: {found}")
        if found != stated:
            raise Refuted(f"{what}: computed {found!s}, stated {stated!s}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(f"{what}: {stated!s}" for what, _, stated in computed),
        assumptions=(
            "content, and with it gates, constant; all parameters of their ranges",
            "limits, by sympy, of the bias and of D b'(D)/b(D); signs of the rates of the kernel's exponentials",
            "a learned function of a bounded argument is continuous",
        ),
    )


_EVERY = frozenset(Law)
_STREAMING = frozenset({Law.STREAMING})
_SHIFT_ONLY = _EVERY - {Law.NORM}
_CARRIED = _EVERY - {Law.RELATIVE}

KEPT: Mapping[str, frozenset[Law]] = {
    "nope": _EVERY,
    "sinusoidal": _STREAMING,
    "learned": _STREAMING,
    "t5": _EVERY,
    "t5-bidirectional": _EVERY,
    "alibi": _EVERY,
    "kerple-power": _EVERY,
    "kerple-log": _EVERY,
    "fire": frozenset({Law.NORM, Law.STREAMING}),
    "rotary": _EVERY,
    "xpos": _SHIFT_ONLY,
    "interpolation": _EVERY,
    "ntk": _EVERY,
    "dynamic-ntk": _EVERY - {Law.STREAMING},
    "yarn": _SHIFT_ONLY,
    "randomized": frozenset({Law.NORM}),
    "grape": _EVERY,
    "grape-commuting": _EVERY,
    "grape-contextual": _CARRIED,
    "grape-additive": _EVERY,
    "grape-gated": _EVERY,
    "grape-path": _CARRIED,
    "fox": _CARRIED,
    "fox-bias-only": _EVERY,
    "fox-fixed": _EVERY,
    "hope": _SHIFT_ONLY,
}
"""The laws that each encoding keeps, as stated; every one is decided anew."""

_BY_EXPONENT = (
    FarCase(where="0 < p < 1", what=FarField.STRETCHED),
    FarCase(where="p = 1", what=FarField.EXPONENTIAL),
    FarCase(where="1 < p <= 2", what=FarField.FASTER),
)
_BY_SPEED = (
    FarCase(where="speed > 0", what=FarField.OSCILLATING),
    FarCase(where="speed = 0", what=FarField.CONSTANT),
)

ROWS: Mapping[str, tuple[str, sp.Expr, bool, bool, FarField | Cases]] = {
    # name: hooks, trained numbers, causal use only, bounded, far keys
    "nope": ("", sp.S.Zero, False, True, FarField.NONE),
    "sinusoidal": ("embed", sp.S.Zero, False, True, FarField.UNDEFINED),
    "learned": ("embed", WIDTH * learned.ROWS, False, True, FarField.UNDEFINED),
    "t5": ("bias", 32 * HEADS, False, True, FarField.CONSTANT),
    "t5-bidirectional": ("bias", 32 * HEADS, False, True, FarField.CONSTANT),
    "alibi": ("bias", sp.S.Zero, False, False, FarField.EXPONENTIAL),
    "kerple-power": ("bias", 2 * HEADS, False, False, _BY_EXPONENT),
    "kerple-log": ("bias", 2 * HEADS, False, False, FarField.POLYNOMIAL),
    "fire": ("bias", LAYERS * (33 * HEADS + 66), True, True, FarField.CONSTANT),
    "rotary": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "xpos": ("rotate", sp.S.Zero, True, True, FarField.UNIFORM),
    "interpolation": ("positions rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "ntk": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "dynamic-ntk": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "yarn": ("rotate", sp.S.Zero, False, True, FarField.OSCILLATING),
    "randomized": ("positions rotate", sp.S.Zero, False, True, FarField.UNDEFINED),
    "grape": ("rotate", 2 * HEADS * HEAD_DIM, False, True, _BY_SPEED),
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
    "kerple-power": ("r1 positive", "p in (0, 2]"),
    "kerple-log": ("r1 positive", "r2 positive"),
    "fire": ("f function", "c positive", "L positive"),
    "rotary": ("theta positive",),
    "xpos": ("theta positive", "lambda positive"),
    "interpolation": ("theta positive", "u positive"),
    "ntk": ("theta positive", "g positive"),
    "dynamic-ntk": ("theta positive", "g function", "L positive whole", "alpha positive"),
    "yarn": ("theta positive", "u positive", "gamma in [0, 1]"),
    "randomized": ("p nonnegative whole", "theta positive"),
    "grape": ("speed nonnegative",),
    "grape-commuting": ("theta positive",),
    "grape-contextual": ("theta positive", "w positive"),
    "grape-additive": ("omega positive",),
    "grape-gated": ("omega positive", "lambda_q positive", "lambda_k positive"),
    "grape-path": ("psi negative", "alpha positive"),
    "fox": ("log_f negative",),
    "fox-bias-only": ("b real",),
    "fox-fixed": ("T positive",),
    "hope": ("theta positive", "g positive"),
}
"""The parameters of each law on one plane of one head, and their domains, as stated; each is read anew."""


_BREAKING: Mapping[Law, tuple[str, Formulas]] = {
    Law.RELATIVE: (
        "the score of a key grows with its position",
        mutations.with_bias(lambda query, key, length: key),
    ),
    Law.TRANSLATION: (
        "the score falls with the product of the positions",
        mutations.with_bias(lambda query, key, length: -query * key),
    ),
    Law.NORM: ("queries are doubled", mutations.with_queries_doubled),
    Law.STREAMING: (
        "the score falls with the share of the length",
        mutations.with_bias(lambda query, key, length: -(query - key) / length),
    ),
}
"""For each law that is kept, formulas that break it; the law of translation goes with the relative one."""

_MENDING: Mapping[Law, tuple[str, Formulas]] = {
    Law.RELATIVE: ("all tokens at position 0", mutations.at_origin),
    Law.TRANSLATION: ("all tokens at position 0, rows shifted by the query's position", mutations.at_origin_by_query),
    Law.STREAMING: ("the formulas of one length at all lengths", mutations.at_fixed_length),
}
"""For each law that is not kept, formulas that keep it.  Norms are kept in a way of each encoding's own."""


def _keeping_norms(encoding: Encoding) -> tuple[str, Formulas]:
    if encoding.embed:
        return "codes as a bias, not added to tokens", mutations.with_codes_on_scores
    return "rotated by RoPE, without stretching", mutations.with_plain_rotation


def mutated_laws(encoding: Encoding) -> Mapping[Law, tuple[str, Formulas]]:
    """For each law, a name for formulas at which the encoding keeps it if and only if the stated ones do not."""
    mending = {**_MENDING, Law.NORM: _keeping_norms(encoding)}
    return {law: (_BREAKING if law in KEPT[encoding.name] else mending)[law] for law in Law}


_OTHER_COURSE: Mapping[FarField, tuple[str, Formulas]] = {
    FarField.NONE: ("a bias of -log(1 + D)", mutations.with_bias(lambda query, key, length: -sp.log(1 + query - key))),
    FarField.CONSTANT: (
        "a bias of -log(1 + D) more",
        mutations.with_bias(lambda query, key, length: -sp.log(1 + query - key)),
    ),
    FarField.EXPONENTIAL: ("-log(1 - b) for the bias b", mutations.with_logarithmic_bias),
    FarField.STRETCHED: ("-log(1 - b) for the bias b", mutations.with_logarithmic_bias),
    FarField.POLYNOMIAL: ("-log(1 - b) for the bias b", mutations.with_logarithmic_bias),
    FarField.OSCILLATING: ("all tokens at position 0", mutations.at_origin),
    FarField.UNIFORM: ("rotated by RoPE, without damping", mutations.with_plain_rotation),
    FarField.UNDEFINED: ("rotated by RoPE, without codes", mutations.with_rotation_for_codes),
}
"""For each course of far keys, formulas whose far keys take another one."""


def _other_course(encoding: Encoding, first: FarField) -> tuple[str, Formulas]:
    if encoding.positions and first is FarField.UNDEFINED:
        return "tokens at their own indices", mutations.with_drawn_positions_dropped
    return _OTHER_COURSE[first]


def _other_use(encoding: Encoding) -> tuple[str, Formulas]:
    """Formulas for either side where the stated ones are for causal use only, and the other way round."""
    if not ROWS[encoding.name][2]:
        if encoding.rotate and not encoding.positions:
            return "damped with the distance", mutations.with_damping
        return (
            "a bonus for keys after the query",
            mutations.with_bias(lambda query, key, length: sp.exp(sp.Max(key - query, 0)) - 1),
        )
    if encoding.bias:
        return "keys after the query as those before it", mutations.on_both_sides
    return "keys damped like queries", mutations.with_keys_moved_like_queries


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
        holds={"name": encoding.name, "formulas": mutations.unchanged, "kept": kept},
        answers=("kept",),
        falsifiers={name: {"formulas": formulas} for name, formulas in mutated_laws(encoding).values()},
    )


def _row_claim(encoding: Encoding) -> Claim:
    hooks, trained, causal_only, bounded, found = ROWS[encoding.name]
    cases = (FarCase(what=found),) if isinstance(found, FarField) else found
    use, size = "causal use only" if causal_only else "either side", "bounded" if bounded else "unbounded"
    mutated = {
        "one parameter more": mutations.with_one_parameter_more,
        "one trained number more": mutations.with_one_trained_number_more,
        "one hook more": mutations.with_another_hook,
        **dict([_other_course(encoding, cases[0].what), _other_use(encoding)]),
    }
    if encoding.bias:
        mutated |= {
            "a bias of -e^D more": mutations.with_bias(lambda query, key, length: -sp.exp(query - key)),
            "a bias of e^D more": mutations.with_bias(lambda query, key, length: sp.exp(query - key)),
        }
    return Claim(
        id=f"far-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title}: {use}, {size}; far keys: {far.text(cases)}; trained numbers: {trained}.",
        latex=r"\lim_{j-i\to\infty} s_{ji}",
        label="F",
        check=row,
        holds={
            "name": encoding.name,
            "formulas": mutations.unchanged,
            "hooks": tuple(hooks.split()),
            "parameters": PARAMETERS[encoding.name],
            "learned": trained,
            "causal_only": causal_only,
            "bounded": bounded,
            "cases": cases,
        },
        answers=("hooks", "parameters", "learned", "causal_only", "bounded", "cases"),
        falsifiers={name: {"formulas": formulas} for name, formulas in mutated.items()},
    )


CLAIMS = (
    *(_laws_claim(encoding) for encoding in ENCODINGS.values()),
    *(_row_claim(encoding) for encoding in ENCODINGS.values()),
)
