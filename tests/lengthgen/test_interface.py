"""Public functions that train, judge, draw and audit: what the commands of these names answer."""

import json

import pytest
import torch
from matplotlib.figure import Figure

from lengthgen import LengthgenError, audit, conjecture, figure, train

SMALL = {"train": range(1, 3), "test": range(1, 5), "profile": "smoke"}
SAME = ("--train", "1-2", "--test", "1-4", "--profile", "smoke")


def test_train_is_the_command(answer, tmp_path):
    trained = train("copy", "rpe", **SMALL, out=tmp_path)
    assert json.loads(json.dumps(trained)) == answer(
        "train", "copy", "--encoding", "rpe", *SAME, "--out", str(tmp_path)
    )
    assert trained["accuracy"].keys() == {"1", "2", "3", "4"}
    assert repr(trained).startswith(f"Answer({trained['run']} ") and "\n" not in repr(trained)


def test_conjecture_is_the_command_and_its_figures_are_drawn(answer, tmp_path, trained_here):
    trial = conjecture("copy", "rpe,ape", seeds=2, **SMALL, out=tmp_path)
    arguments = ("copy", "--encoding", "rpe,ape", "--seeds", "2", *SAME, "--out", str(tmp_path))
    assert json.loads(json.dumps(trial)) == answer("conjecture", *arguments)
    assert repr(trial).startswith("Answer(2 cells: ") and repr(trial).endswith(f"stored in {tmp_path / 'copy'})")
    drawing = figure("accuracy", trial=tmp_path / "copy")
    assert isinstance(drawing.shown, Figure) and drawing._repr_png_().startswith(b"\x89PNG")
    assert {row["encoding"] for row in drawing.rows} == {"rpe", "ape"}


def test_a_figure_and_a_table_of_the_catalogue_are_drawn_without_writing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    growth, tasks = figure("lrc-growth", width="column"), figure("Table-Tasks")
    assert growth.shown.get_figwidth() < 4 and growth.rows
    assert tasks._repr_png_() is None and tasks._repr_html_().startswith("<pre>")
    assert all(len(repr(drawing)) < 300 and "\n" not in repr(drawing) for drawing in (growth, tasks))
    assert [*tmp_path.iterdir()] == []


class Bias(torch.nn.Module):
    """ALiBi of one slope, whose positions are rounded to half precision."""

    def forward(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        return (keys.to(torch.bfloat16) - queries[:, None].to(torch.bfloat16)).double()[None]


def test_audit_takes_a_name_and_an_object(answer):
    small = {"dtypes": ["float32"], "to": 3000, "heads": 2, "head_dim": 16}
    arguments = ("--dtype", "float32", "--to", "3000", "--heads", "2", "--head-dim", "16", "--parameters", "base=500")
    named = audit("rotary", parameters={"base": 500}, **small)
    assert json.loads(json.dumps(named)) == answer("audit", "rotary", *arguments)
    assert repr(named) == "Answer(rotary holds; findings: none)"
    wrong = audit(Bias, **small)
    assert not wrong["holds"] and wrong["encoding"] == "Bias"
    assert "positions-rounded" in {finding["rule"] for part in wrong["audits"] for finding in part["findings"]}


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: train("copy", seed=-1), "seed = -1 is out of range"),
        (lambda: train("copy", train=[]), "train = .* has 0 entries"),
        (lambda: train("copy", train=[0, 1]), "train = 0 is out of range"),
        (lambda: train("copy", test=range(1, 4)), r"the largest test scale \(3\) must exceed"),
        (lambda: train("nothing"), "unknown task 'nothing'"),
        (lambda: train("copy", device="tpu"), "unknown device 'tpu'"),
        (lambda: conjecture("fig9"), "unknown protocol or task 'fig9'"),
        (lambda: conjecture("fig1", seeds=2), "protocol 'fig1' sets its own seeds"),
        (lambda: conjecture("copy", engine="spark"), "unknown engine 'spark'"),
        (lambda: figure("figure99"), "no figure or table is named 'figure99'"),
        (lambda: figure("figure2-best-on-test", width="wide"), "unknown width 'wide'"),
        (lambda: figure("figure2-best-on-test", out="nowhere"), "make it with  lengthgen conjecture fig2"),
        (lambda: audit("nothing"), "unknown encoding 'nothing'"),
        (lambda: audit("rotary", dtypes=["int8"]), "unknown dtype 'int8'"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(ask, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LengthgenError, match=says) as refusal:
        ask()
    assert "\n" not in str(refusal.value)
    assert [*tmp_path.iterdir()] == []
