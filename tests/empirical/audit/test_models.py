"""Whole models, planted bugs, published constants and reproductions of the audit."""

import math
import re
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from bench.museum.__main__ import arguments, catalogue
from lengthgen.empirical.audit import AuditError, assert_lawful
from lengthgen.empirical.audit.models import call_patterns
from lengthgen.empirical.audit.models.anatomy import rope_fields
from lengthgen.empirical.audit.models.audit import audit_model
from lengthgen.empirical.audit.models.bounds import TooLarge, bounded, field_of
from lengthgen.empirical.audit.models.configs import load_model
from lengthgen.empirical.audit.published_constants import BY_LENGTH, FIELDS, code_slopes, rotary, text_slopes
from lengthgen.empirical.audit.reproduction import confirmed
from lengthgen.empirical.audit.rules import RULES
from lengthgen.infrastructure.userfile import run_file
from lengthgen.questions.auditing import audit

ROOT = Path(__file__).parents[3]
RIGHT = Path(__file__).parents[1] / "examples" / "right_encodings.py"
PORTED = [exhibit for exhibit in catalogue() if "bad" not in exhibit]

pytest.importorskip("transformers", reason="models of transformers need it")


def audited(name, **fields):
    [answer] = audit_model(
        load_model(f"hf:{name}", fields), requested=fields, dtypes=("float32",), to=1000, budget=None, with_parts=False
    )
    return answer


