"""Files that are whole or absent: everything the project stores is written through here."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from theory.errors import LengthgenError


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file so that a reader, at whatever moment the writer is killed, sees the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Any) -> None:
    """Writes JSON with sorted keys, whole or not at all."""
    write_bytes(path, (json.dumps(content, indent=2, sort_keys=True) + "\n").encode())


def read_json(path: Path) -> Any:
    """What a JSON file holds.

    Raises:
        LengthgenError: it is no JSON.
        OSError: it cannot be read.
    """
    try:
        return json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise LengthgenError(f"{path} is not JSON: {error}") from error


def sweep_partial(folder: Path) -> None:
    """Removes what killed writers left in a folder. Only for a caller that holds the folder's lock."""
    for path in folder.rglob(".*.partial"):
        path.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file; waits while another process holds it. The system lets go of it when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def user_cache(kind: str) -> Path:
    """Where what this user's machine found out is kept: $XDG_CACHE_HOME/lengthgen/KIND, or below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lengthgen" / kind
