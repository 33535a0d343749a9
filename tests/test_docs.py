"""The documents: examples give what they show, links lead somewhere, and numbers are those of the records."""

import ast
import base64
import doctest
import json
import re
import string
from collections import Counter
from functools import cache
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import matplotlib.pyplot as plt
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from lengthgen.circuits.forecast.record import recorded_cells
from lengthgen.empirical.experiment.judge import Estimand, e_bh
from lengthgen.empirical.trial.record import Record, read_record, record_folders
from tools.compare import compare
from tools.notebooks import NOTEBOOKS, executed

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in zip(NAMES, DOCUMENTS, strict=True)}
RUNNABLE = [name for name in NAMES if re.match(r"README|docs/(court|tutorial|how-to/.*)\.md", name)]
"""Documents whose Python code is run as it stands; CONTRIBUTING.md has its own test."""


@cache
def parsed(name: str) -> list[Token]:
    """Tokens of a document in Markdown."""
    return MarkdownIt("commonmark").enable("table").parse(TEXTS[name])


def slug(heading: str) -> str:
    """Anchor of a heading, by the rule of GitHub, which the site follows as well."""
    kept = "".join(c for c in heading.lower() if c in " -_" or c not in string.punctuation)
    return kept.replace(" ", "-")


@cache
def anchors(name: str) -> set[str]:
    """Anchors of the headings of a document."""
    tokens = parsed(name)
    headings = (tokens[at + 1].children or [] for at, token in enumerate(tokens) if token.type == "heading_open")
    return {slug("".join(part.content for part in heading)) for heading in headings}


def targets(name: str) -> list[str]:
    """Targets of all links and images of a document."""
    inline = [part for token in parsed(name) for part in token.children or []]
    leads = [
        str(part.attrs.get("href") or part.attrs.get("src")) for part in inline if part.type in ("link_open", "image")
    ]
    return [target for target in leads if not target.startswith(("http://", "https://", "mailto:"))]


def broken(name: str, target: str) -> str:
    """Return the fault of a link, or nothing."""
    path, _, anchor = unquote(target).partition("#")
    file = (ROOT / path[1:] if path.startswith("/") else (ROOT / name).parent / path).resolve() if path else ROOT / name
    if not file.exists():
        return f"{name}: {target}: there is no such file"
    if anchor and file.suffix == ".py":
        return "" if anchor in _defined(file) else f"{name}: {target}: the file does not define it"
    if anchor and anchor not in anchors(str(file.relative_to(ROOT))):
        return f"{name}: {target}: there is no such heading"
    return ""


@cache
def _defined(file: Path) -> set[str]:
    """Names of all functions and classes of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_records_have_less_than_four_megabytes() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "results").rglob("*") if path.is_file()) < 4_000_000


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    pairs = [(name, target) for name in NAMES for target in targets(name)]
    assert len(pairs) > 500
    assert [problem for pair in pairs if (problem := broken(*pair))] == []


def test_a_broken_link_is_noticed() -> None:
    assert broken("README.md", "docs/nowhere.md") and broken("README.md", "docs/glossary.md#nowhere")
    assert broken("docs/claims.md", "/proofs_checks/claim.py#nowhere")
    assert not broken("docs/claims.md", "/proofs_checks/claim.py#Claim")


WITH_EXAMPLES = [
    *(name for name, text in TEXTS.items() if ">>> " in text),
    *(
        str(path.relative_to(ROOT))
        for room in ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen")
        for path in sorted((ROOT / room).rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ),
]


@pytest.mark.parametrize("name", dict.fromkeys(WITH_EXAMPLES))
def test_every_example_of_a_document_or_a_docstring_gives_what_it_shows(name: str) -> None:
    if name.endswith(".py"):
        module = import_module(f"lengthgen.{name.removeprefix('lengthgen/').removesuffix('.py').replace('/', '.')}")
        done = doctest.testmod(module, optionflags=doctest.REPORT_NDIFF)
    else:
        done = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 0
    assert done.failed == 0


def fenced(name: str, language: str) -> list[str]:
    """Fenced blocks of a document in a language."""
    return [token.content for token in parsed(name) if token.type == "fence" and token.info == language]


@pytest.mark.parametrize("name", [name for name in RUNNABLE if "```python\n" in TEXTS[name]])
def test_the_python_code_of_a_page_runs_from_top_to_bottom(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__page__"}
    for block in fenced(name, "python"):
        if ">>> " not in block:
            exec(compile(block, name, "exec"), namespace)


def test_each_notebook_is_stored_with_the_outputs_that_it_gives_and_one_ends_with_a_figure() -> None:
    """Figures are not compared: their pixels depend on the fonts and on the version of matplotlib."""

    def outputs(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        kept = [[*cell["outputs"], {"execution_count": cell["execution_count"]}] for cell in cells]
        for output in (output for of_cell in kept for output in of_cell if "image/png" in output.get("data", {})):
            assert base64.b64decode(output["data"].pop("image/png")).startswith(b"\x89PNG")
        return kept

    plt.close("all")
    ends_with_a_figure = []
    for path in NOTEBOOKS:
        stored = json.loads(path.read_text(encoding="utf-8"))
        ends_with_a_figure += [path.name] if "image/png" in str(stored["cells"][-1]) else []
        assert outputs(stored) == outputs(executed(path)), f"{path.name}: python tools/notebooks.py stores its outputs"
    assert len(NOTEBOOKS) == 3
    assert ends_with_a_figure == ["encoding.ipynb"]


@cache
def recorded(name: str) -> Record:
    """Record of a trial."""
    return read_record(ROOT / "docs" / "results" / name)


def cells_of(record: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Cells of a recorded trial by encoding and format."""
    answer = recorded(record).trial
    by_name: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in answer["cells"]:
        if cell["size"] == answer["main"]["size"]:
            by_name.setdefault((cell["encoding"], cell["format"]), []).append(cell)
    return by_name


