"""The documents: examples give what they show, links lead somewhere, and numbers are those of the records."""

import ast
import base64
import doctest
import json
import re
import runpy
import string
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from math import prod
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import unquote

import matplotlib.pyplot as plt
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from scipy.stats import fisher_exact

from lengthgen.circuits.forecast.record import recorded_cells
from lengthgen.empirical.experiment.judge import Estimand, e_bh
from lengthgen.empirical.studies.verdict.tables import read_rows
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


def test_findings_are_those_of_the_records() -> None:
    text = " ".join(TEXTS["docs/findings.md"].split())
    cells = cells_of("verdict/parity")
    [padded], [filled], [absolute] = cells["rpe", "aligned"], cells["rpe", "filled"], cells["ape", "aligned"]
    assert padded["predicted"] and padded["verdict"] == "refuted" and padded["predicted_before_training"]
    assert filled["predicted"] and filled["verdict"] == "consistent"
    shares_of = [
        f"{cell['generalizes_given_fit']['successes']} of {cell['fit']['successes']}" for cell in (padded, filled)
    ]
    failing = [outcome["first_failure"] for outcome in absolute["outcomes"]]
    assert {*failing} == {6} and not absolute["predicted"]
    for part in (
        *shares_of,
        f"e-value {padded['e_against']:.0f} against",
        f"e-value {filled['e_for']:.0f} for the prediction",
        f"{len(failing)} of {len(failing)} runs",
    ):
        assert part in text, part
    fig2 = cells_of("quick/fig2")
    for encodings, sentence in ((("ipe", "ipe-sh"), "{} of {} runs"), (("ape",), "learned absolute in {} of {}")):
        counts = [cell["generalizes"] for name in encodings for cell in fig2[name, "aligned"]]
        assert sentence.format(sum(c["successes"] for c in counts), sum(c["trials"] for c in counts)) in text
    decided = [cell for cells in cells_of("quick-until-decided/fig2").values() for cell in cells]
    refuted = [cell for cell in decided if cell["verdict"] == "refuted"]
    stands = sum(cell["verdict"] == "consistent" for cell in decided)
    assert f"{stands} predictions of coverage stand and {len(refuted)} are refuted" in text
    not_learnt, mixed = (sum(cell["verdict"] == name for cell in decided) for name in ("not learnt", "mixed"))
    assert f"{mixed} cells are mixed" in text and f"and {not_learnt} are not learnt" in text
    assert stands + len(refuted) + mixed + not_learnt == len(decided)
    assert {cell["format"] for cell in refuted} == {"aligned"} and not any(cell["distractors"] for cell in refuted)
    for better, worse in (("coverage", "literal"), ("distractors", "coverage")):
        row = rf"^\| {better} \| {worse} \| .* \| {better} \|$"
        assert re.search(row, TEXTS["docs/verdict.md"], re.M), "mend docs/findings.md"
    assert "**own-token** beats distractors on new languages, 18 : 0 tasks (e 1.19e+04)" in TEXTS["docs/verdict.md"]
    assert "on 18 tasks of 18 ([own token]" in text and "only 15 [differ in more than names]" in text
    assert (
        "| own-token | distractors | 18 | 1.19e+04 | own-token | 15 | 2.01e+03 | own-token |"
        in (TEXTS["docs/results/verdict/README.md"])
    )
    court = json.loads((ROOT / "docs" / "results" / "court" / "published.json").read_text(encoding="utf-8"))
    assert court["answer"]["theories"]["src"]["verdict"] != "supported"


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


