"""The examples in the documents give what the documents show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["theory.md", "guide.md"])
def test_every_example_of_a_document_gives_what_it_shows(name):
    done = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 0
    assert done.failed == 0
