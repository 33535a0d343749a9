"""Short views: one line as `repr`, a few lines for a list, and HTML in which no text is read as markup."""

from collections.abc import Mapping
from dataclasses import dataclass

from lengthgen.infrastructure.brief import LISTED, LONGEST, Brief, Listed, by_scale


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Brief):
    text: str

    def _brief(self) -> str:
        return self.text

    def _details(self) -> Mapping[str, str | tuple[str, ...]]:
        return {"reason": self.text, "facts": (self.text, "two"), "nothing": ""}


def test_a_result_is_one_line_however_long_its_text_is() -> None:
    assert repr(Answer(text="yes")) == str(Answer(text="yes")) == "Answer(yes)"
    long = repr(Answer(text="a\nb\x1b[31m" + "x" * 10_000))
    assert "\n" not in long and "\x1b" not in long and len(long) < LONGEST + 60


def test_a_list_is_its_heading_and_the_first_entries() -> None:
    lines = repr(Listed(Answer(text=str(number) + "x" * 500) for number in range(100))).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (LISTED + 2, "100 results:", f"... and {100 - LISTED} more")
    assert max(map(len, lines)) <= 100
    assert repr(Listed()) == "0 results"
    assert repr(Listed([Answer(text="yes")])) == "1 results:\nyes"


def test_a_list_is_the_tuple_of_its_entries() -> None:
    assert Listed([1, 2]) == (1, 2) and hash(Listed([1, 2])) == hash((1, 2))


def test_html_has_every_text_escaped_and_no_empty_row() -> None:
    html = Answer(text="<script>a & b</script>")._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;a &amp; b&lt;/script&gt;" in html
    assert html.count("<tr>") == 3 and "nothing" not in html
    listed = Listed([Answer(text="<b>")])._repr_html_()
    assert "&lt;b&gt;" in listed and listed.count("<tr>") == 1


def test_equal_values_of_neighbouring_scales_are_told_together() -> None:
    assert by_scale({1: 1, 2: 1, 3: 2, 4: 1}) == "1 at scales 1-2, 2 at scale 3, 1 at scale 4"
    assert by_scale({n: n for n in range(1, 100)}).endswith("8 at scale 8, ...")
