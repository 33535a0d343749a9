"""Every value of a protocol and a profile has a range, and is refused outside of it in one line that says where."""

import json
import os
from dataclasses import is_dataclass, replace
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest

from lengthgen.empirical.experiment.protocol import Model, Protocol, load_profile, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import MOST_PARAMETERS_TOGETHER, groups
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.settings import ProfileError
from tests.timing import at_once

VALID = """
title = "Mine"
source = "this test"
train = [1, 2]
test = [1, 4]

[[cells]]
tasks = ["copy"]
formats = ["aligned"]
encodings = ["ipe"]

[quick]
"""
UNREADABLE = {
    "nested deeply": "x = " + "[" * 40_000,
    "dotted deeply": "x" + ".x" * 20_000 + " = 1",
    "dotted deeply as often as is read": "\n".join(f"x{n}" + ".x" * 490 + " = 1" for n in range(49)),
    "nested as deeply as is read": "x = " + "[" * 990,
    "no TOML": "title = ",
    "too long": "#" * 200_000,
    "null bytes": "\0",
}
VALUES = [
    ("seeds", "0", "seeds = 0 is out of range: 1 to 1,000"),
    ("seeds", "1001", "seeds = 1001 is out of range"),
    ("seeds", "-1", "seeds = -1 is out of range"),
    ("seeds", "true", "seeds = True is not int"),
    ("seeds", "2.0", "seeds = 2.0 is not int"),
    ("seeds", "nan", "seeds = nan is not int"),
    ("seeds", "2020-01-01", "seeds = datetime.date(2020, 1, 1) is not int"),
    ("seeds", "1" + "0" * 30, "seeds = 1000000000000000000000000000000 is out of range"),
    ("seeds", "9" * 900, "seeds = 99999"),
    ("seeds", "{ a = 1 }", "seeds = {'a': 1} is not int"),
    ("seeds", "[1]", "seeds = [1] is not int"),
    ("training", "3", "training = 3 is not a table"),
    ("training.epochs", "0", "training, epochs = 0 is out of range: 1 to 1,000,000"),
    ("training.epochs", "1" + "0" * 9, "epochs = 1000000000 is out of range"),
    ("training.samples", "0", "samples = 0 is out of range: 1 to 1,000,000"),
    ("training.samples", "10000001", "samples = 10000001 is out of range"),
    ("training.samples", "10001", "quick, training: 10001 samples are not whole batches of 10"),
    ("training.batch", "0", "batch = 0 is out of range: 1 to 10,000"),
    ("training.batch", "-10", "batch = -10 is out of range"),
    ("training.learning_rate", "0", "learning_rate = 0 is out of range: above 0, at most 1e+38"),
    ("training.learning_rate", "-0.0", "learning_rate = -0.0 is out of range"),
    ("training.learning_rate", "nan", "learning_rate = nan is out of range"),
    ("training.learning_rate", "inf", "learning_rate = inf is out of range"),
    ("training.learning_rate", "1e999", "learning_rate = inf is out of range"),
    ("training.learning_rate", "true", "learning_rate = True is not float"),
    ("training.weight_decay", "-0.1", "weight_decay = -0.1 is out of range: 0 to 1e+38"),
    ("training.weight_decay", "nan", "weight_decay = nan is out of range"),
    ("training.clip", "0", "clip = 0 is out of range: above 0"),
    ("training.clip", "inf", "clip = inf is out of range"),
    ("training.evaluate_every", "0", "evaluate_every = 0 is out of range: 1 to 1,000,000"),
    ("evaluation.samples", "0", "evaluation, samples = 0 is out of range: 1 to 100,000"),
    ("evaluation.samples", "1" + "0" * 12, "samples = 1000000000000 is out of range"),
    ("evaluation.threshold", "0", "threshold = 0 is out of range: above 0, at most 1"),
    ("evaluation.threshold", "1.01", "threshold = 1.01 is out of range"),
    ("evaluation.threshold", "nan", "threshold = nan is out of range"),
    ("models", "[]", "models = [] has 0 entries: it takes 1 to 20"),
    ("models", "3", "models = 3 is not a list"),
    ("models", "[3]", "models = 3 is not a table"),
    ("models", "[{ width = 0, layers = 2, heads = 1 }]", "width = 0 is out of range: 1 to 16,384"),
    ("models", "[{ width = 64, layers = 0, heads = 1 }]", "layers = 0 is out of range: 1 to 1,000"),
    ("models", "[{ width = 64, layers = 1, heads = 0 }]", "heads = 0 is out of range: 1 to 1,024"),
    ("models", "[{ width = 64, layers = 1, heads = 7 }]", "quick, models: width 64 is not a multiple of 7 heads"),
    ("models", "[{ width = 1000000, layers = 1000, heads = 1 }]", "width = 1000000 is out of range"),
    ("models", "[{ width = 16384, layers = 1000, heads = 1 }]", "3,221,225,472,000 trainable parameters, and"),
    ("models", "[" + "{ width = 8, layers = 1, heads = 1 }," * 2 + "]", "the same model occurs twice"),
    ("models", "[" + "{ width = 8, layers = 1, heads = 1 }," * 21 + "]", "has 21 entries: it takes 1 to 20"),
    ("base", "3", "quick, base is not a table"),
    ("base.copy", "1", "quick, base, copy = 1 is out of range: 2 to 254"),
    ("base.copy", "true", "copy = True is not int"),
    ("base.copy", '"ten"', "copy = 'ten' is not int"),
    ("base.copi", "3", "'copi' is not one of its tasks"),
]  # fmt: skip
PARTS = [
    ('title = "Mine"', "title = 3", "title = 3 is not str"),
    ('title = "Mine"', f'title = "{"x" * 301}"', "is not printable text of at most 300 characters"),
    ('title = "Mine"', 'title = "\\u001b[31mred"', "is not printable text"),
    ('title = "Mine"', 'title = "two\\nlines"', "is not printable text"),
    ('source = "this test"', 'source = "\\u202e"', "source = '\\u202e' is not printable text"),
    ("train = [1, 2]", "train = [0, 2]", "train = 0 is out of range: 1 to 1,000"),
    ("train = [1, 2]", "train = [2, 1]", "scales are given as [first, last]"),
    ("train = [1, 2]", "train = [1, true]", "train = True is not int"),
    ("train = [1, 2]", "train = 2", "train = 2 is not a list"),
    ("train = [1, 2]", "train = []", "scales are given as [first, last]"),
    ("test = [1, 4]", "test = [1, 1" + "0" * 30 + "]", "test = 1000000000000000000000000000000 is out of range"),
    ('tasks = ["copy"]', "tasks = []", "tasks = [] has 0 entries"),
    ('tasks = ["copy"]', 'tasks = "copy"', "tasks = 'copy' is not a list"),
    ('tasks = ["copy"]', "tasks = [1]", "tasks = 1 is not str"),
    ('tasks = ["copy"]', 'tasks = ["co\\u0007py"]', "tasks = 'co\\x07py' is not printable text of at most 1,000"),
    ('formats = ["aligned"]', 'formats = ["aligned", "aligned"]', "the same cell occurs twice"),
    ('encodings = ["ipe"]', f"encodings = {[str(n) for n in range(101)]}", "has 101 entries: it takes 1 to 100"),
    ('tasks = ["copy"]\nformats = ["aligned"]\nencodings = ["ipe"]',
     f"tasks = {[f'a.py:{n}' for n in range(90)]}\nformats = ['aligned']\nencodings = {[f'e{n}' for n in range(90)]}",
     "has 8,100 entries: it takes 1 to 1,000"),
    ("[[cells]]", "[cells]", "is not a list"),
    ("[quick]", "[quick]\nseeds = 1000\nmodels = ["
     + ", ".join(f"{{ width = {n}, layers = 1, heads = 1 }}" for n in range(1, 22)) + "]", "has 21 entries"),
    ('encodings = ["ipe"]\n\n[quick]', f"encodings = {[f'e{n}' for n in range(30)]}\n[quick]\nseeds = 1000",
     "30 cells, 1 models and 1000 seeds make 30,000 runs, and at most 20,000 are allowed"),
    ("[quick]", "[paper]\ntraining.epochs = 0", "paper, training, epochs = 0 is out of range"),
    ("[quick]", "[quik]", "unknown profile 'quik'"),
    ("train = [1, 2]", "train = [1, 4]", "the largest test scale (4) must exceed those of training (to 4)"),
    ("test = [1, 4]", "test = [2, 4]", "must include the training scales"),
    ('formats = ["aligned"]', 'format = ["aligned"]', "unknown key 'format': did you mean formats"),
    ('source = "this test"', "", "missing key 'source'"),
    ("[quick]", "[quick]\nsedes = 3", "unknown key 'sedes'"),
    ("[quick]", "[paper]\ntest = [5]", "paper, test: scales are given as"),
    ("[quick]", "[quick]\ntest = [1, 2]", "the largest test scale (2) must exceed"),
]  # fmt: skip


