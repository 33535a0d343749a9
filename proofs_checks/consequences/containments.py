"""Containment of encodings: heads that show it, and properties that rule it out (theory/containment.py)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import permutations, product

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.facts import is_zero, require_equal, same_by_sympy
from lengthgen.proofs_checks.mutations import Formulas, with_bias
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory import containment, domains, far, laws
from lengthgen.theory.containment import ALL, CONSTRUCTIONS, PROPERTIES, RECORDS, Construction, Plane, Property
from lengthgen.theory.encodings import absolute, biases, prism, relations, rotary
from lengthgen.theory.encodings.encoding import (
    HEADS,
    KEY,
    LAYERS,
    LENGTH,
    QUERY,
    Encoding,
    Family,
    Law,
    Normaliser,
    Recovery,
)
from lengthgen.theory.scenes import Heads, content, visible_value
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE.at("encodings that it contains, and all others"))
_HEADS = "planes of a head are independent, options have their defaults, and parameters fixed by a rule are free"
_WORDS = "in words: why the formulas have the properties; each fact says how"
_NETWORKS = "networks give any masses to PRISM, codes to SeqPE and values of f to FIRE at the few points of an equation"
_DISTANCE, _POSITION = sp.symbols("D i", integer=True, nonnegative=True)


def of_claim(name: str) -> tuple[Property, ...]:
    """Return the properties that a claim shows."""
    return tuple(each for each in PROPERTIES if each.claim == f"containment-{name}")


def also_kept(properties: Iterable[Property], name: str, encoding: str) -> tuple[Property, ...]:
    """Return one of the properties with one encoding more among those that keep it: a false statement."""
    return tuple(replace(each, kept_by=(*each.kept_by, encoding)) for each in properties if each.name == name)


def also_broken(properties: Iterable[Property], name: str, encoding: str) -> tuple[Property, ...]:
    """Return one of the properties with one encoding more among those that break it: a false statement."""
    return tuple(replace(each, broken_by=(*each.broken_by, encoding)) for each in properties if each.name == name)


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} encodings" if len(names) > 8 else ", ".join(names)


def _told(each: Property, why: str) -> str:
    """Fact on one property."""
    return f"{each.statement}: in all heads of {_listed(each.kept_by)}, not in one of {_listed(each.broken_by)}; {why}"


_HALF_TURN = Construction(by="rope", of="nope", planes=(Plane(assignment={rotary.FREQUENCY: sp.pi}),))
_WITHOUT_RATE = Construction(by="xpos", of="rope", planes=(Plane(assignment={rotary.XPOS_RATE: sp.S.Zero}),))
(_HYPERBOLIC,) = (each for each in CONSTRUCTIONS if each.by == "xpos")


@CLAIMS.claim(
    "containment-heads",
    "",
    r"\forall\,\text{head of }B\ \exists\,\text{head of }A:\ s^A=s^B",
    assumptions=(_HEADS, "in words: PRISM has heads whose gates give the histogram (1/2, 1/2) at every token"),
    falsifiers={
        "RoPE with half turns is NoPE": {"constructions": (_HALF_TURN,)},
        "xPos may have the rate 0": {"constructions": (_WITHOUT_RATE,)},
        "one plane of xPos is a plane of HoPE": {
            "constructions": (replace(_HYPERBOLIC, planes=_HYPERBOLIC.planes[:1]),)
        },
        "with the decays exchanged": {
            "constructions": (
                replace(
                    _HYPERBOLIC,
                    planes=tuple(
                        replace(plane, assignment=other.assignment)
                        for plane, other in zip(_HYPERBOLIC.planes, reversed(_HYPERBOLIC.planes), strict=True)
                    ),
                ),
            )
        },
    },
)
def heads_exist(constructions: Sequence[Construction] = CONSTRUCTIONS) -> Facts:
    """Up to W_q and W_k, RoPE contains NoPE, interpolation, NTK, YaRN and GRAPE-M of one, two or all planes, xPos
    contains HoPE, with two planes for each of its, gated GRAPE-A contains ALiBi, PRISM contains NoPE, ALiBi contains
    GRAPE-A and FoX without data, FoX contains Cable, a table of codes contains sinusoidal, Haar and DCT codes, and a
    table of vectors the clipped ones and wavelets.

    PRISM's histogram (1/2, 1/2) at every token, of two places: gates of 1/2 for increments keep it if those of reset
    and decrement have as much as is lost, and a recurrent network that reads no token has two states, one for the first
    token and a fixed point, from which affine gates follow.
    """
    for construction in constructions:
        yield _same_scores(construction)


def _at_ends(assignment: containment.Assignment, other: Encoding) -> Iterator[containment.Assignment]:
    """Yield the assignment at both ends of each closed interval of the other's parameters in which it is linear."""
    ends = [
        {parameter.symbol: end}
        for parameter in other.parameters
        if isinstance(parameter.domain, sp.Interval) and parameter.domain.is_closed and parameter.domain.end.is_finite
        for end in (parameter.domain.start, parameter.domain.end)
        if all(
            not isinstance(value, sp.Lambda) and sp.diff(value, parameter.symbol, 2) == 0
            for value in assignment.values()
        )
    ]
    for at in ends or [{}]:
        yield {symbol: sp.simplify(value.subs(at)) if at else value for symbol, value in assignment.items()}


