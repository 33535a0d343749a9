"""Computed once: an answer is stored with a key of everything it depends on, and taken from there while it fits."""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from empirical.files import write_json


def cached(path: Path, key: Any, compute: Callable[[], Any]) -> Any:
    """The answer stored at `path` under this key; else it is computed and stored.

    Args:
        path: the JSON file that holds {"key": ..., "answer": ...}.
        key: everything the answer depends on, as JSON can hold it.
        compute: makes the answer, which is not None.
    """
    answer = recalled(path, key)
    if answer is not None:
        return answer
    keep(path, key, compute())
    return recalled(path, key)


def recalled(path: Path, key: Any) -> Any | None:
    """The answer stored at `path` under this key, if there is one; says so where the file is damaged."""
    try:
        stored = json.loads(path.read_text())
        return stored["answer"] if stored["key"] == _digest(key) else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        print(f"{path} was damaged and is made again", file=sys.stderr)
        return None


def keep(path: Path, key: Any, answer: Any) -> None:
    """Stores the answer at `path` under this key, in place of what is there."""
    write_json(path, {"key": _digest(key), "answer": answer})


def _digest(key: Any) -> str:
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
