"""`lengthgen src` and `lengthgen check-certificate`: modes, the curve, certificates, and ends that come early."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from lengthgen.circuits import src as src_module
from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.search import rounds
from lengthgen.circuits.search.rounds import Searched
from lengthgen.terminal.layout import LINES
from tests.lengthgen.refusal import refused
from tests.processes import wait_until

ROOT = Path(__file__).parents[2]
HEAVY = ("src", "majority-count", "--base", "31", "--scales", "1-30")
SORTING = ("src", "sort-trace", "--base", "10", "--scales", "1-30")
TWO_SCALES = ("addition-mixed", "--base", "2", "--scales", "1-2", "--second-scales", "1-2")
FIVE = """
from lengthgen.circuits import Task
five = Task(
    name="five-cycle",
    alphabet=("0", "1", "a", "b", "c", "d", "e"),
    prompt=lambda n: [tuple("abcde"[edge] + "abcde"[edge - 1]) for edge in range(5)],
    generate=lambda prompt: ["01"["abcde".index(symbol) != edge] for edge, symbol in enumerate(prompt)],
)
"""


# Where tests run in the background, Ctrl-C is ignored by all that they start.
COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from lengthgen.cli import main; main()"
)


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], cwd=ROOT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]


def sound(output):
    """Check that bounds are ordered and do not fall with the scale, and that a value is given only where they meet."""
    as_number = {scale: [float(bound) for bound in bounds] for scale, bounds in output["bounds"].items()}
    lower = 1
    for scale, (low, high) in as_number.items():
        assert lower <= low <= high
        lower = low
        assert (output["src"][scale] is None) == (low != high)
    return as_number


@pytest.mark.parametrize(
    ("task", "base", "mode", "expected"),
    [
        ("division-remainder", "3", "free", [1, 1, 1, 1]),
        ("division-remainder", "3", "declared", [2, 2, 2, 2]),
        ("division-remainder", "3", "typed", [3, 4, 4, 4]),
    ],
)
def test_mode(answer, task, base, mode, expected):
    output = answer("src", task, "--base", base, "--mode", mode, "--scales", "1-4")
    assert list(output["src"].values()) == expected
    assert (output["mode"], output["arity"], output["status"], output["stopped"]) == (mode, 3, "exact", None)
    assert bool(output["wiring"]) == (mode != "declared")
    sound(output)


@pytest.mark.parametrize("task", [("addition-carry", "--base", "2"), ("five.py:five",), ("permutation", "--base", "3")])
def test_the_curve_ends_where_src_is_1_and_does_not_rise(answer, task, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("five.py").write_text(FIVE, encoding="utf-8")
    output = answer("src", *task, "--scales", "1-3", "--curve")
    fewest = output["minimal_arity"]
    arities, values = map(int, output["curve"]), list(output["curve"].values())
    assert list(arities) == list(range(fewest, fewest + max(2, len(values))))
    assert values[0] == output["src"]
    assert all(list(each) == ["1", "2", "3"] for each in values)
    assert all(more[scale] <= fewer[scale] for fewer, more in pairwise(values) for scale in fewer)
    assert [each["3"] for each in values[1:]].count(1) == (values[-1]["3"] == 1) == 1


def test_the_curve_is_the_same_whatever_arity_is_asked_for(answer):
    question = ("src", "permutation", "--base", "3", "--scales", "1-4", "--curve")
    least, other = answer(*question), answer(*question, "--arity", "2")
    assert least["curve"] == other["curve"]
    assert (least["src"], other["src"]) == tuple(least["curve"].values())[:2]


def test_questions_beside_src_are_in_the_table(run):
    asked_for = ("--minima", "--within", "1/4", "--scratchpad", "2")
    table = run("src", "parity", "--scales", "1-3", *asked_for)[1]
    assert "6,912 minimum circuits; all have the entries 0 0 -> 0, 0 1 -> 1" in table
    assert "fewest scratchpad tokens for operators up to 2, arity 2: 0" in table
    assert "n = 2" in run("src", *TWO_SCALES)[1]
    assert "SRC is 1 at all scales from 1 on" in run("src", "parity", "--scales", "1-3", "--all-scales")[1]


def test_a_task_that_needs_more_slots_than_there_are_has_no_curve(run):
    code, _, err = run("src", "parity-direct", "--scales", "1-9", "--arity", "2", "--curve")
    assert code in (0, 2)
    assert err.count("\n") <= 1


@pytest.fixture
def written(answer, tmp_path, monkeypatch):
    """Function that has a certificate written, of a user's own task or of the given one; returns its file."""
    monkeypatch.chdir(tmp_path)
    Path("five.py").write_text(FIVE, encoding="utf-8")

    def write(*question):
        output = answer("src", *(question or ("five.py:five", "--scales", "1")), "--certificate", "proof.json")
        assert output["certificate"] == "proof.json"
        return Path("proof.json")

    return write


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        (
            ("addition-carry", "--base", "2", "--mode", "typed", "--scales", "3"),
            "SRC(addition-carry base 2, 3) = 5 at arity 3, typed",
        ),
        (
            ("permutation", "--arity", "1", "--base", "3", "--scales", "2,3", "--format", "aligned"),
            "SRC(permutation base 3, 3) = 3 at arity 1, free, aligned to scale 3",
        ),
        (("parity", "--scales", "3", "--arity", "1"), "SRC(parity, 3) = inf at arity 1, free"),
        (
            ("majority-count", "--base", "9", "--scales", "8"),
            "SRC(majority-count base 9, 8) = 2 at arity 2, free",
        ),
    ],
)
def test_a_certificate_is_written_and_accepted(answer, run, written, question, statement):
    file = written(*question)
    output = answer("check-certificate", str(file))
    assert output["statement"] == statement
    assert output["lower"] == output["upper"]
    code, out, err = run("check-certificate", str(file))
    assert (code, err) == (0, "")
    assert statement in " ".join(out.split())