def test_all_stored_runs_of_padded_addition_and_division_are_counted_together() -> None:
    findings = " ".join(TEXTS["docs/findings.md"].split())
    text = " ".join(TEXTS["docs/results/quick-until-decided/README.md"].split())
    counts = {}
    for task in ("addition", "division"):
        cells = [
            next(cell for cell in cells_of(name)["ipe", "aligned"] if cell["task"] == f"{task} base 4")
            for name in ("quick-until-decided/fig2", "quick-until-decided/fig3", "padding-sink/base-four")
        ]
        right, fitting = (sum(cell["generalizes_given_fit"][key] for cell in cells) for key in ("successes", "trials"))
        counts[task] = f"{right} of {fitting}", f"{Estimand.MAJORITY.evidence(right, fitting).above:.2g}"
    (addition, e_addition), (division, e_division) = counts["addition"], counts["division"]
    assert f"padded addition ({addition} generalize in all) and division ({division})" in findings
    assert f"{addition} and {division} generalize, e = {e_addition} and {e_division} for the prediction" in text


def test_padding_repairs_as_many_runs_of_named_tasks_as_the_texts_say() -> None:
    rows = read_rows(ROOT / "docs" / "results" / "padding-sink" / "named.parquet")
    failing = [row for row in rows if row["long"] < 0.95]
    repaired = [row for row in failing if row["long, PADs added"] >= 0.95]
    assert f"{len(repaired)} of {len(failing)} of addition and division" in " ".join(TEXTS["docs/findings.md"].split())


def test_the_table_of_the_published_budget_is_its_trial() -> None:
    protocols = (
        ("parity | padded", "published-parity", "aligned"),
        ("parity | filled", "published-parity-filled", "filled"),
        ("copy | padded", "published-copy", "aligned"),
        ("copy | filled", "published-copy-filled", "filled"),
    )
    for (task_and_operands, name, form), encoding in product(protocols, ("ipe", "rpe")):
        [cell] = cells_of(f"published-budget/{name}")[encoding, form]
        failures = sorted(outcome["first_failure"] for outcome in cell["outcomes"] if outcome["first_failure"])
        says = ["yes" if cell[rule] else "no" for rule in ("predicted", "distractors")]
        counts = [f"{cell[part]['successes']} of {cell[part]['trials']}" for part in ("fit", "generalizes")]
        first = f"({encoding}) | {' | '.join([*says, *counts])} |"
        begin = f"| {task_and_operands} |"
        last = f"| {', '.join(map(str, failures)) or 'none'} |"
        lines = TEXTS["docs/results/published-budget/README.md"].splitlines()
        rows = [line for line in lines if line.startswith(begin) and first in line and line.endswith(last)]
        assert len(rows) == 1, (begin, first, last)


def test_the_tables_of_the_published_budget_on_a_gpu_are_printed_by_its_script() -> None:
    folder = ROOT / "docs" / "results" / "published-budget"
    script = runpy.run_path(str(folder / "gpu.py"))
    for rows, count in ((script["lines"](), 21), (script["addition"](), 4)):
        assert len(rows) == count
        assert "\n".join(rows) in TEXTS["docs/results/published-budget/README.md"]
    assert script["early_and_late"]() in TEXTS["docs/results/published-budget/README.md"]
    for name in script["PROTOCOLS"]:
        [*_, last] = json.loads((folder / "gpu" / name / "frozen.json").read_text(encoding="utf-8"))["frozen"]
        assert last["hash"] in TEXTS["docs/results/published-budget/README.md"]


