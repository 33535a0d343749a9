"""Random tasks of other kinds than random circuits, each defined by one: `random-KIND-GROWTH-SEED`.  [F]

The forecast counts runs on random circuits y_t = f_t(x_r, y_(t-1)) and on languages; tasks of users are of other kinds,
and so are these.  They read trees and pointers, have two operands, pass over noise, end early, write between the
symbols of their prompt, or accept several outputs.  In all of them f and g are random operators of two digits; a mark
such as '=' counts 0 as an argument, and as the first one it ends the output.  GROWTH is invariant, or rises with a
step: from it on another operator is in place of f.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count, product
from types import EllipsisType
from typing import Any

import numpy as np

from lengthgen.circuits.task import Reference, Step, Task, TaskError, Tokens
from lengthgen.circuits.tasks.digits import digits_of, one_operand
from lengthgen.circuits.tasks.random_circuits import MAX_BASE, random_operator

Choices = Sequence[str] | EllipsisType
"""Symbols allowed at a position of a prompt; an Ellipsis where the next symbol of the output goes."""
Use = Callable[[str, str, str], str]
"""Function from the name of an operator and two symbols to the symbol that it gives."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Kind of tasks.

    Attributes:
        steps: function from n to the steps, of the operators "f" and "g".
        arity: slots of a step.
        apply: what a step gives: function from the operators, the name of its own, and its symbols.
        prompt: function from n and the digits to the choices at each position.
        marks: symbols besides digits and '$', one character each.
        ends: mark as first argument -> symbol that it gives; any other mark gives '$'.
        more: function from the operators and the base to further fields of the task.
    """

    steps: Callable[[int], list[Step]]
    arity: int = 2
    apply: Callable[[Use, str, tuple[str, ...]], str] = lambda use, name, symbols: use(name, *symbols)
    prompt: Callable[[int, tuple[str, ...]], Sequence[Choices]] = one_operand
    marks: str = "="
    ends: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[Use, int], Mapping[str, Any]] = lambda use, base: {}


def _running(n: int, reads: Sequence[int] | None = None, lag: int = 1, extra: tuple[int, ...] = ()) -> list[Step]:
    """Return steps y_t = f(token at reads[t], y_(t - lag)), which also read `extra`, and the end.

    `=` is at the first position after `extra` and n digits.
    """
    equals = len(extra) + n + 1
    places = range(len(extra) + 1, equals) if reads is None else reads
    pairs = [(place, equals + max(t - lag, 0)) for t, place in enumerate(places, start=1)]
    return [("f", (*extra, *pair)) for pair in [*pairs, (equals, equals)]]


def _tree(n: int) -> list[Step]:
    at = [*range(1, n + 1), *range(n + 2, 2 * n + 1)]  # leaves, then nodes as they are written
    return [*(("f", (at[2 * t], at[2 * t + 1])) for t in range(n - 1)), ("f", (n + 1, n + 1))]


def _in_order(n: int, node: int = 1) -> list[int]:
    """Return the nodes of a complete binary tree, numbered by levels, in the order left, node, right."""
    return [*_in_order(n, 2 * node), node, *_in_order(n, 2 * node + 1)] if node <= n else []


def _chained(n: int) -> list[Step]:
    colon = 2 * n + 2
    return [*_running(n), *(("g", (colon - t, colon + t - 1)) for t in range(1, n + 1)), ("g", (colon, colon))]


def _bricks(n: int) -> list[Step]:
    steps: list[Step] = []
    for row in (0, 1):
        start = row * (n + 1)  # the second row reads the first one
        for place in range(1, n + 1):
            other = place + 1 if (place - row) % 2 else place - 1
            low, high = sorted((place, other)) if 1 <= other <= n else (place, place)
            steps.append(("f" if place < other else "g", (start + low, start + high)))
    return [*steps, ("f", (n + 1, n + 1))]


def _two_operands(n: int) -> list[Step]:
    short = (n + 1) // 2
    equals = n + short + 2
    pairs = [(t, n + 1 + t if t <= short else equals) for t in range(1, n + 1)]
    return [*(("f", (*pair, equals + t)) for t, pair in enumerate(pairs)), ("f", (equals,) * 3)]


def _any(n: int) -> list[Step]:
    middle = (n + 1) // 2
    return [("f", (middle, middle + 1)), ("f", (n + 1, n + 1))]


def _interleaved(n: int, digits: tuple[str, ...]) -> list[Choices]:
    pair: list[Choices] = [digits, ...]
    return ["=", *(pair * n)[:-1]]  # the last output follows the prompt


def _every_pair(use: Use, base: int) -> dict[str, Any]:
    def right(prompt: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(use("f", *prompt[t : t + 2]), "$") for t in range(len(prompt) - 1)]

    return {"right": right}


def _unequal_neighbours(use: Use, base: int) -> dict[str, Any]:
    def valid(prompt: tuple[str, ...]) -> bool:
        return all(map(str.__ne__, prompt, prompt[1:]))

    def draw(n: int, source: random.Random) -> list[str]:
        digits = [source.randrange(base)]
        while len(digits) < n:
            digits.append((digits[-1] + source.randrange(1, base)) % base)
        return [*map(str, digits), "="]

    return {"valid": valid, "draw": draw}


def _value(symbol: str) -> str:
    """Return the digit for which a symbol counts."""
    return symbol if symbol.isdigit() else "0"


KINDS: dict[str, Kind] = {
    "tree": Kind(
        # x1 .. xn = y1 .. y(n-1) $; with y after x, y_t = f of tokens 2t - 1 and 2t: the nodes of a tree
        steps=_tree,
    ),
    "traversal": Kind(
        # x1 .. xn = y1 .. yn $, y_t = f(x_r, y_(t-1)), r the t-th node of a tree from left to right
        steps=lambda n: _running(n, _in_order(n)),
    ),
    "lagged": Kind(
        # x1 .. xn = y1 .. yn $, y_t = f(x_t, y_(t-2))
        steps=lambda n: _running(n, lag=2),
    ),
    "interleaved": Kind(
        # = x1 y1 .. xn yn $, y_t = f(x_t, y_(t-1))
        steps=lambda n: [*(("f", (2 * t, 2 * t - 1)) for t in range(1, n + 1)), ("f", (1, 1))],
        prompt=_interleaved,
    ),
    "selected": Kind(
        # s x1 .. xn = y1 .. yn $, y_t = f(x_t, y_(t-1)), or g where s is 1
        arity=3,
        steps=lambda n: _running(n, extra=(1,)),
        apply=lambda use, name, symbols: use("g" if symbols[0] == "1" else name, *symbols[1:]),
        prompt=lambda n, digits: [digits[:2], *one_operand(n, digits)],
    ),
    "pointers": Kind(
        # p0 p1 x1 .. xn = y1 .. yn $, y_t = f(x_t, p_q), q = y_(t-1) mod 2
        arity=4,
        steps=lambda n: _running(n, extra=(1, 2)),
        apply=lambda use, name, symbols: use(name, symbols[2], symbols[int(_value(symbols[3])) % 2]),
        prompt=lambda n, digits: [digits, digits, *one_operand(n, digits)],
    ),
    "chained": Kind(
        # x1 .. xn = u1 .. un : y1 .. yn $, u_t = f(x_t, u_(t-1)), y_t = g(u_(n+1-t), y_(t-1))
        marks=":=",
        ends={"=": ":"},
        steps=_chained,
    ),
    "early": Kind(
        # x1 .. xn = y1 .. yk $, y_t = f(x_t, y_(t-1)), up to the first x that is 0
        steps=_running,
        apply=lambda use, name, symbols: "$" if symbols[0] == "0" else use(name, *symbols),
        more=lambda use, base: {"end": "$"},
    ),
    "two-operands": Kind(
        # a1 .. an + b1 .. bm = y1 .. yn $, m = ceil(n/2), y_t = f(a_t, g(y_(t-1), b_t))
        arity=3,
        marks="+=",
        steps=_two_operands,
        apply=lambda use, name, symbols: use(name, symbols[0], use("g", _value(symbols[2]), symbols[1])),
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * ((n + 1) // 2), "="],
    ),
    "any": Kind(
        # x1 .. xn = f(x_t, x_(t+1)) $ for any t; training shows that in the middle
        steps=_any,
        more=_every_pair,
    ),
    "distinct": Kind(
        # x1 .. xn = y1 .. yn $, y_t = f(x_t, y_(t-1)), where neighbours in x differ
        steps=_running,
        more=_unequal_neighbours,
    ),
    "noisy": Kind(
        # x1 .. xn = y1 .. yn $, y_t = f(x_t, y_(t-1)), or y_(t-1) where x_t is ~
        marks="~=",
        steps=_running,
        apply=lambda use, name, symbols: _value(symbols[1]) if symbols[0] == "~" else use(name, *symbols),
        prompt=lambda n, digits: one_operand(n, (*digits, "~")),
    ),
    "bricks": Kind(
        # x1 .. xn = u1 .. un y1 .. yn $: two rows of a sorting network with f and g in place of min and max
        steps=_bricks,
    ),
}
"""Name -> kind of random tasks."""
NAME = re.compile(rf"random-({'|'.join(KINDS)})-(?:invariant|rises([1-9][0-9]{{0,3}}))-([0-9]{{1,9}})")


def task_of_kind(name: str, base: int = 3) -> Task:
    """Return the task of a name `random-KIND-GROWTH-SEED`, such as `random-tree-rises9-17`.

    Raise TaskError if the name has another form, or the base is not 2 to 10.
    """
    match = NAME.fullmatch(name)
    if not match:
        kinds = f"KIND one of {', '.join(KINDS)}; GROWTH one of invariant, rises9 (any step)"
        raise TaskError(f"'{name}' is no random task: write random-KIND-GROWTH-SEED, {kinds}")
    if not 2 <= base <= MAX_BASE:
        raise TaskError(f"task '{name}': the base must be 2 to {MAX_BASE}, not {base}")
    kind, rise, seed = KINDS[match[1]], int(match[2] or 0), match[3]
    first = random_operator(base, f"{seed} {base} 1")
    tables = {
        "f": first,
        "f risen": random_operator(base, f"{seed} {base} 2", other_than=first),
        "g": random_operator(base, f"{seed} {base} 3"),
    }

    def use(operator: str, x: str, y: str) -> str:
        if not x.isdigit():
            return kind.ends.get(x, "$")
        return tables[operator][int(x) * base + int(_value(y))]

    def steps(n: int) -> list[Step]:
        return [
            ("f risen" if operator == "f" and 0 < rise <= t else operator, places)
            for t, (operator, places) in enumerate(kind.steps(n), start=1)
        ]

    digits = digits_of(name, base, kind.marks)
    return _circuit_task(
        name=name,
        alphabet=(*digits, *kind.marks, "$"),
        prompt=lambda n: kind.prompt(n, digits),
        reference=Reference(arity=kind.arity, steps=steps, apply=partial(kind.apply, use)),
        **kind.more(use, base),
    )


def _circuit_task(
    *,
    name: str,
    alphabet: tuple[str, ...],
    prompt: Callable[[int], Sequence[Choices]],
    reference: Reference,
    **more: Any,
) -> Task:
    """Return the task that a circuit defines: an output is what the circuit computes. Its operators are total."""

    @cache
    def scale_of(length: int) -> int:
        return next(n for n in count(1) if len(task.given(n)) >= length)

    def generate(symbols: tuple[str, ...]) -> list[str]:
        n = scale_of(len(symbols))
        tokens, output = dict(zip(task.given(n), symbols, strict=True)), []
        for position, (operator, arguments) in zip(task.step_positions(n), reference.steps(n), strict=False):
            tokens[position] = reference.apply(operator, tuple(tokens[argument] for argument in arguments))
            output.append(tokens[position])
            if output[-1] == task.end:
                break
        return output

    @cache
    def table(operator: str) -> Tokens:
        """Return the token for each combination of argument tokens, uint8 [symbols] * arity."""
        values = [reference.apply(operator, symbols) for symbols in product(alphabet, repeat=reference.arity)]
        return np.array([*map(alphabet.index, values)], dtype=np.uint8).reshape([len(alphabet)] * reference.arity)

    def vectorised(prompts: Tokens) -> Tokens:
        n = scale_of(prompts.shape[1])
        tokens, outputs = dict(zip(task.given(n), prompts.T, strict=True)), []
        for position, (operator, arguments) in zip(task.step_positions(n), reference.steps(n), strict=False):
            tokens[position] = table(operator)[tuple(tokens[argument] for argument in arguments)]
            outputs.append(tokens[position])
        return np.stack(outputs, axis=1)

    task = Task(
        name=name,
        alphabet=alphabet,
        prompt=prompt,
        generate=generate,
        vectorised=vectorised,
        reference=reference,
        **more,
    )
    return task
