"""Encodings of the museum's packages, as `lengthgen audit` takes them; whole models of transformers need no adapter."""

import numpy as np
import torch


def rotary_embedding_torch_rotary(head_dim=64):
    from rotary_embedding_torch import RotaryEmbedding

    return RotaryEmbedding(head_dim)


def x_transformers_t5_bias(heads=4):
    from x_transformers.x_transformers import RelativePositionBias

    return RelativePositionBias(scale=1.0, causal=True, heads=heads)


def mlx_alibi(heads=12):
    """ALiBi of mlx: added to scores [B, H, J, I]; its authors say that it is the reference code's."""
    import mlx.core as mx
    from mlx.nn import ALiBi

    module = ALiBi()

    def of_scores(scores):
        given = mx.array(scores.numpy().astype(np.float32))
        offset = scores.shape[-1] - scores.shape[-2]
        return torch.from_numpy(np.array(module(given, offset=offset)))

    of_scores.follows = {"alibi": "code"}
    return of_scores
