"""Models of transformers from a configuration alone: small sizes filled in, random weights, no download."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lengthgen.empirical.audit.models.bounds import (
    NAMES,
    SIZES,
    TooLarge,
    bounded,
    field_of,
    require_affordable,
    require_plain,
    size_of,
)
from lengthgen.empirical.audit.models.whole import WholeModel
from lengthgen.empirical.audit.published_constants import FIELDS, ROPE_TYPES, require_number
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.errors import nearest
from lengthgen.infrastructure.files import read_json
from lengthgen.infrastructure.userfile import require_file, user_code

PREFIX = "hf:"
ALIASES = {"gpt-2": "gpt2", "qwen": "qwen2", "deepseek": "deepseek_v3", "gptneox": "gpt_neox", "neox": "gpt_neox",
           "gemma-2": "gemma2", "gemma-3": "gemma3"}  # fmt: skip
HEADS, HEAD_DIM, LAYERS, VOCABULARY, TRAINED, WINDOW = 4, 32, 2, 128, 256, 32
ROPE_FIELDS = ("rope_type", "rope_theta", "partial_rotary_factor",
               *dict.fromkeys(name for names in FIELDS.values() for name in names))  # fmt: skip
"""Fields that `rope_parameters` (transformers 5) or `rope_scaling` (4) hold."""
DROPPED = ("architectures", "model_type", "torch_dtype", "dtype", "auto_map", "transformers_version", "_name_or_path",
           "quantization_config", "bos_token_id", "eos_token_id", "pad_token_id")  # fmt: skip
"""Fields of a file that say nothing about positions, or that no longer fit a small model."""
LATENT = {"q_lora_rank": 96, "kv_lora_rank": 96, "rotary_dim": HEAD_DIM // 2}
"""Sizes of latent attention: ranks at least as large as a head, so that all its coordinates can be read."""
MAPPINGS = ("CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "MASKED_LM", "TEXT_ENCODING")
"""Lists of model classes of transformers, by which model types are looked up; then the list of bare models."""
LAYER_INDICES = re.compile(r"\w*(layers|idxs|indices|indexes|layer_ids)")
"""Names of lists that hold numbers of layers."""
PATTERNS = {
    "heads": r"(?!index)(\w+_)?(num|n)_(attention_|mamba_)?heads?|(\w+_)?attention_heads",
    "key_heads": r"(\w+_)?num_(\w+_)?(key_value|kv)_heads",
    "width": r"dim|emb(ed)?_dim|embedding_(size|dim)|word_embed_proj_dim|(d_)?embed|hidden_size_global",
    "inner": r"(\w+_)?(intermediate_size(_\w+)?|ffn_(dim|hidden_size))|d_inner|hidden_dim|mlp_dim",
    "layers": r"(\w+_)?(en|de)coder_layers",
    "head_dim": r"(?!mamba|attention|linear|index|qk_head)(\w+_)?(head_dim|dim_head|d_head)",
    "vocabulary": r"(?!make)(\w+_)?vocab(_size(_\w+)?)?",
    "trained": r"max_(source|target|(en|de)coder)_position(_embedding)?s|model_max_length|max_sequence_length",
    "window": r"(sliding|local|attention)_(window|attention)(_size)?|window_size",
    "linear_heads": r"linear_num_(key|value)_heads",
    "linear_dim": r"linear_(key_|value_)?head_dim",
    "experts": r"(\w+_)?(num|n)_(\w+_)?experts",
    "chosen": r"(\w+_)?num_experts_per_tok(en)?|moe_(top_?)?k|top_k_experts",
    "groups": r"n_group|topk_group|num_expert_group",
    "inner_state": r"mamba_d_ssm|mamba_intermediate",
    "state_head": r"mamba_(d_head|head_?dim)",
    "state_groups": r"(mamba_)?n_?groups|mamba_n_groups",
    "chunk": r"(mamba_)?chunk_size",
    "none": r"num_kv_shared_layers|num_nextn_predict_layers",
}
"""Names of fields by role, beside those in NAMES."""
KINDS = {"layer_types", "layers_block_type"}
"""Names of lists with the kind of each layer."""
TOKEN = re.compile(r"\w*token_(id|index)")


def library() -> Any:
    """The package transformers; AuditError says how to install it."""
    try:
        import transformers
    except ImportError as error:
        fails = (
            f" (it is here, but fails: {' '.join(str(error).split())[:200]})" if error.name != "transformers" else ""
        )
        raise AuditError(f"'hf:' models need the package transformers: pip install transformers{fails}") from None
    transformers.logging.set_verbosity_error()
    return transformers


def load_model(spec: str, changed: Mapping[str, Any]) -> WholeModel:
    """Whole model of hf:MODEL_TYPE, hf:CLASS or hf:path/to/config.json, with changed fields of the configuration.

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
    config_class, model_class, written = classes_of(package, text, written)
    require_plain({**written, **changed})
    fields, sizes = _fields(config_class, written, dict(changed))

    def make_config(more: Mapping[str, Any]) -> Any:
        with user_code(f"{config_class.__name__} refuses its fields", error=AuditError):
            return config_class(**_with_rope(config_class, fields, more))

    def build(more: Mapping[str, Any]) -> nn.Module:
        config = make_config(more)
        grouped = hasattr(model_class, "get_correct_experts_implementation")  # which knows no float64
        experts = {"experts_implementation": "eager"} if grouped else {}
        torch.manual_seed(0)
        with user_code(f"{model_class.__name__} cannot be made", error=AuditError), bounded(text):
            try:
                model = model_class._from_config(config, attn_implementation="eager", **experts)
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
    untouched = cache(lambda: isolated({}))  # a copy is made several times as quickly
    return WholeModel(
        name=text, build=lambda: deepcopy(untouched()), recipe=recipe, config=config, sizes=sizes, rebuild=isolated
    )


