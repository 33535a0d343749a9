"""SRC of a task as plain data: at a chosen arity or the minimal one, with roles and with a certificate.

Beside SRC: curve, front, minimum circuits, errors, scratchpads, two scales, all scales.
"""

import math
import os
import secrets
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import SCALE, CertificateError, bounds_sentence, check
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.formats import in_format, searched
from lengthgen.circuits.questions.all_scales import src_for_all_scales
from lengthgen.circuits.questions.composition import after
from lengthgen.circuits.questions.counting import minimum_circuits
from lengthgen.circuits.questions.grid import grid_src
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.questions.synthesis import scratchpad_tokens, src_within
from lengthgen.circuits.roles import changing_pairs, role_labels, unread_positions
from lengthgen.circuits.search.templates import Template
from lengthgen.circuits.src import MAX_ARITY, MAX_ENTRIES, Interrupted, SRCResult, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.transducer import Transducer
from lengthgen.circuits.tasks.two_scales import TwoScaleTask
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import json_bytes, write_bytes
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.userfile import user_code

LARGEST_CERTIFICATE = 16 << 20
"""Largest size in bytes of a certificate; a larger one would take minutes and gigabytes before it is refused."""
SHOWN_PAIRS = 20
"""Largest number of listed pairs whose role changes with the scale."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Question for SRC of a task, in one format, up to the last of the scales.

    Attributes:
        spec: the task in its format.
        scales: ascending.
        arity: number of slots; None for the minimal one, or in mode declared for that of the reference circuit.
        mode: one of lengthgen.circuits.search.wirings.Mode.
        seconds: time limit; None for none.
        after: a task whose outputs are the prompts of the task, so that both together are asked about; None if none.
    """

    spec: TaskSpec
    scales: Sequence[int]
    arity: int | None = None
    mode: str = "free"
    seconds: float | None = None
    after: TaskSpec | None = None

    def task(self) -> Task:
        """Return the task in its format, without the filler of the filled one, which no step needs.

        Raises:
            TaskError: as `TaskSpec.laid_out` and `lengthgen.circuits.questions.composition.after`.
        """
        if self.after is None:
            return searched(self.spec.laid_out(self.scales[-1]))
        composed = after(self.spec.plain(), self.after.plain())
        return searched(in_format(composed, self.spec.format, largest_scale=self.scales[-1]))

    @property
    def words(self) -> str:
        """Task in a sentence."""
        return self.spec.words if self.after is None else f"{self.spec.words} after {self.after.words}"


