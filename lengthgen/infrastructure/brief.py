"""Short views of results: the answer in one line as `repr`, and a small table in notebooks."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, TypeVar

from lengthgen.infrastructure.errors import one_line

LONGEST = 300
"""Largest number of characters of one line."""
LISTED = 8
"""Largest number of entries that a list shows."""
LONGEST_LISTED = 100
"""Largest number of characters of an entry in a list."""

T = TypeVar("T")


class Brief:
    """Result with a short view. A dataclass that inherits it is declared with `repr=False`."""

    def _brief(self) -> str:
        """Return the answer in a few words."""
        raise NotImplementedError

    def _details(self) -> Mapping[str, str | Iterable[str]]:
        """Return heading -> text, or list of texts, that notebooks show below the answer."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({one_line(self._brief(), longest=LONGEST)})"

    def _repr_html_(self) -> str:
        rows = [
            (heading, [texts] if isinstance(texts, str) else [*texts]) for heading, texts in self._details().items()
        ]
        return _html(self._brief(), [(heading, text) for heading, texts in rows for text in texts if text])


class Listed(tuple[T, ...]):
    """Tuple of results whose `repr` is a heading and a line for each of the first entries."""

    __slots__ = ()

    def _heading(self) -> str:
        """Return what the entries are, and how many."""
        return f"{len(self)} results"

    def __repr__(self) -> str:
        lines = [_line(entry) for entry in self[:LISTED]]
        more = [f"... and {len(self) - LISTED} more"] if len(self) > LISTED else []
        return "\n".join([f"{self._heading()}:" if lines else self._heading(), *lines, *more])

    def _repr_html_(self) -> str:
        return _html(self._heading(), [(str(number), _answer(entry)) for number, entry in enumerate(self)])


def by_scale(values: Mapping[int, Any]) -> str:
    """Return a value of each scale as text, such as "1 at scales 1-4, 2 at scale 5": equal neighbours together."""
    runs: list[tuple[str, list[int]]] = []
    for scale, value in values.items():
        if runs and runs[-1][0] == str(value):
            runs[-1][1].append(scale)
        else:
            runs.append((str(value), [scale]))
    shown = [f"{value} at {_scales(scales)}" for value, scales in runs]
    return ", ".join(shown[:LISTED] + (["..."] if len(shown) > LISTED else []))


def _scales(scales: list[int]) -> str:
    return f"scale {scales[0]}" if len(scales) == 1 else f"scales {scales[0]}-{scales[-1]}"


def _answer(entry: object) -> str:
    """Return the answer of a result, or the `repr` of any other object."""
    return entry._brief() if isinstance(entry, Brief) else repr(entry)


def _line(entry: object) -> str:
    """Return the answer of an entry of a list as one line, cut if it is long."""
    line = one_line(_answer(entry), longest=LONGEST)
    return line if len(line) <= LONGEST_LISTED else f"{line[: LONGEST_LISTED - 3]}..."


def _html(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a heading and a table of two columns as HTML, with all text escaped."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f"<p><b>{escape(heading)}</b></p>" + (f"<table>{cells}</table>" if cells else "")
