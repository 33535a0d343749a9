"""Short programs in a fragment of RASP-L (arXiv 2310.16028), searched by enumeration.

A program reads at most HEADS features of the text ([F]): the token that an attention head reads, or which of two
symbols came more often. A head looks at the keys up to the query whose token, or token before it, stands in a relation
to that of the query. Among these it takes the one that is last, first, largest, smallest, most or least often seen
before, and reads its token or the token before it. A table of the last token and the features gives the next token: a
fixed symbol, or one of them. The table tells tokens apart by name, or only by whether they are equal and which mark of
the prompt they are, as tables of large alphabets must. The library of RASP-L has all of this: `kqv` with equality and
order, `shift_right`, `sel_width`, maps of tokens.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import UNDEFINED, Task, TaskError
from lengthgen.circuits.trace import trace

HEADS = 2
"""Largest number of features of a program."""
TRAIN = 5
"""Largest scale of the examples that must show every entry of the table ([F])."""
TESTS = (6, 8, 10, 20)
"""Scales beyond TRAIN at which a program must be right ([F])."""
PROMPTS = 128
"""Largest number of prompts of one scale that are looked at."""
FIRST_TRIED = 300
"""Number of steps on which a combination of features is tried first."""
MOST_COMPARED = 6
"""Largest number of symbols whose counts are compared pair by pair."""
NOTHING = -1
"""Value of a feature if no key fits, and of the token after the end of a text."""

Values = NDArray[np.int64]

RELATIONS = {"=": "equals", "<": "is below", ">": "is above", "any": ""}
"""Relations of a key to its query by which a head looks, in signs and in words."""
RANKS = {"place": ("first", "last"), "token": ("smallest", "largest"), "count": ("rarest", "most frequent")}
"""Numbers of a key of which a head takes the smallest or the largest, with words for both."""


class Head(NamedTuple):
    """Attention head: what it compares, by which relation, which of the keys it takes, and what it reads there.

    `key`, `query` and `value` are 0 for the token and 1 for the token before it.
    """

    key: int
    query: int
    relation: str
    rank: str
    largest: bool
    value: int

    def __str__(self) -> str:
        """Return what the head reads, in words."""
        key = f"{'token before' if self.value else 'token of'} the {RANKS[self.rank][self.largest]} key"
        if self.relation == "any":
            return key
        own = "token before" if self.key else "token"
        return f"{key} whose {own} {RELATIONS[self.relation]} the {'token before the last' if self.query else 'last'}"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Texts of some scales, padded, and the places of their steps.

    Attributes:
        tokens: int64 [texts, longest]; NOTHING after the end.
        classes: int64 [symbols + 1], for each symbol, and first for NOTHING, which mark it is; 0 if it is none. Marks
            are the symbols that stand alone at a place of the prompt, and the end.
        text, query: int64 [steps], the text of each step and the place from which it is written, from 0.
        target: int64 [steps], the tokens to write.
        trained: bool [steps], True for scales up to TRAIN.
    """

    tokens: Values
    classes: Values
    text: Values
    query: Values
    target: Values
    trained: NDArray[np.bool_]


def examples(task: Task, scales: Sequence[int] = (*range(1, TRAIN + 1), *TESTS)) -> Examples:
    """Return the examples of a task at some scales; those beyond the first of TESTS may be missing from the task.

    Raises:
        TaskError: the task breaks its contract.
    """
    texts, steps, marks = [], [], set() if task.end is None else {task.alphabet.index(task.end)}
    for scale in scales:
        try:
            scale_trace = trace(task, scale)
        except TaskError:
            if scale <= TESTS[0]:
                raise
            break
        inputs = np.linspace(0, scale_trace.tokens.shape[1] - 1, PROMPTS).astype(np.int64)
        tokens = scale_trace.tokens[:, np.unique(inputs)].T.astype(np.int64)
        tokens[tokens == UNDEFINED] = NOTHING
        texts.append(tokens)
        steps.append(np.array(scale_trace.steps) - 1)
        marks |= {symbols[0] for symbols in task.choices(scale) if len(symbols) == 1}
    longest = max(tokens.shape[1] for tokens in texts)
    padded = [np.pad(part, ((0, 0), (0, longest - part.shape[1])), constant_values=NOTHING) for part in texts]
    index = np.repeat(np.arange(len(texts)), [len(part) for part in texts])
    tokens = np.concatenate(padded)
    text = np.concatenate([np.full(len(steps[part]), row) for row, part in enumerate(index)])
    place = np.concatenate([steps[part] for part in index])
    there = tokens[text, place] != NOTHING
    text, place = text[there], place[there]
    classes = np.zeros(len(task.alphabet) + 1, dtype=np.int64)
    for number, mark in enumerate([NOTHING, *sorted(marks)], start=1):
        classes[mark + 1] = number
    return Examples(
        tokens=tokens,
        classes=classes,
        text=text,
        query=place - 1,
        target=tokens[text, place],
        trained=np.array(scales)[index][text] <= TRAIN,
    )


