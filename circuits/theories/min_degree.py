"""Min-degree interpolator of arXiv 2410.08898: what gradient descent learns in position-only linear attention."""

from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding, relation_of
from lengthgen.circuits.tasks.published.subject import Subject
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain, no, yes
from lengthgen.theory.encodings.encoding import EncodingError
from lengthgen.theory.min_degree import min_degree_interpolator, relation_basis
from lengthgen.theory.pattern import from_formula
from lengthgen.theory.plaa import PlaaError

PREFIX = "pattern "
"""Beginning of the name of a subject that asks for an attention pattern; its formula follows."""
LARGEST = 12
"""Largest tested length for which the interpolator is computed; exact fractions take time n^6."""


def pattern_subject(formula: str) -> Subject:
    """Return the task of position-only linear attention whose target is an attention pattern A(i, j).

    Raises:
        LengthgenError: the text is no formula (`lengthgen.theory.pattern.from_formula`).
    """
    pattern = from_formula(formula)
    return Subject(
        name=f"{PREFIX}{pattern.name}",
        words=f"the sum of x_i x_j A(i, j) over i <= j, where A(i, j) = {pattern.name} and j is the last place",
        arxiv="2410.08898",
        why_not="its output is a number",
    )


def guess(question: Question) -> Guess:
    """Return yes iff the min-degree interpolator of the encoding's basis is the target at the tested length."""
    name = question.subject.name
    if not name.startswith(PREFIX):
        return abstain("the interpolator is defined for position-only linear attention, which the task is not")
    if question.test > LARGEST:
        return abstain(f"the interpolator is computed up to length {LARGEST}, not {question.test}")
    target = from_formula(name.removeprefix(PREFIX)).matrix(question.test)
    try:
        labels = relation_of(parse_encoding(question.encoding), None).labels(question.test, scale=question.test)
        basis = relation_basis(labels)
        learned = basis.matrix(min_degree_interpolator(basis, target, training_scale=question.train))
    except (EncodingError, NoRelation) as error:
        return abstain(f"the encoding has no basis of patterns: {error}")
    except PlaaError as error:
        return abstain(f"nothing can be learned: {error}")
    wrong = [length for length in range(1, question.test + 1) if (learned - target)[:, length - 1].any()]
    if not wrong:
        return yes("the min-degree interpolator of the encoding's patterns is the target")
    return no("the min-degree interpolator of the encoding's patterns is not the target", breaks_at=wrong[0])


THEORY = Theory(
    name="min-degree",
    title="min-degree interpolator",
    statement="Gradient descent on position-only linear attention learns, among all combinations of the encoding's "
    "patterns that fit the training lengths, the one of least degree.",
    label="P",
    source="2410.08898",
    domain=f"attention patterns as targets (subjects of `pattern_subject`) up to length {LARGEST}; it abstains for "
    "every published task",
    guess=guess,
)
