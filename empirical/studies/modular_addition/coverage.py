"""Predictions from the relation alone: does training show every pair of label and token that an evaluation meets?

A label is what the encoding tells of query and key: the row of the key (absolute), the offset or its bucket (relative),
or nothing (NoPE).  The readout meets all tokens that attention sees; tokens of the expression meet each other.  The
supports are exact: every filler length, every sentence, every pair of the split.  [F; the house's rule of coverage with
distractors, docs/theory/circuits.md]

Shapes: L rows of the text, V tokens.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.studies.modular_addition.conditions import (
    KINDS,
    Condition,
    ModularProfile,
    bidirectional,
    labels_of_offsets,
)
from lengthgen.empirical.studies.modular_addition.draws import Data, Kind
from lengthgen.empirical.studies.modular_addition.texts import (
    HELD_OUT,
    OPERATORS,
    PAD,
    SYMBOLS,
    TRAINED,
    Plan,
    filler_support,
    name,
)

Support = NDArray[np.bool_]
"""True for (row, token) that occurs: bool [L, V]."""
Occurring = tuple[NDArray[np.int64], ...]
"""Rows and tokens that occur: the non-zero places of a support."""
MEETING = ("readout", "expression")
"""What meets a token: the readout, or a token of the expression."""


class _Met:
    """Pairs of label and token that attention meets.

    Attributes:
        pairs: bool [2, labels, V], by what meets the token; the first axis has the order of MEETING.
        relevant: the same for tokens of the expression alone.
    """

    def __init__(self, length: int) -> None:
        """Begin without pairs, for labels from -length to length."""
        self.length = length
        self.pairs, self.relevant = np.zeros((2, len(MEETING), 2 * length + 1, SYMBOLS), dtype=np.bool_)

    def add(self, meeting: str, labels: NDArray[np.int64], occurring: Occurring, *, relevant: bool) -> None:
        """Add the pairs of tokens that occur in rows with these labels."""
        rows, tokens = occurring
        at = MEETING.index(meeting), labels[rows] + self.length, tokens
        self.pairs[at] = True
        if relevant:
            self.relevant[at] = True


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Prediction for one evaluation of a condition.

    Attributes:
        evaluation: kind and position.
        holds: True if training shows all pairs of label and token that the evaluation meets.
        holds_in_expression: the same for the tokens of the expression alone.
        unseen, unseen_in_expression: number of pairs that training does not show.
        why: the reason in one line.
    """

    evaluation: str
    holds: bool
    holds_in_expression: bool
    unseen: int
    unseen_in_expression: int
    why: str


@dataclass(frozen=True, kw_only=True)
class _Family:
    """Texts with some words and fillers: (words, operators) and the lengths of the filler."""

    words: tuple[int, ...]
    operators: tuple[int, ...]
    prefixes: tuple[int, ...]
    anchored: bool
    padding: int = 0


def predict(condition: Condition, profile: ModularProfile) -> list[Prediction]:
    """Return the predictions for all evaluations of a condition; those of several seeds must all hold."""
    bidirectional(condition.encoding)
    by_seed = [_predict(Data(condition, profile, seed)) for seed in profile.seeds]
    return [
        max(predictions, key=lambda prediction: (prediction.unseen_in_expression, prediction.unseen))
        for predictions in zip(*by_seed, strict=True)
    ]


def shift_invariance(condition: Condition) -> tuple[bool, str]:
    """Is the output exactly the same wherever padding moves the text within the input, and why?"""
    labels = KINDS[bidirectional(condition.encoding).name]
    if labels == "none":
        return True, "no label depends on the position, so padding before the text or after it is the same"
    if not condition.masked:
        return False, "padding is seen, so more of it before the text changes what attention meets"
    if labels == "row":
        return False, "the rows of the text change"
    if condition.readout == "cls":
        return False, "CLS stays at index 0, so its distance to the expression changes"
    return True, "only offsets within the text count, padding is hidden, and the readout moves with the expression"


def _predict(data: Data) -> list[Prediction]:
    """Return the predictions for the evaluations of one seed."""
    condition, profile = data.condition, data.profile
    shown = _met(data, _training(condition, profile), data.train)
    predictions = []
    for kind in data.kinds():
        as_trained = kind.name == "A"
        families = _training(condition, profile) if as_trained else [_family(condition, profile, kind)]
        met = _met(data, families, data.tested(all_pairs=condition.tests_all_pairs and not as_trained))
        unseen = met.pairs & ~shown.pairs
        relevant = unseen & met.relevant
        predictions.append(
            Prediction(
                evaluation=str(kind),
                holds=not unseen.any(),
                holds_in_expression=not relevant.any(),
                unseen=int(unseen.sum()),
                unseen_in_expression=int(relevant.sum()),
                why=_why(condition, unseen, relevant, profile.length),
            )
        )
    return predictions