def test_what_the_text_on_the_published_budget_says_beside_its_tables_is_in_the_record() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "results" / "published-budget" / "gpu.py"))
    text, cells = " ".join(TEXTS["docs/results/published-budget/README.md"].split()), script["evidence"]()
    [ideal] = [
        cell for cell in cells if (cell.key.task, cell.key.format, cell.key.encoding) == ("addition", "filled", "ipe")
    ]
    shares = sorted(row.exact_match for _, rows in ideal.runs for row in rows if (row.scale, row.epoch) == (20, 300))
    assert shares[2] < 0.95 <= shares[3]
    assert f"the other three are right in {100 * shares[0]:.0f} to {100 * shares[2]:.0f} % of the samples" in text
    failures = [
        outcome.first_failure
        for cell in script["judged"](cells, "coverage")
        if (cell.key.task, cell.key.format) == ("parity", "aligned") and cell.key.encoding not in script["NAMES"]
        for outcome in cell.outcomes
    ]
    assert {*failures} == {6, 7} and f"fail at scale 6 or 7 in {len(failures)} runs of {len(failures)}," in text
    judged = script["judged"](cells, "coverage")
    [parity, copy] = [cell for cell in judged if (cell.key.format, cell.key.encoding) == ("filled", "rope")]
    assert f"(e = {parity.e_against:.0f} against)." in text and f"(e = {copy.e_for:.1f} for, undecided)" in text
    six = Estimand.MAJORITY.evidence(0, 6).below
    assert not any(run.generalizes for run in parity.outcomes)
    assert f"Six runs left the cell open (e = {six:.1f}," in text
    [runs] = [cell.runs for cell in cells if cell.key == parity.key]
    at_20 = [f"{row.exact_match:.3f}" for _, rows in runs for row in rows if (row.scale, row.epoch) == (20, 300)]
    assert f"at scale 20 are {', '.join(at_20[:-1])} and {at_20[-1]}." in text and len(at_20) == 8


def test_the_rerun_of_random_tasks_is_that_of_its_record() -> None:
    folder = ROOT / "docs" / "results" / "verdict"
    again = json.loads((folder / "rerun.json").read_text(encoding="utf-8"))
    same = again["same"]
    assert again["agrees"] and again["cells"] == 50
    counts = f"{same['answers']}, fits in {same['fit']}, first failures in {same['first_failure']}"
    text = " ".join(TEXTS["docs/results/verdict/README.md"].split())
    assert f"answers are the same in {counts}, all numbers in {same['numbers']}." in text


def test_what_is_said_of_rope_with_other_batches_is_in_the_records() -> None:
    text = TEXTS["docs/results/published-budget/README.md"]
    script = runpy.run_path(str(ROOT / "docs" / "results" / "published-budget" / "gpu.py"))
    [published] = [
        cell.outcomes
        for cell in script["judged"](script["evidence"](), "coverage")
        if str(cell.key) == "parity/filled/rope/w64l2h4"
    ]
    fail = len(published)
    assert not any(outcome.generalizes for outcome in published)
    counts = []
    for name, begin in (("large", "| 250 | 0.003 | 30 |"), ("small", "| 10 | 0.001 | 4 |")):
        record = f"published-budget/rope-{name}-batches"
        [cell] = cells_of(record)["rope", "filled"]
        share = cell["generalizes_given_fit"]
        assert cell["fit"]["successes"] == cell["fit"]["trials"] == share["trials"]
        failures = sorted(run["first_failure"] for run in cell["outcomes"] if not run["generalizes"])
        listed = ", ".join(map(str, failures))
        assert f"{begin} {share['successes']} of {share['trials']} | {listed} |" in text
        frozen = json.loads((ROOT / "docs" / "results" / record / "conjecture.json").read_text(encoding="utf-8"))[
            "frozen"
        ]
        assert f"`{frozen}` ({name})" in text
        counts.append((share["successes"], share["trials"] - share["successes"]))
    large, small = (fisher_exact([count, (0, fail)]).pvalue for count in counts)
    words = " ".join(text.split())
    assert f"three times as large (p = {large:.2g}, two-sided), or batches a 25th as large (p = {small:.2g})." in words
    both = f"{sum(count[0] for count in counts)} of {sum(map(sum, counts))}"
    assert f"[{both} runs]" in text
    assert f"smaller batches, and fewer epochs, RoPE does there in {both}:" in TEXTS["docs/findings.md"]
    assert fisher_exact(counts).pvalue == 1 and "8 of 12 against 9 of 12 (p = 1)" in text


