"""Answers computed once: each is stored in a sealed file with a key of everything it depends on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from theory.system.files import DamagedFile, read_sealed_json, seal, write_sealed_json
from theory.system.messages import tell


def cached(path: Path, key: Any, compute: Callable[[], Any]) -> Any:
    """The answer stored at `path` under this key; else it is computed and stored.

    Args:
        path: the sealed JSON file that holds {"key": ..., "answer": ...}.
        key: everything the answer depends on, as JSON can hold it.
        compute: makes the answer, which is not None.

    Raises:
        OSError: the file cannot be read or written.
    """
    answer = recalled(path, key)
    if answer is not None:
        return answer
    answer = json.loads(json.dumps(compute(), sort_keys=True))  # as it will be read
    keep(path, key, answer)
    return answer


def recalled(path: Path, key: Any) -> Any | None:
    """The answer stored at `path` under this key, if there is one; a damaged file is named on stderr."""
    try:
        stored = read_sealed_json(path)
    except FileNotFoundError:
        return None
    except DamagedFile:
        tell(f"{path} was damaged and is made again")
        return None
    return stored.get("answer") if stored.get("key") == _of_file(path, key) else None


def keep(path: Path, key: Any, answer: Any) -> None:
    """Stores the answer at `path` under this key, in place of what is there."""
    write_sealed_json(path, {"key": _of_file(path, key), "answer": answer})


def _of_file(path: Path, key: Any) -> str:
    """The key as a file of this name stores it: the answer of another file, moved here, is not this one's."""
    return seal([path.name, key])
