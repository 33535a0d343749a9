"""Analysis of a task in one format: traces, SRC and a circuit, on which predictions and experiments are based."""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.formats import FilledTask, in_format, searched
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.src import MAX_ARITY, SRCResult, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.brief import Brief

T = TypeVar("T")


class SearchStopped(TaskError):
    """Error: the search for a circuit reached its limit, the same on every machine, before it found one."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Analysis(Brief):
    """Task in one format, analysed up to its largest scale. Predictions and experiments are based on it.

    Attributes:
        task: the task in its format.
        format: name of the format.
        mode: mode of the circuit, one of lengthgen.circuits.search.wirings.Mode.
        traces: traces of all scales up to the largest.
        result: SRC and circuit; None if no arity up to MAX_ARITY determines every step. In the filled format it is that
            of the task without filler, and only its circuit has the positions of the filled sequences.
        searched: traces that the arity and the circuit were searched on: `traces`, or those without filler.
    """

    task: Task
    format: str
    mode: str
    traces: tuple[Trace, ...]
    result: SRCResult | None
    searched: tuple[Trace, ...]
    memory: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    """Results that the predictions of several encodings share, such as induced operators, by what they depend on."""

    def remembered(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result that was computed under this key before, or else compute it now."""
        if key not in self.memory:
            self.memory[key] = compute()
        return cast(T, self.memory[key])

    @property
    def circuit(self) -> Circuit:
        """The circuit of the result. Raise TaskError if there is none."""
        if self.result is None or self.result.circuit is None:
            raise self.task.error(
                f"some step up to scale {self.traces[-1].scale} needs more than {MAX_ARITY} "
                "arguments, so that it has no circuit"
            )
        return self.result.circuit

    def _brief(self) -> str:
        answer = self.result._brief() if self.result else f"no circuit up to arity {MAX_ARITY}"
        return f"{self.task.name}, {self.format}: {answer}"

    def _details(self) -> dict[str, str]:
        return self.result._details() if self.result else {}


def digest_of(analysis: Analysis) -> str:
    """Return a digest of all tokens of the traces: equal for names of one task in one format, up to its largest scale.

    All scales count, since two circuits may differ from the step of a rise on only.
    """
    digest = hashlib.sha256()
    for trace in analysis.traces:
        digest.update(repr(trace.tokens.shape).encode())
        digest.update(trace.tokens.tobytes())
    return digest.hexdigest()[:16]


def analyse(task: Task, format: str, largest_scale: int, mode: str = "free", *, clock: Clock | None = None) -> Analysis:
    """Return the analysis of a task in one format up to the largest scale.

    The circuit's arity is the least that determines every step; in mode declared it is that of the reference circuit.

    Raises:
        TaskError: the task breaks its contract, operators of the arity are too large, the mode does not exist, or the
            mode is declared and the task has no reference circuit.
        SearchStopped: the search reaches the limit of the clock, or a formula is too large for the solver.
        SolverFailed: a solver's process died; another run may succeed.
    """
    if mode not in [*Mode]:
        raise TaskError(f"unknown mode '{mode}': choose one of {', '.join(Mode)}")
    clock = clock or Clock()
    laid_out = in_format(task, format, largest_scale=largest_scale)
    core = searched(laid_out)
    with clock.phase("traces"):
        traces = shown = traces_up_to(core, largest_scale)
        if isinstance(laid_out, FilledTask):
            shown = [laid_out.filled_trace(each) for each in traces]
    if mode == Mode.DECLARED:
        if task.reference is None:
            raise task.error("mode 'declared' needs a reference circuit; use mode 'free'")
        arity: int | None = task.reference.arity
    else:
        with clock.phase("arity"):
            arity = minimal_arity(traces)
    result = None if arity is None else src(core, traces, arity, mode=mode, clock=clock)
    if result and result.failed:
        raise SolverFailed(f"task '{task.name}', mode '{mode}': {result.stopped}")
    if result and result.stopped:
        raise SearchStopped(f"task '{task.name}': no circuit of mode '{mode}' found: {result.stopped}")
    if result and result.circuit and isinstance(laid_out, FilledTask):
        result = replace(result, circuit=_moved(result.circuit, laid_out))
    return Analysis(task=laid_out, format=format, mode=mode, traces=tuple(shown), result=result, searched=tuple(traces))


def _moved(circuit: Circuit, task: FilledTask) -> Circuit:
    """Return a circuit of the task's core with the positions of the filled sequences."""

    def moved(scale: int, wiring: Wiring) -> Wiring:
        position, *arguments = (task.place(scale, each) for each in (wiring.position, *wiring.arguments))
        return Wiring(position=position, arguments=tuple(arguments), operator=wiring.operator)

    wirings = {n: tuple(moved(n, wiring) for wiring in of_scale) for n, of_scale in circuit.wirings.items()}
    return replace(circuit, task=task, wirings=wirings)
