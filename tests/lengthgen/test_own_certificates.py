"""Certificates that are no certificates, of tasks whose code ends its process, and files that are not replaced."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TASKS, TaskSpec, load, load_machine, load_two_scales
from lengthgen.circuits.tasks.catalogue import TWO_SCALE_TASKS
from lengthgen.circuits.tasks.transducer import MACHINES
from lengthgen.questions import complexity
from tests.lengthgen.refusal import refused
from tests.timing import at_once

COPY = """
import os, sys, time
from lengthgen.circuits import Task
def generate(prompt):
    GENERATED
    return prompt[:-1]
LOADED_CODE
mine = Task(name="mine", alphabet="äü=", prompt=lambda n: ["äü"] * n + ["="], generate=generate)
"""
COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from lengthgen.cli import main; main()"
)


def code(*, loaded="pass", generated="pass"):
    return COPY.replace("LOADED_CODE", loaded).replace("GENERATED", generated)


@pytest.fixture
def nothing_computed(monkeypatch):
    """Fail a test that computes SRC."""
    monkeypatch.setattr(complexity, "compute", lambda question: pytest.fail("computed"))


@pytest.fixture
def certified(answer, tmp_path, monkeypatch):
    """Folder of a user's own task, mine.py:mine, and of its certificate, proof.json."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(code(), encoding="utf-8")
    answer("src", "mine.py:mine", "--scales", "1-2", "--certificate", "proof.json")
    return tmp_path


def test_symbols_beyond_ascii_are_written_and_read(certified, answer):
    assert "\u00e4" in json.dumps(json.loads(Path("proof.json").read_bytes()), ensure_ascii=False)
    output = answer("check-certificate", "proof.json", "--task", "mine.py:mine")
    assert output["statement"] == "SRC(mine, 2) = 1 at arity 1, free"


@pytest.mark.parametrize(
    ("loaded", "generated", "says"),
    [
        ("sys.exit(0)", "pass", "task file 'mine.py' fails: SystemExit: 0"),
        ("os._exit(0)", "pass", "task file 'mine.py' fails: SystemExit: it calls os._exit(0)"),
        ("os.kill(os.getpid(), 9)", "pass", "is not checked: the code of mine.py:mine ended its process"),
        ("pass", "sys.exit(0)", "generate fails on prompt"),
        ("pass", "os._exit(0)", "it calls os._exit(0)"),
        ("pass", "os.kill(os.getpid(), 9)", "is not checked: the code of mine.py:mine ended its process"),
    ],
)
def test_a_certificate_that_was_not_checked_does_not_hold(certified, run, loaded, generated, says):
    Path("mine.py").write_text(code(loaded=loaded, generated=generated), encoding="utf-8")
    refused(run("check-certificate", "proof.json", "--task", "mine.py:mine", "--json"), says)


