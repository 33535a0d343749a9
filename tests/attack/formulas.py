"""Random formulas of the patterns' grammar, some of them broken."""

import random

NAMES = ("i", "j", "n", "pi", "k", "i", "j")
NUMBERS = ("0", "1", "2", "3", "0.5", "1.25", "10", "7", "1e3", "1e308", "1e400", "9" * 50, "0x1f", "1_0", "1j", "٣",
           "00", ".5")  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "is", "in")
FUNCTIONS = (
    "min",
    "max",
    "abs",
    "floor",
    "ceil",
    "gcd",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "__import__",
    "open",
)
DEBRIS = (
    "(", ")", "[", "]", ",", ":", "=", ":=", "lambda: 0", "'x'", "{1}", "@", "\\", "#", "\n", ";", "i.real", "i[0]",
    "*i", "if", "else", "yield", "await", "None", "True", "...", "\x00"[:0], "é", "\u202e", "\udcff", "**", "//", "--",
    "not", "0" * 2000,
)  # fmt: skip


def formula(pick: random.Random) -> str:
    """Return one formula, or a matrix of formulas."""
    if pick.random() < 0.05:
        rows = range(pick.choice((1, 2, 17)))
        text = "[" + ", ".join("[" + ", ".join(_tree(pick, 1) for _ in rows) + "]" for _ in rows) + "]"
    else:
        text = _tree(pick, pick.choice((0, 1, 2, 2, 3, 4)))
    for _ in range(pick.choice((0, 0, 0, 1, 2))):
        at = pick.randrange(len(text) + 1)
        text = pick.choice(
            (text[:at] + pick.choice(DEBRIS) + text[at:], text[:at], text[at:], text[:at] + text[at + 1 :])
        )
    return text


def _tree(pick: random.Random, depth: int) -> str:
    if depth == 0:
        return pick.choice(pick.choice((NAMES, NUMBERS)))
    way = pick.randrange(8)
    below = [_tree(pick, depth - 1) for _ in range(3)]
    if way < 3:
        return f"({below[0]} {pick.choice(BINARY)} {below[1]})"
    if way == 3:
        return f"{pick.choice(FUNCTIONS)}({', '.join(below[: pick.choice((0, 1, 1, 2, 2, 3))])})"
    if way == 4:
        return f"({below[0]} {pick.choice(COMPARISONS)} {below[1]})"
    if way == 5:
        return f"({below[0]} if {below[1]} {pick.choice(COMPARISONS)} {below[2]} else {pick.choice(NUMBERS)})"
    if way == 6:
        return f"({pick.choice(('-', '+', 'not ', '~'))}{below[0]})"
    return f"({below[0]} {pick.choice(('and', 'or', '+', '*'))} {below[1]})"