def test_no_certificate_is_written_that_is_too_large_to_be_read(run, monkeypatch, tmp_path):
    monkeypatch.setattr("lengthgen.questions.complexity.LARGEST_CERTIFICATE", 100)
    file = tmp_path / "large.json"
    ended = run("src", "parity", "--scales", "1-4", "--certificate", str(file))
    refused(ended, "the certificate would have ", "at most 100 are read")
    assert not file.exists()


def test_a_certificate_of_a_users_own_task_needs_its_name(answer, run, written):
    file = written()
    content = json.loads(file.read_text())
    assert content["task"] == "five.py:five"
    assert content["proof"]
    refused(run("check-certificate", str(file)), "name it yourself with --task")
    output = answer("check-certificate", str(file), "--task", "five.py:five")
    assert output["statement"] == "SRC(five, 1) = 3 at arity 1, free"
    refused(run("check-certificate", str(file), "--task", "five.py:six"), "defines no Task 'six'")
    refused(run("check-certificate", str(file), "--task", "copy"), "proves nothing")
    Path("trap.py").write_text("open('was-here', 'w')\n" + FIVE, encoding="utf-8")
    file.write_text(json.dumps(content | {"task": "trap.py:five"}))
    refused(run("check-certificate", str(file)), "that file is code")
    assert not Path("was-here").exists(), "no certificate has code run"


def test_the_statement_is_of_the_task_that_was_looked_at(run, written):
    file = written()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"task": "copy"}))
    _, out, _ = run("check-certificate", str(file), "--task", "five.py:five", "--json")
    assert "SRC(copy" not in out


def test_no_certificate_is_left_of_bounds_that_cannot_be_proved(run, tmp_path):
    file = tmp_path / "blank.py"
    file.write_text(FIVE.replace('"a", "b"', '"a", "b c", "b"'))
    refused(
        run("src", f"{file}:five", "--scales", "1", "--certificate", str(tmp_path / "proof.json")), "rename those with"
    )
    refused(run("src", "parity", "--scales", "1", "--certificate", "/dev/null/proof.json"), "/dev/null")
    assert list(tmp_path.glob("*.json")) == []


def test_a_certificate_that_there_is_no_time_for_is_one_line(run, tmp_path):
    question = ("src", "parity", "--scales", "1-4", "--time-limit", "0")
    code, _, err = run(*question, "--certificate", str(tmp_path / "proof.json"))
    assert code in (0, 2)
    assert err.count("\n") <= 1


