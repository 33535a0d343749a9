"""Languages that need counters, as next-symbol tasks (arXiv 2410.02140, after Bhattamishra et al., arXiv 2009.11264).

An instance is a prefix of a word with the set of symbols that may follow, as in `next_symbols`.
"""

from itertools import product

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.published.next_symbols import prefix_task, set_token
from lengthgen.circuits.tasks.published.prefixes import Prefixes

OPERANDS = {"0": 0, "1": 0, "~": 1, "+": 2, ">": 3, "*": 4, "^": 5}
"""Symbol of a boolean expression -> number of its operands; the symbols of 4 and 5 operands are ours."""


def equal_runs(letters: str) -> Task:
    """`w1 .. wn S` for the words a..ab..b.. with a run of each letter, all equally long and not empty."""

    def step(state: tuple[int, int, int], symbol: str) -> tuple[int, int, int] | None:
        run, first, done = state  # place of the letter, length of the first run, symbols read of this run
        if symbol == letters[run]:
            if run == 0:
                return 0, first + 1, done + 1
            return (run, first, done + 1) if done < first else None
        next_run = done == first > 0 and letters[run + 1 :].startswith(symbol)
        return (run + 1, first, 1) if next_run else None

    last = len(letters) - 1
    prefixes = Prefixes(
        symbols=tuple(letters),
        start=(0, 0, 0),
        step=step,
        ends=lambda state: state[0] == last and state[1] == state[2],
    )
    answers = (set_token(letters[:2]), *(set_token(symbol) for symbol in (*letters[1:], "$")))
    return prefix_task(prefixes, answers, f"published-{''.join(f'{letter}n' for letter in letters)}")


def shuffled_brackets(pairs: tuple[tuple[str, str], ...], name: str) -> Task:
    """`w1 .. wn S` for the words that are balanced in each kind of brackets, whatever the other kinds do."""

    def step(depths: tuple[int, ...], symbol: str) -> tuple[int, ...] | None:
        changed = tuple(
            depth + (symbol == pair[0]) - (symbol == pair[1]) for depth, pair in zip(depths, pairs, strict=True)
        )
        return changed if min(changed) >= 0 else None

    prefixes = Prefixes(
        symbols=tuple(symbol for pair in pairs for symbol in pair),
        start=(0,) * len(pairs),
        step=step,
        ends=lambda depths: not any(depths),
    )
    openings = {opening for opening, _ in pairs}
    closings = [
        {pair[1] for pair, is_open in zip(pairs, opened, strict=True) if is_open}
        for opened in product((False, True), repeat=len(pairs))
    ]
    answers = tuple(set_token(openings | (each or {"$"})) for each in closings)
    return prefix_task(prefixes, answers, name)


def boolean_expressions(most_operands: int) -> Task:
    """`w1 .. wn S` for boolean expressions in prefix notation with operators of 1 to `most_operands` operands.

    Any symbol may follow while an operand is missing, and none after the last one: "~" and "+01" are followed by all
    symbols and by the end.
    """
    symbols = tuple(symbol for symbol, operands in OPERANDS.items() if operands <= most_operands)
    prefixes = Prefixes(
        symbols=symbols,
        start=1,
        step=lambda missing, symbol: missing - 1 + OPERANDS[symbol] if missing else None,
        ends=lambda missing: missing == 0,
    )
    return prefix_task(prefixes, (set_token(symbols), "{$}"), f"published-bool{most_operands}")
