"""SRC is monotone in scale and arity, and bounded if both alphabet and arity are fixed.

Without a fixed arity, or with hidden gates, it would be trivial.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import factorial, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import trace
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.sequential.parity import Word, parity_of, word_task

Function = tuple[int, ...]
Order = Callable[[Any, Any], bool]
Pair = tuple[int, int]
"""(number of symbols, arity)."""
Gate = Callable[[int, int], int]

SCALES = (1, 2, 3)
ARITIES = (1, 2, 3)
CIRCUITS = (("parity", None, 2, 5), ("addition-carry", 2, 3, 2), ("permutation", 3, 1, 5), ("sort-trace", 2, 2, 3))
"""(task, base, arity, largest scale) of the circuits on which the two arguments are carried out."""
FORCED: tuple[Pair, ...] = ((2, 1), (2, 2))
"""Pairs for which a task small enough for the search reaches the largest SRC."""
PERMUTATIONS = ((2, 5), (3, 8), (4, 5))
"""(base, largest scale) of the permutation controls."""
_LARGEST: Mapping[Pair, int] = {(2, 1): 4, (3, 1): 27, (4, 1): 256, (2, 2): 8, (2, 3): 68}
SEARCHED = 4
LONGEST = 5
"""Largest prompt and output of the tasks that one operator serves."""
FIXED = (1, 2, 3, 4, 5)
"""Arities at which parity without chain of thought becomes infeasible."""
ARGUMENTS: Mapping[int, tuple[int, ...]] = {2: (1, 2, 3), 3: (1, 2)}
"""Number of symbols -> numbers of arguments for which all functions are composed."""


def all_functions(symbols: int, arguments: int) -> list[Function]:
    """Return all functions of `arguments` arguments over 0 .. symbols - 1, as tuples of their values."""
    return list(product(range(symbols), repeat=symbols**arguments))


@cache
def served(symbols: int, arity: int, visible: int, *, repeats: bool = True) -> dict[Function, int]:
    """Return function of the visible positions -> the operators that compute it through some wiring, as a bit set.

    A function that is missing is computed by none. `repeats` is True if a wiring may read a position twice.
    """
    words = list(product(range(symbols), repeat=visible))
    wirings = product(range(visible), repeat=arity) if repeats else permutations(range(visible), arity)
    keys = []
    for wiring in wirings:
        arguments = [[word[position] for position in wiring] for word in words]
        keys.append([sum(value * symbols**place for place, value in enumerate(reversed(key))) for key in arguments])
    operators_of: dict[Function, int] = {}
    for index, values in enumerate(all_functions(symbols, arity)):
        for of_wiring in keys:
            function = tuple(values[key] for key in of_wiring)
            operators_of[function] = operators_of.get(function, 0) | 1 << index
    return operators_of


@cache
def fewest_operators(steps: frozenset[int]) -> float:
    """Return the least number of operators such that each step has one of them; infinite if a step has none.

    A step is the bit set of the operators that compute it.
    """

    def fewest(left: list[int], groups: list[int]) -> int:
        """Least number of groups of steps with a common operator."""
        if not left:
            return len(groups)
        first, *rest = left
        joined = [[*groups[:n], group & first, *groups[n + 1 :]] for n, group in enumerate(groups) if group & first]
        return min(fewest(rest, of_steps) for of_steps in (*joined, [*groups, first]))

    needed = [step for step in steps if not any(other != step and other & step == other for other in steps)]
    return fewest(needed, []) if 0 not in steps else inf


def restricted(circuit: Circuit, largest_scale: int) -> Circuit:
    """Return the circuit without larger scales, and without the operators that only those use."""
    wirings = {scale: steps for scale, steps in circuit.wirings.items() if scale <= largest_scale}
    used = sorted({step.operator for steps in wirings.values() for step in steps})
    return replace(
        circuit,
        wirings={
            scale: tuple(replace(step, operator=used.index(step.operator)) for step in steps)
            for scale, steps in wirings.items()
        },
        operators=tuple(circuit.operators[index] for index in used),
    )


def padded(circuit: Circuit) -> Circuit:
    """Return the circuit with one more slot, which reads what the last slot reads."""
    symbols = len(circuit.task.alphabet)

    def repeat_last(step: Wiring) -> Wiring:
        return replace(step, arguments=(*step.arguments, step.arguments[-1]))

    def widen(table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        wide = np.full(len(table) * symbols, UNDEFINED, dtype=np.uint8)
        keys = np.arange(len(table))
        wide[keys * symbols + keys % symbols] = table
        return wide

    return replace(
        circuit,
        arity=circuit.arity + 1,
        wirings={scale: tuple(map(repeat_last, steps)) for scale, steps in circuit.wirings.items()},
        operators=tuple(map(widen, circuit.operators)),
    )


@cache
def _tiny_values(arity: int, repeats: bool) -> dict[tuple[int, ...], list[float]]:
    """Task, given by the index of f_n for every n -> SRC up to each scale."""
    hit = [served(2, arity, n, repeats=repeats) for n in SCALES]
    steps = [[hit[n - 1].get(function, 0) for function in all_functions(2, n)] for n in SCALES]
    values = {}
    for task in product(*(range(len(of_scale)) for of_scale in steps)):
        chosen = [of_scale[index] for of_scale, index in zip(steps, task, strict=True)]
        values[task] = [fewest_operators(frozenset(chosen[:n])) for n in SCALES]
    return values


def _carry_out(name: str, base: int | None, arity: int, largest: int, *, with_scale: Order, with_arity: Order) -> str:
    """Carry out both arguments on the circuits that the search finds for one task."""
    task = load(name, base=base)
    traces = traces_up_to(task, largest)
    result, wider_result = src(task, traces, arity), src(task, traces, arity + 1)
    if result.circuit is None:
        raise ValueError(f"{task.name} is infeasible at arity {arity}")
    padded(result.circuit).check(traces)
    for n in range(1, largest + 1):
        least = src(task, traces[:n], arity).values[n]
        part = restricted(result.circuit, n)
        part.check(traces[:n])
        if least is None or len(part.operators) < least or not with_scale(least, result.values[largest]):
            raise Refuted(f"{task.name}: {len(part.operators)} operators up to {n}, {least} are the fewest")
        if not with_arity(least, wider_result.values[n]):
            raise Refuted(f"{task.name}, scale {n}: {least} at arity {arity}, {wider_result.values[n]} at {arity + 1}")
    return f"{task.name} (arity {arity}, scales 1..{largest})"


def _task_text(task: tuple[int, ...]) -> str:
    """Text of a tiny task."""
    rows = (all_functions(2, n)[index] for n, index in zip(SCALES, task, strict=True))
    return ", ".join(f"f_{n} = {''.join(map(str, row))}" for n, row in zip(SCALES, rows, strict=True))


def forcing_steps(hit: Mapping[Function, int]) -> list[Function]:
    """Return functions such that operators which compute all of these compute all functions.

    There is one for each minimal set of operators.
    """
    least: dict[int, Function] = {}
    for function, operators in hit.items():
        if not any(other & operators == other and other != operators for other in hit.values()):
            least.setdefault(operators, function)
    return list(least.values())


def _require_forced(symbols: int, arity: int, value: int, hit: Mapping[Function, int]) -> None:
    """Require that search finds this SRC for a task that has all forcing steps.

    Scale n of the task appends the n-th forcing step of the first `arity` symbols.
    """
    steps = forcing_steps(hit)

    def output(word: Word) -> list[int]:
        key = sum(symbol * symbols**place for place, symbol in enumerate(reversed(word[:arity])))
        return [steps[len(word) - arity][key]]

    task = word_task(f"all functions of {arity} of {symbols} symbols", symbols, output, longer=arity - 1)
    src_bounds = src(task, traces_up_to(task, len(steps)), arity).bounds[len(steps)]
    if src_bounds != (value, value):
        raise Refuted(f"{task.name}: SRC up to scale {len(steps)} is {src_bounds[0]:g}, not {value}")


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-monotone",
    formalised("Definition 4", "SRC as a function of scale and arity"),
    r"\mathrm{SRC}_k(f,n)\le\mathrm{SRC}_k(f,n+1),\quad \mathrm{SRC}_{k+1}(f,n)\le\mathrm{SRC}_k(f,n)",
    strength=Strength.EXHAUSTIVE,
    reach=f"n <= {SCALES[-1]}",
    assumptions=("a wiring may read a position twice",),
    falsifiers={
        "it rises with every scale": {"with_scale": operator.lt},
        "it falls with the scale": {"with_scale": operator.ge},
        "it falls with every slot": {"with_arity": operator.gt},
        "it rises with the arity": {"with_arity": operator.le},
        "slots must differ": {"repeats": False},
    },
)
def src_is_monotone(with_scale: Order = operator.le, with_arity: Order = operator.ge, repeats: bool = True) -> Facts:
    """SRC(f, n) does not fall as n grows and, as slots may repeat, does not rise as the arity grows. Every task that
    appends a bit is checked for n <= 3; a general argument covers the rest.
    """
    values = [_tiny_values(arity, repeats) for arity in ARITIES]
    for arity, by_task in zip(ARITIES, values, strict=True):
        for task, values_by_scale in by_task.items():
            for n, (now, later) in enumerate(pairwise(values_by_scale), start=1):
                if not with_scale(now, later):
                    raise Refuted(f"{_task_text(task)}: at arity {arity} SRC is {now} up to {n}, {later} up to {n + 1}")
    for arity, (fewer, more) in zip(ARITIES, pairwise(values), strict=False):
        for task in fewer:
            for n, (less, greater) in enumerate(zip(fewer[task], more[task], strict=True), start=1):
                if not with_arity(less, greater):
                    raise Refuted(
                        f"{_task_text(task)}: up to scale {n} SRC is {less} at arity {arity}, {greater} at {arity + 1}"
                    )
    carried = [_carry_out(*case, with_scale=with_scale, with_arity=with_arity) for case in CIRCUITS]
    yield f"all {len(values[0])} tasks that append one bit f_n(x) to n bits x, n = 1..3, arities {ARITIES}"
    yield (
        "argument for every task, with the scale: a circuit up to n is, without its last scale, one up to n - 1; "
        "with the arity: a slot more that repeats the last one changes no step. Carried out and checked on "
        f"{'; '.join(carried)}"
    )


@CLAIMS.claim(
    "src-bounded",
    formalised("Definition 4", "SRC over a fixed alphabet at a fixed arity"),
    r"\mathrm{SRC}_k(f,n)<\infty\Rightarrow\mathrm{SRC}_k(f,n)\le q^{q^k}",
    strength=Strength.BOUNDED,
    reach="k = 1, 2, 3",
    assumptions=("alphabet and arity are the same at all scales",),
    answers=("largest",),
    falsifiers={
        "as many as there are keys": {"bound": lambda q, k: q**k},
        "one less": {"bound": lambda q, k: q ** (q**k) - 1},
        "one more is reached": {"bound": lambda q, k: q ** (q**k) + 1},
        "a position read once only": {"repeats": False},
        "a fixed alphabet lets it grow with n": {"control": lambda n, base: n},
        "as many as functions of one slot": {"control": lambda n, base: min(n, base**base)},
    },
)
def src_is_bounded(
    bound: Callable[[int, int], int] = lambda q, k: q ** (q**k),
    repeats: bool = True,
    largest: Mapping[Pair, int] = _LARGEST,
    control: Callable[[int, int], int] = lambda n, base: min(n, factorial(base)),
) -> Facts:
    """If finite, SRC at arity k over q >= 2 symbols is at most q^(q^k), and so constant from some scale on. The bound
    is attained at k = 1, but not for larger k: at q = 2 the largest SRC is 4, 8, 68 for k = 1, 2, 3. A task whose
    step t applies the t-th of the q! permutations of q symbols, in turn, has min(n, q!) at k = 1: searched for
    q = 2, 3, 4.
    """
    for (symbols, arity), value in largest.items():
        hit = served(symbols, arity, arity, repeats=repeats)
        largest_src = fewest_operators(frozenset(hit.values()))
        if largest_src > bound(symbols, arity):
            raise Refuted(
                f"q = {symbols}, k = {arity}: to compute every function of {arity} positions takes {largest_src:g} "
                f"operators, more than {bound(symbols, arity)}"
            )
        refute(largest_src != value, f"q = {symbols}, k = {arity}: the largest SRC is {largest_src:g}, not {value}")
        if (largest_src == bound(symbols, arity)) is not (arity == 1):
            raise Refuted(f"q = {symbols}, k = {arity}: {largest_src:g} and the bound {bound(symbols, arity)}")
        if (symbols, arity) in FORCED:
            _require_forced(symbols, arity, value, hit)
    for base, scales in PERMUTATIONS:
        task = load("permutation", base=base)
        for n, bounds in src(task, traces_up_to(task, scales), 1).bounds.items():
            if bounds != (control(n, base),) * 2:
                raise Refuted(f"{task.name}: SRC up to scale {n} is {bounds[0]:g}, not {control(n, base)}")
    yield (
        f"largest SRC of any task, where finite, at (q, k): {', '.join(f'{p}: {v}' for p, v in largest.items())}; "
        f"reached by tasks that the search solves at {FORCED}"
    )
    yield (
        "argument: a step is a function of the at most k positions that it reads, so operators that hit every "
        "function of k positions serve all tasks; a task with all of these as steps needs as many"
    )
    yield (
        "one slot: every operator is needed, q^q. More slots: fewer than q^(q^k), since an operator also serves "
        "with its slots exchanged or filled alike"
    )
    yield (
        "permutation controls by search: "
        f"{', '.join(f'base {base}: min(n, {factorial(base)}) up to n = {n}' for base, n in PERMUTATIONS)}"
    )
    yield "SRC does not fall (src-monotone) and is bounded, so it is constant from some scale on, or infinite"


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


@CLAIMS.claim(
    "src-arity",
    formalised("Definition 4", "the bound on the arity, which is ours"),
    r"k=|\text{text}|\Rightarrow\mathrm{SRC}=1;\quad \mathrm{SRC}_k(\text{parity at once},n)=\infty\iff n>k",
    strength=Strength.BOUNDED,
    reach=f"k <= {FIXED[-1]}",
    assumptions=(
        "a mark ends the prompt, and is never written; without one, parity at once has SRC 2 at arity n = 2, 3, 4",
        "a prompt belongs to one scale",
    ),
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
    """If the arity may grow with the text, SRC is 1 for every task whose prompt ends with a mark that stands nowhere
    else. At fixed arity k, parity at once is infeasible from scale k + 1 on. Checked for k <= 5; a general argument
    covers the rest.
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


