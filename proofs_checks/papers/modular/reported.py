"""The arithmetic of the reported means."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.modular.protocol import source

_ROUNDING = Fraction(1, 20)
"""Of a number given in tenths."""

_BY_POSITION = {
    "baseline_001": ("99.0", "0.7", "0.3", "1.3", "1.0", "1.0", "1.0"),
    "i1_001_1": ("5.7", "8.0", "97.0", "98.0", "97.3", "98.3", "97.7"),
    "i1_002a": ("5.0", "22.3", "96.7", "98.0", "97.0", "97.3", "99.3"),
    "i1_002_alibi": ("32.0", "30.7", "33.7", "33.3", "39.7", "35.0", "36.0"),
}
"""Accuracies in percent at the positions 0, 8, 16, 24, 32, 48, 64."""
_EVAL_B = {"baseline_001": "14.9", "i1_001_1": "71.7", "i1_002a": "73.7", "i1_002_alibi": "34.3"}


def means(*, positions: int, by_position: Mapping[str, Sequence[str]], reported: Mapping[str, str]) -> Evidence:
    """Decide whether each reported score is the sum over positions divided by so many, as far as rounding can tell."""
    facts = []
    for name, accuracies in by_position.items():
        total = sum(map(Fraction, accuracies), Fraction(0))
        score, slack = Fraction(reported[name]), _ROUNDING * (1 + Fraction(len(accuracies), positions))
        quotient = f"{name}: {float(total)}/{positions} = {float(total / positions):.2f}"
        if abs(total / positions - score) > slack:
            raise Refuted(f"{quotient}, not {reported[name]}")
        facts.append(f"{quotient}, reported {reported[name]}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(by_position)} models",
        facts=tuple(facts),
        assumptions=("numbers rounded to tenths",),
    )


CLAIMS = (
    Claim(
        id="mod-6",
        source=source("table of results, Eval-B, and its values by position"),
        statement="The reported Eval-B scores of 4 models are the means over the seven positions.",
        latex=r"\text{Eval-B} = \tfrac17\sum_{p\in\{0,8,16,24,32,48,64\}}\mathrm{acc}_p",
        label="F",
        check=means,
        holds={"positions": 7, "by_position": _BY_POSITION, "reported": _EVAL_B},
        falsifiers={
            "over six positions": {"positions": 6},
            "over eight positions": {"positions": 8},
            "without position 0": {
                "by_position": {name: row[1:] for name, row in _BY_POSITION.items()},
                "positions": 6,
            },
        },
    ),
)
