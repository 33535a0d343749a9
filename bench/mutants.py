"""Mutants: single changes of the code of the project, each of which should make some claim or test fail.

A change replaces one token by another, or one expression by a similar one: a flipped sign, a removed bound at zero, a
doubled number, two exchanged arguments, a raised exponent, a dropped term of a sum or part of a condition, a negated
condition, a list left unsorted.
"""

import ast
import io
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "encodings": ("theory/encodings/*.py",),
    "theory": ("theory/*.py", "theory/formula/*.py", "theory/learning/*.py", "theory/zero/*.py"),
    "torch": ("empirical/encodings/*.py",),
    "audit": ("empirical/audit/*.py", "empirical/audit/models/*.py"),
    "circuits": (
        "circuits/*.py",
        "circuits/languages/*.py",
        "circuits/questions/*.py",
        "circuits/search/*.py",
        "circuits/tasks/*.py",
        "circuits/tasks/published/*.py",
        "circuits/forecast/*.py",
    ),
    "checker": ("circuits/checker/*.py",),
    "training": (
        "empirical/experiment/*.py",
        "empirical/model/*.py",
        "empirical/studies/**/*.py",
        "empirical/trial/*.py",
    ),
    "ledger": ("proofs_checks/*.py", "proofs_checks/formal/*.py"),
    "figures": ("paper_figs/*.py", "paper_figs/figures/*.py", "paper_figs/report/*.py"),
    "infrastructure": ("lengthgen/infrastructure/*.py",),
    "commands": ("lengthgen/*.py", "lengthgen/questions/*.py", "lengthgen/terminal/*.py"),
}
"""Groups of modules that are mutated, by name. Not mutated: the modules that state claims."""

SWAPS = {
    "+": ["-", "*"],
    "-": ["+"],
    "*": ["+", "/"],
    "/": ["*"],
    "//": ["/", "*"],
    "%": ["*"],
    "**": ["*"],
    "@": ["+"],
    "<": ["<=", ">"],
    "<=": ["<", ">="],
    ">": [">=", "<"],
    ">=": [">", "<="],
    "==": ["!="],
    "!=": ["=="],
    "sin": ["cos"],
    "cos": ["sin"],
    "sinh": ["cosh"],
    "cosh": ["sinh"],
    "exp": ["cosh"],
    "log": ["sqrt"],
    "Max": ["Min"],
    "Min": ["Max"],
    "max": ["min"],
    "min": ["max"],
    "Sum": ["Product"],
    "Product": ["Sum"],
    "and": ["or"],
    "or": ["and"],
    "True": ["False"],
    "False": ["True"],
    "floor": ["ceiling"],
    "ceiling": ["floor"],
}
"""Replacements for each token."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
ABSOLUTE = {"Max": "abs", "max": "abs", "relu": "abs", "clamp": "abs", "clip": "abs"}
SYMMETRIC = {"Max", "Min", "max", "min", "gcd", "isinstance", "Add", "Mul", "Eq", "And", "Or"}
"""Functions whose result does not depend on the order of their arguments."""

Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one line of a module.

    Attributes:
        path: path of the file, relative to the root of the repository.
        line: line number, from 1.
        column: column in characters, from 0.
        was: the text at this place.
        becomes: its replacement.
        kind: kind of change, such as "sign" or "operator".
        text: the whole line before the change, without indentation.
    """

    path: str
    line: int
    column: int
    was: str
    becomes: str
    kind: str
    text: str

    @property
    def module(self) -> str:
        """Dotted name of the changed module."""
        return module_name(self.path)

    @property
    def definition(self) -> str:
        """Name of the function, class or constant of the module that is changed, in lower case; empty for none."""
        for node in ast.parse((ROOT / self.path).read_text(encoding="utf-8")).body:
            if node.lineno <= self.line <= (node.end_lineno or 0):
                target = node.targets[0] if isinstance(node, ast.Assign) else node
                return str(getattr(target, "name", getattr(target, "id", ""))).strip("_").lower()
        return ""

    @property
    def mutated_text(self) -> str:
        """Whole changed line, without its indentation."""
        return self.source().splitlines()[self.line - 1].strip()

    def source(self) -> str:
        """Whole text of the changed module."""
        lines = (ROOT / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.column] + self.becomes + line[self.column + len(self.was) :]
        return "".join(lines)

    def description(self) -> str:
        """Place and text of the change."""
        return f"{self.path}:{self.line} {self.was} -> {self.becomes} in {self.text}"


