"""Modules and studies that are found in their package's folder, so that adding one needs no list to be edited."""

import pkgutil
from functools import lru_cache
from importlib import import_module
from types import ModuleType


def sibling_modules(name: str) -> list[ModuleType]:
    """Import every other module that lies beside the one of this full name, by name; packages are left out."""
    package = import_module(name.rpartition(".")[0])
    siblings = sorted(
        f"{package.__name__}.{entry.name}" for entry in pkgutil.iter_modules(package.__path__) if not entry.ispkg
    )
    return [import_module(sibling) for sibling in siblings if sibling != name]


@lru_cache
def studies() -> tuple[ModuleType, ...]:
    """Return the packages of `lengthgen.empirical.studies` by name; each names its parts, which are not imported."""
    package = import_module("lengthgen.empirical.studies")
    names = sorted(entry.name for entry in pkgutil.iter_modules(package.__path__) if entry.ispkg)
    return tuple(import_module(f"{package.__name__}.{name}") for name in names)


def parts_of_studies(kind: str) -> dict[str, ModuleType]:
    """Import the module that each study names as its part of a kind, such as VIEW; return study -> module."""
    return {
        study.__name__.rpartition(".")[2]: import_module(f"{study.__name__}.{getattr(study, kind)}")
        for study in studies()
        if hasattr(study, kind)
    }
