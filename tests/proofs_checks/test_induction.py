"""Steps of an induction over the length of a path: its value without terms, and the one term more."""

import pytest
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.induction import combine, empty_value, last_term

GATE = sp.IndexedBase("g", real=True)
N, K = sp.Symbol("n", integer=True), sp.Symbol("k", integer=True)
ONE, TWO = (sp.Symbol(f"g[{place}]", real=True) for place in ("n", "n + 1"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (sp.Sum(GATE[K], (K, N + 1, N)), sp.Integer(0)),
        (sp.Product(GATE[K], (K, N + 1, N)), sp.Integer(1)),
        (sp.Sum(GATE[K], (K, N, N)), ONE),
        (sp.Sum(GATE[K], (K, N, N + 1)), ONE + TWO),
        (sp.Product(GATE[K], (K, N, N + 1)), ONE * TWO),
        (sp.Sum(K**2, (K, 3, 5)), sp.Integer(50)),
    ],
)
def test_a_path_with_few_terms_is_written_out(path: sp.Expr, value: sp.Expr) -> None:
    assert empty_value("path", path) == value


@pytest.mark.parametrize("upper", [N - 1, 2 * N])
def test_a_path_whose_number_of_terms_is_no_number_from_0_on_is_refuted(upper: sp.Expr) -> None:
    with pytest.raises(Refuted, match="path: the path from a position to itself has"):
        empty_value("path", sp.Sum(GATE[K], (K, N + 1, upper)))


def test_the_last_term_is_that_at_the_new_end() -> None:
    path, extended = sp.Sum(GATE[K], (K, 1, N)), sp.Sum(GATE[K], (K, 1, N + 1))
    assert last_term("sum", path, extended) == TWO
    assert combine(path, sp.Integer(3), TWO) == 3 + TWO
    assert combine(sp.Product(GATE[K], (K, 1, N)), sp.Integer(3), TWO) == 3 * TWO


@pytest.mark.parametrize(
    "extended",
    [
        sp.Sum(GATE[K], (K, 1, N + 2)),
        sp.Sum(GATE[K], (K, 1, N)),
        sp.Sum(GATE[K], (K, 2, N + 1)),
        sp.Sum(2 * GATE[K], (K, 1, N + 1)),
        sp.Product(GATE[K], (K, 1, N + 1)),
    ],
    ids=["two terms more", "no term more", "another start", "another family", "a product"],
)
def test_whatever_is_not_the_path_with_one_term_more_is_refuted(extended: sp.Expr) -> None:
    with pytest.raises(Refuted, match=r"is not .* with one more term"):
        last_term("sum", sp.Sum(GATE[K], (K, 1, N)), extended)
