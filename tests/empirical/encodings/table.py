"""Table of encodings, a row each: how a small module is made, and the values of its formula's parameters in it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.modules import MODULES, named
from lengthgen.theory.encodings import absolute, biases, catalogue, grape, hope, paths, relations, rotary
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, Law
from lengthgen.theory.laws import decide_law
from tests.empirical.twins import HOSTILE, normal

HEADS, HEAD_DIM, LENGTH, LAYERS, LABELS = 3, 4, 9, 2, 64
WIDTH = HEADS * HEAD_DIM
TRAINED = 6
"""Shorter than the sequences: what depends on the trained length is met beyond it."""
LAYER = 1
"""Layer that calls: a module that reads the numbers of another one is noticed."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "ape": {"length": LABELS},
    "rpe-square": {"length": LABELS},
    "fire": {"threshold": float(TRAINED)},
    "seqpe": {"digits": TRAINED},
    "prism": {"positions": 7},
    "yarn": {"length": 256},
    "grape-thin": {"rank": 2},
}
WITHOUT_FORMULAS: Mapping[str, tuple[Law, ...]] = {
    "grape-thin": DISTANCE_LAWS,
    "rpe": DISTANCE_LAWS,
    "rpe-square": (Law.TRANSLATION, Law.NORM, Law.STREAMING),
    "lbpe": (Law.NORM, Law.STREAMING),
    "lbpe-sh": (Law.NORM, Law.STREAMING),
}
"""Laws of the encodings that no formulas state."""
NAMES = [record.name for record in catalogue.with_formulas() if not record.drawn_from] + [*WITHOUT_FORMULAS]


def base_name(name: str) -> str:
    """Name of the encoding without its options."""
    return name.partition("[")[0]


def make(name: str, seed: int = 0, **options: Any) -> Any:
    """Module in float64, by the name of its encoding, perhaps with options."""
    torch.manual_seed(seed)
    if name == "rpe":
        return MODULES[name](labels=LABELS, layers=LAYERS, head_dim=HEAD_DIM).double()
    sizes = {"heads": HEADS, "head_dim": HEAD_DIM, "layers": LAYERS, "length": TRAINED}
    return named(name, **{**sizes, **OPTIONS.get(base_name(name), {}), **options}).double()


def shaken(encoding: Any, seed: int = 5, **values: Any) -> Any:
    """The module with its numbers moved away from their start, and some set to these values."""
    with torch.no_grad():
        for place, (name, parameter) in enumerate(encoding.named_parameters()):
            parameter.add_(0.3 * normal(seed + place, parameter.numel()).view_as(parameter).to(parameter.dtype))
            if name in values:
                parameter.copy_(torch.as_tensor(values[name], dtype=torch.float64))
    return encoding


def ring(positions: Tensor) -> Tensor:
    """Distances in a ring through all positions up to the last: int64 [1 or B, L, L]. More tokens make it longer."""
    apart = (positions[..., :, None] - positions[..., None, :]).abs()
    last = positions.amax(-1) if positions.numel() else torch.zeros((), dtype=torch.int64)
    distances = torch.minimum(apart, last[..., None, None] + 1 - apart)
    return distances if distances.dim() == 3 else distances[None]


def content_of(x_BLD: Tensor, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, layer: int = LAYER) -> Content:
    """All that any hook may read; labels are distances, and the structure is a ring."""
    distance = positions[..., :, None] - positions[..., None, :]
    labels = distance.clamp(0, LABELS - 1).long()
    return Content(
        layer=layer,
        x_BLD=x_BLD,
        q_BHJC=q_BHLC,
        k_BHIC=k_BHLC,
        labels_BJI=labels if labels.dim() == 3 else labels[None],
        scales_B=torch.full((len(x_BLD),), 5),
        distances_BJI=ring(positions),
    )


