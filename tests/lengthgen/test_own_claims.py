"""A user's own claims: shown as built-in ones are, never kept, and whatever is wrong with them is one line."""

import json
import re
from pathlib import Path

import pytest

from tests.lengthgen.refusal import refused

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "claim.md"

HEAD = """
import os
import sys
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled


def act(*, deed):
    match deed:
        case "refute":
            raise Refuted("1 != 2")
        case "exit":
            sys.exit(0)
        case "end":
            os._exit(0)
        case "interrupt":
            raise KeyboardInterrupt
        case "other":
            return 3
        case "odd":
            return Evidence(strength="best", facts=("accepted",))
        case "sleep":
            import time
            time.sleep(600)
    return Evidence(strength=Strength.NUMERIC, facts=("accepted",))


def claim(deed, id="my-1", falsifier="refute", **changes):
    parts = dict(id=id, source=Source(paper="Notes", arxiv="", place="page 1"), statement="It does.", latex="x")
    parts |= dict(label="F", check=act, holds={"deed": deed}, falsifiers={"false": {"deed": falsifier}})
    return Claim(**parts | changes)
"""


@pytest.fixture
def verify(run, tmp_path, monkeypatch):
    """Function that verifies a file of some lines; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def ask(lines, *options, name=""):
        (tmp_path / "mine.py").write_text(f"{HEAD}\n{lines}\n")
        return run("verify", f"mine.py{name}", *options)

    return ask


def claims_of(out):
    return {claim["id"]: claim for claim in json.loads(out)["claims"]}


GENERATOR = """
import sympy as sp
from lengthgen.proofs_checks.paper import Facts, PaperClaims

T = sp.Symbol("t", real=True)
CLAIMS = PaperClaims(Source(paper="Notes", arxiv=""))


@CLAIMS.claim("my-2", "page 2", "(t+1)^2", falsifiers={"one": {"x": 1}})
def square(x: int = 2) -> Facts:
    \"\"\"The square of t + 1 has the term 2 t.\"\"\"
    yield "the square", (T + 1) ** 2, T**2 + x * T + 1
