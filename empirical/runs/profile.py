"""Profiles: sizes of models and lengths of training, read from TOML files in empirical/profiles.

`smoke` takes seconds (the tests), `quick` minutes on two cores, `paper` follows the published protocol and needs a
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

from lengthgen.empirical.runs.limits import FLOAT32, SEEDS, TEST_SAMPLES, Entries, Range
from lengthgen.infrastructure.errors import LengthgenError, nearest
from lengthgen.infrastructure.files import read_text

FOLDER = Path(__file__).parents[1] / "profiles"
LONGEST_TOML, LONGEST_LINE = 50_000, 1_000
"""Largest number of characters of a TOML file, and of one line: parsing a dotted key takes the square of its parts."""
MOST_PARAMETERS = 100_000_000
"""Trainable parameters of the largest model: 1.6 GB with its optimiser."""
POSITIVE = Range(0, FLOAT32.most, above=True)
"""Positive numbers that fit into a float32."""


class ProfileError(LengthgenError):
    """A profile or protocol does not exist or is invalid; the message says what, where and how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """Size of the decoder: embedding width, layers, attention heads.

    Raises:
        ProfileError: the width is not a multiple of the heads, or the model has more than MOST_PARAMETERS parameters.
    """

    width: Annotated[int, Range(1, 16_384)]
    layers: Annotated[int, Range(1, 1_000)]
    heads: Annotated[int, Range(1, 1_024)]

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ProfileError(f"width {self.width} is not a multiple of {self.heads} heads")
        if self.parameters > MOST_PARAMETERS:
            raise ProfileError(
                f"width {self.width} with {self.layers} layers makes {self.parameters:,} trainable parameters, and a "
                f"model has at most {MOST_PARAMETERS:,}"
            )

    @property
    def parameters(self) -> int:
        """Number of trainable parameters in the matrices of all layers, without token table and encoding."""
        return 12 * self.layers * self.width**2

    def __str__(self) -> str:
        return f"w{self.width}l{self.layers}h{self.heads}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training by AdamW on a fixed set of samples.

    Attributes:
        samples: size of the training set, a multiple of `batch`; scales are drawn uniformly.
        batch: samples per step; each epoch shuffles them anew.
        learning_rate: initial value; it falls to 0 by a half cosine over all steps.
        clip: largest norm of a model's gradient.
        evaluate_every: epochs between checkpoints.
        stop_when_solved: number of consecutive checkpoints at which every training scale must reach the evaluation's
            threshold, on samples of their own (`lengthgen.empirical.training.stopping`), for the run to end there; 0:
            it never ends early.
        prompts_as_filler: share of the samples whose filler is cut out of prompts (`lengthgen.empirical.runs.filler`);
            None: of none.
        leave_out: largest number of first tokens, all filler, that a step leaves out; each step draws its number. None:
            no step leaves out any.

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
    stop_when_solved: Annotated[int, Range(0, 1_000)] = 0
    prompts_as_filler: Annotated[float | None, Range(0, 1, above=True)] = None
    leave_out: Annotated[int | None, Range(1, 10_000)] = None

    def __post_init__(self) -> None:
        if self.samples % self.batch:
            raise ProfileError(f"{self.samples} samples are not whole batches of {self.batch}")

    @property
    def varies_filler(self) -> bool:
        """True if it has settings of filler."""
        return self.prompts_as_filler is not None or self.leave_out is not None

    def as_json(self) -> dict[str, Any]:
        """Settings for JSON, without those at their default that came later: files written before lack them."""
        later = ("stop_when_solved", "prompts_as_filler", "leave_out")
        return {name: value for name, value in asdict(self).items() if value or name not in later}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Number of samples at each scale, and the exact match from which on a scale counts as solved."""

    samples: Annotated[int, TEST_SAMPLES]
    threshold: Annotated[float, Range(0, 1, above=True)]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Model sizes, training, evaluation, and number of runs (seeds) of each cell.

    Raises:
        ProfileError: a model occurs twice.
    """

    models: Annotated[tuple[Model, ...], Entries(20)]
    seeds: Annotated[int, SEEDS]
    training: Training
    evaluation: Evaluation

    def __post_init__(self) -> None:
        if len(set(self.models)) < len(self.models):
            raise ProfileError("the same model occurs twice")


