"""Command `python -m bench.museum`: audit the bad and the fixed version of every exhibit; fail unless told apart."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from bench.museum.environments import ROOT, make

HERE = Path(__file__).parent
EXHIBITS = HERE / "exhibits"
RESULT = ROOT / "docs" / "results" / "audit" / "museum.json"
COMMAND = "from lengthgen.cli import main; main()"


def catalogue() -> list[dict[str, Any]]:
    """Exhibits as `catalogue.toml` lists them."""
    exhibits: list[dict[str, Any]] = tomllib.loads((HERE / "catalogue.toml").read_text(encoding="utf-8"))["exhibits"]
    return exhibits


def arguments(exhibit: dict[str, Any], *, mended: bool) -> list[str]:
    """Arguments of `lengthgen audit` for an exhibit; a ported one is mended by a parameter or another object."""
    what, *options = exhibit["audit"]
    if what.startswith("hf:"):
        return [what, *options]
    if mended and "mended" in exhibit:  # a whole model takes no parameters
        what = exhibit["mended"]
    elif mended and "bad" not in exhibit:
        options += ["--parameters", "mended=True"]
    return [str((EXHIBITS / what).relative_to(ROOT)), *options]


def found(python: Path | str, given: list[str]) -> list[dict[str, Any]]:
    """Findings of an audit that runs in another Python; SystemExit with its message if it fails."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [str(python), "-W", "ignore", "-c", COMMAND, "audit", *given, "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        raise SystemExit(f"the audit {' '.join(given)} failed: {done.stderr[-500:]}")
    return [finding for audit in json.loads(done.stdout)["audits"] for finding in audit["findings"]]


def main(folder: Path) -> int:
    """Audit all exhibits, store the answers, and return the number of those that were missed or raised in vain."""
    rows, wrong = [], 0
    for exhibit in catalogue():
        row: dict[str, Any] = {key: exhibit[key] for key in ("name", "source", "rule")}
        row["kind"] = "package" if "bad" in exhibit else "ported formula"
        for state in ("bad", "fixed"):
            packages = exhibit.get(state)
            python = make(folder / "-".join(packages[0].split("==")), packages) if packages else sys.executable
            findings = found(python, arguments(exhibit, mended=state == "fixed"))
            hits = [finding for finding in findings if finding["rule"] == exhibit["rule"]]
            row[state] = {
                "packages": packages,
                "rules": sorted({f["rule"] for f in findings if f["severity"] == "error"}),
            }
            row[state]["says"] = [hit["says"] for hit in hits]
            row[state]["reproduction"] = next((hit["reproduction"] for hit in hits if hit["reproduction"]), None)
        right = bool(row["bad"]["says"]) and not row["fixed"]["says"]
        wrong += not right
        rows.append(row | {"told_apart": right})
        print(f"{'found, and silent when fixed' if right else 'MISSED'}: {row['rule']}: {row['name']}", flush=True)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({"exhibits": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows) - wrong} of {len(rows)} told apart; written to {RESULT.relative_to(ROOT)}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".museum"))))
