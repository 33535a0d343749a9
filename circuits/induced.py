"""Complexity that a position encoding induces on a circuit.

At a step, an encoding distinguishes keys only by their labels. The encoding can compute there any function of its
view: for every label of a relevant key, the tokens of all keys with that label. Two steps share an operator iff the
labels of their relevant keys agree and one function from views to tokens serves both; the number of operators is
SRC_phi ([F], docs/theory/circuits.md, after arXiv 2510.04130, Fig. 1). If a view does not determine the token, the
encoding cannot compute the step, whatever the operators: the complexity is then infinite.

SRC_phi assumes that each step is told which operator to use. A model that reads the relation alone is told nothing: it
must select the operator by the view. If two steps with equal views need different tokens, it cannot, and SRC_phi with
selection is infinite ([F]). Otherwise all steps whose relevant keys have the same labels share one operator, and
SRC_phi with selection is SRC_phi.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.partition import fewest_operators
from lengthgen.circuits.tables import as_table, distinct, keys_of
from lengthgen.circuits.task import Tokens
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.brief import Brief, by_scale
from lengthgen.theory.relation import Relation

Signature = tuple[int, ...]
"""Labels of a step's relevant keys, ascending."""
MOST_STEPS = 2_000_000_000
"""Steps counted for the search of the fewest operators of one signature: some seconds."""


@dataclass(frozen=True, kw_only=True)
class _Views:
    """Views at one step and the token of each.

    Attributes:
        counts: number of keys of each label of the signature.
        codes: distinct views, ascending, each as one value; views of other counts may have equal codes.
        tokens: uint8 [views].
    """

    counts: tuple[int, ...]
    codes: NDArray[Any]
    tokens: NDArray[np.uint8]


@dataclass(kw_only=True)
class _Table:
    """Operator as a map from views to tokens, extended while steps are served."""

    parts: dict[tuple[int, ...], _Views] = field(default_factory=dict)

    def missing(self, views: _Views) -> NDArray[np.bool_] | None:
        """Return a mask of views without a token in the operator.

        None if the operator has another token for some view.
        """
        part = self.parts.get(views.counts)
        if part is None:
            return np.ones(len(views.codes), dtype=np.bool_)
        index = np.searchsorted(part.codes, views.codes)
        index[index == len(part.codes)] = 0
        present = part.codes[index] == views.codes
        return None if (part.tokens[index] != views.tokens)[present].any() else ~present

    def give(self, views: _Views, missing: NDArray[np.bool_]) -> None:
        """Extend the operator by the views for which it has no token."""
        part = self.parts.get(views.counts)
        if part is None:
            self.parts[views.counts] = views
        elif missing.any():
            codes = np.concatenate([part.codes, views.codes[missing]])
            tokens = np.concatenate([part.tokens, views.tokens[missing]])
            order = np.argsort(codes, kind="stable")
            self.parts[views.counts] = _Views(counts=views.counts, codes=codes[order], tokens=tokens[order])


