"""Import statements of a file, read without running it."""

import ast
from functools import cache


@cache
def imported_names(text: bytes, package: str) -> tuple[str, ...]:
    """Full names of everything in a module's import statements that may be a module."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError):  # it cannot be imported, so it imports nothing
        return ()
    names = []
    while waiting:
        node = waiting.pop()
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):  # every field that may contain statements
            statements = getattr(node, inner, None)
            waiting += statements if isinstance(statements, list) else []
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                names += [".".join(parts[: end + 1]) for end in range(len(parts))]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(names)
