"""Wrong formulas, one module per paper: each replaces a formula of the project, and a claim must refute it.

`WRONG` lists (name of the formula, what replaces it, claim that refutes it, regular expression of its message).
"""

from importlib import import_module
from pathlib import Path

MODULES = [
    import_module(f"{__name__}.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]
