"""What a command says beside its answer, on stderr."""

import sys

from theory.system.errors import one_line


def tell(line: str) -> None:
    """Prints one line on stderr at once, its control characters escaped."""
    print(one_line(line), file=sys.stderr, flush=True)
