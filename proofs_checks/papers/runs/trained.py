"""Claims on trained models, decided by stored runs; each claim names the protocol whose runs it reads.

All are our formalisation [F]: tasks, sizes and bounds are ours, and the plots of arXiv 2510.04130 could not be read.
What a paper says stands in the source of its claim.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from lengthgen.empirical.experiment.outcome import History, by_checkpoint, outcome
from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.majority import Count, settle
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers import randomized
from lengthgen.proofs_checks.papers.pola import CONJECTURE, SOURCE
from lengthgen.proofs_checks.trained import NONE, Arm, Runs, TrainedCell

SURVEY = Source(
    paper="Length Extrapolation of Transformers: A Survey from the Perspective of Positional Encoding",
    arxiv="2312.17044",
    place="on absolute encodings; the tasks are ours",
)

_PADDED = ("aligned",)
_IDEAL = Arm(protocol="fig2", encodings=("ipe", "ipe-sh"), formats=_PADDED)
_ABSOLUTE = Arm(protocol="fig2", encodings=("ape",), formats=_PADDED)
_ARITHMETIC = ("addition", "multiplication", "division")
_PLAIN = Arm(protocol="randomized", encodings=("ape", "rpe"))
_RANDOM = Arm(protocol="randomized", encodings=("random-ape[longest=128]", "random-rpe[longest=128]"))
_FITTING = "A run fits if it solves its training scales."
_MOST_FAIL = r"\Pr(\text{all scales}\mid\text{training scales})<\tfrac12"
_MOST_SUCCEED = _MOST_FAIL.replace("<", ">")
MARGIN = 0.1
"""Two runs match if their mean exact match differs by at most this ([F], fixed before the runs were seen)."""

CLAIMS = PaperClaims(SOURCE)


def figure(number: int) -> Source:
    """Return the source of a figure whose caption we know and whose plot we do not."""
    return SOURCE.at(f"Figure {number}, whose plot could not be read; sizes, digits and formats are ours")


def most_generalize(runs: Runs, arm: Arm, generalize: bool, least: int | None) -> Facts:
    """Decide if most fitting runs generalize, or do not, in at least `least` cells of the arm, or in all if it is None.

    `generalize` is True if the runs are claimed to generalize, False if they are claimed not to.
    """
    reading = runs.read(arm)
    counts = [_runs_that_do(cell, generalize) for cell in reading.arms[0]]
    does = "generalize" if generalize else "do not generalize"
    yield settle(counts, least=least or len(counts), trial="runs", does=does, reading=reading)


def _runs_that_do(trained: TrainedCell, generalize: bool) -> Count:
    """Count of a cell's fitting runs that generalize, or that do not."""
    outcomes = [outcome(history, threshold=history[0].evaluation.threshold) for history in trained.histories]
    fitting = [run_outcome for run_outcome in outcomes if run_outcome.fits]
    return Count(
        cell=str(trained.cell),
        did=sum(run_outcome.generalizes is generalize for run_outcome in fitting),
        trials=len(fitting),
        of=len(outcomes),
        note="" if len(fitting) == len(outcomes) else f"; {len(outcomes) - len(fitting)} more runs do not fit",
    )


def _most(
    id: str,
    source: Source,
    statement: str,
    latex: str,
    arm: Arm,
    *,
    generalize: bool,
    wrong: Mapping[str, Arm],
    least: int | None = None,
) -> None:
    """Add a claim of `most_generalize`; `wrong` has the arms of its falsifiers by name."""
    CLAIMS.claim(
        id,
        source,
        latex,
        statement=statement,
        holds={"runs": NONE, "arm": arm, "generalize": generalize, "least": least},
        strength=Strength.STATISTICAL,
        answers=("generalize", "least"),
        falsifiers={name: {"arm": other} for name, other in wrong.items()},
    )(most_generalize)


