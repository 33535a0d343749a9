"""A user's own encoding: what it declares is decided, and what is wrong with the file is said in one line."""

import re

import pytest

from lengthgen.proofs_checks import own_claims
from lengthgen.proofs_checks.own import declarations
from lengthgen.theory.encodings.catalogue import UnknownEncoding
from lengthgen.theory.encodings.encoding import EncodingError
from lengthgen.theory.encodings.own import records

HEAD = """
import sympy as sp
from lengthgen.theory.encodings.biases import ALIBI_SLOPE as SLOPE
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, Encoding, Law, Recovery
c = sp.Symbol("c", positive=True)
"""
SOUND = """
mine = Encoding(name="mine", title="mine", arxiv="", bias=lambda j, i, n: -2 * c * (j - i), laws=DISTANCE_LAWS,
                recovers=(Recovery(of="alibi", assignment={c: SLOPE / 2}),))
"""
BROKEN = """
other = Encoding(name="other", title="other", arxiv="", bias=lambda j, i, n: -c * (j**2 - i**2) / n, laws=DISTANCE_LAWS,
                 recovers=(Recovery(of="alibi", assignment={c: SLOPE}),))
"""


def write(tmp_path, text):
    path = tmp_path / "my_encoding.py"
    path.write_text(HEAD + text)
    return str(path)


def test_true_declarations_are_found_true(tmp_path):
    (mine,) = records(write(tmp_path, SOUND))
    declared = declarations(mine)
    assert [declaration.what for declaration in declared] == [
        "relative",
        "translation",
        "norm preserving",
        "streaming",
        "is ALiBi at c = m/2",
    ]
    assert all(declaration.ruling.holds for declaration in declared)


def test_false_declarations_come_with_a_counterexample(tmp_path):
    (other,) = records(write(tmp_path, BROKEN))
    failed = {
        declaration.what: declaration.ruling for declaration in declarations(other) if not declaration.ruling.holds
    }
    assert set(failed) == {"relative", "translation", "streaming", "is ALiBi at c = m"}
    for ruling in failed.values():
        assert ruling.holds is False and re.search(r" by \S+ at .*= \d", ruling.reason)


def test_a_special_case_outside_the_domain_is_no_special_case(tmp_path):
    rising = SOUND.replace("-2 * c", "c").replace("DISTANCE_LAWS,\n", "(),\n").replace("SLOPE / 2", "-SLOPE")
    (declaration,) = declarations(*records(write(tmp_path, rising)))
    assert (declaration.ruling.holds, declaration.ruling.reason) == (False, "c = -m is not in the domain of c")


def test_all_encodings_of_a_file_or_the_one_named(tmp_path):
    path = write(tmp_path, SOUND + BROKEN)
    assert [record.name for record in records(path)] == ["mine", "other"]
    assert [record.name for record in records(f"{path}:other")] == ["other"]


@pytest.mark.parametrize(
    ("text", "name", "error", "reason"),
    [
        ("x = 1", "", EncodingError, "defines no Encoding"),
        (SOUND, ":yours", EncodingError, "defines no 'yours'"),
        ("1 / 0", "", EncodingError, "fails: ZeroDivisionError"),
        ("import sys; sys.exit(3)", "", EncodingError, "fails: SystemExit"),
        (
            'bad = Encoding(name="bad", title="bad", arxiv="", bias=lambda j, i: j, laws=(Law.RELATIVE,))',
            "",
            EncodingError,
            "'bad': its bias fails: TypeError",
        ),
        (
            'x = Encoding(name="x", title="x", arxiv="", recovers=(Recovery(of="alibbi", assignment={}),))',
            "",
            UnknownEncoding,
            "did you mean alibi",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, text, name, error, reason):
    with pytest.raises(error, match=reason) as refusal:
        list(map(declarations, records(write(tmp_path, text) + name)))
    assert "\n" not in str(refusal.value)


def test_what_is_called_claims_holds_claims_and_nothing_else():
    assert own_claims._claims_in("mine.py", "number", 3) == []
    assert own_claims._claims_in("mine.py", "numbers", [3]) == []
    for value in (3, [3]):
        with pytest.raises(own_claims.OwnClaimError, match=r"'mine\.py': CLAIMS holds 3, which is no Claim"):
            own_claims._claims_in("mine.py", "CLAIMS", value)
