"""The behaviour at far keys is decided for every value of the parameters, and numbers at far distances agree."""

import re
from dataclasses import replace

import pytest
import sympy as sp

from lengthgen.theory import far
from lengthgen.theory.encodings import biases, relations, rotary
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Family, Normaliser, Parameter
from lengthgen.theory.far import FarField, without_query_factor
from lengthgen.theory.zero import two_engines

a, p, q = sp.symbols("a p q", positive=True)
x = sp.Symbol("x", real=True)
gates = sp.IndexedBase("g", negative=True)
hops = sp.IndexedBase("hops", integer=True, nonnegative=True)
step = sp.Symbol("l", integer=True)
table = sp.Function("f")


def biased(law, *parameters):
    return Encoding(name="toy", title="", arxiv="", bias=lambda j, i, n: law(j - i), parameters=parameters)


def rotated(on_query, on_key):
    return Encoding(name="toy", title="", arxiv="", rotate=lambda t, n: (on_query(t), on_key(t)))


def growing(rate):
    return lambda t: sp.exp(rate * t) * sp.eye(2)


BIASES = [
    (lambda d: -a * d, "falls exponentially"),
    (lambda d: -a * sp.sqrt(d), FarField.STRETCHED),
    (lambda d: -a * d**2, FarField.FASTER),
    (lambda d: -a * sp.exp(d), FarField.FASTER),
    (lambda d: -a * d * sp.log(1 + d), FarField.FASTER),
    (lambda d: -a * d / sp.log(2 + d), FarField.STRETCHED),
    (lambda d: -a * sp.log(1 + p * d), FarField.POLYNOMIAL),
    (lambda d: -a * sp.log(1 + d) ** 2, FarField.STRETCHED),
    (lambda d: -a * sp.log(1 + sp.log(1 + d)), FarField.SLOWER),
    (lambda d: -a / (1 + d), FarField.CONSTANT),
    (lambda d: -a * d / (1 + d), FarField.CONSTANT),
    (lambda d: -a * sp.Min(d, 8), FarField.CONSTANT),
    (lambda d: -a * sp.Max(d, 8), "falls exponentially"),
    (lambda d: sp.Min(-a * d, 8), "falls exponentially"),
    (lambda d: sp.Max(-a * d, -8), FarField.CONSTANT),
    (lambda d: a * d, FarField.GROWING),
    (lambda d: a * sp.log(1 + d), FarField.GROWING),
    (lambda d: sp.Piecewise((-a * d, d <= 8), (-8, True)), FarField.CONSTANT),
    (lambda d: sp.Piecewise((-8, d < 8), (-a * d, sp.Ge(2 * d, 3 + a)), (0, True)), "falls exponentially"),
    (lambda d: sp.Piecewise((-a * d, sp.cos(d) > 0), (-8, True)), FarField.UNDECIDED),
    (lambda d: table(d / (1 + d)), FarField.CONSTANT),
    (table, FarField.UNDEFINED),
    (lambda d: (x - 1) * d, FarField.UNDECIDED),
]


@pytest.mark.parametrize(("law", "expected"), BIASES)
def test_a_bias_is_classified_by_its_limits(law, expected):
    assert far.far_field(biased(law)) == str(expected)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (
            biased(lambda d: -((d / a) ** p)),
            f"0 < p < 1: {FarField.STRETCHED}; p = 1: {FarField.EXPONENTIAL}; p > 1: {FarField.FASTER}",
        ),
        (
            biased(lambda d: -a * d**x),
            f"x < 0: {FarField.CONSTANT}; x = 0: {FarField.CONSTANT}; 0 < x < 1: {FarField.STRETCHED}; "
            f"x = 1: {FarField.EXPONENTIAL}; x > 1: {FarField.FASTER}",
        ),
        (
            biased(lambda d: -a * d**p, Parameter(symbol=p, meaning="", domain=sp.Interval(2, 3))),
            str(FarField.FASTER),
        ),
        (
            biased(lambda d: -a * d ** (p * q)),
            f"0 < p*q < 1: {FarField.STRETCHED}; p*q = 1: {FarField.EXPONENTIAL}; p*q > 1: {FarField.FASTER}",
        ),
    ],
)
def test_an_exponent_has_an_answer_for_each_of_its_ranges(encoding, expected):
    assert far.far_field(encoding) == expected


