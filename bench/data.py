"""Do the vectorised twins of tasks pay?"""

from dataclasses import replace

import numpy as np

from bench.measure import Comparison, compare
from circuits.tasks import load


def vectorised_against_plain() -> Comparison:
    """10,000 outputs of parity at scale 20."""
    task = load("parity")
    plain = replace(task, vectorised=None)
    prompts = task.sample_prompts(20, 10_000, np.random.default_rng(0))
    return compare(
        "outputs of 10,000 parity prompts at scale 20",
        lambda: task.outputs(prompts),
        "the plain generator",
        lambda: plain.outputs(prompts),
        rounds=3,
    )
