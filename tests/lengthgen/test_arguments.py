"""Arguments that cannot be meant are refused at once, in one line, and before anything is computed."""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest

LONG = "x" * 100_000
DIGITS = "9" * 5_000
SHORT = ("--train", "1-2", "--test", "1-4")
SMOKE = (*SHORT, "--profile", "smoke")
AUDIT = ("audit", "rotary", "--to", "300", "--dtype", "float32", "--heads", "2", "--head-dim", "8")
TRAINERS = (
    ("train", "parity"),
    ("sweep", "fig1"),
    ("conjecture", "fig1"),
    ("text",),
    ("modular-addition",),
    ("reproduce",),
)
PROFILED = (*TRAINERS, ("figures",), ("figures", "--list"), ("report",), ("verify", "rope-1"))
SECONDS = 20
"""Limit: an argument that takes as long is a hang."""

SCALES = (
    "", "0", "-1", "\u0663", "1-\u0663", "\u00b2", "\uff11", "1_0", "1e3", "1.5", "nan", "inf", "1,", ",", "-", "1--2",
    "5-1", "1,1", "1\n", "\t1", "0x10", "1001", "1-1001", DIGITS, LONG, "1," * 20_000 + "9",
)  # fmt: skip
ENCODINGS = {
    "": "unknown encoding ''",
    "ipe,": "unknown encoding '",
    "[": "is no encoding",
    "\x1b[31m": "is no encoding",
    LONG: "unknown encoding",
    "random-ape[longest=1000000000]": "longest must be a whole number from 1 to 65,536",
    "random-rpe[longest=100000]": "longest must be a whole number from 1 to 4,096",
    "clipped[limit=1" + "0" * 23 + "]": "limit must be a whole number from 0 to 1,000,000",
    f"clipped[limit={DIGITS}]": "limit must be a whole number",
    "clipped[limit=\u0663]": "limit must be a whole number",
    "clipped[limit=1_0]": "limit must be a whole number",
    "clipped[limit=nan]": "limit must be a whole number",
    "t5[buckets=100000,longest=100000000]": "buckets must be a whole number from 2 to 1,024",
    "t5[longest=1" + "0" * 24 + "]": "longest must be a whole number from 2 to 100,000",
}
OF_TRAINING = {
    "a seed of 65 bits": (("train", "parity", "--seed", str(2**64)), "'--seed'"),
    "a negative seed": (("train", "parity", "--seed", "-1"), "'--seed'"),
    "a seed of thirty digits": (("train", "parity", "--seed", "9" * 30), "'--seed'"),
    "a seed that is not a number": (("train", "parity", "--seed", "nan"), "'--seed'"),
    "no runs": (("conjecture", "parity", "--seeds", "0"), "'--seeds'"),
    "a billion runs": (("conjecture", "parity", "--seeds", "1000000000"), "'--seeds'"),
    "too few positions": (
        ("train", "parity", *SMOKE, "--encoding", "random-ape[longest=3]"), "drawn from 3: set longest=11",
    ),
    "too few positions in a trial": (
        ("conjecture", "parity", *SMOKE, "--encoding", "random-rpe[longest=3]"), "drawn from 3: set longest=11",
    ),
    "an encoding file that is not there": (
        ("conjecture", "parity", *SMOKE, "--encoding", "nowhere.py:x"), "encoding file 'nowhere.py' does not exist",
    ),
    "a format twice": (("conjecture", "parity", *SMOKE, "--format", "aligned,aligned"), "the same cell occurs twice"),
    "no task": (("train", "", *SMOKE), "unknown task '': there are 107, such as"),
    "a task that is nearly one": (("conjecture", "paritty", *SMOKE), "did you mean parity"),
    "a protocol that is nearly one": (("conjecture", "fig9"), "unknown protocol or task 'fig9': did you mean fig4"),
    "neither protocol nor task": (("conjecture", "zzz"), "`lengthgen protocols` and `lengthgen tasks` list all"),
    "no format": (("conjecture", "parity", *SMOKE, "--format", ""), "unknown format ''"),
    "a base of a billion": (("train", "addition", *SMOKE, "--base", "1000000000"), "must be 2 to 251"),
    "a base of a billion, predicted": (("predict", "addition", *SHORT, "--base", "1000000000"), "must be 2 to 251"),
    "a base of a billion, counted": (("src", "addition", "--base", "1000000000"), "the base must be 2 to 251"),
    "too many scales": (("conjecture", "parity", "--test", "1-10000"), "must ascend within 1..1000"),
    "scales in other digits": (("conjecture", "parity", "--train", "\u0663"), "is neither a number nor a range"),
    "a sequence no model reads": (("train", "sort-trace", "--test", "1-200"), "a model reads at most 10,000"),
    "no protocol": (("sweep", ""), "unknown protocol ''"),
    "a long protocol": (("sweep", LONG), "unknown protocol"),
    "a pipe": (("sweep", "FILES/pipe.toml"), "is no regular file"),
    "a pipe on trial": (("conjecture", "FILES/pipe.toml"), "is no regular file"),
    "a folder": (("sweep", "FILES/folder.toml"), "is no regular file"),
    "three gigabytes": (("conjecture", "FILES/huge.toml"), "at most"),
    "a device as protocol": (("sweep", "FILES/device.toml"), "is no regular file"),
    "a pipe for figures": (("figures", "--protocol", "FILES/pipe.toml"), "is no regular file"),
    "a hidden protocol": (("sweep", "FILES/.toml"), ".toml"),
    "a trillion samples": (("evaluate", "x", "--samples", "1000000000000"), "'--samples'"),
    "no samples": (("evaluate", "x", "--samples", "0"), "'--samples'"),
    "other digits to evaluate": (("evaluate", "x", "--test", "\u0663"), "is neither a number nor a range"),
    "a run outside of the store": (("evaluate", "../..", "--out", "FILES"), "no finished run '../..'"),
    "no run": (("relation", "", "--out", "FILES"), "no finished run ''"),
    "an unknown device for a run that is not there": (("evaluate", "x", "--device", "tpu"), "unknown device 'tpu'"),
    "a ray that is not installed": (("conjecture", "fig1", "--engine", "ray"), ".[cluster]"),
    "curves that are not installed": (("sweep", "fig1", "--log", "tensorboard"), ".[curves]"),
    "curves of one run": (("train", "parity", "--log", "tensorboard"), ".[curves]"),
    "no name of a folder": (("train", "parity", "--out", ""), "'--out': the path is empty"),
    "no name of a file": (("src", "parity", "--certificate", ""), "'--certificate': the path is empty"),
    "a folder for figures that is a file": (("figures", "--into", "FILES/notes.txt"), "is no folder"),
    "a folder for the lattice that is a file": (("verify", "--lattice", "--out", "FILES/notes.txt"), "is no folder"),
    "a folder for a drawing that is a file": (("lrc", "1", "--draw", "FILES/notes.txt"), "is no folder"),
    "a certificate that is a folder": (("check-certificate", "FILES/folder.toml"), "is no regular file"),
    "a certificate that is a pipe": (("check-certificate", "FILES/pipe.toml"), "is no regular file"),
    "an array that is a pipe": (("lrc", "FILES/pipe.npy"), "pipe.npy"),
    "a limit that is not a number": (("verify", "rope-1", "--time-limit", "nan"), "the time limit must be"),
    "a limit of nothing": (("verify", "rope-1", "--time-limit", "0"), "the time limit must be"),
    "a limit of SRC that is not a number": (("src", "parity", "--time-limit", "nan"), "'--time-limit'"),
}  # fmt: skip
OF_AUDITS = {
    "heads": ((*AUDIT, "--heads", "1000000000"), "'--heads'"),
    "width of a head": ((*AUDIT, "--head-dim", "1000000000"), "'--head-dim'"),
    "both": ((*AUDIT, "--heads", "64", "--head-dim", "64"), "heads x head_dim = 4096 is out of range: 1 to 2,048"),
    "position": ((*AUDIT, "--to", "1" + "0" * 20), "must be within 1..10000000"),
    "no budget": ((*AUDIT, "--budget", "nan"), "budget"),
    "endless budget": ((*AUDIT, "--budget", "inf"), "the budget must be a finite number"),
    "no dtype": ((*AUDIT, "--dtype", ""), "unknown dtype ''"),
    "a dtype twice": ((*AUDIT, "--dtype", "float32,float32"), "a dtype is given twice"),
    "device": ((*AUDIT, "--device", "cuda:7"), "unknown device 'cuda:7'"),
    "no number": ((*AUDIT, "--parameters", "base=nan"), "'base=nan' is no finite number"),
    "endless": ((*AUDIT, "--other", "base=-Infinity"), "is no finite number"),
    "too large a float": ((*AUDIT, "--parameters", "base=1e400"), "too long or too large"),
    "too long": ((*AUDIT, "--parameters", f"base={DIGITS}"), "too long or too large"),
    "twice": ((*AUDIT, "--parameters", "base=1,base=2"), "'base' is given twice"),
    "other digits": ((*AUDIT, "--parameters", "base=\u0663"), "base must be a number from 0.001"),
    "a name alone": ((*AUDIT, "--parameters", "base="), "is not NAME=VALUE"),
    "head width by name": ((*AUDIT, "--parameters", "head_dim=1000000000"), "head_dim = 1000000000 is out of range"),
    "length": (("audit", "learned", *AUDIT[2:], "--parameters", "length=1000000000"), "length = 1000000000 is out"),
    "negative length": (("audit", "learned", *AUDIT[2:], "--parameters", "length=-1"), "length = -1 is out of range"),
    "buckets": (("audit", "t5", *AUDIT[2:], "--other", "buckets=1000000000"), "buckets = 1000000000 is out"),
    "distance": (("audit", "t5", *AUDIT[2:], "--parameters", "longest=99999999999"), "longest = 99999999999 is out"),
}  # fmt: skip
COMPUTING = (
    "lengthgen.questions.complexity.src",
    "lengthgen.questions.figures._draw_all",
    "lengthgen.empirical.experiment.train.train",
    "lengthgen.circuits.analysis.analyse",
    "lengthgen.questions.experiment.analyse",
    "lengthgen.questions.rounds.train_all",
    "lengthgen.reproduce.Cached",
    "lengthgen.questions.report._explorations",
    "lengthgen.proofs_checks.ledger._entries",
)
"""Functions where the long parts of all commands begin, by the modules that call them."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Folder of files that no command should read, and none to write into."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("pipe.toml", "pipe.npy"):
        os.mkfifo(folder / name)
    (folder / "folder.toml").mkdir()
    (folder / "device.toml").symlink_to("/dev/zero")
    (folder / "notes.txt").write_text("text", encoding="utf-8")
    with (folder / "huge.toml").open("wb") as file:
        file.truncate(3 << 30)
    return folder


@pytest.fixture
def refused(run, files, tmp_path, monkeypatch):
    """Function that calls the command, which must refuse its arguments in one line and compute nothing; returns it."""

    def compute(*arguments, **options):
        raise AssertionError("something is computed")

    def hang(*_):
        raise AssertionError(f"no answer in {SECONDS} s")

    for name in COMPUTING:  # first, as a module that is imported later would keep what replaces a function of another
        import_module(name.rpartition(".")[0])
    for name in COMPUTING:
        monkeypatch.setattr(name, compute)
    for name in ("ray", "tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)  # as where it is not installed
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        before = signal.signal(signal.SIGALRM, hang)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            code, out, err = run(*(argument.replace("FILES", str(files)) for argument in arguments))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert (code, out) == (2, ""), err
        assert err.startswith("error: ") and err.count("\n") == 1 and err[:-1].isprintable(), err
        assert list(Path().rglob("*")) == [], "a file is left"
        return err

    return call


@pytest.mark.parametrize("text", SCALES, ids=lambda text: ascii(text[:20]))
def test_scales_are_numbers_in_plain_digits(refused, text):
    assert "error: scales '" in refused("predict", "parity", "--train", text, "--test", "1-4")


@pytest.mark.parametrize("text", ENCODINGS, ids=lambda text: ascii(text[:30]))
@pytest.mark.parametrize("command", ["predict", "train"])
def test_an_encoding_whose_parameters_are_out_of_range_is_refused(refused, command, text):
    assert ENCODINGS[text] in refused(command, "parity", *SHORT, "--encoding", text)


@pytest.mark.parametrize("name", OF_TRAINING)
def test_training_arguments_that_cannot_be_met_are_refused(refused, name):
    arguments, says = OF_TRAINING[name]
    assert says in refused(*arguments)


@pytest.mark.parametrize("name", OF_AUDITS)
def test_an_audit_that_would_not_fit_into_memory_is_refused(refused, name):
    arguments, says = OF_AUDITS[name]
    assert says in refused(*arguments)


@pytest.mark.parametrize("profile", ["quik", "", "../profiles/smoke", LONG], ids=lambda text: text[:20])
@pytest.mark.parametrize("command", PROFILED, ids=" ".join)
def test_an_unknown_profile_is_noticed_before_anything_is_computed(refused, command, profile):
    assert "unknown profile" in refused(*command, "--profile", profile)


@pytest.mark.parametrize("command", TRAINERS, ids=" ".join)
def test_an_unknown_device_is_noticed_before_anything_is_computed(refused, command):
    assert "unknown device 'tpu': choose cpu or cuda" in refused(*command, "--device", "tpu")


@pytest.mark.parametrize("out", ["FILES/notes.txt", "FILES/notes.txt/below", "/dev/null/out"])
@pytest.mark.parametrize("command", [*TRAINERS, ("figures",), ("report",)], ids=" ".join)
def test_a_file_in_place_of_the_folder_is_noticed_before_anything_is_computed(refused, command, out):
    assert "is no folder: name another" in refused(*command, "--out", out)
