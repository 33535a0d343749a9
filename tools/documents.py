"""Sphinx extension of the site: the gallery of figures, the list of commands, and pages that show source files."""

import ast
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
DRAWN = ROOT / "build" / "gallery"
"""Folder of the figures that are drawn for the gallery."""
GALLERY, COMMANDS, PUBLIC = "<!-- gallery -->", "<!-- commands -->", "<!-- public names -->"
"""Places of the generated parts in documents."""
LANGUAGES = {".py": "python", ".toml": "toml", ".txt": "text", ".v": "coq"}
"""Language of a source file by the end of its name."""
SOURCE_LINK = re.compile(
    rf"\[(?P<text>[^\]\n]*)\]\((?P<path>/?[\w./-]+(?:{'|'.join(map(re.escape, LANGUAGES))}))(?:#(?P<name>\w+))?\)"
)
"""Markdown link to a file of the project that is no document."""


ROOT_DOCUMENT = re.compile(r"```\{include\} \.\./(?P<name>\w+\.md)\n```\n")
"""Page of the site that is a document at the root of the project."""
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Documents at the root of the project -> their pages in docs/."""


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register the extension."""
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon
    app.connect("html-collect-pages", source_pages)
    return {"version": "1", "parallel_read_safe": True}


def fill_in(app: "Sphinx", document: str, content: list[str]) -> None:
    """Complete the text of one document: generated parts and links to source files."""
    root = Path(app.srcdir)
    folder = (root / document).parent
    text = ROOT_DOCUMENT.sub(lambda page: root_document(page["name"]), content[0])
    if GALLERY in text:
        text = text.replace(GALLERY, gallery(folder))
    if COMMANDS in text:
        text = text.replace(COMMANDS, commands())
    if PUBLIC in text:
        text = text.replace(PUBLIC, public_names())
    content[0] = SOURCE_LINK.sub(lambda link: source_link(link, folder, root), text)


