"""`lengthgen modular-addition`: predicted and observed by condition, and refusals before anything is computed."""

from lengthgen.empirical.experiment.loop import TrainingError
from lengthgen.empirical.studies.modular_addition import classifiers
from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS
from tests.lengthgen.refusal import refused

SMOKE = ("modular-addition", "--profile", "smoke")


def test_the_answer_compares_predictions_with_what_was_observed(answer, run, trained_here, tmp_path):
    names = ["released-words", "attached-rope", "described-shift"]
    chosen = (*SMOKE, "--out", str(tmp_path), "--condition", ",".join([*names, names[0]]))
    got = answer(*chosen)
    assert list(got["conditions"]) == names
    assert (got["modulus"], got["seeds"], got["failures"]) == (5, [42, 43], [])
    for name, row in got["conditions"].items():
        kinds = {outcome["evaluation"].split()[0] for outcome in row["evaluations"]}
        condition = CONDITIONS[name]
        assert kinds == {"A", "B", "C0"} | ({"C1"} if condition.words else set()) | (
            {"S"} if condition.masked else set()
        )
        assert row["encoding"] == condition.encoding and len(row["predictions_sha256"]) == 64
        assert row["agree"] <= row["decided"] <= len(row["evaluations"])
        assert all(outcome["why"] and len(outcome["accuracy"]) == 2 for outcome in row["evaluations"])
    code, table, errors = run(*chosen)
    assert (code, errors) == (0, "")  # nothing is trained again
    assert "attached-rope" in table and "not fitted" in table and "predicted" in table
    assert not list(tmp_path.rglob("*.partial"))


def test_conditions_take_other_encodings(answer, trained_here, tmp_path):
    chosen = ("--condition", "described-shift,described-baseline", "--encoding", "alibi,graph-alibi")
    got = answer(*SMOKE, "--out", str(tmp_path), *chosen)
    names = [f"{name} with {encoding}" for name in chosen[1].split(",") for encoding in ("alibi", "graph-alibi")]
    assert list(got["conditions"]) == names
    alibi, path = (got["conditions"][name]["evaluations"] for name in names[:2])
    assert [row["accuracy"] for row in alibi] == [row["accuracy"] for row in path]


def test_a_condition_that_fails_is_named_and_the_others_stay(run, trained_here, tmp_path, monkeypatch):
    initial = classifiers.Classifiers._initial_model

    def fails_for_rope(self, seed):
        if self.condition.encoding == "rope":
            raise TrainingError("no such luck")
        return initial(self, seed)

    monkeypatch.setattr(classifiers.Classifiers, "_initial_model", fails_for_rope)
    code, table, errors = run(*SMOKE, "--out", str(tmp_path), "--condition", "rope,nope")
    assert code == 1
    assert "modular addition: 2 conditions to do" in errors
    assert "no such luck" in table and "nope" in table


def test_what_cannot_be_trained_is_refused_before_anything_is_computed(run, tmp_path):
    out = ("--out", str(tmp_path / "out"))
    refused(run("modular-addition", "--profile", "large", *out), "unknown profile 'large'", "quick")
    refused(run(*SMOKE, *out, "--condition", "rope,alibi"), "unknown condition 'alibi'", "released-alibi")
    refused(run(*SMOKE, *out, "--encoding", "fox"), "'fox' is not used in an encoder", "t5-bidirectional")
    refused(run(*SMOKE, *out, "--encoding", "t5"), "use t5-bidirectional")
    refused(run(*SMOKE, *out, "--encoding", "ropee"), "unknown encoding 'ropee'", "rope")
    assert not (tmp_path / "out").exists()


def test_stored_models_are_runs_that_claims_can_name(run, answer, trained_here, claims_run_here, tmp_path):
    names = ",".join(["released-shift", "released-shift-plain"])
    answer(*SMOKE, "--out", str(tmp_path), "--condition", names)
    code, table, errors = run("verify", "mod-9d", "--runs", str(tmp_path), "--profile", "smoke", "--format", "evidence")
    assert "the same accuracy of every seed in" in table, (code, table, errors)
