"""Corpus: the Python sources of the installed sympy as bytes, split by file into training and test text.

Every installation of the project has them.  The licence of sympy is BSD 3-Clause; nothing of the text is stored with
results but its SHA-256, since versions of sympy differ.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_bytes

PACKAGE, LICENCE = "sympy", "BSD-3-Clause"
TEST_FILES = 16
"""About every 16th file is test text; the hash of its path decides."""
_SKIPPED = {"tests", "benchmarks"}


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
        sha256=hashlib.sha256(train + test).hexdigest(),
        train=np.frombuffer(train, dtype=np.uint8),
        test=np.frombuffer(test, dtype=np.uint8),
    )


def _sources(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name of each source file below the package's folder, and its path."""
    for path in root.rglob("*.py"):
        relative = path.relative_to(root)
        if not _SKIPPED & set(relative.parts):
            yield relative.as_posix(), path
