"""Options have the values of the papers and their released code, unless a user names others."""

import numpy as np
import pytest

from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.catalogue import ENCODINGS

DEFAULTS = {
    "clipped": {"limit": 8},
    "t5": {"buckets": 32, "longest": 128},
    "t5-bidirectional": {"buckets": 32, "longest": 128},
    "fire": {"rate": 0.1, "threshold": 512.0},
    "rope": {"base": 10000.0, "layout": "interleaved"},
    "xpos": {"base": 10000.0, "layout": "interleaved", "scale_base": 512.0},
    "yarn": {"ramp": "paper", "alpha": 1.0, "beta": 32.0},
    "hope": {"damping": 1.1, "learned": True},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_defaults_are_those_of_the_paper_or_its_code(name: str) -> None:
    options = ENCODINGS[name].options
    assert {option: options[option].default for option in DEFAULTS[name]} == DEFAULTS[name]


@pytest.mark.parametrize("threshold", [1, 3, 7])
def test_fire_tells_pairs_apart_by_their_fraction(threshold: int) -> None:
    """Up to the threshold the fraction depends on the distance alone, beyond it on the pair; 0 is always 0."""
    scale = 12
    labels = biases.fire_relation(threshold).labels(scale, scale)
    label_of: dict[object, int] = {}
    for query in range(1, scale + 1):
        for key in range(1, query + 1):
            # psi(D) / psi(max(j, L)) with an injective psi: equal only for equal D and max(j, L), or D = 0
            fraction = (query - key, max(query, threshold)) if query > key else 0
            label = int(labels[key - 1, query - 1])
            assert label_of.setdefault(fraction, label) == label
    assert len(set(label_of.values())) == len(label_of) == len(np.unique(labels[np.triu_indices(scale)]))
