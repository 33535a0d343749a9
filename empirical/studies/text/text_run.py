"""Run of the text protocol: the models of one encoding under one profile, and its sealed result."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding
from lengthgen.empirical.experiment.run import drawn_from
from lengthgen.empirical.experiment.sealed import MEND, Losses, SealedRun
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.studies.text.corpus import TextProfile, corpus, load_profile
from lengthgen.infrastructure.digests import sha256
from lengthgen.infrastructure.neighbours import own_text
from lengthgen.infrastructure.settings import ProfileError, as_json
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
from lengthgen.theory.encodings.catalogue import ENCODINGS

FORMAT_VERSION = 1
"""Version of training and results; raised with each change of either, so that old results are not reused."""
TRAINED_ROTATION = "rope"
STRETCHED = ("interpolation[scale={scale:g}]", "ntk[scale={scale:g}]", "dynamic-ntk", "yarn[scale={scale:g}]")
"""Encodings under which models trained with RoPE are tested as well, without training, for a length `scale` times the
trained one.
"""


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
            "file": sha256(own_text(Path(own[0])).encode("utf-8", "surrogateescape")) if own else None,
            "profile": as_json(self.profile),
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

    def measured(self, out: Path, backend: Backend) -> tuple[Losses, dict[str, Any]]:
        """Train the models, and measure them at every length; those of RoPE under other rotations as well.

        Raises:
            EncodingError, RelationError, ProfileError: there is no such model, or the user's file has changed since.
        """
        from lengthgen.empirical.studies.text.language_model import LanguageModels

        if replace(self).config != self.config:
            raise ProfileError(
                f"{self.encoding}, or a module beside it, was changed meanwhile: run the same command again"
            )
        profile = self.profile
        models = LanguageModels(parse_encoding(self.encoding), profile, corpus(), backend)
        losses = models.train()
        tests = {self.encoding: [asdict(models.measure(length)) for length in profile.lengths]}
        if self.encoding == TRAINED_ROTATION:
            for text in STRETCHED:
                tests[text.partition("[")[0]] = [
                    asdict(models.measure(length, under=other) if length > profile.length else models.measure(length))
                    for length in profile.lengths
                    for other in [parse_encoding(text.format(scale=length / profile.length))]
                ]
        return losses, {"tests": tests}


def stored_results(out: Path, profile_name: str) -> list[dict[str, Any]]:
    """Return the stored results of a profile, ordered by encoding; those of earlier versions are left out."""
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


def usual_encodings(profile: TextProfile) -> list[str]:
    """Return the registered encodings that need no task, with enough positions to draw from where they are drawn.

    Left out are those whose relation is that of a task's circuit, and those that see later tokens.
    """
    from lengthgen.empirical.encodings.modules import label_relation

    names = []
    for name, encoding in ENCODINGS.items():
        spec = parse_encoding(name)
        try:
            label_relation(spec, None)
        except NoRelation:
            continue
        longest = drawn_from(spec)
        too_few = longest is not None and longest < profile.lengths[-1]
        if encoding.causal:
            names.append(f"{name}[longest={profile.lengths[-1]}]" if too_few else name)
    return names
