"""Parity with chain of thought at all scales: its SRC, the labels of its ideal relation, and induced operators.

The positions that its steps read, and the tokens there, are those of a layout: bits x_1 .. x_n at positions 1 .. n,
padding up to the width w, '=' at w + 1 and y_t at w + 1 + t; the step t = n + 1 writes '$'. Block layout: w = n.
Aligned layout: w > n, the same at all scales.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import sympy as sp

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.formats import PAD, aligned
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.roles import ScaleHintNeeded, ideal_relation
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.tasks import load
from lengthgen.proofs_checks.claim import Parameters, Refuted
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.theory import relation

Word = tuple[int, ...]
Slots = Callable[[Any, Any], tuple[Any, ...]]
"""(t, w), numbers or expressions -> the positions that step t reads."""
Key = tuple[str, ...]
Bits = frozenset[sp.Expr]
"""A token that is the sum modulo 2 of the prefix parities y_i with these indices i."""
Operator = Callable[[Key], str]
Count = Callable[[Any], Any]
"""N -> number of operators induced up to scale N."""

SEARCHED = 6
COMPARED = 20
LARGEST = 6
SEARCHED_FROM = 3
"""Smallest aligned scale for the search; up to scale 2 it may read the padding as y_0 in place of '='."""
BLOCK, ALIGNED = "block", "aligned"
SEARCHED_LAYOUTS = 7
IDEAL, RELATIVE, ABSOLUTE = "ideal", "relative", "absolute"
_ALIGNED_COUNTS: Mapping[str, Count] = {IDEAL: lambda N: 1, RELATIVE: lambda N: 1, ABSOLUTE: lambda N: N + 1}
_BLOCK_COUNTS: Mapping[str, Count] = {
    IDEAL: lambda N: 1,
    RELATIVE: lambda N: N,
    ABSOLUTE: lambda N: sp.Integer(1) * N * (N + 3) / 2,
}


def word_task(name: str, symbols: int, output: Callable[[Word], Sequence[int]], *, longer: int = 0) -> Task:
    """Return a task whose prompts of scale n are all words of length n + `longer` over the symbols 0 .. symbols - 1."""
    alphabet = tuple(map(str, range(symbols)))
    return Task(
        name=name,
        alphabet=alphabet,
        prompt=lambda n: [alphabet] * (n + longer),
        generate=lambda word: [str(value) for value in output(tuple(map(int, word)))],
    )


def parity_of(word: Word) -> list[int]:
    """Return the sum modulo 2, as the only output."""
    return [sum(word) % 2]


def parities_of(word: Word) -> list[int]:
    """Return the sums modulo 2 of all prefixes."""
    return [sum(word[: t + 1]) % 2 for t in range(len(word))]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A group of steps at all scales: step t of scale n in a layout of width w, as expressions in symbols >= 0."""

    name: str
    t: sp.Expr
    n: sp.Expr
    w: sp.Expr

    def token(self, position: sp.Expr) -> str | Bits:
        """Return the token at a position: a mark, or bits.

        Raises `ValueError` if the symbols do not decide it, or if the position is not earlier than the step.
        """
        if not (_at_least(position, 1) and _at_least(self.w + self.t, position)):
            raise ValueError(f"{self.name} step: position {position} is not one of the earlier")
        if _at_least(self.n, position):
            return frozenset({sp.expand(position), sp.expand(position - 1)} - {sp.Integer(0)})
        if _at_least(self.w, position):
            return PAD
        if sp.expand(position - self.w - 1) == 0:
            return "="
        return frozenset({sp.expand(position - self.w - 1)} - {sp.Integer(0)})

    def wanted(self) -> str | Bits:
        """Token that the step must write."""
        return frozenset({sp.expand(self.t)}) if _at_least(self.n, self.t) else "$"


def steps(*, aligned: bool) -> tuple[Step, ...]:
    """Return the first step, the later ones and the last, of every scale: together these are all steps."""
    r, s, gap = sp.symbols("r s gap", integer=True, nonnegative=True)

    def step(name: str, t: sp.Expr, n: sp.Expr) -> Step:
        return Step(name=name, t=t, n=n, w=n + 1 + gap if aligned else n)

    return (step("first", sp.Integer(1), 1 + s), step("later", 2 + r, 2 + r + s), step("end", 2 + s, 1 + s))


