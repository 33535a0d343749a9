"""`lengthgen audit`: its options, and audits as tables; `auditing` has the answer."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from lengthgen.empirical.experiment.protocol import AUDITED
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.files import require_folder
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import columns, filled, titled
from lengthgen.terminal.options import ENCODING_NAMES, Device, Json, path_option
from lengthgen.terminal.preconditions import require_training


def audit(
    encoding: Annotated[
        str,
        typer.Argument(
            help="Encoding: alibi, rotary, ...; path/to/file.py:object, an encoding or a model (your file is run); or "
            "a model of transformers: hf:llama, hf:LlamaForCausalLM, hf:path/to/config.json.",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ],
    dtype: Annotated[
        str, typer.Option(help="Dtypes of queries and keys, comma-separated.")
    ] = "float64,float32,bfloat16,float16",
    to: Annotated[int, typer.Option(help="Last position to test.")] = 1_000_000,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Largest error allowed for the relative law. Without it: the error of one rounding."),
    ] = None,
    claims: Annotated[
        str | None,
        typer.Option(
            help="Claims to test instead of the encoding's own: relative,distinct,streaming,decays,bidirectional."
        ),
    ] = None,
    parameters: Annotated[
        str, typer.Option(help="Parameters of the encoding, for example base=500000,layout=halves.")
    ] = "",
    other: Annotated[
        str, typer.Option(help="Parameters of a second instance to compare with, for example base=500.")
    ] = "",
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Field of the configuration of an hf: model; may be repeated."
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option(help="Least severity with which the exit code is 1: error, warning or note.")
    ] = "error",
    allow: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Rule with which the exit code is not 1; may be repeated.")
    ] = None,
    report: Annotated[Path | None, path_option("Also write findings: FILE.sarif, or FILE.xml for JUnit.")] = None,
    repro: Annotated[
        Path | None,
        path_option(
            "Also write a program that fails while an error or a warning is there, and needs no lengthgen.", "FILE.py"
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        path_option("Folder to write with a figure of the error of the relative law by position and dtype."),
    ] = None,
    heads: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most, help="Number of heads.")] = 4,
    head_dim: Annotated[int, typer.Option(min=AUDITED.least, max=AUDITED.most, help="Width of each head.")] = 64,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test the laws of a position encoding, or of a whole model, by dtype, position and call pattern.

    The exit code is 1 if a finding is at least as severe as --fail-on and its rule is not allowed.
    """
    Backend(device)
    require_training()
    from lengthgen.questions import auditing

    if report:
        auditing.require_report(report)
    if repro:
        auditing.require_reproductions(repro)
    if draw:
        require_folder(draw)
    answer = auditing.audit(
        encoding,
        dtypes=dtype.split(","),
        claims=None if claims is None else [claim for claim in claims.split(",") if claim],
        parameters=auditing.parse_parameters(parameters),
        other=auditing.parse_parameters(other),
        to=to,
        budget=budget,
        heads=heads,
        head_dim=head_dim,
        device=device,
        fields=auditing.parse_fields(fields or []),
        fail_on=fail_on,
        allow=allow or [],
    )
    if report:
        auditing.write_report(answer, report)
    if repro:
        auditing.write_reproductions(answer, repro)
        answer["reproductions"] = str(repro)
    if draw:
        from lengthgen.paper_figs.figures import score_laws

        answer["figure"] = score_laws.write_audit(answer, draw)
    show(answer, audit_table(answer), as_json, fails=not answer["holds"])


def audit_table(answer: Mapping[str, Any]) -> Group:
    """Return the audit of each way an encoding is applied: settings, errors of the law by decade, and findings."""
    from lengthgen.questions.auditing import by_reproduction

    parts: list[RenderableType] = []
    for audit in answer["audits"]:
        if audit["kind"] == "model":
            parts.append(_model_table(audit))
        elif audit["settings"]:  # else a mistake was found that hides everything else
            parts += [_settings_table(audit), _by_decade(audit)]
        parts.append(Text("\n".join(_findings_lines(audit, answer["allow"]))))
    shown, missing = by_reproduction(answer)
    share = f"{len(shown)} of {len(shown) + len(missing)} errors and warnings"
    if "reproductions" in answer:
        parts.append(Text(f"reproductions of {share} written: {answer['reproductions']}"))
    elif shown:
        parts.append(Text(f"--repro FILE.py writes a program that shows {share} without lengthgen"))
    if "figure" in answer:
        written = [f"written: {path}" for path in answer["figure"]]
        parts += map(Text, written or ["no figure: nothing here claims the relative law"])
    return Group(*parts)


def _model_table(audit: Mapping[str, Any]) -> RenderableType:
    """Return what was recognised in a model, and the table of the call patterns that do not agree with a full pass."""
    table = columns("call pattern", "difference of logits", "result")
    agreeing = []
    for name, pattern in audit["patterns"].items():
        if pattern["refusal"]:
            table.add_row(name, "-", "refused")
        elif pattern["first_beyond"] is not None:
            table.add_row(name, _error(pattern["difference"]), "differs")
        else:
            agreeing.append(pattern["difference"])
    lines = []
    if agreeing:
        lines.append(
            f"{len(agreeing)} call patterns agree with a full pass, up to {_error(max(agreeing))} of the logits"
        )
    lines += [_recognised(layer) for layer in audit["recognised"]]
    if audit["sizes"]:
        lines.append("sizes filled in: " + ", ".join(f"{name}={value}" for name, value in audit["sizes"].items()))
    if audit["fields"]:
        lines.append("fields: " + ", ".join(f"{name}: {effect}" for name, effect in audit["fields"].items()))
    title = f"Model {audit['subject']}, with random weights"
    return titled(title, table, *lines) if table.rows else Group(Text(title, style="bold"), *map(Text, lines))


