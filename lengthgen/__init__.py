"""Check claims about position encodings and length generalization: the public interface, and the command line.

Write `from lengthgen import Task, src, predict`: all public names are listed in `__init__.pyi`, and each is imported
when it is first used. The packages that define them (`theory`, `circuits`, ...) have short names; no code of a user
needs these.

This module imports little, because Python ends at an interrupt with a traceback until `lengthgen.__main__` heeds it.
"""

import os
import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

PACKAGES = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs")
"""Packages that are installed beside this one."""


def _require_own_packages() -> None:
    """Raise ImportError if another package hides one of PACKAGES, as a folder `theory` beside a user's script does."""
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for name in PACKAGES:
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        places = [os.path.realpath(place) for place in (spec and spec.submodule_search_locations) or ()]
        if os.path.join(here, name) not in places:
            there = (spec and (spec.origin or places[0])) or "nowhere"
            raise ImportError(
                f"lengthgen needs its own package '{name}', and Python finds {there}: rename that, or run Python in "
                "another folder"
            )


@lru_cache(maxsize=1)
def _public() -> dict[str, tuple[str, str]]:
    """Return public name -> (module, name there), as the stub lists them."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; `__all__` leaves out those whose extra is not installed."""
    if name == "__all__":
        return [public for public in sorted(_public()) if _is_installed(public)]
    if name.startswith("_") or name not in _public():
        raise AttributeError(f"module 'lengthgen' has no public name '{name}'")
    module, attribute = _public()[name]
    try:
        value = globals()[name] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        from lengthgen.preconditions import TRAINING, missing_training

        if error.name not in TRAINING:
            raise
        raise ModuleNotFoundError(missing_training(error.name), name=error.name) from None
    return value


def _is_installed(name: str) -> bool:
    """True unless the public name needs an extra that is not installed."""
    try:
        __getattr__(name)
    except ModuleNotFoundError as error:
        from lengthgen.preconditions import TRAINING

        if error.name not in TRAINING:
            raise
        return False
    return True


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_public())


_require_own_packages()
