"""Laws and special cases of encodings are decided rightly, and a law that fails comes with a place where it fails."""

import random
import re
from dataclasses import replace

import pytest
import sympy as sp

from lengthgen.theory import laws
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings import encoding as record
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    LENGTH,
    Encoding,
    Family,
    Law,
    Normaliser,
    Parameter,
    Recovery,
)
from lengthgen.theory.zero import sympy_engine
from lengthgen.theory.zero.two_engines import EnginesDisagree

c, g, L = sp.symbols("c g L", positive=True)
trained = sp.Symbol("L", integer=True, positive=True)
hops = sp.IndexedBase("hops", integer=True, nonnegative=True)
gates, step = sp.IndexedBase(sp.Symbol("log_g", negative=True)), sp.Symbol("l", integer=True)
table, u = sp.Function("w"), sp.Symbol("u")


def falling(position):
    return sp.exp(-position * c) * sp.eye(2)


def rising(position):
    return sp.exp(position * c) * sp.eye(2)


def biased(law, **fields):
    return Encoding(name="toy", title="toy", arxiv="", bias=law, **fields)


def turned(query_angle, key_angle):
    return Encoding(
        name="toy",
        title="toy",
        arxiv="",
        rotate=lambda p, n: (rotary.rotation(query_angle(p, n)), rotary.rotation(key_angle(p, n))),
    )


ALL = set(DISTANCE_LAWS)
"""Laws of an encoding that acts by distance."""
CASES = [
    ("nothing", record.NOPE, {*Law}),
    ("linear", biased(lambda j, i, n: -c * (j - i)), ALL),
    ("both sides", biased(lambda j, i, n: -c * abs(j - i)), ALL),
    ("a table of distances", biased(lambda j, i, n: table(j - i)), ALL),
    ("a table of keys", biased(lambda j, i, n: table(i)), ALL - {Law.RELATIVE, Law.TRANSLATION}),
    # The row of a query moves as a whole, which softmax does not see.
    ("a table of queries", biased(lambda j, i, n: table(j)), ALL - {Law.RELATIVE}),
    ("key only", biased(lambda j, i, n: c * i), ALL - {Law.RELATIVE}),
    ("product", biased(lambda j, i, n: -c * i * j), ALL - {Law.RELATIVE, Law.TRANSLATION}),
    ("squares", biased(lambda j, i, n: -c * (j**2 - i**2)), ALL - {Law.RELATIVE, Law.TRANSLATION}),
    ("over the length", biased(lambda j, i, n: -c * (j - i) / n), ALL - {Law.STREAMING}),
    ("beyond a length", biased(lambda j, i, n: -c * (j - i) * sp.Max(1, n / trained)), ALL - {Law.STREAMING}),
    (
        "gates on the path",
        biased(lambda j, i, n: sp.Sum(gates[step], (step, i + 1, j))),
        ALL - {Law.RELATIVE, Law.TRANSLATION},
    ),
    ("rotation", rotary.ROPE, ALL),
    ("key turned back", turned(lambda p, n: p * c, lambda p, n: -p * c), ALL - {Law.RELATIVE, Law.TRANSLATION}),
    ("other speeds", turned(lambda p, n: p * c, lambda p, n: 2 * p * c), ALL - {Law.RELATIVE, Law.TRANSLATION}),
    ("speed by length", turned(lambda p, n: p * c / n, lambda p, n: p * c / n), ALL - {Law.STREAMING}),
    (
        "stretched",
        Encoding(name="toy", title="", arxiv="", rotate=lambda p, n: (sp.exp(p * c) * sp.eye(2),) * 2),
        {Law.STREAMING},
    ),
    (
        "decaying",
        Encoding(
            name="toy", title="", arxiv="", rotate=lambda p, n: tuple(sp.exp(s * p * c) * sp.eye(2) for s in (-1, 1))
        ),
        {Law.RELATIVE, Law.TRANSLATION, Law.STREAMING},
    ),
    (
        "added waves",
        Encoding(name="toy", title="", arxiv="", embed=lambda p: sp.Matrix([sp.sin(p * c), sp.cos(p * c)])),
        {Law.STREAMING},
    ),
    (
        "positions scaled",
        Encoding(name="toy", title="", arxiv="", positions=lambda p, n: p / g, rotate=rotary.ROPE.rotate),
        ALL,
    ),
    ("one bonus for all pairs", biased(lambda j, i, n: c), {*Law}),
]

