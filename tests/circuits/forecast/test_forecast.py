"""The forecast: what it counts, how good it is on tasks that it did not count, and what it says where rules err."""

import itertools
import json
import math
from collections import Counter
from dataclasses import replace

import pytest

from lengthgen import forecast
from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, parse_encoding, parse_encodings
from lengthgen.circuits.forecast import ask
from lengthgen.circuits.forecast.features import (
    Features,
    Labels,
    OwnToken,
    Shown,
    bits_of,
    labels_of,
    own_token_decides,
    shown_of,
)
from lengthgen.circuits.forecast.record import (
    ANSWERED,
    DRAWN,
    FITTED,
    JUDGED,
    REGISTERED,
    OnRecord,
    RecordedCell,
    on_record,
    recorded_cells,
    row_of,
    version,
    write_cells,
)
from lengthgen.circuits.forecast.scores import (
    FEWEST,
    GOALS,
    NEW_KINDS,
    SMALLEST_LOG,
    Part,
    breaking,
    brier,
    calibration,
    log_score,
    new_kind,
    parts_of,
    scores,
)
from lengthgen.circuits.forecast.table import PRIOR, fitted_table, middle, table_of
from lengthgen.circuits.prediction_record import FARTHEST, Counted, Prediction, VariantPrediction
from lengthgen.circuits.src import traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import load
from lengthgen.empirical.studies.verdict.population import half_of

CELL = RecordedCell(
    record="here", half=FITTED, task="t", base=None, encoding="rpe", train=5, test=20, digest="d",
    features=Features(shown=Shown.ALL, labels=Labels.RELATIVE, start="", operands="filled", bits="few"),
    first_break=None,
    answers=dict.fromkeys(ANSWERED.values(), True),
    runs=5, fit=4, first_failures={7: 1},
)  # fmt: skip


@pytest.fixture(scope="module")
def scored():
    return scores()


def test_the_forecast_reaches_its_goals_on_tasks_that_it_did_not_count(scored):
    """The goals were set before the forecast was made: .044 a run on random tasks, .075 a cell on the named ones."""
    random_tasks, named = (scored["parts"][name] for name in ("random tasks", "fig2"))
    assert (random_tasks["runs"], named["cells"]) == (4732, 46)
    assert random_tasks["brier"]["forecast"] <= 0.044
    assert named["brier"]["forecast"] <= 0.075
    for part in (random_tasks, named):
        rivals = {name: brier for name, brier in part["brier"].items() if name not in ("forecast", "noise")}
        assert part["brier"]["noise"] <= part["brier"]["forecast"] < min(rivals.values())


def test_rivals_score_what_was_measured_before_the_forecast_was_made(scored):
    """Numbers of the prototype, which read the stored tables by code of its own; the rate is `lengthgen verdict`'s."""
    brier = scored["parts"]["random tasks"]["brier"]
    measured = {"always-no": 0.1212, "literal": 0.1297, "coverage": 0.1055, "distractors": 0.0589, "selection": 0.1015}
    assert {rule: round(brier[rule], 4) for rule in measured} == measured
    assert brier["rate by encoding and format"] == pytest.approx(0.0922, abs=5e-5)
    assert brier["noise"] == pytest.approx(0.0255, abs=1e-4)


@pytest.mark.parametrize(("part", "missed"), [("new tasks", {0.5}), ("random tasks", {0.1, 0.6})])
def test_what_is_said_is_seen_within_a_twentieth_but_in_few_tenths(scored, part, missed):
    """The goal was all tenths with enough runs; docs/forecast.md names those that miss it."""
    tenths = [tenth for tenth in scored["parts"][part]["calibration"] if tenth["runs"] >= FEWEST]
    off = {tenth["low"] for tenth in tenths if abs(tenth["forecast"] - tenth["observed"]) > 0.05}
    assert len(tenths) >= 3 and off == missed


def test_on_new_tasks_that_nobody_had_seen_two_goals_of_three_are_met(scored):
    scores_of = {name: scored["parts"][name]["brier"] for name in GOALS}
    assert [scores_of[name]["forecast"] <= goal for name, goal in GOALS.items()] == [False, True, True]
    halves = [of_part["forecast"] / of_part["rate by encoding and format"] for of_part in scores_of.values()]
    assert [round(half, 2) for half in halves] == [0.42, 0.37, 0.5]
    for name in ("new tasks", *GOALS):
        brier_of = scored["parts"][name]["brier"]
        assert brier_of["forecast"] == min(score for rival, score in brier_of.items() if rival != "noise")


