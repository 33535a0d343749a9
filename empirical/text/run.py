"""Run of the text protocol: the models of one encoding under one profile; its result is sealed (runs/sealed.py)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from empirical.runs.sealed import SealedRun
from empirical.text.corpus import corpus
from empirical.text.profile import TextProfile, load_profile
from theory.system.files import read_sealed_json
from theory.system.neighbours import own_text
from theory.system.userfile import split_file

FORMAT_VERSION = 1
"""Version of training and results; raised with each change of either, so that old results are not reused."""


@dataclass(frozen=True, kw_only=True)
class TextRun(SealedRun):
    """Models of one encoding under one profile.

    Raises:
        OSError: the file of the user's own encoding cannot be read; raised when `config` is computed.
    """

    protocol = "text"
    encoding: str
    profile_name: str
    profile: TextProfile

    @property
    def name(self) -> str:
        """Encoding."""
        return self.encoding

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return everything that the numbers depend on."""
        own = split_file(self.encoding)
        return {
            "encoding": self.encoding,
            "file": hashlib.sha256(own_text(Path(own[0])).encode("utf-8", "surrogateescape")).hexdigest()
            if own
            else None,
            "profile": self.profile.as_json(),
            "corpus": corpus().as_json(),
            "version": FORMAT_VERSION,
        }


def stored_results(out: Path, profile_name: str) -> list[dict[str, Any]]:
    """Return the stored results of a profile, ordered by encoding; those of earlier versions are left out.

    Raises:
        ProfileError: there is no such profile.
        DamagedFile: a file has changed since it was written.
    """
    profile = load_profile(profile_name)
    contents = [read_sealed_json(path) for path in sorted((out / TextRun.protocol / profile_name).glob("*.json"))]
    runs = [TextRun(encoding=content["encoding"], profile_name=profile_name, profile=profile) for content in contents]
    return [content for content, run in zip(contents, runs, strict=True) if content | run.config == content]


def tests_by_name(result: dict[str, Any]) -> dict[str, Sequence[dict[str, Any]]]:
    """Return the tests of a result by name; models tested under another encoding than their own name both."""
    own = result["encoding"]
    return {name if name == own else f"{own} under {name}": tests for name, tests in result["tests"].items()}
