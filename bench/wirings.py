"""Is the search over difference sets faster than trying every wiring?"""

import itertools
from dataclasses import replace

import numpy as np

from bench.measure import TimingComparison, compare
from circuits.tasks import load
from circuits.trace import Trace, trace
from circuits.wirings import determining_sets, keys_of


def search_against_enumeration() -> TimingComparison:
    """Positions, at most two, that determine each output bit of parity at scale 8."""
    parity_trace = trace(load("parity"), 8)
    steps = list(parity_trace.steps)[1:-1]

    def searched() -> list[tuple[frozenset[int], ...]]:
        without_memory = replace(parity_trace, memory={})  # a trace caches its answers
        return [determining_sets(without_memory, position, 2).sets for position in steps]

    return compare(
        "determining positions of parity's steps at scale 8",
        searched,
        "trying every pair",
        lambda: [_every_pair(parity_trace, position) for position in steps],
    )


def _every_pair(trace_: Trace, position: int) -> list[tuple[int, ...]]:
    """Pairs of earlier positions that determine the token at this position."""
    pairs = []
    for pair in itertools.combinations(range(position - 1), 2):
        keys = keys_of(trace_.tokens[list(pair)], 256)
        with_output = keys * 256 + trace_.tokens[position - 1]
        if len(np.unique(keys)) == len(np.unique(with_output)):
            pairs.append(pair)
    return pairs
