"""Cache of computed answers: each answer is in a sealed file, with a key of everything that it depends on."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.digests import versions
from lengthgen.infrastructure.files import DamagedFile, FullDisk, read_sealed_json, seal, user_cache, write_sealed_json
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.shapes import Shape, WrongShape


@dataclass(frozen=True, kw_only=True)
class Cached:
    """Place of a computed answer.

    Attributes:
        path: sealed JSON file that holds {"key": ..., "answer": ...}.
        code: hash of the code that computes the answer (`lengthgen.infrastructure.digests.source_digest`).
        inputs: what else it depends on, but for the versions of Python and of libraries, in a form that JSON can hold.
    """

    path: Path
    code: str
    inputs: Any = None

    def recalled(self, shape: Shape) -> Any | None:
        """Answer of this shape that is stored under this key; None if there is none.  Damage is reported on stderr.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            stored = read_sealed_json(self.path)
            if stored.get("key") != self._key():
                return None
            shape(stored.get("answer"), "answer")
        except FileNotFoundError:
            return None
        except (DamagedFile, WrongShape):
            tell(f"{self.path} was damaged and is made again")
            return None
        return stored["answer"]

    def keep(self, answer: Any) -> None:
        """Store the answer under this key, and replace the previous content.

        Raises:
            FullDisk: no space is left.
            OSError: the file cannot be written.
        """
        write_sealed_json(self.path, {"key": self._key(), "answer": answer})

    def computed(self, compute: Callable[[], Any], shape: Shape) -> Any:
        """Stored answer of this shape; if there is none, `compute` computes it, not None, and it is stored.

        Raises:
            FullDisk, OSError: the file cannot be read or written.
        """
        answer = self.recalled(shape)
        if answer is None:
            answer = json.loads(json.dumps(compute(), sort_keys=True))  # the same value as after reading the file
            self.keep(answer)
        return answer

    def _key(self) -> str:
        """Hash of all; with the name of the file, so that an answer from another file, moved here, does not count."""
        return seal([self.path.name, self.code, versions(), self.inputs])


class UserCached(Cached):
    """Place of an answer below `files.user_cache`; where nothing can be kept, it is computed anew."""

    def recalled(self, shape: Shape) -> Any | None:
        """Answer of this shape that is stored under this key; None if there is none, or if it cannot be read."""
        try:
            return super().recalled(shape)
        except OSError:
            return None

    def keep(self, answer: Any) -> None:
        """Store the answer under this key; if that fails, say so, once for all answers of this process."""
        try:
            super().keep(answer)
        except FullDisk:
            _tell_once("no space is left")
        except OSError as error:
            _tell_once(str(error.strerror))


def can_keep(folder: Path) -> bool:
    """True if files can be kept in this folder of the user's cache; if not, say so, once for all folders."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        _tell_once(str(error.strerror))
        return False
    return True


@cache
def _tell_once(why: str) -> None:
    if parent_process() is None:  # else the process that started this one has said so, see `processes.pool`
        tell(f"nothing is kept in {user_cache('')} for the next time ({why}): set XDG_CACHE_HOME to another folder")
