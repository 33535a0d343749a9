"""Are examples drawn fast enough never to hold up training?"""

from dataclasses import replace
from functools import cache
from time import process_time

from bench.measure import Comparison, compare
from circuits.formats import FORMATS, in_format
from circuits.tasks import TASKS, load
from empirical.runs.data import TRAIN, Examples, examples

SCALES = range(1, 6)
COUNT = 200_000


def examples_per_second() -> str:
    """Of every task, the formats in the order of FORMATS; and the least of all."""
    rates = _rates()
    table = ", ".join(f"{name} {' and '.join(f'{rates[name, one] / 1e6:.1f}' for one in FORMATS)}" for name in TASKS)
    least = min(rates, key=rates.__getitem__)
    return (
        f"million examples a second of a core, scales {SCALES[0]} to {SCALES[-1]}, {' and '.join(FORMATS)}: "
        f"{table}; the least is {rates[least] / 1e6:.1f} for {' '.join(least)}"
    )


def slowest_against_plain() -> Comparison:
    """The task and format whose examples take longest."""
    return _against_plain("slowest", 0)


def median_against_plain() -> Comparison:
    """The task and format in the middle."""
    return _against_plain("median", len(TASKS) * len(FORMATS) // 2)


def _against_plain(which: str, rank: int) -> Comparison:
    name, format = sorted(_rates(), key=_rates().__getitem__)[rank]
    count = COUNT // 4
    return compare(
        f"{count:,} examples of the {which} task, {name} {format}",
        lambda: _drawn(name, format, count),
        "the plain generator",
        lambda: _drawn(name, format, count, plain=True),
        rounds=3,
    )


@cache
def _rates() -> dict[tuple[str, str], float]:
    """Examples a second of one core's time, the best of three: what else the machine does can only slow it."""
    return {
        (name, format): max(COUNT / _seconds(name, format) for _ in range(3)) for name in TASKS for format in FORMATS
    }


def _seconds(name: str, format: str) -> float:
    start = process_time()
    _drawn(name, format, COUNT)
    return process_time() - start


def _drawn(name: str, format: str, count: int, *, plain: bool = False) -> Examples:
    task = in_format(load(name), format, largest_scale=SCALES[-1])
    if plain:
        task = replace(task, vectorised=None)
    return examples(task, SCALES, count, split=TRAIN, seed=0)