def escape(_app: object, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Escape what reStructuredText would take for markup in a docstring, which is plain text but for backticks."""
    for at, line in enumerate(lines):
        parts = line.split("`")
        parts[::2] = [re.sub(r"[*|]|(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
        lines[at] = "`".join(parts)


def page_text(path: Path) -> str:
    """Return the text of a page, with the document at the root of the project that it shows."""
    return ROOT_DOCUMENT.sub(lambda page: root_document(page["name"]), path.read_text(encoding="utf-8"))


def root_document(name: str) -> str:
    """Return a document at the root of the project as a page in docs/: its links lead to pages from there."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"(?<=\]\()(?![a-z]+:|#)([^)\s]+)", lambda link: _from_docs(link[1]), text)


def _from_docs(target: str) -> str:
    """Return a link at the root of the project as it is in docs/; source files keep their place, behind a slash."""
    path, mark, anchor = target.partition("#")
    if path.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"{PAGES.get(path, f'/{path}')}{mark}{anchor}"


def gallery(folder: Path) -> str:
    """Return every figure of the catalogue as Markdown, with the command that makes it, for a document in `folder`.

    Figures that need no runs, or only those recorded in docs/results, are drawn; the picture of another figure is the
    one recorded there, if there is one.

    Raises:
        RuntimeError: a figure is broken.
    """
    answer = _lengthgen("figures", "--out", str(DRAWN.relative_to(ROOT)), "--into", str(DRAWN.relative_to(ROOT)))
    if answer["broken"]:
        raise RuntimeError(f"the gallery lacks figures: {answer['broken']}")
    entries = _lengthgen("figures", "--list")["figures"]
    return "\n".join(figure_section(entry, answer["figures"], answer["missing"], folder) for entry in entries)


def figure_section(entry: dict[str, str], drawn: dict[str, list[str]], missing: dict[str, str], folder: Path) -> str:
    """Return one figure as Markdown: title, picture, and the commands that make it or the reason why none does."""
    name, reason = entry["name"], missing.get(entry["name"], "")
    computed = entry["reads"] == "computed"
    command = f"lengthgen figures {name}"
    if maker := re.search(r"lengthgen [a-z].*", reason):
        command = f"{maker[0].replace(f' --out {DRAWN.relative_to(ROOT)}', '')}\n{command}"
    elif reason:
        command = ""
    parts = [
        f"## {name}",
        f"{entry['title']}. " + ("Reads no runs." if computed else f"Reads {entry['reads']}."),
        _shown(name, entry["title"], drawn.get(name, []), folder),
        f"```sh\n{command}\n```" if command else f"It cannot be drawn: {reason}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(name: str, title: str, drawn: list[str], folder: Path) -> str:
    """Return the drawn picture as Markdown, the text of a drawn table, or the picture in the records."""
    files = {Path(file).name for file in drawn}
    if f"{name}.txt" in files and f"{name}.png" not in files:
        return f"```text\n{(DRAWN / f'{name}.txt').read_text(encoding='utf-8')}\n```"
    pictures = [DRAWN / f"{name}.png"] if files else sorted(RESULTS.rglob(f"{name}.png"))
    return f"![{title}]({os.path.relpath(pictures[0], folder)})" if pictures else ""


def _lengthgen(*arguments: str) -> dict[str, Any]:
    """Run a command of the project and return its answer."""
    command = [sys.executable, "-m", "lengthgen", *arguments, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def commands() -> str:
    """Return the help of every command as Markdown."""
    done = subprocess.run(
        [sys.executable, "-m", "typer", "lengthgen.cli", "utils", "docs", "--name", "lengthgen"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.partition("\n## ")[1] + done.stdout.partition("\n## ")[2]


def public_names() -> str:
    """Return all names of `from lengthgen import NAME` as Markdown, in the sections of the stub that lists them."""
    parts = []
    for section in (ROOT / "lengthgen" / "__init__.pyi").read_text(encoding="utf-8").split("\n\n# ")[1:]:
        title, _, code = section.partition("\n")
        imports = [node for node in ast.parse(code).body if isinstance(node, ast.ImportFrom)]
        names = [
            (alias.asname or alias.name, f"{node.module}.{alias.name}") for node in imports for alias in node.names
        ]
        parts.append("\n".join([f"## {title}\n", *(f"- `{name}`: {{py:obj}}`{home}`" for name, home in names)]))
    return "\n\n".join(parts)


def source_link(link: re.Match[str], folder: Path, root: Path) -> str:
    """Turn a link to a source file into a link to the page that shows the file; leave other links as they are."""
    file = linked_source(link, folder, root)
    if file is None:
        return link[0]
    page = os.path.relpath(root / "source" / f"{file.relative_to(ROOT)}.html", folder)
    line = _line(file, link["name"]) if link["name"] else 1
    text = re.sub(r"\\(.)", r"\1", link["text"]).strip("`")
    return f'<a href="{page}#line-{line}"><code>{html.escape(text)}</code></a>'


def linked_source(link: re.Match[str], folder: Path, root: Path) -> Path | None:
    """Return the file to which a link in `folder` points; None if it is a document's own or does not exist."""
    path = link["path"]
    file = ROOT / path[1:] if path.startswith("/") else Path(os.path.normpath(folder / path))
    return file if file.is_file() and root not in file.parents else None


def _line(file: Path, name: str) -> int:
    """Return the line at which a file defines a function or class.

    Raises:
        LookupError: the file does not define it.
    """
    if name not in (lines := _definitions(file)):
        raise LookupError(f"{file} defines no {name}")
    return lines[name]


@cache
def _definitions(file: Path) -> dict[str, int]:
    """Return name -> line of the functions and classes of a file."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {node.name: node.lineno for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def source_pages(app: "Sphinx") -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for each source file that some document links to."""
    root = Path(app.srcdir)
    documents = [(path.parent, page_text(path)) for path in sorted(root.rglob("*.md"))]
    links = [(link, folder) for folder, text in documents for link in SOURCE_LINK.finditer(text)]
    files = {file for link, folder in links if (file := linked_source(link, folder, root))}
    for name in sorted(str(file.relative_to(ROOT)) for file in files):
        code = app.builder.highlighter.highlight_block(
            (ROOT / name).read_text(encoding="utf-8"), LANGUAGES[Path(name).suffix], lineanchors="line"
        )
        yield f"source/{name}", {"title": name, "body": f"<h1>{name}</h1>\n{code}"}, "page.html"
