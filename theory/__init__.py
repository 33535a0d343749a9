"""Symbolic theory of position encodings: position relations, patterns and their LRC, and laws of encodings.

The one idea is `relation`: which pairs of positions can an encoding tell apart. `pattern` is what it has to represent.
`lrc` counts the labels that a pattern needs and `growth` says how that number grows, both also within an error
(`lrc_within`, `growth_within`); `generalization` judges relations. `laws`, `far` and `cacheability` decide what follows
from an encoding's formulas.
"""

from lengthgen.theory.relation import (
    Relation,
    absolute,
    clipped_relative,
    constant,
    from_function,
    from_labels,
    key_position,
    query_position,
    relative,
    t5_buckets,
)

__all__ = [
    "Relation",
    "absolute",
    "clipped_relative",
    "constant",
    "from_function",
    "from_labels",
    "key_position",
    "query_position",
    "relative",
    "t5_buckets",
]
