"""Report page: one file that loads nothing and never reads a text of claims, tasks or runs as markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from math import inf, nan

import pytest

from lengthgen.infrastructure.errors import LONGEST
from lengthgen.paper_figs.report.plain import json_text, rounded, text, texts
from tests.paper_figs.report.examples import HOSTILE, claim, page_of, runs, trial

LARGEST = 5_000_000


class Elements(HTMLParser):
    """Parser that collects all elements with their attributes, and the content of scripts and styles."""

    CDATA_CONTENT_ELEMENTS = ("script", "style")

    def __init__(self, page):
        super().__init__()
        self.all, self.raw = [], []
        self.feed(page.decode())

    def handle_starttag(self, tag, attributes):
        self.all.append((tag, dict(attributes)))
        if tag in self.CDATA_CONTENT_ELEMENTS:
            self.raw.append((tag, dict(attributes), ""))

    def handle_data(self, text):
        if self.cdata_elem:
            self.raw[-1] = (*self.raw[-1][:2], self.raw[-1][2] + text)

    def data(self, name):
        return json.loads("".join(text for _, its, text in self.raw if its.get("id") == f"data-{name}"))


def test_the_page_loads_nothing_and_its_policy_lets_only_its_own_script_run():
    elements = Elements(page_of(claims=[claim(0)]))
    for tag, attributes in elements.all:
        assert "src" not in attributes, tag
        assert "style" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
        if "href" in attributes:
            assert attributes["href"].startswith("#") or attributes == {"rel": "icon", "href": "data:,"}
    [policy] = [its["content"] for _, its in elements.all if its.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    [script] = [text for tag, its, text in elements.raw if tag == "script" and "type" not in its]
    [style] = [text for tag, _, text in elements.raw if tag == "style"]
    for kind, part in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_its_script_never_reads_text_as_markup():
    [script] = re.findall(rb"<script>(.*?)</script>", page_of(), re.S)
    for way in (
        b"innerHTML",
        b"outerHTML",
        b"insertAdjacentHTML",
        b"document.write",
        b"eval(",
        b"Function(",
        b"DOMParser",
    ):
        assert way not in script


def test_hostile_text_ends_no_element_and_arrives_as_it_was():
    content = runs(5, task=HOSTILE)
    page = page_of(
        claims=[claim(0, id=HOSTILE, statement=HOSTILE, facts=[HOSTILE], falsifiers=[[HOSTILE, True, HOSTILE]])],
        runs_content=content,
        trials=[trial(title=HOSTILE)],
        broken={HOSTILE: HOSTILE},
        missing=1,
        missing_listed_by=HOSTILE,
    )
    plain, hostile = Elements(page_of(broken={"": ""}, missing=1)), Elements(page)
    assert [tag for tag, _ in hostile.all] == [tag for tag, _ in plain.all]
    [read] = hostile.data("claims")
    assert (read["id"], read["statement"], read["facts"]) == (HOSTILE, HOSTILE, [HOSTILE])
    assert hostile.data("runs")["groups"] == content["groups"]


def test_characters_that_utf8_does_not_have_reach_the_page():
    assert Elements(page_of(claims=[claim(0, statement="\udc80 \0")])).data("claims")[0]["statement"] == "\udc80 \0"


def test_broken_runs_are_named_and_what_the_project_lacks_is_one_number_at_the_end():
    page = page_of(broken={"run-1": "not as it was written"}, missing=12, missing_listed_by="lengthgen report").decode()
    assert "run-1" in page and "not as it was written" in page
    assert 'class="alarm" aria-labelledby="broken"' not in page_of().decode()
    beginning, provenance = page.split('<section id="provenance"')
    assert "lengthgen report</code>" not in beginning
    assert "<p>12. " in provenance and "<code>lengthgen report</code>" in provenance


def test_texts_of_megabytes_and_control_characters_are_shown_short_and_on_one_line():
    empty, long = page_of(), "a\x1b[2J\n" * 10**6
    content = page_of(broken={long: long}, missing=1, missing_listed_by=long)
    assert b"\x1b" not in content and b"characters in all)" in content
    assert len(content) < len(empty) + 100_000
    assert len(text(long)) < 4 * LONGEST and texts([long]) == [text(long)]


def test_a_page_of_500_claims_and_2000_runs_is_small():
    claims = [claim(number) for number in range(500)]
    assert len(page_of(claims=claims)) < LARGEST / 2
    assert len(page_of(claims=claims, runs_content=runs(2000))) < LARGEST


def test_the_same_data_give_the_same_bytes():
    assert page_of(claims=[claim(0)], runs_content=runs(10)) == page_of(claims=[claim(0)], runs_content=runs(10))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, 1), (0.0, 0), (0.9960000001, 0.996), (1 / 3, 0.333333), (123456789.0, 123457000),
        (nan, None), (inf, None), (None, None),
    ],
)  # fmt: skip
def test_numbers_have_six_significant_digits(value, shown):
    assert rounded(value) == shown


def test_json_text_is_json_and_no_markup():
    text = json_text({"text": HOSTILE})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"text": HOSTILE}
