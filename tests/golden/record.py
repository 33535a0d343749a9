"""Record golden answers anew: `python -m tests.golden.record [PART or COMMAND]...`; without names, all of them."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.golden import stored_runs
from tests.golden.answers import STORED, answer, commands, file_of, make_template, write


def main(names: list[str]) -> None:
    """Write the answers of the named parts and commands."""
    STORED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        make_template(folder / "template")
        for part, of_part in commands().items():
            path = file_of(part)
            before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            answers = {}
            for at, command in enumerate(of_part):
                if names and not {part, command} & {*names} and command in before:
                    answers[command] = before[command]
                    continue
                start = time.process_time()
                answers[command] = answer(command, folder / "template", folder / f"{path.stem}-{at}")
                if (seconds := time.process_time() - start) > 1:
                    print(f"{seconds:.1f} s: {command}", file=sys.stderr)
            write(path, answers)
    if not names or "stored runs" in names:
        write(stored_runs.FILE, {name: stored_runs.judged(name) for name in stored_runs.RECORDS})


if __name__ == "__main__":
    main(sys.argv[1:])
