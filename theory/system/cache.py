"""Cache of computed answers: each answer is in a sealed file, with a key of everything that it depends on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from theory.system.files import DamagedFile, read_sealed_json, seal, write_sealed_json
from theory.system.messages import tell
from theory.system.shapes import Shape, WrongShape


def cached(path: Path, key: Any, compute: Callable[[], Any], *, shape: Shape) -> Any:
    """Answer stored at `path` under this key; if there is none, it is computed and stored.

    Args:
        path: the sealed JSON file that holds {"key": ..., "answer": ...}.
        key: everything that the answer depends on, in a form that JSON can hold.
        compute: function that computes the answer, which is not None.
        shape: shape of the answer; a stored one of another shape is damaged, and computed again.

    Raises:
        OSError: the file cannot be read or written.
    """
    answer = recalled(path, key, shape=shape)
    if answer is not None:
        return answer
    answer = json.loads(json.dumps(compute(), sort_keys=True))  # the same value as after reading the file
    keep(path, key, answer)
    return answer


def recalled(path: Path, key: Any, *, shape: Shape) -> Any | None:
    """Answer of this shape stored at `path` under this key; None if there is none.  Damage is reported on stderr."""
    try:
        stored = read_sealed_json(path)
        if stored.get("key") != _key_with_file_name(path, key):
            return None
        shape(stored.get("answer"), "answer")
    except FileNotFoundError:
        return None
    except (DamagedFile, WrongShape):
        tell(f"{path} was damaged and is made again")
        return None
    return stored["answer"]


def keep(path: Path, key: Any, answer: Any) -> None:
    """Store the answer at `path` under this key and replace the previous content."""
    write_sealed_json(path, {"key": _key_with_file_name(path, key), "answer": answer})


def _key_with_file_name(path: Path, key: Any) -> str:
    """Digest of the file name and the key: an answer from a file with another name, moved here, does not count."""
    return seal([path.name, key])
