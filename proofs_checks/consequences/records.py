"""Claims on what the records of encodings state: laws, properties of the scores, caching, and special cases.

Every claim is generated from the record of its encoding, and decided from its formulas; special cases in torch as well.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.claim import Parameters, Refuted, Source, Unsettled
from lengthgen.proofs_checks.facts import same_by_sympy
from lengthgen.proofs_checks.mutations import Formulas, changed, with_bias, with_bias_replaced
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import cacheability, domains, far, laws
from lengthgen.theory.encodings import absolute, biases, grape, rotary
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import (
    KEY,
    QUERY,
    Encoding,
    Family,
    Law,
    Normaliser,
    Parameter,
    Properties,
    Recovery,
)
from lengthgen.theory.far import FarField
from lengthgen.theory.zero.sympy_engine import Undecided

Named = tuple[str, Formulas]
"""Formulas and their name, for people."""
_OWN: Formulas = changed()
"""The encoding's own formulas."""
_ROTATED = changed(rotate=rotary.ROPE.rotate)
CLAIMS = PaperClaims(Source(paper="", arxiv=""))


def _title(encoding: Encoding) -> str:
    """Return the title of an encoding; with the default of an option that makes it another encoding."""
    return encoding.title + _DEFAULTS.get(encoding.name, "")


_DEFAULTS: Mapping[str, str] = {
    "legendre": ", rescaled beyond training as by default",
    "seqpe": ", with codes as a bias as by default",
    "bam": ", with its location at 0 as by default",
    "bam-ssmax": ", with its location at 0 as by default",
    "wavelet": ", with Ricker's wavelet as by default",
}
"""Encoding -> the default of an option that makes it another encoding."""


def _source(encoding: Encoding) -> Source:
    return Source(paper=encoding.title, arxiv=encoding.arxiv, place="what follows from its formulas")


def _stated(encoding: Encoding) -> Properties:
    """Properties that the record states; the claims here are those of records that state them."""
    assert encoding.properties is not None
    return encoding.properties


_WEAKENING = (Law.RELABELLING, Law.RELATIVE, Law.TRANSLATION)
"""Laws of which formulas that keep one often keep those after it as well."""


def _in_order(kept: frozenset[Law]) -> Iterable[Law]:
    """Return the laws so that each falsifier meets the law of its own first; those that fail go by `_WEAKENING`."""
    failing = (law for law in _WEAKENING if law not in kept)
    return Law.NORM, *failing, Law.STREAMING, *(law for law in Law if law in kept and law in _WEAKENING)


def laws_kept(name: str, formulas: Formulas, kept: frozenset[Law]) -> Facts:
    """Decide which of the laws an encoding keeps, and that it declares exactly these."""
    encoding = formulas(named(name))
    for law in _in_order(kept):
        ruling = laws.decide_law(encoding, law)
        if ruling.holds is None:
            raise Undecided(f"{law}: {ruling.reason}")
        answer = "holds" if ruling.holds else "fails"
        refute(ruling.holds != (law in kept), f"{law}: {answer}, {ruling.reason}")
        yield f"{law} {answer}: {ruling.reason}"
    refute(set(encoding.laws) != kept, f"{name} declares {', '.join(encoding.laws) or 'nothing'}")
    if name in _BOTH_SIDES and Law.RELATIVE in kept:
        later, shift = {"query_position": sp.Integer(0), "key_position": laws.DISTANCE}, laws.SHIFT
        shifted = {place: position + shift for place, position in later.items()}
        yield same_by_sympy("keys after the query", encoding.score(**shifted), encoding.score(**later))


_BREAKING_FORMULAS: Mapping[Law, Named] = {
    Law.RELATIVE: ("the score of a key grows with its position", with_bias(lambda query, key, length: key)),
    Law.TRANSLATION: (
        "the score falls with the product of the positions",
        with_bias(lambda query, key, length: -query * key),
    ),
    Law.NORM: ("queries are doubled", mutations.with_queries_doubled),
    Law.STREAMING: (
        "the score falls with the share of the length",
        with_bias(lambda query, key, length: -(query - key) / length),
    ),
    Law.RELABELLING: (
        "the score falls with the distance of the indices",
        with_bias(lambda query, key, length: -abs(query - key)),
    ),
}
"""Kept law -> formulas that break it. Formulas that break the translation law break the relative law too."""

