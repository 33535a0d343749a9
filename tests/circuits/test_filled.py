"""The filled format: filler changes no output, and training shows every symbol at every distance."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.formats import CLOSING, PAD, FilledTask, filled
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.task import UNDEFINED, Task, TaskError
from lengthgen.circuits.tasks import TASKS, load
from tests.circuits.examples import addition

LARGEST = 4
TRAIN, TEST = range(1, 6), range(1, 21)
RANDOM = ("random-local-invariant-5", "random-language-3-2-7-1-with-states")
NAMES = (*TASKS, *RANDOM)


def _filled(name: str) -> tuple[Task, FilledTask]:
    plain = load(name)
    return plain, filled(plain, LARGEST)


def _predicted(analysis: Analysis, encoding: str) -> Prediction:
    return predict(analysis, parse_encoding(encoding), train=TRAIN, test=TEST)


@pytest.fixture(scope="module", params=["parity", "copy", "addition"])
def task(request: pytest.FixtureRequest) -> Task:
    return load(request.param, base=None if request.param == "parity" else 2)


@pytest.fixture(scope="module")
def analysed(task: Task) -> Callable[[str], Analysis]:
    """Format -> the analysis of the task in it up to the largest test scale, made once."""
    return cache(lambda layout: analyse(task, layout, TEST[-1]))


@pytest.mark.parametrize("name", NAMES)
def test_filler_changes_no_output_and_all_sequences_have_one_length(name: str) -> None:
    plain, task = _filled(name)
    lengths = {scale: _length_without_changes(plain, task, scale) for scale in (1, LARGEST - 1, LARGEST)}
    assert plain.end is not None or len(set(lengths.values())) == 1, lengths


def _length_without_changes(plain: Task, task: FilledTask, scale: int) -> int:
    """Check that some sequences of a scale, without filler and PADs, are sequences of the plain task."""
    prompts = task.sample_prompts(scale, 20, np.random.default_rng(0))
    assert task.are_prompts(scale, prompts).all(), scale
    tokens = task.sequences(scale, prompts)
    core = [task.place(scale, position) - 1 for position in range(1, tokens.shape[1] + 1)]
    core = [place for place in core if place < tokens.shape[1]]
    pad = task.alphabet.index(PAD)
    for row in tokens:
        kept = [token for token in row[core] if token not in (pad, UNDEFINED)]
        given = len(plain.choices(scale))
        if None in plain.layout(scale):
            prompt = [kept[position - 1] for position in plain.given(scale)]
        else:
            prompt = kept[:given]
        sequence = plain.sequences(scale, np.array([prompt], dtype=np.uint8))[0]
        assert sequence[sequence != UNDEFINED].tolist() == kept, scale
    return tokens.shape[1]


@pytest.mark.parametrize("name", [name for name in NAMES if load(name).reference])
def test_the_reference_circuit_replays_on_filled_sequences(name: str) -> None:
    _, task = _filled(name)
    for scale in range(1, LARGEST + 1):
        tokens = task.sequences(scale, task.sample_prompts(scale, 10, np.random.default_rng(scale)))
        for (operator, arguments), position in zip(
            task.reference.steps(scale), task.step_positions(scale), strict=False
        ):
            for row in tokens:
                if position <= len(row) and row[position - 1] != UNDEFINED:
                    symbols = tuple(task.alphabet[row[argument - 1]] for argument in arguments)
                    assert task.reference.apply(operator, symbols) == task.alphabet[row[position - 1]]


def test_the_layout_of_two_operands() -> None:
    task = filled(addition(2), 3)
    filler = "".join(task.alphabet)
    layout = ["*" if "".join(choice) == filler else "".join(choice) for choice in task.prompt(2)]
    assert layout == ["*", "_", "01", "01", "_", "_", "*", "+", "01", "01", "_", "_", "*", "="]
    assert "*" not in ["".join(choice) for choice in task.core.prompt(2)]


def test_filler_holds_every_symbol_but_the_end() -> None:
    for name in ("parity", "copy-until-zero"):
        plain, task = _filled(name)
        trace = analyse(plain, "filled", LARGEST).traces[0]
        assert trace.given == tuple(range(1, len(task.layout(1)) + 1))
        shown = {*np.unique(trace.tokens[0]).tolist()}
        assert shown == {n for n, symbol in enumerate(task.alphabet) if symbol != plain.end}


def test_a_draw_of_the_task_fills_with_every_symbol() -> None:
    _, task = _filled("random-language-3-2-7-1-with-states")
    prompts = task.sample_prompts(1, 300, np.random.default_rng(0))
    assert len(np.unique(prompts[:, 0])) == len(task.alphabet)
    assert len(np.unique(prompts[:, -2])) == 1, "a PAD before the word"


def test_relative_codes_meet_nothing_new_when_filled_and_digits_at_new_distances_when_aligned(
    analysed: Callable[[str], Analysis],
) -> None:
    padded, full = (_predicted(analysed(layout), "rpe") for layout in ("aligned", "filled"))
    assert padded.generalizes and full.generalizes
    assert padded.unseen_distractors and full.unseen_distractors == 0
    assert padded.distractors is not None and full.distractors is not None
    assert (padded.distractors.breaks_at, full.distractors.breaks_at) == (6, None)


@pytest.mark.parametrize("layout", ["aligned", "filled"])
def test_absolute_codes_generalize_in_no_format(analysed: Callable[[str], Analysis], layout: str) -> None:
    assert _predicted(analysed(layout), "ape").breaks_at == 6


def test_filler_of_digits_alone_would_leave_unseen_distractors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthgen.circuits.formats._filler", lambda core: ("0", "1"))
    assert _predicted(analyse(load("parity"), "filled", TEST[-1]), "rpe").unseen_distractors


def test_the_circuit_is_right_on_filled_sequences_and_src_is_that_of_the_aligned_task(task: Task) -> None:
    full, padded = (analyse(task, layout, 6) for layout in ("filled", "aligned"))
    assert full.result is not None and padded.result is not None
    assert full.circuit.check(full.traces) == sum(trace.tokens.shape[1] for trace in full.traces)
    assert full.result.values == padded.result.values
    fresh = full.task.sample_prompts(6, 50, np.random.default_rng(1))
    assert (full.circuit.run(fresh, 6) == full.task.sequences(6, fresh)).all()


def test_an_operand_ends_in_two_pads_at_every_scale() -> None:
    task = filled(load("copy"), LARGEST)
    for scale in range(1, LARGEST + 1):
        prompt = task.prompt(scale)
        operand = load("copy").segments(scale)[0]
        places = [task.place(scale, 1 + operand.last + mark) for mark in range(1, CLOSING + 1)]
        assert [tuple(prompt[place - 1]) for place in places] == [(PAD,)] * CLOSING


def _more_fixed_tokens(n: int) -> list[tuple[str, ...]]:
    return [("=",)] * n + [("0", "1")] * n + [("=",)]


def test_fixed_tokens_are_as_many_at_every_scale() -> None:
    task = replace(load("parity"), prompt=_more_fixed_tokens, vectorised=None)
    with pytest.raises(TaskError, match="fixed tokens of scale 2 are not"):
        filled(task, LARGEST).choices(2)