def _same_scores(construction: Construction) -> str:
    """Fact that the head has the scores of the other encoding. Raises `Refuted` if not, or outside the domains."""
    record, other = RECORDS[construction.by], RECORDS[construction.of]
    for plane in construction.planes:
        for assignment in _at_ends(plane.assignment, other):
            inside = domains.assignment_allowed(record, assignment)
            refute(not inside.holds, f"{construction.by} for {construction.of}: {inside.reason}")
    name = f"{construction.by} is {construction.of} at {construction}"
    (plane, *others) = construction.planes
    if not others and plane == Plane(assignment=plane.assignment):
        ruling = laws.decide_recovery(record, other, Recovery(other.name, plane.assignment, at=construction.at))
        refute(ruling.holds is False, f"{name}: {ruling.reason}")
        if ruling.holds is None:
            raise Undecided(f"{name}: {ruling.reason}")
        return f"{name}: {ruling.reason}"
    refute(record.embed or (others and record.bias), f"{construction.by} would add codes or a bias for each plane")
    places = {"query_position": _POSITION + _DISTANCE, "key_position": _POSITION}
    scores = (
        laws.assigned(
            record.score(plane.query * QUERY, plane.key * KEY, **places), Recovery(other.name, plane.assignment)
        )
        for plane in construction.planes
    )
    return same_by_sympy(name, sp.Add(*scores), other.score(**places).xreplace(dict(construction.at)))


_EQUATIONS = of_claim("equations")


@CLAIMS.claim(
    "containment-equations",
    "",
    r"\forall\,\text{head of }A:\ E(s^A)=0,\quad\exists\,\text{head of }B:\ E(s^B)\ne0",
    assumptions=(_HEADS, _NETWORKS),
    falsifiers={
        "Kerple is linear in the distance": {
            "properties": also_kept(_EQUATIONS, "equal tokens", "kerple-log"),
        },
        "RoPE keeps contents apart from positions": {"properties": also_kept(_EQUATIONS, "contents", "rope")},
        "GRAPE-A with gates does not see the query": {
            "properties": also_kept(_EQUATIONS, "blind query", "grape-gated")
        },
        "NoPE sees the path": {"properties": also_broken(_EQUATIONS, "path", "nope")},
        "T5 tells 22 and 23 apart": {"properties": also_broken(_EQUATIONS, "buckets of T5", "t5")},
    },
)
def equations_part(properties: Sequence[Property] = _EQUATIONS) -> Facts:
    """Thirteen equations between scores at a few positions: each holds in all heads of the encodings listed as keeping
    it, whatever their parameters, W_q and W_k, and fails in a head of each that is listed as breaking it.
    """
    for each in properties:
        equation = each.equation
        if equation is None:
            raise ValueError(f"{each.name} has no equation")
        for name in each.kept_by:
            difference = sp.expand(equation(Heads(encoding=RECORDS[name], any_codes=True)))
            refute(not is_zero(difference), f"{name}, {each.name}: the sides differ by {difference}")
        values = {name: _broken(name, equation) for name in each.broken_by}
        first = next(iter(values))
        yield _told(each, f"the sides differ in each, as by {values[first]} in {first}")


def _broken(name: str, equation: Callable[[Heads], sp.Expr]) -> sp.Expr:
    """Difference of the sides in some head. Raises `Refuted` if none is seen."""
    value = visible_value(equation(Heads(encoding=RECORDS[name])), RECORDS[name])
    if value is None:
        raise Refuted(f"{name}: no head was found in which the sides of the equation differ")
    return value


Decider = Callable[[Encoding], bool | None]
"""Encoding -> True if all its heads have a property, False if one lacks it, None if that is not decided."""


def _lacks(record: Encoding, *differences: sp.Expr) -> bool | None:
    """False if one of these is seen not to be 0 in some head; None if not."""
    return False if any(visible_value(difference, record) is not None for difference in differences) else None


def _decide(
    properties: Iterable[Property],
    deciders: Mapping[str, Decider],
    why: Mapping[str, str],
    formulas: Formulas = lambda record: record,
) -> Iterator[str]:
    """Yield a fact for each property, with the reason why that is what the decider shows.

    `formulas` changes the encodings that are listed as keeping a property.

    Raises:
        Refuted: an encoding that is listed as keeping a property has a head without it, or the other way round.
        Undecided: it is not decided.
    """
    for each in properties:
        for kept, names in ((True, each.kept_by), (False, each.broken_by)):
            for name in names:
                record = RECORDS[name]
                holds = deciders[each.name](formulas(record) if kept else record)
                if holds is None:
                    raise Undecided(f"{record.name}: {each.statement}")
                refute(holds is not kept, f"{record.name} {'breaks' if kept else 'keeps'} it: {each.statement}")
        yield _told(each, why[each.name])


_LAWS = of_claim("laws")
_LOGITS = sp.symbols("l1 l2 l3", real=True)
_TURNS = [_LOGITS[at:] + _LOGITS[:at] for at in range(3)]


def _weight(record: Encoding) -> sp.Expr:
    """Weight of the first of three keys."""
    if record.normaliser is Normaliser.SIGMOID:
        return rotary.swat_weight(_LOGITS[0])
    return sp.exp(_LOGITS[0]) / sp.Add(*map(sp.exp, _LOGITS))


def _sums_to_one(record: Encoding) -> bool:
    weights = (_weight(record).subs(dict(zip(_LOGITS, turn, strict=True)), simultaneous=True) for turn in _TURNS)
    return bool(sp.simplify(sp.Add(*weights)) == 1)


