"""The mutation benchmark: every kind of change is drawn, and a check that notices a mutant holds without it."""

import ast
import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache

import pytest

from bench import mutations, noticers
from bench.mutants import PLACES, ROOT, Mutant, modules, mutants, mutants_of_file
from lengthgen.proofs_checks import registry

COUNT = 60


@cache
def sample(place: str) -> tuple[Mutant, ...]:
    return tuple(mutants(place, COUNT, seed=0))


@pytest.fixture(params=["encodings", "checker"])
def drawn(request: pytest.FixtureRequest) -> tuple[Mutant, ...]:
    return sample(request.param)


@pytest.fixture(scope="module")
def index() -> noticers.Index:
    return noticers._index()  # here, where the project is imported


def mutant(path: str, code: str, was: str, becomes: str) -> Mutant:
    """The change of the one line of a file that is this code."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    [(line, text)] = [(number, text) for number, text in enumerate(lines, 1) if text.strip().startswith(code)]
    return Mutant(
        path=path, line=line, column=text.index(was), was=was, becomes=becomes, kind="operator", text=text.strip()
    )


def test_mutants_are_different_and_all_compile(drawn: tuple[Mutant, ...]) -> None:
    assert len({change.source() for change in drawn}) == len(set(drawn)) == COUNT
    for change in drawn:
        ast.parse(change.source())


def test_one_place_of_one_line_changes(drawn: tuple[Mutant, ...]) -> None:
    for change in drawn:
        before = (ROOT / change.path).read_text().splitlines()
        after = change.source().splitlines()
        [changed] = [line for line, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
        assert changed == change.line
        assert before[changed - 1][change.column :].startswith(change.was)
        assert after[changed - 1][change.column :].startswith(change.becomes)
        assert change.text == before[changed - 1].strip() != change.mutated_text


@pytest.mark.parametrize("place", ["encodings", "checker"])
def test_every_kind_is_drawn_and_equally_often_while_there_are_some(place: str) -> None:
    available = Counter(mutant.kind for path in modules(place) for mutant in mutants_of_file(path))
    counts = Counter(mutant.kind for mutant in sample(place))
    assert set(available) == set(CHANGES)
    most = max(counts.values())
    assert all(counts[kind] >= min(most - 2, available[kind] // 2) for kind in CHANGES)


def test_every_module_but_the_statements_of_claims_and_the_plain_entries_is_mutated_in_one_place() -> None:
    drawn_from = Counter(path for place in PLACES for path in modules(place))
    packages = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen")
    present = {path for package in packages for path in (ROOT / package).rglob("*.py")}
    left_out = {path for path in present - set(drawn_from) if not {"papers", "consequences"} & {*path.parts}}
    assert set(drawn_from.values()) == {1}
    assert left_out == {ROOT / "empirical" / "__init__.py"}


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    assert tuple(mutants("checker", 5, seed=0)) == sample("checker")[:5] != tuple(mutants("checker", 5, seed=4))


CHANGES = {
    "sign": ("return j - i", {"return (-(j)) - i", "return j - (-(i))"}),
    "term": ("return j - i", {"return (j)"}),
    "exponent": ("return j ** i", {"return j ** (i + 1)"}),
    "constant": ("return 2", {"return 4"}),
    "bound": ("return max(j, 0)", {"return (j)", "return abs(j)"}),
    "order": ("return f(j, i)", {"return f(i, j)"}),
    "operator": ("return j < i", {"return j <= i", "return j > i"}),
    "name": ("return j", {"return i"}),
    "number": ("return 2", {"return 3"}),
    "condition": ("return i and j", {"return ((i))", "return ((j))"}),
    "negation": ("return 1 if j < i else 0", {"return 1 if (not (j < i)) else 0"}),
    "unsorted": ("return sorted(j)", {"return list(j)"}),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_each_kind_of_change(kind: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are not swapped where a function does not tell their order; annotations and errors stay unchanged."""
    code, expected = CHANGES[kind]
    monkeypatch.setattr("bench.mutants.ROOT", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(
        f'def g(i: int, j: int = 2 + 1) -> "2 + 1":\n    {code}\n    raise ValueError(f"{{i + j}}" + "1")\n'
    )
    mutated_texts = {change.mutated_text for change in mutants_of_file(file) if change.kind == kind}
    assert mutated_texts == expected


def test_the_likeliest_noticers_come_first(index: noticers.Index) -> None:
    change = mutant("theory/encodings/biases.py", "return -slope * (query", "- key", "+ key")
    names = index.noticers(change, "encodings", Counter({"claim kerple-4": 3}))
    assert names[0].startswith("claim alibi-")
    families = ["alibi" in name for name in names if name.startswith("claim ")]
    assert families == sorted(families, reverse=True)
    assert "tests/theory/test_encodings.py" in names
    torch = replace(change, path="empirical/encodings/biases.py")
    assert index.noticers(torch, "torch", Counter())[0] == "tests/empirical/encodings/test_biases.py"
    formula = replace(change, path="theory/formula/periods.py")
    assert index.noticers(formula, "theory", Counter())[0] == "tests/theory/test_periods.py"


def test_claims_on_trained_runs_notice_nothing(index: noticers.Index) -> None:
    """Without runs they never hold."""
    waiting = {claim.id for claim in registry.CLAIMS if claim.on_runs}
    assert waiting
    assert not waiting & {name for names in index.claims.values() for name in names}


REVERSED = {
    "claim alibi-1": ("theory/encodings/biases.py", "return tuple(sp.Integer(2) **", "-8 * head", "8 * head"),
    "tests/theory/test_pola.py": ("theory/learning/pola.py", "hessian, linear =", "* entries", "+ entries"),
}


def test_a_wrong_formula_is_noticed_by_a_check_that_holds_without_it() -> None:
    # In a process of its own, which has imported the libraries, but not the true modules.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(noticers.preload, "encodings").result()
        for name, place in REVERSED.items():
            assert pool.submit(noticers.noticed_by, mutant(*place), [name]).result() == name
            assert pool.submit(noticers.passes_unmutated, name).result(), name


def test_a_check_that_fails_without_a_mutation_notices_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    change = mutant(*REVERSED["claim alibi-1"])
    monkeypatch.setattr(noticers, "noticed_by", lambda mutated, names: names[0])
    noticers.passes_unmutated.cache_clear()
    with pytest.raises(SystemExit, match="claim broken fails without any mutation"):
        mutations._outcome(change, ["claim broken"])
    noticers.passes_unmutated.cache_clear()


def test_a_run_goes_on_and_tries_survivors_again(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path) -> None:
    drawn = list(sample("encodings")[:3])
    tried: list[Mutant] = []
    answers = iter(["claim alibi-1", None, "import", "claim alibi-2"])

    def outcome(change: Mutant, names: list[str]) -> str | None:
        tried.append(change)
        return next(answers)

    monkeypatch.setattr(mutations, "_outcome", outcome)
    monkeypatch.setattr(noticers, "index", lambda: noticers.Index(claims={}, imports={}))
    monkeypatch.setattr(noticers, "preload", lambda place: None)

    def call(*arguments: str) -> tuple[int, str]:
        argv = ["mutations", "--where", "encodings", "--store", str(tmp_path / "store"), *arguments]
        monkeypatch.setattr("sys.argv", argv)
        return mutations.main(), capsys.readouterr().out

    assert call("--count", "2")[0] == 1
    code, out = call("--count", "3")
    assert tried == drawn
    assert (code, out.count("survived: ")) == (1, 1)
    assert f"survived: {drawn[1].path}:{drawn[1].line} {drawn[1].was} -> {drawn[1].becomes} in {drawn[1].text}" in out
    assert "2 of 3 mutants are noticed (of encodings, seed 0), 1 of them by a claim" in out
    code, out = call("--count", "3", "--survivors")
    assert (code, tried[3:]) == (0, [drawn[1]])
    assert "3 of 3 mutants are noticed" in out


def test_every_known_survivor_is_of_the_code_as_it_is_and_has_a_reason() -> None:
    for (path, line, mutated), reason in mutations.reasons().items():
        texts = [text.strip() for text in (ROOT / path).read_text(encoding="utf-8").splitlines()]
        assert line in texts, f"{path} has no line {line!r} any more: leave it out of bench/survivors.toml"
        assert line != mutated
        assert len(reason.split()) >= 5