def test_what_training_shows_carries_the_forecast(scored):
    """The others add little; without what training shows the rate by encoding and format is as good."""
    without = {feature: of_parts["random tasks"] for feature, of_parts in scored["without"].items()}
    with_all = scored["parts"]["random tasks"]["brier"]["forecast"]
    others = {score for feature, score in without.items() if feature != "what training shows"}
    assert with_all - 0.001 < min(others) < max(others) < with_all + 0.005
    rate = scored["parts"]["random tasks"]["brier"]["rate by encoding and format"]
    assert without["what training shows"] > rate > 2 * with_all


def test_published_results_are_scored_apart_and_the_forecast_is_not_calibrated_on_them(scored):
    near, far = (scored["parts"][f"published, to {length}"] for length in (48, 150))
    assert (near["unit"], near["cells"], far["cells"]) == ("cell", 79, 81)
    assert near["brier"]["forecast"] > near["brier"]["always-no"], "almost all of these runs fail"
    assert far["brier"]["rate by encoding and format"] < far["brier"]["forecast"] < far["brier"]["always-no"]
    assert all(part["out_of_depth"] == [] for part in (near, far, scored["parts"]["random tasks"]))
    assert far["breaking"]["runs"] == 0, "their lengths stand in bins"


def test_new_tasks_are_told_apart_by_their_names():
    names = ("random-swapped-1", "random-two-operands-rises9-7", "random-language-3-2-1-4-with-states", "mode")
    families, others, by_hand = NEW_KINDS
    assert [*map(new_kind, names)] == [families, others, families, by_hand]
    cells = [replace(CELL, record=DRAWN[-1], half=JUDGED, task=name, encoding="ipe") for name in names]
    counted, elsewhere = replace(cells[0], half=FITTED), replace(cells[0], record=REGISTERED[1])
    parts = {part.name: [cell.task for cell in part.cells] for part in parts_of([*cells, counted, elsewhere])}
    assert parts == {
        "new tasks": [*names],
        "languages": [names[0]],
        "new tasks, of its families": [names[0], names[2]],
        "new tasks, of other kinds": [names[1]],
        "new tasks, by hand": [names[3]],
        "new tasks, ideal": [*names],
    }
    assert set(GOALS) < set(parts)


def test_breaking_scales_are_counted_beside_the_first_one_beyond_training():
    features = Features(shown=Shown.NEW_ENTRIES, labels=Labels.RELATIVE, start="", operands="aligned", bits="few")
    late = replace(CELL, features=features, first_break=9, first_failures={9: 2, 10: 1, 6: 1})
    early = replace(late, test=100, first_failures={6: 4})
    counts = breaking([late, early, replace(late, first_break=None)], lambda cell: 0.1)
    late_by = fitted_table().breaks_of(features, 9)
    assert late_by and late_by[1] == 9, "comparable runs fail where the rule says"
    assert counts == {"runs": 4, "exact": 2, "within_one": 3, "next": 1}
    assert breaking([late], lambda cell: 0.6)["runs"] == 0, "most should generalize"


def test_the_logarithmic_score_is_bounded_where_a_certain_forecast_is_wrong():
    part = Part(name="here", cells=[replace(CELL, fit=2, first_failures={7: 1})], by_run=True)
    assert log_score(part, lambda cell: 0.5) == pytest.approx(math.log(2))
    assert log_score(part, lambda cell: 1.0) == pytest.approx(
        -(math.log(SMALLEST_LOG) + math.log(1 - SMALLEST_LOG)) / 2
    )
    assert brier(part, lambda cell: 1.0) == 0.5


def test_calibration_notices_a_forecast_that_is_off():
    tenths = calibration([CELL], lambda cell: 0.2)
    assert [(tenth.low, tenth.runs, tenth.forecast, tenth.observed) for tenth in tenths] == [(0.2, 4, 0.2, 0.75)]


def test_no_judged_or_named_task_is_counted():
    counted = [cell for cell in recorded_cells() if cell.counts]
    others = [cell for cell in recorded_cells() if cell.half != FITTED]
    assert fitted_table().rows[()].counted.runs == sum(cell.fit for cell in counted)
    assert not {(cell.task, cell.base) for cell in counted} & {(cell.task, cell.base) for cell in others}
    assert {cell.half for cell in others} == {JUDGED, ""}
    for cell in recorded_cells():
        if cell.half:
            assert cell.half == half_of(cell.name) and cell.half in (FITTED, JUDGED)


