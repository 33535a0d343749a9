"""The property matrix: which laws each encoding keeps, and how its logits behave for far keys.

Each row is stated in `lengthgen.proofs_checks.papers.matrix` and decided here from the encoding's formulas.
"""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from lengthgen.proofs_checks.mutations import Formulas
from lengthgen.proofs_checks.papers.matrix import ROWS
from lengthgen.theory import domains, far, laws
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Law, Normaliser
from lengthgen.theory.far import Cases, FarField
from lengthgen.theory.zero.sympy_engine import Undecided

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
    normaliser: Normaliser,
) -> Evidence:
    """Decide one row of the matrix: hooks, parameters, trained numbers, bounds, causal use, far keys and weights."""
    encoding = formulas(named(name))
    computed: tuple[tuple[str, Callable[[Encoding], Any], Any], ...] = (
        ("far keys", far.far_field, far.cases_text(cases)),
        ("bounded", far.bounded, bounded),
        ("causal use only", far.causal_only, causal_only),
        ("hooks", lambda record: record.hooks, hooks),
        ("trained numbers", lambda record: sp.expand(record.learned), sp.expand(learned)),
        ("parameters", domains.domain_texts, parameters),
        ("weights", lambda record: record.normaliser, normaliser),
    )
    for what, compute, stated in computed:
        value = compute(encoding)
        if value is None or FarField.UNDECIDED in str(value):
            raise Undecided(f"{what}: {value}")
        if value != stated:
            raise Refuted(f"{what}: computed {value!s}, stated {stated!s}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(f"{what}: {stated!s}" for what, _, stated in computed),
        assumptions=(
            "content is constant, and so are gates; parameters take all values of their ranges",
            "limits of the bias and of D b'(D)/b(D) are those of leading terms, or else sympy's, as are the signs of "
            "the kernel's exponential rates",
            "a learned function of a bounded argument is continuous, and entries of a table are bounded",
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
    return {law: (_BREAKING_FORMULAS if law in ROWS[encoding.name].laws else keeping)[law] for law in Law}


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


def _other_far_field(encoding: Encoding, first: FarField, *, by_case: bool) -> tuple[str, Formulas]:
    """Named formulas whose far keys behave differently; `by_case` if the behaviour depends on the parameters."""
    if first is FarField.CONSTANT and by_case:
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
    if not ROWS[encoding.name].causal_only:
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
    """Claim on the laws that an encoding keeps."""
    kept = ROWS[encoding.name].laws
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


def _row_claim(encoding: Encoding) -> Claim:
    """Claim on the row of an encoding in the property matrix."""
    stated = ROWS[encoding.name]
    use = "causal use only" if stated.causal_only else "keys on both sides"
    size = "bounded logits" if stated.bounded else "unbounded logits"
    weights = "" if stated.normaliser is Normaliser.SOFTMAX else f", {stated.normaliser} weights"
    mutated = {
        "one parameter more": mutations.with_one_parameter_more,
        "one trained number more": mutations.with_one_trained_number_more,
        "one hook more": mutations.with_another_hook,
        **dict([_other_far_field(encoding, stated.far[0].behaviour, by_case=len(stated.far) > 1)]),
    }
    if not (encoding.bias and encoding.positions):  # a bias of random positions is bounded anyway
        mutated |= dict([_other_causality(encoding)])
    if stated.normaliser is not Normaliser.SOFTMAX:
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
        statement=f"{encoding.title}: {use}, {size}{weights}; far keys: {far.cases_text(stated.far)}; trained numbers: "
        f"{stated.learned}.",
        latex=r"\lim_{j-i\to\infty} s_{ji}",
        label="F",
        check=row,
        holds={
            "name": encoding.name,
            "formulas": mutations.unchanged,
            "hooks": tuple(stated.hooks.split()),
            "parameters": stated.parameters,
            "learned": stated.learned,
            "causal_only": stated.causal_only,
            "bounded": stated.bounded,
            "cases": stated.far,
            "normaliser": stated.normaliser,
        },
        answers=("hooks", "parameters", "learned", "causal_only", "bounded", "cases", "normaliser"),
        falsifiers={name: {"formulas": formulas} for name, formulas in mutated.items()},
    )


_STATED = [encoding for encoding in with_formulas() if encoding.name in ROWS]
CLAIMS = (*map(_laws_claim, _STATED), *map(_row_claim, _STATED))
