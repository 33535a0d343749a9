"""Does the search over difference sets pay, against trying every wiring?"""

import itertools
from dataclasses import replace

import numpy as np

from bench.measure import Comparison, compare
from circuits.tasks import load
from circuits.trace import Trace, trace
from circuits.wirings import determining_sets, keys_of


def search_against_enumeration() -> Comparison:
    """Which positions determine each output bit of parity at scale 8, at most two of them."""
    one = trace(load("parity"), 8)
    steps = list(one.steps)[1:-1]

    def searched() -> list[tuple[frozenset[int], ...]]:
        forgetful = replace(one, memory={})  # a trace remembers the answers
        return [determining_sets(forgetful, position, 2).sets for position in steps]

    return compare(
        "determining positions of parity's steps at scale 8",
        searched,
        "trying every pair",
        lambda: [_every_pair(one, position) for position in steps],
    )


def _every_pair(one: Trace, position: int) -> list[tuple[int, ...]]:
    found = []
    for pair in itertools.combinations(range(position - 1), 2):
        keys = keys_of(one.tokens[list(pair)], 256)
        with_output = keys * 256 + one.tokens[position - 1]
        if len(np.unique(keys)) == len(np.unique(with_output)):
            found.append(pair)
    return found