def cases(step: Step, slots: Slots) -> Iterator[tuple[Key, str]]:
    """Yield the keys that a step can meet, each with the token to write; the prefix parities y_i take all values.

    Raises `ValueError` if two indices may be equal.
    """
    tokens = [step.token(position) for position in slots(step.t, step.w)]
    wanted = step.wanted()
    indices = sorted({i for token in (*tokens, wanted) if isinstance(token, frozenset) for i in token}, key=str)
    for first, second in product(indices, repeat=2):
        if first != second and not sp.expand(first - second).is_nonzero:
            raise ValueError(f"{step.name} step: y_{first} and y_{second} may be one")
    for values in product((0, 1), repeat=len(indices)):
        value = dict(zip(indices, values, strict=True))
        yield tuple(_read(token, value) for token in tokens), _read(wanted, value)


def sequence(bits: Sequence[int], *, width: int) -> list[str]:
    """Return the whole sequence of one prompt."""
    tokens = [*map(str, bits), *[PAD] * (width - len(bits)), "="]
    return [*tokens, *(str(sum(bits[: t + 1]) % 2) for t in range(len(bits))), "$"]


def slots_of_parity(t: Any, w: Any) -> tuple[Any, Any]:
    """Positions of x_t and y_(t-1); '=' stands for y_0, and after the bits comes '=' or padding."""
    return t, w + t


def xor(key: Key) -> str:
    """Unit operator: (x_t, y_(t-1)) -> y_t, and '$' after the bits."""
    x, y = key
    return "$" if x in ("=", PAD) else str(int(x) ^ (0 if y == "=" else int(y)))


def _read(token: str | Bits, parities: Mapping[sp.Expr, int]) -> str:
    """Token for these values of the prefix parities."""
    return token if isinstance(token, str) else str(sum(parities[i] for i in token) % 2)


def _at_least(larger: sp.Expr, smaller: sp.Expr | int) -> bool:
    """True if larger >= smaller. Raises `ValueError` if the symbols do not decide it."""
    difference = sp.expand(larger - smaller)
    if difference.is_nonnegative:
        return True
    if difference.is_negative:
        return False
    raise ValueError(f"the symbols do not say whether {larger} >= {smaller}")


def _require_right_when_run(slots: Slots, operator: Operator) -> None:
    """Require that the circuit is right on all words of few bits in both layouts; the counterexample is a prompt."""
    for n, padding in product(range(1, SEARCHED), (0, 1, 2)):
        for bits in product((0, 1), repeat=n):
            tokens = sequence(bits, width=n + padding)
            for t in range(1, n + 2):
                key = tuple(tokens[position - 1] for position in slots(t, n + padding))
                output, expected = operator(key), tokens[n + padding + t]
                if output != expected:
                    raise Refuted(f"x = {bits}, width {n + padding}, step {t} reads {key}: {output}, not {expected}")


def _require_right_at_every_scale(slots: Slots, operator: Operator) -> None:
    """Require that the operator writes the right token for every key that any step of any scale can meet."""
    for is_aligned in (False, True):
        for step in steps(aligned=is_aligned):
            for key, expected in cases(step, slots):
                refute(operator(key) != expected, f"{step.name} step: {key} gives {operator(key)}, not {expected}")


def _require_reference(task: Task, slots: Slots, operator: Operator) -> None:
    """Require that the task is defined by this circuit."""
    assert task.reference is not None
    for n in range(1, COMPARED + 1):
        arguments_read = [arguments for _, arguments in task.reference.steps(n)]
        if arguments_read != [slots(t, n) for t in range(1, n + 2)]:
            raise Refuted(f"scale {n}: the task's own circuit reads {arguments_read}")
    for key in {key for step in steps(aligned=False) for key, _ in cases(step, slots)}:
        if task.reference.apply("sum", key) != operator(key):
            raise Refuted(f"the task's own operator gives {task.reference.apply('sum', key)} for {key}")


def _bitwise(combine: Callable[[int, int], int]) -> Operator:
    """The operator with another function of two bits in place of xor."""
    return lambda key: str(combine(*map(int, key))) if set(key) <= {"0", "1"} else xor(key)


