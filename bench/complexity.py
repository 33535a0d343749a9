"""How much does the search for SRC save, how does its solver compare, and how long does it take at large scales?

`python -m bench.complexity` prints the scale table, one line per task, and the times for four random kernels, the
problems that the search hands to the solver.
"""

import json
import math
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

import networkx as nx

from bench.measure import TimingComparison, compare
from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import check
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search import sat
from lengthgen.circuits.search.partition import fewest_operators, minimal_tables
from lengthgen.circuits.search.wirings import alternatives
from lengthgen.circuits.src import SRCResult, src, traces_up_to
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.trace import Trace
from lengthgen.questions.complexity import Question, compute
from lengthgen.questions.predict import forecast

GRAPHS, CLASSES = 3, 60
"""Number of random graphs, and of classes (vertices) in each."""
SECONDS = 120.0
"""Time limit of one row of the table, in seconds."""
KERNEL_SECONDS = 60.0
"""Time limit of one kernel, in seconds."""
SHORT = 10.0
"""Duration in seconds below which a row is measured three times."""
PHASES = ("traces", "arity", "wirings", "kernel", "solver", "check")


def forecast_against_all_circuits() -> TimingComparison:
    """Forecasts for four encodings on addition; the alternative asks every other circuit, also where all must fail."""

    def asked() -> object:
        return forecast("addition", "ipe,rpe,ape,nope").as_json()

    def asked_all() -> object:
        with patch("lengthgen.circuits.forecast.other_circuits.all_circuits_fail", return_value=False):
            return asked()

    assert asked() == asked_all()
    return compare("forecasts for addition", asked, "asking all circuits", asked_all, rounds=3)


def search_against_all_wirings() -> TimingComparison:
    """SRC of parity at every scale 1..12; the alternative enumerates all wirings of every step."""
    task = load("parity")
    traces = traces_up_to(task, 12)

    def searched() -> list[float | None]:
        return list(src(task, _without_memory(traces), 2).values.values())

    def exhausted() -> list[float | None]:
        steps: list[frozenset[int]] = []
        values: list[float | None] = []
        for trace in _without_memory(traces):
            steps += [minimal_tables(alternatives(trace, position, 2).wirings, Clock()) for position in trace.steps]
            fewest = fewest_operators(steps, trace.symbols)
            values.append(fewest.lower if fewest.lower == fewest.upper else None)
        return values

    assert searched() == exhausted()
    return compare("SRC of parity at scales 1..12", searched, "all wirings of every step", exhausted)


def cadical_against_cp_sat() -> TimingComparison | str:
    """Fewest operators for steps with one table each, whose conflicts form random graphs of density one half.

    Both solvers start from a greedy colouring and ask about each smaller number of operators, given a largest clique.
    """
    question = f"fewest operators of {CLASSES} classes, {GRAPHS} random graphs, by CaDiCaL in a process of its own"
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return f"{question}: skipped, ortools is not installed"
    graphs = [nx.gnp_random_graph(CLASSES, 0.5, seed) for seed in range(GRAPHS)]
    cliques = [max(nx.find_cliques(graph), key=len) for graph in graphs]
    first_fits = [1 + max(nx.greedy_color(graph).values()) for graph in graphs]
    instances = list(zip(graphs, cliques, first_fits, strict=True))
    answers: set[tuple[int, ...]] = set()

    def by_cadical() -> None:
        def is_enough(graph: nx.Graph, clique: list[int], count: int) -> bool:
            classes = [
                (tuple((key, edge.index(vertex)) for key, edge in enumerate(graph.edges) if vertex in edge),)
                for vertex in graph
            ]
            return bool(sat.decide(classes, count, clique, seconds=None, proof=False).satisfiable)

        answers.add(tuple(_descent(is_enough, *instance) for instance in instances))

    def by_cp_sat() -> None:
        def is_enough(graph: nx.Graph, clique: list[int], count: int) -> bool:
            model = cp_model.CpModel()
            served = [[model.new_bool_var("") for _ in range(count)] for _ in graph]
            for vertex in graph:
                model.add_exactly_one(served[vertex])
            for first, second in graph.edges:
                for first_choice, second_choice in zip(served[first], served[second], strict=True):
                    model.add_at_most_one(first_choice, second_choice)
            for operator, vertex in enumerate(clique):
                model.add(served[vertex][operator] == 1)
            solver = cp_model.CpSolver()
            solver.parameters.num_workers = 1
            return solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)

        answers.add(tuple(_descent(is_enough, *instance) for instance in instances))

    comparison = compare(question, by_cadical, "OR-tools CP-SAT with one worker", by_cp_sat, rounds=1)
    assert len(answers) == 1
    return comparison


