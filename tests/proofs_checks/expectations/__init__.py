"""What the ledger is to say, a module a paper: each holds as data what one set of tests asks of every claim.

`EXPECTED`: id -> verdict and strength.  `COUNTEREXAMPLES`: id -> falsifier -> what its refutation says.  `FIGURES`:
id -> what facts or reason must quote.  `WRONG`: formula, a wrong one in its place, the claim that refutes it and how.
"""

from importlib import import_module
from pathlib import Path

MODULES = [
    import_module(f"{__name__}.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]
