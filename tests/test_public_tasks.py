"""The tasks written after public sources: examples worked out by hand, and every task at small and large scales."""

import runpy

import numpy as np
import pytest

from lengthgen import Task

EXAMPLES = {
    "even_pairs": ("11010=", "0$"),  # 11 10 01 10: one 01, two 10
    "cycle_navigation": ("22212=", "2$"),  # four back, one forth: -3 is 2 modulo 5
    "compute_sqrt": ("11010=", "101$"),  # 5 * 5 <= 26 < 6 * 6
    "missing_duplicate": ("11001110?1=", "0$"),
    "modular_arithmetic": ("4-0+4*2-3=", "4$"),  # 9
    "mode": ("24042=", "2$"),  # 2 and 4 twice
    "copy_with_hints": ("34=", "0314$"),
    "addition_of_three": ("20311;13131;33023=", "231321$"),
    "multiplication_by_two_digits": ("21;12=", "2201$"),  # 5 * 7 = 35 = 2 + 2 * 3 + 0 * 9 + 1 * 27
    "minesweeper": ("10111;01000=", "9399929332$"),
    "gridworld": ("11010=", "12121$"),
    "flip_flop": ("12021=", "01110$"),
    "dihedral": ("11010=", "40154$"),
    "field_of_seven": ("*1*6*2+2*1=", "16500$"),
    "last_letters": ("baccab=", "cb$"),
    "bubble_pass": ("24042=", "20424$"),
    "partition": ("324042=", "20244$"),
    "string_matcher": ("0111001=", "00010$"),
    "induction": ("13120=", "2$"),
    "recall": ("1131221=", "2$"),
    "rule_110": ("11010=", "11110$"),
    "rule_30": ("11010=", "10011$"),
    "gray_code": ("11010=", "10111$"),
    "manchester": ("10=", "1001$"),
    "majority_decoder": ("101000=", "10$"),
    "convolutional": ("1100=", "11010111$"),
    "checksum": ("11010=", "13131$"),
    "luhn": ("79094=", "76659$"),
    "bit_stuffing": ("11111=", "111011$"),
    "increment": ("22212=", "000220$"),
    "negation": ("11010=", "10101$"),  # 11 and 21 are 32
    "tripling": ("23323=", "223032$"),
    "remainder_by_three": ("11010=", "10012$"),  # 1, 3, 6, 13, 26
    "comparison": ("120;111=", "022$"),
    "hamming_distance": ("10111;01000=", "12301$"),
    "vigenere": ("4442312=", "31201$"),
    "unique_set": ("24042=", "240$"),
    "zigzag": ("12021=", "11220$"),
    "seen_before": ("23323=", "00111$"),
}


TASKS: dict[str, Task] = {
    name: value
    for name, value in runpy.run_path("docs/results/new-tasks/public_tasks.py").items()
    if isinstance(value, Task)
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_worked_out_by_hand(name: str) -> None:
    prompt, output = EXAMPLES[name]
    assert "".join(TASKS[name].generate(tuple(prompt))) == output


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_prompts_and_outputs_at_small_and_large_scales(name: str) -> None:
    task, lengths = TASKS[name], []
    for scale in (1, 2, 6, 20):
        prompts = task.sample_prompts(scale, 20, np.random.default_rng(0))
        tokens = task.sequences(scale, prompts)
        lengths.append(tokens.shape[1])
        assert len(np.unique(tokens[:, prompts.shape[1] :], axis=0)) > 1 or scale < 3, (
            "the output depends on the prompt"
        )
    assert lengths == sorted({*lengths})


def test_there_are_as_many_as_the_file_says() -> None:
    assert len(TASKS) == 62
