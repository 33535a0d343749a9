"""The claims on text-based modular addition: counterexamples, figures, and the split of the released script."""

import random

import pytest

from lengthgen.empirical.studies.modular_addition import texts as pairs
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.papers import modular


def test_a_label_that_is_not_the_sum_has_another_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = registry.find("mod-2")
    monkeypatch.setattr(pairs, "label", lambda pair, modulus: pair[0])
    with pytest.raises(Refuted, match=r"not 36\.70 %"):
        claim.check(**claim.holds)


@pytest.mark.parametrize("seed", modular.SEEDS)
def test_the_split_is_that_of_python_s_random_with_the_seed(seed: int) -> None:
    shuffled = [(a, b) for a in range(97) for b in range(97)]
    random.seed(seed)
    random.shuffle(shuffled)
    train, test = modular.split(seed)
    assert (train, test) == (shuffled[:4704], shuffled[4704:])
