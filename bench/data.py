"""Are examples generated fast enough that training never waits for them?"""

from dataclasses import replace
from functools import cache
from time import process_time

from bench.measure import TimingComparison, compare
from lengthgen.circuits.formats import FORMATS, in_format
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.empirical.experiment.samples import TRAIN, Examples, examples

SCALES = range(1, 6)
COUNT = 200_000


def examples_per_second() -> str:
    """Examples per second for every task, in each format that it has, and the smallest of all."""
    rates = _rates()
    table = ", ".join(f"{name} {format} {rate / 1e6:.1f}" for (name, format), rate in rates.items())
    slowest = min(rates, key=rates.__getitem__)
    return (
        f"million examples a second of a core, scales {SCALES[0]} to {SCALES[-1]}: {table}; "
        f"the least is {rates[slowest] / 1e6:.1f} for {' '.join(slowest)}"
    )


def slowest_against_plain() -> TimingComparison:
    """Task and format whose examples take longest, against the plain generator."""
    return _against_plain(*min(_rates(), key=_rates().__getitem__))


def addition_against_plain() -> TimingComparison:
    """Addition with filler, against the plain generator."""
    return _against_plain("addition", "filled")


def _against_plain(name: str, format: str) -> TimingComparison:
    """Vectorised against plain generator of outputs."""
    count = COUNT // 4
    return compare(
        f"{count:,} examples of {name}, {format}",
        lambda: _generate(name, format, count),
        "the plain generator",
        lambda: _generate(name, format, count, plain=True),
        rounds=3,
    )


@cache
def _rates() -> dict[tuple[str, str], float]:
    """Examples per second of core time, the best of three: other work on the machine can only slow it down."""
    return {
        (name, format): max(COUNT / _seconds(name, format) for _ in range(3))
        for name in TASKS
        for format in FORMATS
        if _has_format(name, format)
    }


def _has_format(name: str, format: str) -> bool:
    """True unless the task cannot be laid out so: prompt tokens after outputs cannot be aligned."""
    try:
        in_format(load(name), format, largest_scale=SCALES[-1])
    except TaskError:
        return False
    return True


def _seconds(name: str, format: str) -> float:
    """Core seconds for COUNT examples."""
    start = process_time()
    _generate(name, format, COUNT)
    return process_time() - start


def _generate(name: str, format: str, count: int, *, plain: bool = False) -> Examples:
    """Examples of one task and format."""
    task = in_format(load(name), format, largest_scale=SCALES[-1])
    if plain:
        task = replace(task, vectorised=None)
    return examples(task, SCALES, count, split=TRAIN, seed=0)
