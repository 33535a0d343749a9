"""Each defect of the record once more, by the libraries' own calls alone.

    python docs/results/precision-audit/confirm.py

Prints what it sees, and fails if something is not as the record says.
"""

import torch
from rotary_embedding_torch import RotaryEmbedding
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from x_transformers import Decoder, TransformerWrapper
from x_transformers.x_transformers import AlibiPositionalBias, DynamicPositionBias

torch.manual_seed(0)


def saw(what, holds):
    print(f"{'as recorded' if holds else 'NOT AS RECORDED'}: {what}")
    if not holds:
        raise SystemExit(1)


def config(**rope):
    return LlamaConfig(
        vocab_size=64, hidden_size=128, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=32, rope_parameters={"rope_theta": 10000.0, **rope},
    )  # fmt: skip


def angles_in_float32():
    """transformers, default: every plane turns by the same angle from p to p + 1; near 10^6 it does not."""
    rotary = LlamaRotaryEmbedding(config(rope_type="default"))
    positions = torch.arange(900_000, 1_000_000)
    cosine, sine = (one[0].double() for one in rotary(torch.zeros(1), positions[None]))
    turned = sine[1:] * cosine[:-1] - cosine[1:] * sine[:-1]
    step = rotary.inv_freq.double().sin().repeat(2)
    error = float((turned - step).abs().max())
    saw(f"transformers, default: sin of one step is off by up to {error:.3f} near 10^6, in float32", error > 0.03)


def frequencies_after_a_move():
    """transformers: `.to(bfloat16)` rounds inv_freq; making the model in bfloat16 does not."""
    moved = LlamaForCausalLM(config(rope_type="default")).to(torch.bfloat16).model.rotary_emb
    made = LlamaForCausalLM._from_config(config(rope_type="default"), dtype=torch.bfloat16).model.rotary_emb
    saw(f"transformers: inv_freq is {moved.inv_freq.dtype} after .to(bfloat16)", moved.inv_freq.dtype == torch.bfloat16)
    saw(f"transformers: inv_freq is {made.inv_freq.dtype} if made so", made.inv_freq.dtype == torch.float32)
    cosine = [one(torch.zeros(1), torch.tensor([[81]]))[0] for one in (moved, made)]
    drift = float((cosine[0] - cosine[1]).abs().max())
    saw(f"transformers: cosines at position 81 differ by {drift:.3f} between the two", drift > 0.02)


def dynamic_keys_that_were_cached():
    """transformers, dynamic: logits of the 48th token, from a whole sequence and with the cache of the 47 before it."""
    for kind, agrees in (("default", True), ("dynamic", False)):
        rope = {"rope_type": kind} | ({"factor": 4.0} if kind == "dynamic" else {})
        model = LlamaForCausalLM(config(**rope)).eval()
        tokens = torch.randint(64, (1, 48))
        with torch.no_grad():
            whole = model(tokens, use_cache=False).logits[0, -1]
            cache = None
            for token in tokens.T:
                step = model(token[None], past_key_values=cache, use_cache=True)
                cache = step.past_key_values
        difference = float((whole - step.logits[0, -1]).abs().max())
        size = float(whole.abs().max())
        saw(
            f"transformers, {kind}: {difference:.1e} between whole and cached, logits to {size:.1f}",
            agrees == (difference < 1e-5),
        )


def dynamic_codes_that_depend_on_the_past():
    """transformers, dynamic: a call of length 40 after one of length 400 does not give what a fresh module gives."""
    used, fresh = (LlamaRotaryEmbedding(config(rope_type="dynamic", factor=4.0)) for _ in range(2))
    used(torch.zeros(1), torch.arange(400)[None])
    first, second = (one(torch.zeros(1), torch.arange(40)[None])[0] for one in (used, fresh))
    saw("transformers, dynamic: codes depend on calls before", not torch.equal(first, second))


def x_transformers_moved():
    """x-transformers: positions are cast to the dtype of inv_freq, which `.to(bfloat16)` changes."""
    model = TransformerWrapper(
        num_tokens=8, max_seq_len=1024, attn_layers=Decoder(dim=64, depth=1, heads=2, rotary_pos_emb=True)
    )
    rotary = model.to(torch.bfloat16).attn_layers.rotary_pos_emb
    angles, _ = rotary(torch.arange(1000))
    same, codes = torch.equal(angles[0, 256], angles[0, 257]), len(angles[0].unique(dim=0))
    saw(f"x-transformers .to(bfloat16): position 257 is coded as 256; {codes} codes of 1000", same and codes == 507)
    bias = AlibiPositionalBias(4).half().forward_custom_pos(torch.tensor([65520]), torch.tensor([0]))
    saw(f"x-transformers ALiBi .half(): bias at distance 65520 {bias.flatten().tolist()}", bool(bias.isinf().all()))


