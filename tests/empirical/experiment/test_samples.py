"""Examples are right, drawn uniformly and independently, and the same wherever and whenever they are drawn."""

import hashlib
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from lengthgen.circuits.formats import FORMATS, in_format
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.empirical.experiment.samples import TEST, TRAIN, examples


@pytest.mark.parametrize(
    ("name", "format"),
    [(name, format) for name in TASKS for format in FORMATS if (name, format) != ("parity-online", "aligned")],
)
def test_every_example_is_what_the_task_generates(name, format):
    task = in_format(load(name), format, largest_scale=4)
    data = examples(task, [1, 2, 4], 60, split=TRAIN, seed=3)
    assert (data.tokens.dtype, data.is_step.dtype, data.scales.dtype) == (np.uint8, np.bool_, np.int64)
    for tokens, is_step, scale in zip(data.tokens, data.is_step, data.scales, strict=True):
        given = [position - 1 for position in task.given(int(scale))]
        end = int(np.flatnonzero(is_step)[-1]) + 1
        prompt = tuple(task.alphabet[token] for token in tokens[given])
        assert list(task.generate(prompt)) == [task.alphabet[token] for token in tokens[is_step]]
        assert is_step.tolist() == [place not in given and place < end for place in range(len(tokens))]
        assert not tokens[end:].any()
        assert task.are_prompts(int(scale), tokens[None, given]).all()


@pytest.mark.parametrize("name", [name for name in TASKS if name != "parity-online"])
def test_both_formats_hold_the_same_instances(name):
    plain, padded = (in_format(load(name), format, largest_scale=5) for format in ("unaligned", "aligned"))
    first, second = (examples(task, [1, 3, 5], 40, split=TEST, seed=1) for task in (plain, padded))
    assert np.array_equal(first.scales, second.scales)
    for short, long, short_steps, long_steps in zip(
        first.tokens, second.tokens, first.is_step, second.is_step, strict=True
    ):
        without_pads = [token for token in long[: np.flatnonzero(long_steps)[-1] + 1] if token < len(plain.alphabet)]
        assert without_pads == short[: np.flatnonzero(short_steps)[-1] + 1].tolist()


def _improbable(counts):
    """True if Pearson's statistic of the counts is one that equal cells exceed only once in a million times."""
    expected = counts.sum() / counts.size
    assert expected >= 20  # few enough cells for the distribution of the statistic
    return ((counts - expected) ** 2 / expected).sum() > chi2.isf(1e-6, counts.size - 1)


def _counts(columns, sizes):
    """Count how often each combination of values below `sizes` occurs, one value from each column."""
    return np.bincount(np.ravel_multi_index(columns, sizes), minlength=np.prod(sizes))


@pytest.mark.parametrize("name", [name for name in TASKS if load(name).draw is None and load(name).valid is None])
def test_prompts_are_uniform_over_all_prompts_of_their_scale(name):
    task = load(name)
    counts = {scale: math.prod(map(len, task.choices(scale))) for scale in range(1, 6)}
    for scale in itertools.takewhile(lambda scale: counts[scale] <= 10_000, counts):
        choices = task.choices(scale)
        tokens = examples(task, [scale], 20 * max(1_000, counts[scale]), split=TRAIN, seed=0).tokens
        tokens = tokens[:, [position - 1 for position in task.given(scale)]]
        places = [np.searchsorted(allowed, column) for allowed, column in zip(choices, tokens.T, strict=True)]
        assert not _improbable(_counts(places, [len(allowed) for allowed in choices]))


def test_a_task_draws_by_its_own_distribution():
    """Bits that are 1 with probability 1/n; and valid pairs of two digits each, of which 100 of 5050 are equal."""
    bits = examples(load("parity-sparse"), [4], 40_000, split=TRAIN, seed=0).tokens[:, :4]
    assert abs(bits.mean() - 1 / 4) < 5 * math.sqrt(3 / 16 / bits.size)
    tokens = examples(load("subtraction", base=10), [2], 40_000, split=TEST, seed=0).tokens.astype(int)
    first, second = tokens[:, 0] + 10 * tokens[:, 1], tokens[:, 3] + 10 * tokens[:, 4]
    assert (first >= second).all()
    assert abs((first == second).mean() - 2 / 101) < 5 * math.sqrt(2 / 101 / 40_000)  # 5 sigma


def test_an_example_depends_on_nothing_that_was_drawn_before():
    task = load("addition")
    counters = [{"split": split, "seed": seed} for split in (TRAIN, TEST) for seed in (0, 5)]
    forward = [examples(task, range(1, 6), 50, **counter).tokens for counter in counters]
    np.random.default_rng(0).random()
    backward = [examples(task, range(1, 6), 50, **counter).tokens for counter in reversed(counters)]
    assert all(np.array_equal(*pair) for pair in zip(forward, reversed(backward), strict=True))
    assert len({tokens.tobytes() for tokens in forward}) == len(counters)


def test_the_examples_of_one_scale_do_not_depend_on_which_others_there_are():
    with_9, with_20 = (examples(load("parity"), [4, other], 30, split=TRAIN, seed=0) for other in (9, 20))
    scale_4_tokens = [data.tokens[data.scales == 4, : 2 * 4 + 2] for data in (with_9, with_20)]
    assert 0 < len(scale_4_tokens[0]) < 30
    assert np.array_equal(*scale_4_tokens)


def test_the_stream_has_not_changed():
    """A changed stream gives new runs other examples than stored ones: such a change must be in the changelog."""
    data = examples(load("addition"), range(1, 6), 1_000, split=TRAIN, seed=3)
    digest = hashlib.sha256(data.tokens.tobytes() + data.is_step.tobytes() + data.scales.tobytes()).hexdigest()
    assert digest[:12] == "78b0897518e0"


def test_a_wrong_twin_yields_no_examples():
    with pytest.raises(TaskError, match="the vectorised function disagrees with generate"):
        examples(replace(load("parity"), vectorised=lambda prompts: prompts), [3], 100, split=TRAIN, seed=0)
