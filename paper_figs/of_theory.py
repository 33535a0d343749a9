"""What is computed and proved: the figures that need no runs, and the ledger.

Each imports what it needs when it is drawn: to list figures, or to see that none changed, takes no computer algebra.
"""

from functools import partial

from paper_figs.entry import Entry
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from paper_figs.style import PAGE_WIDTH

CIRCUITS = {"parity": 4, "addition": 3, "multiplication": 3}
"""Task -> the scale at which its circuit is drawn."""
PATTERNS = {
    "prefix-sum": "1",
    "window": "2 if i == j else 1 if j - i == 1 else 0",
    "decay": "0.5**(j-i)",
    "middle": "1 if i == ceil(n/2) else 0",
}
"""The worked cases of Theorem 2, and one that needs a scale hint."""
PATTERN_TRAIN, PATTERN_TEST = 4, 8


def circuit(_: Sources, *, task: str) -> Drawing:
    """The circuit found for a task."""
    from circuits.prediction import analyse
    from circuits.tasks import load
    from paper_figs import circuit_diagram

    scale = CIRCUITS[task]
    found = analyse(load(task), "unaligned", scale).circuit
    return circuit_diagram.drawing(found, scale)


def pattern(_: Sources, *, text: str) -> Drawing:
    """What each encoding's learner returns for a pattern."""
    from paper_figs import pattern_panels
    from theory.pattern import from_formula

    return pattern_panels.drawing(from_formula(text), train=PATTERN_TRAIN, test=PATTERN_TEST)


def lattice(_: Sources) -> Drawing:
    """Which encoding contains which."""
    from paper_figs import recovery_lattice
    from proofs_checks.lattice import lattice as graph

    return recovery_lattice.drawing(graph())


def lrc(sources: Sources) -> Drawing:
    """LRC of pattern families."""
    from paper_figs import lrc_growth

    return lrc_growth.drawing(width=sources.width)


def volume(sources: Sources) -> Drawing:
    """What relations can reach, and the bound of Theorem 1."""
    from paper_figs import reachable_volume

    found = [reachable_volume.reached(*case) for case in reachable_volume.CASES]
    return reachable_volume.drawing(found, width=sources.width)


def src(sources: Sources) -> Drawing:
    """SRC of all tasks."""
    from paper_figs import src_by_scale
    from paper_figs.src_study import complexities

    return src_by_scale.figure(complexities(), sources.width)


def induced(sources: Sources) -> Drawing:
    """Operators that encodings induce."""
    from paper_figs import induced_growth

    return induced_growth.drawing(induced_growth.courses(), width=sources.width)


def scores(sources: Sources) -> Drawing:
    """Score laws by distance."""
    from paper_figs import score_laws

    return score_laws.drawing(score_laws.courses(), width=sources.width)


def interpolation(sources: Sources) -> Drawing:
    """The bound of Position Interpolation, as printed and corrected."""
    from paper_figs import interpolation_bound

    return interpolation_bound.drawing(width=sources.width)


def ledger(sources: Sources) -> Drawing:
    """Claims by paper, strength and verdict."""
    from paper_figs import ledger_matrix

    return ledger_matrix.drawing(sources.ledger(), width=sources.width)


ENTRIES = (
    Entry(
        name="lrc-growth",
        title="LRC of pattern families by scale",
        make=lrc,
    ),
    *(
        Entry(
            name=f"pattern-{name}",
            title=f"What each encoding's learner returns for A = {text}",
            make=partial(pattern, text=text),
            least_width=PAGE_WIDTH,
        )
        for name, text in PATTERNS.items()
    ),
    Entry(name="reachable-volume", title="Theorem 1: share of targets reached, and its bound", make=volume),
    Entry(
        name="src-by-scale",
        title="SRC of all tasks by scale",
        make=src,
    ),
    *(
        Entry(
            name=f"circuit-{task}",
            title=f"The circuit of {task} at scale {scale}",
            make=partial(circuit, task=task),
            least_width=PAGE_WIDTH,
        )
        for task, scale in CIRCUITS.items()
    ),
    Entry(
        name="induced-complexity",
        title="Operators induced by each encoding, six tasks",
        make=induced,
    ),
    Entry(
        name="score-laws",
        title="Bias and kernel of every relative encoding by distance",
        make=scores,
    ),
    Entry(
        name="interpolation-bound",
        title="The interpolation bound of 2306.15595, broken and corrected",
        make=interpolation,
    ),
    Entry(
        name="recovery-lattice",
        title="Which encoding contains which, and which does not",
        make=lattice,
        least_width=PAGE_WIDTH,
    ),
    Entry(
        name="ledger",
        title="Claims by paper, strength and verdict",
        make=ledger,
        needs=Needs(ledger=True),
        least_width=5.5,
    ),
)
