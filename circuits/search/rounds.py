"""Searches in rounds: prompts that refute a circuit found on a sample join it, and the search begins anew."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from circuits.circuit import Circuit
from circuits.clock import Clock
from circuits.search.problem import Problem
from circuits.search.stages import Searched, search
from circuits.templates import Place
from circuits.trace import Trace, extended

CHECKED = 4_096
"""Fresh prompts that a circuit found on a sample is checked on, at each scale."""
ADDED = 64
"""Fresh prompts on which a circuit is wrong that join the sample, at most, at each scale."""
MAX_ROUNDS = 8
"""Rounds of a search, at most."""

Bounds = Mapping[int, tuple[float, float]]
"""scale -> (lower, upper)."""


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """The result of all rounds together.

    Attributes:
        problem: with all prompts looked at in the last round.
        last: the last round.
        bounds: of all rounds, as far as later prompts leave them standing.
        hardest: the steps that the lower bounds of any round rest on; where one is stuck, that is the last.
    """

    problem: Problem
    last: Searched
    bounds: Bounds = field(default_factory=dict)
    hardest: tuple[Place, ...] = ()


def search_in_rounds(problem: Problem, clock: Clock) -> Rounds:
    """Searches until fresh prompts do not refute the circuit found, or for MAX_ROUNDS."""
    done = _next(Rounds(problem=problem, last=Searched()), clock, patient=False)
    for number in range(MAX_ROUNDS - 1):
        refuted = refuting(done.last, done.problem, number, clock)
        if not refuted:
            break
        # More prompts leave every lower bound standing, and the upper bounds of the scales before theirs.
        held = {n: (low, high if n < min(refuted) else math.inf) for n, (low, high) in done.bounds.items()}
        again = replace(done.problem, traces={**done.problem.traces, **refuted})
        done = _next(replace(done, problem=again, bounds=held), clock, patient=True)
    if done.last.stuck:
        done = replace(done, hardest=_joined(done.hardest, (done.last.stuck,)))
    return done


def _next(before: Rounds, clock: Clock, *, patient: bool) -> Rounds:
    """One round more."""
    found = search(before.problem, clock, patient=patient)
    held = dict(before.bounds)
    for scale, (low, high) in found.bounds.items():
        least, most = held.get(scale, (1, math.inf))
        held[scale] = max(least, low), min(most, high)
    return replace(before, last=found, bounds=held, hardest=_joined(before.hardest, found.hardest))


def _joined(places: tuple[Place, ...], more: tuple[Place, ...]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys((*places, *more)))


def refuting(found: Searched, problem: Problem, number: int, clock: Clock) -> dict[int, Trace]:
    """The sampled traces on whose fresh prompts the circuit found is wrong, with such prompts.

    Args:
        found: on the prompts of the problem.
        problem: whose traces are extended.
        number: of the round, for other fresh prompts each time.
        clock: no more traces are looked at once its limit has passed.
    """
    if found.circuit is None or found.stopped:
        return {}
    wrong: dict[int, Trace] = {}
    with clock.phase("check"):
        for scale, one in problem.traces.items():
            if not one.exhaustive and scale in found.circuit.wirings and not clock.over():
                again = _with_refuting(one, found.circuit, number, clock)
                if again:
                    wrong[scale] = again
    return wrong


def _with_refuting(one: Trace, circuit: Circuit, number: int, clock: Clock) -> Trace | None:
    """A sampled trace with fresh prompts on which the circuit is wrong; None if there are none among CHECKED."""
    rng = np.random.default_rng([one.scale, number])
    prompts = circuit.task.sample_prompts(one.scale, CHECKED, rng)
    fresh = extended(circuit.task, replace(one, tokens=one.tokens[:, :0]), prompts)
    clock.count(fresh.tokens.size)
    wrong = (circuit.evaluate(fresh) != fresh.tokens[one.prompt_length :]).any(axis=0)
    return extended(circuit.task, one, prompts[wrong][:ADDED]) if wrong.any() else None
