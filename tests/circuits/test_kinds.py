"""Tasks beyond a product set of prompts and one output of one length: SRC, certificates, circuits, and refusals."""

import itertools
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import check
from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.coverage import seen_entries, steps_seen
from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.formats import aligned
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.questions.grid import grid_src
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import MAX_COMBINATIONS, UNDEFINED, Task, TaskError, Tokens
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.tasks.addition import addition_mixed
from lengthgen.circuits.tasks.two_scales import TwoScaleTask
from lengthgen.circuits.trace import extended, of_prompts, trace
from tests.circuits.random_kinds import (
    KINDS,
    alterations,
    brute_force,
    certified,
    computed,
    falsely_accepted,
    random_kind,
)

BITS = ("0", "1")


def _task(**changes: Any) -> Task:
    """`x1 .. xn = x1 $` over bits."""
    good: dict[str, Any] = {
        "name": "toy",
        "alphabet": (*BITS, "=", "$"),
        "prompt": lambda n: [*[BITS] * n, ("=",)],
        "generate": lambda prompt: [prompt[0], "$"],
    }
    return Task(**(good | changes))


def test_src_of_every_kind_is_that_of_brute_force() -> None:
    for seed in range(60):
        task, _, arity, scales = random_kind(seed)
        assert computed(task, scales, arity) == brute_force(task, scales, arity), seed


def test_the_random_tasks_are_of_every_kind() -> None:
    kinds = [random_kind(seed)[1] for seed in range(60)]
    assert {kind for each in kinds for kind in each} == {*KINDS}
    assert max(map(len, kinds)) >= 3


def test_certificates_are_accepted_and_altered_ones_only_if_they_are_true() -> None:
    cases = [case for case in map(certified, range(40)) if case]
    assert len(cases) > 20
    for task, content, values in cases:
        verdict = check(content, task, seed=0)
        assert verdict.proved, task.name
        assert verdict.lower == verdict.upper == values[content["scale"]], task.name
        for altered in itertools.islice(alterations(content, task, random.Random(task.name)), 10):
            assert falsely_accepted(altered, task, {content["arity"]: dict(values)}) is not True, task.name


def test_a_step_that_few_prompts_have_is_in_the_certificate() -> None:
    """A single prompt of 64 has a third and a fourth step, and only these need a second operator."""

    def generate(prompt: tuple[str, ...]) -> list[str]:
        return ["1", "0", "1", "$"] if prompt == ("1",) * 6 + ("=",) else ["0", "$"]

    task = _task(prompt=lambda n: [*[BITS] * 6, ("=",)], generate=generate, end="$")
    result = src(task, traces_up_to(task, 1), 6)
    content = certificate(task, result, spec=TaskSpec(name="mine.py:toy"))
    verdict = check(content, task, seed=0)
    assert (verdict.lower, verdict.upper) == result.bounds[1]


EARLY = load("copy-until-zero", base=3)


def test_an_early_end_leaves_no_step() -> None:
    early = trace(EARLY, 2)
    rows = {tuple(column) for column in early.tokens.T.tolist()}
    assert (0, 2, 3, 4, UNDEFINED, UNDEFINED) in rows  # "0 2 = $"
    assert (1, 0, 3, 1, 4, UNDEFINED) in rows
    assert (1, 2, 3, 1, 2, 4) in rows
    assert early.steps == (4, 5, 6)
    assert early.tokens_at(6).shape[1] == 4
    assert src(EARLY, traces_up_to(EARLY, 4), 1).values == dict.fromkeys(range(1, 5), 1)


def test_a_vectorised_output_without_an_end_is_noticed_in_every_row() -> None:
    """Only prompt 1000 of 4,096 lacks its end, which a comparison of some rows with `generate` would miss."""

    def endless(prompts: Tokens) -> Tokens:
        outputs = EARLY.vectorised(prompts).copy()
        outputs[1000, outputs[1000] == 4] = 1
        return outputs

    prompts = EARLY.sample_prompts(9, 4096, np.random.default_rng(0))
    EARLY.outputs(prompts)
    with pytest.raises(TaskError, match="the vectorised function disagrees with generate"):
        replace(EARLY, vectorised=endless).outputs(prompts)


def test_its_circuit_runs_to_the_end_and_no_further() -> None:
    circuit = reference_circuit(EARLY, [3])
    prompts = EARLY.all_prompts(3)
    np.testing.assert_array_equal(circuit.run(prompts, 3), EARLY.sequences(3, prompts))
    assert circuit.check([trace(EARLY, 3)]) == 27
    tokens = circuit.graph(3, ("1", "0", "2", "=")).nodes(data="token")
    assert [token for _, token in tokens] == ["1", "0", "2", "=", "1", "$"]
    wrong = replace(circuit, operators=(np.where(circuit.operators[0] == 2, 1, circuit.operators[0]).astype(np.uint8),))
    with pytest.raises(CircuitError, match="wrong at scale 3, position 5, prompt 2 0 0 ="):
        wrong.check([trace(EARLY, 3)])