def test_a_parameter_that_may_be_zero_has_a_case_of_its_own_there():
    r, b = sp.Symbol("r", nonnegative=True), sp.Symbol("b", nonnegative=True)
    expected = f"r > 0: {FarField.EXPONENTIAL}; r = 0: {FarField.CONSTANT}"
    assert far.far_field(biased(lambda d: -r * d)) == expected
    assert far.far_field(biased(lambda d: -(1 + r) * d)) == str(FarField.EXPONENTIAL)
    both = f"b > 0: {FarField.EXPONENTIAL}; b = 0, r > 0: {FarField.POLYNOMIAL}; b = 0, r = 0: {FarField.CONSTANT}"
    assert far.far_field(biased(lambda d: -b * d - sp.log(1 + r * d))) == both
    turned = Encoding(name="toy", title="", bias=lambda j, i, n: -r * (j - i), rotate=rotary.ROPE.rotate)
    assert far.far_field(turned) == f"r > 0: {FarField.EXPONENTIAL}; r = 0: {FarField.OSCILLATING}"


def test_kerples_power_kernel_is_alibi_at_one_and_falls_faster_beyond():
    cases = {case.where: case.behaviour for case in far.far_cases(biases.KERPLE_POWER)}
    assert cases == {
        "0 < p < 1": FarField.STRETCHED,
        "p = 1": FarField.EXPONENTIAL,
        "1 < p <= 2": FarField.FASTER,
    }


@pytest.mark.parametrize(("exponent", "where"), [("1/3", "0 < p < 1"), ("1", "p = 1"), ("3/2", "1 < p <= 2")])
def test_numbers_at_far_distances_agree_with_the_range(exponent, where):
    (case,) = [candidate for candidate in far.far_cases(biases.KERPLE_POWER) if candidate.where == where]
    far_off = [
        biases.kerple_power(sp.Integer(10) ** power, scale=sp.S.One, exponent=sp.Rational(exponent))
        for power in (6, 12)
    ]
    share = float(far_off[1] / far_off[0] / 10**6)  # of the growth that is linear
    expected = {FarField.STRETCHED: share < 0.01, FarField.EXPONENTIAL: share == 1, FarField.FASTER: share > 100}
    assert expected[case.behaviour]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (rotary.ROPE, "oscillates"),
        (rotated(growing(-a), growing(a)), "logit to 0, all alike"),
        (rotated(growing(a), growing(-a)), "grows"),
        (rotated(growing(a), growing(a)), "grows"),
        (rotated(growing(-x), growing(x)), "not decided"),
        (rotated(growing(sp.S.Zero), growing(sp.S.Zero)), "constant"),
        (
            rotated(*(lambda t: rotary.rotation(t * sp.Symbol("s", nonnegative=True)),) * 2),
            "s > 0: oscillates; s = 0: constant",
        ),
    ],
)
def test_a_kernel_is_classified_by_the_signs_of_its_rates(encoding, expected):
    assert far.far_field(encoding) == expected


def tempered(factor, bias, *, widths=(1, 1)):
    return Encoding(
        name="toy",
        title="",
        arxiv="",
        rotate=lambda t, n: (factor(t) * sp.diag(*widths), sp.eye(2)),
        bias=bias and (lambda j, i, n: factor(j) * bias(abs(j - i))),
    )


TEMPERED = [
    # encoding, far keys, bounded
    (tempered(lambda j: p * sp.log(1 + j), lambda d: -a * d**x), "x = 1: falls exponentially", False),
    (tempered(lambda j: p * sp.log(1 + j), None), "constant", False),
    (tempered(lambda j: 1 - 1 / (2 + j), None), "constant", True),
    (tempered(lambda j: 1 + j, lambda d: d), "grows", False),
    (tempered(lambda j: sp.log(1 + p * j), lambda d: -a * d), "falls exponentially", False),
    (tempered(lambda j: sp.log(1 + j), lambda d: -a * d, widths=(1, 0)), "falls exponentially", False),
]


@pytest.mark.parametrize(("encoding", "far_keys", "bounded"), TEMPERED)
def test_a_factor_of_all_scores_of_a_query_does_not_hide_how_its_keys_fall(encoding, far_keys, bounded):
    assert far_keys in far.far_field(encoding)
    assert far.bounded(encoding) is bounded
    assert far.causal_only(encoding) is ("grows" in far_keys)


def test_a_factor_is_left_out_only_where_all_scores_have_it_and_depend_on_the_distance_without_it():
    bias_alone = replace(tempered(lambda j: sp.log(2 + j), lambda d: -a * d), rotate=None)
    assert without_query_factor(bias_alone)[1] == 1
    content_alone = replace(tempered(lambda j: sp.log(2 + j), None), bias=lambda j, i, n: -a * (j - i))
    assert without_query_factor(content_alone)[1] == 1
    assert far.far_field(content_alone) == "not decided"
    assert without_query_factor(tempered(lambda j: sp.log(2 + j), lambda d: table(x)))[1] != 1
    turned = rotated(lambda t: 2**t * rotary.rotation(t), lambda t: 2**-t * rotary.rotation(t))
    assert without_query_factor(turned) == (turned, 1)
    shifted = replace(bias_alone, rotate=lambda t, n: (sp.log(2 + t) * sp.eye(2), t * sp.eye(2)))
    assert without_query_factor(shifted)[1] == 1


