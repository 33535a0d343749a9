"""The checker accepts what is proved and nothing else, and derives by itself all that a certificate rests on."""

import copy
import itertools
import json
import math
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lengthgen.circuits import checker
from lengthgen.circuits.checker import CertificateError, CertificateVerdict, lower, problem, upper
from lengthgen.circuits.checker.rup import ProofError, refuted
from lengthgen.circuits.search import sat
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.addition import addition_carry
from lengthgen.circuits.tasks.copying import copy as copy_task
from lengthgen.circuits.tasks.growing import permutation
from tests.circuits.examples import direct_parity, random_task
from tests.circuits.search.test_sat import random_classes
from tests.circuits.test_src import FIVE_CYCLE
from tests.oracles import sequences as oracle

Certificate = dict[str, Any]
Symbols = tuple[str, ...]


def check(certificate: Any, task: Task) -> CertificateVerdict:
    return checker.check(certificate, task, seed=1)


def _prompts(task: Task, *scales: int) -> dict[str, list[str]]:
    return {str(n): [" ".join(prompt) for prompt in itertools.product(*task.prompt(n))] for n in scales}


def _certificate(task: Task, scale: int, **fields: Any) -> Certificate:
    return {
        "format": 1,
        "task": task.name,
        "base": None,
        "layout": "unaligned",
        "largest_scale": scale,
        "arity": 1,
        "mode": "free",
        "scale": scale,
        "lower": 1,
        "upper": None,
        "prompts": _prompts(task, scale),
        "steps": [[scale, len(task.prompt(scale)) + 1]],
        "clique": [],
        "proof": None,
        "circuit": None,
    } | fields


COPY = _certificate(
    copy_task(),
    2,
    upper=1,
    prompts={"1": ["0 ="]},
    steps=[[1, 3]],
    circuit={
        "operators": [{"0": "0", "1": "1", "=": "$"}],
        "wirings": {"1": [[0, [1]], [0, [2]]], "2": [[0, [1]], [0, [2]], [0, [3]]]},
    },
)
LAWS = [dict(zip("012", order, strict=True)) for order in itertools.permutations("012")]
PERMUTATION = _certificate(
    permutation(3),
    3,
    lower=3,
    upper=3,
    prompts={"3": ["0 0 0 =", "1 1 1 =", "2 2 2 ="]},
    steps=[[3, 5], [3, 6], [3, 7]],
    clique=[2, 0, 1],
    circuit={
        "operators": [LAWS[0] | {"=": "$"}, LAWS[1], LAWS[2]],
        "wirings": {str(n): [*([t, [t + 1]] for t in range(n)), [0, [n + 1]]] for n in (1, 2, 3)},
    },
)
# Without the clique pin two operators are refuted by a case, not by unit propagation alone: 1 is alt(step 0, 0, 0).
CYCLE = _certificate(
    FIVE_CYCLE,
    1,
    lower=3,
    upper=3,
    steps=[[1, position] for position in range(6, 11)],
    proof=["1 0", "0"],
    circuit={
        "operators": [
            {"a": "0", "e": "1", "c": "0", "b": "1"},
            {"b": "0", "a": "1", "d": "0", "c": "1"},
            {"e": "0", "d": "1"},
        ],
        "wirings": {"1": [[edge % 2 if edge < 4 else 2, [edge + 1]] for edge in range(5)]},
    },
)


def _changed(certificate: Certificate, path: list[Any], value: Any) -> Certificate:
    """The certificate with one place of it replaced, or left out where the value is `...`."""
    result = copy.deepcopy(certificate)
    place = result
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return result


@pytest.mark.parametrize(
    ("certificate", "task", "statement"),
    [
        (COPY, copy_task(), "SRC(copy, 2) = 1 at arity 1, free"),
        (PERMUTATION, permutation(3), "SRC(permutation, 3) = 3 at arity 1, free"),
        (CYCLE, FIVE_CYCLE, "SRC(five-cycle, 1) = 3 at arity 1, free"),
        (_changed(CYCLE, ["clique"], [0, 1]) | {"proof": []}, FIVE_CYCLE, "SRC(five-cycle, 1) = 3 at arity 1, free"),
    ],
    ids=["copy", "permutation", "five-cycle", "five-cycle with its clique"],
)
def test_a_proved_certificate_is_accepted(certificate: Certificate, task: Task, statement: str) -> None:
    verdict = check(json.loads(json.dumps(certificate)), task)
    assert verdict.statement == statement
    assert (verdict.lower, verdict.upper) == (certificate["lower"], certificate["upper"])
    assert verdict.upper_checked_to == certificate["scale"]