OF_TOKENS = (Parameter(symbol=gates, meaning="gate of each token", family=Family.TOKENS),)
OF_CONTENT = (Parameter(symbol=gates, meaning="gate of the query or the key", family=Family.CONTENT),)
OF_PAIRS = (Parameter(symbol=hops, meaning="distance of two tokens", family=Family.STRUCTURE),)
MOVES = {Law.TRANSLATION, Law.NORM, Law.RELABELLING}
CARRIED = [
    ("a structure", lambda j, i, n: -c * hops[j, i, n], OF_PAIRS, MOVES),
    ("a structure, read backwards", lambda j, i, n: -c * hops[i, j, n], OF_PAIRS, MOVES),
    ("a structure that does not grow", lambda j, i, n: -c * hops[j, i], OF_PAIRS, MOVES | {Law.STREAMING}),
    ("a structure, of the next query", lambda j, i, n: -c * hops[j + 1, i, n], OF_PAIRS, MOVES - {Law.RELABELLING}),
    ("a structure, of node 0", lambda j, i, n: -c * hops[0, i, n], OF_PAIRS, {Law.NORM}),
    ("a structure times the position", lambda j, i, n: -i * hops[j, i, n], OF_PAIRS, {Law.NORM}),
    ("a structure less the distance", lambda j, i, n: hops[j, i, n] - abs(j - i), OF_PAIRS, MOVES - {Law.RELABELLING}),
    ("gates of two tokens", lambda j, i, n: gates[j] * gates[i], OF_TOKENS, ALL - {Law.RELATIVE} | {Law.RELABELLING}),
    ("a gate of the query", lambda j, i, n: gates[j], OF_CONTENT, {*Law}),
    (
        "gates of tokens on the path",
        lambda j, i, n: sp.Sum(gates[step], (step, i + 1, j)),
        OF_TOKENS,
        ALL - {Law.RELATIVE},
    ),
    ("a slope set by the query", lambda j, i, n: c * (j - i) * gates[j], OF_CONTENT, ALL),
    ("a slope set by the key", lambda j, i, n: c * (j - i) * gates[i], OF_CONTENT, ALL),
    ("a slope set by the query's token", lambda j, i, n: c * (j - i) * gates[j], OF_TOKENS, ALL - {Law.RELATIVE}),
    ("gates times the position", lambda j, i, n: i * gates[i], OF_CONTENT, ALL - {Law.RELATIVE, Law.TRANSLATION}),
    (
        "gates of tokens, each times its position",
        lambda j, i, n: sp.Sum(step * gates[step], (step, i + 1, j)),
        OF_TOKENS,
        ALL - {Law.RELATIVE, Law.TRANSLATION},
    ),
]
CARRIED += [
    (
        "parts of a token's vector, summed with weights of their own",
        lambda j, i, n: sp.Sum(gates[j, step] * c**step - gates[i, step], (step, 0, 4)),
        OF_TOKENS,
        ALL - {Law.RELATIVE} | {Law.RELABELLING},
    ),
    (
        "parts of a token's vector, weighted by the position",
        lambda j, i, n: sp.Sum(gates[j, step] * (j + step), (step, 0, 4)) - sp.Sum(gates[i, step] * i, (step, 0, 4)),
        OF_TOKENS,
        ALL - {Law.RELATIVE, Law.TRANSLATION},
    ),
]
CASES += [(name, biased(law, parameters=of), kept) for name, law, of, kept in CARRIED]


