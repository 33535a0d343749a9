"""Kinds of faults in whole models that people report: each is found under its name, and right code is silent."""

import math
from types import SimpleNamespace

import pytest
import torch

from lengthgen.empirical.audit.models.audit import audit_model
from lengthgen.empirical.audit.models.whole import own_model
from tests.empirical.examples import decoders
from tests.empirical.examples.decoders import Absolute, Biased, Config, Decoder, Encoder, Windowed, Without, turned


def audited(kind):
    torch.manual_seed(0)
    subject = own_model(kind, kind.__name__)
    [answer] = audit_model(subject, requested={}, dtypes=("bfloat16",), to=60, budget=None, with_parts=False)
    return answer


class TwoTables(Absolute):
    """Positions that are passed count from 2, as in RoBERTa."""

    def positions(self, ids, mask, start):
        return super().positions(ids, mask, start) + 2


class Short(Absolute):
    """Positions count from 2 inside, and the table has two rows more."""

    rows, first = 50, 2
    config = Config(max_position_embeddings=48, num_hidden_layers=2)


class Narrow(Decoder):
    """Some layers have no rotation, as the configuration says."""

    config = Config(no_rope_layers=[1, 0], rope_theta=10_000.0, num_hidden_layers=2, head_dim=8)

    def rotate(self, x, positions, layer):
        return x if layer else super().rotate(x, positions, layer)


class Described(Decoder):
    config = Config(rope_theta=10_000.0, num_hidden_layers=2, head_dim=8, max_position_embeddings=400)


class Slow(Decoder):
    """The slowest plane turns by a hundred-millionth of a radian in one step."""

    bases = (1e10, 1e10)
    config = Config(rope_theta=1e10, num_hidden_layers=2, head_dim=8, max_position_embeddings=400)


class InATuple(Decoder):
    """Answers with a tuple, and takes the cache as `past`."""

    def forward(self, input_ids, attention_mask=None, position_ids=None, past=None):
        answer = super().forward(input_ids, attention_mask, position_ids, past, use_cache=True)
        return answer.logits, answer.past_key_values


class PaddingIsTrue(Encoder):
    """The mask is true where tokens are padding, as PyTorch's are, and must be given."""

    def forward(self, input_ids, key_padding_mask):
        return super().forward(input_ids, ~key_padding_mask)


class WithSinks(Windowed):
    """Each query sees the first four tokens too, as the cache keeps them."""

    def visible(self, queries, keys, layer):
        return super().visible(queries, keys, layer) | ((keys < 4) & (keys <= queries))

    def kept(self, parts):
        return parts


class Sharpened(Decoder):
    """Queries grow with the logarithm of their position, so that softmax stays sharp."""

    def query(self, q, positions):
        return q * (2 + positions[:, None, :, None]).log()


class NamedCache(Decoder):
    """Takes and gives the cache under the name that transformers has from 5.24 on."""

    def forward(self, input_ids, attention_mask=None, position_ids=None, cache=None, use_cache=False):
        answer = super().forward(input_ids, attention_mask, position_ids, cache, use_cache)
        return SimpleNamespace(logits=answer.logits, cache=answer.past_key_values)


RIGHT = [Decoder, Absolute, Biased, Windowed, Encoder, Without, TwoTables, Short, Narrow, Described, Slow, InATuple,
         PaddingIsTrue, WithSinks, Sharpened, NamedCache]  # fmt: skip


@pytest.mark.parametrize("kind", RIGHT)
def test_right_models_are_silent(kind):
    findings = [finding["rule"] for finding in audited(kind)["findings"]]
    assert findings == {TwoTables: ["positions-offset"]}.get(kind, [])


class CacheForgetsPadding(Decoder):
    def positions(self, ids, mask, start):
        return super().positions(ids, mask if start == 0 else None, start)


class PaddingInABatch(Decoder):
    """The padding of the first row is taken for that of all."""

    def positions(self, ids, mask, start):
        return super().positions(ids, None if mask is None else mask[:1].expand_as(mask), start)


class NoPositionForOneToken(Absolute):
    def embed(self, ids, positions):
        return self.embedding(ids) if ids.shape[1] == 1 else super().embed(ids, positions)