_KEEPING_FORMULAS: Mapping[Law, Named] = {
    Law.RELATIVE: ("all tokens at position 0, logits less the distance", mutations.at_origin_by_distance),
    Law.TRANSLATION: (
        "all tokens at position 0, rows shifted by the query's position",
        lambda encoding: with_bias(lambda query, key, length: query)(mutations.at_origin(encoding)),
    ),
    Law.STREAMING: ("the formulas of one length at all lengths", mutations.at_fixed_length),
}
"""Broken law -> formulas that keep it. For norms and relabelling these depend on the encoding."""


def _keeping_norms(encoding: Encoding) -> Named:
    """Name of formulas that keep the norms of queries and keys, and the formulas."""
    if encoding.embed:
        return "codes as a bias, not added to tokens", mutations.with_codes_on_scores
    if encoding.relative_key:
        return "vectors as a bias, not added to keys", mutations.with_vectors_on_scores
    return "rotated by RoPE, without stretching", _ROTATED


_NONE_BEFORE = "histograms move with their tokens, so a shift puts no token before those that are counted"


def _of_prefix(parameter: Parameter) -> bool:
    """Return whether a parameter is computed from all tokens up to an index."""
    return parameter.family is Family.PREFIX


def _keeping_order(encoding: Encoding) -> Named:
    """Name of formulas that do not see the order of tokens, and the formulas; actions stretch as before."""
    if any(map(_of_prefix, encoding.parameters)):
        return "one code for all tokens", changed(embed=lambda position: sp.Matrix([1, 0]))
    place = 1 if encoding.rotate else 0
    return f"all tokens at position {place}", mutations.all_at(place)


def _mutated_laws(encoding: Encoding) -> Iterable[Named]:
    """Return, for each law, named formulas that keep it if and only if the encoding's own formulas break it."""
    keeping = {**_KEEPING_FORMULAS, Law.NORM: _keeping_norms(encoding), Law.RELABELLING: _keeping_order(encoding)}
    return [(_BREAKING_FORMULAS if law in encoding.laws else keeping)[law] for law in Law]


_LAW_TEX: Mapping[Law, str] = {
    Law.RELATIVE: r"s_{j+s,\,i+s}=s_{ji}",
    Law.TRANSLATION: r"w_{j+s,\,i+s}=w_{ji}",
    Law.NORM: r"\lVert\tilde q_j\rVert=\lVert q_j\rVert,\ \lVert\tilde k_i\rVert=\lVert k_i\rVert",
    Law.STREAMING: r"s_{ji}^{(n+1)}=s_{ji}^{(n)}",
    Law.RELABELLING: r"s_{\pi j,\,\pi i}=s_{ji}",
}
"""Law -> its formula, s the scores and w the weights."""


def _laws_claim(encoding: Encoding) -> None:
    """Add the claim on the laws that an encoding keeps."""
    kept = frozenset(encoding.laws)
    CLAIMS.claim(
        f"laws-{encoding.name}",
        _source(encoding),
        r",\quad ".join(_LAW_TEX[law] for law in Law if law in kept) or r"s_{j+s,\,i+s}\ne s_{ji}\ \text{and the like}",
        statement=f"{_title(encoding)} keeps exactly these laws: "
        f"{', '.join(law for law in Law if law in kept) or 'none'}.",
        holds={"name": encoding.name, "formulas": _OWN, "kept": kept},
        assumptions=(
            "one plane and one head stand for all: the others differ only in the values of parameters",
            "a shift or permutation of positions moves the tokens too, and with them what is computed from them "
            "(gates, rates, potentials) or given on pairs of them (distances); scores are compared, not masks",
            "a law holds if it does for all values of the parameters and all contents, and fails if some break it; "
            "all laws but streaming compare sequences of one length, and all but relabelling keys up to the query",
            "in words: counterexamples take free numbers for the members of families and for functions, and values "
            "that the encoding can have break the same laws",
            *((_NONE_BEFORE,) if any(map(_of_prefix, encoding.parameters)) else ()),
            *((_ONE_OFFSET,) if encoding.consecutive else ()),
        ),
        answers=("kept",),
        falsifiers=_falsifiers(_mutated_laws(encoding)),
    )(laws_kept)


