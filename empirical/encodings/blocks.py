"""Blocks of queries: arrays over all pairs of queries and keys that are needed for a moment are made block by block.

Arrays of some megabytes stay in the processor's caches, and the allocator reuses their memory.
"""

PAIRS = 1 << 18
"""Largest number of pairs of a block, unless one query has more keys."""


def query_blocks(queries: int, keys: int) -> list[slice]:
    """Return consecutive slices of the queries, each with at most PAIRS pairs of a query and a key."""
    size = max(1, PAIRS // max(1, keys))
    return [slice(start, start + size) for start in range(0, max(1, queries), size)]
