"""Profiles of the text protocol: sizes of models, training, and lengths at which they are tested.

`smoke` takes seconds (the tests), `quick` some minutes of a CPU core an encoding, `paper` needs a GPU.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from lengthgen.empirical.runs.limits import FLOAT32, SEEDS, Entries, Range
from lengthgen.empirical.runs.profile import POSITIVE, Model, ProfileError, Training, load
from lengthgen.empirical.text.windows import QUESTION, STATEMENT

FOLDER = Path(__file__).parent
LENGTH = Range(QUESTION + STATEMENT, 65_536)
"""Numbers of bytes that a model reads: at least a key's statement and question."""


@dataclass(frozen=True, kw_only=True)
class TextProfile:
    """Sizes of the text protocol.

    Attributes:
        model: size of the decoder.
        seeds: number of models of each encoding, which differ in their seed.
        steps: training steps.
        batch: windows of a step; half of them, rounded down, state a key and ask for it.
        length: bytes that a model reads in training.
        lengths: bytes that it reads in tests, ascending, from the trained length on.
        windows: test windows at each length, without keys; as many more have keys.

    Raises:
        ProfileError: the lengths do not ascend from the trained one.
    """

    model: Model
    seeds: Annotated[int, SEEDS]
    steps: Annotated[int, Range(1, 10_000_000)]
    batch: Annotated[int, Range(2, 10_000)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    clip: Annotated[float, POSITIVE]
    length: Annotated[int, LENGTH]
    lengths: Annotated[tuple[Annotated[int, LENGTH], ...], Entries(20)]
    windows: Annotated[int, Range(1, 100_000)]

    def __post_init__(self) -> None:
        if self.lengths[0] != self.length or list(self.lengths) != sorted(set(self.lengths)):
            raise ProfileError(f"lengths = {list(self.lengths)} do not ascend from the trained length {self.length}")

    @property
    def training(self) -> Training:
        """Settings of the optimiser."""
        return Training(
            samples=self.batch, batch=self.batch, epochs=1, evaluate_every=1, learning_rate=self.learning_rate,
            weight_decay=self.weight_decay, clip=self.clip,
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content


def load_profile(name: str) -> TextProfile:
    """Load the named profile.

    Raises:
        ProfileError: there is none, or a value is missing, unknown or out of its range.
    """
    profile: TextProfile = load(TextProfile, FOLDER, name, f"text profile '{name}'")
    return profile
