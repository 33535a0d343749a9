"""Containment of position encodings, decided for every ordered pair of them: for each head of one, one of the other.

A head is a choice of an encoding's parameters and of W_q and W_k, from the width of the contents to any width of the
head; each plane has its own parameters of planes. Contents are any vectors of that width, and codes that are added to
them have it too: plane l of a code with numbered planes is there once. An encoding contains another if for every head
of the other it has a head with the same attention weights, for all tokens and all keys up to the query [F]. Parameters
that a paper fixes by a rule, such as ALiBi's slopes, are free in their domains, and so is a graph that is given.
Positions that are drawn are not chosen: the weights have to be equal whatever either encoding draws. Options have their
defaults, and every encoding is read causally: a query sees the keys up to itself. An encoding with a table or a range
of positions contains another if it does on all of its positions, for each number of them.

A construction proves that one encoding contains another. A property that all heads of one have and some head of the
other lacks proves that it does not. Containment is transitive, as no encoding with a range of positions is in another,
so every further answer follows from these.
`lengthgen verify containment` checks each construction and each property from the formulas.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

import sympy as sp

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.domains import assignment_allowed
from lengthgen.theory.encodings import absolute, biases, grape, hope, paths, prism, relations, rotary
from lengthgen.theory.encodings.catalogue import ENCODINGS, called, named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Family, Law, Normaliser, Parameter, Recovery
from lengthgen.theory.laws import decide_law, decide_recovery
from lengthgen.theory.scenes import Heads, OutOfScene, visible_value

Assignment = Mapping[sp.Basic | type[sp.Function], sp.Expr]


VECTORS = sp.IndexedBase("a", real=True)
"""Vectors a of the labels of a relation, two entries on a plane."""


def _of_vectors(name: str, label: Callable[[sp.Expr], sp.Expr]) -> Encoding:
    """Encoding that adds to the key a trained vector for the label of the distance."""

    def vector(query: sp.Expr, key: sp.Expr, _: sp.Expr) -> sp.Matrix:
        return sp.Matrix([VECTORS[label(query - key), entry] for entry in (0, 1)])

    return replace(
        named(name),
        no_formula="",
        parameters=(Parameter(VECTORS, "vector of each label"),),
        relative_key=vector,
        laws=() if named(name).drawn_from else (Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    )


CLIPPED_AT = 8
SILENT = grape.content_gate(sp.S.Zero)
STAND_INS = {
    "rpe": _of_vectors("rpe", lambda distance: distance),
    "clipped": _of_vectors("clipped", lambda distance: sp.Min(distance, CLIPPED_AT)),
    "random-rpe": _of_vectors("random-rpe", lambda distance: distance),
    "grape-thin": replace(named("grape"), name="grape-thin", title="GRAPE-M, thin", aliases=(), recovers=()),
    "grape-gated": replace(
        named("grape-gated"),
        parameters=tuple(
            replace(parameter, domain=sp.FiniteSet(SILENT)) if parameter.family is Family.CONTENT else parameter
            for parameter in named("grape-gated").parameters
        ),
    ),
}
"""Formulas of encodings whose records have none, or say nothing of W_q and W_k.

Of rank 4, thin GRAPE-M turns two planes of a head as GRAPE-M does. A gate of GRAPE-A reads one direction of the head,
and W_q and W_k may leave it 0: the gate is log 2 then, whatever the content.
"""
RECORDS: Mapping[str, Encoding] = {
    name: STAND_INS.get(name, encoding)
    for name, encoding in ENCODINGS.items()
    if name in STAND_INS or not encoding.no_formula
}
"""Encodings of the table, by name."""
ALL = tuple(RECORDS)
_SOFTMAX = " ".join(name for name, record in RECORDS.items() if record.normaliser is Normaliser.SOFTMAX)
_SIGMOID = " ".join(name for name in ALL if name not in _SOFTMAX.split())
_DRAWING = " ".join(name for name, record in RECORDS.items() if record.drawn_from)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Plane of the general encoding: the values of its parameters, and what W_q and W_k make of the other's contents.

    Attributes:
        assignment: values of the parameters, as in `Recovery`.
        query, key: 2 x 2 matrices that take the other encoding's query and key to those of this plane.
    """

    assignment: Assignment
    query: sp.Matrix = field(default_factory=lambda: sp.eye(2))
    key: sp.Matrix = field(default_factory=lambda: sp.eye(2))


