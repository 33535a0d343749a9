"""Derived seeds: any change of what was frozen gives other seeds, and nothing else does."""

import hashlib

import pytest

from lengthgen.empirical.experiment.freeze import derived_seed, frozen_digest


def test_the_digest_is_that_of_sorted_json_without_spaces() -> None:
    expected = hashlib.sha256(b'{"a":[1,null,"\\u00e9"],"b":true}').hexdigest()
    assert frozen_digest({"b": True, "a": [1, None, "é"]}) == expected


def test_the_seed_is_63_bits_of_the_hash() -> None:
    content = hashlib.sha256(b'["00ff","copy/aligned/ipe",3]').digest()
    seed = derived_seed("00ff", "copy/aligned/ipe", 3)
    assert seed == int.from_bytes(content[:8], "big") // 2
    assert 0 <= seed < 2**63


def test_each_part_changes_the_seed() -> None:
    digests = [frozen_digest({"generalizes": answer}) for answer in (True, False)]
    seeds = {derived_seed(digest, cell, index) for digest in digests for cell in ("a", "b") for index in range(50)}
    assert len(seeds) == 200


@pytest.mark.parametrize("content", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_numbers_that_json_lacks_are_refused(content: object) -> None:
    with pytest.raises(ValueError):
        frozen_digest(content)
