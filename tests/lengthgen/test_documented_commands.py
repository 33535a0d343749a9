"""Commands in the documents: each is understood as it is printed, and those shown with their answer give it."""

import re
import shlex
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from lengthgen.cli import click_app

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = [
    (str(path.relative_to(ROOT)), token.info, token.content)
    for path in DOCUMENTS
    for token in MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8"))
    if token.type in ("code_block", "fence")
]
COMMANDS = {
    (name, line.strip().removeprefix("$ "))
    for name, _, text in CODE
    for line in text.splitlines()
    if re.match(r"\s*(\$ )?lengthgen [a-z]", line)
}
SESSIONS = [(name, text) for name, info, text in CODE if info == "console"]
SAVED = {
    (page, header[1]): text
    for page, info, text in CODE
    if info == "python" and (header := re.match(r"# (\w+\.py)\n", text))
}
"""Files that the documents tell to save: (document, file) -> its text."""
SHOWN = {text.removeprefix("$ ").partition("\n")[0] for _, text in SESSIONS}
"""Commands that are printed with their answer."""


def misunderstood(line: str) -> str:
    """Return the reason why the command line rejects a command, or nothing. The command is not run."""
    arguments = shlex.split(line, comments=True)[1:]
    try:
        context = click_app.make_context("lengthgen", [arguments[0]])
        name, command, rest = click_app.resolve_command(context, arguments)
        command.make_context(name, rest, parent=context)
    except Exception as error:  # typer's exceptions have no common base of their own
        return f"{line}: {error}"
    return ""


def test_every_command_of_the_documents_is_understood() -> None:
    assert len(COMMANDS) > 80
    assert [
        f"{name}: {wrong}" for name, line in sorted(COMMANDS) if (wrong := misunderstood(line.partition(" > ")[0]))
    ] == []


@pytest.mark.parametrize(
    "line", ["lengthgen fly", "lengthgen lrc", "lengthgen lrc 1 --fly", "lengthgen src a --arity x"]
)
def test_a_wrong_command_is_noticed(line: str) -> None:
    assert misunderstood(line)


@pytest.mark.parametrize(("page", "session"), SESSIONS, ids=[f"{name}-{at}" for at, (name, _) in enumerate(SESSIONS)])
def test_a_command_shown_with_its_answer_gives_it(page, session, run, claims_run_here, tmp_path, monkeypatch) -> None:
    """Shown lines must occur in the answer in their order; `...` stands for anything. A shown error ends with 1."""
    monkeypatch.chdir(tmp_path)
    for (document, file), text in SAVED.items():
        if document == page:
            (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "150")
    command, _, shown = session.removeprefix("$ ").partition("\n")
    if command.startswith("lengthgen claims"):  # which shows stored verdicts, and a newcomer has none
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code, answer, error = run(*shlex.split(command)[1:])
    assert code == ("\nerror: " in shown), error
    parts = [" ".join(part.split()) for part in re.split(r"\.\.\. |\.\.\.$|\n", shown, flags=re.MULTILINE)]
    expected = ".*".join(re.escape(part) for part in parts if part)
    assert re.search(expected, " ".join(answer.split())), answer


CHEAP = r"lengthgen (lrc|language|published|predict|src|check-certificate|figures --list)\b"
COSTLY = r"--draw figures|my_encoding|1000|majority-count|addition --base 4"
"""Parts of commands that take longer, or need torch; they are only read."""


def test_every_cheap_command_of_the_documents_runs_as_it_is_printed(run, tmp_path, monkeypatch) -> None:
    """Files that the documents tell to save are there; a certificate is checked after it was written."""
    monkeypatch.chdir(tmp_path)
    pages = {"docs/how-to/task.md": "my_task.py"}
    for page, file in pages.items():
        blocks = [text for name, info, text in CODE if name == page and info == "python"]
        (tmp_path / file).write_text("\n".join(blocks), encoding="utf-8")
    cheap = {line for _, line in COMMANDS if re.match(CHEAP, line) and not re.search(COSTLY, line)} - SHOWN
    ended = {
        line: run(*shlex.split(line, comments=True)[1:]) for line in sorted(cheap, key=lambda line: "check-" in line)
    }
    assert len(ended) > 15
    assert {line: error for line, (code, _, error) in ended.items() if code != 0} == {}
