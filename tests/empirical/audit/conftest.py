"""Set-up of all audits in tests: threads are as they were, and fewer tokens come one by one."""

import pytest
import torch

from lengthgen.empirical.audit.models import plans


@pytest.fixture(autouse=True)
def same_threads():
    """The audit of a model sets one thread; later tests get back what was set."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def few_single_tokens(monkeypatch):
    """Have as many tokens come one by one as the windows of these tests need: a third of the calls of an audit."""
    monkeypatch.setattr(plans, "SINGLE", 48)
