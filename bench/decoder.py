"""How fast are training and testing: against decoders of other libraries, and many models at once against a loop?"""

import os
from collections.abc import Callable
from dataclasses import asdict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.measure import TimingComparison, compare
from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.protocol import Training, load_protocol
from lengthgen.empirical.experiment.run import one_run
from lengthgen.empirical.experiment.samples import TEST, examples
from lengthgen.empirical.model.backend import CPU, Backend
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import stack_models
from lengthgen.empirical.model.optimizer import ModelwiseAdamW
from lengthgen.infrastructure.memory import keep_freed_memory

BATCH, LENGTH, WIDTH, LAYERS, HEADS, SYMBOLS = 100, 50, 64, 2, 4, 13
PROMPT = 42
"""Number of prompt tokens in a sequence; the tokens after them are generated."""
SETTINGS = Training(
    samples=BATCH, batch=BATCH, epochs=1, learning_rate=1e-3, weight_decay=0.01, clip=1.0, evaluate_every=1
)


def device() -> str:
    """Device that is timed: "cuda" if there is one, else "cpu"."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def training_step_against_x_transformers(*, compiled: bool = False, both: bool = False) -> TimingComparison:
    """Forward pass, backward pass, clipping and AdamW; learned absolute positions, loss on the generated tokens.

    Our decoder can be compiled, or both models by the same options; compilation is not timed.
    """
    theirs, backend = _x_transformers(), Backend(device(), compiled=compiled)
    if both:
        return _training_step_against("x-transformers, compiled", theirs, backend.forward_of(theirs), backend)
    return _training_step_against("x-transformers", theirs, theirs, backend if compiled else CPU)


def _x_transformers() -> nn.Module:
    """Decoder of x-transformers of the sizes of these benchmarks, with learned absolute positions."""
    import x_transformers as xt

    torch.manual_seed(0)
    layers = xt.Decoder(dim=WIDTH, depth=LAYERS, heads=HEADS, attn_dim_head=WIDTH // HEADS, attn_flash=True)
    return xt.TransformerWrapper(num_tokens=SYMBOLS, max_seq_len=LENGTH, attn_layers=layers)


def training_step_against_gpt2() -> TimingComparison:
    """Training step, against GPT-2 of transformers without dropout."""
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=SYMBOLS, n_positions=LENGTH, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=None,
        eos_token_id=None,
    )  # fmt: skip
    theirs = transformers.GPT2LMHeadModel(config)
    return _training_step_against("transformers GPT-2", theirs, lambda tokens: theirs(tokens).logits)


def training_step_against_bare_loop() -> TimingComparison:
    """Training step of one model, against the same model written for learned absolute positions alone."""
    return _training_step_against("a bare loop of the same model", *_bare())


def ensemble_step_against_bare_loop() -> TimingComparison:
    """Training step of six models together, against six steps of the bare model."""
    models = 6
    together = _step(stack_models([_decoder(LENGTH, seed) for seed in range(models)]), BATCH, LENGTH, PROMPT - 1)
    return _models_against_bare_loop(f"{models} models together", together, models)


def models_in_turn_against_bare_loop() -> TimingComparison:
    """The same one after the other, as a sweep trains them where its probe finds this faster."""
    models = 6
    alone = [_step(_decoder(LENGTH, seed), BATCH, LENGTH, PROMPT - 1) for seed in range(models)]
    return _models_against_bare_loop(f"{models} models one after the other", lambda: [step() for step in alone], models)


def _models_against_bare_loop(how: str, ours: Callable[[], object], models: int) -> TimingComparison:
    """Training step of several models, against as many steps of the bare model."""
    bare = _other_step(*_bare())
    return compare(
        f"training step of {how}, {BATCH} samples of {LENGTH} tokens",
        ours,
        "bare loops one after the other",
        lambda: [bare() for _ in range(models)],
    )


def _bare() -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    """Bare model of the sizes of these benchmarks, and the logits from its last prompt token on."""
    torch.manual_seed(0)
    model = BareDecoder(symbols=SYMBOLS, length=LENGTH, width=WIDTH, layers=LAYERS, heads=HEADS)
    return model, lambda tokens: model(tokens, PROMPT - 1)


def evaluation_against_x_transformers() -> TimingComparison:
    """Exact match of the model of `quick` at 20 scales of parity: 1,000 samples each, relative positions, all cores."""
    import x_transformers as xt

    torch.set_num_threads(os.cpu_count() or 1)
    protocol = load_protocol("fig1", "quick")
    cell = next(cell for cell in protocol.cells if (cell.task.format, cell.encoding) == ("unaligned", "rpe"))
    run = one_run(protocol, cell, protocol.profile.models[0], seed=0)
    setup, sizes = Setup.of(run, device()), asdict(run.model)
    tests = [examples(setup.task, [scale], 1000, split=TEST, seed=0) for scale in run.test]
    decoder = Decoder(symbols=len(setup.task.alphabet), encoding=setup.encoding(), **sizes).to(device()).eval()
    layers = xt.Decoder(
        dim=run.model.width, depth=run.model.layers, heads=run.model.heads,
        attn_dim_head=run.model.width // run.model.heads, attn_flash=True, rotary_pos_emb=True,
    )  # fmt: skip
    theirs = xt.TransformerWrapper(
        num_tokens=len(setup.task.alphabet), max_seq_len=setup.geometry.length, attn_layers=layers
    )
    theirs.to(device()).eval()

    def ours() -> None:
        for data in tests:
            teacher_forced(decoder, setup.geometry, data)

    @torch.no_grad()
    def full_forward() -> None:
        for data in tests:
            tokens = torch.from_numpy(data.tokens.astype("int64")).to(device())
            first = int(data.is_step[0].argmax())
            (theirs(tokens[:, :-1])[:, first - 1 :].argmax(-1) == tokens[:, first:]).cpu().numpy()

    question = f"exact match at {len(tests)} scales of parity, 1,000 samples each, the model of quick"
    return compare(question, ours, "x-transformers with rotary positions", full_forward, rounds=3)


def compiled_step_against_plain() -> TimingComparison:
    """Training step of the model of `quick` on Addition under IPE; compilation is not timed."""
    torch.set_num_threads(1)
    protocol = load_protocol("fig2", "quick")
    cell = next(cell for cell in protocol.cells if (cell.task.name, cell.encoding) == ("addition", "ipe"))
    run = one_run(protocol, cell, protocol.profile.models[0], seed=0)
    setup = Setup.of(run, device())
    samples = torch.arange(run.training.batch, device=device())[None]

    def step(backend: Backend) -> Callable[[], None]:
        ensemble = Ensemble([run], setup, backend)

        def steps() -> None:
            for number in range(20):
                ensemble.optimizer.step(ensemble.losses(samples, number))
            _wait()

        return steps

    question = f"20 training steps of the model of quick on addition, {run.training.batch} samples each, compiled"
    return compare(question, step(Backend(device(), compiled=True)), "plain", step(Backend(device())))


def ensemble_against_loop() -> TimingComparison:
    """Training step of 64 models of width 64, 8 samples of 12 tokens each."""
    models, batch, length = 64, 8, 12
    members = [_decoder(length, seed) for seed in range(models)]
    together = _step(stack_models(members), batch, length, 0)
    alone = [_step(member, batch, length, 0) for member in members]
    return compare(
        f"training step of {models} models together, {batch} samples of {length} tokens",
        together,
        "one after the other",
        lambda: [step() for step in alone],
        rounds=5,
    )


def _training_step_against(
    name: str, theirs: nn.Module, logits: Callable[[Tensor], Tensor], backend: Backend = CPU
) -> TimingComparison:
    """Training step of our decoder, against that of another model."""
    ours = _step(_decoder(LENGTH, 0), BATCH, LENGTH, PROMPT - 1, backend)
    compiled = "compiled " if backend.compiled else ""
    question = f"{compiled}training step, {BATCH} samples of {LENGTH} tokens, the last {LENGTH - PROMPT + 1} generated"
    return compare(question, ours, name, _other_step(theirs, logits))


def _other_step(theirs: nn.Module, logits: Callable[[Tensor], Tensor]) -> Callable[[], None]:
    """Function that does one training step of another model; `logits` are those of all or of the last tokens."""
    torch.set_num_threads(1)
    theirs.to(device())
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    tokens = torch.randint(SYMBOLS, (BATCH, LENGTH + 1), device=device())

    def step() -> None:
        generated_logits = logits(tokens[:, :-1])[:, PROMPT - 1 - LENGTH :]
        loss = F.cross_entropy(generated_logits.flatten(0, 1), tokens[:, PROMPT:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        optimizer.step()
        _wait()

    return step


def _decoder(length: int, seed: int) -> Decoder:
    torch.manual_seed(seed)
    encoding = LearnedAbsolute(length=length, width=WIDTH)
    return Decoder(symbols=SYMBOLS, width=WIDTH, layers=LAYERS, heads=HEADS, encoding=encoding)


def _step(decoder: Decoder, batch: int, length: int, first_query: int, backend: Backend = CPU) -> Callable[[], None]:
    """Function that does one training step of a decoder, on the device that is timed; compiled if the backend is."""
    torch.set_num_threads(1)
    keep_freed_memory()
    decoder.to(device())
    optimizer = ModelwiseAdamW(
        decoder, rate=SETTINGS.learning_rate, weight_decay=SETTINGS.weight_decay, clip=SETTINGS.clip
    )
    tokens = torch.randint(SYMBOLS, (decoder.models, batch, length + 1), device=device())
    forward = backend.forward_of(decoder)

    def step() -> None:
        logits = forward(tokens[..., :-1], first_query=first_query)
        targets = tokens[..., first_query + 1 :]
        losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)
        optimizer.step(losses.mean((1, 2)))
        _wait()

    return step


def _wait() -> None:
    """Wait until the GPU has finished."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


class BareDecoder(nn.Module):
    """Pre-norm decoder with learned absolute positions: tokens int64 [B, L] -> logits [B, L - first_query, V]."""

    def __init__(self, *, symbols: int, length: int, width: int, layers: int, heads: int) -> None:
        """Make the layers with PyTorch's initial weights."""
        super().__init__()
        self.tokens, self.positions = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(_BareBlock(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, symbols, bias=False)

    def forward(self, tokens_BL: Tensor, first_query: int) -> Tensor:
        """Compute the logits of the queries from `first_query` on; the last block computes only these."""
        x = self.tokens(tokens_BL) + self.positions.weight[: tokens_BL.shape[1]]
        for block in self.blocks:
            x = block(x, first_query if block is self.blocks[-1] else 0)
        return self.head(self.norm(x))


class _BareBlock(nn.Module):
    """Causal attention and an MLP of 4D GELU units."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, first: int) -> Tensor:
        q, k, v = self.qkv(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        keys = k.shape[-2]
        mask = torch.full((keys - first, keys), -torch.inf).triu(1 + first)
        attended = F.scaled_dot_product_attention(q[..., first:, :], k, v, attn_mask=mask.to(q))
        x = x[:, first:] + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))
