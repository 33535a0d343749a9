"""Files of the user's own that are run: code that the user chose to run."""

import runpy
from pathlib import Path
from typing import Any

from theory.errors import LengthgenError


def run_file(path: str, *, what: str, error: type[LengthgenError]) -> dict[str, Any]:
    """Runs a Python file; returns what it defines.

    Args:
        path: of the file.
        what: it is to define, for messages: "task", "pattern".
        error: raised, in one line, where the file does not exist or fails.
    """
    if not Path(path).is_file():
        raise error(f"{what} file '{path}' does not exist")
    try:
        return runpy.run_path(path)
    except (Exception, SystemExit) as failure:
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise error(f"{what} file '{path}' fails: {reason}") from failure
