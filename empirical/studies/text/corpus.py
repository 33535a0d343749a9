"""Text that language models read: the sources of the installed sympy as bytes, in windows; and profiles of how much.

Every installation of the project has them; files are either training or test text.  The licence of sympy is BSD
3-Clause; nothing of the text is stored with results but its SHA-256, since versions of sympy differ.  A window is a
context, which may state a key to be recalled at its end.  Of the profiles `smoke` takes seconds (the tests), `quick`
some minutes of a CPU core an encoding, `paper` needs a GPU.

Shapes: B windows, L bytes of a window.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.experiment.protocol import SEEDS, Model
from lengthgen.infrastructure.digests import sha256
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_bytes
from lengthgen.infrastructure.settings import FLOAT32, POSITIVE, Entries, ProfileError, Range, load

PACKAGE, LICENCE = "sympy", "BSD-3-Clause"
TEST_FILES = 16
"""About every 16th file is test text; the hash of its path decides."""
_SKIPPED = {"tests", "benchmarks"}
DIGITS = 5
"""Number of digits of a key."""
_STATEMENT, _QUESTION = b"\n# key ", b"\n# key "
STATEMENT = len(_STATEMENT) + DIGITS + 1
"""Number of bytes of the line that states the key, line feeds included."""
QUESTION = len(_QUESTION) + DIGITS
"""Number of bytes at the end of a window that ask for the key and give it."""

LENGTH = Range(QUESTION + STATEMENT, 65_536)
"""Numbers of bytes that a model reads: at least a key's statement and question."""

Windows = NDArray[np.uint8]
"""Windows, uint8 [B, L]."""


class CorpusError(LengthgenError):
    """The corpus is not installed."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Text of a package.

    Attributes:
        name: package and version.
        sha256: SHA-256 of the training text followed by the test text.
        train, test: bytes, uint8; whole files in the order of their paths.
    """

    name: str
    sha256: str
    train: NDArray[np.uint8]
    test: NDArray[np.uint8]

    def as_json(self) -> dict[str, str]:
        """Return what identifies the corpus."""
        return {"text": f"sources of {self.name}", "licence": LICENCE, "sha256": self.sha256}


@dataclass(frozen=True, kw_only=True)
class TextProfile:
    """Sizes of the text protocol.

    Attributes:
        model: size of the decoder.
        seeds: number of models of each encoding, which differ in their seed.
        steps: training steps.
        batch: windows of a step; half of them, rounded down, state a key and ask for it.
        length: bytes that a model reads in training.
        lengths: bytes that it reads in tests, ascending, from the trained length on.
        windows: test windows at each length, without keys; as many more have keys.

    Raises:
        ProfileError: the lengths do not ascend from the trained one.
    """

    model: Model
    seeds: Annotated[int, SEEDS]
    steps: Annotated[int, Range(1, 10_000_000)]
    batch: Annotated[int, Range(2, 10_000)]
    learning_rate: Annotated[float, POSITIVE]
    weight_decay: Annotated[float, FLOAT32]
    clip: Annotated[float, POSITIVE]
    length: Annotated[int, LENGTH]
    lengths: Annotated[tuple[Annotated[int, LENGTH], ...], Entries(20)]
    windows: Annotated[int, Range(1, 100_000)]

    def __post_init__(self) -> None:
        if self.lengths[0] != self.length or list(self.lengths) != sorted(set(self.lengths)):
            raise ProfileError(f"lengths = {list(self.lengths)} do not ascend from the trained length {self.length}")


def load_profile(name: str) -> TextProfile:
    """Load the named profile. Raises ProfileError if there is none."""
    return load(TextProfile, Path(__file__).parent, name, f"text profile '{name}'")


@cache
def corpus() -> Corpus:
    """Return the corpus, read from the installed package.

    Raises:
        CorpusError: the package is installed without its sources.
    """
    installed = distribution(PACKAGE)
    parts: dict[bool, list[bytes]] = {False: [], True: []}
    for name, path in sorted(_sources(Path(str(installed.locate_file(PACKAGE))))):
        in_test = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % TEST_FILES == 0
        parts[in_test].append(read_bytes(path))
    train, test = b"".join(parts[False]), b"".join(parts[True])
    if not train or not test:
        raise CorpusError(f"the sources of {PACKAGE} are not installed beside the package: pip install {PACKAGE}")
    return Corpus(
        name=f"{PACKAGE} {installed.version}",
        sha256=sha256(train + test),
        train=np.frombuffer(train, dtype=np.uint8),
        test=np.frombuffer(test, dtype=np.uint8),
    )


def _sources(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name of each source file below the package's folder, and its path."""
    for path in root.rglob("*.py"):
        relative = path.relative_to(root)
        if not _SKIPPED & set(relative.parts):
            yield relative.as_posix(), path


def windows(text: NDArray[np.uint8], count: int, length: int, counter: Sequence[int]) -> Windows:
    """Draw windows of a text, uint8 [count, length], determined by a counter."""
    rng = np.random.default_rng(list(counter))
    starts = rng.integers(0, len(text) - length + 1, count)
    drawn: Windows = text[starts[:, None] + np.arange(length)]
    return drawn


def ending_together(text: NDArray[np.uint8], count: int, length: int, longest: int) -> Windows:
    """Return windows at even distances that end where those of the longest length end, uint8 [count, length].

    Windows of different lengths thus have the same last bytes, after contexts of different lengths.
    """
    ends = np.linspace(longest, len(text), count).astype(np.int64)
    ending: Windows = text[ends[:, None] - length + np.arange(length)]
    return ending


def with_keys(plain: Windows, counter: Sequence[int]) -> Windows:
    """Return the windows, each with a key stated at a random place and asked for at the end, in place of its bytes.

    The last DIGITS bytes are the key. Shorter windows than QUESTION + STATEMENT are returned unchanged.
    """
    count, length = plain.shape
    last_start = length - QUESTION - STATEMENT
    if last_start < 0:
        return plain
    rng = np.random.default_rng(list(counter))
    keys = rng.integers(0, 10, (count, DIGITS)).astype(np.uint8) + ord("0")
    starts = rng.integers(0, last_start + 1, count)
    changed = plain.copy()
    rows, places = np.arange(count)[:, None], starts[:, None]
    digits = np.arange(DIGITS)
    changed[rows, places + np.arange(len(_STATEMENT))] = np.frombuffer(_STATEMENT, dtype=np.uint8)
    changed[rows, places + len(_STATEMENT) + digits] = keys
    changed[np.arange(count), starts + STATEMENT - 1] = ord("\n")
    changed[:, length - QUESTION : length - DIGITS] = np.frombuffer(_QUESTION, dtype=np.uint8)
    changed[:, length - DIGITS :] = keys
    return changed
