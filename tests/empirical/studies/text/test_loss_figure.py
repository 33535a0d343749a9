"""The figure of language models shows stored results of the present version, and nothing else."""

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from matplotlib.figure import Figure

from lengthgen.empirical.studies.text import loss_figure as text_losses
from lengthgen.empirical.studies.text.corpus import load_profile
from lengthgen.empirical.studies.text.text_run import FORMAT_VERSION, TextRun
from lengthgen.infrastructure.files import DamagedFile, write_sealed_json
from lengthgen.paper_figs.sources import Missing, Sources
from tests.paper_figs.test_run_figures import on_the_page
from tests.sealed_results import text_result

PROFILE = load_profile("smoke")
LOSSES = {
    "rope": {32: [1.0, 2.0], 64: [4.0, 4.5]},
    "alibi": {32: [2.0, 2.0], 64: [1.5, 2.0]},
    "fox": {32: [2.0, 2.5], 64: [1.999, 2.499]},
    "rope under yarn": {32: [1.0, 2.0], 64: [1.5, 3.0]},
}


def store(out: Path, encoding: str, **changes: Any) -> None:
    run = TextRun(encoding=encoding, profile_name="smoke", profile=PROFILE)
    last = {
        name.removeprefix("rope under "): [*of_name.values()]
        for name, of_name in LOSSES.items()
        if name.partition(" ")[0] == encoding
    } or {encoding: [[1.0, 1.0]] * 2}
    path = run.path(out) if not changes else run.path(out).with_name(f"{encoding}-old.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sealed_json(path, text_result(run, last) | changes)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    for encoding in ("rope", "alibi", "fox"):
        store(tmp_path, encoding)
    store(tmp_path, "alibi", version=FORMAT_VERSION - 1, tests={"alibi": []})
    return Sources(out=tmp_path, profile="smoke", width=5.5)


def test_every_number_is_drawn_and_the_smallest_rise_comes_first(sources: Sources) -> None:
    drawing = text_losses.drawing(text_losses.results(sources), width=sources.width)
    assert isinstance(drawing.shown, Figure)
    on_the_page(drawing.shown)
    names = list(dict.fromkeys(str(row["encoding"]) for row in drawing.rows))
    assert names == ["alibi", "fox", "rope under yarn", "rope"]
    drawn = {text.get_gid(): text.get_text() for text in drawing.shown.axes[0].texts if text.get_gid()}
    for name, losses in LOSSES.items():
        trained, longest = (fmean(losses[length]) for length in (32, 64))
        rise = "0.00" if name == "fox" else f"{longest - trained:+.2f}"
        assert drawn[f"{name}:32"] == f"{trained:.2f}" and drawn[f"{name}:64"] == rise
    row = next(row for row in drawing.rows if row["encoding"] == "rope" and row["length"] == 64)
    assert (row["loss"], row["least"], row["greatest"], row["rise"]) == (4.25, 4.0, 4.5, 2.75)
    assert "2 seeds" in drawing.caption and "RoPE under YaRN" in {
        text.get_text() for text in drawing.shown.axes[0].texts
    }


def test_it_is_drawn_again_if_a_result_changes(sources: Sources) -> None:
    before = sources.digest(text_losses.MODELS)
    again = Sources(out=sources.out, profile="smoke", width=5.5)
    assert again.digest(text_losses.MODELS) == before
    store(sources.out, "nope")
    assert Sources(out=sources.out, profile="smoke", width=5.5).digest(text_losses.MODELS) != before


def test_missing_and_damaged_results_are_named(tmp_path: Path, sources: Sources) -> None:
    empty = Sources(out=tmp_path / "empty", profile="smoke", width=5.5)
    with pytest.raises(Missing, match=r"no language models .* make it with  lengthgen text --profile smoke --out"):
        empty.require(text_losses.MODELS)
    sources.require(text_losses.MODELS)
    [path] = tmp_path.glob("text/smoke/rope-*.json")
    path.write_text(path.read_text().replace("4.5", "0.5"))
    with pytest.raises(DamagedFile, match="rope"):
        Sources(out=tmp_path, profile="smoke", width=5.5).require(text_losses.MODELS)