@dataclass(frozen=True, kw_only=True)
class SRCAnswer:
    """SRC of a task together with its question; the minimal arity is None if it is not known."""

    question: Question
    task: Task
    minimal_arity: int | None
    result: SRCResult

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON holds it."""
        scales, result = self.question.scales, self.result
        return {
            "task": self.task.name,
            "arity": result.arity,
            "mode": result.mode,
            "minimal_arity": self.minimal_arity,
            "src": {str(scale): number(result.values[scale]) for scale in scales},
            "bounds": {str(scale): [number(bound) for bound in result.bounds[scale]] for scale in scales},
            "status": result.status,
            "statement": self._statement(),
            "proved": self._sampled() == 0,
            "coverage_scale": result.coverage_scale,
            "inputs": result.inputs,
            "kernel": result.kernel,
            "wiring": [[template_text(template) for template in combination] for combination in result.templates],
            **self._of_circuit(),
            "stopped": result.stopped,
            "seconds": {phase: round(seconds, 3) for phase, seconds in result.seconds.items()},
            "label": "F",
        }

    def _sampled(self) -> int:
        """Return the number of sampled prompts on which the upper bound at the last scale rests.

        It is 0 if all prompts were tried or the bound is infinite.
        """
        infinite = math.isinf(self.result.bounds[self.question.scales[-1]][1])
        return 0 if infinite else self.result.sampled

    def _statement(self) -> str:
        """Return the bounds at the last scale as a sentence (`lengthgen.circuits.checker.bounds_sentence`)."""
        result, scale = self.result, self.question.scales[-1]
        lower, upper = result.bounds[scale]
        if result.mode == "typed" and self._sampled():  # on some prompts fewer positions may seem to be needed
            lower = max((result.bounds[n][0] for n in range(1, result.exhaustive_to + 1)), default=1)
        form = self.question.spec.format
        layout = "" if form == "unaligned" else f", {form} to scale {scale}"
        return bounds_sentence(
            f"SRC({self.question.words}, {scale})",
            f"at arity {result.arity}, {result.mode}{layout}",
            lower,
            upper,
            own=result.status == "reference",
            tried=self._sampled(),
            to=result.exhaustive_to,
        )

    def _of_circuit(self) -> dict[str, Any]:
        """Return the roles of the ideal relation with the pairs that change theirs, and positions that no step reads.

        The positions are those of the prompt at the circuit's last scale. Both are None without a circuit.
        """
        circuit = self.result.circuit
        if circuit is None:
            return {"roles": None, "unread": None}
        changing, scale = changing_pairs(circuit), max(circuit.wirings)
        roles = {
            "labels": 1 + len(role_labels(circuit)),
            "scale_hint": bool(changing),
            "changing_pairs": len(changing),
            "first_changing": [asdict(change) for change in changing[:SHOWN_PAIRS]],
        }
        return {"roles": roles, "unread": {"scale": scale, "positions": unread_positions(circuit, scale)}}

    def circuit(self) -> Circuit:
        """Return the circuit found. Raise TaskError if there is none."""
        if self.result.circuit is None:
            raise TaskError(f"task '{self.task.name}': no circuit of arity {self.result.arity} to draw")
        return self.result.circuit


def compute(question: Question) -> SRCAnswer:
    """Return SRC at every scale up to the last one of the question.

    Raises:
        TaskError: the task breaks its contract, or no bounded arity determines its steps and none was chosen.
        Interrupted: Ctrl-C in the search; carries the results so far.
    """
    clock = Clock(question.seconds)
    task = question.task()
    if task.right is not None:
        try:
            result = choice_src(task, question.scales[-1], question.arity, mode=question.mode, clock=clock)
        except Interrupted as stop:  # its bounds are those of one choice of right outputs
            raise KeyboardInterrupt from stop
        fewest = result.arity if question.arity is None else None
        return SRCAnswer(question=question, task=task, minimal_arity=fewest, result=result)
    traces = traces_up_to(task, question.scales[-1], clock)
    with clock.phase("arity"):
        analysed, least = _least_arity(traces, clock)
    if question.arity is None and least is None:
        raise TaskError(
            f"task '{task.name}': some step of scale {len(analysed)} needs more than {MAX_ARITY} arguments; "
            "use --arity K to get SRC = inf"
        )
    reference_arity = task.reference.arity if task.reference else None
    arity = question.arity or (reference_arity if question.mode == "declared" else None) or least or 1
    known_minimal = least if least is None or len(analysed) == question.scales[-1] or least == reference_arity else None
    fields: dict[str, Any] = {"question": question, "task": task, "minimal_arity": known_minimal}
    analysed = analysed if least else traces
    try:
        result = src(task, analysed, arity, mode=question.mode, largest=question.scales[-1], clock=clock)
    except Interrupted as stop:
        raise Interrupted(SRCAnswer(**fields, result=stop.result)) from None
    return SRCAnswer(**fields, result=result)


def _least_arity(traces: Iterable[Trace], clock: Clock) -> tuple[list[Trace], int | None]:
    """Return the traces that two fifths of the time allow, and the fewest slots that determine all their steps.

    The slots are None if the last of the traces needs too many.
    """
    analysed, least = list[Trace](), 1
    for trace in traces:
        if analysed and clock.used() > 0.4:
            break
        analysed.append(trace)
        needed = minimal_arity([trace], at_least=least)
        if needed is None:
            return analysed, None
        least = needed
    return analysed, least


def write_certificate(path: Path, answer: SRCAnswer) -> None:
    """Write the certificate of an answer at the last scale.

    Raises:
        TaskError: the task is composed of two, or as for `lengthgen.circuits.certificate.certificate`.
        LengthgenError: it would be larger than `check-certificate` reads.
    """
    task, question = answer.task, answer.question
    if question.after is not None:
        raise TaskError(f"task '{task.name}': no certificates of two tasks in one yet; leave out --after")
    proof = certificate(task, answer.result, spec=question.spec, clock=Clock(question.seconds))
    content = json_bytes(proof)
    if len(content) > LARGEST_CERTIFICATE:
        raise LengthgenError(
            f"the certificate would have {len(content):,} bytes, and at most {LARGEST_CERTIFICATE:,} are read: ask for "
            "fewer scales"
        )
    write_bytes(path, content)


def check_content(content: Any, spec: str | None, where: Path, seed: int | None = None) -> dict[str, Any]:
    """Return the verdict on the content of a certificate file.

    A user's own task is loaded and called in a process of its own. Its code may do anything there, even end the
    process: only a verdict that comes back counts.

    Args:
        content: the JSON.
        spec: the user's own task, if the certificate is about one; its file is code, which a certificate may not
            choose.
        where: the file, for messages.
        seed: seed of the random prompts that a circuit is tried on if a scale has too many prompts. None for a seed of
            the system, so that nobody can fit a certificate to the prompts.

    Raises:
        LengthgenError: the certificate proves nothing, or its task is one that the user has to name.
    """
    seed = secrets.randbits(32) if seed is None else seed
    if spec is None:
        return _verdict(content, None, where, seed)
    with pool(1) as processes:
        with interrupts_left():
            answer = processes.submit(_verdict_in_process, content, spec, where, seed)
        try:
            verdict, problem = answer.result()
        except BrokenProcessPool as error:
            raise LengthgenError(
                f"{where} is not checked: the code of {spec} ended its process, or there was no memory for it"
            ) from error
    if verdict is None:
        raise LengthgenError(problem)
    return dict(verdict)


def _verdict_in_process(content: Any, spec: str, where: Path, seed: int) -> tuple[dict[str, Any] | None, str]:
    """Return the verdict, or None and the error. Output of the user's code goes to stderr, not into the answer."""
    os.dup2(2, 1)
    try:
        with user_code(f"{where} is not checked: the code of {spec} fails", error=LengthgenError):
            return _verdict(content, spec, where, seed), ""
    except LengthgenError as error:
        return None, str(error)


