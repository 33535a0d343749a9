"""Causes of a broken relative law that the maps of query and key show in float64: what turns which coordinates."""

from collections.abc import Callable

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter, RefusedPosition
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.empirical.audit.token_adapters import EmbedAdapter
from lengthgen.infrastructure.userfile import user_code

NEAR = torch.tensor([1, 3, 17])
"""Positions at which maps are compared; small, so that angles in float32 are still exact to 1e-5."""
CLOSE = 1e-4
"""Largest difference of entries that count as equal."""
ROUNDED = 2.0**-5
"""Largest difference that rounding to bfloat16 makes in a product of two maps; mixed layouts make larger ones."""
Cause = tuple[str, str]
"""Id of a rule in `rules.RULES`, and what was seen, as a sentence."""
FATAL = frozenset({"positions-over-heads", "cached-queries-get-first-rows"})
"""Rules of mistakes after which other measurements tell nothing."""


def of(reference: Adapter) -> Cause | None:
    """Rule and description of what a reference in float64 shows; None if nothing, or if it is of another kind."""
    try:
        if isinstance(reference, RotateAdapter):
            return of_rotation(reference)
        if isinstance(reference, EmbedAdapter):
            counts = "streaming" in reference.subject.claims and not reference.reads_earlier_tokens
            return _ignored(reference.code) if counts else None
        if reference.subject.of_lengths:
            bias = reference.subject.of_lengths(reference.instance)
            return of_lengths(bias) if "streaming" in reference.subject.claims else _of_longer(bias)
    except AuditError:  # the measurements will say so
        pass
    return None


def of_lengths(bias: Callable[[int, int], Tensor]) -> Cause | None:
    """Cause shown by a bias of lengths: the last of 7 queries alone must get the last of 7 rows."""
    with torch.no_grad(), user_code("its call fails", error=RefusedPosition):
        square, row = bias(7, 7).double(), bias(1, 7).double()
        if row.shape[-2:] != (1, 7) or _equal(row, square[..., -1:, :]):
            return None
        if _equal(row, square[..., :1, :]):
            says = "one query with 7 keys gets the first row of the bias, not the last"
            return "cached-queries-get-first-rows", f"{says}: cached decoding sees other distances"
        return "length-dependent", "one query with 7 keys gets another bias than the last of 7 queries"


def _of_longer(bias: Callable[[int, int], Tensor]) -> Cause | None:
    """Cause shown by a bias of which no cache is asked: 7 tokens must get the bias of the first 7 of 9.

    Keys after the query are left to the relative law, which says so.
    """
    with torch.no_grad(), user_code("its call fails", error=RefusedPosition):
        short, long = bias(7, 7).double(), bias(9, 9).double()
        if long.shape[-2:] != (9, 9) or short.shape[-2:] != (7, 7) or _equal(short.tril(), long[..., :7, :7].tril()):
            return None
        return "length-dependent", "7 tokens get another bias than the first 7 of 9"


def of_rotation(reference: RotateAdapter) -> Cause | None:
    """Rule and description of what is wrong with the maps at small positions; None if none of these mistakes."""
    for mistake in (_over_heads, _ignored_positions, _unrotated_key, _opposite, _scales, _mixed_layouts):
        if cause := mistake(reference):
            return cause
    return None


def layout(reference: RotateAdapter) -> tuple[str, list[tuple[int, int]]] | None:
    """Layout of the planes and the planes themselves; None if a map is no rotation of pairs of coordinates."""
    pairs = [tuple(int(c) for c in plane if c >= 0) for plane in reference.planes]
    planes = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
    if not planes or any(len(pair) > 2 for pair in pairs):
        return None
    # Planes that turn too slowly to be seen at NEAR stand still here; the ones that turn tell the layout.
    width = reference.subject.head_dim
    apart = {second - first for first, second in planes}
    if apart == {1}:
        return "interleaved", planes
    if len(apart) == 1:
        [half] = apart
        return ("half-split" if 2 * half == width else f"half-split within {2 * half} of {width} coordinates"), planes
    return "another layout", planes


