"""Claims on encodings: figures that are quoted, drawn anew, and formulas between right and wrong."""

from collections.abc import Callable
from dataclasses import replace

import flint
import numpy as np
import pytest

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.papers import graph_alibi
from lengthgen.theory.encodings import grape, hope, paths
from lengthgen.theory.encodings.encoding import Encoding


def test_a_threshold_that_prunes_less_is_not_called_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """A threshold that prunes less keeps the bound, but is not the formula: the check does not decide."""
    right = paths.fox_pruning_threshold
    monkeypatch.setattr(paths, "fox_pruning_threshold", lambda **law: right(**law) - law["bound"])
    claim = registry.find("fox-9")
    with pytest.raises(Exception, match="no row found that loses more than eps"):
        claim.check(**claim.holds)


def test_the_share_of_gaussian_content_of_hope_is_met_by_drawing() -> None:
    """The standard error of the share among 10^6 pairs is 0.00044."""
    query, key = np.random.default_rng(0).normal(size=(2, 2, 10**6))
    margins = hope.falling_margins(query, key, rate=1.0, damping=1.1)
    assert abs(((margins[0] >= 0) & (margins[1] >= 0)).mean() - 0.269526) < 4 * 0.00044


def test_negative_type_by_coefficients_is_that_of_eigenvalues() -> None:
    """-d is conditionally positive definite if and only if centring leaves no negative eigenvalue."""
    draw = np.random.default_rng(0)
    answers: set[bool] = set()
    for _ in range(200):
        upper = np.triu(draw.integers(1, 4, size=(4, 4)), 1)
        distances, centring = upper + upper.T, np.eye(4) - 1 / 4
        semidefinite = bool(np.linalg.eigvalsh(centring @ -distances @ centring).min() > -1e-9)
        answers.add(semidefinite)
        if semidefinite:
            assert isinstance(graph_alibi.require_negative_type("", distances), flint.fmpz_poly)
        else:
            with pytest.raises(Refuted, match="on the vector of sum 0"):
                graph_alibi.require_negative_type("", distances)
    assert answers == {True, False}


def _key_turned_back(encoding: Encoding) -> Encoding:
    act = encoding.rotate
    assert act is not None
    return replace(encoding, rotate=lambda *at: (act(*at)[0], act(*at)[1].T))


def _without_bias(encoding: Encoding) -> Encoding:
    return replace(encoding, bias=None)


@pytest.mark.parametrize(
    ("record", "wrong", "claim_id"),
    [
        ("GRAPE", _key_turned_back, "grape-3"),
        ("COMMUTING", _key_turned_back, "grape-6"),
        ("CONTEXTUAL", _key_turned_back, "grape-contextual"),
        ("ADDITIVE", _without_bias, "grape-8"),
        ("GATED", _without_bias, "grape-17-features"),
        ("PATH", _without_bias, "grape-15"),
    ],
)
def test_a_wrong_record_of_grape_is_refuted(
    record: str, wrong: Callable[[Encoding], Encoding], claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grape, record, wrong(getattr(grape, record)))
    claim = registry.find(claim_id)
    with pytest.raises((Refuted, AttributeError), match=r"\d|no attribute 'function'"):
        claim.check(**claim.holds)
