"""Profiles: how large and how long runs are, as TOML files in empirical/profiles.

`smoke` takes seconds (the tests), `quick` minutes on two cores, `paper` follows the published protocol and wants a
GPU. A protocol (protocol.py) may change single values of a profile for itself.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from theory.errors import LengthgenError

FOLDER = Path(__file__).parent / "profiles"


class ProfileError(LengthgenError):
    """A profile or protocol that does not exist or does not fit; one line, what, where and how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """The decoder: embedding width, layers, attention heads."""

    width: int
    layers: int
    heads: int

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
    """

    samples: int
    batch: int
    epochs: int
    learning_rate: float
    weight_decay: float
    clip: float
    evaluate_every: int


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Samples at each scale, and the exact match at which a scale counts as solved."""

    samples: int
    threshold: float


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Sizes of models, how they are trained and tested, and runs (seeds) of each cell."""

    models: tuple[Model, ...]
    seeds: int
    training: Training
    evaluation: Evaluation


def load_profile(name: str, changes: Mapping[str, Any] | None = None) -> Profile:
    """The named profile, with some of its values changed.

    Args:
        name: of a file in empirical/profiles.
        changes: as TOML holds them: what they name is replaced, sections key by key.

    Raises:
        ProfileError: no such profile, or a key that is missing, unknown or of the wrong type.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        raise ProfileError(f"unknown profile '{name}': choose one of {', '.join(known)}")
    content = read_toml(FOLDER / f"{name}.toml")
    for key, value in (changes or {}).items():
        content[key] = content.get(key, {}) | value if isinstance(value, dict) else value
    profile: Profile = read(Profile, content, f"profile '{name}'")
    if profile.training.samples % profile.training.batch:
        raise ProfileError(
            f"profile '{name}', training: {profile.training.samples} samples are not whole batches of "
            f"{profile.training.batch}"
        )
    if profile.seeds < 1 or not profile.models:
        raise ProfileError(f"profile '{name}' needs at least one seed and one model")
    return profile


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        ProfileError: it is no TOML, or cannot be read.
    """
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path} is not TOML: {error}") from error
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror}") from error


def read(kind: Any, content: Mapping[str, Any], where: str) -> Any:
    """A dataclass from what TOML holds, checked key by key.

    Raises:
        ProfileError: a key that is missing, unknown or of the wrong type.
    """
    hints = get_type_hints(kind)
    missing = [field.name for field in fields(kind) if field.name not in content]
    unknown = [key for key in content if key not in hints]
    if unknown:
        close = get_close_matches(unknown[0], missing or hints, n=1)
        raise ProfileError(f"{where}: unknown key '{unknown[0]}'{f': did you mean {close[0]}?' if close else ''}")
    if missing:
        raise ProfileError(f"{where}: missing key '{missing[0]}'")
    return kind(**{key: _value(hint, content[key], f"{where}, {key}") for key, hint in hints.items()})


def _value(hint: Any, value: Any, where: str) -> Any:
    if is_dataclass(hint):
        if isinstance(value, dict):
            return read(hint, value, where)
    elif get_origin(hint) is tuple:
        if isinstance(value, list):
            return tuple(_value(get_args(hint)[0], entry, where) for entry in value)
    elif isinstance(value, (int, float) if hint is float else hint) and not isinstance(value, bool):
        return value
    raise ProfileError(f"{where} = {value!r} is not {getattr(hint, '__name__', hint)}")
