"""Plans: ways to call a whole model, in any combination of rows, padding, positions, a cache and earlier calls.

A plan says how tokens reach the model. Each row must get the logits that it gets alone, in one call of a fresh model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import RefusedPosition
from lengthgen.empirical.audit.models.bounds import LONGEST
from lengthgen.empirical.audit.models.runner import SOURCE, Runner

LENGTH, PADS, SHIFT = 24, 5, 7
"""Tokens of the first row, padding tokens, and positions by which all are shifted."""
LONG, SINGLE = 320, 144
"""Tokens of a long row, and most tokens that come one by one: more than usual caches of fixed size hold."""
CACHE = ".cache"
"""Text that stands for how the cache is taken out of an answer, as .logits does for the logits."""
DTYPE = torch.float32
"""Masks of transformers overflow in float64 where all keys of a padding token are hidden."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Way to call a model.

    Attributes:
        rule: rule that is broken if a row gets other logits than alone.
        length: real tokens of the first row; other rows have as many as fit its padding.
        left, right: padding tokens of each row; there is one row for each entry.
        chunks: tokens of each call with a cache; empty: one call.
        positions: "" gives none; "counted" those of real tokens, from the origin; "shifted" those and SHIFT more;
            "spread" those with gaps, for the first row.
        before: plans that the same instance is called by first.
        packed: True if the rows are put one after the other into one row, under a mask of blocks.
        further: tokens that follow in the same call, and whose logits are left out.
    """

    name: str
    rule: str
    length: int = LENGTH
    left: tuple[int, ...] = (0,)
    right: tuple[int, ...] = (0,)
    chunks: tuple[int, ...] = ()
    positions: str = ""
    before: tuple["Plan", ...] = field(default=())
    packed: bool = False
    further: int = 0

    @property
    def features(self) -> frozenset[str]:
        """Unusual features of the plan; a plan that fails explains those with further features."""
        has = {
            "left": any(self.left), "right": any(self.right), "cache": bool(self.chunks), "positions": self.positions,
            "rows": len(self.left) > 1, "before": self.before, "packed": self.packed, "further": self.further,
        }  # fmt: skip
        return frozenset(name for name, value in has.items() if value)

    @property
    def total(self) -> int:
        """Tokens of each row, with its padding."""
        return self.length + self.left[0] + self.right[0]

    @property
    def counts(self) -> list[int]:
        """Real tokens of each row."""
        return [self.total - left - right for left, right in zip(self.left, self.right, strict=True)]

    def rows(self, runner: Runner) -> list[Tensor]:
        """Real tokens of each row: int64 [1, L]."""
        return [runner.ids(1, count, seed=row + 1) for row, count in enumerate(self.counts)]

    def result(self, runner: Runner) -> list[Tensor]:
        """Logits of the real tokens of each row, [L, V], by a fresh instance.

        Raises:
            RefusedPosition: the model raised.
        """
        model = runner.fresh(DTYPE)
        for earlier in self.before:
            earlier._call(model)
        return self._call(model)

    def expected(self, runner: Runner) -> list[Tensor]:
        """Logits that each row gets alone: as `result`."""
        return [
            runner.fresh(DTYPE).call(row, positions=self._own_positions(runner, index))[0][0]
            for index, row in enumerate(self.rows(runner))
        ]

    def _own_positions(self, runner: Runner, row: int) -> Tensor | None:
        """Positions of a row that is called alone."""
        if self.positions != "spread":
            return None
        return self._spread(torch.arange(self.counts[row])[None], row) + runner.origin

    def _offset(self, runner: Runner) -> int:
        return runner.origin + (SHIFT if self.positions == "shifted" else 0)

    @staticmethod
    def _spread(order: Tensor, row: int) -> Tensor:
        return order if row else order + order // 5

    def _call(self, model: Runner) -> list[Tensor]:
        rows = self.rows(model)
        if self.packed:
            return self._call_packed(model, rows)
        sides = list(zip(self.left, self.right, strict=True))
        ids = torch.cat([torch.nn.functional.pad(row, pads) for row, pads in zip(rows, sides, strict=True)])
        if self.further:
            ids = torch.cat([ids, model.ids(1, self.further, seed=9)], 1)
        mask = (ids > 0).long() if any((*self.left, *self.right)) else None
        positions = None
        if self.positions or model.needs_positions:
            counted = ((ids > 0).long().cumsum(1) - 1).clamp(min=0)
            if self.positions == "spread":
                counted = torch.cat([self._spread(part, row) for row, part in enumerate(counted.split(1))])
            positions = counted + self._offset(model)
        parts, past, end = [], None, 0
        for size in self.chunks or (ids.shape[1],):
            start, end = end, end + size
            logits, past = model.call(
                ids[:, start:end],
                positions=None if positions is None else positions[:, start:end],
                mask=None if mask is None else model.as_mask(mask[:, :end]),
                past=past,
            )
            if self.chunks and past is None:
                raise RefusedPosition(f"'{model.subject.name}' gives no cache")
            parts.append(logits)
        answer = torch.cat(parts, 1)
        return [answer[row, left : left + self.counts[row]] for row, (left, _) in enumerate(sides)]

    def _call_packed(self, model: Runner, rows: Sequence[Tensor]) -> list[Tensor]:
        """Call of all rows in one, under a mask of blocks; each block is causal if the model is."""
        square = [torch.ones(row.shape[1], row.shape[1]) for row in rows]
        blocks = torch.block_diag(*[part.tril() if model.causal else part for part in square]).bool()
        mask = torch.zeros(blocks.shape, dtype=DTYPE).masked_fill(~blocks, -1e9)[None, None]
        order = torch.cat([torch.arange(row.shape[1]) for row in rows])[None] + model.origin
        logits = model.call(torch.cat(list(rows), 1), positions=order, mask=mask)[0][0]
        return list(logits.split([row.shape[1] for row in rows]))

    def body(self, runner: Runner) -> tuple[str, ...]:
        """Python lines that set `error` for a model that is called `model`; empty for plans that have none."""
        if self.packed or self.further:
            return ()
        lines = [
            "import copy; pad = torch.nn.functional.pad",
            f"draw = lambda n, seed: torch.randint(2, {runner.vocabulary}, (1, n), "
            "generator=torch.Generator().manual_seed(seed))",
            *self._lines_of_rows(),
        ]
        own = ""
        if self.positions == "spread":
            lines.append("alone = [torch.arange(row.shape[1])[None] for row in rows]; alone[0] += alone[0] // 5")
            own = f", {runner.positions_name}=alone[n] + {runner.origin}"
        call = f"copy.deepcopy(model)({_ids_text(runner, 'row')}{own}).logits"
        lines.append(f"full = [{call} for n, row in enumerate(rows)]")
        for earlier in self.before:
            lines += [*earlier._lines_of_rows(), *earlier._lines_of_calls(runner)]
        lines += [*(self._lines_of_rows() if self.before else ()), *self._lines_of_calls(runner)]
        lines.append(
            "error = max(((part[n:n + 1, a:a + f.shape[1]] - f).abs().max() / f.abs().max()).item() "
            f"for n, (a, f) in enumerate(zip({list(self.left)}, full)))"
        )
        return tuple(lines)

    def _lines_of_rows(self) -> list[str]:
        drawn = ", ".join(f"draw({count}, {row + 1})" for row, count in enumerate(self.counts))
        return [f"rows = [{drawn}]"]

    def _lines_of_calls(self, runner: Runner) -> list[str]:
        sides = list(zip(self.left, self.right, strict=True))
        lines = [f"ids = torch.cat([pad(row, sides) for row, sides in zip(rows, {sides})])"]
        keywords = ""
        if any((*self.left, *self.right)):
            lines.append(f"mask = {runner.mask_text}")
            keywords += f", {runner.mask_name}=mask[:, :end]"
        if self.positions or runner.needs_positions:
            lines.append("p = ((ids > 0).long().cumsum(1) - 1).clamp(min=0)")
            lines += ["p[0] += p[0] // 5"] if self.positions == "spread" else []
            lines += [f"p += {offset}"] if (offset := self._offset(runner)) else []
            keywords += f", {runner.positions_name}=p[:, start:end]"
        if not self.chunks:
            in_one_call = keywords.replace("[:, :end]", "").replace("[:, start:end]", "")
            return [*lines, f"part = model({_ids_text(runner, 'ids')}{in_one_call}).logits"]
        cache = runner.cache_name
        sizes = _short(self.chunks)
        return [
            *lines,
            "parts, past, end = [], None, 0",
            f"for size in {sizes}:",
            "    start, end = end, end + size",
            f"    answer = model({_ids_text(runner, 'ids[:, start:end]')}{keywords}, {cache}=past{runner.cache_flag})",
            f"    past = answer{CACHE}; parts.append(answer.logits)",
            "part = torch.cat(parts, 1)",
        ]


def _short(sizes: tuple[int, ...]) -> str:
    """Text of a list whose last sizes are all 1."""
    ones = next((place for place, size in enumerate(reversed(sizes)) if size != 1), len(sizes))
    if ones < 4:
        return str(list(sizes))
    head = list(sizes[: len(sizes) - ones])
    return f"{head} + [1] * {ones}" if head else f"[1] * {ones}"


def _ids_text(runner: Runner, text: str) -> str:
    """Arguments of a call that gives token ids."""
    if runner.is_seq2seq:
        return f"input_ids=torch.arange(2, {2 + SOURCE}).expand(len({text}), -1), decoder_input_ids={text}"
    return f"{runner.ids_name}={text}" if runner.ids_by_name else text


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts on a model that decide which plans it takes.

    Attributes:
        kind: kind of its encoding, see `anatomy.Anatomy`.
        trained: trained length, if known; calls longer than it are made up to LONGEST.
        long: tokens of a long row, so that windows and caches of fixed size overflow.
        hides, hides_near: a query does not see all keys before it, so that a mask of blocks would show too much; within
            LENGTH tokens, so that a cache that drops keys may have other columns than a mask.
        recurrent: some layers are no attention, which a mask of blocks does not part.
        scaled: queries are scaled by their position, so that a shift changes logits.
    """

    kind: str
    trained: int | None = None
    long: int = LENGTH
    window: int | None = None
    hides: bool = False
    hides_near: bool = False
    recurrent: bool = False
    scaled: bool = False