def test_coverage_ends_with_the_output() -> None:
    """Training on "0 ... =" alone shows no more than that 0 gives $."""
    circuit = reference_circuit(EARLY, [2])
    prompts = EARLY.all_prompts(2)
    tokens = EARLY.sequences(2, prompts)
    tokens[tokens == UNDEFINED] = 0
    scales = np.full(len(tokens), 2)
    shown = prompts[:, 0] == 0
    seen = seen_entries(circuit, tokens[shown], scales[shown])
    assert [entries.sum() for entries in seen] == [1]
    assert steps_seen(circuit, seen, tokens, scales)[shown].all()
    assert not steps_seen(circuit, seen, tokens, scales)[~shown][:, 0].any()


def test_a_sample_grows_by_longer_outputs() -> None:
    """A single prompt of 2**18 has 19 steps; the search for longer outputs finds it, and without it a round adds it."""
    task = replace(load("copy-until-zero", base=2), reference=None)
    result = src(task, traces_up_to(task, 18), 1)
    assert result.status == "sampled"
    assert result.values == dict.fromkeys(range(1, 19), 1)
    assert result.traces[17].length == 38
    short = of_prompts(task, replace(result.traces[17], tokens=np.zeros((0, 1), dtype=np.uint8)), _prompts("01" * 9))
    longest = extended(task, short, _prompts("1" * 18))
    assert (short.length, longest.length) == (20, 38)
    assert longest.tokens_at(38).shape[1] == 1
    assert src(task, [*result.traces[:17], longest], 1).values[18] == 1
    with_reference = load("copy-until-zero", base=2)
    assert src(with_reference, [*result.traces[:17], replace(short, exhaustive=False)], 1).values[18] == 1


def _prompts(digits: str) -> Tokens:
    return np.array([[*map(int, digits), 2]], dtype=np.uint8)


def test_a_prediction_for_outputs_that_end_early() -> None:
    """IPE and RPE generalize by the rule; RPE shows 12 pairs of distance and irrelevant token that training did not."""
    analysis = analyse(load("copy-until-zero", base=2), "aligned", 6)
    ipe, rpe = (predict(analysis, parse_encoding(name), train=range(1, 4), test=range(1, 7)) for name in ("ipe", "rpe"))
    assert (ipe.generalizes, ipe.complexity_test, ipe.unseen_distractors) == (True, 1, 0)
    assert (rpe.generalizes, rpe.complexity_test, rpe.unseen_distractors) == (True, 1, 12)
    assert ipe.distractors is not None and ipe.distractors.generalizes
    assert rpe.distractors is not None and not rpe.distractors.generalizes


def test_prompt_tokens_after_outputs() -> None:
    task = load("parity-online")
    assert trace(task, 2).tokens.T.tolist() == [[0, 0, 0, 0, 2], [0, 0, 1, 1, 2], [1, 1, 0, 1, 2], [1, 1, 1, 0, 2]]
    assert trace(task, 2).given == (1, 3)
    assert trace(task, 2).steps == (2, 4, 5)
    assert src(replace(task, reference=None), traces_up_to(task, 6), 2).values == {
        1: 2,
        **dict.fromkeys(range(2, 7), 3),
    }
    circuit = reference_circuit(task, [3])
    prompts = task.all_prompts(3)
    np.testing.assert_array_equal(circuit.run(prompts, 3), task.sequences(3, prompts))
    kinds = [kind for _, kind in circuit.graph(3).nodes(data="kind")]
    assert kinds == ["prompt", "step"] * 3 + ["step"]


def test_an_output_cannot_know_what_comes_after_it() -> None:
    task = _task(alphabet=BITS, prompt=lambda n: [BITS, ..., BITS], generate=lambda prompt: [prompt[1], "0"])
    assert src(task, traces_up_to(task, 1), 1).values == {1: math.inf}


def test_only_valid_prompts_count() -> None:
    """a - b over bits: with a >= b no borrow is left, and at scale 1 the step reads a and b alone."""
    task = load("subtraction", base=2)
    assert len(trace(task, 2).prompts) == 10
    assert src(replace(task, reference=None), traces_up_to(task, 3), 5).values == {1: 1, 2: 1, 3: 1}
    unrestricted = replace(task, valid=None, vectorised_valid=None)
    assert len(trace(unrestricted, 2).prompts) == 16


