"""Files of figures have embedded fonts, are legible in grey, and have the same bytes each time."""

import csv
import io
import os
import subprocess
import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingError
from lengthgen.circuits.tasks import load
from lengthgen.paper_figs import saving, style
from lengthgen.paper_figs.figures import label_matrices, pattern_panels
from lengthgen.theory.pattern import from_formula
from tests.processes import PATIENCE

ROOT = Path(__file__).parents[2]
SHOWN = {"aligned": ("ipe", "rpe")}


@pytest.fixture(scope="module")
def analyses() -> dict[str, Analysis]:
    return {"aligned": analyse(load("parity"), "aligned", 3)}


@pytest.fixture(scope="module")
def drawing(analyses: dict[str, Analysis]) -> saving.Drawing:
    return _drawing(analyses)


@pytest.fixture(scope="module")
def written(drawing: saving.Drawing, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Files of a figure."""
    return saving.write(drawing, tmp_path_factory.mktemp("figure") / "new", "figure1")


def _drawing(analyses: dict[str, Analysis]) -> saving.Drawing:
    return label_matrices.drawing(analyses, scale=2, encodings=SHOWN)


def _grey(colour: str) -> float:
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


OWN = [f"my/encodings.py:law_{number}" for number in range(40)]
BASIC = ("ipe", "rpe", "ape", "nope", "rope", "alibi")

# Machado, Oliveira, Fernandes 2009, "A physiologically-based model for simulation of color vision deficiency": what
# colours become, in linear RGB, without one of the three cones.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def _seen(colour: str, sight: str) -> NDArray[np.float64]:
    """CIELAB of a colour, as someone sees it."""
    coded = np.array(to_rgb(colour))
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = np.array(to_xyz) @ np.clip(SIGHT[sight] @ linear, 0, 1) / (0.95047, 1.0, 1.08883)
    fx, fy, fz = (np.cbrt(part) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def _all_looks(names: Iterable[str] = ENCODINGS) -> list[style.Look]:
    """Return each distinct look of registered encodings and of encodings that a user defines."""
    own = {(look.marker, look.line): look for look in map(style.look, OWN)}
    return [*map(style.look, names), *own.values()]


def test_every_built_in_encoding_has_a_look_and_a_label_of_its_own() -> None:
    labels = [style.look(encoding).label for encoding in ENCODINGS]
    assert len(set(labels)) == len(ENCODINGS)


def test_encodings_differ_without_colour() -> None:
    looks = _all_looks(style._LOOKS)
    assert len(looks) > len(style._LOOKS) + 2, "encodings of one's own do not all look alike"
    for first, second in combinations(looks, 2):
        assert (first.marker, first.fill) != (second.marker, second.fill), (first.label, second.label)
        assert first.line != second.line or abs(_grey(first.colour) - _grey(second.colour)) > 0.07, (
            first.label,
            second.label,
        )


def test_encodings_without_a_look_of_their_own_differ_in_their_marks_within_a_family() -> None:
    for first, second in combinations(map(style.look, ENCODINGS), 2):
        assert first.colour != second.colour or (first.marker, first.fill) != (second.marker, second.fill), (
            first,
            second,
        )


def test_the_encodings_met_most_differ_in_everything() -> None:
    for first, second in combinations(map(style.look, BASIC), 2):
        assert first.line != second.line and first.colour != second.colour
        assert (first.marker, first.fill) != (second.marker, second.fill)


@pytest.mark.parametrize("sight", SIGHT)
def test_families_differ_in_hue_for_every_sight(sight: str) -> None:
    # A difference of 2.3 is just noticed side by side (Mahy and others 1994); lines stand apart and are thin.
    for first, second in combinations({look.colour for look in _all_looks()}, 2):
        assert np.linalg.norm(_seen(first, sight) - _seen(second, sight)) > 20, (first, second)


GRAPE_M = ("grape", "grape-commuting", "grape-contextual")
GRAPE_A = ("grape-additive", "grape-gated", "grape-path")
BAM = ("bam", "bam-ssmax")
FOX = ("fox", "fox-bias-only", "fox-fixed")
CABLE = ("cable", "cable-gated", "cable-nw", "cable-log")


def test_a_hue_is_of_a_family() -> None:
    families = [
        ("ipe", "ipe-sh", "lbpe", "lbpe-sh"),
        ("rpe", "clipped", "t5", "rpe-square", "random-rpe", "grape-thin", "wavelet"),
        ("ape", "sinusoidal", "random-ape", "offset-ape", "legendre", "haar", "dct", "prism"),
        ("rope", "random-rope", "xpos", "interpolation", "ntk", "dynamic-ntk", "yarn", "hope", *GRAPE_M),
        (
            "alibi",
            "fire",
            "seqpe",
            "random-alibi",
            "kerple-power",
            "kerple-log",
            *BAM,
            "swat",
            "t5-bidirectional",
            *FOX,
            *CABLE,
            *GRAPE_A,
            "graph-alibi",
        ),
        ("nope",),
        OWN,
    ]
    hues = [{style.look(encoding).colour for encoding in family} for family in families]
    assert all(len(hue) == 1 for hue in hues)
    assert len(set.union(*hues)) == len(families)
    assert {name for family in families for name in family} >= set(ENCODINGS)


def _drawn(look: style.Look) -> tuple[str, str, str, style.Dashes]:
    return look.colour, look.marker, look.fill, look.line


def test_parameters_stand_in_the_label_alone() -> None:
    plain, limited = style.look("clipped"), style.look("clipped[limit=4]")
    assert _drawn(limited) == _drawn(plain)
    assert (plain.label, limited.label) == ("clipped RPE", "clipped RPE (limit=4)")
    assert style.look("t5[longest=64,buckets=8]").label == "T5 (buckets=8, longest=64)"


def test_an_encoding_of_ones_own_looks_the_same_from_every_folder() -> None:
    assert style.look("law.py:near") == style.look("/far/away/law.py:near")
    assert {style.look(f"{folder}/law.py:near").label for folder in ("a", "b")} == {"law.py:near"}
    assert style.look("a/l\udcff\x01.py:near").label == r"l\udcff\x01.py:near"


def test_encodings_that_share_a_look_differ_within_one_figure() -> None:
    alike = ["clipped", *(f"clipped[limit={limit}]" for limit in range(4))]
    looks = style.looks([*alike, "ipe"])
    assert list(looks) == [*alike, "ipe"]
    assert looks["clipped"] == style.look("clipped") and looks["ipe"] == style.look("ipe")
    for first, second in combinations(looks.values(), 2):
        assert _drawn(first) != _drawn(second)
        assert first.fill != second.fill or first.marker != second.marker
    greys = sorted(_grey(looks[name].colour) for name in alike)
    assert min(np.diff(greys)) > 0.07, "in grey too"
    with pytest.raises(style.StyleError, match="sixth"):
        style.looks([*alike, "clipped[limit=9]"])


def test_names_that_would_be_the_same_are_written_out() -> None:
    looks = style.looks(["a/law.py:near", "b/law.py:near", "b/law.py:far"])
    assert [look.label for look in looks.values()] == ["a/law.py:near", "b/law.py:near", "law.py:far"]


def test_the_glossary_has_titles_and_all_parameters() -> None:
    assert style.glossary(["ipe-sh", "clipped[limit=4]", "t5", "my/law.py:near"]) == (
        "IPE-SH: ideal with scale hint; clipped RPE (limit=4): relative, clipped, limit 4; "
        "T5: relative, in buckets, buckets 32, longest 128; law.py:near: our own."
    )
    assert style.glossary(["rpe[start=0.02]", "clipped", "t5", "rope", "ape"], trained=True).endswith(
        "APE: learned absolute. Standard deviation of tables before training: 0.02 (RPE, T5); 1 (clipped RPE, APE)."
    )


def test_slots_differ_without_colour() -> None:
    slots = [style.slot_look(slot) for slot in range(1, 6)]
    assert len({slot.marker for slot in slots}) == len({slot.line for slot in slots}) == len(slots)


def test_names_without_a_look_are_refused() -> None:
    with pytest.raises(EncodingError, match="did you mean rope"):
        style.look("ropee")
    for slot in (0, 6):
        with pytest.raises(ValueError, match=f"slot {slot} has no look"):
            style.slot_look(slot)


def test_files_are_whole_vector_and_raster(drawing: saving.Drawing, written: tuple[Path, ...]) -> None:
    pdf, svg, png, pgf, table, caption, environment = written
    assert {path.suffix for path in (pdf, svg, png, table)} == {".pdf", ".svg", ".png", ".csv"}
    assert caption.read_text() == f"{drawing.caption}\n"
    assert (
        rf"\caption{{{drawing.caption[:14]}" in environment.read_text() and "{figure1.pdf}" in environment.read_text()
    )
    drawn = svg.read_text()
    assert drawn.rstrip().endswith("</svg>") and "dc:date" not in drawn and "Matplotlib v" not in drawn
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF") and content.rstrip().endswith(b"%%EOF") and len(content) > 10_000
    assert b"/CIDFontType2" in content and b"/Type3" not in content, "TrueType fonts are embedded as such"
    assert b"CreationDate" not in content and b"ModDate" not in content
    assert pgf.read_text().count(r"\begin{pgfpicture}") == pgf.read_text().count(r"\end{pgfpicture}") == 1
    image = imread(png)
    assert image.shape[1] == style.PAGE_WIDTH * 300
    assert image[..., :3].min() < 0.2 and image[..., :3].std() > 0.02
    assert b"Software" not in png.read_bytes()
    with table.open(newline="") as file:
        assert list(csv.DictReader(file)) == [{key: str(value) for key, value in row.items()} for row in drawing.rows]
    assert len(list(table.parent.iterdir())) == 7, "nothing else is left behind"


def test_names_of_files_are_drawn_on_one_line_and_not_read_as_mathematics() -> None:
    hostile = ["one/$\\x$.py:Own", "two/$\\x$.py:Own", "a\nb\x1b.py:Own", "x" * 10_000 + ".py:Own"]
    for its in [*style.looks(hostile).values(), *map(style.look, hostile)]:
        assert "$" not in its.label and its.label.isprintable() and len(its.label) < 200
    figure = Figure()
    figure.text(0, 0, style.look(hostile[0]).label)
    figure.savefig(io.BytesIO(), format="svg")


def test_the_users_own_settings_play_no_part(
    analyses: dict[str, Analysis], written: tuple[Path, ...], tmp_path: Path
) -> None:
    own = {"font.size": 20.0, "savefig.bbox": "tight", "lines.linewidth": 9.0, "axes.facecolor": "black"}
    with matplotlib.rc_context(own):
        again = saving.write(_drawing(analyses), tmp_path / "own", "figure1")
        assert matplotlib.rcParams["font.size"] == 20.0, "the settings are given back"
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_another_process_lists_all_figures_and_writes_the_same_bytes_without_torch_and_without_a_display(
    written: tuple[Path, ...], tmp_path: Path
) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from lengthgen.paper_figs import declaration, saving;"
        "from lengthgen.paper_figs.figures import label_matrices, pattern_panels;"
        "assert declaration._modules();"
        "from lengthgen.theory.pattern import from_formula;"
        "pattern = pattern_panels.drawing(from_formula('sqrt(2) if i%2 else j'), train=2, test=3);"
        "Path('pattern.svg').write_bytes(saving._image_bytes(pattern.shown, 'svg'));"
        "Path('pattern.txt').write_text(repr((pattern.rows, pattern.caption)));"
        "from lengthgen.circuits.analysis import analyse; from lengthgen.circuits.tasks import load;"
        "drawing = label_matrices.drawing({'aligned': analyse(load('parity'), 'aligned', 3)}, scale=2,"
        f"encodings={SHOWN});"
        "saving.write(drawing, Path('labels'), 'figure1');"
        "print({'matplotlib.pyplot', 'torch'} & {*sys.modules})"
    )
    other_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": other_seed}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, env=environment, cwd=tmp_path, capture_output=True, timeout=PATIENCE)
    assert done.stdout.strip() == b"set()"
    pattern = pattern_panels.drawing(from_formula("sqrt(2) if i%2 else j"), train=2, test=3)
    assert (tmp_path / "pattern.svg").read_bytes() == saving._image_bytes(pattern.shown, "svg")
    assert (tmp_path / "pattern.txt").read_text() == repr((pattern.rows, pattern.caption))
    contents = {path.name: path.read_bytes() for path in (tmp_path / "labels").iterdir()}
    assert contents == {path.name: path.read_bytes() for path in written}
    assert sorted(name.rpartition(".")[2] for name in contents) == ["csv", "pdf", "pgf", "png", "svg", "tex", "txt"]
