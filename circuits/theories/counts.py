"""Amendment of the SRC rule by operators that read counts: the output is the token whose affine function is largest.

SRC asks for operators of bounded arity.  Attention may also average over all keys, so a majority is one step of a
transformer although no bounded arity computes it.  The smallest amendment that allows it ([F]): an operator reads how
often each token occurs among all keys, next to the last tokens if the encoding tells them apart; its output is the
token whose affine function of the counts is largest.  Averages of attention give such functions, because the sum over
all counts is the length.

The functions are found by a linear program over the prompts of circuits.theories.scaled, rounded to whole numbers and
then checked exactly.  That none exist is what the program of the linear solver says, unless two prompts with equal
counts and different outputs prove it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from circuits.analysis import Analysis
from circuits.encodings import NoRelation, parse_encoding, relation_of
from circuits.theories.scaled import Unanswered, analysis_of, scales_of
from circuits.theories.src_rules import DOMAIN, coverage
from circuits.theories.theory import Guess, Question, Theory, abstain, no, yes
from circuits.trace import Trace
from theory.relation import Relation

WINDOW = 2
"""Number of last positions whose tokens select an operator, if the encoding tells them apart from all others."""
FACTORS = (1, 10, 100, 1_000, 10_000)
"""Factors by which a solution of the linear program is multiplied before it is rounded, tried in turn."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Steps of all prompts of some scales, without repetition.

    Attributes:
        windows: tokens of the last positions, int64 [samples, window], the last position first.
        counts: count of each token at all positions before the step, int64 [samples, symbols].
        outputs: token number of the step's output, int64 [samples].
        scales: first scale at which the sample occurs, int64 [samples].
    """

    windows: Integers
    counts: Integers
    outputs: Integers
    scales: Integers


def guess(question: Question) -> Guess:
    """Answer yes if src-coverage does, or if one operator for each window reads counts at all scales.

    The windows and outputs of the tested scales must then occur in training.
    """
    first = coverage(question)
    if first.probability is not None and first.probability > 0.5:
        return first
    try:
        analysis = analysis_of(question)
    except Unanswered as reason:
        return abstain(str(reason))
    scales = scales_of(question)
    samples = samples_of(analysis.traces, _window(question, analysis))
    broken = first_failure(samples, scales.train)
    if broken is None:
        return yes("in every step the largest affine function of the counts of tokens is the output" + scales.words)
    scale, why = broken
    return no(why + scales.words, breaks_at=scale if scales.exact and scale > scales.train else None)


def first_failure(samples: Samples, train: int) -> tuple[int, str] | None:
    """Return the first scale at which no operators that read counts are right, and why; None if there is none.

    Args:
        samples: steps of the scales of training and test.
        train: largest scale of training.
    """
    failures: list[tuple[int, str]] = []
    for window in np.unique(samples.windows, axis=0):
        chosen = (samples.windows == window).all(axis=1)
        counts, outputs, scales = samples.counts[chosen], samples.outputs[chosen], samples.scales[chosen]
        unseen = np.setdiff1d(outputs, outputs[scales <= train])
        if unseen.size:
            at = int(scales[np.isin(outputs, unseen)].min())
            failures.append((at, "an output occurs that training never showed after these last tokens"))
        for scale in np.unique(scales):
            part = scales <= scale
            if (why := _failure(counts[part], outputs[part])) is not None:
                failures.append((int(scale), why))
                break
    return min(failures, default=None)


def _failure(counts: Integers, outputs: Integers) -> str | None:
    """Return why no affine functions of counts give the outputs; None if some do."""
    different = np.unique(np.column_stack([counts, outputs]), axis=0)[:, :-1]
    if len(np.unique(different, axis=0)) < len(different):
        return "two prompts with equal counts have different outputs"
    if affine_functions(counts, outputs) is None:
        return "no affine functions of the counts have the output as their largest"
    return None


def affine_functions(counts: Integers, outputs: Integers) -> dict[int, Integers] | None:
    """Return output -> whole-number coefficients of the counts and of 1, last, so that the output's value is largest.

    Args:
        counts: int64 [samples, symbols].
        outputs: int64 [samples].

    Returns:
        None if the linear program has no solution. Functions that are returned were checked exactly.

    Raises:
        Unanswered: no rounding of the solution is right.
    """
    kinds = np.unique(outputs)
    features = np.column_stack([counts, np.ones(len(counts), dtype=np.int64)])
    if len(kinds) == 1:
        return {int(kinds[0]): np.zeros(features.shape[1], dtype=np.int64)}
    width = features.shape[1]
    right = np.searchsorted(kinds, outputs)
    samples, others = np.nonzero(right[:, None] != np.arange(len(kinds)))
    rows = np.repeat(np.arange(len(samples)), width)
    places = np.arange(width)
    columns = [(classes[:, None] * width + places).ravel() for classes in (others, right[samples])]
    values = features[samples].ravel()
    difference = csr_array(
        (np.concatenate([values, -values]), (np.concatenate([rows, rows]), np.concatenate(columns))),
        shape=(len(samples), len(kinds) * width),
    )
    solution = linprog(
        np.zeros(len(kinds) * width), A_ub=difference, b_ub=-np.ones(len(samples)), bounds=(None, None), method="highs"
    )
    if solution.status == 2:  # infeasible
        return None
    if not solution.success:
        raise Unanswered(f"the linear program ended without an answer: {solution.message}")
    for factor in FACTORS:
        rounded = np.rint(factor * solution.x).astype(np.int64)
        if (difference @ rounded < 0).all():
            return dict(zip(kinds.tolist(), rounded.reshape(len(kinds), width), strict=True))
    raise Unanswered("no rounding of the linear program's solution is right on every prompt")


def samples_of(traces: tuple[Trace, ...], window: int) -> Samples:
    """Return the steps of some traces; positions before the first count as a token of their own in the window."""
    parts = []
    for trace in traces:
        for position in trace.steps:
            tokens = trace.tokens_at(position)[:position].astype(np.int64)
            counts = np.stack([(tokens[:-1] == symbol).sum(axis=0) for symbol in range(trace.symbols)])
            last = [
                tokens[-2 - back] if back <= position - 2 else np.full(tokens.shape[1], -1) for back in range(window)
            ]
            parts.append(
                np.concatenate([np.stack(last), counts, tokens[-1:], np.full((1, tokens.shape[1]), trace.scale)])
            )
    table = np.concatenate(parts, axis=1).T
    unique, first = np.unique(table[:, :-1], axis=0, return_index=True)  # scales ascend, so the first is the least
    return Samples(
        windows=unique[:, :window], counts=unique[:, window:-1], outputs=unique[:, -1], scales=table[first, -1]
    )


def _window(question: Question, analysis: Analysis) -> int:
    """Return the number of last positions that the encoding tells apart, at most WINDOW; the query is always one."""
    try:
        relation = relation_of(parse_encoding(question.encoding), analysis.circuit if analysis.result else None)
    except NoRelation:
        return 1
    if relation.scale_hint:
        return 1
    length = analysis.traces[-1].length
    return next((back for back in range(1, WINDOW) if not _is_told_apart(relation, back, length)), WINDOW)


def _is_told_apart(relation: Relation, back: int, length: int) -> bool:
    """True if the key `back` positions before a query has one label that no other key has, whatever the query."""
    labels = relation.labels(length)
    keys, queries = np.triu_indices(length)
    at = queries - keys == back
    own = np.unique(labels[keys[at], queries[at]])
    return own.size == 1 and own[0] not in labels[keys[~at], queries[~at]]


COUNTS = Theory(
    name="src-counts",
    title="SRC with counts",
    statement=(
        "As src-coverage, or the output of every step is the token whose affine function of the counts of tokens is "
        "largest, with one choice of functions for each content of the last two positions."
    ),
    label="F",
    source="",
    domain=DOMAIN,
    guess=guess,
)
