"""Consequences for PLAA (arXiv 2410.08898): POLA as its disjoint case, and RPE-Square on ideal slots, in the limit."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Parameters, Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.plaa import SOURCE
from lengthgen.proofs_checks.papers.pola.cases import small_fractions
from lengthgen.theory.enumeration import every_relation
from lengthgen.theory.learning import anchored, plaa, pola
from lengthgen.theory.learning.plaa import PositionBasis
from lengthgen.theory.relation import Labels

Numbers = NDArray[Any]
Positions = NDArray[np.int64]
Places = dict[str, tuple[list[sp.Expr], sp.Expr, sp.Expr]]
Index = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(query, its anchor, key, its anchor) -> index of the pair."""

SIZE = 3
LONGEST_COPY = 6
LOGIT_SCALES = (2.0, 4.0, 8.0, 16.0)
ROUNDING = 1e-12
_ALPHABET = ("^", "+", "=", "$", "0", "1")


def _ideal_slots() -> Places:
    """Special positions, query and key of each slot; t counts steps from 0; r, s >= 0 are the digits left to read."""
    t, r, s = sp.symbols("t r s", integer=True, nonnegative=True)
    digit = t + 1
    first_length, second_length = digit + s, r + 1
    places = {"copy: x_(t+1) at step t": ([sp.Integer(1), first_length + 2], first_length + 2 + t, digit + 1)}
    for operand, (first, second) in enumerate(((first_length, second_length), (second_length, first_length))):
        specials = [sp.Integer(1), first + 2, first + second + 3]
        for step in (t, t + 1):
            name = f"addition: {'ab'[operand]}_(t+1) at step {step}".replace(" + ", "+")
            places[name] = (specials, specials[-1] + step, specials[operand] + digit)
    return places


def _last_anchor(position: sp.Expr, specials: list[sp.Expr]) -> sp.Expr:
    """Last special position up to this one. Raises `ValueError` if the symbols' signs do not decide a comparison."""
    anchor = sp.Integer(1)
    for special in specials:
        distance = sp.expand(position - special)
        if distance.is_nonnegative:
            anchor = special
        elif not distance.is_negative:
            raise ValueError(f"the signs of the symbols do not say whether {position} lies before {special}")
    return anchor


def _require_copy_slot_alone(index: Index, slot: sp.Expr) -> None:
    """Require that x_u has the index of the slot only for u = t + 1, and that no key from '=' on has it."""
    n, t, u, slack = sp.symbols("n t u s", integer=True, nonnegative=True)
    prompt = sp.expand(index(n + 2 + t, n + 2, u + 1, sp.Integer(1)))
    if sp.solve(prompt - slot, u) != [t + 1]:
        raise Refuted(f"copy: x_u has index {prompt}, which is that of the slot at u = {sp.solve(prompt - slot, u)}")
    output = sp.expand(index(n + 2 + u + slack, n + 2, n + 2 + u, n + 2))
    if not (output - slot).is_positive:
        raise Refuted(f"copy: a key of the output has index {output}, which can be that of the slot, {slot}")


def _require_relation(indices: dict[str, int]) -> None:
    """Require that the relation of RPE-Square labels the slots so at small scales, and no other copy key."""
    slot_label = int(anchored.zigzag(np.array(indices["copy: x_(t+1) at step t"])))
    law = anchored.rpe_square(anchored.copy_anchors)
    for scale in range(1, LONGEST_COPY + 1):
        labels = law.labels(2 * scale + 3, scale)
        for step in range(scale + 1):
            column = labels[:, scale + 1 + step]
            slot = [step + 1] if step < scale else []
            if np.flatnonzero(column == slot_label).tolist() != slot:
                raise Refuted(
                    f"n = {scale}, step {step}: keys of label {slot_label} are not the slot in {column.tolist()}"
                )
    for first, second in product(range(1, 5), repeat=2):
        table = anchored.anchor_index(anchored.addition_anchors(first, second))
        for start, width, name in ((1, first, "a"), (first + 2, second, "b")):
            for step, (later, when) in product(range(width), enumerate(("t", "t+1"))):
                index = table[start + step, first + second + 2 + step + later]
                if index != indices[f"addition: {name}_(t+1) at step {when}"]:
                    at = f"at step {step + later}"
                    raise Refuted(f"digits {first}, {second}: {name}_{step + 1} has index {index} {at}")


def _texts() -> Iterator[tuple[list[str], Positions]]:
    """Texts of copy and addition with the anchors of their positions."""
    digits = np.random.default_rng(0)
    for scale in range(1, LONGEST_COPY + 1):
        word = "".join(digits.choice(["0", "1"], size=scale))
        yield list(f"^{word}={word}$"), anchored.copy_anchors(scale)
    for first, second in ((1, 1), (1, 3), (4, 2)):
        a, b, c = ("".join(digits.choice(["0", "1"], size=size)) for size in (first, second, max(first, second) + 1))
        yield list(f"^{a}+{b}={c}$"), anchored.addition_anchors(first, second)


