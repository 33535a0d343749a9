"""The record of the guide, a file with both halves of an encoding, in every command that takes encodings."""

import re
from pathlib import Path

import pytest

from lengthgen.empirical.encodings.agreement import SIZES, largest_difference
from lengthgen.empirical.encodings.modules import own_module
from lengthgen.theory.encodings.own import record

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "encoding.md"
SMALL = ("--train", "1-2", "--test", "1-3", "--profile", "smoke", "--out", "out")


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (text,) = re.findall(r"```python\n(# my_encoding\.py\n.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    Path("my_encoding.py").write_text(text, encoding="utf-8")


def test_it_is_verified_and_its_module_compared(run):
    code, out, _ = run("verify", "my_encoding.py:root")
    assert code == 0
    assert "root: its module agrees with its formulas holds: logits and codes differ by at most" in out
    code, out, _ = run("verify", "my_encoding.py")
    assert code == 1
    shown = [
        line.strip() for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("    squared: ")
    ]
    assert len(shown) == 3
    assert out.startswith(shown[0][:90]), "what fails comes first"
    assert all(line in " ".join(out.split()) for line in shown)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("distance.sqrt()", "distance.sqrt() * 1.000001"),
        ("c: module.rates[head]", "c: module.rates[0]"),
        ("-c * sp.sqrt(abs(j - i))", "-c * sp.sqrt(abs(j - i)) / n"),
    ],
)
def test_a_module_that_does_something_else_is_refuted(run, was, becomes):
    path = Path("my_encoding.py")
    text = path.read_text(encoding="utf-8")
    assert was in text
    path.write_text(text.replace(was, becomes), encoding="utf-8")
    code, out, _ = run("verify", "my_encoding.py:root")
    assert code == 1
    assert "its module agrees with its formulas fails: logits and codes differ by at most" in out


def test_a_symbol_without_a_value_is_named(run):
    path = Path("my_encoding.py")
    text = path.read_text(encoding="utf-8").replace("{c: module.rates[head].item()}", "{}")
    path.write_text(text, encoding="utf-8")
    code, _, err = run("verify", "my_encoding.py:root")
    assert (code, err) == (2, "error: 'root': its `values` give no value for c\n")


def test_it_is_audited_predicted_and_trained(run, answer, trained_here):
    mine = "my_encoding.py:root"
    assert run("audit", mine, "--to", "300", "--dtype", "float64", "--heads", "2", "--head-dim", "8")[0] == 0
    assert answer("predict", "parity", "--encoding", mine)["predictions"][mine]["relation"] == "relative"
    assert [*answer("train", "parity", "--encoding", mine, *SMALL)["accuracy"]] == ["1", "2", "3"]


PROTOCOL = """
title = "Mine"
source = "our own"
train = [1, 2]
test = [1, 3]

[[cells]]
tasks = ["parity"]
formats = ["aligned"]
encodings = ["Rotary", "my_encoding.py:root"]

[smoke]
seeds = 1
models = [{ width = 8, layers = 1, heads = 1 }]
training.samples = 20
training.batch = 10
training.epochs = 1
evaluation.samples = 10
"""


def test_a_protocol_takes_it_beside_an_alias_and_its_runs_are_drawn(run, answer, trained_here):
    Path("mine.toml").write_text(PROTOCOL, encoding="utf-8")
    judged = answer("conjecture", "mine.toml", "--profile", "smoke", "--out", "out")
    assert [cell["encoding"] for cell in judged["cells"]] == ["rope", "my_encoding.py:root"]
    protocol = ("--protocol", "mine.toml", "--profile", "smoke", "--out", "out")
    assert run("figures", "accuracy-mine", *protocol)[0] == 0
    drawn = Path("out/figures/accuracy-mine.csv").read_text(encoding="utf-8")
    assert "my_encoding.py:root" in drawn


def test_an_unknown_encoding_of_a_protocol_is_named_with_it(run):
    Path("mine.toml").write_text(PROTOCOL.replace("Rotary", "Rotory"), encoding="utf-8")
    code, _, err = run("sweep", "mine.toml", "--profile", "smoke", "--out", "out")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: unknown encoding 'Rotory': did you mean rotary")


def test_a_record_without_a_module_is_proved_and_cannot_be_trained(run):
    code, _, err = run("train", "parity", "--encoding", "my_encoding.py:squared", *SMALL)
    assert (code, err.splitlines()[-1]) == (
        2,
        "error: 'my_encoding.py:squared' has no module: give its record `module`, a factory of a PositionEncoding",
    )
    code, _, err = run("audit", "my_encoding.py:squared")
    assert (code, err) == (2, "error: 'squared' has no module: there is nothing to audit\n")


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("drawn_from='rope'", "only registered encodings are trained at drawn positions"),
        ("module=3", "its module must be a function or class"),
        ("relation_of='relative'", "its relation_of must be a function or class"),
        ("relation_of=lambda circuit: 3", "relation_of must give a Relation, not 3"),
        ("relation='relative'", "its attribute 'relation' must be a Relation, not 'relative'"),
        ("name=3", "the name of an encoding is a text"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "train"])
def test_a_record_with_a_wrong_part_is_one_line(run, command, field, says):
    lines = f"from lengthgen import Encoding\nmine = Encoding(**dict(name='x', title='x') | dict({field}))"
    Path("wrong.py").write_text(lines, encoding="utf-8")
    scales = ("--train", "1-2", "--test", "1-3")
    options = ("--profile", "smoke", "--out", "out") if command == "train" else ()
    code, _, err = run(command, "parity", "--encoding", "wrong.py:mine", *scales, *options)
    assert code == 2
    assert says in err or (command == "train" and "has no module" in err)


def test_heads_differ_in_their_numbers():
    root = record("my_encoding.py:root")
    module = own_module(root.module, SIZES, "root")
    assert len(set(module.rates.tolist())) == SIZES["heads"]
    assert largest_difference(root, module) < 1e-12
