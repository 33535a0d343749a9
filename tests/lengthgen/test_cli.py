"""The command line's contracts: stable JSON, exit codes, and one line for every mistake."""

from pathlib import Path

import pytest

from tests.lengthgen.refusal import refused


def test_src_of_an_infeasible_arity(answer):
    output = answer("src", "parity", "--arity", "1", "--scales", "1-3")
    assert output["src"] == {"1": 1, "2": "inf", "3": "inf"}
    assert output["minimal_arity"] == 2


def test_src_of_five_slots(answer):
    output = answer("src", "unaligned-addition", "--scales", "1-3", "--arity", "5")
    assert (output["arity"], output["minimal_arity"]) == (5, 4)
    assert (output["src"], output["status"]) == ({"1": 1, "2": 1, "3": 1}, "reference")


def test_a_base_is_taken_or_refused(answer, run):
    assert answer("src", "log-shift", "--base", "3", "--scales", "4,8")["src"] == {"4": 3, "8": 3}
    predicted = answer("predict", "counter", "--base", "3", "--train", "1-3", "--test", "1-5")
    assert predicted["task"].startswith("counter-base3")
    refused(run("predict", "parity", "--base", "3"), "has no base to choose")


def test_train(answer, tmp_path):
    arguments = ("train", "parity", "--encoding", "ipe", "--train", "1-2", "--test", "1-4", "--profile", "smoke")
    output = answer(*arguments, "--out", str(tmp_path))
    assert output["accuracy"].keys() == {"1", "2", "3", "4"}
    assert (tmp_path / "runs" / output["run"] / "metrics.parquet").exists()
    assert answer(*arguments, "--out", str(tmp_path)) == output


def test_a_users_own_task_goes_through_every_command(answer, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from lengthgen.circuits import Task\n"
        "def generate(prompt):\n"
        "    return ['1' if '1' in prompt[: n + 1] else '0' for n in range(len(prompt) - 1)]\n"
        "running_or = Task(name='running-or', alphabet=('0', '1', '='), generate=generate,\n"
        "                  prompt=lambda n: [('0', '1')] * n + [('=',)])\n"
    )
    spec = f"{path}:running_or"
    assert answer("src", spec, "--scales", "1-5")["src"] == {str(scale): 1 for scale in range(1, 6)}
    predicted = answer("predict", spec, "--encoding", "ipe", "--train", "1-3", "--test", "1-5")
    assert predicted["predictions"]["ipe"]["generalizes"] is True
    trained = answer(
        "train", spec, "--train", "1-2", "--test", "1-4", "--profile", "smoke", "--out", str(tmp_path / "out")
    )
    assert trained["run"].startswith("running_or-aligned-ipe-w16l2h2-seed0-")
    path.write_text(path.read_text().replace("'1' if '1' in", "'0' if '1' in"))
    changed = answer(
        "train", spec, "--train", "1-2", "--test", "1-4", "--profile", "smoke", "--out", str(tmp_path / "out")
    )
    assert changed["run"] != trained["run"], "a changed task is another run"


