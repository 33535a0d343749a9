"""Objects that an audit is asked to look at, however they fail: one line and status 2."""

import json

import pytest

from tests.lengthgen.refusal import refused

HEAD = """
import sys
import torch
from torch import nn
from empirical.encodings.base import PositionEncoding


def raising(error):
    def fails(*_, **__):
        raise error
    return fails


def rotate(answer):
    return lambda q, k, positions: answer(q)


def bias(answer):
    return lambda queries, keys: answer(queries, keys)


def encoding(**hooks):
    return type("Mine", (PositionEncoding,), hooks)


def made(error):
    def __init__(self):
        raise error
    return encoding(__init__=__init__)


def claiming(claims):
    def distance(queries, keys):
        return (queries[:, None] - keys).double()[None]
    distance.claims = claims
    return distance


class Claims:
    @property
    def claims(self):
        raise RuntimeError("no claims")
    def __call__(self, queries, keys):
        return (queries[:, None] - keys).double()[None]


class Twice:
    made = 0
    def __init__(self, base=10.0):
        Twice.made += 1
        if Twice.made > 1:
            sys.exit(0)
    def __call__(self, queries, keys):
        return (queries[:, None] - keys).double()[None]


class Hooks(nn.Module):
    @property
    def forward(self):
        raise RuntimeError("no forward")


class Recursive:
    @property
    def __class__(self):
        raise RuntimeError("no class")


def late(queries, keys):
    if queries.max() > 4:
        sys.exit(0)
    return (queries[:, None] - keys).double()[None]
"""

MADE = {
    "exits at import": ("sys.exit(0)", "encoding file 'mine.py' fails: SystemExit: 0"),
    "is nothing": ("None", "'mine' is NoneType: give a function, a module, or a factory of one"),
    "is without class": ("Recursive()", "'mine' is Recursive: give a function"),
    "exits": ("bias(lambda *_: sys.exit(0))", "'mine' fails for query and key positions [4]: SystemExit: 0"),
    "reads a closed input": ("bias(raising(EOFError()))", "'mine' fails for query and key positions [4]: EOFError"),
    "gives nothing": ("bias(lambda *_: None)", "it returns NoneType"),
    "gives another shape": ("bias(lambda q, k: torch.zeros(3))", "it returns [3]"),
    "gives complex numbers": (
        "bias(lambda q, k: torch.zeros(4, len(q), len(k)) * 1j)",
        "must give real numbers",
    ),
    "gives no heads": ("bias(lambda q, k: torch.zeros(0, len(q), len(k)))", "must give real numbers"),
    "gives sparse numbers": (
        "bias(lambda q, k: torch.zeros(4, len(q), len(k)).to_sparse())",
        "must give real numbers",
    ),
    "gives numbers nowhere": (
        "bias(lambda q, k: torch.zeros(4, len(q), len(k), device='meta'))",
        "must give real numbers",
    ),
    "rotation exits": ("rotate(lambda q: sys.exit(0))", "fails for q, k [1, 4, 4, 64] and positions [4]: SystemExit"),
    "rotation gives text": ("rotate(lambda q: ('q', 'k'))", "must return (q, k) of shape"),
    "rotation gives one": ("rotate(lambda q: q)", "must return (q, k), or a bias"),
    "rotation gives another shape": ("rotate(lambda q: (q[..., :2], q))", "must return (q, k) of shape"),
    "rotation gives complex numbers": ("rotate(lambda q: (q * 1j, q * 1j))", "must give real numbers"),
    "class that exits": ("made(SystemExit(0))", "'mine' cannot be made with {}: SystemExit: 0"),
    "class that raises": ("made(IndexError(3))", "'mine' cannot be made with {}: IndexError: 3"),
    "class that exits the second time": ("Twice", "'mine' cannot be made with {}: SystemExit: 0"),
    "module that is not set up": (
        "encoding(__init__=lambda self: None)",
        "'mine' cannot be made with {}: AttributeError:",
    ),
    "hook that exits": ("encoding(bias=raising(SystemExit(0)))", "'mine' fails for positions [4]: SystemExit: 0"),
    "hook that raises": ("encoding(rotate=raising(IndexError(3)))", "'mine' fails for positions [4]: IndexError: 3"),
    "hook of content that raises": (
        "encoding(bias=raising(ValueError(3)))",
        "fails for positions [4]: ValueError",
    ),
    "embedding that exits": ("encoding(embed=raising(SystemExit(0)))", "mine fails: SystemExit: 0"),
    "embedding of nothing": ("encoding(embed=lambda *_: None)", "must return embeddings of shape"),
    "scores that exit": ("encoding(scores=raising(SystemExit(0)))", "mine fails: SystemExit: 0"),
    "scores of nothing": ("encoding(scores=lambda *_: None)", "mine must return"),
    "claims of numbers": ("claiming([3])", "the attribute 'claims' of 'mine' must hold names"),
    "claims that are a number": ("claiming(3)", "the attribute 'claims' of 'mine' fails: TypeError"),
    "claims of nothing known": ("claiming(['best'])", "unknown claim 'best'"),
    "claims that raise": ("Claims()", "the attribute 'claims' of 'mine' fails: RuntimeError: no claims"),
    "forward that raises": ("Hooks()", "'mine' has no forward: RuntimeError: no forward"),
    "shows no parameters": ("max", "'mine' has no readable signature: wrap it in a function: ValueError"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_encoding_is_one_line(run, name, mine):
    code, says = MADE[name]
    mine(HEAD, f"mine = {code}")
    status, out, err = run("audit", "mine.py:mine", "--dtype", "float64", "--to", "100")
    lines = [line for line in err.splitlines(keepends=True) if not line.startswith("audit of ")]
    refused((status, out, "".join(lines)), says)


def test_positions_beyond_which_it_exits_are_not_taken(run, mine):
    mine(HEAD, "mine = late")
    _, out, _ = run("audit", "mine.py:mine", "--dtype", "float64", "--to", "100", "--json")
    assert json.loads(out)["audits"][0]["last_position"] == 4
