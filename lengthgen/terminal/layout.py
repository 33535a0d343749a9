"""Layout shared by all tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

LINES, WIDEST = 25, 100
"""Largest size of the first screen of an answer, in lines and columns."""
UNLIMITED = 100_000
"""Width in which every table fits."""
FOLDED = 24
"""Least width of a column whose entries may be folded anywhere."""
BETWEEN, EDGES = 3, 2
"""Spaces between two columns, and those of the box at both ends together."""
MOST_TURNED = 8
"""Largest number of rows of a table that is turned by a quarter: more would not fit side by side."""


def columns(*headings: str) -> Table:
    """Return an empty table with these column headings."""
    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)


def filled(headings: Iterable[RenderableType], rows: Iterable[Iterable[RenderableType]]) -> Table:
    """Return a table with headings and rows."""
    table = columns()
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    return table


def titled(title: str, table: Table, *notes: str) -> Group:
    """Return a title, which may be wider than its table, the table, and notes below it."""
    return Group(Text(title, style="bold"), Fitted(table), *(Text(note) for note in notes))


class Screen:
    """First screen of an answer: the first of its forms, whole to short, that has at most LINES lines, or the last.

    It is WIDEST columns wide at most.
    """

    def __init__(self, forms: Iterable[RenderableType]) -> None:
        self.forms = forms

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        narrow = options.update(width=min(options.max_width, WIDEST))
        lines: list[list[Segment]] = []
        for form in self.forms:
            lines = console.render_lines(form, narrow, pad=False)
            if len(lines) <= LINES:
                break
        for line in lines:
            yield from line
            yield Segment.line()


def cut_to_screen(count: int, form: Callable[[int], RenderableType]) -> Screen:
    """Return the screen of an answer with `count` entries; `form(k)` shows the first k of them and calls `more`."""
    return Screen(form(shown) for shown in range(min(count, LINES), -1, -1))


def more(count: int, shown: int) -> list[str]:
    """Return a line on the entries that are not shown, if there are any."""
    return [f"and {count - shown} more: --details"] if shown < count else []


class Fitted:
    """Table in the width that there is, without a heading or a word cut.

    A single row that does not fit in a line becomes a list. A table with words wider than its columns can be is turned,
    so that its headings are on the left, or divided into parts that repeat the first column.
    """

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        headings = [column.header for column in self.table.columns]
        entries = [list(column.cells) for column in self.table.columns]
        rows = list(zip(*entries, strict=True))
        widths = [_words(console, options, [column.header, *column.cells], column) for column in self.table.columns]
        one_line = _total(most for _, most in widths) <= options.max_width
        if one_line or (len(rows) != 1 and _total(least for least, _ in widths) <= options.max_width):
            yield _spread(self.table, widths, options.max_width)
            return
        if len(rows) == 1:
            listed = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
            for heading, entry in zip(headings, rows[0], strict=True):
                listed.add_row(heading, entry)
            listed.columns[0].no_wrap = True
            yield listed
        else:
            turned = filled(
                [headings[0], *entries[0]],
                [(heading, *of_column) for heading, of_column in zip(headings[1:], entries[1:], strict=True)],
            )
            least = [_words(console, options, [column.header, *column.cells], column) for column in turned.columns]
            if 0 < len(rows) <= MOST_TURNED and _total((low for low, _ in least)) <= options.max_width:
                yield _spread(turned, least, options.max_width)
            else:
                yield from _divided(widths, headings, rows, options.max_width)
        if self.table.caption:
            yield self.table.caption


def _words(console: Console, options: ConsoleOptions, cells: Sequence[RenderableType], column: Any) -> tuple[int, int]:
    """Return the width of the longest word and that of the longest line of a column."""
    measured = [Measurement.get(console, options.update_width(UNLIMITED), cell) for cell in cells]
    least, most = (max((part[kind] for part in measured), default=0) for kind in (0, 1))
    if column.no_wrap:
        return most, most
    return (min(least, FOLDED) if column.overflow == "fold" else least), most


def _total(widths: Iterable[int]) -> int:
    """Return the width of a table with columns of these widths: each has padding, and the box a space beside it."""
    inner = list(widths)
    return sum(inner) + BETWEEN * (len(inner) - 1) + EDGES


def _spread(table: Table, widths: Sequence[tuple[int, int]], available: int) -> Table:
    """Give each column its longest word, and of the rest an equal share, or less where its lines are shorter."""
    left = available - _total((least for least, _ in widths))
    if left < 0:  # narrower than two words: rich folds them
        return table
    by_need = sorted(range(len(widths)), key=lambda index: widths[index][1] - widths[index][0])
    for served, index in enumerate(by_need):
        least, most = widths[index]
        more = min(most - least, left // (len(widths) - served))
        table.columns[index].width, left = least + more, left - more
    return table


def _divided(
    widths: Sequence[tuple[int, int]],
    headings: Sequence[RenderableType],
    rows: Sequence[Sequence[RenderableType]],
    available: int,
) -> Iterator[Table]:
    """Yield tables of some columns each, the first column in all of them."""
    least = [low for low, _ in widths]
    first, at = 1, 1
    while first < len(headings):
        at = first + 1
        while at < len(headings) and _total([least[0], *least[first : at + 1]]) <= available:
            at += 1
        chosen = [0, *range(first, at)]
        part = filled([headings[index] for index in chosen], [[row[index] for index in chosen] for row in rows])
        yield _spread(part, [widths[index] for index in chosen], available)
        first = at


def texts(row: Mapping[str, Any], *keys: str) -> list[str]:
    """Return the values of some keys as text, a dash for none."""
    return ["-" if row[key] is None else str(row[key]) for key in keys]


def yes_no(answer: bool | None, unknown: str = "-") -> str:
    """Return a truth value as yes, no or what stands for neither."""
    return {True: "yes", False: "no", None: unknown}[answer]


def bounds_text(low: float | str, high: float | str | None, between: str = "..") -> str:
    """Return bounds as text: the value where they meet, a question mark for no upper one."""
    return str(low) if low == high else f"{low}{between}{'?' if high is None else high}"


def share_text(share: Mapping[str, Any]) -> str:
    """Return successes, trials and confidence interval of a share as text."""
    return f"{share['successes']}/{share['trials']}  {share['low']:.2f}-{share['high']:.2f}"


def percent(share: float | None) -> str:
    """Return a share in percent as text."""
    return "-" if share is None else f"{share:.0%}"


def rounded(value: float | None, form: str) -> str:
    """Return a number in a form of `format`, the same on all machines, or a dash for none.

    Machines compute other last digits, which matters where a number lies in the middle of two that can be shown, as
    0.4125 does with three digits; so it is rounded to ten digits first.
    """
    return "-" if value is None else format(float(f"{value:.10g}"), form)


def e_value_text(e_value: float | None) -> str:
    """Return an e-value as text, or a dash for none."""
    return rounded(e_value, ".1e" if e_value is not None and e_value >= 1e6 else ".3g")


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
