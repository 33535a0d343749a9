"""Sixty-two tasks written by hand after public sources, for a trial of the forecast on tasks of no family.  [F]

Each is named in a comment with its source, and its layout is given where it is not that of `row`: `x1 .. xn = y .. $`
over digits below `letters`. Sums and products are modulo what the name or the comment says. "Direct" tasks give the
answer alone; the others write what they have computed so far.
"""

from collections import Counter
from dataclasses import replace
from itertools import accumulate, pairwise
from math import isqrt

from lengthgen import Task


def _symbols(count):
    return tuple(map(str, range(count)))


def _answer(output):
    return [*map(str, map(int, output)), "$"]


def row(letters, function, *, outputs=0, end=None):
    """Return the task `x1 .. xn = y .. $`; `function` takes and gives a list of numbers, the latter below `outputs`."""
    return Task(
        name="row",
        alphabet=(*_symbols(max(letters, outputs)), "=", "$"),
        prompt=lambda n: [*[_symbols(letters)] * n, "="],
        generate=lambda prompt: _answer(function([int(symbol) for symbol in prompt[:-1]])),
        end=end,
    )


def headed(letters, head, function, *, outputs=0, width=1):
    """Return the task `k.. x1 .. xn = y .. $`: `width` digits below `head` in front; `function` takes them and x."""
    return Task(
        name="headed",
        alphabet=(*_symbols(max(letters, head, outputs)), "=", "$"),
        prompt=lambda n: [*[_symbols(head)] * width, *[_symbols(letters)] * n, "="],
        generate=lambda prompt: _answer(
            function([int(symbol) for symbol in prompt[:width]], [int(symbol) for symbol in prompt[width:-1]])
        ),
    )


def operands(letters, function, *, count=2, outputs=0, last=0):
    """Return the task `a1 .. an ; b1 .. bn ; .. = y .. $`; `function` takes the operands.

    `last`: number of digits of the last operand; 0 stands for n.
    """

    def generate(prompt):
        parts = " ".join(prompt[:-1]).split(" ; ")
        return _answer(function(*([int(symbol) for symbol in part.split()] for part in parts)))

    def prompt(n):
        parts = [[_symbols(letters)] * n for _ in range(count - 1)] + [[_symbols(letters)] * (last or n)]
        return [*[symbol for part in parts for symbol in (*part, ";")][:-1], "="]

    alphabet = (*_symbols(max(letters, outputs)), ";", "=", "$")
    return Task(name="operands", alphabet=alphabet, prompt=prompt, generate=generate)


def states(letters, step, *, outputs, start=0):
    """Return the task of a state machine that writes its state after each letter: y_t = step(y_(t-1), x_t)."""
    return row(letters, lambda x: [*accumulate(x, step, initial=start)][1:], outputs=outputs)


def before(x, first=0):
    """Return x, one place later."""
    return [first, *x[:-1]]


def after(x, last=0):
    """Return x, one place earlier."""
    return [*x[1:], last]


def number(digits, base=2):
    """Return the number with these digits, low digit first."""
    return sum(digit * base**place for place, digit in enumerate(digits))