def _training(condition: Condition, profile: ModularProfile) -> list[_Family]:
    """Families of texts that training draws from, over all stages."""
    shifts = range(profile.shortest_prefix, profile.longest_prefixes[-1] + 1) if condition.shifted else range(1)
    if not condition.words:
        return [_Family(words=(0,), operators=(0,), prefixes=tuple(shifts), anchored=False)]
    operators, words = tuple(range(len(OPERATORS))), tuple(TRAINED)
    return [
        _Family(words=(0,), operators=operators, prefixes=tuple(shifts), anchored=True),
        _Family(words=words, operators=operators, prefixes=(0, *shifts), anchored=True),
    ]


def _family(condition: Condition, profile: ModularProfile, kind: Kind) -> _Family:
    """Family of texts of an evaluation other than "A"."""
    if kind.name in ("C0", "C1"):
        return _Family(
            words=tuple(HELD_OUT),
            operators=tuple(range(len(OPERATORS) if condition.words else 1)),
            prefixes=tuple(range(profile.longest_prefixes[-1] + 1)),
            anchored=kind.name == "C1",
        )
    hidden = kind.name == "S"
    return _Family(
        words=(0,),
        operators=(0,),
        prefixes=(0 if hidden else kind.at,),
        anchored=condition.words,
        padding=kind.at if hidden else 0,
    )


def _met(data: Data, families: Iterable[_Family], pairs: NDArray[np.int64]) -> _Met:
    """Pairs of label and token that attention meets in some text of the families."""
    condition, length = data.condition, data.profile.length
    spec = bidirectional(condition.encoding)
    kind, label = KINDS[spec.name], labels_of_offsets(spec)
    filler = np.zeros((length, SYMBOLS), dtype=np.bool_)
    for row, tokens in enumerate(filler_support(length)):
        filler[row, list(tokens)] = True
    met = _Met(length)
    absolute = np.arange(length)
    for family in families:
        for words in family.words:
            seen, expression, ends = _supports(data, family, words, pairs)
            for prefix in family.prefixes:
                shift = prefix + family.padding
                own, text = _shifted(expression, shift), _shifted(seen, shift)
                text[family.padding : shift] |= filler[:prefix]
                if not condition.masked:
                    text[ends + shift :, PAD] = True
                in_expression, in_text = np.nonzero(own), np.nonzero(text)
                if condition.readout == "cls":
                    rows = absolute if kind == "row" else label(1 + absolute)
                    met.add("readout", rows, in_text, relevant=False)
                    met.add("readout", rows, in_expression, relevant=True)
                for query in np.unique(in_expression[0]):
                    rows = absolute if kind == "row" else label(absolute - query)
                    if condition.readout == "expression":
                        met.add("expression", rows, in_text, relevant=False)
                    met.add("expression", rows, in_expression, relevant=True)
    return met


def _supports(data: Data, family: _Family, words: int, pairs: NDArray[np.int64]) -> tuple[Support, Support, int]:
    """Return what occurs without filler: all tokens but padding, those of the expression, and the least length."""
    length = data.profile.length
    seen, expression = np.zeros((2, length, SYMBOLS), dtype=np.bool_)
    ends = length
    for operator in family.operators:
        plan = Plan(
            pairs=pairs,
            operators=np.full_like(pairs, operator),
            words=np.full_like(pairs, words),
            prefixes=np.zeros_like(pairs),
            anchored=family.anchored,
        )
        inputs = data.texts.assemble(plan, np.random.default_rng(0))
        rows = np.broadcast_to(np.arange(length), inputs.tokens.shape)
        real = inputs.tokens != PAD
        own = (inputs.starts[:, None] <= rows) & (rows < inputs.ends[:, None])
        seen[rows[real], inputs.tokens[real]] = True
        expression[rows[own], inputs.tokens[own]] = True
        ends = min(ends, int(real.sum(1).min()))
    return seen, expression, ends


def _shifted(support: Support, rows: int) -> Support:
    """Support of the same texts some rows further to the right; what leaves the input is cut."""
    shifted = np.zeros_like(support)
    shifted[rows:] = support[: len(support) - rows]
    return shifted


def _why(condition: Condition, unseen: NDArray[np.bool_], relevant: NDArray[np.bool_], length: int) -> str:
    """Reason of a prediction in one line, with the first pair that training does not show."""
    if not unseen.any():
        return "training shows every pair of label and token that is met"
    meeting, label, token = (int(index[0]) for index in np.nonzero(relevant if relevant.any() else unseen))
    labels = KINDS[bidirectional(condition.encoding).name]
    at = {"none": "", "row": f" in row {label - length}", "offset": f" at offset {label - length}"}
    part = "of the expression" if relevant.any() else "beside the expression"
    return (
        f"training never shows {name(token)} {part}{at[labels]} to the {MEETING[meeting]}: {unseen.sum()} such pairs, "
        f"{relevant.sum()} in the expression"
    )
