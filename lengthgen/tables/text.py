"""Language models of text, as a table for people."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from rich.console import Group

from lengthgen.tables.layout import columns, titled


def text_table(answer: Mapping[str, Any]) -> Group:
    """Return, by encoding and length, the mean loss of the last bytes over seeds, and the recalled keys."""
    lengths = list(dict.fromkeys(length for tests in answer["encodings"].values() for length in tests))
    table = columns("encoding", *lengths, f"keys at {lengths[0]}", f"at {lengths[-1]}") if lengths else columns()
    for name, tests in answer["encodings"].items():
        losses = [f"{fmean(tests[length]['last']):.2f}" for length in lengths]
        table.add_row(name, *losses, *(f"{fmean(tests[length]['keys']):.0%}" for length in (lengths[0], lengths[-1])))
    return titled(
        f"{answer['corpus']['text']}, trained at {answer['trained_length']} bytes, {answer['seeds']} models each",
        table,
        "loss of the last bytes in nats per byte, the same bytes after contexts of each length; lower is better",
        f"stored in {answer['folder']}",
        *answer["failures"],
    )
