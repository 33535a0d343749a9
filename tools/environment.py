"""Make the environment of the project in .venv: `python3 tools/environment.py [EXTRA ...] [--dev] [--docs]`.

Versions come from constraints.txt.  A stamp file records what was installed from which pins, so that a second call
returns at once; a lock prevents two calls at the same time from installing twice.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PINS = ("constraints.txt", "pyproject.toml")
RARELY_IMPORTED = (
    "tests?",
    "devtools",
    "ray/(data|llm|rllib|serve|train|tune)",
    "torch/(ao|onnx|testing)",
    "transformers/models",
)
"""Folders of libraries, as regular expressions."""


def main(arguments: list[str]) -> None:
    """Install the project with the named extras, and with the dependency groups that are named as options."""
    if sys.version_info < (3, 11):
        sys.exit(f"lengthgen needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")
    selection = " ".join(sorted(arguments))
    pins = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    VENV.mkdir(exist_ok=True)
    with (VENV / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = VENV / f".installed-{selection.replace(' ', '-')}"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == pins:
            return
        print(f"installing the environment ({selection}) into {VENV} ...", file=sys.stderr, flush=True)
        if not (VENV / "bin" / "pip").exists():
            venv.create(VENV, with_pip=True)
        extras = ",".join(name for name in arguments if not name.startswith("--"))
        groups = [name.removeprefix("--") for name in arguments if name.startswith("--")]
        project = f"{ROOT}[{extras}]" if extras else str(ROOT)
        install("--upgrade", "pip")
        install("--editable", project, *(f"--group={ROOT}/pyproject.toml:{name}" for name in groups))
        compile_modules()
        partial = stamp.with_suffix(".partial")
        partial.write_text(pins, encoding="utf-8")
        os.replace(partial, stamp)


def install(*packages: str) -> None:
    """Install packages with pip under the pinned versions; exit if pip fails, after its own message."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt"]
    if subprocess.run([*pip, "--no-compile", *packages], cwd=ROOT, check=False).returncode:
        sys.exit(f"could not install {' '.join(packages)}: see pip's message above, then run again")


def compile_modules() -> None:
    """Compile byte code on all cores, except modules that are rarely imported; pip would compile all on one core."""
    pattern = f"/({'|'.join(RARELY_IMPORTED)})/"
    subprocess.run(
        [str(VENV / "bin" / "python"), "-m", "compileall", "-qq", "-j", "0", "-x", pattern, "lib"],
        cwd=VENV,  # so that the pattern is not compared with the folders above
        check=False,  # libraries contain templates that are not valid Python
    )


if __name__ == "__main__":
    main(sys.argv[1:])
