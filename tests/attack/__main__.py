"""`python -m tests.attack CLASS --count N --seed S`: attacks in full size, and a table of how they ended."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from tests.attack import (
    arguments,
    audits,
    fuzzing,
    interrupts,
    kills,
    pairs,
    protocols,
    readers,
    stale,
    tally,
    user_files,
)
from tests.attack.material import make_material
from tests.attack.tally import Try
from tests.attack.watchdog import warm

Item, Result = TypeVar("Item"), TypeVar("Result")
FUZZED = {
    "arguments": arguments.calls,
    "audits": audits.calls,
    "protocols": protocols.calls,
    "user-files": user_files.calls,
}


def main() -> int:
    """Run the attacks and print the table; exit status 0 only if every attack ended well."""
    options = _options()
    warm()
    with tempfile.TemporaryDirectory() as place:
        tries = list(_tries(options, options.material or Path(place)))
    print(tally.table(tries))
    failed = tally.failures(tries)
    print(tally.listed(failed))
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument(
        "attack", choices=("readers", *FUZZED, "interrupts", "kills", "pairs", "stale"), metavar="CLASS"
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="Only kinds that begin so.")
    parser.add_argument("--small", action="store_true", help="Leave out what `reproduce` makes, which takes minutes.")
    parser.add_argument("--material", type=Path, help="Folder that keeps what is damaged, for the next time.")
    return parser.parse_args()


def _tries(options: argparse.Namespace, place: Path) -> Iterator[Try]:
    material = make_material(place, complete=not options.small)
    if options.attack in FUZZED:
        calls = FUZZED[options.attack](material, options.count, options.seed, options.only)
        yield from _with_progress(_beside(partial(fuzzing.run_attack, material), calls, options.jobs), options.count)
        return
    if options.attack == "stale":
        planned_changes = stale.attacks(options.count, options.seed, options.only)
        yield from _with_progress(_beside(stale.run_attack, planned_changes, options.jobs), options.count)
        return
    if options.attack == "pairs":
        planned = pairs.pairs(material, options.count, options.seed, options.only)
        yield from _with_progress(_beside(partial(pairs.run_attack, material), planned, 1), options.count)
        return
    if options.attack == "interrupts":
        drawn = list(interrupts.interrupts(options.count, options.seed, options.only))
        seconds = interrupts.lives(material, {interrupt.arguments for interrupt in drawn})
        yield from _with_progress(
            _beside(partial(interrupts.run_attack, material, undisturbed=seconds), drawn, options.jobs), options.count
        )
        return
    if options.attack == "kills":
        murders = list(kills.murders(material, options.count, options.seed, options.only))
        undisturbed = kills.lives(material, {murder.victim for murder in murders})
        yield from _with_progress(
            _beside(partial(kills.run_attack, material, undisturbed=undisturbed), murders, options.jobs), options.count
        )
        return
    chosen = list(readers.attacks(material, 3 * options.count, options.seed, options.only))
    shown = readers.undisturbed(material, chosen)
    tries = (
        attempt
        for attempt in _beside(partial(readers.run_attack, material, shown=shown), chosen, options.jobs)
        if attempt
    )
    yield from islice(_with_progress(tries, options.count), options.count)


def _beside(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Apply `work` to each item in order, to several at once."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as processes:
        try:
            yield from processes.map(work, items)
        finally:
            processes.shutdown(cancel_futures=True)


def _with_progress(tries: Iterable[Try], count: int) -> Iterator[Try]:
    for number, attempt in enumerate(tries, 1):
        if attempt.end not in tally.FINE:
            print(
                f"{number}/{count} {attempt.kind}: {attempt.end}: {attempt.again}\n    {attempt.detail[-600:]}",
                file=sys.stderr,
            )
        elif number % 50 == 0:
            print(f"{number}/{count}", file=sys.stderr, flush=True)
        yield attempt


if __name__ == "__main__":
    sys.exit(main())
