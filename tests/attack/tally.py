"""Count how tries ended, and print the table of the counts."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.attack.watchdog import Ending

REFUSED, UNCHANGED, OTHER_INPUT, DONE = "refused in one line", "unchanged result", "other valid input", "done"
FINE = (REFUSED, UNCHANGED, OTHER_INPUT, DONE)
WRONG, TRACEBACK, NOT_NAMED = "WRONG NUMBERS", "TRACEBACKS", "file not named"
LATE, LARGE, SILENT, LINES, ORPHANS = "out of time", "too much memory", "no answer", "not one line", "left behind"
ZERO = "exit 0 though broken"
FAILURES = (WRONG, TRACEBACK, NOT_NAMED, SILENT, LINES, ZERO, LATE, LARGE, ORPHANS)


class Try(NamedTuple):
    """An attack: what was attacked, what makes the same again, how it ended (FINE or FAILURES), and what was seen."""

    kind: str
    again: str
    end: str
    seconds: float
    peak_mib: int = 0
    detail: str = ""


def draws(count: int, seed: int) -> Iterator[tuple[str, random.Random]]:
    """Yield the seed of each attack, as text, and its generator."""
    return ((f"{seed} {number}", random.Random(f"{seed} {number}")) for number in range(count))


def tried(kind: str, again: str, end: tuple[str, str], *endings: Ending) -> Try:
    """Try of some calls; `end` is how it ended, and what was seen."""
    longest = max((ending.seconds for ending in endings), default=0.0)
    largest = max((ending.peak_mib for ending in endings), default=0)
    return Try(kind=kind, again=again, end=end[0], seconds=longest, peak_mib=largest, detail=end[1])


def outcome(*endings: Ending) -> str:
    """Exit status and last messages of each call."""
    return "\n".join(f"{ending.arguments[0]}: exit {ending.status}: {ending.err[-1500:]}" for ending in endings)


def disaster(*endings: Ending, mib: int | None = None) -> str | None:
    """Bad end of calls, whatever was asked: out of time or memory, with a traceback, with processes left."""
    if any(ending.status is None for ending in endings):
        return LATE
    printed = "".join(ending.err + ending.out for ending in endings)
    if (mib and any(ending.peak_mib > mib for ending in endings)) or (mib and "\nMemoryError" in printed):
        return LARGE
    if "Traceback" in printed or (mib and any((ending.status or 0) < 0 for ending in endings)):
        return TRACEBACK
    return ORPHANS if any(ending.orphans for ending in endings) else None


def table(tries: Iterable[Try]) -> str:
    """Table with a row for each kind, and their sum."""
    by_kind: dict[str, list[Try]] = {}
    for attempt in tries:
        by_kind.setdefault(attempt.kind, []).append(attempt)
    everything = [attempt for same in by_kind.values() for attempt in same]
    ends = [
        end for end in (*FINE, *FAILURES) if end in FAILURES[:3] or any(attempt.end == end for attempt in everything)
    ]
    head = ["class", "tries", *ends, "longest s", "largest MiB"]
    rows = [_row(kind, same, ends) for kind, same in sorted(by_kind.items())]
    cells = [head, *rows, _row("all", everything, ends)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.rjust, row, widths)) for row in cells)


def failures(tries: Iterable[Try]) -> list[Try]:
    """Return the tries that did not end well."""
    return [attempt for attempt in tries if attempt.end not in FINE]


def listed(failed: Sequence[Try], most: int = 40) -> str:
    """List failures by what they have in common, with how to make the first of each again."""
    alike: dict[tuple[str, str, str], list[Try]] = {}
    for attempt in failed:
        alike.setdefault((attempt.kind, attempt.end, attempt.detail[-160:]), []).append(attempt)
    return "\n".join(
        f"{len(same)} x {same[0].kind}: {same[0].end}\n    again: {same[0].again}\n    {same[0].detail}"
        for same in sorted(alike.values(), key=len, reverse=True)[:most]
    )


def _row(kind: str, same: Sequence[Try], ends: Sequence[str]) -> list[str]:
    counts = Counter(attempt.end for attempt in same)
    longest = max((attempt.seconds for attempt in same), default=0.0)
    largest = max((attempt.peak_mib for attempt in same), default=0)
    return [kind, str(len(same)), *(str(counts[end]) for end in ends), f"{longest:.1f}", str(largest)]
