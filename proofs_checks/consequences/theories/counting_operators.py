"""Operators that read counts, the smallest amendment of the SRC rule: what they can and cannot compute."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import sympy as sp

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import trace
from lengthgen.empirical.studies.theories.counts import samples_of
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.pola import SOURCE

_PLACE = "the amendment by operators that read counts is ours"
DEPTH, OUTPUT = sp.symbols("x k", integer=True)
"""Depth x of a prefix (opening brackets less closing ones), and the depth k that an output names."""


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-counts-depth",
    _PLACE,
    r"\arg\max_k \left(k x - k^2/2\right) = x",
    falsifiers={
        "the square without the half": {"value": OUTPUT * DEPTH - OUTPUT**2},
        "no constant": {"value": OUTPUT * DEPTH},
        "the square of the distance, not affine": {"value": -((OUTPUT - DEPTH) ** 2)},
    },
)
def is_largest(value: sp.Expr = OUTPUT * DEPTH - OUTPUT**2 / 2) -> Facts:
    """For brackets of one kind, the depth x is the k for which k x - k^2/2 is largest, and for each k this is affine in
    the counts of opening and closing brackets.
    """
    refute(sp.degree(sp.Poly(value, DEPTH)) > 1, f"{value} is not affine in the counts")
    lead = sp.factor(value.subs(OUTPUT, DEPTH) - value)
    gap = sp.Poly(sp.expand(lead.subs(OUTPUT, DEPTH + OUTPUT)), OUTPUT)
    if gap.coeff_monomial(1) != 0 or gap.coeff_monomial(OUTPUT) != 0 or not gap.coeff_monomial(OUTPUT**2) > 0:
        raise Refuted(
            f"the lead of the right output over one that is k away is {gap.as_expr()}, not positive for k != 0"
        )
    yield f"lead of depth x over depth k: {lead}"


@CLAIMS.claim(
    "src-counts-parity",
    _PLACE,
    r"d(0) < 0,\ d(1) > 0,\ d(2) < 0 \text{ for no affine } d",
    falsifiers={
        "majority of three": {"outputs": {0: 0, 1: 0, 2: 1}},
        "equal multipliers": {"multipliers": {0: 1, 1: 1, 2: 1}},
        "no multipliers": {"multipliers": {0: 0, 1: 0, 2: 0}},
        "negative multipliers": {"outputs": {0: 0, 1: 0, 2: 0}, "multipliers": {0: 1, 1: -2, 2: 1}},
    },
)
def have_no_functions(
    outputs: Mapping[int, int] = {0: 0, 1: 1, 2: 0}, multipliers: Mapping[int, int] = {0: 1, 1: 2, 2: 1}
) -> Facts:
    """Parity at once is not the larger of two functions that are affine in the number of ones, whatever other tokens
    there are: already 0, 1 and 2 ones contradict it.
    """
    signed = {count: (1 if outputs[count] else -1) * factor for count, factor in multipliers.items()}
    if min(multipliers.values()) < 0 or not any(multipliers.values()):
        raise Refuted("multipliers must be non-negative, and one of them positive")
    sums = sum(signed.values()), sum(count * factor for count, factor in signed.items())
    refute(sums != (0, 0), f"the sum of the multiplied (1, count) is {sums}, not (0, 0)")
    yield f"multipliers of the counts {[*multipliers]}: {[*multipliers.values()]}"


@CLAIMS.claim(
    "src-counts-order",
    _PLACE,
    r"\text{counts}(p) = \text{counts}(p'),\ p_{|p|} = p'_{|p'|},\ y(p) \neq y(p')",
    strength=Strength.EXHAUSTIVE,
    falsifiers={
        "majority": {"build": partial(load, "majority-direct")},
        "one digit, which has no order": {"scales": (1,)},
    },
)
def confuses(build: Callable[[], Task] = partial(load, "reverse"), scales: Sequence[int] = (1, 2)) -> Facts:
    """Reversing is no function of the counts of tokens and the last token: two prompts, each with its outputs so far,
    agree in both and have different next outputs, among scales up to 2.
    """
    task = build()
    samples = samples_of(tuple(trace(task, scale) for scale in scales), 1)
    read = np.column_stack([samples.windows, samples.counts])
    values, counts = np.unique(read, axis=0, return_counts=True)
    if counts.max() == 1:
        raise Refuted(f"{task.name}: the counts and the last token tell the output at scales up to {scales[-1]}")
    yield f"{int((counts > 1).sum())} of {len(values)} contents that are read have two outputs"
    yield Reach(f"scales up to {scales[-1]}")
