"""`lengthgen tasks`, `src` and `check-certificate`: options, and answers as tables; `complexity` computes them."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.src import Interrupted
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TASKS, TaskSpec, load_machine, load_two_scales
from lengthgen.circuits.tasks.catalogue import TWO_SCALE_TASKS
from lengthgen.circuits.tasks.families import PUBLISHED_TASKS, WITH_STATES
from lengthgen.infrastructure.files import parse_json, read_bytes, require_folder, require_writable
from lengthgen.infrastructure.messages import tell
from lengthgen.questions import complexity
from lengthgen.terminal.answers import show
from lengthgen.terminal.interrupts import INTERRUPTED
from lengthgen.terminal.layout import Screen, bounds_text, cut_to_screen, filled, more, titled
from lengthgen.terminal.options import Base, Details, Format, Json, TaskArgument, path_option
from lengthgen.terminal.typed import error_bound, parse_scales

NOT_PROVED = 3
"""Exit code if nothing is wrong, but not everything is proved."""
NOTHING_YET = (
    "no answer is known yet: ask for fewer scales, or set --time-limit, after which the known bounds are printed"
)
"""Message at an interrupt before there is anything to print."""


def tasks(as_json: Json = False) -> None:
    """List the tasks that come with the project, with their token layout and default base."""
    answer = tasks_answer()
    show(answer, tasks_table(answer), as_json)


def tasks_answer() -> dict[str, Any]:
    """Return the named tasks: layout, default base, arity of the reference circuit.

    Beside them the tasks of two scales, and the names of the tasks of published experiments.
    """
    tasks = []
    for name, make in TASKS.items():
        reference = make().reference
        base = inspect.signature(make).parameters.get("base")
        tasks.append(
            {
                "task": name,
                "layout": _layout(make),
                "base": base.default if base else None,
                "reference_arity": reference.arity if reference else None,
            }
        )
    two_scales = [{"task": name, "layout": _layout(make)} for name, make in TWO_SCALE_TASKS.items()]
    return {"tasks": tasks, "two_scale_tasks": two_scales, "published_tasks": [*PUBLISHED_TASKS]}


def _layout(make: Callable[..., Any]) -> str:
    """Return the layout of a task, the first line of the docstring of the function that makes it."""
    return (inspect.getdoc(make) or "").partition("\n")[0]


def tasks_table(answer: Mapping[str, Any]) -> Group:
    """Return a table with a row for each task."""
    rows = (
        (task["task"], task["layout"], str(task["base"] or "-"), str(task["reference_arity"] or "unbounded"))
        for task in answer["tasks"]
    )
    names = answer["published_tasks"]
    # A task and the same with its states are one: "published-parity[-with-states]"
    folded = [
        f"{name}[{WITH_STATES}]" if f"{name}{WITH_STATES}" in names else name
        for name in names
        if not name.endswith(WITH_STATES)
    ]
    return titled(
        "Tasks",
        filled(("task", "layout", "base", "slots"), rows),
        "base: number base unless --base is given; slots: argument slots of the reference circuit's operators [F]",
        *(f"two scales (src --second-scales): {task['task']}  {task['layout']}" for task in answer["two_scale_tasks"]),
        f"and {len(names)} tasks of published results (`lengthgen published` says of which): " + ", ".join(folded),
    )


def src(
    task: TaskArgument,
    arity: Annotated[
        int | None,
        typer.Option(min=1, max=8, help="Argument slots of every operator.", show_default="the fewest possible"),
    ] = None,
    scales: Annotated[str, typer.Option(help="Scales, for example 1-6.")] = "1-6",
    second_scales: Annotated[
        str | None,
        typer.Option(help="Second scales of a task of two scales, such as addition-mixed; a table is printed."),
    ] = None,
    all_scales: Annotated[
        bool, typer.Option("--all-scales", help="Decide SRC at all scales; the task is a finite-state transducer.")
    ] = False,
    format: Format = "unaligned",
    base: Base = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Allowed wirings: any (free), the reference circuit's (declared), or without unneeded slots (typed)."
        ),
    ] = Mode.FREE,
    after: Annotated[
        str | None, typer.Option(help="Task whose outputs are the prompts of this one: SRC of both together.")
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also compute SRC at the minimal arity and above, until it is 1.")
    ] = False,
    bases: Annotated[
        str | None, typer.Option(help="Bases, for example 2-4: also the fewest operators by alphabet and arity.")
    ] = None,
    minima: Annotated[
        bool, typer.Option("--minima", help="Also count the minimum circuits, and list what all of them have.")
    ] = False,
    within: Annotated[
        Fraction | None,
        typer.Option(
            parser=error_bound, metavar="EPS", help="Also compute SRC if this share of the prompts may come out wrong."
        ),
    ] = None,
    scratchpad: Annotated[
        int | None, typer.Option(min=1, help="Also compute the fewest scratchpad tokens for this number of operators.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Time limit in seconds; then the bounds known so far are printed.")
    ] = None,
    certificate: Annotated[
        Path | None, path_option("File to write with a proof of the bounds at the last scale.")
    ] = None,
    draw: Annotated[Path | None, path_option("Folder to write with a drawing of the circuit.")] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Compute the Sequential Representation Complexity (SRC) of a task, with a circuit that attains it."""
    table = src_table if details else src_screen
    scale_list = parse_scales(scales)
    more = any((after, curve, bases, minima, within is not None, scratchpad, certificate, draw))
    more = more or format != "unaligned"
    if second_scales is not None:
        if more or all_scales:
            raise TaskError("--second-scales goes with --scales, --base, --arity, --mode and --time-limit only")
        last = scale_list[-1], parse_scales(second_scales)[-1]
        family = load_two_scales(task, base=base)
        with _narrower_if_interrupted():
            pairs = complexity.grid(family, *last, arity=arity, mode=mode.value, seconds=time_limit)
        show(pairs, grid_table(pairs), as_json)
        return
    if all_scales:
        if more or mode != Mode.FREE:
            raise TaskError("--all-scales goes with --scales, --base, --arity and --time-limit only")
        machine = load_machine(task, base=base)
        with _narrower_if_interrupted():
            proof = complexity.all_scales(machine, scale_list[-1], arity=arity, seconds=time_limit)
        show(proof, all_scales_screen(proof), as_json)
        return
    if certificate:
        require_writable(certificate)
    if draw:
        require_folder(draw)
    question = complexity.Question(
        spec=TaskSpec(name=task, base=base, format=format),
        scales=scale_list,
        arity=arity,
        mode=mode.value,
        seconds=time_limit,
        after=None if after is None else TaskSpec(name=after),
    )
    interrupted = False
    try:
        with _narrower_if_interrupted():
            computed = complexity.compute(question)
    except Interrupted as stop:
        answer, interrupted = stop.result.as_json(), True
    else:
        answer = computed.as_json()
        try:
            if curve:
                answer["curve"] = complexity.curve(computed)
            if bases is not None:
                answer["front"] = complexity.front(question, parse_scales(bases))
            if minima:
                answer["minima"] = complexity.minima(computed)
            if within is not None:
                answer["within"] = complexity.within(computed, within)
            if scratchpad is not None:
                answer["scratchpad"] = complexity.scratchpad(computed, scratchpad)
            if certificate:
                complexity.write_certificate(certificate, computed)
                answer["certificate"] = str(certificate)
            if draw:
                from lengthgen.paper_figs.figures import circuit_diagram

                answer["figure"] = circuit_diagram.write(computed.circuit(), draw, scale_list)
        except KeyboardInterrupt:
            interrupted = True
    show(answer, table(answer), as_json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _narrower_if_interrupted() -> Iterator[None]:
    """Context manager that says how to narrow a question at an interrupt that leaves nothing to print."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        tell(NOTHING_YET)
        raise


def check_certificate(
    file: Annotated[Path, typer.Argument(help="Certificate file, written by `lengthgen src --certificate`.")],
    task: Annotated[
        str | None, typer.Option(help="Your own task as path/to/file.py:name, if the certificate is about one.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the random prompts, to repeat a check.", show_default="a new one each time"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate with a program that shares no code with the one that wrote it.

    A circuit is tried on all prompts of scales that have at most 20,000, and on 300 random prompts of each other scale.
    Exit code: 0 if everything is proved; 3 if the lower bound is proved and the circuit was right, but some scale was
    tried on random prompts only, so that the upper bound is not proved; 2 if nothing is proved.
    """
    content = parse_json(read_bytes(file, largest=complexity.LARGEST_CERTIFICATE), file)
    answer = complexity.check_content(content, task, file, seed)
    show(answer, certificate_table(answer), as_json)
    if not answer["proved"]:
        raise typer.Exit(NOT_PROVED)


def src_screen(answer: Mapping[str, Any]) -> Screen:
    """Return SRC with its status, by scale with equal values in one row, and what else was asked."""
    rows = _runs_of_scales({scale: (value, answer["bounds"][scale]) for scale, value in answer["src"].items()})
    lines = _findings(answer)

    def form(shown: int) -> Group:
        table = filled(
            ("scales", "SRC", "bounds"),
            ((scales, _known(value), "..".join(map(str, bounds))) for scales, (value, bounds) in rows[:shown]),
        )
        notes = [*more(len(rows), shown), *lines[:shown], *more(len(lines), shown)]
        return titled(f"{answer['status']}: {answer['statement']}", table, *notes)

    return cut_to_screen(max(len(rows), len(lines)), form)


def src_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by scale, with all that the search found."""
    rows = (
        (scale, _known(value), "..".join(map(str, answer["bounds"][scale]))) for scale, value in answer["src"].items()
    )
    notes = [
        f"{answer['status']}: {answer['statement']}",
        f"{answer['inputs']} prompts tried; the fewest slots possible: {answer['minimal_arity'] or 'not known'}",
        *_covered(answer),
        *_findings(answer),
        "seconds: " + ", ".join(f"{phase} {time:.2f}" for phase, time in answer["seconds"].items()),
    ]
    return titled(_title(answer, answer["mode"]), filled(("scale", "SRC", "bounds"), rows), *notes)


def _title(answer: Mapping[str, Any], wiring: str) -> str:
    return f"SRC of {answer['task']} at arity {answer['arity']}, {wiring} wiring [F]"


def _known(value: int | str | None) -> str:
    """Return a value as text, a question mark if it is not known."""
    return "?" if value is None else str(value)


def _findings(answer: Mapping[str, Any]) -> list[str]:
    """Return what the circuit is like, what it does not read, and the answers to further questions; a line each."""
    notes = [f"not finished: {answer['stopped']}; the bounds hold"] if answer["stopped"] else []
    for combination in answer["wiring"]:
        notes.append("; ".join(f"slot {slot}: {where}" for slot, where in enumerate(combination, start=1)))
    if answer["roles"]:
        notes.append(_roles(answer["roles"]))
    if answer["unread"] and answer["unread"]["positions"]:
        positions = answer["unread"]["positions"]
        shown = f"{', '.join(map(str, positions[:10]))}{', ...' * (len(positions) > 10)}"
        notes.append(
            f"no step of scale {answer['unread']['scale']} reads the prompt at position{'s' * (len(positions) > 1)} "
            f"{shown}: {'' if answer['proved'] else 'on the prompts tried, '}the output does not depend on it; is this "
            "the task you mean?"
        )
    for arity, values in answer.get("curve", {}).items():
        notes.append(f"at arity {arity}: {', '.join(map(_known, values.values()))}")
    if "front" in answer:
        notes += [
            f"base {row['base']} ({row['symbols']} symbols), arity {row['arity']}: {_known(row['operators'])}"
            + " *" * row["front"]
            for row in answer["front"]
        ]
        notes.append("*: no other pair has as few symbols, slots and operators")
    if "minima" in answer:
        notes.append(_minima(answer["minima"]))
    if "within" in answer:
        shown = ", ".join(bounds_text(*bounds) for bounds in answer["within"]["bounds"].values())
        notes.append(
            f"if a share of {answer['within']['error']} of the prompts of each scale may come out wrong: {shown}"
        )
    if "scratchpad" in answer:
        pad = answer["scratchpad"]
        setting = f"operators up to {pad['operators']}, arity {pad['arity']}"
        stopped = f" ({pad['stopped']})" if pad["stopped"] else ""
        notes.append(f"fewest scratchpad tokens for {setting}: {bounds_text(*pad['tokens'])}{stopped}")
    return notes + [f"written: {path}" for path in (answer.get("certificate"), *answer.get("figure", [])) if path]


def all_scales_screen(answer: Mapping[str, Any]) -> Screen:
    """Return SRC by scale, its value at all scales, and the reason."""
    bounds = {scale: bounds_text(*bounds) for scale, bounds in answer["bounds"].items()}
    table = filled(("scales", "SRC"), _runs_of_scales(bounds))
    proved = (
        f"SRC is {answer['value']} at all scales from {answer['constant_from']} on"
        if answer["value"] is not None
        else "no value is proved for all scales"
    )
    return Screen([titled(_title(answer, "free"), table, proved, answer["why"], *_covered(answer))])


def _covered(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on the scale up to which all entries of the circuit occur; none if that is not known."""
    scale = answer["coverage_scale"]
    return [f"every table entry in use occurs up to scale {scale}"] * bool(scale)


def _runs_of_scales(by_scale: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return (scales, value) for each run of successive scales with one value, such as ("1-4", 2)."""
    runs = []
    for (_, value), run in groupby(enumerate(by_scale), key=lambda at: (int(at[1]) - at[0], by_scale[at[1]])):
        first, *others = [scale for _, scale in run]
        runs.append((f"{first}-{others[-1]}" if others else first, value))
    return runs


def grid_table(answer: Mapping[str, Any]) -> Group:
    """Return SRC by both scales: the first scale in rows, the second in columns."""
    first = next(iter(answer["src"].values()))
    rows = ([m, *(bounds_text(*bounds) for bounds in row.values())] for m, row in answer["bounds"].items())
    notes = [f"{answer['status']}: SRC(f, m, n) is that of all pairs of scales up to (m, n)"]
    if answer["stopped"]:
        notes.append(f"not finished: {answer['stopped']}; the bounds hold")
    return titled(_title(answer, answer["mode"]), filled(["m", *(f"n = {n}" for n in first)], rows), *notes)


def _minima(minima: Mapping[str, Any]) -> str:
    """Return the number of minimum circuits and what they have in common as text."""
    entries = ", ".join(f"{' '.join(symbols)} -> {symbol}" for symbols, symbol in minima["entries"][:12])
    more = f", and {len(minima['entries']) - 12} more" if len(minima["entries"]) > 12 else ""
    return (
        f"{minima['count']:,} minimum circuits; all have the entries {entries or '(none)'}{more}; "
        f"{len(minima['forced'])} of {minima['steps']} steps have one wiring in all"
    )


def _roles(roles: Mapping[str, Any]) -> str:
    """Return the number of labels of the ideal relation, and its need for a scale hint, as text."""
    labels = f"the ideal relation has {roles['labels']} labels"
    if not roles["scale_hint"]:
        return f"{labels} and needs no scale hint"
    first = roles["first_changing"][0]
    return (
        f"{labels} and needs a scale hint: {roles['changing_pairs']} pairs change their role with the scale, first "
        f"key {first['key']} for query {first['query']} at scale {first['scale']}"
    )


def certificate_table(answer: Mapping[str, Any]) -> Group:
    """Return the bounds that a certificate proves; for random prompts also the way to repeat the check."""
    again = f"the prompts are random: --seed {answer['seed']} draws the same ones, another number others"
    lines = [f"proved: {answer['statement']}"] if answer["proved"] else [answer["statement"], again]
    return Group(*map(Text, lines))
