"""A written certificate proves exactly the bounds found, and an edited one never proves more than is true."""

import copy
import json
import math
import random
from typing import Any

import pytest

from lengthgen.circuits import checker
from lengthgen.circuits import trace as trace_module
from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import CertificateError, CertificateVerdict, problem
from lengthgen.circuits.search import partition, rounds, sat
from lengthgen.circuits.src import SRCResult, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import TASKS, TaskSpec, load
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from tests.circuits.examples import random_task
from tests.circuits.test_src import FIVE_CYCLE

Document = dict[str, Any]


def _search_and_certify(
    task: Task, scale: int, arity: int, *, mode: str = "free", largest: int | None = None, spec: TaskSpec | None = None
) -> tuple[SRCResult, Document]:
    """Return the result of `src`, and its certificate after a round trip through JSON."""
    traces = traces_up_to(task, scale)
    result = src(task, traces, arity, mode=mode, largest=largest)
    spec = spec or TaskSpec(name=task.name if task.name in TASKS else f"mine.py:{task.name}")
    return result, json.loads(json.dumps(certificate(task, result, spec=spec)))


def _assert_proves_bounds(document: Document, task: Task, result: SRCResult) -> CertificateVerdict:
    """Assert that the checker proves exactly the bounds found."""
    scale = max(result.bounds)
    verdict = checker.check(document, task, seed=0)
    assert (verdict.lower, verdict.upper) == result.bounds[scale]
    assert document["scale"] == document["largest_scale"] == scale
    return verdict


NAMED: list[tuple[str, int | None, int, int, str, str, float]] = [
    # task, base, scale, arity, mode, layout, SRC
    ("copy", None, 4, 1, "free", "unaligned", 1),
    ("copy", 3, 3, 1, "free", "aligned", 1),
    ("parity", None, 4, 2, "free", "unaligned", 1),
    ("parity", None, 4, 2, "free", "aligned", 1),
    ("parity", None, 3, 1, "free", "unaligned", math.inf),
    ("parity", None, 3, 1, "free", "aligned", math.inf),
    ("permutation", 5, 5, 1, "free", "unaligned", 5),
    ("permutation", 5, 5, 1, "declared", "aligned", 5),
    ("addition-carry", 2, 3, 3, "free", "unaligned", 2),
    ("addition-carry", 2, 3, 3, "declared", "unaligned", 2),
    ("addition-carry", 2, 3, 3, "declared", "aligned", 2),
    ("addition-carry", 2, 3, 3, "typed", "unaligned", 5),
    ("division-remainder", 3, 3, 3, "free", "unaligned", 1),
    ("division-remainder", 3, 3, 3, "declared", "unaligned", 2),
    ("division-remainder", 3, 1, 3, "typed", "unaligned", 3),
    ("division-remainder", 3, 3, 3, "typed", "unaligned", 4),
    ("scaled-sum", 3, 4, 2, "free", "unaligned", 2),
    ("parity-direct", None, 4, 2, "free", "unaligned", math.inf),
    ("parity-direct", None, 4, 2, "typed", "unaligned", math.inf),
    ("majority-count", 9, 8, 2, "free", "unaligned", 2),
]


@pytest.mark.parametrize(("name", "base", "scale", "arity", "mode", "layout", "expected"), NAMED)
def test_certificates_of_named_tasks_prove_what_was_found(
    name: str, base: int | None, scale: int, arity: int, mode: str, layout: str, expected: float
) -> None:
    spec = TaskSpec(name=name, base=base, format=layout)
    task = spec.laid_out(scale)
    result, document = _search_and_certify(task, scale, arity, mode=mode, spec=spec)
    verdict = _assert_proves_bounds(document, task, result)
    assert verdict.lower == verdict.upper == expected
    assert (document["task"], document["base"], document["layout"], document["mode"]) == (name, base, layout, mode)
    based = f" base {base}" if base else ""
    aligned = f", aligned to scale {scale}" if layout == "aligned" else ""
    assert verdict.statement == f"SRC({name}{based}, {scale}) = {expected} at arity {arity}, {mode}{aligned}"
    assert verdict.upper_checked_to == (0 if math.isinf(expected) else scale)
    few = [1] if math.isinf(expected) else range(1, int(expected) + 1)
    assert len(document["steps"]) in (few if document["proof"] is None else range(1000)), (
        "no more steps than are needed"
    )


