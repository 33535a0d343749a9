"""Windows: how many keys each query sees, in a full pass and in a cached step, against the configuration."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.models.bounds import field_of
from lengthgen.empirical.audit.models.plans import DTYPE
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.tap import MASKED, Reading
from lengthgen.empirical.audit.subject import AuditError

NAMES = ("sliding_window", "window_size", "sliding_window_size", "local_window_size")
"""Names of the number of keys that a query sees, itself among them."""
WINDOWED = ("sliding", "local", "swa")
"""Parts of names of kinds of layers that have a window."""
BEYOND = 8
"""Tokens beyond the window in a row that shows it."""
KINDS = ("layer_types", "attention_layers")
"""Names of the list of kinds of layers."""


Distances = frozenset[int]


class Seen(NamedTuple):
    """Distances to the keys that a query of a row of a length sees, in some head, by layer.

    `full`: of the last query in a full pass; `cached`: by name of a call with a cache, in it and in a full pass.
    """

    length: int
    full: list[Distances]
    cached: dict[str, list[tuple[Distances, Distances]]]


def window_of(config: Any) -> int | None:
    """Window that a configuration sets; None if it sets none, or switches it off."""
    values = [field_of(config, name) for name in NAMES]
    if field_of(config, "use_sliding_window") is False:
        return None
    return next((value for value in values if type(value) is int and value > 0), None)


def layer_kinds(config: Any, layers: int) -> list[str | None]:
    """Kind of each layer of self-attention, as the configuration calls it; None where it says nothing.

    Layers of other kinds, which are recurrent or linear, are left out.
    """
    for name in KINDS:
        kinds = field_of(config, name)
        if isinstance(kinds, list | tuple) and kinds and all(isinstance(kind, str) for kind in kinds):
            attending = [kind for kind in kinds if "attention" in kind and "linear" not in kind]
            for listed in (list(kinds), attending):
                if len(listed) == layers:
                    return listed
    return [None] * layers


def see(runner: Runner, length: int) -> Seen:
    """Read which keys queries of a row of a length see: the last one, and one in a chunk of the second half."""
    ids, calls = runner.ids(1, length), {}
    full = runner.fresh(DTYPE).readings(ids)
    for name, start, query in (("as a step", length - 1, length - 1), ("in a chunk", length // 2, 3 * length // 4)):
        if runner.cache_name and runner.causal and start and (parts := _cached(runner, ids, start)):
            of_layers = [_distances(part, query - start, query, length) for part in parts]
            expected = [_distances(part, query, query, length) for part in full]
            if len(of_layers) == len(expected):
                calls[name] = list(zip(of_layers, expected, strict=True))
    return Seen(length=length, full=[_distances(part, length - 1, length - 1, length) for part in full], cached=calls)


def _cached(runner: Runner, ids: Tensor, start: int) -> list[Reading]:
    """Readings of a call of the tokens from `start` on, with a cache of those before; empty if it is refused."""
    model = runner.fresh(DTYPE)
    try:
        past = model.call(ids[:, :start])[1]
        return [] if past is None else model.readings(ids[:, start:], past=past)
    except AuditError:
        return []


def _distances(reading: Reading, row: int, query: int, length: int) -> Distances:
    """Distances from token `query`, which has a row of the reading, to the keys that it sees.

    Keys are those of the last of `length` tokens, or slots of a longer table.
    """
    seen = (reading.logits_BHJI[0, :, row] > MASKED).any(0)
    first = max(0, length - len(seen))
    return frozenset(query - first - key for key in seen.nonzero().flatten().tolist())


def defects(seen: Seen, window: int | None, kinds: Sequence[str | None], *, causal: bool) -> list[Defect]:
    """Windows that differ from the configuration, and cached steps that see other keys than a full pass."""
    made: list[Defect] = []

    def add(rule: str, says: str, layer: int, **numbers: int) -> None:
        if all(defect.rule != rule for defect in made):
            made.append(Defect(rule=rule, says=f"layer {layer}: {says}", first={"all": None}, numbers=numbers))

    windowed = [any(part in (kind or "") for part in WINDOWED) for kind in kinds]
    named = any(windowed)
    if window is not None and seen.length > window + 1:
        hidden = [len(distances) < seen.length for distances in seen.full]
        for layer, count in enumerate(map(_run, seen.full)):
            says = f"a query sees {count} keys of {seen.length}, the configuration names a window of {window}"
            if not hidden[layer] and (windowed[layer] if any(kinds) else not any(hidden)):
                add("window-ignored", says, layer, window=window, seen=count)
            elif causal and hidden[layer] and (windowed[layer] or not named) and count != window:
                rule = "window-off-by-one" if abs(count - window) == 1 else "window-differs"
                add(rule, says, layer, window=window, seen=count)
            elif causal and hidden[layer] and named and kinds[layer] == "full_attention":
                add("window-differs", f"{says} for other layers", layer, window=window, seen=count)
    for name, of_layers in seen.cached.items():
        for layer, (cached, full) in enumerate(of_layers):
            if cached != full:
                says = f"a query sees {_shown(full)} in a full pass, and {_shown(cached)} {name} with a cache"
                rule = "cache-incomplete" if len(cached) < min(len(full), 2) else "window-differs-when-cached"
                add(rule, says, layer, cached=len(cached), full=len(full))
    return made


def _run(distances: Distances) -> int:
    """Number of keys without a gap, from the query's own on; first tokens that all see may lie beyond."""
    return next(distance for distance in range(len(distances) + 1) if distance not in distances)


def _shown(distances: Distances) -> str:
    """Words for keys by their distance."""
    count = len(distances)
    if not count:
        return "no key"
    first, last = min(distances), max(distances)
    where = f" at distances {first} to {last}" if first or last != count - 1 else ""
    return f"{count} key{'s' * (count > 1)}{where}"
