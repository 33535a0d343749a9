"""Layers of a model: which share an encoding, and which lack one that others have or that the configuration names."""

from collections.abc import Sequence
from typing import Any

from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.models.anatomy import Anatomy
from lengthgen.empirical.audit.models.bounds import field_of

WITHOUT = ("none", "scale", "unread")
"""Kinds of layers that have no position encoding, as far as they are read."""
CLAIMS = ("rope_theta", "rope_parameters", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "alibi",
          "relative_attention_num_buckets")  # fmt: skip
"""Fields of configurations that claim an encoding."""


def groups_of(anatomies: Sequence[Anatomy], kinds: Sequence[str | None]) -> list[list[Anatomy]]:
    """Layers of the same kind by the configuration and with the same encoding, in groups."""
    groups: list[list[Anatomy]] = []
    for anatomy in anatomies:
        for group in groups:
            if kinds[group[0].layer] == kinds[anatomy.layer] and group[0].equals(anatomy):
                group.append(anatomy)
                break
        else:
            groups.append([anatomy])
    return groups


def kind_of(anatomies: Sequence[Anatomy]) -> str:
    """Kind of encoding of the whole model: of the first layer that has one, else "unread" where one was not read."""
    kinds = [anatomy.kind for anatomy in anatomies]
    return next((kind for kind in kinds if kind not in WITHOUT), "unread" if "unread" in kinds else "none")


def of_layer(defect: Defect, group: Sequence[Anatomy], groups: Sequence[Sequence[Anatomy]]) -> Defect:
    """Defect with its layers named, where not all have it."""
    if len(groups) > 1:
        layers = ", ".join(str(anatomy.layer) for anatomy in group)
        defect.says = f"{'layer' if len(group) == 1 else 'layers'} {layers}: {defect.says}"
    return defect


def defects(
    config: Any,
    anatomies: Sequence[Anatomy],
    groups: Sequence[Sequence[Anatomy]],
    kinds: Sequence[str | None],
    explained: bool,
) -> list[Defect]:
    """Heads and layers without the encoding that others have, or a whole model without the one that it names."""
    made = []
    for group in groups:
        if still := group[0].still:
            heads = ", ".join(map(str, still))
            says = f"no position turns queries or keys of heads {heads}, of {group[0].heads}"
            made.append(of_layer(Defect(rule="heads-differ", says=says, first={"all": 1}), group, groups))
        if odd := group[0].odd:
            says = f"heads {', '.join(map(str, odd))} of {group[0].heads} turn otherwise than the rest"
            made.append(of_layer(Defect(rule="heads-differ", says=says, first={"all": 1}), group, groups))
    without = [anatomy.kind in WITHOUT for anatomy in anatomies]
    named = field_of(config, "no_rope_layers")
    if all(without):
        read = all(anatomy.kind != "unread" for anatomy in anatomies)
        if read and (claims := _claimed(config)):
            says = f"no query, key or logit of any layer depends on the position, and the configuration sets {claims}"
            made.append(Defect(rule="encoding-missing", says=says, first={"all": 1}))
    elif isinstance(named, list | tuple) and len(named) == len(without):
        wrong = [layer for layer, (use, still) in enumerate(zip(named, without, strict=True)) if bool(use) is still]
        if wrong:
            has = "no rotation" if without[wrong[0]] else "a rotation"
            says = f"layer {wrong[0]} has {has}, and no_rope_layers says {named[wrong[0]]}"
            made.append(Defect(rule="no-rope-layers-ignored", says=says, first={"all": 1}))
    elif not explained and len(groups) > len(set(kinds)):
        first, second = next(
            (group, other) for group in groups for other in groups
            if group is not other and kinds[group[0].layer] == kinds[other[0].layer]
        )  # fmt: skip
        says = f"layer {second[0].layer} has another encoding than layer {first[0].layer}"
        made.append(Defect(rule="layers-differ", says=says, first={"all": 1}))
    return made


def _claimed(config: Any) -> str | None:
    """First field that claims an encoding; None if there is none."""
    return next((name for name in CLAIMS if field_of(config, name)), None)
