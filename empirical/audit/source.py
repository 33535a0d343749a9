"""Place of the code that was audited, for reports that continuous integration shows beside it."""

import ast
import inspect
import sys
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from lengthgen.infrastructure.userfile import split_file


def source_of(thing: Any, spec: str = "") -> dict[str, Any] | None:
    """File and line of the function of an object, or of its class; None for code without a file.

    Args:
        thing: function, class, or an instance of the class.
        spec: path/to/file.py:name, by which the user named it. If its code is not in this file, as that of a class of a
            library is not, the place is that of the name.
    """
    try:
        place = _of_function(thing) or _of_class(thing if isinstance(thing, type) else type(thing))
        own = split_file(spec)
        if own and (place is None or Path(place[0]).resolve() != Path(own[0]).resolve()):
            place = own[0], _line_of_name(own[0], own[1] or "")
    except Exception:  # its code may raise wherever it is asked for something
        return None
    return place and {"file": place[0], "line": place[1]}


def _code_of(thing: Any) -> CodeType | None:
    """Code of a function, also within a method, a partial call or a decorator that keeps what it wraps."""
    while isinstance(thing, MethodType | partial | staticmethod | classmethod):
        thing = thing.func if isinstance(thing, partial) else thing.__func__
    unwrapped = inspect.unwrap(thing) if isinstance(thing, FunctionType) else None
    return unwrapped.__code__ if isinstance(unwrapped, FunctionType) else None


def _of_function(thing: Any) -> tuple[str, int] | None:
    code = _code_of(thing)
    return code and (code.co_filename, code.co_firstlineno)


def _of_class(kind: type) -> tuple[str, int] | None:
    """File and line of a class: the innermost one in the file around its first method, else one of its name."""
    codes = [code for code in map(_code_of, vars(kind).values()) if code and Path(code.co_filename).is_file()]
    file = codes[0].co_filename if codes else getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:
        return None
    classes = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
    first = codes[0].co_firstlineno if codes else 0
    around = [node for node in classes if node.lineno <= first <= (node.end_lineno or 0)] or classes
    return file, around[-1].lineno if around else max(first, 1)


def _line_of_name(file: str, name: str) -> int:
    """Line at the top level of a file that last defines a name; 1 if there is none."""
    lines = [1]
    for node in _tree(file).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined = {node.name}
        else:
            defined = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and type(part.ctx) is ast.Store}
        if name in defined:
            lines.append(node.lineno)
    return lines[-1]


def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_bytes())
