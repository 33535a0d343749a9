"""Profiles of modular addition: modulus, sizes of models, training, and positions at which they are tested.

`smoke` takes seconds (the tests), `quick` about three quarters of an hour on one core, `paper` has the published sizes.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from lengthgen.empirical.modular_addition.texts import longest_row
from lengthgen.empirical.runs.limits import FLOAT32, SEED, TEST_SAMPLES, Entries, Range
from lengthgen.empirical.runs.profile import POSITIVE, Model, ProfileError, Training, load

FOLDER = Path(__file__).parent
MOST_ROWS = 1_000
"""Largest number of tokens of an input."""


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

    @property
    def training(self) -> Training:
        """Settings of the optimiser; gradients are not clipped."""
        return Training(
            samples=self.batch, batch=self.batch, epochs=1, evaluate_every=1, learning_rate=self.learning_rate,
            weight_decay=self.weight_decay, clip=FLOAT32.most,
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content


def load_profile(name: str) -> ModularProfile:
    """Load the named profile.

    Raises:
        ProfileError: there is none, or a value is missing, unknown or out of its range.
    """
    profile: ModularProfile = load(ModularProfile, FOLDER, name, f"modular-addition profile '{name}'")
    return profile
