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
from scipy.stats import fisher_exact

from lengthgen.circuits.forecast.record import recorded_cells
from lengthgen.empirical.experiment.judge import Estimand, e_bh
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


def cells_of(record: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Cells of a recorded trial by encoding and format."""
    answer = json.loads((ROOT / "docs" / "results" / record / "conjecture.json").read_text(encoding="utf-8"))
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
    assert f"on Parity all {runs} recorded runs fail at scale 6, the first beyond it." in readme
    (padded, solved), (filled_runs, filled_solved) = (on_record("rpe", form)[:2] for form in ("aligned", "filled"))
    assert f"{solved} of {padded} runs on Parity, and {filled_solved} of {filled_runs}." in readme
    assert solved < padded / 2 and filled_solved > filled_runs / 2


def test_the_readme_is_read_aloud_in_three_minutes() -> None:
    """Text and shown output, at 180 words a minute; code, commands and links are looked at."""
    prose = [part.content for token in parsed("README.md") for part in token.children or [] if part.type == "text"]
    assert len(" ".join(prose).split()) <= 540


def test_the_numbers_of_recorded_trials_are_theirs() -> None:
    until_decided = "quick-until-decided/fig2"
    answer = json.loads((ROOT / "docs" / "results" / until_decided / "conjecture.json").read_text(encoding="utf-8"))
    text = TEXTS["docs/results/quick-until-decided/README.md"]
    verdicts = Counter(cell["verdict"] for cell in answer["cells"])
    runs = sum(cell["fit"]["trials"] for cell in answer["cells"])
    assert f"{runs} runs of {len(answer['cells'])} cells" in text and answer["frozen"] in text
    recorded = json.loads((ROOT / "docs" / "results" / until_decided / "runs.json").read_text(encoding="utf-8"))
    assert len(recorded["runs"]) == runs, "added runs are recorded too"
    assert verdicts.keys() <= {"consistent", "refuted", "mixed", "undecided (power)", "not learnt"}
    assert (
        f"Of {len(answer['cells'])} cells {verdicts['consistent']} are as predicted, {verdicts['refuted']} refuted, "
        f"{verdicts['mixed']} mixed, {verdicts['undecided (power)']} undecided and {verdicts['not learnt']} not learnt."
    ) in " ".join(text.split())
    for rule in ("coverage", "distractors"):
        counts = answer["rules"][rule]["table"]
        numbers = [counts[name] for name in ("yes_yes", "yes_no", "no_no", "no_yes")]
        row = f"| {numbers[0] + numbers[2]} of {sum(numbers)} | {' | '.join(map(str, numbers))} |"
        assert [line for line in text.splitlines() if line.startswith(f"| {rule}") and line.endswith(row)], (rule, row)
    for cell in answer["cells"]:
        if cell["verdict"] in ("refuted", "mixed", "undecided (power)"):
            counts = cell["generalizes_given_fit"]
            share = f"{counts['successes']} of {counts['trials']}"
            parts = [cell["task"], cell["format"], cell["encoding"], share, cell["verdict"]]
            assert f"| {' | '.join(parts)} |" in text


def test_what_is_said_of_fig3_and_fig4_is_their_trial() -> None:
    text = TEXTS["docs/results/quick-until-decided/README.md"].partition("## fig3")[2].partition("\n## ")[0]
    rows, counted = [], []
    for name in ("fig3", "fig4"):
        path = ROOT / f"docs/results/quick-until-decided/{name}/conjecture.json"
        answer = json.loads(path.read_text(encoding="utf-8"))
        runs = json.loads(path.with_name("runs.json").read_text(encoding="utf-8"))["runs"]
        assert answer["frozen"] in text
        counted.append(len(runs))
        for cell in answer["cells"]:
            counts = cell["generalizes_given_fit"]
            share = f"{counts['successes']} of {counts['trials']}"
            rows.append(f"| {cell['task']} | {cell['format']} | {cell['encoding']} | {share} | {cell['verdict']} |")
            if cell["verdict"] == "refuted":
                assert f"{cell['task']} (e = {cell['e_against']:.0f})" in text
                assert not (cell["predicted"] or cell["literal"] or cell["distractors"])
    assert f"{counted[0]} and {counted[1]} runs" in " ".join(text.split())
    assert sorted(rows) == sorted(line for line in text.splitlines() if line.startswith("| ") and " of " in line)


def test_the_cells_that_fig2_and_fig3_share_are_compared_as_their_trials_say() -> None:
    text = " ".join(TEXTS["docs/results/quick-until-decided/README.md"].partition("## fig3")[2].split())
    trials = [cells_of(f"quick-until-decided/{name}")["ipe", "aligned"] for name in ("fig2", "fig3")]
    together = {}
    for task in ("addition", "multiplication", "division"):
        pair = [next(cell for cell in cells if cell["task"] == f"{task} base 4") for cells in trials]
        right, fitting = ([cell["generalizes_given_fit"][key] for cell in pair] for key in ("successes", "trials"))
        evidence = prod(cell["e_for"] for cell in pair)
        together[task] = f"{sum(right)} of {sum(fitting)}", f"{evidence:.0f}" if evidence > 1 else f"{evidence:.2f}"
        if task == "division":
            assert f"in {right[0]} of {fitting[0]} runs of fig2 and in {right[1]} of {fitting[1]} of fig3" in text
            wrong = [total - some for some, total in zip(right, fitting, strict=True)]
            assert f"(Fisher p = {fisher_exact([right, wrong]).pvalue:.3f}, two-sided)" in text
    shares, values = zip(*together.values(), strict=True)
    assert f"together in {shares[2]}: e = {values[2]} for" in text
    assert (
        f"Addition is {shares[0]} together (e = {values[0]}) and multiplication {shares[1]} (e = {values[1]})" in text
    )


def test_the_runs_of_rope_that_were_added_say_what_their_trials_do() -> None:
    text = " ".join(TEXTS["docs/results/quick-until-decided/README.md"].split())
    fig2 = cells_of("quick-until-decided/fig2")["rope", "filled"]
    [counts] = [cell["generalizes_given_fit"] for cell in fig2 if cell["task"] == "addition base 4"]
    successes, trials = counts["successes"], counts["trials"]
    for name, planned in (("rope-addition", 60), ("filled-addition", 48)):
        [new] = cells_of(f"quick-until-decided/{name}")["rope", "filled"]
        added = new["generalizes_given_fit"]
        runs = f"Of {planned} runs {added['trials']} fit, and {added['successes']} of these generalize"
        assert f"{runs}: alone e = {new['e_against']:.2f} against the prediction" in text
        successes, trials = successes + added["successes"], trials + added["trials"]
        below = Estimand.MAJORITY.evidence(successes, trials).below
        assert f"stands at {below:.3g} after {successes} of {trials}" in text
    others = [
        max(cell["e_for"], cell["e_against"])
        for cells in cells_of("quick-until-decided/fig2").values()
        for cell in cells
        if cell["e_for"] is not None and cell["generalizes_given_fit"] != counts
    ]
    assert e_bh([below, *others])[0], "the prediction is refuted among all cells"


def test_the_runs_of_relative_positions_that_were_added_say_what_their_trial_does() -> None:
    text = " ".join(TEXTS["docs/results/quick-until-decided/README.md"].split())
    [before] = [
        cell["generalizes_given_fit"]
        for cell in cells_of("quick-until-decided/fig2")["rpe", "filled"]
        if cell["task"] == "addition base 4"
    ]
    [cell] = cells_of("quick-until-decided/filled-addition-rpe")["rpe", "filled"]
    parts = [
        [run["generalizes"] for run in part if run["fits"]] for part in (cell["outcomes"][:48], cell["outcomes"][48:])
    ]
    [first, second] = [(sum(part), len(part)) for part in parts]
    alone, carried = (
        Estimand.MAJORITY.evidence(first[0] + more["successes"], first[1] + more["trials"]).below
        for more in ({"successes": 0, "trials": 0}, before)
    )
    assert f"Of the 48 runs {first[1]} fit, and {first[0]} of these generalize: alone e = {alone:.1f}" in text
    successes, trials = first[0] + before["successes"], first[1] + before["trials"]
    assert f"stood at {carried:.1f} after {successes} of {trials}," in text
    assert f"{second[0]} of the {second[1]} that fit generalize." in text
    fitting = cell["generalizes_given_fit"]
    assert (
        f"{fitting['trials']} fit, and {fitting['successes']} of these generalize: alone e = {cell['e_against']:.2g}."
        in text
    )
    successes, trials = successes + second[0], trials + second[1]
    below = Estimand.MAJORITY.evidence(successes, trials).below
    assert f"stands at {below:.2f} after {successes} of {trials}: the cell is {cell['verdict']}," in text


def test_the_table_of_wider_operands_is_that_of_its_trials() -> None:
    for name, places in (("fig3", 20), ("wider-operands", 40)):
        cells = cells_of(f"quick-until-decided/{name}")["ipe", "aligned"]
        for cell in (cell for cell in cells if cell["task"] in ("division base 4", "addition base 4")):
            failures = [run["first_failure"] for run in cell["outcomes"] if run["fits"]]
            solved = sum(failure is None or failure > 20 for failure in failures)
            evidence = Estimand.MAJORITY.evidence(solved, len(failures)).above
            listed = ", ".join(str(failure) for failure in sorted(filter(None, failures)))
            line = f"| {cell['task']} | {places} | {solved} of {len(failures)} | {evidence:.2g} | {listed} |"
            assert line in TEXTS["docs/results/quick-until-decided/README.md"].splitlines()


def test_the_torch_that_is_installed_by_hand_is_the_pinned_one() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert re.findall(r"torch==[\d.]+", TEXTS["docs/how-to/install.md"]) == [
        pin for pin in pins if pin.startswith("torch==")
    ]