def parity_in(layout: str, largest_scale: int) -> Task:
    """Return the parity task in the block layout, or aligned to the largest scale."""
    return aligned(load("parity"), largest_scale) if layout == ALIGNED else load("parity")


def searched_circuit(layout: str, largest_scale: int) -> Circuit:
    """Return the circuit that the search finds at arity 2."""
    task = parity_in(layout, largest_scale)
    circuit = src(task, traces_up_to(task, largest_scale), 2).circuit
    assert circuit is not None, "parity is feasible at arity 2"
    return circuit


def defining_circuit(layout: str, largest_scale: int, slots: Slots = slots_of_parity) -> Circuit:
    """Return the circuit of claim src-parity, with the operator entries that are used up to the largest scale."""
    task = parity_in(layout, largest_scale)
    symbols = task.alphabet
    table = np.full(len(symbols) ** 2, UNDEFINED, dtype=np.uint8)
    wirings = {}
    for trace in traces_up_to(task, largest_scale):
        width = len(trace.given) - 1
        wirings[trace.scale] = tuple(
            Wiring(position=width + 1 + t, arguments=slots(t, width), operator=0) for t in range(1, trace.scale + 2)
        )
        for wiring in wirings[trace.scale]:
            x, y = (trace.tokens[argument - 1].astype(np.int64) for argument in wiring.arguments)
            table[x * len(symbols) + y] = trace.tokens[wiring.position - 1]
    return Circuit(task=task, arity=2, wirings=wirings, operators=(table,))


def count_labels(circuit: Circuit, *, scale_hint: bool) -> int:
    """Return the number of labels over all pairs of a query and a key that is not later."""
    relation = ideal_relation(circuit, scale_hint=scale_hint)
    seen_labels: set[int] = set()
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        seen_labels |= set(relation.labels(length, scale)[np.triu_indices(length)].tolist())
    return len(seen_labels)


def _require_labels_at_every_scale(labels: int, slots: Slots, smallest: int, *, padded: bool) -> None:
    """Require that irrelevant pairs and the slots that matter make this number of labels."""
    met: dict[Key, str] = {}
    irrelevant = False
    for step in steps(aligned=padded):
        if smallest == 1 and step.name == "later":
            continue
        met |= dict(cases(step, slots))
        positions = slots(step.t, step.w)
        distances = [(second - first).expand() for first, second in combinations(positions, 2)]
        if not all(distance.is_positive or distance.is_negative for distance in distances):
            raise Refuted(f"{step.name} step: one key may fill two slots of {positions}")
        irrelevant |= all((position - 1).expand().is_positive for position in positions)
    number_of_labels = int(irrelevant) + len(essential_slots(met))
    refute(number_of_labels != labels, f"the defining circuit: {number_of_labels} labels, not {labels}")


def essential_slots(table: Mapping[Key, str]) -> Sequence[int]:
    """Return the slots (counted from 0) whose change alone, with all others fixed, changes the value."""
    pairs = list(combinations(table, 2))
    differ = [[slot for slot, both in enumerate(zip(*pair, strict=True)) if len(set(both)) > 1] for pair in pairs]
    alone = {slots[0] for slots, (a, b) in zip(differ, pairs, strict=True) if len(slots) == 1 and table[a] != table[b]}
    return sorted(alone)


def induced_counts(layout: str, counts: Mapping[str, Count], slots: Slots = slots_of_parity) -> Facts:
    """Decide the number of operators that each encoding induces up to scale N, for every N."""
    circuit = searched_circuit(layout, SEARCHED_LAYOUTS)
    traces = traces_up_to(parity_in(layout, SEARCHED_LAYOUTS), SEARCHED_LAYOUTS)
    relations = {
        IDEAL: ideal_relation(circuit, scale_hint=layout == BLOCK),
        RELATIVE: relation.relative(),
        ABSOLUTE: relation.absolute(),
    }
    size = sp.Symbol("N", integer=True, positive=True)
    proved = []
    for encoding, count in counts.items():
        for scale, number_of_operators in induced_complexity(circuit, relations[encoding], traces).complexity.items():
            if number_of_operators != count(sp.Integer(scale)):
                raise Refuted(
                    f"{layout}: {encoding} induces {number_of_operators:g} operators up to {scale}, not {count(scale)}"
                )
        general = signature_count(encoding, layout, size, slots)
        if sp.expand(general - count(size)) != 0:
            raise Refuted(f"{layout}: {encoding} induces {general} operators up to N, not {count(size)}")
        proved.append(f"{encoding} {sp.factor(general)}")
    _require_right_when_run(slots, xor)
    _require_right_at_every_scale(slots, xor)
    yield f"{layout}, scales 1..N pooled, every N: {'; '.join(proved)}"
    yield (
        "argument: each encoding labels the two slots differently and no other key like them, so a view is a key, "
        "all steps of one label set share xor, and the label sets are counted by the rank of their map from (n, t)"
    )
    yield f"the same numbers are computed from a circuit found by search, N = 1..{SEARCHED_LAYOUTS}"


