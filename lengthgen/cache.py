"""Computed once: an answer is stored with a key of everything it depends on, and taken from there while it fits."""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from empirical.files import write_json

SOURCE = Path(__file__).parent.parent


def source_digest(*packages: str) -> str:
    """Hash of the source of some of the project's packages: answers computed by other code are not taken."""
    known = hashlib.sha256()
    for package in packages:
        for path in sorted((SOURCE / package).rglob("*")):
            if path.suffix in (".py", ".toml"):
                known.update(f"{path.relative_to(SOURCE)}\n".encode() + path.read_bytes())
    return known.hexdigest()[:16]


def cached(path: Path, key: Any, compute: Callable[[], Any]) -> Any:
    """The answer stored at `path` under this key; else it is computed and stored.

    Args:
        path: the JSON file that holds {"key": ..., "answer": ...}.
        key: everything the answer depends on, as JSON can hold it.
        compute: makes the answer.
    """
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    try:
        stored = json.loads(path.read_text())
        if stored["key"] == digest:
            return stored["answer"]
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, TypeError):
        print(f"{path} was damaged and is made again", file=sys.stderr)
    write_json(path, {"key": digest, "answer": compute()})
    return json.loads(path.read_text())["answer"]


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
