"""Audits: configurations with hostile values, sizes at limits and beyond, own modules with hostile answers."""

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.attack.fuzzing import Call
from tests.attack.tally import draws
from tests.attack.user_files import FAILURES, HEAD

QUICK = ("--to", "60", "--dtype", "float32")
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llama": ("rope_theta", "num_key_value_heads", "head_dim", "intermediate_size", "max_position_embeddings"),
    "gpt2": ("n_positions", "n_embd", "n_head", "n_inner", "layer_norm_epsilon"),
    "bloom": ("hidden_size", "n_head", "n_layer", "layer_norm_epsilon"),
    "gpt_neox": ("rotary_pct", "rotary_emb_base", "hidden_size", "max_position_embeddings"),
    "t5": ("d_kv", "d_ff", "num_heads", "relative_attention_num_buckets", "relative_attention_max_distance"),
    "gemma3": ("sliding_window", "layer_types", "query_pre_attn_scalar", "rope_local_base_freq", "head_dim"),
    "deepseek_v3": ("q_lora_rank", "qk_rope_head_dim", "v_head_dim", "n_routed_experts", "first_k_dense_replace"),
    "phi": ("partial_rotary_factor", "num_attention_heads", "rope_parameters"),
}
"""Model types, each with fields of its own."""
EVERYWHERE = (
    "vocab_size", "num_hidden_layers", "num_attention_heads", "hidden_size", "rope_scaling", "rope_parameters",
    "model_type", "layer_types", "torch_dtype", "architectures", "quantization_config", "tie_word_embeddings",
    "pad_token_id", "hidden_act", "attention_dropout", "no_such_field",
)  # fmt: skip
ROPE: Mapping[str, tuple[str, ...]] = {
    "default": ("rope_theta", "partial_rotary_factor"),
    "linear": ("factor",),
    "dynamic": ("factor", "original_max_position_embeddings"),
    "yarn": ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate",
             "original_max_position_embeddings", "rope_theta"),
    "longrope": ("short_factor", "long_factor", "factor", "attention_factor", "original_max_position_embeddings"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "no_such_type": ("factor",),
}  # fmt: skip
"""Types of frequencies, each with its fields."""
VALUES = (
    "0", "-0", "-1", "1", "2", "3", "7", "64", "1000", "100000000", "100000000000", "1" + "0" * 30, "9" * 5000, "0.0",
    "-0.5", "0.3", "64.0", "1e-320", "1e38", "1e308", "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "true",
    "false", "null", '""', '"64"', '"x"', '"' + "x" * 10_000 + '"', '"\\u001b[31m\\n"', '"\\udcff"', "[]", "[1]",
    "[1, 2]", "[null]", '["x"]', "[NaN]", "[[1]]", "{}", '{"x": 1}', '{"full_attention": {}}',
    '{"rope_type": "yarn", "factor": -4}', '{"rope_type": 5}', '{"rope_type": null, "rope_theta": 0}',
    '{"type": "linear", "factor": "4"}', "[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000, "[" * 900 + "]" * 900,
)  # fmt: skip
"""Values as JSON writes them, or as what is none."""
MILD = ("1", "2", "3", "7", "32", "64", "0.3", "1.5", "4.0", "true", "false", "null")
"""Values that many fields take, so that an audit goes on."""
ANSWERS = (
    "x", "x * float('inf')", "x * float('nan')", "x * 1e308 * x", "x * 0", "x.half()", "x.to(torch.float8_e4m3fn)",
    "x.long()", "x.bool()", "x.to(torch.complex64)", "x.to('meta')", "x.to_sparse()", "x.numpy()", "x.tolist()",
    "float(x.sum())", "None", "()", "'x'", "x[..., :0]", "x[..., :1]", "x[0]", "x[None]", "x.flatten()", "x.sum()",
    "x.expand(3, *x.shape[1:])", "x.transpose(-1, -2)", "x.transpose(-1, -2).contiguous().transpose(-1, -2)",
    "x.flip(-1)", "torch.nn.Parameter(x.clone())", "torch.nested.nested_tensor([x[0]])", "Hostile()", "(x, x, x)",
    "torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)", "torch.where(positions > 5, 1.0, x.new_tensor(1e300))",
    "x if positions.max() < 30 else None", "x if positions.max() < 30 else x * float('nan')", "x + torch.rand(())",
    "x.to(torch.float64).requires_grad_()", "{'x': x}", "iter([x])",
    "torch.zeros(1, 4, len(positions), len(positions))",
    "torch.zeros(2, 4, len(positions), len(positions))", "torch.zeros(len(positions), len(positions))",
    "torch.full((4, len(positions), len(positions)), float('-inf'))", "x.as_subclass(Strange)",
)  # fmt: skip
"""Answers of an own function, from its first argument `x` and positions."""
FORMS = {
    "rotation": "def own(q, k, positions):\n    x = q\n    y = {answer} if not early() else x\n    return (y, y)",
    "query": "def own(q, k, positions):\n    x = q\n    return ({answer} if not early() else x, k)",
    "bias by q and k": "def own(q, k, positions):\n    x = q\n    return {answer} if not early() else x",
    "bias": "def own(queries, keys):\n    positions = keys\n    x = -(queries[:, None] - keys).abs().double()[None]\n"
    "    return {answer} if not early() else x",
    "of one": "def own(x, positions):\n    return {answer} if not early() else x",
    "by lengths": "def own(n_queries, n_keys):\n    positions = torch.arange(n_keys)\n"
    "    x = -(positions[-n_queries:, None] - positions).abs().double()[None]\n"
    "    return {answer} if not early() else x",
    "cosine": "def own(positions):\n    x = torch.outer(positions.double(), torch.arange(1, 5)).cos()\n"
    "    y = {answer} if not early() else x\n    return (y, y)",
    "model": "class own(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.table = torch.nn.Embedding(80, 8)\n        self.config = Config()\n"
    "    def forward(self, input_ids, position_ids=None):\n        positions = torch.arange(input_ids.shape[1])\n"
    "        e = self.table(input_ids)\n        x = e @ e.transpose(-1, -2)\n        x = x.softmax(-1) @ e\n"
    "        return {answer} if not early() else x",
}
"""Own objects that give an answer, at first perhaps the right one."""
STRANGE = """
class Strange(torch.Tensor):
    pass

calls = itertools.count()

def early():
    return next(calls) < {right}

class Config:
    layer_types = {layers}
    rope_parameters = {rope}
    max_position_embeddings = {trained}
    num_attention_heads = {heads}
    head_dim = property(lambda self: 1 / 0)
    def to_dict(self):
        raise RuntimeError("no dict")
"""
CONSTANTS = ("None", "0", "-1", "True", "3", "10**30", "float('nan')", "'x'", "[None, 3]", "['full_attention']",
             "{'rope_type': 'yarn', 'factor': -4}", "{'full_attention': None}", "{3: {}}", "Hostile()")  # fmt: skip