def test_the_file_of_recorded_cells_is_what_its_cells_are_written_as(tmp_path):
    write_cells(recorded_cells(), tmp_path / "cells.csv")
    from lengthgen.circuits.forecast.record import FILE

    assert (tmp_path / "cells.csv").read_bytes() == FILE.read_bytes()
    assert len(version()) == 12
    assert row_of(CELL)["first_failures"] == "7:1" and CELL.generalize == 3


def test_a_share_is_smoothed_from_coarse_to_fine():
    other = replace(CELL, features=replace(CELL.features, operands="aligned"), fit=2, first_failures={6: 2})
    table = table_of([CELL, other])
    coarse = 1 / 2
    for successes, runs in ((3, 6), (3, 4)):  # the rows between have the runs of the one above
        coarse = (successes + PRIOR * coarse) / (runs + PRIOR)
    assert table.share(CELL.features) == pytest.approx(coarse)
    unknown = replace(CELL.features, labels=Labels.OTHER)
    assert table.finest(unknown).counted == Counted(runs=6, generalize=3)


def test_cells_that_agree_in_themselves_and_not_with_each_other_have_a_small_concentration():
    apart = [replace(CELL, task=str(n), first_failures={6: 4} if n % 2 else {}) for n in range(20)]
    alike = [replace(CELL, task=str(n), first_failures={6: 2}) for n in range(20)]
    assert table_of(apart).concentrations[-1] < 1 < table_of(alike).concentrations[-1]


def test_the_farther_the_counted_cells_the_wider_the_interval():
    table = fitted_table()
    assert all(coarse <= fine for coarse, fine in itertools.pairwise(table.concentrations))
    assert table.concentrations[0] < 1 < table.concentrations[-1]
    near = Features(shown=Shown.NEW_ENTRIES, labels=Labels.RELATIVE, start="", operands="aligned", bits="few")
    features = [
        near,
        replace(near, bits="none"),
        replace(near, operands="elsewhere"),
        replace(near, start="0.1"),
        replace(near, labels=Labels.OTHER, operands="elsewhere"),
        replace(near, shown=Shown.UNKNOWN),
    ]
    assert [*map(table.distance, features)] == [0, 1, 2, 3, 4, FARTHEST]
    _, low, high = ask.posterior(
        table, features[-1], OnRecord(counted=Counted(runs=0, generalize=0), first_failures=Counter())
    )
    assert (low, high) == (0.0, 1.0), "out of its depth"


def test_tables_that_start_elsewhere_are_told_apart_and_an_uncounted_start_is_named():
    usual, small, other = (forecast("copy", each, format="aligned")[each] for each in STARTS)
    assert small.share < usual.share and small.comparable != usual.comparable
    assert "no counted run starts" not in usual.why + small.why
    assert other.why.startswith("no counted run starts at 0.1: ") and other.distance == 3


STARTS = ("ipe", "ipe[start=0.02]", "ipe[start=0.1]")


def test_a_forecast_out_of_its_depth_says_so():
    of_copy = forecast("copy", "fox,random-ape")
    answer = of_copy["fox"]
    assert answer.out_of_depth and answer.high - answer.low > 0.99 and answer.breaks_at is None
    assert not forecast("parity", "rpe")["rpe"].out_of_depth
    assert not forecast("docs/results/new-tasks/public_tasks.py:mode", "rpe")["rpe"].out_of_depth, (
        "tasks like it failed"
    )
    assert of_copy["fox"].out_of_depth and not of_copy["random-ape"].out_of_depth, (
        "runs at random positions say nothing"
    )


def test_bits_are_those_of_a_coin_however_few_inputs_reach_the_last_steps():
    copying, ending = (traces_up_to(load(name), 20) for name in ("copy", "copy-until-zero"))
    constant = replace(CLOCK, generate=lambda prompt: ["0"] * (len(prompt) - 1))
    assert bits_of(traces_up_to(constant, 8)[-1]) == 0
    assert bits_of(copying[7]) == pytest.approx(8 / 9), "the last of nine outputs is '$'"
    assert [round(bits_of(ending[scale - 1]), 1) for scale in (8, 12, 20)] == [1, 1, 1]


def test_a_forecast_does_not_know_scales_that_are_not_tested():
    task = load("copy-until-zero")
    near, far = (
        ask.forecasts(analyse(task, "aligned", top), parse_encodings("rpe"), range(1, 6), range(1, 11))["rpe"]
        for top in (10, 20)
    )
    assert near.forecast == far.forecast