def test_few_valid_prompts_among_many_combinations() -> None:
    """Balanced brackets: no bracket can change alone, so neighbours differ by an exchange."""

    def balanced(prompt: tuple[str, ...]) -> bool:
        depths = list(itertools.accumulate(1 if symbol == "(" else -1 for symbol in prompt))
        return min(depths) >= 0 and depths[-1] == 0

    task = _task(
        alphabet=("(", ")"), prompt=lambda n: [("(", ")")] * (2 * n), generate=lambda prompt: prompt[:1], valid=balanced
    )
    scale_trace = trace(task, 5)
    assert len(scale_trace.prompts) == 42  # the fifth Catalan number
    assert len(scale_trace.near) > 42
    first, second = (scale_trace.prompts[column] for column in scale_trace.near.T)
    assert ((first != second).sum(axis=1) == 2).all()
    palindromes = replace(task, valid=lambda prompt: prompt == prompt[::-1])
    with pytest.raises(TaskError, match=r"random combinations of scale 20 are valid; give the task a function `draw`"):
        palindromes.sample_prompts(20, 4, np.random.default_rng(0))


def test_many_valid_prompts_are_sampled() -> None:
    task = _task(valid=lambda prompt: prompt[0] == "1", prompt=lambda n: [*[BITS] * n, ("=",)])
    assert MAX_COMBINATIONS < 2**19
    sampled = trace(task, 19)
    assert not sampled.exhaustive
    assert sampled.prompts[:, 0].all()
    assert len(np.unique(sampled.prompts, axis=0)) == len(sampled.prompts)


def test_several_right_outputs_take_the_best_choice() -> None:
    task = load("select-any", base=2)
    best = choice_src(replace(task, reference=None), 3, 1)
    assert best.bounds == dict.fromkeys((1, 2, 3), (1, 1))
    assert best.status == "exact"


def test_bounds_where_there_are_too_many_choices_to_try() -> None:
    """Anything is right but on the prompt of zeros, and the task shows the parity: always 0 needs one operator.

    "$" comes by the same operator, which reads '='.
    """

    def right(prompt: tuple[str, ...]) -> list[list[str]]:
        parity = str(prompt.count("1") % 2)
        return [[parity, "$"]] if "1" not in prompt[:-1] else [["0", "$"], ["1", "$"]]

    task = _task(generate=lambda prompt: [str(prompt.count("1") % 2), "$"], right=right)
    best = choice_src(task, 4, 1)
    assert best.bounds[4] == (1, 1)
    assert best.status == "exact"
    assert best.circuit is not None


def test_prompt_tokens_after_outputs_cannot_be_aligned() -> None:
    with pytest.raises(TaskError, match="prompt tokens after outputs cannot be aligned yet"):
        aligned(load("parity-online"), 4)


def test_padding_keeps_what_is_valid_drawn_and_right() -> None:
    padded = aligned(load("subtraction", base=3), 3)
    assert padded.are_prompts(2, padded.sample_prompts(2, 50, np.random.default_rng(0))).all()
    assert len(trace(padded, 2).prompts) == 45
    assert choice_src(aligned(load("select-any", base=2), 3), 3, 1).bounds[3] == (1, 1)


def test_src_on_a_grid_of_two_scales() -> None:
    """Every value is that of the ordinary task of the pairs up to it, so it does not decrease."""
    family = addition_mixed(2)
    answer = grid_src(replace(family, reference=None), 2, 2)
    assert answer.arity == minimal_arity(traces_up_to(family.up_to(2, 2), 4)) == 4
    assert answer.status == "exact"
    assert set(answer.bounds.values()) == {(1, 1)}
    fewer = grid_src(replace(family, reference=None), 2, 3, 4)
    assert fewer.bounds[1, 1] == (1, 1)
    for (m, n), bound in fewer.bounds.items():
        task = family.up_to(m, n)
        assert bound == src(replace(task, reference=None), traces_up_to(task, m * n), 4).bounds[m * n]


def test_paths_through_two_scales_are_ordinary_tasks() -> None:
    family = addition_mixed(3)
    first, second = family.with_first(2), family.with_second(1)
    assert (first.name, second.name) == ("addition-mixed-first-2", "addition-mixed-second-1")
    assert [len(first.prompt(n)) for n in (1, 2, 3)] == [5, 6, 7]
    assert len(second.prompt(3)) == 6
    for task in (first, second, family.up_to(2, 3)):
        reference_circuit(task, range(1, 5)).check([trace(task, scale) for scale in range(1, 5)])
    with pytest.raises(TaskError, match=r"there are 2 pairs of scales up to \(2, 1\)"):
        family.up_to(2, 1).prompt(3)
    with pytest.raises(TaskError, match="1 to 100 pairs of scales at once, not 11 times 10"):
        grid_src(family, 11, 10)


def test_two_scales_draw_and_choose_as_one_does() -> None:
    family = TwoScaleTask(
        name="pair", alphabet=BITS, prompt=lambda m, n: [BITS] * (m + n), generate=lambda prompt: [prompt[0]],
        draw=lambda m, n, source: ["1"] * (m + n), right=lambda prompt: [["0"], ["1"]],
    )  # fmt: skip
    task = family.with_first(2)
    assert task.sample_prompts(3, 2, np.random.default_rng(0)).tolist() == [[1] * 5] * 2
    assert choice_src(task, 1, 1).bounds[1] == (1, 1)
