"""Metrics: one row per checkpoint and scale of a run, and all rows of a run as a parquet file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError

MAY_BE_NAN = ("first_wrong", "exact_match_seen", "token_accuracy_seen")
"""Columns that are NaN if no sample is wrong, or no sample or step was seen; all others are finite."""


class MetricsError(LengthgenError):
    """Rows of metrics do not belong to their run; the message says why in one line."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Row of metrics: results of one run at one checkpoint and scale.

    Attributes:
        epoch: epoch of the checkpoint.
        exact_match: share of samples whose generated tokens are all right.
        token_accuracy: share of generated tokens that are right, each after the right tokens before it.
        first_wrong: median index of the first wrong step, from 1, among samples that are not all right; may be NaN.
        seen_steps: share of steps whose operator entry occurs in the run's training set.
        seen_samples: share of samples whose steps are all seen.
        exact_match_seen: exact match among the seen samples; may be NaN.
        token_accuracy_seen: share of the seen steps that are right; may be NaN.
        training_loss: mean cross-entropy, in nats per generated token, of the epoch that ended.
    """

    epoch: int
    scale: int
    exact_match: float
    token_accuracy: float
    first_wrong: float
    seen_steps: float
    seen_samples: float
    exact_match_seen: float
    token_accuracy_seen: float
    training_loss: float


def measurement(
    right_BJ: NDArray[np.bool_],
    seen_BJ: NDArray[np.bool_],
    exists_BJ: NDArray[np.bool_],
    *,
    epoch: int,
    scale: int,
    training_loss: float,
) -> Measurement:
    """Compute one row.

    Args:
        right_BJ: True where a generated token is right, and after the end of a sample, bool [samples, steps].
        seen_BJ: True where the step's operator entry occurs in the training set, and after the end of a sample, bool
            [samples, steps].
        exists_BJ: True where the sample has the step, bool [samples, steps].
        epoch: epoch of the checkpoint.
        scale: scale of the samples.
        training_loss: mean training loss of the epoch that ended.
    """
    sample_is_right, sample_is_seen = np.asarray(right_BJ.all(axis=1)), np.asarray(seen_BJ.all(axis=1))
    seen_steps = seen_BJ & exists_BJ
    first_wrong_steps = right_BJ[~sample_is_right].argmin(axis=1) + 1
    return Measurement(
        epoch=epoch,
        scale=scale,
        exact_match=float(sample_is_right.mean()),
        token_accuracy=float(right_BJ[exists_BJ].mean()),
        first_wrong=float(np.median(first_wrong_steps)) if len(first_wrong_steps) else float("nan"),
        seen_steps=float(seen_BJ[exists_BJ].mean()),
        seen_samples=float(sample_is_seen.mean()),
        exact_match_seen=float(sample_is_right[sample_is_seen].mean()) if sample_is_seen.any() else float("nan"),
        token_accuracy_seen=float(right_BJ[seen_steps].mean()) if seen_steps.any() else float("nan"),
        training_loss=training_loss,
    )


def to_parquet(rows: Sequence[Measurement], expected: Sequence[tuple[int, int]], may_end: range = range(0)) -> bytes:
    """Write rows as the bytes of a parquet file.

    Raises:
        MetricsError: other rows are given, or a number is not finite and may not be NaN.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def column(name: str, kind: str) -> Any:
        # `pyarrow.array` would import pandas.
        values = [getattr(row, name) for row in rows]
        numbers = np.array(values, dtype=None if values else kind).astype(kind, casting="safe")
        return pa.Array.from_buffers(pa.type_for_alias(kind), len(numbers), [None, pa.py_buffer(numbers)])

    try:
        table = pa.table({name: column(name, kind) for name, kind in _columns()})
    except TypeError as error:
        raise MetricsError(f"some values are not numbers: {error}") from error
    _require(table, expected, may_end)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def from_parquet(content: bytes, expected: Sequence[tuple[int, int]], may_end: range = range(0)) -> list[Measurement]:
    """Read the rows of a parquet file; a file with more rows or other columns is refused before it is read.

    Arguments as for `to_parquet`. Raises MetricsError if the content is no such file, or holds other rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if file.metadata.num_rows != len(expected):
            raise MetricsError(f"it has {file.metadata.num_rows:,} rows, expected {len(expected):,}")
        if [(field.name, str(field.type)) for field in file.schema_arrow] != _columns():
            raise MetricsError("its columns are not those of a measurement")
        # Not `read_table`: its threads outlive it, and if torch is loaded they abort the process at its exit.
        table = file.read(use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise MetricsError(str(error)) from error
    _require(table, expected, may_end)
    return [Measurement(**row) for row in table.to_pylist()]


def _columns() -> list[tuple[str, str]]:
    """Name and parquet type of each column."""
    return [(field.name, "int64" if field.type is int else "double") for field in fields(Measurement)]


def _require(table: Any, expected: Sequence[tuple[int, int]], may_end: range) -> None:
    """Raise MetricsError if a pyarrow table holds other rows than expected, or a number that cannot be."""
    columns = table.to_pydict()
    present = list(zip(columns["epoch"], columns["scale"], strict=True))
    if present and present[0][0] in may_end:
        expected = [(present[0][0], scale) for _, scale in expected]
    if present != list(expected):
        missing = set(expected) - set(present)
        reason = (
            "there is no row of epoch {} and scale {}".format(*min(missing))
            if missing
            else "some rows are unexpected or out of order"
        )
        raise MetricsError(f"{len(present):,} rows, expected {len(expected):,}: {reason}")
    for name, values in columns.items():
        if any(
            value is None or not (math.isfinite(value) or (name in MAY_BE_NAN and math.isnan(value)))
            for value in values
        ):
            raise MetricsError(f"not every {name} is a finite number")
