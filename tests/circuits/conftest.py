"""Analyses that many tests look at, made once."""

from collections.abc import Callable
from functools import cache

import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.tasks import load

Analyses = Callable[[str, str, int], Analysis]


@pytest.fixture(scope="session")
def analyses() -> Analyses:
    """(task name, format, largest scale) -> its analysis."""
    return cache(lambda name, layout, largest: analyse(load(name), layout, largest))
