"""Encodings of the encoder: those that treat keys on both sides of a query, and the label that each gives to a pair.

Sign of an offset: key minus query, so that keys to the right have positive offsets.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.encoding_spec import EncodingSpec, parse_encoding
from lengthgen.empirical.modular_addition.conditions import ConditionError
from lengthgen.theory.relation import t5_buckets


class Labels(StrEnum):
    """Kind of label that an encoding gives to a query and a key."""

    NONE = "none"  # the same for all pairs
    ROW = "row"  # row of the key, and of the query
    OFFSET = "offset"  # offset of the key from the query, perhaps by buckets


KINDS: Mapping[str, Labels] = {
    "nope": Labels.NONE,
    "ape": Labels.ROW,
    "sinusoidal": Labels.ROW,
    "alibi": Labels.OFFSET,
    "graph-alibi": Labels.OFFSET,
    "rope": Labels.OFFSET,
    "t5-bidirectional": Labels.OFFSET,
}
"""Encodings that an encoder can use, by name.  ALiBi's bias is -m |j - i|, and that of a path graph is the same."""


def bidirectional(name: str) -> EncodingSpec:
    """Return the encoding of a name, if an encoder can use it.

    Raises:
        EncodingError: there is no such encoding, or no such option.
        ConditionError: it is made for keys up to the query.
    """
    spec = parse_encoding(name)
    if spec.is_own or spec.name not in KINDS:
        why = "it does not tell keys to the right of a query apart"
        if spec.name == "t5":
            why += ": use t5-bidirectional"
        raise ConditionError(f"'{spec}' is not used in an encoder, as {why}; an encoder takes {', '.join(KINDS)}")
    return spec


def labels_of_offsets(spec: EncodingSpec) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the function from offsets to labels, integers of the same sign, that the encoding sees.

    ALiBi sees the distance alone; T5 sees the bucket and the side.  [P]
    """
    if KINDS[spec.name] == Labels.NONE:
        return np.zeros_like
    if spec.name in ("alibi", "graph-alibi"):
        return np.abs
    if spec.name == "t5-bidirectional":
        options = dict(spec.options)
        buckets = t5_buckets(int(options["buckets"]) // 2, int(options["longest"]))

        def bucketed(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
            distances = np.abs(offsets).ravel()
            labels = buckets.label(np.ones_like(distances), 1 + distances).reshape(offsets.shape)
            signed: NDArray[np.int64] = np.where(offsets > 0, labels, -labels)
            return signed

        return bucketed
    return lambda offsets: offsets