@CLAIMS.claim(
    "containment-laws",
    "",
    r"\forall\,\text{head of }A:\ \text{law},\quad\exists\,\text{head of }B:\ \neg\text{law}",
    falsifiers={
        "SWAT's weights sum to 1": {"properties": also_kept(_LAWS, "sum", "swat")},
        "RoPE's weights ignore other keys": {"properties": also_kept(_LAWS, "alone", "rope")},
        "FIRE moves along": {"properties": also_kept(_LAWS, "translation", "fire")},
        "RoPE changes with the length": {"properties": also_broken(_LAWS, "streaming", "rope")},
    },
)
def laws_part(properties: Sequence[Property] = _LAWS) -> Facts:
    """Four laws, on the sum of the weights, the weight of a key alone, a common shift of positions and the growth of
    the sequence: each holds in all heads of the encodings listed as keeping it, whatever W_q and W_k, and fails in a
    head of each that is listed as breaking it.
    """
    deciders = {
        "sum": _sums_to_one,
        "alone": lambda record: not _weight(record).free_symbols & set(_LOGITS[1:]),
        "translation": lambda record: laws.decide_law(record, Law.TRANSLATION).holds,
        "streaming": lambda record: laws.decide_law(record, Law.STREAMING).holds,
    }
    yield from _decide(properties, deciders, dict.fromkeys(deciders, "decided from the formulas"))


_DRAWS = of_claim("draws")


def _ignores_draw(record: Encoding) -> bool:
    """False if two draws give different weights."""
    heads = Heads(encoding=record)
    change = heads.preference("u v x", 2, (0, 1)) - heads.preference("u v x", 2, (0, 1), draw=1)
    return visible_value(change, record) is None


def _alike_if_drawn(record: Encoding) -> bool | None:
    """True for scores of drawn distances; False if weights without a draw tell equal keys before the query apart."""
    if record.drawn_from:
        return laws.decide_law(RECORDS[record.drawn_from], Law.RELATIVE).holds or None
    equal_keys = Heads(encoding=record).preference("y y z x", 3, (0, 1))
    if equal_keys == 0:
        return True
    return _lacks(record, equal_keys)


@CLAIMS.claim(
    "containment-draws",
    "",
    r"w^A\text{ independent of the draw}\Rightarrow\forall i,i'<j:\ k_i=k_{i'}\Rightarrow w^A_{ji}=w^A_{ji'}",
    assumptions=("the two encodings draw independently", _WORDS),
    falsifiers={
        "RoPE draws": {"properties": also_broken(_DRAWS, "draw", "rope")},
        "NoPE tells equal keys apart": {"properties": also_broken(_DRAWS, "keys of any draw", "nope")},
        "FoX weighs equal keys alike": {"properties": also_kept(_DRAWS, "keys of any draw", "fox")},
    },
)
def draws_part(properties: Sequence[Property] = _DRAWS) -> Facts:
    """No encoding contains one whose weights follow a draw of its own. One whose scores are those of the distances of
    drawn positions contains only such that weigh equal keys before the query alike.
    """
    deciders = {
        "draw": lambda record: not record.drawn_from or _ignores_draw(record),
        "keys of any draw": _alike_if_drawn,
    }
    properties = [  # a draw of its own is none of the other encoding's
        replace(each, kept_by=tuple(name for name in each.kept_by if not RECORDS[name].drawn_from))
        if each.name == "draw"
        else each
        for each in properties
    ]
    why = {
        "draw": "two draws of theirs give different weights",
        "keys of any draw": "a draw may move one key and leave the other, so weights that ignore it are the same for "
        "all distances; in the others two equal keys get different weights",
    }
    yield from _decide(properties, deciders, why)


_GROWTH = of_claim("growth")
_FAR = sp.Symbol("n", integer=True, positive=True)


def _log_weight(record: Encoding, distance: int) -> sp.Expr:
    """Logarithm of the weight of a token at a distance, less that of the query itself; all tokens have content 0."""
    last = max(distance, 1)
    return Heads(encoding=record).preference("0 " * (last + 1), last, (last - distance, last))


def _bias_at(record: Encoding, distance: sp.Expr) -> sp.Expr:
    """The same for an encoding with a bias of the distance, at any distance."""
    if record.bias is None:
        raise ValueError(f"{record.name} has no bias")
    query = _POSITION + distance
    return record.bias(query, _POSITION, LENGTH) - record.bias(query, query, LENGTH)


def _nearest(record: Encoding) -> bool | None:
    weight = _log_weight(record, 1)
    if weight == 0:
        return False
    negative: bool | None = sp.simplify(weight).is_negative
    return negative


def _convex(record: Encoding) -> bool | None:
    """True if e^(bend / scale) - 1 is positive, with the bend b(1) - 2 b(2) + b(3) of the logarithms b."""
    bend = sp.expand(_log_weight(record, 1) - 2 * _log_weight(record, 2) + _log_weight(record, 3))
    if bend == 0:
        return False
    positive: bool | None = sp.factor(sp.simplify(sp.exp(sp.expand(bend / biases.KERPLE_SCALE))) - 1).is_positive
    return positive


def _fading(record: Encoding) -> bool | None:
    """True if a continuous function is taken at arguments that go to 0; False for a law of distances that differ."""
    if laws.decide_law(record, Law.RELATIVE).holds:
        return visible_value(_log_weight(record, 1) - _log_weight(record, 3), record) is None
    (function,) = (each.symbol for each in record.parameters if each.network)
    (applied,) = _bias_at(record, _DISTANCE).subs(_POSITION, _FAR).atoms(function) - {function(0)}
    arguments = applied.args[0].replace(sp.Max, lambda *of: next(part for part in of if part.has(_FAR)))
    return bool(sp.limit(arguments, _FAR, sp.oo) == 0)


def _few_runs(record: Encoding) -> bool | None:
    """True for a function of at most 33 linear pieces at rising or falling arguments; False for codes that alternate.

    FIRE's network has 32 units in one layer. The score is f at log(c + 1) / log(c max(L, j + 1) + 1), less f(0).
    """
    if record.bias is None:
        return None
    networks = [each.symbol for each in record.parameters if each.network]
    if networks:
        numbers = sp.Poly(sp.expand(record.learned / LAYERS), HEADS)
        (applied,) = (each for each in _bias_at(record, sp.S.One).atoms(networks[0]) if each.args[0] != 0)
        late = applied.args[0].replace(sp.Max, lambda *of: next(part for part in of if part.has(_POSITION)))
        falls = sp.simplify(1 / late).diff(_POSITION)
        return bool(numbers.LC() == 33 and falls.is_positive) or None
    return None if not _codes_alternate() else False


