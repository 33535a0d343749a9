"""Conditions: what is trained, one record each. Two readings of the paper, their ablations, and other encodings.

The released script of arXiv 2601.04283 differs from the paper's text; `RELEASED` follows the script, `DESCRIBED` the
text.  Names of conditions are ours.
"""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest


class ConditionError(LengthgenError):
    """A condition does not exist or cannot be trained; the message says why and names those that can."""


class Anchors(StrEnum):
    """Markers around the expressions of a condition with words."""

    SPLIT = "split"  # characters of "<EXPR>", of which "<", ">" and "/" are unknown
    ATOMIC = "atomic"  # a token each


class Consistency(StrEnum):
    """Term that is added to the loss of the variants of one pair."""

    NONE = "none"
    DISAGREEMENT = "disagreement"  # share of pairs whose variants get different answers: it has no gradient
    LOGITS = "logits"  # mean squared difference of the logits of two variants


class Readout(StrEnum):
    """State from which the label is read."""

    CLS = "cls"  # learned vector before the text
    EXPRESSION = "expression"  # mean over the tokens of the expression; there is no CLS


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Settings of the models of one name.

    Attributes:
        title: what it is, for people.
        encoding: position encoding, as `lengthgen.circuits.encoding_spec.parse_encoding` reads it.
        masked: True if padding is hidden from attention.
        anchors: how markers are read.
        shifted: True if training puts filler of random lengths before the expression, longer from stage to stage.
        words: True if training puts words around expressions too, and markers around all expressions.
        consistency: term that compares the variants of a pair.
        weight: factor of this term.
        swap_disjoint: True if (a, b) and (b, a) are on the same side of the split.
        tests_all_pairs: True if shifted positions and other words are tested on training pairs too.
        readout: state from which the label is read.
    """

    title: str
    encoding: str
    masked: bool
    anchors: Anchors
    shifted: bool
    words: bool
    consistency: Consistency
    weight: float
    swap_disjoint: bool
    tests_all_pairs: bool
    readout: Readout = Readout.CLS

    @property
    def varied(self) -> bool:
        """True if a pair has several variants in a training step; else there is only one text of it."""
        return self.shifted or self.words

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON, without the title."""
        return {key: value for key, value in asdict(self).items() if key != "title"}


RELEASED = Condition(
    title="released: one position",
    encoding="ape",
    masked=False,
    anchors=Anchors.SPLIT,
    shifted=False,
    words=False,
    consistency=Consistency.NONE,
    weight=0.0,
    swap_disjoint=False,
    tests_all_pairs=True,
)
"""Baseline of the released script.  [P]"""
DESCRIBED = replace(
    RELEASED,
    title="described: one position",
    masked=True,
    anchors=Anchors.ATOMIC,
    swap_disjoint=True,
    tests_all_pairs=False,
)
"""Baseline as the paper describes it, evaluated on test pairs of a split that keeps swapped pairs together.  [P, F]"""
_RELEASED_SHIFT = replace(
    RELEASED, title="released: shifts", shifted=True, consistency=Consistency.DISAGREEMENT, weight=0.5
)
_RELEASED_WORDS = replace(_RELEASED_SHIFT, title="released: shifts and words", words=True)
_DESCRIBED_SHIFT = replace(
    DESCRIBED, title="described: shifts", shifted=True, consistency=Consistency.LOGITS, weight=1.0
)
_DESCRIBED_WORDS = replace(_DESCRIBED_SHIFT, title="described: shifts and words", words=True)

CONDITIONS: dict[str, Condition] = {
    "released-baseline": RELEASED,
    "released-shift": _RELEASED_SHIFT,
    "released-words": _RELEASED_WORDS,
    "released-alibi": replace(_RELEASED_WORDS, title="released: 'ALiBi', which is NoPE", encoding="nope"),
    "released-shift-plain": replace(
        _RELEASED_SHIFT, title="released: shifts, no consistency term", consistency=Consistency.NONE, weight=0.0
    ),
    "described-baseline": DESCRIBED,
    "described-shift": _DESCRIBED_SHIFT,
    "described-words": _DESCRIBED_WORDS,
    "described-alibi": replace(_DESCRIBED_WORDS, title="described: ALiBi, bidirectional", encoding="alibi"),
    "described-shift-plain": replace(
        _DESCRIBED_SHIFT, title="described: shifts, no consistency term", consistency=Consistency.NONE, weight=0.0
    ),
    "rope": replace(_DESCRIBED_WORDS, title="RoPE", encoding="rope"),
    "t5": replace(_DESCRIBED_WORDS, title="T5 bias", encoding="t5-bidirectional"),
    "nope": replace(_DESCRIBED_WORDS, title="NoPE, padding masked", encoding="nope"),
    "attached-rope": replace(
        DESCRIBED, title="RoPE, one position, read from the expression", encoding="rope", readout=Readout.EXPRESSION
    ),
}
"""Conditions by name: those of the released script, those of the paper's text, and ours."""


def condition(name: str) -> Condition:
    """Return the condition of a name, in any case.

    Raises:
        ConditionError: there is none.
    """
    canonical = in_any_case(name, CONDITIONS)
    if canonical not in CONDITIONS:
        raise ConditionError(f"unknown condition '{name}': {nearest(name, CONDITIONS)}")
    return CONDITIONS[canonical]
