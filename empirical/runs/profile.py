"""Profiles: how large and how long runs are, as TOML files in empirical/profiles.

`smoke` takes seconds (the tests), `quick` minutes on two cores, `paper` follows the published protocol and wants a
GPU. A protocol (protocol.py) may change single values of a profile for itself.
"""

import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from empirical.runs.limits import FLOAT32, SEEDS, TEST_SAMPLES, Entries, Range
from theory.system.errors import LengthgenError, nearest
from theory.system.files import read_text

FOLDER = Path(__file__).parents[1] / "profiles"
LONGEST_TOML, LONGEST_LINE = 50_000, 1_000
"""Characters of the longest TOML file that is read, and of a line: a dotted key takes the square of its parts."""
MOST_NUMBERS = 100_000_000
"""Trained numbers of the largest model: with its optimiser 1.6 GB."""
POSITIVE = Range(0, FLOAT32.most, above=True)


class ProfileError(LengthgenError):
    """A profile or protocol that does not exist or does not fit; one line, what, where and how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """The decoder: embedding width, layers, attention heads.

    Raises:
        ProfileError: the width is not a multiple of the heads, or the model has more than MOST_NUMBERS.
    """

    width: Annotated[int, Range(1, 16_384)]
    layers: Annotated[int, Range(1, 1_000)]
    heads: Annotated[int, Range(1, 1_024)]

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ProfileError(f"width {self.width} is not a multiple of {self.heads} heads")
        if self.numbers > MOST_NUMBERS:
            raise ProfileError(
                f"width {self.width} with {self.layers} layers makes {self.numbers:,} trained numbers, and a model has "
                f"at most {MOST_NUMBERS:,}"
            )

    @property
    def numbers(self) -> int:
        """Trained numbers of the matrices in all layers, without symbols and encoding."""
        return 12 * self.layers * self.width**2

    def __str__(self) -> str:
        return f"w{self.width}l{self.layers}h{self.heads}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """AdamW on a fixed set of samples.

    Attributes:
        samples: of the training set, a multiple of `batch`; scales drawn uniformly.
        batch: samples a step; each epoch shuffles them anew.
        learning_rate: at first; it falls to 0 by a half cosine over all steps.
        clip: the largest norm of a model's gradient.
        evaluate_every: epochs between checkpoints.

    Raises:
        ProfileError: the samples are not whole batches.
    """

    samples: Annotated[int, Range(1, 1_000_000)]
    batch: Annotated[int, Range(1, 10_000)]
    epochs: Annotated[int, Range(1, 1_000_000)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    clip: Annotated[float, POSITIVE]
    evaluate_every: Annotated[int, Range(1, 1_000_000)]

    def __post_init__(self) -> None:
        if self.samples % self.batch:
            raise ProfileError(f"{self.samples} samples are not whole batches of {self.batch}")


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Samples at each scale, and the exact match at which a scale counts as solved."""

    samples: Annotated[int, TEST_SAMPLES]
    threshold: Annotated[float, Range(0, 1, above=True)]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Sizes of models, how they are trained and tested, and runs (seeds) of each cell.

    Raises:
        ProfileError: a model stands there twice.
    """

    models: Annotated[tuple[Model, ...], Entries(20)]
    seeds: Annotated[int, SEEDS]
    training: Training
    evaluation: Evaluation

    def __post_init__(self) -> None:
        if len(set(self.models)) < len(self.models):
            raise ProfileError("a model stands there twice")


def load_profile(name: str, changes: Mapping[str, Any] | None = None, *, where: str | None = None) -> Profile:
    """The named profile, with some of its values changed.

    Args:
        name: of a file in empirical/profiles.
        changes: as TOML holds them: what they name is replaced, sections key by key.
        where: what errors name in place of the profile, if the changes stand elsewhere.

    Raises:
        ProfileError: no such profile, or a key that is missing, unknown, of the wrong type or out of its range.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        hint = nearest(name, known, otherwise=f"choose one of {', '.join(known)}")
        raise ProfileError(f"unknown profile '{name}': {hint}")
    content = read_toml(FOLDER / f"{name}.toml")
    for key, value in (changes or {}).items():
        before = content.get(key)
        content[key] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    profile: Profile = read(Profile, content, where or f"profile '{name}'")
    return profile


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        ProfileError: it is no TOML, too long, no regular file, or cannot be read.
    """
    try:
        text = read_text(path)
        longest = max(map(len, text.split("\n")))
        if len(text) > LONGEST_TOML or longest > LONGEST_LINE:
            raise ProfileError(
                f"{path} has {len(text):,} characters, and {longest:,} on one line: at most {LONGEST_TOML:,} are read, "
                f"and {LONGEST_LINE:,} on a line"
            )
        return tomllib.loads(text)
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror}") from error
    except LengthgenError as error:
        raise ProfileError(str(error)) from error
    except (ValueError, RecursionError) as error:  # numbers of too many digits, too, are a ValueError
        raise ProfileError(f"{path} is not TOML: {error}") from error


def read(kind: Any, content: Any, where: str) -> Any:
    """A dataclass from what TOML or JSON holds, checked key by key.

    Raises:
        ProfileError: a key that is missing, unknown, of the wrong type or out of its range, or keys that do not go
            together.
    """
    if not isinstance(content, dict):
        raise ProfileError(f"{where} = {_shown(content)} is not a table")
    hints = _hints(kind)
    missing = [field.name for field in fields(kind) if field.name not in content]
    unknown = [key for key in content if key not in hints]
    if unknown:
        hint = nearest(unknown[0], missing or hints, otherwise=f"its keys are {', '.join(hints)}")
        raise ProfileError(f"{where}: unknown key '{unknown[0]}': {hint}")
    if missing:
        raise ProfileError(f"{where}: missing key '{missing[0]}'")
    values = {key: read_value(hint, content[key], f"{where}, {key}") for key, hint in hints.items()}
    try:
        return kind(**values)
    except LengthgenError as error:
        raise ProfileError(f"{where}: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def read_value(hint: Any, value: Any, where: str) -> Any:
    """A value of the type of a hint, inside the limits that the hint is annotated with.

    Raises:
        ProfileError: it is of another type, or out of its range.
    """
    plain, *limits = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if NoneType in get_args(plain):
        if value is None:
            return None
        plain = get_args(plain)[0]
    taken = _typed(plain, value, where)
    for limit in limits:
        if refusal := limit.refusal(taken):
            raise ProfileError(f"{where} = {_shown(value)} {refusal}")
    return taken


def _typed(kind: Any, value: Any, where: str) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        return read(kind, asdict(value) if isinstance(value, kind) else value, where)
    if get_origin(kind) is tuple:
        if isinstance(value, list | tuple):
            return tuple(read_value(get_args(kind)[0], entry, where) for entry in value)
        raise ProfileError(f"{where} = {_shown(value)} is not a list")
    if isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool):
        return value
    raise ProfileError(f"{where} = {_shown(value)} is not {kind.__name__}")


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:
        return "a number of thousands of digits"
