"""Run of the text protocol: the models of one encoding under one profile; its result is sealed (runs/sealed.py)."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from empirical.runs.sealed import SealedRun
from empirical.text.corpus import corpus
from empirical.text.profile import TextProfile
from theory.system.files import read_bytes
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
            "file": hashlib.sha256(read_bytes(Path(own[0]))).hexdigest() if own else None,
            "profile": self.profile.as_json(),
            "corpus": corpus().as_json(),
            "version": FORMAT_VERSION,
        }
