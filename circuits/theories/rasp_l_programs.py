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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from circuits.task import UNDEFINED, Task, TaskError
from circuits.trace import trace

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

RELATIONS = ("=", "<", ">", "any")
"""Relations of a key to its query by which a head looks."""
RANKS = ("place", "token", "count")
"""Numbers of a key of which a head takes the largest or the smallest."""


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
        """Return the head in words, for people."""
        source = ("token", "token before")
        look = f"{source[self.key]} {self.relation} {source[self.query]}"
        return f"{source[self.value]} of the key with {look} and {'largest' if self.largest else 'least'} {self.rank}"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Texts of some scales, padded, and the places of their steps.

    Attributes:
        tokens: int64 [texts, longest]; NOTHING after the end.
        marks: symbols that stand at fixed places of the prompt, and the end.
        text, query: int64 [steps], the text of each step and the place from which it is written, from 0.
        target: int64 [steps], the tokens to write.
        trained: bool [steps], True for scales up to TRAIN.
    """

    tokens: Values
    marks: frozenset[int]
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
    return Examples(
        tokens=tokens,
        marks=frozenset(marks),
        text=text,
        query=place - 1,
        target=tokens[text, place],
        trained=np.array(scales)[index][text] <= TRAIN,
    )


def heads() -> Iterator[Head]:
    """Yield all heads."""
    for key, query, value in itertools.product((0, 1), repeat=3):
        for relation, rank, largest in itertools.product(RELATIONS, RANKS, (True, False)):
            if relation != "any" or key == query == 0:
                yield Head(key, query, relation, rank, largest, value)


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
    for head in heads():
        keys, queries = sources[head.key][rows], sources[head.query][rows, sample.query][:, None]
        looked = earlier & _related(keys, queries, head.relation)
        chosen = np.where(looked, ranks[head.rank][rows] * (1 if head.largest else -1), lowest).argmax(axis=1)
        read = np.where(looked.any(axis=1), sources[head.value][rows, chosen], NOTHING)
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
    last = sample.tokens[sample.text, sample.query]
    few = np.unique(np.linspace(0, len(last) - 1, FIRST_TRIED).astype(np.int64))
    for count in range(HEADS + 1):
        for names in itertools.combinations(values, count):
            read = [last, *(values[name] for name in names)]
            first = [part[few] for part in read]
            for tables in (_by_name, _by_pattern):
                if _is_table(tables(first, sample.marks), first, sample.target[few]) and _is_right(
                    tables(read, sample.marks), read, sample
                ):
                    return names
    return None


def _is_right(keys: Values, read: Sequence[Values], sample: Examples) -> bool:
    """True if training shows every key, and some table of the keys is right."""
    return bool(np.isin(keys, keys[sample.trained]).all()) and _is_table(keys, read, sample.target)


def _by_name(read: Sequence[Values], _: frozenset[int]) -> Values:
    """Return a number for each step, equal for steps with equal tokens."""
    return _numbered(read, 1 + max(int(part.max()) for part in read))


def _numbered(parts: Sequence[Values], size: int) -> Values:
    """Return the numbers -1 to size - 1 of each step as one number."""
    keys = np.zeros_like(parts[0])
    for part in parts:
        keys = keys * (size + 1) + part + 1
    return keys


def _by_pattern(read: Sequence[Values], marks: frozenset[int]) -> Values:
    """Return a number for each step, equal for steps whose tokens are the same marks and equal to the same others."""
    named = np.array([NOTHING, *sorted(marks)])
    classes = [np.where(np.isin(part, named), np.searchsorted(named, part), NOTHING) for part in read]
    equal = [(first == second).astype(np.int64) for first, second in itertools.combinations(read, 2)]
    return _numbered([*classes, *equal], max(2, len(named) + 1))


def _is_table(keys: Values, read: Sequence[Values], target: Values) -> bool:
    """True if each key has one symbol, or one of the tokens read, that is always the target."""
    row = np.unique(keys, return_inverse=True)[1]
    size = int(row.max()) + 1
    smallest, largest = np.full(size, np.iinfo(np.int64).max), np.full(size, NOTHING)
    np.minimum.at(smallest, row, target)
    np.maximum.at(largest, row, target)
    right = smallest == largest
    for part in read:
        right |= np.bincount(row[part != target], minlength=size) == 0
    return bool(right.all())
