"""Why SRC needs a fixed arity and no hidden gates: without either of these it would be trivial."""

from collections.abc import Callable, Mapping
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import trace
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.sequential.layout import parity_of, word_task

SEARCHED = 4
LONGEST = 5
"""Largest prompt and output of the tasks that one operator serves."""
FIXED = (1, 2, 3, 4, 5)
"""Arities at which parity without chain of thought becomes infeasible."""

Gate = Callable[[int, int], int]

ARGUMENTS: Mapping[int, tuple[int, ...]] = {2: (1, 2, 3), 3: (1, 2)}
"""Number of symbols -> numbers of arguments for which all functions are composed."""


def filled_texts(largest: int, ends: str) -> dict[tuple[str, int], str]:
    """Return (text before a step, number of prompt bits) -> the text filled up with the mark, or with its last bit."""
    length = 2 * largest
    filled = {}
    for n, written in product(range(1, largest + 1), range(largest)):
        for bits in product("01", repeat=n + written):
            text = "".join(bits[:n]) + ends + "".join(bits[n:])
            filled[text, n] = text + (ends or text[-1]) * (length - len(text))
    return filled


def _require_one_operator_for_all(ends: str) -> int:
    """Require that the texts of all tasks stay different when filled up to one length; return their number."""
    owner: dict[str, tuple[str, int]] = {}
    filled_by_text = filled_texts(LONGEST, ends)
    for text, filled in filled_by_text.items():
        other = owner.setdefault(filled, text)
        if other != text:
            raise Refuted(
                f"{other[0]} after {other[1]} bits and {text[0]} after {text[1]} are both filled up to {filled}"
            )
    return len(filled_by_text)


def _require_first_infeasible(task: Task, arity: int, expected: int) -> None:
    """Require that `wanted` is the first scale with a step that no `arity` positions determine."""
    needed = (minimal_arity([trace(task, n)]) for n in range(1, arity + 3))
    first_scale = next((n for n, least in enumerate(needed, start=1) if least is None or least > arity), None)
    if first_scale != expected:
        raise Refuted(f"{task.name} at arity {arity}: the first infeasible scale is {first_scale}, not {expected}")


def _require_left_out(task: Task, arity: int, scale: int) -> None:
    """Require that for any positions that the first step reads, a symbol outside them changes what must be written."""
    choices = [[task.alphabet[token] for token in tokens] for tokens in task.choices(scale)]
    prompt = tuple(symbols[0] for symbols in choices)
    for read in combinations(range(len(prompt)), arity):
        free = next(place for place, symbols in enumerate(choices) if len(symbols) > 1 and place not in read)
        changed = (*prompt[:free], choices[free][1], *prompt[free + 1 :])
        if task.generate(prompt)[0] == task.generate(changed)[0]:
            raise Refuted(f"{task.name}: the first output is the same for {prompt} and {changed}")


