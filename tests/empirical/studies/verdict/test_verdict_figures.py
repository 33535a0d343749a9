"""Figures of the verdict show the numbers of the judgement, and nothing that was changed after the runs."""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from lengthgen.empirical.studies.verdict import WEAK
from lengthgen.empirical.studies.verdict import cell_figures as verdict_cells
from lengthgen.empirical.studies.verdict import rule_figures as verdict_rules
from lengthgen.empirical.studies.verdict.cell_figures import breaking_drawing, formats_drawing, strata_drawing
from lengthgen.empirical.studies.verdict.rule_figures import RANDOM_TASKS, multiverse_drawing, rules_drawing
from lengthgen.empirical.studies.verdict.stored import judged, judgement_of
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from tests.empirical.studies.verdict.made_up_verdict import PREREGISTRATION, frozen_rows, verdict_sources
from tests.paper_figs.test_run_figures import curve, on_the_page, panel

DRAWINGS = (breaking_drawing, rules_drawing, formats_drawing, multiverse_drawing, strata_drawing)
Draw = Callable[[verdict_rules.Draw, float], Drawing]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    made, _ = verdict_sources(tmp_path_factory.mktemp("verdict"))
    return made


@pytest.fixture(scope="module")
def draw(sources: Sources) -> Draw:
    """Function and width -> its drawing, made once for all tests; none changes it."""
    preregistration, judgement = judged(sources, RANDOM_TASKS)
    return cache(lambda drawing, width: drawing(judgement, preregistration, width))


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize("width", [5.5, 7.0])
def test_captions_name_the_evidence_and_all_text_is_on_the_page(
    sources: Sources, draw: Draw, drawing: verdict_rules.Draw, width: float
) -> None:
    _, judgement = judged(sources, RANDOM_TASKS)
    drawn = draw(drawing, width)
    assert isinstance(drawn.shown, Figure)
    on_the_page(drawn.shown)
    # 24 tasks, two formats, three of four encodings, four runs each, of which one does not fit.
    assert "576 runs of 144 of 192 cells" in drawn.caption and "of which 432 fit" in drawn.caption
    assert judgement["frozen"][:12] in drawn.caption and "[F]" in drawn.caption


def test_bubbles_lie_at_predicted_and_observed_scales(draw: Draw) -> None:
    drawn = draw(breaking_drawing, 7.0)
    assert isinstance(drawn.shown, Figure)
    [bubbles] = [each for each in panel(drawn.shown, "breaking:coverage").collections if each.get_gid() == "cells"]
    area = {tuple(place): size for place, size in zip(bubbles.get_offsets().tolist(), bubbles.get_sizes(), strict=True)}
    # Tasks 0, 3, ..., 21 break at 6 if aligned, with two encodings; task 5 breaks at 19, and was predicted as task 6.
    assert area[6, 6] == pytest.approx(8 * area[6, 19])
    assert {(row["observed"] - row["predicted"]) for row in drawn.rows if row["rule"] == "distractors"} == {-1, 9, 12}  # type: ignore[operator]


def test_the_line_of_a_rule_is_the_evidence_against_the_other(sources: Sources, draw: Draw) -> None:
    preregistration, _ = judged(sources, RANDOM_TASKS)
    drawn = draw(rules_drawing, 7.0)
    assert isinstance(drawn.shown, Figure)
    assert len(drawn.shown.axes) == sum(second not in WEAK for _, second in preregistration.rule_pairs)
    axes = panel(drawn.shown, "pair:coverage:always-no")
    better, worse = curve(axes, "for:coverage"), curve(axes, "for:always-no")
    # 12 tasks of the half differ, each in the two cells of IPE-SH, where coverage is right.
    assert better[24] > 2 and worse[24] < 0
    assert "coverage against always-no" in drawn.caption


