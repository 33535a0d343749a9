"""Symbolic theory of position encodings: position relations, patterns and their LRC, and laws of encodings."""

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
