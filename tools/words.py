"""Lint for plain words: `python tools/words.py` names every docstring and variable that reads like a riddle.

A docstring begins with its subject or a verb ("Logits of one head", "Return the slope", "True if ..."), so that whoever
reads it alone knows its subject. Names say what they hold.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen", "bench", "tools", "tests")
OPENINGS = frozenset(
    {
        "As",
        "At",
        "By",
        "For",
        "From",
        "How",
        "In",
        "It",
        "No",
        "Not",
        "Nothing",
        "Of",
        "On",
        "One",
        "So",
        "That",
        "Those",
        "To",
        "What",
        "When",
        "Where",
        "Whether",
        "Which",
        "Who",
        "With",
    }
)
"""First words of docstrings that have no subject; a question, which ends with a question mark, may begin with them."""
NAMES = frozenset({"asked", "found", "known", "one", "said", "told", "whole"})
"""Names that fit anything."""


def riddles(path: Path) -> Iterator[str]:
    """The places in a file to mend, each as `path:line: what`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            summary = (ast.get_docstring(node) or "-").split("\n\n")[0].split(". ")[0]
            opening = summary.split()[0].strip(",.:;")
            if opening in OPENINGS and "?" not in summary and not states_claim(node):
                yield f"{path}:{getattr(node, 'lineno', 1)}: the docstring begins with '{opening}': name its subject"
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        if name in NAMES and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            yield f"{path}:{node.lineno}: the name '{name}' says nothing: name the thing"


def states_claim(node: ast.AST) -> bool:
    """True if the docstring is the statement of a claim, word by word: `CLAIMS.claim` decorates it."""
    decorators = getattr(node, "decorator_list", [])
    return any(isinstance(call, ast.Call) and ast.unparse(call.func) == "CLAIMS.claim" for call in decorators)


def main() -> int:
    """Print all places; 1 if there are some."""
    root = Path(__file__).resolve().parents[1]
    places = [place for folder in FOLDERS for path in sorted((root / folder).rglob("*.py")) for place in riddles(path)]
    print("\n".join(place.removeprefix(f"{root}/") for place in places))
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