class Step(NamedTuple):
    """Step of a circuit: scale, and the position of the token that it computes, from 1."""

    scale: int
    position: int


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """Step with what an encoding shows there.

    Attributes:
        step: the step.
        trace: trace of its scale.
        labels: labels of all keys up to the query, the last of which is the query's own.
        signature: labels of its relevant keys.
    """

    step: Step
    trace: Trace
    labels: NDArray[np.int64]
    signature: Signature


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Two steps with an equal view that need different tokens, so that the view cannot select the operator.

    Attributes:
        first: earlier step, in the order of the traces.
        second: first step that conflicts with an earlier one.
    """

    first: Step
    second: Step

    def __str__(self) -> str:
        """Return a clause that names both steps."""
        (scale, position), (other_scale, other_position) = self.second, self.first
        return (
            f"position {position} of scale {scale} and position {other_position} of scale {other_scale} show equal "
            "views and need different tokens"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Induced(Brief):
    """Operators that one relation induces in one circuit, scale by scale.

    Attributes:
        complexity: scale n -> SRC_phi up to n; math.inf from the first step that cannot be computed.
        new_labels: scale -> labels of relevant keys that first occur there.
        new_operators: scale -> number of operators first needed there; steps after the first that cannot be computed do
            not count, for entries neither.
        new_entries: scale -> number of entries first needed there in operators that served a step before.
        conflict: the first step whose operator the view cannot select, with an earlier step of an equal view; None if
            the views select every operator, or if the complexity is infinite before.
    """

    complexity: dict[int, float]
    new_labels: dict[int, frozenset[int]]
    new_operators: dict[int, int]
    new_entries: dict[int, int]
    conflict: Conflict | None

    def with_selection(self, scale: int) -> float:
        """Return SRC_phi with selection up to a scale: infinite from the step on whose operator no view selects."""
        scales = [*self.complexity]
        selectable = self.conflict is None or scales.index(scale) < scales.index(self.conflict.second.scale)
        return self.complexity[scale] if selectable else math.inf

    def _brief(self) -> str:
        conflict = f"; {self.conflict}" if self.conflict else ""
        return f"induced complexity {by_scale(self.complexity)}{conflict}"


@dataclass(frozen=True, kw_only=True)
class AtScale:
    """Operators that a relation induces up to one scale, and what is new there; attributes are as in `Induced`."""

    scale: int
    complexity: float
    new_labels: frozenset[int]
    new_operators: int
    new_entries: int
    conflict: Conflict | None


def induced_complexity(
    circuit: Circuit, relation: Relation, traces: Sequence[Trace], *, own_token: bool = False
) -> Induced:
    """Return SRC_phi of the circuit over all traces; arguments and errors are those of `induced_by_scale`."""
    scales = [*induced_by_scale(circuit, relation, traces, own_token=own_token)]
    return Induced(
        complexity={each.scale: each.complexity for each in scales},
        new_labels={each.scale: each.new_labels for each in scales},
        new_operators={each.scale: each.new_operators for each in scales},
        new_entries={each.scale: each.new_entries for each in scales},
        conflict=scales[-1].conflict if scales else None,
    )


def induced_by_scale(
    circuit: Circuit, relation: Relation, traces: Iterable[Trace], *, own_token: bool = False
) -> Iterator[AtScale]:
    """Yield SRC_phi of the circuit, growing with the traces in the order given: each scale includes all before it.

    Where some steps of a signature cannot share an operator, the fewest are searched for, anew at each scale; the
    number is an upper bound where that search ends at MOST_STEPS. Several choices of the fewest can differ in what is
    new: new entries are those of one choice, in which earlier steps show all that they can of each operator.

    Args:
        circuit: circuit of the task, at the scales of the traces.
        relation: relation by which the encoding distinguishes keys.
        traces: traces of the scales.
        own_token: True if every view also shows the query's own token, whatever its label ([F]; a model has it in its
            residual stream).

    Raises:
        ValueError: the relation gives no label to some pair that occurs.
    """
    tables: dict[Signature, _Table] = {}  # of the signatures with one operator
    operators: dict[Signature, int] = {}
    known_labels: set[int] = set()
    conflict: Conflict | None = None
    impossible: Step | None = None
    met: list[_Shown] = []
    for trace in traces:
        entries_of: dict[Signature, int] = {}
        before = sum(operators.values())
        of_scale = [*_steps(circuit, relation, trace)]
        met += of_scale
        for shown in of_scale if impossible is None else ():
            step, signature = shown.step, shown.signature
            views = _views(shown, own_token=own_token)
            if views is None:
                impossible = step
                break
            entries_of.setdefault(signature, 0)
            if operators.setdefault(signature, 1) > 1:
                continue
            table = tables.setdefault(signature, _Table(parts={views.counts: views}))
            missing = table.missing(views)
            if missing is None:
                operators[signature] = 2  # or more, as is counted below
                if conflict is None:
                    other, earlier = _Table(parts={views.counts: views}), _of_signature(met, signature, step, own_token)
                    first = next(each for each, its_views in earlier if other.missing(its_views) is None)
                    conflict = Conflict(first=first, second=step)
            else:
                table.give(views, missing)
                entries_of[signature] += int(missing.sum())
        for signature in entries_of:
            if operators[signature] > 1:
                steps = [*_of_signature(met, signature, impossible, own_token)]
                operators[signature], entries_of[signature] = _fewest(steps, trace.scale, trace.symbols)
        scale_labels = frozenset(label for shown in of_scale for label in shown.signature)
        count = sum(operators.values())
        yield AtScale(
            scale=trace.scale,
            complexity=count if impossible is None else math.inf,
            new_labels=scale_labels - known_labels,
            new_operators=max(0, count - before),
            new_entries=sum(entries_of.values()),
            conflict=conflict,
        )
        known_labels |= scale_labels


def decides(trace: Trace, position: int, labels: NDArray[np.int64], signature: Signature) -> bool:
    """True if the view of some labels decides the step at a position.

    Args:
        trace: trace of the scale.
        position: position of the token that the step computes.
        labels: labels of all keys up to the query, int64 [position - 1].
        signature: labels that the view shows.
    """
    shown = _Shown(step=Step(trace.scale, position), trace=trace, labels=labels, signature=signature)
    return _views(shown, own_token=False) is not None


def _steps(circuit: Circuit, relation: Relation, trace: Trace) -> Iterator[_Shown]:
    """Yield every step of a scale with what the relation shows there."""
    labels = relation.labels(trace.length, trace.scale)
    relevant: dict[int, list[int]] = {}
    for key, query in circuit.roles(trace.scale):
        relevant.setdefault(query, []).append(key - 1)
    for query in (wiring.position - 1 for wiring in circuit.wirings[trace.scale]):
        key_labels = labels[:query, query - 1]
        signature = tuple(np.unique(key_labels[relevant.get(query, [])]).tolist())
        yield _Shown(step=Step(trace.scale, query + 1), trace=trace, labels=key_labels, signature=signature)


def _of_signature(
    met: Sequence[_Shown], signature: Signature, end: Step | None, own_token: bool
) -> Iterator[tuple[Step, _Views]]:
    """Yield the steps of a signature with their views, those before `end`, all of which can be computed.

    Views of earlier steps are computed again, since keeping all would multiply the memory of every circuit.
    """
    for shown in met:
        if shown.step == end:
            return
        if shown.signature == signature:
            views = _views(shown, own_token=own_token)
            assert views is not None
            yield shown.step, views


def _fewest(steps: Sequence[tuple[Step, _Views]], scale: int, symbols: int) -> tuple[int, int]:
    """Return the number of operators for steps of one signature, and of their entries that first occur at the scale.

    Of an operator that serves no earlier step, those of its first step do not count.
    """
    of_counts: dict[tuple[int, ...], list[NDArray[Any]]] = {}
    for _, views in steps:
        of_counts.setdefault(views.counts, []).append(views.codes)
    codes = {counts: np.unique(np.concatenate(parts)) for counts, parts in of_counts.items()}
    ends = dict(zip(codes, np.cumsum([len(part) for part in codes.values()]).tolist(), strict=True))

    def numbered(views: _Views) -> int:
        """Table of a step's views, numbered over all steps."""
        seen_codes = codes[views.counts]
        places = ends[views.counts] - len(seen_codes) + np.searchsorted(seen_codes, views.codes)
        return as_table(places * symbols + views.tokens)

    tables = [(step.scale, numbered(views)) for step, views in steps]
    partition = fewest_operators([frozenset({table}) for _, table in tables], symbols, Clock(steps=MOST_STEPS))
    shown = dict.fromkeys(partition.operators, 0)
    for table in sorted({table for step_scale, table in tables if step_scale != scale}, key=int.bit_count):
        serving = [operator for operator in shown if operator & table == table]
        shown[max(serving, key=lambda operator: (table & ~shown[operator]).bit_count())] |= table
    for _, table in tables:
        operator = next(operator for operator in shown if operator & table == table)
        shown[operator] = shown[operator] or table
    new = sum((operator & ~before).bit_count() for operator, before in shown.items())
    return len(partition.operators), new


