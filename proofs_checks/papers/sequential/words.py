"""Tasks without marks: the prompts of a scale are all words of one length, and the output follows at once."""

from collections.abc import Callable, Sequence

from circuits.task import Task

Word = tuple[int, ...]


def word_task(name: str, symbols: int, output: Callable[[Word], Sequence[int]], *, longer: int = 0) -> Task:
    """Prompts of scale n: all words of length n + `longer` over 0 .. symbols - 1."""
    alphabet = tuple(map(str, range(symbols)))
    return Task(
        name=name,
        alphabet=alphabet,
        prompt=lambda n: [alphabet] * (n + longer),
        generate=lambda word: [str(value) for value in output(tuple(map(int, word)))],
    )


def parity_of(word: Word) -> list[int]:
    """The one sum modulo 2."""
    return [sum(word) % 2]


def parities_of(word: Word) -> list[int]:
    """The sums modulo 2 of all prefixes."""
    return [sum(word[: t + 1]) % 2 for t in range(len(word))]