def _falsifiers(mutated: Iterable[Named]) -> Mapping[str, Parameters]:
    """Falsifiers with other formulas."""
    return {name: {"formulas": formulas} for name, formulas in mutated}


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


def row(name: str, formulas: Formulas, stated: Mapping[str, Any]) -> Facts:
    """Decide one row of the matrix: hooks, parameters, trained numbers, bounds, causal use, far keys and weights."""
    encoding = formulas(named(name))
    values = {what: compute(encoding) for what, compute in _ROW.items()}
    open_entries = [what for what, value in values.items() if value is None or FarField.UNDECIDED in str(value)]
    other = [what for what, value in values.items() if what not in open_entries and value != stated[what]]
    refute(other, "; ".join(f"{what}: computed {values[what]!s}, stated {stated[what]!s}" for what in other))
    if FarField.UNDEFINED in values["far keys"]:
        relative = laws.decide_law(encoding, Law.RELATIVE)
        refute(bool(relative.holds), f"far keys: no position enters, {relative.reason}")
        if relative.holds is None:
            open_entries.append("far keys")
    if open_entries:
        raise Undecided("; ".join(f"{what}: {values[what]}" for what in open_entries))
    for what in _ROW:
        yield f"{what}: {stated[what]!s}"


_ANOTHER_LOGARITHM = with_bias(lambda query, key, length: -sp.log(1 + query - key))
_OTHER_FAR_FIELD: Mapping[FarField, Named] = {
    FarField.NONE: ("a bias of -log(1 + D)", _ANOTHER_LOGARITHM),
    FarField.CONSTANT: ("a bias of -log(1 + D) more", _ANOTHER_LOGARITHM),
    **dict.fromkeys(
        (FarField.EXPONENTIAL, FarField.STRETCHED, FarField.POLYNOMIAL),
        ("-log(1 - b) for the bias b", mutations.with_logarithmic_bias),
    ),
    FarField.OSCILLATING: ("all tokens at position 0", mutations.at_origin),
    FarField.UNIFORM: ("rotated by RoPE, without damping", _ROTATED),
    FarField.UNDEFINED: (
        "rotated by RoPE, without codes",
        changed(rotate=rotary.ROPE.rotate, embed=None, positions=None),
    ),
}
"""Behaviour of far keys -> formulas whose far keys behave differently."""


def _other_far_field(encoding: Encoding) -> Named:
    """Named formulas whose far keys behave differently."""
    case, *others = _stated(encoding).far.split("; ")
    first = FarField(case.rpartition(": ")[2])
    if first is FarField.CONSTANT and others:
        return "the bias times 1 + D", mutations.with_bias_times(lambda query, key: 1 + query - key)
    if encoding.normaliser is Normaliser.SIGMOID:
        return "a bias of -log(1 + D) alone", changed(bias=lambda query, key, length: -sp.log(1 + query - key))
    if encoding.positions and not encoding.embed and first is FarField.UNDEFINED:
        return "tokens at their own indices", changed(positions=None)
    if encoding.bias and first is FarField.UNDEFINED:
        return "all tokens at position 0", mutations.at_origin
    return _OTHER_FAR_FIELD[first]


