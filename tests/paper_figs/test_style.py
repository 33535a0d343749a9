"""Figures are files that anyone can print and reproduce: embedded fonts, legible in grey, the same bytes each time."""

import csv
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from circuits.prediction import ENCODINGS, Analysis, analyse
from circuits.tasks import load
from paper_figs import label_matrices, style

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def analyses() -> dict[str, Analysis]:
    return {"aligned": analyse(load("parity"), "aligned", 2)}


def _draw(analyses: dict[str, Analysis]) -> Figure:
    return label_matrices.draw(analyses, scale=2)


def _grey(colour: str) -> float:
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


def test_encodings_differ_without_colour() -> None:
    looks = [style.look(encoding) for encoding in ENCODINGS]
    for one, other in combinations(looks, 2):
        assert one.marker != other.marker
        assert one.line != other.line
        assert abs(_grey(one.colour) - _grey(other.colour)) > 0.12, (one.label, other.label)


WORDS: Any = {"rows": [{"a": 1}], "caption": "What."}


def test_slots_differ_without_colour() -> None:
    slots = [style.slot_look(slot) for slot in range(1, 6)]
    assert len({slot.marker for slot in slots}) == len({slot.line for slot in slots}) == len(slots)


def test_what_has_no_look_is_refused() -> None:
    with pytest.raises(ValueError, match="encoding 'rope' has no look"):
        style.look("rope")
    for slot in (0, 6):
        with pytest.raises(ValueError, match=f"slot {slot} has no look"):
            style.slot_look(slot)


def test_files_are_whole_vector_and_raster(analyses: dict[str, Analysis], tmp_path: Path) -> None:
    rows = label_matrices.rows(analyses, scale=2)
    pdf, png, table, caption = style.save(_draw(analyses), tmp_path / "new", "figure1", rows=rows, caption="What.")
    assert [path.name for path in (pdf, png, table)] == ["figure1.pdf", "figure1.png", "figure1.csv"]
    assert caption.read_text() == "What.\n"
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF") and content.rstrip().endswith(b"%%EOF") and len(content) > 10_000
    assert b"/CIDFontType2" in content and b"/Type3" not in content, "TrueType fonts are embedded as such"
    assert b"CreationDate" not in content and b"ModDate" not in content
    image = imread(png)
    assert image.shape[1] == style.PAGE_WIDTH * 300
    assert image[..., :3].min() < 0.2 and image[..., :3].std() > 0.02
    assert b"Software" not in png.read_bytes()
    with table.open(newline="") as file:
        assert list(csv.DictReader(file)) == [{key: str(value) for key, value in row.items()} for row in rows]
    assert len(list(table.parent.iterdir())) == 4, "nothing else is left behind"


def test_the_users_own_settings_play_no_part(analyses: dict[str, Analysis], tmp_path: Path) -> None:
    plain = style.save(_draw(analyses), tmp_path / "plain", "figure1", **WORDS)
    own = {"font.size": 20.0, "savefig.bbox": "tight", "lines.linewidth": 9.0, "axes.facecolor": "black"}
    with matplotlib.rc_context(own):
        again = style.save(_draw(analyses), tmp_path / "own", "figure1", **WORDS)
        assert matplotlib.rcParams["font.size"] == 20.0, "the settings are given back"
    assert [path.read_bytes() for path in plain] == [path.read_bytes() for path in again]


def test_another_process_writes_the_same_bytes(analyses: dict[str, Analysis], tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from circuits.prediction import analyse; from circuits.tasks import load;"
        "from paper_figs import label_matrices, style;"
        "figure = label_matrices.draw({'aligned': analyse(load('parity'), 'aligned', 2)}, scale=2);"
        "style.save(figure, Path(sys.argv[1]), 'figure1', rows=[{'a': 1}], caption='What.')"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    here = style.save(_draw(analyses), tmp_path / "here", "figure1", **WORDS)
    for seed in ("1", "2"):
        folder = tmp_path / seed
        command = [sys.executable, "-c", script, str(folder)]
        subprocess.run(command, check=True, env=environment | {"PYTHONHASHSEED": seed}, cwd=tmp_path, timeout=60)
        assert [(folder / path.name).read_bytes() for path in here] == [path.read_bytes() for path in here]


def test_the_main_packages_do_not_need_a_display(analyses: dict[str, Analysis]) -> None:
    script = (
        "import sys, paper_figs.label_matrices, paper_figs.accuracy_by_scale; print('matplotlib.pyplot' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True, timeout=60)
    assert done.stdout.strip() == b"False"
