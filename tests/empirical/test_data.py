"""Examples are right, and the same wherever and whenever they are drawn."""

import numpy as np
import pytest

from circuits.formats import FORMATS, in_format
from circuits.tasks import TASKS, load
from empirical.data import TEST, TRAIN, examples


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", TASKS)
def test_every_example_is_what_the_task_generates(name, format):
    task = in_format(load(name), format, largest_scale=4)
    data = examples(task, [1, 2, 4], 60, split=TRAIN, seed=3)
    for tokens, is_step, scale in zip(data.tokens, data.is_step, data.scales, strict=True):
        prompt_length = len(task.choices(int(scale)))
        end = int(np.flatnonzero(is_step)[-1]) + 1
        prompt = tuple(task.alphabet[token] for token in tokens[:prompt_length])
        assert list(task.generate(prompt)) == [task.alphabet[token] for token in tokens[prompt_length:end]]
        assert is_step.tolist() == [prompt_length <= place < end for place in range(len(tokens))]


def test_scales_are_drawn_uniformly():
    scales = examples(load("copy"), range(1, 6), 5000, split=TRAIN, seed=0).scales
    shares = np.bincount(scales, minlength=6)[1:] / 5000
    # Five standard deviations of a share of one fifth.
    assert np.abs(shares - 0.2).max() < 5 * (0.2 * 0.8 / 5000) ** 0.5


def test_the_same_counters_give_the_same_examples_and_others_others():
    task = load("parity")
    drawn = examples(task, [6], 50, split=TRAIN, seed=1)
    assert np.array_equal(drawn.tokens, examples(task, [6], 50, split=TRAIN, seed=1).tokens)
    assert not np.array_equal(drawn.tokens, examples(task, [6], 50, split=TRAIN, seed=2).tokens)
    assert not np.array_equal(drawn.tokens, examples(task, [6], 50, split=TEST, seed=1).tokens)
