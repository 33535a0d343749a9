"""The claims on text-based modular addition: counterexamples, figures, and the split of the released script."""

import random
import re
from collections.abc import Callable

import pytest

from proofs_checks.claim import Refuted
from proofs_checks.papers import modular
from proofs_checks.papers.modular import bags, protocol
from proofs_checks.runner import Result

COUNTEREXAMPLES = {
    "mod-2": {
        "half of all pairs": r"3453/9409 = 36.70 % with 968 views, not 50.00 %",
        "no better than chance": r"3453/9409 = 36.70 % with 968 views, not 1.03 %",
        "seen in order": r"1 = 100.00 % with 9409 views, not 36.70 % with 968",
        "every pair a bag of its own": r"with 968 views, not 36.70 % with 9409",
    },
    "mod-3": {
        "test pairs seen as well": r"Eval-A: the rule scores 36.43 %, reported are 21.40 %",
        "guessing": r"Eval-A: the rule scores 1.03 %, reported are 21.40 %",
        "templates without anchors as well": r"Eval-C0: the rule scores 33.69 %, reported are 15.50 %",
        "the model with position embeddings": r"Eval-A: the rule scores 20.77 %, reported are 96.00 %",
    },
    "mod-5": {
        "pair-disjoint is swap-disjoint": r"seed 42: 2341 of 4657; \(67, 19\) is tested, \(19, 67\) trained",
        "no chance of a swap": r"1/2 of the halvings .*, not 0.00 %",
        "one in 97": r"1/2 of the halvings .*, not 1.03 %",
        "as many unordered pairs as a != b": r"there are 4753 unordered pairs, not 4656",
    },
    "mod-6": {
        "over six positions": r"baseline_001: 104.3/6 = 17.38, not 14.9",
        "over eight positions": r"baseline_001: 104.3/8 = 13.04, not 14.9",
        "without position 0": r"baseline_001: 5.3/6 = 0.88, not 14.9",
    },
    "mod-8": {
        "a character in row 8": r"row 8 carries nothing",
        "row 6 free": r"row 6 carries '0' of '10 \+ 10'",
    },
}

FIGURES = [
    ("mod-2", r"9409 pairs, 968 views: at best 3453/9409 = 36\.70 %, chance 1\.03 %"),
    ("mod-3", r"Eval-A: the rule scores 20\.77 %, reported are 21\.40 % \+- 1\.00 %"),
    ("mod-3", r"Eval-B: the rule scores 33\.69 %, reported are 34\.30 %"),
    ("mod-3", r"first 400 test pairs, seeds 42, 43, 44: 22\.58 %, 20\.18 %, 19\.56 %"),
    ("mod-3", r"all test pairs: 21\.14 %, 20\.31 %, 20\.88 %, mean 20\.78 %"),
    ("mod-5", r"2341/4657 = 50\.27 %, 2319/4661 = 49\.75 %, 2344/4648 = 50\.43 %"),
    ("mod-5", r"splits of the 4753 unordered pairs, same seeds: none"),
    ("mod-6", r"baseline_001: 104\.3/7 = 14\.90, reported 14\.9"),
    ("mod-6", r"i1_002a: 515\.6/7 = 73\.66, reported 73\.7"),
]


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    falsifiers = {falsifier.name: falsifier for falsifier in result_of(claim_id).falsifiers}
    assert set(falsifiers) == set(COUNTEREXAMPLES[claim_id])
    for name, reason in COUNTEREXAMPLES[claim_id].items():
        assert falsifiers[name].rejected
        assert re.search(reason, falsifiers[name].reason), falsifiers[name].reason


@pytest.mark.parametrize(("claim_id", "figure"), FIGURES)
def test_the_facts_quote_the_figures(claim_id: str, figure: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert result.evidence is not None
    assert any(re.search(figure, text) for text in (*result.evidence.facts, result.reason)), result.evidence.facts


def test_a_label_that_is_not_the_sum_has_another_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = next(claim for claim in modular.CLAIMS if claim.id == "mod-2")
    monkeypatch.setattr(bags, "label", lambda pair: pair[0])
    with pytest.raises(Refuted, match=r"not 36\.70 %"):
        claim.check(**claim.holds)


@pytest.mark.parametrize("seed", protocol.SEEDS)
def test_the_split_is_that_of_python_s_random_with_the_seed(seed: int) -> None:
    pairs = [(a, b) for a in range(97) for b in range(97)]
    random.seed(seed)
    random.shuffle(pairs)
    train, test = protocol.split(seed)
    assert (train, test) == (pairs[:4704], pairs[4704:])