def test_runs_on_record_move_the_share_and_narrow_the_interval():
    table = fitted_table()
    features = Features(shown=Shown.ALL, labels=Labels.ROTARY, start="", operands="filled", bits="few")
    unseen = ask.posterior(table, features, OnRecord(counted=Counted(runs=0, generalize=0), first_failures=Counter()))
    failed = ask.posterior(table, features, OnRecord(counted=Counted(runs=10, generalize=0), first_failures=Counter()))
    assert failed[0] < unseen[0] and failed[2] < unseen[2]
    assert unseen[0] == pytest.approx(table.share(features), abs=5e-4)
    assert all(0 <= low <= share <= high <= 1 for share, low, high in (unseen, failed))


def test_the_fewer_tasks_the_wider_the_interval():
    """Many runs of one task tell little about the next task, however its runs agree."""
    nothing = OnRecord(counted=Counted(runs=0, generalize=0), first_failures=Counter())
    ends = []
    for tasks in (1, 4, 40):
        cells = [
            replace(CELL, task=str(n), runs=600 // tasks, fit=600 // tasks, first_failures={}) for n in range(tasks)
        ]
        share, low, high = ask.posterior(replace(table_of(cells), concentrations=(2.8,) * 6), CELL.features, nothing)
        assert low <= share <= high == pytest.approx(1, abs=0.02)
        ends.append(low)
    assert ends == sorted(ends) and ends[0] < 0.3 and ends[-1] > 0.7


def test_intervals_allow_what_was_seen_also_where_few_tasks_are_counted(scored):
    """Without counting tasks, 40 of 81 cells to length 150 lie in them."""
    within = {name: part["within"] for name, part in scored["parts"].items()}
    assert all(within[name] > 0.93 for name in ("new tasks", "random tasks", "fig2", "published, to 48"))
    assert within["published, to 150"] > 0.9


def test_the_middle_leaves_out_a_tenth_at_both_ends():
    assert middle(Counter({6: 1, 7: 8, 20: 1})) == (7, 7, 7)
    assert middle(Counter()) is None


def test_every_encoding_has_a_kind_of_labels():
    kinds = {"ipe": "ideal", "lbpe": "learned", "rpe": "relative", "clipped": "bounded relative", "rope": "rotary"}
    kinds |= {"alibi": "bias by distance", "ape": "absolute", "nope": "none", "fox": "other", "t5": "bounded relative"}
    relation_of = {"ipe": "ideal", "fox": None}
    for name in kinds:
        prediction = replace(NOTHING, encoding=name, relation=relation_of.get(name, name))
        assert labels_of(parse_encoding(name), prediction, 40).value == kinds[name]
    assert set(kinds) <= set(ENCODINGS)


NOTHING = Prediction(
    encoding="rpe", relation="relative", scale_hint=False, complexity_train=1, complexity_test=1, labels_covered=True,
    entries_covered=True, unseen_distractors=0, breaks_at=None, why="",
)  # fmt: skip
YES = VariantPrediction(complexity_train=1, complexity_test=1, breaks_at=None, why="")
NO = replace(YES, breaks_at=6)


@pytest.mark.parametrize(
    ("changes", "shown", "decided"),
    [
        ({"distractors_with_token": YES, "distractors": YES, "own_token": YES}, Shown.ALL, Shown.ALL),
        ({"distractors_with_token": NO, "distractors": YES, "own_token": NO}, Shown.UNSELECTED, Shown.COPIES),
        ({"distractors_with_token": NO, "distractors": NO, "own_token": YES}, Shown.NEW_KEYS, Shown.FREE),
        ({"distractors_with_token": NO, "distractors": NO, "own_token": NO}, Shown.NEW_KEYS, Shown.COPIES),
        ({"own_token": NO, "breaks_at": 6}, Shown.NEW_ENTRIES, Shown.COPIES),
        ({"labels_covered": None}, Shown.NO_CIRCUIT, Shown.NO_CIRCUIT),
        ({"relation": None}, Shown.UNKNOWN, Shown.UNKNOWN),
    ],
)
def test_what_training_shows_follows_from_the_answers_of_the_rules(changes, shown, decided):
    """The last one is for tasks whose steps the query's own token decides, but for the first."""
    assert shown_of(replace(NOTHING, **changes)) is shown
    assert shown_of(replace(NOTHING, **changes), own_token=OwnToken.BUT_FIRST) is decided


def test_where_later_steps_copy_the_own_token_no_narrow_interval_says_that_models_fail():
    """The first bit, n times: rules find new labels, and models copy their last output (2 of 3 runs, rpe and ape)."""
    forecasts = forecast(FIRST, "rpe,ape")
    assert all(forecasts[encoding].high > 0.5 for encoding in ("rpe", "ape"))


def test_runs_trained_on_other_scales_are_not_on_record():
    record = [forecast("parity", "rpe", train=train)["rpe"].recorded.runs for train in (range(1, 6), range(3, 6), (5,))]
    assert record[0] > 0 and record[1:] == [0, 0]
    assert forecast("parity", "rpe", test=(6, 20))["rpe"].recorded.runs == 0


def test_a_breaking_scale_is_among_those_that_are_tested():
    assert forecast("parity", "rpe", test=range(1, 7))["rpe"].breaks_at == 6


def test_where_runs_refute_the_rules_the_forecast_says_what_the_runs_say():
    padded = {task: forecast(task, "rpe,rope") for task in ("parity", "copy")}
    for forecasts in padded.values():
        assert all(forecasts[encoding].share < 0.5 for encoding in ("rpe", "rope"))
        assert all(forecasts[encoding].recorded.runs >= 10 for encoding in ("rpe", "rope"))
        assert forecasts.predictions["rpe"].generalizes
    assert 0.2 < forecast("parity", "rope", format="filled")["rope"].share < 0.8
    assert len(repr(padded["parity"]).splitlines()) == 3
    assert "<td>rope</td>" in padded["parity"]._repr_html_()


CLOCK = Task(
    name="clock",
    alphabet=("0", "1", "a", "="),
    prompt=lambda n: [("0", "1")] * n + [("=",)],
    generate=lambda prompt: ["a" if step % 3 == 2 else "0" for step in range(len(prompt) - 1)],
)
"""Every third output is another one, whatever the prompt says."""
FIRST = replace(CLOCK, name="first", generate=lambda prompt: [prompt[0]] * (len(prompt) - 1))
"""The first bit, as often as there are bits."""


@pytest.mark.parametrize("operands", ["aligned", "unaligned"])
@pytest.mark.parametrize("task", ["permutation", "log-shift", "clock"])
def test_steps_that_do_not_select_their_operator_are_forecast_to_fail(task, operands):
    chosen = CLOCK if task == "clock" else load(task, base=2)
    forecasts = forecast(chosen, "rpe,nope", train=range(1, 4), test=range(1, 9), format=operands)
    assert all(forecasts[encoding].share < 0.5 for encoding in ("rpe", "nope"))


def test_the_own_token_decides_what_no_clock_has_to_count():
    assert own_token_decides(traces_up_to(FIRST, 8), 3) is OwnToken.BUT_FIRST
    assert own_token_decides(traces_up_to(load("select-middle"), 8), 3) is not OwnToken.BUT_FIRST, "only '$' follows"
    assert own_token_decides(traces_up_to(CLOCK, 8), 3) is OwnToken.FEWER
    assert own_token_decides(traces_up_to(load("parity"), 8), 3) is OwnToken.FEWER


def test_a_task_under_another_name_has_the_record_of_an_equal_one():
    renamed = replace(load("parity"), name="mine")
    assert forecast(renamed, "rope")["rope"].recorded == forecast("parity", "rope")["rope"].recorded
    assert on_record("mine", None, "", operands="aligned", encoding="rope", train=5, test=20).counted.runs == 0


def test_tests_within_the_training_scales_are_one_line():
    with pytest.raises(TaskError, match=r"no test scale lies beyond the training scales 1-5.*for example 1-20"):
        forecast("parity", "rpe", test=range(1, 4))
    with pytest.raises(TaskError, match=r"no test scale lies beyond the training scales 3-5"):
        forecast("parity", "rpe", train=range(3, 6), test=(1, 2))
    with pytest.raises(TaskError, match=r"whole numbers, at least one of each"):
        forecast("parity", "rpe", train=())
    with pytest.raises(TaskError, match=r"whole numbers"):
        forecast("parity", "rpe", train="1-5")


def test_a_forecast_is_json_and_reads_back():
    prediction = forecast("parity", "rpe", train=range(1, 3), test=range(1, 6)).predictions["rpe"]
    content = json.loads(json.dumps(prediction.as_json(), allow_nan=False))
    assert {"share", "low", "high", "breaks_at", "recorded"} <= set(content["forecast"])
    assert {"runs", "generalize"} <= set(content["forecast"]["recorded"])
    assert Prediction.from_json(content) == prediction
    assert prediction.digest == replace(prediction, forecast=None).digest
