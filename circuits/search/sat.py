"""SAT solver for the question: do r operators suffice for a set of steps? A negative answer can come with a proof.

A step may be computed through any of its tables; tables share an operator if no key has two values among them. The
formula is decided by CaDiCaL 1.9.5 from python-sat. The solver cannot be interrupted from within, so it runs in a
process of its own, which is ended when the time is up and never outlives the calling process.
"""

import inspect
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.interrupts import interrupts_held

Table = tuple[tuple[int, int], ...]
"""Partial function: its (key, value) pairs, ascending."""

MAX_CLAUSES = 1_000_000
"""Largest number of clauses of a formula that is given to the solver; so many take a quarter of a gigabyte and
some seconds to pass on.
"""

START, CLAUSE, CONFLICT = 100_000_000, 2_000, 30_000
"""Steps counted for a solver's process, for each clause passed on, and for each conflict (plus one for each clause)."""
MAX_SECONDS = 1e6
"""Longest time limit that the system's timers accept."""


class SolverError(LengthgenError):
    """Error of a formula that is too large for the solver."""


class SolverFailed(SolverError):
    """Error of a solver process that ended without an answer, for example because the machine is short of memory."""


@dataclass(frozen=True, kw_only=True)
class SatResult:
    """Answer of the solver.

    Attributes:
        satisfiable: True if the operators suffice; None if the limit was reached.
        choice: if they suffice, (operator, alternative) of every class in order, both 0-based. The tables chosen for
            one operator have no key with two values.
        proof: if they do not suffice and a proof was requested, DRAT lines ("1 -2 0", "d 3 4 0") that refute the
            formula.
        steps: steps counted as by `lengthgen.circuits.clock.Clock`.
    """

    satisfiable: bool | None
    choice: tuple[tuple[int, int], ...] | None = None
    proof: tuple[str, ...] | None = None
    steps: int = field(default=0, compare=False)


def formula(classes: Sequence[Sequence[Table]], count: int, clique: Sequence[int]) -> tuple[int, list[list[int]]]:
    """Return the formula "`count` operators serve all classes": its number of variables, and its clauses.

    Variables are numbered from 1. First come alt(s, a, c), class s is computed by operator c through its table a, with
    s outermost and c innermost. Then come tab(c, key, value), operator c maps key to value, with c outermost, for every
    contested key (one with two values among all tables) and every value that occurs with it. Clauses, in this order:
    every class has some alt; alt implies the contested entries of its table; an operator maps no key to two values; the
    m-th class of the clique is computed by operator m, since operators are interchangeable and members cannot share
    one.

    Args:
        classes: the alternative tables of each class.
        count: number of operators, at least 0.
        clique: distinct classes, no two of which can share an operator.

    Raises:
        ValueError: the clique has more than `count` members, or contains one twice.
    """
    if len(clique) > count:
        raise ValueError(f"{len(clique)} classes that share no operator need more than {count}")
    if len(set(clique)) < len(clique):
        raise ValueError("a clique has no class twice")
    contested = _contested(classes)
    *first_alt, first_tab = (1 + count * n for n in itertools.accumulate(map(len, classes), initial=0))
    pairs = [(key, value) for key, values in contested.items() for value in values]
    offset = {pair: first_tab + index for index, pair in enumerate(pairs)}
    clauses = [[*range(first, first + count * len(tables))] for first, tables in zip(first_alt, classes, strict=True)]
    for first, tables in zip(first_alt, classes, strict=True):
        for a, table in enumerate(tables):
            tabs = [offset[entry] for entry in table if entry in offset]
            clauses += [[-(first + a * count + c), tab + c * len(pairs)] for c in range(count) for tab in tabs]
    for c, (key, values) in itertools.product(range(count), contested.items()):
        tabs = [offset[key, value] + c * len(pairs) for value in values]
        clauses += [[-first, -second] for first, second in itertools.combinations(tabs, 2)]
    for m, s in enumerate(clique):
        clauses += [[-(first_alt[s] + a * count + c)] for a in range(len(classes[s])) for c in range(count) if c != m]
    return first_tab - 1 + count * len(pairs), clauses


