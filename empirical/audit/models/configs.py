"""Models of transformers from a configuration alone: small sizes filled in, random weights, no download."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from empirical.audit.models.bounds import NAMES, SIZES, TooLarge, bounded, require_affordable, require_plain, size_of
from empirical.audit.models.runner import Subject
from empirical.audit.published import FIELDS, ROPE_TYPES, require_number
from empirical.audit.subject import AuditError
from theory.system.errors import nearest
from theory.system.files import read_json
from theory.system.userfile import require_file, user_code

PREFIX = "hf:"
ALIASES = {"gpt-2": "gpt2", "qwen": "qwen2", "deepseek": "deepseek_v3", "gpt-neox": "gpt_neox", "gptneox": "gpt_neox",
           "neox": "gpt_neox", "gemma-2": "gemma2", "gemma-3": "gemma3_text", "gemma3": "gemma3_text"}  # fmt: skip
HEADS, HEAD_DIM, LAYERS, VOCABULARY, TRAINED = 4, 32, 2, 128, 256
ROPE_FIELDS = ("rope_type", "rope_theta", "partial_rotary_factor",
               *dict.fromkeys(name for names in FIELDS.values() for name in names))  # fmt: skip
"""Fields that `rope_parameters` (transformers 5) or `rope_scaling` (4) hold."""
DROPPED = ("architectures", "model_type", "torch_dtype", "dtype", "auto_map", "transformers_version", "layer_types",
           "_name_or_path", "quantization_config", "bos_token_id", "eos_token_id", "pad_token_id")  # fmt: skip
"""Fields of a file that say nothing about positions, or that no longer fit a small model."""
MIXTURE = {"num_experts": 2, "num_local_experts": 2, "n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1,
           "topk_group": 1, "first_k_dense_replace": LAYERS}  # fmt: skip
"""Small numbers of experts."""
LATENT = {"q_lora_rank": 96, "kv_lora_rank": 96, "qk_nope_head_dim": HEAD_DIM, "qk_rope_head_dim": HEAD_DIM,
          "v_head_dim": HEAD_DIM, "rotary_dim": HEAD_DIM // 2}  # fmt: skip
"""Sizes of latent attention: ranks at least as large as a head, so that all its coordinates can be read."""


def library() -> Any:
    """The package transformers; AuditError says how to install it."""
    try:
        import transformers
    except ImportError as error:
        reason = (
            "" if error.name == "transformers" else f" (it is here, but fails: {' '.join(str(error).split())[:200]})"
        )
        raise AuditError(f"'hf:' models need the package transformers: pip install transformers{reason}") from None
    transformers.logging.set_verbosity_error()
    return transformers


def load_model(spec: str, changed: Mapping[str, Any]) -> Subject:
    """Subject of hf:MODEL_TYPE, hf:CLASS or hf:path/to/config.json, with changed fields of the configuration.

    Raises:
        AuditError: the class, the file or a field does not exist, the configuration is refused, a number in it is out
            of range, or the model would take too much memory.
    """
    text = spec.removeprefix(PREFIX)
    package = library()
    written: dict[str, Any] = {}
    if text.endswith(".json"):
        written = _read(text)
        text = str(written.get("model_type", ""))
    config_class, model_class = _classes(package, text)
    require_plain({**written, **changed})
    fields, sizes = _fields(config_class, written, dict(changed))

    def make_config(more: Mapping[str, Any]) -> Any:
        with user_code(f"{config_class.__name__} refuses its fields", error=AuditError):
            return config_class(**_with_rope(config_class, fields, more))

    def build(more: Mapping[str, Any]) -> nn.Module:
        config = make_config(more)
        torch.manual_seed(0)
        with user_code(f"{model_class.__name__} cannot be made", error=AuditError), bounded(text):
            try:
                model = model_class._from_config(config, attn_implementation="eager")
            except TooLarge:
                raise
            except (TypeError, ValueError):  # older versions know one implementation only
                model = model_class(config)
        return model

    def isolated(more: Mapping[str, Any]) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            return build(more)

    config = make_config({})
    heads, trained = size_of(config, "heads") or 1, size_of(config, "trained")
    require_affordable(text, lambda: isolated({}), heads=heads, trained=trained)
    shown = ", ".join(f"{name}={value!r}" for name, value in _with_rope(config_class, fields, {}).items())
    recipe = (
        f"import torch; from transformers import {config_class.__name__}, {model_class.__name__}; torch.manual_seed(0)",
        f"config = {config_class.__name__}({shown})",
        f"model = {model_class.__name__}(config).eval()",
    )
    return Subject(name=text, build=lambda: isolated({}), recipe=recipe, config=config, sizes=sizes, rebuild=isolated)


def _read(path: str) -> dict[str, Any]:
    require_file(path, what="configuration", error=AuditError)
    try:
        written = read_json(Path(path))
    except (OSError, ValueError) as error:
        raise AuditError(f"configuration '{path}' cannot be read: {error}") from None
    if not isinstance(written, dict) or "model_type" not in written:
        raise AuditError(f"configuration '{path}' must be a JSON object with 'model_type'")
    return written


def _classes(package: Any, text: str) -> tuple[Any, Any]:
    """Classes of the configuration and of the language model, for a model type or the name of either class."""
    from transformers.models.auto import configuration_auto, modeling_auto

    causal, seq2seq = (
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )
    names = {
        kind: (config, model)
        for kind, config in configuration_auto.CONFIG_MAPPING_NAMES.items()  # type: ignore[attr-defined]
        if (model := causal.get(kind) or seq2seq.get(kind))
    }
    wanted = ALIASES.get(text.lower(), text)
    for kind, (config_name, model_name) in names.items():
        models = model_name if isinstance(model_name, tuple | list) else (model_name,)
        if wanted.lower().replace("-", "_") == kind.replace("-", "_") or wanted in (config_name, *models):
            chosen = wanted if wanted in models else models[0]
            with user_code(f"transformers has no {chosen}", error=AuditError):
                return getattr(package, config_name), getattr(package, chosen)
    hint = nearest(wanted, list(names), listed="or path/to/config.json")
    raise AuditError(f"transformers {package.__version__} knows no language model '{text}': {hint}")


def _fields(
    config_class: Callable[..., Any], written: dict[str, Any], changed: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the configuration, and those sizes among them that were filled in."""
    with user_code(f"{config_class.__name__} has no defaults", error=AuditError):
        default = config_class()
    accepted_names = {**default.to_dict(), **dict.fromkeys(inspect.signature(config_class.__init__).parameters)}
    unknown = [
        name for name in changed if name not in accepted_names and name not in ROPE_FIELDS and name not in written
    ]
    if unknown:
        hint = nearest(unknown[0], [*accepted_names, *ROPE_FIELDS], listed="see its documentation")
        raise AuditError(f"{config_class.__name__} has no field '{unknown[0]}': {hint}")
    given = {**written, **changed}
    for name in DROPPED:
        if name not in changed:
            given.pop(name, None)

    def value(role: str) -> Any:
        name = next((name for name in NAMES[role] if given.get(name) is not None), None)
        if name is None:
            return None
        require_number(name, given[name], SIZES[role])
        return given[name]

    width, heads = value("width"), value("heads")
    head_dim = value("head_dim") or (width // heads if width and heads else HEAD_DIM)
    require_number("the width of a head", head_dim, SIZES["head_dim"])
    is_alibi = bool(given.get("alibi")) or config_class.__name__ in ("BloomConfig", "MptConfig")
    if "heads" not in changed and written and not is_alibi:
        heads = None  # a rotation is the same in every head
    heads = heads or HEADS
    sizes: dict[str, Any] = {}

    def fill(role: str, number: int, *, keep: bool) -> None:
        for name in NAMES[role]:
            if name in accepted_names and not (name in changed or (keep and name in written)):
                sizes[name] = number

    fill("heads", heads, keep=is_alibi)
    fill("width", heads * head_dim, keep=False)
    fill("inner", 2 * HEAD_DIM, keep=False)
    fill("layers", LAYERS, keep=False)
    fill("vocabulary", max(VOCABULARY, head_dim + 16, 2 * head_dim), keep=False)
    fill("head_dim", head_dim, keep=True)
    fill("trained", TRAINED, keep=True)
    key_heads = value("key_heads")
    if "num_key_value_heads" in accepted_names and "num_key_value_heads" not in changed:
        sizes["num_key_value_heads"] = (
            heads if key_heads is None or heads % 2 or key_heads == width else max(1, heads // 2)
        )
    for name, number in (*MIXTURE.items(), *LATENT.items()):
        if name in accepted_names and name not in changed and not (name in LATENT and name in written):
            sizes[name] = number
    if "q_lora_rank" in sizes and "q_lora_rank" in accepted_names and getattr(default, "q_lora_rank", 1) is None:
        sizes.pop("q_lora_rank")
    for name in ("pad_token_id", "bos_token_id", "eos_token_id"):
        if name in accepted_names and name not in changed:
            sizes[name] = 0 if name == "pad_token_id" else 1
    return {**given, **sizes}, {name: number for name, number in sizes.items() if not name.endswith("token_id")}


def _with_rope(config_class: Callable[..., Any], fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the configuration, with loose rope fields put where this version of transformers reads them."""
    arguments = {**fields, **more}
    loose = {name: arguments.pop(name) for name in ROPE_FIELDS if name in arguments}
    if not loose:
        return arguments
    accepted = inspect.signature(config_class.__init__).parameters
    default = config_class()
    if hasattr(default, "rope_parameters"):
        rope = dict(
            arguments.pop("rope_parameters", None)
            or arguments.pop("rope_scaling", None)
            or default.rope_parameters
            or {}
        )
        layered = next((name for name, part in rope.items() if isinstance(part, dict) and "full" in name), None)
        target = dict(rope[layered]) if layered else rope
        target.update(loose)
        if "type" in target:
            target["rope_type"] = loose.get("rope_type", target.pop("type"))
        _complete(target, fields)
        arguments["rope_parameters"] = {**rope, layered: target} if layered else target
        return arguments
    direct: dict[str, Any] = {
        name: loose.pop(name) for name in ("rope_theta", "partial_rotary_factor") if name in loose
    }
    arguments |= direct
    if "rotary_emb_base" in accepted and "rope_theta" in arguments:
        arguments["rotary_emb_base"] = arguments.pop("rope_theta")
    if loose:
        rope = dict(arguments.get("rope_scaling") or {}) | loose
        _complete(rope, fields)
        rope["type"] = rope["rope_type"]
        if tuple(rope) and rope["rope_type"] in ("linear", "dynamic"):  # older versions refuse further fields
            rope = {"type": rope["rope_type"], "factor": float(rope["factor"])}
        arguments["rope_scaling"] = None if loose.get("rope_type") == "default" else rope
    return arguments


def _complete(rope: dict[str, Any], arguments: Mapping[str, Any]) -> None:
    """Fill in the fields that a rope type needs and that were not given."""
    kind = rope.setdefault("rope_type", "default")
    if kind not in ROPE_TYPES:
        raise AuditError(f"rope_type '{kind}' is not known: choose among {', '.join(ROPE_TYPES)}")
    trained = int(arguments.get("max_position_embeddings") or arguments.get("n_positions") or TRAINED)
    width = arguments.get("qk_rope_head_dim") or arguments.get("head_dim")
    if width is None:
        model_width, heads = (
            next((arguments[name] for name in NAMES[role] if name in arguments), None) for role in ("width", "heads")
        )
        width = model_width // heads if model_width and heads else HEAD_DIM
    share = (
        rope.get("partial_rotary_factor") or arguments.get("partial_rotary_factor") or arguments.get("rotary_pct") or 1
    )
    planes = int(width * float(share)) // 2
    defaults = {
        "factor": 4.0,
        "original_max_position_embeddings": max(1, trained // 4),
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "short_factor": [1.0 + 0.01 * plane for plane in range(planes)],
        "long_factor": [1.0 + 0.1 * plane for plane in range(planes)],
    }
    for name in FIELDS[kind]:
        if name in defaults and rope.get(name) is None:
            rope[name] = defaults[name]