def _other_causality(encoding: Encoding) -> Named:
    """Named formulas that make a causal encoding usable on both sides, or a two-sided one causal."""
    if encoding.window is not sp.oo:
        return "all keys seen, without a bias", changed(window=sp.oo, bias=None)
    if not _stated(encoding).causal_only:
        if encoding.rotate and not encoding.positions:
            return "damped with the distance", mutations.with_damping
        return (
            "a bonus for keys after the query",
            with_bias(lambda query, key, length: sp.exp(sp.Max(key - query, 0)) - 1),
        )
    if encoding.bias:
        return "keys after the query as those before it", mutations.on_both_sides
    return "keys damped like queries", mutations.with_keys_moved_like_queries


_RAW_POINTS = changed(
    positions=lambda index, length: absolute.legendre_coordinate(
        index, length=length, trained_length=absolute.TRAINED_LENGTH, beyond="raw"
    )
)


_ENTERS = "where the position enters, it does so at some positions and for some values of the parameters, not for all"


def _grows_with_query(encoding: Encoding) -> bool:
    """Return whether all logits of a query have a factor that grows with its position, as log(j + 1) does."""
    return bool(far.without_query_factor(encoding)[1] != 1)


def _conditions(encoding: Encoding) -> tuple[str, ...]:
    """Return the conditions of the row of an encoding that other rows do not have."""
    conditions = {
        "positions are drawn below M, which does not grow, and a table has M rows: L = M": encoding.drawn_from,
        "positions end at 10^k, which does not grow": encoding.name == "seqpe",
        "the distance is the number of hops, in place of j - i": encoding.has_structure,
        "below W the distance grows with W, and logits are bounded for each W": encoding.window is not sp.oo,
        "far keys are those of the scores without the query's factor, which grows": _grows_with_query(encoding),
    }
    return tuple(condition for condition, there in conditions.items() if there)


