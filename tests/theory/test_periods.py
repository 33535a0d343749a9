"""A period that is claimed is one, and by the scale that is called enough everything has occurred."""

from collections import Counter
from random import Random

import pytest

from lengthgen.theory.formula import FormulaError, exact, parse
from lengthgen.theory.formula.periods import joint_period, repeats
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import from_formula
from lengthgen.theory.zero.equality import Answer, equal
from tests.oracles.formulas import random_real_text, random_text


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("(i + 2*j) % 7", 7),
        ("(i/2 + j/3) % 2", 12),
        ("(i*j + 1) % 6", 6),
        ("(i + j) % -4", 4),
        ("(pi*i) % (pi/3)", 1),
        ("i % pi", None),
        ("sin(pi*(i + j)/5)", 10),
        ("cos(2*pi*(i - 3*j)/9)", 9),
        ("cos(pi*i*j/3 + 1)", 6),
        ("sin(pi*(i % 3))", 3),
        ("sin(i)", None),
        ("cos(pi*i/sqrt(2))", None),
        ("((i + j)//3) % 5", 15),
        ("floor((i + 2*j)/4) % 2", 8),
        ("ceil(i/4) % 1.5", 12),
        ("gcd(i + j, 12)", 12),
        ("gcd(6, 2*i)", 3),
        ("gcd(i, j)", None),
        ("(-1)**(i + 3*j)", 2),
        ("(-1)**(i*(i + 1)/2)", 4),
        ("2**((i + j) % 3)", 3),
        ("(i + j) // 3", None),
        ("min(i % 2, (i + j) % 3)", 6),
        ("1 if (i + j) % 4 < 2 else (n % 3)", 12),
        ("sin(pi*(i + j + n)/5)", 10),
        ("pi + sqrt(2)", 1),
        ("i", None),
    ],
)
def test_known_periods(text: str, period: int | None) -> None:
    assert joint_period(parse(text).nodes[0]) == period


def _residues(draw: Random, depth: int) -> str:
    """Random formula that looks at residues only, or nearly so."""
    if depth == 0:
        form = f"({draw.randint(-2, 3)}*i + {draw.randint(-2, 3)}*j)"
        return (
            draw.choice(
                [
                    f"{form} % {draw.randint(2, 5)}",
                    f"cos(pi*{form}/{draw.randint(2, 4)})",
                    f"gcd{form[:-1]}, 6)",
                    "i % 2",
                    "3",
                ]
            )
            if draw.random() < 0.9
            else "(j - i)"
        )
    first, second = _residues(draw, depth - 1), _residues(draw, depth - 1)
    forms = [
        f"({first} + {second})",
        f"({first} * {second})",
        f"(({first}) % 3 + {second})",
        f"max({first}, {second})",
        f"({first} if {second} < 2 else {second})",
        f"abs({first} - {second})",
        f"floor(({first})/2)",
    ]
    return draw.choice(forms)


def test_random_formulas_do_not_change_when_positions_move_by_the_period() -> None:
    draw = Random(2)
    seen: Counter[str] = Counter()
    texts = [_residues(draw, draw.randint(0, 2)) for _ in range(120)]
    texts += [random_text(draw, 3, "ij") for _ in range(120)] + [random_real_text(draw, 2) for _ in range(80)]
    for text in texts:
        node = parse(text).nodes[0]
        period = joint_period(node)
        seen["none" if period is None else "one" if period == 1 else "more"] += 1
        for _ in range(6 if period else 0):
            i, j, first, second = (draw.randint(1, 9) for _ in range(4))
            assert period is not None
            try:
                here = exact.evaluate(node, {"i": i, "j": j})
                there = exact.evaluate(node, {"i": i + period * first, "j": j + period * second})
            except FormulaError:
                continue
            assert equal(here, there) is Answer.YES, (text, i, j)
    assert seen["more"] > 60
    assert seen["none"] > 70


FORMULAS = [
    "min(j - i, 3) + (i + j) % 3",
    "(i % 4)*min(j, 3) - (2*i + j) % 5",
    "1 if n - j < 3 else 0",
    "(n - i) % 3 if j - i < 2 else min(n - j, 2)",
    "max(0, 4 - n) + (i + n) % 2",
    "sin(pi*(i + j)/5) if j - i < 4 else 0",
    "(i + j) % 2 if n > 4 else i % 3",
    "(-1)**(i + j) * max(3 - i, 0)",
    "gcd(i + 2*j, 6) + (j < 4)",
    "1 if i > 5 and j - i > 5 else 0",
    "j % 3 if i > 4 and j - i > 5 else (i + j) % 2",
    "1 if i > 5 and j - i > 5 and n - j > 5 else 0",
    "(i + n) % 3 if i > 2 and j - i > 3 and n - j > 3 else 0",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_every_value_occurs_by_the_scale_that_is_enough(text: str) -> None:
    formula = parse(text)
    repetition = repeats(formula.nodes, {})
    assert repetition is not None
    seen = profile(from_formula(text), repetition.enough + (8 if "n" in formula.variables else 40))
    assert seen.constant_from <= repetition.enough
    assert not seen.undecided
