"""Conversion of LaTeX to MathML accepts presentation elements and nothing else."""

import pytest

from lengthgen.paper_figs.report import mathematics
from lengthgen.proofs_checks.registry import CLAIMS

pytest.importorskip("latex2mathml", reason="formulas stay LaTeX where latex2mathml is not installed")


def texts(tree):
    _, _, *children = tree
    return "".join(child if isinstance(child, str) else texts(child) for child in children)


def test_a_formula_becomes_a_tree_of_mathml():
    tag, _, row = mathematics.tree(r"\frac{a}{b}")
    assert tag == "math"
    assert row[2][0] == "mfrac"
    assert texts(row) == "ab"


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{<script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{color:red}{x}",
        r"\class{hostile}{x}",
        r"\color{red}x",
        r"\nonsense{a}",
        r"\frac{a}",
        "{" * 2000,
    ],
)
def test_latex_that_is_no_plain_formula_stays_latex(latex):
    assert mathematics.tree(latex) is None


@pytest.mark.parametrize(("latex", "character"), [(r"\mathbb{1}", "𝟙"), (r"\mathfrak{s}", "𝔰"), (r"\mathbf{1}", "𝟏")])
def test_letters_of_another_shape_are_other_characters(latex, character):
    assert texts(mathematics.tree(latex)) == character


def test_almost_every_claim_has_its_formula():
    without = [claim.id for claim in CLAIMS if mathematics.tree(claim.latex) is None]
    assert len(without) <= len(CLAIMS) // 50
