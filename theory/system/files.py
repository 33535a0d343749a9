"""Files that are whole or absent, and whose damage is noticed: everything the project stores goes through here."""

import fcntl
import hashlib
import json
import os
import secrets
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from theory.system.errors import LengthgenError

LARGEST = 64 << 20
"""Bytes of the largest JSON file that is read: parsed, it may take 25 times as much memory."""
SEAL = "seal"
"""The key of a sealed JSON object that holds the SHA-256 of all its others."""
SEAL_BYTES = 32
"""Bytes of the SHA-256 that a sealed binary file begins with."""


class DamagedFile(LengthgenError):
    """A stored file that is not as it was written; the message is one line that names it."""


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file so that a reader, at whatever moment the writer is killed, sees the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary, file = _new_partial(path)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _new_partial(path: Path) -> tuple[Path, BinaryIO]:
    """A new file beside `path`, locked as long as it is open: the lock tells `sweep_partial` that its writer lives."""
    while True:
        temporary = path.with_name(f".{path.name:.100}.{secrets.token_hex(4)}.partial")
        file = temporary.open("xb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink:  # else it was swept before it was locked
                return temporary, file
        except BaseException:
            temporary.unlink(missing_ok=True)
            file.close()
            raise
        file.close()


def sweep_partial(folder: Path) -> None:
    """Removes what killed writers left below a folder. Files that a living process is writing are left alone."""
    for path in folder.rglob(".*.partial"):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
        except (FileNotFoundError, BlockingIOError):
            continue  # its writer ended, or is at work


def write_json(path: Path, content: Any) -> None:
    """Writes JSON with sorted keys, whole or not at all."""
    write_bytes(path, json_bytes(content))


def require_writable(path: Path) -> None:
    """Looks whether a command may write a file there, before it computes for long what is to be in it.

    Raises:
        LengthgenError: what is there is no regular file, or no folder can be where it would lie.
        OSError: it cannot be looked at.
    """
    if path.exists() and not path.is_file():
        raise LengthgenError(f"{path} is no regular file, so it is not replaced: name another file")
    require_folder(path.parent)


def require_folder(path: Path) -> None:
    """Looks whether a folder is there or can be made. Raises as `require_writable`."""
    there = next(one for one in (path, *path.parents) if one.exists())
    if not there.is_dir():
        raise LengthgenError(f"{there} is no folder: name another")
    if not os.access(there, os.W_OK | os.X_OK):
        raise LengthgenError(f"nothing can be written into {there}: name another folder")


def read_bytes(path: Path, *, largest: int | None = None) -> bytes:
    """The bytes of a regular file.

    Raises:
        LengthgenError: it is a device, a pipe or a folder, or has more than `largest` bytes.
        OSError: it cannot be read.
    """
    # Without O_NONBLOCK, opening a pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise LengthgenError(f"{path} is no regular file: name a file")
        if largest is not None and status.st_size > largest:
            raise LengthgenError(f"{path} has {status.st_size:,} bytes, and at most {largest:,} are read")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()  # a number here would allocate as much
    finally:
        os.close(descriptor)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, of at most LARGEST bytes. Raises as `read_bytes`, and LengthgenError: not UTF-8."""
    try:
        return read_bytes(path, largest=LARGEST).decode("utf-8")
    except UnicodeDecodeError as error:
        raise LengthgenError(f"{path} is not UTF-8 text: {error}") from error


def parse_json(content: bytes, path: Path) -> Any:
    """JSON that was read from `path`.

    Raises:
        LengthgenError: it is no JSON, or nested too deeply; the path is named.
    """
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LengthgenError(f"{path} is not JSON: {error}") from error


def read_json(path: Path) -> Any:
    """What a JSON file holds.

    Raises:
        LengthgenError: it is no JSON, or no regular file, or larger than LARGEST.
        OSError: it cannot be read.
    """
    return parse_json(read_bytes(path, largest=LARGEST), path)


def write_sealed_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a JSON object with its seal, whole or not at all. `content` has string keys, and none is SEAL."""
    write_bytes(path, json_bytes({**content, SEAL: seal(content)}))


def read_sealed_json(path: Path) -> dict[str, Any]:
    """The JSON object that `write_sealed_json` wrote, without its seal.

    Raises:
        DamagedFile: it is not as it was written.
        OSError: it cannot be read.
    """
    try:
        content = read_json(path)
        if not isinstance(content, dict) or content.pop(SEAL, None) != seal(content):
            raise LengthgenError("its seal is broken")
    except (LengthgenError, RecursionError) as error:
        raise DamagedFile(f"{path} is not as it was written ({error})") from error
    return content


def seal(content: Any) -> str:
    """SHA-256 of JSON content, the same before it is written and after it is read."""
    plain = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def write_sealed_bytes(path: Path, content: bytes) -> None:
    """Writes the SHA-256 of the content (32 bytes), then the content, whole or not at all."""
    write_bytes(path, hashlib.sha256(content).digest() + content)


def read_sealed_bytes(path: Path, *, largest: int | None = None) -> bytes:
    """The content that `write_sealed_bytes` wrote.

    Raises:
        DamagedFile: it is not as it was written.
        LengthgenError: it is no regular file, or has more than `largest` bytes.
        OSError: it cannot be read.
    """
    whole = read_bytes(path, largest=largest)
    content = whole[SEAL_BYTES:]
    if hashlib.sha256(content).digest() != whole[:SEAL_BYTES]:
        raise DamagedFile(f"{path} is not as it was written (its seal is broken)")
    return content


def json_bytes(content: Any) -> bytes:
    """JSON as it is written: sorted keys, indented, UTF-8."""
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


@contextmanager
def locked(path: Path, *, on_wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Holds a lock file; waits while another process holds it. The system lets go of it when its holder dies.

    Args:
        path: the lock file, which names its holder while it is held.
        on_wait: called once with who holds the lock ("process 17 on HOST"), if it has to be waited for.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait:
                file.seek(0)
                on_wait(file.read(200).strip() or "another process")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield


def user_cache(kind: str) -> Path:
    """Where what this user's machine found out is kept: $XDG_CACHE_HOME/lengthgen/KIND, or below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lengthgen" / kind
