"""Hashes that tell whether code or a file is the same."""

import hashlib
from pathlib import Path

from theory.system.files import read_bytes

SOURCE = Path(__file__).parents[2]


def source_digest(*packages: str) -> str:
    """Of the source of some of the project's packages, protocols and profiles included."""
    known = hashlib.sha256()
    for package in packages:
        for path in sorted((SOURCE / package).rglob("*")):
            if path.suffix in (".py", ".toml"):
                known.update(f"{path.relative_to(SOURCE)}\n".encode() + path.read_bytes())
    return known.hexdigest()[:16]


def file_digest(path: Path) -> str:
    """SHA-256 of a regular file. Raises as `read_bytes`."""
    return hashlib.sha256(read_bytes(path)).hexdigest()
