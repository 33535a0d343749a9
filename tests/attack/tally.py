"""Count how tries ended, and print the table of the counts."""

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
    """An attack and how it ended.

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
    return _laid_out([head, *rows, _row("all", everything, ends)])


def failures(tries: Iterable[Try]) -> list[Try]:
    """Return the tries that did not end well."""
    return [attempt for attempt in tries if attempt.end not in FINE]


def listed(failed: Sequence[Try], most: int = 40) -> str:
    """List failures by what they have in common, with how to make the first of each again."""
    alike: Mapping[tuple[str, str, str], int] = Counter(
        (attempt.kind, attempt.end, attempt.detail[-160:]) for attempt in failed
    )
    first = {(attempt.kind, attempt.end, attempt.detail[-160:]): attempt for attempt in reversed(failed)}
    lines = []
    for key, count in sorted(alike.items(), key=lambda item: -item[1])[:most]:
        attempt = first[key]
        lines.append(f"{count} x {attempt.kind}: {attempt.end}\n    again: {attempt.again}\n    {attempt.detail}")
    return "\n".join(lines)


def _row(kind: str, same: Sequence[Try], ends: Sequence[str]) -> list[str]:
    counts = Counter(attempt.end for attempt in same)
    longest = max((attempt.seconds for attempt in same), default=0.0)
    largest = max((attempt.peak_mib for attempt in same), default=0)
    return [kind, str(len(same)), *(str(counts[end]) for end in ends), f"{longest:.1f}", str(largest)]


def _laid_out(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_cells(row, widths)) for row in rows)


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Cells of a row: the first to the left, numbers to the right."""
    first, *numbers = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in numbers)]
