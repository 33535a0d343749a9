"""Mutants: single changes of the project's code, each of which should make some claim or test fail.

A change is one token replaced by another, or one expression by a close one: its sign flipped, a bound at zero taken
away, a number doubled, two arguments exchanged, an exponent raised, a term of a sum or a part of a condition dropped, a
condition negated, a sorted list left unsorted.
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
    "theory": ("theory/*.py", "theory/formula/*.py"),
    "torch": ("empirical/encodings/*.py",),
    "audit": ("empirical/audit/*.py",),
    "circuits": ("circuits/*.py", "circuits/search/*.py", "circuits/tasks/*.py"),
    "checker": ("circuits/checker/*.py",),
    "training": ("empirical/model/*.py", "empirical/runs/*.py", "empirical/training/*.py", "empirical/trial/*.py"),
    "ledger": ("proofs_checks/*.py",),
    "figures": ("paper_figs/*.py", "paper_figs/report/*.py"),
    "system": ("theory/system/*.py",),
    "commands": ("lengthgen/*.py", "lengthgen/commands/*.py", "lengthgen/tables/*.py"),
}
"""Groups of modules that are mutated, by name. Not mutated: proofs_checks/papers, which states the claims."""

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
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
ABSOLUTE = {"Max": "abs", "max": "abs", "relu": "abs", "clamp": "abs", "clip": "abs"}
SYMMETRIC = {"Max", "Min", "max", "min", "gcd", "isinstance", "Add", "Mul", "Eq", "And", "Or"}
"""Functions that do not tell their arguments' order."""

Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one line: `was` at a column, in characters, is replaced by `becomes`."""

    path: str
    line: int
    column: int
    was: str
    becomes: str
    kind: str
    text: str

    @property
    def module(self) -> str:
        """The dotted name of the changed module."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def mutated_text(self) -> str:
        """The whole changed line, without its indentation."""
        return self.source().splitlines()[self.line - 1].strip()

    def source(self) -> str:
        """The whole text of the changed module."""
        lines = (ROOT / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.column] + self.becomes + line[self.column + len(self.was) :]
        return "".join(lines)

    def in_words(self) -> str:
        """Where it is, and what changes."""
        return f"{self.path}:{self.line} {self.was} -> {self.becomes} in {self.text}"


def modules(place: str) -> list[Path]:
    """The files of one of PLACES, sorted by path."""
    return sorted(chain.from_iterable(ROOT.glob(pattern) for pattern in PLACES[place]))


def mutants(place: str, count: int, seed: int) -> list[Mutant]:
    """Different mutants of one of PLACES, drawn at random: of each kind as many, while there are some."""
    paths = modules(place)
    by_kind: dict[str, list[Mutant]] = {}
    for one in chain.from_iterable(map(of_file, paths)):
        by_kind.setdefault(one.kind, []).append(one)
    draw = Random(seed)
    for kind in sorted(by_kind):
        draw.shuffle(by_kind[kind])
    in_turn = chain.from_iterable(zip_longest(*(by_kind[kind] for kind in sorted(by_kind))))
    drawn: list[Mutant] = []
    for one in in_turn:
        if len(drawn) == count:
            break
        if one is not None and _differs(one):
            drawn.append(one)
    return drawn


def of_file(path: Path) -> Iterator[Mutant]:
    """Every mutant of one file; annotations, imports, strings and error messages have none.

    Nor have, outside the encodings, numbers that a module gives a name: they limit efforts, and no formula uses them.
    """
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines, skipped = text.splitlines(), _not_code(tree)
    if path.parent.name != "encodings":
        skipped += [_span(node) for node in tree.body if isinstance(node, ast.Assign) and _is_number(node.value)]
    for kind, (line, column), was, becomes in chain(_of_tokens(text, tree), _of_expressions(tree, lines)):
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
"""Kind, (line, column), the text there, and what takes its place."""


def _of_tokens(text: str, tree: ast.Module) -> Iterator[Change]:
    arguments = _arguments(tree)
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        word = token.string
        if token.type == tokenize.NUMBER and word.isdigit():
            yield "number", token.start, word, str(int(word) + 1)
            if int(word) > 1:
                yield "constant", token.start, word, str(2 * int(word))
        elif token.type == tokenize.NUMBER:
            yield "constant", token.start, word, f"(2 * {word})"
        elif token.type == tokenize.OP or word in SWAPS or keyword.iskeyword(word):
            for other in SWAPS.get(word, []):
                yield "operator", token.start, word, other
        elif token.type == tokenize.NAME and before != ".":
            for lines, names in reversed(arguments):
                if token.start[0] in lines and word in names:
                    yield from (("name", token.start, word, name) for name in names[:2] if name != word)
                    break
        before = word


def _of_expressions(tree: ast.Module, lines: list[str]) -> Iterator[Change]:
    """Changes of whole expressions that stand on one line."""

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
        elif isinstance(node, ast.Call) and not any(isinstance(one, ast.Starred) for one in node.args):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ABSOLUTE and isinstance(node.func, ast.Attribute) and not len(node.args) > 1:
                yield "bound", at(node), text(node), f"({text(node.func.value)})"
            elif name in ABSOLUTE and len(node.args) > 1:
                yield "bound", at(node), text(node), f"({text(node.args[0])})"
                yield "bound", at(node), text(node), f"abs({text(node.args[0])})"
            if len(node.args) > 1 and name not in SYMMETRIC:
                first, second = node.args[:2]
                written = lines[node.lineno - 1].encode()
                between = written[first.end_col_offset : second.col_offset].decode()
                whole = written[first.col_offset : second.end_col_offset].decode()
                yield "order", at(first), whole, f"{text(second)}{between}{text(first)}"
            elif name == "sorted" and isinstance(node.func, ast.Name):
                yield "unsorted", at(node), text(node), f"list({text(node.args[0])})"
        elif isinstance(node, ast.BoolOp):
            for operand in node.values:
                rest = [f"({text(other)})" for other in node.values if other is not operand]
                joined = (" and " if isinstance(node.op, ast.And) else " or ").join(rest)
                yield "condition", at(node), text(node), f"({joined})"
        if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) and id(node) in conditions:
            yield "negation", at(node), text(node), f"(not ({text(node)}))"


def _arguments(tree: ast.Module) -> list[tuple[range, list[str]]]:
    """The arguments of every function, and where its body is."""
    bodies = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            names = [name for name in names if name != "self"]
            bodies.append((range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1), names))
    return bodies


def _not_code(tree: ast.Module) -> list[Span]:
    """Where signatures, annotations, decorators, imports, assertions and errors are."""
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
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    parts = ast.BinOp | ast.UnaryOp | ast.Constant | ast.operator | ast.unaryop
    return all(isinstance(node, parts) for node in ast.walk(value))


def _differs(one: Mutant) -> bool:
    """Whether the changed module is code, and other code."""
    try:
        before = (ROOT / one.path).read_text(encoding="utf-8")
        return ast.dump(ast.parse(one.source())) != ast.dump(ast.parse(before))
    except SyntaxError:
        return False