def test_the_table_of_the_tutorial_is_that_of_the_record() -> None:
    titles = {"ipe": "ideal", "rpe": "relative", "ape": "absolute"}
    cells = cells_of("verdict/parity")
    for name, operands in [
        ("ipe", "aligned"),
        *((name, at) for at in ("aligned", "filled") for name in ("rpe", "ape")),
    ]:
        [cell] = cells[name, operands]
        agrees = cell["predicted"] == cell["observed"]
        evidence = cell["e_for" if agrees else "e_against"]
        row = [
            *(titles[name], operands, "yes" if cell["predicted"] else "no", cell["fit"]["successes"]),
            cell["generalizes_given_fit"]["successes"],
            f"{evidence:.{0 if evidence > 10 else 1}f} {'for' if agrees else 'against'}",
            cell["verdict"],
        ]
        assert f"| {' | '.join(map(str, row))} |" in TEXTS["docs/tutorial.md"]


def test_the_findings_of_the_readme_are_on_record() -> None:
    readme = " ".join(TEXTS["README.md"].split())

    def on_record(encoding: str, operands: str) -> tuple[int, int, set[int]]:
        """Runs of Parity that fit scales 1-5, of these those that solve 1-20, and the first failures of the others."""
        cells = [
            cell
            for cell in recorded_cells()
            if (cell.task, cell.encoding, cell.features.operands) == ("parity", encoding, operands)
            and (cell.train, cell.test) == (5, 20)
        ]
        failures = {scale for cell in cells for scale in cell.first_failures}
        return sum(cell.fit for cell in cells), sum(cell.generalize for cell in cells), failures

    runs, generalize, failures = on_record("ape", "aligned")
    assert generalize == 0 and failures == {6}
    assert f"on padded Parity {runs} runs of {runs} fail at scale 6 (start 1; both" in readme
    (padded, solved), (filled_runs, filled_solved) = (on_record("rpe", form)[:2] for form in ("aligned", "filled"))
    assert (
        f"work on filled ones:** {solved} of {padded} runs, and {filled_solved} of {filled_runs} (start 1; both"
        in readme
    )
    assert solved < padded / 2 and filled_solved > filled_runs / 2


def test_the_readme_is_read_aloud_in_three_minutes() -> None:
    """Text and shown output, at 180 words a minute; code, commands and links are looked at."""
    prose = [part.content for token in parsed("README.md") for part in token.children or [] if part.type == "text"]
    assert len(" ".join(prose).split()) <= 540


QUICK = "docs/results/quick/README.md"
UNTIL_DECIDED = "quick/until-decided"


def share_of(cell: dict[str, Any]) -> str:
    """Number of fitting runs of a cell that generalize, of all fitting ones, in words."""
    return "{successes} of {trials}".format(**cell["generalizes_given_fit"])


