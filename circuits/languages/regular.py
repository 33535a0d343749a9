"""Regular expressions, the minimal automata of their languages, and how much of a word the state of one depends on.

The grammar is that of the literature: symbols are ASCII letters and digits, `|` or `+` between alternatives, `*`,
parentheses, and `()` for the empty word.  automata-lib builds the automaton.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.once import once

LONGEST = 60
"""Largest number of characters of an expression; a longer one may need millions of states."""
PLACES = {symbol: symbol for symbol in "()*|"} | {"+": "|"}
"""Signs of an expression, as automata-lib writes them."""


class LanguageError(LengthgenError):
    """Error of a regular expression that cannot be read. The message is one line: what, where, how to mend it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Automaton(Brief):
    """Minimal deterministic automaton without its dead state: every state lies on a way to an accepting one.

    States are numbered 0, 1, .. in the order in which words reach them, shorter words first, then in the order of the
    symbols.  So equal languages over equal symbols have equal automata.

    Attributes:
        symbols: the alphabet, in alphabetical order.
        step: (state, symbol) -> state. A missing pair means that no word of the language continues so.
        accepting: states at which a word may end.
    """

    symbols: tuple[str, ...]
    step: Mapping[tuple[int, str], int]
    accepting: frozenset[int]

    @property
    def states(self) -> int:
        """Number of states; at least 1, since the start is always one of them."""
        return 1 + max(self.step.values(), default=0)

    @property
    def complete_states(self) -> int:
        """Number of states of the complete minimal automaton: one more if some word cannot be continued."""
        return self.states + (len(self.step) < self.states * len(self.symbols))

    def _brief(self) -> str:
        return f"{self.states} states over the symbols {' '.join(self.symbols)}"


@once
def minimal_automaton(expression: str) -> Automaton:
    """Return the minimal automaton of the language of a regular expression.

    Raises:
        LanguageError: the expression has more than LONGEST characters, a character outside the grammar, or parentheses
            or operators that do not fit together.
    """
    text = _translated(expression)
    automaton = DFA.from_nfa(NFA.from_regex(text), minify=True)
    return canonical(automaton)


def canonical(automaton: DFA) -> Automaton:
    """Return the automaton with its states numbered by breadth-first search, without a dead state."""
    symbols = tuple(sorted(automaton.input_symbols))
    live = _live(automaton)
    numbers = {automaton.initial_state: 0}
    queue, step = deque([automaton.initial_state]), {}
    while queue:
        state = queue.popleft()
        for symbol in symbols:
            following = automaton.transitions[state].get(symbol)
            if following in live:
                if following not in numbers:
                    numbers[following] = len(numbers)
                    queue.append(following)
                step[numbers[state], symbol] = numbers[following]
    accepting = frozenset(numbers[state] for state in automaton.final_states if state in numbers)
    return Automaton(symbols=symbols, step=step, accepting=accepting)


def _live(automaton: DFA) -> set[object]:
    """Return the states from which an accepting state can be reached."""
    live: set[object] = set(automaton.final_states)
    while True:
        more = {state for state, step in automaton.transitions.items() if live.intersection(step.values())} - live
        if not more:
            return live
        live |= more


def _translated(expression: str) -> str:
    """Return the expression as automata-lib reads it. Raise LanguageError as `minimal_automaton` does."""
    if len(expression) > LONGEST:
        raise LanguageError(f"a regular expression has at most {LONGEST} characters, not {len(expression)}")
    opened: list[int] = []
    written: list[str] = []
    before = "("  # a sign after which an alternative begins
    for place, character in enumerate(expression, start=1):
        if character.isspace():
            continue
        sign = PLACES.get(character, character)
        if not (character.isascii() and character.isalnum()) and character not in PLACES:
            raise _error(expression, place, f"{character!r} is no symbol", "write letters, digits, | or +, *, ( and )")
        if sign in "*|)" and before in "(|" and not (sign == ")" and before == "("):
            raise _error(expression, place, f"'{character}' follows nothing", "write () for the empty word")
        if sign == "*" and before == "*":
            continue  # a** is a*, which automata-lib does not read
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            if not opened:
                raise _error(expression, place, "')' closes nothing", "remove it or add '('")
            opened.pop()
        written.append(sign)
        before = "a" if sign == ")" else sign
    if opened:
        raise _error(expression, opened[-1], "'(' is never closed", "add ')'")
    if before in "(|":
        how = "write () for the empty word" if written else "write () for the language of the empty word"
        raise _error(expression, len(expression), "nothing follows the last sign", f"{how}; a+ is written aa*")
    return "".join(written)


def _error(expression: str, place: int, wrong: str, how: str) -> LanguageError:
    return LanguageError(f"regular expression '{expression}': {wrong} (character {place}): {how}")


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