def _codes_alternate() -> bool:
    """True if SeqPE's network can tell even last digits from odd ones: a code then turns at every position.

    Without torch this is taken for granted: the attention of the last token sees that digit alone.
    """
    if not find_spec("torch"):
        return True
    import torch

    from lengthgen.empirical.encodings.seqpe import DigitEncoder

    width, places = 16, 200
    network = DigitEncoder(width=width, heads=1, digits=5).double()
    even = torch.tensor([(-1.0) ** digit for digit in range(10)], dtype=torch.float64)
    with torch.no_grad():
        numbers = dict(network.named_parameters())
        for name, values in numbers.items():
            values.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
        numbers["tokens"][:10, 0], numbers["tokens"][:10, 1] = even, -even
        numbers["slots"][0, :4, 2], numbers["slots"][0, :4, 3] = 1e4, -1e4  # it hides the digits before the last
        numbers["last"][4], numbers["last"][5] = 1, -1
        content = numbers["blocks.0.qkv.weight"]
        content[2 * width + 6, 0], content[2 * width + 7, 0] = 1, -1
        for layer in ("blocks.0.merged.weight", "out.weight"):
            numbers[layer].copy_(torch.eye(width, dtype=torch.float64))
        steps = network(torch.arange(places), torch.float64)[:, 6].diff()
    return bool((steps[1:] * steps[:-1] < 0).all() and steps.abs().min() > 1)


def _shifted_power(record: Encoding) -> bool | None:
    """True for the form -a ((eps + D)^b - eps^b); False if its growth, or two equal weights, refute every a, b, eps.

    A weight of that form falls or rises strictly, unless b = 0. Doubling far distances multiplies the logarithm by 2^b
    if b > 0, and else it is bounded. With b = 2 the distances 1 and 2 have the ratio (4 + 4 eps) / (1 + 2 eps).
    """
    scale, power, shift = sp.exp(biases.BAM_LOG_SCALE), biases.BAM_EXPONENT, biases.BAM_SMALLEST
    values = {distance: _log_weight(record, distance) for distance in (1, 2, 8, 9, 22, 23)}
    if all(is_zero(sp.expand(value + scale * ((shift + at) ** power - shift**power))) for at, value in values.items()):
        return True
    if values[8] == values[9] or values[22] == values[23]:
        return None if values[1] == 0 else False
    square = {biases.KERPLE_EXPONENT: sp.Integer(2)}
    far_from, far = (_bias_at(record, distance).subs(square) for distance in (_FAR, 2 * _FAR))
    ratio = sp.limit(far / far_from, _FAR, sp.oo)
    if ratio == 1:
        return False if sp.limit(far, _FAR, sp.oo) == -sp.oo else None
    missed = (values[2] / values[1]).subs(square) - (4 + 4 * shift) / (1 + 2 * shift)
    return False if ratio == 4 and sp.factor(missed).is_positive else None


def _rational(record: Encoding) -> bool | None:
    """True if the ratio of two logarithms is rational; False if it is not at the exponent 1/2, or at the rate 1."""
    at = {biases.KERPLE_EXPONENT: sp.Rational(1, 2), biases.KERPLE_RATE: sp.Integer(1)}
    near, far = (_log_weight(record, distance).subs(at) for distance in (1, 2))
    ratio = sp.simplify(far / near)
    if ratio == sp.log(3) / sp.log(2):  # 2^a is even and 3^b is odd
        return False
    rational: bool | None = ratio.is_rational
    return rational


def _vanishes(record: Encoding) -> bool | None:
    """True if the vectors of far distances go to 0; False if each distance has one of its own."""
    vector = record.relative_key
    if vector is None:
        return None
    entries = vector(_POSITION + _FAR, _POSITION, LENGTH)
    if any(index == _FAR for entry in entries.atoms(sp.Indexed) for index in entry.indices):
        return False
    return all(sp.limit(entry, _FAR, sp.oo) == 0 for entry in entries) or None


def _no_last_distance(record: Encoding) -> bool | None:
    """True if the vectors of distances are wavelets, none of which is a multiple of another far away; False if clipped.

    Of two of Ricker's wavelets the logarithms differ by a polynomial of the distance, and by a logarithm: of the second
    degree if the scales differ, of the first if the shifts do. So in a sum one outruns the others, and it is not 0.
    """
    vector = record.relative_key
    if vector is None:
        return None
    first, second = vector(_POSITION + _FAR, _POSITION, LENGTH)
    if first.has(sp.Min):
        return False
    exponents = [next(iter(entry.atoms(sp.exp))).args[0] for entry in (first, second)]
    apart = sp.Poly(sp.expand(exponents[0] - exponents[1]), _FAR)
    (scale, other_scale), (shift, other_shift) = relations.WAVELET_SCALES, relations.WAVELET_SHIFTS
    by_scale = sp.factor(apart.coeff_monomial(_FAR**2) - (1 / other_scale**2 - 1 / scale**2) / 2)
    by_shift = sp.factor(apart.coeff_monomial(_FAR).subs(other_scale, scale) - (shift - other_shift) / scale**2)
    return (by_scale == 0 and by_shift == 0) or None


