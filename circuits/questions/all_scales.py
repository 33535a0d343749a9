"""SRC at all scales of a finite-state transducer, by a local circuit that is proved right at all of them ([F]).

SRC does not decrease in the scale, so its value r at one scale bounds it from below at all later scales. A local
circuit of r operators (`lengthgen.circuits.questions.local_circuit`) bounds it from above, and both together are its
value. Rules are searched for here: for each, the table of every wiring over all configurations that can be reached.

No output depends on later inputs. So a slot that reads one can read x_t as well, and rules for the last outputs alone
would save no operator.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.questions.local_circuit import (
    Configuration,
    Key,
    LocalCircuit,
    Place,
    Rule,
    Shape,
    TooManyError,
    check_proof,
    configurations,
)
from lengthgen.circuits.src import MAX_ARITY, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.transducer import EQUALS, Transducer

WINDOW = 3
"""Largest number of steps back from which a circuit that is searched for reads; fewer at large arity."""
MAX_WIRINGS = 10_000
"""Largest number of wirings of a rule that are searched, unless the window is 1."""
MAX_FIRST = 2
"""Largest number of first steps with rules of their own in a circuit that is searched for."""
MAX_PERIOD = 6
"""Largest period of a circuit that is searched for; it is not above the number of states either."""
MAX_TRIED = 20_000
"""Largest number of choices of a wiring and an operator that are tried for the rules of one shape."""


@dataclass(frozen=True, kw_only=True)
class AllScales:
    """SRC of a transducer's task at all scales.

    Attributes:
        arity: number of slots of every operator.
        values: scale -> SRC at the searched scales; math.inf if infeasible, None if it was not decided.
        constant_from: scale from which on SRC is `value` at all scales; None if that is not proved.
        value: SRC at all scales from `constant_from` on; math.inf if infeasible, None if it is not proved.
        upper: upper bound of SRC at all scales; math.inf if none is proved.
        circuit: circuit of `upper` operators that is right at all scales; None if there is none.
        why: reason for the value, or for its absence, as a sentence.
    """

    arity: int
    values: Mapping[int, float | None]
    constant_from: int | None
    value: float | None
    upper: float
    circuit: LocalCircuit | None
    why: str


def src_for_all_scales(
    machine: Transducer, arity: int | None = None, *, searched: int = 6, clock: Clock | None = None
) -> AllScales:
    """Return SRC of a machine's task, proved for all scales if a local circuit attains the value at the last one.

    The lower bound is that of `lengthgen.circuits.src` at scale `searched`, or at the last scale before the clock's
    limit. The upper bound is a local circuit that `check_proof` accepts. Its rules are searched for apart from the
    circuit that `lengthgen.circuits.src` gives, because minimum circuits are not unique, and that one need not be
    local. By default the arity is the least with which the scales up to `searched` are feasible.

    Raises:
        ValueError: the arity is not positive.
        TaskError: the scale is below 1, no arity is given and more than lengthgen.circuits.src.MAX_ARITY slots are
            needed, or operators of this arity have too many entries.
        Interrupted: Ctrl-C in the search (`lengthgen.circuits.src`).
    """
    task, clock = machine.task(), clock or Clock()
    traces = traces_up_to(task, searched, clock)
    if arity is None:
        arity = minimal_arity(traces)
    if arity is None:
        raise TaskError(f"machine '{machine.name}': scale {len(traces)} needs an arity above {MAX_ARITY}; name one")
    result = src(task, traces, arity, clock=clock)
    last = len(traces)
    lower = result.bounds[last][0]
    values = {scale: value if scale <= result.exhaustive_to else None for scale, value in result.values.items()}
    circuit, upper = None, math.inf
    if math.isinf(lower):
        scale, position = result.hardest[-1]
        why = f"no {arity} earlier positions determine the token at position {position} of scale {scale}"
    else:
        try:
            with clock.phase("proof"):
                proposed = _fewest(machine, arity, int(lower), clock)
                check_proof(machine, proposed)
            circuit, upper = proposed, len(proposed.operators)
            assert lower <= upper, f"'{machine.name}': a circuit has fewer operators than the lower bound {lower}"
            why = f"SRC is at least {lower:.0f} at scale {last}, and a circuit is right at all scales: {circuit.text()}"
        except _NoWiringError as refusal:
            why = f"the search finds no local circuit: {refusal}"
        except (TooManyError, OutOfTime) as limit:
            why = f"the proof ended early: {limit}"
    if lower < upper < math.inf:
        why = f"SRC is at least {lower:.0f} and at most {upper:.0f} from scale {last} on: search larger scales"
    reached = [scale for scale, (low, _) in result.bounds.items() if low == upper]
    return AllScales(
        arity=arity,
        values={scale: upper if scale in reached else value for scale, value in values.items()},
        constant_from=reached[0] if reached else None,
        value=upper if reached else None,
        upper=upper,
        circuit=circuit,
        why=why,
    )


_Choice = tuple[tuple[Place, ...], Mapping[Key, str]]
"""Wiring of a rule, and its table over all configurations of the rule."""


class _NoWiringError(Exception):
    """Error of a shape of which some rule has no wiring; the message names two configurations that show it."""


def _fewest(machine: Transducer, arity: int, least: int, clock: Clock) -> LocalCircuit:
    """Return a local circuit that is right at all scales, with as few operators as the search finds.

    Small windows come first, then small shapes. `least` is a lower bound of their number.

    Raises:
        _NoWiringError: every shape has a rule without a wiring.
        TooManyError: there are too many configurations.
    """
    windows = [back for back in range(1, WINDOW + 1) if back == 1 or (2 * back + 2) ** arity <= MAX_WIRINGS]
    periods = range(1, min(MAX_PERIOD, len(machine.states)) + 1)
    counts = itertools.product(range(MAX_FIRST + 1), periods)
    shapes = sorted(itertools.starmap(Shape, counts), key=lambda shape: (sum(shape), shape.period))
    feasible: list[tuple[Shape, list[list[_Choice]]]] = []
    refusal: Exception | None = None
    for window, shape in itertools.product(windows, shapes):
        try:
            choices = _choices(machine, shape, arity, window, clock)
        except _NoWiringError as error:
            refusal = error
            continue
        except TooManyError as error:
            refusal = error
            break  # later ones hardly have fewer
        circuit = _assigned(choices, shape, arity, least, clock)
        if circuit is not None:
            return circuit
        feasible.append((shape, choices))
    if not feasible:
        assert refusal is not None
        raise refusal
    for most in range(least + 1, max(shape.end for shape, _ in feasible) + 2):
        for shape, choices in feasible:
            circuit = _assigned(choices, shape, arity, most, clock)
            if circuit is not None:
                return circuit
    raise AssertionError("an operator for each rule is enough")


def _choices(machine: Transducer, shape: Shape, arity: int, window: int, clock: Clock) -> list[list[_Choice]]:
    """Return the wirings of each rule of a shape with distinct tables, wirings of near places first.

    Raises:
        _NoWiringError: some rule has none.
        TooManyError: there are too many configurations.
    """
    places = [Place("x", 0), Place("y", 1), Place(EQUALS, 0)]
    for back in range(1, window + 1):
        places += [Place("x", back), Place("y", back + 1)][: 1 + (back < window)]
    views: list[dict[Key, Configuration]] = [{} for _ in range(shape.end + 1)]
    widest = [*itertools.combinations(range(len(places)), min(arity, len(places)))]
    # Rule -> the widest sets of places that determine its token so far, each with the first view of each key.
    determining: list[dict[tuple[int, ...], dict[Key, Key]]] = [{each: {} for each in widest} for _ in views]
    for configuration in configurations(machine, shape, (window, window)):
        rule = configuration.rule
        view = (*map(configuration.token, places), configuration.output(machine))
        clock.check(len(determining[rule]))
        if view in views[rule]:
            continue
        views[rule][view] = configuration
        for subset, first in [*determining[rule].items()]:
            earlier = first.setdefault(tuple([view[slot] for slot in subset]), view)
            if earlier[-1] == view[-1]:
                continue
            del determining[rule][subset]
            if not determining[rule]:
                raise _NoWiringError(
                    f"at {shape.text(rule)} no {arity} places up to {window} steps back determine the token: through "
                    f"{', '.join(str(places[slot]) for slot in subset)} it is {earlier[-1]} in "
                    f"{views[rule][earlier]}, and {view[-1]} in {configuration}"
                )
    slots = sorted(itertools.product(range(len(places)), repeat=arity), key=lambda wiring: (sum(wiring), wiring))
    choices = []
    for rule_views, determining_sets in zip(views, determining, strict=True):
        by_table: dict[frozenset[tuple[Key, str]], _Choice] = {}
        for wiring in slots:
            if any(map(set(wiring).issubset, determining_sets)):
                clock.check(len(rule_views))
                entries = [*dict.fromkeys((tuple([view[slot] for slot in wiring]), view[-1]) for view in rule_views)]
                if len(table := dict(entries)) == len(entries):
                    choice = tuple(places[slot] for slot in wiring), table
                    by_table.setdefault(frozenset(entries), choice)
        choices.append([*by_table.values()])
    return choices


def _assigned(choices: list[list[_Choice]], shape: Shape, arity: int, most: int, clock: Clock) -> LocalCircuit | None:
    """Return a circuit of at most `most` operators, with one of its choices for each rule.

    None if there is none, or if none is among MAX_TRIED choices.
    """
    order = sorted(range(len(choices)), key=lambda rule: len(choices[rule]))
    tried = 0

    def completed(operators: list[dict[Key, str]], rules: dict[int, Rule]) -> LocalCircuit | None:
        nonlocal tried
        if len(rules) == len(order):
            return LocalCircuit(
                arity=arity,
                first=tuple(rules[rule] for rule in range(shape.first)),
                repeated=tuple(rules[rule] for rule in range(shape.first, shape.end)),
                end=rules[shape.end],
                operators=tuple(operators),
            )
        rule = order[len(rules)]
        for places, table in choices[rule]:
            for index, operator in enumerate([*operators, {}][:most]):
                tried += 1
                if tried > MAX_TRIED:
                    return None
                clock.check(len(table))
                if all(operator.get(key, token) == token for key, token in table.items()):
                    merged = [*operators[:index], {**operator, **table}, *operators[index + 1 :]]
                    circuit = completed(merged, {**rules, rule: Rule(places, index)})
                    if circuit is not None:
                        return circuit
        return None

    return completed([], {})
