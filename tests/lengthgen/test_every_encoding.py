"""Every registered encoding is predicted, trained, audited, verified and drawn by its names, or refused in one line."""

from dataclasses import replace

import pytest

from lengthgen.circuits.encoding_spec import ENCODINGS, parse_encoding
from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.paper_figs.style import look, looks
from lengthgen.proofs_checks import registry
from lengthgen.theory.encodings.catalogue import DuplicateEncoding, named, register
from lengthgen.theory.encodings.encoding import Encoding, Option
from lengthgen.theory.laws import Ruling

LABELS = {"rpe", "clipped", "ipe", "ipe-sh", "random-rpe", "lbpe", "lbpe-sh"}
"""Encodings that act through labels alone."""
NO_CLAIMS = (LABELS - {"rpe"}) | {"rpe-square", "grape-thin"}
"""Encodings that no claim is about; the family of claims `rpe` is on RPE-Square."""
SHIFTED_BY_PADDING = {"rpe-square"}
"""Encodings of whose content padding is a part."""
DRAWN = {name for name, encoding in ENCODINGS.items() if encoding.drawn_from}
BIDIRECTIONAL = {name for name, encoding in ENCODINGS.items() if not encoding.causal}
CABLE = {"cable", "cable-gated", "cable-nw", "cable-log"}
WITHOUT_RELATION = {"fox", "grape-path", "grape-contextual", "prism"} | CABLE | (DRAWN - {"offset-ape"}) | BIDIRECTIONAL


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_encoding_is_predicted_or_the_reason_is_given(name, answer):
    output = answer("predict", "parity", "--encoding", name, "--train", "1-2", "--test", "1-4")
    (prediction,) = output["predictions"].values()
    assert prediction["encoding"] == name
    assert (prediction["relation"] is None) == (name in WITHOUT_RELATION)
    assert len(prediction["why"].splitlines()) == 1


@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_an_encoding_that_sees_later_tokens_is_not_trained_on_the_next_one(name, run, tmp_path):
    sizes = ("--train", "1-2", "--test", "1-3", "--profile", "smoke", "--out", str(tmp_path))
    code, _, err = run("train", "parity", "--encoding", name, *sizes)
    assert code == 2
    assert err.splitlines()[-1] == (
        f"error: '{name}' is not trained on the next token: it attends to later tokens, and so to those that it should "
        "predict; it needs a graph of the tokens, and no task gives one"
    )


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name not in BIDIRECTIONAL])
def test_each_encoding_is_trained(name, answer, tmp_path, monkeypatch):
    smoke = load_profile("smoke")
    training = replace(smoke.training, samples=50, epochs=1)
    monkeypatch.setattr("lengthgen.questions.experiment.load_profile", lambda *_: replace(smoke, training=training))
    sizes = ("--train", "1-2", "--test", "1-3", "--profile", "smoke", "--out", str(tmp_path))
    trained = answer("train", "parity", "--encoding", name, *sizes)
    assert [*trained["accuracy"]] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_encoding_is_audited_or_the_reason_is_given(name, run):
    code, out, err = run("audit", name, "--to", "300", "--dtype", "float64", "--heads", "2", "--head-dim", "8")
    if name in LABELS | {"nope"}:
        assert code == 2
        assert "to audit" in err.splitlines()[-1]
    else:
        findings = [line for line in out.splitlines() if line.startswith(("error: ", "warning: "))]
        assert all("padding changes" in line for line in findings), out + err
        assert code == (1 if findings else 0)
        assert bool(findings) == (name in SHIFTED_BY_PADDING)


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_claims_of_each_encoding_are_found_or_the_reason_is_given(name):
    if name in NO_CLAIMS:
        with pytest.raises(registry.Unknown, match=f"no claim is about '{name}': "):
            registry.select([name])
    elif name != "rpe":
        assert {f"laws-{name}", f"far-{name}", f"cache-{name}"} <= {claim.id for claim in registry.select([name])}


def test_all_encodings_can_be_distinguished_in_one_figure():
    drawn = looks(ENCODINGS)
    assert len({(shown.colour, shown.marker, shown.fill, shown.line) for shown in drawn.values()}) == len(ENCODINGS)
    assert look("interpolation").label == "Position interpolation"


def test_every_alias_names_its_encoding_in_capitals_or_not():
    for name, encoding in ENCODINGS.items():
        for alias in (name, *encoding.aliases):
            assert parse_encoding(alias.upper()).name == name
            assert {claim.id for claim in registry.CLAIMS if claim.id == f"laws-{name}"} <= {
                claim.id for claim in (registry.select([alias]) if name not in NO_CLAIMS else ())
            }


def test_options_are_those_of_the_name_whatever_alias_is_used():
    assert str(parse_encoding("Rotary[base=500000,layout=halves]")) == "rope[base=500000,layout=halves]"
    assert parse_encoding("rotary[base=1e4]") == parse_encoding("rope")


@pytest.mark.parametrize("name", ["rope", "ROTARY", "Learned"])
def test_a_name_that_is_taken_is_refused(name):
    before = dict(ENCODINGS)
    with pytest.raises(DuplicateEncoding, match=f"the name '{name}' already belongs to"):
        register(Encoding(name="another", title="another", aliases=(name,)))
    with pytest.raises(DuplicateEncoding):
        register(Encoding(name=name, title="another"))
    assert before == ENCODINGS
    assert named(name).name in ("rope", "ape")


@pytest.mark.parametrize(
    ("option", "admitted", "refused"),
    [
        (Option(default=2, least=1, most=3), [1, 3], [0, 4, 10**400, 2.0, True, "2"]),
        (Option(default=2.0, least=1, most=3), [1, 2.5, 3], [0.9, 4, 10**400, float("nan"), float("inf"), True, "2"]),
        (Option(default="a", words=("a", "b")), ["a", "b"], ["c", 1, True]),
        (Option(default=True), [True, False], [1, 0, "true"]),
    ],
)
def test_an_option_admits_its_range(option, admitted, refused):
    assert all(option.admits(value) for value in admitted)
    assert not any(option.admits(value) for value in refused)


def test_the_matrix_has_a_row_for_each_encoding_with_formulas_and_a_reason_for_each_other(
    run, answer, tmp_path, monkeypatch
):
    """The rows themselves are not computed here: the claims `laws-...` and `far-...` decide them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    decided = {"laws.relative_law": "yes", "far.causal_only": True, "far.bounded": True, "far.far_field": "constant"}
    for name, value in decided.items():
        monkeypatch.setattr(f"lengthgen.theory.{name}", lambda _, value=value: value)
    monkeypatch.setattr("lengthgen.theory.laws.decide_law", lambda *_: Ruling(holds=True, reason="not computed here"))
    output = answer("encodings")
    rows = {row["name"] for row in output["encodings"]}
    assert rows | {*output["without_formulas"]} == {*ENCODINGS}
    assert not rows & {*output["without_formulas"]}
    assert output["aliases"]["rope"] == ["rotary"]
    assert [row["name"] for row in answer("encodings", "Rotary", "KERPLE")["encodings"]] == ["rope", "kerple-log"]
    code, _, err = run("encodings", "ipe")
    assert (code, err) == (2, "error: 'ipe' has no formulas: its relation is that of a task's circuit\n")
