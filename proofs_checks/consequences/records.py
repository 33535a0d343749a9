"""Claims on what the records of encodings state: laws, properties of the scores, caching, and special cases.

Every claim is generated from the record of its encoding, and decided from its formulas; special cases in torch as well.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.mutations import Formulas
from lengthgen.theory import cacheability, domains, far, laws
from lengthgen.theory.encodings import biases, grape
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Law, Normaliser, Properties, Recovery
from lengthgen.theory.far import FarField
from lengthgen.theory.zero.sympy_engine import Undecided


def _source(encoding: Encoding) -> Source:
    return Source(paper=encoding.title, arxiv=encoding.arxiv, place="what follows from its formulas")


def _stated(encoding: Encoding) -> Properties:
    """Properties that the record states; the claims here are those of records that state them."""
    assert encoding.properties is not None
    return encoding.properties


_CHEAPEST_FIRST = (Law.STREAMING, Law.NORM, Law.RELATIVE, Law.TRANSLATION, Law.RELABELLING)


def laws_kept(*, name: str, formulas: Formulas, kept: frozenset[Law]) -> Evidence:
    """Decide which of the laws an encoding keeps, and that it declares exactly these."""
    encoding = formulas(named(name))
    facts = []
    for law in _CHEAPEST_FIRST:
        ruling = laws.decide_law(encoding, law)
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
            "one plane and one head stand for all: the others differ only in the values of parameters",
            "a shift or permutation of positions moves the tokens too, and with them what is computed from them "
            "(gates, rates, potentials) or given on pairs of them (distances); no score depends on the mask",
        ),
    )


_BREAKING_FORMULAS: Mapping[Law, tuple[str, Formulas]] = {
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
    Law.RELABELLING: (
        "the score falls with the distance of the indices",
        mutations.with_bias(lambda query, key, length: -abs(query - key)),
    ),
}
"""Kept law -> formulas that break it. Formulas that break the translation law break the relative law too."""

_KEEPING_FORMULAS: Mapping[Law, tuple[str, Formulas]] = {
    Law.RELATIVE: ("all tokens at position 0, logits less the distance", mutations.at_origin_by_distance),
    Law.TRANSLATION: ("all tokens at position 0, rows shifted by the query's position", mutations.at_origin_by_query),
    Law.STREAMING: ("the formulas of one length at all lengths", mutations.at_fixed_length),
    Law.RELABELLING: ("all tokens at position 0", mutations.at_origin),
}
"""Broken law -> formulas that keep it. For norms these depend on the encoding: see `_keeping_norms`."""


def _keeping_norms(encoding: Encoding) -> tuple[str, Formulas]:
    """Name of formulas that keep the norms of queries and keys, and the formulas."""
    if encoding.embed:
        return "codes as a bias, not added to tokens", mutations.with_codes_on_scores
    if encoding.relative_key:
        return "vectors as a bias, not added to keys", mutations.with_vectors_on_scores
    return "rotated by RoPE, without stretching", mutations.with_plain_rotation


def mutated_laws(encoding: Encoding) -> Mapping[Law, tuple[str, Formulas]]:
    """Return, for each law, named formulas that keep it if and only if the encoding's own formulas break it."""
    keeping = {**_KEEPING_FORMULAS, Law.NORM: _keeping_norms(encoding)}
    return {law: (_BREAKING_FORMULAS if law in encoding.laws else keeping)[law] for law in Law}


def _laws_claim(encoding: Encoding) -> Claim:
    """Claim on the laws that an encoding keeps."""
    kept = frozenset(encoding.laws)
    return Claim(
        id=f"laws-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title} keeps exactly these laws: "
        f"{', '.join(law for law in Law if law in kept) or 'none'}.",
        latex=r"s_{j+s,\,i+s}=s_{ji}\ \text{and the like}",
        label="F",
        check=laws_kept,
        holds={"name": encoding.name, "formulas": mutations.unchanged, "kept": kept},
        answers=("kept",),
        falsifiers={name: {"formulas": formulas} for name, formulas in mutated_laws(encoding).values()},
    )


_ROW: Mapping[str, Callable[[Encoding], Any]] = {
    "far keys": far.far_field,
    "bounded": far.bounded,
    "causal use only": far.causal_only,
    "hooks": lambda record: record.hooks,
    "trained numbers": lambda record: sp.expand(record.learned),
    "parameters": domains.domain_texts,
    "weights": lambda record: record.normaliser,
}
"""Entry of a row of the property matrix -> function that computes it from the formulas."""


