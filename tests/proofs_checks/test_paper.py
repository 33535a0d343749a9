"""Claims as generators: the defaults are the statement, the docstring says it, the yields are its facts."""

import pytest
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, Reach
from lengthgen.proofs_checks.result import Verdict
from lengthgen.proofs_checks.runner import run_claim

SOURCE, OTHER = Source(paper="Example", arxiv="2601.00001"), Source(paper="Another", arxiv="2601.00002")
X, Y = sp.symbols("x y", real=True)
CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "toy-1",
    "Section 2",
    "(x+y)^2",
    label="P",
    assumptions=("x and y are real",),
    printed={"mixed": 3},
    falsifiers={"one mixed term": {"mixed": 1}},
)
def square_of_sum(mixed: int = 2) -> Facts:
    """The square of a sum has
    the mixed term 2 x y.

    `mixed` is its coefficient.
    """  # noqa: D205
    yield "square of a sum", (X + Y) ** 2, X**2 + mixed * X * Y + Y**2
    yield "in words"


@CLAIMS.claim(
    "toy-2",
    OTHER,
    "2n",
    strength=Strength.EXHAUSTIVE,
    reach="n <= 3",
    answers=("least",),
    falsifiers={"n + 1": {"slope": 1}},
)
def doubles(slope: int = 2, least: int = 0) -> Facts:
    """Doubling takes n to 2 n, for n <= 3."""
    for n in range(least, 4):
        if slope * n != 2 * n:
            raise Refuted(f"at {n}")
        yield f"{n} and {2 * n}"


def test_parts_of_a_claim_are_those_of_its_generator() -> None:
    first, second = CLAIMS
    assert first.statement == "The square of a sum has the mixed term 2 x y."
    assert (first.source, second.source) == (SOURCE.at("Section 2"), OTHER)
    assert (first.holds, second.holds) == ({"mixed": 2}, {"slope": 2, "least": 0})
    assert (first.label, second.label, second.answers) == ("P", "F", ("least",))


def test_an_identity_is_decided_and_the_facts_keep_their_order() -> None:
    result = run_claim(CLAIMS[0])
    assert result.verdict is Verdict.CORRECTED and result.evidence is not None
    identity, words = result.evidence.facts
    assert identity.startswith("square of a sum: 1 entry decided equal over") and words == "in words"
    assert result.evidence.assumptions == ("x and y are real",)
    assert len(result.identities) == 1
    assert result.falsifiers[0].rejected and "!=" in result.falsifiers[0].reason


def test_a_check_is_called_like_its_generator_and_returns_evidence() -> None:
    evidence = doubles(least=2)
    assert (evidence.facts, evidence.strength, evidence.reach) == (
        ("2 and 4", "3 and 6"),
        Strength.EXHAUSTIVE,
        "n <= 3",
    )
    with pytest.raises(Refuted, match="at 1"):
        doubles(slope=1)
    assert run_claim(CLAIMS[1]).verdict is Verdict.VERIFIED


def _silent(slope: int = 2) -> Facts:
    yield f"{slope}"


def _open(slope: int) -> Facts:
    """A statement."""
    yield f"{slope}"


def _said(slope: int = 2) -> Facts:
    """A statement."""
    yield f"{slope}"


@pytest.mark.parametrize(
    ("facts", "changed", "reason"),
    [
        (_silent, 1, "_silent has no docstring"),
        (_open, 1, r"_open: the parameters \['slope'\] have no default"),
        (_said, 2, "falsifier 'wrong' is the statement itself"),
    ],
)
def test_a_generator_that_states_nothing_is_refused(facts: object, changed: int, reason: str) -> None:
    claims = PaperClaims(SOURCE)
    with pytest.raises(ValueError, match=reason):
        claims.claim("toy", "", "x", falsifiers={"wrong": {"slope": changed}})(facts)  # type: ignore[arg-type]
    assert not claims


def test_reach_and_assumptions_that_only_the_check_knows_are_no_facts() -> None:
    claims = PaperClaims(SOURCE)

    @claims.claim("toy", "", "x", strength=Strength.BOUNDED, assumptions=("one",), falsifiers={"wrong": {"most": 3}})
    def counted(most: int = 4) -> Facts:
        """All numbers n <= 4 are counted."""
        yield f"{most} numbers"
        yield Reach(f"n <= {most}")
        yield Assumption("two")

    evidence = counted()
    assert (evidence.facts, evidence.reach, evidence.assumptions) == (("4 numbers",), "n <= 4", ("one", "two"))