def test_the_sums_of_runs_with_the_published_training_are_those_of_the_records() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "results" / "published-budget" / "gpu.py"))
    counts: Counter[tuple[str, str, str, str]] = Counter()

    def count(task: str, form: str, encoding: str, generalize: int, runs: int) -> None:
        tasks = "Addition" if task == "addition" else "Parity and Copy"
        counts.update({(tasks, form, encoding, "generalize"): generalize, (tasks, form, encoding, "runs"): runs})

    published = ("published-parity", "published-parity-filled", "published-copy", "published-copy-filled")
    for name in (*(f"published-budget/{name}" for name in published), "padding-sink/decimal"):
        for (encoding, form), [cell] in cells_of(name).items():
            count(cell["task"], form, encoding, cell["generalizes"]["successes"], cell["generalizes"]["trials"])
    for cell in script["evidence"]():
        key, outcome = cell.key, script["judged"]([cell], "coverage")[0].outcome
        count(key.task, key.format, key.encoding, outcome.generalize, outcome.runs)

    def shares(tasks: str, encoding: str) -> Iterator[str]:
        for form in ("aligned", "filled"):
            generalize, runs = (counts[tasks, form, encoding, part] for part in ("generalize", "runs"))
            yield f"{generalize} of {runs}"

    findings = " ".join(TEXTS["docs/findings.md"].split())
    for sentence, tasks, encoding in (
        ("on padded Parity and Copy in {} runs and on filled ones in {},", "Parity and Copy", "rpe"),
        ("the ideal encoding in {} and {}.", "Parity and Copy", "ipe"),
        ("the ideal encoding in {} on padded operands and in {} on filled ones;", "Addition", "ipe"),
    ):
        assert sentence.format(*shares(tasks, encoding)) in findings
    assert [*shares("Addition", "rpe")] == 2 * ["0 of 10"] and "relative positions do in 0 of 20," in findings
    [rope] = [cell.runs for cell in script["evidence"]() if str(cell.key) == "parity/filled/rope/w64l2h4"]
    assert f"RoPE on filled Parity in 0 of {len(rope)}." in findings
    early, same = re.match(r"Of (\d+) runs .* epochs, (\d+) solve", script["early_and_late"]()).groups()
    assert f"After 30 epochs {same} of {early} runs do already" in findings


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
    usual, varied = (
        [each for each in cells_of(f"varied-filler/{name}")["rpe", "filled"] if each["task"] == "addition base 4"]
        for name in ("mixed-usual", "mixed")
    )
    [(right, runs), (varied_right, varied_runs)] = [
        [sum(each["generalizes_given_fit"][part] for each in cells) for part in ("successes", "trials")]
        for cells in ([*usual, cell], varied)
    ]
    p = fisher_exact([[varied_right, varied_runs - varied_right], [right, runs - right]], alternative="greater").pvalue
    assert (
        f"With them {right} of {runs} fitting runs generalize with the usual filler, and {varied_right} of "
        f"{varied_runs} with the varied one (p = {p:.2g}, pooled afterwards)."
    ) in " ".join(TEXTS["docs/results/varied-filler/README.md"].split())


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


def test_the_tables_of_named_tasks_without_padding_are_printed_by_their_script() -> None:
    folder = ROOT / "docs" / "results" / "padding-sink"
    script = runpy.run_path(str(folder / "named.py"))
    rows = script["read_rows"](script["STORED"])
    lines = [line for table in ("change_lines", "predicted_lines", "cause_lines") for line in script[table](rows)]
    lines += script["wide_lines"]()
    assert len(lines) == 21 + 6 + 6 + 2 and {*lines} <= {*TEXTS["docs/results/padding-sink/README.md"].splitlines()}
    decimal = sorted((row[script["EACH"]], row["long"]) for row in rows if row["task"] == "addition")
    after, before = (", ".join(f"{share:.2f}" for share in shares) for shares in zip(*decimal, strict=True))
    text = " ".join(TEXTS["docs/results/padding-sink/README.md"].split())
    assert f"after each operand it is {_with_and(after)}, where it was {_with_and(before)}." in text
    mean = fmean(share for share, _ in decimal)
    assert f"rises from 0.10 to {mean:.2f}." in TEXTS["docs/results/published-budget/README.md"]
    texts = ((folder / name / "runs.json").read_text(encoding="utf-8") for name in ("base-four", "decimal"))
    recorded = {run for text in texts for run in json.loads(text)["runs"]}
    assert {row["run"] for row in rows} == recorded, "about all runs, and no others"