def row(*, name: str, formulas: Formulas, stated: Mapping[str, Any]) -> Evidence:
    """Decide one row of the matrix: hooks, parameters, trained numbers, bounds, causal use, far keys and weights."""
    encoding = formulas(named(name))
    for what, compute in _ROW.items():
        value = compute(encoding)
        if value is None or FarField.UNDECIDED in str(value):
            raise Undecided(f"{what}: {value}")
        if value != stated[what]:
            raise Refuted(f"{what}: computed {value!s}, stated {stated[what]!s}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(f"{what}: {stated[what]!s}" for what in _ROW),
        assumptions=(
            "content is constant, and so are gates; parameters take all values of their ranges",
            "limits of the bias and of D b'(D)/b(D) are those of leading terms, or else sympy's, as are the signs of "
            "the kernel's exponential rates",
            "a learned function of a bounded argument is continuous, and entries of a table are bounded",
        ),
    )


_OTHER_FAR_FIELD: Mapping[FarField, tuple[str, Formulas]] = {
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
"""Behaviour of far keys -> formulas whose far keys behave differently."""


def _other_far_field(encoding: Encoding) -> tuple[str, Formulas]:
    """Named formulas whose far keys behave differently."""
    case, *others = _stated(encoding).far.split("; ")
    first = FarField(case.rpartition(": ")[2])
    if first is FarField.CONSTANT and others:
        return "the bias times 1 + D", mutations.with_bias_times(lambda query, key: 1 + query - key)
    if encoding.positions and first is FarField.UNDEFINED:
        return "tokens at their own indices", mutations.with_drawn_positions_dropped
    if encoding.bias and first is FarField.UNDEFINED:
        return "all tokens at position 0", mutations.at_origin
    return _OTHER_FAR_FIELD[first]


def _other_causality(encoding: Encoding) -> tuple[str, Formulas]:
    """Named formulas that make a causal encoding usable on both sides, or a two-sided one causal."""
    if encoding.window is not sp.oo:
        return "all keys seen, without a bias", mutations.with_all_keys_seen_alike
    if not _stated(encoding).causal_only:
        if encoding.rotate and not encoding.positions:
            return "damped with the distance", mutations.with_damping
        return (
            "a bonus for keys after the query",
            mutations.with_bias(lambda query, key, length: sp.exp(sp.Max(key - query, 0)) - 1),
        )
    if encoding.bias:
        return "keys after the query as those before it", mutations.on_both_sides
    return "keys damped like queries", mutations.with_keys_moved_like_queries


def _row_claim(encoding: Encoding) -> Claim:
    """Claim on the row of an encoding in the property matrix."""
    stated = _stated(encoding)
    learned = encoding.learned if stated.learned is None else stated.learned
    use = "causal use only" if stated.causal_only else "keys on both sides"
    size = "bounded logits" if stated.bounded else "unbounded logits"
    weights = "" if encoding.normaliser is Normaliser.SOFTMAX else f", {encoding.normaliser} weights"
    mutated = {
        "one parameter more": mutations.with_one_parameter_more,
        "one trained number more": mutations.with_one_trained_number_more,
        "one hook more": mutations.with_another_hook,
        **dict([_other_far_field(encoding)]),
    }
    if not (encoding.bias and encoding.positions):  # a bias of random positions is bounded anyway
        mutated |= dict([_other_causality(encoding)])
    if encoding.normaliser is not Normaliser.SOFTMAX:
        mutated |= {"softmax": mutations.with_softmax}
    if encoding.window is not sp.oo:
        mutated |= {"without the window": mutations.with_all_keys_seen}
    if encoding.bias and encoding.rotate:
        mutated |= {
            "the bias times e^D": mutations.with_bias_times(lambda query, key: sp.exp(query - key)),
            "the bias times -e^D": mutations.with_bias_times(lambda query, key: -sp.exp(query - key)),
        }
    elif encoding.bias and not encoding.positions:
        mutated |= {
            "a bias of -e^D more": mutations.with_bias(lambda query, key, length: -sp.exp(query - key)),
            "a bias of e^D more": mutations.with_bias(lambda query, key, length: sp.exp(query - key)),
        }
    return Claim(
        id=f"far-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title}: {use}, {size}{weights}; far keys: {stated.far}; trained numbers: {learned}.",
        latex=r"\lim_{j-i\to\infty} s_{ji}",
        label="F",
        check=row,
        holds={
            "name": encoding.name,
            "formulas": mutations.unchanged,
            "stated": {
                "far keys": stated.far,
                "bounded": stated.bounded,
                "causal use only": stated.causal_only,
                "hooks": encoding.hooks,
                "trained numbers": sp.expand(learned),
                "parameters": domains.domain_texts(encoding),
                "weights": encoding.normaliser,
            },
        },
        answers=("stated",),
        falsifiers={name: {"formulas": formulas} for name, formulas in mutated.items()},
    )


def width(*, name: str, formulas: Formulas, stated: str) -> Evidence:
    """Decide the least width r at which the bias is a product of cacheable per-token vectors: b(j, i) = u_j . v_i."""
    caching = cacheability.caching(formulas(named(name)))
    if caching.cases is None:
        raise Unsettled(caching.reason)
    if str(caching) != stated:
        raise Refuted(f"the width is {caching}, not {stated}: {caching.reason}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(f"width {caching}: {caching.reason}",),
        assumptions=(
            "gates, edges and table entries are free numbers; the width is for generic values of parameters",
            "a key's vector may hold what the tokens before it have summed up to",
        ),
    )


def _width_text(stated: str) -> str:
    """Statement for a width: "none", a number, or widths by case of a parameter."""
    if stated == "none":
        return (
            "its logits are not products of per-token vectors of a fixed width that never change as the sequence grows"
        )
    if stated == "0":
        return "a cached key, stored after the encoding's action on it, needs no numbers beside its content"
    if ":" in stated:
        return f"a cached key needs this many numbers beside its content: {stated}"
    return f"a cached key needs {stated} numbers beside its content, and fewer do not suffice"


_LINEAR = mutations.with_bias_replaced(
    lambda query, key: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=query, key_position=key)
)
_SHARED_EDGES = mutations.with_bias_replaced(lambda query, key: grape.increments(query=query, key=key))
_SEEN_EDGES = mutations.with_bias_replaced(lambda query, key: grape.path_bias(query=query, key=key))
_SQUARED = mutations.with_bias(lambda query, key, length: -((query - key) ** 2))
_LOGARITHM = mutations.with_bias(lambda query, key, length: -sp.log(1 + query - key))
_BY_QUERY_ALONE = mutations.with_bias_replaced(
    lambda query, key: -grape.GRAPE_SLOPE * (query - key) * grape.QUERY_GATES[query]
)
_SIXTEEN = mutations.with_bias_replaced(lambda query, key: biases.T5_WEIGHTS[biases.Bucket(query - key, 16, 64)])


