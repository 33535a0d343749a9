"""Content of a folder without what tells time, and the files that must not be left in it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from tests.lengthgen.test_reproduce import TELL_TIME

LOCKS = {".locks", ".lock"}


def contents(out: Path) -> dict[str, str]:
    """Map every file and folder, hidden ones too, to a hash of its content, without what tells time."""
    return {
        str(path.relative_to(out)): _digest(path)
        for path in sorted(out.rglob("*"))
        if not LOCKS & {*path.relative_to(out).parts}
    }


def difference(expected: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Name the first few files that are gone, changed or left behind; "" if there are none."""
    gone = sorted(expected.keys() - now.keys())
    more = sorted(now.keys() - expected.keys())
    changed = sorted(name for name in expected.keys() & now.keys() if expected[name] != now[name])
    parts = {"missing": gone, "left behind": more, "changed": changed}
    return "; ".join(f"{what}: {', '.join(names[:4])} ({len(names)})" for what, names in parts.items() if names)


def _digest(path: Path) -> str:
    if path.is_dir():
        return "folder"
    if path.name == "claims.json":
        claims = json.loads(path.read_text(encoding="utf-8"))["answer"]["claims"]
        content = json.dumps([{**claim, "seconds": None} for claim in claims], sort_keys=True).encode()
    elif path.name in TELL_TIME or path.parent.name == ".drawn":
        return "tells time"
    else:
        content = path.read_bytes()
    return hashlib.sha256(content).hexdigest()
