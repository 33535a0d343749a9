"""`lengthgen figures`: the figures drawn, those not drawn and why, and that nothing is drawn twice."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from matplotlib.figure import Figure

from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.empirical.experiment.run import FORMAT_VERSION, one_run
from lengthgen.paper_figs import style
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures import label_matrices
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.questions.figures import WidthName
from tests.lengthgen.refusal import refused
from tests.paper_figs.made_up import fill, protocol_file, sources

OF_RUNS = ("accuracy-made-up", "results-made-up", "coverage-made-up")
OF_TRIAL = ("predicted-made-up",)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Folder of a made-up protocol with its runs and its trial."""
    folder = tmp_path_factory.mktemp("template")
    sources(folder)
    return folder


@pytest.fixture
def made_up(template, tmp_path):
    """Sources of a made-up protocol, and options of the command."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    given = Sources(out=tmp_path / "out", profile="smoke", width=7.0)
    return given, ("--protocol", str(tmp_path / "made-up.toml"), "--profile", "smoke", "--out", str(given.out))


def test_every_entry_has_a_name_for_files_and_a_title(tmp_path, answer):
    entries = catalogue(Sources(out=tmp_path, profile="quick", width=7.0))
    for entry in entries.values():
        assert entry.name == entry.name.lower() and " " not in entry.name and entry.title
    assert {"figure1", "figure2", "figure2-best-on-test", "figure3", "figure4", "figure5"} <= entries.keys()
    listed = answer("figures", "--list")["figures"]
    assert [entry["name"] for entry in listed] == [*entries]
    reads = {entry["name"]: entry["reads"] for entry in listed}
    assert reads["figure2"] == "runs of fig2" and reads["lrc-growth"] == "computed"
    assert reads["predicted-fig2"] == "runs of fig2 and its trial" and reads["ledger"] == "the ledger of claims"


def test_names_in_the_list_stand_apart_from_titles(run):
    entries = json.loads(run("figures", "--list", "--json")[1])["figures"]
    shown = run("figures", "--list")[1]
    assert all(f"\n{entry['name']}  " in f"\n{shown}" for entry in entries)


def test_every_width_of_the_style_can_be_asked_for():
    assert [*get_args(WidthName)] == [*style.WIDTHS]


def test_figures_are_drawn_at_once_and_again_only_if_something_changed(made_up, run, tmp_path, monkeypatch):
    monkeypatch.setattr("lengthgen.questions.figures.PROCESSES", 1)  # another takes seconds to start
    given, options = made_up
    names = [*OF_RUNS, *OF_TRIAL]
    code, out, err = run("figures", *names, *options, "--json")
    assert code == 0, err
    assert "drawing: 4 figures to do" in err, "progress is shown"
    first = json.loads(out)
    assert [*first["figures"]] == names and not first["unchanged"]
    folder = given.out / "figures"
    files = [name for written in first["figures"].values() for name in written]
    before = {name: (folder / name).read_bytes() for name in files}
    assert {path.name for path in folder.iterdir()} == {*files, ".drawn"}

    code, out, err = run("figures", *names, *options, "--json")
    assert (code, json.loads(out)["unchanged"], err) == (0, names, ""), "nothing is to be done"

    again = [name for drawn in (OF_RUNS[0], OF_TRIAL[0]) for name in first["figures"][drawn]]
    for name in (OF_RUNS[0], OF_TRIAL[0]):
        code, _, _ = run("figures", name, *options, "--into", str(tmp_path / "again"))
        assert code == 0
    assert {name: (tmp_path / "again" / name).read_bytes() for name in again} == {
        name: before[name] for name in again
    }, "the same bytes, in this process or in another"

    (folder / "accuracy-made-up.csv").write_text("other")
    code, out, _ = run("figures", *names, *options, "--json")
    assert json.loads(out)["unchanged"] == names[1:], "a file that was changed is written again"
    assert (folder / "accuracy-made-up.csv").read_bytes() == before["accuracy-made-up.csv"]

    changed = next(iter(given.runs(options[1]).values()))[0]
    shutil.rmtree(given.store.folder(changed))
    fill(given.store, changed, lambda run, epoch, scale: 0.5)
    code, out, err = run("figures", "results-made-up", *OF_TRIAL, *options, "--json")
    assert code == 1 and "was not made of these runs" in err
    assert [*json.loads(out)["figures"]] == ["results-made-up"] and {*json.loads(out)["broken"]} == {*OF_TRIAL}
    assert not json.loads(out)["unchanged"]
    assert (folder / "results-made-up.csv").read_bytes() != before["results-made-up.csv"]


def test_another_width_is_another_figure(made_up, run):
    given, options = made_up
    for width, inches in (("page", 7.0), ("acl-column", 3.03)):
        code, out, _ = run("figures", "accuracy-made-up", *options, "--width", width, "--json")
        assert code == 0 and not json.loads(out)["unchanged"]
        tex = (given.out / "figures" / "accuracy-made-up.tex").read_text()
        assert f"[width={inches:g}in]" in tex


def test_a_figure_without_runs_is_drawn_from_its_record_if_there_is_one(tmp_path, run):
    code, out, err = run("figures", "results-fig3", "--out", str(tmp_path))
    assert code == 0, err
    record = "docs/results/quick/until-decided/fig3"
    assert f"results-fig3: csv, txt, tex; from {record}" in out
    caption = (tmp_path / "figures" / "results-fig3.txt").read_text().partition("\n\n")[0].replace("\n", " ")
    assert caption.endswith(f"From the planned runs of the record {record}: not trained here.")


def test_a_figure_that_needs_the_page_says_so_and_stands_across_both_columns(made_up, run, monkeypatch):
    given, options = made_up
    entry = catalogue(given, [options[1]])["accuracy-made-up"]

    def tall(sources):
        return Drawing(shown=Figure(figsize=(sources.width, 30 / sources.width)), rows=[{"a": 1}], caption="Tall.")

    makers = {"tall": tall, "flat": entry.make}
    entries = {name: replace(entry, name=name, make=make) for name, make in makers.items()}
    monkeypatch.setattr("lengthgen.paper_figs.declaration.catalogue", lambda *_: entries)
    code, out, _ = run("figures", *options, "--width", "column")
    assert code == 0 and out.splitlines()[-1] == "wider than asked for, since they need it (figure* in LaTeX): tall"
    tex = {name: (given.out / "figures" / f"{name}.tex").read_text() for name in entries}
    assert "[width=7in]" in tex["tall"] and tex["tall"].startswith("\\begin{figure*}")
    assert "[width=3.25in]" in tex["flat"] and tex["flat"].startswith("\\begin{figure}")
    code, out, _ = run("figures", *options, "--width", "column", "--json")
    assert json.loads(out)["widened"] == {"tall": 7.0} and json.loads(out)["unchanged"] == [*entries]


def test_a_figure_that_lacks_its_runs_is_an_error_if_named(tmp_path, run):
    err = refused(run("figures", "figure2-best-on-test", "--out", str(tmp_path)))
    assert err.startswith("error: figure2-best-on-test: 396 of the 396 runs of fig2 are missing from ")
    assert f"make it with lengthgen conjecture fig2 --profile quick --out {tmp_path}" in err
    assert not [*tmp_path.iterdir()], "nothing is left behind"


def test_a_figure_that_lacks_its_runs_beside_one_that_has_them(made_up, run):
    _, options = made_up
    code, out, err = run("figures", "results-made-up", "figure3", *options, "--json")
    assert code == 1
    assert [*json.loads(out)["figures"]] == ["results-made-up"] and [*json.loads(out)["missing"]] == ["figure3"]
    assert "error: figure3: " in err


def test_all_that_can_be_drawn_skips_the_others_with_a_line(made_up, run, monkeypatch):
    given, options = made_up
    entries = catalogue(given, [options[1]])
    some = {name: entries[name] for name in ("figure2", "figure2-best-on-test", "figure4", "results-made-up")}
    monkeypatch.setattr("lengthgen.paper_figs.declaration.catalogue", lambda *_: some)
    code, out, err = run("figures", *options)
    assert code == 0
    assert "results-made-up: csv, txt, tex" in out
    head, *missing = err[err.index("not drawn: ") :].splitlines()
    assert head.startswith("not drawn: 3;")
    assert [line.partition(":")[0].split() for line in missing] == [
        ["2", "of", "figure2,", "figure2-best-on-test"],
        ["1", "of", "figure4"],
    ]
    assert all(": lengthgen conjecture fig" in line for line in missing), "each line ends with what to do"


def test_an_unreadable_figure_is_skipped_with_the_reason_and_not_tried_again(made_up, run, monkeypatch):
    given, options = made_up
    entries = catalogue(given, [options[1]])
    some = {name: entries[name] for name in ("labels-fig4-select-first", "labels-made-up-copy")}
    monkeypatch.setattr("lengthgen.paper_figs.declaration.catalogue", lambda *_: some)
    code, out, err = run("figures", *options, "--json")
    assert code == 0 and [*json.loads(out)["figures"]] == ["labels-made-up-copy"]
    assert "1 cannot be read in print (why: lengthgen figures NAME): labels-fig4-select-first" in err
    with monkeypatch.context() as patch:
        patch.setattr(label_matrices, "analyse", None)
        code, out, err = run("figures", *options, "--json")
    assert (code, json.loads(out)["unchanged"]) == (0, [*some])
    code, out, err = run("figures", "labels-fig4-select-first", *options)
    assert (code, out) == (2, "") and "error: labels-fig4-select-first: unaligned: " in err


def test_a_solver_that_died_is_tried_again(made_up, run, monkeypatch, tmp_path):
    """Results of a solver that died are not stored: there may be memory enough the next time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given, options = made_up
    of_copy = {"labels-made-up-copy": catalogue(given, [options[1]])["labels-made-up-copy"]}
    monkeypatch.setattr("lengthgen.paper_figs.declaration.catalogue", lambda *_: of_copy)

    def dies(*_, **__):
        raise SolverFailed("the SAT solver gave no answer: signal 9 ended it, out of memory perhaps")

    with monkeypatch.context() as short:
        short.setattr(label_matrices, "analyse", dies)
        code, out, err = run("figures", *options)
        assert (code, out) == (2, "") and "error: labels-made-up-copy: the SAT solver gave no answer" in err
    code, out, _ = run("figures", *options, "--json")
    assert code == 0 and [*json.loads(out)["figures"]] == ["labels-made-up-copy"]