class CountsKeptKeys(Windowed):
    def positions(self, ids, mask, start):
        return super().positions(ids, mask, min(start, self.window))


class RotatesAgain(Decoder):
    def keys(self, kept, new, positions, layer):
        new = new if kept is None else torch.cat([kept, new], 2)
        count = positions[:, -1:] + 1 - new.shape[2]
        return self.rotate(new, count + torch.arange(new.shape[2]), layer)


class ForgetsKeys(Decoder):
    def kept(self, parts):
        return tuple(part[:, :, :0] for part in parts)


class KeepsLess(Windowed):
    def kept(self, parts):
        return tuple(part[:, :, 1 - self.window // 2 :] for part in parts)


class NoWindow(Windowed):
    def visible(self, queries, keys, layer):
        return keys <= queries

    def kept(self, parts):
        return parts


class WiderWindow(Windowed):
    window = 41


class OtherWindow(Windowed):
    window = 30


class KeepsAnOffset(Absolute):
    """An offset of the call before is added."""

    offset = 0

    def positions(self, ids, mask, start):
        positions = super().positions(ids, mask, start) + (0 if start else self.offset)
        self.offset = ids.shape[1] % 8
        return positions


class OneHead(Decoder):
    def rotate(self, x, positions, layer):
        return torch.cat([super().rotate(x[:, :1], positions, layer), x[:, 1:]], 1)


class OtherLayer(Described):
    bases = (10_000.0, 500.0)


class OtherBase(Described):
    bases = (500.0, 500.0)


class SlowPlaneStands(Slow):
    def rotate(self, x, positions, layer):
        steps = self.bases[layer] ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
        steps[-1] = 0
        return turned(x, positions[:, None, :, None] * steps)


class RotatesAllLayers(Narrow):
    def rotate(self, x, positions, layer):
        return Decoder.rotate(self, x, positions, layer)


class ClaimsRotation(Without):
    config = Described.config


class IndexUnderPadding(Absolute):
    """The index is the position, whatever the mask says, and no positions can be passed."""

    def positions(self, ids, mask, start):
        return super().positions(ids, None, start)

    def forward(self, input_ids, attention_mask=None, past_key_values=None, use_cache=False):
        return super().forward(input_ids, attention_mask, None, past_key_values, use_cache)


class TooShort(Short):
    rows = 48


class Clamped(Absolute):
    def embed(self, ids, positions):
        return super().embed(ids, positions.clamp(max=99))


class Wrapped(Absolute):
    def embed(self, ids, positions):
        return super().embed(ids, positions % 128)


class RoundedPositions(Decoder):
    """Positions take the dtype of the queries."""

    def rotate(self, x, positions, layer):
        return super().rotate(x, positions.to(x.dtype), layer)


class FirstRows(Biased):
    def bias(self, queries, keys):
        return super().bias(queries - queries[0], keys) if len(queries) == 1 else super().bias(queries, keys)


class NoBiasForOneToken(Biased):
    def bias(self, queries, keys):
        return 0.0 if len(queries) == 1 else super().bias(queries, keys)


class SeesLater(Decoder):
    """A mask of truth values is not applied."""

    def visible(self, queries, keys, layer):
        return keys >= 0


class UnmaskedPadding(Encoder):
    def forward(self, input_ids, attention_mask=None, position_ids=None):
        if attention_mask is not None and attention_mask.ndim == 2:
            position_ids, attention_mask = self.positions(input_ids, attention_mask, 0), None
        return super().forward(input_ids, attention_mask, position_ids)


class TupleStartsAtZero(InATuple):
    def positions(self, ids, mask, start):
        return super().positions(ids, mask, 0)


class ChunkSeesItself(Decoder):
    """A chunk that follows a cache sees its own later tokens."""

    def visible(self, queries, keys, layer):
        seen = super().visible(queries, keys, layer)
        return seen | (keys >= queries[:1]) if len(queries) > 1 and int(queries[0]) else seen


class KeepsTheMask(Decoder):
    """The mask of padding is made once for each length."""

    def __init__(self):
        super().__init__()
        self.masks = {}

    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=False):
        if attention_mask is None or attention_mask.ndim == 2:
            attention_mask = self.masks.setdefault(input_ids.shape[1], attention_mask)
        return super().forward(input_ids, attention_mask, position_ids, past_key_values, use_cache)


class HalfPositions(Decoder):
    """Positions in float16, which are whole up to 2048."""

    def rotate(self, x, positions, layer):
        return super().rotate(x, positions.half().double(), layer)


class OddHead(Decoder):
    def rotate(self, x, positions, layer):
        other = turned(x[:, 3:], positions[:, None, :, None] * 500.0 ** (-torch.arange(0, 8, 2).double() / 8))
        return torch.cat([super().rotate(x[:, :3], positions, layer), other], 1)


class SeesNext(Decoder):
    def visible(self, queries, keys, layer):
        return keys <= queries + 1


class LayerStartsAtZero(Decoder):
    """The second layer counts the tokens of a call."""

    def rotate(self, x, positions, layer):
        return super().rotate(x, positions - positions[:, :1] if layer else positions, layer)


class NamedCacheStartsAtZero(NamedCache):
    def positions(self, ids, mask, start):
        return super().positions(ids, mask, 0)


class IgnoresPositions(Decoder):
    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=False):
        return super().forward(input_ids, attention_mask, None, past_key_values, use_cache)