_most(
    "fig2-ideal",
    figure(2),
    "Trained on aligned data of scales 1-5, most fitting runs with the ideal encoding (for Shift with scale hint) "
    f"generalize to scale 20, on each of Copy, Shift, Parity, Addition, Multiplication and Division. {_FITTING}",
    rf"{_MOST_SUCCEED}\ \text{{on each of 6 tasks}}",
    _IDEAL,
    generalize=True,
    wrong={"learned absolute codes do": _ABSOLUTE},
)
_most(
    "fig2-absolute",
    figure(2),
    "Trained on aligned data of scales 1-5, most fitting runs with learned absolute codes do not generalize to scale "
    f"20, on each of the six tasks. {_FITTING}",
    rf"{_MOST_FAIL}\ \text{{on each of 6 tasks}}",
    _ABSOLUTE,
    generalize=False,
    wrong={"the ideal encoding on none": _IDEAL},
)
for _id, _encoding, _how in (("fig4-hint", "lbpe-sh", "with"), ("fig4-no-hint", "lbpe", "without")):
    _most(
        _id,
        figure(4),
        f"Trained on scales 1-10, most fitting runs with labels learned {_how} scale hint generalize to scale 20, on "
        f"at least two of three tasks: selecting the first, the middle and the last symbol. {_FITTING}",
        rf"{_MOST_SUCCEED}\ \text{{on at least 2 of 3 tasks}}",
        Arm(protocol="fig4", encodings=(_encoding,)),
        generalize=True,
        least=2,
        wrong={
            "so do learned absolute codes on copy, shift and parity": replace(
                _ABSOLUTE, tasks=("copy", "shift", "parity")
            )
        },
    )
_COPY = replace(_IDEAL, encodings=("ipe",), tasks=("copy",))
"""Control that the same check must find to generalize: a task with constant SRC, under its ideal encoding."""
_most(
    "control-growing",
    CONJECTURE,
    "On a task whose SRC grows with the scale (each step applies a different permutation) most fitting runs do not "
    "generalize, under each encoding tried, also under the one with the task's roles and scale hint. " + _FITTING,
    rf"\mathrm{{SRC}}(20)>\mathrm{{SRC}}(5)\Rightarrow{_MOST_FAIL}",
    Arm(protocol="controls", tasks=("permutation",)),
    generalize=False,
    wrong={"nor does copying, whose SRC stays": _COPY},
)
_most(
    "control-infeasible",
    CONJECTURE,
    "On two tasks that no operators of bounded arity compute (parity and long multiplication without CoT) most fitting "
    f"runs do not generalize, under each encoding tried. {_FITTING}",
    rf"\mathrm{{SRC}}(20)=\infty\Rightarrow{_MOST_FAIL}",
    Arm(protocol="controls", tasks=("parity-direct", "multiplication-nn")),
    generalize=False,
    wrong={"nor does copying, whose SRC stays": _COPY},
)
for _id, _what, _encoding, _tasks in (
    ("ape-4", "Learned absolute codes", "ape", "copy or to reverse"),
    ("sin-6", "Sinusoidal codes", "sinusoidal", "copy"),
):
    _most(
        _id,
        SURVEY,
        f"{_what} do not extrapolate: trained to {_tasks} 1 to 5 symbols, most fitting runs do not generalize to 20. "
        f"{_FITTING}",
        rf"{_MOST_FAIL}\ \text{{on each task}}",
        Arm(protocol="randomized", encodings=(_encoding,)),
        generalize=False,
        wrong={"nor does the ideal encoding": _COPY},
    )


def most_pairs(
    runs: Runs, arm: Arm, other: Arm, measure: str, scales: Sequence[int], wins: Callable[[float], bool], does: str
) -> Facts:
    """Decide if in every cell most pairs of runs with the same seed, both fitting, differ as `wins` says.

    The difference is the mean of `measure` (a column of the metrics) over the scales at the last checkpoint, `arm`
    minus `other`. The cells of the two arms are paired in their order. `does` is the verb phrase for the report.
    """
    reading = runs.read(arm, other)
    counts = [_pairs_won(first, second, measure, scales, wins) for first, second in zip(*reading.arms, strict=True)]
    yield settle(counts, least=len(counts), trial="pairs", does=does, reading=reading)