def _row_claim(encoding: Encoding) -> None:
    """Add the claim on the row of an encoding in the property matrix."""
    stated = _stated(encoding)
    learned = encoding.learned if stated.learned is None else stated.learned
    use = "causal use only" if stated.causal_only else "keys on both sides"
    effects = {FarField(case.rpartition(": ")[2]) for case in stated.far.split("; ")}
    unbounded = (
        "unbounded logits" if effects <= {*far.UNBOUNDED, FarField.HIDDEN} else "logits unbounded for some parameters"
    )
    if _grows_with_query(encoding):
        unbounded = "unbounded logits"
    size = "bounded logits" if stated.bounded else unbounded
    weights = "" if encoding.normaliser is Normaliser.SOFTMAX else f", {encoding.normaliser} weights"
    one_more = Parameter(symbol=sp.Symbol("x"), meaning="none")
    mutated: list[Named] = [
        ("one parameter more", changed(parameters=(*encoding.parameters, one_more))),
        ("one trained number more", mutations.with_one_trained_number_more),
        ("one hook more", mutations.with_another_hook),
        _other_far_field(encoding),
    ]
    if not encoding.positions or (encoding.rotate and encoding.relation):  # drawn positions bound any bias
        mutated.append(_other_causality(encoding))
    if encoding.normaliser is not Normaliser.SOFTMAX:
        mutated.append(("softmax", changed(normaliser=Normaliser.SOFTMAX)))
    if encoding.embed:
        mutated.append(("codes and (p, p^2) more", mutations.with_codes_that_grow))
        mutated.append(("all codes 0", changed(embed=lambda position: sp.zeros(2, 1))))
    elif encoding.drawn_from:
        mutated.append(("token t at position 2t", changed(positions=lambda index, length: 2 * index)))
    if encoding.name == "legendre":
        mutated.append(("points that go on beyond 1", _RAW_POINTS))
    if encoding.window is not sp.oo:
        mutated.append(("without the window", changed(window=sp.oo)))
    if encoding.bias and encoding.rotate:
        mutated += [
            ("the bias times e^D", mutations.with_bias_times(lambda query, key: sp.exp(query - key))),
            ("the bias times -e^D", mutations.with_bias_times(lambda query, key: -sp.exp(query - key))),
        ]
    elif encoding.bias and not encoding.positions:
        mutated += [
            ("a bias of -e^D more", with_bias(lambda query, key, length: -sp.exp(query - key))),
            ("a bias of e^D more", with_bias(lambda query, key, length: sp.exp(query - key))),
        ]
        if stated.bounded:
            mutated.append(("less the position of the key", with_bias(lambda query, key, length: -key)))
    CLAIMS.claim(
        f"far-{encoding.name}",
        _source(encoding),
        r"\lim_{d_G(j,i)\to\infty} s_{ji}" if encoding.has_structure else r"\lim_{j-i\to\infty} s_{ji}",
        statement=f"{_title(encoding)}: {use}, {size}{weights}; far keys: {stated.far}; trained numbers: {learned}.",
        holds={
            "name": encoding.name,
            "formulas": _OWN,
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
        assumptions=(
            "one plane and one head are looked at: content is constant there, neither query nor key is 0, and gates, "
            "steps, rates and edges are constant too",
            "parameters take all values of their ranges, and logits are bounded for each of these",
            "the key stays at its place while the query moves away, and a length n in the formulas stays the same",
            "causal use only: keys after the query have no score, or one that grows without bound, or a learned "
            "function is read beyond the arguments that keys before the query give it",
            *_conditions(encoding),
            *(("a turn by a multiple of pi a step is left out",) if FarField.OSCILLATING in effects else ()),
            *((_ENTERS,) if FarField.UNDEFINED in effects else ()),
            "hooks, parameters, trained numbers and weights are those of the record; tests count those of its module",
            "limits of the bias and of D b'(D)/b(D) are those of leading terms, or else sympy's, as are the signs of "
            "the kernel's exponential rates",
            "a learned function of a bounded argument is continuous, and entries of a table are bounded",
        ),
        answers=("stated",),
        falsifiers=_falsifiers(mutated),
    )(row)


def width(name: str, formulas: Formulas, stated: str) -> Facts:
    """Decide the least width r at which the bias is a product of cacheable per-token vectors: b(j, i) = u_j . v_i."""
    caching = cacheability.caching(formulas(named(name)))
    if caching.cases is None:
        raise Unsettled(caching.reason)
    refute(str(caching) != stated, f"the width is {caching}, not {stated}: {caching.reason}")
    yield f"width {caching}: {caching.reason}"


_DRAWN_ANEW = "positions are drawn anew for each length"
_ONE_OFFSET = "the random offset of a text is drawn once and stays as the text grows, within the rows of the table"


def _width_tex(stated: str) -> str:
    """TeX for a width: the score as products of per-token vectors of content and r more coordinates, or no r."""
    if stated == "0":
        return rf"s_{{ji}}=\tilde q_j\cdot\tilde k_i,\quad\tilde q_t,\tilde k_t\ {_ONCE_READ}"
    size = "r" if stated == "none" or ":" in stated else stated
    none = r"\text{no}\ r\ \text{has}\ " if stated == "none" else ""
    product = r"s_{ji}=\tilde q_j\cdot\tilde k_i+u_j\cdot v_i"
    return rf"{none}{product},\quad u_t,v_t\in\mathbb{{R}}^{{{size}}}\ {_ONCE_READ}"


_ONCE_READ = r"\text{fixed once}\ t\ \text{is read}"


def _width_text(stated: str) -> str:
    """Statement for a width: "none", a number, or widths by case of a parameter."""
    if stated == "none":
        return (
            "its logits are not products of per-token vectors of a fixed width that never change as the sequence grows"
        )
    if stated == "0":
        return "its logits are products of per-token vectors, cached once, without a coordinate beside the content"
    if ":" in stated:
        return f"its logits are products of per-token vectors with so many coordinates beside the content: {stated}"
    coordinates = "coordinate" if stated == "1" else "coordinates"
    return f"its logits are products of per-token vectors with {stated} {coordinates} beside the content, and no fewer"


_LINEAR = with_bias_replaced(
    lambda query, key: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=query, key_position=key)
)
_SHARED_EDGES = with_bias_replaced(lambda query, key: grape.increments(query=query, key=key))
_SEEN_EDGES = with_bias_replaced(lambda query, key: grape.path_bias(query=query, key=key))
_SQUARED = with_bias(lambda query, key, length: -((query - key) ** 2))
_BY_QUERY_ALONE = with_bias_replaced(lambda query, key: -grape.GRAPE_SLOPE * (query - key) * grape.QUERY_GATES[query])


