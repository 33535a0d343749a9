"""Profiles: how large and how long experiments are, as TOML files in empirical/profiles.

`smoke` takes seconds (the tests), `quick` minutes on two cores (the main job), `paper` follows the published
protocol and wants a GPU.
"""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from theory.errors import LengthgenError

FOLDER = Path(__file__).parent / "profiles"


class ProfileError(LengthgenError):
    """A profile that does not exist or does not fit; one line, what, where and how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """The decoder: embedding width, layers, attention heads."""

    width: int
    layers: int
    heads: int


@dataclass(frozen=True, kw_only=True)
class Training:
    """AdamW on a fixed set of samples: batches an epoch are shuffled anew, gradients clipped to norm 1."""

    samples: int
    batch: int
    epochs: int
    learning_rate: float
    weight_decay: float
    evaluate_every: int


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Samples at each scale, and the exact match at which a scale counts as solved."""

    samples: int
    threshold: float


@dataclass(frozen=True, kw_only=True)
class Conjecture:
    """The cells of the conjecture test and their scales (first and last)."""

    tasks: list[str]
    formats: list[str]
    encodings: list[str]
    train: list[int]
    test: list[int]
    seeds: int


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One profile, whole."""

    name: str
    model: Model
    training: Training
    evaluation: Evaluation
    conjecture: Conjecture


def load_profile(name: str) -> Profile:
    """The named profile.

    Raises:
        ProfileError: no such profile, or a key that is missing, unknown or of the wrong type.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        raise ProfileError(f"unknown profile '{name}': choose one of {', '.join(known)}")
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    sections = {field.name: field.type for field in fields(Profile) if field.name != "name"}
    if content.keys() != sections.keys():
        raise ProfileError(f"profile '{name}' must hold exactly the sections {', '.join(sections)}")
    parts = {key: _section(kind, content[key], f"profile '{name}', [{key}]") for key, kind in sections.items()}
    return Profile(name=name, **parts)


def _section(kind: Any, content: dict[str, Any], where: str) -> Any:
    hints = get_type_hints(kind)
    if content.keys() != hints.keys():
        wrong = sorted(content.keys() ^ hints.keys())
        raise ProfileError(f"{where}: missing or unknown: {', '.join(wrong)}")
    for key, hint in hints.items():
        if not _fits(content[key], hint):
            raise ProfileError(f"{where}: {key} = {content[key]!r} is not of type {hint}")
    return kind(**content)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is list:
        return isinstance(value, list) and all(isinstance(entry, get_args(hint)) for entry in value)
    return isinstance(value, (int, float) if hint is float else hint)