def _nand(first: int, second: int) -> int:
    """Return 0 for two ones, else 1."""
    return 1 - min(first, second)


@CLAIMS.claim(
    "src-hidden",
    formalised("Definition 4", "that a circuit has no nodes but the text, which is ours"),
    r"\langle \mathrm{NAND}\rangle=\bigcup_{m\ge1}\{0,1\}^{\{0,1\}^m},\quad "
    r"\langle \max(x,y)+1\bmod3\rangle=\bigcup_{m\ge1}\{0,1,2\}^{\{0,1,2\}^m}",
    strength=Strength.EXHAUSTIVE,
    reach="1, 2 and 3 bits",
    assumptions=("for more symbols or arguments, Webb's theorem (a textbook fact)",),
    falsifiers={
        "and": {"gates": {2: min, 3: _webb(3)}},
        "xor": {"gates": {2: lambda a, b: a ^ b, 3: _webb(3)}},
        "maximum": {"gates": {2: _nand, 3: max}},
        "maximum plus one, cut off": {"gates": {2: _nand, 3: lambda a, b: min(max(a, b) + 1, 2)}},
        "sum plus one": {"gates": {2: _nand, 3: lambda a, b: (a + b + 1) % 3}},
        "without nesting": {"depth": 1},
    },
)
def one_gate_is_enough(gates: Mapping[int, Gate] = {2: _nand, 3: _webb(3)}, depth: int | None = None) -> Facts:
    """If hidden nodes were free, one unit operator would serve every task: NAND composes all functions of 1, 2 and 3
    bits, max(x, y) + 1 mod 3 all functions of 1 and 2 ternary symbols.
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
