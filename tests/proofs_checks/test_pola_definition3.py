"""Readings of complexity against slow recounts: where rank misleads, and which profiles LRC has."""

import numpy as np

from lengthgen.proofs_checks import registry
from tests.oracles.pola import min_norm_map, pairs, relations

CLAIMS = {claim.id: claim for claim in registry.CLAIMS}


def test_rank_and_what_is_learned_disagree_both_ways() -> None:
    ends = np.diag([1.0, 0.0, 1.0])
    assert [np.linalg.matrix_rank(ends[:n, :n]) for n in (1, 3)] == [1, 2]
    learn, shown = min_norm_map((0, 1, 1, 1, 1, 0), 1, 3)
    assert np.allclose(learn @ ends[0, :1], [ends[pair] for pair in pairs(3)])
    assert shown == [0]
    row = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert [np.linalg.matrix_rank(row[:n, :n]) for n in (1, 3)] == [1, 1]
    for blocks in relations(6):
        assert not np.allclose(min_norm_map(blocks, 1, 3)[0] @ [1.0], [row[pair] for pair in pairs(3)])


def test_profiles_of_random_patterns_are_allowed() -> None:
    allowed = CLAIMS["pola-3-monotone"].holds["allowed"]
    rng = np.random.default_rng(4)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        pattern = rng.integers(0, int(rng.integers(1, 40)), (size, size))
        profile = tuple(len({int(pattern[i, j]) for i, j in pairs(n)} - {0}) for n in range(1, size + 1))
        assert allowed(profile)
    assert not allowed((2,))
    assert not allowed((1, 0))
    assert not allowed((1, 4))