def test_a_bound_beyond_the_clique_comes_with_a_proof() -> None:
    for task, scale, arity in ((FIVE_CYCLE, 1, 1), (load("majority-count", base=9), 8, 2)):
        result, document = _search_and_certify(task, scale, arity)
        assert len(document["clique"]) < document["lower"]
        assert "0" in document["proof"], "the empty clause"
        _assert_proves_bounds(document, task, result)
        for change in ({"proof": None}, {"lower": document["lower"] + 1, "upper": None, "circuit": None}):
            with pytest.raises(CertificateError):
                checker.check(document | change, task, seed=0)


@pytest.mark.parametrize("seed", range(24))
def test_certificates_of_random_tasks_prove_what_was_found(seed: int) -> None:
    task = random_task(seed, symbols=2 + seed % 2, arity=2, scales=3, local=seed % 5 != 4, fixed=0.4 * (seed % 3 == 2))
    result, document = _search_and_certify(task, 3, 1 + seed % 2, mode="typed" if seed % 4 < 2 else "free")
    assert result.status == "exact"
    _assert_proves_bounds(document, task, result)


def _changed(content: Document, rng: random.Random) -> Any:
    """JSON with one or two places changed, added or left out; or None where its text is no JSON any more."""
    if rng.random() < 0.3:
        text = json.dumps(content)
        at = rng.randrange(len(text))
        try:
            return json.loads(text[:at] + rng.choice('0123456789abe$="-[]{},: tfn') + text[at + rng.randrange(2) :])
        except ValueError:
            return None
    changed = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 2])):
        places: list[tuple[Any, Any]] = []
        _collect(changed, places)
        by_field: dict[str, list[tuple[Any, Any]]] = {}
        for node, key in places:  # short fields, like the bounds, are drawn as often as long ones
            by_field.setdefault(key if isinstance(key, str) else type(node[key]).__name__, []).append((node, key))
        node, key = rng.choice(by_field[rng.choice(sorted(by_field))])
        value = node[key]
        if type(value) is int:
            node[key] = rng.choice([value + 1, value - 1, value + 1, -value, 0, 1, 2, 10**9, 2.5, str(value), None])
        elif rng.random() < 0.4:
            del node[key]
        elif isinstance(value, str):
            node[key] = rng.choice(["", "inf", value[:-1], value + " 0", "0", "1", "typed", "free", "declared", "=", 3])
        elif isinstance(value, list) and value:
            node[key] = rng.choice([value[1:], [*value, value[0]], value[::-1], [], value * 2, None])
        else:
            node[key] = rng.choice([None, 1, "inf", {}, [], {"reference": True}])
    return changed


def _collect(node: Any, places: list[tuple[Any, Any]]) -> None:
    for key in node if isinstance(node, dict) else range(len(node)):
        places.append((node, key))
        if isinstance(node[key], dict | list):
            _collect(node[key], places)


EDITED: list[tuple[Task, int, int]] = [
    (FIVE_CYCLE, 1, 1),  # has a proof
    (permutation(5), 4, 1),
    (load("addition-carry", base=2), 2, 3),
    (parity(), 3, 1),  # infinite
]


@pytest.mark.parametrize(("task", "scale", "arity"), EDITED, ids=lambda part: getattr(part, "name", None))
def test_an_edited_certificate_is_rejected_or_proves_what_is_true(
    task: Task, scale: int, arity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problem, "MAX_EFFORT", 2_000_000)
    _, document = _search_and_certify(task, scale, arity)
    true: dict[tuple[int, str, int], float] = {}

    def fewest(arity: int, mode: str, scale: int) -> float:
        if (arity, mode, scale) not in true:
            result = src(task, traces_up_to(task, scale), arity, mode=mode)
            assert result.status == "exact"
            true[arity, mode, scale] = result.bounds[scale][0]
        return true[arity, mode, scale]

    rejected, kept = 0, 0
    for seed in range(100):
        edited = _changed(document, random.Random(seed))
        if edited is None:
            rejected += 1
            continue
        try:
            verdict = checker.check(edited, task, seed=0)
        except CertificateError as error:
            assert "\n" not in str(error)
            rejected += 1
            continue
        kept += 1
        value = fewest(edited["arity"], edited["mode"], edited["scale"])
        assert verdict.lower <= value <= (math.inf if verdict.upper is None else verdict.upper), f"seed {seed}"
        assert f", {edited['scale']})" in verdict.statement
    assert rejected > 50
    assert kept > 0


