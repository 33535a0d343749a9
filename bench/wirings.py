"""Are the search over difference sets, and guesses from earlier steps, faster than what they spare?"""

import itertools
from dataclasses import replace

import numpy as np

from bench.measure import TimingComparison, compare
from lengthgen.circuits.determining import determining_sets
from lengthgen.circuits.src import minimal_arity
from lengthgen.circuits.tables import keys_of
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import Trace, trace


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


def guesses_against_sets() -> TimingComparison:
    """Minimal arity of addition with carries, base 2, over the scales to 24."""
    traces = [trace(load("addition-carry", base=2), scale) for scale in range(1, 25)]

    def without_memory() -> list[Trace]:
        return [replace(scale_trace, memory={}) for scale_trace in traces]

    return compare(
        "minimal arity of addition-carry over the scales to 24",
        lambda: minimal_arity(without_memory()),
        "searching the determining sets of every step",
        lambda: [
            determining_sets(scale_trace, position, 3)
            for scale_trace in without_memory()
            for position in scale_trace.steps
        ],
        rounds=3,
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