def _pairs_won(
    first: TrainedCell, second: TrainedCell, measure: str, scales: Sequence[int], wins: Callable[[float], bool]
) -> Count:
    """Count of the pairs of runs whose difference `wins` accepts."""
    if replace(first.cell.task, format=second.cell.task.format) != second.cell.task:
        raise ValueError(f"{first.cell} and {second.cell} are different tasks")

    def mean(history: History) -> float:
        *_, last = by_checkpoint(history[1]).values()
        return fmean(getattr(last[scale], measure) for scale in scales)

    pairs = list(zip(first.histories, second.histories, strict=True))
    fitting = [pair for pair in pairs if all(outcome(run, threshold=run[0].evaluation.threshold).fits for run in pair)]
    differences = [mean(run) - mean(other_run) for run, other_run in fitting]
    reach = f"; differences {min(differences):.3f} to {max(differences):.3f}" if differences else ""
    return Count(
        cell=f"{first.cell} against {second.cell.task.format}, {second.cell.encoding}",
        did=sum(map(wins, differences)),
        trials=len(differences),
        of=len(pairs),
        note=f"{reach}; {len(pairs)} pairs in all",
    )


CLAIMS.claim(
    "fig3-hint",
    figure(3),
    rf"\Pr(\lvert a_{{16..20}}-b_{{16..20}}\rvert\le{MARGIN:g})>\tfrac12\ \text{{on each of 3 tasks}}",
    statement="The ideal encoding with scale hint, on data that are not aligned, matches the ideal encoding on aligned "
    f"data: in Addition, Multiplication and Division most pairs of fitting runs with the same seed differ by at most "
    f"{MARGIN:g} in mean exact match at scales 16-20. {_FITTING}",
    holds={
        "runs": NONE,
        "arm": Arm(protocol="fig3", encodings=("ipe-sh",), tasks=_ARITHMETIC),
        "other": Arm(protocol="fig3", encodings=("ipe",), tasks=_ARITHMETIC),
        "measure": "exact_match",
        "scales": range(16, 21),
        "wins": lambda difference: abs(difference) <= MARGIN,
        "does": f"are at most {MARGIN:g} apart",
    },
    strength=Strength.STATISTICAL,
    falsifiers={
        "learned absolute codes match it": {"arm": replace(_ABSOLUTE, tasks=_ARITHMETIC)},
        "the hint is better by more than the margin": {
            "wins": lambda difference: difference > MARGIN,
            "does": f"are more than {MARGIN:g} better",
        },
    },
)(most_pairs)
CLAIMS.claim(
    "rpe-7",
    randomized.SOURCE.at("abstract; of its tasks duplicating and reversing a string, by decoders"),
    r"\Pr(a^{\text{drawn}}_{6..20}>a^{\text{plain}}_{6..20})>\tfrac12\ \text{on each of 4 pairs}",
    statement="Random positions beat plain ones at unseen lengths: trained to copy and to reverse 1 to 5 symbols, with "
    "learned absolute and with relative codes, most fitting runs have a higher mean token accuracy at scales 6-20 than "
    f"the fitting plain run with the same seed. {_FITTING}",
    holds={
        "runs": NONE,
        "arm": _RANDOM,
        "other": _PLAIN,
        "measure": "token_accuracy",
        "scales": range(6, 21),
        "wins": lambda difference: difference > 0,
        "does": "are better",
    },
    strength=Strength.STATISTICAL,
    falsifiers={"plain positions beat those drawn": {"arm": _PLAIN, "other": _RANDOM}},
)(most_pairs)
