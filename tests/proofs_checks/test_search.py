"""Claims are found by what they say, by their encodings and papers, and in whatever form a word is written."""

import pytest

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.paper import TITLES
from lengthgen.proofs_checks.search import Matches, search
from lengthgen.theory.encodings.catalogue import ENCODINGS


def ids(matches: Matches) -> list[str]:
    return [claim.id for claim in matches.claims]


@pytest.mark.parametrize("words", [["rope", "special", "case", "grape"], ["is RoPE a special case of GRAPE?"]])
def test_a_special_case_is_found_and_what_says_so_in_other_words(words: list[str]) -> None:
    matches = search(words)
    assert ids(matches)[:2] == ["recovery-grape-commuting-rope", "recovery-grape-contextual-rope"]
    assert "grape-5" in ids(matches), "its place in the paper says recovery"
    assert (matches.unknown, matches.missing) == ((), 0)


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ("rotary permutation layouts", "rope permutations layout"),
        ("reduction of FoX to ALiBi", "alibi special case fox"),
        ("WEIGHT of distant keys", "weights distant key"),
    ],
)
def test_other_forms_and_names_of_words_find_the_same(words: str, others: str) -> None:
    assert ids(search([words])) == ids(search([others])) != []


@pytest.mark.parametrize("text", ["2512.07805", "arXiv:2512.07805", "https://arxiv.org/abs/2512.07805v2"])
def test_a_paper_is_found_by_its_arxiv_id(text: str) -> None:
    assert search([text]).claims == registry.select(paper="2512.07805")


@pytest.mark.parametrize(
    ("title", "claims"),
    [
        ("Attention is all you need", {"sin-1", "laws-sinusoidal"}),
        ("Train Short, Test Long: Attention with Linear Biases", {"alibi-1", "laws-alibi"}),
        ("group representational position encoding", {"grape-1", "far-grape-path"}),
    ],
)
def test_a_paper_is_found_by_its_title_also_for_claims_that_follow_from_its_formulas(
    title: str, claims: set[str]
) -> None:
    assert claims <= {*ids(search([title]))}


def test_titles_are_those_of_papers_of_claims_or_encodings() -> None:
    papers = {claim.source.arxiv for claim in registry.CLAIMS} | {encoding.arxiv for encoding in ENCODINGS.values()}
    assert {*TITLES} <= papers


@pytest.mark.parametrize("name", ["hope-6", "HOPE-6"])
def test_the_beginning_of_an_id_finds_its_claims(name: str) -> None:
    assert ids(search([name])) == ["hope-6-complex", "hope-6-real"]


def test_a_word_in_the_id_goes_before_one_in_the_statement() -> None:
    ordered = ids(search(["parity"]))
    assert ordered.index("src-parity") < ordered.index("src-arity")


def test_every_claim_is_found_by_its_id_and_by_its_statement() -> None:
    for claim in registry.CLAIMS:
        assert claim.id in ids(search([claim.id]))
    for claim in registry.CLAIMS[::20]:
        assert claim in search([claim.statement]).claims


def test_a_misspelt_word_is_named_and_the_others_are_searched() -> None:
    matches = search(["grpae", "rope"])
    assert matches.unknown == (("grpae", "grape"),)
    assert ids(matches) == ids(search(["rope"]))


def test_claims_with_the_most_words_are_found_if_none_has_all() -> None:
    matches = search(["kerple wavelet parity definite positive"])
    assert matches.missing > 0 and "kerple-1" in ids(matches)


def test_no_words_are_all_claims() -> None:
    assert search([]).claims == search(["of the"]).claims == registry.CLAIMS


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["alibbi"], "did you mean alibi"),
        (["9999.99999"], "'9999.99999': `lengthgen claims` lists all"),
        (["x" * 10_000], "lists all"),
    ],
)
def test_words_of_no_claim_are_refused_in_one_line(words: list[str], hint: str) -> None:
    with pytest.raises(registry.Unknown, match=hint) as refusal:
        search(words)
    assert "\n" not in str(refusal.value)