ENCODINGS = {
    "llama": ("RoPE", "half-split"),
    "mistral": ("RoPE", "half-split"),
    "qwen3": ("RoPE", "half-split"),
    "gemma3": ("RoPE", "half-split"),
    "phi": ("RoPE", "half-split within 16 of 32 coordinates"),
    "gpt_neox": ("RoPE", "half-split within 8 of 32 coordinates"),
    "gptj": ("RoPE", "interleaved"),
    "deepseek_v3": ("RoPE", "half-split within 32 of 64 coordinates"),
    "falcon": ("RoPE", "half-split"),
    "gpt2": ("absolute positions, added to embeddings", None),
    "bloom": ("bias", None),
    "t5": ("bias", None),
    "bert": ("absolute positions, added to embeddings", None),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_model_is_recognised_and_no_alarm_is_false(name):
    answer = audited(name)
    assert [finding for finding in answer["findings"] if finding["severity"] != "note"] == []
    for layer in answer["recognised"]:
        assert (layer["encoding"], layer.get("layout")) == ENCODINGS[name]
        if "layout" in layer:
            assert layer["difference_after_permutation"] < 1e-6
            assert layer["constants"] == "published"
        assert layer["causal"] is (name != "bert")
    assert sum(pattern["difference"] is not None for pattern in answer["patterns"].values()) >= 4
    assert "right padded" in answer["patterns"] or name == "t5"


@pytest.fixture
def called_alone(monkeypatch):
    """Have no call patterns compared, for tests of constants and fields: those of the same model are elsewhere."""
    monkeypatch.setattr(call_patterns, "measure", lambda *_: [])


@pytest.mark.parametrize("rope_type", FIELDS)
def test_every_rope_type_has_its_published_constants_and_every_field_is_honoured(rope_type, request):
    if rope_type not in BY_LENGTH:
        request.getfixturevalue("called_alone")
    answer = audited("llama", rope_type=rope_type, rope_theta=5000.0)
    assert answer["findings"] == []
    assert answer["recognised"][0]["constants"] == "published"
    required = {"factor", "original_max_position_embeddings", "short_factor", "low_freq_factor"} & set(
        FIELDS[rope_type]
    )
    assert {answer["fields"][name] for name in required - {"factor" if rope_type == "longrope" else ""}} <= {"honoured"}


def test_a_field_without_effect_is_named(called_alone):
    answer = audited("llama", rope_type="yarn", mscale=2.0)
    assert [finding["rule"] for finding in answer["findings"]] == ["config-ignored"]
    assert answer["findings"][0]["says"] == "the field mscale has no effect"


def test_a_frequency_of_another_formula_is_found_in_a_model(called_alone):
    subject = load_model("hf:llama", {"rope_type": "linear", "factor": 4.0})

    def broken():
        model = subject.rebuild({})
        model.model.rotary_emb.inv_freq *= 4.0  # as if the factor were forgotten
        return model

    wrong = type(subject)(**{**vars(subject), "build": broken})
    [answer] = audit_model(wrong, requested={}, dtypes=("float32",), to=100, budget=None, with_parts=False)
    assert [finding["rule"] for finding in answer["findings"]] == ["scaling-ignored"]


PLANTED = (
    ("Rope", "positions.double()[", "positions.bfloat16().double()[", "positions-rounded"),
    ("Rope", "[..., None] * steps\n", "[..., None] * steps\n            angles = angles.bfloat16().double()\n",
     "angles-rounded frequencies-rounded"),
    ("Rope", ".double() / self.head_dim)\n", ".double() / self.head_dim)\n            steps = steps.half().double()\n",
     "frequencies-rounded"),
    ("Rope", "(-wide[..., half:]", "(wide[..., half:]", "sine-sign"),
    ("Rope", "turn(q), turn(k)", "turn(q), k", "key-not-rotated"),
    ("Rope", "torch.cat((angles, angles), -1)", "angles.repeat_interleave(2, -1)", "layouts-mixed"),
    ("Rope", "angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)",
     "angles.cos().unsqueeze(-2), angles.sin().unsqueeze(-2)", "positions-over-heads"),
    ("Rope", "key = (self.base, ", "key = (", "parameter-ignored shared-table"),
    ("Rope", "angles = positions.double()", "angles = torch.arange(positions.shape[-1]).double()", "positions-ignored"),
    ("alibi", "return -slopes", "return slopes", "sign-reversed"),
    ("alibi", "distance.abs()", "distance.abs().clamp(max=100)", "codes-clamped"),
)  # fmt: skip
"""Bugs: an object of the right code, the text that is replaced, what by, and the rules that may name it first."""


def rules_of(path, name):
    claims = ["relative", "distinct", "streaming"] if name == "alibi" else None
    heads = 12 if name == "alibi" else 4
    answer = audit(f"{path}:{name}", dtypes=["float64"], claims=claims, to=3000, heads=heads, head_dim=16)
    return [(finding["rule"], finding["reproduction"]) for part in answer["audits"] for finding in part["findings"]]


@pytest.mark.parametrize(("name", "old", "new", "rules"), PLANTED)
def test_a_planted_bug_is_found_by_name_with_a_reproduction_that_the_right_code_passes(tmp_path, name, old, new, rules):
    right, path = RIGHT.read_text(encoding="utf-8"), tmp_path / "planted.py"
    assert old in right
    path.write_text(right.replace(old, new), encoding="utf-8")
    [(rule, reproduction), *_] = rules_of(path, name)
    assert rule in rules.split()
    if rule == "shared-table":  # its table has one entry, which two calls with the same positions do not replace
        return
    with pytest.raises(AssertionError):
        exec(reproduction, {})
    path.write_text(right, encoding="utf-8")
    exec(reproduction, {})


@pytest.mark.parametrize("name", ["Rope", "alibi"])
def test_nothing_is_found_in_the_code_before_bugs_are_planted(name):
    assert rules_of(RIGHT, name) == []


@pytest.mark.parametrize("exhibit", PORTED, ids=[exhibit["rule"] + ": " + exhibit["name"] for exhibit in PORTED])
def test_a_ported_bug_of_the_museum_is_found_and_silent_when_mended(exhibit):
    is_model = "mended" in exhibit
    options = {"dtypes": ["float64"], "to": 30 if is_model else 600, "heads": 2, "head_dim": 64}

    def rules(mended):
        spec, parameters = arguments(exhibit, mended=mended)[0], {"mended": True} if mended and not is_model else {}
        answer = audit(str(ROOT / spec), parameters=parameters, **options)
        return {finding["rule"]: finding for part in answer["audits"] for finding in part["findings"]}

    broken = rules(mended=False)
    assert exhibit["rule"] in broken
    with pytest.raises(AssertionError):
        exec(broken[exhibit["rule"]]["reproduction"], {})
    assert rules(mended=True) == {}


def test_slopes_of_both_rules_are_told_apart_and_neither_is_an_alarm():
    assert text_slopes(8) == code_slopes(8)
    for slopes, rule in ((text_slopes(12), "text"), (code_slopes(12), "code")):
        fixed = torch.tensor(slopes, dtype=torch.float64)[:, None, None]

        def bias(j, i, fixed=fixed):
            return -fixed * (j[..., :, None] - i[..., None, :]).abs()[..., None, :, :]

        [answer] = assert_lawful(lambda j, i, bias=bias: bias(j, i), heads=12, to=300, dtypes=("float32",))
        assert answer["slope"]["rule"] == rule
    assert code_slopes(12)[8:] == [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]


def test_assert_lawful_raises_with_rule_and_mend_and_takes_whole_models():
    broken = run_file(str(ROOT / "bench/museum/exhibits/ported.py"), what="file", error=AuditError)
    with pytest.raises(AssertionError, match=r"start-index-ignored.*Mend: Add the length of the cache"):
        assert_lawful(broken["start_index_ignored"], dtypes=("float64",), to=30)
    with pytest.raises(AssertionError, match="positions-rounded"):
        assert_lawful(broken["positions_in_bfloat16"], dtypes=("float64",), to=600, heads=1)
    assert_lawful(broken["positions_in_bfloat16"], dtypes=("float64",), to=600, heads=1, allow=["positions-rounded"])
    with pytest.raises(AuditError, match="unknown severity 'all': choose among error, warning, note"):
        assert_lawful(broken["positions_in_bfloat16"], fail_on="all")
    with pytest.raises(AuditError, match="no rule 'positions-roundd' can be allowed: did you mean positions-rounded"):
        assert_lawful(broken["positions_in_bfloat16"], allow=["positions-roundd"])


def own_rope(x, positions):
    """(x, positions) -> x, which was once taken for a bias."""
    steps = 10000.0 ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = (positions.double()[..., None] * steps).unsqueeze(-3)
    first, second = x.double()[..., 0::2], x.double()[..., 1::2]
    turned = (first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin())
    return torch.stack(turned, -1).flatten(-2).to(x.dtype)


def heads_last(x, *, input_pos=None):
    """The layout [B, L, H, C] with positions by keyword."""
    return own_rope(x.transpose(1, 2), torch.arange(x.shape[1]) if input_pos is None else input_pos).transpose(1, 2)


def cosines_and_sines(x, position_ids):
    steps = 10000.0 ** (-torch.arange(0, 16, 2).double() / 16)
    angles = position_ids.double()[..., None] * steps
    return tuple(
        torch.cat((part, part), -1).to(torch.promote_types(x.dtype, torch.float32))
        for part in (angles.cos(), angles.sin())
    )


@pytest.mark.parametrize("thing", [own_rope, heads_last, cosines_and_sines])
def test_signatures_of_libraries_and_users_are_understood(thing):
    [answer] = assert_lawful(thing, heads=3, head_dim=16, to=600, dtypes=("float32",), fail_on="note")
    assert answer["kind"] == "rotate"


def test_an_unknown_signature_is_answered_with_those_that_are_understood():
    with pytest.raises(AuditError, match=r"signatures that are understood: .*\(q, k, positions\).*input_ids"):
        assert_lawful(lambda a, b, c: "nothing")


def test_a_reproduction_that_does_not_fail_is_not_reported():
    assert confirmed(["error = 0.0"]) is None
    assert confirmed(["error = undefined"]) is None
    assert confirmed(["error = 0.5"]) == "error = 0.5\nassert error <= 0.2, error"


def test_every_rule_has_a_law_and_a_mend():
    assert all(rule.law.endswith(".") and rule.mend for rule in RULES.values())


@pytest.mark.parametrize(
    "spec, changed, says",
    [
        ("hf:lama", {}, r"knows no language model 'lama': did you mean llama"),
        ("hf:zzzz", {}, r"knows no language model 'zzzz': there are .* or path/to/config.json"),
        ("hf:llama", {"rope_thta": 3.0}, r"LlamaConfig has no field 'rope_thta': did you mean rope_theta"),
    ],
)
def test_an_unknown_name_gets_the_nearest_ones(spec, changed, says):
    with pytest.raises(AuditError, match=says):
        load_model(spec, changed)


def test_published_constants_agree_with_hand_computed_ones():
    linear = rotary({"rope_type": "linear", "factor": 2.0}, width=4, head_dim=4, trained=64, length=64)
    assert linear.frequencies == pytest.approx((0.5, 0.005))
    longrope = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 64, "short_factor": [1, 2],
                "long_factor": [4, 8]}  # fmt: skip
    short, long = (rotary(longrope, width=4, head_dim=4, trained=256, length=length) for length in (64, 65))
    assert short.frequencies == pytest.approx((1, 0.005)) and long.frequencies == pytest.approx((0.25, 0.00125))
    assert long.attention_factor == pytest.approx((4 / 3) ** 0.5)
    with pytest.raises(AuditError, match="needs the field 'factor'"):
        rotary({"rope_type": "linear"}, width=4, head_dim=4, trained=64, length=64)


