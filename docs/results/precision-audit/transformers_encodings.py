"""Position encodings of transformers, as `lengthgen audit` takes them.

lengthgen audit docs/results/precision-audit/transformers_encodings.py:llama_default
"""

import torch
from torch import nn
from transformers import LlamaConfig, T5Config
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

TRAINED = 2048


class Llama(nn.Module):
    """The two calls by which Llama's attention rotates queries and keys."""

    def __init__(self, *, heads, head_dim, longest=TRAINED, **rope):
        super().__init__()
        config = LlamaConfig(
            hidden_size=heads * head_dim,
            num_attention_heads=heads,
            head_dim=head_dim,
            max_position_embeddings=longest,
            rope_parameters=rope,
        )
        self.rotary = LlamaRotaryEmbedding(config)

    def forward(self, q, k, positions):
        cosine, sine = self.rotary(q, positions if positions.ndim == 2 else positions[None])
        return apply_rotary_pos_emb(q, k, cosine, sine)


def llama_default(heads=4, head_dim=64, theta=10000.0):
    return Llama(heads=heads, head_dim=head_dim, rope_type="default", rope_theta=theta)


def llama_linear(heads=4, head_dim=64, theta=10000.0):
    return Llama(heads=heads, head_dim=head_dim, rope_type="linear", rope_theta=theta, factor=4.0)


def llama_dynamic(heads=4, head_dim=64, theta=10000.0):
    return Llama(heads=heads, head_dim=head_dim, rope_type="dynamic", rope_theta=theta, factor=4.0)


def llama_yarn(heads=4, head_dim=64, theta=10000.0):
    rope = {"rope_type": "yarn", "rope_theta": theta, "factor": 4.0, "original_max_position_embeddings": TRAINED}
    return Llama(heads=heads, head_dim=head_dim, longest=4 * TRAINED, **rope)


class T5Bias(nn.Module):
    """A decoder's bias: T5's own buckets of distances and its own table, at any positions."""

    def __init__(self, heads):
        super().__init__()
        config = T5Config(num_heads=heads, d_kv=8, d_model=8 * heads, is_decoder=True)
        self.attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)

    def forward(self, query_positions, key_positions):
        offsets = key_positions[..., None, :] - query_positions[..., :, None]
        buckets = self.attention._relative_position_bucket(
            offsets,
            bidirectional=False,
            num_buckets=self.attention.relative_attention_num_buckets,
            max_distance=self.attention.relative_attention_max_distance,
        )
        return torch.movedim(self.attention.relative_attention_bias(buckets), -1, -3)


def t5_bias(heads=4):
    return T5Bias(heads)
