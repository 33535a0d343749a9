"""The ledger in its four forms: whole, the same each time, and unharmed by what a claim's text may hold."""

import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from lengthgen.proofs_checks import latex, registry, report
from lengthgen.proofs_checks.claim import PARTS, Evidence, Source, Strength
from lengthgen.proofs_checks.report import LEGEND, as_json, table
from lengthgen.proofs_checks.result import FalsifierResult, Result, Verdict
from tests.proofs_checks import toys

HOSTILE = [
    "a | b || c",
    "under_score __bold__ *star* `code`",
    "50% & R&D; &amp; &#35; #1 $5 $x$",
    "two\nlines\n\n| and | a row |",
    "[brackets] [red]not red[/red] [link](http://x) ![picture](y)",
    "<script>alert(1)</script> <br>",
    r"\end{longtable} \input{x} {open ^ ~ \\ back\slash\ ",
    "}{ closed first",
    "\"quoted\" 'single' -- --- ~~struck~~",
]


def result(
    text: str, *, verdict: Verdict = Verdict.VERIFIED, reason: str = "", formula: str = "x_1", seconds: float = 1.0
) -> Result:
    claim = replace(
        toys.CLAIMS["toy-0"],
        id=text,
        source=Source(paper=text, arxiv=text, place=text),
        statement=text,
        latex=formula,
    )
    return Result(
        claim=claim,
        verdict=verdict,
        evidence=Evidence(strength=Strength.NUMERIC, facts=(text,)),
        reason=reason,
        falsifiers=(
            FalsifierResult(name="one", rejected=True, reason="1 != 2"),
            FalsifierResult(name="two", rejected=False, reason="accepted"),
        ),
        seconds=seconds,
    )


def line(text: str) -> str:
    return " ".join(text.split())


def test_json_contract():
    ledger = as_json([result("toy", verdict=Verdict.CORRECTED, reason="as printed: 1 != 2")])
    assert set(ledger) == {"claims", "holds"}
    assert ledger["holds"] is True
    (entry,) = ledger["claims"]
    assert set(entry) == {
        *("id", "verdict", "holds", "strength", "seconds", "falsifiers", "reason"),
        *("statement", "latex", "label", "part", "on_runs", "source", "facts", "assumptions", "formal_steps"),
    }
    assert (entry["id"], entry["verdict"], entry["strength"]) == ("toy", "corrected", "numeric")
    assert entry["falsifiers"][0] == {"name": "one", "rejected": True, "reason": "1 != 2"}
    assert json.loads(json.dumps(ledger)) == ledger
    ledger = as_json([result("one"), result("two", verdict=Verdict.REFUTED, reason="1 != 2")])
    assert ledger["holds"] is False
    assert [entry["strength"] for entry in ledger["claims"]] == ["numeric", None]


def screen(results: list[Result], width: int = 400) -> str:
    page = io.StringIO()
    Console(file=page, width=width, force_terminal=False).print(table(results))
    return page.getvalue()


def test_the_table_has_one_row_a_claim_and_the_reason_only_where_there_is_one():
    results = [result("one"), result("two", verdict=Verdict.CORRECTED, reason="as printed: 1 != 2")]
    assert table(results).row_count == 2
    lines = screen(results).splitlines()
    [at] = [position for position, text in enumerate(lines) if text.strip().startswith("one [F]")]
    assert lines[at].split() == ["one", "[F]", "verified", "numeric", "1/2", "1.00", "one"]
    assert lines[at + 1].split()[:3] == ["two", "[F]", "corrected"]
    assert lines[at + 2].strip() == "as printed: 1 != 2"
    assert " ".join(" ".join(lines[at + 3 :]).split()) == f"numeric: {LEGEND[Strength.NUMERIC]}"


@pytest.mark.parametrize("text", [hostile for hostile in HOSTILE if "\n" not in hostile])
def test_the_table_shows_text_as_it_is(text):
    assert screen([result(text, verdict=Verdict.REFUTED, reason=text)]).count(text) == 3


