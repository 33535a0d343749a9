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

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from circuits.roles import step_roles
from circuits.task import Trace
from theory.relation import Relation

View = tuple[tuple[int, ...], bytes]
"""How many keys each label of the signature has, and their tokens, label by label."""
Signature = tuple[int, ...]
"""The labels of a step's relevant keys, ascending."""


@dataclass(kw_only=True)
class _Operators:
    """The operators needed for steps of one signature: maps from views to tokens, extended as steps are met."""

    tables: list[dict[View, int]] = field(default_factory=list)

    def serve(self, views: dict[View, int]) -> tuple[bool, bool]:
        """Whether the step needed a new operator, and whether it needed a new entry of an old one."""
        for table in self.tables:
            if all(table.get(view, token) == token for view, token in views.items()):
                fresh = any(view not in table for view in views)
                table.update(views)
                return False, fresh
        self.tables.append(dict(views))
        return True, False


@dataclass(frozen=True, kw_only=True)
class Induced:
    """What one relation makes of one circuit, scale by scale.

    Attributes:
        complexity: scale n -> SRC_phi up to n; math.inf from the first step that cannot be computed.
        new_labels: scale -> labels of relevant keys first met there.
        new_operators: scale -> operators first needed there.
        new_entries: scale -> steps that asked an operator for an entry first needed there.
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
    operators: dict[Signature, _Operators] = {}
    known: set[int] = set()
    complexity: dict[int, float] = {}
    new_labels: dict[int, frozenset[int]] = {}
    new_operators: dict[int, int] = {}
    new_entries: dict[int, int] = {}
    total: float = 0
    for one in traces:
        labels = relation.labels(one.length, one.scale)
        roles = step_roles(circuit, one.scale)
        met: set[int] = set()
        added = entries = 0
        for wiring in circuit.wirings[one.scale]:
            query = wiring.position - 1
            relevant = [key for key in range(1, query + 1) if (key, query) in roles]
            signature = tuple(sorted({int(labels[key - 1, query - 1]) for key in relevant}))
            met |= set(signature)
            if math.isinf(total):
                continue
            views = _views(one, labels[:query, query - 1], signature, wiring.position)
            if views is None:
                total = math.inf
                continue
            new, fresh = operators.setdefault(signature, _Operators()).serve(views)
            added += new
            entries += fresh
        total += added
        complexity[one.scale] = total
        new_labels[one.scale] = frozenset(met - known)
        new_operators[one.scale] = added
        new_entries[one.scale] = entries
        known |= met
    return Induced(complexity=complexity, new_labels=new_labels, new_operators=new_operators, new_entries=new_entries)


def _views(one: Trace, labels: NDArray[np.int64], signature: Signature, position: int) -> dict[View, int] | None:
    """View -> token at one step over all inputs; None when the view does not determine the token.

    The keys of one label are told apart by nothing, so their part of the view is their tokens in sorted order.
    """
    parts = [np.sort(one.tokens[np.flatnonzero(labels == label)], axis=0) for label in signature]
    rows = np.concatenate([*parts, one.tokens[position - 1 : position]]).T
    distinct = np.unique(rows, axis=0)
    counts = tuple(len(part) for part in parts)
    views = {(counts, row[:-1].tobytes()): int(row[-1]) for row in distinct}
    return views if len(views) == len(distinct) else None
