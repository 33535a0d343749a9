"""The page itself: its parts put together into one file that loads nothing and runs no script but its own.

Data stand in the page as JSON and are shown as text nodes, so that nothing in them is markup; what stands there as
HTML from the start is escaped here. The page's own policy, by the hashes of its script and its style, stops the rest.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from paper_figs.report.plain import json_text, text

PARTS = Path(__file__).parent / "page"
SCRIPTS = (
    "dom.js", "lists.js", "theme.js", "claims.js", "circuit.js", "tasks.js", "matrix.js", "relations.js", "chart.js",
    "series.js", "runs.js", "verdicts.js", "provenance.js", "views.js",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Beginning of the page: counts, and what is broken or missing.

    Attributes:
        counts: a number and what it counts.
        broken: what is stored and cannot be used, and why.
        missing: what is not there, and the command that makes it.
    """

    counts: Sequence[tuple[str, str]]
    broken: Mapping[str, str]
    missing: Sequence[tuple[str, str]]


def page(summary: Summary, data: Mapping[str, Any]) -> bytes:
    """The whole file.

    Args:
        summary: shown at once, and without scripts.
        data: name -> what a view reads when it is first shown.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(_text(name) for name in SCRIPTS) + "\n})();\n"
    style = _text("style.css")
    parts = {
        "script": script,
        "style": style,
        "policy": f"default-src 'none'; script-src '{_sha(script)}'; style-src '{_sha(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "counts": "".join(f"<li><b>{escape(count)}</b> {escape(of)}</li>" for count, of in summary.counts),
        "broken": _broken(summary.broken),
        "missing": _missing(summary.missing),
        "data": "\n".join(
            f'<script type="application/json" id="data-{name}">{json_text(content)}</script>'
            for name, content in data.items()
        ),
    }
    # In one pass, so that a part that contains another's mark does not matter.
    filled = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _text("page.html"))
    return filled.encode("utf-8", "backslashreplace")


def _broken(broken: Mapping[str, str]) -> str:
    if not broken:
        return ""
    rows = "".join(f"<li><code>{escape(text(name))}</code>: {escape(text(why))}</li>" for name, why in broken.items())
    return f'<section class="alarm" aria-labelledby="broken"><h3 id="broken">Broken</h3><ul>{rows}</ul></section>'


def _missing(missing: Sequence[tuple[str, str]]) -> str:
    if not missing:
        return "<p>Nothing is missing.</p>"
    shown = [(escape(text(what)), escape(text(made))) for what, made in missing]
    rows = "".join(f"<li>{what}<pre><code>{made}</code></pre></li>" for what, made in shown)
    return f"<ul>{rows}</ul>"


def _text(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _sha(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