def test_the_numbers_of_recorded_trials_are_theirs() -> None:
    answer, text = recorded(f"{UNTIL_DECIDED}/fig2").trial, TEXTS[QUICK]
    verdicts = Counter(cell["verdict"] for cell in answer["cells"])
    runs = sum(cell["fit"]["trials"] for cell in answer["cells"])
    assert f"{runs} runs of {len(answer['cells'])} cells, frozen as `{answer['frozen']}`" in text
    assert len(recorded(f"{UNTIL_DECIDED}/fig2").runs) == runs, "added runs are recorded too"
    assert verdicts.keys() <= {"consistent", "refuted", "mixed", "undecided (power)", "not learnt"}
    assert (
        f"Of {len(answer['cells'])} cells {verdicts['consistent']} are as predicted by coverage, {verdicts['refuted']} "
        f"refuted, {verdicts['mixed']} mixed, {verdicts['undecided (power)']} undecided and {verdicts['not learnt']} "
        "not learnt."
    ) in " ".join(text.split())
    observed = Counter(cell["observed"] for cell in answer["cells"] if cell["observed"] is not None)
    tables = {rule: answer["rules"][rule]["table"] for rule in ("coverage", "literal", "selection", "distractors")}
    assert tables["coverage"] == tables["literal"] == tables["selection"]
    always_no = {"yes_yes": 0, "yes_no": 0, "no_no": observed[False], "no_yes": observed[True]}
    for rule, counts in (*tables.items(), ("always no (baseline)", always_no)):
        numbers = [counts[name] for name in ("yes_yes", "yes_no", "no_no", "no_yes")]
        row = f"| {numbers[0] + numbers[2]} of {sum(numbers)} | {' | '.join(map(str, numbers))} |"
        lines = [line for line in text.splitlines() if line.startswith("| ") and line.endswith(row)]
        assert [line for line in lines if rule in line.split(" | ")[0]], (rule, row)


def test_the_cells_that_are_not_as_predicted_are_those_of_their_trials() -> None:
    text, rows = TEXTS[QUICK], []
    for name in ("fig2", "fig3", "fig4"):
        answer = recorded(f"{UNTIL_DECIDED}/{name}").trial
        assert f"`{answer['frozen']}`" in text
        for cell in answer["cells"]:
            if cell["verdict"] in ("refuted", "mixed", "undecided (power)"):
                parts = [cell["task"], cell["format"], cell["encoding"], share_of(cell), cell["verdict"]]
                rows.append(f"| {' | '.join(parts)} |")
            if name == "fig4" and cell["verdict"] == "refuted":
                assert f"{cell['task']} (e = {cell['e_against']:.0f})" in text
                assert not (cell["predicted"] or cell["literal"] or cell["distractors"])
    table = text.partition("Not as predicted, of fig2, fig3 and fig4:")[2].partition("\n- ")[0]
    assert sorted(rows) == sorted(line for line in table.splitlines() if re.search(r"\d of \d", line))
    others = [cell for name in ("fig3", "fig4") for cell in recorded(f"{UNTIL_DECIDED}/{name}").trial["cells"]]
    counted = [len(recorded(f"{UNTIL_DECIDED}/{name}").runs) for name in ("fig3", "fig4")]
    assert f"{counted[0]} and {counted[1]} runs, frozen" in " ".join(text.split())
    assert [cell["verdict"] for cell in others].count("consistent") == 8 and "the other eight cells are as" in text
    filled = {cell["task"]: share_of(cell) for cell in cells_of(f"{UNTIL_DECIDED}/fig2")["rpe", "filled"]}
    assert f"generalize on parity ({filled['parity']}) and copy ({filled['copy']})" in text


def test_the_runs_with_five_seeds_are_told_as_recorded() -> None:
    text = " ".join(TEXTS[QUICK].split())
    folders = record_folders(ROOT / "docs" / "results" / "quick")
    runs = {(folder.parent.name, each.run.id) for folder in folders for each in read_record(folder).runs}
    counts = Counter(part for part, _ in runs)  # fig2 and fig3 share runs
    first = counts["quick"] + counts["again"]
    for sentence in (
        *(f"| {counts[part]:,} |" for part in ("quick", "again", "until-decided")),
        f"The first {first} runs",
    ):
        assert sentence in text
    fig2 = recorded("quick/fig2").trial
    solved = []
    for encodings in (("ipe", "ipe-sh"), ("ape",), ("rpe",)):
        shares = [cell["generalizes"] for cell in fig2["cells"] if cell["encoding"] in encodings]
        solved += [sum(its["successes"] for its in shares), sum(its["trials"] for its in shares)]
    assert "generalizes in {} of {} runs, learned absolute in {} of {}, relative in {} of {};".format(*solved) in text
    counted = fig2["rules"]["coverage"]["table"]
    right, cells = counted["yes_yes"] + counted["no_no"], len(fig2["cells"]) - counted["not_observed"]
    always_no = counted["yes_no"] + counted["no_no"]
    assert f"coverage is right in {right} of {cells} cells, always-no in {always_no}, and no cell is decided." in text
    assert {cell["verdict"] for cell in fig2["cells"]} == {"undecided (power)", "not learnt"}
    for name in ("controls", "predecessor", "randomized"):
        assert not any(cell["generalizes"]["successes"] for cell in recorded(f"quick/{name}").trial["cells"])
    folder, names = ROOT / "docs" / "results" / "quick", ["fig1", "fig2", "fig3", "fig4", "controls", "predecessor"]
    again = compare(folder, folder / "again", names)["all"]
    assert (
        f"{again['solve in one']} of the {again['fit in both']} runs that fit in both generalize in only one;" in text
    )
    assert again["observed otherwise"] == 0 and "no observation changes" in text


