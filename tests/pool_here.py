"""Work of other processes done in this one, for tests of what comes out: a worker takes seconds to start."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Any


class _Here:
    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*arguments))
        return future


def pool_here(count: int) -> AbstractContextManager[_Here]:
    """Stand-in for `theory.system.processes.pool`."""
    return nullcontext(_Here())
