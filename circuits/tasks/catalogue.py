"""Catalogue of the tasks that come with the project, by their names on the command line."""

from collections.abc import Callable

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.addition import (
    addition,
    addition_carry,
    addition_high_first,
    addition_mixed,
    subtraction,
    unaligned_addition,
)
from lengthgen.circuits.tasks.copying import (
    copy,
    copy_until_zero,
    reverse,
    select_any,
    select_first,
    select_last,
    select_middle,
    shift,
    unaligned_copy,
)
from lengthgen.circuits.tasks.counter import (
    counter,
    majority_count,
    majority_direct,
    parity,
    parity_direct,
    parity_online,
    parity_sparse,
)
from lengthgen.circuits.tasks.growing import log_shift, permutation, scaled_sum
from lengthgen.circuits.tasks.instructions import scan, stack
from lengthgen.circuits.tasks.products import division, division_remainder, multiplication, multiplication_nn
from lengthgen.circuits.tasks.sorting import sort_direct, sort_trace
from lengthgen.circuits.tasks.two_scales import TwoScaleTask

TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy,
    "reverse": reverse,
    "shift": shift,
    "parity": parity,
    "parity-direct": parity_direct,
    "addition": addition,
    "addition-high-first": addition_high_first,
    "addition-carry": addition_carry,
    "multiplication": multiplication,
    "multiplication-nn": multiplication_nn,
    "division": division,
    "division-remainder": division_remainder,
    "select-first": select_first,
    "select-middle": select_middle,
    "select-last": select_last,
    "counter": counter,
    "sort-trace": sort_trace,
    "sort-direct": sort_direct,
    "majority-count": majority_count,
    "majority-direct": majority_direct,
    "permutation": permutation,
    "log-shift": log_shift,
    "scaled-sum": scaled_sum,
    "unaligned-copy": unaligned_copy,
    "unaligned-addition": unaligned_addition,
    "subtraction": subtraction,
    "copy-until-zero": copy_until_zero,
    "parity-sparse": parity_sparse,
    "parity-online": parity_online,
    "select-any": select_any,
    "scan": scan,
    "stack": stack,
}

TWO_SCALE_TASKS: dict[str, Callable[..., TwoScaleTask]] = {"addition-mixed": addition_mixed}
"""Tasks of two scales, by name."""