HOSTILE = [
    ({"rope_theta": -0.0}, "rope_theta = -0.0: it must be a number, above 0"),
    ({"rope_theta": math.inf}, "rope_theta = inf: it must be a number"),
    ({"rope_theta": True}, "rope_theta = True: it must be a number"),
    ({"rope_type": "yarn", "factor": -4}, "factor = -4: it must be a number, above 0"),
    ({"rope_scaling": {"rope_type": "linear", "factor": "4"}}, "factor = '4': it must be a number"),
    ({"rope_type": "dynamic", "factor": 1e38}, "gives logits that are not finite"),
    ({"rope_type": "yarn", "rope_theta": 1}, "ZeroDivisionError"),
    ({"attention_dropout": math.nan}, "attention_dropout = nan is no finite number"),
    ({"hidden_size": "64"}, "hidden_size = '64': it must be a whole number"),
    ({"hidden_size": 64.0}, "hidden_size = 64.0: it must be a whole number"),
    ({"hidden_size": [64]}, "hidden_size = a value of type list: it must be a whole number"),
    ({"rope_parameters": [1]}, "rope_parameters = a value of type list: it must be an object"),
    ({"rope_scaling": reduce(lambda inner, _: [inner], range(5000), 1)}, "nested more than 20"),
    ({"num_hidden_layers": 10**8}, "num_hidden_layers = 100000000: it must be a whole number, 1 to"),
    ({"vocab_size": 10**11}, "vocab_size = 100000000000: it must be a whole number, 1 to"),
    ({"intermediate_size": 10**6, "num_hidden_layers": 9}, "takes more than 8 GiB: set a smaller"),
]


