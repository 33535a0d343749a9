"""The menu: help in groups with no line cut, the version, completion by the shell, and names in any case."""

import inspect
import subprocess
import sys

import pytest
import typer
from typer.models import ParameterInfo

from lengthgen.proofs_checks.registry import CLAIMS
from lengthgen.terminal.menu import COMMANDS, GROUPS, all_functions


@pytest.fixture
def narrow(monkeypatch):
    """Have help laid out for 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_has_the_groups_and_every_line_is_whole(run, arguments):
    code, out, err = run(*arguments)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [line.rstrip(":") for line in lines if line.rstrip(":") in GROUPS] == [*GROUPS]
    rows = dict(line.split(maxsplit=1) for line in lines if line.partition(" ")[0] == "" and line.split()[:1] != [])
    assert {name: rows.get(name) for name in COMMANDS} == {name: command.line for name, command in COMMANDS.items()}
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("narrow")
def test_every_command_is_there_with_its_help_and_takes_json(run):
    for name, function in all_functions():
        code, out, _ = run(name, "-h")
        assert code == 0 and out == run(name, "--help")[1]
        assert out.startswith(f"Usage: lengthgen {name} ")
        assert "--json" in out
        assert inspect.getdoc(function).split()[:3] == out.split("\n\n")[1].split()[:3], "its docstring is the help"


def test_names_of_commands_options_and_values_are_read_in_any_case(answer):
    written = answer("src", "parity", "--mode", "free", "--scales", "1-3")
    shouted = answer("SRC", "PARITY", "--MODE", "Free", "--Scales", "1-3")
    assert {**written, "seconds": 0} == {**shouted, "seconds": 0}
    predicted = answer("Predict", "Parity", "--encoding", "IPE", "--format", "ALIGNED", "--test", "1-6")
    assert (predicted["task"], predicted["format"], [*predicted["predictions"]]) == ("parity", "aligned", ["ipe"])
    assert [claim["id"] for claim in answer("verify", "ROPE-1")["claims"]] == ["rope-1"]
    assert answer("published", "--task", "Copy_Unique")["cells"]


def test_a_default_that_the_signature_does_not_show_is_named_in_the_help():
    """An option without a value of its own either shows what is done without it, or adds something."""
    unnamed = {"base", "after", "bases", "within", "scratchpad", "time_limit", "certificate", "draw", "second_scales"}
    unnamed |= {"task", "encoding", "state", "remove", "paper", "strength", "runs", "claims", "log", "evidence"}
    unnamed |= {"certificates", "fields", "report", "trial", "train", "rerun", "protocol", "into", "names", "budget"}
    unnamed |= {"seed", "allow", "repro"}
    for name, function in all_functions():
        for parameter in inspect.signature(function).parameters.values():
            [info] = [note for note in parameter.annotation.__metadata__ if isinstance(note, ParameterInfo)]
            shown = parameter.default is not None or isinstance(info.show_default, str)
            assert shown or parameter.name in unnamed, (name, parameter.name)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("c", {"check-certificate", "claims", "conjecture", "court"}),
        ("src pari", {"parity", "parity-direct", "parity-sparse", "parity-online"}),
        ("predict parity --encoding rope,ali", {"rope,alibi"}),
        ("predict parity --format f", {"filled"}),
        ("sweep fig", {"fig1", "fig2", "fig3", "fig4"}),
        ("conjecture fig", {"fig1", "fig2", "fig3", "fig4"}),
        ("src published-sorting", {"published-sorting-single", "published-sorting-multi"}),
        ("verify rope-", {claim.id for claim in CLAIMS if claim.id.startswith("rope-")}),
        ("figures figure5", {"figure5", "figure5-scale-hint"}),
        ("audit yar", {"yarn"}),
        ("train parity --profile p", {"paper"}),
        ("court --theory k", {"k-sparse"}),
    ],
)
def test_the_shell_completes_commands_and_names(run, monkeypatch, words, completed):
    monkeypatch.setenv("_LENGTHGEN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"lengthgen {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    code, out, _ = run()
    assert (code, {*out.split()}) == (0, completed)


COMPLETE = """
import os, sys
from lengthgen import cli
for words in ("verify rope", "figures f", "audit r", "conjecture pa"):
    os.environ |= {"_LENGTHGEN_COMPLETE": "complete_bash", "COMP_WORDS": f"lengthgen {words}", "COMP_CWORD": "2"}
    try: cli.click_app(args=[], prog_name="lengthgen")
    except SystemExit: print("of", words, {"sympy", "torch", "matplotlib"} & {*sys.modules}, file=sys.stderr)
    print("---")
"""


def test_names_are_completed_without_the_libraries_that_compute(monkeypatch, tmp_path):
    """Names are stored the first time; a person who presses Tab waits for nothing but Python after that."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = (
        subprocess.run([sys.executable, "-c", COMPLETE], capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert first.stdout == second.stdout
    completed = second.stdout.split("---\n")[:-1]
    assert len(completed) == 4 and all(names.strip() for names in completed)
    assert [line.split()[-1] for line in second.stderr.splitlines()] == ["set()"] * 4, second.stderr


def test_the_completion_of_a_shell_is_shown(run, monkeypatch):
    monkeypatch.setattr(typer.completion, "_get_shell_name", lambda: "bash")
    code, out, err = run("--show-completion")
    assert (code, err) == (0, "")
    assert "_LENGTHGEN_COMPLETE" in out
