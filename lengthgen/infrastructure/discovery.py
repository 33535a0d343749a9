"""Modules that are found in their package's folder, so that adding one needs no list to be edited."""

import pkgutil
from importlib import import_module
from types import ModuleType


def sibling_modules(name: str) -> list[ModuleType]:
    """Import every module that lies beside one of them.

    Args:
        name: full name of a module, in its own words `__name__`.

    Returns:
        The other modules of its package, by name; packages inside it are left out.
    """
    package = import_module(name.rpartition(".")[0])
    siblings = sorted(
        f"{package.__name__}.{entry.name}" for entry in pkgutil.iter_modules(package.__path__) if not entry.ispkg
    )
    return [import_module(sibling) for sibling in siblings if sibling != name]