def load_profile(name: str, changes: Mapping[str, Any] | None = None, *, where: str | None = None) -> Profile:
    """Load the named profile, with some of its values changed.

    Args:
        name: name of a file in empirical/profiles.
        changes: new values as nested dictionaries, as in TOML; sections are changed key by key.
        where: replaces the profile's name in errors, if the changes come from elsewhere.

    Raises:
        ProfileError: the profile does not exist, or a key is missing, unknown, of the wrong type or out of its range.
    """
    profile: Profile = load(Profile, FOLDER, name, where or f"profile '{name}'", changes)
    return profile


def load(kind: Any, folder: Path, name: str, where: str, changes: Mapping[str, Any] | None = None) -> Any:
    """Make a dataclass from the named TOML file of a folder of profiles, with some of its values changed.

    Args:
        kind: dataclass, as for `read`.
        folder: folder of the files.
        name: name of a file without its suffix.
        where: the profile's name in errors.
        changes: new values as nested dictionaries; sections are changed key by key.

    Raises:
        ProfileError: there is no such file, or as for `read`.
    """
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if name not in names:
        raise ProfileError(f"unknown profile '{name}': {nearest(name, names)}")
    content = read_toml(folder / f"{name}.toml")
    for key, value in (changes or {}).items():
        before = content.get(key)
        content[key] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    return read(kind, content, where)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ProfileError: the file is not TOML, too long, not a regular file, or cannot be read.
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
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise ProfileError(f"{path} is not TOML: {error}") from error


def read(kind: Any, content: Any, where: str) -> Any:
    """Make a dataclass from a TOML or JSON table, checked key by key.

    A key whose default is None may be missing, since TOML has no null.

    Raises:
        ProfileError: a key is missing, unknown, of the wrong type or out of its range, or values do not fit together.
    """
    if not isinstance(content, dict):
        raise ProfileError(f"{where} = {_short_repr(content)} is not a table")
    hints = _hints(kind)
    missing = [field.name for field in fields(kind) if field.name not in content and field.default is not None]
    unknown = [key for key in content if key not in hints]
    if unknown:
        hint = nearest(unknown[0], missing or hints)
        raise ProfileError(f"{where}: unknown key '{unknown[0]}': {hint}")
    if missing:
        raise ProfileError(f"{where}: missing key '{missing[0]}'")
    values = {key: read_value(hint, content.get(key), f"{where}, {key}") for key, hint in hints.items()}
    try:
        return kind(**values)
    except LengthgenError as error:
        raise ProfileError(f"{where}: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def read_value(hint: Any, value: Any, where: str) -> Any:
    """Check a value against a type hint and the limits that annotate it; return it converted.

    Raises:
        ProfileError: the value has another type, or is out of its range.
    """
    plain_type, *limits = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if NoneType in get_args(plain_type):
        if value is None:
            return None
        plain_type = get_args(plain_type)[0]
    converted = _convert(plain_type, value, where)
    for limit in limits:
        if refusal := limit.refusal(converted):
            raise ProfileError(f"{where} = {_short_repr(value)} {refusal}")
    return converted


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Convert lists to tuples and tables to dataclasses or dicts; check the type of everything else."""
    if isinstance(kind, type) and is_dataclass(kind):
        return read(kind, asdict(value) if isinstance(value, kind) else value, where)
    if get_origin(kind) is tuple:
        if isinstance(value, list | tuple):
            return tuple(read_value(get_args(kind)[0], entry, where) for entry in value)
        raise ProfileError(f"{where} = {_short_repr(value)} is not a list")
    if get_origin(kind) is dict:
        if isinstance(value, dict):
            return {key: read_value(get_args(kind)[1], entry, f"{where}.{key}") for key, entry in value.items()}
        raise ProfileError(f"{where} = {_short_repr(value)} is not a table")
    if isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool):
        return value
    raise ProfileError(f"{where} = {_short_repr(value)} is not {kind.__name__}")


def _short_repr(value: Any) -> str:
    """Short representation of a value for a message."""
    try:
        return reprlib.repr(value)
    except ValueError:
        return "a number of thousands of digits"
