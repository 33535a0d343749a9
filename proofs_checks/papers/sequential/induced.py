"""How many operators an encoding induces in parity with chain of thought (arXiv 2510.04130, Fig. 1), by layout."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import sympy as sp

from circuits.induced import induced_complexity
from circuits.roles import ideal_relation
from circuits.src import traces_up_to
from proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.layout import Slots, slots_of_parity
from proofs_checks.papers.sequential.roles import ALIGNED, BLOCK, parity_in, searched_circuit
from theory import relation

Count = Callable[[Any], Any]
"""N -> operators induced up to scale N."""

SEARCHED = 7

IDEAL, RELATIVE, ABSOLUTE = "ideal", "relative", "absolute"


def induced_counts(*, layout: str, slots: Slots, counts: Mapping[str, Count]) -> Evidence:
    """Decide the number of operators that each encoding induces up to N, for every N."""
    circuit = searched_circuit(layout, SEARCHED)
    traces = traces_up_to(parity_in(layout, SEARCHED), SEARCHED)
    relations = {
        IDEAL: ideal_relation(circuit, scale_hint=layout == BLOCK),
        RELATIVE: relation.relative(),
        ABSOLUTE: relation.absolute(),
    }
    size = sp.Symbol("N", integer=True, positive=True)
    proved = []
    for encoding, count in counts.items():
        for scale, found in induced_complexity(circuit, relations[encoding], traces).complexity.items():
            if found != count(sp.Integer(scale)):
                raise Refuted(f"{layout}: {encoding} induces {found:g} operators up to {scale}, not {count(scale)}")
        general = signature_count(encoding, layout, size, slots)
        if sp.expand(general - count(size)) != 0:
            raise Refuted(f"{layout}: {encoding} induces {general} operators up to N, not {count(size)}")
        proved.append(f"{encoding} {sp.factor(general)}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"{layout}, scales 1..N pooled, every N: {'; '.join(proved)}",
            "argument: each encoding labels the two slots differently and no other key like them, so a view is a key, "
            "all steps of one label set share xor, and the label sets are counted by the rank of their map from (n, t)",
            f"the same numbers are computed from a circuit found by search, N = 1..{SEARCHED}",
        ),
        assumptions=("the layout ends with '$', which is a step as well",),
    )


def signature_count(encoding: str, layout: str, size: Any, slots: Slots = slots_of_parity) -> Any:
    """How many pairs of labels the slots have over all steps t = 1 .. n + 1 of all scales n = 1 .. N."""
    n, t, width = sp.symbols("n t w", positive=True)
    w = width if layout == ALIGNED else n
    labels = []
    for slot, position in enumerate(slots(t, w), start=1):
        label = {IDEAL: sp.Integer(slot), RELATIVE: w + t - position, ABSOLUTE: position}[encoding]
        labels.append(sp.expand(label))
    if not all((later - first).expand().is_nonzero for first, later in pairwise(labels)):
        raise Refuted(f"{layout}: {encoding} gives both slots the labels {labels}")
    rates = sp.Matrix([[sp.diff(label, variable) for variable in (n, t)] for label in labels])
    by_scale, by_step = (any(rates[:, column]) for column in (0, 1))
    if by_scale and by_step:
        if rates.rank() < 2:
            raise ValueError(f"the labels {labels} do not tell n and t apart")
        index = sp.Symbol("index", integer=True, positive=True)
        return sp.expand(sp.summation(index + 1, (index, 1, size)))
    return size if by_scale else size + 1 if by_step else sp.Integer(1)


_ALIGNED_COUNTS: Mapping[str, Count] = {IDEAL: lambda N: 1, RELATIVE: lambda N: 1, ABSOLUTE: lambda N: N + 1}
_BLOCK_COUNTS: Mapping[str, Count] = {
    IDEAL: lambda N: 1,
    RELATIVE: lambda N: N,
    ABSOLUTE: lambda N: sp.Integer(1) * N * (N + 3) / 2,
}


def _with(counts: Mapping[str, Count], **changes: Count) -> Parameters:
    return {"counts": {**counts, **changes}}


CLAIMS = (
    Claim(
        id="src-induced-aligned",
        source=source("Figure 1", "operators induced on scale-aligned data"),
        statement="On scale-aligned parity with chain of thought, the ideal and the relative encoding induce one "
        "operator up to every N, the absolute one for each step of scale N: N + 1, with the one that writes '$'.",
        latex=r"\mathrm{SRC}_{\mathrm{IPE}}=\mathrm{SRC}_{\mathrm{rel}}=1,\ \mathrm{SRC}_{\mathrm{abs}}=N+1",
        label="P",
        check=induced_counts,
        holds={"layout": ALIGNED, "slots": slots_of_parity, "counts": _ALIGNED_COUNTS},
        answers=("counts",),
        falsifiers={
            "the same without alignment": {"layout": BLOCK},
            "every second place of the output read": {"slots": lambda t, w: (w + 2 * t, w + 2 * t + 1)},
        },
    ),
    Claim(
        id="src-induced-block",
        source=source("Figure 1", "operators induced without alignment; to leave the layout out is our reading"),
        statement="Without alignment and with scales 1..N pooled, the ideal encoding with scale hint induces one "
        "operator, the relative N, the absolute N(N+3)/2: one for each step of each scale.",
        latex=r"\mathrm{SRC}_{\mathrm{IPE}}=1,\ \mathrm{SRC}_{\mathrm{rel}}=N,\ \mathrm{SRC}_{\mathrm{abs}}=N(N+3)/2",
        label="F",
        check=induced_counts,
        holds={"layout": BLOCK, "slots": slots_of_parity, "counts": _BLOCK_COUNTS},
        answers=("counts",),
        printed=_with(_BLOCK_COUNTS, relative=lambda N: 1),
        falsifiers={
            "the same aligned": {"layout": ALIGNED},
            "every second place of the output read": {"slots": lambda t, w: (w + 2 * t, w + 2 * t + 1)},
        },
    ),
)