def _hard(anchors: Positions, table: Numbers) -> Numbers:
    """Scores R at the hard index."""
    return anchored.hard_scores(anchors, table)


def _hard_with(change: Callable[[Positions, Positions], Positions]) -> Parameters:
    """Scores R at another index than (j - a_j) - (i - a_i): `change` takes the positions from 1 and the anchors."""

    def hard(anchors: Positions, table: Numbers) -> Numbers:
        index = change(np.arange(1, len(anchors) + 1), anchors)
        return np.triu(anchored.gather(table, np.triu(index)))

    return {"hard": hard}


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "plaa-pola",
    "generalised RPE; its relation to POLA (arXiv 2510.04130) is ours",
    r"U_k=\mathbf 1[\varphi=k]\ \Rightarrow\ A_{\mathrm{PLAA}}=A_{\mathrm{POLA}}(\varphi)",
    strength=Strength.EXHAUSTIVE,
    reach=f"N = {SIZE}",
    assumptions=("POLA weighs all pairs i <= j <= N0 alike, so PLAA weighs all values of the advice alike",),
    falsifiers={
        "uniform law over inputs": {"weights": lambda scale: [2**j for j in range(scale)]},
        "overlapping supports": {
            "basis_of": lambda labels: plaa.position_basis(np.cumsum(plaa.relation_basis(labels).matrices, axis=0))
        },
    },
)
def pola_is_the_disjoint_case(
    basis_of: Callable[[Labels], PositionBasis] = plaa.relation_basis,
    weights: Callable[[int], Sequence[int]] = lambda scale: [1] * scale,
) -> Facts:
    """With the 0/1 matrices of a relation, which have disjoint supports, PLAA with all values of the advice equally
    likely learns exactly what POLA learns under the relation. Decided for N = 3.
    """
    keys, queries = np.triu_indices(SIZE)
    cells = np.vstack([np.eye(len(keys), dtype=np.int64), [[3, -1, 4, 1, -5, 9], [2, 7, -1, 8, 2, 8]]])
    targets = np.zeros((len(cells), SIZE, SIZE), dtype=np.int64)
    targets[:, keys, queries] = cells
    count = 0
    for labels in every_relation(SIZE):
        basis = basis_of(labels)
        for scale in range(1, SIZE + 1):
            learned_by_plaa = basis.matrix(
                plaa.learned_coefficients(basis, targets, training_scale=scale, weights=weights(scale))
            )
            learned_by_pola = small_fractions(pola.learned_matrix(targets, labels, training_scale=scale))
            if (learned_by_plaa != learned_by_pola).any():
                at = int((learned_by_plaa != learned_by_pola).any(axis=(1, 2)).argmax())
                by_plaa, by_pola = (
                    str(matrix[at].astype(str).tolist()).replace("'", "")
                    for matrix in (learned_by_plaa, learned_by_pola)
                )
                raise Refuted(
                    f"labels {labels[keys, queries].tolist()}, N0 = {scale}, A = {targets[at].tolist()}: PLAA learns "
                    f"{by_plaa}, POLA {by_pola}"
                )
            learned = plaa.learned_coefficients(basis, basis.matrices, training_scale=scale)
            if (learned != plaa.min_degree_interpolator(basis, basis.matrices, training_scale=scale)).any():
                raise Refuted(f"labels {labels[keys, queries].tolist()}, N0 = {scale}: not the min-degree interpolator")
        count += 1
    yield (
        f"all {count} relations at N = {SIZE}, every N0: the rational PLAA solution equals POLA's matrix, its floats "
        "read as the small fractions that they stand for, on a basis of the targets and two dense ones"
    )
    yield "on targets in the span it is the min-degree interpolator"


