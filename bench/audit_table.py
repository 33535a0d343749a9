"""Command `python -m bench.audit_table`: audit current versions of libraries and write docs/audit-table.md anew.

With --stored the page is made from the stored answers in docs/results/audit alone.
"""

import datetime
import json
import sys
import tomllib
from importlib.metadata import version
from typing import Any

from bench.families import families, survey
from bench.museum.__main__ import ROOT, found
from lengthgen.empirical.audit.rules import RULES

STORED = ROOT / "docs" / "results" / "audit"
PAGE = ROOT / "docs" / "audit-table.md"
ALARMS = ROOT / "bench" / "alarms.toml"
ADAPTERS = "docs/results/precision-audit"
LIBRARIES = ("transformers", "x-transformers", "rotary-embedding-torch", "torch")
SUBJECTS: tuple[tuple[str, list[str]], ...] = (
    *((f"transformers: llama, {kind}", ["hf:llama", "--set", f"rope_type={kind}"]) for kind in (
        "linear", "dynamic", "yarn", "longrope", "llama3")),
    ("x-transformers: RotaryEmbedding", [f"{ADAPTERS}/x_transformers_encodings.py:rotary"]),
    ("x-transformers: AlibiPositionalBias", [f"{ADAPTERS}/x_transformers_encodings.py:alibi", "--to", "100000"]),
    ("rotary-embedding-torch: positions", [f"{ADAPTERS}/rotary_embedding_torch_encodings.py:by_positions"]),
    ("rotary-embedding-torch: rotate_queries_or_keys", [f"{ADAPTERS}/rotary_embedding_torch_encodings.py:by_offset"]),
)  # fmt: skip


def measure() -> dict[str, Any]:
    """Audit every family and every subject in a process of its own."""
    same = families()
    by_family = {}
    for name, row in survey(list(same)):
        by_family[name] = {**row, "same": same[name]}
        print(f"{len(by_family)} of {len(same)}: {name}: {_outcome(row)}", flush=True)
    rows = {}
    for name, given in SUBJECTS:
        rows[name] = {"command": " ".join(given), "findings": found(sys.executable, given)}
        print(f"{name}: {len(rows[name]['findings'])} findings", flush=True)
    versions = {name: version(name) for name in LIBRARIES}
    return {"date": datetime.date.today().isoformat(), "versions": versions,
            "families": _compact(by_family), "subjects": rows}  # fmt: skip


def _outcome(row: dict[str, Any]) -> str:
    return row.get("refused") or f"{len(row['findings'])} findings, {row['seconds']} s"