def test_computed_answers_are_kept_for_other_folders(made_up, run, tmp_path, monkeypatch):
    _, options = made_up
    assert run("figures", "table-tasks", *options)[0] == 0
    monkeypatch.setattr("lengthgen.paper_figs.figures.paper_tables.tasks", None)
    code, out, _ = run("figures", "table-tasks", *options, "--into", str(tmp_path / "other"), "--json")
    assert code == 0 and not json.loads(out)["unchanged"]
    assert {path.name for path in (tmp_path / "other").glob("table-*")} == {*json.loads(out)["figures"]["table-tasks"]}


def test_another_profile_is_another_table(tmp_path, run):
    for profile in ("smoke", "quick"):
        options = ("--profile", profile, "--out", str(tmp_path))
        code, out, _ = run("figures", "table-hyperparameters", *options, "--json")
        assert code == 0 and not json.loads(out)["unchanged"]


def test_a_broken_run_is_named_and_the_rest_is_drawn(made_up, run):
    given, options = made_up
    broken = next(iter(given.runs(options[1]).values()))[1]
    (given.store.folder(broken) / "metrics.parquet").write_bytes(b"other")
    code, out, err = run("figures", "results-made-up", "table-hyperparameters", *options, "--json")
    assert code == 1
    assert [*json.loads(out)["figures"]] == ["table-hyperparameters"]
    assert "error: results-made-up: " in err and broken.id in err and "lengthgen runs --remove" in err