def test_only_the_verdict_is_printed(certified):
    Path("mine.py").write_text(code(generated="print('SRC(mine, 2) = 7')"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "check-certificate", "proof.json", "--task", "mine.py:mine", "--json"],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["statement"] == "SRC(mine, 2) = 1 at arity 1, free"


def test_ctrl_c_while_it_is_checked_is_status_130(certified):
    Path("mine.py").write_text(code(generated="open('begun', 'w'); time.sleep(60)"), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "check-certificate", "proof.json", "--task", "mine.py:mine"],
        text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not Path("begun").exists() and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (130, "")
    assert err == "error: interrupted\n"


NO_CERTIFICATE = {
    "nothing": "",
    "nested lists": "[" * 200_000 + "]" * 200_000,
    "nested objects": '{"task": ' * 200_000 + "1" + "}" * 200_000,
    "null": "null",
    "a list": "[1, 2]",
    "a text": '"parity"',
    "a number of 5,000 digits": '{"base": ' + "9" * 5_000 + "}",
    "constants of no JSON": '{"lower": NaN}',
    "a lone surrogate": '{"task": "\\ud800"}',
    "half": '{"task": "parity"',
    "no text": b"\xff\xfe\x00",
}
FIELDS = {
    "format": [2],
    "task": [None, 3, [], {}, "nothing", "copy", "parity" * 10**6, "\x1b[2J", "no.py:task", "\ud800"],
    "base": ["2", True, 2.0, -1, 0, 2, 10**9, 10**4000, []],
    "layout": [None, "diagonal", ["free"], "aligned" * 10**6],
    "largest_scale": [None, 0, -1, True, "4", 129, 10**9, 4.0],
    "scale": [None, 0, 5, 10**9, "4", [4]],
    "arity": [1, 0, -1, 9, 10**9, None, "2"],
    "mode": ["typed", "any", None, 1],
    "lower": [2, 0, 10**9, None, "1", -1, "-inf"],
    "upper": [0, "1", -1, 10**9, []],
    "prompts": [None, [], {"1": None}, {"1": [1]}, {"x": ["0 ="]}, {"1": ["0"]}, {"1": ["0" * 10**6]}, {"9": []}],
    "steps": [None, [], [[1]], [[1, 10**9]], [[1, "2"]], [[1, -1]], {}, [[10**9, 3]]],
    "clique": [None, [10**9], [-1], ["0"], {"0": 0}],
    "proof": [3, [1], "text", ["1 0"], {}],
    "circuit": [None, [], {}, {"reference": False}, {"operators": [], "wirings": {}}, {"operators": 3, "wirings": []}],
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Content of a certificate of parity."""
    from lengthgen.circuits.certificate import certificate
    from lengthgen.circuits.clock import Clock
    from lengthgen.questions.complexity import Question, compute

    question = Question(spec=TaskSpec(name="parity"), scales=range(1, 5))
    answer = compute(question)
    return certificate(answer.task, answer.result, spec=question.spec, clock=Clock())


@pytest.mark.parametrize("name", NO_CERTIFICATE)
def test_a_file_that_is_no_certificate_proves_nothing(run, name, tmp_path):
    file = tmp_path / "proof.json"
    content = NO_CERTIFICATE[name]
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(run("check-certificate", str(file)), "proof.json")


@pytest.mark.parametrize("field", FIELDS)
def test_a_certificate_with_a_wrong_field_proves_nothing(run, field, good, tmp_path):
    file = tmp_path / "proof.json"
    for value in FIELDS[field]:
        file.write_text(json.dumps(good | {field: value}))
        start = time.monotonic()
        refused(run("check-certificate", str(file)), longest=5000)
        assert time.monotonic() - start < 20
    file.write_text(json.dumps({key: value for key, value in good.items() if key != field}))
    refused(run("check-certificate", str(file)), "proves nothing")


def test_a_certificate_of_other_bounds_or_of_a_wrong_circuit_proves_nothing(run, answer, good, tmp_path):
    file = tmp_path / "proof.json"
    [operator] = good["circuit"]["operators"]
    flipped = good["circuit"] | {"operators": [{key: {"0": "1", "1": "0"}.get(of, of) for key, of in operator.items()}]}
    for change in ({"lower": 2, "upper": 2}, {"circuit": flipped}):
        file.write_text(json.dumps(good | change))
        refused(run("check-certificate", str(file)), "proves nothing")
    file.write_text(json.dumps(good))
    assert answer("check-certificate", str(file))["proved"]


def test_a_path_that_is_no_regular_file_is_not_read(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(1 << 30)
    for path in ("/dev/zero", str(pipe), str(tmp_path), str(large), "nowhere.json"):
        refused(run("check-certificate", path), path)


def test_no_task_is_made_of_a_huge_base():
    for name in TASKS:
        with at_once(), pytest.raises(TaskError, match="base"):
            load(name, base=10**9)
    for load_other, names in ((load_two_scales, TWO_SCALE_TASKS), (load_machine, MACHINES)):
        for name in names:
            with at_once(), pytest.raises(TaskError, match="base"):
                load_other(name, base=10**9)


@pytest.mark.parametrize("kind", ["device", "folder", "pipe", "link to a device", "below a file"])
@pytest.mark.usefixtures("nothing_computed")
def test_a_path_that_is_no_regular_file_is_not_replaced_and_nothing_is_computed(run, kind, tmp_path):
    place = tmp_path / "place"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "link to a device":
        place.symlink_to("/dev/full")
    elif kind == "below a file":
        place.write_text("mine")
    target = {"device": Path("/dev/full"), "below a file": place / "proof.json"}.get(kind, place)
    before = place.lstat() if kind != "device" else None
    refused(run("src", "parity", "--scales", "1-2", "--certificate", str(target)), "name another")
    assert before is None or place.lstat().st_ino == before.st_ino
    assert Path("/dev/full").is_char_device()


@pytest.mark.usefixtures("nothing_computed")
def test_nothing_is_drawn_into_a_file_and_nothing_is_computed(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    refused(run("src", "parity", "--scales", "1-2", "--draw", str(file)), "is no folder")
    assert file.read_text() == "mine"


def test_a_certificate_replaces_a_file_and_makes_its_folder(answer, tmp_path):
    for place in (tmp_path / "old.json", tmp_path / "new" / "folder" / "proof.json"):
        if place.parent == tmp_path:
            place.write_text("old")
        answer("src", "parity", "--scales", "1-2", "--certificate", str(place))
        assert json.loads(place.read_text())["task"] == "parity"
