"""The quick benchmarks run: nothing else would notice when what they call changes."""

from collections.abc import Callable
from functools import partial

import pytest

from bench import complexity, wirings
from bench.measure import TimingComparison, compare

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
