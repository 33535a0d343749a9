"""Counting how tries ended, and the table that says it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

REFUSED, UNCHANGED, OTHER_INPUT, DONE = "refused in one line", "unchanged result", "other valid input", "done"
FINE = (REFUSED, UNCHANGED, OTHER_INPUT, DONE)
WRONG, TRACEBACK, NOT_NAMED = "WRONG NUMBERS", "TRACEBACKS", "file not named"
LATE, LARGE, SILENT, LINES, ORPHANS = "out of time", "too much memory", "no answer", "not one line", "left behind"
ZERO = "exit 0 though broken"
FAILURES = (WRONG, TRACEBACK, NOT_NAMED, SILENT, LINES, ZERO, LATE, LARGE, ORPHANS)


@dataclass(frozen=True, kw_only=True)
class Try:
    """One attack.

    Attributes:
        kind: what was attacked.
        again: what makes the same attack again.
        end: one of FINE or FAILURES.
        detail: what was seen, for a failure.
    """

    kind: str
    again: str
    end: str
    seconds: float
    peak_mib: int
    detail: str = ""


def table(tries: Iterable[Try]) -> str:
    """A row for each kind, and their sum."""
    by_kind: dict[str, list[Try]] = {}
    for one in tries:
        by_kind.setdefault(one.kind, []).append(one)
    everything = [one for same in by_kind.values() for one in same]
    ends = [end for end in (*FINE, *FAILURES) if end in FAILURES[:3] or any(one.end == end for one in everything)]
    head = ["class", "tries", *ends, "longest s", "largest MiB"]
    rows = [_row(kind, same, ends) for kind, same in sorted(by_kind.items())]
    return _laid_out([head, *rows, _row("all", everything, ends)])


def failures(tries: Iterable[Try]) -> list[Try]:
    """Those that did not end well."""
    return [one for one in tries if one.end not in FINE]


def listed(failed: Sequence[Try], most: int = 40) -> str:
    """Failures by what they have in common, with how to make the first of each again."""
    alike: Mapping[tuple[str, str, str], int] = Counter((one.kind, one.end, one.detail[-160:]) for one in failed)
    first = {(one.kind, one.end, one.detail[-160:]): one for one in reversed(failed)}
    lines = []
    for key, count in sorted(alike.items(), key=lambda item: -item[1])[:most]:
        one = first[key]
        lines.append(f"{count} x {one.kind}: {one.end}\n    again: {one.again}\n    {one.detail}")
    return "\n".join(lines)


def _row(kind: str, same: Sequence[Try], ends: Sequence[str]) -> list[str]:
    counts = Counter(one.end for one in same)
    longest = max((one.seconds for one in same), default=0.0)
    largest = max((one.peak_mib for one in same), default=0)
    return [kind, str(len(same)), *(str(counts[end]) for end in ends), f"{longest:.1f}", str(largest)]


def _laid_out(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_cells(row, widths)) for row in rows)


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The first to the left, numbers to the right."""
    first, *numbers = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in numbers)]
