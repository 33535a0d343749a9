"""Models are called in the way that they take, and their answers are understood or refused in one line."""

from types import SimpleNamespace

import pytest
import torch

from lengthgen.empirical.audit import AuditError
from lengthgen.empirical.audit.models import call_patterns
from lengthgen.empirical.audit.models.anatomy import look
from lengthgen.empirical.audit.models.plans import Facts
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.whole import own_model
from tests.empirical.examples.torch_models import VOCABULARY, Answering, ByKeyword, Model, WithPositions

ANSWERS = {
    "tensor": (lambda x: x, ""),
    "tuple": (lambda x: (x, None), "[0]"),
    "list": (lambda x: [x], "[0]"),
    "loss first": (lambda x: (x.mean(), x), "[1]"),
    "dict": (lambda x: {"loss": None, "logits": x}, "['logits']"),
    "object": (lambda x: SimpleNamespace(logits=x), ".logits"),
    "hidden state": (lambda x: SimpleNamespace(logits=None, last_hidden_state=x), ".last_hidden_state"),
}
REFUSED = {
    "object of another name": (lambda x: SimpleNamespace(prediction=x), "not SimpleNamespace"),
    "dict of another name": (lambda x: {"prediction": x}, "not dict"),
    "empty tuple": (lambda x: (), "not tuple"),
    "last token": (lambda x: x[:, -1], r"not float32 \[1, 40\]"),
    "sequence first": (lambda x: x.transpose(0, 1), r"not float32 \[24, 1, 40\]"),
    "complex": (lambda x: x * 1j, "not complex64"),
    "integers": (lambda x: x.long(), "not int64"),
    "nan": (lambda x: x * torch.nan, "not finite for 24 random tokens"),
    "noise": (lambda x: x + torch.rand(()), "other logits in each call"),
}


def runner(model):
    return Runner(own_model(model, "model"), torch.float32)


@pytest.mark.parametrize("name", ANSWERS)
def test_logits_are_found_in_an_answer_of_any_form(name):
    answer, pick = ANSWERS[name]
    prepared = runner(Answering(answer))
    ids = prepared.ids(2, 9)
    logits = prepared.call(ids)[0]
    assert logits.shape == (2, 9, VOCABULARY)
    assert prepared.pick == pick
    assert torch.equal(logits, eval(f"answer{pick}", {"answer": prepared.model(ids)}).double())


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_that_is_no_logits_is_refused_in_one_line(name):
    answer, says = REFUSED[name]
    with pytest.raises(AuditError, match=f"^'model' .*{says}") as refused:
        call_patterns.measure(runner(Answering(answer)), Facts(kind="absolute"))
    assert "\n" not in str(refused.value)


def test_hidden_entries_of_a_vocabulary_are_no_difference():
    hidden = torch.zeros(VOCABULARY).index_fill(0, torch.tensor([0, 7]), -torch.inf)
    results = call_patterns.measure(runner(Answering(lambda x: x + hidden)), Facts(kind="absolute"))
    assert [result.difference for result in results if result.first is not None or result.refusal] == []


def test_a_reproduction_takes_the_logits_out_of_the_answer():
    model = Answering(lambda x: {"logits": x + 0.1 * x.mean(0)})
    results = {result.plan.name: result for result in call_patterns.measure(runner(model), Facts(kind="absolute"))}
    assert results["batched with other rows"].first is not None
    assert "with torch.no_grad(): part = model(ids)['logits']" in results["by PyTorch's fast path"].body


def test_arguments_are_given_by_keyword_and_with_positions_where_a_model_wants_it():
    torch.manual_seed(0)
    models = [kind("attention", "absolute") for kind in (Model, ByKeyword, WithPositions)]
    for model in models[1:]:
        model.load_state_dict(models[0].state_dict())
    ids = runner(models[0]).ids(2, 9)
    expected, *others = (runner(model).call(ids)[0] for model in models)
    for logits in others:
        assert torch.allclose(logits, expected, atol=1e-6)


@pytest.mark.parametrize("kind", [Answering, WithPositions])
def test_the_embedding_of_tokens_is_the_one_that_takes_them(kind):
    model = Answering(lambda x: x, table_first=True) if kind is Answering else kind("attention", "absolute")
    assert runner(model).vocabulary == VOCABULARY


def test_a_failing_call_names_its_dtype_and_shape_and_a_small_vocabulary_is_refused():
    def refuse(x):
        raise ValueError("one row only")

    with pytest.raises(AuditError, match=r"^'model' fails in float32 for token ids \[2, 9\]: ValueError: one row only"):
        prepared = runner(Answering(refuse))
        prepared.call(prepared.ids(2, 9))
    small = Model("attention", "absolute")
    small.embedding = torch.nn.Embedding(2, 32)
    with pytest.raises(AuditError, match="'model' has 2 token ids: make a model of at least 3"):
        runner(small)


@pytest.mark.parametrize("made", [True, False])
def test_a_compiled_model_is_audited_without_its_compiler(made):
    torch.manual_seed(0)
    model = Model("attention", "absolute")
    compiled = torch.compile(model, backend="eager")
    subject = own_model((lambda: compiled) if made else compiled, "model")
    assert type(subject.build()) is Model
    assert look(Runner(subject))[0].kind == "absolute"
