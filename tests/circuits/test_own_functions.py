"""A task guards its user-written functions however it is created, and takes its alphabet as symbols."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lengthgen.circuits.formats import aligned
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.task import Reference, Task, TaskError
from lengthgen.circuits.trace import trace


def _task(**changes: Any) -> Task:
    good: dict[str, Any] = {
        "name": "toy",
        "alphabet": ("0", "1", "="),
        "prompt": lambda n: [("0", "1")] * n + [("=",)],
        "generate": lambda prompt: prompt[:-1],
    }
    return Task(**(good | changes))


def _raising(error: BaseException) -> Any:
    def fails(*_: object) -> None:
        raise error

    return fails


def test_a_text_stands_for_the_tuple_of_its_characters() -> None:
    task = _task(alphabet="01=")
    assert task.alphabet == ("0", "1", "=")
    assert (trace(task, 3).tokens == trace(_task(), 3).tokens).all()
    with pytest.raises(TaskError, match="symbol '01' in the output is not in the alphabet"):
        trace(_task(alphabet="01=", generate=lambda prompt: ["01"]), 1)


def test_symbols_of_another_kind_of_text_are_plain_text() -> None:
    task = _task(alphabet=list(np.array(["0", "1", "="])))
    assert {type(symbol) for symbol in task.alphabet} == {str}


@pytest.mark.parametrize("part", ["prompt", "generate", "vectorised"])
def test_interrupts_pass(part: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        trace(_task(**{part: _raising(KeyboardInterrupt())}), 1)


def test_a_failure_names_the_task_as_it_is_called_now() -> None:
    task = _task(prompt=_raising(IndexError("none")))
    for name in ("first", "second", "third"):
        task = replace(task, name=name)
    with pytest.raises(TaskError, match=r"^task 'third': prompt fails at scale 2: IndexError: none"):
        task.prompt(2)
    assert replace(task) == task


def test_the_aligned_format_of_a_task_that_fails_says_so_once() -> None:
    task = aligned(_task(generate=_raising(SystemExit(0))), 2)
    with pytest.raises(TaskError, match=r"^task 'toy': generate fails on prompt 0 =: SystemExit: 0"):
        trace(task, 1)


def test_a_reference_that_fails_is_not_one_that_is_undefined() -> None:
    """A ValueError says that an operator has no value there; anything else is a failure."""

    def apply(error: Exception) -> Task:
        reference = Reference(arity=1, steps=lambda n: [("copy", (t,)) for t in range(1, n + 1)], apply=_raising(error))
        return _task(reference=reference)

    circuit = reference_circuit(apply(ValueError("none")), [1])
    assert (circuit.operators[0] == 255).all()
    with pytest.raises(TaskError, match="apply fails on 0: KeyError"):
        reference_circuit(apply(KeyError("none")), [1])


def test_a_prompt_of_many_fixed_positions_is_held() -> None:
    scale_trace = trace(
        _task(prompt=lambda n: [("0",)] * 19_999 + [("0", "1")], generate=lambda prompt: prompt[-1:]), 1
    )
    assert scale_trace.tokens.shape == (20_001, 2)