def composed(gate: Gate, symbols: int, arguments: int, *, depth: int | None = None) -> NDArray[np.bool_]:
    """Return which functions the gate composes from its arguments: bool [q^(q^m)].

    The index of a function is the number whose base-q digits are its values, in lexicographic order of the arguments.
    Values are stored in pieces of q, so that the gate on two pieces is one entry of a table. Stops when all functions
    are reached.
    """
    digits = np.array(list(product(range(symbols), repeat=symbols)))
    gate_table = np.array([[gate(a, b) for b in range(symbols)] for a in range(symbols)])
    powers = symbols ** np.arange(symbols)[::-1]
    piece_table = gate_table[digits[:, None], digits[None, :]] @ powers
    places = len(digits) ** np.arange(symbols ** (arguments - 1))[::-1]
    orders = [piece_table] if (piece_table == piece_table.T).all() else [piece_table, piece_table.T]
    tables = [np.multiply.outer(places, piece_order).astype(np.int32) for piece_order in orders]

    words = np.array(list(product(range(symbols), repeat=arguments)))
    reached_pieces = words.T.reshape(arguments, len(places), symbols) @ powers
    reached = np.zeros(len(digits) ** len(places), dtype=bool)
    reached[reached_pieces @ places] = True
    old = level = 0
    while old < len(reached_pieces) and level != depth:
        now_reached = reached.copy()
        columns = np.ascontiguousarray(reached_pieces.T)
        for last in range(old, len(reached_pieces)):
            for table in tables:
                composites = table[0, reached_pieces[last, 0]].take(columns[0, : last + 1])
                for place in range(1, len(places)):
                    composites += table[place, reached_pieces[last, place]].take(columns[place, : last + 1])
                now_reached[composites] = True
            if now_reached.all():
                return now_reached
        fresh = np.flatnonzero(now_reached & ~reached)
        old, reached_pieces = (
            len(reached_pieces),
            np.concatenate([reached_pieces, fresh[:, None] // places % len(digits)]),
        )
        reached = now_reached
        level += 1
    return reached


def _webb(symbols: int) -> Gate:
    """Webb's gate, (max(a, b) + 1) mod q."""
    return lambda a, b: (max(a, b) + 1) % symbols


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-arity",
    formalised("Definition 4", "the bound on the arity, which is ours"),
    r"k=|\text{text}|\Rightarrow\mathrm{SRC}=1;\quad \mathrm{SRC}_k(\text{parity at once},n)=\infty\iff n>k",
    strength=Strength.BOUNDED,
    reach=f"k <= {FIXED[-1]}",
    assumptions=("a mark ends the prompt; without one, parity at once has SRC 2 at arity n = 2, 3, 4",),
    answers=("value",),
    falsifiers={
        "no mark after the operand": {"task": lambda: word_task("parity at once without '='", 2, parity_of)},
        "texts filled up with their last bit": {"ends": ""},
        "feasible one scale longer": {"first_infeasible": lambda arity: arity + 2},
        "with chain of thought": {"task": lambda: load("parity")},
    },
)
def arity_must_be_fixed(
    task: Callable[[], Task] = lambda: load("parity-direct"),
    value: int = 1,
    ends: str = "=",
    first_infeasible: Callable[[int], int] = lambda arity: arity + 1,
) -> Facts:
    """If the arity may grow with the text, SRC is 1 for every task whose prompt ends with a mark. At fixed arity k,
    parity at once is infeasible from scale k + 1 on. Checked for k <= 5; a general argument covers the rest.

    Args:
        task: builds parity without chain of thought, or another task.
        value: SRC at growing arity.
        ends: the mark that ends a prompt; empty for none.
        first_infeasible: arity -> first infeasible scale.
    """
    direct = task()
    for size in range(1, SEARCHED + 1):
        for scale, bounds in src(direct, traces_up_to(direct, size), size).bounds.items():
            if bounds != (value, value):
                raise Refuted(f"{direct.name} at arity {size}: SRC up to scale {scale} is {bounds[0]:g}, not {value}")
    texts = _require_one_operator_for_all(ends)
    for arity in FIXED:
        _require_first_infeasible(direct, arity, first_infeasible(arity))
    for arity in FIXED:
        _require_left_out(direct, arity, first_infeasible(arity))
    yield f"parity at once, arity N: SRC is {value} up to N, by search, N = 1..{SEARCHED}"
    yield (
        f"every task of at most {LONGEST} bits that appends at most {LONGEST}, at the arity of its longest text: "
        f"what is visible, filled up with '=', is another key for each of {texts} texts, so one operator does all"
    )
    yield "argument for every length: the first '=' ends the prompt, the last symbol that is none ends the output"
    yield (
        f"parity at once, fixed arity k = {FIXED[0]}..{FIXED[-1]}: at scale k + 1 any k positions leave out a bit, "
        "which changes the output but not the key; the scales before are feasible"
    )


@CLAIMS.claim(
    "src-hidden",
    formalised("Definition 4", "that a circuit has no nodes but the text, which is ours"),
    r"\langle \mathrm{NAND}\rangle=\bigcup_m\{0,1\}^{\{0,1\}^m},\quad "
    r"\langle \max(x,y)+1\rangle=\bigcup_m\{0,1,2\}^{\{0,1,2\}^m}",
    strength=Strength.EXHAUSTIVE,
    reach="1, 2 and 3 bits",
    assumptions=("for more symbols or arguments, Webb's theorem (a textbook fact)",),
    falsifiers={
        "and": {"gates": {2: min, 3: _webb(3)}},
        "xor": {"gates": {2: lambda a, b: a ^ b, 3: _webb(3)}},
        "maximum": {"gates": {2: _webb(2), 3: max}},
        "maximum plus one, cut off": {"gates": {2: _webb(2), 3: lambda a, b: min(max(a, b) + 1, 2)}},
        "sum plus one": {"gates": {2: _webb(2), 3: lambda a, b: (a + b + 1) % 3}},
        "without nesting": {"depth": 1},
    },
)
def one_gate_is_enough(gates: Mapping[int, Gate] = {2: _webb(2), 3: _webb(3)}, depth: int | None = None) -> Facts:
    """If hidden nodes were free, one unit operator would serve every task: NAND composes all functions of 1, 2 and 3
    bits, max(x, y) + 1 mod 3 all functions of 1 and 2 ternary symbols.

    Decide if the gate of each alphabet, nested at most `depth` deep, composes every function.
    """
    for symbols, gate in gates.items():
        for arguments in ARGUMENTS[symbols]:
            reached = composed(gate, symbols, arguments, depth=depth)
            if not reached.all():
                missed = np.base_repr(int(np.argmin(reached)), symbols).zfill(symbols**arguments)
                raise Refuted(
                    f"q = {symbols}: {reached.sum()} of {len(reached)} functions of {arguments} are composed, not the "
                    f"one with the values {missed}"
                )
            yield f"q = {symbols}: all {len(reached)} functions of {arguments}"
    yield (
        "so with hidden nodes, whose tokens are not part of the text, one operator serves every step: SRC would be "
        "1 for every task of bounded arity"
    )