def x_transformers_dynamic_bias():
    """x-transformers: DynamicPositionBias makes distances float32 whatever its weights are; autocast rounds them."""
    bias = DynamicPositionBias(64, heads=4, depth=2)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        low = bias(1, 1001)[:, 0].flip(-1).float()
    high = bias(1, 1001)[:, 0].flip(-1)
    repeated = sum(torch.equal(low[:, d], low[:, d + 1]) for d in range(1000))
    saw(
        f"x-transformers DynamicPositionBias, autocast: {repeated} of 1000 distances have the bias of the next",
        repeated > 400,
    )
    saw("and none without", not any(torch.equal(high[:, d], high[:, d + 1]) for d in range(1000)))
    try:
        bias.to(torch.bfloat16)(4, 4)
        message = ""
    except RuntimeError as error:
        message = str(error)
    saw(f"x-transformers DynamicPositionBias .to(bfloat16): {message}", "dtype" in message)


def rotary_embedding_torch_in_bfloat16():
    """rotary-embedding-torch: positions take the dtype of the queries, and the angles are kept for later calls."""
    rotary = RotaryEmbedding(64)
    ones = torch.ones(1, 1, 1000, 64)
    low = rotary.rotate_queries_or_keys(ones.bfloat16())[0, 0]
    saw(f"rotary-embedding-torch, bfloat16: {len(low.unique(dim=0))} codes of 1000", len(low.unique(dim=0)) == 507)
    after, fresh = (one.rotate_queries_or_keys(ones)[0, 0] for one in (rotary, RotaryEmbedding(64)))
    off = float((after - fresh).abs().max())
    saw(f"rotary-embedding-torch: float32 after bfloat16 is off by {off:.2f}", off > 1)
    moved = RotaryEmbedding(64).to(torch.bfloat16)(torch.arange(1000))
    saw(f"rotary-embedding-torch .to(bfloat16): {len(moved.unique(dim=0))} codes", len(moved.unique(dim=0)) == 507)


def rotary_embedding_torch_xpos_with_a_cache():
    """rotary-embedding-torch, xPos: the documented call for cached keys centres queries and keys differently."""
    q, k = torch.randn(2, 1, 1, 1024, 64)
    for use_xpos in (False, True):
        rotary = [RotaryEmbedding(64, use_xpos=use_xpos) for _ in range(2)]
        if use_xpos:
            whole_q, whole_k = rotary[0].rotate_queries_and_keys(q, k)
        else:
            whole_q, whole_k = (rotary[0].rotate_queries_or_keys(one) for one in (q, k))
        last_q, all_k = rotary[1].rotate_queries_with_cached_keys(q[..., -1:, :], k)
        whole, cached = (whole_q @ whole_k.mT)[0, 0, -1], (last_q @ all_k.mT)[0, 0, -1]
        off, size = float((whole - cached).abs().max()), float(whole.abs().max())
        saw(
            f"rotary-embedding-torch, xpos={use_xpos}: last logits off by {off:.1e} of {size:.1f}",
            use_xpos == (off > 1e-3),
        )


def rotary_embedding_torch_axial_offsets():
    """rotary-embedding-torch: offsets of get_axial_freqs are lost once angles are kept, or are kept for all."""
    used = RotaryEmbedding(16)
    plain, shifted = used.get_axial_freqs(8), used.get_axial_freqs(8, offsets=(5,))
    saw(
        "rotary-embedding-torch: offsets=(5,) gives the angles of no offset after one call", torch.equal(plain, shifted)
    )
    shifted_first = RotaryEmbedding(16)
    shifted_first.get_axial_freqs(8, offsets=(5,))
    x = torch.randn(1, 1, 8, 16)
    first, second = (one.rotate_queries_or_keys(x) for one in (shifted_first, RotaryEmbedding(16)))
    saw(
        "rotary-embedding-torch: and an offset, if first, changes rotate_queries_or_keys",
        not torch.equal(first, second),
    )


if __name__ == "__main__":
    angles_in_float32()
    frequencies_after_a_move()
    dynamic_keys_that_were_cached()
    dynamic_codes_that_depend_on_the_past()
    x_transformers_moved()
    x_transformers_dynamic_bias()
    rotary_embedding_torch_in_bfloat16()
    rotary_embedding_torch_xpos_with_a_cache()
    rotary_embedding_torch_axial_offsets()
