"""Encodings have the same look on the page as in figures, with enough contrast on a dark background."""

import re

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.paper_figs.report.looks import DARK_GROUND, LEAST_CONTRAST, contrast, encoding_looks, on_dark, slot_looks
from lengthgen.paper_figs.report.page import PARTS
from lengthgen.paper_figs.style import look


def test_the_look_is_that_of_the_figures():
    for name, its in encoding_looks(ENCODINGS).items():
        assert (its["label"], its["light"], its["marker"]) == (look(name).label, look(name).colour, look(name).marker)


def test_every_colour_can_be_seen_on_the_dark_ground():
    for its in [*encoding_looks([*ENCODINGS, "no encoding"]).values(), *slot_looks()]:
        assert contrast(its["dark"], DARK_GROUND) >= LEAST_CONTRAST


def test_encodings_that_look_alike_differ_on_one_page():
    alike = encoding_looks(["t5", "t5[buckets=8]", "t5[buckets=4]"])
    assert len({(its["light"], its["fill"]) for its in alike.values()}) == 3
    more = [f"t5[buckets={count}]" for count in range(2, 12)]
    assert len({its["label"] for its in encoding_looks(more).values()}) == 10


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#767676", "#ffffff")
    assert on_dark("#ffffff") == "#ffffff"


def test_a_name_that_is_no_encoding_is_shown_as_it_is():
    assert encoding_looks(["<b>"])["<b>"]["label"] == "<b>"


def test_every_marker_is_known_to_the_page():
    markers = set(re.findall(r"^\s+|'?([\w^<>*])'?: 'M", (PARTS / "chart.js").read_text(), re.M)) - {""}
    assert {its["marker"] for its in encoding_looks([*ENCODINGS, "path/to/own.py:mine"]).values()} <= markers


def test_the_ground_is_that_of_the_page():
    assert DARK_GROUND in (PARTS / "style.css").read_text()