def test_what_is_said_of_filled_addition_is_printed_by_its_script() -> None:
    folder = ROOT / "docs" / "results" / "filled-addition"
    script = runpy.run_path(str(folder / "keys.py"))
    rows = script["read_rows"](script["STORED"])
    lines = [
        line for table in ("change_lines", "predicted_lines", "generalization_lines") for line in script[table](rows)
    ]
    assert len(lines) == 4 + 8 + 8 and {*lines} <= {*TEXTS["docs/results/filled-addition/README.md"].splitlines()}
    recorded = json.loads((folder / "base-four" / "runs.json").read_text(encoding="utf-8"))["runs"]
    assert Counter((row["run"], row["kind"]) for row in rows) == Counter(product(recorded, script["KINDS"]))
    assert {run.id for run in script["planned"](folder)} == {*recorded}, "with the seeds that were frozen"
    assert max(row["long"] - row["long, late"] for row in rows if row["kind"] in script["ASKED"]) < 0.01
    unerring = [row for row in rows if row["kind"] == "filled" and script["fits"](row) and not script["wins"](row)]
    late = [script["solves"](row, "long, late by digits") for row in unerring if not row["wrong_in_training"]]
    text = TEXTS["docs/results/filled-addition/README.md"]
    assert f"makes steps late, {sum(late)} of the {len(late)} runs are repaired still" in text
    failing = [row for row in rows if row["kind"] == "staggered" and script["fits"](row) and not script["wins"](row)]
    relative = [row for row in failing if row["encoding"] == "rpe"]
    assert len(relative) == 6 and not any(row["wrong_in_training"] for row in relative)
    assert sum(script["solves"](row, "long, late") for row in relative) == 2
    assert all(row["wrong_in_training"] > 0 for row in failing if row["encoding"] == "ipe")
    totals = []
    for kind in ("varied", "filled"):
        fitting = [row for row in rows if row["kind"] == kind and script["fits"](row)]
        totals.append(f"{sum(map(script['wins'], fitting))} of {len(fitting)}")
    assert "{} fitting runs solve all scales, where {} do with the usual filler".format(*totals) in text


