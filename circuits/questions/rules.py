"""Rules of a periodic circuit, read off at steps far from the start ([F]).

Operators that serve all steps of a transducer's task are known, and the ways to compute each step. At a late step what
is read stands in two groups: near the start, or near the step. The first is read at fixed places, the second so many
steps back, and the rules of the steps after it are the same, in turn. Nothing is proved here; `check_proof` does that.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from lengthgen.circuits.questions.periodic_circuit import Key, PeriodicCircuit, Phase, Place, Rule
from lengthgen.circuits.questions.views import EQUALS_SOURCE, Source, Steps, nearest_first
from lengthgen.circuits.tables import Table, entries
from lengthgen.circuits.tasks.transducer import EQUALS

NEAR = (1, 2, 4, 8, 16)
"""Sums of distances of arguments that are tried before all arguments are allowed."""


def read_off(steps: Steps, operators: Sequence[Table], start: int, period: int) -> PeriodicCircuit | None:
    """Return a circuit with the rules of steps from `start` on, which may repeat after `period` steps or fewer.

    None if they do not repeat so. The steps are extended as far as that needs.
    """
    steps.extend(max(0, start + 2 * period - len(steps.layers)))
    later = {t: _phase(steps, operators, t, fixed=True) for t in range(start, start + period)}
    best: tuple[int, int] | None = None
    for repeat in (each for each in range(1, period + 1) if period % each == 0):
        repeated = {t % repeat: later[t] for t in range(start, start + repeat)}
        if not all(_serves(steps, operators, repeated[t % repeat], t) for t in range(start, start + 2 * period)):
            continue
        first = start - 1
        while first and _serves(steps, operators, repeated[first % repeat], first):
            first -= 1
        first = max(first, *map(_last_fixed, repeated.values()))
        if best is None or first + repeat < sum(best):
            best = first, repeat
    if best is None:
        return None
    first, repeat = best
    phases = [_phase(steps, operators, t, fixed=False) for t in range(1, first + 1)]
    phases += [later[start + (t - start) % repeat] for t in range(first + 1, first + 1 + repeat)]
    return _in_order(phases, first, [_as_mapping(operator, steps) for operator in operators], steps.arity)


def _phase(steps: Steps, operators: Sequence[Table], t: int, *, fixed: bool) -> Phase:
    """Return the rules of the nearest ways to compute step t, and '$' in its place, with the operators.

    If `fixed`, what stands before the longest gap between the places is read at fixed places. No scale has '$' as its
    first step.
    """
    rules = []
    for step, end in ((t, False), (max(t, 2), True)):
        arguments, operator = _nearest(steps, operators, step, end=end)
        rules.append(Rule(_places(arguments, step, fixed=fixed), operator))
    return Phase(*rules)


def _nearest(steps: Steps, operators: Sequence[Table], t: int, *, end: bool) -> tuple[tuple[Source, ...], int]:
    """Return the nearest arguments through which an operator computes step t, and its index."""
    for within in (*NEAR, None):
        ways = steps.ways(t, end=end, within=within)
        for table in sorted(ways, key=lambda each: nearest_first(ways[each])):
            for index, operator in enumerate(operators):
                if table & operator == table:
                    return ways[table].arguments, index
    raise AssertionError(f"no operator serves step {t}")


def _serves(steps: Steps, operators: Sequence[Table], phase: Phase, t: int) -> bool:
    """True if the rules of a phase compute step t, and '$' in its place, with the operators."""
    for rule, end in ((phase.step, False), (phase.end, True))[: 1 + (t > 1)]:
        arguments = tuple([_source(place, t) for place in rule.places])
        if any(at > t - (end or kind == "y") for kind, at in arguments):
            return False  # a fixed place that does not exist yet
        table = steps.table(arguments, t, end=end)
        if table is None or table & operators[rule.operator] != table:
            return False
    return True


def _as_mapping(operator: Table, steps: Steps) -> dict[Key, str]:
    """Return an operator as a mapping from tokens."""
    alphabet = steps.machine.alphabet
    keys, values = entries(operator, len(alphabet))
    digits = np.unravel_index(keys, (len(alphabet),) * steps.arity)
    tokens = (tuple([alphabet[digit] for digit in key]) for key in zip(*(row.tolist() for row in digits), strict=True))
    return {key: alphabet[value] for key, value in zip(tokens, values.tolist(), strict=True)}


def _source(place: Place, t: int) -> Source:
    """Return where a place is at step t; '=' if it is before the start."""
    at = t - place.back if place.at is None else place.at
    return (place.kind, at) if place.kind != EQUALS and at > 0 else EQUALS_SOURCE


def _places(arguments: Sequence[Source], t: int, *, fixed: bool) -> tuple[Place, ...]:
    """Return the arguments of step t as places; if `fixed`, those before the longest gap are fixed."""
    steps = sorted({0, t, *(at for _, at in arguments)})
    gap = max(range(len(steps) - 1), key=lambda index: steps[index + 1] - steps[index])
    return tuple(
        [
            Place(EQUALS)
            if kind == EQUALS
            else Place(kind, at=at)
            if fixed and at <= steps[gap]
            else Place(kind, back=t - at)
            for kind, at in arguments
        ]
    )


def _last_fixed(phase: Phase) -> int:
    """Return the number of first steps that need phases of their own, since fixed places are not there before."""
    fixed = [(rule, place) for rule in phase for place in rule.places if place.at is not None]
    return max((place.at - (rule is phase.step and place.kind == "x") for rule, place in fixed if place.at), default=0)


def _in_order(phases: Sequence[Phase], first: int, tables: Sequence[Mapping[Key, str]], arity: int) -> PeriodicCircuit:
    """Return the circuit of some phases, with the slots of each operator in the order of what its first step reads."""
    ends = [phase.end for phase in phases]
    used = list(dict.fromkeys(rule.operator for rule in (*(phase.step for phase in phases), *ends)))
    rules = [*(phase.step for phase in (*phases[first:], *phases)), *ends]
    orders = {}
    for operator in used:
        places = next(rule.places for rule in rules if rule.operator == operator)
        orders[operator] = sorted(range(arity), key=[*map(_slot_order, places)].__getitem__)

    def reordered(rule: Rule) -> Rule:
        return Rule(tuple([rule.places[slot] for slot in orders[rule.operator]]), used.index(rule.operator))

    new = [Phase(*map(reordered, phase)) for phase in phases]
    operators = (
        {tuple([key[slot] for slot in orders[operator]]): token for key, token in tables[operator].items()}
        for operator in used
    )
    return PeriodicCircuit(
        arity=arity, first=tuple(new[:first]), repeated=tuple(new[first:]), operators=tuple(operators)
    )


def _slot_order(place: Place) -> tuple[int, bool, int]:
    """Return a key that sorts inputs before outputs and '=', and places near the step before fixed ones."""
    return "xy=".index(place.kind), place.at is not None, place.back if place.at is None else place.at