@CLAIMS.claim(
    "plaa-rpe-square-labels",
    "RPE-Square, the index (j - l_j) - (i - l_i)",
    r"(j-a_j)-(i-a_i)=\text{const on the digits of ideal slots},\quad j-i=n\ \text{in copy}",
    assumptions=("sharp attention to the last of [BOS], '+', '=' up to each position",),
    falsifiers={
        "plain relative": {"index": lambda query, of_query, key, of_key: query - key},
        "anchor of the query only": {"index": lambda query, of_query, key, of_key: query - of_query - key},
        "anchor of the key only": {"index": lambda query, of_query, key, of_key: query - (key - of_key)},
        "sum of the distances": {"index": lambda query, of_query, key, of_key: (query - of_query) + (key - of_key)},
        "the anchor before the last": {
            "anchor": lambda position, specials: specials[max(specials.index(_last_anchor(position, specials)) - 1, 0)]
        },
    },
)
def square_labels(
    index: Index = lambda query, of_query, key, of_key: (query - of_query) - (key - of_key),
    anchor: Callable[[sp.Expr, list[sp.Expr]], sp.Expr] = _last_anchor,
) -> Facts:
    """In unaligned copy and reversed addition, RPE-Square gives each operand digit that a step needs the same index at
    every scale and step: -1 at the place that is written next, 0 at the place before. The plain relative index changes
    with the scale.
    """
    indices = {}
    for name, (specials, query, key) in _ideal_slots().items():
        indices[name] = sp.expand(index(query, anchor(query, specials), key, anchor(key, specials)))
        if indices[name].free_symbols:
            raise Refuted(f"{name}: query {query}, key {key} have index {indices[name]}, which is not one number")
    _require_copy_slot_alone(index, indices["copy: x_(t+1) at step t"])
    _require_relation({name: int(value) for name, value in indices.items()})
    yield from (f"{name}: index {value}, for all t and all lengths" for name, value in indices.items())
    yield (
        "copy: at an output query no other key has the index of the slot, and '=' has index t, its own anchor: at "
        "the last query, which gives [EOS], no key has the slot's index at all"
    )
    yield "addition: both operands share an index, so only a symmetric operator can use it"
    yield (
        f"`theory.rpe_square` gives these to the digit written next, for copy at n <= {LONGEST_COPY}, and to both "
        "digits for addition of up to 4 digits"
    )


@CLAIMS.claim(
    "plaa-rpe-square-limit",
    "RPE-Square, the score; its limit and the bound are ours",
    r"|\mathrm{score}_{ij}-R_{(j-a_j)-(i-a_i)}|\le 4\max|R|\,(T-1)\,e^{-D}",
    strength=Strength.NUMERIC,
    assumptions=(f"double precision, {ROUNDING:g} allowed for rounding", "anchors have different keys"),
    falsifiers={
        "plain relative": _hard_with(lambda at, a: at[None, :] - at[:, None]),
        "sign reversed": _hard_with(lambda at, a: (at - a)[:, None] - (at - a)[None, :]),
        "anchor of the query only": _hard_with(lambda at, a: (at - a)[None, :] - at[:, None]),
        "anchor of the key only": _hard_with(lambda at, a: at[None, :] - 1 - (at - a)[:, None]),
        "twice the rate": {"rate": 2.0},
    },
)
def square_limit(hard: Callable[[Positions, Numbers], Numbers] = _hard, rate: float = 1.0) -> Facts:
    """If the anchors' logits lead by at least D in a text of T tokens, every score of RPE-Square is within 4 max|R| (T
    - 1) e^-D of R at (j - a_j) - (i - a_i): in nine texts of copy and addition, at four scales of the logits.
    """
    worst, count = 0.0, 0
    # Equal queries, and logits that fall in the order '=', '+', [BOS], all other symbols
    keys = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]])
    finder = anchored.AnchorAttention(query=np.ones((1, len(_ALPHABET))), key=keys)
    for symbols, anchors in _texts():
        embedded = np.eye(len(_ALPHABET))[[_ALPHABET.index(symbol) for symbol in symbols]]
        table = np.random.default_rng(len(symbols)).normal(size=2 * len(symbols) - 1)
        limit = hard(anchors, table)
        for scale in LOGIT_SCALES:
            attention = finder.sharpened(scale)
            found_anchors, lead = anchored.hard_anchors(embedded, attention)
            if (found_anchors != anchors).any():
                raise Refuted(
                    f"{symbols}: attention leads to the anchors {found_anchors.tolist()}, not {anchors.tolist()}"
                )
            gaps = np.abs(anchored.soft_scores(embedded, table, query=attention, key=attention) - limit)
            bound = anchored.hard_limit_error(table, lead=rate * lead, length=len(symbols))
            if gaps.max() > bound + ROUNDING:
                key, query = np.unravel_index(gaps.argmax(), gaps.shape)
                raise Refuted(
                    f"{''.join(symbols)}, logits leading by {lead:g}, key {key + 1}, query {query + 1}: soft and hard "
                    f"differ by {gaps.max():.3g}, the bound is {bound:.3g}"
                )
            worst, count = max(worst, float(gaps.max() / (bound + ROUNDING))), count + 1
    yield (
        f"{count} texts of copy and addition and logit scales {LOGIT_SCALES}: the gap is at most {worst:.2f} of "
        "4 max|R| (T-1) e^-lead"
    )
    yield "one pair of weight matrices finds the anchors at every scale: nothing but the text is looked at"