def _verdict(content: Any, spec: str | None, where: Path, seed: int) -> dict[str, Any]:
    """Return the verdict on a certificate as JSON."""
    try:
        if not isinstance(content, dict):
            raise CertificateError("a certificate is a JSON object")
        name, base, layout, largest = (content.get(field) for field in ("task", "base", "layout", "largest_scale"))
        if not isinstance(name, str) or not isinstance(layout, str) or type(largest) is not int or largest not in SCALE:
            raise CertificateError("certificate: task, layout or largest_scale has a wrong type or value")
        if spec is None and ":" in name:
            raise LengthgenError(
                f"{where}: a certificate of {name}; that file is code, so name it yourself with --task"
            )
        if not (base is None or type(base) is int):
            raise CertificateError("certificate: base must be a number or null")
        task = searched(TaskSpec(name=spec or name, base=base, format=layout).laid_out(largest))
        verdict = check(content | {"task": spec or name}, task, seed=seed)
    except (CertificateError, TaskError) as error:
        raise LengthgenError(f"{where} proves nothing: {error}") from error
    return {
        "statement": verdict.statement,
        "status": verdict.status,
        "proved": verdict.proved,
        "lower": number(verdict.lower),
        "upper": number(verdict.upper),
        "upper_checked_to": verdict.upper_checked_to,
        "sampled": verdict.sampled,
        "seed": seed if verdict.sampled else None,
    }


def curve(answer: SRCAnswer) -> dict[str, dict[str, int | str | None]]:
    """Return arity k -> scale -> SRC_k, from the minimal arity on, at least to the next one, until SRC is 1.

    [F]: the arity above is included because a selector may hide in a further slot.

    Raises:
        TaskError: the minimal arity is not known.
    """
    least = answer.minimal_arity
    if least is None:
        raise TaskError(f"task '{answer.task.name}': no curve, since the fewest slots possible are not known")
    symbols = len(answer.task.alphabet)
    values: dict[str, dict[str, int | str | None]] = {}
    for arity in range(least, MAX_ARITY + 1):
        if symbols**arity > MAX_ENTRIES:
            break
        is_answered = arity == answer.result.arity
        result = answer.result if is_answered else compute(replace(answer.question, arity=arity)).result
        values[str(arity)] = {str(scale): number(result.values[scale]) for scale in answer.question.scales}
        if arity > least and list(values[str(arity)].values())[-1] in (1, None):
            break
    return values


def front(question: Question, bases: Sequence[int]) -> list[dict[str, Any]]:
    """Return the fewest operators by base and arity at the last scale, and which pairs no other one beats.

    A pair is beaten if another has no more symbols, no more slots and no more operators, and less of one of them.

    Raises:
        TaskError: the task has no base to choose, or as `curve`.
    """
    rows: list[dict[str, Any]] = []
    for base in bases:
        answer = compute(replace(question, spec=replace(question.spec, base=base), arity=None))
        for arity, values in curve(answer).items():
            operators = list(values.values())[-1]
            symbols = len(answer.task.alphabet)
            rows.append({"base": base, "symbols": symbols, "arity": int(arity), "operators": operators})
    sizes = [tuple(math.inf if row[name] in (None, "inf") else row[name] for name in _SIZES) for row in rows]
    for row, size in zip(rows, sizes, strict=True):
        beaten = any(other != size and all(a <= b for a, b in zip(other, size, strict=True)) for other in sizes)
        row["front"] = not beaten and math.isfinite(size[-1])
    return rows


_SIZES = ("symbols", "arity", "operators")