def refusal_message(path, text, profile="quick"):
    """Return the message about a protocol that must be refused, one line that names its file."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as error:
        load_protocol(str(path), profile)
    message = str(error.value)
    assert "\n" not in message and len(message) < 1_000
    return message


def test_the_protocol_that_the_others_are_made_of_is_valid(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(VALID, encoding="utf-8")
    assert load_protocol(str(path), "quick").title == "Mine"


@pytest.mark.parametrize("key, value, says", VALUES, ids=[f"{key} = {value:.20}" for key, value, _ in VALUES])
def test_a_value_that_is_out_of_its_range_is_refused_under_every_profile(tmp_path, key, value, says):
    for profile in ("quick", "smoke"):
        message = refusal_message(tmp_path / "mine.toml", f"{VALID}{key} = {value}\n", profile)
        assert says in message and "mine.toml', quick" in message


@pytest.mark.parametrize("before, after, says", PARTS, ids=[f"{after:.30}" for _, after, _ in PARTS])
def test_a_part_that_does_not_fit_is_refused(tmp_path, before, after, says):
    assert before in VALID
    message = refusal_message(tmp_path / "mine.toml", VALID.replace(before, after, 1))
    assert says in message


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_no_short_toml_is_refused_at_once(tmp_path, text):
    with at_once(3):
        assert "mine.toml" in refusal_message(tmp_path / "mine.toml", text)


def test_a_path_that_is_no_text_file_is_refused_without_being_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "device.toml").symlink_to("/dev/zero")
    (tmp_path / "bytes.toml").write_bytes(b"title = '\xff'")
    with (tmp_path / "huge.toml").open("wb") as file:
        file.truncate(3 << 30)
    for name in ("pipe", "folder", "device", "bytes", "huge", "nowhere"):
        with pytest.raises(ProfileError, match=f"{name}.toml"):
            load_protocol(str(tmp_path / f"{name}.toml"), "quick")


@pytest.mark.parametrize(
    "name",
    ["runs", "Runs", "figures", "report", "tensorboard", "manifest.json", ".hidden", "..", ".", "\x1b[31m", "é" * 60,
     "FIG1", "\u200b"],
)  # fmt: skip
def test_a_file_whose_name_cannot_be_that_of_its_folder_is_refused(tmp_path, name):
    message = refusal_message(tmp_path / f"{name}.toml", VALID)
    assert any(why in message for why in ("is taken", "cannot name a folder", "rename the file"))


def annotated(kind):
    """Every field of a dataclass and of those that it holds, with its hint."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        inner = get_args(plain)[0] if get_origin(plain) is tuple else plain
        yield f"{kind.__name__}.{name}", hint
        if is_dataclass(inner):
            yield from annotated(inner)