def signature_count(encoding: str, layout: str, size: Any, slots: Slots = slots_of_parity) -> Any:
    """Return the number of label pairs of the two slots over all steps t = 1 .. n + 1 of all scales n = 1 .. N.

    Raises `Refuted` if an encoding gives both slots the same label.
    """
    n, t, width = sp.symbols("n t w", positive=True)
    w = width if layout == ALIGNED else n
    labels = []
    for slot, position in enumerate(slots(t, w), start=1):
        label = {IDEAL: sp.Integer(slot), RELATIVE: w + t - position, ABSOLUTE: position}[encoding]
        labels.append(sp.expand(label))
    if not all((later - first).expand().is_nonzero for first, later in pairwise(labels)):
        raise Refuted(f"{layout}: {encoding} gives both slots the labels {labels}")
    rates = sp.Matrix([[sp.diff(label, variable) for variable in (n, t)] for label in labels])
    by_scale, by_step = (any(rates[:, column]) for column in (0, 1))
    if by_scale and by_step:
        if rates.rank() < 2:
            raise ValueError(f"the labels {labels} do not tell n and t apart")
        index = sp.Symbol("index", integer=True, positive=True)
        return sp.expand(sp.summation(index + 1, (index, 1, size)))
    return size if by_scale else size + 1 if by_step else sp.Integer(1)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-parity",
    formalised("Definition 4", "parity with chain of thought"),
    r"\mathrm{SRC}_2(\text{parity},n)=1\quad\forall n",
    assumptions=("'=' closes the operand and stands for y_0; without it SRC is 2 from scale 2 on",),
    answers=("value",),
    falsifiers={
        "one slot": {"arity": 1},
        "without chain of thought": {"task": lambda: load("parity-direct")},
        "no mark after the operand": {"task": lambda: word_task("parity without '='", 2, parities_of)},
        "or": {"operator": _bitwise(int.__or__)},
        "and": {"operator": _bitwise(int.__and__)},
        "reads the bit before": {"slots": lambda t, w: (w + 1 if t == 1 else t - 1, w + t)},
        "reads the parity before the last": {"slots": lambda t, w: (t, w + 1)},
    },
)
def parity_is_one(
    task: Callable[[], Task] = lambda: load("parity"),
    arity: int = 2,
    value: int = 1,
    slots: Slots = slots_of_parity,
    operator: Operator = xor,
) -> Facts:
    """At arity 2, SRC of parity with chain of thought is 1 at every scale."""
    searched = task()
    for scale, bounds in src(searched, traces_up_to(searched, SEARCHED), arity).bounds.items():
        if bounds != (value, value):
            raise Refuted(f"{searched.name} at arity {arity}: SRC up to scale {scale} is {bounds[0]:g}, not {value}")
    _require_right_when_run(slots, operator)
    _require_right_at_every_scale(slots, operator)
    _require_reference(searched, slots, operator)
    yield "lower bound: every scale has a step, and a step needs an operator"
    yield (
        "upper bound, all n and t at once, block and aligned: in the first step, the later ones and the last, with "
        "free prefix parities y_i, the operator gives what is to be written on every key that can be met"
    )
    yield (
        f"by search the value is the same at scales 1..{SEARCHED}; the task's own circuit at scales "
        f"1..{COMPARED} is the one proved right"
    )


