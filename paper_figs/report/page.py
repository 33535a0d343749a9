"""Assembly of the report page from its parts into one file that loads nothing and runs only its own script.

Data are stored in the page as JSON and shown as text nodes, so that they are never read as markup. Text that is HTML
from the start is escaped here. The content security policy of the page, with the hashes of its script and style, blocks
everything else.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lengthgen.paper_figs.report.plain import json_text, text

PARTS = Path(__file__).parent / "page"
SCRIPTS = (
    "dom.js", "lists.js", "address.js", "theme.js", "claims.js", "circuit.js", "tasks.js", "matrix.js", "relations.js",
    "chart.js", "series.js", "runs.js", "verdicts.js", "cells.js", "verdict.js", "court.js", "provenance.js",
    "overview.js", "views.js",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Overview at the beginning of the page: counts, and broken or missing files.

    Attributes:
        counts: number, name of the things counted, and address of the view that shows them.
        broken: map from a stored file or run that cannot be used to the reason.
        missing: number of results of the project itself that are not in the folder.
        missing_listed_by: command that lists them, each with the command that makes it.
    """

    counts: Sequence[tuple[str, str, str]]
    broken: Mapping[str, str]
    missing: int
    missing_listed_by: str


def page(summary: Summary, data: Mapping[str, Any]) -> bytes:
    """Return the content of the HTML file.

    The summary is shown at once, also without scripts; data are by name, each read when its view is first shown.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(_part_text(name) for name in SCRIPTS) + "\n})();\n"
    style = _part_text("style.css")
    parts = {
        "script": script,
        "style": style,
        "policy": f"default-src 'none'; script-src '{_sha256(script)}'; style-src '{_sha256(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "counts": "".join(
            f'<li><a href="#{escape(view)}"><b>{escape(count)}</b> {escape(noun)}</a></li>'
            for count, noun, view in summary.counts
        ),
        "broken": _broken_html(summary.broken),
        "missing": _missing_html(summary.missing, summary.missing_listed_by),
        "data": "\n".join(
            f'<script type="application/json" id="data-{name}">{json_text(content)}</script>'
            for name, content in data.items()
        ),
    }
    # All marks are replaced in one pass, so that a part may contain the mark of another part.
    filled = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part_text("page.html"))
    return filled.encode("utf-8", "backslashreplace")


def _broken_html(broken: Mapping[str, str]) -> str:
    if not broken:
        return ""
    rows = "".join(
        f"<li><code>{escape(text(name))}</code>: {escape(text(reason))}</li>" for name, reason in broken.items()
    )
    return f'<section class="alarm" aria-labelledby="broken"><h3 id="broken">Broken</h3><ul>{rows}</ul></section>'


def _missing_html(count: int, listed_by: str) -> str:
    if not count:
        return "<p>Nothing is missing.</p>"
    listed = f"<pre><code>{escape(text(listed_by))}</code></pre>"
    return f"<p>{count}. This command lists them, each with the command that makes it:</p>{listed}"


def _part_text(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
