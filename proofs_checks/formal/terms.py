"""Coq terms over the real numbers, from the trees of certificates (`lengthgen.theory.zero.identity_certificate`)."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Any

from lengthgen.infrastructure.shapes import WrongShape

Tree = Any
"""Name of a symbol, or a list of a head and its arguments."""

PRINTED = {"sin", "cos", "exp", "sinh", "cosh", "tanh"}
"""Functions of Coq's library that lemmas use by name."""
QUOTIENTS = {
    "tan": ("sin", "cos"),
    "cot": ("cos", "sin"),
    "sec": ("", "cos"),
    "csc": ("", "sin"),
    "coth": ("cosh", "sinh"),
    "sech": ("", "cosh"),
    "csch": ("", "sinh"),
}
"""Functions that lemmas write as quotients: numerator, or nothing for 1, and denominator."""
_KEYWORDS = """
    as at cofix else end exists exists2 fix for forall fun if in let match mod Prop return Set then Type using where
    with R C I Derive PI tan sqrt ln
"""
_TAKEN = PRINTED | set(_KEYWORDS.split())
_LONGEST = 16
_RATIONAL = re.compile(r"-?\d+(/0*[1-9]\d*)?")


def tree_shape(value: Any, where: str) -> None:
    """Check that stored JSON is a tree (`lengthgen.infrastructure.shapes`)."""
    if not _is_tree(value):
        raise WrongShape(f"{where} is no tree")


def _is_tree(value: Any) -> bool:
    """True for a tree; stored claims have a million nodes, so that no names of places are made."""
    if not isinstance(value, list):
        return isinstance(value, str)
    match value:
        case ["i"]:
            return True
        case ["q", str(number)]:
            return _RATIONAL.fullmatch(number) is not None
        case ["^", base, int(power)]:
            return type(power) is int and _is_tree(base)
        case ["d", body, str()]:
            return _is_tree(body)
        case ["+" | "*", *parts]:
            return parts != [] and all(map(_is_tree, parts))
        case [str(head), argument]:
            return (head in PRINTED or head in QUOTIENTS) and _is_tree(argument)
    return False


class NotReal(Exception):
    """Raised for a tree that is no term over the real numbers."""


def identifiers(names: list[str]) -> dict[str, str]:
    """Coq identifier of each symbol; a long or unusual name becomes `part1`, `part2`, ..."""
    chosen: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_']+", "_", name).strip("_")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_']*", plain) or len(plain) > _LONGEST:
            plain = "part"
        candidates = [plain, *(f"{plain}{n}" for n in range(1, len(names) + 2))]
        taken = _TAKEN | set(chosen.values()) | {"part"}
        chosen[name] = next(candidate for candidate in candidates if candidate not in taken)
    return chosen


def symbols(tree: Tree) -> list[str]:
    """Symbols of a tree in order of their first occurrence."""
    return list(dict.fromkeys(node for node in nodes(tree) if isinstance(node, str)))


def nodes(tree: Tree) -> Iterator[Tree]:
    """Nodes of a tree, each before its parts, without heads and numbers; the variable of a derivative is a node."""
    yield tree
    if isinstance(tree, list) and tree[0] not in ("q", "i"):
        for part in tree[1:]:
            if not isinstance(part, int):
                yield from nodes(part)


def folded(tree: Tree) -> Tree:
    """Tree with the arithmetic of its numbers done: no factor 0 or 1, no summand 0, one number in a sum or product.

    A part that is one object in several places is folded once, and stays one object.
    """
    return _folded(tree, {})


def _folded(tree: Tree, folded_parts: dict[int, Tree]) -> Tree:
    """Folded tree; `folded_parts` has the parts folded so far, by the identities of the original ones."""
    if isinstance(tree, str) or tree[0] in ("q", "i"):
        return tree
    if id(tree) not in folded_parts:
        folded_parts[id(tree)] = _fold(tree, folded_parts)
    return folded_parts[id(tree)]