class Page(HTMLParser):
    """Parser of a page: texts of headings and cells, tags, and targets of links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells, self.links, self.tags = [], [], []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "h3"):
            self.cells.append("")
            self.inside = True
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "h3")

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


def rendered(results: list[Result]) -> Page:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return Page(reader.render(report.document(results)))


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_text_as_it_is(text):
    page = rendered([result(text, verdict=Verdict.CORRECTED, reason=text), result("next")])
    heading, (wrong, first, second) = page.cells[0], (page.cells[1:5], page.cells[6:14], page.cells[15:])
    assert heading == page.cells[5] == f"{line(text)} (arXiv {line(text)})"
    assert wrong == [line(text), line(text), line(text), f"{line(text)}, corrected"]
    assert first[:6] == [line(text), "F", "corrected", "numeric", "1 of 2 rejected", line(text) * 2]
    assert second[0] == "next"
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    legend = {"ul", "li", "strong"}
    assert set(page.tags) <= {"h1", "h2", "h3", "p", "code", "a", "br", "em", *tables, *legend}
    assert (page.tags.count("em"), page.tags.count("br"), page.tags.count("code")) == (1, 1, 3)
    assert page.tags.count("strong") == len(Strength)


def test_markdown_has_no_control_character_and_no_lone_surrogate():
    hostile = [result("a \x1b[31m \udcff", verdict=Verdict.CORRECTED, reason="\x07")]
    for document in (report.document(hostile), report.evidence(hostile)):
        assert document.replace("\n", "").isprintable() and r"a \\x1b\[31m \\udcff" in document


def test_statements_wrong_as_printed_come_first_by_paper_with_their_correction():
    def named_result(name, paper, verdict, statement, reason):
        toy = result(paper, verdict=verdict, reason=reason)
        return replace(toy, claim=replace(toy.claim, id=name, statement=statement))

    document = report.document(
        [
            named_result("a-1", "Paper A", Verdict.VERIFIED, "One holds.", ""),
            named_result(
                "b-1", "Paper B", Verdict.CORRECTED, "K is 2 (errata F3: the paper has f(2)).", "as printed: 1 != 2"
            ),
            named_result("a-2", "Paper A", Verdict.CORRECTED, "Two holds (for all n).", "as printed: 3 != 4"),
            named_result("b-2", "Paper B", Verdict.REFUTED, "Three holds.", "5 != 6"),
        ]
    )
    first, second = document.split("## Your own claims: 4 claims, by paper")
    assert "## Corrected and refuted: 3 statements that are wrong as printed" in first
    rows = [line for line in first.splitlines() if line.startswith(("### ", "| Paper"))]
    assert rows == [
        "### Paper B (arXiv [Paper B](https://arxiv.org/abs/Paper%20B))",
        "| Paper B: the paper has f(2) | K is 2. | 1 != 2 | b-1, corrected |",
        "| Paper B: Three holds. | - | 5 != 6 | b-2, refuted |",
        "### Paper A (arXiv [Paper A](https://arxiv.org/abs/Paper%20A))",
        "| Paper A | Two holds (for all n). | 3 != 4 | a-2, corrected |",
    ]
    ids = re.findall(r"^\| ([ab]-\d) ", second, flags=re.MULTILINE)
    assert ids == ["a-1", "a-2", "b-1", "b-2"]


STATEMENTS = {
    "K is 2 (errata F1: the paper prints K = d/(8 ln c)).": ("K is 2.", "K = d/(8 ln c)"),
    "K is 2 (the lemma has f(x)).": ("K is 2.", "the lemma has f(x)"),
    "It is a reflection (errata F18).": ("It is a reflection.", ""),
    "K is 2 (where n > 0).": ("K is 2 (where n > 0).", ""),
    "K is f(2).": ("K is f(2).", ""),
    ").": (").", ""),
    "K is 2": ("K is 2", ""),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_corrected_statement_is_separated_from_the_printed_one(statement):
    assert report.as_printed(statement) == STATEMENTS[statement]


def test_markdown_and_latex_are_the_same_however_long_it_took():
    fast, slow = (
        [result("one", seconds=seconds), result("two", verdict=Verdict.REFUTED, reason="no", seconds=seconds)]
        for seconds in (0.1, 99.9)
    )
    assert report.document(fast) == report.document(slow)
    assert latex.longtable(fast) == latex.longtable(slow)


def test_what_papers_say_comes_before_what_we_add_and_papers_keep_their_order_in_both():
    results = [Result.cut_short(claim, "late", 1.0) for claim in registry.CLAIMS]
    expected, titles = [], []
    for part, heading in PARTS.items():
        of_part = [claim.source for claim in registry.CLAIMS if claim.part == part]
        papers = {source.arxiv: source.paper for source in reversed(of_part)}
        order = dict.fromkeys(source.arxiv for source in of_part)
        expected += [f"## {heading}: {len(of_part)} claims, by paper"]
        expected += [f"### {papers[arxiv]} (arXiv [{arxiv}](https://arxiv.org/abs/{arxiv}))" for arxiv in order]
        titles += [f"{heading}: {len(of_part)} claims", *(latex.text(papers[arxiv]) for arxiv in order)]
    assert re.findall(r"^##.*", report.document(results), flags=re.MULTILINE) == expected
    shown = re.findall(
        r"^\\multicolumn.*\\textbf\{(?:\\emph\{)?([^}]*)\}", latex.longtable(results), flags=re.MULTILINE
    )
    assert shown == titles


def rows(document: str) -> list[str]:
    return [text for text in document.splitlines() if text.startswith(r"\raggedright\texttt")]


def without_formulas(text: str) -> str:
    return re.sub(r"(?<!\\)\$(?:\\.|[^$\\])*\$", "", text)


def plain(text: str) -> str:
    """Return what TeX would set: our own escapes undone."""
    words = {"textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textless": "<", "textgreater": ">"}
    words |= {"textbar": "|", "allowbreak": ""}
    escape = r"\\([a-z]+)\{\}|\\([{}$&#%_])|('')"
    return re.sub(escape, lambda match: words[match[1]] if match[1] else match[2] or '"', text)


def balanced(document: str) -> bool:
    """True if braces and environments close in the order in which they open."""
    opened: list[str] = []
    for token in re.findall(r"\\begin\{\w+\}|\\end\{\w+\}|\\.|[{}]", document, flags=re.DOTALL):
        if token.startswith("\\begin{") or token == "{":
            opened.append(token)
        if token.startswith("\\end{") or token == "}":
            opener = "{" if token == "}" else token.replace("end", "begin", 1)
            if not opened or opened.pop() != opener:
                return False
    return not opened


@pytest.mark.parametrize("text", HOSTILE)
def test_latex_sets_text_as_it_is(text):
    document = latex.longtable([result(text)])
    [row] = rows(document)
    cells = re.split(r"(?<!\\) & ", without_formulas(row).removesuffix(r" \\"))
    assert [plain(cell).strip() for cell in cells[:2]] == [
        rf"\raggedright\texttt{{{line(text)}}} (F)",
        rf"\raggedright {line(text)}",
    ]
    assert cells[2:] == ["verified", "numeric"]
    for cell in cells:
        assert not re.search(r"[$&#%_^~<>|\"]", re.sub(r"\\.", "", cell)), "TeX would read it as its own"
    assert balanced(document)


def test_latex_that_would_not_end_in_its_formula_is_set_as_text():
    for formula in ("x$", "{x", "x}", "}{", "50%", "a#b", "x\\"):
        [row] = rows(latex.longtable([result("toy", formula=formula)]))
        assert "toy $" not in row
        assert plain(row.split(" & ")[1]) == rf"\raggedright toy {formula}"
    for formula in (r"\{x\}", r"\#A", "{a}_{b}", r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "a\n\nb"):
        [row] = rows(latex.longtable([result("toy", formula=formula)]))
        assert f"toy ${line(formula)}$ & " in row


def test_latex_of_the_whole_ledger_sets_every_formula_as_such():
    document = latex.longtable([Result.cut_short(claim, "late", 1.0) for claim in registry.CLAIMS])
    assert balanced(document)
    assert document.isascii()
    assert "[U+" not in document, "a character that plain LaTeX cannot set"
    lines = rows(document)
    assert len(lines) == len(registry.CLAIMS)
    for claim, row in zip(sorted_by_paper(), lines, strict=True):
        assert f" ${line(claim.latex)}$ & " in row, claim.id
    for command in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:claims}"):
        assert command in document


COMMANDS = """
Big Bigg Delta Leftrightarrow Longrightarrow Phi Pr Rightarrow Sigma alpha approx arg bar begin beta big bigcap bigcup
bigg bigl bigoplus bigr binom bmod boldsymbol bullet cap cdot cdots chi circ colon cong cos cosh cup deg delta det
dfrac dim dot dots ell emptyset end epsilon equiv eta exists exp forall frac gamma gcd ge geq hat iff implies
in infty int kappa lVert lambda land langle lceil ldots le left leq lfloor lim ln log lor lvert mapsto mathbb mathbf
mathcal mathfrak mathrm max mid min mod mu nabla ne nearrow neg neq not notin nu odot omega operatorname oplus otimes
overline parallel partial perp phi pi pm pmod prime prod propto psi qquad quad rVert rangle rceil rfloor rho right
rvert searrow setminus sigma sim sin sinh sqrt subset subseteq succ sum sup tan tanh tau text tfrac theta tilde
hookrightarrow textstyle times to top underline varepsilon varphi varrho vec vee wedge zeta
"""
ENVIRONMENTS = "aligned array bmatrix cases matrix pmatrix smallmatrix vmatrix"
# What LaTeX, amsmath and amssymb define; more of it may be added as claims use it.


def test_formulas_use_only_what_the_document_knows():
    unknown = {}
    for claim in registry.CLAIMS:
        commands = set(re.findall(r"\\([A-Za-z]+)", claim.latex.replace(r"\\", " "))) - set(COMMANDS.split())
        environments = set(re.findall(r"\\begin\{(\w+)\}", claim.latex)) - set(ENVIRONMENTS.split())
        if commands | environments:
            unknown[claim.id] = sorted(commands | environments)
    assert unknown == {}


def sorted_by_paper():
    papers = {part: [claim.source.arxiv for claim in registry.CLAIMS if claim.part == part] for part in PARTS}
    return sorted(
        registry.CLAIMS, key=lambda claim: ([*PARTS].index(claim.part), papers[claim.part].index(claim.source.arxiv))
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_compiles(tmp_path):
    results = [Result.cut_short(claim, "late", 1.0) for claim in registry.CLAIMS]
    results += [result(text) for text in (*HOSTILE, "θ")]
    (tmp_path / "claims.tex").write_text(latex.longtable(results))
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs,longtable,amsmath,amssymb}\n"
        "\\begin{document}\\input{claims}\\end{document}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_figure_is_set_in_an_environment_of_its_own():
    assert latex.figure("figure1", "50% of _", 3.25, across=False) == (
        "\\begin{figure}\n"
        "\\centering\n"
        "\\includegraphics[width=3.25in]{figure1.pdf}\n"
        "\\caption{50\\% of \\_}\n"
        "\\label{fig:figure1}\n"
        "\\end{figure}\n"
    )
