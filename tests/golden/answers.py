"""Golden answers: how commands are run in a folder of their own, what is masked, and how answers are stored."""

import hashlib
import json
import math
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tests.golden import readers

HERE = Path(__file__).parent
STORED = HERE / "answers"
LONGEST = 20_000
"""Most characters of an answer that is stored whole; of a longer one, parts longer than SHORT are digests."""
SHORT = 1_000
VOLATILE = {"seconds", "seconds_per_question", "peak_memory_mib", "time", "corpus"}
"""Keys of JSON whose values differ between machines and days."""
TRAINED = {"accuracy", "worst_in_training", "worst_beyond", "exact_match", "curve"}
"""Keys of JSON with numbers that training gives, which differ between processors: masked in answers of TRAINS."""
TRAINS = ("train", "sweep", "conjecture")
"""Commands that train here."""
MASKED = (
    (re.compile(r"\b\d+(\.\d+)? ?(s|ms|(CPU )?seconds?)\b|(?<=seconds)[: ]+[\w, .]*\d$"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\+00:00|Z)?)?"), "<date>"),
    (re.compile(r"(?<=lengthgen )\d+\.\d+\S*"), "<version>"),
)
"""What differs between machines and days in lines of text."""
PROGRESS = re.compile(r": [\d,]+ [\w ]+ to do$|: [\d,]+ of [\d,]+ |: at work for |^training: |core-minutes")
"""Messages on how far a command is, which says less if something was computed before."""


def commands() -> dict[str, list[str]]:
    """Return the commands of each part of commands.txt."""
    parts: dict[str, list[str]] = {}
    for line in (HERE / "commands.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            of_part = parts[line.removeprefix("# ")] = []
        elif line:
            of_part.append(line)
    return parts


def file_of(part: str) -> Path:
    """Return the file with the answers of a part."""
    return STORED / f"{part.replace(' ', '-').replace(',', '')}.json"


def make_template(folder: Path) -> None:
    """Fill the folder that every command finds: users' files, made-up runs, restored results, and the records."""
    shutil.copytree(HERE / "material", folder, ignore=shutil.ignore_patterns("__pycache__"))
    readers.store_made_up_runs(folder)
    readers.restore_results(folder / "stored")
    (folder / "broken.py").write_text("def broken(:\n", encoding="utf-8")
    (folder / "records").symlink_to(readers.RESULTS)


def answer(command: str, template: Path, folder: Path) -> dict[str, Any]:
    """Return the answer of a command in a copy of the template, as it is compared; of several joined, of the last."""
    unread = [name for name in ("made", "small", "stored") if f"{name}/" not in command and f" {name} " not in command]
    shutil.copytree(template, folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", *unread))
    cache = folder.with_name(f"{folder.name}-cache") if "lengthgen claims" in command else None  # shows what is decided
    before = Path.cwd(), {name: os.environ.get(name) for name in ("COLUMNS", "XDG_CACHE_HOME")}
    os.chdir(folder)
    os.environ |= {"COLUMNS": "100"} | ({} if cache is None else {"XDG_CACHE_HOME": str(cache)})
    try:
        for each in command.split(" && "):
            arguments = shlex.split(each)[1:]
            code, out, err = readers.call(arguments)
    finally:
        os.chdir(before[0])
        for name, value in before[1].items():
            os.environ.pop(name, None)
            os.environ |= {} if value is None else {name: value}
    answered: dict[str, Any] = {"status": code}
    if messages := [_masked(line, folder) for line in err.splitlines() if not PROGRESS.search(line)]:
        answered["messages"] = messages
    if out and "--json" in arguments:
        hidden = VOLATILE | TRAINED if arguments[0] in TRAINS else VOLATILE
        answered["json"] = shortened(_masked(json.loads(out), folder, hidden))
    elif out:
        answered["text"] = [_masked(line.rstrip(), folder) for line in out.splitlines()]
    return answered


def _masked(value: Any, folder: Path, hidden: Collection[str] = ()) -> Any:
    """Return JSON without what differs between machines, days and working folders."""
    if isinstance(value, dict) and str(value.get("file", "")).startswith(str(HERE.parents[1])):
        return dict.fromkeys(value, "<a place in our own code>")
    if isinstance(value, dict):
        return {key: "<masked>" if key in hidden else _masked(its, folder, hidden) for key, its in value.items()}
    if isinstance(value, list):
        return [_masked(each, folder, hidden) for each in value]
    if isinstance(value, str):
        value = value.replace(str(folder), "<folder>").replace(str(HERE.parents[1]), "<root>")
        for pattern, mask in MASKED:
            value = pattern.sub(mask, value)
    return value


def shortened(value: Any) -> Any:
    """Return JSON whose long parts are digests, named by their place, so that a difference is located."""
    if len(_text(value)) <= LONGEST:
        return value
    if isinstance(value, dict):
        return {key: _part(its) for key, its in value.items()}
    return _part(value)


def _part(value: Any) -> Any:
    """Return a part of a long answer: itself if it is short, else the digests of its entries, or of all."""
    if len(_text(value)) <= SHORT:
        return value
    if isinstance(value, dict) and len(value) <= 60:
        return {key: its if len(_text(its)) <= 60 else digest(its) for key, its in value.items()}
    if isinstance(value, list) and len(value) <= 60:
        return [digest(each) for each in value]
    return digest(value)


def digest(value: Any) -> str:
    """Return a digest of JSON, in which measured numbers have 6 digits."""
    return (
        f"sha256 {hashlib.sha256(_text(_rounded(value)).encode()).hexdigest()[:12]} of {len(_text(value))} characters"
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return {key: _rounded(its) for key, its in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def differences(stored: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield the places at which two answers differ; a number that is no integer may differ by a millionth."""
    if isinstance(stored, float) and isinstance(now, float):
        if not math.isclose(stored, now, rel_tol=1e-6):
            yield f"{place}: stored {stored}, found {now}"
    elif isinstance(stored, dict) and isinstance(now, dict):
        for key in [*stored, *(key for key in now if key not in stored)]:
            if key not in stored or key not in now:
                yield f"{place}/{key}: only {'stored' if key in stored else 'found'}"
            else:
                yield from differences(stored[key], now[key], f"{place}/{key}")
        if [*stored] != [*now] and stored.keys() == now.keys():
            yield f"{place}: another order of keys"
    elif isinstance(stored, list) and isinstance(now, list):
        if len(stored) != len(now):
            yield f"{place}: stored {len(stored)} entries, found {len(now)}"
        for at, (entry, other) in enumerate(zip(stored, now, strict=False)):
            yield from differences(entry, other, f"{place}[{at}]")
    elif type(stored) is not type(now) or stored != now:
        yield f"{place}: stored {stored!r}, found {now!r}"


def write(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with a line for each part of each entry."""
    entries = []
    for name, entry in content.items():
        if isinstance(entry, dict):
            parts = ",\n".join(f"  {_text(key)}: {_lines(its)}" for key, its in entry.items())
            entries.append(f" {_text(name)}: {{\n{parts}\n }}")
        else:
            entries.append(f" {_text(name)}: {_text(entry)}")
    path.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def _lines(value: Any) -> str:
    """Return JSON on one line for each of its parts."""
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"   {_text(key)}: {_text(its)}" for key, its in value.items()) + "\n  }"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"   {_text(each)}" for each in value) + "\n  ]"
    return _text(value)