def digits_of(value, count, base=2):
    """Return the digits of a number, low digit first."""
    return [value // base**place % base for place in range(count)]


# --- Deletang et al., Neural networks and the Chomsky hierarchy, arXiv 2207.02098 ---
even_pairs = row(2, lambda x: [x[0] == x[-1]])  # as many 01 as 10, direct
cycle_navigation = row(3, lambda x: [sum((0, 1, 4)[move] for move in x) % 5], outputs=5)  # stay, forth, back; direct
duplicate_string = row(2, lambda x: x + x)
odds_first = row(2, lambda x: x[::2] + x[1::2])
bucket_sort = row(5, sorted)
compute_sqrt = row(2, lambda x: digits_of(isqrt(number(x[::-1])), (len(x) + 1) // 2)[::-1])  # high digit first
missing_duplicate = Task(  # the digit that `?` hides in a word written twice
    name="missing_duplicate",
    alphabet=("0", "1", "?", "=", "$"),
    prompt=lambda n: [*[("0", "1", "?")] * (2 * n), "="],
    valid=lambda prompt: (
        prompt.count("?") == 1
        and all(a == b or "?" in (a, b) for a, b in zip(prompt, prompt[len(prompt) // 2 : -1], strict=False))
    ),
    draw=lambda n, source: _hidden([*source.choices("01", k=n)] * 2, source.randrange(2 * n)),
    generate=lambda prompt: [prompt[(prompt.index("?") + len(prompt) // 2) % (len(prompt) - 1)], "$"],
)


def _hidden(word, place):
    return [*word[:place], "?", *word[place + 1 :], "="]


def _in_order_of_operations(prompt):
    terms, sign = [1], 1
    for symbol in prompt:
        if symbol in "+-":
            sign = 1 if symbol == "+" else -1
            terms.append(sign)
        elif symbol != "*":
            terms[-1] = terms[-1] * int(symbol)
    return [sum(terms) % 5]


modular_arithmetic = Task(  # x1 o1 x2 .. xn = y, o one of + - *, modulo 5, direct
    name="modular_arithmetic",
    alphabet=(*_symbols(5), "+", "-", "*", "=", "$"),
    prompt=lambda n: [*[_symbols(5), ("+", "-", "*")] * (n - 1), _symbols(5), "="],
    generate=lambda prompt: _answer(_in_order_of_operations(prompt[:-1])),
)

# --- Zhou et al., What algorithms can transformers learn?, arXiv 2310.16028 ---
mode = row(5, lambda x: [max(sorted({*x}), key=Counter(x).get)])  # the smallest of the most frequent, direct
copy_with_hints = row(5, lambda x: [part for place, digit in enumerate(x) for part in (place % 10, digit)], outputs=10)

# --- Cho et al., Position coupling, arXiv 2405.20671 ---
addition_of_three = operands(
    4, lambda a, b, c: digits_of(number(a, 4) + number(b, 4) + number(c, 4), len(a) + 1, 4), count=3
)
multiplication_by_two_digits = operands(3, lambda a, b: digits_of(number(a, 3) * number(b, 3), len(a) + 2, 3), last=2)


def _mines(top, bottom):
    board = [top, bottom]
    around = [sum(board[row][max(column - 1, 0) : column + 2].count(1) for row in (0, 1)) for column in range(len(top))]
    return [9 if board[row][column] else around[column] for row in (0, 1) for column in range(len(top))]


minesweeper = operands(2, _mines, outputs=10)  # two rows; 9 is a mine

# --- McLeish et al., Transformers can do arithmetic with the right embeddings, arXiv 2405.17399 ---
bitwise_or = operands(2, lambda a, b: [x | y for x, y in zip(a, b, strict=True)])

# --- Liu et al., Transformers learn shortcuts to automata, arXiv 2210.10749; flip-flops: arXiv 2306.00946 ---
gridworld = states(2, lambda place, move: min(max(place + 2 * move - 1, 0), 3), outputs=4)
flip_flop = states(3, lambda bit, letter: bit if letter == 0 else letter - 1, outputs=3)  # 0 reads, 1 and 2 write
# (rotation, reflected) of a square: 0 turns it by a quarter, 1 turns it over
dihedral = states(2, lambda s, x: (s ^ 4) if x else (s & 4) | ((s % 4 + (3 if s & 4 else 1)) % 4), outputs=8)
_THREE = ((0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0))
symmetric_three = states(6, lambda s, x: _THREE.index(tuple(_THREE[x][place] for place in _THREE[s])), outputs=6)
symmetric_three_direct = row(
    6, lambda x: [[*accumulate(x, lambda s, y: _THREE.index(tuple(_THREE[y][place] for place in _THREE[s])))][-1]]
)

# --- Fan et al., Looped transformers for length generalization, arXiv 2409.15647 ---
unique_set = row(5, lambda x: [*dict.fromkeys(x)], end="$")

# --- Xiao and Liu, A theory for length generalization in learning to reason, arXiv 2404.00560 ---
field_of_seven = Task(  # x1 o2 x2 .. = y1 .. yn $, y_t = y_(t-1) o_t x_t modulo 7, from left to right
    name="field_of_seven",
    alphabet=(*_symbols(7), "+", "*", "=", "$"),
    prompt=lambda n: [*[("+", "*"), _symbols(7)] * n, "="],
    generate=lambda prompt: _answer(
        [
            *accumulate(
                zip(prompt[:-1:2], map(int, prompt[1:-1:2]), strict=True),
                lambda y, step: (y + step[1] if step[0] == "+" else y * step[1]) % 7,
                initial=1,
            )
        ][1:]
    ),
)

# --- Wei et al., Chain of thought, arXiv 2201.11903 ---
last_letters = Task(  # n words of three letters
    name="last_letters",
    alphabet=("a", "b", "c", "=", "$"),
    prompt=lambda n: [*[("a", "b", "c")] * (3 * n), "="],
    generate=lambda prompt: [*prompt[2::3], "$"],
)
coin_flip = row(2, lambda x: [1 - sum(x) % 2])  # is it still heads up? direct

# --- Velickovic et al., CLRS, arXiv 2205.15659; Markeeva et al., CLRS-Text, arXiv 2406.04229: traces ---
running_minimum = states(5, min, outputs=5, start=4)
running_maximum = states(5, max, outputs=5)


def _bubble(x):
    x = [*x]
    for place in range(len(x) - 1):
        x[place : place + 2] = sorted(x[place : place + 2])
    return x


bubble_pass = row(5, _bubble)
partition = headed(5, 5, lambda k, x: [y for y in x if y < k[0]] + [y for y in x if y >= k[0]])  # by a pivot, in order
string_matcher = headed(2, 2, lambda k, x: [pair == tuple(k) for pair in pairwise([*x, 2])], width=2)
selection = row(5, lambda x: [sorted(x)[len(x) // 2]])  # the median, direct

# --- Olsson et al., In-context learning and induction heads, arXiv 2209.11895; Arora et al., Zoology, 2312.04927 ---
induction = headed(4, 4, lambda k, x: [next((b for a, b in pairwise(x) if a == k[0]), 0)])  # what follows the first k
recall = headed(  # pairs key value; the value of the last pair with the key in front, else 0; direct
    4, 4, lambda k, x: [next((value for key, value in zip(x[-2::-2], x[::-2], strict=False) if key == k[0]), 0)]
)

# --- Wolfram, Statistical mechanics of cellular automata, Rev. Mod. Phys. 55 (1983): one step, zeros outside ---
rule_110 = row(2, lambda x: [110 >> (4 * a + 2 * b + c) & 1 for a, b, c in zip(before(x), x, after(x), strict=True)])
rule_30 = row(2, lambda x: [30 >> (4 * a + 2 * b + c) & 1 for a, b, c in zip(before(x), x, after(x), strict=True)])
# two steps of rule 90, both written
rule_90_twice = row(2, lambda x: [*_ninety(x), *_ninety(_ninety(x))])


def _ninety(x):
    return [a ^ c for a, c in zip(before(x), after(x), strict=True)]


# --- Gray code (US patent 2632058) and codes in MacKay, Information Theory, Inference, and Learning Algorithms ---
gray_code = row(2, lambda x: [a ^ b for a, b in zip(before(x), x, strict=True)])
differences = row(5, lambda x: [(b - a) % 5 for a, b in zip(before(x), x, strict=True)])
manchester = row(2, lambda x: [bit for y in x for bit in (y, 1 - y)])
repetition = row(2, lambda x: [y for y in x for _ in range(3)])
majority_decoder = Task(  # n blocks of three bits
    name="majority_decoder",
    alphabet=("0", "1", "=", "$"),
    prompt=lambda n: [*[("0", "1")] * (3 * n), "="],
    generate=lambda prompt: _answer(prompt[at : at + 3].count("1") > 1 for at in range(0, len(prompt) - 1, 3)),
)
convolutional = row(  # rate 1/2, generators 7 and 5
    2, lambda x: [y for a, b, c in zip(before(before(x)), before(x), x, strict=True) for y in (a ^ b ^ c, a ^ c)]
)
# remainder of the polynomial x by z^2 + z + 1: state 2 a + b
checksum = states(2, lambda s, x: 2 * ((s >> 1) ^ (s & 1)) + ((s >> 1) ^ x), outputs=4)
# US patent 2950048: every second digit is doubled and its digits added; running sum modulo 10
luhn = row(
    10,
    lambda x: [
        total % 10 for total in accumulate(2 * y - 9 * (y > 4) if place % 2 else y for place, y in enumerate(x))
    ],
)


def _stuffed(x):
    output, ones = [], 0
    for bit in x:
        output.append(bit)
        ones = ones + 1 if bit else 0
        if ones == 3:
            output.append(0)
            ones = 0
    return output


bit_stuffing = row(2, _stuffed, end="$")  # ISO 13239 with a 0 after three ones, so that it happens in short words

# --- Knuth, The Art of Computer Programming, vol. 2, Section 4: arithmetic, low digit first ---
increment = row(3, lambda x: digits_of(number(x, 3) + 1, len(x) + 1, 3))
negation = row(2, lambda x: digits_of(-number(x), len(x)))  # two's complement
tripling = row(4, lambda x: digits_of(3 * number(x, 4), len(x) + 1, 4))
remainder_by_three = states(2, lambda s, x: (2 * s + x) % 3, outputs=3)  # high digit first
horner = headed(5, 5, lambda k, x: [*accumulate(x, lambda y, z: (k[0] * y + z) % 5, initial=0)][1:])
comparison = operands(  # high digit first: 0 equal so far, 1 less, 2 more
    3,
    lambda a, b: [*accumulate(zip(a, b, strict=True), lambda s, p: s or (p[0] < p[1]) + 2 * (p[0] > p[1]), initial=0)][
        1:
    ],
)
larger = operands(2, max)  # high digit first, direct
dot_product = operands(
    5, lambda a, b: [*accumulate((x * y for x, y in zip(a, b, strict=True)), lambda s, z: (s + z) % 5, initial=0)][1:]
)
hamming_distance = operands(
    2,
    lambda a, b: [*accumulate((x != y for x, y in zip(a, b, strict=True)), lambda s, z: (s + z) % 4, initial=0)][1:],
    outputs=4,
)
pairs_to_base_four = Task(  # n pairs of bits
    name="pairs_to_base_four",
    alphabet=(*_symbols(4), "=", "$"),
    prompt=lambda n: [*[("0", "1")] * (2 * n), "="],
    generate=lambda prompt: _answer(2 * int(a) + int(b) for a, b in zip(prompt[:-1:2], prompt[1::2], strict=False)),
)

# --- Kahn, The Codebreakers (1967): ciphers ---
caesar = headed(5, 5, lambda k, x: [(y + k[0]) % 5 for y in x])
vigenere = headed(5, 5, lambda k, x: [(y + k[place % 2]) % 5 for place, y in enumerate(x)], width=2)
autokey = headed(5, 5, lambda k, x: [(a + b) % 5 for a, b in zip(x, before(x, k[0]), strict=True)])

# --- Words and orders: Lothaire, Combinatorics on Words (1983); shuffles: Diaconis, Graham and Kantor (1983) ---
palindrome = row(2, lambda x: x + x[::-1])


def _half_palindromes(n, source):
    x = source.choices("01", k=n)
    return [*(x[: (n + 1) // 2] + x[: n // 2][::-1] if source.random() < 0.5 else x), "="]


is_palindrome = replace(row(2, lambda x: [x == x[::-1]]), draw=_half_palindromes)  # direct
out_shuffle = operands(3, lambda a, b: [y for pair in zip(a, b, strict=True) for y in pair])
in_shuffle = operands(3, lambda a, b: [y for pair in zip(b, a, strict=True) for y in pair])
zigzag = row(3, lambda x: [x[place // 2] if place % 2 == 0 else x[-1 - place // 2] for place in range(len(x))])
seen_before = row(4, lambda x: [y in x[:place] for place, y in enumerate(x)])
