"""Statements tried on random prompts only are not called proved, by `check-certificate` and by `src` alike."""

import json
from pathlib import Path

import pytest

# At arity 1 there is no circuit, but only one prompt in 2**40 shows that "always 0" is none, and random ones miss it.
AND = """
from lengthgen.circuits import Task
from lengthgen.circuits.task import Reference
def task(name, reference=None):
    return Task(name=name, alphabet="01", prompt=lambda n: ["01"] * 40,
                generate=lambda prompt: "1" if prompt == tuple("1" * 40) else "0", reference=reference)
conjunction = task("and")
with_reference = task("and-own", Reference(arity=1, steps=lambda n: [("zero", (1,))], apply=lambda name, symbols: "0"))
"""
CIRCUIT = {"operators": [{"0": "0", "1": "0"}], "wirings": {"1": [[0, [1]]]}}
CERTIFICATE = {
    "format": 1, "task": "own.py:conjunction", "base": None, "layout": "unaligned", "largest_scale": 1, "arity": 1,
    "mode": "free", "scale": 1, "lower": 1, "upper": 1, "prompts": {"1": ["0 " * 39 + "0"]}, "steps": [[1, 41]],
    "clique": [], "proof": None, "circuit": CIRCUIT,
}  # fmt: skip
NOT_PROVED = (
    "SRC(conjunction, 1) >= 1 at arity 1, free; upper bound 1 holds on {} sampled prompts only above scale 0, "
    "not proved"
)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Folder of own.py, and of proof.json, a certificate of the conjunction of 40 bits."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(AND, encoding="utf-8")
    Path("proof.json").write_text(json.dumps(CERTIFICATE), encoding="utf-8")
    return tmp_path


def check(run, *arguments, name="conjunction"):
    code, out, err = run("check-certificate", "proof.json", "--task", f"own.py:{name}", *arguments, "--json")
    assert (code, err) == (3, "")
    return json.loads(out)


def test_a_circuit_that_is_right_on_random_prompts_is_not_called_proved(own, run):
    checked = check(run)
    assert (checked["statement"], checked["status"], checked["proved"]) == (NOT_PROVED.format(300), "sampled", False)
    assert (checked["lower"], checked["upper"], checked["sampled"]) == (1, 1, 300)
    code, out, err = run("check-certificate", "proof.json", "--task", "own.py:conjunction", "--seed", "7")
    words = " ".join(out.split())
    assert (code, err) == (3, "")
    assert NOT_PROVED.format(300) in words and "--seed 7" in words
    assert "proved:" not in words


def test_the_prompts_are_others_each_time_and_the_same_for_one_seed(own, run):
    """The task writes down the prompts that it gets: 300 prompts of 2**40."""
    Path("own.py").write_text(
        AND.replace('"1" if prompt ==', '"1" if print("".join(prompt), file=open("asked", "a")) or prompt =='),
        encoding="utf-8",
    )

    def prompts_of_check(*arguments):
        Path("asked").unlink(missing_ok=True)
        seed = check(run, *arguments)["seed"]
        return seed, Path("asked").read_text(encoding="utf-8").split()

    (seed, prompts), (other_seed, other_prompts) = prompts_of_check(), prompts_of_check()
    assert seed != other_seed and len(prompts) >= 300
    assert len(set(prompts) & set(other_prompts)) < 100
    assert prompts_of_check("--seed", str(seed)) == (seed, prompts)


def test_a_reference_circuit_of_ones_own_proves_nothing_on_random_prompts(own, run):
    changed = CERTIFICATE | {"task": "own.py:with_reference", "circuit": {"reference": True}}
    Path("proof.json").write_text(json.dumps(changed), encoding="utf-8")
    checked = check(run, name="with_reference")
    assert (checked["status"], checked["proved"]) == ("reference", False)
    assert "upper bound 1, that of the task's own circuit, holds on 300 sampled prompts only" in checked["statement"]


@pytest.mark.parametrize("name", ["conjunction", "with_reference"])
def test_src_says_the_same_of_the_same_certificate(own, run, answer, name):
    question = ("src", f"own.py:{name}", "--scales", "1", "--arity", "1")
    answered = answer(*question, "--certificate", "proof.json")
    checked = check(run, name=name)
    assert (answered["status"], answered["proved"]) == (checked["status"], checked["proved"])
    subject, _, rest = answered["statement"].partition(" holds on ")
    assert checked["statement"].partition(" holds on ")[::2] == (subject, rest.replace(rest.split()[0], "300", 1))
    assert int(rest.split()[0].replace(",", "")) == answered["inputs"]
    _, out, _ = run(*question)
    assert f"{answered['status']}: {answered['statement']}" in " ".join(out.split())


def test_a_statement_tried_on_all_prompts_is_proved(answer, run, tmp_path):
    proof = str(tmp_path / "proof.json")
    answered = answer("src", "parity", "--scales", "1-4", "--certificate", proof)
    checked = answer("check-certificate", proof)
    assert (checked["status"], checked["proved"], checked["seed"], checked["sampled"]) == ("exact", True, None, 0)
    assert (answered["statement"], answered["status"], answered["proved"]) == (checked["statement"], "exact", True)
    _, out, _ = run("check-certificate", proof)
    assert out == f"proved: {checked['statement']}\n"


def test_infinite_complexity_is_proved_on_few_prompts(answer, tmp_path):
    proof = str(tmp_path / "proof.json")
    answered = answer("src", "parity-direct", "--scales", "15", "--arity", "1", "--certificate", proof)
    checked = answer("check-certificate", proof)
    assert (answered["statement"], answered["proved"]) == (checked["statement"], checked["proved"])
    assert checked["proved"] and checked["upper"] == "inf"


def test_help_says_what_the_exit_codes_mean(run):
    _, out, _ = run("check-certificate", "--help")
    words = " ".join(out.split())
    assert "Exit code: 0 if everything is proved; 3 if" in words
    assert "--seed" in words


def test_a_lower_bound_in_mode_typed_rests_on_all_prompts_of_a_scale(monkeypatch):
    """A sampled scale has no typed lower bound: on some prompts alone, fewer positions may seem to be needed."""
    from lengthgen.circuits import trace as trace_module
    from lengthgen.circuits.tasks import TaskSpec
    from lengthgen.questions.complexity import Question, compute

    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", 50)
    monkeypatch.setattr(trace_module, "SAMPLE", 40)
    answered = compute(
        Question(spec=TaskSpec(name="addition-carry", base=2), scales=range(1, 5), arity=3, mode="typed")
    )
    exhaustive = answered.result.exhaustive_to
    assert exhaustive == 2
    statement = answered.as_json()["statement"]
    assert statement.startswith(
        f"SRC(addition-carry base 2, 4) >= {answered.result.bounds[exhaustive][0]} at arity 3, typed"
    )
