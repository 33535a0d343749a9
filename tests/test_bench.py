"""The quick benchmarks run: nothing else would notice when what they call changes."""

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from bench import complexity, data, wirings
from bench.measure import TimingComparison, compare
from lengthgen.circuits.formats import FORMATS
from lengthgen.circuits.tasks import TASKS

QUICK = (
    complexity.certificate_against_search,
    complexity.search_against_all_wirings,
    wirings.search_against_enumeration,
)


@pytest.mark.parametrize("question", QUICK)
def test_a_benchmark_prints_its_ratio(
    question: Callable[[], TimingComparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches are timed once; the other benchmark, of milliseconds, is timed as often as usual."""
    monkeypatch.setattr(complexity, "compare", partial(compare, rounds=1))
    comparison = question()
    assert f"{comparison.theirs / comparison.ours:.2f}x the speed of {comparison.alternative}" in str(comparison)


def test_the_rates_of_examples_are_measured_for_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task in every format, but for the only one that cannot be padded to one width."""
    monkeypatch.setattr(data, "COUNT", 20)
    text = data.examples_per_second()
    cells = {(name, format) for name in TASKS for format in FORMATS if f"{name} {format} " in text}
    assert {*product(TASKS, FORMATS)} - cells == {("parity-online", "aligned")}