@dataclass(frozen=True, kw_only=True)
class Construction:
    """Head of `by` with the attention weights of `of`, whose parameters have the values `at` if there are any."""

    by: str
    of: str
    planes: tuple[Plane, ...]
    at: Assignment = field(default_factory=dict)

    def __str__(self) -> str:
        planes = dict.fromkeys(_text(plane.assignment) for plane in self.planes)
        case = f", for {_text(self.at)}" if self.at else ""
        return f"{'; '.join(planes) or 'the same parameters'}{case}"


def _text(assignment: Assignment) -> str:
    return ", ".join(f"{_base(symbol)} = {_value(value)}" for symbol, value in assignment.items())


def _base(symbol: sp.Basic | type[sp.Function]) -> str:
    return str(symbol.label if isinstance(symbol, sp.IndexedBase) else symbol)


def _value(value: sp.Expr) -> str:
    return str(value.expr if isinstance(value, sp.Lambda) else value)


def _head(
    by: str, of: str, assignment: Assignment, at: Assignment | None = None, **matrices: sp.Matrix
) -> Construction:
    """Construction of one plane."""
    return Construction(by=by, of=of, planes=(Plane(assignment=assignment, **matrices),), at=at or {})


def _table_of(encoding: str) -> Construction:
    """Learned absolute codes with the rows of another encoding's codes."""
    position, entry = sp.symbols("p c", integer=True, nonnegative=True)
    code = named(encoding).embed
    if code is None:
        raise ValueError(f"{encoding} adds no code")
    first, second = code(position)
    rows = sp.Lambda((position, entry), sp.Piecewise((first, sp.Eq(entry, 0)), (second, True)))
    return _head("ape", encoding, {absolute.TABLE: rows})


