"""Conditions: what is trained, one record each; the profiles of their sizes; and the encodings that an encoder takes.

The conditions (data/conditions.toml) are two readings of the paper, their ablations, and other encodings. The released
script of arXiv 2601.04283 differs from the paper's text; "released" follows the script, "described" the text.  Names of
conditions are ours.  Of the profiles `smoke` takes seconds (the tests), `quick` about three quarters of an hour on one
core, `paper` has the published sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.encoding_spec import EncodingSpec, parse_encoding
from lengthgen.empirical.experiment.protocol import SEED, TEST_SAMPLES, Model
from lengthgen.empirical.studies.modular_addition.texts import Anchors, longest_row
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest
from lengthgen.infrastructure.settings import FLOAT32, POSITIVE, Entries, ProfileError, Range, load, read, read_toml
from lengthgen.theory.relation import t5_buckets

FOLDER = Path(__file__).parent
MOST_ROWS = 1_000
"""Largest number of tokens of an input."""


class ConditionError(LengthgenError):
    """A condition does not exist or cannot be trained; the message says why and names those that can."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Settings of the models of one name.

    Attributes:
        title: what it is, for people.
        encoding: position encoding, as `lengthgen.circuits.encoding_spec.parse_encoding` reads it.
        masked: True if padding is hidden from attention.
        anchors: markers around expressions: "split" into the characters of "<EXPR>", of which "<", ">" and "/" are
            unknown, or "atomic", a token each.
        shifted: True if training puts filler of random lengths before the expression, longer from stage to stage.
        words: True if training puts words around expressions too, and markers around all expressions.
        consistency: term that is added to the loss of the variants of one pair: "none"; "disagreement", the share of
            pairs whose variants get different answers, which has no gradient; or "logits", the mean squared difference
            of the logits of two variants.
        weight: factor of this term.
        swap_disjoint: True if (a, b) and (b, a) are on the same side of the split.
        tests_all_pairs: True if shifted positions and other words are tested on training pairs too.
        readout: state from which the label is read: "cls", a learned vector before the text, or "expression", the mean
            over the tokens of the expression, without CLS.
    """

    title: str
    encoding: str
    masked: bool
    anchors: Anchors
    shifted: bool
    words: bool
    consistency: Literal["none", "disagreement", "logits"]
    weight: float
    swap_disjoint: bool
    tests_all_pairs: bool
    readout: Literal["cls", "expression"]

    @property
    def varied(self) -> bool:
        """True if a pair has several variants in a training step; else there is only one text of it."""
        return self.shifted or self.words

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON, without the title."""
        return {key: value for key, value in asdict(self).items() if key != "title"}


def _conditions() -> dict[str, Condition]:
    """Read the conditions by name; `like` names the one whose settings hold where none is given."""
    made: dict[str, Condition] = {}
    for name, content in read_toml(FOLDER / "data" / "conditions.toml").items():
        like = content.pop("like", None)
        made[name] = read(Condition, (asdict(made[like]) if like else {}) | content, f"condition '{name}'")
    return made


CONDITIONS = _conditions()
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


KINDS: Mapping[str, Literal["none", "row", "offset"]] = {
    "nope": "none",
    "ape": "row",
    "sinusoidal": "row",
    "alibi": "offset",
    "graph-alibi": "offset",
    "rope": "offset",
    "t5-bidirectional": "offset",
}
"""Encodings that an encoder can use, by name, with the kind of label that they give to a query and a key.

They tell keys on both sides of a query apart. The label is the same for all pairs, or the rows of both, or the offset
of the key from the query, perhaps by buckets.

ALiBi's bias is -m |j - i|, and that of a path graph is the same.
"""


def bidirectional(name: str) -> EncodingSpec:
    """Return the encoding of a name, if an encoder can use it.

    Raises:
        ConditionError: it is made for keys up to the query.
    """
    spec = parse_encoding(name)
    if spec.is_own or spec.name not in KINDS:
        why = "it does not tell keys to the right of a query apart"
        if spec.name == "t5":
            why += ": use t5-bidirectional"
        raise ConditionError(f"'{spec}' is not used in an encoder, as {why}; an encoder takes {', '.join(KINDS)}")
    return spec


