"""Do blocks and small keys pay, when a circuit is evaluated on many inputs?"""

from dataclasses import replace

import numpy as np

from bench.measure import Comparison, compare
from circuits.circuit import Circuit
from circuits.reference import reference_circuit
from circuits.task import Task, Tokens
from circuits.tasks import load
from circuits.trace import Trace, trace
from circuits.wirings import keys_of

INPUTS = 1_000_000
SCALE = 63


def blocks_against_whole() -> Comparison:
    """Every step of parity from the tokens before it: a million inputs, 64 steps."""
    task = load("parity")
    circuit = reference_circuit(task, [SCALE])
    one = _trace(task)
    return compare(
        f"parity's {len(one.steps)} steps on {INPUTS:,} inputs",
        lambda: circuit.evaluate(one),
        "numpy on all inputs at once",
        lambda: _whole(circuit, one),
        rounds=3,
    )


def _trace(task: Task) -> Trace:
    """Random prompts and what the task appends, in chunks: the vectorised twin works in int64."""
    prompts = task.sample_prompts(SCALE, INPUTS, np.random.default_rng(0))
    outputs = np.concatenate([task.outputs(chunk) for chunk in np.array_split(prompts, 16)])
    tokens = np.ascontiguousarray(np.concatenate([prompts, outputs], axis=1).T)
    return replace(trace(task, SCALE), tokens=tokens)


def _whole(circuit: Circuit, one: Trace) -> Tokens:
    symbols = len(circuit.task.alphabet)
    tokens = np.empty((len(one.steps), one.tokens.shape[1]), dtype=np.uint8)
    for row, wiring in enumerate(circuit.wirings[SCALE]):
        arguments = one.tokens[[position - 1 for position in wiring.arguments]]
        tokens[row] = circuit.operators[wiring.operator][keys_of(arguments, symbols)]
    return tokens