_FULL_TURN = {rotary.FREQUENCY: 2 * sp.pi}
_POSITIVE, _STEP = sp.Symbol("s", positive=True), sp.Symbol("l", integer=True)
_SUM, _DIFFERENCE = sp.ImmutableMatrix([[1, 1], [0, 0]]), sp.ImmutableMatrix([[1, -1], [0, 0]])
_FIRST, _SECOND = sp.ImmutableMatrix([[1, 0], [-1, 0]]), sp.ImmutableMatrix([[0, 1], [0, -1]])
_EQUAL_WAVELETS = {
    **dict.fromkeys(relations.WAVELET_SCALES, sp.S.One),
    **dict.fromkeys(relations.WAVELET_SHIFTS, sp.S.Zero),
}
_LABEL = sp.symbols("D c", integer=True, nonnegative=True)
_RICKERS = relations.wavelet_vector(_LABEL[0], sp.S.Zero, wavelet=relations.ricker)
_WAVELETS = (_RICKERS[0], sp.Eq(_LABEL[1], 0)), (_RICKERS[1], True)
_DECAYS = hope.MARGIN, hope.MARGIN + 2 * hope.RATE
CONSTRUCTIONS = (
    _head("rope", "nope", _FULL_TURN),
    _head("rope", "interpolation", {rotary.FREQUENCY: rotary.FREQUENCY * rotary.SHRINK}),
    _head("rope", "ntk", {rotary.FREQUENCY: rotary.FREQUENCY * rotary.NTK_FACTOR}),
    _head(
        "rope",
        "yarn",
        {rotary.FREQUENCY: rotary.yarn_frequency(rotary.FREQUENCY, kept=rotary.YARN_KEPT, scale=1 / rotary.SHRINK)},
        query=rotary.yarn_magnitude(1 / rotary.SHRINK) ** 2 * sp.eye(2),
    ),
    _head("rope", "grape-commuting", {rotary.FREQUENCY: rotary.FREQUENCY}),
    *(
        _head("rope", name, {rotary.FREQUENCY: angle}, at={grape.SPEED: speed})
        for name in ("grape", "grape-thin")
        for speed, angle in ((_POSITIVE, _POSITIVE), (sp.S.Zero, 2 * sp.pi))
    ),
    _head("grape-thin", "grape", {}),
    _head("dynamic-ntk", "rope", {rotary.NTK_FACTOR_AT: sp.Lambda(_POSITIVE, sp.S.One)}),
    _head("random-rope", "nope", _FULL_TURN),
    Construction(
        by="xpos",
        of="hope",
        planes=tuple(
            Plane(assignment={**_FULL_TURN, rotary.XPOS_RATE: rate}, query=along, key=along / 2)
            for rate, along in zip(_DECAYS, (_SUM, _DIFFERENCE), strict=True)
        ),
    ),
    Construction(
        by="wavelet",
        of="nope",
        planes=tuple(Plane(assignment=_EQUAL_WAVELETS, query=each, key=each / 2) for each in (_FIRST, _SECOND)),
    ),
    _head("fox", "cable", {paths.LOG_GATES: sp.Lambda(_STEP, -paths.CABLE_STEPS[_STEP])}),
    _head("alibi", "grape-additive", {biases.ALIBI_SLOPE: grape.GRAPE_SLOPE}),
    _head("alibi", "fox-bias-only", {biases.ALIBI_SLOPE: sp.log(1 + sp.exp(-paths.FOX_LOGIT))}),
    _head("alibi", "fox-fixed", {biases.ALIBI_SLOPE: 1 / paths.FOX_TIMESCALE}),
    _head(
        "grape-path",
        "alibi",
        {grape.EDGES: grape.CONTENT_FREE, grape.PATH_SLOPE: biases.ALIBI_SLOPE / sp.log(2)},
    ),
    _head(
        "grape-gated",
        "alibi",
        {
            **dict.fromkeys((grape.QUERY_GATES, grape.KEY_GATES), SILENT),
            grape.GRAPE_SLOPE: biases.ALIBI_SLOPE / (2 * SILENT),
        },
    ),
    _head(
        "prism",
        "nope",
        {prism.HISTOGRAMS: sp.Rational(1, 2), prism.POSITIONS: sp.Integer(2), rotary.FREQUENCY: sp.pi},
    ),
    *(_head(name, "nope", {absolute.TABLE: sp.S.Zero}) for name in ("ape", "random-ape", "offset-ape")),
    *(_table_of(name) for name in ("sinusoidal", "haar", "dct")),
    *(_head(name, "nope", {VECTORS: sp.S.Zero}) for name in ("rpe", "clipped", "random-rpe")),
    _head("rpe", "clipped", {VECTORS: sp.Lambda(_LABEL, VECTORS[sp.Min(_LABEL[0], CLIPPED_AT), _LABEL[1]])}),
    _head("rpe", "wavelet", {VECTORS: sp.Lambda(_LABEL, sp.Piecewise(*_WAVELETS))}),
)
"""Containments beyond the special cases that encodings declare in `recovers`."""


def recoveries() -> Iterator[tuple[Encoding, Recovery]]:
    """Yield each special case that a registered encoding declares and that holds in full."""
    for encoding in with_formulas():
        for recovery in encoding.recovers:
            if _in_full(recovery):
                yield encoding, recovery


def _in_full(recovery: Recovery) -> bool:
    """True for a special case that holds for all parameters and lengths, and that the parameters attain."""
    return recovery.attained and not (recovery.function or recovery.within or recovery.at)


@dataclass(frozen=True, kw_only=True)
class Property:
    """Property that all heads of some encodings have, and some head of others lacks.

    Attributes:
        name: name, as tables and messages write it.
        statement: the property of a head.
        kept_by: encodings all of whose heads have it.
        broken_by: encodings with a head that lacks it.
        claim: id of the claim that shows it.
        equation: expression in scores that is 0 for a head with the property.
        law: the law of theory/laws.py that it is. With neither, it is shown otherwise.
    """

    name: str
    statement: str
    kept_by: tuple[str, ...]
    broken_by: tuple[str, ...]
    claim: str
    equation: Callable[[Heads], sp.Expr] | None = None
    law: Law | None = None


