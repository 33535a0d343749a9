"""Membership of a regular language in C-RASP[periodic, local], the class of arXiv 2410.02140 for learned positions.

C-RASP[periodic, local] may also ask for a position modulo a number, and for the symbols at a fixed distance before a
position. No decision is published (arXiv 2608.13433, appendix A, question 5). So this one gives up at times. Each of
its two answers has a proof ([F], both on Lemma 84 of arXiv 2608.13433):

Yes: rewrite each word, so that a symbol also tells the position modulo m and the k symbols before. C-RASP[periodic,
local] can read such symbols. So if the rewritten language is in C-RASP, the language is in C-RASP[periodic, local].

No: words of one length s act on the states; take s such that words of length 2 s act in the same ways. Let u be such
a word that acts as an idempotent e. Replace each symbol of some alphabet by u..u v u..u, where v has length s too and
depends on the symbol. All these words have one length, which may be a multiple of any m, and start and end alike for
any k symbols. So positions modulo m and nearby symbols tell nothing new about them. If C-RASP cannot follow the states
of the images of e over these symbols, then C-RASP[periodic, local] cannot recognize the language.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping

import networkx as nx

from lengthgen.circuits.languages.regular import Automaton
from lengthgen.empirical.studies.theories.c_rasp import MAX_STATES, Decision, Label, decide, final_potentials

WINDOWS = range(4)
"""Numbers of symbols before a position that a rewritten symbol tells."""
MAX_ACTIONS = 500
"""Largest number of actions of words of one length; more are not searched for a proof of "no"."""
MAX_LENGTH = 200
"""Largest length 2 s of the words whose actions are compared."""
MAX_SYMBOLS = 100
"""Largest number of symbols u..u v u..u that are distinguished."""

Action = tuple[int, ...]
"""Action of a word on the states: entry q is the state that the word leads to from q, DEAD if it cannot be read."""
DEAD = -1


def decide_with_positions(automaton: Automaton) -> Decision:
    """Decide if the language of a minimal automaton is in C-RASP[periodic, local]; None if no proof was found."""
    plain = decide(automaton)
    if plain.c_rasp:
        return plain
    if confused := confused_states(automaton):
        first, second = confused
        why = f"no count tells state {first} of the minimal automaton from state {second} after symbols that are far"
        return Decision(c_rasp=False, why=f"{why} apart, at positions with the same remainder")
    sizes = itertools.product(WINDOWS, range(1, 2 * automaton.states + 1))
    for window, modulus in sorted(sizes, key=lambda size: (size[0] + size[1], size)):
        rewritten = with_positions(automaton, window=window, modulus=modulus)
        if rewritten is not None and decide(rewritten).c_rasp:
            seen = [f"the position modulo {modulus}"] * (modulus > 1) + [
                f"the last {window} symbol{'s' * (window > 1)}"
            ] * (window > 0)
            return Decision(
                c_rasp=True, why=f"counts tell the states apart if each symbol also has {' and '.join(seen)}"
            )
    return Decision(
        c_rasp=None, why="neither a program with periods and nearby symbols nor a proof against one was found"
    )


def with_positions(automaton: Automaton, *, window: int, modulus: int) -> Automaton | None:
    """Return the automaton of the rewritten words: a symbol also tells the symbols before it and its position.

    None if it has more than `c_rasp.MAX_STATES` states.
    """
    start = (0, "", 0)
    numbers = {start: 0}
    queue, step = [start], {}
    for state, before, phase in queue:
        for symbol in automaton.symbols:
            following = automaton.step.get((state, symbol))
            if following is None:
                continue
            after = (following, (before + symbol)[-window:] if window else "", (phase + 1) % modulus)
            if after not in numbers:
                numbers[after] = len(numbers)
                queue.append(after)
                if len(numbers) > MAX_STATES:
                    return None
            step[numbers[state, before, phase], f"{symbol} after {before} at {phase}"] = numbers[after]
    accepting = frozenset(number for (state, _, _), number in numbers.items() if state in automaton.accepting)
    return Automaton(symbols=tuple(sorted({symbol for _, symbol in step})), step=step, accepting=accepting)


def confused_states(automaton: Automaton) -> tuple[int, int] | None:
    """Return two states that prove that the language is not in C-RASP[periodic, local]; None if none were found."""
    actions = stable_actions(automaton)
    return None if actions is None else confused_by(actions)


def confused_by(actions: frozenset[Action]) -> tuple[int, int] | None:
    """Return two states that C-RASP confuses over words that act like these and begin and end alike; None if none."""
    for idempotent in sorted(action for action in actions if _then(action, action) == action):
        symbols = {_then(_then(idempotent, action), idempotent) for action in actions}
        if len(symbols) <= MAX_SYMBOLS and (pair := _confused(set(idempotent) - {DEAD}, symbols)):
            return pair
    return None


def stable_actions(automaton: Automaton) -> frozenset[Action] | None:
    """Return the actions of the words of length s, for the least s such that words of length 2 s have the same ones.

    None if words of one length have more than MAX_ACTIONS, or if 2 s is above MAX_LENGTH.
    """
    letters = frozenset(
        tuple(automaton.step.get((state, symbol), DEAD) for state in range(automaton.states))
        for symbol in automaton.symbols
    )
    by_length = [letters]  # entry i: words of length i + 1
    if not letters:
        return letters
    for length in range(2, MAX_LENGTH + 1):
        longer = frozenset(_then(action, letter) for action in by_length[-1] for letter in letters)
        if len(longer) > MAX_ACTIONS:
            return None
        by_length.append(longer)
        if length % 2 == 0 and by_length[length // 2 - 1] == longer:
            return longer
    return None


def _then(first: Action, second: Action) -> Action:
    """Return the action of a word after another one."""
    return tuple(DEAD if state == DEAD else second[state] for state in first)


def _confused(states: set[int], symbols: Iterable[Action]) -> tuple[int, int] | None:
    """Return two states of one cycle that no balanced count of the symbols tells apart."""
    step: Mapping[tuple[int, str], int] = {
        (state, str(number)): action[state]
        for number, action in enumerate(sorted(symbols))
        for state in states
        if action[state] != DEAD
    }
    graph = nx.DiGraph((state, following) for (state, _), following in step.items())
    for component in sorted(map(sorted, nx.strongly_connected_components(graph))):
        groups: defaultdict[Label, list[int]] = defaultdict(list)
        for state, potential in final_potentials(component, step).items():
            groups[potential].append(state)
        for together in groups.values():
            if len(together) > 1:
                return together[0], together[1]
    return None