def test_a_bounded_kernel_beside_a_bias_leaves_the_cases_of_the_bias():
    turned = replace(rotary.ROPE, bias=lambda j, i, n: -a * (1 + j - i) ** x)
    assert far.far_field(turned) == (
        "x < 0: oscillates; x = 0: oscillates; 0 < x < 1: falls slower than exponentially, faster than any power; "
        "x = 1: falls exponentially; x > 1: falls faster than exponentially"
    )


slope = sp.Symbol("b", real=True)
steep = sp.Symbol("b", real=True, nonzero=True)


def weighed_alone(law, *parameters, **others):
    return replace(biased(law, *parameters), normaliser=Normaliser.SIGMOID, **others)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (weighed_alone(lambda d: -a * d), "falls exponentially"),
        (weighed_alone(lambda d: a * d), FarField.SATURATED),
        (weighed_alone(lambda d: a * sp.log(1 + d)), FarField.SATURATED),
        (weighed_alone(lambda d: -a / (1 + d)), FarField.CONSTANT),
        (
            weighed_alone(lambda d: steep * d, Parameter(symbol=steep, meaning="")),
            f"b < 0: falls exponentially; b > 0: {FarField.SATURATED}",
        ),
        (
            biased(lambda d: slope * d, Parameter(symbol=slope, meaning="")),
            "b < 0: falls exponentially; b = 0: constant; b > 0: grows",
        ),
        (
            biased(lambda d: slope * d + x * d, *(Parameter(symbol=symbol, meaning="") for symbol in (slope, x))),
            "not decided",
        ),
        (weighed_alone(lambda d: -a * d, window=sp.Integer(7)), "D < 7: falls exponentially; D >= 7: no weight"),
        (replace(biased(lambda d: a * d), window=sp.Integer(7)), "D < 7: grows; D >= 7: no weight"),
        (replace(rotary.ROPE, normaliser=Normaliser.SIGMOID), "oscillates"),
    ],
)
def test_the_normaliser_and_the_window_decide_what_becomes_of_far_keys(encoding, expected):
    assert far.far_field(encoding) == expected


def test_a_window_bounds_the_scores_of_distances_and_ends_at_the_query():
    linear, by_place = (lambda j, i, n: a * (j - i)), (lambda j, i, n: -a * sp.exp(j))
    windowed = replace(biased(lambda d: d), window=sp.Integer(7), bias=linear)
    assert (far.bounded(windowed), far.causal_only(windowed)) == (True, True)
    assert far.bounded(replace(windowed, window=sp.oo)) is False
    assert far.bounded(replace(windowed, bias=by_place)) is not True


def vectors(first, second, **others):
    at = {"relative_key": lambda j, i, n: sp.Matrix([first(j - i), second(j - i)])}
    return Encoding(name="toy", title="", arxiv="", **at, **others)


VANISHING = (lambda d: sp.exp(-(d**2)), lambda d: 1 / (1 + d**2))
LINEAR = {"bias": lambda j, i, n: -a * (j - i)}


@pytest.mark.parametrize(
    ("encoding", "expected", "bounded", "causal"),
    [
        (vectors(*VANISHING), "constant", True, False),
        (vectors(lambda d: sp.S.One, lambda d: d / (1 + d**2)), "constant", True, False),
        (vectors(lambda d: d, lambda d: sp.S.Zero), "grows", False, True),
        (vectors(sp.exp, lambda d: sp.S.Zero), "grows", False, False),
        (vectors(lambda d: sp.exp(-d), lambda d: sp.S.Zero), "constant", True, True),
        (vectors(sp.cos, sp.sin), "not decided", None, None),
        (vectors(*VANISHING, **LINEAR), "falls exponentially", False, True),
        (vectors(*VANISHING, rotate=lambda t, n: (rotary.rotation(t), rotary.rotation(t))), "oscillates", True, False),
        (vectors(lambda d: d, lambda d: d, **LINEAR), "not decided", None, True),
    ],
)
def test_vectors_added_to_keys_are_classified_by_their_limits(encoding, expected, bounded, causal):
    assert far.far_field(encoding) == expected
    assert far.bounded(encoding) is bounded
    assert far.causal_only(encoding) is causal


