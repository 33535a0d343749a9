"""Objects that an audit is asked to look at, however they fail: one line and status 2."""

import json

import pytest

from tests.lengthgen.refusal import refused

HEAD = """
import sys
import torch
from torch import nn
from lengthgen.empirical.encodings.base import PositionEncoding


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


def lengths(answer):
    return lambda queries, keys: answer(-(torch.arange(keys)[-queries:, None] - torch.arange(keys)).double()[None])


def following(follows):
    def same(q, k, positions):
        return q, k
    same.follows = follows
    return same


class Model(nn.Module):
    def __init__(self, answer=lambda x: x):
        super().__init__()
        self.answer = answer
        self.table = nn.Embedding(80, 8)

    def forward(self, input_ids):
        e = self.table(input_ids)
        return self.answer((e @ e.transpose(-1, -2)).softmax(-1) @ e)


class Uncopied(Model):
    def __init__(self):
        super().__init__()
        self.kept = self.table.weight * 2


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
    "gives complex numbers": ("bias(lambda q, k: torch.zeros(4, len(q), len(k)) * 1j)", "must give real numbers"),
    "gives no heads": ("bias(lambda q, k: torch.zeros(0, len(q), len(k)))", "must give real numbers"),
    "gives sparse numbers": ("bias(lambda q, k: torch.zeros(4, len(q), len(k)).to_sparse())", "must give real numbers"),
    "gives numbers nowhere": (
        "bias(lambda q, k: torch.zeros(4, len(q), len(k), device='meta'))",
        "must give real numbers",
    ),
    "gives nested numbers": (
        "rotate(lambda q: (torch.nested.nested_tensor([q[0]]),) * 2)",
        "must give real numbers, not torch.float64 nested",
    ),
    "gives numbers nowhere by lengths": (
        "lengths(lambda x: x.to('meta'))",
        "must give real numbers, not torch.float64",
    ),
    "gives quantized numbers": (
        "rotate(lambda q: (torch.quantize_per_tensor(q.float(), 0.1, 0, torch.qint8),) * 2)",
        "must give real numbers, not torch.qint8",
    ),
    "gives rows beside its own": (
        "bias(lambda q, k: torch.zeros(3, 4, len(q), len(k)))",
        "must return a bias [H, 1, 2], not [3, 4, 1, 2]",
    ),
    "follows what is no number": (
        "following({'rope_type': 'yarn', 'factor': -4})",
        "factor = -4: it must be a number, above 0",
    ),
    "follows an infinite length": (
        "following({'rope_type': 'default', 'max_position_embeddings': 'long'})",
        "max_position_embeddings = 'long': it must be a whole number",
    ),
    "model that cannot be copied": ("Uncopied()", "'mine' cannot be made: RuntimeError: "),
    "model that fails": ("Model(lambda x: 1 / 0)", "'mine' fails in float32 for token ids [1, 24]: ZeroDivisionError"),
    "model without real numbers": ("Model(lambda x: x.to('meta'))", "'mine' must return real logits"),
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
    "hook of content that raises": ("encoding(bias=raising(ValueError(3)))", "fails for positions [4]: ValueError"),
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


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_codes_that_are_not_finite_near_the_start_are_an_error(run, number, mine):
    mine(HEAD, f"mine = rotate(lambda q: (q * float('{number}'),) * 2)")
    status, out, _ = run("audit", "mine.py:mine", "--dtype", "float64", "--to", "100", "--json")
    assert status == 1
    assert "not-finite" in {finding["rule"] for finding in json.loads(out)["audits"][0]["findings"]}


def test_an_overflow_far_from_the_start_is_a_warning(run, mine):
    mine(HEAD, "mine = bias(lambda q, k: -(q[:, None] - k).half()[None] * 100)")
    audit = ("audit", "mine.py:mine", "--dtype", "float64", "--to", "3000", "--json")
    assert run(*audit, "--fail-on", "warning")[0] == 1
    _, out, _ = run(*audit)
    rules = {finding["rule"]: finding["severity"] for finding in json.loads(out)["audits"][0]["findings"]}
    assert (rules.get("overflow"), "not-finite" in rules) == ("warning", False)


def test_a_bias_that_is_the_same_for_all_rows_takes_no_positions_of_their_own(run, mine):
    mine(HEAD, "def mine(q, k, positions):\n    d = positions.flatten()[-q.shape[2]:]\n"
         "    return -(d[:, None] - d).abs().to(q.dtype).expand(1, q.shape[1], -1, -1)")  # fmt: skip
    _, out, _ = run("audit", "mine.py:mine", "--dtype", "float64", "--to", "100", "--json")
    [note] = json.loads(out)["audits"][0]["notes"].values()
    assert "must return a bias [2, H, 24, 24], not [1, 4, 24, 24]" in note


ROTATION = """
def turned(x, positions):
    angles = positions.double()[..., None] * 0.01 ** torch.arange(x.shape[-1] // 2)
    angles = angles if positions.dim() == 1 else angles[:, None]
    a, b = x.double().chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1).to(x.dtype)


def mine(q, k, positions):
    return [WRITE for x in (q, k)]
"""
WRITES = {
    "into its arguments": "x.copy_(turned(x, positions))",
    "into its positions": "turned(x, positions).add(0 * positions.add_(1).sum() if x is k else 0)",
    "tensors of another class": "turned(x, positions).as_subclass(type('Kind', (torch.Tensor,), {}))",
    "what has a gradient": "turned(x, positions) + 0 * x.requires_grad_()",
}


@pytest.mark.parametrize("name", WRITES)
def test_a_rotation_is_sound_whatever_else_it_does_to_its_tensors(run, name, mine, recwarn):
    mine(HEAD, ROTATION.replace("WRITE", WRITES[name]))
    status, out, err = run("audit", "mine.py:mine", "--dtype", "float64", "--to", "100", "--json")
    assert (status, json.loads(out)["audits"][0]["findings"], [*recwarn]) == (0, [], []), err


MODEL = """
class Writing(Model):
    def forward(self, input_ids):
        logits = super().forward(input_ids)
        input_ids += 1
        return logits.as_subclass(type("Kind", (torch.Tensor,), {}))


mine = Writing()
"""


def test_a_model_may_write_into_its_token_ids_and_give_tensors_of_another_class(run, mine):
    mine(HEAD, "mine = Model()")
    audit = ("audit", "mine.py:mine", "--dtype", "float64", "--to", "40")
    plain = run(*audit)
    mine(HEAD, MODEL)
    assert run(*audit)[:2] == plain[:2]
