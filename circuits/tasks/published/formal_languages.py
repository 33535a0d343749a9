"""Formal languages of published experiments on length generalization (arXiv 2410.02140, section 5 and appendix).

Regular languages are given by their expressions. Those that need counters (after Bhattamishra et al., arXiv 2009.11264)
are tasks as in `next_symbols`: a prefix of a word with the set of symbols that may follow.

The tests check the expressions against the definitions in words.

Traps: the public program of the paper labels two languages otherwise (github lacoco-lab/length_generalization,
`formal_lang_suite/generators`, read on 24 November 2026).  For Tomita 3 it takes the state after an odd run of zeros
for a dead one, so it forbids 0 after an odd run of ones, and after an even run of zeros behind it.  For 012 it lets a
word end only after a 2.  The paper's numbers for these two differ from those of arXiv 2602.08857; this may be why.
"""

from collections.abc import Mapping
from itertools import product

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.published.next_symbols import Prefixes, prefix_task, set_token


def bounded_depth(depth: int) -> str:
    """Return the expression of D_n, the words of balanced a and b at most n deep: D_n = (a D_(n-1) b)*, D_1 = (ab)*."""
    expression = "(ab)*"
    for _ in range(depth - 1):
        expression = f"(a{expression}b)*"
    return expression


LANGUAGES: Mapping[str, tuple[str, str]] = {
    "tomita1": ("1*", "words of ones"),
    "tomita2": ("(10)*", "repetitions of 10"),
    "tomita3": (
        "(0+1(00(00)*1)*1)*(()+1(00(00)*1)*(00)*)",
        "binary words in which no odd run of ones is followed by an odd run of zeros",
    ),
    "tomita4": ("(1+01+001)*(()+0+00)", "binary words without 000"),
    "tomita5": ("(00+11+(01+10)(00+11)*(01+10))*", "binary words with an even number of zeros and of ones"),
    "tomita6": ("(10+(0+11)(01)*(1+00))*", "binary words whose numbers of zeros and ones are equal modulo 3"),
    "tomita7": ("0*1*0*1*", "binary words of at most four runs, the first of zeros"),
    "d-2": (bounded_depth(2), "balanced brackets a and b at most 2 deep"),
    "d-3": (bounded_depth(3), "balanced brackets a and b at most 3 deep"),
    "d-4": (bounded_depth(4), "balanced brackets a and b at most 4 deep"),
    "d-12": (bounded_depth(12), "balanced brackets a and b at most 12 deep"),
    "aabbccddee": ("aa*bb*cc*dd*ee*", "runs of a, b, c, d and e, one after the other"),
    "adbc": ("(a+b)*d(b+c)*", "words over a and b, then d, then a word over b and c"),
    "012": ("(0+1+2)*02*", "words over 0, 1 and 2 in which a 0 comes after the last 1, if any"),
    "(aa)*": ("(aa)*", "words of a of even length"),
    "(aaaa)*": ("(aaaa)*", "words of a whose length is a multiple of 4"),
    "(abab)*": ("(abab)*", "repetitions of abab"),
}
"""Name -> regular expression and words of the language."""


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
