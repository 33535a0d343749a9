"""Catalogue of the tasks that come with the project, by their names on the command line."""

from collections.abc import Callable

from circuits.task import Task
from circuits.tasks.addition import addition, addition_carry, addition_high_first, unaligned_addition
from circuits.tasks.copying import copy, reverse, shift, unaligned_copy
from circuits.tasks.counter import counter, parity, parity_direct
from circuits.tasks.division import division, division_remainder
from circuits.tasks.growing import log_shift, permutation, scaled_sum
from circuits.tasks.majority import majority_count, majority_direct
from circuits.tasks.multiplication import multiplication, multiplication_nn
from circuits.tasks.selection import select_first, select_last, select_middle
from circuits.tasks.sorting import sort_direct, sort_trace

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
}