@pytest.mark.parametrize(
    ("question", "limit"),
    [(HEAVY, 0.5), (HEAVY, 2), (SORTING, 0.5)],
    ids=["wirings", "solver", "check"],  # the phase in which the time passes
)
def test_the_time_limit_gives_the_bounds_so_far(answer, question, limit):
    answer("src", "copy", "--scales", "1")  # so that nothing has to be imported any more
    start = time.monotonic()
    output = answer(*question, "--time-limit", str(limit))
    assert time.monotonic() - start < limit + 2, "a second, and one for a machine in use by others"
    unequal = any(low != high for low, high in output["bounds"].values())
    assert bool(output["stopped"]) >= unequal, "bounds that differ have a reason"
    if output["stopped"]:
        assert re.fullmatch(r"the time limit has passed|scales above \d+ were not searched", output["stopped"])
    assert list(output["bounds"]) == [str(scale) for scale in range(1, 31)]
    sound(output)


def test_a_time_limit_of_nothing_gives_bounds_too(answer):
    output = answer("src", "parity", "--scales", "1-4", "--time-limit", "0")
    assert output["stopped"] == "the time limit has passed"
    sound(output)


def test_a_time_limit_that_is_not_reached_changes_nothing(answer):
    question = ("src", "addition-carry", "--base", "2", "--scales", "1-3")
    free, limited = answer(*question), answer(*question, "--time-limit", "1000")
    assert free.pop("seconds").keys() == limited.pop("seconds").keys()
    assert free == limited
    assert free["stopped"] is None


@pytest.mark.parametrize("limit", ["1e9", "1e30", "inf"])
def test_a_time_limit_beyond_all_bounds_is_none_or_refused(run, written, limit):
    written()
    code, _, err = run("src", "five.py:five", "--scales", "1", "--certificate", "proof.json", "--time-limit", limit)
    assert code in (0, 2)
    assert err.count("\n") <= 1


