"""Rows of plain values as parquet files: written whole or not at all, and checked when they are read."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_bytes, write_bytes

LARGEST = 64 << 20
"""Largest number of bytes of a file that is read."""
DIGEST = b"rows-sha256"
"""Key of the file's metadata that holds the hash of all rows."""


class TableError(LengthgenError):
    """A table of rows is missing or damaged; the message says which, in one line."""


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows with equal keys as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(list(rows))
    table = table.replace_schema_metadata({DIGEST: _digest(table.to_pylist())})
    sink = pa.BufferOutputStream()
    # Statistics repeat the longest texts, and would be half of a small table.
    pq.write_table(table, sink, compression="zstd", compression_level=19, write_statistics=False)
    write_bytes(path, sink.getvalue().to_pybytes())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows that `write_rows` wrote.

    Raises:
        TableError: the file is missing, too large, no parquet file, or not as it was written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = read_bytes(path, largest=LARGEST)
        # Not `read_table`: its threads outlive it, and if torch is loaded they abort the process at its exit.
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        rows: list[dict[str, Any]] = table.to_pylist()
    except (OSError, ValueError, pa.ArrowException, LengthgenError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path} cannot be read ({reason})") from error
    if (table.schema.metadata or {}).get(DIGEST) != _digest(rows):
        raise TableError(f"{path} is not as it was written: take it from where it came, or make it again")
    return rows


def _digest(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return the SHA-256 of rows in hexadecimal digits."""
    return hashlib.sha256(json.dumps(list(rows), sort_keys=True).encode()).hexdigest().encode()
