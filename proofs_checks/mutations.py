"""Formulas of an encoding with one thing changed: the checks of the property matrix must reject them.

Each function takes an encoding and returns it with one formula changed. Names, declared laws and parameters stay,
unless the docstring says otherwise.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.theory.encodings.encoding import LENGTH, Actions, Encoding, Parameter

Formulas = Callable[[Encoding], Encoding]
"""Encoding of the catalogue -> the same encoding with other formulas."""
Law = Callable[..., Any]


def changed(**changes: Any) -> Formulas:
    """Replace parts of the encoding."""
    return lambda encoding: replace(encoding, **changes)


def with_law(name: str, change: Callable[..., Any]) -> Formulas:
    """Replace one formula of the encoding; `change` takes the formula, and then what the formula takes."""

    def formulas(encoding: Encoding) -> Encoding:
        law = getattr(encoding, name)
        changes: dict[str, Any] = {name: lambda *at: change(law, *at)}
        return replace(encoding, **changes)

    return formulas


def with_bias(added: Law) -> Formulas:
    """Add `added(query, key, length)` to the logits."""
    return with_law("bias", lambda bias, *at: (bias(*at) if bias else sp.S.Zero) + added(*at))


def with_bias_replaced(by: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Replace the encoding's bias by `by(query, key)`."""
    return changed(bias=lambda query, key, length: by(query, key))


def with_bias_times(factor: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Multiply the bias by `factor(query, key)`."""
    return with_law("bias", lambda bias, query, key, length: factor(query, key) * bias(query, key, length))


def with_actions(change: Callable[..., Actions]) -> Formulas:
    """Replace the actions on queries and keys, or the identity, by `change(on query, on key, position)`."""
    return with_law("rotate", lambda act, position, length: change(*(act or no_action)(position, length), position))


def at_other_places(positions: bool, change: Callable[..., tuple[Any, ...]]) -> Formulas:
    """Read every formula at other places: `change` takes the arguments; of positions as well, if wanted."""

    def formulas(encoding: Encoding) -> Encoding:
        names = ("embed", "rotate", "relative_key", "bias", *(("positions",) if positions else ()))
        for name in names:
            if getattr(encoding, name):
                encoding = with_law(name, lambda law, *at: law(*change(*at)))(encoding)
        return encoding

    return formulas


def no_action(position: sp.Expr, length: sp.Expr) -> Actions:
    """The identity on queries and on keys."""
    return sp.eye(2), sp.eye(2)


def all_at(position: int) -> Formulas:
    """Place all tokens at one position: the last argument of a formula is the length, unless there is one alone."""
    place = sp.Integer(position)
    return at_other_places(False, lambda *at: (place,) if len(at) == 1 else (*[place] * (len(at) - 1), at[-1]))


at_origin = all_at(0)
"""All tokens at position 0."""
at_fixed_length = at_other_places(True, lambda *at: at if len(at) == 1 else (*at[:-1], LENGTH))
"""The formulas for sequences of n tokens at every length."""
with_queries_doubled = with_actions(lambda on_query, on_key, _: (2 * on_query, on_key))
"""Every query doubled: norms change, and nothing that depends on positions does."""
with_damping = with_actions(lambda on_query, on_key, at: (sp.exp(-at) * on_query, sp.exp(at) * on_key))
"""Queries times e^-j and keys times e^i, so that logits fall with the distance like those of xPos."""
with_keys_moved_like_queries = with_actions(lambda on_query, on_key, _: (on_query, on_query))
"""The action on queries applied to keys as well."""
with_logarithmic_bias = with_law("bias", lambda bias, *at: -sp.log(1 - bias(*at)))
"""-log(1 - b) for the bias b: ALiBi's -m D becomes -log(1 + m D)."""
on_both_sides = with_law("bias", lambda bias, query, key, n: bias(sp.Max(query, key), sp.Min(query, key), n))
"""For a key after the query the bias of the key at the same distance before it."""


def at_origin_by_distance(encoding: Encoding) -> Encoding:
    """Place all tokens at position 0, and subtract the distance of their indices from the logits."""
    return with_bias(lambda query, key, length: -abs(query - key))(replace(at_origin(encoding), positions=None))


def with_codes_on_scores(encoding: Encoding) -> Encoding:
    """Move the position codes e from the tokens into the logits, as the bias e(j)^T diag(1, -1) e(i)."""
    embed: Law = encoding.embed  # type: ignore[assignment]
    return replace(
        encoding, embed=None, bias=lambda query, key, length: (embed(query).T * sp.diag(1, -1) * embed(key))[0]
    )


with_codes_that_grow = with_law("embed", lambda embed, position: embed(position) + sp.Matrix([position, position**2]))
"""Add the position and its square to the codes."""


def with_vectors_on_scores(encoding: Encoding) -> Encoding:
    """Move the vectors added to keys into the logits, as the sum of their components."""
    vector: Law = encoding.relative_key  # type: ignore[assignment]
    return replace(encoding, relative_key=None, bias=lambda *at: sp.Add(*vector(*at)))


def with_another_hook(encoding: Encoding) -> Encoding:
    """Add the identity action, a bias of 0 or the token's own index as its position, whichever it has not."""
    if encoding.rotate is None:
        return replace(encoding, rotate=no_action)
    if encoding.bias is None:
        return replace(encoding, bias=lambda query, key, length: sp.S.Zero)
    return replace(encoding, positions=lambda index, length: index)


def with_parameters(change: Callable[[Parameter], Parameter]) -> Formulas:
    """Change every parameter."""
    return lambda encoding: replace(encoding, parameters=tuple(map(change, encoding.parameters)))


def with_one_trained_number_more(encoding: Encoding) -> Encoding:
    """Add a trained number to the first parameter, or to a new one."""
    first, *others = encoding.parameters or (Parameter(symbol=sp.Symbol("x"), meaning="none"),)
    return replace(encoding, parameters=(replace(first, learned=first.learned + 1), *others))
