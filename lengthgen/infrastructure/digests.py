"""Hashes that show whether source code or a file has changed, and the versions of Python and of the libraries."""

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lengthgen.infrastructure.files import read_bytes

HOME = Path(__file__).parents[1]
"""Folder of the package `lengthgen`; in a clone, the packages in it are links to folders at the root."""
LIBRARIES = (
    "automata-lib", "latex2mathml", "matplotlib", "mpmath", "networkx", "numpy", "pyarrow", "python-flint",
    "python-sat", "safetensors", "scipy", "sympy", "torch",
)  # fmt: skip
"""Libraries that answers and figures are computed with."""


def source_digest(*packages: str) -> str:
    """Hash of the source files of some packages in HOME, and of `infrastructure`, with TOML settings and CSV data."""
    digest = hashlib.sha256()
    for package in ("infrastructure", *packages):
        for path in sorted((HOME / package).rglob("*")):
            if path.suffix in (".py", ".toml", ".csv"):
                digest.update(f"{path.relative_to(HOME)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def sha256(content: bytes) -> str:
    """SHA-256 of bytes; that of JSON content is `lengthgen.infrastructure.files.seal`."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a regular file; raises the errors of `read_bytes`."""
    return sha256(read_bytes(path))


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries, by name."""
    installed = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            installed[library] = version(library)
        except PackageNotFoundError:
            continue
    return installed
