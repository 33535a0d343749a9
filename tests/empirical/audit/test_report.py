"""The audit finds each defect by name and position, and nothing in what is sound."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from lengthgen.empirical.audit import AuditError, audit
from lengthgen.empirical.audit.adapter import OFFSETS
from lengthgen.empirical.audit.loading import load, subjects
from lengthgen.empirical.audit.position_codes import distinct, expected_distinct, rounded_to
from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.theory.encodings.catalogue import with_formulas

EXAMPLES = Path(__file__).parents[1] / "examples" / "position_laws.py"
SMALL = {"heads": 2, "head_dim": 16}


def audited(name, *, claims=None, to=5000, dtypes=("float64",), budget=None, sizes=SMALL, **parameters):
    [subject] = load(f"{EXAMPLES}:{name}", claims=claims, parameters=parameters, **sizes)
    return audit(subject, to=to, dtypes=dtypes, budget=budget)


def first_positions(answer):
    return {finding["says"]: finding["first"] for finding in answer["findings"]}


@pytest.mark.parametrize("name", ["sound", "table_with_base_in_key"])
def test_a_sound_rotation_passes_in_every_setting_up_to_a_million(name):
    answer = audited(name, to=1_000_000, dtypes=("float64", "float32", "bfloat16", "float16"))
    assert answer["findings"] == []
    assert answer["holds"] is True
    assert answer["independence"]["other"] == {"base": 500.0}
    for setting in answer["settings"].values():
        assert all(run["distinct"] == run["of"] for run in setting["codes"]["windows"])
        assert all(decade["error"] <= decade["budget"] for decade in setting["law"]["decades"].values())
        assert all(way["first_beyond"] is None for way in setting["agreement"].values())
        assert len(setting["agreement"]) == 10


@pytest.mark.parametrize("name", ["alibi", "bias_of_tokens"])
def test_a_sound_bias_passes_with_all_claims(name):
    answer = audited(
        name, claims=["relative", "distinct", "decays", "streaming"], to=1_000_000, dtypes=("float32", "bfloat16")
    )
    assert answer["findings"] == []
    assert answer["claims"] == ["decays", "distinct", "relative", "streaming"]
    assert answer["slope"]["directions"] == ["falls", "falls"]


GROWS = "the error of the relative law grows with the position"
ROTATIONS = {
    "positions_in_bfloat16": ("positions agree with rounding to bfloat16: 257 is coded as 256", 257),
    "positions_in_float16": ("positions agree with rounding to float16: 2049 is coded as 2048", 2049),
    "frequencies_in_bfloat16": ("all frequencies agree with rounding to bfloat16", None),
    "angles_in_float32": (f"angles are rounded to float32: {GROWS}", 3),
    "angles_in_bfloat16": (f"angles are rounded to bfloat16: {GROWS}", 3),
    "codes_in_float32": ("what comes out is rounded to float32, whatever the dtype of what goes in", 1),
    "table_without_base_in_key": (
        "an instance with base=500.0 has the codes of one without: a table is kept with",
        None,
    ),
    "LastTable": ("its codes change once an instance with base=500.0 was used: the two share a table", None),
    "RoundedTable": ("its float32 codes change once it was used in bfloat16: what it keeps was rounded", None),
    "GainAfterRotation": ("the relative law fails even between a position and itself: something acts after the ro", 1),
    "base_grows_with_length": ("a code depends on the last position of its call: cached keys, and rows batched", 1),
    "own_positions": ("positions that are passed are ignored: the index in the call is used instead", 16),
    "mixes_the_batch": ("other rows of the batch change what a row gets", 0),
}
BIASES = {
    "reversed_alibi": ("the bias rises with the distance in every head: its sign is reversed?", 1),
    "alibi_by_key_in_bfloat16": ("distances agree with rounding to bfloat16: 257 is coded as 256", 257),
    "slopes_in_float16": ("the slopes of all heads agree with rounding to float16", None),
    "clamps_at_its_end": ("all distances from 999 on have one code: a table that clamps?", 1000),
    "half_a_table": ("all distances from 0 on have one code: a table that clamps?", 1),
    "wraps": ("distance 1000 has the code of 0", 1000),
}


@pytest.mark.parametrize("name", [*ROTATIONS, *BIASES])
def test_a_broken_encoding_is_found_by_name_and_position(name):
    says, position = (ROTATIONS | BIASES)[name]
    sizes = SMALL | ({"heads": 12} if name == "slopes_in_float16" else {})
    answer = audited(name, claims=["relative", "distinct", "streaming"], sizes=sizes)
    assert answer["holds"] is (name == "angles_in_float32"), "usual in all libraries: a note"
    [first] = [first for seen, first in first_positions(answer).items() if seen.startswith(says)]
    assert next(iter(first.values())) == position


def test_codes_that_only_a_low_dtype_loses_are_found_where_no_law_is_claimed():
    answer = audited("positions_in_the_dtype_of_queries", claims=["distinct"], dtypes=("float64", "bfloat16"))
    assert first_positions(answer) == {
        "positions agree with rounding to bfloat16: 257 is coded as 256": {"bfloat16": 257, "bfloat16, autocast": 257}
    }


def test_as_many_codes_are_asked_for_as_a_right_code_leaves_and_no_more():
    distances = -torch.arange(1000, dtype=torch.float64)[:, None]
    for dtype, left in ((torch.float64, 1000), (torch.float32, 1000), (torch.bfloat16, 507)):
        assert distinct(distances.to(dtype).double()) == left
        assert left / 8 < expected_distinct(distances, dtype) <= left
    angles = torch.arange(1000, dtype=torch.float64)[:, None] * 10000.0 ** (-torch.arange(0, 32, 2) / 32)
    assert expected_distinct(torch.cat([angles.cos(), angles.sin()], 1), torch.bfloat16) == 1000
    assert expected_distinct(distances // 2, torch.bfloat16) == 1000, (
        "of codes that float64 has lost, all are asked for"
    )


def test_the_first_position_beyond_a_stated_budget_is_that_of_a_search_of_all():
    budget, to = 1e-4, 10_000
    answer = audited("angles_in_float32", budget=budget, to=to)
    law = answer["settings"]["float64"]["law"]
    steps = 10000.0 ** (-np.arange(0, 16, 2) / 16)

    def angles(positions):
        return (positions[:, None].astype(np.float32) * steps.astype(np.float32)).astype(np.float64)

    positions = np.arange(to + 1)
    first = []
    for offset in OFFSETS:
        queries = positions[offset:]
        turns = angles(queries) - angles(queries - offset)
        origin = angles(np.array([offset]))
        error = np.maximum(abs(np.cos(turns) - np.cos(origin)), abs(np.sin(turns) - np.sin(origin))).max(1)
        first.append(int(queries[error > budget].min(initial=to + 1)))
    assert law["exact"] is True
    assert law["first_beyond"] == min(first) < to
    assert law["offset"] == OFFSETS[first.index(min(first))]


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["sound", "alibi_with_another_constant_in_each_row"])
def test_a_budget_below_the_rounding_of_the_input_blames_the_budget(name, dtype):
    """An input that is in bfloat16 already was not rounded to it by the code."""
    answer = audited(name, dtypes=(dtype,), budget=1e-18, to=300)
    findings = {finding["rule"]: [*finding["first"]] for finding in answer["findings"]}
    settings = [dtype, f"{dtype}, autocast"] if dtype == "bfloat16" else [dtype]
    assert findings == {"budget-below-rounding": settings}
    assert f"one rounding to {dtype}, the dtype of what goes in" in answer["findings"][0]["says"]
    assert answer["findings"][0]["reproduction"] is None
    assert answer["holds"] is False


@pytest.mark.parametrize("budget", [None, 1e-9])
@pytest.mark.parametrize("rounded", [torch.bfloat16, torch.float16])
def test_no_dtype_is_blamed_but_one_coarser_than_the_input(rounded, budget):
    sound = load(f"{EXAMPLES}:sound", **SMALL)[0].instance()

    def rotate(q, k, positions):
        parts = sound(q.double(), k.double(), positions)
        return tuple(part.to(rounded).to(q.dtype) for part in parts)

    [subject] = subjects(lambda: rotate, name="rotate", **SMALL)
    answer = audit(subject, to=300, dtypes=("float64", "float32", "bfloat16", "float16"), budget=budget)
    coarse = {finding["rule"]: [*finding["first"]] for finding in answer["findings"]}
    finer = ["float64", "float32"] + (["float16"] if rounded == torch.bfloat16 else [])
    assert coarse.pop("output-rounded") == finer
    assert set(coarse) == ({"budget-below-rounding"} if budget else set())


def test_angles_in_float32_are_found_at_a_million_also_where_inputs_are_bfloat16():
    answer = audited("angles_in_float32", to=1_000_000, dtypes=("bfloat16",), sizes={"heads": 1, "head_dim": 64})
    law = answer["settings"]["bfloat16"]["law"]
    assert [finding["rule"] for finding in answer["findings"]] == ["angles-in-float32"]
    assert 500_000 < law["first_beyond"] <= 1_000_000
    assert law["exact"] is False, "not every position before it was looked at"


def test_a_module_that_keeps_frequencies_is_found_when_it_is_moved_and_by_what_a_move_leaves():
    answer = audited("FrequenciesInBuffer", dtypes=("bfloat16",))
    findings = first_positions(answer)
    assert "a move to bfloat16 and back changes its codes: .to() rounds constants that it keeps as tensors" in findings
    rounded = "moving the module rounds what codes are computed from: they drift from those in float64"
    assert findings[rounded].keys() == {"bfloat16, module moved"}
    assert {finding["severity"] for finding in answer["findings"]} == {"warning"}, "the plain call is right"


def test_autocast_is_found_where_a_matrix_product_makes_the_angles():
    answer = audited("angles_by_matrix_product", dtypes=("bfloat16",), to=2000)
    beyond = {setting: result["law"]["first_beyond"] for setting, result in answer["settings"].items()}
    assert [finding["rule"] for finding in answer["findings"]] == ["autocast-drift"]
    assert beyond["bfloat16"] is None
    assert beyond["bfloat16, autocast"] is not None


def test_keys_after_the_query_are_looked_at_where_they_are_claimed():
    claims = ["relative", "distinct", "bidirectional"]
    assert first_positions(audited("clamps_at_its_end", claims=claims)).keys() >= {
        "1000 distances to keys after the query have 1 codes: a clamp?"
    }
    assert audited("refuses", claims=claims)["holds"] is True


def test_a_table_that_refuses_what_is_beyond_it_is_audited_up_to_there():
    answer = audited("refuses", claims=["relative", "distinct", "streaming"])
    assert (answer["holds"], answer["last_position"], answer["last_offset"]) == (True, 5000, 999)
    [subject] = subjects(lambda: LearnedAbsolute(length=300, width=32), name="learned", **SMALL)
    answer = audit(subject, to=5000, dtypes=("float64", "bfloat16"))
    assert (answer["holds"], answer["last_position"]) == (True, 299)
    assert answer["settings"]["float64"]["law"] is None, "it claims no relative law"


def test_a_law_that_is_not_claimed_is_no_defect():
    assert audited("base_grows_with_length", claims=["relative", "distinct"])["holds"] is True
    assert audited("clamps_at_its_end", claims=["relative", "streaming"])["holds"] is True
    assert audited("GainAfterRotation", claims=["distinct", "streaming"])["holds"] is True


class Decaying(PositionEncoding):
    """A score that falls with the distance: exp(-(j - i) / 100) q.k, in float64, rounded once."""

    def scores(self, q, k, query_positions, key_positions):
        apart = (query_positions[..., :, None] - key_positions[..., None, :]).clamp(min=0)[..., None, :, :]
        return (q.double() @ k.double().transpose(-1, -2) * torch.exp(-apart.double() / 100)).to(q.dtype)


class Absolute(Decaying):
    """The same with an absolute factor, which overflows."""

    def scores(self, q, k, query_positions, key_positions):
        j, i = (positions[..., None, :, None].to(q.dtype) / 100 for positions in (query_positions, key_positions))
        return (q * torch.exp(-j)) @ (k * torch.exp(i)).transpose(-1, -2)


def test_scores_of_pairs_are_audited_too():
    [subject] = subjects(Decaying, name="decaying", **SMALL)
    answer = audit(subject, to=20_000, dtypes=("float64", "float32", "bfloat16"))
    assert answer["findings"] == [], "that far scores underflow is none"
    [subject] = subjects(Absolute, name="absolute", claims=["relative"], **SMALL)
    answer = audit(subject, to=100_000, dtypes=("float64",))
    assert answer["settings"]["float64"]["law"]["first_beyond"] is not None


class GatesInTheDtype(PositionEncoding):
    """Reads content; adds up forget gates along the sequence, in the dtype of its input."""

    def bias(self, query_positions, key_positions, content=None, *, dtype=torch.float32):
        if content is None:
            raise ValueError("pass content")
        sums = torch.nn.functional.logsigmoid(content.x_BLD.sum(-1)).cumsum(-1)
        return (sums[:, None, :, None] - sums[:, None, None, :]).to(dtype)


def test_encodings_that_read_content_are_audited_on_whole_sequences():
    [subject] = subjects(GatesInTheDtype, name="gates", **SMALL)
    assert (subject.kind, subject.claims) == ("content", {"streaming"})
    findings = first_positions(audit(subject, to=5000, dtypes=("float64", "bfloat16")))
    assert findings.keys() == {"codes differ from those in float64 by more than one rounding"}
    [subject] = load("fox", **SMALL)
    answer = audit(subject, to=5000, dtypes=("float32", "bfloat16"))
    assert (answer["kind"], answer["last_position"], answer["findings"]) == ("content", 1023, [])


CLAIMS_OF_OURS = {
    "relative distinct streaming": ("rope", "alibi", "swat"),
    "relative streaming": ("t5", "wavelet"),
    "relative distinct": ("dynamic-ntk",),
    "distinct streaming": ("sinusoidal",),
    "distinct": ("legendre",),
    "streaming": ("haar", "dct", "prism"),
    "relative streaming bidirectional": ("graph-alibi",),
}


@pytest.mark.parametrize("claims", CLAIMS_OF_OURS)
def test_claims_of_ours_are_the_laws_of_the_symbolic_twin(claims):
    for name in CLAIMS_OF_OURS[claims]:
        assert load(name, **SMALL)[0].claims == {*claims.split()}, name


@pytest.mark.parametrize("name", [encoding.name for encoding in with_formulas() if encoding.name != "nope"])
def test_nothing_is_found_in_any_of_ours(name):
    for subject in load(name, **SMALL):
        assert audit(subject, to=2500, dtypes=("float16",))["findings"] == []


def test_the_second_instance_never_has_the_parameters_of_the_first():
    [subject] = load(f"{EXAMPLES}:sound", parameters={"base": 500.0}, **SMALL)
    assert subject.other == {"base": 10000.0}


def test_a_module_instance_is_copied_and_not_asked_for_another():
    class Turn(nn.Module):
        def forward(self, q, k, positions):
            return q, k

    [subject] = subjects(Turn(), name="turn", claims=["relative"], **SMALL)
    answer = audit(subject, to=100, dtypes=("float32",))
    assert answer["independence"]["other"] is None
    assert [finding["rule"] for finding in answer["findings"]] == ["no-position"]


MISTAKES = {
    "half_finished": "'half_finished' is dict",
    "wrong_shape": r"must return \(q, k\), or a bias \[H, 4, 4\], for positions \[4\]; it returns",
    "absent": "defines no 'absent': there are .*, such as TABLES",
    "frequencies": r"'frequencies' fails for query and key positions \[4\]",
    "turned": "'turned' fails for",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_object_that_cannot_be_audited_gets_one_line(name):
    with pytest.raises(AuditError, match=f"^[^\n]*{MISTAKES[name]}[^\n]*$"):
        load(f"{EXAMPLES}:{name}")


def test_a_rounding_is_told_from_numbers_that_are_short_by_design():
    irrational = torch.linspace(0.1, 3, 16, dtype=torch.float64).sqrt()
    assert rounded_to(irrational, 1e-6) is None
    assert rounded_to(irrational.bfloat16(), 1e-6) == "bfloat16"
    assert rounded_to(irrational.half(), 1e-6) == "float16"
    assert rounded_to(2.0 ** -torch.arange(16), 1e-6) is None
    assert rounded_to(torch.arange(1, 17), 1e-6) is None