class MeanOverTheBatch(Decoder):
    def embed(self, ids, positions):
        return super().embed(ids, positions) - 0.1 * self.embedding(ids).mean(0)


class ZeroAtFirst(CountsKeptKeys):
    """Layers add nothing until training."""

    def __init__(self):
        super().__init__()
        for part in self.outputs:
            torch.nn.init.zeros_(part.weight)


FAULTS = {
    CacheForgetsPadding: ("padding", "token by token"),
    PaddingInABatch: ("padding", "rows padded"),
    NoPositionForOneToken: ("start-index-ignored", "token by token"),
    CountsKeptKeys: ("start-index-ignored", "token 41 gets position 40, not 41"),
    RotatesAgain: ("rotated-twice", "keys of the cache stand at twice their positions"),
    ForgetsKeys: ("cache-incomplete", "sees 320 keys in a full pass, 1 key as a step with a cache"),
    KeepsLess: ("window-differs-when-cached", "sees 40 keys in a full pass, 20 keys as a step with a cache"),
    NoWindow: ("window-ignored", "a query sees 48 keys of 48, the configuration names a window of 40"),
    WiderWindow: ("window-off-by-one", "a query sees 41 keys of 48, the configuration names a window of 40"),
    OtherWindow: ("window-differs", "a query sees 30 keys of 48, the configuration names a window of 40"),
    KeepsAnOffset: ("call-history", "after a longer call"),
    OneHead: ("heads-differ", "no position turns queries or keys of heads 1, 2, 3, of 4"),
    OtherLayer: ("frequencies-unpublished", "layers? 1: "),
    OtherBase: ("frequencies-unpublished", "plane 1 turns by 0.211474, not 0.1"),
    SlowPlaneStands: ("frequencies-unpublished", "6 coordinates are rotated, not 8"),
    RotatesAllLayers: ("no-rope-layers-ignored", "layer 1 has a rotation, and no_rope_layers says 0"),
    ClaimsRotation: ("encoding-missing", "the configuration sets rope_theta"),
    IndexUnderPadding: ("padding", "left padded"),
    TooShort: ("table-too-short", "position 46 is refused, and the configuration promises 48 positions"),
    Clamped: ("codes-clamped", "at position 100 has the query and the key that it has at position 99"),
    Wrapped: ("codes-repeated", "at position 128 has the query and the key that it has at position 0"),
    RoundedPositions: ("rounded-by-move", "at position 257 has the query and the key that it has at position 256"),
    FirstRows: ("start-index-ignored", "a cached query gets another bias"),
    NoBiasForOneToken: ("cached-queries-get-first-rows", "the same bias for all keys"),
    SeesLater: ("later-tokens-seen", "though the model gives a cache"),
    UnmaskedPadding: ("padding", "right padded"),
    TupleStartsAtZero: ("start-index-ignored", "token 1 gets position 0, not 1"),
    ChunkSeesItself: ("window-differs-when-cached", "in a chunk with a cache"),
    KeepsTheMask: ("call-history", "after a padded call of equal length"),
    HalfPositions: ("positions-rounded", "at position 2049 has the query and the key that it has at position 2048"),
    OddHead: ("heads-differ", "heads 3 of 4 turn otherwise than the rest"),
    SeesNext: ("later-tokens-seen", "sees 1 later key"),
    LayerStartsAtZero: ("start-index-ignored", "in layer 1, token 1 gets position 0, not 1"),
    NamedCacheStartsAtZero: ("start-index-ignored", "token 1 gets position 0, not 1"),
    IgnoresPositions: ("positions-ignored", "other positions that are passed give the same logits"),
    MeanOverTheBatch: ("batch", "batched with other rows"),
    ZeroAtFirst: ("start-index-ignored", "token 41 gets position 40, not 41"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_found_under_its_name(kind):
    rule, says = FAULTS[kind]
    first = audited(kind)["findings"][0]
    assert first["rule"] == rule
    assert says.replace("?", "") in first["says"] or says.partition("?")[2] in first["says"]


class Bucketed(Without):
    """A learned bias of T5's buckets, of the distance into the past."""

    config = Config(relative_attention_num_buckets=8, relative_attention_max_distance=20, num_hidden_layers=2)
    farthest = 20

    def __init__(self):
        super().__init__()
        self.values = torch.nn.Parameter(torch.randn(decoders.HEADS, 8))

    def bias(self, queries, keys):
        distance = (queries - keys).clamp(min=0)
        late = 4 + (torch.log(distance.clamp(min=1).double() / 4) / math.log(self.farthest / 4) * 4).long()
        return self.values[:, torch.where(distance < 4, distance, late.clamp(max=7))]


class OtherBuckets(Bucketed):
    farthest = 100


def test_buckets_of_a_model_are_compared_with_its_configuration():
    for kind, rules in ((Bucketed, []), (OtherBuckets, ["buckets-unpublished"])):
        torch.manual_seed(0)
        answers = audit_model(own_model(kind, kind.__name__), requested={}, dtypes=("float32",), to=100, budget=None)
        assert [finding["rule"] for answer in answers for finding in answer["findings"]] == rules


class LayersDiffer(Decoder):
    """Two bases, and no configuration that says so."""

    bases = (10_000.0, 500.0)


def test_layers_that_differ_without_a_word_are_a_note():
    answer = audited(LayersDiffer)
    assert [finding["rule"] for finding in answer["findings"]] == ["layers-differ"]
    assert [layer["layers"] for layer in answer["recognised"]] == [[0], [1]]


class NeedsACache(Decoder):
    """Positions are taken only once a cache has been made."""

    def forward(self, input_ids, position_ids=None):
        if position_ids is not None:
            raise TypeError("make a cache first")
        return super().forward(input_ids)


class Single(Decoder):
    """A tensor in float32 is made within, so that it fails in float64."""

    def embed(self, ids, positions):
        return super().embed(ids, positions) @ torch.eye(32, dtype=torch.float32)


@pytest.mark.parametrize("kind", [NeedsACache, Single])
def test_what_one_call_refuses_loses_none_of_the_others(kind):
    answer = audited(kind)
    assert (answer["findings"], answer["recognised"][0]["encoding"]) == ([], "RoPE")


def test_reproductions_fail_while_the_fault_is_there(tmp_path):
    source = "__import__('tests.empirical.audit.test_kinds').empirical.audit.test_kinds."
    pairs = {PaddingInABatch: Decoder, CountsKeptKeys: Windowed, KeepsAnOffset: Absolute, NoWindow: Windowed,
             KeepsLess: Windowed, TooShort: Short, NamedCacheStartsAtZero: NamedCache, MeanOverTheBatch: Decoder,
             UnmaskedPadding: Encoder}  # fmt: skip
    for kind, right in pairs.items():
        torch.manual_seed(0)
        subject = own_model(kind, kind.__name__, source + kind.__name__)
        [answer] = audit_model(subject, requested={}, dtypes=("float32",), to=60, budget=None, with_parts=False)
        program = answer["findings"][0]["reproduction"]
        with pytest.raises(AssertionError):
            exec(program, {})
        exec(program.replace(source + kind.__name__, source + right.__name__), {})
