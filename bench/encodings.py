"""Are the encodings of the project as fast as the libraries that users would use instead?

Forward passes of queries and keys of shape [8, 8, 512, 64], float32, on the CPU.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import sympy as sp
import torch
from rotary_embedding_torch import RotaryEmbedding
from scipy.linalg import expm
from torch import Tensor
from transformers import LlamaConfig, T5Config
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention
from x_transformers.x_transformers import AlibiPositionalBias, RelativePositionBias

from bench.measure import TimingComparison, compare
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.modules import named
from lengthgen.theory.encodings import grape

BATCH, HEADS, LENGTH, HEAD_DIM = 8, 8, 512, 64
WIDTH = HEADS * HEAD_DIM


def _ours(name: str, **parameters: float) -> PositionEncoding:
    """Encoding of this project, with its standard sizes and seed."""
    torch.manual_seed(0)
    return named(name, heads=HEADS, head_dim=HEAD_DIM, length=LENGTH, **parameters)


def _queries_and_keys() -> tuple[Tensor, Tensor]:
    return tuple(torch.randn(2, BATCH, HEADS, LENGTH, HEAD_DIM, generator=torch.Generator().manual_seed(0)))


def _compare(
    question: str, ours: Callable[[], object], alternative: str, theirs: Callable[[], object]
) -> TimingComparison:
    """Comparison on one core, without gradients."""
    with torch.no_grad():
        torch.set_num_threads(1)
        return compare(question, ours, alternative, theirs)


def _rotation(name: str, rope: dict[str, object]) -> TimingComparison:
    """Rotary tables and their application, as in the forward pass of a model."""
    q, k = _queries_and_keys()
    positions, encoding = torch.arange(LENGTH), _ours(name, layout="halves")
    config = LlamaConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        max_position_embeddings=LENGTH,
        rope_parameters={"rope_theta": 10000.0, **rope},
    )
    library = LlamaRotaryEmbedding(config)

    def theirs() -> object:
        return apply_rotary_pos_emb(q, k, *library(q, positions[None]))

    kind = rope["rope_type"]
    return _compare(f"{name}, rotate", lambda: encoding.rotate(q, k, positions), f"transformers ({kind})", theirs)


def rotary_against_rotary_embedding_torch() -> TimingComparison:
    """RoPE, interleaved, against rotary-embedding-torch, whose table is cached after the first call."""
    q, k = _queries_and_keys()
    positions, encoding, library = torch.arange(LENGTH), _ours("rotary"), RotaryEmbedding(dim=HEAD_DIM)
    return _compare(
        "rotary, rotate",
        lambda: encoding.rotate(q, k, positions),
        "rotary-embedding-torch",
        lambda: (library.rotate_queries_or_keys(q), library.rotate_queries_or_keys(k)),
    )


def _bias(name: str, alternative: str, theirs: Callable[[], object]) -> TimingComparison:
    """Bias of the encoding for all pairs, against an alternative."""
    positions, encoding = torch.arange(LENGTH), _ours(name)
    return _compare(f"{name}, bias", lambda: encoding.bias(positions, positions), alternative, theirs)


def alibi_against_x_transformers() -> TimingComparison:
    """ALiBi, against x-transformers; its module is made for each call, since it caches the last table."""
    return _bias("alibi", "x-transformers", lambda: AlibiPositionalBias(HEADS, HEADS)(LENGTH, LENGTH))


def t5_against_transformers() -> TimingComparison:
    """T5, causal, against transformers."""
    config = T5Config(num_heads=HEADS, is_decoder=True)
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    return _bias("t5", "transformers", lambda: attention.compute_bias(LENGTH, LENGTH))


def t5_against_x_transformers() -> TimingComparison:
    """T5, causal, against x-transformers."""
    library = RelativePositionBias(scale=1.0, causal=True, num_buckets=32, max_distance=128, heads=HEADS)
    return _bias("t5", "x-transformers", lambda: library(LENGTH, LENGTH))


def _path_against_prefix_sums(name: str, batch: int, length: int, *, training: bool = False) -> TimingComparison:
    """Bias summed along the path, against the difference of float32 prefix sums, which loses digits and is not 0 above.

    With `training` both compute the gradients of the parameters as well.
    """
    x = torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(1))
    positions, encoding = torch.arange(length), _ours(name)
    weight, offset = encoding.get_parameter("weight")[0], encoding.get_parameter("offset")[0]
    sign = 1 if name == "fox" else -1

    def plain() -> Tensor:
        gates = torch.nn.functional.logsigmoid(sign * (x @ weight.T + offset))
        sums = gates.cumsum(1).transpose(1, 2)
        return sums[..., :, None] - sums[..., None, :]

    def ours() -> Tensor | None:
        return encoding.bias(positions, positions, Content(x_BLD=x))

    def step(bias: Callable[[], Tensor | None]) -> None:
        with torch.enable_grad():
            tensor = bias()
            assert tensor is not None
            tensor.backward(upstream)

    question, alternative = f"{name}, bias of {batch} x {length} tokens", "float32 prefix sums"
    if not training:
        return _compare(question, ours, alternative, plain)
    upstream = torch.randn(batch, HEADS, length, length, generator=torch.Generator().manual_seed(4))
    return _compare(f"{question} and gradients", lambda: step(ours), alternative, lambda: step(plain))


def hope_against_all_pairs() -> TimingComparison:
    """HoPE scores by blocks, against a sum over channels for every pair, at a quarter of the batch and heads."""
    generator = torch.Generator().manual_seed(2)
    q, k = torch.randn(2, BATCH // 4, HEADS // 4, LENGTH, HEAD_DIM, generator=generator)
    positions, encoding = torch.arange(LENGTH), named("hope", heads=HEADS // 4, head_dim=HEAD_DIM)

    def plain() -> Tensor:
        sign = torch.tensor([1.0, -1.0])
        pairs = [(vectors[..., ::2, None] + sign * vectors[..., 1::2, None]).mT.flatten(-2) for vectors in (q, k)]
        distance = (positions[:, None] - positions).clamp(min=0)
        decay = torch.exp(-distance[..., None] * encoding.decay_rates().float())
        return torch.einsum("bhjc,bhic,jic->bhji", pairs[0], pairs[1], decay) / 2

    return _compare("hope, scores", lambda: encoding.scores(q, k, positions, positions), "einsum over all pairs", plain)


def rank2_exponential_against_scipy() -> TimingComparison:
    """GRAPE-M: exp(n L) x at 512 positions for a plane of a 64-dimensional head, in float64, against scipy."""
    encoding = named("grape", heads=1, head_dim=HEAD_DIM).double()
    x = torch.randn(1, 1, LENGTH, HEAD_DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    a, b = (vector.detach().numpy()[0] for vector in (encoding.a, encoding.b))
    generator, positions = np.outer(a, b) - np.outer(b, a), torch.arange(LENGTH)

    def dense() -> list[np.ndarray]:
        return [expm(n * generator) @ x[0, 0, n].numpy() for n in range(LENGTH)]

    return _compare("rank-2 exponential", lambda: encoding.rotate(x, x, positions), "scipy.linalg.expm", dense)


def rank2_exponential_against_sympy() -> TimingComparison:
    """GRAPE-M: closed form of exp(t L), against sympy's Matrix.exp, for integer vectors in three dimensions."""
    a, b, t = (1, 2, 2), (2, 1, -2), sp.Symbol("t", real=True)
    gram = grape.Gram.of(a, b)

    def closed() -> sp.Matrix:
        speed = sp.sqrt(grape.squared_speed(gram))
        return grape.rank2_exponential(gram, time=t, speed=speed).matrix(a, b)

    generator = grape.rank2_generator(gram).matrix(a, b)
    return compare("rank-2 exponential, symbolic", closed, "sympy's Matrix.exp", (t * generator).exp)


ALL: tuple[Callable[[], TimingComparison], ...] = (
    partial(_rotation, "rotary", {"rope_type": "default"}),
    rotary_against_rotary_embedding_torch,
    partial(_rotation, "interpolation", {"rope_type": "linear", "factor": 2.0}),
    partial(_rotation, "dynamic-ntk", {"rope_type": "dynamic", "factor": 2.0}),
    partial(_rotation, "yarn", {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": LENGTH}),
    alibi_against_x_transformers,
    t5_against_transformers,
    t5_against_x_transformers,
    partial(_path_against_prefix_sums, "fox", BATCH, LENGTH),
    partial(_path_against_prefix_sums, "fox", 1, 1024),
    partial(_path_against_prefix_sums, "fox", 1, 4096),
    partial(_path_against_prefix_sums, "fox", 1, 1024, training=True),
    partial(_path_against_prefix_sums, "cable", 1, 1024),
    hope_against_all_pairs,
    rank2_exponential_against_scipy,
    rank2_exponential_against_sympy,
)