def _width_falsifiers(encoding: Encoding) -> Mapping[str, Parameters]:
    """Falsifiers: formulas for which the width is a different one."""
    own: Mapping[str, tuple[str, Formulas]] = {
        "dynamic-ntk": ("the formulas of one length at all lengths", mutations.at_fixed_length),
        "legendre": ("the formulas of one length at all lengths", mutations.at_fixed_length),
        "wavelet": ("keys without the vectors", mutations.with_vectors_dropped),
        "grape-path": ("edges that no query changes", _SHARED_EDGES),
        "graph-alibi": (
            "causal attention with the bias of ALiBi",
            lambda record: _LINEAR(replace(record, causal=True)),
        ),
        "grape-gated": ("without the gates of keys", _BY_QUERY_ALONE),
        "t5": ("16 buckets up to distance 64", _SIXTEEN),
        "t5-bidirectional": ("16 buckets up to distance 64", _SIXTEEN),
    }
    mutated: list[tuple[str, Formulas]]
    if encoding.drawn_from and not encoding.consecutive:
        mutated = [("tokens at their own indices", mutations.with_drawn_positions_dropped)]
    elif encoding.name in own:
        mutated = [own[encoding.name]]
    elif encoding.bias is None:
        mutated = [("a bias of -(j - i)^2", _SQUARED), ("a bias of -log(1 + D)", _LOGARITHM)]
    elif _stated(encoding).width.isdigit():
        mutated = [("-(j - i)^2 more", _SQUARED), ("edges that the query sees in its own way", _SEEN_EDGES)]
    else:
        mutated = [("the bias of ALiBi", _LINEAR)]
    return {name: {"formulas": formulas} for name, formulas in mutated}