@CLAIMS.claim(
    "src-roles",
    formalised("Figure 1", "the labels of the ideal encoding in parity with chain of thought"),
    r"|\varphi_{\mathrm{IPE}}(\text{pairs})|=3\quad\forall N\ge 2",
    assumptions=("the circuit of src-parity; other circuits of one operator may read other positions",),
    answers=("labels",),
    falsifiers={
        "one slot, read twice": {"slots": lambda t, w: (w + t, w + t)},
        "from scale 1 on": {"smallest": 1},
        "unaligned without scale hint": {"scale_hint": {ALIGNED: False, BLOCK: False}},
    },
)
def ideal_labels(
    slots: Slots = slots_of_parity,
    labels: int = 3,
    smallest: int = 2,
    scale_hint: Mapping[str, bool] = {ALIGNED: False, BLOCK: True},
) -> Facts:
    """The ideal relation of parity with chain of thought has three labels (irrelevant, slot 1, slot 2) at every largest
    scale from 2 on: on aligned data without scale hint, on unaligned data with it.
    """
    for layout, hint in scale_hint.items():
        for largest in range(smallest, LARGEST + 1):
            circuits = [defining_circuit(layout, largest, slots)]
            if largest >= SEARCHED_FROM:
                circuits.append(searched_circuit(layout, largest))
            for circuit in circuits:
                try:
                    number_of_labels = count_labels(circuit, scale_hint=hint)
                except ScaleHintNeeded as needed:
                    raise Refuted(f"{layout}, scales 1..{largest}: {needed}") from needed
                if number_of_labels != labels:
                    raise Refuted(f"{layout}, scales 1..{largest}: {number_of_labels} labels, not {labels}")
        _require_labels_at_every_scale(labels, slots, smallest, padded=layout == ALIGNED)
    yield (
        "every n and t: the two slots are different positions, so no key has two roles; each slot alone changes "
        "what is written, so each has a label; from t = 2 on no slot is x_1, so some pairs are irrelevant"
    )
    yield f"the circuits found by search up to N = {SEARCHED_FROM}..{LARGEST} have as many labels"
    yield "up to scale 1 alone it is two: y_0 is always '=', so slot 2 decides nothing"


_induced = partial(
    CLAIMS.claim,
    assumptions=(
        "the circuit whose step t reads x_t and y_(t-1); other circuits of one operator may induce other numbers",
        "the layout ends with '$', which is a step as well",
        "in words: no other key has the labels of the two slots, so a step's labels and tokens are its key",
    ),
    answers=("counts",),
)
_FIGURE_1 = SOURCE.at(
    "caption of Figure 1: the ideal and the relative encoding give a circuit of non-increasing SRC, absolute positions "
    "need an operator of their own at each step; the counts, and the layouts, are our formalisation"
)
_OTHER_SLOTS: Mapping[str, Parameters] = {
    "the place before '=' read in place of x_t": {"slots": lambda t, w: (w, w + t)},
    "each slot one position later": {"slots": lambda t, w: (t + 1, w + t + 1)},
}
_induced(
    "src-induced-aligned",
    _FIGURE_1,
    r"\mathrm{SRC}_{\mathrm{IPE}}=\mathrm{SRC}_{\mathrm{rel}}=1,\ \mathrm{SRC}_{\mathrm{abs}}=N+1",
    statement="On scale-aligned parity with chain of thought, the ideal and the relative encoding induce one operator "
    "up to every N; the absolute encoding induces one for each step of scale N: N + 1, with the step that writes '$'.",
    holds={"layout": ALIGNED, "counts": _ALIGNED_COUNTS},
    falsifiers={"the same without alignment": {"layout": BLOCK}, **_OTHER_SLOTS},
)(induced_counts)
_induced(
    "src-induced-block",
    _FIGURE_1,
    r"\mathrm{SRC}_{\mathrm{IPE}}=1,\ \mathrm{SRC}_{\mathrm{rel}}=N,\ \mathrm{SRC}_{\mathrm{abs}}=N(N+3)/2",
    statement="On parity with chain of thought, without alignment and with scales 1..N pooled, the ideal encoding with "
    "scale hint induces one operator, the relative encoding N, and the absolute one N(N+3)/2: one for each step of "
    "each scale.",
    holds={"layout": BLOCK, "counts": _BLOCK_COUNTS},
    falsifiers={"the same aligned": {"layout": ALIGNED}, **_OTHER_SLOTS},
)(induced_counts)
