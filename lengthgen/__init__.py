"""Check claims about position encodings and length generalization: the public interface, and the command line.

Write `from lengthgen import Task, src, predict`: all public names are listed in `__init__.pyi`, and each is imported
when it is first used, from the package in here that defines it (`lengthgen.theory`, `lengthgen.circuits`, ...). In a
clone those packages are links to the folders of the same name at its root.

This module imports little, because Python ends at an interrupt with a traceback until `lengthgen.__main__` heeds it.
"""

from functools import lru_cache
from importlib import import_module


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
        from lengthgen.terminal.preconditions import TRAINING, missing_training

        if error.name not in TRAINING:
            raise
        raise ModuleNotFoundError(missing_training(error.name), name=error.name) from None
    return value


def _is_installed(name: str) -> bool:
    """True unless the public name needs an extra that is not installed."""
    try:
        __getattr__(name)
    except ModuleNotFoundError as error:
        from lengthgen.terminal.preconditions import TRAINING

        if error.name not in TRAINING:
            raise
        return False
    return True


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_public())
