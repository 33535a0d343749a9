"""LaTeX as MathML, in a form that a page can build without reading markup: [tag, attributes, children...].

What the converter gives is not believed: it copies some of its input as it stands. Only elements and attributes of
MathML Core that present something are taken; a formula with anything else stays LaTeX.
"""

import unicodedata
from typing import Any
from xml.etree import ElementTree

_TAGS = frozenset([
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mover", "munder", "munderover",
    "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom", "mtable", "mtr", "mtd",
])  # fmt: skip
_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}
_ATTRIBUTES = frozenset([
    "display", "displaystyle", "scriptlevel", "linethickness", "fence", "form", "separator", "stretchy", "symmetric",
    "largeop", "maxsize", "minsize", "movablelimits", "accent", "accentunder", "lspace", "rspace", "width", "height",
    "depth", "columnalign",
])  # fmt: skip

Tree = list[Any]


def available() -> bool:
    """Whether the converter is installed."""
    try:
        import latex2mathml.converter
    except ModuleNotFoundError:
        return False
    return bool(latex2mathml.converter)


def tree(latex: str) -> Tree | None:
    """The formula; None where it cannot be shown as MathML, and LaTeX has to stand for it."""
    if not available():
        return None
    from latex2mathml.converter import convert

    try:
        return _element(ElementTree.fromstring(convert(latex)))
    except Exception:  # the converter's own errors are of many types, and XML's and ours join them
        return None


def _element(element: ElementTree.Element) -> Tree:
    """Raises `ValueError` for what is not taken."""
    tag = element.tag.rpartition("}")[2]
    variant = element.attrib.pop("mathvariant", None)
    strangers = element.attrib.keys() - _ATTRIBUTES
    if tag not in _TAGS or strangers or len(element) != _CHILDREN.get(tag, len(element)):
        raise ValueError(f"MathML with {tag} {sorted(strangers)} and {len(element)} children")
    text = (element.text or "").strip(" \n") if tag != "mtext" else element.text or ""
    if text.startswith("\\"):
        raise ValueError(f"the command {text} is not known")
    if variant == "normal":  # else a single letter is set in italics
        element.set("mathvariant", variant)
    elif variant:
        text = "".join(_variant(character, variant) for character in text)
    return [tag, dict(element.attrib), *([text] if text else []), *map(_element, element)]


def _variant(character: str, variant: str) -> str:
    """The character of Unicode that has this shape, as browsers do not look at the attribute; else itself."""
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("LETTER ", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {variant.upper()} {name}")
    except KeyError:
        return character