def test_what_is_said_of_varied_filler_is_printed_by_its_script() -> None:
    folder = ROOT / "docs" / "results" / "varied-filler"
    script = runpy.run_path(str(folder / "shares.py"))
    text = TEXTS["docs/results/varied-filler/README.md"]
    names = ("named", "same_processor", "to_the_end", "pooled", "addition", "random")
    tables = {name: script[f"{name}_lines"]() for name in names}
    assert [*map(len, tables.values())] == [7, 2, 3, 4, 2, 2] and set().union(*tables.values()) <= {*text.splitlines()}
    trials = [*folder.glob("*/conjecture.json")]
    assert len(trials) == 7 and all(json.loads(path.read_text(encoding="utf-8"))["frozen"] in text for path in trials)
    early, to_the_end, both, three = ([cell.strip() for cell in line.split("|")[2:5]] for line in tables["pooled"])
    in_one_line = " ".join(text.split())
    assert (
        f"Together {early[1]} fitting runs generalize with varied filler and {early[0]} with the usual one"
        in in_one_line
    )
    assert f"cells {three[1]} fitting runs generalize, and {three[0]} with the usual filler" in in_one_line
    assert f"with `once`, {to_the_end[1]} do and {to_the_end[0]}." in in_one_line
    answer = f"{both[1]} fitting runs generalize with it and {both[0]} with the usual filler (p = {float(both[2]):.1g},"
    assert answer in in_one_line
    assert f"{both[1]} generalize so, and {both[0]} with the usual filler" in TEXTS["docs/findings.md"]
    shares_of = []
    for cells in (script["filled_cells"](folder / "mixed"), script["filled_cells"](script["FIG2"])):
        addition = [cells["addition base 4", encoding] for encoding in ("ipe", "rpe", "rope")]
        fits, generalizing = ([cell[part] for cell in addition] for part in ("fit", "generalizes_given_fit"))
        shares_of += [
            f"{sum(each['successes'] for each in counts)} of {sum(each['trials'] for each in counts)}"
            for counts in (generalizing, fits)
        ]
    assert f"of addition {shares_of[0]} fitting runs generalize, where {shares_of[2]} did with the usual filler" in text
    assert f"**As many runs of addition fit:** {shares_of[1]}, and {shares_of[3]} with the usual filler" in text


def _with_and(numbers: str) -> str:
    return " and ".join(numbers.rsplit(", ", 1))


def test_the_tables_of_learned_labels_are_their_trials() -> None:
    text = TEXTS["docs/results/learned-labels/README.md"]
    rows, counted, served = [], [], []
    for name in ("learned-labels", "given-labels", "no-labels"):
        folder = ROOT / "docs" / "results" / "learned-labels" / name
        answer = json.loads((folder / "conjecture.json").read_text(encoding="utf-8"))
        assert answer["frozen"] in text
        counted.append(len(json.loads((folder / "runs.json").read_text(encoding="utf-8"))["runs"]))
        for cell in answer["cells"]:
            names = [cell[part].rpartition(":")[2] for part in ("task", "encoding")]
            says = ["yes" if cell[rule] else "no" for rule in ("predicted", "selection_with_token")]
            counts = [
                f"{cell[part]['successes']} of {cell[part]['trials']}" for part in ("fit", "generalizes_given_fit")
            ]
            rows.append(f"| {' | '.join([*names, *says, *counts, cell['verdict']])} |")
            if name == "given-labels" and cell["predicted"]:
                served.append(cell["generalizes_given_fit"])
    assert "{}, {} and {} runs".format(*counted) in text
    given = f"{sum(cell['successes'] for cell in served)} of {sum(cell['trials'] for cell in served)}"
    assert f"{given} runs generalize**" in text
    assert f"({given})" in TEXTS["docs/theory/circuits.md"]
    agreement = (ROOT / "docs/results/learned-labels/agreement.json").read_text(encoding="utf-8")
    counts = sum(map(Counter, json.loads(agreement).values()), Counter())
    right, wrong = "all labels right", "some wrong"
    by_labels = {which: counts[f"solved, {which}"] + counts[f"unsolved, {which}"] for which in (right, wrong)}
    for sentence in (
        f"in {counts['runs']} runs on tasks with one output",
        f"{counts[f'solved, {right}']} of {by_labels[right]} times the scale is solved",
        f"some do not, {counts[f'solved, {wrong}']} of {by_labels[wrong]} times",
        f"Of {counts[f'unsolved, {right}'] + counts[f'unsolved, {wrong}']} unsolved scales "
        f"{counts[f'unsolved, {wrong}']} have a wrong label",
    ):
        assert sentence in " ".join(text.split())
    assert sorted(rows) == sorted(line for line in text.splitlines() if line.startswith("| ") and " of " in line)


def test_the_torch_that_is_installed_by_hand_is_the_pinned_one() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert re.findall(r"torch==[\d.]+", TEXTS["docs/how-to/install.md"]) == [
        pin for pin in pins if pin.startswith("torch==")
    ]
