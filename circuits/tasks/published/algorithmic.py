"""Algorithmic tasks of arXiv 2410.02140 and 2602.08857, binary addition and counting too, as their programs write them.

The model reads a start symbol, which is left out here, the word and a separator ('='), and writes the answer and an end
symbol ('$').  The scale is the length that the papers report.  Where an alphabet is smaller than theirs, the docstring
says so ([F]).
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from types import EllipsisType

import numpy as np

from lengthgen.circuits.task import Reference, Step, Task, TaskError
from lengthgen.circuits.tasks.copying import copy, reverse
from lengthgen.circuits.tasks.counter import majority_direct, parity_direct
from lengthgen.circuits.tasks.counter import parity as running_parity
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task
from lengthgen.circuits.tasks.sorting import sort_direct

VOCABULARY = 150
"""Number of symbols from which different ones are drawn; as many as the longest word has."""
BIGRAM_VOCABULARY = 16
"""Number of symbols of words in which no pair of neighbours comes twice."""
PERIOD = 3
"""Number of words that are read by turns."""
SHORTEST = 4
"""Length of the shortest sum, with its signs: 0+1=."""


def binary_majority() -> Task:
    """`x1 .. xn = y $`: the more frequent bit y. Both are never equally frequent; the number of ones is uniform."""
    return replace(
        majority_direct(),
        name="published-binary_majority",
        valid=lambda prompt: _winner(prompt[:-1]) is not None,
        draw=lambda n, source: [*_bits(n, source), "="],
    )


def binary_majority_interleave() -> Task:
    """`a1 b1 c1 a2 b2 c2 .. = y1 y2 y3 $`: the more frequent bits of three words a, b and c, read by turns.

    The length is the multiple of 3 nearest to the scale, and at least 3.
    """

    def turns(n: int) -> int:
        return max(1, round(n / PERIOD))

    def draw(n: int, source: random.Random) -> list[str]:
        words = [_bits(turns(n), source) for _ in range(PERIOD)]
        return [*(bit for bits in zip(*words, strict=True) for bit in bits), "="]

    def vectorised(x: Numbers) -> Integers:
        return np.stack([2 * x[first::PERIOD].sum(axis=0) > len(x) // PERIOD for first in range(PERIOD)]).astype(int)

    return digit_task(
        name="published-binary_majority_interleave",
        base=2,
        prompt=lambda n, digits: [*[digits] * (PERIOD * turns(n)), "="],
        vectorised=vectorised,
        valid=lambda prompt: all(_winner(prompt[first:-1:PERIOD]) is not None for first in range(PERIOD)),
        draw=draw,
    )


def majority(base: int = 3) -> Task:
    """`x1 .. xn = y $`: the most frequent symbol y, which no other one equals in frequency.

    The papers have 26 symbols; there are `base` here, so that all words of small scales can be tried [F].
    """
    return digit_task(
        name="published-majority",
        base=base,
        vectorised=lambda x: np.stack([(x == digit).sum(axis=0) for digit in range(base)]).argmax(axis=0)[None],
        valid=lambda prompt: _winner(prompt[:-1]) is not None,
    )


def sort(base: int = 12) -> Task:
    """`x1 .. xn = y1 .. yn $`: different numbers below `base` in ascending order, at once.

    The papers have 150 numbers. There are fewer here, so that operators of many arguments can be tabled [F]; longer
    words are refused.
    """
    return _of_different(sort_direct(base), "sort", base)


def copy_unique() -> Task:
    """`x1 .. xn = x1 .. xn $`: a copy of different symbols of 150."""
    return _of_different(copy(VOCABULARY), "copy_unique", VOCABULARY)


def unique_reverse() -> Task:
    """`x1 .. xn = xn .. x1 $`: different symbols of 150 from the last to the first."""
    return _of_different(reverse(VOCABULARY), "unique_reverse", VOCABULARY)


def copy_repeat() -> Task:
    """`x1 .. xn = x1 .. xn $`: a copy of a word over two symbols."""
    return replace(copy(2), name="published-copy_repeat")


def unique_bigram_copy() -> Task:
    """`x1 .. xn = x1 .. xn $`: a copy of a word over 16 symbols in which no pair of neighbours comes twice.

    Words are drawn symbol by symbol among those that keep the rule; a word that gets stuck is drawn anew [F].
    """
    plain = copy(BIGRAM_VOCABULARY)

    def draw(n: int, source: random.Random) -> list[str]:
        while True:
            left: dict[int, list[int]] = {}
            word = [source.randrange(BIGRAM_VOCABULARY)]
            while len(word) < n and (following := left.setdefault(word[-1], [*range(BIGRAM_VOCABULARY)])):
                word.append(following.pop(source.randrange(len(following))))
            if len(word) == n:
                return [*map(str, word), "="]

    return replace(
        plain,
        name="published-unique_bigram_copy",
        prompt=lambda n: _at_most(BIGRAM_VOCABULARY**2 + 1, n, plain, "unique_bigram_copy"),
        valid=lambda prompt: len(set(pairwise(prompt))) == len(prompt) - 1,
        draw=draw,
    )


def parity() -> Task:
    """`x1 .. xn = y $`: y = 1 iff the number of ones is odd. That number is uniform, as in the papers."""
    return replace(parity_direct(), name="published-parity", draw=_parity_draw)


def parity_with_states() -> Task:
    """`x1 .. xn = y1 .. yn $`: the parity of every prefix, a reading of ours [F]. The number of ones is uniform."""
    return replace(running_parity(), name="published-parity-with-states", draw=_parity_draw)


def _parity_draw(n: int, source: random.Random) -> list[str]:
    return [*_bits(n, source, ties=True), "="]


def _bits(n: int, source: random.Random, *, ties: bool = False) -> list[str]:
    """Return n bits in random order with a uniform number of ones; zeros and ones are equally many only with `ties`."""
    ones = source.choice([count for count in range(n + 1) if ties or 2 * count != n])
    return source.sample(["1"] * ones + ["0"] * (n - ones), n)


def _winner(word: tuple[str, ...]) -> str | None:
    """Return the symbol that is more frequent than every other one; None if there is none."""
    first, *others = Counter(word).most_common(2)
    return first[0] if not others or first[1] > others[0][1] else None


def _of_different(plain: Task, name: str, base: int) -> Task:
    """Return the task for words of different numbers below `base`, drawn uniformly."""
    return replace(
        plain,
        name=f"published-{name}",
        prompt=lambda n: _at_most(base, n, plain, name),
        valid=lambda prompt: len(set(prompt)) == len(prompt),
        draw=lambda n, source: [*map(str, source.sample(range(base), n)), "="],
    )


def _at_most(longest: int, n: int, plain: Task, name: str) -> Sequence[Sequence[str] | EllipsisType]:
    """Return the prompt of a task at a scale. Raise TaskError if the scale is above `longest`."""
    if n > longest:
        raise TaskError(f"task 'published-{name}': no word has {n} symbols; take scales of at most {longest}")
    return plain.prompt(n)


def addition() -> Task:
    """`a+b= s $`: the sum of two binary numbers, high bit first, none with leading zeros.

    The scale n is the length of `a+b=`, at least 4, so the operands have any lengths m and n - 2 - m; their lengths are
    drawn uniformly, as in the papers. The answer ends early. No arity is enough at all scales, because carries come
    from any distance.
    """

    def prompt(n: int) -> list[str]:
        return ["01", *["01+"] * (max(n, SHORTEST) - 3), "01", "="]

    def valid(prompt: tuple[str, ...]) -> bool:
        operands = "".join(prompt[:-1]).split("+")
        return len(operands) == 2 and all(len(each) == 1 or each.startswith("1") for each in operands)

    def generate(prompt: tuple[str, ...]) -> list[str]:
        first, second = "".join(prompt[:-1]).split("+")
        return [*f"{int(first, 2) + int(second, 2):b}", "$"]

    def draw(n: int, source: random.Random) -> list[str]:
        together = max(n, SHORTEST) - 2
        first = source.randint(1, together - 1)
        return [*_operand(first, source), "+", *_operand(together - first, source), "="]

    return Task(
        name="published-addition",
        alphabet=tuple("01+=$"),
        prompt=prompt,
        generate=generate,
        end="$",
        valid=valid,
        draw=draw,
    )


def _operand(length: int, source: random.Random) -> list[str]:
    rest = [source.choice("01") for _ in range(length - 1)]
    return ["1", *rest] if rest else [source.choice("01")]


def count() -> Task:
    """`a b = a a+1 .. b $` with numbers below 150, one token each; the scale n is how many numbers are written.

    As many blanks '.' as a and b are apart come first. So a prompt tells its scale, as a `Task` wants it, and all
    distances after the blanks are those of the paper [F]. Unit operator: from '=' and a the number a, and from a number
    and b the next number, or '$' after b. The arity is 2.
    """
    numbers = tuple(map(str, range(VOCABULARY)))

    def prompt(n: int) -> list[tuple[str, ...]]:
        if n > VOCABULARY:
            raise TaskError(f"task 'published-count': there are {VOCABULARY} numbers; take scales up to that")
        return [*[(".",)] * (n - 1), numbers[: VOCABULARY - n + 1], numbers[n - 1 :], ("=",)]

    def valid(prompt: tuple[str, ...]) -> bool:
        *blanks, first, last, _ = prompt
        return int(last) - int(first) == len(blanks)

    def generate(prompt: tuple[str, ...]) -> list[str]:
        *_, first, last, _ = prompt
        return [*numbers[int(first) : int(last) + 1], "$"]

    def draw(n: int, source: random.Random) -> list[str]:
        first = source.randrange(VOCABULARY - n + 1)
        return [*["."] * (n - 1), numbers[first], numbers[first + n - 1], "="]

    def steps(n: int) -> list[Step]:
        return [("next", (n + 2, n)), *(("next", (n + 2 + t, n + 1)) for t in range(1, n + 1))]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        before, other = symbols
        if before == "=":
            return str(int(other))
        return "$" if int(before) == int(other) else numbers[(int(before) + 1) % VOCABULARY]

    return Task(
        name="published-count",
        alphabet=(*numbers, ".", "=", "$"),
        prompt=prompt,
        generate=generate,
        reference=Reference(arity=2, steps=steps, apply=apply),
        valid=valid,
        draw=draw,
    )