def _width_claim(encoding: Encoding) -> Claim:
    """Claim on the width of one encoding."""
    stated = _stated(encoding).width
    return Claim(
        id=f"cache-{encoding.name}",
        source=_source(encoding),
        statement=f"{encoding.title}: {_width_text(stated)}.",
        latex=r"b(j,i)=u_j\cdot v_i,\quad u_j,v_i\in\mathbb{R}^r\ \text{fixed once}\ j\ \text{is read}",
        label="F",
        check=width,
        holds={"name": encoding.name, "formulas": mutations.unchanged, "stated": stated},
        answers=("stated",),
        falsifiers=_width_falsifiers(encoding),
    )


def special_case(*, by: str, formulas: Formulas, recovery: Recovery) -> Evidence:
    """Decide that one encoding has the scores of another at these parameters, and if it can have these parameters.

    The torch modules of both are compared as well.

    Args:
        by: name of the general encoding.
        formulas: its formulas, perhaps mutated.
        recovery: the special encoding, and the parameters.
    """
    encoding, of, assignment = formulas(named(by)), recovery.of, recovery.assignment
    ruling = laws.decide_recovery(encoding, named(of), recovery)
    if ruling.holds is False:
        raise Refuted(f"{by} is not {of}: {ruling.reason}")
    if ruling.holds is None:
        raise Undecided(ruling.reason)
    inside = domains.assignment_allowed(encoding, assignment)
    if inside.holds is None:
        raise Undecided(inside.reason)
    stated = recovery.attained and not recovery.function
    if inside.holds is False and stated:
        raise Refuted(inside.reason)
    if inside.holds and not stated:
        raise Refuted(f"{inside.reason}: {by} attains it")
    outside = domains.parameters_outside(encoding, assignment) if recovery.function else ()
    if not all(parameter.network for parameter in outside):
        raise Refuted(f"not only a network is in the way: {inside.reason}")
    where = ", positions and length within the trained length" if recovery.within else ""
    same = f"score of {by} = score of {of}" + (" up to a number for each query" if recovery.weights_only else "")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"{same} for every key, query and content{where}: {ruling.reason}",
            inside.reason + (_REACH if recovery.function else ""),
            _compare_in_torch(by, of),
        ),
        assumptions=("one plane and one head stand for all of them",),
    )


_REACH = ": on whole distances n - 1 units agree with it at n of them, and so FIRE's 32 at 33 (claim fire-3-width)"


def _compare_in_torch(by: str, of: str) -> str:
    """Fact on the largest difference of logits between the torch modules, or on why they are not compared.

    Raises `Refuted` if the logits differ.
    """
    if not find_spec("torch"):
        return "the torch sides are not compared: this needs the extra `train`"
    from lengthgen.empirical.encodings.recoveries import RECOVERIES, TOLERANCE, difference, token_positions

    if (by, of) not in RECOVERIES:
        return "the torch side cannot be set there: a limit, or no parameter of its own"
    difference_of_logits = difference(by, of)
    if not difference_of_logits < TOLERANCE:
        raise Refuted(f"in torch the logits of {by} and {of} differ by {difference_of_logits:.3g}")
    positions = ", ".join(map(str, token_positions(by, of)))
    return f"in torch, float64, at the positions {positions}: logits differ by less than {TOLERANCE:g}"


def _different_value(value: sp.Expr) -> sp.Expr:
    """A different value of a parameter."""
    if isinstance(value, sp.Lambda):
        return sp.Lambda(value.signature, value.expr + sp.Add(*value.variables))
    return 2 * value + 1 if value.is_finite is not False else sp.Integer(1)


def _changed(recovery: Recovery, **changes: Any) -> Parameters:
    """Falsifier: the recovery with some of it changed."""
    return {"recovery": replace(recovery, **changes)}


