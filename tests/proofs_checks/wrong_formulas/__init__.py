"""Wrong formulas, one module per paper: each replaces a formula of the project, and each claim named must refute it.

`WRONG` lists (name of the formula, what replaces it, claims that refute it, regular expression of their message). A
name is of a module of lengthgen.theory.encodings unless it says otherwise; without an expression the message holds a
number.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = [
    import_module(f"{__name__}.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]


def cases(others: list[tuple[Any, ...]]) -> Iterator[tuple[str, Any, str, str]]:
    """(full name of the formula, what replaces it, one claim, expression) of other rows and of those of all modules."""
    for row in (*others, *(row for module in MODULES for row in module.WRONG)):
        formula, wrong, claims, message = (*row, r"\d")[:4]
        for claim in claims.split():
            yield (
                formula if formula.startswith("lengthgen.") else f"lengthgen.theory.encodings.{formula}",
                wrong,
                claim,
                message,
            )