@pytest.mark.parametrize("kind", [Run, Protocol])
def test_every_field_that_a_file_gives_has_a_limit(kind):
    of_tasks = {"TaskSpec.name", "TaskSpec.base", "TaskSpec.format"}  # which a TaskSpec checks itself
    free = {"Run.version", "Protocol.cli_name", "Protocol.profile_name", *of_tasks}
    for name, hint in annotated(kind):
        limited = get_origin(hint) is Annotated and all(
            hasattr(constraint, "refusal") for constraint in get_args(hint)[1:]
        )
        assert limited or is_dataclass(hint) or name in free, name


@pytest.mark.parametrize(
    "changes",
    [{"seed": -1}, {"seed": 2**64}, {"seed": True}, {"train": []}, {"train": [0]}, {"test": [10**30]}, {"base": 1},
     {"task": "x" * 5_000}, {"encoding": "\x1b"}, {"training": {"epochs": 0}}, {"model": {"heads": 3}}],
    ids=lambda changes: str(changes)[:30],
)  # fmt: skip
def test_a_stored_config_is_read_with_the_same_limits(changes, small_run):
    config = json.loads(json.dumps(small_run().config))
    assert Run.from_config(config).config == config
    for key, value in changes.items():
        config[key] = config[key] | value if isinstance(value, dict) else value
    with pytest.raises(LengthgenError):
        Run.from_config(config)


@pytest.mark.parametrize("content", [None, [], [[]], 3, "run", {}], ids=repr)
def test_a_stored_config_that_is_no_table_is_refused(content):
    with pytest.raises(ProfileError, match="config"):
        Run.from_config(content)


def test_models_are_trained_together_only_as_far_as_memory_allows(small_run, tmp_path):
    large = Model(width=1_024, layers=7, heads=8)
    runs = [replace(small_run(seed=seed), model=large) for seed in range(6)]
    assert 2 * large.parameters < MOST_PARAMETERS_TOGETHER < 3 * large.parameters
    assert [len(group) for group in groups(runs, RunStore(tmp_path), workers=1)] == [2, 2, 2]
    small = [replace(run, model=Model(width=64, layers=2, heads=4)) for run in runs]
    assert [len(group) for group in groups(small, RunStore(tmp_path), workers=1)] == [6]


def test_a_profile_of_the_project_with_changes_names_the_profile():
    with pytest.raises(ProfileError, match=r"profile 'quick', seeds = 1000000000 is out of range: 1 to 1,000"):
        load_profile("quick", {"seeds": 10**9})
