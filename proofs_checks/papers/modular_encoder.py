"""Text-based modular addition (arXiv 2601.04283): what its encoder and its loss can do at all, by exact computation.

The encoder has one head and arbitrary functions in place of its matrices: attention weights w(query, key, label) > 0,
values v(key) and an update f(state, attended).  A statement that holds for free symbols w, v, f holds for all widths,
weights and activations.  More heads are more arguments of f.  The last claim compares reported accuracies by position
with those predicted from rows alone, as `lengthgen modular-addition` does: from the texts of training and the encoding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import sympy as sp

from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS, ModularProfile, load_profile
from lengthgen.empirical.studies.modular_addition.coverage import predict
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach
from lengthgen.proofs_checks.papers.modular import BY_POSITION, SOURCE

Label = Callable[[Any, Any], Any]
"""(query position, key position) -> what the encoding tells of the pair."""
Code = Callable[[Any, Any], Any]
"""(token, position) -> input of the first layer."""
Readout = Callable[[Sequence[Any], int, "Functions"], Any]
"""(all states, number of tokens of the text, which are the last, functions) -> what the classes are computed from."""

LAYERS = 2
MOST_TOKENS = 4
CLASSES = 3
_NAMES = ("CLS", "PAD", *(f"x{index}" for index in range(1, MOST_TOKENS + 1)))
PAPER = replace(load_profile("paper"), seeds=(42,))
"""Published sizes; one split is enough, since every digit stands at every place of some training pair."""
SOLVED = 50
"""Percentage above which a position counts as solved ([F]): the reported values are below 9 or above 90."""
REPORTED = {
    name: BY_POSITION[row] for name, row in (("released-baseline", "baseline_001"), ("released-shift", "i1_001_1"))
}


@dataclass(frozen=True, kw_only=True)
class Functions:
    """Functions of the encoder in one layer.

    Attributes:
        weight: (layer, query state, key state, label) -> positive attention weight before normalisation.
        value: (layer, key state) -> value.
        update: (layer, state, attended) -> state of the next layer.
        add: sum of numbers.
    """

    weight: Callable[[int, Any, Any, Any], Any]
    value: Callable[[int, Any], Any]
    update: Callable[[int, Any, Any], Any]
    add: Callable[..., Any]


SYMBOLIC = Functions(
    weight=lambda layer, query, key, label: sp.Function(f"w{layer}")(query, key, label),
    value=lambda layer, key: sp.Function(f"v{layer}")(key),
    update=lambda layer, state, attended: sp.Function(f"f{layer}")(state, attended),
    add=sp.Add,
)
"""Free symbols: expressions are equal only if they are equal for all functions."""
RATIONAL = Functions(
    weight=lambda layer, query, key, label: 1 + (query + 2 * key + layer) ** 2 + Fraction(1, 1 + label**2),
    value=lambda layer, key: 3 * key - layer,
    update=lambda layer, state, attended: state + attended**2,
    add=lambda *terms: sum(terms, Fraction(0)),
)
"""Example in exact arithmetic, for counterexamples."""


def encode(functions: Functions, states: Sequence[Any], positions: Sequence[Any], label: Label) -> list[Any]:
    """Return the states after LAYERS layers in which every token attends to all."""
    for layer in range(LAYERS):
        attended = []
        for query, at in zip(states, positions, strict=True):
            weights = [
                functions.weight(layer, query, key, label(at, place))
                for key, place in zip(states, positions, strict=True)
            ]
            weighted = [weight * functions.value(layer, key) for weight, key in zip(weights, states, strict=True)]
            attended.append(functions.add(*weighted) / functions.add(*weights))
        states = [functions.update(layer, state, sums) for state, sums in zip(states, attended, strict=True)]
    return list(states)


def no_label(query: Any, key: Any) -> Any:
    """Label of NoPE: the same for all pairs."""
    return 0


def offset(query: Any, key: Any) -> Any:
    """Label of a relative encoding."""
    return key - query


def token_alone(token: Any, position: Any) -> Any:
    """Code without a position."""
    return token


def with_row(token: Any, position: Any) -> Any:
    """Code with a learned row of the position; the rows are any numbers, here the square of the position."""
    rows = sp.Function("P")(position) if isinstance(token, sp.Basic) else Fraction(1 + position) ** 2
    return token + rows


def read_cls(states: Sequence[Any], count: int, functions: Functions) -> Any:
    """State of CLS."""
    return states[0]


def read_first(states: Sequence[Any], count: int, functions: Functions) -> Any:
    """State of the first token of the text."""
    return states[-count]


def read_mean(states: Sequence[Any], count: int, functions: Functions) -> Any:
    """Mean over the text."""
    return functions.add(*states[-count:]) / count


def _tokens(functions: Functions, names: Sequence[str]) -> list[tuple[Any, int]]:
    """Tokens at positions 1, 2, ...: symbols, or numbers that differ as the names do."""
    return [
        (sp.Symbol(name) if functions is SYMBOLIC else Fraction(2 + _NAMES.index(name)), place)
        for place, name in enumerate(names, 1)
    ]


def _read(
    functions: Functions,
    tokens: Sequence[tuple[Any, Any]],
    *,
    code: Code,
    label: Label,
    readout: Readout,
    has_cls: bool,
    count: int | None = None,
) -> Any:
    """Readout of tokens with their positions, perhaps after CLS at position 0; the text is the last `count` tokens."""
    states = [code(token, position) for token, position in tokens]
    positions = [position for _, position in tokens]
    if has_cls:
        [(cls, _)] = _tokens(functions, ["CLS"])
        states, positions = [cls, *states], [0, *positions]
    return readout(encode(functions, states, positions, label), len(tokens) if count is None else count, functions)


def disagreement(logits: Sequence[Sequence[sp.Expr]]) -> sp.Expr:
    """1 if the variants' largest logits are not all of one class, else 0."""
    agreeing = (sp.Mul(*(_is_largest(row, answer) for row in logits)) for answer in range(CLASSES))
    return 1 - sp.Add(*agreeing)


