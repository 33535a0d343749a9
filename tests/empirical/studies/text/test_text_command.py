"""`lengthgen text`: language models by encoding, in one table, and failures that leave the others."""

from tests.lengthgen.refusal import refused

SMOKE = ("text", "--profile", "smoke")


def test_an_encoding_that_fails_is_named_and_the_exit_code_says_so(run, trained_here, tmp_path):
    code, table, errors = run(*SMOKE, "--out", str(tmp_path), "--encoding", "nope,ipe")
    assert code == 1
    assert "text: 2 encodings to do" in errors
    assert "no circuit" in table and "nope" in table


def test_what_cannot_be_trained_is_refused_before_anything_is_computed(run, tmp_path):
    refused(run("text", "--profile", "large", "--out", str(tmp_path / "out")), "unknown profile 'large'", "quick")
    refused(run(*SMOKE, "--out", str(tmp_path / "out"), "--encoding", "ropee"), "unknown encoding 'ropee'", "rope")
    assert not (tmp_path / "out" / "text").exists()