"""


def test_a_claim_may_be_a_generator(verify):
    code, out, _ = verify(GENERATOR, "--json")
    result = claims_of(out)["my-2"]
    assert code == 0 and (result["verdict"], result["statement"]) == (
        "verified",
        "The square of t + 1 has the term 2 t.",
    )
    assert result["falsifiers"][0]["reason"].startswith("the square, entry 1: ")


def test_the_file_of_the_guide_holds_and_nothing_is_kept(run, tmp_path, monkeypatch, claims_run_here):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (text,) = re.findall(r"```python\n(# my_claims\.py\n.*?)```", GUIDE.read_text(), re.DOTALL)
    Path("my_claims.py").write_text(text, encoding="utf-8")
    code, out, err = run("verify", "my_claims.py", "--json")
    assert (code, err.splitlines()[0]) == (0, "verify: 1 claims to do")
    result = claims_of(out)["bounded-1"]
    assert (result["verdict"], result["strength"], result["facts"]) == (
        "verified",
        "exhaustive",
        ["1000 pairs of neighbouring distances, compared as fractions"],
    )
    (falsifier,) = result["falsifiers"]
    assert falsifier["reason"] == "the bias is 0 at distance 0 and 0 at distance 1"
    assert not (tmp_path / "cache" / "lengthgen" / "claims").exists()
    code, out, err = run("verify", "my_claims.py:CLAIMS")
    assert (code, err.splitlines()[0]) == (0, "verify: 1 claims to do"), "nothing was kept"
    shown = next(line for line in GUIDE.read_text().splitlines() if line.startswith("    bounded-1 [F]"))
    assert (
        shown.removesuffix(" ...").split() == next(line for line in out.splitlines() if "bounded-1" in line).split()[:5]
    )
    code, out, _ = run("verify", "my_claims.py", "--format", "markdown")
    assert (code, out.splitlines()[0]) == (0, "# Claims") and "](/my_claims.py#prefers_nearer_keys)" in out
    code, out, _ = run("verify", "my_claims.py", "--format", "latex")
    assert code == 0 and out.startswith(r"\begin{longtable}")


def test_a_claim_that_holds_and_a_claim_that_does_not(verify, claims_run_here):
    lines = 'sound = claim("accept", "my-0")\nfalse = claim("refute", "my-1", "again")'
    code, out, err = verify(lines, "--json")
    assert (code, json.loads(out)["holds"], err.splitlines()[-1]) == (
        1,
        False,
        "1 of 2 claims are not shown to hold: my-1",
    )
    results = claims_of(out)
    assert (results["my-0"]["verdict"], results["my-1"]["verdict"]) == ("verified", "refuted")
    assert results["my-1"]["reason"] == "1 != 2"
    code, out, _ = verify(lines, "--json", name=":sound")
    assert (code, [*claims_of(out)]) == (0, ["my-0"])
    code, out, _ = verify(lines, "--json", "--strength", "general")
    assert (code, json.loads(out)["claims"]) == (1, [])


LEFT_OPEN = {
    "falsifier-accepted": ("accept", "again", "falsifier 'false' is not rejected"),
    "exit": ("exit", "refute", "the check fails: SystemExit: 0"),
    "hard-exit": ("end", "refute", "the check fails: SystemExit: it calls os._exit(0)"),
    "own-interrupt": ("interrupt", "refute", "the check fails: KeyboardInterrupt"),
    "no-evidence": ("other", "refute", "the check returned 3, not Evidence"),
    "unknown-strength": ("odd", "refute", "the check fails: ValueError: 'best' is not a valid Strength"),
}
"""Id of a claim -> its deed, that of its falsifier, and the beginning of the reason why it is unsettled."""


def test_a_claim_whose_check_decides_nothing_does_not_hold(verify):
    claims = [f"claim({deed!r}, {id!r}, {falsifier!r})" for id, (deed, falsifier, _) in LEFT_OPEN.items()]
    status, out, err = verify(f"CLAIMS = [{', '.join(claims)}]", "--json")
    results = claims_of(out)
    assert (status, [*results]) == (1, [*LEFT_OPEN])
    for id, (_, _, says) in LEFT_OPEN.items():
        assert (results[id]["verdict"], results[id]["holds"]) == ("unsettled", False), id
        assert results[id]["reason"].startswith(says), id
    assert err.splitlines()[-1] == f"6 of 6 claims are not shown to hold: {', '.join(LEFT_OPEN)}"


def test_a_claim_whose_check_ends_late_does_not_hold(verify):
    status, out, err = verify('CLAIMS = [claim("sleep")]', "--json", "--time-limit", "1")
    result = claims_of(out)["my-1"]
    assert (status, result["verdict"], result["holds"]) == (1, "unsettled", False)
    assert result["reason"] == "passed its time limit of 1 s"
    assert err.splitlines()[-1] == "1 of 1 claims are not shown to hold: my-1"


REFUSED = {
    "exits at import": ("sys.exit(0)", "Python file 'mine.py' fails: SystemExit: 0"),
    "ends the process": ("os._exit(0)", "Python file 'mine.py' fails: SystemExit: it calls os._exit(0)"),
    "nothing to verify": ("x = 3", "'mine.py' defines no Claim and no Encoding"),
    "CLAIMS is a number": ("CLAIMS = 3", "'mine.py': CLAIMS holds 3, which is no Claim"),
    "a text among claims": ('mine = [claim("accept"), "more"]', "'mine.py': mine holds 'more', which is no Claim"),
    "no falsifier": ('claim("accept", falsifiers={})', "fails: ValueError: claim my-1 has no falsifier"),
    "two of one id": ('a, b = claim("accept"), claim("again")', "'mine.py': two claims have the id 'my-1'"),
    "an id that is taken": ('a = claim("accept", "rope-1")', "lengthgen has a claim of the id 'rope-1' itself"),
    "an id of two lines": (r'a = claim("accept", "my\n1")', "the id of a claim is a text of 1 to 100 printable"),
    "a number for a statement": ('a = claim("accept", statement=3)', "my-1: its statement must be a text"),
    "no source": ('a = claim("accept", source=None)', "my-1: its source must be a Source, not None"),
    "a label of its own": ('a = claim("accept", label="Q")', "my-1: its label must be 'P' or 'F', not 'Q'"),
    "a check that is no function": ('a = claim("accept", check=3)', "my-1: its check must be a function, not 3"),
    "a name for a falsifier that is none": (
        'a = claim("accept", falsifiers={3: {"deed": "refute"}})',
        "the name of a falsifier of my-1 is a text",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_object_that_is_no_claim_is_one_line(verify, name):
    code, says = REFUSED[name]
    refused(verify(code), says)


ENCODING = """
from lengthgen.theory.encodings.encoding import Encoding, Law
flat = Encoding(name="flat", title="flat", arxiv="", bias=lambda j, i, n: 0 * j, laws=(Law.RELATIVE,))
own = claim("accept")
"""


def test_claims_and_encodings_of_one_file(verify, claims_run_here):
    code, out, _ = verify(ENCODING, "--json")
    output = json.loads(out)
    assert (code, output["holds"], [declaration["what"] for declaration in output["declared"]]) == (
        0,
        True,
        ["relative"],
    )
    assert [*claims_of(out)] == ["my-1"]
    code, out, _ = verify(ENCODING)
    assert code == 0 and "my-1 [F]" in out and "flat: relative holds" in out
    code, out, _ = verify(ENCODING, "--json", name=":flat")
    assert code == 0 and "claims" not in json.loads(out)
    code, out, err = verify(ENCODING, "--format", "markdown")
    assert (code, out) == (2, "") and "--format markdown is for claims" in err
    code, _, err = verify(ENCODING, "--paper", "rope")
    assert code == 2 and "mine.py is a file of your own" in err