def _views(shown: _Shown, *, own_token: bool) -> _Views | None:
    """Return the views at one step over all inputs; None if a view does not decide the token.

    Keys with one label are indistinguishable, so their part of the view is their tokens in sorted order.
    """
    trace, labels = shown.trace, shown.labels
    inputs = trace.tokens_at(len(labels) + 1)
    parts = [np.sort(inputs[np.flatnonzero(labels == label)], axis=0) for label in shown.signature]
    parts += [inputs[len(labels) - 1][None]] if own_token else []
    views, tokens = _distinct_columns(np.concatenate([*parts, inputs[len(labels)][None]]), trace.symbols)
    if (views[1:] == views[:-1]).any():
        return None
    return _Views(counts=tuple(len(part) for part in parts), codes=views, tokens=tokens)


def _distinct_columns(rows: Tokens, symbols: int) -> tuple[NDArray[Any], Tokens]:
    """Return the distinct columns of uint8 [rows, inputs] in order.

    The first result holds all rows but the last, each column as one value; the second holds the last row.
    """
    if symbols ** len(rows) <= np.iinfo(np.int64).max:
        codes, tokens = np.divmod(distinct(keys_of(rows, symbols), symbols ** len(rows)), symbols)
        return codes, tokens.astype(np.uint8)
    packed = np.unique(np.ascontiguousarray(rows.T).view(f"S{len(rows)}").reshape(-1))
    columns = packed.view(np.uint8).reshape(-1, len(rows))
    return np.ascontiguousarray(columns[:, :-1]).view(f"S{len(rows) - 1}").reshape(-1), columns[:, -1]
