"""Figures of computed theory agree with plain counting and with the formulas."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import matplotlib
import pytest
import sympy as sp
import torch

from lengthgen.circuits.tasks import TASKS
from lengthgen.empirical.encodings.relations import Wavelet
from lengthgen.paper_figs import style
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures import ledger_matrix, lrc_figures, paper_tables, score_laws, src_by_scale
from lengthgen.paper_figs.figures.src_by_scale import complexities
from lengthgen.paper_figs.saving import Drawing, _image_bytes
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.theory.encodings import biases
from tests.lengthgen import small_reproduce
from tests.paper_figs.test_run_figures import on_the_page, panel

PINNED = "3.11.2"
NARROWEST = min(style.WIDTHS.values())
HASHES = {"lrc": "6fb0798e1938a948", "ledger": "814fe2b2e743489e"}
PLAIN = {
    "1": lambda i, j, n: 1,
    "max(2 - (j - i), 0)": lambda i, j, n: 2 if i == j else int(j - i == 1),
    "min(j - i, 6)": lambda i, j, n: min(j - i, 6),
    "(i + j) % 4": lambda i, j, n: (i + j) % 4,
    "1 if i == ceil(n/2) else 0": lambda i, j, n: int(i == (n + 1) // 2),
    "0.5**(j - i)": lambda i, j, n: 2.0 ** (i - j),
    "i + j": lambda i, j, n: i + j,
    "gcd(i, j)": lambda i, j, n: math.gcd(i, j),
    "i * j": lambda i, j, n: i * j,
}
CLAIMS = [
    {"source": {"paper": f"Paper {at % 3}", "arxiv": "1"}, "strength": strength, "verdict": verdict}
    for at, (strength, verdict) in enumerate(
        [("general", "verified"), ("general", "corrected"), (None, "unsettled"), ("numeric", "refuted")] * 5
    )
]


SOURCES = Sources(out=Path("nowhere"), profile="smoke", width=7.0)
Drawn = Callable[[str], Drawing]


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """Name -> the drawing as the catalogue makes it, drawn once for all tests; none changes it."""
    entries = catalogue(SOURCES)
    return cache(lambda name: entries[name].make(SOURCES))


def one_for_each_maker() -> list[str]:
    """Return computed figures that `reproduce` does not draw in its tests, one for each function that makes several."""
    computed = {
        getattr(entry.make, "func", entry.make): name
        for name, entry in catalogue(SOURCES).items()
        if entry.needs == Needs() and not name.startswith("labels-")
    }
    return [name for name in computed.values() if name not in small_reproduce.FIGURES]


@pytest.mark.parametrize("name", one_for_each_maker())
def test_a_computed_figure_is_made_as_the_catalogue_says(name: str, drawn: Drawn) -> None:
    drawing = drawn(name)
    assert drawing.rows and drawing.caption


def test_lrc_is_the_number_of_distinct_values(drawn: Drawn) -> None:
    [axes] = drawn("lrc-growth").shown.axes
    for text in lrc_figures.FAMILIES:
        [line] = [line for line in axes.lines if line.get_gid() == f"course:{text}"]
        for scale, value in zip(line.get_xdata(), line.get_ydata(), strict=True):
            # A family A(i, j, n) has one parameter a label at all scales up to n.
            scales = range(1, scale + 1)
            values = {PLAIN[text](i, j, n) for n in scales for j in range(1, n + 1) for i in range(1, j + 1)}
            assert value == len(values - {0}), (text, scale)


def test_a_pattern_is_printed_by_the_formula_of_its_numbers() -> None:
    for text, (printed, *_) in lrc_figures.FAMILIES.items():
        if "max" in printed or "min" in printed or "gcd" in printed:
            plain = printed.strip("$").replace("\\,", "").replace("\\", "")
            assert plain.replace(" ", "") == text.replace(" ", ""), "legend and caption name one pattern"


def test_volumes_are_those_of_a_fine_lattice(drawn: Drawn) -> None:
    volumes = [lrc_figures.reached_volume(*volume_case) for volume_case in lrc_figures.CASES]
    for volume_case in volumes:
        assert volume_case.patterns == (2**volume_case.free if volume_case.train == 1 else 4**volume_case.free), (
            "0 or a value that training shows"
        )
        assert all(volume <= volume_case.bound(share) for share, volume in volume_case.volumes.items())
    # D = 2, M = 4: cells of side 1/16 lie inside or outside every box of these sizes.
    centres = [(-4 + (at + 0.5) / 16) for at in range(128)]
    for share in (Fraction(1, 16), Fraction(1, 4), Fraction(1, 2)):
        eps = float(4 * share)
        near = [x for x in centres if min(abs(x), abs(x - 1)) < eps]
        assert volumes[0].volumes[share] == Fraction(len(near) ** 2, 128**2)
    drawing = drawn("reachable-volume")
    on_the_page(drawing.shown)
    for volume_case in volumes:
        lines = {line.get_gid(): line for line in panel(drawing.shown, f"D:{volume_case.free}").lines}
        assert [*lines["share"].get_ydata()] == [float(volume) for volume in volume_case.volumes.values()]
        assert [*lines["bound"].get_ydata()] == [float(volume_case.bound(share)) for share in volume_case.volumes]


def test_induced_complexity_is_drawn_as_computed(drawn: Drawn) -> None:
    curves_by_task = src_by_scale.induced_curves()
    drawing = drawn("induced-complexity")
    on_the_page(drawing.shown)
    for task, curves in curves_by_task.items():
        axes = panel(drawing.shown, task)
        infinite = max(axes.get_yticks())
        for encoding, course in curves.items():
            [line] = [line for line in axes.lines if line.get_gid() == f"course:{encoding}"]
            values = [math.inf if value == infinite else value for value in line.get_ydata()]
            assert dict(zip(line.get_xdata(), values, strict=True)) == course
    assert curves_by_task["parity"]["ape"] == {n: n + 1 for n in range(1, 9)}, "a step of its own, and the end"
    assert set(curves_by_task["parity"]["ipe"].values()) == {1} and "ipe-sh" in curves_by_task["shift"]


def test_score_laws_are_the_formulas(drawn: Drawn) -> None:
    courses = score_laws.score_curves()
    by_name = {course.name: course for course in courses}
    drawing = drawn("score-laws")
    slope = -by_name["alibi"].bias[1]
    assert slope > 0 and by_name["alibi"].bias == pytest.approx([-slope * distance for distance in range(25)])
    angle = math.acos(by_name["rope"].kernel[1])
    assert by_name["rope"].kernel == pytest.approx([math.cos(angle * distance) for distance in range(25)])
    peaked = by_name["hope-peaked"].kernel
    assert peaked.index(max(peaked)) == score_laws.PEAK > 0
    points = [[(distance - shift) / scale for scale, shift in ((1, 0), (4, 1))] for distance in range(25)]
    waves = [sum((1 - t**2) * math.exp(-(t**2) / 2) for t in pair) for pair in points]
    assert by_name["wavelet"].bias == pytest.approx(waves) and set(by_name["wavelet"].kernel) == {1}
    assert "t5" not in by_name, "a free number for each bucket is no law"
    for course in courses:
        for axes in drawing.shown.axes:
            for line in axes.lines:
                if line.get_gid() in (f"bias:{course.name}", f"kernel:{course.name}"):
                    values = course.bias if str(line.get_gid()).startswith("bias") else course.kernel
                    largest = max(map(abs, values))
                    assert line.get_ydata() == pytest.approx([value / largest for value in values])
                    texts = "\n".join(text.get_text() for text in axes.texts).splitlines()
                    factor = f"{str(line.get_gid()).partition(':')[0]} / {largest:.3g}"
                    assert (factor in texts) == (f"{largest:.3g}" != "1"), "the panel says by what, unless it is 1"


def test_src_is_printed_by_scale_with_its_course(drawn: Drawn) -> None:
    by_name = {task.name: task for task in complexities()}
    assert len(by_name) == len(TASKS)
    assert by_name["permutation"].bounds == {n: (n, n) for n in range(1, 7)} and by_name["parity"].course == "constant"
    assert by_name["parity-direct"].course == "infinite from 4" and by_name["permutation"].course == "grows"
    table = drawn("table-src").shown
    assert ("1 2 3 4 5 6", "permutation (1)") in table.lines
    values, tasks = table.lines[0]
    assert values == "1 1 1 1 1 1" and {"parity (2)", "addition (5)", "select-any* (1)"} <= {*tasks.split(", ")}
    assert sum(tasks.count(",") + 1 for _, tasks in table.lines) == len(TASKS)


def test_tables_of_tasks_hold_real_instances(drawn: Drawn) -> None:
    rows = {row["task"]: row for row in drawn("table-tasks").rows}
    assert rows.keys() == TASKS.keys()
    numbers = [int(symbol) for symbol in str(rows["parity"]["prompt"]).split()[:-1]]
    steps = [sum(numbers[:count]) % 2 for count in (1, 2, 3)]
    assert rows["parity"]["output"] == " ".join(map(str, steps)) + " $"
    shown = {(row["task"], row["format"]): row for row in paper_tables.formats().rows}
    for (_, form), row in shown.items():
        assert ("_" in str(row["instance"])) == (form == "aligned")
    assert shown["copy", "unaligned"]["length at 20"] == 42 and shown["copy", "aligned"]["length at 20"] == 44
    labels = {row["encoding"]: (row["labels at 5"], row["labels at 20"]) for row in drawn("table-relations").rows}
    assert labels["IPE"] == ("3", "3") and labels["NoPE"] == ("1", "1") and labels["random RoPE"] == ("-", "-")
    assert labels["RPE"] == ("29", "44"), "as many distances as tokens: prompt of 22 + =, then n + 1"
    assert labels["FoX"] == ("-", "-"), "its labels depend on tokens, not on positions drawn anew"
    caption = drawn("table-relations").caption
    assert "positions are drawn anew for each batch, or tokens or a graph decide the score" in caption


def test_the_ledger_counts_claims() -> None:
    drawing = ledger_matrix.ledger_drawing(CLAIMS, width=7.0)
    on_the_page(drawing.shown)
    [axes] = drawing.shown.axes
    drawn = Counter()
    for text in axes.texts:
        if str(text.get_gid()).startswith("count:"):
            drawn[str(text.get_gid()).removeprefix("count:")] += int(text.get_text())
    assert drawn == Counter(claim["verdict"] for claim in CLAIMS)
    assert sum(int(str(row["claims"])) for row in drawing.rows) == len(CLAIMS)
    assert "20 claims of 3 papers" in drawing.caption and "5 none" in drawing.caption
    names = [text.get_text() for text in axes.texts if text.get_ha() == "right"]
    wrong_papers = {claim["source"]["paper"] for claim in CLAIMS if claim["verdict"] in ledger_matrix.FINDINGS}
    assert {name.replace("\n", " ").partition(" (")[0] for name in names if "other papers" not in name} == wrong_papers


@pytest.fixture(scope="module")
def label_curves() -> dict[str, dict[Fraction, int]]:
    return lrc_figures.label_curves()


def test_computed_figures_fit_every_width(drawn: Drawn, label_curves: dict[str, dict[Fraction, int]]) -> None:
    narrow = lrc_figures.growth_drawing(width=NARROWEST), lrc_figures.scores_drawing(label_curves, width=NARROWEST)
    for shown in (drawing.shown for drawing in (drawn("lrc-growth"), drawn("score-labels"), *narrow)):
        on_the_page(shown)


def test_labels_of_a_linear_score_are_counted_by_division_and_fewer_labels_carry_a_larger_error(drawn: Drawn) -> None:
    rows = drawn("score-labels").rows
    labels = {name: [row["labels"] for row in rows if row["score"] == name] for name in lrc_figures.SCORES}
    last = lrc_figures.SCALE - 1
    assert labels["ALiBi"] == [math.ceil((last + 1) / (2 * error * last // 1 + 1)) for error in lrc_figures.ERRORS]
    assert all(counts == sorted(counts, reverse=True) for counts in labels.values())
    buckets = {biases.t5_bucket(sp.Integer(distance)).doit() for distance in range(last + 1)}
    assert max(labels["T5, bias - bucket"]) == len(buckets)


def _cover(values: list[float], error: float) -> int:
    """Fewest numbers such that each value is within the error of one: from the least on, each as high as it may be."""
    count, covered = 0, -math.inf
    for value in sorted(values):
        if value > covered:
            count, covered = count + 1, value + 2 * error
    return count


def test_labels_of_wavelets_are_those_that_cover_their_scores_and_far_keys_share_one(
    label_curves: dict[str, dict[Fraction, int]],
) -> None:
    q = torch.ones(1, 1, 1, 16, dtype=torch.float64)
    module, keys = Wavelet(head_dim=16, scales=4), torch.arange(lrc_figures.SCALE)
    scores = module.scores(q, torch.zeros(1, 1, len(keys), 16).double(), keys[-1:], keys)[0, 0, 0].tolist()
    spread = max(scores) - min(scores)
    [labels] = [curve for name, curve in label_curves.items() if name.startswith("Wavelets")]
    assert labels == {error: _cover(scores, error * spread) for error in lrc_figures.ERRORS}
    assert max(scores[: len(keys) - 51]) < 1e-3 * spread, "scores of the keys from distance 51 on"


@pytest.mark.skipif(matplotlib.__version__ != PINNED, reason="bytes are those of one matplotlib")
def test_drawn_with_pinned_versions_the_bytes_are_known() -> None:
    figures = {
        "lrc": lrc_figures.growth_drawing(width=7.0).shown,
        "ledger": ledger_matrix.ledger_drawing(CLAIMS, width=7.0).shown,
    }
    hashes = {name: hashlib.sha256(_image_bytes(shown, "svg")).hexdigest()[:16] for name, shown in figures.items()}
    assert hashes == HASHES


def test_the_printed_interpolation_bound_is_broken_and_the_corrected_one_is_not(drawn: Drawn) -> None:
    drawing = drawn("interpolation-bound")
    for head_dim, constant in ((128, 128 / (8 * math.log(1e4))), (2, 2 / (8 * math.log(1e4)))):
        theta = [1e4 ** (-2 * plane / head_dim) for plane in range(head_dim // 2)]
        rows = [row for row in drawing.rows if row["head_dim"] == head_dim]
        for row in rows:
            x = row["distance"]
            line = sum(math.cos(angle / 2) for angle in theta)
            assert row["error"] == pytest.approx(
                abs(sum(math.cos(angle * (x - 0.5)) for angle in theta) - line), abs=1e-12
            )
            assert row["printed_bound"] == pytest.approx(constant * x * (1 - x))
            assert row["corrected_bound"] == pytest.approx(sum(angle**2 for angle in theta) / 2 * x * (1 - x))
            assert row["error"] <= row["corrected_bound"] + 1e-12
        assert all(row["error"] > row["printed_bound"] for row in rows[1:-1])
        for what in ("error", "printed", "corrected"):
            [line] = [
                line for axes in drawing.shown.axes for line in axes.lines if line.get_gid() == f"{what}:{head_dim}"
            ]
            column = {"error": "error", "printed": "printed_bound", "corrected": "corrected_bound"}[what]
            assert line.get_ydata().tolist() == [row[column] for row in rows]
    assert "error 0.4939, printed bound 0.4343" in drawing.caption
