"""Inputs of modular addition: the texts that they say, drawn by counters, and never an expression that is cut."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS, load_profile
from lengthgen.empirical.studies.modular_addition.draws import SHARES, Data, Kind
from lengthgen.empirical.studies.modular_addition.texts import (
    CHARACTERS,
    CHUNKS,
    CLOSE,
    HELD_OUT,
    OPEN,
    PAD,
    SYMBOLS,
    WORDS,
    Plan,
    Texts,
    encode,
    filler_support,
    name,
    ordered_split,
    pair_indices,
)
from lengthgen.infrastructure.settings import ProfileError

SMOKE, QUICK, PAPER = map(load_profile, ("smoke", "quick", "paper"))
SHORT = replace(PAPER, length=33, shortest_prefix=2, longest_prefixes=(4, 6, 8), positions=(0, 6, 12), variants=2)
"""Profile with short fillers."""


def written(row):
    """The text of a row of tokens; padding ends it, and an unknown character is a tilde."""
    marks = {PAD: "", 1: "~", OPEN: "<", CLOSE: ">"}
    return "".join(marks[token] if token in marks else CHARACTERS[token - 5] for token in row.tolist())


def texts_of(condition_name, kind=None, profile=SHORT, seed=42, step=0):
    data = Data(CONDITIONS[condition_name], profile, seed)
    if kind is None:
        inputs, labels = data.training(step)
    else:
        pairs = data.tested(all_pairs=False)
        inputs, labels = data.evaluation(kind, pairs), data.labels[pairs]
    return [written(row) for row in inputs.tokens], labels, inputs


def fillers(longest):
    """All fillers of up to so many characters, by plain recursion."""
    grown = {""}
    for _ in range(longest):
        grown |= {filler + chunk for filler in grown for chunk in CHUNKS if len(filler) < longest}
    return {filler[:size] for filler in grown for size in range(longest + 1) if len(filler) >= size}


def test_the_tokens_are_those_of_the_released_script():
    assert (SYMBOLS, PAD, OPEN, CLOSE) == (80, 0, 3, 4)
    assert [encode(character)[0] for character in "azAZ09 )"] == [5, 30, 31, 56, 57, 66, 67, 78]
    assert encode("<EXPR>").tolist() == [1, *encode("EXPR").tolist(), 1]
    assert encode("</EXPR>").tolist() == [1, 1, *encode("EXPR").tolist(), 1]
    assert encode("a<EXPR>b</EXPR>c", atomic=True).tolist() == [5, OPEN, 6, CLOSE, 7]
    assert [name(token) for token in (0, 3, 5)] == ["padding", "<EXPR>", "'a'"]


@pytest.mark.parametrize("padding", [0, 3])
def test_inputs_are_the_texts_of_their_plan(padding):
    texts = Texts(97, "split", 33)
    rng = np.random.default_rng(0)
    plan = Plan(
        pairs=rng.integers(97**2, size=50), operators=rng.integers(2, size=50), words=rng.integers(len(WORDS), size=50),
        prefixes=rng.integers(9, size=50), anchored=True,
    )  # fmt: skip
    inputs = texts.assemble(plan, rng, padding=padding)
    possible = fillers(8)
    for row, pair, operator, words, prefix, start, end in zip(
        inputs.tokens, plan.pairs, plan.operators, plan.words, plan.prefixes, inputs.starts, inputs.ends, strict=True
    ):
        before, after = WORDS[words]
        expression = f"{pair // 97} {('+', 'plus')[operator]} {pair % 97}"
        assert not row[:padding].any()
        text = written(row[padding:])
        assert text[:prefix] in possible
        assert text[prefix:] == f"{before}~EXPR~{expression}~~EXPR~{after}"[: 33 - padding - prefix]
        assert written(row[start:end]) == expression[: 33 - start]


def test_the_support_of_fillers_is_that_of_all_fillers():
    longest = 9
    at = [{filler[place] for filler in fillers(longest) if len(filler) > place} for place in range(longest)]
    assert filler_support(longest) == [{int(encode(character)[0]) for character in characters} for characters in at]


def test_words_have_their_shares_and_markers_surround_every_expression():
    drawn = [text for step in range(8) for text in texts_of("described-words", step=4000 + step)[0]]
    kinds = Counter()
    for text in drawn:
        before, after = re.fullmatch(r"(.*)<\d+ (?:\+|plus) \d+>(.*)", text).groups()
        begins = [words for words, end in WORDS if words and before.endswith(words) and after == end]
        kinds["filler" if not begins else "words" if before == begins[0] else "both"] += 1
    shares = np.array([kinds["filler"], kinds["words"], kinds["both"]]) / len(drawn)
    assert shares == pytest.approx(SHARES, abs=0.04)


def test_variants_of_a_pair_stand_side_by_side():
    _, labels, inputs = texts_of("described-shift")
    assert len(labels) == 2 * SHORT.batch
    assert (labels[::2] == labels[1::2]).all() and (inputs.starts[::2] != inputs.starts[1::2]).any()


@pytest.mark.parametrize("kind", [Kind(name="A"), Kind(name="B", at=6), Kind(name="C0"), Kind(name="C1")])
def test_evaluations_have_the_texts_that_they_name(kind):
    drawn, labels, inputs = texts_of("described-words", kind)
    for text, label, start in zip(drawn, labels, inputs.starts, strict=True):
        before, a, operator, b, after = re.fullmatch(r"(.*?)<?(\d+) (\+|plus) (\d+)>?(.*)", text).groups()
        assert (int(a) + int(b)) % 97 == label
        assert ("<" in text) == (">" in text) == (kind.name != "C0")
        if kind.name == "B":
            assert (len(before), operator, after, start) == (6, "+", "", 7)
        if kind.name in ("C0", "C1"):
            assert any(before.endswith(WORDS[index][0]) for index in HELD_OUT)


def test_hidden_padding_moves_the_text_at_position_0():
    data = Data(CONDITIONS["attached-rope"], SHORT, 42)
    pairs = data.tested(all_pairs=False)
    plain, moved = (data.evaluation(kind, pairs) for kind in (Kind(name="B"), Kind(name="S", at=5)))
    assert (moved.tokens[:, 5:] == plain.tokens[:, :-5]).all() and not moved.tokens[:, :5].any()
    assert (moved.starts == 5).all()


def test_equal_counters_give_equal_inputs_and_others_do_not():
    first, again, later = (texts_of("released-words", step=step)[0] for step in (5, 5, 6))
    assert first == again != later
    assert first != texts_of("released-words", step=5, seed=43)[0]
    data = Data(CONDITIONS["released-words"], SHORT, 42)
    pairs = data.tested(all_pairs=True)
    variants = [data.evaluation(Kind(name="A"), pairs, variant).tokens for variant in (0, 0, 1)]
    assert (variants[0] == variants[1]).all() and (variants[0] != variants[2]).any()


def test_tested_pairs_are_those_of_the_reading():
    described, released = (Data(CONDITIONS[f"{reading}-shift"], SHORT, 42) for reading in ("described", "released"))
    assert not set(described.tested(all_pairs=False)) & set(described.train)
    assert 0.4 < np.isin(released.tested(all_pairs=True), released.train).mean() < 0.6
    swapped = described.test % 97 * 97 + described.test // 97
    assert not np.isin(described.train, swapped).any()
    assert (released.train == pair_indices(ordered_split(42)[0], 97)).all()


@pytest.mark.parametrize("profile", [SMOKE, QUICK, PAPER])
@pytest.mark.parametrize("condition_name", ["released-words", "described-words"])
def test_no_expression_is_cut(profile, condition_name):
    data = Data(CONDITIONS[condition_name], profile, 42)
    inputs = [data.evaluation(kind, data.tested(all_pairs=True)) for kind in data.kinds()]
    assert max(int(drawn.ends.max()) for drawn in inputs) <= profile.length


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"length": 32}, "an expression may end at token 33, and an input has 32"),
        ({"positions": (0, 30)}, "an expression may end at token 43"),
        ({"longest_prefixes": (6, 4)}, r"the fillers \[2, 6, 4\] do not grow"),
        ({"shortest_prefix": 5}, "do not grow"),
        ({"modulus": 5}, "tests = 400, but a split may hold out only 11 pairs"),
    ],
)
def test_profiles_that_do_not_fit_together_are_refused(changes, says):
    with pytest.raises(ProfileError, match=says):
        replace(SHORT, **changes)


def test_the_rate_rises_stays_and_falls():
    rates = [replace(SHORT, steps=10, warm_up=2, cool_down=4).rate(step) / SHORT.learning_rate for step in range(10)]
    assert rates == pytest.approx([0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25])
    assert {PAPER.rate(step) for step in (0, 2500, 4999)} == {1e-3}
