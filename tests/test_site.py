"""The site of the documents: links to source files, plain docstrings and sections of the gallery, without Sphinx."""

import os
import re
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

import lengthgen
from tools import documents
from tools.documents import (
    ROOT,
    SOURCE_LINK,
    escape,
    figure_section,
    page_text,
    public_names,
    root_document,
    source_link,
)

DOCS = ROOT / "docs"


def linked(text: str) -> str:
    """Text of a document of docs/ with its links to source files rewritten."""
    return SOURCE_LINK.sub(lambda link: source_link(link, DOCS, DOCS), text)


def test_a_link_to_a_source_file_leads_to_the_line_of_its_function() -> None:
    shown = linked("see [parity.py#induced\\_counts](/proofs_checks/papers/sequential/parity.py#induced_counts).")
    lines = (ROOT / "proofs_checks/papers/sequential/parity.py").read_text(encoding="utf-8").splitlines()
    [line] = [number for number, text in enumerate(lines, 1) if text.startswith("def induced_counts(")]
    page = "source/proofs_checks/papers/sequential/parity.py.html"
    assert shown == f'see <a href="{page}#line-{line}"><code>parity.py#induced_counts</code></a>.'
    with pytest.raises(LookupError, match="defines no nowhere"):
        linked("[x](/proofs_checks/claim.py#nowhere)")


def test_every_linked_file_of_the_project_has_a_page_on_the_site() -> None:
    """Sphinx knows documents and figures only, and fails at any other link."""
    for path in DOCS.rglob("*.md"):
        text = linked(path.read_text(encoding="utf-8"))
        assert re.findall(r"\]\((/[^)#]+)(?<!\.md)(?<!\.png)[)#]", text) == [], path


def test_every_link_of_the_site_leads_to_one_of_its_pages_or_files() -> None:
    """Sphinx fails at any other; the documents at the root of the project are pages too, one folder deeper."""
    links = []
    for path in DOCS.rglob("*.md"):
        text = SOURCE_LINK.sub(partial(source_link, folder=path.parent, root=DOCS), page_text(path))
        for token in MarkdownIt("commonmark").enable("table").parse(text):
            for part in token.children or []:
                target = unquote(str(part.attrs.get("href") or part.attrs.get("src") or "")).partition("#")[0]
                if target and not re.match(r"[a-z]+:", target):
                    file = Path(os.path.normpath(DOCS / target[1:] if target.startswith("/") else path.parent / target))
                    links.append((path.relative_to(DOCS), target, file.is_file() and DOCS in file.parents))
    assert len(links) > 250
    assert [link[:2] for link in links if not link[2]] == []


def test_a_document_at_the_root_is_a_page_whose_links_lead_on_from_there(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    text = "[a](docs/glossary.md#src) [b](CONTRIBUTING.md) [c](tools/words.py) [d](https://x.org/docs/) [e](#here)"
    (tmp_path / "CHANGELOG.md").write_text(text)
    shown = "[a](glossary.md#src) [b](contributing.md) [c](/tools/words.py) [d](https://x.org/docs/) [e](#here)"
    assert root_document("CHANGELOG.md") == shown


def test_links_to_documents_and_records_stay_as_they_are() -> None:
    text = "[a](glossary.md#src) [b](results/varied-filler/shares.py) [c](nowhere.py)"
    assert linked(text) == text


def test_a_docstring_is_plain_text_but_for_its_backticks() -> None:
    lines = ["|A_ij| <= x_ * `a|b*c_ d` and **options"]
    escape(None, "function", "f", None, None, lines)
    assert lines == [r"\|A_ij\| <= x\_ \* `a|b*c_ d` and \*\*options"]


@pytest.mark.parametrize(
    ("name", "reads", "drawn", "missing", "expected"),
    [
        (
            "lrc-growth",
            "computed",
            ["lrc-growth.png"],
            "",
            ["gallery/lrc-growth.png", "\nlengthgen figures lrc-growth\n"],
        ),
        (
            "verdict-x",
            "runs",
            ["verdict-x.png"],
            "",
            ["\nlengthgen figures verdict-x\n"],
        ),
        (
            *(
                "figure2",
                "runs of fig2",
                [],
                "make them with  lengthgen sweep fig2 --profile quick --out build/gallery",
            ),
            ["(results/quick/figure2.png)", "\nlengthgen sweep fig2 --profile quick\nlengthgen figures figure2\n"],
        ),
        ("labels-x", "computed", [], "nine encodings are too many", ["cannot be drawn: nine encodings are too many."]),
    ],
)
def test_a_figure_of_the_gallery_has_its_picture_and_the_commands_that_make_it(
    name: str, reads: str, drawn: list[str], missing: str, expected: list[str]
) -> None:
    entry = {"name": name, "title": "Title", "reads": reads}
    section = figure_section(entry, {name: drawn} if drawn else {}, {name: missing} if missing else {}, DOCS)
    assert section.startswith(f"## {name}\n\nTitle. ")
    assert [part for part in expected if part not in section] == []
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", section)
    assert len(pictures) == (name != "labels-x")
    assert all((DOCS / picture).exists() for picture in pictures if "results/" in picture)


def test_every_public_name_is_listed_with_its_home() -> None:
    listed = dict(re.findall(r"^- `(\w+)`: \{py:obj\}`([\w.]+)`$", public_names(), flags=re.MULTILINE))
    assert sorted(listed) == dir(lengthgen)
    assert listed["load_task"] == "lengthgen.circuits.tasks.load"
