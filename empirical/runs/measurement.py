"""One row of metrics: what one run does at one checkpoint and scale; and all rows of a run as a parquet file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.system.errors import LengthgenError

MAY_BE_NAN = ("first_wrong", "exact_match_seen", "token_accuracy_seen")
"""Columns that are NaN where no sample is wrong, or no sample or step was seen; all others are finite."""


class MetricsError(LengthgenError):
    """Rows of metrics that are not those of their run; one line says why."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of metrics: what one run does at one checkpoint and scale.

    Attributes:
        epoch: of the checkpoint.
        exact_match: share of samples whose generated tokens are all right.
        token_accuracy: share of generated tokens that are right, each after the right tokens before it.
        first_wrong: median number of the first wrong step, from 1, among samples that are not all right; may be NaN.
        seen_steps: share of steps whose operator entry occurs in the run's training set.
        seen_samples: share of samples all of whose steps' entries do.
        exact_match_seen: exact match among these; may be NaN.
        token_accuracy_seen: share of the seen steps that are right; may be NaN.
        training_loss: mean cross-entropy of the epoch that ended.
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
    right_BJ: NDArray[np.bool_], seen_BJ: NDArray[np.bool_], *, epoch: int, scale: int, training_loss: float
) -> Measurement:
    """One row from which steps are right, and which have an operator entry that training showed."""
    exact, seen = np.asarray(right_BJ.all(axis=1)), np.asarray(seen_BJ.all(axis=1))
    wrong = right_BJ[~exact].argmin(axis=1) + 1
    return Measurement(
        epoch=epoch,
        scale=scale,
        exact_match=float(exact.mean()),
        token_accuracy=float(right_BJ.mean()),
        first_wrong=float(np.median(wrong)) if len(wrong) else float("nan"),
        seen_steps=float(seen_BJ.mean()),
        seen_samples=float(seen.mean()),
        exact_match_seen=float(exact[seen].mean()) if seen.any() else float("nan"),
        token_accuracy_seen=float(right_BJ[seen_BJ].mean()) if seen_BJ.any() else float("nan"),
        training_loss=training_loss,
    )


def encoded(rows: Sequence[Measurement], asked: Sequence[tuple[int, int]]) -> bytes:
    """Rows as a parquet file.

    Args:
        rows: of one run.
        asked: (epoch, scale) of each, in their order.

    Raises:
        MetricsError: they are other rows, or a number is not finite and may not be NaN.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in _columns()])
    try:
        table = pa.Table.from_pylist([asdict(row) for row in rows], schema=schema)
    except pa.ArrowException as error:
        raise MetricsError(f"not all are numbers: {error}") from error
    _require(table, asked)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decoded(content: bytes, asked: Sequence[tuple[int, int]]) -> list[Measurement]:
    """The rows of a parquet file. Nothing of a file with more rows, or with other columns, is read.

    Args:
        content: of the file.
        asked: (epoch, scale) of each row, in their order.

    Raises:
        MetricsError: it is no such file, or holds other rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if file.metadata.num_rows != len(asked):
            raise MetricsError(f"it has {file.metadata.num_rows:,} rows, and {len(asked):,} are asked for")
        if [(field.name, str(field.type)) for field in file.schema_arrow] != _columns():
            raise MetricsError("its columns are not those of a measurement")
        # Not `read_table`: its threads outlive it, and where torch is loaded they abort the process at its end.
        table = file.read(use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise MetricsError(str(error)) from error
    _require(table, asked)
    columns = table.to_pydict()
    return [Measurement(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _columns() -> list[tuple[str, str]]:
    """Name and parquet type of each column."""
    return [(field.name, "int64" if field.type is int else "double") for field in fields(Measurement)]


def _require(table: Any, asked: Sequence[tuple[int, int]]) -> None:
    """Raises MetricsError for a pyarrow table of other rows than are asked for, or of numbers that cannot be."""
    named = list(zip(table["epoch"].to_pylist(), table["scale"].to_pylist(), strict=True))
    if named != list(asked):
        missing = sorted(set(asked) - set(named))
        lacking = (
            "none is of epoch {} and scale {}".format(*missing[0]) if missing else "some are others or in disorder"
        )
        raise MetricsError(f"{len(named):,} rows, and {len(asked):,} are asked for: {lacking}")
    for name, kind in _columns():
        numbers = table[name].to_numpy() if kind == "double" else np.zeros(0)
        bad = np.isinf(numbers) if name in MAY_BE_NAN else ~np.isfinite(numbers)
        if table[name].null_count or bad.any():
            raise MetricsError(f"not every {name} is a finite number")