@pytest.mark.parametrize(("encoding", "kept"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_law_is_kept_or_broken_as_it_should_be(encoding, kept):
    for law in Law:
        ruling = laws.decide_law(encoding, law)
        assert ruling.holds is (law in kept), (law, ruling.reason)
        if not ruling.holds:
            assert re.search(r" by \S+ at .*\d", ruling.reason), law


ROWS = [
    ("slope of the key's position", lambda j, i: -c * i),
    ("constant of the query's position", lambda j, i: -c * (j - i) + g * j),
    ("distance", lambda j, i: -c * (j - i)),
]


@pytest.mark.parametrize(("name", "law"), ROWS, ids=[row[0] for row in ROWS])
def test_softmax_ignores_what_is_added_to_a_row_and_the_sigmoid_does_not(name, law):
    encoding = biased(lambda j, i, n: law(j, i))
    alone = replace(encoding, normaliser=Normaliser.SIGMOID)
    assert laws.decide_law(encoding, Law.TRANSLATION).holds
    ruling = laws.decide_law(alone, Law.TRANSLATION)
    assert ruling.holds is (name == "distance")
    assert ruling.holds or "changes the score of the key at distance D by" in ruling.reason


def test_gates_of_tokens_move_along_under_the_sigmoid_too():
    path = biased(lambda j, i, n: sp.Sum(gates[step], (step, i + 1, j)), parameters=OF_TOKENS)
    assert laws.decide_law(replace(path, normaliser=Normaliser.SIGMOID), Law.TRANSLATION).holds
    by_place = biased(lambda j, i, n: gates[j], parameters=(replace(OF_TOKENS[0], family=Family.TABLE),))
    assert laws.decide_law(by_place, Law.TRANSLATION).holds
    assert laws.decide_law(replace(by_place, normaliser=Normaliser.SIGMOID), Law.TRANSLATION).holds is False


def test_equal_scores_are_no_recovery_under_another_normaliser_or_window():
    line, window = biased(lambda j, i, n: -c * (j - i)), sp.Symbol("W", integer=True, positive=True)
    same = Recovery(of="toy", assignment={})
    assert laws.decide_recovery(line, line, same).holds is not False
    other = laws.decide_recovery(replace(line, normaliser=Normaliser.SIGMOID), line, same)
    assert (other.holds, other.reason) == (False, "sigmoid of the scores is not their softmax")
    windowed = replace(line, window=window)
    assert laws.decide_recovery(windowed, line, same).reason == "a query sees W keys, not oo"
    assert laws.decide_recovery(windowed, line, Recovery(of="toy", assignment={window: sp.oo})).holds is not False


@pytest.mark.parametrize(
    ("law", "holds"),
    [
        (lambda j, i, n: c * sp.KroneckerDelta(i, j), True),
        (lambda j, i, n: c * sp.Heaviside(j - i, 0), False),
        (lambda j, i, n: c * sp.Heaviside(i - j, 0), False),
        (lambda j, i, n: c * sp.KroneckerDelta(i, j) * i, False),
    ],
    ids=["the token itself", "keys before the query", "keys after the query", "the token itself, by its place"],
)
def test_a_permutation_takes_pairs_to_pairs_in_either_order_and_tokens_to_tokens(law, holds):
    assert laws.decide_law(biased(law), Law.RELABELLING).holds is holds


@pytest.mark.parametrize("name", ["fox", "grape-gated", "grape-path", "grape-contextual", "prism"])
def test_a_shift_takes_gates_of_content_along(name):
    assert laws.decide_law(named(name), Law.TRANSLATION).holds


def test_a_gate_set_by_the_query_and_the_key_themselves_leaves_the_score_relative():
    assert laws.decide_law(named("grape-gated"), Law.RELATIVE).holds
    assert not laws.decide_law(named("fox"), Law.RELATIVE).holds


def test_the_counterexample_breaks_the_law():
    reason = laws.decide_law(biased(lambda j, i, n: -c * i * j), Law.RELATIVE).reason
    size = sp.Rational(re.search(r" by (\S+) at ", reason).group(1))
    rate, distance, shift = (
        sp.Rational(re.search(rf"\b{name} = ([^,\s]+)", reason).group(1)) for name in ("c", "D", "s")
    )
    before, after = (-rate * key * (key + distance) for key in (0, shift))
    assert abs(after - before - size) < sp.Rational(1, 1000)


def test_random_formulas_against_values_at_many_places():
    draw = random.Random(1)
    places = [(j, i, s) for j in range(6) for i in range(j + 1) for s in range(1, 5)]
    seen = set()
    for _ in range(60):
        weights = [draw.randint(-1, 1) for _ in range(6)]

        def law(j, i, n, weights=weights):
            terms = (j - i, i, (j - i) ** 2, i * (j - i), abs(j - i), j * j - i * i)
            return sp.Add(*(weight * term for weight, term in zip(weights, terms, strict=True)))

        relative = all(
            law(sp.Integer(j + s), sp.Integer(i + s), 0) == law(sp.Integer(j), sp.Integer(i), 0) for j, i, s in places
        )
        assert laws.decide_law(biased(law), Law.RELATIVE).holds is relative, weights
        seen.add(relative)
    assert seen == {True, False}


def relative_up_to(law):
    return laws.relative_within(biased(law))


def test_relative_within_the_trained_length_only():
    def psi(distance):
        return sp.log(c * distance + 1)

    rescaled = biased(lambda j, i, n: table(psi(j - i) / psi(sp.Max(j, trained))))
    assert laws.decide_law(rescaled, Law.RELATIVE).holds is False
    assert laws.relative_within(rescaled)
    assert not relative_up_to(lambda j, i, n: table(psi(i) / psi(sp.Max(j, trained))))
    assert not relative_up_to(lambda j, i, n: -c * i)


RECOVERIES = [
    (
        biased(lambda j, i, n: -c * abs(j - i) ** g),
        biases.ALIBI,
        {g: sp.Integer(1), c: biases.ALIBI_SLOPE},
        False,
        True,
    ),
    (
        biased(lambda j, i, n: -c * abs(j - i) ** g),
        biases.ALIBI,
        {g: sp.Integer(2), c: biases.ALIBI_SLOPE},
        False,
        False,
    ),
    (CASES[11][1], biases.ALIBI, {gates: -biases.ALIBI_SLOPE}, False, True),
    (CASES[11][1], biases.ALIBI, {gates: biases.ALIBI_SLOPE}, False, False),
    (CASES[3][1], biases.ALIBI, {table: sp.Lambda(u, -biases.ALIBI_SLOPE * u)}, False, True),
    (CASES[3][1], record.NOPE, {table: sp.Lambda(u, 0)}, False, True),
    (CASES[10][1], biases.ALIBI, {c: biases.ALIBI_SLOPE}, False, False),
    (CASES[10][1], biases.ALIBI, {c: biases.ALIBI_SLOPE}, True, True),
    (rotary.ROPE, record.NOPE, {rotary.FREQUENCY: sp.Integer(0)}, False, True),
    (record.NOPE, rotary.ROPE, {}, False, False),
]


@pytest.mark.parametrize(("encoding", "other", "assignment", "within", "holds"), RECOVERIES)
def test_special_cases(encoding, other, assignment, within, holds):
    ruling = laws.decide_recovery(encoding, other, Recovery(of=other.name, assignment=assignment, within=within))
    assert ruling.holds is holds, ruling.reason


WEIGHTS = [
    (lambda j, i, n: c * j - biases.ALIBI_SLOPE * (j - i), True),
    (lambda j, i, n: table(j) - biases.ALIBI_SLOPE * (j - i), True),
    (lambda j, i, n: c - biases.ALIBI_SLOPE * (j - i), True),
    (lambda j, i, n: c * i - biases.ALIBI_SLOPE * (j - i), False),
    (lambda j, i, n: -2 * biases.ALIBI_SLOPE * (j - i), False),
]


@pytest.mark.parametrize(("law", "holds"), WEIGHTS)
def test_a_number_that_all_keys_of_a_query_share_changes_scores_but_no_weights(law, holds):
    scores, weights = (
        laws.decide_recovery(
            biased(law), biases.ALIBI, Recovery(of="alibi", assignment={}, weights_only=weights_only)
        ).holds
        for weights_only in (False, True)
    )
    assert (scores, weights) == (False, holds)


def test_laws_that_cannot_be_decided_are_reported_as_undecided():
    hidden = biased(lambda j, i, n: sp.zeta(3 + i) - sp.zeta(3 + i + 0 * j) + sp.gamma(i + 1) / sp.factorial(i))
    assert laws.decide_law(hidden, Law.STREAMING).holds
    unseen = biased(lambda j, i, n: sp.gamma(i + 2) - sp.factorial(i + 1))
    assert laws.decide_law(unseen, Law.RELATIVE).holds is None


def test_engines_that_disagree_are_not_believed(monkeypatch):
    monkeypatch.setattr(
        sympy_engine, "decide", lambda left, right, squares=None: sympy_engine.Decision(zero=False, generators=())
    )
    with pytest.raises(EnginesDisagree):
        laws.decide_law(replace(rotary.ROPE, title="undecided so far"), Law.RELATIVE)


def test_the_score_is_made_of_all_hooks_in_their_order():
    encoding = Encoding(
        name="toy",
        title="toy",
        arxiv="",
        positions=lambda p, n: 2 * p,
        embed=lambda p: sp.Matrix([p, 0]),
        rotate=lambda p, n: (sp.diag(p, 1), sp.diag(1, n)),
        relative_key=lambda j, i, n: sp.Matrix([j - i, 10 * n]),
        bias=lambda j, i, n: 1000 * j + 100 * i,
    )
    score = encoding.score(sp.Matrix([1, 2]), sp.Matrix([3, 5]), query_position=7, key_position=3, length=11)
    assert score == (14 * (1 + 14)) * (3 + 6 + 8) + 2 * (11 * 5 + 110) + 14000 + 600
    assert encoding.hooks == ("positions", "embed", "rotate", "relative_key", "bias")
    assert LENGTH not in score.free_symbols


FORMS = [
    ("a bias alone", biased(lambda j, i, n: -c * (j - i)), Law.NORM, "does not touch queries and keys"),
    ("no length", biased(lambda j, i, n: -c * (j - i)), Law.STREAMING, "n does not occur in the score"),
    ("a length that cancels", biased(lambda j, i, n: -c * (j - i) * n / n), Law.STREAMING, "both engines"),
    ("polynomials", biased(lambda j, i, n: -c * (j - i)), Law.RELATIVE, "both engines"),
    ("rotations", rotary.ROPE, Law.NORM, "both engines"),
    ("a function of the distance", biased(lambda j, i, n: table(j - i)), Law.RELATIVE, "one expression"),
]


@pytest.mark.parametrize(("encoding", "law", "reason"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_the_reason_of_a_law_that_holds_is_given(encoding, law, reason):
    ruling = laws.decide_law(encoding, law)
    assert ruling.holds
    assert reason in ruling.reason


def test_engines_get_different_trees_of_scores_that_are_one_function(monkeypatch):
    seen = []
    right = sympy_engine.decide
    monkeypatch.setattr(
        sympy_engine, "decide", lambda left, other, squares=None: seen.append((left, other)) or right(left, other)
    )
    for by, of in (("grape-commuting", "rope"), ("grape-contextual", "rope"), ("grape-path", "alibi")):
        (recovery,) = (candidate for candidate in named(by).recovers if candidate.of == of)
        assert "both engines" in laws.decide_recovery(named(by), named(of), recovery).reason
    assert len(seen) == 3
    assert all(left != other for left, other in seen)


def test_a_law_speaks_of_sequences_that_hold_its_positions() -> None:
    """Max(j, n) is n at every query of a sequence of length n; j n is not the same for all queries."""
    for formula, kept in ((lambda j, i, n: sp.Max(j, n), True), (lambda j, i, n: j * n, False)):
        ruling = laws.decide_law(Encoding(name="own", title="own", bias=formula), Law.RELATIVE)
        assert ruling.holds is kept
    assert "in a sequence of length D + n_ + s" in ruling.reason


def test_a_normaliser_given_as_text_counts() -> None:
    by_query = Encoding(name="own", title="own", bias=lambda j, i, n: j, normaliser="sigmoid")  # type: ignore[arg-type]
    assert laws.decide_law(by_query, Law.TRANSLATION).holds is False
