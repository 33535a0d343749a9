"""Amendment of the SRC rule by operators that read counts: the output is the token whose affine function is largest.

SRC asks for operators of bounded arity.  Attention may also average over all keys, so a majority is one step of a
transformer although no bounded arity computes it.  The smallest amendment that allows it ([F]): an operator reads how
often each token occurs among all keys, next to the last tokens if the encoding tells them apart; its output is the
token whose affine function of the counts is largest.  Averages of attention give such functions, because the sum over
all counts is the length.

The functions are found by a linear program over the prompts of `src_rules`, rounded to whole numbers and then checked
exactly.  That none exist is what the program of the linear solver says, unless two prompts
with equal counts and different outputs prove it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding, relation_of
from lengthgen.circuits.trace import Trace
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory, abstain, no, yes
from lengthgen.empirical.studies.theories.src_rules import DOMAIN, Unanswered, analysis_of, coverage, scales_of
from lengthgen.theory.relation import Relation

WINDOW = 2
"""Number of last positions whose tokens select an operator, if the encoding tells them apart from all others."""
FACTORS = (1, 10, 100, 1_000, 10_000)
"""Factors by which a solution of the linear program is multiplied before it is rounded, tried in turn."""

EARLY = 4
"""Largest scale at which functions are looked for first."""
MORE = 300
"""Largest number of inequalities, about, that the linear program gets in each round."""
MAX_COEFFICIENTS = 2_000
"""Largest number of unknowns of a linear program: outputs times symbols."""
MAX_ROUNDS = 60
"""Largest number of rounds of the linear program."""

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
    window = window_of(question.encoding, analysis)
    return analysis.remembered(
        ("counts", window, scales), lambda: by_counts(analysis.traces, window, scales.train, words=scales.words)
    )


def by_counts(traces: Sequence[Trace], window: int, train: int, *, words: str = "") -> Guess:
    """Return the answer for operators that read counts next to the tokens of the last positions."""
    for largest in (EARLY, len(traces)):  # small scales refute most tasks, and cost little
        try:
            why = failure(samples_of(traces[:largest], window), train)
        except Unanswered as reason:
            return abstain(str(reason))
        if why is not None:
            return no(why + words)
    return yes("in every step the largest affine function of the counts of tokens is the output" + words)


def failure(samples: Samples, train: int) -> str | None:
    """Return why no operators that read counts are right at every scale; None if some are."""
    if len(_first_rows(np.column_stack([samples.windows, samples.counts]))) < len(samples.outputs):
        return "two prompts with equal last tokens and counts have different outputs"
    windows, window_of = np.unique(samples.windows, axis=0, return_inverse=True)
    for window in range(len(windows)):
        chosen = window_of.reshape(-1) == window
        outputs, scales = samples.outputs[chosen], samples.scales[chosen]
        if np.setdiff1d(outputs, outputs[scales <= train]).size:
            return "an output occurs that training never showed after these last tokens"
        if affine_functions(samples.counts[chosen], outputs) is None:
            return "no affine functions of the counts have the output as their largest"
    return None


def affine_functions(counts: Integers, outputs: Integers) -> dict[int, Integers] | None:
    """Return output -> whole-number coefficients of the counts and of 1, last, so that the output's value is largest.

    The linear program starts with few inequalities and gets those that its solution breaks.

    Args:
        counts: int64 [samples, symbols].
        outputs: int64 [samples].

    Returns:
        None if the linear program has no solution. Functions that are returned were checked exactly.

    Raises:
        Unanswered: the program is too large or needs too many rounds, or no rounding of its solution is right.
    """
    kinds, right = np.unique(outputs, return_inverse=True)
    right = right.reshape(-1)
    features = np.column_stack([counts, np.ones(len(counts), dtype=np.int64)])
    if len(kinds) > 1 and len(kinds) * features.shape[1] > MAX_COEFFICIENTS:
        raise Unanswered(
            f"functions of the counts of {counts.shape[1]} symbols for {len(kinds)} outputs have more than "
            f"{MAX_COEFFICIENTS:,} coefficients, which is not tried"
        )
    solution = np.zeros((len(kinds), features.shape[1]))
    pairs = np.empty((0, 2), dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        broken = _broken(features @ solution.T, right, margin=0.5)
        if not len(broken):
            break
        pairs = np.concatenate([pairs, broken[:: -(-len(broken) // MORE)]])
        separated = _separated(features, right, pairs, len(kinds))
        if separated is None:
            return None
        solution = separated
    else:
        raise Unanswered(f"the linear program is not solved after {MAX_ROUNDS} rounds")
    for factor in FACTORS:
        rounded = np.rint(factor * solution).astype(np.int64)
        if not len(_broken(features @ rounded.T, right, margin=1)):
            return dict(zip(kinds.tolist(), rounded, strict=True))
    raise Unanswered("no rounding of the linear program's solution is right on every prompt")


def _broken(values: NDArray[Any], right: Integers, *, margin: float) -> Integers:
    """Return the pairs (sample, kind) that are not below the right kind by the margin, int64 [pairs, 2]."""
    rows = np.arange(len(values))
    close = values > values[rows, right][:, None] - margin
    close[rows, right] = False
    return np.argwhere(close)


def _separated(features: Integers, right: Integers, pairs: Integers, kinds: int) -> NDArray[np.float64] | None:
    """Return coefficients, float64 [kinds, features], for which every pair keeps a distance of 1; None without any.

    Args:
        features: int64 [samples, features].
        right: right kind of each sample.
        pairs: pairs (sample, other kind) whose value must lie below that of the right kind.
        kinds: number of kinds.

    Raises:
        Unanswered: the solver ended without an answer.
    """
    from scipy.optimize import linprog  # slow to import, and most commands need none of it
    from scipy.sparse import csr_array

    width = features.shape[1]
    samples, others = pairs.T
    rows = np.repeat(np.arange(len(samples)), width)
    columns = [(kind[:, None] * width + np.arange(width)).ravel() for kind in (others, right[samples])]
    values = features[samples].ravel()
    difference = csr_array(
        (np.concatenate([values, -values]), (np.concatenate([rows, rows]), np.concatenate(columns))),
        shape=(len(samples), kinds * width),
    )
    program = linprog(
        np.zeros(kinds * width), A_ub=difference, b_ub=-np.ones(len(samples)), bounds=(None, None), method="highs"
    )
    if program.status == 2:  # infeasible
        return None
    if not program.success:
        raise Unanswered(f"the linear program ended without an answer: {program.message}")
    coefficients: NDArray[np.float64] = program.x.reshape(kinds, width)
    return coefficients


def samples_of(traces: Sequence[Trace], window: int) -> Samples:
    """Return the steps of some traces, ascending in scale; before the first position there is a token of its own."""
    parts = []
    for trace in traces:
        for position in trace.steps:
            tokens = trace.tokens_at(position)[:position].astype(np.int16)
            before = tokens[:-1]
            counts = np.stack([(before == symbol).sum(axis=0, dtype=np.int16) for symbol in range(trace.symbols)])
            absent = np.full(tokens.shape[1], -1, dtype=np.int16)
            last = [tokens[-2 - back] if back <= position - 2 else absent for back in range(window)]
            scales = np.full((1, tokens.shape[1]), trace.scale, dtype=np.int16)
            part = np.concatenate([np.stack(last), counts, tokens[-1:], scales]).T
            parts.append(part[_first_rows(part)])
    table = np.concatenate(parts)
    table = table[np.sort(_first_rows(table[:, :-1]))].astype(np.int64)  # scales ascend, so the first is the least
    return Samples(windows=table[:, :window], counts=table[:, window:-2], outputs=table[:, -2], scales=table[:, -1])


def _first_rows(table: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices of the first of equal rows; rows are compared as bytes, which is fast."""
    rows = np.ascontiguousarray(table).view(np.dtype((np.void, table.itemsize * table.shape[1]))).reshape(-1)
    return np.unique(rows, return_index=True)[1]


def window_of(encoding: str, analysis: Analysis) -> int:
    """Return the number of last positions that the encoding tells apart, at most WINDOW; the query is always one."""
    try:
        relation = relation_of(parse_encoding(encoding), analysis.circuit if analysis.result else None)
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
        "largest, with one choice of functions for each content of the last two positions (of the last one where the "
        "encoding does not tell the other apart), after which training shows every output that occurs."
    ),
    label="F",
    source="",
    domain=DOMAIN,
    guess=guess,
)
