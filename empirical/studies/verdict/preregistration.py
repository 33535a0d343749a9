"""Preregistration: everything that is fixed before the first run, read from TOML files in empirical/verdict/registered.

It says what is asked, of which cells, by which rules and statistics, and when training, testing and adding of seeds
end.  Its digest is part of every seed (`lengthgen.empirical.experiment.freeze`), so that another preregistration means
other runs.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from lengthgen.circuits.forecast.record import REGISTERED
from lengthgen.empirical.experiment.freeze import frozen_digest
from lengthgen.empirical.experiment.protocol import SCALE, TEST_SAMPLES, Model, Name
from lengthgen.empirical.studies.verdict.population import SOURCES, DrawnTask, hash_order
from lengthgen.empirical.studies.verdict.rules import RULES
from lengthgen.infrastructure.errors import nearest
from lengthgen.infrastructure.settings import FLOAT32, POSITIVE, Entries, ProfileError, Range, Text, read, read_toml

FOLDER = Path(__file__).parent / "registered"
Ends = Annotated[tuple[Annotated[int, SCALE], ...], Entries(2)]
Share = Annotated[float, Range(0, 1)]
Sentences = Annotated[tuple[Annotated[str, Text(1_000)], ...], Entries(20)]


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """Tasks, as `population.draw` takes them; a file may leave out all but the first two."""

    count: Annotated[int, Range(1, 10_000)]
    seed: Annotated[int, Range(0, 2**31)]
    sources: Annotated[tuple[Name, ...] | None, Entries(100)] = None
    letters: Annotated[int | None, Range(1, 4)] = None
    profiles: Annotated[tuple[Name, ...] | None, Entries(3)] = None
    named: Annotated[tuple[Annotated[str, Text(300)], ...] | None, Entries(1_000)] = None
    unlike: Annotated[tuple[Annotated[str, Text(100)], ...] | None, Entries(20)] = None


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Training by AdamW on samples of which each is met at most once; attributes as in `protocol.Training`."""

    steps: Annotated[int, Range(1, 60_000)]
    batch: Annotated[int, Range(1, 10_000)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    clip: Annotated[float, POSITIVE]


@dataclass(frozen=True, kw_only=True)
class Check:
    """End of a training, by samples that are neither trained on nor tested.

    Attributes:
        every: steps between checks.
        times: consecutive checks at which every training scale must be solved.
        samples: samples at each training scale.
        threshold: share of right samples from which on a scale counts as solved.
    """

    every: Annotated[int, Range(1, 100_000)]
    times: Annotated[int, Range(1, 100)]
    samples: Annotated[int, TEST_SAMPLES]
    threshold: Share


@dataclass(frozen=True, kw_only=True)
class Testing:
    """Test of a trained model, at ascending scales.

    Attributes:
        samples: samples at each scale.
        samples_near: samples at a scale whose share of right ones was from `near` to `sure` at first, for a model that
            reached `near` at all scales.
        near, sure: shares of right samples; see `samples_near`.
        threshold: share of right samples from which on a scale counts as solved.
        failures: consecutive unsolved scales after which no larger one is tested.
    """

    samples: Annotated[int, TEST_SAMPLES]
    samples_near: Annotated[int, TEST_SAMPLES]
    near: Share
    sure: Share
    threshold: Share
    failures: Annotated[int, Range(1, SCALE.most)]


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Number of runs of a cell: at the beginning, and at most; and the evidence at which no more are added.

    Attributes:
        first, most: runs of a cell at the beginning, and at most.
        fitting: runs that must fit for a cell to count.
        alpha: errors are controlled at this level; an e-value of 1 / alpha decides.
    """

    first: Annotated[int, Range(1, 1_000)]
    most: Annotated[int, Range(1, 1_000)]
    fitting: Annotated[int, Range(1, 1_000)]
    alpha: Annotated[float, Range(0, 1, above=True)]


@dataclass(frozen=True, kw_only=True)
class Preregistration:
    """Experiment as it is fixed before the first run.

    Attributes:
        title: what is tried, on one line.
        questions: what is asked, one sentence each.
        statistics: how the questions are answered, one sentence each.
        tasks: which random tasks.
        formats, encodings: each combination with a task is a cell.
        one_format: True if each task has but one of the formats, by the hash of its name.
        rules: names of the rules whose answers are frozen.
        pairs: pairs of rules "A against B" that are decided.
        train, test: first and last scale of training, and of the test.
        model, training, check, testing, stopping: sizes and limits.
    """

    title: Annotated[str, Text(300)]
    questions: Sentences
    statistics: Sentences
    tasks: Tasks
    formats: Annotated[tuple[Name, ...], Entries(10)]
    encodings: Annotated[tuple[Name, ...], Entries(100)]
    rules: Annotated[tuple[Name, ...], Entries(50)]
    pairs: Annotated[tuple[Annotated[str, Text(100)], ...], Entries(100)]
    train: Ends
    test: Ends
    model: Model
    training: Steps
    check: Check
    testing: Testing
    stopping: Stopping
    one_format: bool | None = None

    def __post_init__(self) -> None:
        for name in ("train", "test"):
            ends = getattr(self, name)
            if len(ends) != 2 or ends[0] > ends[1]:
                raise ProfileError(f"{name}: scales are given as [first, last] with first <= last, not {list(ends)}")
        if not self.test[0] <= self.train[0] <= self.train[1] <= self.test[1]:
            raise ProfileError(f"test: scales {list(self.test)} must include those of training, {list(self.train)}")
        if self.stopping.first > self.stopping.most or self.stopping.fitting > self.stopping.most:
            raise ProfileError("stopping: first and fitting must be at most most")
        profiles = sorted({profile for of_source in SOURCES.values() for profile in of_source})
        for name, given_names, choices in (
            ("source", self.tasks.sources, [*SOURCES]),
            ("profile", self.tasks.profiles, profiles),
            ("record", self.tasks.unlike, REGISTERED),
        ):
            unknown_names = set(given_names or ()) - set(choices)
            if unknown_names:
                raise ProfileError(
                    f"tasks, {name}s: '{min(unknown_names)}' is no {name}; choose among {', '.join(choices)}"
                )
        foreign = set(self.rules) - set(RULES)
        if foreign:
            raise ProfileError(f"rules: '{min(foreign)}' is no rule; choose among {', '.join(RULES)}")
        unknown = {rule for pair in self.rule_pairs for rule in pair} - set(self.rules)
        if unknown:
            raise ProfileError(f"pairs: '{min(unknown)}' is not one of its rules")

    @property
    def rule_pairs(self) -> list[tuple[str, str]]:
        """Pairs of rules as (A, B)."""
        pairs = [tuple(pair.split(" against ")) for pair in self.pairs]
        if any(len(pair) != 2 for pair in pairs):
            raise ProfileError("pairs: write 'RULE against RULE'")
        return [(first, second) for first, second in pairs]

    def formats_of(self, task: DrawnTask) -> Sequence[str]:
        """Formats of the cells of a task."""
        if len(task.formats) == 1:
            return task.formats
        if not self.one_format:
            return self.formats
        return (self.formats[int(hash_order(task.name)[2:4], 16) % len(self.formats)],)  # the half takes two digits

    @property
    def train_scales(self) -> tuple[int, ...]:
        """Training scales, ascending."""
        return tuple(range(self.train[0], self.train[1] + 1))

    @property
    def test_scales(self) -> tuple[int, ...]:
        """Test scales, ascending; they include those of training."""
        return tuple(range(self.test[0], self.test[1] + 1))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that is fixed; a field that a file may leave out counts only if it is there."""
        return frozen_digest(given(self))


def given(content: Preregistration | Tasks) -> dict[str, Any]:
    """Return what a file has given of these fields, without those that it left out."""
    return asdict(content, dict_factory=lambda items: {name: value for name, value in items if value is not None})


def names() -> list[str]:
    """Names of the preregistrations that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_preregistration(name: str) -> Preregistration:
    """Load a preregistration by name.

    Raises:
        ProfileError: there is none of this name, or a key is missing, unknown, of the wrong type or out of its range.
    """
    if name not in names():
        raise ProfileError(f"unknown preregistration '{name}': {nearest(name, names())}")
    registered: Preregistration = read(Preregistration, read_toml(FOLDER / f"{name}.toml"), f"preregistration '{name}'")
    return registered