def _compact(by_family: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rows by name, without what rules say already, and with one reproduction of equal findings."""
    seen = set()
    for _, row in sorted(by_family.items()):
        for finding in row.get("findings", []):
            for field in ("law", "mend"):
                del finding[field]
            if finding["severity"] == "note" or (finding["rule"], finding["says"]) in seen:
                del finding["reproduction"]
            seen.add((finding["rule"], finding["says"]))
    return dict(sorted(by_family.items()))


def page(answer: dict[str, Any], museum: dict[str, Any] | None) -> str:
    """Page as Markdown: the table, every error and warning as it can be reported upstream, and the museum."""
    versions = ", ".join(f"{name} {number}" for name, number in answer["versions"].items())
    lines = ["# Audit of libraries", "",
             f"{versions}; {answer['date']}, on a CPU. `make audit-table` makes this page anew from fresh audits, "
             "`python -m bench.audit_table --stored` from the stored ones in `docs/results/audit/table.json`.", "",
             "Severities are those of the rules in `empirical/audit/rules.py`. A note is usual and documented; a "
             "warning hurts in one usual way of use.", "", *_families(answer["families"]),
             "## Variants and other libraries", "", "| subject | errors | warnings | notes |",
             "|---|---|---|---|"]  # fmt: skip
    for name, row in answer["subjects"].items():
        cells = [_cell(row["findings"], severity) for severity in ("error", "warning", "note")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "## Errors and warnings, to be reported upstream", ""]
    seen: dict[tuple[str, str], list[str]] = {}
    examples: dict[tuple[str, str], dict[str, Any]] = {}
    named = {f"transformers: {name}": row for name, row in answer["families"].items() if "findings" in row}
    for name, row in (named | answer["subjects"]).items():
        for finding in row["findings"]:
            if finding["severity"] != "note":
                key = (name.partition(":")[0], finding["says"])
                seen.setdefault(key, []).append(name.partition(": ")[2])
                examples.setdefault(key, finding)
    for (library, says), names in seen.items():
        lines += _report(library, says, names, examples[library, says], answer["versions"].get(library, ""))
    return "\n".join(lines + (_museum(museum) if museum else [])) + "\n"


def _families(by_family: dict[str, dict[str, Any]]) -> list[str]:
    """Lines on the families of transformers: those with the same answer are one row, then those that are refused."""
    groups: dict[tuple[str, ...], list[str]] = {}
    refused: dict[str, list[str]] = {}
    for name, row in by_family.items():
        shown = " = ".join([name, *row["same"]])
        if "refused" in row:
            refused.setdefault(row["refused"].replace(f"'{name}'", "it"), []).append(shown)
        else:
            cells = (_cell(row["findings"], severity) for severity in ("error", "warning", "note"))
            groups.setdefault((", ".join(row["recognised"]), *cells), []).append(shown)
    audited = {name: row for name, row in by_family.items() if "findings" in row}
    alarmed = sum(_cell(row["findings"], "error") != "none" for row in audited.values())
    slowest = max((row["seconds"] for row in audited.values()), default=0)
    lines = ["## Families of transformers", "",
             f"{len(audited)} model types are audited, with small sizes and random weights, and {alarmed} of them have "
             f"errors; {len(by_family) - len(audited)} are refused. `a = b`: both are made of the same "
             "classes. "
             f"The slowest audit takes {slowest:.0f} s of processor time.", "",
             "| encodings of the layers | errors | warnings | notes | model types |",
             "|---|---|---|---|---|"]  # fmt: skip
    for cells, names in sorted(groups.items()):
        lines.append(f"| {' | '.join([*cells, ', '.join(names)])} |")
    lines += ["", "| refused | why |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {why[:160].replace('|', '/')} |" for why, names in sorted(refused.items())]
    checked = {
        (name, alarm["rule"]): alarm
        for alarm in tomllib.loads(ALARMS.read_text(encoding="utf-8"))["alarms"]
        for name in alarm["families"]
    }
    lines += ["", "Each error of a family, checked by hand in the source of the model (`bench/alarms.toml`):", "",
              "| model type | error | true | why |", "|---|---|---|---|"]  # fmt: skip
    for name, row in audited.items():
        for rule in dict.fromkeys(f["rule"] for f in row["findings"] if f["severity"] == "error"):
            alarm = checked.get((name, rule))
            verdict = ("yes" if alarm["true"] else "no", alarm["why"]) if alarm else ("not checked", "")
            lines.append(f"| {name} | `{rule}` | {' | '.join(verdict)} |")
    return [*lines, ""]


def _cell(findings: list[dict[str, Any]], severity: str) -> str:
    rules = dict.fromkeys(finding["rule"] for finding in findings if finding["severity"] == severity)
    return ", ".join(f"`{rule}`" for rule in rules) or "none"


def _report(library: str, says: str, names: list[str], finding: dict[str, Any], number: str) -> list[str]:
    """Lines of one report: what, where, since which position, law, mend, reproduction."""
    where = "; ".join(
        f"{setting}: {'everywhere' if first is None else f'from position {first}'}"
        for setting, first in finding["first"].items()
    )
    rule = RULES[finding["rule"]]
    lines = [f"### {library} {number}: {says}", "",
             f"- Seen in: {', '.join(dict.fromkeys(names))}.", f"- Where: {where}.",
             f"- Law that is broken: {rule.law} Severity: {finding['severity']} (`{finding['rule']}`).",
             f"- Mend: {rule.mend}"]  # fmt: skip
    if finding.get("reproduction"):
        lines += ["", "```python", finding["reproduction"], "```"]
    return [*lines, ""]


def _museum(museum: dict[str, Any]) -> list[str]:
    """Lines on the museum of known bugs."""
    lines = ["## Museum of known bugs", "",
             "`make museum` installs old versions, each in an environment of its own, and audits the bad and the "
             "fixed one. Formulas of projects that cannot be installed on a CPU are ported from their reports.", "",
             "| bug | source | rule | kind | found | silent when fixed |", "|---|---|---|---|---|---|"]  # fmt: skip
    for row in museum["exhibits"]:
        hit, silent = bool(row["bad"]["says"]), not row["fixed"]["says"]
        cells = " | ".join("yes" if holds else "no" for holds in (hit, silent))
        lines.append(f"| {row['name']} | {row['source']} | `{row['rule']}` | {row['kind']} | {cells} |")
    return lines


def main(arguments: list[str]) -> None:
    """Audit, unless --stored is given, and write the page."""
    table, museum = STORED / "table.json", STORED / "museum.json"
    if "--stored" not in arguments:
        STORED.mkdir(parents=True, exist_ok=True)
        table.write_text(json.dumps(measure(), separators=(",", ":")) + "\n", encoding="utf-8")
    answers = [json.loads(path.read_text(encoding="utf-8")) if path.exists() else None for path in (table, museum)]
    PAGE.write_text(page(answers[0], answers[1]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
