"""SRC as the command line computes it: at a chosen arity or the minimal one, with roles, and with a certificate."""

import math
import os
import secrets
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import SCALE, CertificateError, bounds_sentence, check
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.formats import in_format, searched
from lengthgen.circuits.questions.composition import after
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.roles import changing_pairs, role_labels, unread_positions
from lengthgen.circuits.src import MAX_ARITY, Interrupted, SRCResult, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import json_bytes, write_bytes
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.userfile import user_code
from lengthgen.results import number, template_text

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
            "roles": self._roles(),
            "unread": self._unread(),
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

    def _roles(self) -> dict[str, Any] | None:
        """Return the labels of the ideal relation and the pairs whose role changes; None without a circuit."""
        circuit = self.result.circuit
        if circuit is None:
            return None
        changing = changing_pairs(circuit)
        return {
            "labels": 1 + len(role_labels(circuit)),
            "scale_hint": bool(changing),
            "changing_pairs": len(changing),
            "first_changing": [asdict(change) for change in changing[:SHOWN_PAIRS]],
        }

    def _unread(self) -> dict[str, Any] | None:
        """Return the prompt positions that no step of the circuit's last scale reads; None without a circuit."""
        circuit = self.result.circuit
        if circuit is None:
            return None
        scale = max(circuit.wirings)
        return {"scale": scale, "positions": unread_positions(circuit, scale)}

    def circuit(self) -> Circuit:
        """Return the circuit found. Raise TaskError if there is none."""
        if self.result.circuit is None:
            raise TaskError(f"task '{self.task.name}': no circuit of arity {self.result.arity} to draw")
        return self.result.circuit

    def certificate(self) -> dict[str, Any]:
        """Return the certificate at the last scale.

        Raises:
            TaskError: the task is composed of two, or as for `lengthgen.circuits.certificate.certificate`.
        """
        if self.question.after is not None:
            raise TaskError(f"task '{self.task.name}': no certificates of two tasks in one yet; leave out --after")
        return certificate(self.task, self.result, spec=self.question.spec, clock=Clock(self.question.seconds))


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
    """Write the certificate of an answer.

    Raises:
        TaskError: there is none, as for `lengthgen.circuits.certificate.certificate`.
        LengthgenError: it would be larger than `check-certificate` reads.
    """
    content = json_bytes(answer.certificate())
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
