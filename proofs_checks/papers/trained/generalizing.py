"""Which encodings carry what was trained on small scales to all scales tested, and which do not."""

from empirical.trial.outcomes import outcome
from proofs_checks.claim import Claim, Evidence
from proofs_checks.majority import Count, settle
from proofs_checks.papers.trained.sources import CONJECTURE, SURVEY, figure
from proofs_checks.trained import NONE, Arm, Runs, TrainedCell


def most_generalize(*, runs: Runs, arm: Arm, generalize: bool, least: int | None) -> Evidence:
    """Decide whether in at least so many cells, or in all, most runs that fit generalize, or do not."""
    reading = runs.read(arm)
    counts = [_count(cell, generalize) for cell in reading.arms[0]]
    return settle(
        counts,
        least=len(counts) if least is None else least,
        trial="runs",
        does="generalize" if generalize else "do not generalize",
        reading=reading,
    )


def _count(trained: TrainedCell, generalize: bool) -> Count:
    outcomes = [outcome(history, threshold=history[0].evaluation.threshold) for history in trained.histories]
    fitting = [one for one in outcomes if one.fits]
    return Count(
        cell=str(trained.cell),
        did=sum(one.generalizes is generalize for one in fitting),
        trials=len(fitting),
        of=len(outcomes),
        note="" if len(fitting) == len(outcomes) else f"; {len(outcomes) - len(fitting)} more runs do not fit",
    )


_IDEAL = Arm(protocol="fig2", encodings=("ipe", "ipe-sh"))
_ABSOLUTE = Arm(protocol="fig2", encodings=("ape",))
_ABSOLUTE_OF_THREE = Arm(protocol="fig2", encodings=("ape",), tasks=("copy", "shift", "parity"))
_COPY = Arm(protocol="fig2", encodings=("ipe",), tasks=("copy",))
"""What the same check must see generalize: a task whose SRC stays, under its ideal encoding."""
_NOT = r"\Pr(\text{all scales}\mid\text{training scales})<\tfrac12"
_DOES = r"\Pr(\text{all scales}\mid\text{training scales})>\tfrac12"


def _learned_labels(id: str, encoding: str, how: str) -> Claim:
    return Claim(
        id=id,
        source=figure(4),
        statement=f"Labels learned {how}, trained on scales 1-10, generalize to scale 20 on at least two of selecting "
        "the first, the middle and the last symbol.",
        latex=rf"{_DOES}\ \text{{on at least 2 of 3 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": Arm(protocol="fig4", encodings=(encoding,)), "generalize": True, "least": 2},
        answers=("generalize", "least"),
        falsifiers={"so do learned absolute codes on copy, shift and parity": {"arm": _ABSOLUTE_OF_THREE}},
    )


def _absolute(id: str, what: str, encoding: str, tasks: str) -> Claim:
    return Claim(
        id=id,
        source=SURVEY,
        statement=f"{what} do not extrapolate: trained to {tasks} 1 to 5 symbols, most models do not reach 20.",
        latex=rf"{_NOT}\ \text{{on each task}}",
        label="P",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="randomized", encodings=(encoding,)),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does the ideal encoding": {"arm": _COPY}},
    )


CLAIMS = (
    Claim(
        id="fig2-ideal",
        source=figure(2),
        statement="Trained on scales 1-5, the ideal encoding (for Shift with scale hint) generalizes to scale 20 on "
        "Copy, Shift, Parity, Addition, Multiplication and Division.",
        latex=rf"{_DOES}\ \text{{on each of 6 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": _IDEAL, "generalize": True, "least": None},
        answers=("generalize", "least"),
        falsifiers={"learned absolute codes do": {"arm": _ABSOLUTE}},
    ),
    Claim(
        id="fig2-absolute",
        source=figure(2),
        statement="Trained on scales 1-5, learned absolute codes generalize to scale 20 on none of the six tasks.",
        latex=rf"{_NOT}\ \text{{on each of 6 tasks}}",
        label="F",
        check=most_generalize,
        holds={"runs": NONE, "arm": _ABSOLUTE, "generalize": False, "least": None},
        answers=("generalize", "least"),
        falsifiers={"the ideal encoding on none": {"arm": _IDEAL}},
    ),
    _learned_labels("fig4-hint", "lbpe-sh", "with scale hint"),
    _learned_labels("fig4-no-hint", "lbpe", "without scale hint"),
    Claim(
        id="control-growing",
        source=CONJECTURE,
        statement="Where SRC grows with the scale (a permutation of its own at each step), no encoding tried "
        "generalizes, the one with the task's roles and scale hint included.",
        latex=rf"\mathrm{{SRC}}(20)>\mathrm{{SRC}}(5)\Rightarrow{_NOT}",
        label="F",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="controls", tasks=("permutation",)),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does copying, whose SRC stays": {"arm": _COPY}},
    ),
    Claim(
        id="control-infeasible",
        source=CONJECTURE,
        statement="Where no operators of bounded arity compute the task (parity and long multiplication at once), no "
        "encoding tried generalizes.",
        latex=rf"\mathrm{{SRC}}(20)=\infty\Rightarrow{_NOT}",
        label="F",
        check=most_generalize,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="controls", tasks=("parity-direct", "multiplication-nn")),
            "generalize": False,
            "least": None,
        },
        answers=("generalize", "least"),
        falsifiers={"nor does copying, whose SRC stays": {"arm": _COPY}},
    ),
    _absolute("ape-4", "Learned absolute codes", "ape", "copy or to reverse"),
    _absolute("sin-6", "Sinusoidal codes", "sinusoidal", "copy"),
)