"""Python values of fields of an own configuration, and of what an own function says that it follows."""


def calls(material: Path, count: int, seed: int, only: str = "") -> Iterator[Call]:
    """Yield `count` audits, drawn by the seed, of kinds whose name begins with `only`."""
    kinds = [kind for kind in MAKERS if kind.startswith(only)]
    with suppress(ImportError):
        for family in FAMILIES if kinds != ["own"] else ():  # so that each fork finds them imported
            import_module(f"transformers.models.{family}.modeling_{family}")
    for drawn, pick in draws(count, seed):
        kind = pick.choice(kinds)
        arguments, files = MAKERS[kind](pick)
        words = ("audit", *arguments, *QUICK, *(["--json"] if pick.random() < 0.5 else []))
        yield Call(kind=f"audit {kind}", arguments=words, files=files, seed=drawn)


def _set_fields(pick: random.Random) -> tuple[list[str], dict[str, str]]:
    """Model by its type, with one to three hostile fields."""
    family = pick.choice([*FAMILIES])
    return [f"hf:{family}", *_settings(family, pick, pick.choice((1, 1, 1, 2)))], {}


def _settings(family: str, pick: random.Random, count: int) -> list[str]:
    words = []
    for _ in range(count):
        rope_type = pick.choice([*ROPE])
        if pick.random() < 0.5:
            words += ["--set", f"rope_type={rope_type}", "--set", f"{pick.choice(ROPE[rope_type])}={_value(pick)}"]
        else:
            words += ["--set", f"{pick.choice((*FAMILIES[family] * 2, *EVERYWHERE))}={_value(pick)}"]
    return words


def _value(pick: random.Random) -> str:
    return pick.choice(MILD if pick.random() < 0.5 else VALUES)


def _written(pick: random.Random) -> tuple[list[str], dict[str, str]]:
    """Model by its config.json, with hostile values of some fields."""
    family = pick.choice([*FAMILIES])
    fields: dict[str, str] = {"model_type": json.dumps(family)}
    for name in pick.sample((*FAMILIES[family], *EVERYWHERE), pick.choice((1, 1, 2, 3))):
        fields[name] = _value(pick)
    if pick.random() < 0.4:
        rope_type = pick.choice([*ROPE])
        rope = {name: _value(pick) if pick.random() < 0.5 else "4.0" for name in ROPE[rope_type]}
        name = pick.choice(("rope_parameters", "rope_scaling"))
        fields[name] = _object({"rope_type": json.dumps(rope_type)} | rope)
    if pick.random() < 0.1:
        fields["text_config"] = _object({"num_hidden_layers": _value(pick), "vocab_size": _value(pick)})
    text = pick.choice((_value(pick), "", "\x00")) if pick.random() < 0.08 else _object(fields)
    return ["hf:config.json", *(_settings(family, pick, 1) if pick.random() < 0.2 else [])], {"config.json": text}


def _object(fields: Mapping[str, str]) -> str:
    return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"


def _own(pick: random.Random) -> tuple[list[str], dict[str, str]]:
    """Function or model in a file, with a hostile answer, configuration or claim."""
    constants = {name: pick.choice(CONSTANTS) for name in ("layers", "rope", "trained", "heads")}
    head = STRANGE.format(right=pick.choice((0, 0, 1, 3, 9, 50, 300)), **constants)
    answer = pick.choice(ANSWERS) if pick.random() < 0.9 else f"exec({pick.choice(FAILURES)!r}, globals())"
    form = pick.choice([*FORMS])
    text = f"{HEAD}\n{head}\n{FORMS[form].format(answer=answer)}\n"
    if form != "model" and pick.random() < 0.3:
        names = pick.sample(("rope_theta", "factor", "rope_type", "alibi"), 2)
        text += f"own.follows = {{{', '.join(f'{name!r}: {pick.choice(CONSTANTS)}' for name in names)}}}\n"
    if form != "model" and pick.random() < 0.1:
        text += f"own.claims = {pick.choice(CONSTANTS)}\n"
    return ["own.py:own", "--head-dim", "8"], {"own.py": text}


MAKERS: Mapping[str, Any] = {"fields": _set_fields, "config": _written, "own": _own}
