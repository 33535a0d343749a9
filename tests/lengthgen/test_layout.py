"""Tables in any width: no heading and no word is cut, and a single row that is too long becomes a list."""

import io

import pytest
from rich.console import Console, Group
from rich.text import Text

from lengthgen.terminal.layout import (
    LINES,
    WIDEST,
    Fitted,
    Screen,
    columns,
    cut_to_screen,
    e_value_text,
    more,
    rounded,
    titled,
)

HEADINGS = ("encoding", "generalizes", "breaks at", "distractors", "why")


def made(rows):
    table = columns(*HEADINGS)
    for number in range(rows):
        table.add_row(f"encoding-{number}", "yes", "-", "no", "training meets every label and entry in use")
    return table


def lines(renderable, width):
    console = Console(width=width, file=io.StringIO())
    console.print(renderable)
    return [line.rstrip() for line in console.file.getvalue().splitlines() if line.strip()]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 140])
@pytest.mark.parametrize("rows", [0, 1, 2, 4, 30])
def test_no_heading_and_no_word_is_cut(rows, width):
    shown = lines(Fitted(made(rows)), width)
    words = {word for line in shown for word in line.split()}
    assert {"encoding", "generalizes", "breaks", "at", "distractors", "why"} <= words
    assert {f"encoding-{number}" for number in range(rows)} <= words
    assert "…" not in "".join(shown)
    assert max(map(len, shown)) <= width


def test_a_table_that_fits_is_as_it_was():
    assert lines(Fitted(made(3)), 140) == lines(made(3), 140)


def test_a_row_stays_a_line_or_becomes_a_list():
    assert len(lines(Fitted(made(1)), 140)) == 3
    assert lines(Fitted(made(1)), 70) == [
        " encoding      encoding-0",
        " generalizes   yes",
        " breaks at     -",
        " distractors   no",
        " why           training meets every label and entry in use",
    ]


def test_a_few_rows_with_many_columns_are_turned_and_many_are_divided():
    heading, _, *turned = lines(Fitted(made(3)), 56)
    assert heading.split() == ["encoding", "encoding-0", "encoding-1", "encoding-2"]
    assert [line.split()[0] for line in turned if not line.startswith("  ")] == [
        "generalizes",
        "breaks",
        "distractors",
        "why",
    ]
    parts = [line for line in lines(Fitted(made(30)), 50) if line.split()[0] == "encoding"]
    assert len(parts) > 1 and " ".join(parts).split().count("generalizes") == 1


def test_a_column_that_is_never_wrapped_keeps_its_lines():
    table = columns("claim", "statement")
    table.columns[0].no_wrap = True
    for _ in range(2):
        table.add_row("a claim [P]", "a statement of some words " * 3)
    assert sum("a claim [P]" in line for line in lines(Fitted(table), 40)) == 2


def test_a_caption_stays_below():
    table = made(1)
    table.caption = "what it means"
    assert lines(Fitted(table), 40)[-1] == "what it means"
    assert lines(titled("title", made(1), "note"), 40)[0] == "title"


def test_a_number_in_the_middle_of_two_is_shown_alike_whatever_its_last_digits():
    below, above = (0.4125 + few * 2**-52 for few in (-3, 3))
    assert f"{below:.3g}" != f"{above:.3g}"  # what two machines showed
    assert rounded(below, ".3g") == rounded(above, ".3g") == e_value_text(below) == f"{0.4125:.3g}"
    assert rounded(2 / 3, ".3f") == "0.667" and rounded(None, ".3f") == "-"
    assert e_value_text(999_999) == "1e+06" and e_value_text(2.34e7) == "2.3e+07"


def test_a_screen_is_the_first_form_that_fits_or_the_last():
    forms = [Group(*map(Text, [str(count)] * count)) for count in (LINES + 2, LINES, 3)]
    assert lines(Screen(forms), 140) == [str(LINES)] * LINES
    assert lines(Screen(forms[:1]), 140) == [str(LINES + 2)] * (LINES + 2)
    assert max(map(len, lines(Screen([Text("word " * 100)]), 140))) <= WIDEST


@pytest.mark.parametrize("width", [60, 100, 140])
@pytest.mark.parametrize("count", [0, 3, 19, 20, 200])
def test_a_screen_shows_all_or_says_how_many_more_there_are(count, width):
    def form(shown):
        table = columns("number", "what")
        for number in range(shown):
            table.add_row(
                f"no{number}", "a few words that are wrapped where there is little room for them " * (width < 100)
            )
        return titled("title", table, *more(count, shown))

    shown = lines(cut_to_screen(count, form), width)
    assert len(shown) <= LINES
    numbers = sum(line.strip().startswith("no") for line in shown)
    left = [int(line.split()[1]) for line in shown if line.startswith("and ")]
    assert numbers + sum(left) == count
    assert (left == []) == (numbers == count)
