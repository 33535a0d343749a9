"""Coverage says of every step of the test whether training used the same entry of the same operator."""

import numpy as np
import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.coverage import CoverageError, Pairs, Scales, seen_entries, steps_seen, unseen_distractors
from lengthgen.circuits.task import Task, Tokens
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import Relation, absolute, clipped_relative, constant, relative
from tests.circuits.conftest import Analyses

LARGEST = 8


def _draw_examples(task: Task, scales: range, count: int, seed: int) -> tuple[Tokens, Scales]:
    """Examples of scales drawn at random, filled with 0 on the right."""
    rng = np.random.default_rng(seed)
    drawn_scales = rng.choice(np.array(scales), count)
    parts = {}
    for scale in np.unique(drawn_scales).tolist():
        prompts = task.sample_prompts(scale, int((drawn_scales == scale).sum()), rng)
        parts[scale] = np.concatenate([prompts, task.outputs(prompts)], axis=1)
    tokens = np.zeros((count, max(part.shape[1] for part in parts.values())), dtype=np.uint8)
    for scale, part in parts.items():
        tokens[drawn_scales == scale, : part.shape[1]] = part
    return tokens, drawn_scales


def _entries(circuit: Circuit, row: list[int], scale: int) -> list[tuple[int, tuple[int, ...]]]:
    """(operator, tokens that it depends on) of every step of one example."""
    return [
        (step.operator, tuple(row[step.arguments[slot] - 1] for slot in circuit.essential_slots(step.operator)))
        for step in circuit.wirings[scale]
    ]


@pytest.mark.parametrize("mode", ["free", "typed"])
@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
@pytest.mark.parametrize(
    ("name", "base"), [("addition-carry", 3), ("division", 3), ("permutation", 3), ("parity", None)]
)
def test_steps_and_shares_are_those_of_a_slow_count(name: str, base: int | None, layout: str, mode: str) -> None:
    circuit = analyse(load(name, base=base), layout, 5, mode).circuit
    tokens, scales = _draw_examples(circuit.task, range(1, 4), 12, seed=1)
    shown = {
        entry
        for row, scale in zip(tokens.tolist(), scales.tolist(), strict=True)
        for entry in _entries(circuit, row, scale)
    }
    seen = seen_entries(circuit, tokens, scales)
    assert sum(int(table.sum()) for table in seen) == len(shown)
    tokens, scales = _draw_examples(circuit.task, range(2, 6), 60, seed=2)
    steps_are_seen = steps_seen(circuit, seen, tokens, scales)
    for row, scale, answer in zip(tokens.tolist(), scales.tolist(), steps_are_seen.tolist(), strict=True):
        expected = [entry in shown for entry in _entries(circuit, row, scale)]
        assert answer == expected + [True] * (steps_are_seen.shape[1] - len(expected))
    assert steps_are_seen.shape[1] == len(circuit.wirings[5])


def test_more_examples_never_show_less(analyses: Analyses) -> None:
    circuit = analyses("multiplication", "aligned", LARGEST).circuit
    tokens, scales = _draw_examples(circuit.task, range(1, 6), 400, seed=3)
    test = _draw_examples(circuit.task, range(6, LARGEST + 1), 200, seed=4)
    before = np.zeros_like(steps_seen(circuit, seen_entries(circuit, tokens, scales), *test))
    for count in (0, 20, 100, 400):
        now = steps_seen(circuit, seen_entries(circuit, tokens[:count], scales[:count]), *test)
        assert (now >= before).all()
        before = now
    order = np.random.default_rng(0).permutation(400)
    again = seen_entries(circuit, tokens[order], scales[order])
    assert (steps_seen(circuit, again, *test) == before).all()
    assert 0 < before.mean() < 1


def test_filling_is_not_looked_at(analyses: Analyses) -> None:
    circuit = analyses("parity", "unaligned", LARGEST).circuit
    tokens, scales = _draw_examples(circuit.task, range(1, 4), 50, seed=6)
    filled = np.concatenate([tokens, np.full((50, 3), 255, dtype=np.uint8)], axis=1)
    seen, again = seen_entries(circuit, tokens, scales), seen_entries(circuit, filled, scales)
    assert all((table == other_table).all() for table, other_table in zip(seen, again, strict=True))


def test_invalid_examples_are_refused(analyses: Analyses) -> None:
    circuit = analyses("parity", "unaligned", LARGEST).circuit
    tokens, scales = _draw_examples(circuit.task, range(3, 4), 5, seed=7)
    with pytest.raises(CoverageError, match=r"must be \[count, length\] and \[count\]"):
        seen_entries(circuit, tokens, scales[:4])
    with pytest.raises(CoverageError, match="was not made for scale 9"):
        seen_entries(circuit, tokens, scales + 6)
    with pytest.raises(CoverageError, match="of scale 3 of 'parity' have 8 tokens below 4, not 7"):
        seen_entries(circuit, tokens[:, :-1], scales)
    tokens[2, 4] = 4
    with pytest.raises(CoverageError, match="not 8 up to 4"):
        steps_seen(circuit, seen_entries(circuit, tokens[:2], scales[:2]), tokens, scales)


def _slow_distractors(circuit: Circuit, relation: Relation, trace: Trace, *, own_token: bool) -> set[tuple[int, int]]:
    labels, roles = relation.labels(trace.length, trace.scale), circuit.roles(trace.scale)
    pairs = set()
    for position in trace.steps:
        query, tokens = position - 1, trace.tokens_at(position)
        if own_token and not any(needed == query and key != query for key, needed in roles):
            continue
        for key in range(1, position):
            if (key, query) not in roles:
                pairs |= {(int(labels[key - 1, query - 1]), token) for token in tokens[key - 1].tolist()}
    return pairs


@pytest.mark.parametrize("own_token", [False, True])
@pytest.mark.parametrize("name", ["addition-carry", "copy-until-zero", "permutation"])
def test_unseen_distractors_are_those_of_a_slow_count(analyses: Analyses, name: str, own_token: bool) -> None:
    analysis = analyses(name, "aligned", LARGEST)
    seen, later = analysis.traces[:3], analysis.traces[3:6]
    for relation in (relative(), absolute(), clipped_relative(2), constant()):
        shown, *unseen = (
            set().union(*(_slow_distractors(analysis.circuit, relation, trace, own_token=own_token) for trace in part))
            for part in (seen, *([trace] for trace in later))
        )
        answer = unseen_distractors(analysis.circuit, relation, seen, later, own_token=own_token)
        pairs = {
            scale: {(int(each.labels[row]), int(token)) for row, token in zip(*each.tokens.nonzero(), strict=True)}
            for scale, each in answer.items()
        }
        expected = {trace.scale: new - shown for trace, new in zip(later, unseen, strict=True) if new - shown}
        assert pairs == expected
        assert {scale: len(each) for scale, each in answer.items()} == {n: len(new) for n, new in expected.items()}
        if answer:
            assert len(Pairs.union([*answer.values()])) == len(set().union(*expected.values()))