def test_a_users_own_task_has_one_name_wherever_it_is_shown(answer, run, tmp_path, monkeypatch, trained_here):
    """Its name is that of the variable in the file; what its Task is called in Python is not shown."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(OWN, encoding="utf-8")
    spec, out = "mine.py:running_or", ("--out", str(tmp_path / "out"))
    drawn = answer("src", spec, "--scales", "1-2", "--draw", "figures")
    assert (drawn["task"], drawn["statement"]) == ("running_or", "SRC(running_or, 2) = 1 at arity 2, free")
    assert "figures/circuit-running_or-2.pdf" in drawn["figure"]
    assert answer("predict", spec, "--encoding", "ipe", "--train", "1-2", "--test", "1-4")["task"] == "running_or"
    smoke = ("--train", "1-2", "--test", "1-4", "--encoding", "ipe", "--profile", "smoke", *out)
    run_of_task = answer("train", spec, *smoke)["run"]
    for name in ("running_or", spec):
        assert [row["name"] for row in answer("runs", "--task", name, *out)["runs"]] == [run_of_task]
    assert "stored runs by task: running_or (1)" in run("runs", "--task", "copy", *out)[1]
    code, table, messages = run("conjecture", spec, "--seeds", "1", *smoke)
    assert code == 0 and (tmp_path / "out" / "running_or" / "conjecture.json").is_file()
    [figure] = answer("figures", "--trial", "out/running_or", "accuracy", *out)["figures"].values()
    shown = f"{table}{messages}{figure}{run('runs', *out)[1]}"
    assert "running_or" in shown and "running-or" not in shown


def test_what_lists_all_lists_as_many_as_the_messages_say(answer, run):
    tasks, protocols = answer("tasks"), answer("protocols")["protocols"]
    named = [*(task["task"] for task in tasks["tasks"]), *tasks["published_tasks"]]
    assert f"there are {len(set(named))}, such as" in run("src", "nothing")[2]
    assert f"there are {len(protocols)}, such as" in run("sweep", "nothing")[2]
    assert {"parity", "published-lego-with-states"} <= {*named}
    assert "published-lego[-with-states]" in run("tasks")[1]
    [fig1] = (protocol for protocol in protocols if protocol["protocol"] == "fig1")
    assert (fig1["tasks"], fig1["cells"], fig1["train"], fig1["test"]) == (["parity"], 10, [1, 5], [1, 20])


OWN = """
from lengthgen.circuits import Task
from lengthgen.empirical.encodings import PositionEncoding
from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.theory import from_function

def generate(prompt):
    return ["1" if "1" in prompt[: n + 1] else "0" for n in range(len(prompt) - 1)]

running_or = Task(name="running-or", alphabet=("0", "1", "="), generate=generate,
                  prompt=lambda n: [("0", "1")] * n + [("=",)])
parity_of_distance = from_function(lambda i, j: (j - i) % 2, name="distance parity")

class Mine(ALiBi):
    relation = from_function(lambda i, j: j - i, name="distance")

class Bare(PositionEncoding):
    pass