@pytest.mark.parametrize("name", relations.WAVELETS)
def test_far_keys_lose_every_wavelet(name):
    own = relations.WAVELETS[name]
    encoding = replace(relations.WAVELET, relative_key=lambda j, i, n: relations.wavelet_vector(j, i, wavelet=own))
    assert (far.far_field(encoding), far.bounded(encoding)) == ("constant", True)


def test_gates_of_tokens_are_one_number_where_content_is_constant():
    path = lambda j, i, n: sp.Sum(gates[step], (step, i + 1, j))  # noqa: E731
    carried = Encoding(
        name="toy",
        title="",
        arxiv="",
        bias=path,
        parameters=(Parameter(symbol=gates, meaning="", family=Family.TOKENS),),
    )
    assert far.far_field(carried) == "falls exponentially"
    assert far.causal_only(carried) is True


CODES = sp.IndexedBase("u", real=True)


@pytest.mark.parametrize(
    ("law", "expected", "causal_only"),
    [
        (lambda j, i: CODES[j] * CODES[i], FarField.UNDEFINED, False),
        (lambda j, i: sp.Sum(CODES[j, step] * CODES[i, step], (step, 0, 3)), FarField.UNDEFINED, False),
        (lambda j, i: CODES[j - i], FarField.UNDEFINED, False),
        (lambda j, i: CODES[j] - a * (j - i), "falls exponentially", True),
        (lambda j, i: CODES[j] + sp.exp(j - i), FarField.GROWING, False),
        (lambda j, i: CODES[j] + sp.exp(sp.Max(i - j, 0)), FarField.UNDEFINED, True),
        (lambda j, i: CODES[j] * (j - i), FarField.UNDECIDED, None),
    ],
)
def test_tables_with_an_entry_for_every_position_are_bounded_numbers(law, expected, causal_only):
    encoding = Encoding(
        name="toy",
        title="",
        bias=lambda j, i, n: law(j, i),
        parameters=(Parameter(symbol=CODES, meaning=""),),
    )
    assert far.far_field(encoding) == str(expected)
    assert far.causal_only(encoding) is causal_only
    turned = replace(encoding, rotate=rotary.ROPE.rotate)
    if expected is FarField.UNDEFINED:
        assert far.far_field(turned) == str(expected), "positions enter through the bias whatever turns"


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (lambda j, i, n: -a * hops[j, i, n], "falls exponentially"),
        (lambda j, i, n: -a * sp.log(1 + hops[i, j, n]), "falls like a power"),
        (lambda j, i, n: -a * hops[j, i, n] / (1 + hops[j, i, n]), "constant"),
        (lambda j, i, n: -a * hops[i, i, n], "constant"),
    ],
)
def test_far_keys_of_a_structure_are_far_in_it(law, expected):
    structure = Parameter(symbol=hops, meaning="", family=Family.STRUCTURE)
    encoding = Encoding(name="toy", title="", bias=law, parameters=(structure,), causal=False)
    assert far.far_field(encoding) == expected
    assert far.causal_only(encoding) is False


@pytest.mark.parametrize(
    ("code", "bounded"),
    [
        (lambda p: sp.sin(p**2), True),
        (lambda p: sp.Sum(sp.cos(p * K), (K, 0, 5)), True),
        (lambda p: p**2, False),
        (lambda p: sp.log(1 + p) * sp.sin(1), False),
        (lambda p: p * sp.sin(p), None),
        (sp.Function("f"), None),
    ],
)
def test_codes_that_are_added_to_the_content_must_be_bounded_themselves(code, bounded):
    encoding = replace(named("sinusoidal"), embed=lambda p: sp.Matrix([sp.cos(p), code(p)]))
    assert far.bounded(encoding) is bounded


K = sp.Symbol("k", integer=True)


def test_an_undecided_bias_is_neither_bounded_nor_unbounded():
    encoding = biased(lambda d: (x - 1) * d)
    assert far.bounded(encoding) is None
    assert far.causal_only(encoding) is None


@pytest.mark.parametrize("name", [encoding.name for encoding in with_formulas()])
def test_every_encoding_of_the_catalogue_is_decided(name):
    assert not re.search("not decided", far.far_field(named(name)))
    assert far.bounded(named(name)) is not None
    assert far.causal_only(named(name)) is not None


def test_far_keys_that_are_known_already_report_their_identities_again():
    """A claim records what decides it, whatever its process was asked before."""
    records = []
    for _ in range(2):
        with two_engines.recorded() as identities:
            far.far_cases(named("hope"))
        records.append(identities)
    assert records[0] == records[1] != []