def certificate_against_search() -> TimingComparison:
    """Addition with carries, base 2, at scale 6: checking its certificate, against computing its SRC again."""
    task = load("addition-carry", base=2)
    traces = traces_up_to(task, 6)
    content = certificate(task, src(task, traces, 3), spec=TaskSpec(name="addition-carry", base=2))

    def again() -> SRCResult:
        """Compute SRC as for a task that was never asked about: a task keeps its traces."""
        anew = load("addition-carry", base=2)
        return src(anew, traces_up_to(anew, 6), 3)

    return compare(
        "checking the certificate of addition with carries, base 2, scale 6",
        lambda: check(content, task, seed=0),
        "computing SRC again",
        again,
    )


def _without_memory(traces: Sequence[Trace]) -> list[Trace]:
    """Copies of the traces with an empty cache of answers."""
    return [replace(trace, memory={}) for trace in traces]


def _descent(is_enough: Any, graph: nx.Graph, clique: list[int], first_fit: int) -> int:
    """Smallest number of operators, found by decreasing from the greedy colouring."""
    count = first_fit
    while count > len(clique) and is_enough(graph, clique, count - 1):
        count -= 1
    return count


@dataclass(frozen=True, kw_only=True)
class ScaleCase:
    """Row of the scale table; the arity None means the smallest one, the target is in seconds."""

    task: str
    base: int | None = None
    scale: int
    arity: int | None = None
    target: int | None = None


ROWS = (
    ScaleCase(task="copy", base=2, scale=64),
    ScaleCase(task="copy", base=10, scale=64),
    ScaleCase(task="reverse", base=2, scale=64),
    ScaleCase(task="select-first", base=10, scale=64),
    ScaleCase(task="select-middle", base=10, scale=64),
    ScaleCase(task="select-last", base=10, scale=64),
    ScaleCase(task="parity", scale=64, target=3),
    ScaleCase(task="counter", base=5, scale=64, target=3),
    ScaleCase(task="counter", base=10, scale=64, target=3),
    ScaleCase(task="addition-carry", base=2, scale=48, target=40),
    ScaleCase(task="addition-carry", base=3, scale=32),
    ScaleCase(task="addition-carry", base=10, scale=16, target=6),
    ScaleCase(task="addition", base=2, scale=4),
    ScaleCase(task="addition", base=3, scale=3),
    ScaleCase(task="addition", base=10, scale=20),
    ScaleCase(task="multiplication", base=10, scale=20),
    ScaleCase(task="division", base=10, scale=20),
    ScaleCase(task="division-remainder", base=3, scale=24),
    ScaleCase(task="division-remainder", base=10, scale=24),
    ScaleCase(task="sort-trace", base=3, scale=16),
    ScaleCase(task="sort-trace", base=10, scale=16),
    ScaleCase(task="majority-count", base=21, scale=20),
    ScaleCase(task="permutation", base=3, scale=64),
    ScaleCase(task="permutation", base=5, scale=64),
    ScaleCase(task="permutation", base=10, scale=64),
    ScaleCase(task="log-shift", base=10, scale=64),
    ScaleCase(task="scaled-sum", base=3, scale=64),
    ScaleCase(task="scaled-sum", base=7, scale=64),
    ScaleCase(task="parity-direct", scale=4, arity=2),
    ScaleCase(task="sort-direct", base=3, scale=4, arity=2),
)