@CLAIMS.claim(
    "containment-growth",
    "",
    r"b^A(1)<0,\quad b^A(1)-2b^A(2)+b^A(3)>0,\quad b^A(D)=-a((\epsilon+D)^b-\epsilon^b),\ \dots",
    assumptions=(
        _HEADS,
        _WORDS,
        "that SeqPE's network can tell even last digits from odd ones is computed in floating point, with torch alone",
    ),
    falsifiers={
        "NoPE prefers the nearest": {"properties": also_kept(_GROWTH, "nearest", "nope")},
        "ALiBi is convex": {"properties": also_kept(_GROWTH, "convex", "alibi")},
        "T5 fades": {"properties": also_kept(_GROWTH, "fading", "t5")},
        "Kerple has BAM's form": {"properties": also_kept(_GROWTH, "shifted power", "kerple-power")},
        "BAM has not": {"properties": also_broken(_GROWTH, "shifted power", "bam")},
        "Kerple counts hops": {"properties": also_kept(_GROWTH, "whole hops", "kerple-log")},
        "FIRE turns often": {"properties": also_broken(_GROWTH, "few runs", "fire")},
        "a table vanishes": {"properties": also_kept(_GROWTH, "vanishing", "rpe")},
        "wavelets are clipped": {"properties": also_broken(_GROWTH, "no last distance", "wavelet")},
    },
)
def growth_part(properties: Sequence[Property] = _GROWTH) -> Facts:
    """Eight properties of how weights follow the distance, among tokens of content 0 or keys of equal contents: each
    holds in all heads of the encodings listed as keeping it, and fails in a head of each that is listed as breaking it.
    """
    deciders: Mapping[str, Decider] = {
        "nearest": _nearest,
        "convex": _convex,
        "fading": _fading,
        "few runs": _few_runs,
        "shifted power": _shifted_power,
        "whole hops": _rational,
        "vanishing": _vanishes,
        "no last distance": _no_last_distance,
    }
    why = {
        "nearest": "the sign of the difference follows from those of the parameters",
        "convex": "e^(bend / r1) - 1 = r2^2 / ((1 + r2) (1 + 3 r2))",
        "fading": "a network of ReLU units is continuous, its arguments go to 0; the others are laws of the distance",
        "few runs": "32 units, and arguments that fall as the query moves on; SeqPE's network can give codes by the "
        "last digit",
        "shifted power": "far distances of Kerple's power 2 double to 4 times, so b = 2, and the near ones differ; a "
        "logarithm is unbounded and slower than every power; T5 has equal weights",
        "whole hops": "hops are whole; at the exponent 1/2 the ratio is sqrt 2, and at the rate 1 it is log 3 / log 2",
        "vanishing": "limits; a table has a vector for each distance",
        "no last distance": "the fastest of finitely many wavelets outruns the others",
    }
    yield from _decide(properties, deciders, why)


_POWERS = of_claim("powers")


def _powers(record: Encoding) -> tuple[sp.Expr, sp.Expr]:
    """Numbers mu of the powers mu^D: among equal tokens, a score is a sum of numbers times such powers.

    Raises:
        Refuted: the matrices between query and key are not powers X^D of one matrix.
        Undecided: X has not the form [[a, -b], [b, a]], with a +- i b, nor [[a, b], [b, a]], with a +- b.
    """

    def matrix(distance: sp.Expr) -> sp.Matrix:
        if record.rotate is None:
            return sp.eye(2)
        (on_query, _), (_, on_key) = (record.rotate(at, _FAR) for at in (distance, sp.S.Zero))
        return (on_query.T * on_key).applyfunc(_at_one_length)

    step = matrix(sp.S.One)
    same_by_sympy(f"matrix of {record.name}", matrix(_DISTANCE + 1), matrix(_DISTANCE) * step)
    (first, across), (back, second) = step.tolist()
    if first == second and across == -back:
        return first + sp.I * back, first - sp.I * back
    if first == second and across == back:
        return tuple(sp.simplify((first + sign * back).rewrite(sp.exp)) for sign in (1, -1))
    raise Undecided(f"the powers of {record.name}: {step}")


def _at_one_length(entry: sp.Expr) -> sp.Expr:
    """Entry with a number for the functions of the length, and for the members of a family, all tokens being equal."""
    numbers = {each: sp.Symbol(str(each.func), positive=True) for each in entry.atoms(AppliedUndef)}
    return laws.constant_content(entry.xreplace(numbers))


def _sizes(record: Encoding) -> set[sp.Expr]:
    """Sizes |mu|."""
    return {sp.sqrt(sp.simplify(sp.expand(power * sp.conjugate(power)))) for power in _powers(record)}


_PLANES = {"grape": 1, "grape-thin": 2, "rope": 3}
"""Planes of a head that turn, each at its own angle, here at most three; the others add a constant."""


def _score_at(record: Encoding, distance: int) -> sp.Expr:
    """Score of a query and a key, equal, at a distance: what the planes give in which it turns, and 1."""
    angle, *_ = (each.symbol for each in record.parameters)
    unit, places = sp.Matrix([1, 0]), {"query_position": sp.Integer(distance), "key_position": sp.S.Zero}
    planes = [record.score(unit, unit, **places).subs(angle, turn) for turn in _ANGLES[: _PLANES[record.name]]]
    return sp.Add(1, *planes)


_ANGLES = sp.symbols("s1 s2 s3", real=True)


