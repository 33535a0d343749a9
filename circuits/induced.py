"""The complexity that a position encoding induces on a circuit.

At a step, an encoding tells keys apart only by their labels. What it can compute there is a function of its view: for
every label that a relevant key has, the tokens of all keys with that label. Two steps share an operator iff the
labels of their relevant keys agree and one function from views to tokens serves both; the number of operators is
SRC_phi ([F], docs/theory.md, after arXiv 2510.04130, Fig. 1). A view that does not determine the token
makes the encoding unable to compute the step, whatever the operators: the complexity is then infinite.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from circuits.roles import step_roles
from circuits.task import Tokens
from circuits.trace import Trace
from circuits.wirings import distinct, keys_of
from theory.relation import Relation

Signature = tuple[int, ...]
"""The labels of a step's relevant keys, ascending."""


@dataclass(frozen=True, kw_only=True)
class _Views:
    """The views at one step and the token that each decides.

    Attributes:
        counts: how many keys each label of the signature has.
        codes: the different views, ascending, each as one value; views of other counts may have the same.
        tokens: uint8 [views].
    """

    counts: tuple[int, ...]
    codes: NDArray[Any]
    tokens: NDArray[np.uint8]


@dataclass(kw_only=True)
class _Table:
    """One operator: a map from views to tokens, extended as steps are met."""

    parts: dict[tuple[int, ...], _Views] = field(default_factory=dict)

    def missing(self, views: _Views) -> NDArray[np.bool_] | None:
        """Views for which the operator has no token yet; None where it has another token for some view."""
        part = self.parts.get(views.counts)
        if part is None:
            return np.ones(len(views.codes), dtype=np.bool_)
        at = np.searchsorted(part.codes, views.codes)
        at[at == len(part.codes)] = 0
        known = part.codes[at] == views.codes
        return None if (part.tokens[at] != views.tokens)[known].any() else ~known

    def give(self, views: _Views, missing: NDArray[np.bool_]) -> None:
        """Extends the operator by the views that it has no token for."""
        part = self.parts.get(views.counts)
        if part is None:
            self.parts[views.counts] = views
        elif missing.any():
            codes = np.concatenate([part.codes, views.codes[missing]])
            tokens = np.concatenate([part.tokens, views.tokens[missing]])
            order = np.argsort(codes, kind="stable")
            self.parts[views.counts] = _Views(counts=views.counts, codes=codes[order], tokens=tokens[order])


@dataclass(frozen=True, kw_only=True)
class Induced:
    """Operators that one relation induces in one circuit, scale by scale.

    Attributes:
        complexity: scale n -> SRC_phi up to n; math.inf from the first step that cannot be computed.
        new_labels: scale -> labels of relevant keys first met there.
        new_operators: scale -> operators first needed there.
        new_entries: scale -> entries first needed there of operators that were there before.
    """

    complexity: dict[int, float]
    new_labels: dict[int, frozenset[int]]
    new_operators: dict[int, int]
    new_entries: dict[int, int]


def induced_complexity(circuit: Circuit, relation: Relation, traces: Sequence[Trace]) -> Induced:
    """SRC_phi of the circuit given, growing with the traces in the order given: a scale counts all before it.

    Steps are served in order, each by the first operator of its signature that fits. Over complete tables this is
    the fewest; over partial ones it is an upper bound.

    Raises:
        ValueError: the relation gives no label to some pair that occurs.
    """
    operators: dict[Signature, list[_Table]] = {}
    known: set[int] = set()
    complexity: dict[int, float] = {}
    new_labels: dict[int, frozenset[int]] = {}
    new_operators: dict[int, int] = {}
    new_entries: dict[int, int] = {}
    total: float = 0
    for one in traces:
        labels = relation.labels(one.length, one.scale)
        relevant: dict[int, list[int]] = {}
        for key, query in step_roles(circuit, one.scale):
            relevant.setdefault(query, []).append(key - 1)
        met: set[int] = set()
        added = entries = 0
        for query in (wiring.position - 1 for wiring in circuit.wirings[one.scale]):
            seen = labels[:query, query - 1]
            signature = tuple(np.unique(seen[relevant.get(query, [])]).tolist())
            met.update(signature)
            if math.isinf(total):
                continue
            views = _views(one, seen, signature)
            if views is None:
                total = math.inf
                continue
            fresh = _serve(operators.setdefault(signature, []), views)
            added += fresh is None
            entries += fresh or 0
        total += added
        complexity[one.scale] = total
        new_labels[one.scale] = frozenset(met - known)
        new_operators[one.scale] = added
        new_entries[one.scale] = entries
        known |= met
    return Induced(complexity=complexity, new_labels=new_labels, new_operators=new_operators, new_entries=new_entries)


def _serve(tables: list[_Table], views: _Views) -> int | None:
    """Has a step served by the first operator that can; returns its new entries, None where it is a new operator."""
    for table in tables:
        missing = table.missing(views)
        if missing is not None:
            table.give(views, missing)
            return int(missing.sum())
    tables.append(_Table(parts={views.counts: views}))
    return None


def _views(one: Trace, labels: NDArray[np.int64], signature: Signature) -> _Views | None:
    """The views at one step over all inputs, from the labels of the keys; None when a view does not decide the token.

    The keys of one label are told apart by nothing, so their part of the view is their tokens in sorted order.
    """
    parts = [np.sort(one.tokens[np.flatnonzero(labels == label)], axis=0) for label in signature]
    views, tokens = _told_apart(np.concatenate([*parts, one.tokens[len(labels)][None]]), one.symbols)
    if (views[1:] == views[:-1]).any():
        return None
    return _Views(counts=tuple(len(part) for part in parts), codes=views, tokens=tokens)


def _told_apart(rows: Tokens, symbols: int) -> tuple[NDArray[Any], Tokens]:
    """The different columns of uint8 [rows, inputs] in order: all rows but the last as one value, and the last."""
    if symbols ** len(rows) <= np.iinfo(np.int64).max:
        codes, tokens = np.divmod(distinct(keys_of(rows, symbols)), symbols)
        return codes, tokens.astype(np.uint8)
    found = distinct(np.ascontiguousarray(rows.T).view(f"S{len(rows)}").reshape(-1))
    columns = found.view(np.uint8).reshape(-1, len(rows))
    return np.ascontiguousarray(columns[:, :-1]).view(f"S{len(rows) - 1}").reshape(-1), columns[:, -1]
