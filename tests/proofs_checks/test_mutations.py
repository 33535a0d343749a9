"""Each mutated formula changes the law that it is meant to change, and nothing else."""

from functools import cache

import pytest

from proofs_checks import registry
from proofs_checks.papers.laws import mutated_laws
from proofs_checks.papers.matrix import ROWS
from proofs_checks.runner import Result, run_claim
from theory import laws
from theory.encodings.catalogue import named
from theory.encodings.encoding import Law

CASES = [
    *((name, law) for name in ("sinusoidal", "alibi", "fox") for law in Law),
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
    changed = kept ^ ROWS[name].laws
    # Scores that follow the distance are shifted alike, so the relative law takes the law of translation along.
    together = {Law.RELATIVE, Law.TRANSLATION} if {Law.RELATIVE, Law.TRANSLATION} <= changed else set()
    assert law in changed
    assert changed - together <= {law}


@pytest.mark.parametrize(
    ("claim", "falsifier", "line"),
    [
        ("far-alibi", "-log(1 - b) for the bias b", "far keys: computed falls like a power"),
        ("far-alibi", "a bonus for keys after the query", "causal use only: computed True"),
        ("far-fox", "keys after the query as those before it", "causal use only: computed False"),
        ("far-hope", "keys damped like queries", "causal use only: computed False"),
        ("far-rope", "all tokens at position 0", "far keys: computed constant"),
        ("far-rope", "one hook more", "hooks: computed"),
        ("far-alibi", "one parameter more", "parameters: computed"),
        ("far-alibi", "one trained number more", "trained numbers"),
    ],
)
def test_a_mutated_row_is_rejected_for_what_is_wrong_with_it(claim: str, falsifier: str, line: str) -> None:
    (result,) = [outcome for outcome in result_of(claim).falsifiers if outcome.name == falsifier]
    assert result.rejected
    assert result.reason.startswith(line)
