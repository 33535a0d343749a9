"""The ideal relation of parity with chain of thought (arXiv 2510.04130): how many labels it has, in which layout."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from circuits.circuit import UNDEFINED, Circuit, Wiring
from circuits.formats import aligned
from circuits.roles import ScaleHintNeeded, ideal_relation
from circuits.src import src, traces_up_to
from circuits.task import Task
from circuits.tasks import load
from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.layout import Key, Slots, cases, slots_of_parity, steps

LARGEST = 6
SEARCHED_FROM = 3
"""The search may read the padding in place of '=' as y_0 where that is as simple, which it is aligned to scale 2."""

BLOCK, ALIGNED = "block", "aligned"


def parity_in(layout: str, largest_scale: int) -> Task:
    """Parity as it is written, or padded."""
    return aligned(load("parity"), largest_scale) if layout == ALIGNED else load("parity")


def searched_circuit(layout: str, largest_scale: int) -> Circuit:
    """The circuit that the search finds at arity 2."""
    task = parity_in(layout, largest_scale)
    circuit = src(task, traces_up_to(task, largest_scale), 2).circuit
    assert circuit is not None, "parity is feasible at arity 2"
    return circuit


def defining_circuit(layout: str, largest_scale: int, slots: Slots = slots_of_parity) -> Circuit:
    """The circuit of src-parity, its operator as far as it is used up to the largest scale."""
    task = parity_in(layout, largest_scale)
    symbols = task.alphabet
    table = np.full(len(symbols) ** 2, UNDEFINED, dtype=np.uint8)
    wirings = {}
    for trace in traces_up_to(task, largest_scale):
        width = trace.prompt_length - 1
        wirings[trace.scale] = tuple(
            Wiring(position=width + 1 + t, arguments=slots(t, width), operator=0) for t in range(1, trace.scale + 2)
        )
        for wiring in wirings[trace.scale]:
            x, y = (trace.tokens[argument - 1].astype(np.int64) for argument in wiring.arguments)
            table[x * len(symbols) + y] = trace.tokens[wiring.position - 1]
    return Circuit(task=task, arity=2, wirings=wirings, operators=(table,))


def ideal_labels(*, slots: Slots, labels: int, smallest: int, scale_hint: Mapping[str, bool]) -> Evidence:
    """Decide how many labels the ideal relation has at every largest scale from `smallest` on."""
    for layout, hint in scale_hint.items():
        for largest in range(smallest, LARGEST + 1):
            circuits = [defining_circuit(layout, largest, slots)]
            if largest >= SEARCHED_FROM:
                circuits.append(searched_circuit(layout, largest))
            for circuit in circuits:
                try:
                    found = count_labels(circuit, scale_hint=hint)
                except ScaleHintNeeded as needed:
                    raise Refuted(f"{layout}, scales 1..{largest}: {needed}") from needed
                if found != labels:
                    raise Refuted(f"{layout}, scales 1..{largest}: {found} labels, not {labels}")
        _require_labels_at_every_scale(labels, slots, smallest, padded=layout == ALIGNED)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            "every n and t: the two slots are different positions, so no key has two roles; each slot alone changes "
            "what is written, so both have one; from t = 2 on no slot is x_1, so some pairs are irrelevant",
            f"the circuits found by search up to N = {SEARCHED_FROM}..{LARGEST} have as many labels",
            "up to scale 1 alone it is two: y_0 is always '=', so slot 2 decides nothing",
        ),
        assumptions=("the circuit of src-parity; other circuits of one operator may read other positions",),
    )


def count_labels(circuit: Circuit, *, scale_hint: bool) -> int:
    """How many labels pairs of a key and a query no earlier have."""
    relation = ideal_relation(circuit, scale_hint=scale_hint)
    found: set[int] = set()
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        found |= set(relation.labels(length, scale)[np.triu_indices(length)].tolist())
    return len(found)


def _require_labels_at_every_scale(labels: int, slots: Slots, smallest: int, *, padded: bool) -> None:
    """That the irrelevant pairs and the slots that matter make so many labels."""
    met: dict[Key, str] = {}
    irrelevant = False
    for step in steps(aligned=padded):
        if smallest == 1 and step.name == "later":
            continue
        met |= dict(cases(step, slots))
        positions = slots(step.t, step.w)
        distances = [(second - first).expand() for first, second in combinations(positions, 2)]
        if not all(distance.is_positive or distance.is_negative for distance in distances):
            raise Refuted(f"{step.name} step: one key may fill two slots of {positions}")
        irrelevant |= all((position - 1).expand().is_positive for position in positions)
    found = int(irrelevant) + len(essential_slots(met))
    if found != labels:
        raise Refuted(f"the defining circuit: {found} labels, not {labels}")


def essential_slots(table: Mapping[Key, str]) -> Sequence[int]:
    """Slots (from 0) that change the value while the others stay."""
    pairs = list(combinations(table, 2))
    differ = [[slot for slot, both in enumerate(zip(*pair, strict=True)) if len(set(both)) > 1] for pair in pairs]
    alone = {slots[0] for slots, (a, b) in zip(differ, pairs, strict=True) if len(slots) == 1 and table[a] != table[b]}
    return sorted(alone)


CLAIMS = (
    Claim(
        id="src-roles",
        source=source("Figure 1", "the labels of the ideal encoding in parity with chain of thought"),
        statement="The ideal relation of parity with chain of thought has three labels (irrelevant, slot 1, slot 2) at "
        "every largest scale from 2 on: aligned without scale hint, unaligned with it.",
        latex=r"|\varphi_{\mathrm{IPE}}(\text{pairs})|=3\quad\forall N\ge 2",
        label="F",
        check=ideal_labels,
        holds={"slots": slots_of_parity, "labels": 3, "smallest": 2, "scale_hint": {ALIGNED: False, BLOCK: True}},
        answers=("labels",),
        falsifiers={
            "one slot, read twice": {"slots": lambda t, w: (w + t, w + t)},
            "from scale 1 on": {"smallest": 1},
            "unaligned without scale hint": {"scale_hint": {ALIGNED: False, BLOCK: False}},
        },
    ),
)
