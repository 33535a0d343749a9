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