Place = list[Any]
BAD: list[tuple[str, Certificate, Place, Any, str]] = [
    # what is wrong, certificate, place of it, value there (none if `...`), message
    ("proof cut short", CYCLE, ["proof"], [], "does not refute"),
    ("proof of nothing", CYCLE, ["proof", 0], "2 3 0", "does not follow|does not refute"),
    ("proof that jumps", CYCLE, ["proof", 0], "0", "'0' of the proof does not follow"),
    ("proof not DRAT", CYCLE, ["proof", 0], "1 x 0", "is not DRAT"),
    ("proof with a new variable", CYCLE, ["proof", 0], "999 0", "a variable that is not there"),
    ("no proof", CYCLE, ["proof"], None, "lacks a proof"),
    ("a proof without need", PERMUTATION, ["proof"], [], "needs none"),
    ("no clique", CYCLE, ["clique"], [0, 2], "steps 0 and 2 of the clique can share"),
    ("a clique of one twice", PERMUTATION, ["clique"], [0, 0, 1], "can share"),
    ("a clique of no step", PERMUTATION, ["clique"], [0, 1, 3], "not listed"),
    ("a clique of a step below 0", PERMUTATION, ["clique"], [-1], "'clique' has a wrong type"),
    ("a clique of a step beyond 1999", PERMUTATION, ["clique"], [2000], "'clique' has a wrong type"),
    ("prompt not allowed", COPY, ["prompts", "1", 0], "2 =", "not one of scale 1"),
    ("prompt too long", COPY, ["prompts", "1", 0], "0 0 =", "not one of scale 1"),
    ("scale without prompts", COPY, ["prompts"], {}, "no prompts of scale 1"),
    ("prompts of a larger scale", COPY, ["prompts", "3"], ["0 0 0 ="], "not claimed"),
    ("lower too high", CYCLE | {"upper": 4}, ["lower"], 4, "does not"),
    ("lower above upper", CYCLE, ["lower"], 4, "above the upper"),
    ("upper too low", CYCLE | {"lower": 2, "proof": None, "clique": [0, 1]}, ["upper"], 2, "has 3 operators"),
    ("flipped entry", COPY, ["circuit", "operators", 0, "1"], "0", "scale 1, position 3 is wrong"),
    ("missing entry", COPY, ["circuit", "operators", 0, "="], ..., "position 4 is wrong"),
    ("later position", COPY, ["circuit", "wirings", "2", 0, 1, 0], 4, "a position that is not earlier"),
    ("unknown operator", COPY, ["circuit", "wirings", "2", 0, 0], 1, "not there"),
    ("unknown symbol", COPY, ["circuit", "operators", 0, "2"], "0", "unknown symbol"),
    ("wider operator", COPY, ["circuit", "operators", 0, "0 0"], "0", "not have this arity"),
    ("wider wiring", COPY, ["circuit", "wirings", "2", 0, 1], [1, 1], "not have this arity"),
    ("a scale less", COPY, ["circuit", "wirings", "1"], ..., "wirings of scales 1 to 2"),
    ("a step less", COPY, ["circuit", "wirings", "2", 2], ..., "not have the steps of scale 2"),
    ("no circuit", COPY, ["circuit"], None, "go together"),
    ("no upper bound", COPY, ["upper"], None, "go together"),
    ("no steps", COPY, ["steps"], [], "no steps"),
    ("step in the prompt", COPY, ["steps", 0, 1], 2, "no step at 2"),
    ("step beyond the end", COPY, ["steps", 0, 1], 5, "no step at 5"),
    ("missing key", COPY, ["proof"], ..., "fields must be format, task"),
    ("further key", COPY, ["note"], "", "fields must be"),
    ("true as a number", COPY, ["lower"], True, "'lower' has a wrong type"),
    ("number as true", COPY, ["circuit"], {"reference": 1}, "'circuit' has a wrong type"),
    ("a float", COPY, ["scale"], 2.0, "'scale' has"),
    ("a scale of a billion", COPY | {"scale": 10**9}, ["largest_scale"], 10**9, "'largest_scale' has"),
    ("arity 50", COPY, ["arity"], 50, "'arity' has"),
    ("a number of many digits", COPY, ["upper"], 10**5000, "'upper' has"),
    ("scale above the largest", COPY, ["largest_scale"], 1, "the scale is above largest_scale"),
    ("a task of two lines", COPY, ["task"], "a\nb", "the task name is not printable"),
    ("inf where there are wirings", COPY | {"upper": "inf", "circuit": None}, ["lower"], "inf", "has a wiring"),
    ("inf from above alone", COPY | {"circuit": None}, ["upper"], "inf", "needs a lower bound of inf"),
]
TASK_OF = {"copy": copy_task(), "permutation": permutation(3), "five-cycle": FIVE_CYCLE}


