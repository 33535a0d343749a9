"""Conversion of LaTeX to MathML as nested lists [tag, attributes, children...].

The page builds elements from these lists, so that it never parses markup. The output of the converter is not trusted,
because it copies parts of its input. Only presentation elements and attributes of MathML Core are accepted; a formula
with anything else is shown as LaTeX.
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
    """True if the converter latex2mathml is installed."""
    try:
        import latex2mathml.converter
    except ModuleNotFoundError:
        return False
    return bool(latex2mathml.converter)


def tree(latex: str) -> Tree | None:
    """Convert a formula to a MathML tree, or return None if the page has to show its LaTeX."""
    if not available():
        return None
    from latex2mathml.converter import convert

    try:
        return _element(ElementTree.fromstring(convert(latex)))
    except Exception:  # the converter raises many types of errors, and XML parsing and `_element` add more
        return None


def _element(element: ElementTree.Element) -> Tree:
    """Convert an element; raises ValueError if a tag, attribute or number of children is not accepted."""
    tag = element.tag.rpartition("}")[2]
    variant = element.attrib.pop("mathvariant", None)
    unknown = element.attrib.keys() - _ATTRIBUTES
    if tag not in _TAGS or unknown or len(element) != _CHILDREN.get(tag, len(element)):
        raise ValueError(f"MathML with {tag} {sorted(unknown)} and {len(element)} children")
    text = (element.text or "").strip(" \n") if tag != "mtext" else element.text or ""
    if text.startswith("\\"):
        raise ValueError(f"the command {text} is not known")
    if variant == "normal":  # without it a single letter is set in italics
        element.set("mathvariant", variant)
    elif variant:
        text = "".join(_styled_character(character, variant) for character in text)
    return [tag, dict(element.attrib), *([text] if text else []), *map(_element, element)]


def _styled_character(character: str, variant: str) -> str:
    """Return the Unicode character of this shape, because browsers ignore the attribute; else the character itself."""
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("LETTER ", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {variant.upper()} {name}")
    except KeyError:
        return character
