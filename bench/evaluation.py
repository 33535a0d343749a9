"""Is the evaluation of a circuit on many inputs faster with blocks and small keys?"""

from dataclasses import replace

import numpy as np

from bench.measure import TimingComparison, compare
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.tables import keys_of
from lengthgen.circuits.task import Task, Tokens
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import Trace, trace

INPUTS = 1_000_000
SCALE = 63


def blocks_against_all_inputs() -> TimingComparison:
    """Steps of parity computed from the tokens before them: a million inputs, 64 steps."""
    task = load("parity")
    circuit = reference_circuit(task, [SCALE])
    sample = _trace(task)
    return compare(
        f"parity's {len(sample.steps)} steps on {INPUTS:,} inputs",
        lambda: circuit.evaluate(sample),
        "numpy on all inputs at once",
        lambda: _on_all_inputs(circuit, sample),
        rounds=3,
    )


def _trace(task: Task) -> Trace:
    """Random prompts with the tokens that the task appends.

    The outputs are computed in chunks, because the vectorised task works in int64.
    """
    prompts = task.sample_prompts(SCALE, INPUTS, np.random.default_rng(0))
    outputs = np.concatenate([task.outputs(chunk) for chunk in np.array_split(prompts, 16)])
    tokens = np.ascontiguousarray(np.concatenate([prompts, outputs], axis=1).T)
    return replace(trace(task, SCALE), tokens=tokens)


def _on_all_inputs(circuit: Circuit, sample: Trace) -> Tokens:
    """Tokens of all steps, each step computed on all inputs at once."""
    symbols = len(circuit.task.alphabet)
    tokens = np.empty((len(sample.steps), sample.tokens.shape[1]), dtype=np.uint8)
    for row, wiring in enumerate(circuit.wirings[SCALE]):
        arguments = sample.tokens[[position - 1 for position in wiring.arguments]]
        tokens[row] = circuit.operators[wiring.operator][keys_of(arguments, symbols)]
    return tokens
