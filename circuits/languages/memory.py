"""Memory of an automaton: how much of a word its state depends on, the last letters or the last one alone."""

from lengthgen.circuits.languages.regular import Automaton


def definiteness(automaton: Automaton) -> int | None:
    """Return the least k so that the last k letters of a word decide the state; None if no number does.

    A language with such a k is definite (Perles, Rabin, Shamir 1963). Words of fewer letters may end in other states.
    """
    possible = {frozenset(range(automaton.states))}
    # Two states that k letters do not merge lead from pair to pair without repetition.
    for letters in range(automaton.states**2):
        if all(len(states) <= 1 for states in possible):
            return letters
        possible = {
            frozenset(automaton.step[state, letter] for state in states if (state, letter) in automaton.step)
            for states in possible
            for letter in automaton.symbols
        }
    return None


def own_letter_decides(automaton: Automaton, first: int, last: int) -> bool:
    """True if each state after the letters first, ..., last of a word (from 1) is decided by the letter before it."""
    reached, after = {0}, dict[str, set[int]]()
    for place in range(1, last + 1):
        steps = [(letter, state) for (origin, letter), state in automaton.step.items() if origin in reached]
        reached = {state for _, state in steps}
        for letter, state in steps if place >= first else []:
            after.setdefault(letter, set()).add(state)
    return all(len(states) == 1 for states in after.values())