def minima(answer: SRCAnswer) -> dict[str, Any]:
    """Return the number of minimum circuits and what they have in common (circuits/questions/), as JSON holds it.

    Raises:
        TaskError: they cannot be counted, or not within the time limit.
    """
    try:
        circuits = minimum_circuits(answer.task, answer.result, Clock(answer.question.seconds))
    except OutOfTime as reason:
        raise TaskError(
            f"task '{answer.task.name}': minimum circuits not counted: the time limit has passed"
        ) from reason
    return {
        "operators": circuits.operators,
        "count": circuits.count,
        "entries": [[list(symbols), symbol] for symbols, symbol in circuits.entries],
        "steps": len(circuits.wirings),
        "forced": [
            {"scale": scale, "position": position, "arguments": list(wiring)}
            for (scale, position), wiring in circuits.forced.items()
        ],
    }


def within(answer: SRCAnswer, error: Fraction) -> dict[str, Any]:
    """Return SRC within an error (`lengthgen.circuits.questions.synthesis.src_within`), as JSON holds it.

    Raises:
        TaskError, SolverError: as `src_within`.
    """
    question = answer.question
    bounds = src_within(answer.task, question.scales[-1], answer.result.arity, error, clock=Clock(question.seconds))
    shown = {str(scale): [number(bound) for bound in bounds[scale]] for scale in question.scales}
    return {"error": str(error), "arity": answer.result.arity, "bounds": shown}


def scratchpad(answer: SRCAnswer, operators: int) -> dict[str, Any]:
    """Return the fewest scratchpad tokens for a number of operators (questions/synthesis.py), as JSON holds it.

    Raises:
        TaskError, SolverError: as `scratchpad_tokens`.
    """
    question, arity = answer.question, answer.result.arity
    fewest = scratchpad_tokens(answer.task, question.scales[-1], arity, operators, clock=Clock(question.seconds))
    return {
        "operators": operators,
        "arity": arity,
        "tokens": [fewest.lower, fewest.upper],
        "stopped": fewest.stopped,
    }


def all_scales(machine: Transducer, last: int, *, arity: int | None, seconds: float | None) -> dict[str, Any]:
    """Return SRC of a transducer's task at all scales (`lengthgen.circuits.questions.all_scales`), as JSON holds it.

    Raises:
        TaskError: as `src_for_all_scales`.
    """
    answer = src_for_all_scales(machine, arity, searched=last, clock=Clock(seconds))
    return {
        "task": machine.name,
        "arity": answer.arity,
        "src": {str(scale): number(value) for scale, value in answer.values.items()},
        "bounds": {str(scale): [*map(number, bounds)] for scale, bounds in answer.bounds.items()},
        "value": number(answer.value),
        "constant_from": answer.constant_from,
        "upper": number(answer.upper),
        "circuit": None if answer.circuit is None else answer.circuit.as_json(),
        "coverage_scale": answer.coverage_scale,
        "why": answer.why,
        "label": "F",
    }


def grid(
    family: TwoScaleTask, first: int, second: int, *, arity: int | None, mode: str, seconds: float | None
) -> dict[str, Any]:
    """Return SRC of a task of two scales at every pair of scales up to the last ones, as JSON holds it.

    Raises:
        TaskError: as `lengthgen.circuits.questions.grid.grid_src`.
    """
    answer = grid_src(family, first, second, arity, mode=mode, clock=Clock(seconds))
    values: dict[str, dict[str, int | str | None]] = {}
    bounds: dict[str, dict[str, list[int | str | None]]] = {}
    for (m, n), (low, high) in answer.bounds.items():
        values.setdefault(str(m), {})[str(n)] = number(low) if low == high else None
        bounds.setdefault(str(m), {})[str(n)] = [number(low), number(high)]
    return {
        "task": family.name,
        "arity": answer.arity,
        "mode": mode,
        "src": values,
        "bounds": bounds,
        "status": answer.status,
        "stopped": answer.stopped,
        "label": "F",
    }


def number(value: float | None) -> int | str | None:
    """Return a count as JSON holds it: infinite is "inf", unknown is null."""
    if value is None:
        return None
    return "inf" if math.isinf(value) else int(value)


def template_text(template: Template) -> str:
    """Return the position of an argument in words; t is the number of the step."""
    offset = f" {'+' if template.offset > 0 else '-'} {abs(template.offset)}" if template.offset else ""
    part = f"part {template.segment + 1} of the prompt"
    t = "t" if template.pace == 1 else f"ceil(t/{template.pace})"
    return {
        "query": f"{template.offset} before the query" if template.offset else "the query itself",
        "along": f"{part}, place {t}{offset}",
        "start": f"{part}, place {1 + template.offset}",
        "end": f"{part}, {template.offset} before its last place" if template.offset else f"{part}, last place",
        "against": f"{part}, place {t}{offset} from its end",
    }[template.kind]
