"""Functions whose answer to the same arguments is computed once."""

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with a cache, as `functools.cache` does, and with the signature that tools show."""
    return cast("Callable[P, T]", cache(function))