@pytest.mark.parametrize(
    ("e_value", "text"),
    [
        (4.74e5, r"$4.7\cdot10^{5}$"), (1.86e6, r"$1.9\cdot10^{6}$"), (4.9e31, r"$4.9\cdot10^{31}$"),
        (1.4e-5, r"$1.4\cdot10^{-5}$"), (9.96e5, r"$1.0\cdot10^{6}$"), (0.0098, "0.0098"), (0.41, "0.41"),
        (1.9, "1.9"), (38.2, "38"), (1264.0, "1264"), (240.0, "240"),
    ],
)  # fmt: skip
def test_a_final_e_value_is_written_with_its_leading_digits(e_value: float, text: str) -> None:
    assert verdict_rules._written(math.log10(e_value)) == text


def test_the_record_of_swapped_arguments_shows_what_only_the_rule_with_the_token_names() -> None:
    sources = Sources(out=Path(__file__).parents[4] / "docs" / "results", profile="smoke", width=7.0)
    (entry,) = (entry for entry in verdict_cells.FIGURES if entry.name == "verdict-swapped")
    figure = entry.make(sources).shown
    assert isinstance(figure, Figure)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["distractors: 12 of 12 cells exact", "distractors-with-token: 106 of 108 cells exact"]


@pytest.mark.parametrize("earliest", [2, 5, 6])
def test_a_cell_that_was_to_break_in_training_is_drawn(sources: Sources, earliest: int) -> None:
    preregistration, judgement = judged(sources, RANDOM_TASKS)
    of_rule = judgement["breaking"]["coverage"] | {"counts": [[earliest, 7, 3], [6, 6, 9]]}
    drawn = verdict_cells.breaking_drawing(
        judgement | {"breaking": {"coverage": of_rule}}, preregistration, 7.0, rules=["coverage"]
    )
    assert isinstance(drawn.shown, Figure)
    [axes] = drawn.shown.axes
    assert axes.get_xlim() == axes.get_ylim() == (earliest - 1, preregistration.test[1] + 1)
    shaded = any(patch.get_gid() == "training" for patch in axes.patches)
    assert shaded == (earliest < 6) == ("Shaded: scales of training" in drawn.caption)


def test_every_universe_has_its_number(draw: Draw) -> None:
    drawn = draw(multiverse_drawing, 7.0)
    assert isinstance(drawn.shown, Figure)
    numbers = {text.get_gid(): text.get_text() for text in drawn.shown.axes[0].texts if text.get_gid()}
    for column in range(12):
        assert numbers[f"coverage:{column}"] == "100" and numbers[f"always-no:{column}"] == "67"
        assert numbers[f"k-sparse:{column}"] == "50" and numbers[f"cells:{column}"] == "144"


def test_shares_of_a_stratum_stand_beside_what_rules_say(sources: Sources, draw: Draw) -> None:
    preregistration, _ = judged(sources, RANDOM_TASKS)
    drawn = draw(strata_drawing, 7.0)
    assert isinstance(drawn.shown, Figure)
    for name in ("observed", "coverage", "distractors"):
        numbers = {text.get_gid(): text.get_text() for text in panel(drawn.shown, f"strata:{name}").texts}
        of_encoding = {encoding: numbers[f"0:{place}"] for place, encoding in enumerate(preregistration.encodings)}
        trained = {"ipe-sh": "100", "rope": "0", "ape": "0"}  # other encodings have no run
        assert of_encoding == dict.fromkeys(preregistration.encodings, "×") | trained
    [row] = [row for row in drawn.rows if row["encoding"] == "ipe-sh"]
    assert (row["cells"], row["generalize"], row["coverage says yes"]) == (48, 48, 48)


def test_answers_that_were_changed_after_the_runs_are_refused(tmp_path: Path) -> None:
    from lengthgen.empirical.experiment.tables import write_rows
    from lengthgen.empirical.studies.verdict.frozen import CELLS

    changed, _ = verdict_sources(tmp_path)
    before = changed.digest(judgement_of(RANDOM_TASKS))
    rows = frozen_rows()
    rows[0][PREREGISTRATION.rules[0]] = 0.9
    write_rows(changed.out / "verdict" / RANDOM_TASKS / CELLS, rows)
    assert changed.digest(judgement_of(RANDOM_TASKS)) != before
    with pytest.raises(LengthgenError, match="does not follow from the frozen answers"):
        judged(changed, RANDOM_TASKS)