def _read(path: str) -> dict[str, Any]:
    require_file(path, what="configuration", error=AuditError)
    try:
        written = read_json(Path(path))
    except (OSError, ValueError) as error:
        raise AuditError(f"configuration '{path}' cannot be read: {error}") from None
    if not isinstance(written, dict) or "model_type" not in written:
        raise AuditError(f"configuration '{path}' must be a JSON object with 'model_type'")
    return written


def model_types(package: Any) -> dict[str, tuple[str, dict[str, list[str]]]]:
    """Model types of the package: name of the configuration, and names of models by MAPPINGS, "" for bare."""
    from transformers.models.auto import configuration_auto, modeling_auto

    listed: dict[str, Mapping[str, Any]] = {
        name: getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES", {}) for name in MAPPINGS
    }
    listed[""] = modeling_auto.MODEL_MAPPING_NAMES
    types = {}
    for kind, config_name in configuration_auto.CONFIG_MAPPING_NAMES.items():  # type: ignore[attr-defined]
        models = {name: mapping[kind] for name, mapping in listed.items() if kind in mapping}
        if models:
            names = {name: [model] if isinstance(model, str) else list(model) for name, model in models.items()}
            types[kind] = (config_name, names)
    return types


def classes_of(package: Any, text: str, written: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Classes of the configuration and of the model, for a model type or the name of a class, and fields of a file.

    A model of pictures or sounds and text is audited by the model of its text.
    """
    types = model_types(package)
    wanted = ALIASES.get(text.lower(), text)
    for kind, (config_name, models) in types.items():
        names = [name for group in models.values() for name in group]
        if wanted.lower().replace("-", "_") != kind.replace("-", "_") and wanted not in (config_name, *names):
            continue
        with user_code(f"transformers has no model '{text}'", error=AuditError):
            config_class = getattr(package, config_name)
            default = config_class()
            parts = {name: part for name, part in vars(default).items() if hasattr(part, "model_type")}
            inner = getattr(parts.get("text_config"), "model_type", kind)
            if wanted not in names and inner != kind and inner in types:
                return classes_of(package, inner, _nested(written, "text_config"))
            model_class = getattr(package, wanted if wanted in names else _preferred(default, models))
            for name, part in parts.items():
                if type(part) is model_class.config_class:
                    config_class, written = type(part), _nested(written, name)
            if "input_ids" not in inspect.signature(model_class.forward).parameters:
                raise AuditError(f"{model_class.__name__} takes no token ids")
        return config_class, model_class, written
    hint = nearest(wanted, list(types), listed="or path/to/config.json")
    raise AuditError(f"transformers {package.__version__} knows no language model '{text}': {hint}")


def _nested(written: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = written.get(name)
    return dict(part) if isinstance(part, Mapping) else {}


def _preferred(default: Any, models: Mapping[str, Sequence[str]]) -> str:
    """Name of the class that has all that the configuration says by default: encoder and decoder, or an encoder."""
    if getattr(default, "is_encoder_decoder", False) and "SEQ_TO_SEQ_CAUSAL_LM" in models:
        return models["SEQ_TO_SEQ_CAUSAL_LM"][0]
    if getattr(default, "is_decoder", True) is False and "MASKED_LM" in models:
        return models["MASKED_LM"][0]
    return next(iter(models.values()))[0]


def _fields(
    config_class: Callable[..., Any], written: dict[str, Any], changed: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the configuration, and those sizes among them that were filled in."""
    with user_code(f"{config_class.__name__} has no defaults", error=AuditError):
        default = config_class()
    accepted = {**default.to_dict(), **dict.fromkeys(inspect.signature(config_class.__init__).parameters)}
    if unknown := [name for name in changed if name not in {*accepted, *ROPE_FIELDS, *written}]:
        hint = nearest(unknown[0], [*accepted, *ROPE_FIELDS], listed="see its documentation")
        raise AuditError(f"{config_class.__name__} has no field '{unknown[0]}': {hint}")
    given = {name: value for name, value in {**written, **changed}.items() if name in changed or name not in DROPPED}
    is_alibi = bool(given.get("alibi")) or config_class.__name__ in ("BloomConfig", "MptConfig")
    # A rotation is the same in every head.
    keeps_heads = "heads" in changed or not written or is_alibi
    of_role = _sizes_of_roles(default, accepted, given, keeps_heads=keeps_heads)
    kept_roles = {"head_dim", "trained", *(["heads"] if is_alibi else [])}
    sizes: dict[str, Any] = {}
    for name in accepted:
        role = role_of(name)
        if name not in changed and not (name in written and (role in kept_roles or name in LATENT)):
            sizes |= _filled_in(name, role, default, given, of_role)
    sizes |= _needed(default, accepted, given, of_role)
    kinds = field_of(default, "layers_block_type") or field_of(default, "layer_types") or ()
    sizes |= _layers({**vars(default), **given}, set(changed), kinds)
    return {**given, **sizes}, {name: number for name, number in sizes.items() if not TOKEN.fullmatch(name)}


def _sizes_of_roles(
    default: Any, accepted: Mapping[str, Any], given: Mapping[str, Any], *, keeps_heads: bool
) -> dict[str, Any]:
    """Size of a small model for each role of a field, from the sizes that are given.

    `default` is the configuration with its defaults, `accepted` the fields that it takes; `keeps_heads`: the number of
    heads is that of the whole model.
    """

    def value(role: str) -> Any:
        name = next((name for name in NAMES[role] if given.get(name) is not None), None)
        if name is None:
            return None
        require_number(name, given[name], SIZES[role])
        return given[name]

    width, own_heads = value("width"), value("heads")
    head_dim = value("head_dim") or (width // own_heads if width and own_heads else HEAD_DIM)
    require_number("the width of a head", head_dim, SIZES["head_dim"])
    heads = (own_heads if keeps_heads else None) or HEADS
    key_heads = value("key_heads") or size_of(default, "key_heads")
    shares = key_heads not in (None, width, own_heads or size_of(default, "heads")) and heads % 2 == 0
    expanded = heads * head_dim * int(given.get("mamba_expand") or field_of(default, "mamba_expand") or 2)
    rotated = field_of(default, "qk_rope_head_dim") or 0
    widest = max([head_dim, *(part.get("qk_nope_head_dim", 0) + rotated for part in _by_layer(accepted))])
    return {
        "heads": heads, "width": heads * head_dim, "inner": 2 * HEAD_DIM, "layers": LAYERS,
        "head_dim": expanded // heads if "state_size" in accepted else head_dim, "query_dim": head_dim,
        "vocabulary": max(VOCABULARY, widest + 16, 2 * head_dim), "trained": TRAINED,
        "key_heads": max(1, heads // 2) if shares else heads, "experts": 2, "chosen": 2, "groups": 1,
        "window": WINDOW, "linear_heads": 2, "linear_dim": 16, "inner_state": expanded,
        "state_head": expanded // heads, "state_groups": 1, "chunk": 16, "none": 0,
    }  # fmt: skip


def _by_layer(accepted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fields by layer, where a configuration has some."""
    return [*(accepted.get("per_layer_config") or {}).values()]


def _filled_in(
    name: str, role: str | None, default: Any, given: Mapping[str, Any], of_role: Mapping[str, Any]
) -> dict[str, Any]:
    """Field of a small model by its name or role; empty if the field is left as it is."""
    usual = field_of(default, name)
    if role == "window" and type(usual) is not int:  # a model without windows keeps none
        return {}
    if role and role in of_role and usual not in (0, ""):
        return {name: of_role[role]}
    if name in LATENT and usual is not None:
        return {name: LATENT[name]}
    if TOKEN.fullmatch(name) and (name in DROPPED or usual is not None):
        return {name: 0 if name == "pad_token_id" else 1}
    part = vars(default).get(name)
    if not isinstance(part, library().PretrainedConfig):
        return {}
    inner, _ = _fields(type(part), _nested(given, name), {})
    nested = {"model_type": part.model_type, **inner}
    if name == "attn_config" and (rope := field_of(default, "rope_parameters")):
        nested |= {"rope_theta": rope["rope_theta"], "clip_qkv": 8.0}  # needed by DBRX, without defaults
    return {name: nested}


def _needed(
    default: Any, accepted: Mapping[str, Any], given: Mapping[str, Any], of_role: Mapping[str, Any]
) -> dict[str, Any]:
    """Further fields that follow from the width of a head, or that a configuration needs to be made."""
    head_dim, needed = of_role["query_dim"], dict[str, Any]()
    if any("head_dim" in part for part in _by_layer(accepted)):
        needed["global_head_dim"] = head_dim  # the name under which they are given
    rope = field_of(default, "rope_parameters") or {}
    marked = getattr(default, "ignore_keys_at_rope_validation", None) or ()
    if "mrope_section" in marked and "rope_parameters" not in given:  # planes of time, height and width, all in use
        planes = int(head_dim * float(rope.get("partial_rotary_factor") or 1)) // 2
        side = planes * 3 // 8
        needed["rope_parameters"] = {**rope, "mrope_section": [planes - 2 * side, side, side]}
    if languages := field_of(default, "languages"):
        needed["default_language"] = languages[0]
    return needed


def _layers(fields: Mapping[str, Any], changed: set[str], kinds: Sequence[str]) -> dict[str, Any]:
    """Fields of a model with a layer of each kind: its number of layers, and lists by layer or of numbers of layers.

    Fields in `changed` stay as they are. A model whose `kinds` of layers are computed keeps its first layers.
    """
    counts = {name: number for name, number in fields.items() if role_of(name) == "layers"}
    count = next((number for number in counts.values() if type(number) is int), 0)
    if count <= LAYERS or changed & {*counts}:
        return {}
    sequences = {
        name: value for name, value in fields.items() if isinstance(value, list | tuple) and name not in changed
    }
    places = {name: value for name, value in sequences.items() if LAYER_INDICES.fullmatch(name)
              and all(type(place) is int for place in value) and sorted(set(value)) == list(value)}  # fmt: skip
    lists = {name: value for name, value in sequences.items()
             if len(value) == count and name not in places and role_of(name) is None}  # fmt: skip
    rows = [repr(([value[at] for value in lists.values()], [at in value for value in places.values()]))
            for at in range(count)]  # fmt: skip
    kept = [rows.index(row) for row in dict.fromkeys(rows)]
    if not lists and not any(places.values()):
        kept = list(range(1 + max((kinds.index(kind) for kind in kinds), default=0)))
    kept += kept[-1:] * (LAYERS - len(kept))
    cut = {name: [value[at] for at in kept] for name, value in lists.items()}
    moved = {name: [new for new, at in enumerate(kept) if at in value] for name, value in places.items()}
    if set(kinds) == {"linear_attention"}:  # by default; those in use have attention as well
        for name in KINDS & cut.keys():
            cut[name][-1] = "full_attention"
        moved |= {name: [len(kept) - 1] for name in fields if name == "attn_layer_indices"}
    missing = {name: ["full_attention"] * len(kept) for name in KINDS if fields.get(name, ()) is None}
    return {**cut, **moved, **missing, **dict.fromkeys(counts, len(kept))}


def role_of(name: str) -> str | None:
    """Role of a field by its name: one of SIZES, or of the further ones that a small model needs."""
    exact = next((role for role, names in NAMES.items() if name in names), None)
    return exact or next((role for role, pattern in PATTERNS.items() if re.fullmatch(pattern, name)), None)


def _with_rope(config_class: Callable[..., Any], fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the configuration, with loose rope fields put where this version of transformers reads them."""
    arguments = {**fields, **more}
    loose = {name: arguments.pop(name) for name in ROPE_FIELDS if name in arguments}
    if not loose:
        return arguments
    accepted = inspect.signature(config_class.__init__).parameters
    default = config_class()
    if hasattr(default, "rope_parameters"):
        given = arguments.pop("rope_parameters", None) or arguments.pop("rope_scaling", None)
        rope = dict(given or default.rope_parameters or {})
        layered = next((name for name, part in rope.items() if isinstance(part, dict) and "full" in name), None)
        target = dict(rope[layered]) if layered else rope
        target.update(loose)
        if "type" in target:
            target["rope_type"] = loose.get("rope_type", target.pop("type"))
        _complete(target, fields)
        arguments["rope_parameters"] = {**rope, layered: target} if layered else target
        return arguments
    arguments |= {name: loose.pop(name) for name in ("rope_theta", "partial_rotary_factor") if name in loose}
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
        sizes = ([arguments[name] for name in NAMES[role] if name in arguments] for role in ("width", "heads"))
        model_width, heads = (values[0] if values else None for values in sizes)
        width = model_width // heads if model_width and heads else HEAD_DIM
    shares = (rope.get("partial_rotary_factor"), *map(arguments.get, ("partial_rotary_factor", "rotary_pct")))
    planes = int(width * float(next(filter(None, shares), 1))) // 2
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