def _fold(tree: Tree, folded_parts: dict[int, Tree]) -> Tree:
    head, *parts = tree
    if head == "d":
        return ["d", _folded(parts[0], folded_parts), parts[1]]
    parts = [part if isinstance(part, int) else _folded(part, folded_parts) for part in parts]
    if head == "^":
        base, power = parts
        if power in (0, 1):
            return base if power else ["q", "1"]
        return ["q", str(Fraction(base[1]) ** power)] if _is_number(base) and base[1] != "0" else ["^", base, power]
    if head not in ("+", "*"):
        return [head, *parts]
    others = [part for part in parts if not _is_number(part)]
    numbers = [Fraction(part[1]) for part in parts if _is_number(part)]
    value = sum(numbers) if head == "+" else prod(numbers)
    if head == "*" and value == 0:
        return ["q", "0"]
    if value != (0 if head == "+" else 1) or not others:
        others.insert(0, ["q", str(value)])
    return others[0] if len(others) == 1 else [head, *others]


def _is_number(tree: Tree) -> bool:
    return isinstance(tree, list) and tree[0] == "q"


def number(value: Fraction) -> str:
    """Coq text of a rational number."""
    text = str(abs(value.numerator)) if value.denominator == 1 else f"{abs(value.numerator)} / {value.denominator}"
    return (
        f"(- {text})"
        if value < 0 and value.denominator == 1
        else f"(- ({text}))"
        if value < 0
        else f"({text})"
        if "/" in text
        else text
    )


def text(tree: Tree, names: Mapping[str, str]) -> str:
    """Coq text of a tree, in brackets unless it is a name or a number.

    Raises:
        NotReal: the tree contains i.
    """
    if isinstance(tree, str):
        return names[tree]
    head, *parts = tree
    match head:
        case "q":
            return number(Fraction(parts[0]))
        case "i":
            raise NotReal("the identity has complex numbers in it")
        case "+":
            return f"({' + '.join(text(part, names) for part in parts)})".replace(" + (- ", " + (- ")
        case "*":
            return _product(parts, names)
        case "^":
            base = text(parts[0], names)
            power = base if abs(parts[1]) == 1 else f"({base} ^ {abs(parts[1])})"
            return f"(/ {power})" if parts[1] < 0 else power
        case "d":
            return f"(Derive (fun {names[parts[1]]} => {text(parts[0], names)}) {names[parts[1]]})"
    argument = text(parts[0], names)
    argument = argument if argument.startswith("(") else f"({argument})"
    if head in PRINTED:
        return f"({head} {argument})"
    above, below = QUOTIENTS[head]
    return f"({above} {argument} / {below} {argument})" if above else f"(/ {below} {argument})"


def _product(parts: list[Tree], names: Mapping[str, str]) -> str:
    """Coq text of a product; a factor -1 in front becomes a sign."""
    if parts[0] == ["q", "-1"] and len(parts) > 1:
        return f"(- {_product(parts[1:], names)})"
    return text(parts[0], names) if len(parts) == 1 else f"({' * '.join(text(part, names) for part in parts)})"


def denominators(tree: Tree) -> list[Tree]:
    """Trees that must not be 0, each once: bases of negative powers that are no numbers, and denominators."""
    bases: list[Tree] = []
    for node in nodes(tree):
        if isinstance(node, list) and node[0] == "^" and node[2] < 0:
            bases += [node[1]] if symbols(node[1]) else []
        elif isinstance(node, list) and node[0] in QUOTIENTS:
            bases.append([QUOTIENTS[node[0]][1], node[1]])
    return [node for n, node in enumerate(bases) if node not in bases[:n]]


def derivative(tree: Tree, by: str) -> Tree:
    """Derivative of a tree by a symbol, by the rules of sums, products, powers and functions."""
    if isinstance(tree, str):
        return ["q", "1" if tree == by else "0"]
    head, *parts = tree
    if by not in symbols(tree):
        return ["q", "0"]
    if head == "+":
        return ["+", *(derivative(part, by) for part in parts if by in symbols(part))]
    if head == "*":
        slopes = [
            ["*", derivative(part, by), *parts[:n], *parts[n + 1 :]]
            for n, part in enumerate(parts)
            if by in symbols(part)
        ]
        return ["+", *slopes]
    if head == "^":
        return ["*", ["q", str(parts[1])], ["^", parts[0], parts[1] - 1], derivative(parts[0], by)]
    outer = {
        "sin": ["cos", parts[0]],
        "cos": ["*", ["q", "-1"], ["sin", parts[0]]],
        "exp": ["exp", parts[0]],
        "sinh": ["cosh", parts[0]],
        "cosh": ["sinh", parts[0]],
        "tanh": ["^", ["cosh", parts[0]], -2],
    }
    if head not in outer:
        raise NotReal(f"a derivative of {head} is not written as a lemma")
    return ["*", outer[head], derivative(parts[0], by)]