def decide(
    classes: Sequence[Sequence[Table]],
    count: int,
    clique: Sequence[int],
    *,
    seconds: float | None,
    steps: int | None = None,
    proof: bool,
) -> SatResult:
    """Decide with the SAT solver if `count` operators serve all classes.

    The arguments are those of `formula`; a clique has no class twice. `seconds` limits the wall clock, in which writing
    the formula counts, but is not cut short. With a limit in counted `steps` the solver ends at the same conflict each
    time. A requested refutation costs time.

    Raises:
        ValueError: as for `formula`.
        SolverError: the formula has more than MAX_CLAUSES clauses.
        SolverFailed: the solver's process died.
    """
    end = math.inf if seconds is None else time.monotonic() + min(seconds, MAX_SECONDS)
    contested = _contested(classes)
    entries = sum(key in contested for tables in classes for table in tables for key, _ in table)
    # All clauses but the few of the clique.
    size = len(classes) + count * (entries + sum(math.comb(len(values), 2) for values in contested.values()))
    if size > MAX_CLAUSES:
        raise SolverError(f"{count} operators for {len(classes)} steps: {size:,} clauses, more than {MAX_CLAUSES:,}")
    written, conflict = START + CLAUSE * size, CONFLICT + size
    conflicts = None if steps is None else (steps - written) // conflict
    if conflicts is not None and conflicts < 1:
        return SatResult(satisfiable=None, steps=written)
    _, clauses = formula(classes, count, clique)
    answer = _solved(clauses, None if seconds is None else end - time.monotonic(), conflicts, proof=proof)
    if answer is None:
        return SatResult(satisfiable=None)
    result = SatResult(satisfiable=answer["satisfiable"], steps=written + conflict * answer["conflicts"])
    if result.satisfiable is False and proof:
        return replace(result, proof=tuple(answer["proof"]))
    if not result.satisfiable:
        return result
    true = {literal for literal in answer["model"] if literal > 0}
    choice, alt = [], 1
    for tables in classes:
        index = next(index for index in range(len(tables) * count) if alt + index in true)
        choice.append((index % count, index // count))
        alt += len(tables) * count
    return replace(result, choice=tuple(choice))


def satisfiable(clauses: Sequence[Sequence[int]], *, seconds: float | None) -> bool | None:
    """Return whether a formula can be satisfied; None if the time limit is reached. `seconds` limits the wall clock.

    Raises:
        SolverError: there are more than MAX_CLAUSES clauses.
        SolverFailed: the solver's process died.
    """
    if len(clauses) > MAX_CLAUSES:
        raise SolverError(f"{len(clauses):,} clauses, more than {MAX_CLAUSES:,}")
    answer = _solved(clauses, None if seconds is None else min(seconds, MAX_SECONDS), None, proof=False)
    return None if answer is None else answer["satisfiable"]


def _solved(
    clauses: Sequence[Sequence[int]], seconds: float | None, conflicts: int | None, *, proof: bool
) -> dict[str, Any] | None:
    """Return the answer of a solver process on a formula; None if the time was up."""
    request = {
        "clauses": clauses,
        "proof": proof,
        "conflicts": conflicts,
        "cpu_seconds": None if seconds is None else max(0, math.ceil(seconds)) + 1,
        "parent": os.getpid(),
    }
    reply = _run_solver(json.dumps(request), None if seconds is None else max(0.0, seconds))
    answer: dict[str, Any] | None = None if reply is None else json.loads(reply)
    return answer


def _contested(classes: Sequence[Sequence[Table]]) -> dict[int, list[int]]:
    """Return the keys with two values among all tables, ascending, and their values, ascending."""
    values: dict[int, set[int]] = {}
    for key, value in itertools.chain.from_iterable(itertools.chain.from_iterable(classes)):
        values.setdefault(key, set()).add(value)
    return {key: sorted(values[key]) for key in sorted(values) if len(values[key]) > 1}


def _run_solver(request: str, seconds: float | None) -> str | None:
    """Return the reply of a solver process, or None if the time was up. The process has always ended."""
    # The child runs one function without this package, whose imports take far longer than the child's own.
    program = f"{inspect.getsource(_solve)}\n{_solve.__name__}()"
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", "-c", program]
    process: subprocess.Popen[str] | None = None
    try:
        with interrupts_held():  # raised within Popen, an interrupt would leave a child without a handle
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8")
        reply, complaint = process.communicate(request, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process:
            process.kill()
            process.wait()
            for end in (process.stdin, process.stdout, process.stderr):
                if end:
                    end.close()
    code = process.returncode
    if sys.platform != "win32" and code == -signal.SIGXCPU:
        return None
    if code != 0:
        reason = (
            f"signal {-code} ended it, out of memory perhaps" if code < 0 else complaint.strip().rpartition("\n")[2]
        )
        raise SolverFailed(f"the SAT solver gave no answer: {reason}")
    return reply


def _solve() -> None:
    """Read one request from standard input, solve it, and write the reply to standard output (runs in the child)."""
    import ctypes
    import json
    import os
    import signal
    import sys

    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    request = json.load(sys.stdin)
    if os.getppid() != request["parent"]:
        sys.exit("the calling process is gone")
    if sys.platform != "win32" and request["cpu_seconds"] is not None:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soft = request["cpu_seconds"] if hard == resource.RLIM_INFINITY else min(request["cpu_seconds"], hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))

    from pysat.solvers import Cadical195

    with Cadical195(bootstrap_with=request["clauses"], with_proof=request["proof"]) as solver:
        if request["conflicts"] is not None:
            solver.conf_budget(request["conflicts"])
        satisfiable = solver.solve() if request["conflicts"] is None else solver.solve_limited()
        reply = {
            "satisfiable": satisfiable,
            "model": solver.get_model() if satisfiable else None,
            "proof": solver.get_proof() if request["proof"] and satisfiable is False else None,
            "conflicts": solver.accum_stats()["conflicts"],
        }
    sys.stdout.write(json.dumps(reply))