def _equation(
    name: str, statement: str, equation: Callable[[Heads], sp.Expr], *, kept: str, neither: str = ""
) -> Property:
    """Property that every encoding keeps or breaks, but for those named in `neither`."""
    kept_by = tuple(kept.split())
    broken_by = tuple(name for name in ALL if name not in {*kept_by, *neither.split()})
    return Property(
        name=name,
        statement=statement,
        kept_by=kept_by,
        broken_by=broken_by,
        claim="containment-equations",
        equation=equation,
    )


def _shown(claim: str, name: str, statement: str, *, kept: str, broken: str) -> Property:
    kept_by, broken_by = tuple(kept.split()), tuple(broken.split())
    return Property(name=name, statement=statement, kept_by=kept_by, broken_by=broken_by, claim=claim)


def _declared(law: Law, name: str, statement: str, *, neither: str = "") -> Property:
    """Law that records declare."""
    kept = " ".join(record for record in ALL if law in RECORDS[record].laws and record not in neither.split())
    broken = " ".join(record for record in ALL if law not in RECORDS[record].laws)
    return replace(_shown("containment-laws", name, statement, kept=kept, broken=broken), law=law)


def in_both(heads: Heads, query: int) -> sp.Expr:
    """Part of the score of key 0 that is in both contents, against key 1."""

    def preference(query_token: str, key_token: str) -> sp.Expr:
        tokens = [key_token, "z", "z", "z"]
        tokens[query] = query_token
        return heads.preference(" ".join(tokens), query, (0, 1))

    return preference("x", "y") - preference("x", "y_") - preference("x_", "y") + preference("x_", "y_")


def _along(tokens: str, *weighted: tuple[int, int]) -> Callable[[Heads], sp.Expr]:
    """Sum of factors times scores of the last token for the keys at given distances, less its score for itself."""
    last = len(tokens.split()) - 1

    def total(heads: Heads) -> sp.Expr:
        return sp.Add(
            *(factor * heads.preference(tokens, last, (last - distance, last)) for factor, distance in weighted)
        )

    return total


_ZEROS, _EQUAL = "0 0 0 0 0 0", "y y y y y y"
_BEND = (1, 1), (-2, 2), (1, 3)
"""Second difference of the scores at the distances 1, 2, 3."""


def _power(heads: Heads) -> sp.Expr:
    near, middle, far = (_along(_ZEROS, (1, distance))(heads) for distance in (1, 2, 4))
    return near * far - middle**2


def _square(heads: Heads) -> sp.Expr:
    near, far = (sp.exp(-_along(_EQUAL, (1, distance))(heads)) - 1 for distance in (1, 2))
    return far - 4 * near


_ROTATIONS = "rope interpolation ntk dynamic-ntk yarn random-rope grape grape-thin grape-commuting grape-contextual"
_VECTORS = "rpe clipped random-rpe wavelet"
_LINES = "alibi grape-additive fox-bias-only fox-fixed"
_TABLES = "sinusoidal ape legendre haar dct random-ape offset-ape"
_BIASES = f"seqpe t5 t5-bidirectional {_LINES} kerple-power kerple-log bam fire random-alibi graph-alibi"
_SUMS = "fox cable cable-nw cable-gated cable-log"
_ADDED = f"{_BIASES} {_SUMS} grape-path"
"""Encodings that add numbers to the scores which do not depend on the key's content."""

