"""What do the encoding hooks cost, against the library's own Transformer without any?"""

import torch
from torch import nn

from bench.measure import Comparison, compare
from empirical.decoder import Decoder
from empirical.encodings import Relational

BATCH, LENGTH, WIDTH, LAYERS, HEADS, SYMBOLS = 100, 27, 64, 2, 4, 5


def training_step_against_torch() -> Comparison:
    """Forward and backward of the `quick` decoder with IPE, against nn.TransformerEncoder of the same shape, causal."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokens = torch.randint(SYMBOLS, (BATCH, LENGTH))
    labels = torch.randint(3, (1, LENGTH, LENGTH))
    encoding = Relational(labels=3, layers=LAYERS, head_width=WIDTH // HEADS)
    ours = Decoder(symbols=SYMBOLS, width=WIDTH, layers=LAYERS, heads=HEADS, encoding=encoding)
    layer = nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    embedding, head = nn.Embedding(SYMBOLS, WIDTH), nn.Linear(WIDTH, SYMBOLS, bias=False)
    stack = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)
    mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    return compare(
        "training step with IPE",
        lambda: ours(tokens, labels).sum().backward(),
        "nn.TransformerEncoder without position encoding",
        lambda: head(stack(embedding(tokens), mask=mask, is_causal=True)).sum().backward(),
    )
