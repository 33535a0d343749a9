"""Binary addition and counting up, of arXiv 2410.02140 and 2602.08857, as their programs write them."""

import random

from lengthgen.circuits.task import Reference, Task, TaskError
from lengthgen.circuits.tasks.published.algorithmic import VOCABULARY

SHORTEST = 4
"""Length of the shortest sum, with its signs: 0+1=."""


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
    """Return a random binary number of a length, without leading zeros."""
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

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
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