PROPERTIES = (
    _shown("containment-laws", "sum", "the weights of a query sum to 1", kept=_SOFTMAX, broken=_SIGMOID),
    _shown(
        "containment-laws",
        "alone",
        "the weight of a key does not depend on the other keys",
        kept=_SIGMOID,
        broken=_SOFTMAX,
    ),
    _shown(
        "containment-draws",
        "draw",
        "the weights do not depend on what the other encoding draws",
        kept=" ".join(ALL),
        broken=_DRAWING,
    ),
    _declared(
        Law.TRANSLATION,
        "translation",
        "a common shift of all positions does not change the weights",
        neither="prism",  # a shift puts tokens in front, and its histograms count them
    ),
    _declared(Law.STREAMING, "streaming", "the weights of a query do not change as the sequence grows"),
    _equation(
        "contents",
        "what the contents of query and key do together is the same for every query",
        lambda heads: in_both(heads, 3) - in_both(heads, 2),
        kept=f"nope {_VECTORS} grape-gated {_TABLES} {_ADDED}",
    ),
    _equation(
        "temperature",
        "what the contents of query and key do together grows like log(j + 1) with the query's position j",
        lambda heads: sp.log(3) * in_both(heads, 3) - sp.log(4) * in_both(heads, 2),
        kept="bam-ssmax",
    ),
    _equation(
        "blind query",
        "which of two equal keys a query prefers does not depend on the query's content",
        lambda heads: heads.preference("y y z x", 3, (0, 1)) - heads.preference("y y z x_", 3, (0, 1)),
        kept=f"nope bam-ssmax fox cable cable-nw {_BIASES}",
    ),
    _equation(
        "affine key",
        "for a query of content 0, the score of a key is an affine function of the key's content",
        lambda heads: sp.Add(
            *(factor * heads.preference(f"{key} z z 0", 3, (0, 2)) for factor, key in ((1, "y"), (-2, "2y"), (1, "3y")))
        ),
        kept=f"nope xpos hope swat bam-ssmax {_VECTORS} {_ROTATIONS} {_TABLES} {_ADDED}",
    ),
    _equation(
        "keys of content 0",
        "keys of content 0 weigh alike",
        lambda heads: heads.preference("0 0 z x", 3, (0, 1)),
        kept=f"nope xpos hope {_ROTATIONS} cable-nw cable-gated cable-log",
    ),
    _equation(
        "equal tokens",
        "among equal tokens the score is an affine function of the distance",
        _along(_EQUAL, *_BEND),
        kept=f"nope {_LINES} grape-gated fox cable cable-nw cable-gated",
    ),
    _equation(
        "query of content 0",
        "for a query of content 0, the scores of the tokens before it fall by equal steps",
        _along("z y u v w 0", *_BEND),
        kept=f"nope xpos hope swat {_VECTORS} {_ROTATIONS} {_LINES} grape-path",
    ),
    _equation(
        "path",
        "the tokens between key and query do not matter",
        lambda heads: heads.preference("u z v x", 3, (0, 2)) - heads.preference("u z_ v x", 3, (0, 2)),
        kept=" ".join(name for name in ALL if name not in {*_SUMS.split(), "prism", "grape-contextual", "grape-path"}),
    ),
    _equation(
        "clipped at 8",
        "equal keys at the distances 8 and 20 weigh alike for every query",
        _along(f"y {'z ' * 11}y {'z ' * 7}x", (1, 8), (-1, 20)),
        kept="nope clipped",
    ),
    _equation(
        "buckets of T5",
        "among tokens of content 0 the distances 22 and 23 weigh alike",
        _along("0 " * 24, (1, 22), (-1, 23)),
        kept=f"nope t5 xpos hope {_VECTORS} {_ROTATIONS} cable-nw cable-gated cable-log",
        neither="haar graph-alibi",
    ),
    _equation(
        "buckets of T5, both sides",
        "among tokens of content 0 the distances 8 and 9 weigh alike",
        _along("0 " * 10, (1, 8), (-1, 9)),
        kept=f"nope t5-bidirectional xpos hope {_VECTORS} {_ROTATIONS} cable-nw cable-gated cable-log",
        neither="haar",
    ),
    _equation(
        "power of the distance",
        "among tokens of content 0 the scores b, less that of the query itself, satisfy b(1) b(4) = b(2)^2",
        _power,
        kept=f"nope kerple-power xpos hope swat {_VECTORS} {_ROTATIONS} {_LINES} grape-gated grape-path "
        "fox cable cable-nw cable-gated cable-log",
    ),
    _equation(
        "square of the distance",
        "among equal tokens the scores b, less that of the query itself, satisfy e^-b(2) - 1 = 4 (e^-b(1) - 1)",
        _square,
        kept="nope cable-log",
    ),
    _shown(
        "containment-growth",
        "nearest",
        "a query of content 0 prefers itself to a token of content 0 before it",
        kept="alibi kerple-power kerple-log fox grape-gated grape-path graph-alibi random-alibi",
        broken="nope",
    ),
    _shown(
        "containment-powers",
        "undamped",
        "among equal tokens a score is a sum of powers mu^D of the distance with |mu| = 1",
        kept="rope dynamic-ntk grape-contextual",
        broken="xpos hope",
    ),
    _shown(
        "containment-powers",
        "damped",
        "a score is a sum of powers mu^D of the distance with |mu| < 1",
        kept="xpos hope",
        broken="nope",
    ),
    _shown(
        "containment-powers",
        "without turns",
        "a score is a sum of powers mu^D of the distance with positive mu",
        kept="hope",
        broken="xpos",
    ),
    _shown(
        "containment-powers",
        "three powers",
        "a score is a sum of three powers mu^D of the distance, or fewer",
        kept="grape",
        broken="grape-thin",
    ),
    _shown(
        "containment-powers",
        "five powers",
        "a score is a sum of five powers mu^D of the distance, or fewer",
        kept="grape-thin",
        broken="rope",
    ),
    _shown(
        "containment-growth",
        "vanishing",
        "as the distance grows, keys with equal contents come to weigh alike for every query",
        kept="wavelet",
        broken="rpe",
    ),
    _shown(
        "containment-growth",
        "no last distance",
        "if from some distance on keys with equal contents weigh alike for every query, then they do at all distances",
        kept="wavelet",
        broken="clipped",
    ),
    _shown(
        "containment-growth",
        "convex",
        "among tokens of content 0 the score falls by less from distance 2 to 3 than from 1 to 2",
        kept="kerple-log",
        broken="alibi",
    ),
    _shown(
        "containment-growth",
        "fading",
        "as the query moves on, the weights of tokens of content 0 at fixed distances become equal",
        kept="fire",
        broken="alibi t5 t5-bidirectional kerple-log",
    ),
    _shown(
        "containment-growth",
        "few runs",
        "as the query moves on, the score of the token before it, less its own, all contents being 0, has at most 33 "
        "monotone runs",
        kept="fire",
        broken="seqpe",
    ),
    _shown(
        "containment-growth",
        "shifted power",
        "among tokens of content 0 the logarithm of the weight at distance D is -a ((eps + D)^b - eps^b), a, eps > 0",
        kept="bam",
        broken="kerple-power kerple-log t5 t5-bidirectional",
    ),
    _shown(
        "containment-growth",
        "whole hops",
        "among tokens of content 0 the logarithms of two weights have a rational ratio",
        kept="graph-alibi",
        broken="kerple-power kerple-log",
    ),
    _shown(
        "containment-codes",
        "codes",
        "if the contents of query and key together give q . k, and a query of content 0 does not see the contents of "
        "keys, then the weights are those of NoPE",
        kept=_TABLES,
        broken=f"rpe clipped wavelet {_ADDED}",
    ),
    _shown(
        "containment-codes",
        "code not 0",
        "if the contents of query and key together give q . k, then a query of content 0 sees the contents of keys",
        kept="sinusoidal legendre haar dct",
        broken="nope",
    ),
    _shown(
        "containment-codes",
        "codes on circles",
        "if the contents of query and key together give q . k, then the codes of a plane have length 1",
        kept="sinusoidal",
        broken="legendre haar dct ape",
    ),
    _shown(
        "containment-codes",
        "code with a 1",
        "if the contents of query and key together give q . k, then the first entry of every code is 1",
        kept="legendre dct",
        broken="sinusoidal haar ape",
    ),
    _shown(
        "containment-codes",
        "codes that end",
        "if the contents of query and key together give q . k, then the codes are 0 from some position on",
        kept="haar",
        broken="sinusoidal dct",
    ),
    _shown(
        "containment-codes",
        "codes of 0 or 1",
        "if the contents of query and key together give q . k, then the first entry of every code is 0 or 1",
        kept="haar",
        broken="sinusoidal ape",
    ),
    _shown(
        "containment-codes",
        "codes that move",
        "if the contents of query and key together give q . k, then some code changes as the sequence grows",
        kept="legendre",
        broken="haar dct",
    ),
    _shown(
        "containment-codes",
        "codes of any draw",
        "if the weights do not depend on the draw, and the contents of query and key together give q . k, then all "
        "codes are equal",
        kept="random-ape offset-ape",
        broken="sinusoidal legendre haar dct ape",
    ),
    _shown(
        "containment-draws",
        "keys of any draw",
        "if the weights do not depend on the draw, then keys before the query with equal contents weigh alike",
        kept="random-rpe random-rope random-alibi",
        broken=" ".join(name for name in ALL if name not in {"nope", *_DRAWING.split()}),
    ),
    _shown(
        "containment-prism",
        "large contents",
        "as all contents grow t times, a score over t^2 tends to q . k, the same for all positions",
        kept="prism",
        broken="rope grape xpos hope bam-ssmax",
    ),
    _shown(
        "containment-prism",
        "bounded",
        "among given contents no ratio of weights goes to infinity with the length",
        kept="prism",
        broken="alibi kerple-log cable-nw cable-log grape-gated",
    ),
    _shown(
        "containment-prism",
        "codes of prefixes",
        "if the scores are q . k and a number that does not depend on the contents, then the weights are those of NoPE",
        kept="prism",
        broken="seqpe t5 t5-bidirectional fire",
    ),
    _shown(
        "containment-prism",
        "large queries",
        "if the contents of query and key together give q . k, then which of two keys a large query prefers does not "
        "depend on the query's position",
        kept="prism",
        broken="rpe clipped wavelet",
    ),
    _shown(
        "containment-prism",
        "codes in circles",
        "if the contents of query and key together give q . k, then the codes of a plane are shorter than 1, or equal",
        kept="prism",
        broken="sinusoidal haar dct ape",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Containment:
    """Answer for an ordered pair: does `by` contain `of`?

    Attributes:
        holds: True, False, or None if it is open.
        reason: values of the parameters, the property that decides, or the pairs from which the answer follows.
        claim: id of the claim that shows it; empty if it follows from other pairs, or is open.
    """

    by: str
    of: str
    holds: bool | None
    reason: str
    claim: str = ""


_TABLE_OF_DIGITS = "it is not known which tables of codes SeqPE's network of digits can give"
OPEN: Mapping[tuple[str, str], str] = {
    **{
        ("seqpe", name): _TABLE_OF_DIGITS
        for name in f"{_LINES} t5 t5-bidirectional kerple-power kerple-log bam fire".split()
    },
}
"""Ordered pairs that are not decided, each with the reason."""


class Contradiction(LengthgenError):
    """A property refutes a pair that a construction proves."""


@cache
def containments() -> Mapping[tuple[str, str], Containment]:
    """Return the answer for every ordered pair of two registered encodings with formulas, by their names."""
    return decided(CONSTRUCTIONS, PROPERTIES)


def compare(by: Encoding, of: Encoding) -> Containment:
    """Return the answer for two encodings; for a user's own, as far as its special cases, the laws and equations go.

    What an own encoding computes from tokens counts as any function of them. So it shows what its heads have in common,
    but not that some head differs: the function may not be free.
    """
    if _is_listed(by) and _is_listed(of):
        return containments()[by.name, of.name]
    for recovery in by.recovers:
        special = _in_full(recovery) and (called(recovery.of) is of or recovery.of == of.name)
        inside = special and assignment_allowed(by, recovery.assignment).holds
        if inside and decide_recovery(by, of, recovery).holds:
            return Containment(by=by.name, of=of.name, holds=True, reason=_text(recovery.assignment))
    for each in PROPERTIES:
        if (each.equation or each.law) and _keeps(by, each) and _breaks(of, each):
            reason = f"in all heads of {by.name}, {each.statement}"
            return Containment(by=by.name, of=of.name, holds=False, reason=reason)
    reason = "neither a declared special case nor a law or an equation of the table decides it"
    return Containment(by=by.name, of=of.name, holds=None, reason=reason)


def _is_listed(encoding: Encoding) -> bool:
    """True for an encoding of the table, and not one of the user's own of the same name."""
    record = RECORDS.get(encoding.name)
    return record is not None and (encoding is record or encoding is called(encoding.name))


def _keeps(encoding: Encoding, each: Property) -> bool:
    if _is_listed(encoding):
        return encoding.name in each.kept_by
    if each.equation is None:
        return each.law is not None and decide_law(encoding, each.law).holds is True and not _counts_tokens(encoding)
    try:
        return bool(sp.expand(each.equation(Heads(encoding=encoding, any_codes=True))) == 0)
    except OutOfScene:
        return False


def _breaks(encoding: Encoding, each: Property) -> bool:
    if _is_listed(encoding):
        return encoding.name in each.broken_by
    if not all(map(_is_free, encoding.parameters)):
        return False
    if each.equation is None and (each.law is None or decide_law(encoding, each.law).holds is not False):
        return False
    # Scores of a row may change by one number, so the law of streaming is asked of their differences.
    equation = _row_at_two_lengths if each.law is Law.STREAMING else each.equation
    try:
        return equation is None or visible_value(equation(Heads(encoding=encoding)), encoding) is not None
    except OutOfScene:
        return False


def _is_free(parameter: Parameter) -> bool:
    """True for a number in its domain, or a table or function without one: a trial may give it any value."""
    return parameter.family is Family.TABLE and (isinstance(parameter.symbol, sp.Symbol) or parameter.domain is None)


def _row_at_two_lengths(heads: Heads) -> sp.Expr:
    short, long = (heads.preference("u v x", 2, (0, 1), length=length) for length in (3, 12))
    return short - long


def _counts_tokens(encoding: Encoding) -> bool:
    """True if tokens in front of all others change what it computes."""
    return any(parameter.family is Family.PREFIX for parameter in encoding.parameters)


def decided(
    constructions: Iterable[Construction], properties: Iterable[Property]
) -> dict[tuple[str, str], Containment]:
    """Return the answers that follow from the declared special cases, constructions, properties and open pairs.

    Raises:
        Contradiction: a property refutes a pair that holds.
    """
    answers: dict[tuple[str, str], Containment] = {}

    def add(by: str, of: str, holds: bool | None, reason: str, claim: str = "") -> bool:
        """Add an answer, and tell if there was none; the first one stays."""
        if by == of or (by, of) in answers:
            return False
        answers[by, of] = Containment(by=by, of=of, holds=holds, reason=reason, claim=claim)
        return True

    for encoding, recovery in recoveries():
        construction = _head(encoding.name, recovery.of, recovery.assignment)
        add(encoding.name, recovery.of, True, str(construction), f"recovery-{encoding.name}-{recovery.of}")
    for construction in constructions:
        add(construction.by, construction.of, True, str(construction), "containment-heads")
    _add_contained(answers, add)
    for each in properties:
        for by, of in product(each.kept_by, each.broken_by):
            if (by, of) in answers and answers[by, of].holds:
                raise Contradiction(
                    f"{by} contains {of}: {answers[by, of].reason}; but not both keep: {each.statement}"
                )
            add(by, of, False, f"in all heads of {by}, {each.statement}", each.claim)
    _add_missing(answers, add)
    for (by, of), reason in OPEN.items():
        add(by, of, None, reason)
    return answers


_Answers = Mapping[tuple[str, str], Containment]


def _add_contained(answers: _Answers, add: Callable[..., bool]) -> None:
    """Add that an encoding contains what another contains that it contains."""
    added = 1
    while added:
        pairs = list(answers)
        added = sum(
            add(by, last, True, f"{by} contains {of}, and {of} contains {last}")
            for (by, of), (middle, last) in product(pairs, pairs)
            if middle == of
        )


def _add_missing(answers: _Answers, add: Callable[..., bool]) -> None:
    """Add that an encoding contains none that contains what it lacks, and is in none that lacks what it contains."""
    inside = [pair for pair, answer in answers.items() if answer.holds]
    added = 1
    while added:
        missing = [pair for pair, answer in answers.items() if answer.holds is False]
        added = 0
        for (by, of), (other, lacking) in product(inside, missing):
            if lacking == of:
                added += add(other, by, False, f"{by} contains {of}, and {other} does not")
            if other == by:
                added += add(of, lacking, False, f"{by} contains {of}, but not {lacking}")
