"""Text-based modular addition (arXiv 2601.04283): the reported accuracies by position, predicted from rows alone.

The prediction is that of `lengthgen modular-addition`: it knows the texts of training and the encoding, and no model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lengthgen.empirical.modular_addition.conditions import CONDITIONS, ModularProfile, load_profile
from lengthgen.empirical.modular_addition.coverage import predict
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.modular import BY_POSITION, SOURCE

PAPER = replace(load_profile("paper"), seeds=(42,))
"""Published sizes; one split is enough, since every digit stands at every place of some training pair."""
SOLVED = 50
"""Percentage above which a position counts as solved ([F]): the reported values are below 9 or above 90."""
REPORTED = {
    name: BY_POSITION[row] for name, row in (("released-baseline", "baseline_001"), ("released-shift", "i1_001_1"))
}


def rows_decide(
    *, profile: ModularProfile, encoding: str, reported: Mapping[str, Sequence[str]], solved: int
) -> Evidence:
    """Decide if the reported accuracy is above `solved` at exactly the positions whose rows training shows."""
    facts = []
    for name, accuracies in reported.items():
        rows = {row.evaluation: row for row in predict(replace(CONDITIONS[name], encoding=encoding), profile)}
        for position, accuracy in zip(profile.positions, accuracies, strict=True):
            row = rows[f"B at {position}"]
            if row.holds != (float(accuracy) > solved):
                predicted = "holds" if row.holds else "breaks"
                raise Refuted(f"{name}, position {position}: predicted {predicted} ({row.why}), reported {accuracy} %")
        holding = [str(position) for position in profile.positions if rows[f"B at {position}"].holds]
        facts.append(f"{name}: predicted and reported above {solved} % at {', '.join(holding)}, and nowhere else")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(profile.positions)} positions",
        facts=tuple(facts),
        assumptions=("every text of the released script's training, with the split of seed 42",),
    )


CLAIMS = (
    Claim(
        id="mod-10",
        source=SOURCE.at("table of results, baseline and I1_001 by position"),
        statement="At each of the 7 positions, for the baseline and for training with shifts, the reported accuracy is "
        "above 50 % if and only if training shows every pair of row and token that the readout meets there.",
        latex=r"\mathrm{acc}_p>\tfrac12 \iff \{(\text{row},\text{token})\}_p\subseteq\{\ldots\}_{\text{train}}",
        label="F",
        check=rows_decide,
        holds={"profile": PAPER, "encoding": "ape", "reported": REPORTED, "solved": SOLVED},
        answers=("solved",),
        falsifiers={
            "filler from no character on": {"profile": replace(PAPER, shortest_prefix=0)},
            "filler of up to 30 characters": {"profile": replace(PAPER, longest_prefixes=(30, 30, 30))},
            "without positions": {"encoding": "nope"},
        },
    ),
)
