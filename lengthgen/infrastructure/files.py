"""Reading and writing of files: a file is complete or absent, and damage is detected.

The whole project stores its files through this module.
"""

import errno
import fcntl
import hashlib
import json
import os
import secrets
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.messages import tell

LARGEST = 64 << 20
"""Largest number of bytes of a JSON file that is read; parsed, it may take 25 times as much memory."""
SEAL = "seal"
"""Key in a sealed JSON object; its value is the SHA-256 of all other entries."""
SEAL_BYTES = 32
"""Number of bytes of the SHA-256 at the start of a sealed binary file."""


class DamagedFile(LengthgenError):
    """A stored file has changed since it was written; the one-line message names the file."""


class Held(LengthgenError):
    """A lock is held by another process; the message names it and its work."""


class FullDisk(LengthgenError):
    """Error of a write without space on the disk; the message names the file. Other writes there fail as well."""


@contextmanager
def _full_disk_named(path: Path) -> Iterator[None]:
    """Context manager that raises FullDisk with the path in place of an OSError that says so without it."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FullDisk(
                f"no space is left to write {path}: free some on its disk, then run the same command again to go on"
            ) from error
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, even if the writer is killed.

    Raises:
        FullDisk: no space is left.
        OSError: the file cannot be written for another reason.
    """
    with _full_disk_named(path):
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
    """Temporary file beside `path`, locked while it is open: the lock shows `sweep_partial` that its writer lives."""
    while True:
        temporary = path.with_name(f".{path.name:.100}.{secrets.token_hex(4)}.partial")
        file = temporary.open("xb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink:  # otherwise `sweep_partial` removed it before it was locked
                return temporary, file
        except BaseException:
            temporary.unlink(missing_ok=True)
            file.close()
            raise
        file.close()


def sweep_partial(folder: Path) -> None:
    """Remove temporary files of killed writers below a folder; files of living writers stay."""
    for path in folder.rglob(".*.partial"):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
        except (FileNotFoundError, BlockingIOError):
            continue  # the writer has just ended, or is still writing


def write_json(path: Path, content: Any) -> None:
    """Write JSON with sorted keys, completely or not at all."""
    write_bytes(path, json_bytes(content))


def require_writable(path: Path) -> None:
    """Check that a command may write a file at this path, before a long computation of its content.

    Raises:
        LengthgenError: the path is not a regular file, its folder cannot be made, or it cannot be examined.
    """
    with _refused_in_words():
        if path.exists() and not path.is_file():
            raise LengthgenError(f"{path} is no regular file, so it is not replaced: name another file")
    require_folder(path.parent)


def require_folder(path: Path) -> None:
    """Check that a folder exists or can be made; raises the errors of `require_writable`."""
    with _refused_in_words():
        ancestor = next(candidate for candidate in (path, *path.parents) if candidate.exists())
        if not ancestor.is_dir():
            raise LengthgenError(f"{ancestor} is no folder: name another")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise LengthgenError(f"nothing can be written into {ancestor}: name another folder")


@contextmanager
def _refused_in_words() -> Iterator[None]:
    """Context manager that raises LengthgenError, with advice, for a path that the operating system refuses."""
    try:
        yield
    except OSError as error:
        raise LengthgenError(f"{in_words(error)}: name another") from error


def read_bytes(path: Path, *, largest: int | None = None) -> bytes:
    """Content of a regular file.

    Raises:
        LengthgenError: the path is a device, a pipe or a folder, or the file has more than `largest` bytes.
        OSError: the file cannot be read.
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
            return file.read()  # read(n) would allocate n bytes at once
    finally:
        os.close(descriptor)


def read_text(path: Path) -> str:
    """Text of a UTF-8 file of at most LARGEST bytes, without the byte order mark with which some editors begin it.

    Raises:
        LengthgenError: the file is not UTF-8, or an error of `read_bytes`.
        OSError: the file cannot be read.
    """
    try:
        return read_bytes(path, largest=LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LengthgenError(f"{path} is not UTF-8 text: {error}") from error


def parse_json(content: bytes, path: Path) -> Any:
    """Content of JSON bytes that were read from `path`.

    Raises:
        LengthgenError: the bytes are not JSON, or nested too deeply; the message names the path.
    """
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise LengthgenError(f"{path} is not JSON: {error}") from error


def read_json(path: Path) -> Any:
    """Content of a JSON file.

    Raises:
        LengthgenError: the file is not JSON, not a regular file, or larger than LARGEST.
        OSError: the file cannot be read.
    """
    return parse_json(read_bytes(path, largest=LARGEST), path)


def write_sealed_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object with its seal, completely or not at all; `content` has string keys, none of them SEAL.

    It is one line, since such files are kept by the hundred and read by programs.
    """
    text = json.dumps({**content, SEAL: seal(content)}, sort_keys=True, separators=(",", ":"))
    write_bytes(path, f"{text}\n".encode())


def read_sealed_json(path: Path) -> dict[str, Any]:
    """JSON object that `write_sealed_json` wrote, without its seal.

    Raises:
        DamagedFile: the file has changed since it was written.
        OSError: the file cannot be read.
    """
    try:
        content = read_json(path)
        if not isinstance(content, dict) or content.pop(SEAL, None) != seal(content):
            raise LengthgenError("its seal is broken")
    except (LengthgenError, RecursionError) as error:
        raise DamagedFile(f"{path} is not as it was written ({error})") from error
    return content


def seal(content: Any) -> str:
    """SHA-256 of JSON content; it is the same before the content is written and after it is read."""
    plain = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def write_sealed_bytes(path: Path, content: bytes) -> None:
    """Write the SHA-256 of the content (32 bytes) and then the content, completely or not at all."""
    write_bytes(path, hashlib.sha256(content).digest() + content)


def read_sealed_bytes(path: Path, *, largest: int | None = None) -> bytes:
    """Content that `write_sealed_bytes` wrote.

    Raises:
        DamagedFile: the file has changed since it was written.
        LengthgenError: the path is not a regular file, or the file has more than `largest` bytes.
        OSError: the file cannot be read.
    """
    sealed = read_bytes(path, largest=largest)
    content = sealed[SEAL_BYTES:]
    if hashlib.sha256(content).digest() != sealed[:SEAL_BYTES]:
        raise DamagedFile(f"{path} is not as it was written (its seal is broken)")
    return content


def json_bytes(content: Any) -> bytes:
    """JSON in the form that is written: sorted keys, indented, UTF-8."""
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


@contextmanager
def locked(path: Path, work: str, *, wait: bool = True) -> Iterator[None]:
    """Context manager that holds a lock file, which the system releases if the process ends.

    It waits while another process holds the lock, and says so on stderr; the file has the name of the holder.

    Args:
        path: the lock file.
        work: what the holder of the lock does, as the end of a sentence: "trains RUN".
        wait: if False, a lock that is not free is an error.

    Raises:
        FullDisk: no space is left.
        Held: the lock is not free, and `wait` is False.
    """
    with _full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8", errors="replace")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(200).strip() or "another process"
            if not wait:
                raise Held(f"{holder} {work}") from None
            tell(f"waiting for {holder}, which {work}")
            fcntl.flock(file, fcntl.LOCK_EX)
        with _full_disk_named(path):
            file.truncate(0)
            os.write(file.fileno(), f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield


def user_cache(kind: str) -> Path:
    """Folder for cached results of this user on this machine: $XDG_CACHE_HOME/lengthgen/KIND, else below ~/.cache.

    For a user without a home it is one in which nothing can be kept.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lengthgen" / kind
    except RuntimeError:  # as in a container whose user has no entry in /etc/passwd
        return Path(os.devnull) / kind