def module_name(path: str) -> str:
    """Dotted name of the module in a file; the path is relative to the root of the repository."""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return name if name.partition(".")[0] == "lengthgen" else f"lengthgen.{name}"


def modules(place: str) -> list[Path]:
    """Files of one of PLACES, sorted by path."""
    return sorted(chain.from_iterable(ROOT.glob(pattern) for pattern in PLACES[place]))


def mutants(place: str, count: int, seed: int) -> list[Mutant]:
    """Distinct mutants of one of PLACES, drawn at random; all kinds get equal numbers as long as there are mutants."""
    paths = modules(place)
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in chain.from_iterable(map(mutants_of_file, paths)):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    draw = Random(seed)
    for kind in sorted(by_kind):
        draw.shuffle(by_kind[kind])
    by_turns = chain.from_iterable(zip_longest(*(by_kind[kind] for kind in sorted(by_kind))))
    selected: list[Mutant] = []
    for mutant in by_turns:
        if len(selected) == count:
            break
        if mutant is not None and _changes_code(mutant):
            selected.append(mutant)
    return selected


def mutants_of_file(path: Path) -> Iterator[Mutant]:
    """Iterate over all mutants of one file; annotations, imports, strings and error messages have none.

    Outside the encodings, named numbers of a module have none either: they limit effort, and no formula uses them.
    """
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines, skipped = text.splitlines(), _spans_without_mutants(tree)
    if path.parent.name != "encodings":
        skipped += [_span(node) for node in tree.body if isinstance(node, ast.Assign) and _is_number(node.value)]
    for kind, (line, column), was, becomes in chain(_token_changes(text, tree), _expression_changes(tree, lines)):
        if not any(start <= (line, column) < end for start, end in skipped):
            yield Mutant(
                path=path.relative_to(ROOT).as_posix(),
                line=line,
                column=column,
                was=was,
                becomes=becomes,
                kind=kind,
                text=lines[line - 1].strip(),
            )


Change = tuple[str, tuple[int, int], str, str]
"""Kind, (line, column), the text there, and its replacement."""


def _token_changes(text: str, tree: ast.Module) -> Iterator[Change]:
    """Iterate over the changes of single tokens."""
    arguments = _arguments(tree)
    previous = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        word = token.string
        if token.type == tokenize.NUMBER and word.isdigit():
            yield "number", token.start, word, str(int(word) + 1)
            if int(word) > 1:
                yield "constant", token.start, word, str(2 * int(word))
        elif token.type == tokenize.NUMBER:
            yield "constant", token.start, word, f"(2 * {word})"
        elif token.type == tokenize.OP or word in SWAPS or keyword.iskeyword(word):
            for replacement in SWAPS.get(word, []):
                yield "operator", token.start, word, replacement
        elif token.type == tokenize.NAME and previous != ".":
            for lines, names in reversed(arguments):
                if token.start[0] in lines and word in names:
                    yield from (("name", token.start, word, name) for name in names[:2] if name != word)
                    break
        previous = word


