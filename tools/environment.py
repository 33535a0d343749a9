"""Makes the project's own environment in .venv, once: `python3 tools/environment.py [EXTRA ...] [--dev]`.

Versions come from constraints.txt. A stamp records what was installed from which pins, so a second call returns at
once; a lock lets two calls at the same time install nothing twice.
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


def main(arguments: list[str]) -> None:
    """Installs the project with the extras named, and the development tools with --dev."""
    if sys.version_info < (3, 11):
        sys.exit(f"lengthgen needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")
    wanted = " ".join(sorted(arguments))
    pins = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    VENV.mkdir(exist_ok=True)
    with (VENV / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = VENV / f".installed-{wanted.replace(' ', '-')}"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == pins:
            return
        print(f"installing the environment ({wanted}) into {VENV} ...", file=sys.stderr, flush=True)
        if not (VENV / "bin" / "pip").exists():
            venv.create(VENV, with_pip=True)
        extras = ",".join(name for name in arguments if name != "--dev")
        project = f"{ROOT}[{extras}]" if extras else str(ROOT)
        install("--upgrade", "pip")
        install("--editable", project, *(("--group", f"{ROOT}/pyproject.toml:dev") if "--dev" in arguments else ()))
        compile_modules()
        partial = stamp.with_suffix(".partial")
        partial.write_text(pins, encoding="utf-8")
        os.replace(partial, stamp)


def install(*what: str) -> None:
    """Installs with pip under the pins; ends with pip's own message where that fails."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt"]
    if subprocess.run([*pip, "--no-compile", *what], cwd=ROOT, check=False).returncode:
        sys.exit(f"could not install {' '.join(what)}: see pip's message above, then run again")


def compile_modules() -> None:
    """Byte code by all cores, none of what is hardly ever imported; pip would make all of it, on one core."""
    skipped = "/tests?/|/transformers/models/"
    subprocess.run(
        [str(VENV / "bin" / "python"), "-m", "compileall", "-qq", "-j", "0", "-x", skipped, "lib"],
        cwd=VENV,  # so that the names of the folders above do not count
        check=False,  # a template that is no Python is none of ours to mend
    )


if __name__ == "__main__":
    main(sys.argv[1:])
