"""The solver's answers are those of brute force, its time limit holds, and no solver outlives its parent."""

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lengthgen.circuits.search import sat
from lengthgen.circuits.search.sat import SatResult, SolverError, Table, decide, formula
from tests.oracles import sequences as oracle
from tests.processes import PATIENCE, is_alive, started, wait_until

ROOT = Path(__file__).parents[3]
Classes = list[tuple[Table, ...]]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


def random_classes(seed: int) -> Classes:
    rng = random.Random(seed)
    keys, values = rng.randint(2, 5), rng.randint(2, 3)

    def table() -> Table:
        chosen = sorted(rng.sample(range(keys), rng.randint(1, min(3, keys))))
        return tuple((key, rng.randrange(values)) for key in chosen)

    return [tuple(sorted({table() for _ in range(rng.randint(1, 3))})) for _ in range(rng.randint(2, 7))]


def colouring(vertices: int, seed: int) -> Classes:
    """Fixed tables whose conflicts are the edges of a random graph of density one half."""
    rng = random.Random(seed)
    edges = [edge for edge in itertools.combinations(range(vertices), 2) if rng.random() < 0.5]
    return [
        (tuple((key, edge.index(vertex)) for key, edge in enumerate(edges) if vertex in edge),)
        for vertex in range(vertices)
    ]


FIVE_CYCLE: Classes = [(tuple(sorted(((edge, 0), ((edge - 1) % 5, 1)))),) for edge in range(5)]


def _fewest(classes: Classes) -> float:
    return oracle.fewest_by_partition(
        [[frozenset(((str(key),), str(value)) for key, value in table) for table in tables] for tables in classes]
    )


def _serves(classes: Classes, count: int, choice: Sequence[tuple[int, int]]) -> bool:
    operators: list[dict[int, int]] = [{} for _ in range(count)]
    return len(choice) == len(classes) and all(
        operators[operator].setdefault(key, value) == value
        for tables, (operator, alternative) in zip(classes, choice, strict=True)
        for key, value in tables[alternative]
    )


def test_descent_ends_where_brute_force_does() -> None:
    instances = [random_classes(seed) for seed in range(26, 36)]
    fewest = [int(_fewest(classes)) for classes in instances]
    assert set(fewest) >= {1, 2, 3, 4}

    def ask(classes: Classes, count: int) -> SatResult:
        return decide(classes, count, [], seconds=None, proof=False)

    with ThreadPoolExecutor(2) as pool:
        enough = list(pool.map(ask, instances, fewest))
        more_than_one = [(classes, count) for classes, count in zip(instances, fewest, strict=True) if count > 1]
        fewer = list(pool.map(lambda question: ask(question[0], question[1] - 1), more_than_one))
    for classes, count, answer in zip(instances, fewest, enough, strict=True):
        assert answer.satisfiable
        assert _serves(classes, count, answer.choice)
    assert all(answer == SatResult(satisfiable=False) for answer in fewer)


def test_the_formula_of_a_small_instance_in_full() -> None:
    classes: Classes = [(((0, 0), (1, 0)),), (((0, 1),), ((2, 0),)), (((0, 0),),)]
    # alt: step 0 is 1, 2; step 1 is 3, 4 and 5, 6; step 2 is 7, 8. tab: key 0 alone is contested, 9, 10 and 11, 12.
    assert formula(classes, 2, [0, 1]) == (
        12,
        [
            *([1, 2], [3, 4, 5, 6], [7, 8]),
            *([-1, 9], [-2, 11], [-3, 10], [-4, 12], [-7, 9], [-8, 11]),
            *([-9, -10], [-11, -12]),
            *([-2], [-3], [-5]),
        ],
    )


def test_a_clique_of_more_members_than_operators_is_refused() -> None:
    with pytest.raises(ValueError, match="3 classes that share no operator need more than 2"):
        formula(FIVE_CYCLE, 2, [0, 1, 2])
    with pytest.raises(ValueError, match="no class twice"):
        formula(FIVE_CYCLE, 2, [1, 1])


@pytest.mark.parametrize("clique", [[], [0, 1]])
def test_a_cycle_of_five_needs_three(clique: list[int]) -> None:
    two = decide(FIVE_CYCLE, 2, clique, seconds=30, proof=True)
    assert (two.satisfiable, two.choice) == (False, None)
    assert any(line.split()[-1] == "0" for line in two.proof)
    three = decide(FIVE_CYCLE, 3, clique, seconds=30, proof=True)
    assert (three.satisfiable, three.proof) == (True, None)
    assert _serves(FIVE_CYCLE, 3, three.choice)
    assert [operator for operator, _ in three.choice][: len(clique)] == clique


def test_without_operators_only_no_steps_are_served() -> None:
    assert decide([], 0, [], seconds=None, proof=False) == SatResult(satisfiable=True, choice=())
    assert decide(FIVE_CYCLE, 0, [], seconds=None, proof=True).satisfiable is False
    assert decide([()], 3, [], seconds=None, proof=True).satisfiable is False


def _children(process: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


HARD = colouring(80, 1), 12
"""A question that the solver does not decide within minutes."""


@linux_only
def test_the_time_limit_holds_and_the_solver_is_gone() -> None:
    before = _children(os.getpid())
    start = time.monotonic()
    assert decide(*HARD, [], seconds=0.5, proof=True) == SatResult(satisfiable=None)
    assert 0.5 <= time.monotonic() - start < PATIENCE
    assert _children(os.getpid()) == before


@contextmanager
def _parent_of_a_hard_question() -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A process that waits for a solver, and the solver."""
    program = "from tests.circuits.search.test_sat import *; decide(*HARD, [], seconds=None, proof=True)"
    with started([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE) as parent:
        [solver] = wait_until(lambda: _children(parent.pid))
        yield parent, solver


@linux_only
def test_after_ctrl_c_there_is_no_solver_and_the_interrupt_is_seen() -> None:
    with _parent_of_a_hard_question() as (parent, solver):
        status = Path(f"/proc/{solver}/status").read_text(encoding="utf-8")
        [blocked] = re.findall(r"^SigBlk:\s*(\w+)$", status, flags=re.MULTILINE)
        assert int(blocked, 16) & 1 << signal.SIGINT - 1, "an interrupt is for the parent"
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=PATIENCE)
        assert not is_alive(solver)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "SolverError" not in errors


@linux_only
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_solver_whose_parent_is_killed_ends(how: signal.Signals) -> None:
    with _parent_of_a_hard_question() as (parent, solver):
        parent.send_signal(how)
        parent.communicate(timeout=PATIENCE)
        wait_until(lambda: not is_alive(solver))


def _fails() -> None:
    raise MemoryError("no more")


def _is_killed() -> None:
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("end", "says"), [(_fails, "MemoryError: no more"), (_is_killed, "signal 9 ended it, out of memory perhaps")]
)
def test_a_solver_that_dies_is_one_clear_line(end: object, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "_solve", end)
    with pytest.raises(SolverError, match=f"^the SAT solver gave no answer: {says}$"):
        decide(FIVE_CYCLE, 2, [], seconds=None, proof=False)


def test_a_formula_that_is_too_large_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "MAX_CLAUSES", 10)
    with pytest.raises(SolverError, match=r"^2 operators for 5 steps: 35 clauses, more than 10$"):
        decide(FIVE_CYCLE, 2, [], seconds=None, proof=False)
