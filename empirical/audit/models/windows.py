"""Windows: how many keys each query sees, in a full pass and in a cached step, against the configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from empirical.audit.diagnosis import Defect
from empirical.audit.models.bounds import field_of
from empirical.audit.models.plans import DTYPE
from empirical.audit.models.runner import Runner
from empirical.audit.models.tap import MASKED, Reading

NAMES = ("sliding_window", "window_size", "sliding_window_size", "local_window_size")
"""Names of the number of keys that a query sees, itself among them."""
WINDOWED = ("sliding", "local", "swa")
"""Parts of names of kinds of layers that have a window."""
BEYOND = 8
"""Tokens beyond the window in a row that shows it."""
KINDS = ("layer_types", "attention_layers")
"""Names of the list of kinds of layers."""


Distances = frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Distances to the keys that the last query of a row sees, at least in some head, by layer.

    Attributes:
        length: tokens of the row.
        full: in a full pass.
        cached: as the only token of a call with a cache; None if there is none.
    """

    length: int
    full: list[Distances]
    cached: list[Distances] | None


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
    """Read which keys the last query of a row of a length sees."""
    ids = runner.ids(1, length)
    full = [_distances(reading, length) for reading in runner.fresh(DTYPE).readings(ids)]
    cached = None
    if runner.cache_name and runner.causal:
        model = runner.fresh(DTYPE)
        past = model.call(ids[:, :-1])[1]
        if past is not None:
            cached = [_distances(reading, length) for reading in model.readings(ids[:, -1:], past=past)]
    return Seen(length=length, full=full, cached=cached if cached and len(cached) == len(full) else None)


def _distances(reading: Reading, length: int) -> Distances:
    """Distances to the keys that the last query sees; keys of a cache are the last ones, or those of a longer table."""
    seen = (reading.logits_BHJI[0, :, -1] > MASKED).any(0)
    last = min(len(seen), length) - 1
    return frozenset(last - key for key in seen.nonzero().flatten().tolist())


def defects(seen: Seen, window: int | None, kinds: Sequence[str | None], *, causal: bool) -> list[Defect]:
    """Windows that differ from the configuration, and cached steps that see other keys than a full pass."""
    made: list[Defect] = []

    def add(rule: str, says: str, layer: int, **numbers: int) -> None:
        if all(defect.rule != rule for defect in made):
            made.append(Defect(rule=rule, says=f"layer {layer}: {says}", first={"all": window}, numbers=numbers))

    windowed = [any(part in (kind or "") for part in WINDOWED) for kind in kinds]
    named = any(windowed)  # else any layer may have the window
    if window is not None and seen.length > window + 1:
        hidden = [len(distances) < seen.length for distances in seen.full]
        for layer, count in enumerate(map(len, seen.full)):
            says = f"a query sees {count} keys of {seen.length}, the configuration names a window of {window}"
            if not hidden[layer] and (windowed[layer] if named else not any(hidden)):
                add("window-ignored", says, layer, window=window, seen=count)
            elif causal and hidden[layer] and (windowed[layer] or not named) and count != window:
                rule = "window-off-by-one" if abs(count - window) == 1 else "window-differs"
                add(rule, says, layer, window=window, seen=count)
            elif causal and hidden[layer] and named and kinds[layer] == "full_attention":
                add("window-differs", f"{says} for other layers", layer, window=window, seen=count)
    for layer, (full, cached) in enumerate(zip(seen.full, seen.cached or seen.full, strict=True)):
        if cached == full:
            continue
        last = f"the last of {seen.length} tokens"
        says = f"{last} sees {_shown(full)} in a full pass, {_shown(cached)} as a step with a cache"
        missing = len(cached) < min(len(full), 2) or (cached < full and len(full) == seen.length and window is None)
        rule = "cache-incomplete" if missing else "window-differs-when-cached"
        add(rule, says, layer, cached=len(cached), full=len(full))
    return made


def _shown(distances: Distances) -> str:
    """Words for keys by their distance."""
    count = len(distances)
    if not count:
        return "no key"
    first, last = min(distances), max(distances)
    where = f" at distances {first} to {last}" if first or last != count - 1 else ""
    return f"{count} key{'s' * (count > 1)}{where}"