_ONE_LENGTH = _KEEPING_FORMULAS[Law.STREAMING]
_OWN_WIDTHS: Mapping[str, Named] = {
    "dynamic-ntk": _ONE_LENGTH,
    "legendre": _ONE_LENGTH,
    "wavelet": ("keys without the vectors", changed(relative_key=None)),
    "grape-path": ("edges that no query changes", _SHARED_EDGES),
    "graph-alibi": ("causal attention with the bias of ALiBi", lambda record: _LINEAR(replace(record, causal=True))),
    "grape-gated": ("without the gates of keys", _BY_QUERY_ALONE),
}


def _other_widths(encoding: Encoding) -> list[Named]:
    """Named formulas for which the width is a different one."""
    if encoding.drawn_from and not encoding.consecutive:
        return [("tokens at their own indices", changed(positions=None))]
    if encoding.name in _OWN_WIDTHS:
        return [_OWN_WIDTHS[encoding.name]]
    if encoding.bias is None:
        return [("a bias of -(j - i)^2", _SQUARED), ("a bias of -log(1 + D)", _ANOTHER_LOGARITHM)]
    if _stated(encoding).width.isdigit():
        return [("-(j - i)^2 more", _SQUARED), ("edges that the query sees in its own way", _SEEN_EDGES)]
    return [("the bias of ALiBi", _LINEAR)]


_OF_A_BIAS = (
    "logits are to be equal, not weights alone: softmax ignores a term of the query, such as m j of ALiBi",
    "the sequence has 2r - 1 tokens or more for a width r; shorter ones need fewer coordinates",
    "in words: keys after the query may have any entry, as late queries and early keys alone make the rank; "
    "a bias of the distance has a width only if it follows a linear recurrence (Kronecker)",
)
"""Assumptions on the width of a bias."""


def _width_claim(encoding: Encoding) -> None:
    """Add the claim on the width of one encoding."""
    stated = _stated(encoding).width
    CLAIMS.claim(
        f"cache-{encoding.name}",
        _source(encoding),
        _width_tex(stated),
        statement=f"{_title(encoding)}: {_width_text(stated)}.",
        holds={"name": encoding.name, "formulas": _OWN, "stated": stated},
        assumptions=(
            "gates, edges and table entries are free numbers; the width is for generic values of parameters",
            "a key's vector may hold what the tokens before it have summed up to",
            "a query is asked again at every later length",
            *(("attention is causal",) if encoding.name not in _BOTH_SIDES else ()),
            *((_ONE_OFFSET if encoding.consecutive else _DRAWN_ANEW,) if encoding.drawn_from else ()),
            *(_OF_A_BIAS if stated != "0" and (encoding.bias or encoding.relative_key) else ()),
            *(("the window holds two keys or more",) if encoding.window is not sp.oo else ()),
        ),
        answers=("stated",),
        falsifiers=_falsifiers(_other_widths(encoding)),
    )(width)


