"""The documents: examples give what they show, links lead somewhere, and numbers are those of the records."""

import ast
import doctest
import json
import re
import string
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in zip(NAMES, DOCUMENTS, strict=True)}
PAGES_WITH_FILES = {
    "README.md",
    "docs/court.md",
    "docs/tutorial.md",
    *(name for name in NAMES if name.startswith("docs/how-to/")),
}
"""Documents whose Python code is run as it stands; CONTRIBUTING.md has its own test."""


@cache
def parsed(name: str) -> list[Token]:
    """Tokens of a document in Markdown."""
    return MarkdownIt("commonmark").enable("table").parse(TEXTS[name])


def slug(heading: str) -> str:
    """Anchor of a heading, by the rule of GitHub, which the site follows as well."""
    kept = "".join(c for c in heading.lower() if c in " -_" or c not in string.punctuation)
    return kept.replace(" ", "-")


def anchors(name: str) -> set[str]:
    """Anchors of the headings of a document."""
    tokens = parsed(name)
    headings = (tokens[at + 1].children or [] for at, token in enumerate(tokens) if token.type == "heading_open")
    return {slug("".join(part.content for part in heading)) for heading in headings}


def targets(name: str) -> list[str]:
    """Targets of all links and images of a document."""
    inline = [part for token in parsed(name) for part in token.children or []]
    found = [str(part.attrs.get("href") or part.attrs.get("src")) for part in inline if part.type in ("link_open", "image")]
    return [target for target in found if not target.startswith(("http://", "https://", "mailto:"))]


def broken(name: str, target: str) -> str:
    """What is wrong with a link, or nothing."""
    path, _, anchor = unquote(target).partition("#")
    file = (ROOT / path[1:] if path.startswith("/") else (ROOT / name).parent / path).resolve() if path else ROOT / name
    if not file.exists():
        return f"{name}: {target}: there is no such file"
    if anchor and file.suffix == ".py":
        defined = {node.name for node in ast.walk(_tree(file)) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        return "" if anchor in defined else f"{name}: {target}: the file does not define it"
    if anchor and anchor not in anchors(str(file.relative_to(ROOT))):
        return f"{name}: {target}: there is no such heading"
    return ""


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    pairs = [(name, target) for name in NAMES for target in targets(name)]
    assert len(pairs) > 500
    assert [problem for pair in pairs if (problem := broken(*pair))] == []


def test_a_broken_link_is_noticed() -> None:
    assert broken("README.md", "docs/nowhere.md") and broken("README.md", "docs/glossary.md#nowhere")
    assert broken("docs/claims.md", "/proofs_checks/claim.py#nowhere")
    assert not broken("docs/claims.md", "/proofs_checks/claim.py#Claim")


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if ">>> " in text])
def test_every_example_of_a_document_gives_what_it_shows(name: str) -> None:
    done = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 0
    assert done.failed == 0


def fenced(name: str, language: str) -> list[str]:
    """Fenced blocks of a document in a language."""
    return [token.content for token in parsed(name) if token.type == "fence" and token.info == language]


@pytest.mark.parametrize("name", sorted(name for name in PAGES_WITH_FILES if fenced(name, "python")))
def test_the_python_code_of_a_page_runs_from_top_to_bottom(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__page__"}
    for block in fenced(name, "python"):
        if ">>> " not in block:
            exec(compile(block, name, "exec"), namespace)