def dense(reference: RotateAdapter, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Matrices of the first head for query and key at each position, each [P, C, C], rows before columns."""
    width = reference.subject.head_dim
    probes = torch.eye(width, dtype=reference.setting.dtype).expand(1, reference.subject.heads, -1, -1)
    parts = []
    for position in positions:
        parts.append(reference.rotated(probes.contiguous(), probes.clone(), position.expand(width))[:, 0, 0])
    q, k = torch.stack(parts, 1)
    return q.transpose(-1, -2), k.transpose(-1, -2)


def _over_heads(reference: RotateAdapter) -> Cause | None:
    """Positions that turn heads instead of tokens: seen in a call with as many tokens as heads."""
    heads = reference.subject.heads
    positions = torch.arange(heads) * 3 + 1
    ones = torch.ones(1, heads, heads, reference.subject.head_dim, dtype=reference.setting.dtype)
    single = _each_alone(reference, ones, positions)
    if single is None or heads < 2:
        return None
    try:
        together = reference.rotated(ones, ones.clone(), positions)[0, 0]
    except AuditError:
        return None
    if _equal(together, single.transpose(0, 1)) and not _equal(together, single):
        return "positions-over-heads", "the position of a token turns the head of this index: positions run over heads"
    return None


def _each_alone(reference: RotateAdapter, ones: Tensor, positions: Tensor) -> Tensor | None:
    """Query vectors rotated one token at a time, [H, L, C]; None if a single token is refused."""
    try:
        rows = [
            reference.rotated(ones[:, :, :1], ones[:, :, :1].clone(), position[None])[0, 0] for position in positions
        ]
    except RefusedPosition:
        return None
    return torch.cat(rows, 1)


def _ignored_positions(reference: RotateAdapter) -> Cause | None:
    ones = torch.ones(1, reference.subject.heads, 4, reference.subject.head_dim, dtype=reference.setting.dtype)
    return _ignored(lambda positions: reference.rotated(ones, ones.clone(), positions).movedim(-2, 0))


def _ignored(code: Callable[[Tensor], Tensor]) -> Cause | None:
    """Positions that are not used: codes [4, ...] of tokens are those of their index, also where positions have gaps.

    Positions that are counted from the first or the last one of a call keep their gaps.
    """
    near, far, apart = (
        code(positions) for positions in (torch.arange(4), 9 + torch.arange(4), 9 + 3 * torch.arange(4))
    )
    if _equal(near, far) and not _equal(near[:1], near[3:]):
        if _equal(near, apart):
            return "positions-ignored", "positions that are passed are ignored: the index in the call is used instead"
        return "length-dependent", "positions are counted from an end of the call, not as they are passed"
    return None


def _unrotated_key(reference: RotateAdapter) -> Cause | None:
    q, k = dense(reference, NEAR)
    still = [name for name, maps in (("queries", q), ("keys", k)) if _equal(maps, maps[:1].expand_as(maps))]
    if len(still) == 1:
        return "key-not-rotated", f"{still[0]} are not rotated"
    return None


def _opposite(reference: RotateAdapter) -> Cause | None:
    q, k = dense(reference, NEAR)
    if not _equal(q, k) and _equal(q, k.transpose(-1, -2)):
        return "opposite-rotations", "queries and keys turn in opposite directions: logits depend on i + j"
    return None


def _scales(reference: RotateAdapter) -> Cause | None:
    """Rotations that also scale each plane (xPos): the scale of a query and that of a key must cancel."""
    of_query, of_key = (
        _squared_scales(reference, maps) for maps in dense(reference, torch.tensor([0, *NEAR.tolist()]))
    )
    if of_query is None or of_key is None:
        return None
    product = of_query * of_key
    if _equal(product, product[:1].expand_as(product), ROUNDED):
        return None
    return "law-broken", "the scales of queries and keys do not cancel: those of keys must be the inverse ones"


def _squared_scales(reference: RotateAdapter, maps: Tensor, close: float = CLOSE) -> Tensor | None:
    """Squared scale of each plane [P, planes]; None if a map is no rotation of planes up to their scales."""
    if not (laid := layout(reference)):
        return None
    first, second = torch.tensor(laid[1]).T
    products = maps.transpose(-1, -2) @ maps
    diagonal = products.diagonal(dim1=-2, dim2=-1)
    is_diagonal = _equal(products, torch.diag_embed(diagonal), close)
    return diagonal[:, first] if is_diagonal and _equal(diagonal[:, first], diagonal[:, second], close) else None


def _mixed_layouts(reference: RotateAdapter) -> Cause | None:
    """Map that is no rotation, though the identity at position 0: wrong sign, or angles in another layout."""
    q, k = dense(reference, torch.tensor([0, *NEAR.tolist()]))
    identity = torch.eye(q.shape[-1], dtype=q.dtype)
    for name, maps in (("queries", q), ("keys", k)):
        scale = maps[0].diagonal().mean()
        if scale == 0 or not _equal(maps[0] / scale, identity):
            continue
        products = maps[1:].transpose(-1, -2) @ maps[1:] / scale**2
        scales = _squared_scales(reference, maps, ROUNDED)
        if _equal(products, identity.expand_as(products), ROUNDED) or scales is not None:
            continue
        if _equal(maps, maps.transpose(-1, -2)):
            return "sine-sign", f"{name} are not turned by a rotation: both sine terms have the same sign"
        return (
            "layouts-mixed",
            f"{name} are not turned by a rotation: the angles of one layout meet the pairs of another",
        )
    return None


def _equal(first: Tensor, second: Tensor, close: float = CLOSE) -> bool:
    return bool(((first == second) | ((first - second).abs() <= close * (1 + first.abs()))).all())
