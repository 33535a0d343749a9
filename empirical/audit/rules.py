"""Rules: each kind of defect that the audit names, with its severity, the law that it breaks, and the mend."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Severity of a finding, in the words of SARIF."""

    ERROR = "error"
    """Models get other positions than their code says; trained weights or long inputs are hurt."""
    WARNING = "warning"
    """A usual way of use (a move to a low dtype, another call pattern) hurts; the plain call does not."""
    NOTE = "note"
    """A limit that is usual and documented; worth knowing, no defect."""


ORDER = tuple(Severity)
"""Severities, the worst first."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Kind of defect: its name in reports, how much it hurts, the law that is broken, and how it is usually mended."""

    id: str
    severity: Severity
    law: str
    mend: str


def _rule(id: str, severity: Severity, law: str, mend: str) -> Rule:
    return Rule(id=id, severity=severity, law=law, mend=mend)


ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
FLOAT32 = "Compute positions, frequencies and angles in float32 or wider, and round only cosines and sines."
RELATIVE = "A logit depends on the distance of query and key alone."
PURE = "A result depends on its arguments alone, not on earlier calls."
PATTERNS = "Real tokens get the same result in every call pattern."
PUBLISHED = "Constants are those of the paper that the configuration names."

RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        _rule("positions-rounded", ERROR, "Every position has a code of its own.",
              "Keep positions as integers or in float32 until they are multiplied; never cast them to bfloat16 or "
              "float16."),
        _rule("angles-rounded", ERROR, RELATIVE, FLOAT32),
        _rule("angles-in-float32", NOTE, RELATIVE,
              "Usual in all libraries. For positions beyond some 100,000, compute angles in float64."),
        _rule("frequencies-rounded", ERROR, PUBLISHED, FLOAT32),
        _rule("output-rounded", WARNING, RELATIVE, "Return the dtype of the input; round once, at the end."),
        _rule("budget-below-rounding", WARNING, RELATIVE,
              "Ask for a larger --budget, or leave out this dtype: one rounding of the result errs by as much."),
        _rule("codes-clamped", ERROR, "Every position has a code of its own.",
              "Make the table as long as the positions, or refuse positions beyond it; a table of distances "
              "-(n-1)..n-1 has 2n - 1 rows."),
        _rule("codes-repeated", ERROR, "Every position has a code of its own.",
              "Look for a modulo, an integer division or an index that wraps."),
        _rule("law-broken", ERROR, RELATIVE,
              "Check that query and key are turned by the same frequencies, in one direction and layout, once each."),
        _rule("acts-after-rotation", ERROR, RELATIVE,
              "Move gains, norms and projections before the rotation; after it only rotations of each plane commute."),
        _rule("key-not-rotated", ERROR, RELATIVE, "Rotate queries and keys alike."),
        _rule("opposite-rotations", ERROR, RELATIVE,
              "Turn queries and keys in the same direction: check the signs of both sine terms."),
        _rule("layouts-mixed", ERROR, RELATIVE,
              "Use one layout: rotate_half needs cat(angles, angles), pairs need repeat_interleave(angles, 2)."),
        _rule("sine-sign", ERROR, RELATIVE, "One sine term is subtracted: rotate_half is cat(-second, first)."),
        _rule("shared-table", ERROR, PURE,
              "Key cached tables by every parameter, or keep them in the instance."),
        _rule("parameter-ignored", ERROR, "A parameter that is given has an effect.",
              "Pass the parameter on, and put it in the key of every cache."),
        _rule("call-history", ERROR, PURE,
              "Do not keep tables or frequencies of a longer call; make them again, or key them by length."),
        _rule("offset-not-in-cache-key", ERROR, PURE, "Put the offset into the key of the cache of angles."),
        _rule("rounded-by-use", ERROR, PURE, "Put the dtype into the key of the cache, or keep the cache in float32."),
        _rule("rounded-by-move", WARNING, "A module that was moved to a low dtype gives the same codes, rounded once.",
              "Compute frequencies in float32 in forward, or keep them out of the buffers that `.to(dtype)` casts."),
        _rule("autocast-drift", WARNING, "Autocast rounds results, not angles.",
              "Switch autocast off around the angles, or use elementwise products."),
        _rule("drift", ERROR, "A code is that of float64, rounded once.", FLOAT32),
        _rule("overflow", WARNING, "A code is finite wherever its value fits the dtype.",
              "Compute in float32 and cast the result."),
        _rule("not-finite", ERROR, "A code is finite wherever its value fits the dtype.",
              "Look for a division by 0, a logarithm or a root outside its domain, and memory that is not filled."),
        _rule("sign-reversed", ERROR, "The bias falls with the distance.", "Subtract slope * distance; do not add it."),
        _rule("not-decaying", ERROR, "The bias falls with the distance.", "Check the sign of each head's slope."),
        _rule("slopes-rounded", ERROR, "Slopes are exact.", "Compute slopes in float32."),
        _rule("slopes-unpublished", ERROR, "ALiBi's slopes are those of the paper's text or of its code.",
              "For H heads that are no power of two: 2^(-8h/H) is the text; the code takes the slopes of the power of "
              "two below H, then every other one of twice that power."),
        _rule("slopes-other-rule", ERROR, "ALiBi's slopes are those of the rule that is claimed.",
              "Load checkpoints only into a model with the rule that they were trained with."),
        _rule("padding", ERROR, PATTERNS, "Count positions from the first real token, and mask padding."),
        _rule("batch", ERROR, PATTERNS, "Look for a mean, a maximum or a broadcast over the batch axis."),
        _rule("fast-path", ERROR, PATTERNS,
              "Call torch.backends.mha.set_fastpath_enabled(False): with a mask of numbers the fast path of "
              "nn.TransformerEncoderLayer hides all pairs whose bias is not 0."),
        _rule("no-position", ERROR, "A position encoding gives different positions different results.",
              "Check that the encoding is applied, and that its positions are not all one number."),
        _rule("tokens-axis", NOTE, "Positions run along the axis of tokens.",
              "Nothing, if this is the layout of the model; else number the tokens along their own axis."),
        _rule("row-constant", NOTE, RELATIVE,
              "Nothing in float32. In a low dtype subtract the query's position: small numbers are rounded less."),
        _rule("positions-over-heads", ERROR, "The position of a token turns all heads of this token.",
              "Unsqueeze the axis of heads: cos[:, None] for [B, H, L, C], cos[..., None, :] for [B, L, H, C]."),
        _rule("positions-ignored", ERROR, "Positions that are passed are used.",
              "Index the tables by the positions, not by the index in the call."),
        _rule("length-dependent", ERROR, PATTERNS,
              "Make codes independent of the longest position of a call; or cache keys before they are rotated."),
        _rule("length-dependent-by-design", NOTE, PATTERNS,
              "Dynamic NTK and LongRoPE choose their frequencies by length: recompute the cache when the length "
              "crosses the limit."),
        _rule("cached-queries-get-first-rows", ERROR, PATTERNS,
              "Number the queries from (keys - queries), not from 0."),
        _rule("start-index-ignored", ERROR, PATTERNS, "Add the length of the cache to the positions of new tokens."),
        _rule("encoding-missing", WARNING, "An encoding that a configuration names acts.",
              "Call the encoding: no query, no key and no logit depends on the position."),
        _rule("rotated-twice", ERROR, "A key is rotated once.",
              "Cache keys after their rotation and rotate new keys only, or cache them before and rotate all."),
        _rule("cache-incomplete", ERROR, PATTERNS,
              "Keep in the cache all that later tokens need: keys, values, and states of recurrent layers."),
        _rule("later-tokens-seen", ERROR, "A model that gives a cache sees no later token.",
              "Mask later tokens in calls of several tokens too; a mask of truth values is applied, not added."),
        _rule("padding-beyond-window", WARNING, PATTERNS,
              "A cache that drops keys drops their columns of the mask too."),
        _rule("window-ignored", ERROR, "A query sees the keys that its window names.",
              "Pass the window of the configuration to the mask."),
        _rule("window-differs", ERROR, "A query sees the keys that its window names.",
              "Hide key i from query j where j - i >= window."),
        _rule("window-off-by-one", WARNING, "A query sees the keys that its window names.",
              "A window of W keys holds the query's own: hide key i where j - i >= W."),
        _rule("window-differs-when-cached", ERROR, PATTERNS,
              "Give a cached step the mask of its row in a full pass, and keep as many keys as the window names."),
        _rule("heads-differ", ERROR, "An encoding acts on every head.",
              "Rotate all heads: look for a slice over the axis of heads."),
        _rule("layers-differ", NOTE, "Layers of one kind have one encoding.",
              "Say in the configuration which layers differ, such as by layer_types, or give all the same."),
        _rule("no-rope-layers-ignored", ERROR, "Layers that the configuration names have no rotation.",
              "Rotate where no_rope_layers is 1, and nowhere else."),
        _rule("table-too-short", ERROR, "A model takes as many positions as its configuration names.",
              "Make the table as long as the positions plus their offset."),
        _rule("positions-offset", NOTE, "The first token has position 0.",
              "Pass positions from the model's own first one on, or none."),
        _rule("packing", ERROR, PATTERNS, "Restart positions in each packed sequence, and mask across sequences."),
        _rule("head-count-fails", ERROR, "Every number of heads works.",
              "Make 2^ceil(log2 H) slopes, take every other one of the second set, and cut to H."),
        _rule("keys-after-clamped", ERROR, "Keys after the query have codes of their own.",
              "Make the table 2n - 1 rows long, or take signed distances."),
        _rule("config-ignored", WARNING, "A field of the configuration has an effect.",
              "Read the field, or refuse a configuration that sets it."),
        _rule("scaling-ignored", ERROR, PUBLISHED, "Apply the rope scaling that the configuration names."),
        _rule("frequencies-unpublished", ERROR, PUBLISHED, "Compare the formula with the paper, field by field."),
        _rule("yarn-ramp-inverted", ERROR, PUBLISHED,
              "Keep the frequencies of fast planes (many turns in the original length); divide those of slow ones."),
        _rule("buckets-unpublished", ERROR, PUBLISHED,
              "T5: one bucket for each distance below half of the buckets, then logarithmic ones up to max_distance."),
        _rule("sinusoids-unpaired", ERROR, "The product of two sinusoidal embeddings depends on their distance alone.",
              "Give the sine and the cosine of each pair one frequency: the exponent is 2 (channel // 2) / D."),
        _rule("ntk-constant", ERROR, PUBLISHED,
              "Dynamic NTK: base * (s L / L0 - (s - 1))^(d / (d - 2)) for length L, trained length L0 and factor s."),
        _rule("mscale-ignored", ERROR, PUBLISHED,
              "Multiply cosines and sines by the attention factor (YaRN: 0.1 ln s + 1; DeepSeek: mscale over "
              "mscale_all_dim)."),
        _rule("mscale-all-dim", ERROR, PUBLISHED,
              "The softmax scale is multiplied by (0.1 mscale_all_dim ln s + 1)^2 where mscale_all_dim is set."),
        _rule("yarn-factor-one", ERROR, PUBLISHED,
              "A factor of at most 1 means no scaling: the attention factor is 1, the frequencies are plain."),
        _rule("partial-rotary-ignored", ERROR, PUBLISHED,
              "Rotate partial_rotary_factor * head_dim coordinates, with frequencies of that width."),
        _rule("beyond-trained-length", NOTE, "A model without a table accepts any length.",
              "Make the table again when a longer sequence comes, or refuse it with a clear error."),
    )
}  # fmt: skip
"""Rule by its id."""
