"""The quick benchmarks run: nothing else would notice when what they call changes."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import complexity, data, wirings
from bench.measure import TimingComparison, compare
from lengthgen.circuits.formats import FORMATS
from lengthgen.circuits.tasks import TASKS

QUICK = (
    complexity.certificate_against_search,
    complexity.search_against_all_wirings,
    wirings.search_against_enumeration,
)


@pytest.mark.parametrize("question", QUICK)
def test_a_benchmark_prints_its_ratio(
    question: Callable[[], TimingComparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches are timed once; the other benchmark, of milliseconds, is timed as often as usual."""
    monkeypatch.setattr(complexity, "compare", partial(compare, rounds=1))
    answer = question()
    assert f"{answer.ratio:.2f}x the speed of {answer.alternative}" in str(answer)


def comparison(question: str, *ratios: float) -> Callable[[], TimingComparison]:
    """Question of which each round gives a ratio."""
    return lambda: TimingComparison(question=question, ours=(1.0,) * len(ratios), alternative="it", theirs=ratios)


def test_a_ratio_far_below_the_recorded_one_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A single slow round is noise, and a question that was not recorded cannot fall."""
    monkeypatch.setattr(command, "RECORD", tmp_path / "recorded.json")
    before = (comparison("steady", 2, 2, 2), comparison("slower", 2, 2.1, 2.2), lambda: "a note")
    monkeypatch.setattr(command, "QUESTIONS", before)
    assert command.main(["--record"]) == 0 == command.main([])
    after = (comparison("steady", 2, 0.1, 2, 2), comparison("slower", 1.3, 1.35, 1.4), comparison("another", 0.1))
    monkeypatch.setattr(command, "QUESTIONS", after)
    capsys.readouterr()
    assert command.main([]) == 1
    out, err = capsys.readouterr()
    assert err == "fallen: slower, against it\n" and out.splitlines()[-1] == "3 ratios, 1 fallen"
    assert re.search(r"^ +1\.35 +1\.33 +1\.38 +2\.10  slower: 1\.35x the speed of it", out, re.MULTILINE)
    for words in (["nothing"], ["--record", "steady"]):
        with pytest.raises(SystemExit, match="2"):
            command.main(words)


def test_the_recorded_ratios_say_on_which_machine_and_revision() -> None:
    stored = json.loads(command.RECORD.read_text(encoding="utf-8"))
    assert stored["machine"] and stored["device"] and re.fullmatch("[0-9a-f]{12}", stored["revision"])
    assert len(stored["ratios"]) > 40 and all(each["low"] <= each["high"] for each in stored["ratios"].values())


def test_the_rates_of_examples_are_measured_for_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task in every format, but for the only one that cannot be padded to one width."""
    monkeypatch.setattr(data, "COUNT", 20)
    text = data.examples_per_second()
    cells = {(name, format) for name in TASKS for format in FORMATS if f"{name} {format} " in text}
    assert {*product(TASKS, FORMATS)} - cells == {("parity-online", "aligned")}
