"""What functions PLAA computes (arXiv 2410.08898): their values, their independence, their Fourier expansion."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.plaa.source import source
from theory import plaa
from theory.rational import rank

Numbers = NDArray[Any]

LARGEST_SIZE = 5


def function_class(
    *,
    advice: Callable[[Sequence[int]], int],
    on_all_ones: Callable[[int], int],
    cells: Callable[[int], list[tuple[int, int]]],
    degree: Callable[[int, int, int], int],
) -> Evidence:
    """Decide the values, the independence and the Fourier expansion of the x_i 1[n(x) = j], hence of every f_A."""
    for size in range(1, LARGEST_SIZE + 1):
        inputs = [tuple(map(int, signs)) for signs in product((1, -1), repeat=size)]
        functions = cells(size)
        advised = [advice(signs) if -1 in signs else on_all_ones(size) for signs in inputs]
        values = np.array(
            [
                [signs[key - 1] * (last == query) for signs, last in zip(inputs, advised, strict=True)]
                for key, query in functions
            ]
        )
        for (key, query), row in zip(functions, values, strict=True):
            if row[0] != 0:
                raise Refuted(f"N = {size}: x_{key} 1[n(x) = {query}] is {row[0]} on the all-ones input")
        _require_columns_seen(size, inputs, functions, values)
        _require_library(size, inputs, functions, values)
        spectrum = values @ _characters(inputs)
        for (key, query), row in zip(functions, spectrum, strict=True):
            _require_spectrum(size, inputs, row, key, query)
            largest = max(signs.count(-1) for signs, weight in zip(inputs, row, strict=True) if weight)
            if largest != degree(size, key, query):
                raise Refuted(
                    f"N = {size}: x_{key} 1[n(x) = {query}] has degree {largest}, not {degree(size, key, query)}"
                )
            if plaa.degree(_unit(size, key, query)) != largest:
                raise Refuted(f"N = {size}: E_{key},{query} has degree {largest}, not what `theory.plaa.degree` says")
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"N <= {LARGEST_SIZE}",
        facts=(
            f"every N <= {LARGEST_SIZE}, all {2**LARGEST_SIZE} inputs at the largest: zero on the all-ones input, the "
            "N(N+1)/2 functions x_i 1[n(x) = j] independent, those with j <= N0 already on the training set, where the "
            "others vanish",
            "their Fourier coefficients and degrees, by the transform over all inputs, are those of `theory.plaa`; a "
            "coefficient depends on the two least members of its set alone",
            "f_A is linear in A, so this decides every matrix of these sizes",
        ),
    )


def _require_columns_seen(
    size: int, inputs: Sequence[tuple[int, ...]], functions: Sequence[tuple[int, int]], values: Numbers
) -> None:
    """That on the inputs with n(x) <= N0 the first N0 columns give independent functions, and the others zero."""
    of_column = np.array([query for _, query in functions])
    for scale in range(1, size + 1):
        met = [all(sign == 1 for sign in signs[scale:]) for signs in inputs]
        seen, beyond = values[of_column <= scale][:, met], values[of_column > scale][:, met]
        if beyond.any():
            raise Refuted(f"N = {size}: a column beyond N0 = {scale} does not vanish on the inputs with n(x) <= N0")
        if (independent := rank(seen)) != len(seen):
            raise Refuted(
                f"N = {size}, N0 = {scale}: {len(seen)} cells give {independent} independent functions, so two "
                "matrices have one f_A on the training set"
            )


def _characters(inputs: Sequence[tuple[int, ...]]) -> Numbers:
    """chi_S(x) for every input x in rows; the set S is where the input that names the column is -1."""
    return np.array(
        [
            [int(np.prod([sign for sign, named in zip(signs, names, strict=True) if named == -1])) for names in inputs]
            for signs in inputs
        ]
    )


def _unit(size: int, key: int, query: int) -> Numbers:
    unit = np.zeros((size, size), dtype=np.int64)
    unit[key - 1, query - 1] = 1
    return unit


def _require_library(
    size: int, inputs: Sequence[tuple[int, ...]], functions: Sequence[tuple[int, int]], values: Numbers
) -> None:
    computed = plaa.evaluate(np.array([_unit(size, *cell) for cell in functions]), np.array(inputs))
    if (computed != values).any():
        at, point = np.argwhere(computed != values)[0]
        raise Refuted(
            f"N = {size}: f of E_{functions[at]} at {inputs[point]} is {computed[at, point]}, not {values[at, point]}"
        )


def _require_spectrum(size: int, inputs: Sequence[tuple[int, ...]], spectrum: Numbers, key: int, query: int) -> None:
    table = plaa.fourier(_unit(size, key, query))
    for signs, total in zip(inputs, spectrum, strict=True):
        members = [at for at, sign in enumerate(signs) if sign == -1]
        least = (*members[:2], size, size)[:2]
        if table[least] != Fraction(int(total), 2**size):
            raise Refuted(
                f"N = {size}: E_{key},{query} has coefficient {Fraction(int(total), 2**size)} at the set "
                f"{[member + 1 for member in members]}, not {table[least]}"
            )


CLAIMS = (
    Claim(
        id="plaa-1",
        source=source("PLAA, definition; its Fourier expansion is ours"),
        statement="The functions x_i 1[n(x) = j] of PLAA are independent and 0 on the all-ones input. Inputs with "
        "n(x) <= N0 show the first N0 columns of A only. Their degree is N - j + 1 + [i < j]. "
        "Decided for N <= 5.",
        latex=r"f_A(x)=x^\top A e_{n(x)},\quad \deg x_i\mathbf 1[n(x)=j]=N-j+1+[i<j]",
        label="F",
        check=function_class,
        holds={
            "advice": lambda signs: max(at for at, sign in enumerate(signs, 1) if sign == -1),
            "on_all_ones": lambda size: 0,
            "cells": lambda size: [(i, j) for j in range(1, size + 1) for i in range(1, j + 1)],
            "degree": lambda size, key, query: size - query + 1 + (key < query),
        },
        falsifiers={
            "advice is the first -1": {"advice": lambda signs: signs.index(-1) + 1},
            "the all-ones input is advised N": {"on_all_ones": lambda size: size},
            "full matrices": {"cells": lambda size: [(i, j) for j in range(1, size + 1) for i in range(1, size + 1)]},
            "one degree for the whole column": {"degree": lambda size, key, query: size - query + 2},
        },
    ),
)
