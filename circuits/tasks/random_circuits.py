"""Tasks defined by random circuits: operators drawn at random over wirings of chosen kinds.

Every such task is `x1 .. xn = y1 .. yn $` over digits below a base, with y_t = f_t(x_r, y_(t-1)), r = r(t, n), where
'=' as y counts 0, and '=' as x gives '$'.  The wiring says r, the growth says how f_t depends on t.  SRC may be less
than the number of operators drawn, since another circuit may need fewer.  A name such as `random-local-rises9-17` says
everything: wiring, growth and seed.
"""

import random
import re
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Step, Task, TaskError
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task

WIRINGS: dict[str, Callable[[int, int], int]] = {
    "local": lambda t, n: t,
    "reversed": lambda t, n: n + 1 - t,
    "strided": lambda t, n: 2 * t - 1 if 2 * t - 1 <= n else 2 * (t - (n + 1) // 2),
    "rotated": lambda t, n: (t - 1 + n // 2) % n + 1,
}
"""Kinds of wirings: function from step t and scale n to the position of the digit that the step reads.

`strided` reads the odd positions first and then the even ones; `rotated` starts in the middle.
"""
GROWTHS = ("invariant", "rises", "grows")
"""Kinds of growth: one operator; a second one from a chosen step on; a new random one at every step."""
SWAPS = "swaps"
"""Kind of a task with one operator whose arguments change places from a chosen step on: SRC does not grow."""
NAME = re.compile(
    rf"random-({'|'.join(WIRINGS)})-(?:(invariant|grows)|(rises|{SWAPS})([1-9][0-9]{{0,3}}))-([0-9]{{1,9}})"
)
MAX_BASE = 10
"""Largest base. An operator has base**2 entries, and circuits are looked for by trying."""


def random_circuit(name: str, base: int = 3) -> Task:
    """Return the task of a name `random-WIRING-GROWTH-SEED`: GROWTH is invariant, grows, or rises or swaps with a step.

    Operators are drawn uniformly from those in which both arguments matter.  The second operator of `rises` differs
    from the first.  The operator of `swaps` distinguishes its arguments, and from the step on, y_t = f(y_(t-1), x_r).
    The arity of the reference circuit is 2.

    Raise TaskError if the name has another form, or the base is not 2 to 10.
    """
    match = NAME.fullmatch(name)
    if not match:
        kinds = f"WIRING one of {', '.join(WIRINGS)}; GROWTH one of invariant, grows, rises9, swaps9 (any step)"
        raise TaskError(f"'{name}' is no random circuit: write random-WIRING-GROWTH-SEED, {kinds}")
    if not 2 <= base <= MAX_BASE:
        raise TaskError(f"task '{name}': the base must be 2 to {MAX_BASE}, not {base}")
    wiring, growth, change, at, seed = match.groups()
    reads = WIRINGS[wiring]

    def changed(t: int) -> bool:
        """True from the step of a rise or swap on; never at the first step, which reads '='."""
        return at is not None and t >= max(2, int(at))

    @cache
    def operator_of(t: int) -> str:
        """Name of the operator of a step: its table."""
        first = random_operator(base, f"{seed} {base} 1", distinguishes=change == SWAPS)
        if growth == "grows" and t > 1:
            return random_operator(base, f"{seed} {base} {t}")
        if change == "rises" and changed(t):
            return random_operator(base, f"{seed} {base} 2", other_than=first)
        return first

    @cache
    def table_of(t: int) -> NDArray[np.uint16]:
        """Next digits of a step, uint16 [base**2]: entry x * base + y."""
        table = np.array([int(digit) for digit in operator_of(t)], dtype=np.uint16)
        return table.reshape(base, base).T.ravel() if change == SWAPS and changed(t) else table

    def steps(n: int) -> list[Step]:
        reading = [(reads(t, n), n + t) for t in range(1, n + 1)]
        computed = [
            (operator_of(t), (y, x) if change == SWAPS and changed(t) else (x, y))
            for t, (x, y) in enumerate(reading, start=1)
        ]
        return [*computed, (computed[0][0], (n + 1, 2 * n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        x, y = symbols
        return "$" if x == "=" else operator[int(x) * base + (0 if y == "=" else int(y))]

    def vectorised(x: Numbers) -> Integers:
        count, outputs = len(x), np.zeros_like(x)
        before = np.zeros_like(x[0])
        for t in range(1, count + 1):
            before = table_of(t)[x[reads(t, count) - 1] * base + before]
            outputs[t - 1] = before
        return outputs

    return digit_task(
        name=name,
        base=base,
        vectorised=vectorised,
        arity=2,
        steps=steps,
        apply=apply,
    )


def drawn_name(source: random.Random, *, largest_rise: int) -> str:
    """Return the name of a random circuit: wiring, growth and seed drawn uniformly, a rise at 2 .. largest_rise."""
    wiring, growth = source.choice([*WIRINGS]), source.choice(GROWTHS)
    at = str(source.randint(2, largest_rise)) if growth == "rises" else ""
    return f"random-{wiring}-{growth}{at}-{source.randrange(10**9)}"


@cache
def random_operator(base: int, seed: str, *, other_than: str = "", distinguishes: bool = False) -> str:
    """Return a random operator as its table, base**2 digits: entry x * base + y; both arguments matter.

    It is not `other_than`; with `distinguishes`, swapped arguments make a difference.
    """
    source = random.Random(seed)
    while True:
        table = "".join(str(source.randrange(base)) for _ in range(base**2))
        rows = [table[start : start + base] for start in range(0, base**2, base)]
        columns = [table[start::base] for start in range(base)]
        if len({*rows}) > 1 and len({*columns}) > 1 and table != other_than and not (distinguishes and rows == columns):
            return table