def special_case(by: str, formulas: Formulas, recovery: Recovery) -> Facts:
    """Decide that one encoding has the scores of another at these parameters, and if it can have these parameters.

    The torch modules of both are compared as well. `by` is the name of the general encoding, and `formulas` changes it;
    `recovery` is the special encoding with the parameters.
    """
    encoding, of, assignment = formulas(named(by)), recovery.of, recovery.assignment
    ruling = laws.decide_recovery(encoding, named(of), recovery)
    refute(ruling.holds is False, f"{by} is not {of}: {ruling.reason}")
    inside = domains.assignment_allowed(encoding, assignment)
    for decided in (ruling, inside):
        if decided.holds is None:
            raise Undecided(decided.reason)
    stated = recovery.attained and not recovery.function
    refute(stated and not inside.holds, inside.reason)
    refute(inside.holds and not stated, f"{inside.reason}: {by} attains it")
    outside = domains.parameters_outside(encoding, assignment) if recovery.function else ()
    refute(not all(parameter.network for parameter in outside), f"not only a network is in the way: {inside.reason}")
    where = f", positions and length within {_longest(by)}" if recovery.within else ""
    same = f"score of {by} = score of {of}" + (" up to a number for each query" if recovery.weights_only else "")
    yield f"{same} for every query, key up to it and content{where}: {ruling.reason}"
    if by in _BOTH_SIDES:
        after = {"query_position": laws.KEY_POSITION, "key_position": laws.KEY_POSITION + laws.DISTANCE}
        scores = laws.assigned(encoding.score(QUERY, KEY, **after), recovery), named(of).score(QUERY, KEY, **after)
        yield same_by_sympy("keys after the query", *scores)
    yield inside.reason + (_REACH if recovery.function else "")
    yield _compare_in_torch(by, of, weights_only=recovery.weights_only)


_BOTH_SIDES = ("graph-alibi", "t5-bidirectional")
"""Encodings that are meant for keys after the query as well, and whose formula of these is another one."""


def _longest(name: str) -> str:
    """Length within which a special case of an encoding holds, in words."""
    return "the threshold L" if name == "fire" else "the trained length"


_FIRST_PLANE = "theta is a free number of each plane; with RoPE's frequencies it is 1 in the first for every base"
_REACH = ": on whole distances n - 1 units agree with it at n of them, and so FIRE's 32 at 33 (claim fire-3-width)"


def _compare_in_torch(by: str, of: str, *, weights_only: bool) -> str:
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
    less = ", less each query's first," if weights_only else ""
    return f"in torch, float64, at the positions {positions}: logits{less} differ by less than {TOLERANCE:g}"


def _different_value(parameter: Any, value: sp.Expr) -> sp.Expr:
    """A different value of a parameter; for the buckets of T5 not one for all, which softmax would cancel."""
    if parameter == biases.T5_WEIGHTS:
        bucket = sp.Symbol("l", integer=True)
        return sp.Lambda(bucket, value + bucket)
    if isinstance(value, sp.Lambda):
        return sp.Lambda(value.signature, value.expr + sp.Add(*value.variables))
    return 2 * value + 1 if value.is_finite is not False else sp.Integer(1)


def _changed(recovery: Recovery, **changes: Any) -> Parameters:
    """Falsifier: the recovery with some of it changed."""
    return {"recovery": replace(recovery, **changes)}


def _renamed(symbol: Any, value: sp.Expr) -> bool:
    """Return whether the value has a parameter of the other encoding of the same name as the symbol it is given to."""
    bases = {entry.base for entry in value.atoms(sp.Indexed)} if isinstance(symbol, sp.IndexedBase) else value.atoms()
    return symbol in bases and value != symbol


def _containment(encoding: Encoding, recovery: Recovery) -> str:
    """Return the TeX of a recovery: a limit lies in the closure, and L bounds the length n."""
    by, of = (rf"\mathrm{{{title}}}" for title in (encoding.title, named(recovery.of).title))
    parts = (
        rf"{of}\subset{by}" if recovery.attained else rf"{of}\subset\overline{{{by}}}",
        r"f\ \text{any function}" if recovery.function else "",
        r"n\le L" if recovery.within else "",
    )
    return r",\ ".join(filter(None, parts))