def test_bounds_that_differ_are_both_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as cut:
        cut.setattr(partition, "MAX_LOOKS", 1)
        cut.setattr(sat, "decide", lambda *_, **__: sat.SatResult(satisfiable=None))
        result, document = _search_and_certify(FIVE_CYCLE, 1, 1)
    assert result.bounds == {1: (2, 3)}
    assert (document["lower"], document["upper"], document["proof"]) == (2, 3, None)
    assert (
        _assert_proves_bounds(document, FIVE_CYCLE, result).statement == "2 <= SRC(five-cycle, 1) <= 3 at arity 1, free"
    )


def test_a_proof_that_is_not_found_again_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = traces_up_to(FIVE_CYCLE, 1)
    result = src(FIVE_CYCLE, traces, 1)
    monkeypatch.setattr(sat, "decide", lambda *_, **__: sat.SatResult(satisfiable=None))
    with pytest.raises(TaskError, match=r"five-cycle.* lower bound") as caught:
        certificate(FIVE_CYCLE, result, spec=TaskSpec(name="mine.py:five_cycle"))
    assert "\n" not in str(caught.value)


def _constant(*symbols: str) -> Task:
    return Task(name="end", alphabet=symbols, prompt=lambda n: [symbols[:2]] * n, generate=lambda _: [symbols[-1]])


def test_a_symbol_with_a_blank_is_refused() -> None:
    result, document = _search_and_certify(_constant("a", "b"), 2, 1)
    _assert_proves_bounds(document, _constant("a", "b"), result)
    for symbol in ("a b", " "):
        with pytest.raises(TaskError, match=r"task 'end': .* rename those with a blank") as caught:
            _search_and_certify(_constant(symbol, "b"), 2, 1)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", ["free", "declared"])
def test_beyond_the_traces_the_reference_circuit_is_the_upper_bound(mode: str) -> None:
    result, document = _search_and_certify(parity(), 4, 2, mode=mode, largest=9)
    assert result.bounds == dict.fromkeys(range(1, 10), (1, 1))
    assert document["circuit"] == {"reference": True}
    assert _assert_proves_bounds(document, parity(), result).statement == f"SRC(parity, 9) = 1 at arity 2, {mode}"
    for change in ({"mode": "typed"}, {"arity": 1}):
        with pytest.raises(CertificateError):
            checker.check(document | change, parity(), seed=0)


def test_beyond_the_traces_and_without_a_reference_no_upper_bound_is_claimed() -> None:
    task = random_task(0, symbols=3, arity=2, scales=4, fixed=0.4)
    result, document = _search_and_certify(task, 3, 2, largest=4)
    lower = result.bounds[3][0]
    assert lower > 1
    assert result.bounds[4] == (lower, math.inf)
    assert (document["upper"], document["circuit"]) == (None, None)
    verdict = checker.check(document, task, seed=0)
    assert (verdict.lower, verdict.upper) == (lower, None)
    assert verdict.statement == f"SRC(random-0, 4) >= {lower} at arity 2, free"


def test_the_upper_bound_is_proved_on_prompts_that_were_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The upper bound is proved also where there are more prompts than are sampled, as at base 10 from scale 3 on."""
    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", 20)
    monkeypatch.setattr(trace_module, "SAMPLE", 40)
    monkeypatch.setattr(rounds, "CHECKED", 10)
    task = load("addition", base=5)
    result, document = _search_and_certify(task, 2, 5, spec=TaskSpec(name="addition", base=5))
    assert (result.status, result.bounds[2]) == ("reference", (1, 1))
    _assert_proves_bounds(document, task, result)


def test_a_lower_bound_of_one_needs_nothing_but_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """SRC >= 1 holds for every sample, also where no wiring is certain, as in mode typed at base 200."""
    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", 3)
    monkeypatch.setattr(trace_module, "SAMPLE", 16)
    task = load("addition-carry", base=2)
    result, document = _search_and_certify(task, 2, 3, mode="typed", spec=TaskSpec(name="addition-carry", base=2))
    assert result.bounds[2][0] == document["lower"] == 1
    assert checker.check(document | {"upper": None, "circuit": None}, task, seed=0).lower == 1


def test_a_certificate_of_a_scale_that_the_checker_does_not_take_is_refused() -> None:
    with pytest.raises(TaskError):
        _search_and_certify(parity(), 2, 2, largest=checker.SCALE[-1] + 1)