def _is_largest(row: Sequence[sp.Expr], answer: int) -> sp.Expr:
    """1 if the answer has the largest logit, else 0."""
    others = (row[answer] > other for index, other in enumerate(row) if index != answer)
    return sp.Piecewise((1, sp.And(*others)), (0, True))


def squared_difference(logits: Sequence[Sequence[sp.Expr]]) -> sp.Expr:
    """Mean over classes and over the pairs of variants of the squared difference of logits."""
    squares = [
        (first - second) ** 2
        for variant, other in combinations(logits, 2)
        for first, second in zip(variant, other, strict=True)
    ]
    return sp.Add(*squares) / len(squares)


def expected_disagreement(logits: Sequence[Sequence[sp.Expr]]) -> sp.Expr:
    """Disagreement of answers drawn with probabilities proportional to exp of the logits."""
    totals = [sp.Add(*map(sp.exp, row)) for row in logits]
    same = (
        sp.Mul(*(sp.exp(row[answer]) / total for row, total in zip(logits, totals, strict=True)))
        for answer in range(CLASSES)
    )
    return 1 - sp.Add(*same)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "mod-1",
    "the ALiBi ablation of the released script: no position embedding, readout at CLS",
    r"f(\pi(x)) = f(x)\ \text{for every permutation}\ \pi",
    strength=Strength.BOUNDED,
    reach=f"up to {MOST_TOKENS} tokens",
    assumptions=("attention weights, values and updates are any functions, the same at every position",),
    falsifiers={
        "with a learned row of each position": {"code": with_row},
        "with the distances of ALiBi": {"label": lambda query, key: abs(query - key)},
        "read at the first token": {"readout": read_first},
    },
)
def order_is_lost(code: Code = token_alone, label: Label = no_label, readout: Readout = read_cls) -> Facts:
    """An encoder of two layers without positions, read at CLS, gives the same output for every order of its tokens,
    padding included; decided for up to 4 tokens and arbitrary attention weights, values and updates.
    """
    compared = 0
    for count in range(1, MOST_TOKENS + 1):
        names = [*(f"x{index}" for index in range(1, count)), "PAD"]
        for order in permutations(range(count)):

            def output(functions: Functions, turned: Sequence[int], names: Sequence[str] = names) -> Any:
                tokens = _tokens(functions, [names[index] for index in turned])
                return _read(functions, tokens, code=code, label=label, readout=readout, has_cls=True)

            straight = range(count)
            compared += 1
            if output(SYMBOLIC, straight) != output(SYMBOLIC, order):
                turned = ", ".join(names[index] for index in order)
                values = [float(output(RATIONAL, indices)) for indices in (straight, order)]
                raise Refuted(f"{', '.join(names)} and {turned} give {values[0]:.6g} and {values[1]:.6g}")
    yield f"{LAYERS} layers, free functions: {compared} orders of up to {MOST_TOKENS} tokens, one output each"


@CLAIMS.claim(
    "mod-4",
    "the consistency term; the released script counts differing answers",
    r"\nabla_z\,\mathbf 1[\arg\max z_k \ne \arg\max z_l] = 0\ \text{a.e.},\quad \nabla_z\|z_k-z_l\|^2 \ne 0",
    strength=Strength.BOUNDED,
    reach=f"{CLASSES} classes",
    assumptions=("no two logits of a variant are equal, as almost everywhere",),
    falsifiers={
        "the described term has no gradient": {"released": squared_difference},
        "the released term has a gradient": {"described": disagreement},
        "answers drawn by their probabilities": {"released": expected_disagreement},
    },
)
def gradients(
    released: Callable[..., sp.Expr] = disagreement, described: Callable[..., sp.Expr] = squared_difference
) -> Facts:
    """Where no two logits are equal, the share of differing answers, which the released script adds to the loss, has
    gradient 0 in every logit; the squared difference of logits, which the paper describes, has not. Decided for 2 and 3
    variants and 3 classes.
    """
    checked = 0
    for variants in (2, 3):
        logits = [[sp.Symbol(f"z{k}{c}", real=True) for c in range(CLASSES)] for k in range(variants)]
        flat, sloped = released(logits), described(logits)
        for symbol in (entry for row in logits for entry in row):
            slope = sp.piecewise_fold(flat.diff(symbol))
            if sp.simplify(slope) != 0:
                raise Refuted(f"{variants} variants: the released term has the slope {slope} in {symbol}")
            if sp.expand(sloped.diff(symbol)) == 0:
                raise Refuted(f"{variants} variants: the described term has no slope in {symbol}")
            checked += 1
    yield f"2 and 3 variants of one pair, {CLASSES} classes: {checked} derivatives of each term"


