"""Catalogue of the tasks that come with the project, by their names on the command line: those of their functions."""

from collections.abc import Callable

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import addition, copying, counter, growing, instructions, products, sorting
from lengthgen.circuits.tasks.two_scales import TwoScaleTask

TASKS: dict[str, Callable[..., Task]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        copying.copy,
        copying.reverse,
        copying.shift,
        counter.parity,
        counter.parity_direct,
        addition.addition,
        addition.addition_high_first,
        addition.addition_carry,
        products.multiplication,
        products.multiplication_nn,
        products.division,
        products.division_remainder,
        copying.select_first,
        copying.select_middle,
        copying.select_last,
        counter.counter,
        sorting.sort_trace,
        sorting.sort_direct,
        counter.majority_count,
        counter.majority_direct,
        growing.permutation,
        growing.log_shift,
        growing.scaled_sum,
        copying.unaligned_copy,
        addition.unaligned_addition,
        addition.subtraction,
        copying.copy_until_zero,
        counter.parity_sparse,
        counter.parity_online,
        copying.select_any,
        instructions.scan,
        instructions.stack,
    )
}

TWO_SCALE_TASKS: dict[str, Callable[..., TwoScaleTask]] = {"addition-mixed": addition.addition_mixed}
"""Tasks of two scales, by name."""
