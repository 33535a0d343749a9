"""Would the ledger notice a wrong formula?  `python -m bench.mutations --count 200` changes one token at a time.

Of the symbolic encodings (theory/encodings) one token is changed, at random: an operator, a comparison, a number, a
function, the name of an argument.  Then the claims that read this module run, as `lengthgen verify` would run them,
until one does not hold.  What no claim notices is printed: it needs a claim, or a reason.
"""

import argparse
import ast
import importlib.util
import io
import keyword
import multiprocessing
import signal
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "theory" / "encodings"
TIME_LIMIT = 60
"""Seconds for a claim, as `verify` has it; beyond it a claim is unsettled, which is noticed."""

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


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One token of one module replaced by another, and what came of it."""

    module: str
    line: int
    column: int
    was: str
    becomes: str
    text: str

    def source(self) -> str:
        """The whole text of the changed module."""
        lines = _path(self.module).read_text(encoding="utf-8").splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.column] + self.becomes + line[self.column + len(self.was) :]
        return "".join(lines)


def mutations(count: int, seed: int) -> list[Mutation]:
    """Different mutations, drawn evenly from all that there are."""
    everything = [one for path in sorted(FOLDER.glob("*.py")) for one in _of_module(path)]
    Random(seed).shuffle(everything)
    return list(islice(filter(_differs, everything), count))


def _of_module(path: Path) -> Iterator[Mutation]:
    """Every token of code that can be replaced: annotations, imports and strings are none."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    arguments, skipped = _arguments(tree), _not_code(tree)
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        if any(start <= (line, column) < end for start, end in skipped):
            continue
        for becomes in _replacements(token, arguments):
            yield Mutation(
                module=f"theory.encodings.{path.stem}".removesuffix(".__init__"),
                line=line,
                column=column,
                was=token.string,
                becomes=becomes,
                text=lines[line - 1].strip(),
            )


def _replacements(token: tokenize.TokenInfo, arguments: list[tuple[range, list[str]]]) -> list[str]:
    if token.type == tokenize.NUMBER:
        return [str(int(token.string) + 1)] if token.string.isdigit() else []
    if token.type == tokenize.OP or token.string in SWAPS or keyword.iskeyword(token.string):
        return SWAPS.get(token.string, [])
    if token.type == tokenize.NAME:
        for lines, names in reversed(arguments):
            if token.start[0] in lines and token.string in names:
                return [name for name in names if name != token.string][:1]
    return []


def _arguments(tree: ast.Module) -> list[tuple[range, list[str]]]:
    """The arguments of every function, and where its body is."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            found.append((range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1), names))
    return found


def _not_code(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where signatures, annotations, decorators, imports and errors are."""
    nodes: list[ast.expr | ast.stmt] = []
    spans: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr):
            nodes.append(node)
        elif isinstance(node, ast.FunctionDef):
            nodes += node.decorator_list
            spans.append(((node.lineno, 0), (node.body[0].lineno, 0)))
        elif isinstance(node, ast.AnnAssign):
            nodes.append(node.annotation)
        elif isinstance(node, ast.ClassDef):
            nodes += node.decorator_list
    ends = [((one.end_lineno or one.lineno), (one.end_col_offset or 0)) for one in nodes]
    return spans + [((one.lineno, one.col_offset), end) for one, end in zip(nodes, ends, strict=True)]


def _differs(mutation: Mutation) -> bool:
    """Whether it is code, and other code."""
    try:
        before = _path(mutation.module).read_text(encoding="utf-8")
        return ast.dump(ast.parse(mutation.source())) != ast.dump(ast.parse(before))
    except SyntaxError:
        return False


def noticed_by(mutation: Mutation) -> str | None:
    """The first claim that does not hold under the mutation, `import` if nothing can be imported; None if none."""
    _install(mutation)
    try:
        from proofs_checks import reading, registry, runner
    except Exception:
        return "import"
    mutated = _path(mutation.module)
    family = mutation.module.rpartition(".")[2].partition("_")[0]
    readers = [claim for claim in registry.CLAIMS if mutated in reading.code_read(registry.home(claim))]
    for claim in sorted(readers, key=lambda one: family not in one.id):
        signal.signal(signal.SIGALRM, _overrun)
        signal.alarm(TIME_LIMIT)
        try:
            if not runner.run_claim(claim).holds:
                return claim.id
        except TimeoutError:
            return f"{claim.id} (time limit)"
        finally:
            signal.alarm(0)
    return None


def _overrun(number: int, frame: object) -> None:
    raise TimeoutError


def _install(mutation: Mutation) -> None:
    """Has the mutated text loaded wherever the module is imported."""

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> object:
            return importlib.util.spec_from_loader(name, Loader) if name == mutation.module else None

    class Loader:
        @staticmethod
        def create_module(spec: object) -> None:
            return None

        @staticmethod
        def exec_module(module: ModuleType) -> None:
            module.__file__ = str(_path(mutation.module))
            exec(compile(mutation.source(), module.__file__, "exec"), module.__dict__)

    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


def _path(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def main() -> None:
    """Prints what survived, and the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    drawn = mutations(wanted.count, wanted.seed)
    survivors = 0
    # What claims compute with is imported once; each mutation has a process of its own, forked from here.
    for library in ("sympy", "numpy", "scipy.linalg", "networkx", "flint"):
        importlib.import_module(library)
    with multiprocessing.get_context("fork").Pool(maxtasksperchild=1) as pool:
        for done, (mutation, claim) in enumerate(zip(drawn, pool.imap(noticed_by, drawn), strict=True), 1):
            print(f"{done}/{len(drawn)}", end="\r", file=sys.stderr, flush=True)
            if claim is None:
                survivors += 1
                what = asdict(mutation)
                print("survived: {module}:{line}  {was} -> {becomes}  in  {text}".format(**what), flush=True)
    print(f"{len(drawn) - survivors} of {len(drawn)} mutations are noticed (seed {wanted.seed})")


if __name__ == "__main__":
    main()