@dataclass(frozen=True)
class Inputs:
    """Layer's input, queries, keys and positions."""

    x_BLD: Tensor
    q_BHLC: Tensor
    k_BHLC: Tensor
    positions: Tensor

    @classmethod
    def drawn(cls, seed: int, positions: Tensor, batch: int = 1, dtype: torch.dtype = torch.float64) -> "Inputs":
        """Normal inputs at these positions."""
        length = positions.shape[-1]
        x = normal(seed, batch, length, WIDTH).to(dtype)
        q, k = normal(seed + 100, 2, batch, HEADS, length, HEAD_DIM).to(dtype)
        return cls(x, q, k, positions)

    def content(self, layer: int = LAYER) -> Content:
        """Content with these inputs."""
        return content_of(self.x_BLD, self.q_BHLC, self.k_BHLC, self.positions, layer)


def outputs(encoding: PositionEncoding, given: Inputs, dtype: torch.dtype = torch.float64, layer: int = LAYER) -> Any:
    """Hook -> what each hook of the encoding returns for the inputs: tensors."""
    content, at = given.content(layer), given.positions
    answers = {"embed": encoding.embed(given.x_BLD, at)}
    answers["queries"], answers["keys"] = encoding.rotate(given.q_BHLC, given.k_BHLC, at, content)
    if encoding.scores_pairwise:
        answers["scores"] = encoding.scores(given.q_BHLC, given.k_BHLC, at, at, content)
    bias = encoding.bias(at, at, content, dtype=dtype)
    if bias is not None:
        answers["bias"] = bias
    if encoding.changes_values:
        length = at.shape[-1]
        weights = normal(9, len(given.x_BLD), HEADS, length, length).softmax(-1).to(dtype)
        answers["values"] = encoding.values(weights, at, at, content)
    return answers


def keeps(name: str, law: Law) -> bool:
    """True if the encoding has the law, by its formulas."""
    if name in WITHOUT_FORMULAS:
        return law in WITHOUT_FORMULAS[name]
    return decide_law(catalogue.named(name), law).holds is True


@dataclass(frozen=True, kw_only=True)
class At:
    """Place at which a formula is compared: module, head, plane and inputs without a batch axis."""

    module: Any
    head: int
    plane: int
    x: Tensor
    q: Tensor
    k: Tensor
    positions: tuple[int, ...]