def _most_powers(count: int) -> Decider:
    """Decider of: a score is a sum of that many powers, or fewer.

    A sum of n powers satisfies an equation of n + 1 distances, whose coefficients are those of the polynomial with the
    numbers mu as its zeros; and every Hankel determinant of n + 1 rows is 0.
    """

    def decide(record: Encoding) -> bool | None:
        planes = _PLANES[record.name]
        if 2 * planes + 1 <= count:
            shift = sp.Symbol("E")
            factors = (shift**2 - 2 * sp.cos(angle) * shift + 1 for angle in _ANGLES[:planes])
            coefficients = sp.Poly(sp.expand((shift - 1) * sp.prod(factors)), shift).all_coeffs()[::-1]
            total = sp.Add(*(each * _score_at(record, distance) for distance, each in enumerate(coefficients)))
            require_equal(f"powers of {record.name}", total, sp.S.Zero)
            return True
        scores = [
            _score_at(record, distance).subs(dict(zip(_ANGLES, (1, 2, 3), strict=True)))
            for distance in range(2 * count + 1)
        ]
        hankel = sp.Matrix(count + 1, count + 1, lambda row, column: sp.N(scores[row + column], 40))
        return None if abs(hankel.det()) < sp.Rational(1, 10**9) else False

    return decide


@CLAIMS.claim(
    "containment-powers",
    "",
    r"s(D)=\textstyle\sum_\mu c_\mu\mu^D,\quad |\mu|=1,\ |\mu|<1,\ \mu>0",
    assumptions=(_HEADS, "in words: different powers are linearly independent, so a score has them in one way only"),
    falsifiers={
        "RoPE is damped": {"properties": also_kept(_POWERS, "damped", "rope")},
        "xPos is not": {"properties": also_kept(_POWERS, "undamped", "xpos")},
        "xPos does not turn": {"properties": also_kept(_POWERS, "without turns", "xpos")},
        "HoPE turns": {"properties": also_broken(_POWERS, "without turns", "hope")},
        "two planes turn as one": {"properties": also_kept(_POWERS, "three powers", "grape-thin")},
    },
)
def powers_part(properties: Sequence[Property] = _POWERS) -> Facts:
    """Among equal tokens, a score of a rotary encoding is a sum of powers mu^D of the distance. Their sizes and signs
    tell RoPE, xPos and HoPE apart, and their number GRAPE-M of one plane, of two, and RoPE.

    Different powers are linearly independent on as many distances, so a score has them in one way only.
    """
    deciders: Mapping[str, Decider] = {
        "undamped": lambda record: _sizes(record) == {sp.S.One},
        "damped": lambda record: all(sp.log(size).expand().is_negative for size in _sizes(record)),
        "without turns": lambda record: all(bool(power.is_positive) for power in _powers(record)),
        "three powers": _most_powers(3),
        "five powers": _most_powers(5),
    }
    why = {
        "undamped": "at each length; |mu| = 1 against e^-lambda, e^-g and e^-(g + 2 theta)",
        "damped": "all rates are positive; for NoPE mu = 1",
        "without turns": "e^-g and e^-(g + 2 theta) against e^(-lambda +- i theta)",
        "three powers": "one plane has two powers, and the others 1; two planes have four more than 1",
        "five powers": "two planes have four powers, and the others 1; a head of RoPE may have more planes",
    }
    yield from _decide(properties, deciders, why)


_CODES = of_claim("codes")
_FIRST_PLANE = {absolute.PLANE: sp.S.Zero}


def _code(record: Encoding, position: sp.Expr, length: sp.Expr = LENGTH) -> sp.Matrix:
    """Code of a position on the first plane, 2 x 1."""
    if record.embed is None:
        return sp.zeros(2, 1)
    at = record.positions(position, length) if record.positions else position
    return record.embed(at).subs(_FIRST_PLANE).doit()


def _only_nope(record: Encoding) -> bool | None:
    """True for codes that are added to contents, and nothing else; False for scores q . k and more.

    With codes e the scores are (q + e_j) . (k + e_i), up to W_q and W_k. If q . k is their part in both contents, then
    W_q^T W_k = I; if a query of content 0 sees e_j . k of no key, all e_j are 0. An encoding that adds codes and more
    may have codes of 0, and is not NoPE then.
    """
    if record.embed:
        return not (record.rotate or record.relative_key or record.bias)
    heads = Heads(encoding=record)
    together = containment.in_both(heads, 3)
    plain = (content("q", "x") - content("q", "x_")).dot(content("k", "y") - content("k", "y_"))
    unseen = heads.preference("y z z 0", 3, (0, 2)) - heads.preference("y_ z z 0", 3, (0, 2))
    if not (is_zero(sp.expand(together - plain)) and is_zero(sp.expand(unseen))):
        return None
    return _lacks(record, heads.preference("y y z x", 3, (0, 1)))


def _codes_at(record: Encoding) -> list[sp.Matrix]:
    """Codes of nine positions on the first plane, with the trained length 3 where there is one."""
    length = sp.Integer(9)
    return [_code(record, sp.Integer(at), length).subs(absolute.TRAINED_LENGTH, 3) for at in range(length)]


def _not_zero(record: Encoding) -> bool:
    """True for codes of which the first has an entry that is not 0 whatever the parameters."""
    return any(entry.is_number and entry != 0 for entry in _code(record, sp.S.Zero))


def _on_circle(record: Encoding) -> bool | None:
    size = sp.simplify(_code(record, _POSITION).dot(_code(record, _POSITION)))
    if size == 1:
        return True
    sizes = [code.dot(code) - 1 for code in _codes_at(record)]
    return _lacks(record, *sizes)


def _has_one(record: Encoding) -> bool | None:
    first = sp.simplify(_code(record, _POSITION)[0])
    if first == 1:
        return True
    entries = [code[0] - 1 for code in _codes_at(record)]
    return _lacks(record, *entries)