def features(sample: Examples) -> dict[str, Values]:
    """Return the values of all features at the steps, int64 [steps], by the name of the feature; equal ones once."""
    tokens, longest = sample.tokens, sample.tokens.shape[1]
    before = np.pad(tokens, ((0, 0), (1, 0)), constant_values=NOTHING)[:, :-1]
    sources, rows = (tokens, before), sample.text
    earlier = np.arange(longest)[None, :] <= sample.query[:, None]  # [steps, keys]
    counts = np.stack([(tokens[:, : place + 1] == tokens[:, [place]]).sum(axis=1) for place in range(longest)], axis=1)
    ranks = {"place": np.broadcast_to(np.arange(longest), tokens.shape), "token": tokens, "count": counts}
    lowest = -1 - max(longest, int(tokens.max()))
    values: dict[bytes, tuple[str, Values]] = {}
    for key, query, relation in itertools.product((0, 1), (0, 1), RELATIONS):
        if relation == "any" and (key, query) != (0, 0):
            continue  # without a comparison it does not matter what is compared
        looked = earlier & _related(sources[key][rows], sources[query][rows, sample.query][:, None], relation)
        nothing = ~looked.any(axis=1)
        for rank, largest in itertools.product(RANKS, (True, False)):
            chosen = np.where(looked, ranks[rank][rows] * (1 if largest else -1), lowest).argmax(axis=1)
            for value, source in enumerate(sources):
                read = np.where(nothing, NOTHING, source[rows, chosen])
                head = Head(key=key, query=query, relation=relation, rank=rank, largest=largest, value=value)
                values.setdefault(read.tobytes(), (str(head), read))
    for first, second in itertools.combinations(range(min(MOST_COMPARED, int(tokens.max()) + 1)), 2):
        often = [((tokens[rows] == symbol) & earlier).sum(axis=1) for symbol in (first, second)]
        more = np.sign(often[0] - often[1])
        values.setdefault(more.tobytes(), (f"whether symbol {first} or {second} came more often", more))
    return dict(values.values())


def _related(keys: Values, queries: Values, relation: str) -> NDArray[np.bool_]:
    """Return which keys stand in a relation to their queries; a missing token stands in none but "any"."""
    if relation == "any":
        return np.ones_like(keys, dtype=np.bool_)
    related = {"=": keys == queries, "<": keys < queries, ">": keys > queries}[relation]
    return np.asarray(related & (keys != NOTHING) & (queries != NOTHING))


def program(sample: Examples, values: Mapping[str, Values]) -> tuple[str, ...] | None:
    """Return the names of the features of a program that is right on all examples, as few as can be; None if none.

    Every combination is first tried on few of the steps, since most fail there.

    Args:
        sample: the examples.
        values: name of a feature -> its values at the steps (`features`).
    """
    tokens = [sample.tokens[sample.text, sample.query], *values.values()]
    few = np.unique(np.linspace(0, len(sample.target) - 1, FIRST_TRIED).astype(np.int64))
    tokens_few, target_few, names = np.stack([each[few] for each in tokens]), sample.target[few], list(values)
    for count in range(HEADS + 1):
        combinations = itertools.combinations(range(1, len(tokens)), count)
        # Combinations that differ in their last feature alone are tried at once.
        for _, alike in itertools.groupby(combinations, key=lambda places: places[:-1]):
            chosen = np.array([(0, *places) for places in alike])
            read = tokens_few[chosen]
            promising = [_are_tables(_keys(read, sample, pattern=each), read, target_few) for each in (False, True)]
            for row, pattern in np.argwhere(np.stack(promising, axis=1)):
                every = np.stack([tokens[place] for place in chosen[row]])[None]
                keys = _keys(every, sample, pattern=bool(pattern))
                trained = np.isin(keys, keys[:, sample.trained]).all()
                if trained and _are_tables(keys, every, sample.target).all():
                    return tuple(names[place - 1] for place in chosen[row, 1:])
    return None


def _keys(read: Values, sample: Examples, *, pattern: bool) -> Values:
    """Return the key of a table for each step as a number, int64 [combinations, steps].

    Args:
        read: tokens that are read, int64 [combinations, tokens, steps].
        sample: the examples.
        pattern: True if the key holds which of the tokens are which marks, and which are equal; False for their names.
    """
    parts = [*np.moveaxis(sample.classes[read + 1] if pattern else read + 1, 1, 0)]
    if pattern:
        pairs = itertools.combinations(np.moveaxis(read, 1, 0), 2)
        parts += [(first == second).astype(np.int64) for first, second in pairs]
    keys: Values = np.zeros_like(parts[0])
    for part in parts:
        keys = keys * (len(sample.classes) + 1) + part
    return keys


def _are_tables(keys: Values, read: Values, target: Values) -> NDArray[np.bool_]:
    """Return for which combinations each key has one symbol, or one of the tokens read, that is always the target.

    Args:
        keys: key of each step, int64 [combinations, steps].
        read: tokens that are read, int64 [combinations, tokens, steps].
        target: tokens to write, int64 [steps].

    Returns:
        bool [combinations].
    """
    order = np.argsort(keys, axis=1)
    ordered, written = np.take_along_axis(keys, order, axis=1), target[order]
    begins = np.ones(keys.shape, dtype=np.bool_)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    entries = np.flatnonzero(begins)  # where the entries of the tables begin, over all combinations
    entry = np.cumsum(begins) - 1
    right = np.logical_and.reduceat(written.ravel() == written.ravel()[entries][entry], entries)
    for part in np.moveaxis(read, 1, 0):
        same = np.take_along_axis(part, order, axis=1) == written
        right |= np.logical_and.reduceat(same.ravel(), entries)
    return np.logical_and.reduceat(right, entry[:: keys.shape[1]])