"""


def test_a_users_own_encoding_goes_from_prediction_to_verdict(answer, tmp_path, trained_here):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    specs = [f"{path}:{name}" for name in ("parity_of_distance", "Mine", "Bare")]
    task, scales = f"{path}:running_or", ("--train", "1-2", "--test", "1-4")
    predicted = answer("predict", task, "--encoding", ",".join(specs), *scales)["predictions"]
    assert [predicted[spec]["generalizes"] for spec in specs] == [False, True, None]
    trial = answer(
        "conjecture", task, "--encoding", ",".join(specs), *scales, "--seeds", "1", "--profile", "smoke",
        "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert [cell["encoding"] for cell in trial["cells"]] == specs
    assert [cell["coverage"] for cell in trial["cells"]] == [False, True, None]
    assert all(cell["predicted"] == (cell["forecast"]["share"] > 0.5) for cell in trial["cells"])
    assert trial["cells"][2]["forecast"]["why"].startswith("no rule answers: ")
    assert all(cell["predicted_before_training"] for cell in trial["cells"])


def test_stored_runs_are_listed_tested_again_and_removed(answer, run, tmp_path):
    out = ("--out", str(tmp_path))
    scales = ("--train", "1-2", "--test", "1-4", "--profile", "smoke", *out)
    name = answer("train", "copy", "--format", "unaligned", *scales)["run"]
    answer("train", "parity", *scales)
    [row] = answer("runs", "--task", "copy", *out)["runs"]
    assert (row["name"], row["state"], row["epochs"]) == (name, "finished", 4)
    assert row["peak_memory_mib"] > 0
    tested = answer("evaluate", name, "--test", "1-2,40", "--samples", "20", "--free-running", *out)
    assert tested["scales"].keys() == {"1", "2", "40"}
    assert tested["disagreements"] == 0
    (tmp_path / "runs" / name / "metrics.parquet").write_bytes(b"")
    code, shown, _ = run("runs", *out)
    assert code == 1
    assert "is not as it was written" in " ".join(shown.split())
    assert len(answer("runs", "--remove", name, *out)["runs"]) == 1


def test_a_learned_relation_is_compared_with_the_ideal_one(run, answer, tmp_path):
    out = ("--out", str(tmp_path))
    settings = ("--format", "unaligned", "--train", "1-2", "--test", "1-4", "--profile", "smoke", *out)
    name = answer("train", "select-first", "--encoding", "lbpe-sh", *settings)["run"]
    comparison = answer("relation", name, "--test", "1-4", *out)
    assert comparison["train"] == [1, 2] and comparison["roles"] == {"0": "irrelevant", "1": "operator 1 slot 1"}
    # The answer is computed at '=', which sees n digits and itself; one of them is the key.
    assert {scale: [role["pairs"] for role in roles.values()] for scale, roles in comparison["scales"].items()} == {
        str(n): [n, 1] for n in range(1, 5)
    }
    wrong = sum(comparison["pairs"].values()) - sum(comparison["agreeing"].values())
    assert wrong == len(comparison["disagreements"])
    code, out_text, _ = run("relation", name, "--test", "1-4", *out)
    assert code == 0 and "operator 1 slot 1" in out_text
    other = answer("train", "select-first", "--encoding", "rpe", *settings)["run"]
    code, _, err = run("relation", other, "--test", "1-4", *out)
    assert code == 2 and "learns no relation" in err


def test_a_scale_without_a_table_row_says_which(answer, run, tmp_path):
    out = ("--out", str(tmp_path))
    name = answer(
        "train", "copy", "--format", "unaligned", "--encoding", "rpe", "--train", "1-2", "--test", "1-4", "--profile",
        "smoke", *out,
    )["run"]  # fmt: skip
    code, _, err = run("evaluate", name, "--test", "1-10", *out)
    assert code == 2
    assert "'rpe' has 9 rows in its table" in err


HOSTILE = {
    "attribute access": "i.__class__",
    "a call of a builtin": "__import__('os').system('touch HERE')",
    "a call of an attribute": "(1).__class__.__bases__[0].__subclasses__()",
    "10 MB": "i+" * 5_000_000 + "i",
    "a tower with the wrong sign": "10^9^9",
    "a tower": "10**9**9",
    "deep nesting": "(" * 900 + "i" + ")" * 900,
    "a comprehension": "[x for x in (1,)]",
    "an exponent that grows": "j**j**j",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_formula_gets_one_line_and_is_not_run(run, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(run("lrc", HOSTILE[name].replace("HERE", "was-here"), "--scales", "4,8"), longest=300)
    assert list(tmp_path.iterdir()) == []


HERE = str(Path(__file__).parent)
"""A folder without runs."""
MISTAKES = {
    "no task file": (("src", "nowhere.py:task"), "does not exist"),
    "arity no number": (("src", "parity", "--arity", "x"), "valid integer"),
    "no hint": (("predict", "parity", "--encoding", "ipe", "--format", "unaligned"), "use the aligned format"),
    "runs of a file": (("runs", "--out", __file__), "is no folder, so no runs are stored in it: give the --out"),
    "run of no folder": (("evaluate", "nothing", "--out", "nowhere"), "nowhere does not exist"),
    "relation of no folder": (("relation", "nothing", "--out", "nowhere"), "nowhere does not exist"),
    "run to remove from no folder": (("runs", "--remove", "nothing", "--out", "nowhere"), "nowhere does not exist"),
    "test within training": (("train", "parity", "--train", "1-5", "--test", "1-5"), "must exceed"),
    "court into no folder": (("court", "--out", "/dev/null"), "/dev/null is no folder: name another"),
    "frozen answers into no folder": (
        ("verdict", "--freeze", "--out", "/dev/null/out"),
        "/dev/null is no folder: name",
    ),
    "report of an audit into no folder": (("audit", "alibi", "--report", "/dev/null/a.xml"), "/dev/null is no folder"),
    "name of a folder too long": (("court", "--out", "o" * 300), "cannot be used: File name too long: name another"),
    "unreadable folder": (("reproduce", "--out", "/dev/null/out"), "/dev/null"),
    "runs that are missing": (("figures", "accuracy-fig1", "--out", "nowhere"), "make it with"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_line_that_says_what(run, name):
    arguments, says = MISTAKES[name]
    refused(run(*arguments), says)
