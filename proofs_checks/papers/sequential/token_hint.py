"""Labels without scale hint for a model that reads the token at its query: in which tasks do they exist?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import networkx as nx

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.roles import ScaleHintNeeded, ideal_relation, ideal_relation_by_token
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import Trace
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.theory.relation import Relation

LARGEST, SETTLED = 8, 4
"""Largest scale, and the scale from which on a task that is served needs no new labels or operators."""
SERVED = frozenset({"select-first", "select-middle", "select-last"})
BASES = dict.fromkeys((*SERVED, "copy", "reverse", "shift"), 2) | {"parity": None, "counter": 3}
"""Task -> its base, small enough for all prompts to be tried."""

Build = Callable[[Circuit, Sequence[Trace]], Relation]
"""(circuit, traces) -> its relation without scale hint; raises ScaleHintNeeded if there is none."""


def token_hint(*, build: Build, served: frozenset[str]) -> Evidence:
    """Compare the tasks for which `build` gives a relation with those in which no linked steps disagree.

    Args:
        build: maker of the relation.
        served: tasks, not aligned, that need no scale hint.
    """
    with_labels: set[str] = set()
    for name, base in sorted(BASES.items()):
        analysis = analyse(TaskSpec(name=name, base=base).plain(), "unaligned", LARGEST)
        circuit, traces = analysis.circuit, analysis.traces
        try:
            relation = build(circuit, traces)
        except ScaleHintNeeded as needed:
            if not _disagreeing(circuit, traces):
                raise Refuted(f"{name}: {needed.change}, but no linked steps disagree") from needed
            continue
        if relation.scale_hint or _disagreeing(circuit, traces):
            raise Refuted(f"{name}: a relation without scale hint, although linked steps disagree")
        induced = induced_complexity(circuit, relation, traces, own_token=True)
        grows = any(induced.new_labels[n] or induced.new_operators[n] for n in range(SETTLED, LARGEST + 1))
        if grows or not math.isfinite(induced.with_selection(LARGEST)):
            raise Refuted(f"{name}: {induced.with_selection(LARGEST):g} operators up to scale {LARGEST}, and they grow")
        with_labels.add(name)
    if with_labels != served:
        raise Refuted(f"labels exist for {', '.join(sorted(with_labels)) or 'no task'}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(BASES)} tasks up to scale {LARGEST}",
        facts=(
            f"labels of (i, j) exist, read with the token, for {', '.join(sorted(with_labels))}: no operator or label "
            f"is new from scale {SETTLED} on",
            "a task has them iff no key changes its role between two scales whose tokens at the query are linked, "
            "found step by step",
            "argument for every select task and every n: '=' at query j means n = j - 1 and a digit n = j - 2, so what "
            "a step reads is a function of j and of the class of the token",
        ),
        assumptions=("the circuit is the one that the search gives", "every prompt of each scale"),
    )


def _disagreeing(circuit: Circuit, traces: Sequence[Trace]) -> bool:
    """True if two steps at one query have different roles and tokens that are linked by tokens of one step."""
    links: nx.Graph[int] = nx.Graph()
    at_query: dict[int, list[tuple[int, object]]] = {}
    for trace in traces:
        roles = circuit.roles(trace.scale)
        for step in trace.steps:
            tokens = sorted({*trace.tokens_at(step)[step - 2].tolist()})
            nx.add_path(links, tokens)
            row = {key: role for (key, query), role in roles.items() if query == step - 1}
            at_query.setdefault(step - 1, []).append((tokens[0], row))
    return any(
        row != other_row and nx.has_path(links, token, other)
        for steps in at_query.values()
        for (token, row), (other, other_row) in combinations(steps, 2)
    )


def _largest_scale(circuit: Circuit, traces: Sequence[Trace]) -> Relation:
    """Return the roles of the largest scale, at all scales."""
    largest = max(circuit.wirings)
    return ideal_relation(replace(circuit, wirings={largest: circuit.wirings[largest]}), scale_hint=False)


CLAIMS = (
    Claim(
        id="src-token-hint",
        source=formalised("Definition 7", "the scale hint, and what the query's own token tells"),
        statement="Read with the query's own token, labels of (i, j) without scale hint can name the roles of a task "
        "iff no role changes between two scales whose tokens at the query are linked: tokens that stand at one query "
        "of one scale, and all that share one with those. So selecting the first and the middle symbol needs no hint, "
        "although their roles change with the scale; copy, reverse, shift, parity and counter need one. Decided for 8 "
        "tasks up to scale 8.",
        latex=r"\exists\,\phi(i,j):\ \mathrm{role}_n(i,j)=\phi(i,j)_{c(x_j)}",
        label="F",
        check=token_hint,
        holds={"build": ideal_relation_by_token, "served": SERVED},
        answers=("served",),
        falsifiers={
            "the token is not read": {"build": lambda circuit, traces: ideal_relation(circuit, scale_hint=False)},
            "the labels know the scale": {"build": lambda circuit, traces: ideal_relation(circuit, scale_hint=True)},
            "the roles of the largest scale serve all": {"build": _largest_scale},
        },
    ),
)
