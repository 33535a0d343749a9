"""Rows of plain values as parquet files: written whole or not at all, and checked when they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from theory.system.errors import LengthgenError
from theory.system.files import read_bytes, write_bytes

LARGEST = 64 << 20
"""Largest number of bytes of a file that is read."""


class TableError(LengthgenError):
    """A table of a verdict is missing or damaged; the message says which, in one line."""


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows with equal keys as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink, compression="zstd")
    write_bytes(path, sink.getvalue().to_pybytes())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows that `write_rows` wrote.

    Raises:
        TableError: the file is missing, too large, or no parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = read_bytes(path, largest=LARGEST)
        # Not `read_table`: its threads outlive it, and if torch is loaded they abort the process at its exit.
        rows: list[dict[str, Any]] = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False).to_pylist()
    except (OSError, ValueError, pa.ArrowException, LengthgenError) as error:
        raise TableError(f"{path} cannot be read ({error})") from error
    return rows