def _ends(record: Encoding) -> bool | None:
    """True for codes that are 0 from the trained length on, at 8 planes; False for codes of which a late one is not.

    Function 2^j + k of Haar is 0 from u = 1 on, at which 2^j u - k >= 1 for each shift k < 2^j.
    """
    trained, late = sp.Integer(3), (3, 4, 9, 40)
    if record.embed is None:
        return None
    for plane, position in product(range(8), late):
        numbers = {absolute.PLANE: sp.Integer(plane), absolute.TRAINED_LENGTH: trained}
        at = sp.Integer(position)
        code = record.embed(record.positions(at, sp.Integer(41)) if record.positions else at).subs(numbers).doit()
        if any(visible_value(entry, record) is not None for entry in code):
            return False
        if any(entry != 0 for entry in code):
            return None
    return True


def _zero_or_one(record: Encoding) -> bool | None:
    """True for codes with such a first entry at every position of a sequence; False for codes with another."""
    entries = [code[0] for code in _codes_at(record)]
    if all(entry in (0, 1) for entry in entries):
        return True
    return _lacks(record, *(entry * (entry - 1) for entry in entries))


def _moves(record: Encoding) -> bool:
    """True for codes that the length changes, from the trained length on."""
    lengths = (_code(record, sp.S.One, absolute.TRAINED_LENGTH + more) for more in (1, 2))
    first, second = (
        sp.simplify(
            each[1].replace(sp.Max, lambda *of: max(of, key=lambda part: part.subs(absolute.TRAINED_LENGTH, 2)))
        )
        for each in lengths
    )
    return bool(sp.simplify(first - second) != 0)


def _differ(record: Encoding) -> bool | None:
    """True for rows of a table at drawn positions, and nothing else; False for codes of which two differ."""
    if record.drawn_from:
        position = sp.Symbol("p", integer=True)
        code = record.embed(position) if record.embed else sp.zeros(2, 1)
        rows = all(isinstance(entry, sp.Indexed) and entry.indices[0] == position for entry in code)
        return (rows and _only_nope(record)) or None
    first, *others = map(_numbers, _codes_at(record))
    return False if any(code != first for code in others) else None


@CLAIMS.claim(
    "containment-codes",
    "",
    r"(q+e_j)^\top W(k+e_i),\quad W=I,\ e_j^\top k=0\ \forall k\ \Rightarrow\ e_j=0",
    assumptions=(
        _HEADS,
        _WORDS,
        "Haar's codes are evaluated at the trained length 3, on 8 planes; for all others they are argued in words",
    ),
    falsifiers={
        "T5 adds codes": {"properties": also_kept(_CODES, "codes", "t5")},
        "a table adds none": {"properties": also_broken(_CODES, "codes", "ape")},
        "with a bias of the distance": {"formulas": with_bias(lambda query, key, length: key - query)},
        "a table is never 0": {"properties": also_kept(_CODES, "code not 0", "ape")},
        "cosines lie on circles": {"properties": also_kept(_CODES, "codes on circles", "dct")},
        "Haar has a 1 everywhere": {"properties": also_kept(_CODES, "code with a 1", "haar")},
        "cosines end": {"properties": also_kept(_CODES, "codes that end", "dct")},
        "cosines move": {"properties": also_kept(_CODES, "codes that move", "dct")},
        "sinusoids are all equal": {"properties": also_kept(_CODES, "codes of any draw", "sinusoidal")},
    },
)
def codes_part(properties: Sequence[Property] = _CODES, formulas: Formulas = lambda record: record) -> Facts:
    """Codes that are added to contents of their width: if query and key together give q . k, then W_q^T W_k = I, and
    the codes themselves can be read off the weights. So no bias, vector or sum is contained, and of codes only equal
    ones.
    """
    deciders: Mapping[str, Decider] = {
        "codes": _only_nope,
        "code not 0": _not_zero,
        "codes on circles": _on_circle,
        "code with a 1": _has_one,
        "codes that end": _ends,
        "codes of 0 or 1": _zero_or_one,
        "codes that move": _moves,
        "codes of any draw": _differ,
    }
    why = {
        "codes": "a query of content 0 sees e_j . k of a key k; without it, e_j = 0",
        "code not 0": "the first code has an entry that is 1, or its plane the length 1",
        "codes on circles": "sin^2 + cos^2 = 1",
        "code with a 1": "the first function is constant",
        "codes that end": "Haar's functions are 0 from the trained length on",
        "codes of 0 or 1": "Haar's first function is 1 up to the trained length, and 0 beyond",
        "codes that move": "Legendre's polynomials are taken at 2 p / (n - 1) - 1 from the trained length on",
        "codes of any draw": "a draw may give a token any of several rows, so these are equal",
    }
    yield from _decide(properties, deciders, why, formulas)


_PRISM = of_claim("prism")


def _means_of_codes(record: Encoding) -> bool:
    """True for means of sinusoidal codes, with masses that sum to 1, and nothing else of positions.

    If two codes have the scalar product cos of their angles' difference, 1 - |e|^2 is the sum of h_k h_l
    (1 - cos((k - l) theta)) over all pairs of places, for any number of places.
    """
    of_prefixes = [each.symbol for each in record.parameters if each.family is Family.PREFIX]
    if not of_prefixes or record.rotate or record.bias or record.relative_key or record.embed is None:
        return False
    places, sums = sp.symbols("k l", integer=True), record.embed(_POSITION)

    def code(at: sp.Symbol) -> sp.Matrix:
        """Return the code of one place: a term of the sums, without its mass."""
        terms = (total.function.subs(total.variables[0], at) for total in sums)
        return sp.Matrix([term / of_prefixes[0][_POSITION, at] for term in terms])

    first, second = map(code, places)
    require_equal(f"codes of {record.name}", first.dot(second), sp.cos((places[0] - places[1]) * prism.FREQUENCY))
    return True