def carried_on(*shares: tuple[int, int]) -> tuple[str, float]:
    """Sum of shares of fitting runs in words, and the e-value of one e-process through all against "most"."""
    successes, trials = map(sum, zip(*shares, strict=True))
    return f"{successes} of {trials}", Estimand.MAJORITY.evidence(successes, trials).below


def counts_of(record: str, encoding: str, operands: str, task: str) -> tuple[int, int]:
    """Fitting runs of a cell that generalize, and all its fitting runs."""
    [cell] = [each for each in cells_of(record)[encoding, operands] if each["task"] == task]
    return cell["generalizes_given_fit"]["successes"], cell["generalizes_given_fit"]["trials"]


def test_the_runs_of_rope_that_were_added_say_what_their_trials_do() -> None:
    cell = ("rope", "filled", "addition base 4")
    first, *added = (
        counts_of(f"{UNTIL_DECIDED}/{name}", *cell) for name in ("fig2", "rope-addition", "filled-addition")
    )
    in_all, below = carried_on(first, *added)
    more = "`rope-addition` {} of {}, `filled-addition` {} of {}".format(*added[0], *added[1])
    assert f"| RoPE, filled addition | {more} | {in_all} | {below:.0f} against |" in TEXTS[QUICK].splitlines()
    product = prod(carried_on(share)[1] for share in (first, *added))
    assert product < 20 and "the product of its three e-values would decide nothing" in TEXTS[QUICK]
    others = [
        max(cell["e_for"], cell["e_against"])
        for cells in cells_of(f"{UNTIL_DECIDED}/fig2").values()
        for cell in cells
        if cell["e_for"] is not None and share_of(cell) != "{} of {}".format(*first)
    ]
    assert e_bh([below, *others])[0], "the prediction is refuted among all cells"


def test_the_runs_of_relative_positions_that_were_added_say_what_their_trial_does() -> None:
    before = counts_of(f"{UNTIL_DECIDED}/fig2", "rpe", "filled", "addition base 4")
    [cell] = cells_of(f"{UNTIL_DECIDED}/filled-addition-rpe")["rpe", "filled"]
    first, second = (
        [run["generalizes"] for run in part if run["fits"]] for part in (cell["outcomes"][:48], cell["outcomes"][48:])
    )
    share, at_first = carried_on(before, (sum(first), len(first)))
    assert f"stood at {at_first:.1f} after {share} before {len(second) + 9} more runs were added" in TEXTS[QUICK]
    assert len(cell["outcomes"]) == 48 + len(second) + 9
    in_all, below = carried_on(before, (sum(first), len(first)), (sum(second), len(second)))
    line = f"| relative, filled addition | `filled-addition-rpe` {share_of(cell)} | {in_all} | {below:.2f} against |"
    assert line in TEXTS[QUICK].splitlines()


def test_what_is_said_of_wider_operands_is_in_their_trial() -> None:
    solved = {}
    for cell in cells_of(f"{UNTIL_DECIDED}/wider-operands")["ipe", "aligned"]:
        failures = [run["first_failure"] for run in cell["outcomes"] if run["fits"]]
        right = sum(failure is None or failure > 20 for failure in failures)
        solved[cell["task"]] = f"{right} of {len(failures)}"
        evidence = Estimand.MAJORITY.evidence(right, len(failures))
        assert max(evidence.above, evidence.below) < 20
    division, addition = solved["division base 4"], solved["addition base 4"]
    sentence = f"{division} runs of division and {addition} of addition solve scales 1-20, which decides nothing"
    assert sentence in " ".join(TEXTS[QUICK].split())


def test_the_torch_that_is_installed_by_hand_is_the_pinned_one() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert re.findall(r"torch==[\d.]+", TEXTS["docs/how-to/install.md"]) == [
        pin for pin in pins if pin.startswith("torch==")
    ]
