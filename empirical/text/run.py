"""Run of the text protocol: the models of one encoding under one profile; its result is sealed (runs/sealed.py)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.empirical.runs.sealed import MEND, SealedRun
from lengthgen.empirical.text.corpus import corpus
from lengthgen.empirical.text.profile import TextProfile, load_profile
from lengthgen.infrastructure.neighbours import own_text
from lengthgen.infrastructure.shapes import (
    COUNT,
    NUMBER,
    TEXT,
    Shape,
    both,
    list_of,
    mapping_to,
    one_for_each,
    read_stored,
    record,
    row,
)
from lengthgen.infrastructure.userfile import split_file

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

    @property
    def shape(self) -> Shape:
        """Shape of the result: tests by encoding, those of each length with a number for each model."""
        of_models = row(*[NUMBER] * self.profile.seeds)
        at_length = record(
            length=COUNT, **dict.fromkeys(("loss", "last", "keys"), of_models), by_position=list_of(NUMBER)
        )
        of_encoding = one_for_each(self.profile.lengths, itemgetter("length"), at_length)
        return record(tests=both(mapping_to(of_encoding), record(**{self.encoding: of_encoding})), seconds=NUMBER)


def stored_results(out: Path, profile_name: str) -> list[dict[str, Any]]:
    """Return the stored results of a profile, ordered by encoding; those of earlier versions are left out.

    Raises:
        ProfileError: there is no such profile.
        DamagedFile: a file has changed since it was written.
    """
    profile = load_profile(profile_name)
    paths = sorted((out / TextRun.protocol / profile_name).glob("*.json"))
    encodings = [read_stored(path, record(encoding=TEXT), "result", MEND)["encoding"] for path in paths]
    # A result of an earlier version is in another file than that of the run.
    runs = [TextRun(encoding=name, profile_name=profile_name, profile=profile) for name in dict.fromkeys(encodings)]
    return [result for run in runs if (result := run.result(out))]


def tests_by_name(result: dict[str, Any]) -> dict[str, Sequence[dict[str, Any]]]:
    """Return the tests of a result by name; models tested under another encoding than their own name both."""
    own = result["encoding"]
    return {name if name == own else f"{own} under {name}": tests for name, tests in result["tests"].items()}
