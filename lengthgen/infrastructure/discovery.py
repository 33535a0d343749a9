"""Modules that are found in their package's folder, so that adding one needs no list to be edited."""

import pkgutil
from importlib import import_module
from types import ModuleType


def sibling_modules(name: str) -> list[ModuleType]:
    """Import every other module that lies beside the one of this full name, by name; packages are left out."""
    package = import_module(name.rpartition(".")[0])
    siblings = sorted(
        f"{package.__name__}.{entry.name}" for entry in pkgutil.iter_modules(package.__path__) if not entry.ispkg
    )
    return [import_module(sibling) for sibling in siblings if sibling != name]
