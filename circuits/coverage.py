"""Coverage of a circuit by training: entries of operators that data do not use, and tokens of irrelevant keys.

A prediction assumes that training shows every prompt of its scales. A finite training set uses fewer entries of the
operators, so a model may fail at a step although the position encoding is not the reason ([F]). An entry is an
operator together with the tokens in its essential slots.

A distractor is a pair (label, token) of a key that no step needs, which the rule ignores and a model may not ([F]).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.tables import distinct, keys_of
from lengthgen.circuits.task import UNDEFINED, Tokens
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import NO_LABEL, Relation

Scales = NDArray[np.int64]
Seen = tuple[NDArray[np.bool_], ...]
"""Seen entries by operator: bool [symbols ** essential slots], indexed by the key of these tokens, slot 1 first."""


class CoverageError(LengthgenError):
    """Error of examples that do not belong to the circuit's task; one line says which."""


def seen_entries(circuit: Circuit, tokens: Tokens, scales: Scales) -> Seen:
    """Return the operator entries that some examples use.

    Args:
        circuit: circuit of the task, at all scales of the examples.
        tokens: uint8 [count, length]; prompt and steps of each example from the first column on. Columns after the end
            of a sequence are ignored.
        scales: scale of each example, int64 [count].

    Raises:
        CoverageError: the shapes do not fit, the circuit lacks some scale, or an example is too short or holds a value
            that is no token.
    """
    symbols = len(circuit.task.alphabet)
    slots = [len(circuit.essential_slots(operator)) for operator in range(len(circuit.operators))]
    seen = tuple(np.zeros(symbols**count, dtype=np.bool_) for count in slots)
    for _, _, operator, keys in _used_keys(circuit, tokens, scales):
        seen[operator][keys] = True
    return seen


def steps_seen(circuit: Circuit, seen: Seen, tokens: Tokens, scales: Scales) -> NDArray[np.bool_]:
    """Return, for each step of each example, True if its entry was seen: bool [count, largest number of steps].

    The value is True beyond an example's last step and after its end, where no entry is needed. Arguments and errors
    are those of `seen_entries`.
    """
    largest_count = max((len(circuit.wirings.get(scale, ())) for scale in np.unique(scales).tolist()), default=0)
    covered = np.ones((len(tokens), largest_count), dtype=np.bool_)
    for rows, step, operator, keys in _used_keys(circuit, tokens, scales):
        covered[rows, step] = seen[operator][keys]
    return covered