def _recovery_claim(encoding: Encoding, recovery: Recovery) -> None:
    """Add the claim on one recovery that the encoding declares."""
    other = named(recovery.of)
    shared = " and ".join(str(symbol) for symbol, value in recovery.assignment.items() if _renamed(symbol, value))
    notes = (
        (shared, f" (on the right {shared} is that of {other.title})"),
        (recovery.at, f", for {_text(recovery.at)}"),
        (not encoding.causal and other.causal, f", if {other.title} attends to all keys as well"),
        (recovery.within, f", as long as positions and length stay within {_longest(encoding.name)}"),
        (not recovery.attained, " (a limit: not all these values lie in the parameters' domain)"),
        (
            recovery.function,
            " (for a function f that no network of ReLU units equals, special values of the parameters aside)",
        ),
        (recovery.weights_only, ", up to a number that all keys of a query share, and softmax cancels"),
    )
    notes_told = "".join(note for there, note in notes if there)
    assignment = recovery.assignment
    falsifiers: dict[str, Mapping[str, Any]] = {
        f"another {parameter}": _changed(
            recovery, assignment={**assignment, parameter: _different_value(parameter, value)}
        )
        for parameter, value in assignment.items()
    }
    if not recovery.attained:
        any_value = sp.Interval(-sp.oo, sp.oo) | sp.FiniteSet(-sp.oo, sp.oo)
        anywhere = mutations.with_parameters(lambda parameter: replace(parameter, domain=any_value))
        falsifiers["domains with their edges"] = {"formulas": anywhere}
    if recovery.function:
        no_network = mutations.with_parameters(lambda parameter: replace(parameter, network=False))
        falsifiers["any function in place of the network"] = {"formulas": no_network}
    if recovery.within:
        falsifiers["beyond the trained length too"] = _changed(recovery, within=False)
    if recovery.weights_only:
        falsifiers["with equal scores"] = _changed(recovery, weights_only=False)
    for parameter, value in recovery.at.items():
        generalised = {symbol: assigned.subs(value, parameter) for symbol, assigned in assignment.items()}
        falsifiers[f"for every {parameter}"] = _changed(recovery, assignment=generalised, at={})
    CLAIMS.claim(
        f"recovery-{encoding.name}-{other.name}",
        Source(paper=encoding.title, arxiv=encoding.arxiv, place=f"{other.title} as a special case"),
        _containment(encoding, recovery),
        statement=f"{encoding.title} is {other.title} at {_text(assignment)}{notes_told}.",
        holds={"by": encoding.name, "formulas": _OWN, "recovery": recovery},
        assumptions=(
            "one plane and one head stand for all of them",
            *((_FIRST_PLANE,) if encoding.name == "hope" else ()),
        ),
        falsifiers=falsifiers,
    )(special_case)


def _text(assignment: Mapping[Any, sp.Expr]) -> str:
    """Text of the values, such as "s[l] = -log_f[l]" for a family with a value for each member, or "f(u) = 0"."""
    return ", ".join(
        f"{parameter} = {value}"
        if not isinstance(value, sp.Lambda)
        else f"{parameter[value.variables]} = {value.expr}"
        if isinstance(parameter, sp.IndexedBase)
        else f"{parameter(*value.variables)} = {value.expr}"
        for parameter, value in assignment.items()
    )


_STATED = [encoding for encoding in with_formulas() if encoding.properties]
for _claim in (_laws_claim, _row_claim, _width_claim):
    for _encoding in _STATED:
        _claim(_encoding)
for _encoding in with_formulas():
    for _recovery in _encoding.recovers:
        _recovery_claim(_encoding, _recovery)


@CLAIMS.claim(
    "kerple-t5",
    Source(paper="Kerple", arxiv="2205.09921", place="what its kernels can represent"),
    r"\mathrm{T5}\cap\mathrm{Kerple}=\emptyset",
    assumptions=("r1, r2, p > 0, so neither kernel is constant", "32 buckets to 128; rows of 18 keys or more"),
    falsifiers={
        "at distances with buckets of their own": {"near": 14, "far": 15},
        "with the exponent 0 as well": {"exponent": sp.Integer(0)},
    },
)
def table_outside_kernels(near: int = 16, far: int = 17, exponent: sp.Expr = biases.KERPLE_EXPONENT) -> Facts:
    """T5's bias equals Kerple's for no parameters: distances 16 and 17 share a bucket, and both of Kerple's kernels
    fall strictly.
    """
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
    yield f"T5 at the distances {near} and {far}: {weight}, whatever its table"
    yield f"power kernel: {base}**{power} < {other_base}**{other_power}"
    yield f"log kernel: log({inside}) < log({other_inside})"