@CLAIMS.claim(
    "mod-7",
    "on robustness to shifts of position",
    r"f(\mathrm{PAD}^s x) = f(x)\ \text{for all}\ s\ge0",
    strength=Strength.BOUNDED,
    reach=f"up to {MOST_TOKENS - 1} tokens",
    assumptions=("masked padding has no key and is not read; without CLS there is no other token",),
    falsifiers={
        "read at a CLS that stays at index 0": {"readout": read_cls},
        "with padding that is seen": {"masked": False},
        "with a learned row of each position": {"code": with_row},
        "with labels of rows": {"label": lambda query, key: key},
    },
)
def shifts_are_lost(
    code: Code = token_alone, label: Label = offset, masked: bool = True, readout: Readout = read_mean
) -> Facts:
    """An encoder of two layers gives the same output wherever padding moves the text, if labels depend on offsets
    alone, padding is masked, and the readout is the mean over the text; decided for every shift, up to 3 tokens, and
    arbitrary attention weights, values and updates. With a CLS that stays at index 0 it does not, even under a relative
    encoding.

    Masked padding leaves no key; seen padding stands before the text, one token at each position.
    """
    for count in range(1, MOST_TOKENS):
        names = [f"x{index}" for index in range(1, count + 1)]

        def output(functions: Functions, shift: Any, names: Sequence[str] = names) -> Any:
            padding = [] if masked else _tokens(functions, ["PAD"] * shift)
            text = [(token, shift + place) for token, place in _tokens(functions, names)]
            has_cls = readout is read_cls
            return _read(
                functions, [*padding, *text], code=code, label=label, readout=readout, has_cls=has_cls, count=len(names)
            )

        # A symbol stands for every shift; seen padding needs a number.
        for shift in (sp.Symbol("s", integer=True, positive=True),) if masked else (1, 2):
            if output(SYMBOLIC, 0) != output(SYMBOLIC, shift):
                values = [float(output(RATIONAL, moved)) for moved in (0, 1)]
                raise Refuted(f"{', '.join(names)}: {values[0]:.6g} at shift 0, {values[1]:.6g} at shift 1")
    yield f"{LAYERS} layers, free functions, every shift s: texts of up to {MOST_TOKENS - 1} tokens"


@CLAIMS.claim(
    "mod-10",
    "table of results, baseline and I1_001 by position",
    r"\mathrm{acc}_p>\tfrac12 \iff \{(\text{row},\text{token})\}_p\subseteq\{\ldots\}_{\text{train}}",
    strength=Strength.EXHAUSTIVE,
    assumptions=("every text of the released script's training, with the split of seed 42",),
    answers=("solved",),
    falsifiers={
        "filler from no character on": {"profile": replace(PAPER, shortest_prefix=0)},
        "filler of up to 30 characters": {"profile": replace(PAPER, longest_prefixes=(30, 30, 30))},
        "without positions": {"encoding": "nope"},
    },
)
def rows_decide(
    profile: ModularProfile = PAPER,
    encoding: str = "ape",
    reported: Mapping[str, Sequence[str]] = REPORTED,
    solved: int = SOLVED,
) -> Facts:
    """At each of the 7 positions, for the baseline and for training with shifts, the reported accuracy is above 50 % if
    and only if training shows every pair of row and token that the readout meets there.

    Decide if the reported accuracy is above `solved` at exactly the positions whose rows training shows.
    """
    for name, accuracies in reported.items():
        rows = {row.evaluation: row for row in predict(replace(CONDITIONS[name], encoding=encoding), profile)}
        for position, accuracy in zip(profile.positions, accuracies, strict=True):
            row = rows[f"B at {position}"]
            if row.holds != (float(accuracy) > solved):
                predicted = "holds" if row.holds else "breaks"
                raise Refuted(f"{name}, position {position}: predicted {predicted} ({row.why}), reported {accuracy} %")
        holding = [str(position) for position in profile.positions if rows[f"B at {position}"].holds]
        yield f"{name}: predicted and reported above {solved} % at {', '.join(holding)}, and nowhere else"
    yield Reach(f"{len(profile.positions)} positions")
