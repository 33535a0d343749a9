"""Messages on stderr, separate from the answer of a command."""

import sys

from lengthgen.infrastructure.errors import one_line


def tell(line: str) -> None:
    """Print one line on stderr immediately, with control characters escaped."""
    print(one_line(line), file=sys.stderr, flush=True)
