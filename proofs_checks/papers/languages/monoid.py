"""Syntactic monoid of a regular language, and the classes of languages that it decides."""

import networkx as nx

from lengthgen.circuits.languages.regular import Automaton

Element = tuple[int, ...]
"""Action of a word on the states of a complete automaton."""


def actions(automaton: Automaton) -> frozenset[Element]:
    """Return the syntactic monoid of the language: the actions of all words on the complete minimal automaton."""
    states = automaton.states + 1  # the last one is dead
    letters = [
        tuple(automaton.step.get((state, symbol), states - 1) for state in range(states))
        for symbol in automaton.symbols
    ]
    monoid = {tuple(range(states))}
    queue = list(monoid)
    for element in queue:
        for letter in letters:
            longer = then(element, letter)
            if longer not in monoid:
                monoid.add(longer)
                queue.append(longer)
    return frozenset(monoid)


def then(first: Element, second: Element) -> Element:
    """Return the action of a word after another one."""
    return tuple(second[state] for state in first)


def omega(element: Element) -> Element:
    """Return the idempotent power of an element."""
    power = element
    while then(power, power) != power:
        power = then(power, element)
    return power


def r_trivial(automaton: Automaton) -> bool:
    """True if every R-class of the syntactic monoid is a single element: x y z = x implies x y = x."""
    monoid = actions(automaton)
    reached = nx.DiGraph((x, then(x, y)) for x in monoid for y in monoid)
    return all(len(component) == 1 for component in nx.strongly_connected_components(reached))


def r_omega(automaton: Automaton) -> bool:
    """True if (x y^w)^w x = (x y^w)^w for all x, y of the syntactic monoid (arXiv 2608.13433, Definition 12)."""
    monoid = actions(automaton)
    idempotents = {omega(y) for y in monoid}
    powers = ((omega(then(x, e)), x) for x in monoid for e in idempotents)
    return all(then(power, x) == power for power, x in powers)


def aperiodic(automaton: Automaton) -> bool:
    """True if x^w x = x^w for all x of the syntactic monoid: the language is star-free."""
    return all(then(omega(x), x) == omega(x) for x in actions(automaton))
