"""The certificates of claims are written into files, which the checker replays by itself."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lengthgen.proofs_checks.report import write_certificates
from lengthgen.proofs_checks.result import Result

CHECKER = Path(__file__).parents[1] / "replay_certificates.py"


def replayed(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", CHECKER, folder], capture_output=True, text=True, check=False)


def test_written_certificates_are_replayed_and_an_altered_file_is_named(
    result_of: Callable[[str], Result], tmp_path: Path
) -> None:
    counts = write_certificates([result_of("rope-2"), result_of("src-parity")], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rope-2.json"] and counts["claims"] == 1
    done = replayed(tmp_path)
    assert (done.returncode, done.stdout) == (
        0,
        f"{counts['proved']} identities proved, {counts['refuted']} false ones refuted\n",
    )
    assert counts["proved"] > 0 < counts["refuted"]
    path = tmp_path / "rope-2.json"
    content = json.loads(path.read_text())
    content["identities"][0]["right"] = ["q", "2"]
    path.write_text(json.dumps(content))
    done = replayed(tmp_path)
    assert done.returncode == 1 and "rope-2.json" in done.stderr


def test_the_checker_is_short_and_imports_the_standard_library_alone() -> None:
    lines = CHECKER.read_text(encoding="utf-8").splitlines()
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert len(lines) <= 150 and imported <= sys.stdlib_module_names
