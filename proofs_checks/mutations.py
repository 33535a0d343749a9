"""Formulas of an encoding with one thing changed: the checks of the property matrix must reject them.

Each function takes an encoding and returns it with one formula changed. Names, declared laws and parameters stay,
unless the docstring says otherwise.
"""

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import LENGTH, Actions, Encoding, Normaliser, Parameter

Formulas = Callable[[Encoding], Encoding]
"""Encoding of the catalogue -> the same encoding with other formulas."""

_HALVES = sp.diag(1, -1)


def unchanged(encoding: Encoding) -> Encoding:
    """Return the encoding with its own formulas."""
    return encoding


def with_bias(added: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Add `added(query, key, length)` to the logits."""

    def formulas(encoding: Encoding) -> Encoding:
        law = encoding.bias or (lambda query, key, length: sp.S.Zero)
        return replace(encoding, bias=lambda *at: law(*at) + added(*at))

    return formulas


def with_bias_replaced(by: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Replace the encoding's bias by `by(query, key)`."""
    return lambda encoding: replace(encoding, bias=lambda query, key, length: by(query, key))


def with_bias_times(factor: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Multiply the bias by `factor(query, key)`.

    The function that it returns raises `ValueError` for an encoding without a bias.
    """

    def formulas(encoding: Encoding) -> Encoding:
        bias = encoding.bias
        if bias is None:
            raise ValueError(f"{encoding.name} has no bias")
        return replace(encoding, bias=lambda query, key, length: factor(query, key) * bias(query, key, length))

    return formulas


def with_queries_doubled(encoding: Encoding) -> Encoding:
    """Double every query: norms change, and nothing that depends on positions does."""
    act = encoding.rotate or _no_action
    return replace(encoding, rotate=lambda *at: (2 * act(*at)[0], act(*at)[1]))


def at_origin(encoding: Encoding) -> Encoding:
    """Place all tokens at position 0."""
    embed, rotate, vector, bias = encoding.embed, encoding.rotate, encoding.relative_key, encoding.bias
    zero = sp.Integer(0)
    return replace(
        encoding,
        embed=(lambda position: embed(zero)) if embed else None,
        rotate=(lambda position, length: rotate(zero, length)) if rotate else None,
        relative_key=(lambda query, key, length: vector(zero, zero, length)) if vector else None,
        bias=(lambda query, key, length: bias(zero, zero, length)) if bias else None,
    )


def at_origin_by_distance(encoding: Encoding) -> Encoding:
    """Place all tokens at position 0, and subtract the distance of their indices from the logits."""
    return with_bias(lambda query, key, length: -abs(query - key))(replace(at_origin(encoding), positions=None))


def at_origin_by_query(encoding: Encoding) -> Encoding:
    """Place all tokens at position 0, and add the query's position to the logits of its row."""
    return with_bias(lambda query, key, length: query)(at_origin(encoding))


def at_fixed_length(encoding: Encoding) -> Encoding:
    """Use the formulas for sequences of n tokens at every length."""
    positions, rotate, bias = encoding.positions, encoding.rotate, encoding.bias
    vector = encoding.relative_key
    return replace(
        encoding,
        positions=(lambda index, length: positions(index, LENGTH)) if positions else None,
        rotate=(lambda position, length: rotate(position, LENGTH)) if rotate else None,
        relative_key=(lambda query, key, length: vector(query, key, LENGTH)) if vector else None,
        bias=(lambda query, key, length: bias(query, key, LENGTH)) if bias else None,
    )


def with_plain_rotation(encoding: Encoding) -> Encoding:
    """Replace the encoding's actions by the rotation of RoPE."""
    return replace(encoding, rotate=rotary.ROPE.rotate)


def with_rotation_for_codes(encoding: Encoding) -> Encoding:
    """Replace position codes by the rotation of RoPE."""
    return with_plain_rotation(replace(encoding, embed=None))


def with_drawn_positions_dropped(encoding: Encoding) -> Encoding:
    """Place the tokens at their own indices, instead of at random positions."""
    return replace(encoding, positions=None)


def with_codes_on_scores(encoding: Encoding) -> Encoding:
    """Move the position codes e from the tokens into the logits, as the bias e(j)^T diag(1, -1) e(i).

    Raises `ValueError` for an encoding without position codes.
    """
    embed = encoding.embed
    if embed is None:
        raise ValueError(f"{encoding.name} has no position codes")
    return replace(encoding, embed=None, bias=lambda query, key, length: (embed(query).T * _HALVES * embed(key))[0])


def with_vectors_on_scores(encoding: Encoding) -> Encoding:
    """Move the vectors added to keys into the logits, as the sum of their components.

    Raises `ValueError` for an encoding without such vectors.
    """
    vector = encoding.relative_key
    if vector is None:
        raise ValueError(f"{encoding.name} adds no vectors to keys")
    return replace(encoding, relative_key=None, bias=lambda *at: sp.Add(*vector(*at)))


def with_vectors_dropped(encoding: Encoding) -> Encoding:
    """Leave the keys without the vectors added to them."""
    return replace(encoding, relative_key=None)


def with_logarithmic_bias(encoding: Encoding) -> Encoding:
    """Replace the bias b by -log(1 - b): ALiBi's -m D becomes -log(1 + m D).

    Raises `ValueError` for an encoding without a bias.
    """
    bias = encoding.bias
    if bias is None:
        raise ValueError(f"{encoding.name} has no bias")
    return replace(encoding, bias=lambda *at: -sp.log(1 - bias(*at)))


def with_damping(encoding: Encoding) -> Encoding:
    """Multiply queries by e^-j and keys by e^i, so that logits fall with the distance like those of xPos."""
    act = encoding.rotate or _no_action

    def rotate(position: sp.Expr, length: sp.Expr) -> Actions:
        on_query, on_key = act(position, length)
        return sp.exp(-position) * on_query, sp.exp(position) * on_key

    return replace(encoding, rotate=rotate)


def with_keys_moved_like_queries(encoding: Encoding) -> Encoding:
    """Apply the action on queries to keys as well."""
    act = encoding.rotate or _no_action
    return replace(encoding, rotate=lambda *at: (act(*at)[0], act(*at)[0]))


def on_both_sides(encoding: Encoding) -> Encoding:
    """Give a key after the query the bias of the key at the same distance before it.

    Raises `ValueError` for an encoding without a bias.
    """
    bias = encoding.bias
    if bias is None:
        raise ValueError(f"{encoding.name} has no bias")
    return replace(encoding, bias=lambda query, key, n: bias(sp.Max(query, key), sp.Min(query, key), n))


def with_softmax(encoding: Encoding) -> Encoding:
    """Let softmax turn the scores into weights."""
    return replace(encoding, normaliser=Normaliser.SOFTMAX)


def with_all_keys_seen(encoding: Encoding) -> Encoding:
    """Let a query see all keys before it, without a window."""
    return replace(encoding, window=sp.oo)


def with_all_keys_seen_alike(encoding: Encoding) -> Encoding:
    """Let a query see all keys, and drop the bias."""
    return replace(encoding, window=sp.oo, bias=None)


def with_another_hook(encoding: Encoding) -> Encoding:
    """Add the identity action, a bias of 0 or the token's own index as its position, whichever it has not."""
    if encoding.rotate is None:
        return replace(encoding, rotate=_no_action)
    if encoding.bias is None:
        return with_bias(lambda query, key, length: sp.S.Zero)(encoding)
    return replace(encoding, positions=lambda index, length: index)


def with_one_parameter_more(encoding: Encoding) -> Encoding:
    """Add a parameter that is not trained."""
    return replace(encoding, parameters=(*encoding.parameters, Parameter(symbol=sp.Symbol("x"), meaning="none")))


def with_any_values(encoding: Encoding) -> Encoding:
    """Let every parameter have any real or infinite value, whatever its own domain is."""
    any_value = sp.Interval(-sp.oo, sp.oo) | sp.FiniteSet(-sp.oo, sp.oo)
    return replace(
        encoding, parameters=tuple(replace(parameter, domain=any_value) for parameter in encoding.parameters)
    )


def with_any_function(encoding: Encoding) -> Encoding:
    """Let functions of any kind stand in place of networks."""
    return replace(encoding, parameters=tuple(replace(parameter, network=False) for parameter in encoding.parameters))


def with_one_trained_number_more(encoding: Encoding) -> Encoding:
    """Add a trained number to the first parameter, or to a new one."""
    first, *others = encoding.parameters or (Parameter(symbol=sp.Symbol("x"), meaning="none"),)
    return replace(encoding, parameters=(replace(first, learned=first.learned + 1), *others))


def _no_action(position: sp.Expr, length: sp.Expr) -> Actions:
    """The identity on queries and on keys."""
    return sp.eye(2), sp.eye(2)