def test_a_run_of_another_format_version_is_not_taken(made_up, run, monkeypatch):
    _, options = made_up
    monkeypatch.setattr(
        "lengthgen.empirical.experiment.run.one_run",
        lambda *parts: replace(one_run(*parts), version=FORMAT_VERSION - 1),
    )
    code, _, err = run("figures", "results-made-up", *options)
    assert code == 2 and "30 of the 30 runs" in err


def test_a_trial_that_is_no_trial_is_named(made_up, run):
    given, options = made_up
    (given.out / "made-up" / "conjecture.json").write_text("{")
    code, _, err = run("figures", "predicted-made-up", *options)
    assert code == 2 and err.count("error: ") == 1
    assert "conjecture.json is not as it was written" in err and "make it again with lengthgen conjecture " in err


@pytest.mark.parametrize(("name", "hint"), [("figre2", "did you mean figure2"), ("xyz", "--list` names all")])
def test_an_unknown_name_gets_a_suggestion(tmp_path, run, name, hint):
    refused(run("figures", name, "--out", str(tmp_path / "new")), f"no figure or table is named '{name}'", hint)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_is_one_line(made_up, run, tmp_path, monkeypatch):
    _, options = made_up
    (tmp_path / "file").write_text("")
    refused(run("figures", "table-hyperparameters", *options, "--into", str(tmp_path / "file")), "file")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "closed" not in str(path) and allowed(path, mode))
    code, _, err = run("figures", "table-hyperparameters", *options, "--into", str(tmp_path / "closed"))
    assert code == 2 and "cannot be written: name another folder with --into" in err


def test_a_protocol_file_that_is_none_is_one_line(tmp_path, run):
    path = protocol_file(tmp_path, "title = 1")
    refused(run("figures", "--protocol", str(path), "--out", str(tmp_path)), "made-up.toml")
    assert not (Path(tmp_path) / "figures").exists()


def test_the_list_of_the_catalogue_is_not_that_of_a_trial(run, tmp_path):
    refused(run("figures", "--list", "--trial", str(tmp_path)), "--list", "leave out one of the two")


def test_a_figure_of_a_trial_that_is_not_legible_is_named_with_its_reason(run, tmp_path):
    record = Path(__file__).parents[2] / "docs" / "results" / "varied-filler" / "random-varied"
    code, out, err = run("figures", "--trial", str(record), "--into", str(tmp_path))
    assert code == 0 and "disagreements-random-varied: csv" in out
    assert "not drawn: success-random-varied: 74 cells do not fit a page: choose some of them with --trial" in err
    assert "lengthgen figures NAME" not in err, "that would look for the figure in the catalogue"
