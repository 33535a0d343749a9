"""Each mutated formula changes the law that it is meant to change, and nothing else."""

from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

from lengthgen.proofs_checks import mutations, registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.consequences.records import mutated_laws
from lengthgen.proofs_checks.result import Result
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.theory import laws
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import LENGTH, Law, Normaliser

CASES = [
    *((name, law) for name in ("sinusoidal", "alibi", "fox", "wavelet") for law in Law),
    ("fire", Law.RELATIVE),
    ("fire", Law.TRANSLATION),
    ("dynamic-ntk", Law.STREAMING),
    ("hope", Law.NORM),
]


@cache
def result_of(claim_id: str) -> Result:
    return run_claim(registry.find(claim_id))


@pytest.mark.parametrize(("name", "law"), CASES)
def test_a_mutated_formula_changes_one_law(name: str, law: Law) -> None:
    formulas = mutated_laws(named(name))[law][1]
    kept = {candidate for candidate in Law if laws.decide_law(formulas(named(name)), candidate).holds}
    changed = kept ^ {*named(name).laws}
    # Scores that follow the distance are shifted alike, so the relative law takes the law of translation along.
    together = {Law.RELATIVE, Law.TRANSLATION} if {Law.RELATIVE, Law.TRANSLATION} <= changed else set()
    # Scores that do not see where a token is do not see shifts either.
    together |= {Law.RELATIVE, Law.TRANSLATION} if law is Law.RELABELLING else set()
    assert law in changed
    assert changed - together <= {law}

    """Values at numbers follow from the definitions of ALiBi, RoPE and sinusoidal codes."""
    """At numbers: by the definitions of ALiBi, RoPE and sinusoidal codes."""
    alibi, n = named("alibi"), sp.Integer(9)
    both = mutations.on_both_sides(alibi)
    assert both.bias(sp.Integer(2), sp.Integer(5), n) == alibi.bias(sp.Integer(5), sp.Integer(2), n)
    assert both.bias(sp.Integer(5), sp.Integer(2), n) == alibi.bias(sp.Integer(5), sp.Integer(2), n)
    rope = named("rope")
    assert mutations.at_origin(rope).rotate(sp.Integer(7), n) == rope.rotate(sp.Integer(0), n)
    codes = named("sinusoidal")
    query, key = (codes.embed(sp.Integer(position)) for position in (3, 1))
    signs = [1, -1] * (len(query) // 2)
    expected = sum(sign * a * b for sign, a, b in zip(signs, query, key, strict=True))
    moved = mutations.with_codes_on_scores(codes).bias(sp.Integer(3), sp.Integer(1), n)
    assert sp.simplify(moved - expected) == 0


def test_the_mutations_change_vectors_added_to_keys():
    waves, at = named("wavelet"), (sp.Integer(9), sp.Integer(4), sp.Integer(12))
    vector, zero = waves.relative_key, sp.Integer(0)
    assert mutations.at_origin(waves).relative_key(*at) == vector(zero, zero, at[2]) != vector(*at)
    by_length = replace(waves, relative_key=lambda j, i, n: sp.Matrix([j - i, n]))
    assert mutations.at_fixed_length(by_length).relative_key(*at) == sp.Matrix([5, LENGTH])
    on_scores = mutations.with_vectors_on_scores(waves)
    assert (on_scores.hooks, on_scores.bias(*at)) == (("bias",), sum(vector(*at)))
    assert mutations.with_vectors_dropped(waves).hooks == ()
    with pytest.raises(ValueError, match="alibi adds no vectors to keys"):
        mutations.with_vectors_on_scores(named("alibi"))


@pytest.mark.parametrize(
    ("claim", "falsifier", "line"),
    [
        ("far-bam-ssmax", "one hook more", "hooks: computed ('positions', 'rotate', 'bias')"),
        ("far-bam", "the bias times 1 + D", "far keys: computed th_beta + 1 < 0: constant"),
        ("far-seqpe", "all tokens at position 0", "far keys: computed constant"),
        ("far-seqpe", "a bonus for keys after the query", "causal use only: computed True"),
        ("far-alibi", "-log(1 - b) for the bias b", "far keys: computed falls like a power"),
        ("far-alibi", "a bonus for keys after the query", "causal use only: computed True"),
        ("far-fox", "keys after the query as those before it", "causal use only: computed False"),
        ("far-hope", "keys damped like queries", "causal use only: computed False"),
        ("far-rope", "all tokens at position 0", "far keys: computed constant"),
        ("far-rope", "one hook more", "hooks: computed"),
        ("far-swat", "one hook more", "hooks: computed ('positions', 'rotate', 'bias')"),
        ("far-swat", "softmax", "far keys: computed slope < 0, D < W: falls exponentially; slope > 0, D < W: grows"),
        ("far-swat", "without the window", "far keys: computed slope < 0: falls exponentially; slope > 0: weight"),
        ("far-swat", "all keys seen, without a bias", "far keys: computed oscillates"),
        ("far-wavelet", "a bias of -log(1 + D) more", "far keys: computed falls like a power"),
        ("far-wavelet", "a bonus for keys after the query", "causal use only: computed True"),
        ("far-alibi", "one parameter more", "parameters: computed"),
        ("far-alibi", "one trained number more", "trained numbers"),
    ],
)
def test_a_mutated_row_is_rejected_for_what_is_wrong_with_it(claim: str, falsifier: str, line: str) -> None:
    (result,) = [outcome for outcome in result_of(claim).falsifiers if outcome.name == falsifier]
    assert result.rejected
    assert result.reason.startswith(line)


def test_another_normaliser_is_rejected_where_far_keys_do_not_show_it() -> None:
    claim = registry.find("far-alibi")
    with pytest.raises(Refuted, match="weights: computed sigmoid, stated softmax"):
        claim.check(**claim.holds | {"formulas": lambda encoding: replace(encoding, normaliser=Normaliser.SIGMOID)})
