"""Run of the text protocol: the models of one encoding under one profile, and where their result is stored.

    OUT/text/PROFILE/ENCODING-HASH.json

A result appears complete or not at all, and is sealed.  The hash is that of everything the numbers depend on except the
code itself, which FORMAT_VERSION stands for.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from empirical.text.corpus import corpus
from empirical.text.profile import TextProfile, digest, load_profile
from theory.system.files import read_bytes, read_sealed_json
from theory.system.userfile import split_file

FORMAT_VERSION = 1
"""Version of training and results; raised with each change of either, so that old results are not reused."""


@dataclass(frozen=True, kw_only=True)
class TextRun:
    """Models of one encoding under one profile.

    Raises:
        OSError: the file of the user's own encoding cannot be read; raised when `config` is computed.
    """

    encoding: str
    profile_name: str
    profile: TextProfile

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return everything that the numbers depend on."""
        own = split_file(self.encoding)
        return {
            "encoding": self.encoding,
            "file": hashlib.sha256(read_bytes(Path(own[0]))).hexdigest() if own else None,
            "profile": self.profile.as_json(),
            "corpus": corpus().as_json(),
            "version": FORMAT_VERSION,
        }

    def path(self, out: Path) -> Path:
        """Return the file of the result."""
        name = "".join(character if character.isalnum() or character in "-=." else "_" for character in self.encoding)
        return out / "text" / self.profile_name / f"{name[:80]}-{digest(self.config)}.json"

    def result(self, out: Path) -> dict[str, Any] | None:
        """Return the stored result; None if there is none.

        Raises:
            DamagedFile: the file has changed since it was written.
        """
        path = self.path(out)
        return read_sealed_json(path) if path.exists() else None


def stored_results(out: Path, profile_name: str) -> list[dict[str, Any]]:
    """Return the stored results of a profile, ordered by encoding; those of earlier versions are left out.

    Raises:
        ProfileError: there is no such profile.
        DamagedFile: a file has changed since it was written.
    """
    profile = load_profile(profile_name)
    contents = [read_sealed_json(path) for path in sorted((out / "text" / profile_name).glob("*.json"))]
    runs = [TextRun(encoding=content["encoding"], profile_name=profile_name, profile=profile) for content in contents]
    return [content for content, run in zip(contents, runs, strict=True) if content | run.config == content]


def tests_by_name(result: dict[str, Any]) -> dict[str, Sequence[dict[str, Any]]]:
    """Return the tests of a result by name; models tested under another encoding than their own name both."""
    own = result["encoding"]
    return {name if name == own else f"{own} under {name}": tests for name, tests in result["tests"].items()}