def plans(runner: Runner, facts: Facts) -> list[Plan]:
    """Plans that a model takes, the simplest first."""
    kind, trained, long, window = facts.kind, facts.trained, facts.long, facts.window
    cached, masked, placed = bool(runner.cache_name) and runner.causal, runner.mask_name, runner.positions_name
    crossing = window if cached and window and 8 < window < long - 4 else None
    two, uneven, single = (0, 0), (PADS, 0), (1,) * LENGTH
    made = []

    def add(name: str, rule: str, *, when: object = True, **how: object) -> None:
        if when:
            made.append(Plan(name=name, rule=rule, **how))  # type: ignore[arg-type]

    start, pads = "start-index-ignored", "padding"
    steps = min(long, SINGLE)
    add("token by token with a cache", start, when=cached, length=steps, chunks=(1,) * steps)
    add("prompt, then several tokens with a cache", start, when=cached, chunks=(8, LENGTH - 8))
    add("long prompt, then token by token", start, when=cached and long > LENGTH, length=long,
        chunks=(long - 8, *(1,) * 8))  # fmt: skip
    if crossing:
        add("token by token across the window", start, length=crossing + 4, chunks=(crossing - 4, *(1,) * 8))
    add("batched with other rows", "batch", left=(0, 0, 0), right=(0, 0, 0))
    add("batched, token by token", "batch", when=cached, left=two, right=two, chunks=single)
    # Padding shifts the index of a token, which a model that adds positions by index and is given none may use.
    by_index = kind == "unread" or (kind == "absolute" and (placed or not runner.causal))
    add("right padded", pads, when=masked, right=(PADS,))
    add("left padded, with positions", pads, when=masked and placed, left=(PADS,), positions="counted")
    add("left padded, without positions", pads, when=masked and not by_index, left=(PADS,))
    add("rows padded on the right", pads, when=masked, left=two, right=uneven)
    given = "counted" if placed else ""
    fits = masked and (placed or not by_index)
    add("rows padded on the left", pads, when=fits, left=uneven, right=two, positions=given)
    kept = "padding-beyond-window" if facts.hides_near else pads
    add("left padded, token by token", kept, when=fits and cached, left=(PADS,), positions=given,
        chunks=(PADS + 8, *(1,) * (LENGTH - 8)))  # fmt: skip
    add("left padded, token by token, without positions", kept, when=masked and cached and placed and not by_index,
        left=(PADS,), chunks=(PADS + 8, *(1,) * (LENGTH - 8)))  # fmt: skip
    add("rows padded on the left, token by token, without positions", kept,
        when=masked and cached and placed and not by_index, left=uneven, right=two,
        chunks=(PADS + 8, *(1,) * (LENGTH - 8)))  # fmt: skip
    add("rows padded on the left, token by token", kept, when=fits and cached, left=uneven, right=two,
        positions=given, chunks=(PADS + 8, *(1,) * (LENGTH - 8)))  # fmt: skip
    add("with further tokens after it", "length-dependent", when=runner.causal, further=LENGTH)
    add("with the usual positions given", "positions-ignored", when=placed, positions="counted")
    add("with the usual positions given, token by token", start, when=placed and cached, positions="counted",
        chunks=single)  # fmt: skip
    # A position may also address a slot of a cache within the model, which others would leave empty.
    free = placed and placed != "input_pos"
    add("rows with positions of their own", "batch", when=free, left=two, right=two, positions="spread")
    rotary = free and kind == "rotary" and not facts.scaled
    add("all positions shifted", "law-broken", when=rotary, positions="shifted")
    parted = rotary and masked and not facts.hides and not facts.recurrent
    add("packed with another sequence", "packing", when=parted, left=two, right=two, packed=True)

    def call(**how: object) -> Plan:
        return Plan(name="an earlier call", rule="", **how)  # type: ignore[arg-type]

    within = trained if trained and trained <= LONGEST else None
    beyond = within and kind != "absolute"
    history = {
        "after a longer call": call(length=2 * LENGTH + 1),
        "after a call beyond the trained length": call(length=2 * within) if within and beyond else None,
        "after a padded call of equal length": call(length=LENGTH - PADS, left=(PADS,)) if masked else None,
        "after decoding with a cache": call(chunks=single) if cached else None,
        "after other positions": call(positions="spread") if free else None,
    }
    for name, earlier in history.items():
        add(name, "call-history", when=earlier, before=(earlier,))
    add("after a shorter call", "call-history", length=within or 2 * LENGTH, before=(call(),))
    add("token by token after a longer call", "call-history", when=cached, before=(call(length=2 * LENGTH),),
        chunks=single)  # fmt: skip
    return made