def _numbers(code: sp.Matrix) -> sp.Matrix:
    """Code at angles of 1, and with larger numbers at later places of a table."""
    entries = {entry: sp.Add(1, *entry.indices) for entry in code.atoms(sp.Indexed)}
    return sp.N(code.xreplace(entries).subs(rotary.FREQUENCY, 1))


def _short_codes(record: Encoding) -> bool | None:
    """True for such means; False for codes as long as 1 that differ."""
    if _means_of_codes(record):
        return True
    codes = [_numbers(code) for code in _codes_at(record)]
    return False if any(code.norm() >= 1 for code in codes) and codes.count(codes[0]) < len(codes) else None


def _positions_apart(record: Encoding) -> bool | None:
    """True for such means; False if what query and key give together follows the query's position."""
    if _means_of_codes(record):
        return True
    heads = Heads(encoding=record)
    change = containment.in_both(heads, 3) - containment.in_both(heads, 2)
    return _lacks(record, change)


def _large_queries(record: Encoding) -> bool | None:
    """True for such means; False if the query's position decides which of two equal keys it prefers."""
    if _means_of_codes(record):
        return True
    heads = Heads(encoding=record)
    change = heads.preference("y y z x", 3, (0, 1)) - heads.preference("y y x", 2, (0, 1))
    return _lacks(record, change)


@CLAIMS.claim(
    "containment-prism",
    "",
    r"1-|e|^2=\textstyle\sum_{k,l}h_kh_l(1-\cos((k-l)\theta)),\quad s/t^2\to q^\top W k",
    assumptions=(
        _HEADS,
        _WORDS,
        "every token has mass at two neighbouring places: PRISM's gates are softmax weights, never 0",
    ),
    falsifiers={
        "RoPE is q . k for large contents": {"properties": also_kept(_PRISM, "large contents", "rope")},
        "ALiBi is bounded": {"properties": also_kept(_PRISM, "bounded", "alibi")},
        "T5 is NoPE": {"properties": also_kept(_PRISM, "codes of prefixes", "t5")},
        "wavelets ignore the query's position": {"properties": also_kept(_PRISM, "large queries", "wavelet")},
        "sinusoids are short": {"properties": also_kept(_PRISM, "codes in circles", "sinusoidal")},
    },
)
def prism_part(properties: Sequence[Property] = _PRISM) -> Facts:
    """PRISM's codes are means of sinusoidal ones, so they are bounded, and a code depends on no later token. For large
    contents and large queries its weights are those of q . k and of the codes, which some head of each encoding listed
    does not have: its scores turn, follow distances, have no bound, or add other codes.

    For a query that grows, the preference between two earlier keys is that of their codes, whatever the query's
    position. If it is the other encoding's, the codes of PRISM are its codes plus a vector of the first token; and that
    is 0, since a query's code would see it in the keys' contents.
    """
    deciders: Mapping[str, Decider] = {
        "large contents": _positions_apart,
        "bounded": far.bounded,
        "codes of prefixes": lambda record: _means_of_codes(record) or _only_nope(record),
        "large queries": _large_queries,
        "codes in circles": _short_codes,
    }
    why = {
        "large contents": "codes are bounded; elsewhere positions turn, damp or scale what both contents give",
        "bounded": "from the formulas (`theory.far`)",
        "codes of prefixes": "all its codes would be 0; in the others numbers are added that differ",
        "large queries": "a code of a key does not know the query",
        "codes in circles": "a mean of two neighbouring codes that differ is shorter than 1; elsewhere codes of "
        "length 1 or more differ",
    }
    yield from _decide(properties, deciders, why)


@CLAIMS.claim(
    "containment-table",
    "",
    r"\forall A\ne B:\ B\subseteq A,\ B\not\subseteq A\text{ or open}",
    assumptions=(_HEADS, "the claims that the answers name: containment-..., recovery-..."),
    answers=("contained", "open"),
    falsifiers={
        "without the equations": {"properties": tuple(each for each in PROPERTIES if each not in _EQUATIONS)},
        "without the codes": {"properties": tuple(each for each in PROPERTIES if each not in _CODES)},
        "without the heads": {"constructions": ()},
        "NoPE is no special case": {"properties": (*PROPERTIES, *also_broken(PROPERTIES, "path", "nope"))},
        "ALiBi contains RoPE": {"constructions": (*CONSTRUCTIONS, Construction(by="alibi", of="rope", planes=()))},
    },
)
def table_is_whole(
    constructions: Sequence[Construction] = CONSTRUCTIONS,
    properties: Sequence[Property] = PROPERTIES,
    contained: int = 120,
    open: int = 10,
) -> Facts:
    """Containment up to W_q and W_k is decided but for 10 of the 2,162 ordered pairs of the 47 encodings without a
    task's circuit: 120 are contained, and 2,032 are not.
    """
    try:
        answers = containment.decided(constructions, properties)
    except containment.Contradiction as error:
        raise Refuted(str(error)) from error
    missing = [f"{by} and {of}" for by, of in permutations(ALL, 2) if (by, of) not in answers]
    refute(missing, f"{len(missing)} pairs have no answer, as {', '.join(missing[:1])}")
    limited = [of for (_, of), answer in answers.items() if answer.holds and RECORDS[of].limit is not sp.oo]
    refute(limited, f"{', '.join(limited[:1])} has a range of positions, so containment is not transitive there")
    counts = Counter(answer.holds for answer in answers.values())
    refute(
        (counts[True], counts[None]) != (contained, open),
        f"{counts[True]} pairs are contained and {counts[None]} open, not {contained} and {open}",
    )
    yield f"{counts[True]} pairs are contained, {counts[False]} are not, {counts[None]} are open"
    following = sum(1 for answer in answers.values() if answer.holds is not None and not answer.claim)
    yield f"{following} of the answers follow from others, as containment is transitive"
