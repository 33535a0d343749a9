"""Runs small enough to be trained in a test."""

from dataclasses import replace
from typing import Any

import pytest

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import Cell, checked_protocol, load_profile
from lengthgen.empirical.experiment.run import Run, one_run


@pytest.fixture
def small_run():
    return smoke_run


def smoke_run(
    encoding: str = "ipe", format: str = "aligned", seed: int = 0, *, task: str = "parity", **training: Any
) -> Run:
    profile = load_profile("smoke")
    profile = replace(profile, training=replace(profile.training, **training))
    cell = Cell(task=TaskSpec(name=task, format=format), encoding=encoding)
    protocol = checked_protocol(
        name="small", cli_name="small", title="", source="", cells=(cell,), train=(1, 2), test=(1, 2, 3, 4),
        profile_name="smoke", profile=profile,
    )  # fmt: skip
    return one_run(protocol, cell, profile.models[0], seed)