Values = Callable[[At], Mapping[Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Formula:
    """Comparison of a module with its formulas.

    Attributes:
        values: values of the formulas' parameters.
        bias, score, code: accepted errors: relative of a bias, absolute of a score and of an entry of a code.
        parameters: numbers of the module, where they are not drawn.
        positions: positions of the tokens.
        record: changes of the record.
    """

    values: Values
    bias: float = 0.0
    score: float = 0.0
    code: float = 0.0
    parameters: Mapping[str, Any] | None = None
    positions: tuple[int, ...] = HOSTILE
    record: Mapping[str, Any] | None = None


def number(tensor: Tensor) -> sp.Rational:
    """Exact value of a tensor with one number."""
    return sp.Rational(tensor.item())


def _softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def _unit_softplus(value: float) -> float:
    """softplus(value + log(e - 1)), which is 1 at 0."""
    return math.log1p((math.e - 1) * math.exp(value))


def _slope(at: At) -> sp.Expr:
    return biases.alibi_slopes(HEADS)[at.head]


def _frequency(at: At) -> sp.Expr:
    return rotary.frequencies(HEAD_DIM)[at.plane]


def _share(at: At) -> sp.Expr:
    return rotary.ntk_share(sp.Integer(at.plane), head_dim=sp.Integer(HEAD_DIM))


def _at_tokens(family: sp.IndexedBase, value: Callable[[Tensor], Any], at: At, inputs: Tensor) -> dict[Any, Any]:
    """Value of a family at each token, from the token's row of the inputs."""
    return {family[place]: sp.sympify(value(row)) for place, row in zip(at.positions, inputs, strict=True)}


def _logit(at: At, weight: str = "weight", offset: str | None = None) -> Callable[[Tensor], sp.Rational]:
    """Linear map of a token, rounded to float64."""
    matrix = getattr(at.module, weight)[LAYER, at.head].detach()
    added = sp.Integer(0) if offset is None else number(getattr(at.module, offset)[LAYER, at.head])
    return lambda row: number(row @ matrix) + added


def fox_values(at: At) -> Mapping[Any, Any]:
    logit = _logit(at, offset="offset")
    return _at_tokens(paths.LOG_GATES, lambda row: sp.N(paths.fox_log_gate(logit(row)), 40), at, at.x)


def cable_values(at: At) -> Mapping[Any, Any]:
    logit = _logit(at, offset="offset")
    return _at_tokens(paths.CABLE_STEPS, lambda row: sp.N(-paths.cable_log_gate(logit(row)), 40), at, at.x)


def gated_cable_values(at: At) -> Mapping[Any, Any]:
    steps, gates = _logit(at), _logit(at, "gate_weight")
    return {
        **_at_tokens(paths.CABLE_RECTIFIED, lambda row: paths.cable_rectified(steps(row)), at, at.x),
        **_at_tokens(paths.CABLE_GATES, lambda row: sp.N(paths.cable_gate(gates(row)), 40), at, at.x),
    }


def _gate(vectors: Tensor | None, at: At) -> Callable[[Tensor], sp.Rational]:
    def gate(row: Tensor) -> sp.Rational:
        if vectors is None:
            return sp.Integer(0)
        vector = vectors[LAYER, at.head].detach()
        return sp.Rational(_softplus(float(row @ vector) / float(vector.norm()) / HEAD_DIM**0.5))

    return gate


def gated_grape_values(at: At) -> Mapping[Any, Any]:
    factor = _unit_softplus(at.module.log_factors[LAYER, at.head].item())
    return {
        grape.GRAPE_SLOPE: sp.Rational(float(_slope(at)) * factor),
        **_at_tokens(grape.QUERY_GATES, _gate(at.module.query_vectors, at), at, at.q[at.head]),
        **_at_tokens(grape.KEY_GATES, _gate(at.module.key_vectors, at), at, at.k[at.head]),
    }


def path_values(at: At) -> Mapping[Any, Any]:
    """Potentials of all edges, by the symbolic formulas, plane by plane."""
    probes = (at.x @ at.module.probes[LAYER, at.head].detach().T).unflatten(-1, (-1, 2)).tolist()
    edges = {}
    for row, query in enumerate(at.positions):
        for column, token in enumerate(at.positions[: row + 1]):
            where = {"query_position": sp.Integer(query), "token_position": sp.Integer(token)}
            planes = zip(probes[row], probes[column], strict=True)
            total = sum(grape.affinity(*([*map(sp.Rational, pair)] for pair in plane), **where) for plane in planes)
            psi = grape.affinity_potential(sp.N(total, 40), slope=_slope(at), probe_dim=sp.Integer(grape.PROBE_DIM))
            edges[grape.EDGES[query, token]] = sp.N(psi, 40)
    return edges


def contextual_values(at: At) -> Mapping[Any, Any]:
    weights, offset = at.module.weights[LAYER].detach(), at.module.offsets[LAYER].item()
    ratio = at.module.log_ratios[at.plane].exp().item()
    rates = _at_tokens(grape.RATES, lambda row: sp.Rational(_unit_softplus(float(row @ weights) + offset)), at, at.x)
    return {rotary.FREQUENCY: sp.Rational(float(_frequency(at)) * ratio), **rates}


def fire_values(at: At) -> Mapping[Any, Any]:
    """Values of a network that is one line per head: only its first hidden unit is used, and it is not negative."""
    law, part = at.module.laws[LAYER], sp.Symbol("u")
    slope, offset = number(law.outer.weight[at.head, 0]), number(law.outer.bias[at.head])
    return {
        biases.FIRE_RATE: abs(number(law.rate)),
        biases.FIRE_THRESHOLD: abs(number(law.factor)) * sp.Rational(law.threshold),
        biases.FIRE_LAW: sp.Lambda(part, slope * part + offset),
    }


ONE_UNIT = {
    f"laws.{layer}.{name}": value
    for layer in range(LAYERS)
    for name, value in {
        "rate": -0.07 - layer,
        "factor": -1.5 - layer,
        "inner.weight": torch.ones(biases.FIRE_HIDDEN, 1),
        "inner.bias": torch.zeros(biases.FIRE_HIDDEN),
        "outer.weight": normal(3 + layer, HEADS, 1) * (torch.arange(biases.FIRE_HIDDEN) == 0),
    }.items()
}
_KERPLE = [0.375, 1.0, 1.625]
"""Exponents and rates: sympy takes a root of the order of an exponent's denominator."""
ROUNDED = 2.3e-16
"""One unit in the last place."""
TURNED = 4e6 * ROUNDED * HEAD_DIM**2 * 4
"""An angle of 10^6 in float64 is off by a few times 10^6 eps, and so is its cosine; a score by that times |q| |k|."""
FEW = (0, 1, 257, 4095, 10**6)
"""Some of the hostile positions, as a score of the symbolic twin takes its time."""
TOKENS = tuple(range(6))
"""Positions without gaps, for encodings that sum along them."""


def _code(values: Values = lambda _: {}, **more: Any) -> Formula:
    trained = {absolute.TRAINED_LENGTH: sp.Integer(TRAINED)}
    return Formula(values=lambda at: {absolute.PLANE: sp.Integer(at.plane), **trained, **values(at)}, **more)


def _yarn(ramp: str) -> Formula:
    def values(at: At) -> Mapping[Any, Any]:
        return {
            rotary.FREQUENCY: _frequency(at),
            rotary.SHRINK: sp.Rational(1, 16),
            rotary.YARN_KEPT: exact_gammas(ramp, HEAD_DIM, 256)[at.plane],
        }

    return Formula(values=values, score=2 * TURNED, positions=FEW)


def exact_gammas(ramp: str, head_dim: int, trained: int) -> list[sp.Expr]:
    """YaRN's share of every plane, exact."""
    thetas, length, ends = rotary.frequencies(head_dim), sp.Integer(trained), (sp.Integer(1), sp.Integer(32))
    if ramp == "paper":
        turns = [rotary.yarn_turns(theta, trained_length=length) for theta in thetas]
        return [rotary.yarn_ramp(turn, alpha=ends[0], beta=ends[1]) for turn in turns]
    first, last = rotary.yarn_index_range(head_dim, 10000, trained_length=length, alpha=ends[0], beta=ends[1])
    return [rotary.yarn_index_ramp(sp.Integer(plane), first=first, last=last) for plane in range(len(thetas))]


def _swat(kind: str) -> Formula:
    return Formula(
        values=lambda at: {
            rotary.SWAT_SLOPE: rotary.swat_slopes(HEADS, kind)[at.head],
            rotary.FREQUENCY: _frequency(at),
        },
        bias=3.4e-16,
        score=TURNED,
        positions=FEW,
    )


def _dynamic(positions: tuple[int, ...]) -> Formula:
    def values(at: At) -> Mapping[Any, Any]:
        symbol = sp.Symbol("s")
        return {
            rotary.FREQUENCY: _frequency(at),
            rotary.NTK_FACTOR_AT: sp.Lambda(symbol, rotary.ntk_factor(_share(at), scale=symbol)),
            rotary.NTK_TRAINED_LENGTH: sp.Integer(TRAINED),
            rotary.NTK_GROWTH: sp.Integer(4),
        }

    return Formula(values=values, score=TURNED, positions=positions)


def _bam(**parameters: Any) -> Formula:
    def values(at: At) -> Mapping[Any, Any]:
        factors = getattr(at.module, "factors", None)
        return {
            biases.BAM_LOG_SCALE: number(at.module.log_scale[at.head]),
            biases.BAM_EXPONENT: number(at.module.exponent[at.head]),
            biases.BAM_SMALLEST: biases.BAM_RELEASED_SMALLEST,
            biases.BAM_FACTOR: sp.Integer(0) if factors is None else number(factors[LAYER, at.head]),
        }

    start = {"log_scale": [-2.0, 0.5, -8.0], "exponent": [-0.625, 0.5, 1.25], **parameters}
    return Formula(values=values, bias=9 * ROUNDED, score=1e-13, parameters=start)


def _rope(at: At) -> Mapping[Any, Any]:
    return {rotary.FREQUENCY: _frequency(at)}


def _xpos(at: At) -> Mapping[Any, Any]:
    return {**_rope(at), rotary.XPOS_RATE: rotary.xpos_rate(at.plane, head_dim=HEAD_DIM)}


def _hope(at: At) -> Mapping[Any, Any]:
    margin = sp.Rational(at.module.margin().item()) + 1 - _frequency(at)
    return {hope.RATE: _frequency(at), hope.MARGIN: margin}


def _kerple(symbol: sp.Symbol, name: str) -> Formula:
    return Formula(
        values=lambda at: {
            biases.KERPLE_SCALE: number(at.module.scale[at.head]),
            symbol: number(getattr(at.module, name)[at.head]),
        },
        bias=2.5 * ROUNDED,
        parameters={"scale": [0.7, 0.01, 1.9], name: _KERPLE},
    )


_T5 = Formula(
    values=lambda at: {biases.T5_WEIGHTS[bucket]: number(w) for bucket, w in enumerate(at.module.weights[at.head])}
)
_GATED_CABLE = Formula(values=gated_cable_values, bias=1e-13, positions=TOKENS)
_GATED_GRAPE = Formula(values=gated_grape_values, bias=1e-13)
_WAVELET = Formula(values=lambda at: relations.WAVELET.values(at.module, at.head, at.plane), score=1e-13)
FORMULAS: Mapping[str, Formula] = {
    "nope": Formula(values=lambda at: {}, score=1e-14, positions=FEW),
    "sinusoidal": _code(lambda at: {rotary.FREQUENCY: rotary.frequencies(WIDTH)[at.plane]}, code=4e6 * 2.2e-16),
    "ape": _code(
        lambda at: {
            absolute.TABLE[row, side]: number(at.module.table[row, 2 * at.plane + side])
            for row in at.positions
            for side in (0, 1)
        },
        positions=(0, 1, 2, 7, 62, 63),
    ),
    "legendre": _code(code=1e-12),
    "legendre[beyond=clamp]": _code(
        code=1e-12, record={"positions": lambda index, length: _legendre(index, length, "clamp")}
    ),
    "legendre[beyond=raw]": _code(
        code=1e-9,
        positions=(0, 1, 5, 6, 9),
        record={"positions": lambda index, length: _legendre(index, length, "raw")},
    ),
    "haar": _code(code=1e-14, positions=(*range(8), 10**6)),
    "dct": _code(code=2e-15),
    "alibi": Formula(values=lambda at: {biases.ALIBI_SLOPE: _slope(at)}, bias=3.4e-16),
    "kerple-power": _kerple(biases.KERPLE_EXPONENT, "exponent"),
    "kerple-log": _kerple(biases.KERPLE_RATE, "rate"),
    "bam": _bam(),
    "bam-ssmax": _bam(factors=[[1.0, 1.0, 1.0], [0.5, 2.0, 1.5]]),
    "t5": _T5,
    "t5-bidirectional": _T5,
    "fire": Formula(values=fire_values, bias=1e-12, parameters=ONE_UNIT),
    "fire[threshold=5e5]": Formula(values=fire_values, bias=1e-12, parameters=ONE_UNIT),
    "graph-alibi": Formula(
        values=lambda at: {
            biases.ALIBI_SLOPE: _slope(at),
            **{
                biases.HOPS[j, i, at.positions[-1] + 1]: min(abs(j - i), at.positions[-1] + 1 - abs(j - i))
                for j in at.positions
                for i in at.positions
            },
        },
        bias=2.3e-16,
    ),
    "rope": Formula(values=_rope, score=TURNED),
    "rope[layout=halves]": Formula(values=_rope, score=TURNED),
    "xpos": Formula(values=_xpos, score=TURNED),
    "xpos[layout=halves]": Formula(values=_xpos, score=TURNED),
    "interpolation[scale=32]": Formula(
        values=lambda at: {**_rope(at), rotary.SHRINK: sp.Rational(1, 32)}, score=TURNED, positions=FEW
    ),
    "ntk[scale=32]": Formula(
        values=lambda at: {**_rope(at), rotary.NTK_FACTOR: rotary.ntk_factor(_share(at), scale=sp.Integer(32))},
        score=TURNED,
        positions=FEW,
    ),
    "dynamic-ntk[factor=4]": _dynamic(FEW),
    "dynamic-ntk[factor=4], within": _dynamic((0, 2, TRAINED - 1)),
    "dynamic-ntk[factor=4], one beyond": _dynamic((0, 2, TRAINED)),
    "yarn[scale=16]": _yarn("paper"),
    "yarn[scale=16,ramp=code]": _yarn("code"),
    # Its absolute factors cancel to 40 digits only while positions are small.
    "hope[damping=1.25]": Formula(values=_hope, score=1e-14, positions=(0, 1, 2, 7, 11)),
    **{f"swat[slopes={kind}]": _swat(kind) for kind in rotary.SWAT_SLOPES},
    "grape-contextual": Formula(values=contextual_values, score=1e-12, positions=TOKENS),
    "grape-additive": Formula(
        values=lambda at: {
            grape.GRAPE_SLOPE: sp.Rational(float(_slope(at)) * _unit_softplus(at.module.log_factors[at.head].item()))
        },
        bias=2e-15,
    ),
    "grape-gated": _GATED_GRAPE,
    "grape-gated[gates=query]": _GATED_GRAPE,
    "grape-gated[gates=key]": _GATED_GRAPE,
    "grape-path": Formula(values=path_values, bias=1e-13, positions=TOKENS),
    "fox": Formula(values=fox_values, bias=1e-14, positions=TOKENS),
    "fox-bias-only": Formula(
        values=lambda at: {paths.FOX_LOGIT: number(at.module.logits[LAYER, at.head])},
        bias=1e-15,
        parameters={"logits": [[0.0, 3.0, 9.0], [-2.0, 1.0, 20.0]]},
    ),
    "fox-fixed[shortest=3,longest=1000]": Formula(
        values=lambda at: {
            paths.FOX_TIMESCALE: paths.fox_timescales(HEADS, shortest=sp.Integer(3), longest=sp.Integer(1000))[at.head]
        },
        bias=1e-15,
    ),
    "cable": Formula(values=cable_values, bias=1e-14, positions=TOKENS),
    "cable-gated": _GATED_CABLE,
    "cable-log": _GATED_CABLE,
    "cable-nw": Formula(
        values=lambda at: _at_tokens(
            paths.CABLE_RECTIFIED, lambda row: paths.cable_rectified(_logit(at)(row)), at, at.x
        ),
        bias=1e-13,
        positions=TOKENS,
    ),
    **{
        f"wavelet[wavelet={name},scales=3]": Formula(
            values=_WAVELET.values,
            score=1e-13,
            record={
                "relative_key": lambda j, i, _, own=own: relations.wavelet_vector(j, i, wavelet=own),
            },
        )
        for name, own in relations.WAVELETS.items()
    },
}
"""Encoding, perhaps with options -> how its module is compared with its formulas."""


def _legendre(index: sp.Expr, length: sp.Expr, beyond: str) -> sp.Expr:
    return absolute.legendre_coordinate(index, length=length, trained_length=absolute.TRAINED_LENGTH, beyond=beyond)
