"""Families of transformers: small models of every kind from a model type alone, and the survey of them all."""

import os

import pytest
import torch

from lengthgen.empirical.audit import AuditError
from lengthgen.empirical.audit.models.configs import load_model, role_of
from lengthgen.empirical.audit.models.runner import Runner

pytest.importorskip("transformers", reason="models of transformers need it")

FAMILIES = {
    "xlm-roberta": "XLMRobertaForMaskedLM",
    "deberta-v2": "DebertaV2ForMaskedLM",
    "modernbert": "ModernBertForMaskedLM",
    "clip_text_model": "CLIPTextModel",
    "whisper": "WhisperForCausalLM",
    "mbart": "MBartForConditionalGeneration",
    "t5gemma": "T5GemmaForConditionalGeneration",
    "gpt_neo": "GPTNeoForCausalLM",
    "dbrx": "DbrxForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "gemma3n": "Gemma3nForCausalLM",
    "glm_image_text": "GlmImageTextModel",
    "qwen3_next": "Qwen3NextForCausalLM",
    "jamba": "JambaForCausalLM",
    "zamba2": "Zamba2ForCausalLM",
}
"""Model types with a hyphen, of encoders, of a decoder with an encoder, of nested fields, of experts and of states."""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_made_small_and_called(family):
    runner = Runner(load_model(f"hf:{family}", {}))
    assert type(runner.model).__name__ == FAMILIES[family]
    assert sum(part.numel() for part in runner.model.parameters()) < 5_000_000
    outputs, _ = runner.call(runner.ids(2, 12))
    assert outputs.dtype == torch.float64
    assert outputs.isfinite().any()


@pytest.mark.parametrize(
    "family, name, kinds",
    [
        ("gemma3", "layer_types", ["sliding_attention", "full_attention"]),
        ("smollm3", "no_rope_layers", [1, 0]),
        ("lfm2", "layer_types", ["full_attention", "full_attention"]),
        ("granitemoehybrid", "layer_types", ["linear_attention", "full_attention"]),
    ],
)
def test_a_small_model_has_a_layer_of_each_kind(family, name, kinds):
    sizes = load_model(f"hf:{family}", {}).sizes
    assert sizes[name] == kinds
    assert sizes["num_hidden_layers"] == len(kinds)


def test_numbers_of_layers_are_moved_with_the_layers():
    sizes = load_model("hf:mllama", {}).sizes
    [place] = sizes["cross_attention_layers"]
    assert 0 <= place < sizes["num_hidden_layers"]


def test_fields_that_are_set_stay_as_they_are():
    subject = load_model("hf:gemma3", {"num_hidden_layers": 6, "num_key_value_heads": 1})
    assert (subject.config.num_hidden_layers, subject.config.num_key_value_heads) == (6, 1)
    assert len(subject.config.layer_types) == 6


@pytest.mark.parametrize(
    "family, says",
    [
        ("mamba", "'mamba' has no attention: it is recurrent"),
        ("vit", "ViTModel takes no token ids"),
        ("xlm_robert", "did you mean xlm-roberta"),
    ],
)
def test_a_family_without_attention_to_tokens_is_one_line(family, says):
    with pytest.raises(AuditError, match=says) as refused:
        load_model(f"hf:{family}", {})
    assert "\n" not in str(refused.value)


def test_names_tell_roles():
    assert role_of("decoder_attention_heads") == role_of("mamba_n_heads") == "heads"
    assert role_of("moe_num_experts") == "experts"
    assert role_of("index_topk") is role_of("qk_head_dim") is None


def test_a_process_that_ends_loses_one_family(monkeypatch):
    families = pytest.importorskip("bench.families")

    def audited(name):
        if name == "hf:bad":
            os._exit(1)
        if name == "hf:refused":
            raise AuditError("two\nlines")
        return {"audits": [{"recognised": [{"encoding": "RoPE"}], "findings": []}]}

    monkeypatch.setattr(families, "audit", audited)
    rows = dict(families.survey(["bad", "refused", "good"]))
    assert "ends its process" in rows["bad"]["refused"]
    assert rows["refused"] == {"refused": "two lines"}
    assert rows["good"]["recognised"] == ["RoPE"]


def test_families_with_the_same_answer_are_one_row_of_the_table():
    table = pytest.importorskip("bench.audit_table")
    error = {"rule": "padding", "severity": "error", "says": "it differs", "first": {"all": None}}
    row = {"seconds": 1.0, "recognised": ["RoPE"], "same": []}
    families = {
        "a": {**row, "findings": []},
        "b": {**row, "findings": [], "same": ["b_text"]},
        "c": {**row, "findings": [error]},
        "d": {"refused": "'d' has no attention", "same": []},
    }
    page = table.page({"date": "today", "versions": {}, "families": families, "subjects": {}}, None)
    assert "| RoPE | none | none | none | a, b = b_text |" in page
    assert "| d | it has no attention |" in page
    assert "| c | `padding` | not checked |" in page