def _used_keys(
    circuit: Circuit, tokens: Tokens, scales: Scales
) -> Iterator[tuple[NDArray[np.intp], int, int, NDArray[np.int64]]]:
    """Yield, for each step of each scale: rows of the examples, step number (from 0), operator, keys of `Seen`."""
    if tokens.ndim != 2 or scales.shape != (len(tokens),):
        raise CoverageError(f"tokens {tokens.shape} and scales {scales.shape} must be [count, length] and [count]")
    symbols = len(circuit.task.alphabet)
    end = None if circuit.task.end is None else circuit.task.alphabet.index(circuit.task.end)
    for scale in np.unique(scales).tolist():
        wirings = circuit.wirings.get(scale)
        if not wirings:
            raise CoverageError(f"the circuit of '{circuit.task.name}' was not made for scale {scale}")
        length = wirings[-1].position
        rows = np.flatnonzero(scales == scale)
        scale_tokens = np.ascontiguousarray(tokens[rows, :length].T)
        if end is not None and len(scale_tokens) < length:  # no example is as long as the longest
            scale_tokens = np.pad(scale_tokens, ((0, length - len(scale_tokens)), (0, 0)))
        if len(scale_tokens) < length or scale_tokens.max() >= symbols:
            raise CoverageError(
                f"examples of scale {scale} of '{circuit.task.name}' have {length} tokens below {symbols}, not "
                f"{len(scale_tokens)} up to {scale_tokens.max()}"
            )
        goes_on = np.ones(len(rows), dtype=np.bool_)
        for step, wiring in enumerate(wirings):
            essential = [wiring.arguments[slot] - 1 for slot in circuit.essential_slots(wiring.operator)]
            yield rows[goes_on], step, wiring.operator, keys_of(scale_tokens[essential][:, goes_on], symbols)
            if end is not None:
                goes_on &= scale_tokens[wiring.position - 1] != end


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Set of pairs (label, token).

    Attributes:
        labels: int64 [labels], ascending, each once.
        tokens: bool [labels, symbols], True where the set has the pair of this label and this token; no row is empty.
    """

    labels: NDArray[np.int64]
    tokens: NDArray[np.bool_]

    @classmethod
    def of(cls, labels: NDArray[np.int64], tokens: NDArray[np.bool_]) -> Self:
        """Return the set of some labels int64 [count], in any order, each with some tokens, bool [count, symbols]."""
        order = np.argsort(labels, kind="stable")
        ascending, first = np.unique(labels[order], return_index=True)
        joined = np.logical_or.reduceat(tokens[order], first, axis=0) if len(first) else tokens
        some = joined.any(axis=1)
        return cls(labels=ascending[some], tokens=joined[some])

    @classmethod
    def union(cls, sets: Sequence[Self]) -> Self:
        """Return the pairs of at least one set."""
        return cls.of(np.concatenate([each.labels for each in sets]), np.concatenate([each.tokens for each in sets]))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.tokens.sum())

    def __sub__(self, other: Self) -> Self:
        """Return the pairs that another set does not have."""
        shared = np.isin(self.labels, other.labels)
        tokens = self.tokens.copy()
        tokens[shared] &= ~other.tokens[np.searchsorted(other.labels, self.labels[shared])]
        return type(self).of(self.labels, tokens)


def unseen_distractors(
    circuit: Circuit,
    relation: Relation,
    seen: Sequence[Trace],
    later: Sequence[Trace],
    *,
    own_token: bool = False,
) -> dict[int, Pairs]:
    """Return scale -> pairs (label, token) of irrelevant keys there that training does not show, if there are any.

    Args:
        circuit: circuit of the task, at the scales of the traces.
        relation: relation by which the encoding distinguishes keys.
        seen: traces of the trained scales.
        later: traces of the other tested scales.
        own_token: True if no key disturbs a step that needs no token but the query's own, which a Transformer has in
            its residual stream without attention ([F]).
    """
    shown = Pairs.union([distractors(circuit, relation, trace, own_token=own_token) for trace in seen])
    unseen = {trace.scale: distractors(circuit, relation, trace, own_token=own_token) - shown for trace in later}
    return {scale: pairs for scale, pairs in unseen.items() if len(pairs)}


def distractors(circuit: Circuit | None, relation: Relation, trace: Trace, *, own_token: bool = False) -> Pairs:
    """Return (label, token) of every key that is irrelevant to the step computed at its query.

    Arguments are those of `unseen_distractors`; without a circuit no key is relevant.
    """
    labels = relation.labels(trace.length, trace.scale)
    relevant = circuit.roles(trace.scale) if circuit else {}
    for key, query in relevant:
        labels[key - 1, query - 1] = NO_LABEL
    if own_token:
        attending = {query for key, query in relevant if key != query}
        labels[:, [step - 2 for step in trace.steps if step - 1 not in attending]] = NO_LABEL
    return pairs_at_steps(trace, labels)


def pairs_at_steps(trace: Trace, labels: NDArray[np.int64]) -> Pairs:
    """Return (label, token) of the keys at all steps.

    Args:
        trace: trace of the scale.
        labels: int64 [length, length], by key and query; NO_LABEL for keys that are left out.
    """
    parts = []
    for inputs, steps in trace.steps_by_inputs():
        occurs = np.zeros((trace.length, UNDEFINED + 1), dtype=np.bool_)
        occurs[np.arange(trace.length)[:, None], inputs] = True
        at_steps = labels[:, [position - 2 for position in steps]]
        keys, _ = present = np.nonzero(at_steps != NO_LABEL)
        labels_there, numbers = np.unique(at_steps[present], return_inverse=True)
        # Many steps show the same key with the same label.
        codes = distinct(numbers * trace.length + keys, len(labels_there) * trace.length)
        parts.append(Pairs.of(labels_there[codes // trace.length], occurs[codes % trace.length, : trace.symbols]))
    return Pairs.union(parts)
