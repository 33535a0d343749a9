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


def test_a_digit_has_no_bias_of_a_remainder():
    """A byte modulo ten has the bias: six digits occur 26 times in 256, four 25 times. Here so many digits show it."""
    count = 400_000
    digits = examples(load("copy", base=10), [1], count, split=TRAIN, seed=0).tokens[:, 0]
    assert not _improbable(_counts([digits], [10]))
    biased = np.random.default_rng(0).integers(256, size=count) % 10
    assert _improbable(_counts([biased], [10]))


def test_scales_are_uniform_and_independent_of_the_scale_before_and_of_the_prompt():
    data = examples(load("copy", base=10), range(1, 6), 100_000, split=TRAIN, seed=0)
    before, scales, digits = data.scales[:-1] - 1, data.scales[1:] - 1, data.tokens[1:, 0]
    assert not _improbable(_counts([before, scales, digits], [5, 5, 10]))


def test_neighbours_are_independent():
    """Neighbouring places of one example, and the same place of neighbouring examples."""
    digits = examples(load("copy", base=10), [4], 50_000, split=TRAIN, seed=0).tokens[:, :4]
    for first, second in itertools.pairwise(digits.T):
        assert not _improbable(_counts([first, second], [10, 10]))
    for lag in (1, 2, 4, 8):
        assert not _improbable(_counts([digits[:-lag, 0], digits[lag:, 0]], [10, 10]))


COUNTERS = [
    {"split": TRAIN, "seed": 0, "scale": 1},
    {"split": TEST, "seed": 0, "scale": 1},
    {"split": TRAIN, "seed": 1, "scale": 1},
    {"split": TRAIN, "seed": 2**32, "scale": 1},
    # One apart where a 64-bit floating point number cannot tell.
    {"split": TRAIN, "seed": 2**64 - 2, "scale": 1},
    {"split": TRAIN, "seed": 2**64 - 1, "scale": 1},
    {"split": TRAIN, "seed": 0, "scale": 2},
]


def _digits(base, *, split, seed, scale):
    """Digits in the order in which they are drawn: position by position."""
    tokens = examples(load("copy", base=base), [scale], 20_000, split=split, seed=seed).tokens
    return tokens[:, :scale].T.reshape(-1)[:20_000]


def test_streams_of_different_counters_are_independent():
    streams = [_digits(10, **counters) for counters in COUNTERS]
    for first, second in itertools.combinations(streams, 2):
        assert not _improbable(_counts([first, second], [10, 10]))
    assert _improbable(_counts([streams[0], streams[0]], [10, 10]))
    assert _improbable(_counts([streams[0], (streams[0] + 1) % 10], [10, 10]))


def test_streams_of_different_counters_do_not_overlap():
    """Bits are compared, since no draw is rejected there, so that a part that two streams share would show."""
    streams = [_digits(2, **counters).tobytes() for counters in COUNTERS]
    for first, second in itertools.permutations(streams, 2):
        assert first[:64] not in second
    assert streams[0][1_000:1_064] in streams[0]


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


def _counting(task, calls):
    def generate(prompt):
        calls.append(prompt)
        return task.generate(prompt)

    return replace(task, generate=generate)


def test_a_twin_is_checked_at_a_cost_that_does_not_grow():
    costs = []
    for count in (1_000, 50_000):
        calls = []
        examples(_counting(load("addition"), calls), range(1, 6), count, split=TRAIN, seed=0)
        costs.append(len(calls))
    assert costs[0] == costs[1] <= 5 * 16


def test_a_wrong_twin_yields_no_examples():
    with pytest.raises(TaskError, match="the vectorised function disagrees with generate"):
        examples(replace(load("parity"), vectorised=lambda prompts: prompts), [3], 100, split=TRAIN, seed=0)
