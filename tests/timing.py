"""Limits on the time that tests may take."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_once(seconds: float = 1.0) -> Iterator[None]:
    """Asserts that the block takes at most `seconds` of this thread's CPU time.

    The garbage collector is off meanwhile: it walks all objects that the other tests left in this process, which took
    more than the code under test did.
    """
    enabled = gc.isenabled()
    gc.disable()
    start = time.thread_time()
    try:
        yield
        taken = time.thread_time() - start
    finally:
        if enabled:
            gc.enable()
    assert taken < seconds, f"{taken:.2f} s of CPU time"