def _recognised(layer: Mapping[str, Any]) -> str:
    """Return one line on the encoding of a layer."""
    members = layer["layers"]
    where = f"layer{'s' * (len(members) > 1)} {', '.join(map(str, members))}"
    where += f" ({layer['layer_type']})" if layer["layer_type"] else ""
    line = f"{where}: {layer['encoding']}, {layer['heads']} heads of width {layer['head_dim']}"
    line += "" if layer["causal"] else ", queries see later keys"
    line += f", {layer['scaled']}" if "scaled" in layer else ""
    line += f"; {layer['part']}" if "part" in layer else ""
    if "layout" not in layer:
        return line
    frequencies = layer["frequencies"]
    shown = [f"{frequency:.4g}" for frequency in frequencies]
    shown = shown if len(shown) <= 6 else [*shown[:3], "...", *shown[-2:]]
    return (
        f"{line}, {layer['layout']}, {layer['rotated_coordinates']} coordinates turn; equal to the interleaved layout "
        f"after a permutation of channels up to {layer['difference_after_permutation']:.0e}; rope type "
        f"{layer.get('rope', {}).get('rope_type', 'not stated')}, constants {layer.get('constants', 'not compared')}; "
        f"angles of one step: {', '.join(shown)}"
    )


def _settings_table(audit: Mapping[str, Any]) -> Group:
    """Return the table of one audit with a row for each setting, and notes below."""
    table = columns(
        "setting", "worst error of the law", "beyond its budget from", "distinct codes", "call patterns that agree"
    )
    for setting, result in audit["settings"].items():
        law, patterns = result["law"], result["agreement"].values()
        table.add_row(
            setting,
            "not claimed" if law is None else _error(law["worst"]),
            "-" if law is None else _since(law),
            _distinct(result["codes"]["windows"]),
            f"{sum(pattern['first_beyond'] is None for pattern in patterns)} of {len(patterns)}",
        )
    claims = ", ".join(audit["claims"]) or "nothing"
    title = (
        f"Audit of {audit['subject']} ({audit['kind']}), which claims: {claims}; positions to {audit['last_position']}"
    )
    return titled(title, table, *_notes(audit))


def _notes(audit: Mapping[str, Any]) -> list[str]:
    """Return the notes on the first setting, and on settings that were not measured."""
    setting, first = next(iter(audit["settings"].items()))
    codes, lines = first["codes"], []
    if runs := codes["windows"][1:]:
        lines.append(f"distinct codes: of runs of {runs[0]['of']} from {', '.join(str(run['from']) for run in runs)}")
    if audit["slope"]:
        lines.append(f"with the distance the bias {', '.join(audit['slope']['directions'])} (by head)")
    if repeated := codes["first_repeated"]:
        lines.append(f"in {setting} the code of {repeated['same_as']} is first repeated at {repeated['position']}")
    # Codes that are equal only at far positions are a rounding, not a clamp.
    if codes["clamped_from"] is not None and 2 * codes["clamped_from"] < audit["last_offset"]:
        lines.append(f"in {setting} all positions from {codes['clamped_from']} on have the same code")
    return lines + [f"{refused} is refused: {why}" for refused, why in audit["refused"].items()]


def _by_decade(audit: Mapping[str, Any]) -> Group:
    """Return the worst error of the relative law by decade of the query position."""
    laws = {setting: result["law"]["decades"] for setting, result in audit["settings"].items() if result["law"]}
    if not laws:
        return Group()
    unit = "a logit, over |q| |k|" if audit["kind"] in ("rotate", "scores") else "the bias"
    decades = list(next(iter(laws.values())))
    rows = ([setting, *(_error(errors[decade]["error"]) for decade in decades)] for setting, errors in laws.items())
    return titled(f"Worst error of the relative law by query position ({unit})", filled(["setting", *decades], rows))


def _findings_lines(audit: Mapping[str, Any], allowed: Collection[str]) -> list[str]:
    """Return the findings and notes of one audit as lines."""
    lines = []
    for finding in audit["findings"]:
        where: dict[int | None, list[str]] = {}
        for setting, position in finding["first"].items():
            where.setdefault(position, []).append(setting)
        parts = [finding["rule"]]
        for position, settings in where.items():
            since = [] if position is None else [f"from {position}"]
            parts.append(" ".join(since + ([] if settings == ["all"] else [f"in {' / '.join(settings)}"])))
        severity = f"{finding['severity']}{', allowed' if finding['rule'] in allowed else ''}"
        lines += [f"{severity}: {finding['says']} ({'; '.join(filter(None, parts))})", f"    mend: {finding['mend']}"]
    lines += [f"note: {note} ({why})" for note, why in audit.get("notes", {}).items()]
    return lines or ["nothing found"]


def _distinct(windows: list[Mapping[str, int]]) -> str:
    """Return the numbers of distinct codes as text."""
    if all(run["distinct"] == run["of"] for run in windows):
        return "all"
    return ", ".join(str(run["distinct"]) for run in windows[1:]) or f"{windows[0]['distinct']} of {windows[0]['of']}"


def _since(law: Mapping[str, Any]) -> str:
    """Return the first position beyond the budget as text."""
    if law["first_beyond"] is None:
        return "-"
    return f"{'' if law['exact'] else 'at most '}{law['first_beyond']} (offset {law['offset']})"


def _error(value: float | None) -> str:
    """Return an error as text."""
    return "not finite" if value is None else f"{value:.1e}"