def main() -> None:
    """Print the scale table, each row measured in its own process; with a row number as argument, measure that row."""
    if sys.argv[1:]:
        print(json.dumps(_measure(ROWS[int(sys.argv[1])])))
        return
    print(
        "| task | base | arity | scale | SRC | status | seconds |", *(f"{phase} |" for phase in PHASES), "MB | target |"
    )
    print("|---|---|---|---|---|---|---|" + "---|" * len(PHASES) + "---|---|")
    for number, row in enumerate(ROWS):
        runs = [_run(number)]
        while runs[0]["total"] < SHORT and len(runs) < 3:
            runs.append(_run(number))
        print(_table_line(row, sorted(runs, key=lambda run: run["total"])[len(runs) // 2]), flush=True)
    print("\n| kernel | clique | fewest operators | seconds |\n|---|---|---|---|")
    kernels = {
        "70 steps of 3 tables, 6 operators planted": (_planted(70, 3, 0.4), 3),
        "80 steps of 4 tables, 6 operators planted": (_planted(80, 4, 0.6), 3),
        "colouring, 55 vertices, density one half": (_colouring(55), 2),
        "colouring, 70 vertices, density one half": (_colouring(70), 2),
    }
    for name, (steps, symbols) in kernels.items():
        start = perf_counter()
        fewest = fewest_operators(steps, symbols, Clock(KERNEL_SECONDS))
        bounds = str(fewest.lower) if fewest.lower == fewest.upper else f"{fewest.lower}..{fewest.upper}"
        print(f"| {name} | {fewest.clique} | {bounds} | {perf_counter() - start:.1f} |", flush=True)


def _planted(steps: int, tables: int, density: float) -> list[frozenset[int]]:
    """Steps over 3 symbols and 3 slots: one table of each is part of one of 6 operators, the others are random."""
    rng = random.Random(steps)
    keys = range(27)
    operators = [[rng.randrange(3) for _ in keys] for _ in range(6)]

    def partial_table(operator: list[int]) -> int:
        return sum(1 << key * 3 + operator[key] for key in keys if rng.random() < density)

    return [
        frozenset(
            [
                partial_table(rng.choice(operators)),
                *(partial_table([rng.randrange(3) for _ in keys]) for _ in range(tables - 1)),
            ]
        )
        for _ in range(steps)
    ]


def _colouring(vertices: int) -> list[frozenset[int]]:
    """Steps of one table each whose conflicts form a random graph: a key per edge, whose two ends need 0 and 1."""
    edges = list(nx.gnp_random_graph(vertices, 0.5, 1).edges)
    return [
        frozenset([sum(1 << key * 2 + edge.index(vertex) for key, edge in enumerate(edges) if vertex in edge)])
        for vertex in range(vertices)
    ]


def _run(number: int) -> dict[str, Any]:
    """Measurement of one row, in its own process."""
    command = [sys.executable, "-m", "bench.complexity", str(number)]
    measurement: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return measurement


def _measure(row: ScaleCase) -> dict[str, Any]:
    """Measurement of one row: SRC, status, seconds and memory."""
    start = perf_counter()
    question = Question(
        spec=TaskSpec(name=row.task, base=row.base), scales=[row.scale], arity=row.arity, seconds=SECONDS
    )
    result = compute(question).result
    return {
        "total": perf_counter() - start,
        "arity": result.arity,
        "src": _value(result, row.scale),
        "status": result.status + (f" ({result.stopped})" if result.stopped else ""),
        "seconds": dict(result.seconds),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,  # KiB on Linux
    }


def _value(result: SRCResult, scale: int) -> str:
    """Text of the SRC, or of its bounds."""
    low, high = result.bounds[scale]
    texts = ["inf" if math.isinf(bound) else str(bound) for bound in (low, high)]
    return texts[0] if low == high else "..".join(texts)


def _table_line(row: ScaleCase, run: dict[str, Any]) -> str:
    """Line of the scale table in Markdown."""
    cells = [
        row.task,
        row.base or "-",
        run["arity"],
        row.scale,
        run["src"],
        run["status"],
        f"{run['total']:.2f}",
        *(f"{run['seconds'].get(phase, 0.0):.2f}" for phase in PHASES),
        f"{run['megabytes']:.0f}",
        f"< {row.target} s" if row.target else "-",
    ]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