def _recovery_claim(encoding: Encoding, recovery: Recovery) -> Claim:
    """Claim on one recovery that the encoding declares."""
    other = named(recovery.of)
    setting = _text(recovery.assignment)
    only = f", for {_text(recovery.at)} and no other" if recovery.at else ""
    where = "" if not recovery.within else ", as long as positions and length stay within the trained length"
    limit = "" if recovery.attained else " (a limit: the parameters' domain does not contain it)"
    network = " (for a function f that no network of ReLU units equals)" if recovery.function else ""
    shared = ", up to a number that all keys of a query share, and softmax cancels" if recovery.weights_only else ""
    falsifiers: dict[str, Mapping[str, Any]] = {
        f"another {parameter}": _changed(
            recovery, assignment={**recovery.assignment, parameter: _different_value(value)}
        )
        for parameter, value in recovery.assignment.items()
    }
    if not recovery.attained:
        falsifiers["domains with their edges"] = {"formulas": mutations.with_any_values}
    if recovery.function:
        falsifiers["any function in place of the network"] = {"formulas": mutations.with_any_function}
    if recovery.within:
        falsifiers["beyond the trained length too"] = _changed(recovery, within=False)
    if recovery.weights_only:
        falsifiers["with equal scores"] = _changed(recovery, weights_only=False)
    for parameter, value in recovery.at.items():
        generalised = {symbol: assigned.subs(value, parameter) for symbol, assigned in recovery.assignment.items()}
        falsifiers[f"for every {parameter}"] = _changed(recovery, assignment=generalised, at={})
    return Claim(
        id=f"recovery-{encoding.name}-{other.name}",
        source=Source(paper=encoding.title, arxiv=encoding.arxiv, place=f"{other.title} as a special case"),
        statement=f"{encoding.title} is {other.title} at {setting}{only}{where}{limit}{network}{shared}.",
        latex=rf"\mathrm{{{other.title}}}\subset\mathrm{{{encoding.title}}}",
        label="F",
        check=special_case,
        holds={
            "by": encoding.name,
            "formulas": mutations.unchanged,
            "recovery": recovery,
        },
        falsifiers=falsifiers,
    )


def _text(assignment: Mapping[Any, sp.Expr]) -> str:
    """Text of the values, such as "s[l] = -log_f[l]" for a family with a value for each member."""
    return ", ".join(
        f"{parameter[value.variables]} = {value.expr}"
        if isinstance(parameter, sp.IndexedBase) and isinstance(value, sp.Lambda)
        else f"{parameter} = {value}"
        for parameter, value in assignment.items()
    )


def table_outside_kernels(*, near: int, far: int, exponent: sp.Expr) -> Evidence:
    """Decide that T5 gives two distances the same bias for every table, and Kerple's kernels never do."""
    distances = sp.Integer(near), sp.Integer(far)
    weight, other_weight = (biases.T5_WEIGHTS[biases.t5_bucket(distance)] for distance in distances)
    if weight != other_weight:
        raise Refuted(f"T5 has a number for each of the distances {near} and {far}: {weight} and {other_weight}")
    (base, power), (other_base, other_power) = (
        (
            -biases.kerple_power(distance, scale=biases.KERPLE_SCALE, exponent=exponent) / biases.KERPLE_SCALE
        ).as_base_exp()
        for distance in distances
    )
    if base == other_base:
        raise Refuted(f"the power kernel is -r1 {base}**{power} at the distances {near} and {far} alike")
    (inside,), (other_inside,) = (
        (
            -biases.kerple_logarithm(distance, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE) / biases.KERPLE_SCALE
        ).args
        for distance in distances
    )
    if not (power == other_power and power.is_positive and other_base > base > 0):
        raise Undecided(f"{base}**{power} and {other_base}**{other_power} are not known to differ")
    if not sp.expand(other_inside - inside).is_positive:
        raise Undecided(f"log({inside}) and log({other_inside}) are not known to differ")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"T5 at the distances {near} and {far}: {weight}, whatever its table",
            f"power kernel: {base}**{power} < {other_base}**{other_power}",
            f"log kernel: log({inside}) < log({other_inside})",
        ),
        assumptions=("r1 > 0, so neither kernel is constant, and softmax sees the difference",),
    )


_T5_OUTSIDE_KERPLE = Claim(
    id="kerple-t5",
    source=Source(paper="Kerple", arxiv="2205.09921", place="what its kernels can represent"),
    statement="T5's bias equals Kerple's for no parameters: distances 16 and 17 share a bucket, and both of Kerple's "
    "kernels fall strictly.",
    latex=r"\mathrm{T5}\not\subset\mathrm{Kerple}",
    label="F",
    check=table_outside_kernels,
    holds={"near": 16, "far": 17, "exponent": biases.KERPLE_EXPONENT},
    falsifiers={
        "at distances with buckets of their own": {"near": 14, "far": 15},
        "with the exponent 0 as well": {"exponent": sp.Integer(0)},
    },
)

_STATED = [encoding for encoding in with_formulas() if encoding.properties]
CLAIMS = (
    *map(_laws_claim, _STATED),
    *map(_row_claim, _STATED),
    *map(_width_claim, _STATED),
    *(_recovery_claim(encoding, recovery) for encoding in with_formulas() for recovery in encoding.recovers),
    _T5_OUTSIDE_KERPLE,
)
