"""Composition of tasks: the output of one task is the prompt of another ([F]).

The composed task shows both outputs, so that the second task reads the output of the first as its prompt. A circuit of
each then gives a circuit of the composition: SRC(f after g) <= SRC(f) + SRC(g) at an arity that is enough for both.
"""

from collections.abc import Callable
from functools import cache
from itertools import takewhile

from lengthgen.circuits.task import Task, TaskError

Symbols = tuple[str, ...]


def after(second: Task, first: Task, *, as_prompt: Callable[[Symbols], Symbols] | None = None) -> Task:
    """Return the task `second after first`: a prompt of the first, then both outputs.

    The output of the first is written as a prompt of the second.

    Args:
        second: the task that reads the output of the first; all its outputs come after its prompt.
        first: the task whose prompts and scales the composed task has; all its outputs come after its prompt.
        as_prompt: function from the output of the first task to the prompt of the second. By default the last symbol of
            the output, which says that it ends, is replaced by the fixed symbols with which every prompt of the second
            ends, such as '='.

    Raises:
        TaskError: some output ends early, several outputs are right, or prompt tokens come after outputs; or, when a
            prompt is computed, an output holds a symbol that the second task does not have, or is no prompt of it.
    """
    for task in (first, second):
        if task.end is not None or task.right is not None or None in task.layout(1):
            raise TaskError(
                f"task '{task.name}' cannot be composed yet: it has an `end`, several right outputs, or prompt tokens "
                "after outputs"
            )
    fixed = takewhile(lambda allowed: len(allowed) == 1, reversed(second.choices(1)))
    ending = [second.alphabet[token] for (token,) in fixed][::-1]
    name = f"{second.name}-after-{first.name}"

    @cache
    def prompts_of_length(length: int) -> list[list[set[str]]]:
        """Return the symbols allowed at each position, for each scale whose prompts have this length."""
        choices = takewhile(lambda allowed: len(allowed) <= length, map(second.choices, range(1, length + 1)))
        return [[{second.alphabet[n] for n in tokens} for tokens in each] for each in choices if len(each) == length]

    def is_prompt(symbols: Symbols) -> bool:
        allowed = any(all(map(set.__contains__, each, symbols)) for each in prompts_of_length(len(symbols)))
        return allowed and (second.valid is None or second.valid(symbols))

    def generate(symbols: Symbols) -> list[str]:
        output = tuple(first.generate(symbols))
        middle = (*output[:-1], *ending) if as_prompt is None else tuple(as_prompt(output))
        if not is_prompt(middle):
            raise TaskError(
                f"task '{name}': the output {' '.join(output)} gives {' '.join(map(str, middle))}, which is no prompt "
                f"of '{second.name}'; in Python, give as_prompt"
            )
        return [*middle, *second.generate(middle)]

    return Task(
        name=name,
        alphabet=tuple(dict.fromkeys((*first.alphabet, *second.alphabet))),
        prompt=first.prompt,
        generate=generate,
        valid=first.valid,
        draw=first.draw,
        vectorised_valid=first.vectorised_valid,
        vectorised_draw=first.vectorised_draw,
    )
