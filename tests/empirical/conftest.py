"""A run small enough to be trained in a test."""

from dataclasses import replace

import pytest

from empirical.profile import load_profile
from empirical.run import plan


@pytest.fixture
def small_run():
    def make(encoding="ipe", format="aligned", seed=0, **training):
        profile = load_profile("smoke")
        profile = replace(profile, training=replace(profile.training, **training))
        return plan(
            "parity", format=format, encoding=encoding, train=range(1, 3), test=range(1, 5), seed=seed, profile=profile
        )

    return make
