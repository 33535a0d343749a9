"""Modular addition as text: what the paper's encoder and its loss can do at all, by exact computation.

The encoder has one head and arbitrary functions in place of its matrices: attention weights w(query, key, label) > 0,
values v(key) and an update f(state, attended).  A statement that holds for free symbols w, v, f holds for all widths,
weights and activations.  More heads are more arguments of f.
"""

from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.modular import SOURCE

CLAIMS = PaperClaims(SOURCE)
Readout = Callable[[Sequence[sp.Expr], int], sp.Expr]
"""(all states, number of tokens of the text, which are the last) -> what the classes are computed from."""
LAYERS = 2
MOST_TOKENS = 4
CLASSES = 3
_HEADS = "one head; in words: further heads are further arguments of the update"
_NAMES = ("CLS", "PAD", *(f"x{index}" for index in range(1, MOST_TOKENS + 1)))


def encode(states: Sequence[sp.Expr], positions: Sequence[Any], label: Formula) -> list[sp.Expr]:
    """Return the states after LAYERS layers in which every token attends to all; `label` takes both positions."""
    for layer in range(LAYERS):
        w, v, f = (sp.Function(f"{name}{layer}") for name in "wvf")
        attended = []
        for query, at in zip(states, positions, strict=True):
            weights = [w(query, key, label(at, place)) for key, place in zip(states, positions, strict=True)]
            weighted = [weight * v(key) for weight, key in zip(weights, states, strict=True)]
            attended.append(sp.Add(*weighted) / sp.Add(*weights))
        states = [f(state, sums) for state, sums in zip(states, attended, strict=True)]
    return list(states)


def in_example(output: sp.Expr) -> float:
    """Value of an output with an example of w, v and f, and of the rows P, where tokens are the numbers 2, 3, ..."""
    functions: dict[str, Callable[..., Any]] = {"P": lambda position: (1 + position) ** 2}
    for layer in range(LAYERS):
        functions |= {
            f"w{layer}": lambda query, key, label, layer=layer: 1 + (query + 2 * key + layer) ** 2 + 1 / (1 + label**2),
            f"v{layer}": lambda key, layer=layer: 3 * key - layer,
            f"f{layer}": lambda state, attended: state + attended**2,
        }
    numbers = {name: 2 + index for index, name in enumerate(_NAMES)}
    return float(sp.lambdify([*map(sp.Symbol, numbers)], output, [functions])(*numbers.values()))


def token_alone(token: sp.Expr, position: Any) -> sp.Expr:
    """Code without a position."""
    return token


def with_row(token: sp.Expr, position: Any) -> sp.Expr:
    """Code with a learned row of the position; the rows are any numbers."""
    return token + sp.Function("P")(position)


def read_cls(states: Sequence[sp.Expr], count: int) -> sp.Expr:
    """State of CLS."""
    return states[0]


def read_mean(states: Sequence[sp.Expr], count: int) -> sp.Expr:
    """Mean over the text."""
    return sp.Add(*states[-count:]) / count


@CLAIMS.claim(
    "mod-1",
    "the ALiBi ablation of the released script: no position embedding, readout at CLS",
    r"f(\pi(x)) = f(x)\ \text{for every permutation}\ \pi",
    strength=Strength.BOUNDED,
    reach=f"up to {MOST_TOKENS} tokens",
    assumptions=(
        "attention weights, values and updates are any functions, the same at every position",
        _HEADS,
    ),
    falsifiers={
        "with a learned row of each position": {"code": with_row},
        "with the distances of ALiBi": {"label": lambda query, key: abs(query - key)},
        "read at the first token": {"readout": lambda states, count: states[-count]},
    },
)
def order_is_lost(
    code: Formula = token_alone, label: Formula = lambda query, key: 0, readout: Readout = read_cls
) -> Facts:
    """An encoder of two layers without positions, read at CLS, gives the same output for every order of its tokens,
    padding included; decided for up to 4 tokens and arbitrary attention weights, values and updates.
    """

    def output(names: Sequence[str]) -> sp.Expr:
        states = [sp.Symbol("CLS"), *(code(sp.Symbol(name), place) for place, name in enumerate(names, 1))]
        return readout(encode(states, range(len(states)), label), len(names))

    compared = 0
    for count in range(1, MOST_TOKENS + 1):
        names = [*(f"x{index}" for index in range(1, count)), "PAD"]
        straight = output(names)
        for order in permutations(names):
            turned = output(order)
            compared += 1
            if turned != straight:
                values = f"{in_example(straight):.6g} and {in_example(turned):.6g}"
                refute(True, f"{', '.join(names)} and {', '.join(order)} give {values}")
    yield f"{LAYERS} layers, free functions: {compared} orders of up to {MOST_TOKENS} tokens, one output each"


Logits = Sequence[Sequence[sp.Expr]]
"""[variant, class]"""


def disagreement(logits: Logits) -> sp.Expr:
    """1 if the variants' largest logits are not all of one class, else 0."""

    def is_largest(row: Sequence[sp.Expr], answer: int) -> sp.Expr:
        others = (row[answer] > other for index, other in enumerate(row) if index != answer)
        return sp.Piecewise((1, sp.And(*others)), (0, True))

    return 1 - sp.Add(*(sp.Mul(*(is_largest(row, answer) for row in logits)) for answer in range(CLASSES)))