def _expression_changes(tree: ast.Module, lines: list[str]) -> Iterator[Change]:
    """Iterate over the changes of whole expressions that stand on one line."""

    def at(node: ast.expr) -> tuple[int, int]:
        return node.lineno, len(lines[node.lineno - 1].encode()[: node.col_offset].decode())

    def text(node: ast.expr) -> str:
        return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()

    tests = (node.test for node in ast.walk(tree) if isinstance(node, ast.If | ast.IfExp | ast.While))
    conditions = set(map(id, tests))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
            for operand in (node.left, node.right):
                if isinstance(operand, ast.Name | ast.Call | ast.BinOp | ast.Subscript | ast.Attribute):
                    yield "sign", at(operand), text(operand), f"(-({text(operand)}))"
            if isinstance(node.op, ast.Pow):
                yield "exponent", at(node.right), text(node.right), f"({text(node.right)} + 1)"
            if isinstance(node.op, ast.Add | ast.Sub):
                yield "term", at(node), text(node), f"({text(node.left)})"
                if isinstance(node.op, ast.Add):
                    yield "term", at(node), text(node), f"({text(node.right)})"
        elif isinstance(node, ast.Call) and not any(isinstance(argument, ast.Starred) for argument in node.args):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ABSOLUTE and isinstance(node.func, ast.Attribute) and not len(node.args) > 1:
                yield "bound", at(node), text(node), f"({text(node.func.value)})"
            elif name in ABSOLUTE and len(node.args) > 1:
                yield "bound", at(node), text(node), f"({text(node.args[0])})"
                yield "bound", at(node), text(node), f"abs({text(node.args[0])})"
            if len(node.args) > 1 and name not in SYMMETRIC:
                first, second = node.args[:2]
                line_bytes = lines[node.lineno - 1].encode()
                between = line_bytes[first.end_col_offset : second.col_offset].decode()
                both_arguments = line_bytes[first.col_offset : second.end_col_offset].decode()
                yield "order", at(first), both_arguments, f"{text(second)}{between}{text(first)}"
            elif name == "sorted" and isinstance(node.func, ast.Name):
                yield "unsorted", at(node), text(node), f"list({text(node.args[0])})"
        elif isinstance(node, ast.BoolOp):
            for operand in node.values:
                others = [f"({text(value)})" for value in node.values if value is not operand]
                joined = (" and " if isinstance(node.op, ast.And) else " or ").join(others)
                yield "condition", at(node), text(node), f"({joined})"
        if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) and id(node) in conditions:
            yield "negation", at(node), text(node), f"(not ({text(node)}))"


def _arguments(tree: ast.Module) -> list[tuple[range, list[str]]]:
    """Line range of the body and names of the arguments of every function."""
    bodies = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            names = [name for name in names if name != "self"]
            bodies.append((range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1), names))
    return bodies


def _spans_without_mutants(tree: ast.Module) -> list[Span]:
    """Spans of signatures, annotations, decorators, imports, assertions and errors."""
    nodes: list[ast.expr | ast.stmt] = []
    spans: list[Span] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr | ast.Assert):
            nodes.append(node)
        elif isinstance(node, ast.FunctionDef):
            nodes += node.decorator_list
            spans.append(((node.lineno, 0), (node.body[0].lineno, 0)))
        elif isinstance(node, ast.AnnAssign):
            nodes.append(node.annotation)
        elif isinstance(node, ast.ClassDef):
            nodes += node.decorator_list
    return spans + list(map(_span, nodes))


def _span(node: ast.expr | ast.stmt) -> Span:
    """Start and end of a node, each (line, column)."""
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _is_number(value: ast.expr) -> bool:
    """True if an expression consists of numbers alone."""
    parts = ast.BinOp | ast.UnaryOp | ast.Constant | ast.operator | ast.unaryop
    return all(isinstance(node, parts) for node in ast.walk(value))


def _changes_code(mutant: Mutant) -> bool:
    """True if the changed module is valid Python and its syntax tree differs."""
    try:
        before = (ROOT / mutant.path).read_text(encoding="utf-8")
        return ast.dump(ast.parse(mutant.source())) != ast.dump(ast.parse(before))
    except SyntaxError:
        return False
