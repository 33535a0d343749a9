"""Items that a command shows, without times: two calls on the same files show the same items."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.attack.watchdog import Ending

TELLS_TIME = (
    "seconds", "time", "peak_memory_mib", "page", "bytes", "report", "environment", "timings", "origin",
)  # fmt: skip
Items = Mapping[str, Any]
"""Map from the name of an item to the item that is shown."""


class NoAnswer(Exception):
    """A command printed something else than its JSON."""


def items(ending: Ending, folder: Path) -> Items:
    """Items that a command called with --json showed, on its output and in files.

    Raises:
        NoAnswer: what it printed is not JSON.
    """
    try:
        answer = json.loads(ending.out)
    except ValueError as error:
        raise NoAnswer(str(error)) from error
    command = ending.arguments[0]
    if command in ("runs", "sweep"):
        return {f"run {row['name']}": timeless(row) for row in answer["runs"]}
    if command == "figures":
        return _figures(answer, folder)
    if command == "report":
        return _page((folder / answer["page"]).read_text(encoding="utf-8"))
    if command == "verify":
        return {f"claim {claim['id']}": timeless(claim) for claim in answer["claims"]}
    if command == "reproduce":
        return _main_job(answer) | _page((folder / "out" / "report.html").read_text(encoding="utf-8"))
    return {"answer": timeless(answer)}


def is_broken(item: Any) -> bool:
    """True if an item says of itself that it cannot be used."""
    return isinstance(item, dict) and (item.get("state") == "broken" or item.get("verdict") == "unsettled")


def timeless(content: Any) -> Any:
    """Return JSON content without the keys that tell time."""
    if isinstance(content, dict):
        return {key: timeless(value) for key, value in content.items() if key not in TELLS_TIME}
    if isinstance(content, list):
        return [timeless(value) for value in content]
    return content


def _figures(answer: Mapping[str, Any], folder: Path) -> Items:
    place = folder / answer["folder"]
    return {
        f"file {file}": hashlib.sha256((place / file).read_bytes()).hexdigest()
        for files in answer["figures"].values()
        for file in files
    }


def _main_job(answer: Mapping[str, Any]) -> Items:
    """Items under the summary of `reproduce`, by claim and by figure; LRC, SRC and the trial unchanged."""
    answers = {key: timeless(answer[key]) for key in ("lrc", "src", "conjecture")}
    claims = {f"ledger: {claim['id']}": timeless(claim) for claim in answer["claims"]["claims"]}
    drawn = {f"drawn: {name}": True for name in answer["figures"]["drawn"]}
    missing = {f"not drawn: {name}": why for name, why in answer["figures"]["missing"].items()}
    return answers | claims | {"claims hold": answer["claims"]["holds"]} | drawn | missing


def _page(text: str) -> Items:
    """Items of the report, by claim, task, run and trial."""
    data = {
        name: json.loads(content)
        for name, content in re.findall(r'<script type="application/json" id="data-(\w+)">(.*?)</script>', text, re.S)
    }
    runs, trials = data["runs"], data["trials"]["trials"]
    groups = runs["groups"]
    return (
        {f"claim {claim['id']}": timeless(claim) for claim in data["claims"]}
        | {f"run {run['name']}": timeless(run | {"group": groups[run["group"]], "hash": None}) for run in runs["runs"]}
        | {f"trial {trial['name']}": timeless(trial) for trial in trials}
        | {name: timeless(data[name]) for name in ("tasks", "relations")}
    )