@pytest.mark.parametrize(("certificate", "place", "value", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_an_unproved_certificate_is_rejected_in_one_line(
    certificate: Certificate, place: Place, value: Any, says: str
) -> None:
    with pytest.raises(CertificateError, match=says) as caught:
        check(_changed(certificate, place, value), TASK_OF[certificate["task"]])
    assert "\n" not in str(caught.value)


def test_what_is_no_object_is_no_certificate() -> None:
    with pytest.raises(CertificateError, match="fields must be"):
        check([], copy_task())


def _as_symbols(table: lower.Table, task: Task, arity: int) -> oracle.Table:
    q = len(task.alphabet)
    return frozenset(
        (tuple(task.alphabet[key // q**slot % q] for slot in reversed(range(arity))), task.alphabet[value])
        for key, value in table
    )


def _minimal(tables: set[oracle.Table]) -> set[oracle.Table]:
    return {table for table in tables if not any(other < table for other in tables)}


def _tables_of_all_steps(task: Task, scale: int, arity: int, mode: str = "free") -> list[list[lower.Table]]:
    guarded = problem.GuardedTask(task, arity, mode)
    rows = [guarded.sequence(scale, prompt) for prompt in itertools.product(*task.prompt(scale))]
    start = len(task.prompt(scale))
    return [
        lower.tables_of(guarded, scale, position, position - start - 1, rows)
        for position in range(start + 1, len(rows[0]) + 1)
    ]


TASKS = [
    (
        seed,
        random_task(seed, symbols=2 + seed % 2, arity=1 + seed // 2 % 2, scales=3, fixed=0.4 if seed % 3 == 2 else 0),
    )
    for seed in range(40)
]


@pytest.mark.parametrize(("seed", "task"), TASKS, ids=[str(seed) for seed, _ in TASKS])
def test_the_tables_of_a_step_are_those_of_brute_force(seed: int, task: Task) -> None:
    for scale, arity in itertools.product((1, 2, 3), (1, 2, 3)):
        expected = oracle.step_tables(task.prompt, task.generate, scale, arity)
        tables_per_step = _tables_of_all_steps(task, scale, arity)
        assert [{_as_symbols(table, task, arity) for table in tables} for tables in tables_per_step] == list(
            map(_minimal, expected)
        )
        assert all(tables == sorted(tables) and all(list(t) == sorted(t) for t in tables) for tables in tables_per_step)


def _typed_tables(task: Task, scale: int, arity: int) -> list[set[tuple[int, oracle.Table]]]:
    """Brute force: (number of arguments, table) of every order of every argument set that has no needless member."""
    instances = oracle.sequences(task.prompt, task.generate, scale)
    tables_per_step = []
    for position in range(len(task.prompt(scale)) + 1, len(instances[0]) + 1):
        enough: set[frozenset[int]] = set()
        tables = set()
        for size in range(arity + 1):
            every = oracle.wirings(instances, position, size)
            minimal = [w for w in every if len(set(w)) == size and not any(smaller < set(w) for smaller in enough)]
            enough |= set(map(frozenset, minimal))
            tables |= {(size, every[wiring]) for wiring in minimal}
        tables_per_step.append({(m, t) for m, t in tables if not any(m == n and other < t for n, other in tables)})
    return tables_per_step


@pytest.mark.parametrize(("seed", "task"), TASKS[::4], ids=[str(seed) for seed, _ in TASKS[::4]])
def test_the_typed_tables_of_a_step_are_those_of_brute_force(seed: int, task: Task) -> None:
    q = len(task.alphabet)
    for scale, arity in itertools.product((1, 2, 3), (1, 2)):
        tables_per_step = []
        for tables in _tables_of_all_steps(task, scale, arity, "typed"):
            step = set()
            for table in tables:
                marks = {key - q**arity: value for key, value in table if key >= q**arity}
                assert sorted(marks) == list(range(arity + 1))
                size = next(m for m, own in marks.items() if own)
                assert sum(marks.values()) == 1
                step.add((size, _as_symbols(tuple(pair for pair in table if pair[0] < q**arity), task, size)))
            tables_per_step.append(step)
        assert tables_per_step == _typed_tables(task, scale, arity)


def test_the_formula_is_that_of_the_solver() -> None:
    for seed in range(60):
        classes = random_classes(seed)
        for count in range(1, 4):
            for clique in ([], [0], [1, 0])[: count + 1]:
                of_checker = lower.formula_of(list(map(list, classes)), count, clique)
                assert of_checker == sat.formula(classes, count, clique), (seed, count, clique)


def _forced(clauses: list[list[int]]) -> set[int] | None:
    """The literals that unit propagation makes true, by its definition; None where it meets a contradiction."""
    true: set[int] = set()
    while True:
        unmet = [set(clause) - {-literal for literal in true} for clause in clauses if not true & set(clause)]
        if not all(unmet):
            return None
        units = [literal for clause in unmet if len(clause) == 1 for literal in clause]
        if not units:
            return true
        true.add(units[0])


def _satisfiable(variables: int, clauses: list[list[int]]) -> bool:
    rows = itertools.product([False, True], repeat=variables)
    return any(all(any(row[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses) for row in rows)


def _expected_verdict(formula: list[list[int]], proof: list[tuple[bool, list[int]]]) -> str:
    """Expected verdict on a proof of (is a deletion, clause); what a deleted clause had implied stays."""
    kept, implied = [*formula], list[list[int]]()
    for deleted, clause in proof:
        forced = _forced(kept + implied)
        if forced is None:
            return "refuted"
        same = [place for place, other in enumerate(kept) if set(other) == set(clause)]
        if deleted and same:
            implied = [[literal] for literal in forced]
            del kept[same[0]]
        elif not deleted:
            if _forced(kept + implied + [[-literal] for literal in clause]) is not None:
                return "does not follow"
            kept.append(clause)
    return "refuted" if _forced(kept + implied) is None else "open"


@pytest.mark.parametrize("seed", range(4))
def test_exactly_what_unit_propagation_shows_is_believed_and_nothing_satisfiable_is_refuted(seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[tuple[str, bool]] = Counter()

    def random_clause(least: int, most: int) -> list[int]:
        return [rng.choice((-1, 1)) * rng.randint(1, 4) for _ in range(rng.randint(least, most))]

    for _ in range(600):
        formula = [random_clause(1, 4) for _ in range(rng.randint(1, 12))]
        proof = [(rng.random() < 0.3, rng.choice([random_clause(0, 3), *formula])) for _ in range(rng.randint(0, 5))]
        lines = ["d " * deleted + " ".join(map(str, [*clause, 0])) for deleted, clause in proof]
        try:
            answer = "refuted" if refuted(4, formula, lines, lambda _: None) else "open"
        except ProofError:
            answer = "does not follow"
        assert answer == _expected_verdict(formula, proof), (formula, lines)
        assert answer != "refuted" or not _satisfiable(4, formula)
        seen[answer, bool(proof)] += 1
    assert min(seen.values()) > 20
    assert len(seen) == 5


def test_a_long_proof_is_checked_with_its_deletions() -> None:
    rng = random.Random(3)
    edges = [edge for edge in itertools.combinations(range(34), 2) if rng.random() < 0.5]
    classes = [(tuple((key, e.index(v)) for key, e in enumerate(edges) if v in e),) for v in range(34)]
    answer = sat.decide(classes, 5, [], seconds=60, proof=True)
    assert any(line.startswith("d") for line in answer.proof)
    formula = lower.formula_of(list(map(list, classes)), 5, [])
    proof = list(answer.proof)
    assert refuted(*formula, proof, lambda _: None)
    with pytest.raises(ProofError, match="does not follow"):
        refuted(*formula, [proof[-1] if proof[-1] == "0" else "0"], lambda _: None)
    assert not refuted(*formula, proof[: len(proof) // 4], lambda _: None)


def test_infeasible() -> None:
    certificate = _certificate(direct_parity(), 3, arity=2, lower="inf", upper="inf")
    verdict = check(certificate, direct_parity())
    assert (verdict.lower, verdict.upper) == (math.inf, math.inf)
    assert verdict.statement == "SRC(direct-parity, 3) = inf at arity 2, free"
    for change in ({"arity": 3}, {"upper": 5}, {"clique": [0]}, {"proof": []}):
        with pytest.raises(CertificateError):
            check(certificate | change, direct_parity())


def test_the_reference_circuit_bounds_from_above() -> None:
    task = addition_carry(2)
    names = {name for n in (1, 2) for name, _ in task.reference.steps(n)}
    fields = {"arity": task.reference.arity, "upper": len(names), "circuit": {"reference": True}}
    certificate = _certificate(task, 2, prompts=_prompts(task, 1), steps=[[1, len(task.prompt(1)) + 1]], **fields)
    for mode in ("free", "declared"):
        assert check(certificate | {"mode": mode}, task).upper == len(names)
    for change in ({"mode": "typed"}, {"arity": task.reference.arity - 1}, {"upper": len(names) - 1}):
        with pytest.raises(CertificateError):
            check(certificate | change, task)
    wrong = replace(task, reference=replace(task.reference, apply=lambda *_: "0"))
    with pytest.raises(CertificateError, match="is wrong"):
        check(certificate, wrong)
    with pytest.raises(CertificateError, match="no reference circuit"):
        check(certificate, replace(task, reference=None))


def test_declared_wirings_are_those_of_the_reference() -> None:
    certificate = PERMUTATION | {"mode": "declared"}
    assert check(certificate, permutation(3)).statement == "SRC(permutation, 3) = 3 at arity 1, declared"
    other = _changed(certificate, ["circuit", "wirings", "1", 1, 1, 0], 1)
    with pytest.raises(CertificateError, match="not have the declared wiring"):
        check(other, permutation(3))


# The first output copies x1, the second is x1 or x2: at arity 2 one operator does both, with a repeated argument.
OR = Task(
    name="or",
    alphabet=("0", "1"),
    prompt=lambda n: [("0", "1")] * 2,
    generate=lambda prompt: [prompt[0], max(prompt)],
)


def test_typed_operators_have_one_number_of_arguments_all_of_them_needed() -> None:
    one_operator = {
        "operators": [{"0 0": "0", "0 1": "1", "1 0": "1", "1 1": "1"}],
        "wirings": {"1": [[0, [1, 1]], [0, [1, 2]]]},
    }
    two_operators = {
        "operators": [{"0": "0", "1": "1"}, {"0 0": "0", "0 1": "1", "1 0": "1", "1 1": "1"}],
        "wirings": {"1": [[0, [1]], [1, [1, 2]]]},
    }
    free = _certificate(OR, 1, arity=2, upper=1, circuit=one_operator)
    typed = free | {
        "mode": "typed",
        "lower": 2,
        "upper": 2,
        "steps": [[1, 3], [1, 4]],
        "clique": [0, 1],
        "circuit": two_operators,
    }
    assert check(free, OR).statement == "SRC(or, 1) = 1 at arity 2, free"
    assert check(typed, OR).statement == "SRC(or, 1) = 2 at arity 2, typed"
    with pytest.raises(CertificateError, match="can share an operator"):
        check(typed | {"mode": "free", "circuit": None, "upper": None}, OR)
    with pytest.raises(CertificateError, match="unneeded argument"):
        check(typed | {"lower": 1, "circuit": one_operator}, OR)
    with pytest.raises(CertificateError, match="unneeded argument"):
        dummy = _changed(two_operators, ["wirings", "1"], [[1, [1, 2]], [1, [1, 2]]])
        check(typed | {"circuit": dummy}, OR)
    # On these prompts x2 alone seems to give the second output, so two typed operators might seem one.
    with pytest.raises(CertificateError, match="needs all prompts"):
        check(typed | {"prompts": {"1": ["0 0", "0 1", "1 1"]}}, OR)


def test_a_constant_step_has_no_arguments_when_typed() -> None:
    task = Task(name="end", alphabet=("0", "1", "$"), prompt=lambda n: [("0", "1")] * n, generate=lambda _: ["$"])
    circuit = {"operators": [{"": "$"}], "wirings": {"1": [[0, []]], "2": [[0, []]]}}
    assert check(_certificate(task, 2, mode="typed", upper=1, circuit=circuit), task).upper == 1
    with pytest.raises(CertificateError, match="not have this arity"):
        check(_certificate(task, 2, upper=1, circuit=circuit), task)


def test_beyond_all_prompts_samples_are_tried_and_the_verdict_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_PROMPTS", 2**6)
    task = copy_task()
    wirings = {str(n): [[0, [t]] for t in range(1, n + 2)] for n in range(1, 9)}
    circuit = {"operators": COPY["circuit"]["operators"], "wirings": wirings}
    certificate = COPY | {"scale": 8, "largest_scale": 20, "layout": "aligned", "base": 2, "circuit": circuit}
    verdict = check(certificate, task)
    assert (verdict.upper_checked_to, verdict.sampled) == (6, 600)
    assert (verdict.status, verdict.proved) == ("sampled", False)
    assert verdict.statement == (
        "SRC(copy base 2, 8) >= 1 at arity 1, free, aligned to scale 20; upper bound 1 holds on 600 sampled prompts "
        "only above scale 6, not proved"
    )
    with pytest.raises(CertificateError, match="scale 8, position 12 is wrong"):
        check(_changed(certificate, ["circuit", "wirings", "8", 2, 1], [4]), task)


def _broken(*_: object) -> Any:
    raise KeyError("no\nsuch")


@pytest.mark.parametrize("part", ["prompt", "generate", "reference"])
def test_a_task_that_fails_is_one_line(part: str) -> None:
    task = copy_task()
    broken = {
        "prompt": replace(task, prompt=_broken),
        "generate": replace(task, generate=_broken),
        "reference": replace(task, reference=replace(task.reference, apply=_broken)),
    }[part]
    with pytest.raises(CertificateError, match=r"the task fails on .*: KeyError") as caught:
        check(COPY | {"circuit": {"reference": True}}, broken)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("module", "limit"), [(problem, "MAX_EFFORT"), (lower, "MAX_SIZE")], ids=["effort", "size"])
def test_a_problem_that_is_too_large_is_refused(
    module: ModuleType, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 30)
    with pytest.raises(CertificateError, match=r"more than 30|too many"):
        check(CYCLE, FIVE_CYCLE)


def test_each_prompt_pair_and_order_counts_as_effort() -> None:
    spent: list[int] = []
    guarded = problem.GuardedTask(direct_parity(), 2, "free")
    guarded.spend = spent.append  # type: ignore[method-assign]
    rows: list[tuple[int, ...]] = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    assert len(lower.tables_of(guarded, 2, 3, 0, rows)) == 1
    assert (4 + 2 * 4) * 3 in spent, "4 rows and 4 pairs in 2 orders, each with 2 arguments and a token"
    columns: list[tuple[int, ...]] = [(0, 1, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1)]
    spent.clear()
    assert next(lower._arguments(columns, columns[0], 2, False, spent.append))
    assert spent[-1] == 3**2, "three sets of columns, compared by pairs: the first, with the last, the other two"
    spent.clear()
    assert refuted(2, [[-1, 2], [1], [-2]], [], spent.append)
    assert spent == [2, 1], "1 is propagated through one clause, 2 through none"


def test_a_task_without_steps_has_no_circuit() -> None:
    task = replace(copy_task(), generate=lambda _: ())
    certificate = _changed(COPY, ["circuit", "wirings"], {"1": [], "2": []})
    with pytest.raises(CertificateError, match="does not have the steps of scale 1"):
        upper.check_upper(problem.GuardedTask(task, 1, "free"), certificate, 1)


def test_all_prompts_of_a_scale_count_only_if_those_of_all_smaller_scales_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problem, "MAX_PROMPTS", 3)
    task = replace(copy_task(), prompt=lambda n: copy_task().prompt(3 - n))
    wirings = COPY["circuit"]["wirings"]
    certificate = _changed(COPY, ["circuit", "wirings"], {"1": wirings["2"], "2": wirings["1"]})
    assert upper.check_upper(problem.GuardedTask(task, 1, "free"), certificate, 1) == (0, upper.SAMPLE)
    certificate = _changed(COPY, ["circuit", "wirings"], wirings)
    assert upper.check_upper(problem.GuardedTask(copy_task(), 1, "free"), certificate, 1) == (1, upper.SAMPLE)


def test_the_checker_imports_the_standard_library_and_its_own_folder_only() -> None:
    assert checker.__file__
    files = list(Path(checker.__file__).parent.glob("*.py"))
    assert len(files) > 5
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        imported = {line.split()[1] for line in lines if line.lstrip().startswith(("import ", "from "))}
        others = {name for name in imported if not name.startswith("lengthgen.circuits.checker.")}
        assert {name.split(".")[0] for name in others} <= sys.stdlib_module_names