def waited(process, seconds):
    """Wait until a solver runs, for so many seconds at most; return the processes that run."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        if solvers := children(process.pid):
            return solvers
        time.sleep(0.01)
    return []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("moment", ["solver", "between"])
def test_ctrl_c_gives_the_bounds_so_far_and_leaves_no_process(moment):
    process = started(*HEAVY, "--json")
    try:
        solvers = waited(process, 60)
        assert solvers, "the question is one for the solver"
        if moment == "between":
            wait_until(lambda: not {*solvers} & {*children(process.pid)})
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert time.monotonic() - start < 5
    assert process.returncode == 130
    assert err.startswith("error: interrupted")
    assert err.count("\n") == 1
    output = json.loads(out)
    assert (output["stopped"], output["status"]) == ("interrupted", "bounds")
    bounds = sound(output)
    assert list(bounds) == [str(scale) for scale in range(1, 31)]
    assert bounds["4"] == [2, 2], "known long before"
    assert not [pid for pid in solvers if Path(f"/proc/{pid}").exists()]


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("work", "more"),
    [
        ("traces_up_to", ()),
        ("_least_arity", ()),
        ("grid_src", ("--second-scales", "1-2")),
        ("src_for_all_scales", ("--all-scales",)),
    ],
)
def test_ctrl_c_before_anything_is_known_says_so_and_how_to_narrow_the_question(run, monkeypatch, work, more):
    monkeypatch.setattr(f"lengthgen.questions.complexity.{work}", interrupted)
    code, out, err = run("src", "addition-mixed" if "--second-scales" in more else "parity", "--scales", "1-3", *more)
    assert (code, out) == (130, "")
    why, ended = err.splitlines()
    assert why.startswith("no answer is known yet: ask for fewer scales, or set --time-limit")
    assert ended.startswith("error: interrupted")


def test_ctrl_c_in_a_further_question_prints_what_was_computed_before(run, monkeypatch):
    monkeypatch.setattr("lengthgen.questions.complexity.minima", interrupted)
    code, out, err = run("src", "parity", "--scales", "1-3", "--curve", "--minima", "--json")
    output = json.loads(out)
    assert (code, output["src"]["3"]) == (130, 1)
    assert "curve" in output and "minima" not in output and err.startswith("error: interrupted")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_command_leaves_no_solver():
    process = started(*HEAVY)
    try:
        solvers = waited(process, 60)
        assert solvers
    finally:
        process.kill()
        process.communicate()
    end = time.monotonic() + 10
    while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in solvers):
        time.sleep(0.05)
    assert not [pid for pid in solvers if Path(f"/proc/{pid}").exists()]


def test_scales_that_are_not_searched_have_the_bound_of_the_reference_circuit(answer, monkeypatch):
    every = answer("src", "parity", "--scales", "1-12")
    monkeypatch.setattr(src_module, "MAX_TOKENS", 500)
    output = answer("src", "parity", "--scales", "1,400")
    assert output["src"] == {"1": 1, "400": 1}
    assert (output["status"], output["stopped"]) == ("reference", None)
    assert 2 < output["inputs"] < every["inputs"], "of few scales"
    declared = answer("src", "parity", "--scales", "1,400", "--mode", "declared")
    assert (declared["src"], declared["status"]) == (output["src"], "reference")
    typed = answer("src", "parity", "--scales", "1,400", "--mode", "typed")
    assert typed["bounds"]["400"][1] == "inf", "no reference circuit is typed"
    assert (typed["src"]["400"], typed["status"]) == (None, "bounds")


def test_scales_that_were_left_out_are_a_reason(answer, monkeypatch):
    monkeypatch.setattr(src_module, "MAX_TOKENS", 500)
    output = answer("src", "parity", "--scales", "1,400", "--mode", "typed")
    assert output["status"] == "bounds"
    assert output["stopped"]


def test_bounds_found_before_are_kept_when_a_circuit_is_refuted(answer, monkeypatch):
    """Traces up to scale 5 stay as they are, and more prompts at scale 6 only raise its lower bound."""
    runs, search = [], rounds.search

    def search_once(problem, clock, *, patient):
        runs.append(patient)
        return Searched(stopped="the time limit has passed") if patient else search(problem, clock, patient=patient)

    def refuting(searched, problem, number, clock):
        return {} if searched.stopped else {6: problem.traces[6]}

    monkeypatch.setattr(rounds, "search", search_once)
    monkeypatch.setattr(rounds, "refuting", refuting)
    monkeypatch.setattr(rounds, "_grown", lambda *arguments: None)  # the prompts contradict the circuit
    output = answer("src", "permutation", "--arity", "1", "--scales", "1-6")
    assert runs == [False, True]
    assert [output["bounds"][str(scale)] for scale in range(1, 6)] == [[n, n] for n in range(1, 6)]
    assert output["bounds"]["6"][0] == 6


def test_the_fewest_slots_are_not_claimed_of_scales_that_were_not_looked_at(answer, monkeypatch):
    question = ("src", "division-remainder", "--base", "3", "--scales", "1-6")
    assert answer(*question)["minimal_arity"] == 3
    monkeypatch.setattr(src_module, "MAX_TOKENS", 1)  # as a time limit does: scale 1 only
    assert answer(*question)["minimal_arity"] in (3, None)


MINE = {
    "another output every time": (
        "import random\nmine = Task(name='mine', alphabet=('0', '1'), prompt=lambda n: [('0', '1')] * (n + 6),\n"
        "            generate=lambda prompt: [random.choice('01')])",
        "other output on a second call",
    ),
    "outputs of unequal length": (
        "mine = Task(name='mine', alphabet=('0', '1'), prompt=lambda n: [('0', '1')] * n,\n"
        "            generate=lambda prompt: ['0'] * (1 + prompt.count('1')))",
        "symbols are appended to prompts of one scale",
    ),
    "no output": (
        "mine = Task(name='mine', alphabet=('0', '1'), prompt=lambda n: [('0', '1')] * n, generate=lambda prompt: [])",
        "appends nothing",
    ),
    "a failure": (
        "mine = Task(name='mine', alphabet=('0', '1'), prompt=lambda n: [('0', '1')] * n,\n"
        "            generate=lambda prompt: [prompt[9]])",
        "IndexError",
    ),
    "too many symbols": (
        f"names = [str(n) for n in range({MAX_SYMBOLS + 1})]\n"
        "mine = Task(name='mine', alphabet=tuple(names), prompt=lambda n: [names] * n, generate=lambda p: [p[0]])",
        f"at most {MAX_SYMBOLS} symbols",
    ),
}


@pytest.mark.parametrize("name", MINE)
def test_a_task_that_breaks_its_contract_is_one_line(run, name, tmp_path):
    code, says = MINE[name]
    file = tmp_path / "mine.py"
    file.write_text(f"from lengthgen.circuits import Task\n{code}\n")
    refused(run("src", f"{file}:mine", "--scales", "1-3"), says)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (("parity", "--arity", "0"), "--arity"),
        (("parity", "--arity", "9"), "--arity"),
        (("addition", "--arity", "8"), "an operator of arity 8 over 13 symbols has 815,730,721 entries"),
        (("sort-direct", "--mode", "declared", "--scales", "1-2"), "needs a reference circuit; it is missing"),
        (("parity", "--mode", "declared", "--arity", "3"), "it has arity 2"),
        (("parity", "--mode", "any"), "--mode"),
        (("parity-direct", "--scales", "1-9"), "use --arity K"),
        (("parity", "--time-limit", "-1"), "--time-limit"),
        (("parity", "--time-limit", "soon"), "--time-limit"),
        (("copy", "--base", "1"), "--base"),
        (("copy", "--base", "500"), "the base must be 2 to"),
        (("parity", "--arity", "1", "--scales", "1-3", "--draw", "drawn"), "no circuit of arity 1 to draw"),
        (("reverse", "--after", "copy", "--certificate", "c.json"), "no certificates of two tasks in one"),
        (("parity-direct", "--scales", "1-9", "--arity", "2", "--minima"), "minimum circuits are counted"),
        ((*TWO_SCALES, "--curve"), "--second-scales goes with"),
        ((*TWO_SCALES, "--within", "0"), "--second-scales goes with"),
        (("addition-mixed",), "has two scales: ask for its SRC with"),
        (("parity", "--second-scales", "1-2"), "'parity' is no task of two scales"),
        (("parity", "--all-scales", "--minima"), "--all-scales goes with"),
        (("reverse", "--all-scales"), "is no finite-state transducer"),
        (
            ("select-any", "--base", "2", "--scales", "1-2", "--certificate", "c"),
            "no certificates of tasks with several right outputs",
        ),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_a_question_that_makes_no_sense_is_one_line(run, question, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(run("src", *question), says)


def test_the_table_shows_which_values_are_unknown(run):
    code, out, err = run(*HEAVY, "--time-limit", "0.3")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= LINES
    assert "not finished: " in " ".join(out.split()) and re.search(r"^ 1\b.* 1\.\.", out, flags=re.MULTILINE)
    code, out, _ = run(*HEAVY, "--time-limit", "0.3", "--details")
    assert re.search(r"^ *30 .* \d+\.\.", out, flags=re.MULTILINE)


def test_a_task_that_ignores_its_prompt_is_noticed(answer, run, tmp_path):
    """Bracket depth modulo 2 is that of the position: no bracket matters."""
    (tmp_path / "depth.py").write_text(
        "from lengthgen.circuits.task import Task\n"
        "def depths(prompt):\n"
        "    total = 0\n"
        "    for bracket in prompt[:-1]:\n"
        "        total += 1 if bracket == '(' else -1\n"
        "        yield str(total % 2)\n"
        "depth = Task(name='depth', alphabet='()01=', prompt=lambda n: ['()'] * n + ['='],\n"
        "             generate=lambda prompt: list(depths(prompt)))\n"
    )
    command = ("src", f"{tmp_path / 'depth.py'}:depth", "--scales", "1-3")
    assert answer(*command)["unread"] == {"scale": 3, "positions": [1, 2, 3]}
    note = "no step of scale 3 reads the prompt at positions 1, 2, 3: the output does not depend on it"
    assert note in run(*command)[1]
    assert answer("src", "parity", "--scales", "1-3")["unread"]["positions"] == []
    assert "reads the prompt" not in run("src", "parity", "--scales", "1-3")[1]