def labels_of_offsets(spec: EncodingSpec) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the function from offsets, key minus query, to labels of the same sign, that the encoding sees.

    ALiBi sees the distance alone; T5 sees the bucket and the side.  [P]
    """
    if KINDS[spec.name] == "none":
        return np.zeros_like
    if spec.name in ("alibi", "graph-alibi"):
        return np.abs
    if spec.name == "t5-bidirectional":
        options = dict(spec.options)
        buckets = t5_buckets(int(options["buckets"]) // 2, int(options["longest"]))

        def bucketed(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
            distances = np.abs(offsets).ravel()
            labels = buckets.label(np.ones_like(distances), 1 + distances).reshape(offsets.shape)
            signed: NDArray[np.int64] = np.where(offsets > 0, labels, -labels)
            return signed

        return bucketed
    return lambda offsets: offsets


@dataclass(frozen=True, kw_only=True)
class ModularProfile:
    """Sizes of the protocol.

    Attributes:
        modulus: numbers are 0 .. modulus - 1.
        length: tokens of an input without CLS; shorter inputs are padded.
        model: width, layers and heads of the encoder; the hidden layer of a block is four times as wide.
        dropout: share of numbers that a block sets to 0 in training.
        seeds: seeds of the models, of the splits and of all draws.
        steps: training steps.
        batch: pairs of a step.
        variants: texts of each pair in a step, in conditions with more than one text.
        learning_rate, weight_decay: of AdamW.
        warm_up: first steps, in which the learning rate rises to its value.
        cool_down: last steps, in which it falls to 0.
        shortest_prefix: shortest filler of training.
        longest_prefixes: longest filler, by stage of training; stages are equally long.
        positions: lengths of filler that are tested.
        tests: pairs of each evaluation.
        holds_from: share of the accuracy on the inputs of training that counts as undisturbed.

    Raises:
        ProfileError: some expression could be cut, the fillers do not grow, or there are too few pairs to test.
    """

    modulus: Annotated[int, Range(2, 1_000)]
    length: Annotated[int, Range(1, MOST_ROWS)]
    model: Model
    dropout: Annotated[float, Range(0, 0.9)]
    seeds: Annotated[tuple[Annotated[int, SEED], ...], Entries(100)]
    steps: Annotated[int, Range(1, 10_000_000)]
    batch: Annotated[int, Range(1, 100_000)]
    variants: Annotated[int, Range(1, 100)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    warm_up: Annotated[int, Range(0, 10_000_000)]
    cool_down: Annotated[int, Range(0, 10_000_000)]
    shortest_prefix: Annotated[int, Range(0, MOST_ROWS)]
    longest_prefixes: Annotated[tuple[Annotated[int, Range(0, MOST_ROWS)], ...], Entries(20)]
    positions: Annotated[tuple[Annotated[int, Range(0, MOST_ROWS)], ...], Entries(100)]
    tests: Annotated[int, TEST_SAMPLES]
    holds_from: Annotated[float, Range(0, 1, above=True)]

    def __post_init__(self) -> None:
        fillers = [self.shortest_prefix, *self.longest_prefixes]
        if fillers != sorted(fillers):
            raise ProfileError(f"the fillers {fillers} do not grow from stage to stage")
        unordered = self.modulus * (self.modulus + 1) // 2
        held_out = 2 * (unordered - unordered // 2) - self.modulus
        if self.tests > held_out:
            raise ProfileError(f"tests = {self.tests}, but a split may hold out only {held_out} pairs")
        needed = max(
            longest_row(self.modulus, fillers[-1], words=True),
            longest_row(self.modulus, max(self.positions), words=False),
        )
        if needed > self.length:
            raise ProfileError(f"an expression may end at token {needed}, and an input has {self.length}")

    def rate(self, step: int) -> float:
        """Learning rate of a step, from 0: linear in the warm-up and in the cool-down, constant between them."""
        rising, falling = (step + 1) / max(1, self.warm_up), (self.steps - step) / max(1, self.cool_down)
        return self.learning_rate * min(1.0, rising, falling)


def load_profile(name: str) -> ModularProfile:
    """Load the named profile. Raises ProfileError if there is none."""
    return load(ModularProfile, FOLDER, name, f"modular-addition profile '{name}'")