def squared_difference(logits: Logits) -> sp.Expr:
    """Mean over classes and over the pairs of variants of the squared difference of logits."""
    squares = [
        (first - second) ** 2
        for variant, other in combinations(logits, 2)
        for first, second in zip(variant, other, strict=True)
    ]
    return sp.Add(*squares) / len(squares)


def _by_a_margin(logits: Logits) -> sp.Expr:
    """Disagreement of answers, of class 0 only where it leads by 1."""
    return disagreement([[(entry - 1 if index == 0 else entry) for index, entry in enumerate(row)] for row in logits])


def expected_disagreement(logits: Logits) -> sp.Expr:
    """Disagreement of answers drawn with probabilities proportional to exp of the logits."""
    shares = [[sp.exp(logit) / sp.Add(*map(sp.exp, row)) for logit in row] for row in logits]
    return 1 - sp.Add(*(sp.Mul(*of_class) for of_class in zip(*shares, strict=True)))


@CLAIMS.claim(
    "mod-4",
    "the consistency term; the released script counts differing answers",
    r"\nabla_z\,\mathbf 1[\arg\max z_k \ne \arg\max z_l] = 0\ \text{a.e.},\quad \nabla_z\|z_k-z_l\|^2 \not\equiv 0",
    strength=Strength.BOUNDED,
    reach=f"{CLASSES} classes",
    assumptions=("no two logits of a variant are equal, as almost everywhere",),
    falsifiers={
        "the described term has no gradient": {"released": squared_difference},
        "the released term has a gradient": {"described": disagreement},
        "answers drawn by their probabilities": {"released": expected_disagreement},
        "answers of class 0 by a margin of 1": {"released": _by_a_margin},
    },
)
def gradients(released: Formula = disagreement, described: Formula = squared_difference) -> Facts:
    """Where no two logits are equal, the share of differing answers, which the released script adds to the loss, has
    gradient 0 in every logit; the squared difference of logits, which the paper describes, has a slope in every logit
    that is not 0 everywhere. Decided for 2 and 3 variants and 3 classes.
    """
    checked = 0
    for variants in (2, 3):
        logits = [[sp.Symbol(f"z{k}{c}", real=True) for c in range(CLASSES)] for k in range(variants)]
        flat, sloped = released(logits), described(logits)
        ties = {first - second for variant in logits for first, second in permutations(variant, 2)}
        for jump in sorted(flat.atoms(Relational), key=str):
            between = f"{variants} variants: the released term may jump where {jump.lhs} = {jump.rhs}"
            refute(jump.lhs - jump.rhs not in ties, between)
        for symbol in (entry for row in logits for entry in row):
            slope = sp.piecewise_fold(flat.diff(symbol))
            term = f"the released term has the slope {slope} in {symbol}"
            refute(sp.simplify(slope) != 0, f"{variants} variants: {term}")
            level = sp.expand(sloped.diff(symbol)) == 0
            refute(level, f"{variants} variants: the described term has no slope in {symbol}")
            checked += 1
    yield f"2 and 3 variants of one pair, {CLASSES} classes: {checked} derivatives of each term"


@CLAIMS.claim(
    "mod-7",
    "on robustness to shifts of position",
    r"f(\mathrm{PAD}^s x) = f(x)\ \text{for all}\ s\ge0",
    strength=Strength.BOUNDED,
    reach=f"up to {MOST_TOKENS - 1} tokens",
    assumptions=(
        "masked padding has no key and is not read; without CLS there is no other token",
        _HEADS,
    ),
    falsifiers={
        "read at a CLS that stays at index 0": {"readout": read_cls},
        "with padding that is seen": {"masked": False},
        "with a learned row of each position": {"code": with_row},
        "with labels of rows": {"label": lambda query, key: key},
    },
)
def shifts_are_lost(
    code: Formula = token_alone,
    label: Formula = lambda query, key: key - query,
    masked: bool = True,
    readout: Readout = read_mean,
) -> Facts:
    """An encoder of two layers gives the same output wherever padding moves the text, if labels depend on offsets
    alone, padding is masked, and the readout is the mean over the text; decided for every shift, up to 3 tokens, and
    arbitrary attention weights, values and updates. With a CLS that stays at index 0 it may change, even under a
    relative encoding.

    Masked padding leaves no key; seen padding stands before the text, one token at each position.
    """

    def output(names: Sequence[str], shift: Any) -> sp.Expr:
        cls = [(sp.Symbol("CLS"), 0)] if readout is read_cls else []
        padding = [] if masked else [("PAD", place) for place in range(1, shift + 1)]
        text = [(name, shift + place) for place, name in enumerate(names, 1)]
        tokens = [*cls, *((code(sp.Symbol(name), place), place) for name, place in [*padding, *text])]
        states, positions = zip(*tokens, strict=True)
        return readout(encode(states, positions, label), len(names))

    for count in range(1, MOST_TOKENS):
        names = [f"x{index}" for index in range(1, count + 1)]
        # A symbol stands for every shift; seen padding needs a number.
        for shift in (sp.Symbol("s", integer=True, positive=True),) if masked else (1, 2):
            if output(names, 0) != output(names, shift):
                at_zero, at_one = (in_example(output(names, moved)) for moved in (0, 1))
                refute(True, f"{', '.join(names)}: {at_zero:.6g} at shift 0, {at_one:.6g} at shift 1")
    yield f"{LAYERS} layers, free functions, every shift s: texts of up to {MOST_TOKENS - 1} tokens"
