"""What the documents print is what the code gives."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["theory.md", "guide.md"])
def test_every_example_of_a_document_gives_what_it_shows(name):
    done = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 0
    assert done.failed == 0
