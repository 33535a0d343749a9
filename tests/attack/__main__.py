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
from typing import Any

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
        work, planned, jobs = _planned(
            options, make_material(options.material or Path(place), complete=not options.small)
        )
        tries = (attempt for attempt in _beside(work, planned, jobs) if attempt)
        tries = list(_with_progress(islice(tries, options.count), options.count))
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


def _planned(options: argparse.Namespace, material: Path) -> tuple[Callable[[Any], Try | None], Iterable[Any], int]:
    """Function that makes an attack of its plan, the plans, and how many are made at once."""
    drawn = options.count, options.seed, options.only
    if options.attack in FUZZED:
        return partial(fuzzing.run_attack, material), FUZZED[options.attack](material, *drawn), options.jobs
    if options.attack == "stale":
        return stale.run_attack, stale.attacks(*drawn), options.jobs
    if options.attack == "pairs":
        return partial(pairs.run_attack, material), pairs.pairs(material, *drawn), 1
    if options.attack == "interrupts":
        planned = list(interrupts.interrupts(*drawn))
        seconds = interrupts.lives(material, {interrupt.arguments for interrupt in planned})
        return partial(interrupts.run_attack, material, undisturbed=seconds), planned, options.jobs
    if options.attack == "kills":
        murders = list(kills.murders(material, *drawn))
        undisturbed = kills.lives(material, {murder.victim for murder in murders})
        return partial(kills.run_attack, material, undisturbed=undisturbed), murders, options.jobs
    chosen = list(readers.attacks(material, 3 * options.count, options.seed, options.only))
    return partial(readers.run_attack, material, shown=readers.undisturbed(material, chosen)), chosen, options.jobs


def _beside(work: Callable[[Any], Try | None], items: Iterable[Any], jobs: int) -> Iterator[Try | None]:
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
