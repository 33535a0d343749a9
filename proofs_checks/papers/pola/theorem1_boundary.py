"""Where Theorem 1 of arXiv 2510.04130 ends: an encoding of real values, chosen after the target."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from math import lcm
from typing import Any

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.cases import SCALE, TRAINING_SCALES, shown
from proofs_checks.papers.pola.source import source
from theory.dimension import cell_count

Cells = tuple[Any, ...]

_FIELD = sp.QQ.algebraic_field(sp.sqrt(2))


def real_labels_after_the_target(
    *, labels: Callable[[Cells], Cells], works: Callable[[Cells, Cells], bool]
) -> Evidence:
    """Decide, over an alphabet with an irrational number: A = slope * phi, the slope learned, is right where stated."""
    zero, facts = _FIELD(0), []
    alphabet = (zero, _FIELD(1), _FIELD.from_sympy(sp.sqrt(2)))
    for training_scale in TRAINING_SCALES:
        shows = shown(training_scale)
        reached: Counter[Cells] = Counter()
        for target in product(alphabet, repeat=cell_count(SCALE)):
            phi = labels(target)
            seen = [(x, y) for x, y, show in zip(phi, target, shows, strict=True) if show]
            weight = sum((x * x for x, _ in seen), zero)
            slope = sum((x * y for x, y in seen), zero) / weight if weight else zero
            block = tuple(y for _, y in seen)
            right = all(slope * x == y for x, y in zip(phi, target, strict=True))
            if right != works(block, target):
                shape, marks = ([str(_real(entry)) for entry in cells] for cells in (target, phi))
                raise Refuted(
                    f"N0 = {training_scale}, A = [{', '.join(shape)}], phi = [{', '.join(marks)}]: the slope learned "
                    f"is {_real(slope)}, which {'generalizes' if right else 'does not generalize'}"
                )
            reached[block] += right
        most = max(reached.values())
        facts.append(
            f"N0 = {training_scale}, N = {SCALE}, entries in {{0, 1, sqrt 2}}: the one rule phi := A reaches {most} "
            f"targets with each block that is not zero, where one relation fixed before reaches 1; of the "
            f"{most} with the block zero it reaches {reached[(zero,) * int(shows.sum())]}"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="N = 3",
        facts=(
            *facts,
            "argument for every N and A: the slope is (sum A^2)/(sum A^2) = 1 over T_N0 unless B0 = 0, where it stays "
            "0 and only A = 0 is right; so all of F_M but a null set is reached, and all of F_{M,B0} if B0 != 0",
            "neither half alone does it: countably many real-valued phi fixed before the target fall under pola-1a, "
            "and labels chosen after it from a countable set reach a countable part of each F_{M,B0}",
            "integer labels with a slope do reach, if B0 != 0, the targets whose entries are whole multiples of one "
            "number: a dense but countable part, so an irrational ratio is what refutes them",
        ),
        assumptions=("A_ij = s phi(i,j) with one slope s, least squares from s = 0",),
    )


@cache
def _real(element: Any) -> sp.Expr:
    return _FIELD.to_sympy(element)


def _the_target(target: Cells) -> Cells:
    return target


def _all_ones(target: Cells) -> Cells:
    return tuple(_FIELD(1) for _ in target)


def _level_numbers(target: Cells) -> Cells:
    numbers = {_FIELD(0): 0}
    return tuple(_FIELD(numbers.setdefault(entry, len(numbers))) for entry in target)


def _whole_multiples(target: Cells) -> Cells:
    """Integers in the ratio of the entries, where they have one; otherwise the entries rounded."""
    unit = next((entry for entry in target if entry), _FIELD(1))
    ratios = [_real(entry / unit) for entry in target]
    if all(ratio.is_Rational for ratio in ratios):
        scale = lcm(*(int(ratio.q) for ratio in ratios))
        return tuple(_FIELD(int(ratio * scale)) for ratio in ratios)
    return tuple(_FIELD(round(_real(entry))) for entry in target)


CLAIMS = (
    Claim(
        id="pola-1-boundary",
        source=source("Theorem 1", "its boundary"),
        statement="If the encoding may take real values and be chosen after the target, Theorem 1 is false: phi := "
        "A with one learned slope generalizes on every A whose leading block is not zero, and on A = 0. "
        "Targets are tried for N = 3; an argument does the rest.",
        latex=r"\varphi := A:\ (N_0,N)\text{-LG on }A \iff A_{[N_0],[N_0]} \ne 0 \text{ or } A = 0",
        label="F",
        check=real_labels_after_the_target,
        holds={"labels": _the_target, "works": lambda block, target: any(block) or not any(target)},
        falsifiers={
            "integer labels in the ratio of the entries": {"labels": _whole_multiples},
            "level sets as integer labels": {"labels": _level_numbers},
            "real labels fixed before the target": {"labels": _all_ones},
            "a zero block too": {"works": lambda block, target: True},
            "the zero target not": {"works": lambda block, target: any(block)},
        },
    ),
)