@pytest.mark.parametrize(("fields", "says"), HOSTILE)
def test_a_hostile_configuration_is_one_line(fields, says):
    with pytest.raises(AuditError, match=re.escape(says)) as refused:
        audited("llama", **fields)
    assert "\n" not in str(refused.value)


def test_a_model_is_refused_before_it_takes_memory_whichever_field_makes_it_large():
    large = {"t5": {"relative_attention_num_buckets": 10**11}, "xglm": {"max_position_embeddings": 10**8}}
    for family, fields in large.items():
        with pytest.raises(TooLarge, match="takes more than 8 GiB"):
            load_model(f"hf:{family}", fields)
    with pytest.raises(TooLarge, match="more than 20,000 modules"), bounded("mine"):
        nn.ModuleList(nn.Identity() for _ in range(20_001))


def test_a_configuration_file_is_read_as_all_files_are(tmp_path, monkeypatch):
    path = tmp_path / "config.json"
    for text, says in {
        "[" * 100_000: "is not JSON",
        '{"model_type": "llama", "rope_theta": NaN}': "rope_theta = nan: it must be a number",
        '{"model_type": "llama", "text_config": {"num_hidden_layers": 1e400}}': "num_hidden_layers = inf: it must be",
    }.items():
        path.write_text(text)
        with pytest.raises(AuditError, match=says):
            load_model(f"hf:{path}", {})
    monkeypatch.setattr("lengthgen.infrastructure.files.LARGEST", 10)
    with pytest.raises(AuditError, match="at most 10 are read"):
        load_model(f"hf:{path}", {})


class Layered:
    """Configuration whose heads differ by layer, and which says so as transformers does."""

    num_hidden_layers = 2
    num_attention_heads = object()

    @property
    def head_dim(self):
        raise AttributeError("'head_dim' is a per-layer attribute")

    rope_parameters = rope_scaling = rope_theta = property(lambda self: 1 / 0)


def test_fields_that_a_configuration_refuses_to_give_are_passed_over():
    assert field_of(Layered(), "head_dim") is field_of(Layered(), "num_attention_heads") is None
    assert field_of(Layered(), "num_hidden_layers") == 2
    assert rope_fields(Layered()) == {"rope_type": "default"}


@pytest.mark.parametrize(
    "rope", [{"full": None}, {"local": {"rope_type": "linear", "factor": 2.0}}, [3], "text", {3: {}}]
)
def test_rope_fields_of_any_form_are_read(rope):
    fields = rope_fields(SimpleNamespace(rope_parameters=rope))
    assert fields["rope_type"] == ("linear" if "local" in rope else "default")


@pytest.mark.parametrize(
    ("fields", "width"),
    [
        ({"rope_type": "yarn", "factor": 2.0, "rope_theta": 1}, 8),
        ({"rope_type": "dynamic", "factor": 2.0}, 2),
        ({"rope_type": "longrope", "short_factor": 1, "long_factor": 1}, 8),
        ({"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1, "high_freq_factor": 1}, 8),
    ],
)
def test_fields_that_give_no_frequencies_are_one_line(fields, width):
    with pytest.raises(AuditError, match="has no frequencies with these fields"):
        rotary({**fields, "original_max_position_embeddings": 8}, width=width, head_dim=8, trained=8, length=8)
